//===- Convert.cpp - conversions to and from narrow formats ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A format is a row of five numbers (`Shape`); decode and encode are written
// once over it. The magnitude codes of each format ascend with the value, so
// rounding is done on the code: a carry out of the significand lands in the
// exponent field by itself.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Convert.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace blockscale;
using namespace blockscale::emu;
using facts::Format;
using facts::ScaleFormat;

namespace {

constexpr uint32_t kNone = ~0u; // no such code

/// How the magnitude codes (without sign) of a format are laid out.
struct Shape {
  unsigned mantissaBits;
  int bias;
  uint32_t signBit;  // 0: unsigned
  uint32_t maxCode;  // largest finite magnitude
  uint32_t infinity; // kNone: there is none
  uint32_t nan;      // the canonical NaN; kNone: there is none
};

Shape shapeOf(Format format) {
  const facts::FormatInfo &f = facts::info(format);
  uint32_t sign = 1u << (f.exponentBits + f.mantissaBits);
  uint32_t allOnes = sign - 1; // exponent and mantissa
  uint32_t infinity = allOnes & ~((1u << f.mantissaBits) - 1);
  switch (format) {
  case Format::e2m1:
  case Format::e2m3:
  case Format::e3m2:
    return {f.mantissaBits, f.bias, sign, allOnes, kNone, kNone};
  case Format::e4m3:
    return {f.mantissaBits, f.bias, sign, allOnes - 1, kNone, allOnes};
  case Format::e5m2:
  case Format::f16:
  case Format::bf16:
  case Format::f32:
    return {f.mantissaBits, f.bias, sign, infinity - 1, infinity, allOnes};
  }
  return {};
}

constexpr Shape kUe4m3{3, 7, 0, 0x7E, kNone, 0x7F};
constexpr Shape kUe5m3{3, 15, 0, 0xFE, kNone, 0xFF};

/// A finite magnitude: significand * 2^exponent.
struct Magnitude {
  uint32_t significand;
  int exponent;
};

Magnitude magnitudeOf(uint32_t floatBits) {
  int field = int(floatBits >> 23 & 0xFF);
  uint32_t fraction = floatBits & 0x7FFFFF;
  return field == 0 ? Magnitude{fraction, -149} : Magnitude{fraction | 0x800000, field - 150};
}

/// value / 2^shift in integers, rounded; `negative` turns down and up around.
uint64_t shiftRounded(uint64_t value, int shift, Round round, bool negative) {
  if (shift <= 0)
    return value << -shift;
  bool away = round == (negative ? Round::down : Round::up);
  if (shift > 40) // value is below 2^25: less than half a unit
    return away && value ? 1 : 0;
  uint64_t whole = value >> shift, rest = value & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  if (round == Round::nearestEven)
    return whole + (rest > half || (rest == half && (whole & 1)));
  return whole + (away && rest);
}

/// The magnitude code of m, before any limit, of which `shift` rounds the significand.
template <typename Shift> uint64_t roundToCode(const Shape &shape, Magnitude m, Shift shift) {
  if (m.significand == 0)
    return 0;
  int leading = m.exponent + std::bit_width(m.significand) - 1; // floor(log2)
  int minExponent = 1 - shape.bias;
  int binade = leading > minExponent ? leading : minExponent;
  uint64_t significand = shift(m.significand, binade - int(shape.mantissaBits) - m.exponent);
  return (uint64_t(binade - minExponent) << shape.mantissaBits) + significand;
}

/// What stands for a magnitude that does not fit.
uint32_t beyondCode(const Shape &shape, bool staysFinite) {
  if (staysFinite)
    return shape.maxCode;
  return shape.infinity != kNone ? shape.infinity : shape.nan != kNone ? shape.nan : shape.maxCode;
}

uint32_t encodeMagnitude(const Shape &shape, Magnitude m, bool negative, Round round,
                         Overflow overflow) {
  uint64_t code = roundToCode(shape, m, [&](uint64_t significand, int shift) {
    return shiftRounded(significand, shift, round, negative);
  });
  bool truncates = round == Round::towardZero || round == (negative ? Round::up : Round::down);
  return code <= shape.maxCode ? uint32_t(code)
                               : beyondCode(shape, overflow == Overflow::satfinite || truncates);
}

/// The carry that random bits make of the bits that go.
uint64_t shiftCarried(uint64_t value, int shift, uint32_t random, unsigned randomBits) {
  if (shift < int(randomBits)) // no float has so few bits to lose
    return shiftRounded(value, shift, Round::towardZero, false);
  if (shift > 41) // value is below 2^24, the random bits' complement at least 2^25
    return 0;
  return (value + (uint64_t(random) << (unsigned(shift) - randomBits))) >> shift;
}

uint32_t encodeFloat(const Shape &shape, uint32_t bits, Round round, Overflow overflow) {
  bool negative = shape.signBit != 0 && bits >> 31;
  uint32_t sign = negative ? shape.signBit : 0;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return shape.nan != kNone ? shape.nan : shape.maxCode;
  if (magnitude == 0x7F800000) {
    if (overflow == Overflow::satfinite)
      return sign | shape.maxCode;
    return sign | (shape.infinity != kNone ? shape.infinity
                   : shape.nan != kNone    ? shape.nan
                                           : shape.maxCode);
  }
  return sign | encodeMagnitude(shape, magnitudeOf(magnitude), negative, round, overflow);
}

float decodeCode(const Shape &shape, uint32_t code) {
  uint32_t magnitude = shape.signBit ? code & (shape.signBit - 1) : code;
  float sign = code & shape.signBit ? -1.0f : 1.0f;
  if (magnitude == shape.infinity)
    return sign * std::numeric_limits<float>::infinity();
  if (magnitude > shape.maxCode)
    return std::numeric_limits<float>::quiet_NaN();
  uint32_t fraction = magnitude & ((1u << shape.mantissaBits) - 1);
  int field = int(magnitude >> shape.mantissaBits);
  if (field != 0)
    fraction |= 1u << shape.mantissaBits;
  int exponent = (field ? field : 1) - shape.bias - int(shape.mantissaBits);
  return sign * std::ldexp(float(fraction), exponent);
}

/// E8M0 is a bare exponent byte: 2^(byte - 127).
uint8_t encodeE8m0(uint32_t magnitude, Round round, Overflow overflow) {
  if (magnitude > 0x7F800000)
    return 0xFF;
  Magnitude m = magnitudeOf(magnitude);
  if (magnitude == 0x7F800000)
    return overflow == Overflow::satfinite ? 0xFE : 0xFF;
  if (m.significand == 0)
    return 0;
  int width = std::bit_width(m.significand);
  int byte = m.exponent + width - 1 + 127;
  uint32_t power = 1u << (width - 1); // the significand of the power of two below
  uint32_t rest = m.significand - power;
  bool roundUp = false;
  if (round == Round::up)
    roundUp = rest != 0;
  else if (round == Round::nearestEven)
    roundUp = 2 * rest > power || (2 * rest == power && (byte & 1));
  byte += roundUp;
  if (byte < 0)
    return 0;
  if (byte > 0xFE)
    return overflow == Overflow::satfinite ? 0xFE : 0xFF;
  return uint8_t(byte);
}

} // namespace

float emu::decode(Format format, uint32_t bits) {
  if (format == Format::f32)
    return std::bit_cast<float>(bits);
  if (format == Format::bf16)
    return std::bit_cast<float>(bits << 16);
  uint32_t mask = (1u << facts::info(format).bits) - 1;
  return decodeCode(shapeOf(format), bits & mask);
}

float emu::decode(ScaleFormat format, uint8_t byte) {
  switch (format) {
  case ScaleFormat::ue8m0:
    if (byte == 0xFF)
      return std::numeric_limits<float>::quiet_NaN();
    return std::bit_cast<float>(byte == 0 ? 0x00400000u : uint32_t(byte) << 23);
  case ScaleFormat::ue4m3:
    return decodeCode(kUe4m3, byte & 0x7F);
  case ScaleFormat::ue5m3:
    return decodeCode(kUe5m3, byte);
  }
  return 0;
}

uint32_t emu::encode(Format format, float value, Round round, Overflow overflow) {
  return encodeFloat(shapeOf(format), std::bit_cast<uint32_t>(value), round, overflow);
}

uint32_t emu::encodeRandom(Format format, float value, uint32_t random, unsigned randomBits,
                           Overflow overflow) {
  const Shape shape = shapeOf(format);
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7FFFFFFF;
  if (magnitude >= 0x7F800000)
    return encodeFloat(shape, bits, Round::towardZero, overflow);
  const uint64_t code =
      roundToCode(shape, magnitudeOf(magnitude), [&](uint64_t significand, int shift) {
        return shiftCarried(significand, shift, random, randomBits);
      });
  return (bits >> 31 ? shape.signBit : 0) |
         (code <= shape.maxCode ? uint32_t(code)
                                : beyondCode(shape, overflow == Overflow::satfinite));
}

uint8_t emu::encodeS2f6(float value, uint8_t scale, Round round) {
  if (value != value || scale == 0xFF)
    return 127;
  const double units = std::ldexp(double(value), 127 - int(scale) + 6); // exact
  if (units >= 127)
    return 127;
  if (units <= -128)
    return 0x80;
  double whole = std::trunc(units);
  const double rest = std::fabs(units - whole);
  if (round == Round::nearestEven && (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0)))
    whole += units < 0 ? -1 : 1;
  return uint8_t(int8_t(whole));
}

uint8_t emu::encode(ScaleFormat format, float value, Round round, Overflow overflow) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  switch (format) {
  case ScaleFormat::ue8m0:
    return encodeE8m0(bits & 0x7FFFFFFF, round, overflow);
  case ScaleFormat::ue4m3:
    return uint8_t(encodeFloat(kUe4m3, bits & 0x7FFFFFFF, round, overflow));
  case ScaleFormat::ue5m3:
    return uint8_t(encodeFloat(kUe5m3, bits & 0x7FFFFFFF, round, overflow));
  }
  return 0;
}

uint32_t emu::encodeScaled(Format format, float value, uint8_t scale, Round round) {
  Shape shape = shapeOf(format);
  uint32_t bits = std::bit_cast<uint32_t>(value);
  bool negative = bits >> 31;
  uint32_t sign = negative ? shape.signBit : 0;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (scale == 0xFF || magnitude > 0x7F800000)
    return shape.nan != kNone ? shape.nan : shape.maxCode;
  if (magnitude == 0x7F800000)
    return sign | shape.maxCode;
  if (magnitude < 0x00800000) // subnormal: flushed with its sign
    return sign;
  Magnitude m = magnitudeOf(magnitude);
  m.exponent += 127 - int(scale);
  return sign | encodeMagnitude(shape, m, negative, round, Overflow::satfinite);
}
