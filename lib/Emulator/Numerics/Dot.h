//===- Dot.h - products without scales: mma.sync, wgmma -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor core adds a few products and C at once: aligned to the largest
// exponent, cut towards zero `fractionBits` below it, rounded once. A longer K
// is a chain of such sums. How many products and how many bits depend on the
// chip. Published models: MMA-Sim (arXiv 2511.10909, PyPI mmasim 2.1.1).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_DOT_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_DOT_H

#include "Model.h"

#include "blockscale/Facts/WarpMma.h"

#include <cstddef>

namespace blockscale::emu {

enum class DotRounding : uint8_t {
  f32,      // cut to float
  f32Short, // cut to 13 fraction bits
  f16       // to nearest even
};

struct DotModel {
  SumModel sum;
  int terms; // products of one sum
  DotRounding rounding;
  /// ptxas makes f16 of FP8 and two products of one: from zero over the elements
  /// k % 4 < 2, then over the others, then an ordinary addition of C.
  bool splitFp8 = false;
};

/// What a chip does, and whether a published model says so.
struct ChipDot {
  DotModel model;
  bool published;
};
ChipDot mmaSyncModel(facts::Arch arch, facts::WarpFormat a, int k, facts::WarpResult d);
/// wgmma of sm_90a.
DotModel wgmmaModel(facts::WarpFormat a, facts::WarpResult d);
/// tcgen05.mma of the kinds without scales: f16, tf32, f8f6f4.
DotModel tensorModel(unsigned containerBits, facts::WarpResult d);

struct DotShape {
  facts::WarpFormat a, b;
  int m, n, k;
  bool negateA = false, negateB = false;
};

/// Rows of elements in their containers (s4 and u4: two a byte), narrow codes in the low
/// bits. D in 32-bit cells: s32, f32, or f16 in the low half. Pitches in bytes, D's in
/// cells.
struct DotOperands {
  const uint8_t *a; // m rows of k
  size_t aPitch;
  const uint8_t *b; // n rows of k
  size_t bPitch;
  uint32_t *d;
  size_t dPitch;
  bool accumulate = true;
};

/// D = A * B^T (+ D) of floating point formats.
void dot(const DotShape &shape, const DotModel &model, const DotOperands &operands);
/// The readable form of the same, which tests compare with.
void dotPlain(const DotShape &shape, const DotModel &model, const DotOperands &operands);
/// Integers: exact, then wrapped, or clamped with `saturate`.
void dotInteger(const DotShape &shape, bool saturate, const DotOperands &operands);

/// f16 sum, rounded to nearest even once.
uint16_t addHalf(uint16_t a, uint16_t b);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_DOT_H
