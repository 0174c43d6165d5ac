//===- Entries.cpp - what is run on a problem, and how it is checked ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entries.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace blockscale::q4k {

namespace {

/// Floats behind the results that no kernel may write.
constexpr size_t kGuard = 1024;

template <typename T> T *allocate(size_t count) {
  void *pointer = nullptr;
  require(cudaMalloc(&pointer, count * sizeof(T)), "device memory");
  return static_cast<T *>(pointer);
}

template <typename T> T *copyIn(const std::vector<T> &values) {
  T *pointer = allocate<T>(values.size());
  require(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
          "copy to the device");
  return pointer;
}

template <typename T> std::vector<T> copyOut(const T *pointer, size_t count) {
  std::vector<T> values(count);
  require(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost),
          "copy from the device");
  return values;
}

bool checkChunks(const std::string &name, const Device &device) {
  const std::vector<ActivationChunk> &expected = device.problem.chunks;
  std::vector<ActivationChunk> got = copyOut(device.quantized, expected.size());
  int64_t different = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    different += std::memcmp(&got[i], &expected[i], sizeof got[i]) != 0;
  std::printf("  %-28s %s: %lld of %zu chunks differ\n", name.c_str(),
              different ? "WRONG" : "right", static_cast<long long>(different), expected.size());
  return !different;
}

bool checkWeights(const std::string &name, const Device &device) {
  const Shape &shape = device.problem.shape;
  std::vector<__half> got = copyOut(device.halfWeights, size_t(shape.rows) * shape.depth);
  int64_t different = 0;
  size_t stride = got.size() / 1000000 / 2 * 2 + 1; // odd: all places in a block come up
  size_t compared = 0;
  for (size_t i = 0; i < got.size(); i += stride, ++compared) {
    __half expected = __float2half_rn(
        dequantizeWeight(device.problem.weights[i / kSuperBlock], int(i % kSuperBlock)));
    different += std::memcmp(&got[i], &expected, 2) != 0;
  }
  std::printf("  %-28s %s: %lld of %zu weights differ\n", name.c_str(),
              different ? "WRONG" : "right", static_cast<long long>(different), compared);
  return !different;
}

/// The results in f32, or nothing when one is not finite or the guard was written.
std::vector<float> readResults(const Entry &entry, const Device &device, std::string &problem) {
  size_t count = device.problem.shape.outputs();
  std::vector<float> values;
  if (entry.output == Output::f16) {
    for (__half value : copyOut(device.halfOut, count))
      values.push_back(__half2float(value));
  } else {
    values = copyOut(device.out, count + kGuard);
    for (size_t i = count; i < values.size(); ++i)
      if (!std::isnan(values[i]))
        problem = "memory behind the results was written";
    values.resize(count);
  }
  for (float value : values)
    if (!std::isfinite(value))
      problem = "a result is missing or not finite";
  return values;
}

} // namespace

void require(cudaError_t status, const char *what) {
  if (!status)
    return;
  std::fflush(stdout);
  std::fprintf(stderr, "q4k: error: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

Device::Device(const Problem &problem, size_t scratchBytes) : problem(problem) {
  const Shape &shape = problem.shape;
  chunks = copyIn(problem.chunks);
  quantized = allocate<ActivationChunk>(problem.chunks.size());
  weights = copyIn(problem.weights);
  planes = copyIn(makePlanes(problem));
  activations = copyIn(problem.activations);
  std::vector<__half> halves;
  for (float value : problem.activations)
    halves.push_back(__float2half_rn(value));
  halfActivations = copyIn(halves);
  halfWeights = allocate<__half>(size_t(shape.rows) * shape.depth);
  out = allocate<float>(shape.outputs() + kGuard);
  halfOut = allocate<__half>(shape.outputs());
  for (bool hasMinima : {false, true})
    transposed[hasMinima] = allocate<uint8_t>(transposedBytes(shape, hasMinima));
  for (bool hasParts : {false, true})
    tiles[hasParts] = allocate<uint8_t>(tileBytes(shape, hasParts));
  needScratch(scratchBytes);
}

Device::~Device() {
  for (void *pointer :
       {static_cast<void *>(chunks), static_cast<void *>(quantized), static_cast<void *>(weights),
        static_cast<void *>(activations), static_cast<void *>(halfActivations),
        static_cast<void *>(halfWeights), static_cast<void *>(out), static_cast<void *>(halfOut),
        static_cast<void *>(transposed[0]), static_cast<void *>(transposed[1]),
        static_cast<void *>(tiles[0]), static_cast<void *>(tiles[1]), static_cast<void *>(planes),
        scratch})
    cudaFree(pointer);
}

void Device::needScratch(size_t bytes) {
  if (bytes <= scratchBytes)
    return;
  cudaFree(scratch);
  scratch = allocate<uint8_t>(bytes);
  scratchBytes = bytes;
}

void Device::clearResults() {
  size_t count = problem.shape.outputs();
  require(cudaMemset(out, 0xFF, (count + kGuard) * sizeof(float)), "clear");
  require(cudaMemset(halfOut, 0xFF, count * sizeof(__half)), "clear");
  require(cudaMemset(quantized, 0xFF, problem.chunks.size() * sizeof(ActivationChunk)), "clear");
}

std::vector<Entry> makeEntries(Device &device, const std::vector<LoadedKernel> &loaded,
                               Cublas *cublas) {
  const Shape shape = device.problem.shape;
  std::vector<Entry> entries;
  entries.push_back({"quantize-f32",
                     [&device, shape] {
                       return launchQuantize(device.activations, device.quantized, shape, nullptr);
                     },
                     Output::chunks, Reference::contract, /*isProduct=*/false});
  // The weights that the vendor's product takes, too.
  entries.push_back({"dequantize",
                     [&device, shape] {
                       return launchDequantize(device.weights, device.halfWeights, shape, nullptr);
                     },
                     Output::halfWeights, Reference::halves, /*isProduct=*/false});
  auto multiply = [&device, shape, cublas] {
    bool isDone = cublas->multiply(device.halfActivations, device.halfWeights, device.halfOut,
                                   shape, nullptr);
    return isDone ? cudaSuccess : cudaErrorLaunchFailure;
  };
  if (cublas) {
    entries.push_back({kBaseline, multiply, Output::f16, Reference::halves, /*isProduct=*/true});
    entries.push_back({"dequantize+cublas-f16",
                       [&device, shape, multiply] {
                         cudaError_t status =
                             launchDequantize(device.weights, device.halfWeights, shape, nullptr);
                         return status ? status : multiply();
                       },
                       Output::f16, Reference::halves, /*isProduct=*/true});
  }
  for (const HandwrittenForm &form : kHandwrittenForms)
    entries.push_back({std::string(form.name),
                       [&device, shape, &form] {
                         return launchHandwritten(form, device.chunks, device.weights, device.out,
                                                  shape, nullptr);
                       },
                       Output::f32, Reference::contract, /*isProduct=*/true});
  entries.push_back({"quantize+handwritten-pairs",
                     [&device, shape] {
                       cudaError_t status =
                           launchQuantize(device.activations, device.quantized, shape, nullptr);
                       return status
                                  ? status
                                  : launchHandwritten(kHandwrittenForms[1], device.quantized,
                                                      device.weights, device.out, shape, nullptr);
                     },
                     Output::f32, Reference::contract, /*isProduct=*/true});
  for (bool hasMinima : {false, true})
    entries.push_back({hasMinima ? "transpose-minima" : "transpose",
                       [&device, shape, hasMinima] {
                         return launchTranspose(device.chunks, device.transposed[hasMinima], shape,
                                                hasMinima, nullptr);
                       },
                       Output::tiles, Reference::contract, /*isProduct=*/false});
  for (size_t i = 0; i < kPipelinedNames.size(); ++i)
    entries.push_back({std::string(kPipelinedNames[i]),
                       [&device, shape, form = PipelinedForm(i)] {
                         return launchPipelined(form, device.transposed[hasMinima(form)],
                                                device.weights, device.out, shape, nullptr);
                       },
                       Output::f32, Reference::contract, /*isProduct=*/true});
  for (bool hasParts : {false, true})
    entries.push_back({hasParts ? "tiles-parts" : "tiles",
                       [&device, shape, hasParts] {
                         return launchTiles(device.chunks, device.tiles[hasParts], shape, hasParts,
                                            nullptr);
                       },
                       Output::tiles, Reference::contract, /*isProduct=*/false});
  for (size_t i = 0; i < kWgmmaNames.size(); ++i)
    entries.push_back({std::string(kWgmmaNames[i]),
                       [&device, shape, form = WgmmaForm(i)] {
                         return launchWgmma(form, device.halfActivations, device.weights,
                                            device.out, shape, nullptr);
                       },
                       Output::f32, Reference::halves, /*isProduct=*/true});
  for (const LoadedKernel &kernel : loaded) {
    if (kernel.shape && (kernel.shape->tokens != shape.tokens || kernel.shape->rows != shape.rows ||
                         kernel.shape->depth != shape.depth))
      continue;
    device.needScratch(kernel.scratchBytes);
    entries.push_back({kernel.name,
                       [&device, shape, &kernel] {
                         DeviceBuffers buffers{
                             device.chunks,          device.weights,  device.activations,
                             device.halfActivations, device.out,      device.scratch,
                             device.tiles[0],        device.tiles[1], device.planes};
                         return launchLoaded(kernel, buffers, shape, nullptr);
                       },
                       Output::f32, kernel.check, /*isProduct=*/true});
  }
  return entries;
}

bool checkEntry(const Entry &entry, Device &device, int64_t most) {
  device.clearResults();
  require(entry.run(), entry.name.c_str());
  require(cudaDeviceSynchronize(), entry.name.c_str());
  if (entry.output == Output::tiles)
    return true;
  if (entry.output == Output::chunks)
    return checkChunks(entry.name, device);
  if (entry.output == Output::halfWeights)
    return checkWeights(entry.name, device);
  std::string problem;
  std::vector<float> got = readResults(entry, device, problem);
  Comparison result = compare(device.problem, got, entry.reference, most);
  bool isRight = problem.empty() && result.worst <= allowed(entry.reference);
  std::printf("  %-28s %s: error %.2e, worst %.2e, to exact %.2e, of %lld", entry.name.c_str(),
              isRight ? "right" : "WRONG", result.error, result.worst, result.toExact,
              static_cast<long long>(result.compared));
  if (entry.reference == Reference::contract)
    std::printf(", %lld differ in bits", static_cast<long long>(result.differentBits));
  std::printf(problem.empty() ? "\n" : ": %s\n", problem.c_str());
  return isRight;
}

} // namespace blockscale::q4k
