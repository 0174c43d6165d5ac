//===- Model.h - how a tensor core sums, as parameters --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instruction adds a number of terms and D at once: every term is aligned
// to the largest exponent, cut towards zero `fractionBits` below it, and the
// sum is cut to float. Published model: MMA-Sim (arXiv 2511.10909); no public
// hardware vectors cover the block-scaled kinds.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_MODEL_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_MODEL_H

#include "blockscale/Emulator/Mma.h"

#include <cstdint>

namespace blockscale::emu {

struct SumModel {
  int fractionBits; // F: kept below the largest exponent
  int zeroExponent; // what a zero term counts as
};

inline constexpr SumModel kMxf8f6f4Model{25, -133};
inline constexpr SumModel kMxf4Model{35, -139};
inline constexpr int kMxf4Group = 16;           // products that mxf4* adds exactly
inline constexpr uint32_t kMmaNan = 0x7FFFFFFF; // the NaN a sum gives

inline bool isFp4Kind(facts::MmaKind kind) {
  return kind == facts::MmaKind::mxf4 || kind == facts::MmaKind::mxf4nvf4;
}
inline SumModel sumModel(facts::MmaKind kind) {
  return isFp4Kind(kind) ? kMxf4Model : kMxf8f6f4Model;
}

/// The code of element k of a packed row.
inline uint32_t elementCode(facts::Format format, Packing packing, const uint8_t *row, int k) {
  unsigned bits = facts::info(format).bits;
  size_t bit =
      packing == Packing::dense ? size_t(k) * bits : size_t(k / 16) * 128 + size_t(k % 16) * bits;
  uint32_t word = row[bit / 8];
  if (bit % 8 + bits > 8)
    word |= uint32_t(row[bit / 8 + 1]) << 8;
  return word >> (bit % 8) & ((1u << bits) - 1);
}

/// The readable model; `model` is a parameter so that tests can show that they
/// would notice a wrong one.
void mmaPlain(const MmaInstruction &instruction, const MmaOperands &operands, SumModel model);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_MODEL_H
