//===- Ptx.cpp - fuzzes the loader of PTX, and what it takes --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What loads is launched, with small arguments and few instructions: a pointer for
// each parameter of 8 bytes, a tensor map for each of 128.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "Program.h"
#include "blockscale/Emulator/Emulator.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace blockscale {

using namespace emu;

namespace {

constexpr size_t kBufferBytes = 1 << 16;
constexpr uint64_t kMaxInstructions = 20000;
constexpr uint64_t kMaxLaunchThreads = 256;
constexpr uint64_t kMaxParamBytes = 1 << 15;

facts::TensorMap smallMap(uint64_t address) {
  facts::TensorMap map;
  map.address = address;
  map.type = facts::TmaType::u8;
  map.dims = {256, 64};
  map.strides = {256};
  map.box = {128, 8};
  map.elementStrides = {1, 1};
  map.swizzle = facts::TmaSwizzle::b128;
  return map;
}

/// Dimensions of a directive such as .reqntid, or else.
Dim3 dims(const Kernel &kernel, const char *directive, Dim3 otherwise) {
  auto it = kernel.directives.find(directive);
  if (it == kernel.directives.end() || it->second.empty())
    return otherwise;
  auto at = [&](size_t i) { return i < it->second.size() ? uint32_t(it->second[i]) : 1; };
  return {at(0), at(1), at(2)};
}

LaunchConfig configure(facts::Arch arch, const Kernel &kernel, uint64_t buffer) {
  LaunchConfig config;
  config.block = dims(kernel, "reqntid", {64, 1, 1});
  config.cluster = config.grid = dims(kernel, "reqnctapercluster", {1, 1, 1});
  config.sharedBytes = 1 << 15;
  auto encoded = encodeTensorMap(arch, smallMap(buffer));
  // A chip without TMA takes none.
  std::vector<uint8_t> map = encoded ? *encoded : std::vector<uint8_t>();
  for (const auto &param : kernel.params) {
    KernelParam value;
    value.bytes.resize(param.bytes);
    if (param.bytes == sizeof buffer)
      std::memcpy(value.bytes.data(), &buffer, sizeof buffer);
    else if (param.bytes == map.size())
      value.bytes = map;
    else if (param.bytes == sizeof(uint32_t))
      value.bytes[0] = 3;
    config.params.push_back(std::move(value));
  }
  return config;
}

void launch(Device &device, const LoadedModule &module, const Kernel &kernel, uint64_t buffer) {
  uint64_t bytes = 0;
  for (const auto &param : kernel.params)
    bytes += param.bytes;
  if (bytes > kMaxParamBytes)
    return;
  LaunchConfig config = configure(module.archValue, kernel, buffer);
  uint64_t threads = 1;
  for (uint32_t size : {config.block.x, config.block.y, config.block.z, config.cluster.x,
                        config.cluster.y, config.cluster.z})
    threads *= std::clamp<uint64_t>(size, 1, 1024);
  if (threads > kMaxLaunchThreads)
    return;
  auto stats = device.launch(module, kernel.name, config);
  if (stats)
    return;
  // Reports have lines of their own for what is missing and where from.
  std::istringstream lines(stats.message());
  for (std::string line; std::getline(lines, line);) {
    fuzz::requireOneLine(line);
    fuzz::require(line.rfind("f.ptx:", 0) == 0 || line.rfind("  ", 0) == 0,
                  "a line must be a report or belong to one", line);
  }
}

} // namespace

void fuzz::ptx(std::string_view text) {
  Options options;
  options.timing = Timing(text.size() % 3);
  options.maxInstructions = kMaxInstructions;
  auto device = Device::create(options);
  auto buffer = device->allocate(kBufferBytes);
  require(bool(buffer), "a small buffer must be allocated");
  auto module = device->load(text, "f.ptx");
  if (!module) {
    requireOneLine(module.message());
    require(module.message().rfind("f.ptx:", 0) == 0, "a refusal must be located",
            module.message());
    return;
  }
  const auto &loaded = dynamic_cast<const LoadedModule &>(**module);
  for (const std::string &name : loaded.kernels())
    launch(*device, loaded, *loaded.find(name), *buffer);
}

} // namespace blockscale
