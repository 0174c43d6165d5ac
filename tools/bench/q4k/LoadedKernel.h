//===- LoadedKernel.h - kernels from files, beside the built-in ones ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A description is a text file, one word and its values a line; `kernel` starts the
// next kernel and `entry` its next launch:
//
//   kernel raw-nibble          # name in the table
//   module raw_nibble.ptx      # PTX or cubin, beside the description
//   shape 2048 18944 3584      # tokens, rows, depth; without it the kernel takes any
//   check contract             # or: halves
//   scratch 0                  # bytes
//   entry gemm                 # launches run in order
//   grid 32 148 1
//   block 256 1 1
//   shared 43008               # dynamic, bytes
//   args chunks weights out tokens rows depth
//
// An argument is a pointer (chunks, or those as tiles, or as tiles with parts; weights, or
// those as planes; out, scratch, f32 or f16 activations), an i32 of the shape (tokens, rows,
// depth), a number (i32:7, i64:7) or a tensor map of f16 activations by the tokens of its box
// (token-map:256) or of weights by its rows.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_Q4K_LOADEDKERNEL_H
#define BLOCKSCALE_TOOLS_BENCH_Q4K_LOADEDKERNEL_H

#include "Contract.h"

#include <cuda_runtime.h>

#include <optional>
#include <string>
#include <vector>

namespace blockscale::q4k {

struct LoadedLaunch {
  std::string entry;
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  unsigned sharedBytes = 0;
  std::vector<std::string> args;
  cudaKernel_t kernel = nullptr;
};

struct LoadedKernel {
  std::string name, module;
  std::optional<Shape> shape;
  Reference check = Reference::contract;
  size_t scratchBytes = 0;
  std::vector<LoadedLaunch> launches;
};

struct DeviceBuffers {
  const ActivationChunk *chunks;
  const WeightBlock *weights;
  const float *f32;
  const __half *f16;
  float *out;
  void *scratch;
  const uint8_t *tiles, *parts;
  const WeightPlane *planes;
};

/// Reads a description and loads its modules. Leaves out what cannot be loaded;
/// `problem` says why, a line for each.
std::vector<LoadedKernel> loadKernels(const std::string &path, std::string &problem);

cudaError_t launchLoaded(const LoadedKernel &kernel, const DeviceBuffers &buffers, Shape shape,
                         cudaStream_t stream);

} // namespace blockscale::q4k

#endif // BLOCKSCALE_TOOLS_BENCH_Q4K_LOADEDKERNEL_H
