//===- Case.cpp - one program of the suite on one device ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Case.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace blockscale::silicon {

using rt::BufferRole;
using rt::ManifestBuffer;
using rt::ManifestKernel;
using rt::ManifestParam;

namespace fs = std::filesystem;

Result<std::vector<std::string>> findCases(const std::string &suite) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator it(suite, error), end; it != end; it.increment(error)) {
    if (error)
      break;
    if (it->path().extension() == ".ptx")
      names.push_back((it->path().parent_path().filename() / it->path().stem()).string());
  }
  if (names.empty())
    return Refusal{"silicon: --suite must be a folder of programs, got '" + suite + "'"};
  std::sort(names.begin(), names.end());
  return names;
}

static Result<Bytes> loadInput(const std::string &suite, const std::string &name,
                               const ManifestBuffer &buffer) {
  std::string file = suite + "/" + name + "." + buffer.name + ".npy";
  if (!fs::exists(file))
    file = suite + "/inputs/" + buffer.name + ".npy";
  Result<rt::Array> array = rt::loadArray(file);
  if (!array)
    return array.takeRefusal();
  if (array->bytes.size() != buffer.bytes)
    return Refusal{"silicon: " + name + ": buffer " + buffer.name + " must get " +
                   std::to_string(buffer.bytes) + " bytes, got " +
                   std::to_string(array->bytes.size()) + " from '" + file + "'"};
  return std::move(array->bytes);
}

Result<Case> loadCase(const std::string &suite, const std::string &name) {
  Case program;
  program.name = name;
  Result<std::string> ptx = rt::readFile(suite + "/" + name + ".ptx", "ptx");
  if (!ptx)
    return ptx.takeRefusal();
  program.ptx = std::move(*ptx);
  Result<rt::Manifest> manifest = rt::readManifest(suite + "/" + name + ".json");
  if (!manifest)
    return manifest.takeRefusal();
  program.manifest = std::move(*manifest);
  for (const ManifestBuffer &buffer : program.manifest.buffers) {
    if (buffer.role == BufferRole::output || buffer.role == BufferRole::scratch) {
      program.initial[buffer.name].assign(buffer.bytes, 0xFF);
      continue;
    }
    if (buffer.role == BufferRole::zeroed) {
      program.initial[buffer.name].assign(buffer.bytes, 0);
      continue;
    }
    Result<Bytes> bytes = loadInput(suite, name, buffer);
    if (!bytes)
      return bytes.takeRefusal();
    program.initial[buffer.name] = std::move(*bytes);
  }
  return program;
}

namespace {

Refusal lastError() { return Refusal{bsrt_error_message()}; }

/// Device memory and the module of one run.
class Run {
public:
  Run(bsrt_device *device, const Case &program) : device(device), program(program) {}
  ~Run() {
    for (const auto &entry : addresses)
      bsrt_free(device, entry.second);
    if (module)
      bsrt_module_close(module);
  }

  Result<Outcome> run() {
    if (bsrt_module_load(device, program.ptx.data(), program.ptx.size(),
                         (program.name + ".ptx").c_str(), &module))
      return lastError();
    for (const auto &[name, bytes] : program.initial) {
      uint64_t address = 0;
      if (bsrt_alloc(device, bytes.size(), &address))
        return lastError();
      addresses[name] = address;
      if (bsrt_write(device, address, bytes.data(), bytes.size()))
        return lastError();
    }
    Outcome outcome;
    for (const ManifestKernel &kernel : program.manifest.kernels)
      if (Result<bool> launched = launch(kernel, outcome); !launched)
        return launched.takeRefusal();
    for (const ManifestBuffer &buffer : program.manifest.buffers) {
      if (buffer.role != BufferRole::output && buffer.role != BufferRole::inout)
        continue;
      Bytes &bytes = outcome.outputs[buffer.name];
      bytes.resize(buffer.bytes);
      if (bsrt_read(device, addresses[buffer.name], bytes.data(), bytes.size()))
        return lastError();
    }
    return outcome;
  }

private:
  Result<bool> encode(const std::string &buffer, uint64_t offset, const facts::TensorMap &map,
                      uint8_t *bytes) {
    bsrt_tensor_map fields{};
    fields.abi_version = BSRT_ABI_VERSION;
    fields.type = uint32_t(map.type);
    fields.rank = uint32_t(map.dims.size());
    fields.address = addresses[buffer] + offset;
    fields.dims = map.dims.data();
    fields.strides = map.strides.data();
    fields.box = map.box.data();
    fields.element_strides = map.elementStrides.data();
    fields.swizzle = uint32_t(map.swizzle);
    fields.fill = uint32_t(map.fill);
    fields.l2 = uint32_t(map.l2);
    if (bsrt_tensor_map_encode(device, &fields, bytes))
      return lastError();
    return true;
  }

  Result<Bytes> bytesOf(const ManifestParam &param) {
    Bytes bytes = param.bytes;
    switch (param.kind) {
    case ManifestParam::Kind::tensorMap:
      bytes.resize(BSRT_TENSOR_MAP_BYTES);
      if (auto encoded = encode(param.buffer, param.offset, param.map, bytes.data()); !encoded)
        return encoded.takeRefusal();
      break;
    case ManifestParam::Kind::buffer:
      bytes.resize(sizeof(uint64_t));
      put(bytes, 0, addresses[param.buffer] + param.offset);
      break;
    case ManifestParam::Kind::scalar:
      bytes.resize(rt::kScalarTypeBytes[size_t(param.type)]);
      std::memcpy(bytes.data(), &param.bits, bytes.size());
      break;
    case ManifestParam::Kind::bytes:
      for (const rt::ManifestAddress &pointer : param.pointers)
        put(bytes, pointer.at, addresses[pointer.buffer] + pointer.offset);
      for (const rt::ManifestMap &map : param.maps)
        if (auto encoded = encode(map.address.buffer, map.address.offset, map.map,
                                  bytes.data() + map.address.at);
            !encoded)
          return encoded.takeRefusal();
      break;
    }
    return bytes;
  }

  static void put(Bytes &bytes, size_t at, uint64_t address) {
    std::memcpy(bytes.data() + at, &address, sizeof address);
  }

  Result<bool> launch(const ManifestKernel &kernel, Outcome &outcome) {
    std::vector<Bytes> values;
    std::vector<bsrt_param> params;
    for (const ManifestParam &param : kernel.params) {
      Result<Bytes> bytes = bytesOf(param);
      if (!bytes)
        return bytes.takeRefusal();
      values.push_back(std::move(*bytes));
    }
    for (const Bytes &bytes : values)
      params.push_back({bytes.data(), bytes.size()});
    bsrt_launch_config config{};
    config.abi_version = BSRT_ABI_VERSION;
    std::copy_n(kernel.grid.data(), 3, config.grid);
    std::copy_n(kernel.block.data(), 3, config.block);
    std::copy_n(kernel.cluster.data(), 3, config.cluster);
    config.shared_bytes = kernel.sharedBytes;
    config.oversized_shared = kernel.sharedMode == rt::SharedMode::oversized;
    config.params = params.data();
    config.param_count = uint32_t(params.size());
    bsrt_launch_stats stats{};
    if (bsrt_launch(device, module, kernel.name.c_str(), &config, &stats))
      return lastError();
    outcome.seconds += stats.seconds;
    return true;
  }

  bsrt_device *device;
  const Case &program;
  bsrt_module *module = nullptr;
  std::map<std::string, uint64_t> addresses;
};

} // namespace

Result<Outcome> runCase(bsrt_device *device, const Case &program) {
  return Run(device, program).run();
}

} // namespace blockscale::silicon
