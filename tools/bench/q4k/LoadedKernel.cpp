//===- LoadedKernel.cpp - kernels from files, beside the built-in ones ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedKernel.h"

#include "Kernels.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace blockscale::q4k {

namespace {

constexpr const char *kTokenMap = "token-map:", *kBlockMap = "block-map:";

bool isArgument(const std::string &text) {
  for (const char *name : {"chunks", "tiles", "parts", "weights", "planes", "out", "scratch", "f32",
                           "f16", "tokens", "rows", "depth"})
    if (text == name)
      return true;
  for (const char *prefix : {"i32:", "i64:", kTokenMap, kBlockMap})
    if (text.rfind(prefix, 0) == 0)
      return true;
  return false;
}

/// One line of a description; false when it says nothing that is known.
bool readLine(std::istringstream &line, const std::string &word, std::vector<LoadedKernel> &all) {
  if (word == "kernel")
    return bool(line >> all.emplace_back().name);
  if (all.empty())
    return false;
  LoadedKernel &kernel = all.back();
  if (word == "module")
    return bool(line >> kernel.module);
  if (word == "shape") {
    Shape &shape = kernel.shape.emplace();
    return bool(line >> shape.tokens >> shape.rows >> shape.depth);
  }
  if (word == "check") {
    std::string name;
    line >> name;
    kernel.check = name == "halves" ? Reference::halves : Reference::contract;
    return name == "halves" || name == "contract";
  }
  if (word == "scratch")
    return bool(line >> kernel.scratchBytes);
  if (word == "entry")
    return bool(line >> kernel.launches.emplace_back().entry);
  if (kernel.launches.empty())
    return false;
  LoadedLaunch &launch = kernel.launches.back();
  if (word == "grid")
    return bool(line >> launch.grid.x >> launch.grid.y >> launch.grid.z);
  if (word == "block")
    return bool(line >> launch.block.x >> launch.block.y >> launch.block.z);
  if (word == "shared")
    return bool(line >> launch.sharedBytes);
  if (word != "args")
    return false;
  for (std::string arg; line >> arg;) {
    if (!isArgument(arg))
      return false;
    launch.args.push_back(arg);
  }
  return true;
}

std::string loadModule(LoadedKernel &kernel, const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return "module '" + path + "' cannot be read";
  std::string code = text.str(); // c_str() ends PTX as the driver wants it
  char log[4096] = "";
  cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  cudaLibrary_t library; // lives as long as the program
  if (cudaError_t status =
          cudaLibraryLoadData(&library, code.c_str(), options, values, 2, nullptr, nullptr, 0))
    return "module '" + path + "': " + cudaGetErrorString(status) + " " + log;
  for (LoadedLaunch &launch : kernel.launches) {
    if (cudaError_t status = cudaLibraryGetKernel(&launch.kernel, library, launch.entry.c_str()))
      return "entry '" + launch.entry + "' of '" + path + "': " + cudaGetErrorString(status);
    if (cudaError_t status = cudaFuncSetAttribute(reinterpret_cast<const void *>(launch.kernel),
                                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  int(launch.sharedBytes)))
      return "entry '" + launch.entry + "': " + cudaGetErrorString(status);
  }
  return "";
}

} // namespace

std::vector<LoadedKernel> loadKernels(const std::string &path, std::string &problem) {
  std::ifstream file(path);
  if (!file) {
    problem = "description '" + path + "' cannot be read\n";
    return {};
  }
  std::vector<LoadedKernel> all;
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    std::istringstream line(text.substr(0, text.find('#')));
    std::string word;
    if (line >> word && !readLine(line, word, all)) {
      problem =
          "'" + path + "' line " + std::to_string(number) + " is not understood: " + text + "\n";
      return {};
    }
  }
  std::string folder = path.substr(0, path.find_last_of('/') + 1);
  std::vector<LoadedKernel> loaded;
  for (LoadedKernel &kernel : all) {
    std::string why = loadModule(kernel, folder + kernel.module);
    if (why.empty())
      loaded.push_back(std::move(kernel));
    else
      problem += kernel.name + ": " + why + "\n";
  }
  cudaGetLastError(); // what was refused is no error of the launches to come
  return loaded;
}

cudaError_t launchLoaded(const LoadedKernel &kernel, const DeviceBuffers &buffers, Shape shape,
                         cudaStream_t stream) {
  auto valueOf = [&](const std::string &arg) -> uint64_t {
    if (arg == "tokens")
      return uint32_t(shape.tokens);
    if (arg == "rows")
      return uint32_t(shape.rows);
    if (arg == "depth")
      return uint32_t(shape.depth);
    const void *pointer = arg == "chunks"    ? static_cast<const void *>(buffers.chunks)
                          : arg == "tiles"   ? buffers.tiles
                          : arg == "parts"   ? buffers.parts
                          : arg == "weights" ? buffers.weights
                          : arg == "planes"  ? static_cast<const void *>(buffers.planes)
                          : arg == "f32"     ? static_cast<const void *>(buffers.f32)
                          : arg == "f16"     ? buffers.f16
                          : arg == "scratch" ? buffers.scratch
                                             : nullptr;
    if (arg == "out")
      pointer = buffers.out;
    return pointer ? reinterpret_cast<uint64_t>(pointer)
                   : std::strtoull(arg.c_str() + 4, nullptr, 0);
  };
  for (const LoadedLaunch &launch : kernel.launches) {
    std::vector<EncodedMap> values(launch.args.size());
    std::vector<void *> pointers;
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string &arg = launch.args[i];
      int box = std::atoi(arg.c_str() + arg.find(':') + 1);
      cudaError_t status = cudaSuccess;
      if (arg.rfind(kTokenMap, 0) == 0)
        status = encodeTokens(values[i], buffers.f16, shape, box);
      else if (arg.rfind(kBlockMap, 0) == 0)
        status = encodeBlocks(values[i], buffers.weights, shape, box);
      else
        values[i].words[0] = valueOf(arg); // little-endian: an i32 is the low half
      if (status)
        return status;
      pointers.push_back(&values[i]);
    }
    if (cudaError_t status =
            cudaLaunchKernel(reinterpret_cast<const void *>(launch.kernel), launch.grid,
                             launch.block, pointers.data(), launch.sharedBytes, stream))
      return status;
  }
  return cudaSuccess;
}

} // namespace blockscale::q4k
