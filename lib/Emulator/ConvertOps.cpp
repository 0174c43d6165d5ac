//===- ConvertOps.cpp - cvt -----------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.22 and 9.7.10.24. Rounding of narrow formats comes from
// Convert.h; here are scalars; packed pairs are in ConvertPairs.cpp.
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

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

template <typename S, typename D, bool sat> struct IntToInt {
  static D run(S s) {
    if constexpr (sat) {
      using L = std::numeric_limits<D>;
      if constexpr (std::is_signed_v<S>) {
        if (std::is_signed_v<D>) {
          if (int64_t(s) < int64_t(L::min()))
            return L::min();
          if (int64_t(s) > int64_t(L::max()))
            return L::max();
        } else {
          if (s < 0)
            return 0;
          if (uint64_t(s) > uint64_t(L::max()))
            return L::max();
        }
      } else if (uint64_t(s) > uint64_t(L::max())) {
        return L::max();
      }
    }
    return D(s);
  }
};

// Registers may be wider than the types: the value is read from the low bits and
// written sign- or zero-extended. Layout classes: SW, DW = 64-bit lanes.
template <typename S, typename D, bool sat> Outcome intToInt(Warp &w, const Instruction &in) {
  bool srcWide = in.flags & 1, dstWide = in.flags & 2;
  auto value = [&](int l) {
    S s = srcWide ? S(w.reg<uint64_t>(in.op[1])[l]) : S(w.reg<uint32_t>(in.op[1])[l]);
    return IntToInt<S, D, sat>::run(s);
  };
  if (dstWide) {
    uint64_t *d = w.reg<uint64_t>(in.op[0]);
    for (uint32_t m = w.mask; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      d[l] = uint64_t(int64_t(value(l)));
      if (!std::is_signed_v<D>)
        d[l] = uint64_t(value(l));
    }
  } else {
    uint32_t *d = w.reg<uint32_t>(in.op[0]);
    // A 32-bit register receives the extension of narrower types.
    for (uint32_t m = w.mask; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      D v = value(l);
      d[l] = std::is_signed_v<D> ? (in.flags & 4 ? uint32_t(uint16_t(v)) : uint32_t(int32_t(v)))
                                 : uint32_t(v);
    }
  }
  return Outcome::next;
}
// The common exact widths.
template <typename S, typename D> struct Cast {
  static D run(S s) { return D(s); }
};

template <typename S, bool sat> Handler intTo(Type d) {
  switch (d) {
  case Type::u8:
    return intToInt<S, uint8_t, sat>;
  case Type::s8:
    return intToInt<S, int8_t, sat>;
  case Type::u16:
    return intToInt<S, uint16_t, sat>;
  case Type::s16:
    return intToInt<S, int16_t, sat>;
  case Type::u32:
    return intToInt<S, uint32_t, sat>;
  case Type::s32:
    return intToInt<S, int32_t, sat>;
  case Type::u64:
    return intToInt<S, uint64_t, sat>;
  case Type::s64:
    return intToInt<S, int64_t, sat>;
  default:
    return nullptr;
  }
}
template <bool sat> Handler intPair(Type s, Type d) {
  switch (s) {
  case Type::u8:
    return intTo<uint8_t, sat>(d);
  case Type::s8:
    return intTo<int8_t, sat>(d);
  case Type::u16:
    return intTo<uint16_t, sat>(d);
  case Type::s16:
    return intTo<int16_t, sat>(d);
  case Type::u32:
    return intTo<uint32_t, sat>(d);
  case Type::s32:
    return intTo<int32_t, sat>(d);
  case Type::u64:
    return intTo<uint64_t, sat>(d);
  case Type::s64:
    return intTo<int64_t, sat>(d);
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Scalar conversions with a float on at least one side
//===----------------------------------------------------------------------===//

double roundInteger(double x, Round r) {
  if (x != x)
    return quiet(x);
  switch (r) {
  case Round::nearestEven:
    return std::nearbyint(x);
  case Round::towardZero:
    return std::trunc(x);
  case Round::down:
    return std::floor(x);
  default:
    return std::ceil(x);
  }
}

float doubleToFloat(double x, Round r) {
  float f = float(x);
  if (r == Round::nearestEven || std::isnan(x) || double(f) == x)
    return f;
  float inf = std::numeric_limits<float>::infinity();
  bool above = double(f) > x;
  if (r == Round::towardZero)
    r = x < 0 ? Round::up : Round::down;
  if (r == Round::down)
    return above ? std::nextafter(f, -inf) : f;
  return above ? f : std::nextafter(f, inf);
}

double readFloat(const Warp &w, const Instruction &in, Type t, int l) {
  switch (t) {
  case Type::f32: {
    float f = w.reg<float>(in.op[1])[l];
    if (in.flags & kFtz) // a multiplication by one in front, whose NaN is canonical
      f = canonical(flush(f));
    return f;
  }
  case Type::f64:
    return w.reg<double>(in.op[1])[l];
  case Type::f16:
    return fromF16(uint16_t(w.reg<uint32_t>(in.op[1])[l]));
  default:
    return fromBf16(uint16_t(w.reg<uint32_t>(in.op[1])[l]));
  }
}

uint64_t floatToInt(double x, Type d, Round r, bool isDouble) {
  // NaN: the top bit where either type has 64 bits, else 0 (PTX ISA 9.4, 9.7.10.22, and an
  // H200 for f64 to narrower types).
  if (std::isnan(x))
    return bits(d) == 64 || isDouble ? uint64_t(1) << (bits(d) - 1) : 0;
  x = roundInteger(x, r);
  unsigned n = bits(d);
  if (isSigned(d)) {
    double hi = std::ldexp(1.0, int(n) - 1);
    if (x >= hi)
      return (uint64_t(1) << (n - 1)) - 1;
    if (x < -hi)
      return uint64_t(int64_t(-hi));
    return uint64_t(int64_t(x));
  }
  if (x <= 0)
    return 0;
  if (x >= std::ldexp(1.0, int(n)))
    return n == 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1;
  return uint64_t(x);
}

/// NaN of f64 in 16 bits: quiet, with sign and the upper bits of the payload.
uint32_t narrowNan(double nan, Type d) {
  uint64_t u = std::bit_cast<uint64_t>(quiet(nan));
  unsigned mantissa = d == Type::f16 ? 10 : 7;
  return uint32_t(u >> 48 & 0x8000) | (0x7FFF & ~0u << mantissa) |
         uint32_t(u >> (52 - mantissa) & ((1u << mantissa) - 1));
}

/// A double as a float that rounds to a narrower format as the double would; one beyond
/// the range of float becomes the largest.
float floatToOdd(double x) {
  float f = float(x);
  if (double(f) == x || std::isinf(x))
    return f;
  uint32_t u = std::bit_cast<uint32_t>(f);
  u -= std::fabs(double(f)) > std::fabs(x);
  return std::bit_cast<float>(u | 1);
}

/// tf32: 10 mantissa bits in a float. .rna works on the bits, as the code for sm_80 to
/// sm_90 does: NaN loses the lower bits of its payload, even if none are left.
uint32_t toTf32(uint32_t u, const Instruction &in) {
  constexpr uint32_t kLow = 0x1FFF, kInfinity = 0x7F800000;
  auto magnitude = [&] { return u & 0x7FFFFFFF; };
  if (in.flags & kRelu && magnitude() <= kInfinity && u >> 31)
    return 0;
  if (in.sub & 0x80) { // .rna
    u = (magnitude() < kInfinity ? u + 0x1000 : u) & ~kLow;
    return in.flags & kSatfinite && magnitude() >= kInfinity ? u - (kLow + 1) : u;
  }
  if (roundOf(in) == Round::nearestEven || magnitude() > kInfinity)
    u = nearestTf32(u);
  else
    u &= ~kLow;
  return in.flags & kSatfinite && magnitude() == kInfinity ? u - (kLow + 1) : u;
}
Outcome convertTf32(Warp &w, const Instruction &in) {
  uint32_t *d = w.reg<uint32_t>(in.op[0]);
  const uint32_t *a = w.reg<uint32_t>(in.op[1]);
  for (uint32_t m = w.mask; m; m &= m - 1)
    d[__builtin_ctz(m)] = positiveZero(toTf32(a[__builtin_ctz(m)], in), 0x80000000, in);
  return Outcome::next;
}

void writeFloat(Warp &w, const Instruction &in, Type d, int l, double x, bool fromDouble) {
  Round r = roundOf(in);
  if (in.flags & kSat)
    x = x > 0 ? (x < 1 ? x : 1.0) : 0.0;
  if (in.flags & kRelu)
    x = x != x ? x : x > 0 ? x : 0.0;
  switch (d) {
  case Type::f64:
    w.reg<double>(in.op[0])[l] = x;
    break;
  case Type::f32: {
    float f = doubleToFloat(x, r);
    f = in.flags & kFtz ? flush(f) : f;
    w.reg<float>(in.op[0])[l] = fromDouble ? f : canonical(f);
    break;
  }
  case Type::f16:
  case Type::bf16: {
    Format format = d == Type::f16 ? Format::f16 : Format::bf16;
    Overflow overflow = in.flags & kSatfinite ? Overflow::satfinite : Overflow::natural;
    w.reg<uint32_t>(in.op[0])[l] = positiveZero(
        x != x && fromDouble ? narrowNan(x, d)
                             : encode(format, fromDouble ? floatToOdd(x) : float(x), r, overflow),
        0x8000, in);
    break;
  }
  default:
    break;
  }
}

/// An integer of up to 64 bits as a double: rounded as asked for f64, to odd where a
/// narrower format rounds it again.
double doubleOf(long double exact, Type d, Round r) {
  double f = double(exact);
  auto over = [&] { return static_cast<long double>(f) - exact; };
  if (over() == 0 || (d == Type::f64 && r == Round::nearestEven))
    return f;
  double inf = std::numeric_limits<double>::infinity();
  if (d == Type::f64) {
    if (r == Round::towardZero)
      r = exact < 0 ? Round::up : Round::down;
    return r == Round::down ? (over() > 0 ? std::nextafter(f, -inf) : f)
                            : (over() < 0 ? std::nextafter(f, inf) : f);
  }
  if (exact > 0 ? over() > 0 : over() < 0)
    f = std::nextafter(f, 0.0);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(f) | 1);
}

Outcome floatConvert(Warp &w, const Instruction &in) {
  Type s = Type(in.imm & 0xFF), d = Type(in.imm >> 8 & 0xFF);
  bool srcWide = in.flags & 1, dstWide = in.flags & 2;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    if (isFloat(s)) {
      double x = readFloat(w, in, s, l);
      if (isFloat(d)) {
        if (in.flags & kInt)
          x = roundInteger(x, roundOf(in));
        writeFloat(w, in, d, l, x, s == Type::f64);
      } else {
        uint64_t v = floatToInt(x, d, roundOf(in), s == Type::f64);
        if (dstWide)
          w.reg<uint64_t>(in.op[0])[l] = v;
        else
          w.reg<uint32_t>(in.op[0])[l] = bits(d) == 16 ? uint16_t(v) : uint32_t(v);
      }
      continue;
    }
    uint64_t raw = srcWide ? w.reg<uint64_t>(in.op[1])[l] : w.reg<uint32_t>(in.op[1])[l];
    unsigned n = 64 - bits(s);
    int64_t i = isSigned(s) ? int64_t(raw << n) >> n : int64_t(raw << n >> n);
    bool big = !isSigned(s) && bits(s) == 64;
    // 64-bit integers: round once. double holds 53 bits, so go by long double.
    long double exact = big ? static_cast<long double>(uint64_t(i)) : static_cast<long double>(i);
    if (d == Type::f32) {
      float f = float(exact);
      Round r = roundOf(in);
      if (r != Round::nearestEven && static_cast<long double>(f) != exact) {
        bool above = static_cast<long double>(f) > exact;
        if (r == Round::towardZero)
          r = exact < 0 ? Round::up : Round::down;
        float inf = std::numeric_limits<float>::infinity();
        f = r == Round::down ? (above ? std::nextafter(f, -inf) : f)
                             : (above ? f : std::nextafter(f, inf));
      }
      w.reg<float>(in.op[0])[l] = f;
    } else {
      writeFloat(w, in, d, l, doubleOf(exact, d, roundOf(in)), true);
    }
  }
  return Outcome::next;
}

/// bf16 to f32 is a shift: NaN stays as it is.
struct Widen {
  static uint32_t run(uint32_t a) { return a << 16; }
};

bool decodeCvt(Decoder &d) {
  if (d.take("pack"))
    return decodePack(d);
  int integerRound = d.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  int round = d.takeOneOf({"rn", "rz", "rm", "rp"});
  bool rna = d.take("rna");
  auto flag = [&](const char *modifier, uint32_t bit) { return d.take(modifier) ? bit : 0; };
  uint32_t flags = flag("ftz", kFtz) | flag("sat", kSat) | flag("relu", kRelu) |
                   flag("satfinite", kSatfinite) | flag("pzo", kPzo);
  bool isRandom = d.take("rs");
  PairScale scale = d.take("scaled::n1::ue8m0")   ? PairScale::n1
                    : d.take("scaled::n2::ue8m0") ? PairScale::n2
                                                  : PairScale::none;
  Type dst = d.takeType(), src = d.takeType();
  if (!d.error.empty())
    return false;
  if (isRandom)
    return decodeRandom(d, dst, src, flags);
  if (isPair(dst))
    return decodePair(d, dst, src, flags, round < 0 ? 0 : round, scale);
  if (scale != PairScale::none || !d.expectOperands(2))
    return false;
  Instruction in;
  RegClass dc, sc;
  in.op[0] = d.wideDest(d.operand(0), dst, dc);
  in.op[1] = d.wideSource(d.operand(1), src, sc);
  in.flags = flags | uint32_t(sc == RegClass::r64) | uint32_t(dc == RegClass::r64) << 1;
  if (isInteger(dst) && isInteger(src)) {
    in.run = flags & kSat ? intPair<true>(src, dst) : intPair<false>(src, dst);
    if (d.declaredBits(d.operand(0)) == 16)
      in.flags |= 4;
    bool exact = sc == regClass(bits(src)) && dc == regClass(bits(dst)) && !(flags & kSat);
    if (exact && bits(src) == 32 && bits(dst) == 64)
      in.run = src == Type::s32 ? unaryLanes<Cast<int32_t, int64_t>, int32_t, int64_t>
                                : unaryLanes<Cast<uint32_t, uint64_t>, uint32_t, uint64_t>;
    if (exact && bits(src) == 64 && bits(dst) == 32)
      in.run = unaryLanes<Cast<uint64_t, uint32_t>, uint64_t, uint32_t>;
  } else if ((isFloat(dst) || isInteger(dst)) && (isFloat(src) || isInteger(src))) {
    in.run = floatConvert;
    if (isInteger(dst) && integerRound < 0)
      return d.fail("ptx_round: cvt to an integer must round by .rni, .rzi, .rmi or .rpi");
    in.sub = uint8_t((integerRound >= 0 ? integerRound
                      : round >= 0      ? round
                                        : 0) |
                     (rna ? 0x80 : 0));
    if (isFloat(dst) && integerRound >= 0)
      in.flags |= kInt;
    in.imm = int64_t(src) | int64_t(dst) << 8;
    if (src == Type::bf16 && dst == Type::f32 && !flags && integerRound < 0)
      in.run = unaryLanes<Widen, uint32_t>;
    if (dst == Type::tf32) // from f32 alone
      in.run = convertTf32;
    // An f16 result of .rm and .rp comes from an unflushed source on the chips.
    if (dst == Type::f16 && src == Type::f32 && round > 1)
      in.flags &= ~uint32_t(kFtz);
    auto width = [](Type t) { return regClass(bits(t)); };
    if ((isFloat(src) && sc != width(src)) || (isFloat(dst) && dc != width(dst)))
      return d.fail("ptx_operand: float operands of cvt must have the width of their type");
  }
  d.emit(in);
  return in.run && d.error.empty();
}

} // namespace

DecodeFn findConvert(std::string_view opcode) { return opcode == "cvt" ? decodeCvt : nullptr; }

} // namespace blockscale::emu
