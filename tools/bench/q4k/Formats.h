//===- Formats.h - blocks of Q4_K weights and Q8_1 activations ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Byte layouts as ggml writes them (Q4_K) and as the raw-nibble kernel takes them
// (40-byte chunks of Q8_1). Shared by host code and kernels.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_Q4K_FORMATS_H
#define BLOCKSCALE_TOOLS_BENCH_Q4K_FORMATS_H

#include <cstdint>

#include <cuda_fp16.h>

namespace blockscale::q4k {

constexpr int kSuperBlock = 256; // weights of one Q4_K block
constexpr int kChunk = 32;       // elements that share a scale
constexpr int kChunksPerBlock = kSuperBlock / kChunk;

/// Byte 32 p + i of `nibbles` holds weight 64 p + i (low) and 64 p + 32 + i (high).
struct WeightBlock {
  __half d;
  __half dmin;
  uint8_t scales[12];
  uint8_t nibbles[128];
};
static_assert(sizeof(WeightBlock) == 144);

/// `sum` is that of `q`.
struct ActivationChunk {
  __half d;
  uint16_t unused;
  int8_t q[kChunk];
  int32_t sum;
};
static_assert(sizeof(ActivationChunk) == 40);

/// w = (d * scale) * n - (dmin * min).
struct ScaleMin {
  uint8_t scale, min;
};

__host__ __device__ inline ScaleMin unpackScaleMin(const uint8_t *bytes, int sub) {
  if (sub < 4)
    return {uint8_t(bytes[sub] & 63), uint8_t(bytes[sub + 4] & 63)};
  return {uint8_t((bytes[sub + 4] & 15) | (bytes[sub - 4] >> 6) << 4),
          uint8_t((bytes[sub + 4] >> 4) | (bytes[sub] >> 6) << 4)};
}

/// Four sub-blocks' scales and mins, a byte each: of 0..3, or of 4..7 (`isUpper`).
struct PackedTerms {
  uint32_t scales, mins;
};

/// From the three words of the scale bytes.
__host__ __device__ inline PackedTerms unpackFour(uint32_t low, uint32_t middle, uint32_t high,
                                                  bool isUpper) {
  if (!isUpper)
    return {low & 0x3F3F3F3Fu, middle & 0x3F3F3F3Fu};
  return {(high & 0x0F0F0F0Fu) | (low >> 2 & 0x30303030u),
          (high >> 4 & 0x0F0F0F0Fu) | (middle >> 2 & 0x30303030u)};
}

__host__ __device__ inline int unpackNibble(const WeightBlock &block, int weight) {
  uint8_t byte = block.nibbles[(weight >> 6) * 32 + (weight & 31)];
  return weight & 32 ? byte >> 4 : byte & 15;
}

/// The weights of 16 rows as the compiler's kernels with `weights = plane` read them: 16-byte
/// pieces of a row's nibbles XORed with row % 8, then d * scale and -(dmin * min) of each
/// sub-block.
struct WeightPlane {
  static constexpr int kRows = 16;
  uint8_t nibbles[kRows][128];
  float terms[kChunksPerBlock][kRows][2];
};
static_assert(sizeof(WeightPlane) == 3072);

/// C[tokens, rows] = A[tokens, depth] * W[rows, depth]^T.
struct Shape {
  int tokens, rows, depth;

  int64_t chunksPerToken() const { return depth / kChunk; }
  int64_t blocksPerRow() const { return depth / kSuperBlock; }
  int64_t outputs() const { return int64_t(tokens) * rows; }
  double operations() const { return 2.0 * tokens * rows * depth; }
};

} // namespace blockscale::q4k

#endif // BLOCKSCALE_TOOLS_BENCH_Q4K_FORMATS_H
