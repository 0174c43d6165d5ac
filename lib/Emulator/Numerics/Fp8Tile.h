//===- Fp8Tile.h - one mxf8f6f4 instruction, decoded ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the vectorised mxf8f6f4 paths work on. Elements arrive one a byte: sign
// in bit 7, exponent and mantissa fields in the low bits, whatever the format.
// "Regular" elements of a block of 32 lie within kFixedBinades of its largest
// one and are kept as integers too; the few others are exceptions, which the
// shortcut adds one by one. Plain data only, as in Fp4Tile.h.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8TILE_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8TILE_H

#include <cstddef>
#include <cstdint>

namespace blockscale::emu::fp8 {

inline constexpr int kMaxK = 64, kMaxRows = 256, kLanes = 16, kBlock = 32;
inline constexpr int kMaxBlocks = kMaxK / kBlock;
inline constexpr int kZeroElement = -64; // exponent byte of a zero element
inline constexpr int kFixedBinades = 8;  // 8 + 3 mantissa bits + 1: below 2^12
inline constexpr int kNoBit = 63;        // lastBit of elements that are zero or exceptions; of
                                         // regular ones it is the exponent of the last bit set
inline constexpr int kMaxRowExceptions = 4, kMaxColumnExceptions = 8;

/// How the fields of an element byte read.
struct Element {
  int mantissaBits, bias;
  int firstNan; // magnitude codes from here on are NaN; 0x80: none
  int infinity; // magnitude code; -1: none
};

/// One row of A.
struct alignas(64) RowA {
  float value[kMaxK];             // the element, without its scale
  float regular[kMaxK];           // zero where the element is an exception
  int16_t fixed[kMaxK];           // regular elements in units of 2^unit
  int32_t exponent[kMaxK];        // kZeroElement for zero; the byte four times
  int32_t lastBit[kMaxK];         // see kNoBit; the byte four times (AVX2 only)
  int32_t scale[kMaxBlocks];      // exponent of the scale
  int32_t unit[kMaxBlocks];       // exponent of fixed = 1, the scale's included
  int32_t exceptions[kMaxBlocks]; // number
  uint8_t exceptionAt[kMaxBlocks][kMaxRowExceptions];
  bool shortcut, isNan, hasInfinity;
};

/// Sixteen rows of B: columns of D, lane = column % 16.
struct alignas(64) ColumnsB {
  float value[kMaxK][kLanes];
  int16_t fixed[kMaxK / 2][kLanes][2];
  float exceptionValue[kMaxBlocks][kMaxColumnExceptions][kLanes];
  int32_t scale[kMaxBlocks][kLanes], unit[kMaxBlocks][kLanes];
  int32_t exceptions[kMaxBlocks];
  uint8_t exceptionAt[kMaxBlocks][kMaxColumnExceptions];
  uint16_t nanColumns;
  bool shortcut, hasInfinity;
};

struct Tile {
  int m, n, k;
  bool accumulate;
  Element elementA, elementB;
  uint8_t flipA, flipB;             // 0x80 where the operand is negated, else 0
  const uint8_t *a, *b, *sfa, *sfb; // a, b: one element a byte
  size_t aPitch, bPitch, sfaPitch, sfbPitch;
  float *d;
  size_t dPitch;
};

/// Room for the decoded operands; one per host thread.
struct alignas(64) Workspace {
  RowA a[kMaxRows];
  ColumnsB b[kMaxRows / kLanes];
  int8_t exponentB[kMaxRows / 64][kMaxK][64];
  int8_t largest[kMaxBlocks][kMaxRows][64]; // exponent of the largest product
  int8_t lastBitB[kMaxRows / 64][kMaxK][64];
  int8_t lastBit[kMaxBlocks][kMaxRows][64]; // of all regular products
  uint8_t unpackedA[kMaxRows][kMaxK], unpackedB[kMaxRows][kMaxK];
};

/// The vectorised paths; `shortcuts` lets outputs whose regular products provably
/// lose no bits be summed as integers.
void mmaAvx512(const Tile &tile, Workspace &work, bool shortcuts);
void mmaAvx2(const Tile &tile, Workspace &work, bool shortcuts);

} // namespace blockscale::emu::fp8

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8TILE_H
