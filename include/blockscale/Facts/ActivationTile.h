//===- ActivationTile.h - chunks of activations, transposed ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 64 tokens x 256 elements in the order in which a kernel's shared memory holds them, so
// that one bulk copy fills it. Planes: bytes of the elements, chunk by chunk; scales of
// the chunks; then their scaled sums, or those as three bf16 parts, which a product of
// their own multiplies with the minima of B.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_ACTIVATIONTILE_H
#define BLOCKSCALE_FACTS_ACTIVATIONTILE_H

#include "blockscale/Facts/BlockFormat.h"
#include "blockscale/Facts/PlaneLayout.h"

#include <bit>

namespace blockscale::facts {

inline constexpr int kTileChunks = kTileElements / kChunkElements;

// Planes of a tile.
inline constexpr int kTileValueBytes = kTileTokens * kTileElements;
inline constexpr int kTileScales = kTileValueBytes; // f32 d
inline constexpr int kTileScaleBytes = kTileChunks * kTileTokens * 4;
inline constexpr int kTileSums = kTileScales + kTileScaleBytes; // f32 d * sum, or its parts
inline constexpr int kTileSumBytes = kTileScaleBytes;
inline constexpr int kSumParts = 3; // 24 bits as three numbers of 8
inline constexpr int kTilePartBytes = kTileTokens * kTileChunks * 2;

/// Byte of element `element` (0..255) of token `token` (0..63).
constexpr int tileValueOffset(int token, int element) {
  int chunk = element / kChunkElements, byte = element % kChunkElements;
  return chunk * kTileTokens * kChunkElements +
         planeOffset(PlaneLayout::split_phase, token, byte / kPieceBytes, kChunkElements) +
         byte % kPieceBytes;
}

/// Place of a token's word among a chunk's: a lane of a fragment loads the words of
/// tokens r, r + 8, r + 16 and r + 24 at once.
constexpr int tileTermSlot(int token) { return quadEntry(token); }
constexpr int tileScaleOffset(int token, int chunk) {
  return kTileScales + (chunk * kTileTokens + tileTermSlot(token)) * 4;
}
constexpr int tileSumOffset(int token, int chunk) {
  return tileScaleOffset(token, chunk) + kTileScaleBytes;
}
/// bf16 part `part` of a scaled sum: a row of eight chunks is what ldmatrix reads.
constexpr int tilePartOffset(int token, int chunk, int part) {
  return kTileSums + part * kTilePartBytes + (token * kTileChunks + chunk) * 2;
}

/// Bits of the parts of `sum`, each cut off after 8 bits: they add up to it exactly. One
/// that is not finite is the first part, and the others are 0.
constexpr std::array<uint16_t, kSumParts> splitSum(float sum) {
  constexpr uint32_t kExponent = 0x7F800000, kMantissa = 0x007FFFFF;
  std::array<uint16_t, kSumParts> parts{};
  uint32_t bits = std::bit_cast<uint32_t>(sum);
  if ((bits & kExponent) == kExponent) {
    parts[0] = bits & kMantissa ? 0x7FFF : uint16_t(bits >> 16);
    return parts;
  }
  for (uint16_t &part : parts) {
    uint32_t upper = std::bit_cast<uint32_t>(sum) & 0xFFFF0000u;
    part = uint16_t(upper >> 16);
    sum -= std::bit_cast<float>(upper);
  }
  return parts;
}

namespace detail {
static_assert(info(BlockFormat::q8_1_tile).bytes == kTileSums + kTileSumBytes);
static_assert(info(BlockFormat::q8_1_tile_parts).bytes == kTileSums + kSumParts * kTilePartBytes);
static_assert(tileTermSlot(1) == 4 && tileTermSlot(8) == 1 && tileTermSlot(16) == 2 &&
              tileTermSlot(32) == 32 && tileTermSlot(63) == 63);
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_ACTIVATIONTILE_H
