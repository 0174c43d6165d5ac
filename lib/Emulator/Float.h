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
/// add, sub and fma of f32 whose first source, or two of fma, has 16 bits.
bool decodeMixed(Decoder &d, int round, bool sat, Type narrow);

/// rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh.
bool decodeFunction(Decoder &d);
/// div.approx and div.full of f32.
bool decodeDivApprox(Decoder &d, bool isFull, bool ftz);

/// What .ftz of f32 makes zero of: results that rounded to 24 bits, with exponents without
/// bound, would be subnormal.
inline constexpr double kTinyF32 = 0x1p-126 - 0x1p-151;

inline constexpr uint32_t kNan32 = 0x7FFFFFFF; // what float instructions produce
inline constexpr uint16_t kNanHalf = 0x7FFF;   // f16 and bf16 alike

inline float flush(float x) {
  uint32_t u = std::bit_cast<uint32_t>(x);
  return (u & 0x7F800000) ? x : std::bit_cast<float>(u & 0x80000000);
}
inline float canonical(float x) { return x != x ? std::bit_cast<float>(kNan32) : x; }

/// NaN of f64 keeps its sign and payload, also under neg and abs; the last operand that is
/// NaN gives the result's, and what is invalid gives -NaN (an H200's bits).
inline double quiet(double nan) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(nan) | uint64_t(1) << 51);
}
template <typename... T> double nanOr(double result, T... operands) {
  if (result == result)
    return result;
  double nan = std::bit_cast<double>(uint64_t(0xFFF8) << 48);
  for (double x : {operands...})
    if (x != x)
      nan = x;
  return quiet(nan);
}

/// A sum of f64 that memory itself makes: the operand's NaN, else memory's, as they are.
inline double sumInMemory(double old, double operand) {
  return operand != operand ? operand : old != old ? old : nanOr(old + operand, old, operand);
}

/// f32 bits to tf32's 10 mantissa bits, to nearest even.
inline uint32_t nearestTf32(uint32_t u) {
  constexpr uint32_t kLow = 0x1FFF, kInfinity = 0x7F800000, kNanTf32 = 0x7FFFE000;
  return (u & 0x7FFFFFFF) > kInfinity ? kNanTf32 : (u + kLow / 2 + (u >> 13 & 1)) & ~kLow;
}

inline float fromBf16(uint16_t b) { return std::bit_cast<float>(uint32_t(b) << 16); }
/// Round to nearest even; NaN is canonical.
inline uint16_t toBf16(float x) {
  uint32_t u = std::bit_cast<uint32_t>(x);
  if ((u & 0x7FFFFFFF) > 0x7F800000)
    return kNanHalf;
  return uint16_t((u + 0x7FFF + ((u >> 16) & 1)) >> 16);
}
/// Sign and payload of NaN stay.
float fromF16(uint16_t h);
uint16_t toF16(float x);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_FLOAT_H
