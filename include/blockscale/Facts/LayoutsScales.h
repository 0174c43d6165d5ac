//===- LayoutsScales.h - scale factors in tensor memory -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the scale of a row lies when tcgen05.mma looks for it. Lanes are 0..31 and
// repeat in all four parts of 32 lanes. The 512-byte tile of global and shared
// memory is ScaleTile.h; one 32x128b.warpx4 copy moves one tile onto four columns.
// Source: PTX ISA 9.4, 9.7.18.10.7; equal to CUTLASS 4.7.0 and cutlass-dsl 4.8.1 on
// 284,928 points.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_LAYOUTSSCALES_H
#define BLOCKSCALE_FACTS_LAYOUTSSCALES_H

#include <array>
#include <cstdint>

namespace blockscale::facts {

/// Descriptor of a scale tile for tcgen05.cp: 128 bytes of stride, no swizzle.
inline constexpr uint32_t kScaleTileStride = 128;
/// Bytes of a scale word, and columns that one tile takes.
inline constexpr int kScalesPerWord = 4;
inline constexpr int kScaleTileColumns = 4;

/// Columns from one word of a row to the next: 4 for each started 128 rows. Rows
/// are the M of one CTA for A, and all of N for B.
constexpr int scaleGroupColumns(int rows) { return kScaleTileColumns * ((rows + 127) / 128); }

/// Columns that the scales of an operand take for `scales` scales a row.
constexpr int scaleColumns(int rows, int scales) {
  return scaleGroupColumns(rows) * ((scales + kScalesPerWord - 1) / kScalesPerWord);
}

struct ScalePlace {
  int lane, column, byte; // lane 0..31, column from the operand's base
  constexpr bool operator==(const ScalePlace &) const = default;
};

/// Scale `scale` (from this instruction's first) of row `row`; `id` is the first
/// byte that the descriptor names.
constexpr ScalePlace scalePlace(int row, int scale, int rows, int id = 0) {
  int p = id + scale;
  return {row % 32, row / 32 + p / kScalesPerWord * scaleGroupColumns(rows), p % kScalesPerWord};
}

/// Scales of B for M = 128 of a pair (the 2x2 data path): the two lane bases.
struct ScalePlace2x2 {
  std::array<int, 2> lanes;
  int column, byte;
};
constexpr ScalePlace2x2 scalePlaceB2x2(int n, int scale, int columns, int id = 0) {
  int half = columns / 2, h = n / half, row = n % half, p = id + scale;
  return {{64 * h + row % 32, 64 * h + 32 + row % 32},
          row / 32 + p / kScalesPerWord * scaleGroupColumns(half),
          p % kScalesPerWord};
}

/// Id and word of the scales of the i-th instruction along K that has
/// `perInstruction` scales a row; scales follow without gaps.
struct ScaleStep {
  int id, word;
};
constexpr ScaleStep scaleStep(int instruction, int perInstruction) {
  int first = instruction * perInstruction;
  return {first % kScalesPerWord, first / kScalesPerWord};
}

/// Tiles of B's scales for a CTA tile that starts at column n0: the first tile, how
/// many, and the column shift of the address in the MMA.
struct ScaleTilesOfB {
  int64_t first, count;
  int columnShift;
};
constexpr ScaleTilesOfB scaleTilesOfB(int64_t n0, int64_t columns) {
  return {n0 / 128, (n0 % 128 + columns + 127) / 128, int(n0 % 128 / 32)};
}

// PTX ISA 9.4, 9.7.18.10.7: 128 rows take four columns a word; B of 256 twice that.
static_assert(scalePlace(33, 1, 128) == ScalePlace{1, 1, 1});
static_assert(scalePlace(0, 4, 128) == ScalePlace{0, 4, 0});
static_assert(scalePlace(255, 2, 256, /*id=*/2) == ScalePlace{31, 15, 0});

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_LAYOUTSSCALES_H
