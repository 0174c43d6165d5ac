//===- DotModels.cpp - which chip sums how --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source: mmasim 2.1.1 for F, the products of a sum and what a zero counts as;
// ptxas 13.5's code for how FP8 products run where a chip has no such pipe
// (F2FP.UNPACK, two chained HMMA from zero, FADD or HADD2 of C).
//
//===----------------------------------------------------------------------===//

#include "Dot.h"

#include <algorithm>
#include <array>

namespace blockscale::emu {

using facts::Arch;
using facts::ArchSet;
using facts::WarpFormat;
using facts::WarpResult;

namespace {

enum class Fp8 : uint8_t { none, thirteenBits, splitIntoHalves, likeOthers };

struct ChipRow {
  ArchSet archs;
  int fractionBits;
  int bytes; // of K in one sum
  int zeroExponent, zeroExponentHalf;
  Fp8 fp8;
  bool published;
};

constexpr std::array<ChipRow, 5> kChips{{
    {{Arch::sm_80, Arch::sm_86}, 24, 16, -132, -20, Fp8::none, true},
    {{Arch::sm_89}, 24, 16, -132, -20, Fp8::thirteenBits, true},
    {{Arch::sm_90a, Arch::sm_100, Arch::sm_100a, Arch::sm_100f, Arch::sm_103a, Arch::sm_103f},
     25,
     32,
     -133,
     -21,
     Fp8::splitIntoHalves,
     true},
    {{Arch::sm_107, Arch::sm_107a, Arch::sm_107f, Arch::sm_110a, Arch::sm_110f},
     25,
     32,
     -133,
     -21,
     Fp8::splitIntoHalves,
     false},
    {{Arch::sm_120a, Arch::sm_120f, Arch::sm_121a}, 25, 32, -133, -21, Fp8::likeOthers, true},
}};

constexpr const ChipRow &rowOf(Arch arch) {
  for (const ChipRow &row : kChips)
    if (row.archs.contains(arch))
      return row;
  return kChips.back();
}
constexpr bool everyChipHasARow() {
  for (size_t i = 0; i < facts::kArchNames.size(); ++i)
    if (!rowOf(Arch(i)).archs.contains(Arch(i)))
      return false;
  return true;
}
static_assert(everyChipHasARow());

constexpr SumModel kShortSum{13, -133}; // FP8 of Ada and of wgmma
constexpr int kFp8Half = 16;            // containers of the halves of a split product

} // namespace

ChipDot mmaSyncModel(Arch arch, WarpFormat a, int k, WarpResult d) {
  const ChipRow &chip = rowOf(arch);
  bool half = d == WarpResult::f16;
  DotModel model{{chip.fractionBits, half ? chip.zeroExponentHalf : chip.zeroExponent},
                 chip.bytes * 8 / int(facts::info(a).bits),
                 half ? DotRounding::f16 : DotRounding::f32};
  bool isFp8 = a == WarpFormat::e4m3 || a == WarpFormat::e5m2;
  if (isFp8 && chip.fp8 == Fp8::thirteenBits) {
    model.sum.fractionBits = kShortSum.fractionBits;
    if (!half)
      model.rounding = DotRounding::f32Short;
  }
  if (isFp8 && chip.fp8 == Fp8::splitIntoHalves) {
    model.splitFp8 = true;
    model.terms = chip.bytes * 8 / kFp8Half;
  }
  model.terms = std::min(model.terms, k);
  return {model, chip.published};
}

DotModel wgmmaModel(WarpFormat a, WarpResult d) {
  const ChipRow &chip = rowOf(Arch::sm_90a);
  bool half = d == WarpResult::f16, isFp8 = facts::info(a).bits == 8;
  DotModel model{{chip.fractionBits, half ? chip.zeroExponentHalf : chip.zeroExponent},
                 chip.bytes * 8 / int(facts::info(a).bits),
                 half ? DotRounding::f16 : DotRounding::f32};
  if (isFp8) {
    model.sum.fractionBits = kShortSum.fractionBits;
    if (!half)
      model.rounding = DotRounding::f32Short;
  }
  return model;
}

DotModel tensorModel(unsigned containerBits, WarpResult d) {
  const ChipRow &chip = rowOf(Arch::sm_100a);
  bool half = d == WarpResult::f16;
  return {{chip.fractionBits, half ? chip.zeroExponentHalf : chip.zeroExponent},
          chip.bytes * 8 / int(containerBits),
          half ? DotRounding::f16 : DotRounding::f32};
}

} // namespace blockscale::emu
