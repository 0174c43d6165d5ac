//===- QuantizeElements.cpp - scales and elements of blocks, from values --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bits are those of the host reference, where the schedule's sequence gives them:
// every operation that rounds there rounds here.
//
//===----------------------------------------------------------------------===//

#include "InlinePtx.h"
#include "QuantizeEncode.h"

#include "blockscale/Facts/Features.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

/// Of f32.
static constexpr int64_t kMantissaBits = 23, kBias = 127;
static constexpr int64_t kExponent = 0x7F800000, kMagnitude = 0x7FFFFFFF;

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

static Value encodeUe8m0(WarpEmitter &e, QuantizeSequence sequence, facts::Format element,
                         Value amax) {
  // For every amax the power of two above it is that of the quotient by division.
  Value quotient = e.mulf(amax, e.f32(float(1 / facts::info(element).max)));
  if (sequence != QuantizeSequence::integer)
    return e.toUe8m0(quotient);
  constexpr int64_t kLeast = 0x00400000; // 2^-127
  constexpr int64_t kNan = 0xFF, kLargest = 0xFE;
  Value bits = e.asI32(quotient);
  Value up = e.shr(e.add(bits, 0x007FFFFF), kMantissaBits);
  up = e.select(e.below(bits, kLeast + 1), e.i32(0), e.minu(up, e.i32(kLargest)));
  Value isNan = e.below(e.i32(kExponent), e.andi(bits, kMagnitude));
  return e.select(isNan, e.i32(kNan), up);
}

Value blockscale::encodeScale(WarpEmitter &e, QuantizeSequence sequence, BlockedAttr blocked,
                              Value amax, Value global) {
  if (blocked.getScale() == facts::ScaleFormat::ue8m0)
    return encodeUe8m0(e, sequence, blocked.getElement(), amax);
  // A product with 1 / 6 would not always have the quotient's bits.
  Value divisor = e.f32(float(facts::info(blocked.getElement()).max));
  if (global)
    divisor = e.mulf(divisor, global);
  Value quotient = e.divf(amax, divisor);
  // Quotients are never negative, so that the top bit of an e4m3 is never set.
  return blocked.getScale() == facts::ScaleFormat::ue5m3
             ? e.toUe5m3(quotient)
             : e.toF8(facts::Format::e4m3, /*high=*/e.f32(0), quotient);
}

Value blockscale::scaleFactor(WarpEmitter &e, QuantizeSequence sequence, Value byte) {
  if (sequence == QuantizeSequence::reciprocal) {
    Value scale = e.fromUe8m0(byte);
    Value factor = e.minNumber(e.reciprocal(scale), e.f32(std::numeric_limits<float>::max()));
    Value mask = e.minNumber(e.mulf(scale, e.f32(1e30f)), e.f32(1));
    return e.mulf(factor, mask);
  }
  // 2^(127 - byte), of which only that of 254 is subnormal; NaN of the NaN byte.
  Value bits = e.shl(e.sub(e.i32(254), byte), kMantissaBits);
  bits = e.select(e.below(byte, 254), bits, e.i32(0x00400000));
  return e.asF32(e.select(e.below(byte, 255), bits, e.i32(kMagnitude)));
}

Value blockscale::scaleDivisor(WarpEmitter &e, facts::ScaleFormat scale, Value byte, Value global,
                               Value prescale) {
  if (scale == facts::ScaleFormat::ue5m3)
    return e.fromUe5m3(byte);
  return e.mulf(e.mulf(e.fromE4m3(byte), global), prescale);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value blockscale::divideByBlock(WarpEmitter &e, Value value, Value divisor, Value negated,
                                Value prescale) {
  // Remainders of an infinity would be NaN; what is as large as this saturates.
  constexpr float kLarge = 0x1p100f;
  Value scaled = prescale ? e.mulf(value, prescale) : value;
  Value opposite = e.minMagnitude(scaled, e.f32(-kLarge)); // -value
  Value quotient = e.mulf(opposite, negated);
  Value remainder = e.fma(quotient, divisor, opposite);
  // Signs are such that a zero keeps its own.
  return e.fma(remainder, negated, quotient);
}

/// The code of a value in a format without infinity or NaN, by addition of a power of two
/// whose last place is the element's at the value's exponent: one rounding, to nearest even.
static Value encodeByAddition(WarpEmitter &e, facts::Format element, Value value) {
  const facts::FormatInfo &info = facts::info(element);
  int64_t shift = kMantissaBits - int64_t(info.mantissaBits);
  int64_t least = kBias + 1 - info.bias; // exponent of the smallest normal number
  Value magnitude = e.minNumber(e.absf(value), e.f32(float(info.max))); // of a NaN, the largest
  Value exponent = e.andi(e.asI32(magnitude), kExponent);
  exponent = e.maxu(exponent, e.i32(least << kMantissaBits));
  Value power = e.add(exponent, shift << kMantissaBits);
  Value steps = e.sub(e.asI32(e.addf(magnitude, e.asF32(power))), power);
  Value code = e.add(steps, e.shr(exponent, shift));
  code = e.add(code, -(least << info.mantissaBits));
  int64_t sign = int64_t(1) << (info.bits - 1);
  return e.ori(code, e.andi(e.shr(e.asI32(value), 32 - int64_t(info.bits)), sign));
}

/// Four bytes with six bits each as 24 bits.
static Value squeezeSix(WarpEmitter &e, Value bytes) {
  Value twelve = e.ori(e.andi(bytes, 0x003F003F), e.andi(e.shr(bytes, 2), 0x0FC00FC0));
  return e.ori(e.andi(twelve, 0xFFF), e.andi(e.shr(twelve, 4), 0xFFF000));
}

Value blockscale::encodeElements(WarpEmitter &e, facts::Arch arch, facts::Format element,
                                 ArrayRef<Value> values, Value scale) {
  int64_t bits = facts::info(element).bits;
  if (scale && scale.getType().isInteger(32)) {
    Value word = e.convertScaled(element, values, scale);
    return bits == 6 ? squeezeSix(e, word) : word;
  }
  SmallVector<Value> scaled(values);
  if (scale)
    for (Value &value : scaled)
      value = e.mulf(value, scale);
  bool converts =
      facts::supports(arch, bits == 8 ? facts::Feature::cvtFp8 : facts::Feature::cvtNarrow);
  if (!converts) {
    Value word = encodeByAddition(e, element, scaled[0]);
    for (int64_t i = 1; i < 4; ++i)
      word = e.ori(word, e.shl(encodeByAddition(e, element, scaled[size_t(i)]), i * bits));
    return word;
  }
  Value low = e.toNarrow(element, scaled[1], scaled[0]);
  Value high = e.toNarrow(element, scaled[3], scaled[2]);
  Value word = e.ori(low, e.shl(high, bits == 4 ? 8 : 16));
  return bits == 6 ? squeezeSix(e, word) : word;
}

PackedBits blockscale::concat(WarpEmitter &e, const PackedBits &low, const PackedBits &high) {
  constexpr int64_t kWord = 32;
  PackedBits both{low.words, low.bits + high.bits};
  int64_t offset = low.bits % kWord;
  for (auto [i, word] : llvm::enumerate(high.words)) {
    if (!offset) {
      both.words.push_back(word);
      continue;
    }
    both.words.back() = e.ori(both.words.back(), e.shl(word, offset));
    if (offset + high.bits - int64_t(i) * kWord > kWord)
      both.words.push_back(e.shr(word, kWord - offset));
  }
  return both;
}
