//===- Float.h - half precision values and floating decode ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_FLOAT_H
#define BLOCKSCALE_LIB_EMULATOR_FLOAT_H

#include "Types.h"

#include <bit>
#include <cstdint>

namespace blockscale::emu {

class Decoder;
/// add, sub, mul, fma, mad, div, min, max, abs, neg of floating types.
bool decodeFloat(Decoder &d);
/// add, sub, mul, div, fma, rcp and sqrt that round by .rz, .rm or .rp (1 to 3).
bool decodeRounded(Decoder &d, int round, bool ftz, bool sat, Type t);

inline constexpr uint32_t kNan32 = 0x7FFFFFFF; // what float instructions produce
inline constexpr uint16_t kNanHalf = 0x7FFF;   // f16 and bf16 alike

inline float flush(float x) {
  uint32_t u = std::bit_cast<uint32_t>(x);
  return (u & 0x7F800000) ? x : std::bit_cast<float>(u & 0x80000000);
}
inline float canonical(float x) { return x != x ? std::bit_cast<float>(kNan32) : x; }

inline float fromBf16(uint16_t b) { return std::bit_cast<float>(uint32_t(b) << 16); }
/// Round to nearest even; NaN is canonical.
inline uint16_t toBf16(float x) {
  uint32_t u = std::bit_cast<uint32_t>(x);
  if ((u & 0x7FFFFFFF) > 0x7F800000)
    return kNanHalf;
  return uint16_t((u + 0x7FFF + ((u >> 16) & 1)) >> 16);
}
float fromF16(uint16_t h);
uint16_t toF16(float x);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_FLOAT_H
