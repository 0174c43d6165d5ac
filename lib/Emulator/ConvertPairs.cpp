//===- ConvertPairs.cpp - cvt of packed pairs -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.24. Rounding comes from Convert.h; here are operands and
// packing. Of two sources the first goes to the high half. Which forms exist, and
// for which target, is checked by the table of forms.
//
//===----------------------------------------------------------------------===//

#include "ConvertOps.h"

#include "Float.h"
#include "Lanes.h"

#include <cmath>
#include <limits>

namespace blockscale::emu {
namespace {

using facts::Format;
using facts::ScaleFormat;

struct PairFormat {
  enum class Kind : uint8_t { element, scale, fixed };
  Kind kind = Kind::element;
  Format format = Format::f16;
  ScaleFormat scale = ScaleFormat::ue8m0;
  unsigned width = 16;
};
std::optional<PairFormat> pairFormat(Type t) {
  using Kind = PairFormat::Kind;
  switch (t) {
  case Type::f16x2:
    return PairFormat{Kind::element, Format::f16, {}, 16};
  case Type::bf16x2:
    return PairFormat{Kind::element, Format::bf16, {}, 16};
  case Type::e4m3x2:
    return PairFormat{Kind::element, Format::e4m3, {}, 8};
  case Type::e5m2x2:
    return PairFormat{Kind::element, Format::e5m2, {}, 8};
  case Type::e2m3x2:
    return PairFormat{Kind::element, Format::e2m3, {}, 8};
  case Type::e3m2x2:
    return PairFormat{Kind::element, Format::e3m2, {}, 8};
  case Type::e2m1x2:
    return PairFormat{Kind::element, Format::e2m1, {}, 4};
  case Type::ue8m0x2:
    return PairFormat{Kind::scale, {}, ScaleFormat::ue8m0, 8};
  case Type::ue5m3x2:
    return PairFormat{Kind::scale, {}, ScaleFormat::ue5m3, 8};
  case Type::s2f6x2:
    return PairFormat{Kind::fixed, {}, {}, 8};
  default:
    return std::nullopt;
  }
}

float decodePairPart(const PairFormat &f, uint32_t v) {
  v &= (1u << f.width) - 1;
  switch (f.kind) {
  case PairFormat::Kind::scale:
    return decode(f.scale, uint8_t(v));
  case PairFormat::Kind::fixed:
    return decodeS2f6(uint8_t(v));
  case PairFormat::Kind::element:
    break;
  }
  return decode(f.format, v);
}

constexpr uint8_t kScaleOne = 127;

/// .relu, which keeps NaN.
float clamped(float x, const Instruction &in) { return in.flags & kRelu && x <= 0 ? 0.0f : x; }

/// The sign of an element's code, which .pzo drops from zero.
uint32_t signOf(const PairFormat &f) { return 1u << (facts::info(f.format).bits - 1); }

uint32_t encodePairPart(const PairFormat &f, float x, const Instruction &in) {
  Overflow o = in.flags & kSatfinite ? Overflow::satfinite : Overflow::natural;
  x = clamped(x, in);
  const uint32_t mask = (1u << f.width) - 1;
  switch (f.kind) {
  case PairFormat::Kind::scale:
    return encode(f.scale, x, roundOf(in), o) & mask;
  case PairFormat::Kind::fixed:
    return encodeS2f6(x, kScaleOne, roundOf(in));
  case PairFormat::Kind::element:
    break;
  }
  return positiveZero(encode(f.format, x, roundOf(in), o) & mask, signOf(f), in);
}

enum : uint32_t { kScaleEach = 512 }; // flag: .scaled::n2

/// A narrow value times a scale: exact in float, which has the range of bf16.
float scaledUp(float x, uint8_t scale) { return x * decode(ScaleFormat::ue8m0, scale); }

/// One value of a pair by .scaled::n1, rounded once. Subnormal sources count as zero.
uint32_t encodeByOne(const PairFormat &f, float x, uint8_t scale, const Instruction &in) {
  x = clamped(x, in);
  if (f.kind == PairFormat::Kind::element)
    return positiveZero(encodeScaled(f.format, x, scale, roundOf(in)), signOf(f), in);
  float divided = scale == 0xFF ? std::numeric_limits<float>::quiet_NaN()
                                : std::ldexp(flush(x), 127 - int(scale));
  return encodePairPart(f, divided, in);
}

/// One value of a pair by its own scale, which multiplies on the way up and divides on the
/// way down.
uint32_t encodeByEach(const PairFormat &f, float x, uint8_t scale, const Instruction &in) {
  return f.kind == PairFormat::Kind::fixed ? encodeS2f6(clamped(x, in), scale, roundOf(in))
                                           : encodePairPart(f, scaledUp(x, scale), in);
}

/// Two f32 (op[1] high, op[2] low), or one packed pair (op[1]), to a pair.
Outcome toPair(Warp &w, const Instruction &in) {
  Type s = Type(in.imm & 0xFF), d = Type(in.imm >> 8 & 0xFF);
  PairFormat df = *pairFormat(d);
  uint32_t *out = w.reg<uint32_t>(in.op[0]);
  bool scaled = in.op[3] != kNone;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    float hi, lo;
    if (s == Type::f32) {
      hi = w.reg<float>(in.op[1])[l];
      lo = w.reg<float>(in.op[2])[l];
    } else {
      PairFormat sf = *pairFormat(s);
      uint32_t v = w.reg<uint32_t>(in.op[1])[l];
      lo = decodePairPart(sf, v);
      hi = decodePairPart(sf, v >> sf.width);
    }
    uint32_t h, o;
    if (scaled && in.flags & kScaleEach) {
      uint32_t scales = w.reg<uint32_t>(in.op[3])[l];
      h = encodeByEach(df, hi, uint8_t(scales >> 8), in);
      o = encodeByEach(df, lo, uint8_t(scales), in);
    } else if (scaled) {
      uint8_t scale = uint8_t(w.reg<uint32_t>(in.op[3])[l]);
      h = encodeByOne(df, hi, scale, in);
      o = encodeByOne(df, lo, scale, in);
    } else {
      h = encodePairPart(df, hi, in);
      o = encodePairPart(df, lo, in);
    }
    out[l] = h << df.width | o;
  }
  return Outcome::next;
}

/// The epilogue's conversion: two f32 to bf16x2, round to nearest even.
Outcome toBf16Pair(Warp &w, const Instruction &in) {
  uint32_t *d = w.reg<uint32_t>(in.op[0]);
  const float *hi = w.reg<float>(in.op[1]), *lo = w.reg<float>(in.op[2]);
  if (w.mask == ~0u) {
    forAllLanes([&](int l) { d[l] = uint32_t(toBf16(hi[l])) << 16 | toBf16(lo[l]); });
    return Outcome::next;
  }
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    d[l] = uint32_t(toBf16(hi[l])) << 16 | toBf16(lo[l]);
  }
  return Outcome::next;
}

} // namespace

bool isPair(Type t) { return pairFormat(t).has_value(); }

bool decodePair(Decoder &d, Type dst, Type src, uint32_t flags, int round, PairScale scale) {
  auto df = pairFormat(dst);
  bool twoSources = src == Type::f32;
  if (!df || (!twoSources && !pairFormat(src)))
    return false;
  bool narrowDst = df->width < 16, narrowSrc = !twoSources && pairFormat(src)->width < 16;
  if (narrowDst && narrowSrc)
    return false;
  size_t operands = (twoSources ? 3 : 2) + (scale != PairScale::none);
  if (!d.expectOperands(operands))
    return false;
  Instruction in;
  in.run = toPair;
  in.sub = uint8_t(round);
  in.flags = flags;
  in.imm = int64_t(src) | int64_t(dst) << 8;
  in.op[0] = d.dest(0, dst);
  in.op[1] = d.source(1, src);
  if (twoSources)
    in.op[2] = d.source(2, Type::f32);
  if (scale != PairScale::none)
    in.op[3] = d.source(operands - 1, scale == PairScale::n1 ? Type::b8 : Type::b16);
  if (scale == PairScale::n2)
    in.flags |= kScaleEach;
  if (dst == Type::bf16x2 && twoSources && round == 0 && !(flags & (kRelu | kSatfinite | kPzo)))
    in.run = toBf16Pair;
  d.emit(in);
  return d.error.empty();
}

} // namespace blockscale::emu
