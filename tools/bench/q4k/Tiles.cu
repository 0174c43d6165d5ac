//===- Tiles.cu - activations as the compiler's kernels take them ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formats q8_1_tile and q8_1_tile_parts (Facts/ActivationTile.h) by a pass before the
// product, as plain as it can be at the speed of memory: eight threads a chunk.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

namespace blockscale::q4k {

namespace {

constexpr int kTileTokens = 64, kTileThreads = 256;
constexpr int kScales = kTileTokens * kSuperBlock, kSums = kScales + kTileTokens * 8 * 4;
constexpr int kPart = kTileTokens * kChunksPerBlock * 2;

__host__ __device__ constexpr int tileBytesOf(bool hasParts) {
  return kSums + (hasParts ? 3 * kPart : kTileTokens * 8 * 4);
}

template <bool hasParts>
__device__ inline void storeTerms(uint8_t *tile, int token, int chunk, float d, float sum) {
  int slot = (token / 32 * 8 + token % 8) * 4 + token / 16 % 2 * 2 + token / 8 % 2;
  int at = (chunk * kTileTokens + slot) * 4;
  *reinterpret_cast<float *>(tile + kScales + at) = d;
  if constexpr (!hasParts) {
    *reinterpret_cast<float *>(tile + kSums + at) = sum;
  } else {
#pragma unroll
    for (int part = 0; part < 3; ++part) {
      unsigned upper = __float_as_uint(sum) & 0xFFFF0000u;
      *reinterpret_cast<uint16_t *>(tile + kSums + part * kPart +
                                    (token * kChunksPerBlock + chunk) * 2) = upper >> 16;
      sum -= __uint_as_float(upper);
    }
  }
}

/// Chunks here are finite. Tokens past the end are zeros.
template <bool hasParts>
__global__ void __launch_bounds__(kTileThreads)
    tile(const ActivationChunk *in, uint8_t *out, int tokens, int blocks) {
  int word = threadIdx.x & 7, chunk = threadIdx.x >> 3 & 7;
  uint8_t *tile = out + (size_t(blockIdx.y) * blocks + blockIdx.x) * tileBytesOf(hasParts);
  for (int token = threadIdx.x >> 6; token < kTileTokens; token += kTileThreads / 64) {
    int row = blockIdx.y * kTileTokens + token;
    unsigned q = 0;
    float d = 0;
    int sum = 0;
    if (row < tokens) {
      const ActivationChunk &from =
          in[(size_t(row) * blocks + blockIdx.x) * kChunksPerBlock + chunk];
      q = reinterpret_cast<const unsigned *>(from.q)[word];
      d = __half2float(from.d);
      sum = from.sum;
    }
    int unit = (token % 4 * 2 + word / 4) ^ (token / 4 % 8);
    *reinterpret_cast<unsigned *>(tile + chunk * kTileTokens * kChunk + token / 4 * 128 +
                                  unit * 16 + word % 4 * 4) = q;
    if (word == 0)
      storeTerms<hasParts>(tile, token, chunk, d, d * float(sum));
  }
}

} // namespace

size_t tileBytes(Shape shape, bool hasParts) {
  return size_t((shape.tokens + kTileTokens - 1) / kTileTokens) * shape.blocksPerRow() *
         tileBytesOf(hasParts);
}

cudaError_t launchTiles(const ActivationChunk *in, uint8_t *out, Shape shape, bool hasParts,
                        cudaStream_t stream) {
  dim3 grid(shape.blocksPerRow(), (shape.tokens + kTileTokens - 1) / kTileTokens);
  auto kernel = hasParts ? tile<true> : tile<false>;
  kernel<<<grid, kTileThreads, 0, stream>>>(in, out, shape.tokens, int(shape.blocksPerRow()));
  return cudaGetLastError();
}

} // namespace blockscale::q4k
