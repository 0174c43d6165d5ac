//===- Fp4Tile.h - one mxf4 / mxf4nvf4 instruction, decoded ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the vectorised FP4 paths work on. Both operands are cut into blocks of
// 16 rows (rows of B are columns of D). E2M1 values are doubled, so they are
// the integers 0, 1, 2, 3, 4, 6, 8, 12 and a group of 16 products is an exact
// integer in quarters. Plain data only: files compiled for one instruction set
// include this and must not emit inline functions that others could link to.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP4TILE_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP4TILE_H

#include <cstddef>
#include <cstdint>

namespace blockscale::emu::fp4 {

inline constexpr int kMaxK = 128, kMaxRows = 256, kLanes = 16;
inline constexpr int kMaxGroups = kMaxK / 16; // sums of 16 products
inline constexpr int kNoExponent = -1000;     // of a zero scale
inline constexpr int kBias = 12;              // makes doubled values of B unsigned
inline constexpr int kMaxFixedBits = 15;      // of a product of two `fixed` scales

enum class Scale : uint8_t { ue4m3, ue5m3, ue8m0 };

/// Sixteen rows of one operand. Lane = row % 16.
struct alignas(64) RowBlock {
  float scale[kMaxGroups][kLanes];      // half the scale's value; unused for UE8M0
  int32_t exponent[kMaxGroups][kLanes]; // the scale's exponent; kNoExponent for zero
  int32_t fixed[kMaxGroups][kLanes];    // scale / unit as an integer
  int32_t nonzero[kMaxGroups][kLanes];  // bit per element of the group that is not zero
  // Of the four rows that are summed together, in each of their lanes:
  int32_t minExponent[kLanes], maxExponent[kLanes]; // over scales that are not zero
  int32_t fixedBits[kLanes];                        // width of the largest `fixed`
  int32_t minNonzeros[kLanes];                      // fewest nonzero elements in a group
  double unit[kLanes];                              // half of the value of fixed = 1
  uint32_t nanRows;                                 // bit per row: a scale is NaN
  // Over the block:
  int32_t blockMinExponent, blockMaxExponent, blockFixedBits, blockMinNonzeros;
};

/// The instruction.
struct Tile {
  int m, n, k, block;
  Scale scale;
  bool accumulate;
  uint8_t flipA, flipB; // 0x88 where the operand is negated, else 0
  const uint8_t *a, *b, *sfa, *sfb;
  size_t aPitch, bPitch, sfaPitch, sfbPitch;
  float *d;
  size_t dPitch;
};

/// Room for the decoded operands; one per host thread.
struct alignas(64) Workspace {
  RowBlock a[kMaxRows / kLanes], b[kMaxRows / kLanes];
  int8_t aValues[kMaxRows][kMaxK];     // [low nibbles, high nibbles], signed
  int32_t aBias[kMaxRows][kMaxGroups]; // -kBias * sum of the group's values
  uint8_t bValues[kMaxRows / kLanes][kMaxK / 8][2][kLanes * 4]; // + kBias
  bool mayHaveZeroGroups; // some pair of groups may have only zero products
};

/// Calls sum.operator()<S, P>() for the tile: S scales a row, P sums of 16 products a scale.
template <class Sum> void byShape(const Tile &t, Sum sum) {
  switch (t.k / 32 * 100 + t.block) {
  case 216:
    return sum.template operator()<4, 1>();
  case 316:
    return sum.template operator()<6, 1>();
  case 416:
    return sum.template operator()<8, 1>();
  case 232:
    return sum.template operator()<2, 2>();
  case 332:
    return sum.template operator()<3, 2>();
  case 432:
    return sum.template operator()<4, 2>();
  }
}

/// The vectorised paths; `shortcuts` lets blocks of outputs that provably lose
/// no bits be summed as integers.
void mmaAvx512(const Tile &tile, Workspace &work, bool shortcuts);
void mmaAvx2(const Tile &tile, Workspace &work, bool shortcuts);

} // namespace blockscale::emu::fp4

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP4TILE_H
