//===- ConvertOps.h - what the files of cvt share -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_CONVERTOPS_H
#define BLOCKSCALE_LIB_EMULATOR_CONVERTOPS_H

#include "blockscale/Emulator/Convert.h"

#include "Decoder.h"

namespace blockscale::emu {

/// Flags of conversions that are not between integers.
enum : uint32_t { kFtz = 8, kSat = 16, kRelu = 32, kInt = 64, kSatfinite = 256, kPzo = 1024 };

/// .pzo: a result of -0 becomes +0, wherever it comes from.
inline uint32_t positiveZero(uint32_t code, uint32_t sign, const Instruction &in) {
  return in.flags & kPzo && code == sign ? 0 : code;
}

inline Round roundOf(const Instruction &in) { return Round(in.sub & 3); }

/// A scale operand of a pair: one byte for both, or one for each.
enum class PairScale : uint8_t { none, n1, n2 };

bool isPair(Type t);
/// To or from a packed pair; modifiers are taken.
bool decodePair(Decoder &d, Type dst, Type src, uint32_t flags, int round, PairScale scale);
/// After `cvt.rs`: to a pair of halves, or to four narrow values.
bool decodeRandom(Decoder &d, Type dst, Type src, uint32_t flags);
/// After `cvt.pack`.
bool decodePack(Decoder &d);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_CONVERTOPS_H
