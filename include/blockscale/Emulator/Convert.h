//===- Convert.h - conversions to and from narrow formats -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function per conversion, used by the emulator's cvt, the runtime's
// quantisers and every check, so that all of them round alike. Integer
// arithmetic only: results depend on no host rounding mode and no flush mode.
// Meaning: PTX ISA 9.4, 5.2.3 and 9.7.10.24.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_CONVERT_H
#define BLOCKSCALE_EMULATOR_CONVERT_H

#include "blockscale/Facts/Format.h"

#include <cstdint>

namespace blockscale::emu {

/// Rounding of a conversion; names as in PTX: rn, rz, rm, rp.
enum class Round : uint8_t { nearestEven, towardZero, down, up };

/// What a value beyond the largest finite one becomes.
enum class Overflow : uint8_t {
  natural,   // infinity where the format has one, else NaN, else the largest value
  satfinite, // the largest finite value, for infinities too
};

/// The value of an element; `bits` holds it in its low bits, packed or in a
/// byte. Exact: every format here is a subset of float.
float decode(facts::Format format, uint32_t bits);

/// The value of a scale byte. E8M0: 0x00 is 2^-127, 0xFF is NaN. UE4M3 ignores
/// the top bit. UE5M3: 0xFF is NaN, no infinity.
float decode(facts::ScaleFormat format, uint8_t byte);

/// Rounds once to `format`. NaN becomes the format's canonical NaN (e4m3 0x7F,
/// e5m2 0x7F, f16 0x7FFF, bf16 0x7FFF), and +max where it has none (e2m1, e2m3,
/// e3m2). The sign of zero is kept. Formats of 8 bits and below without an
/// infinity saturate for an infinite source under `satfinite`.
uint32_t encode(facts::Format format, float value, Round round = Round::nearestEven,
                Overflow overflow = Overflow::satfinite);

/// Rounds to a scale format. Scales have no sign: the sign of `value` is
/// ignored. UE8M0 has no zero: 0 and what rounds to it become 0x00 (2^-127);
/// PTX gives it towardZero and up only, and nearestEven here ties to the even
/// exponent byte. NaN becomes the format's NaN byte.
uint8_t encode(facts::ScaleFormat format, float value, Round round,
               Overflow overflow = Overflow::satfinite);

/// cvt.rn.satfinite.scaled::n1::ue8m0 to e4m3 or e5m2 (also rz): rounds
/// value * 2^(127 - scale) once. A subnormal value is flushed to zero with its
/// sign first; scale 0xFF gives 0x7F for every value; NaN gives 0x7F (for
/// formats without NaN both give +max). Source: numerics of cuDNN's published
/// Rubin measurements.
uint32_t encodeScaled(facts::Format format, float value, uint8_t scale,
                      Round round = Round::nearestEven);

/// cvt.rs: as towardZero, but for a carry of the discarded significand bits plus `random`,
/// which has `randomBits` bits and stands below their top. Finite formats without infinity
/// saturate. Subnormal results round alike. Source: PTX ISA 9.4, 9.7.10.24.
uint32_t encodeRandom(facts::Format format, float value, uint32_t random, unsigned randomBits,
                      Overflow overflow);

/// S2F6: a byte in two's complement, in units of 1/64. encode rounds value * 2^(127 - scale)
/// once and keeps it in [-128, 127]; NaN, of a scale of 0xFF too, gives 127. Source: PTX ISA
/// 9.4, 9.7.10.24.
inline float decodeS2f6(uint8_t byte) { return float(int8_t(byte)) / 64; }
uint8_t encodeS2f6(float value, uint8_t scale, Round round);

inline float decodeF16(uint16_t bits) { return decode(facts::Format::f16, bits); }
inline float decodeBf16(uint16_t bits) { return decode(facts::Format::bf16, bits); }
/// cvt.rn.f16.f32 and cvt.rn.bf16.f32: overflow gives infinity.
inline uint16_t encodeF16(float value, Round round = Round::nearestEven) {
  return uint16_t(encode(facts::Format::f16, value, round, Overflow::natural));
}
inline uint16_t encodeBf16(float value, Round round = Round::nearestEven) {
  return uint16_t(encode(facts::Format::bf16, value, round, Overflow::natural));
}

} // namespace blockscale::emu

#endif // BLOCKSCALE_EMULATOR_CONVERT_H
