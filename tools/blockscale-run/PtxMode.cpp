//===- PtxMode.cpp - executes PTX by its manifest -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers are filled from files, kernels are launched in the manifest's order,
// outputs are read back. What no kernel writes of an output reads as 0xFF bytes,
// NaN in every float format, so that a hole shows.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Report.h"

#include "blockscale/Runtime/HostCalls.h"
#include "blockscale/Support/Manifest.h"
#include "blockscale/Support/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"

#include <cstring>
#include <map>

namespace blockscale::run {

using rt::Array;
using rt::BufferRole;
using rt::Manifest;
using rt::ManifestArgument;
using rt::ManifestBuffer;
using rt::ManifestKernel;
using rt::ManifestParam;

namespace {

bool isRead(const ManifestBuffer &buffer) {
  return buffer.role == BufferRole::input || buffer.role == BufferRole::inout;
}
bool isWritten(const ManifestBuffer &buffer) {
  return buffer.role == BufferRole::output || buffer.role == BufferRole::inout;
}

/// Which value each name goes with: by name, the others in order.
Result<std::map<std::string, std::string>> bindNames(const std::vector<std::string> &names,
                                                     const std::vector<FileArg> &values,
                                                     const std::string &flag) {
  std::map<std::string, std::string> bound;
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ", ") + name;
  for (FileArg value : values) {
    // A name may hold a dot, as a file's does.
    auto [prefix, rest] = llvm::StringRef(value.file).split('=');
    if (value.name.empty() && !rest.empty() && llvm::is_contained(names, prefix.str()))
      value = {prefix.str(), rest.str()};
    std::string name = value.name;
    if (name.empty())
      for (const std::string &next : names)
        if (name.empty() && !bound.count(next))
          name = next;
    if (!llvm::is_contained(names, name))
      return Refusal{"run: --" + flag + " must be for one of " + (all.empty() ? "none" : all) +
                     ", got '" + (value.name.empty() ? value.file : value.name) + "'"};
    if (!bound.emplace(name, value.file).second)
      return Refusal{"run: --" + flag + " must be given once for each name, got '" + name +
                     "' twice"};
  }
  return bound;
}

std::vector<std::string> namesOf(const Manifest &manifest, bool (*takes)(const ManifestBuffer &)) {
  std::vector<std::string> names;
  for (const ManifestBuffer &buffer : manifest.buffers)
    if (takes(buffer))
      names.push_back(buffer.name);
  return names;
}

/// The bits of a scalar argument: a number, or a file of one element of its type.
Result<uint64_t> scalarBits(const ManifestArgument &argument, const std::string &text) {
  if (std::optional<uint64_t> bits = rt::parseScalar(text, argument.type))
    return *bits;
  std::string type(name(argument.type));
  std::string subject = "run: argument '" + argument.name + "' must be a number of type " + type +
                        ", its bits as 0x…, or a file of one " + type + ", got ";
  if (!rt::isArrayFile(text))
    return Refusal{subject + "'" + text + "'"};
  Result<Array> array = rt::loadArray(text);
  if (!array)
    return array.takeRefusal();
  if (name(array->type) != type || array->bytes.size() != rt::info(array->type).bytes)
    return Refusal{subject + std::string(name(array->type)) + " " + rt::formatShape(array->shape) +
                   " from '" + text + "'"};
  uint64_t bits = 0;
  std::memcpy(&bits, array->bytes.data(), array->bytes.size());
  return bits;
}

/// Sizes of the manifest, as they were given or as the files of its buffers have them.
Result<rt::Sizes> takeSizes(const Manifest &manifest, const Options &options,
                            const std::map<std::string, std::string> &inputs) {
  rt::Sizes sizes = options.sizes;
  for (const ManifestBuffer &buffer : manifest.buffers) {
    auto file = inputs.find(buffer.name);
    if (file == inputs.end() || buffer.shapeExprs.empty())
      continue;
    Result<Array> array = rt::loadArray(file->second);
    if (!array)
      return array.takeRefusal();
    for (size_t i = 0; i < buffer.shapeExprs.size(); ++i)
      if (const rt::Expr &expr = buffer.shapeExprs[i];
          expr && expr->isSize() && array->shape.size() == buffer.shape.size()) {
        uint64_t &size = sizes.emplace(expr->name, uint64_t(array->shape[i])).first->second;
        if (size != uint64_t(array->shape[i]))
          return Refusal{"run: size '" + expr->name + "' must be one, got " + std::to_string(size) +
                         " and " + std::to_string(array->shape[i]) + " of '" + file->second + "'"};
      }
  }
  return sizes;
}

/// Bytes of what a buffer holds; its memory may have more where that is nothing.
uint64_t heldBytes(const ManifestBuffer &buffer) {
  bool isEmpty = buffer.dtype && llvm::is_contained(buffer.shape, 0);
  return isEmpty ? 0 : buffer.bytes;
}

Result<std::vector<uint8_t>> initialBytes(const ManifestBuffer &buffer, const std::string *file) {
  if (!file)
    return std::vector<uint8_t>(buffer.bytes,
                                isRead(buffer) || buffer.role == BufferRole::zeroed ? 0 : 0xFF);
  Result<Array> array = rt::loadArray(*file);
  if (!array)
    return array.takeRefusal();
  std::string subject = "run: buffer '" + buffer.name + "' must ";
  if (array->bytes.size() != heldBytes(buffer))
    return Refusal{subject + "get " + std::to_string(heldBytes(buffer)) + " bytes, got " +
                   std::to_string(array->bytes.size()) + " from '" + *file + "'"};
  // bf16 travels as u16 in .npy files; registers have no sign.
  bool isSame = !buffer.dtype || *buffer.dtype == array->type ||
                *buffer.dtype == rt::otherSign(array->type) ||
                (*buffer.dtype == rt::DType::bf16 && array->type == rt::DType::u16);
  if (!isSame)
    return Refusal{subject + "get " + std::string(name(*buffer.dtype)) + ", got " +
                   std::string(name(array->type)) + " from '" + *file + "'"};
  array->bytes.resize(buffer.bytes);
  return std::move(array->bytes);
}

/// Device addresses of the manifest's buffers in one run.
class Run {
public:
  Run(const Manifest &manifest, const std::map<std::string, uint64_t> &scalars)
      : manifest(manifest), scalars(scalars) {}

  void launchAll(const std::map<std::string, std::vector<uint8_t>> &initial,
                 const std::string &only) {
    for (const ManifestBuffer &buffer : manifest.buffers) {
      uint64_t address = bsrt_call_alloc(int64_t(buffer.bytes));
      addresses[buffer.name] = address;
      bsrt_call_copy_to_device(initial.at(buffer.name).data(), address, int64_t(buffer.bytes));
    }
    for (const ManifestKernel &kernel : manifest.kernels)
      if (only.empty() || kernel.name == only)
        launch(kernel);
  }

  /// Launches once more, for the time alone: results have been read.
  void repeatAll(const Options &options) {
    for (const ManifestKernel &kernel : manifest.kernels)
      if (options.kernel.empty() || kernel.name == options.kernel)
        launch(kernel);
  }

  std::map<std::string, std::vector<uint8_t>> readOutputs() {
    std::map<std::string, std::vector<uint8_t>> outputs;
    for (const ManifestBuffer &buffer : manifest.buffers)
      if (isWritten(buffer)) {
        std::vector<uint8_t> &bytes = outputs[buffer.name];
        bytes.resize(buffer.bytes);
        bsrt_call_copy_to_host(addresses[buffer.name], bytes.data(), int64_t(buffer.bytes));
      }
    return outputs;
  }

  void freeAll() {
    for (const auto &address : addresses)
      bsrt_call_free(address.second);
  }

private:
  uint64_t encode(const std::string &buffer, uint64_t offset, const facts::TensorMap &map) {
    bsrt_call_map_begin(addresses[buffer] + offset, int32_t(map.type), int32_t(map.swizzle),
                        int32_t(map.fill), int32_t(map.l2));
    for (size_t i = 0; i < map.dims.size(); ++i)
      bsrt_call_map_dim(int64_t(map.dims[i]), i ? int64_t(map.strides[i - 1]) : 0,
                        int32_t(map.box[i]), int32_t(map.elementStrides[i]));
    return bsrt_call_map_end();
  }

  /// A struct by value with its addresses and maps.
  std::vector<uint8_t> fillIn(const ManifestParam &param) {
    std::vector<uint8_t> bytes = param.bytes;
    for (const rt::ManifestAddress &pointer : param.pointers) {
      uint64_t address = addresses[pointer.buffer] + pointer.offset;
      std::memcpy(bytes.data() + pointer.at, &address, sizeof address);
    }
    for (const rt::ManifestMap &map : param.maps) {
      uint64_t handle = encode(map.address.buffer, map.address.offset, map.map);
      if (rt::Session *session = rt::Session::current(); session && !session->hasFailed())
        llvm::copy(session->maps[handle], bytes.begin() + map.address.at);
    }
    return bytes;
  }

  void launch(const ManifestKernel &kernel) {
    // Encoded first: a launch is one sequence of calls.
    std::vector<uint64_t> maps(kernel.params.size());
    std::vector<std::vector<uint8_t>> structs(kernel.params.size());
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      const ManifestParam &param = kernel.params[i];
      if (param.kind == ManifestParam::Kind::tensorMap)
        maps[i] = encode(param.buffer, param.offset, param.map);
      else if (param.kind == ManifestParam::Kind::bytes)
        structs[i] = fillIn(param);
    }
    bsrt_call_launch_begin("ptx", kernel.name.c_str());
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      const ManifestParam &param = kernel.params[i];
      uint64_t bits = param.argument.empty() ? param.bits : scalars.at(param.argument);
      if (param.kind == ManifestParam::Kind::tensorMap)
        bsrt_call_param_map(maps[i]);
      else if (param.kind == ManifestParam::Kind::buffer)
        bsrt_call_param_buffer(addresses[param.buffer] + param.offset);
      else if (param.kind == ManifestParam::Kind::bytes)
        bsrt_call_param_bytes(structs[i].data(), int64_t(structs[i].size()));
      else if (rt::kScalarTypeBytes[size_t(param.type)] == 8)
        bsrt_call_param_buffer(bits);
      else
        bsrt_call_param_i32(int32_t(uint32_t(bits)));
    }
    if (kernel.preferredCluster[0])
      bsrt_call_preferred_cluster(kernel.preferredCluster[0], kernel.preferredCluster[1],
                                  kernel.preferredCluster[2]);
    if (kernel.programmaticStreamSerialization)
      bsrt_call_programmatic_stream_serialization();
    if (kernel.registers)
      bsrt_call_registers(int32_t(kernel.registers));
    bsrt_call_launch(kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0],
                     kernel.block[1], kernel.block[2], kernel.cluster[0], kernel.cluster[1],
                     kernel.cluster[2], int64_t(kernel.sharedBytes),
                     kernel.sharedMode == rt::SharedMode::oversized);
  }

  const Manifest &manifest;
  const std::map<std::string, uint64_t> &scalars; // of arguments
  std::map<std::string, uint64_t> addresses;
};

/// The first `count` launches are the run; as many follow, which were timed.
void takeTimes(std::vector<rt::LaunchRecord> &launches, size_t count) {
  for (size_t i = 0; i < count && count + i < launches.size(); ++i) {
    launches[i].times = launches[count + i].times;
    launches[i].info = launches[count + i].info;
  }
  launches.resize(count);
}

/// Blocks of an SM that a kernel was compiled for: its .minnctapersm, 0 without one.
int64_t plannedBlocks(llvm::StringRef ptx, llvm::StringRef kernel) {
  std::string head = ".entry " + kernel.str() + "(";
  llvm::StringRef entry = ptx.split(head).second.split('{').first;
  int64_t blocks = 0;
  entry.split(".minnctapersm").second.ltrim().consumeInteger(10, blocks);
  return blocks;
}

Result<bool> checkKernelName(const Manifest &manifest, const std::string &kernel) {
  std::string names;
  for (const ManifestKernel &entry : manifest.kernels) {
    if (kernel.empty() || entry.name == kernel)
      return true;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  return Refusal{"run: --kernel must be one of " + names + ", got '" + kernel + "'"};
}

Result<bool> writeOutput(const ManifestBuffer &buffer, std::vector<uint8_t> bytes,
                         const std::string &file) {
  bytes.resize(heldBytes(buffer));
  Array array{rt::DType::u8, {int64_t(bytes.size())}, std::move(bytes)};
  if (buffer.dtype) {
    array.type = *buffer.dtype;
    array.shape = buffer.shape;
  }
  return rt::writeNpy(file, array);
}

Result<bool> checkMemory(const Manifest &manifest) {
  uint64_t bytes = 0; // at most 4096 buffers of 2^40
  for (const ManifestBuffer &buffer : manifest.buffers)
    bytes += buffer.bytes;
  if (bytes <= rt::memoryBudget())
    return true;
  return Refusal{"run: buffers of the manifest must take at most " +
                 std::to_string(rt::memoryBudget()) + " bytes on this machine, got " +
                 std::to_string(bytes)};
}

/// The manifest's chip is the one that the PTX was made for. A text without a target
/// is the parser's to refuse.
Result<bool> checkTarget(const Manifest &manifest, llvm::StringRef ptx) {
  llvm::SmallVector<llvm::StringRef> match;
  if (!llvm::Regex("^[ \t]*\\.target[ \t]+([A-Za-z0-9_]+)", llvm::Regex::Newline)
           .match(ptx, &match))
    return true;
  std::string_view arch = name(manifest.arch);
  if (match[1] == llvm::StringRef(arch))
    return true;
  return Refusal{"run: manifest's arch must be the PTX's target " + match[1].str() + ", got " +
                 std::string(arch)};
}

} // namespace

Result<bool> runPtx(const Options &options) {
  Result<Manifest> manifest = rt::readManifest(options.manifest);
  if (!manifest)
    return manifest.takeRefusal();
  Result<std::string> ptx = rt::readFile(options.ptx, "ptx");
  if (!ptx)
    return ptx.takeRefusal();
  if (Result<bool> status = checkTarget(*manifest, *ptx); !status)
    return status;
  if (Result<bool> status = checkKernelName(*manifest, options.kernel); !status)
    return status;
  std::vector<std::string> inputNames = namesOf(*manifest, isRead);
  std::vector<ManifestArgument> arguments = manifest->arguments();
  for (const ManifestArgument &argument : arguments)
    inputNames.push_back(argument.name);
  auto inputs = bindNames(inputNames, options.args, "arg");
  if (!inputs)
    return inputs.takeRefusal();
  Result<rt::Sizes> sizes = takeSizes(*manifest, options, *inputs);
  if (!sizes)
    return sizes.takeRefusal();
  manifest = rt::resolveManifest(*manifest, *sizes, options.manifest);
  if (!manifest)
    return manifest.takeRefusal();
  if (Result<bool> status = checkMemory(*manifest); !status)
    return status;
  auto outputs = bindNames(namesOf(*manifest, isWritten), options.outs, "out");
  if (!outputs)
    return outputs.takeRefusal();
  std::map<std::string, std::vector<uint8_t>> initial;
  for (const ManifestBuffer &buffer : manifest->buffers) {
    auto file = inputs->find(buffer.name);
    if (buffer.role == BufferRole::input && file == inputs->end())
      return Refusal{"run: --arg must be given for buffer '" + buffer.name + "', got none"};
    auto bytes = initialBytes(buffer, file == inputs->end() ? nullptr : &file->second);
    if (!bytes)
      return bytes.takeRefusal();
    initial[buffer.name] = std::move(*bytes);
  }
  std::map<std::string, uint64_t> scalars;
  for (const ManifestArgument &argument : arguments) {
    auto text = inputs->find(argument.name);
    if (text == inputs->end())
      return Refusal{"run: --arg must be given for argument '" + argument.name + "', got none"};
    Result<uint64_t> bits = scalarBits(argument, text->second);
    if (!bits)
      return bits.takeRefusal();
    scalars[argument.name] = *bits;
  }

  auto session = rt::Session::open(options.device, options.run);
  if (!session)
    return session.takeRefusal();
  (*session)->preferredCluster = options.preferredCluster;
  Report report;
  report.device = (*session)->deviceDescription();
  report.arch = name(manifest->arch);
  std::map<std::string, std::vector<uint8_t>> first;
  for (const RunMode &mode : getRunModes(options)) {
    if (Result<bool> status = (*session)->setOptions(mode.options); !status)
      return status;
    // Variables of the module start each run with their initial values.
    if (Result<bool> status = (*session)->addModule("ptx", *ptx, options.ptx); !status)
      return status;
    (*session)->begin();
    Run run(*manifest, scalars);
    run.launchAll(initial, options.kernel);
    auto results = run.readOutputs();
    size_t launches = (*session)->launches().size();
    if (report.runs.empty() && options.repeat) {
      (*session)->repeat = options.repeat;
      (*session)->warmup = options.warmup;
      (*session)->onlyTimes = true;
      run.repeatAll(options);
      (*session)->onlyTimes = false;
      (*session)->repeat = 0;
    }
    run.freeAll();
    if (Result<bool> status = (*session)->end(); !status)
      return status;
    addWarnings(report, (*session)->launches());
    if (report.runs.empty()) {
      report.launches = (*session)->launches();
      if (options.repeat)
        takeTimes(report.launches, launches);
      takeMedians(report, options.repeat);
      for (const rt::LaunchRecord &launch : report.launches)
        report.plannedBlocks[launch.kernel] = plannedBlocks(*ptx, launch.kernel);
      first = results;
    }
    for (const auto &[name, bytes] : results)
      for (size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] != first[name][i])
          return Refusal{"run: buffer '" + name +
                         "' must have the same bits under every timing, "
                         "got another byte " +
                         std::to_string(i) + " under " + mode.name + " than under " +
                         report.runs.front()};
    report.runs.push_back(mode.name);
  }

  printReport(report);
  for (const auto &[name, file] : *outputs)
    if (Result<bool> status = writeOutput(*manifest->findBuffer(name), first[name], file); !status)
      return status;
  return options.report.empty() ? Result<bool>(true) : writeReport(report, options.report);
}

} // namespace blockscale::run
