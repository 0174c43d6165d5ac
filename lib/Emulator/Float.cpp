//===- Float.cpp - floating arithmetic ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.3 to 9.7.5: f32, f64, f32x2, f16, bf16 and their pairs. A NaN
// result of f32 is 0x7FFFFFFF, of 16-bit types 0x7FFF. Approximate functions are in
// FloatFunctions.cpp.
//
//===----------------------------------------------------------------------===//

#include "Float.h"

#include "blockscale/Emulator/Convert.h"

#include "Lanes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace blockscale::emu {

float fromF16(uint16_t h) {
  if ((h & 0x7FFF) > 0x7C00)
    return std::bit_cast<float>(uint32_t(h & 0x8000) << 16 | 0x7FC00000 |
                                uint32_t(h & 0x3FF) << 13);
  return decodeF16(h);
}
uint16_t toF16(float x) { return encodeF16(x); }

namespace {

// Values of 16-bit types: computed in float. Sums and products of two 11-bit
// significands are exact or round twice harmlessly there (24 >= 2 * 11 + 2); fma
// goes through double.
struct Half {
  uint16_t bits;
  Half(uint32_t b) : bits(uint16_t(b)) {}
  Half(float f) : bits(encodeF16(f)) {}
  operator float() const { return fromF16(bits); }
};
struct Brain {
  uint16_t bits;
  Brain(uint32_t b) : bits(uint16_t(b)) {}
  Brain(float f) : bits(toBf16(f)) {}
  operator float() const { return fromBf16(bits); }
};

/// x + y rounded to odd, so that a second rounding to a narrower type is harmless.
double sumToOdd(double x, double y) {
  double s = x + y, t = s - x;
  double lost = (x - (s - t)) + (y - t); // exactly what the sum lacks
  if (!(std::fabs(s) < std::numeric_limits<double>::infinity()) || lost == 0)
    return s;
  uint64_t u = std::bit_cast<uint64_t>(s);
  return std::bit_cast<double>((std::signbit(lost) == std::signbit(s) ? u : u - 1) | 1);
}
/// The same from a double.
float roundToOdd(double x) {
  float f = float(x);
  if (std::isnan(x) || double(f) == x || std::isinf(f))
    return f;
  uint32_t u = std::bit_cast<uint32_t>(f);
  if (std::fabs(double(f)) > std::fabs(x))
    u -= 1; // towards zero
  return std::bit_cast<float>(u | 1);
}

// .ftz asks whether the result would be subnormal if exponents had no bound (as an H200
// does): what rounds up to the least normal number only because the format is coarser
// below is zero. `isTiny` says so; the bound is half a unit below the least normal.
struct NeverTiny { // sums of normal numbers are exact down there
  template <typename... T> static bool isTiny(T...) { return false; }
};

struct Add : NeverTiny {
  static double run(double a, double b) { return nanOr(a + b, a, b); }
  template <typename T> static T run(T a, T b) { return a + b; }
};
struct Sub : NeverTiny {
  static double run(double a, double b) { return nanOr(a - b, a, b); }
  template <typename T> static T run(T a, T b) { return a - b; }
};
struct Mul {
  static double run(double a, double b) { return nanOr(a * b, a, b); }
  template <typename T> static T run(T a, T b) { return a * b; }
  static bool isTiny(float a, float b) { return std::fabs(double(a) * double(b)) < kTinyF32; }
};
struct Div {
  template <typename T> static T run(T a, T b) { return a / b; }
  static bool isTiny(float a, float b) {
    return std::fabs(double(a)) < std::fabs(double(b)) * kTinyF32;
  }
};
struct Fma {
  static double run(double a, double b, double c) { return nanOr(std::fma(a, b, c), a, c, b); }
  template <typename T> static T run(T a, T b, T c) { return std::fma(a, b, c); }
  static bool isTiny(float a, float b, float c) {
    return std::fabs(sumToOdd(double(a) * double(b), double(c))) < kTinyF32;
  }
};
template <typename T> bool lessWithZeros(T a, T b) {
  return a < b || (a == 0 && b == 0 && std::signbit(a) > std::signbit(b));
}
struct Min : NeverTiny {
  static double run(double a, double b) { return a != a && b != b ? quiet(b) : run<double>(a, b); }
  template <typename T> static T run(T a, T b) {
    return a != a ? b : b != b ? a : lessWithZeros(b, a) ? b : a;
  }
};
struct Max : NeverTiny {
  static double run(double a, double b) { return a != a && b != b ? quiet(b) : run<double>(a, b); }
  template <typename T> static T run(T a, T b) {
    return a != a ? b : b != b ? a : lessWithZeros(a, b) ? b : a;
  }
};
struct MinNan : NeverTiny {
  template <typename T> static T run(T a, T b) {
    return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : Min::run(a, b);
  }
};
struct MaxNan : NeverTiny {
  template <typename T> static T run(T a, T b) {
    return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : Max::run(a, b);
  }
};
template <class Op> struct XorsignAbs : NeverTiny {
  template <typename T> static T run(T a, T b) {
    bool negative = std::signbit(a) != std::signbit(b);
    T r = Op::run(std::fabs(a), std::fabs(b));
    return negative ? -std::fabs(r) : r;
  }
};
struct Neg : NeverTiny {
  static double run(double a) { return a == a ? -a : quiet(a); }
  template <typename T> static T run(T a) { return -a; }
};
struct Abs : NeverTiny {
  static double run(double a) { return a == a ? std::fabs(a) : quiet(a); }
  template <typename T> static T run(T a) { return std::fabs(a); }
};
/// f32 with NaN, flush-to-zero and saturation around an operation.
template <class Op, bool ftz, bool sat> struct F32 {
  static float in(float x) { return ftz ? flush(x) : x; }
  static float out(float r) {
    r = ftz ? flush(r) : r;
    if (sat)
      return r > 0 ? (r < 1 ? r : 1.0f) : 0.0f; // NaN gives +0
    return canonical(r);
  }
  template <typename... T> static float run(T... x) {
    float r = Op::run(in(x)...);
    if constexpr (ftz)
      r = Op::isTiny(in(x)...) ? std::copysign(0.0f, r) : r;
    return out(r);
  }
};
/// Pairs in 64 bits.
template <class Op> struct F32x2 {
  static float lo(uint64_t v) { return std::bit_cast<float>(uint32_t(v)); }
  static float hi(uint64_t v) { return std::bit_cast<float>(uint32_t(v >> 32)); }
  static uint64_t pack(float l, float h) {
    return uint64_t(std::bit_cast<uint32_t>(h)) << 32 | std::bit_cast<uint32_t>(l);
  }
  static uint64_t run(uint64_t a, uint64_t b) {
    return pack(Op::run(lo(a), lo(b)), Op::run(hi(a), hi(b)));
  }
  static uint64_t run(uint64_t a, uint64_t b, uint64_t c) {
    return pack(Op::run(lo(a), lo(b), lo(c)), Op::run(hi(a), hi(b), hi(c)));
  }
};
/// 16-bit types; relu clamps below at zero, NaN stays. .ftz is f16's.
template <class Op, typename H, bool relu = false, bool ftz = false> struct Narrow {
  static constexpr float kLeast = 0x1p-14f, kTiny = kLeast - 0x1p-26f; // f16 alone has .ftz
  static float in(uint32_t a) {
    float x = H(a);
    return ftz && std::fabs(x) < kLeast ? std::copysign(0.0f, x) : x;
  }
  static uint32_t out(float r) {
    if (ftz && std::fabs(r) < kTiny)
      r = std::copysign(0.0f, r);
    if (relu)
      r = r != r ? r : r > 0 ? r : 0.0f;
    return H(r).bits;
  }
  static uint32_t run(uint32_t a) { return out(Op::run(in(a))); }
  static uint32_t run(uint32_t a, uint32_t b) { return out(Op::run(in(a), in(b))); }
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    return out(roundToOdd(sumToOdd(double(in(a)) * double(in(b)), double(in(c)))));
  }
};
template <class One> struct Pair {
  static uint32_t run(uint32_t a) { return One::run(a & 0xFFFF) | One::run(a >> 16) << 16; }
  static uint32_t run(uint32_t a, uint32_t b) {
    return One::run(a & 0xFFFF, b & 0xFFFF) | One::run(a >> 16, b >> 16) << 16;
  }
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    return One::run(a & 0xFFFF, b & 0xFFFF, c & 0xFFFF) | One::run(a >> 16, b >> 16, c >> 16) << 16;
  }
};

/// .oob of fma: zero, whatever the addend, if a factor is of either sign what TMA fills with
/// beyond a tensor's edge (an H200's bits; such an addend is a NaN like others).
template <class One> struct OutOfBounds {
  static bool isFill(uint32_t h) { return (h & 0x7FFF) == 0x7FF7; }
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    return isFill(a) || isFill(b) ? 0 : One::run(a, b, c);
  }
};

/// .sat of f16: negative values and NaN give +0.
template <class One> struct Saturated {
  template <typename... T> static uint32_t run(T... x) {
    constexpr uint32_t kOne = 0x3C00, kInfinity = 0x7C00;
    uint32_t h = One::run(x...);
    return (h & 0x8000) || h > kInfinity ? 0 : std::min(h, kOne);
  }
};
struct Whole {
  template <class One> using Of = One;
};
struct Packed {
  template <class One> using Of = Pair<One>;
};
/// f16 (Whole) or f16x2 (Packed) with flags.
template <class Kind, class Op> Handler half2(bool ftz, bool sat) {
  using K = uint32_t;
  using Plain = Narrow<Op, Half>;
  using Flushed = Narrow<Op, Half, false, true>;
  return ftz ? (sat ? binaryLanes<typename Kind::template Of<Saturated<Flushed>>, K>
                    : binaryLanes<typename Kind::template Of<Flushed>, K>)
             : (sat ? binaryLanes<typename Kind::template Of<Saturated<Plain>>, K>
                    : binaryLanes<typename Kind::template Of<Plain>, K>);
}
template <class Kind> Handler halfFma(bool ftz, bool sat, bool relu) {
  using K = uint32_t;
  using Plain = Narrow<Fma, Half>;
  using Flushed = Narrow<Fma, Half, false, true>;
  if (relu)
    return ftz ? ternaryLanes<typename Kind::template Of<Narrow<Fma, Half, true, true>>, K>
               : ternaryLanes<typename Kind::template Of<Narrow<Fma, Half, true>>, K>;
  return ftz ? (sat ? ternaryLanes<typename Kind::template Of<Saturated<Flushed>>, K>
                    : ternaryLanes<typename Kind::template Of<Flushed>, K>)
             : (sat ? ternaryLanes<typename Kind::template Of<Saturated<Plain>>, K>
                    : ternaryLanes<typename Kind::template Of<Plain>, K>);
}
template <class Kind, class Op> Handler halfSign(bool ftz) {
  return ftz ? unaryLanes<typename Kind::template Of<Narrow<Op, Half, false, true>>, uint32_t>
             : unaryLanes<typename Kind::template Of<Narrow<Op, Half>>, uint32_t>;
}

template <class Op> Handler f32Binary(bool ftz, bool sat) {
  return ftz ? (sat ? binaryLanes<F32<Op, true, true>, float>
                    : binaryLanes<F32<Op, true, false>, float>)
             : (sat ? binaryLanes<F32<Op, false, true>, float>
                    : binaryLanes<F32<Op, false, false>, float>);
}
template <class Op> Handler f32Unary(bool ftz) {
  return ftz ? unaryLanes<F32<Op, true, false>, float> : unaryLanes<F32<Op, false, false>, float>;
}
template <class Op> Handler f32Ternary(bool ftz, bool sat) {
  return ftz ? (sat ? ternaryLanes<F32<Op, true, true>, float>
                    : ternaryLanes<F32<Op, true, false>, float>)
             : (sat ? ternaryLanes<F32<Op, false, true>, float>
                    : ternaryLanes<F32<Op, false, false>, float>);
}

template <class Op> Handler binaryFloat(Type t, bool ftz, bool sat) {
  switch (t) {
  case Type::f32:
    return f32Binary<Op>(ftz, sat);
  case Type::f64:
    return sat ? nullptr : Handler(binaryLanes<Op, double>);
  case Type::f32x2:
    return sat   ? nullptr
           : ftz ? Handler(binaryLanes<F32x2<F32<Op, true, false>>, uint64_t>)
                 : Handler(binaryLanes<F32x2<F32<Op, false, false>>, uint64_t>);
  case Type::f16:
    return half2<Whole, Op>(ftz, sat);
  case Type::bf16:
    return binaryLanes<Narrow<Op, Brain>, uint32_t>;
  case Type::f16x2:
    return half2<Packed, Op>(ftz, sat);
  case Type::bf16x2:
    return binaryLanes<Pair<Narrow<Op, Brain>>, uint32_t>;
  default:
    return nullptr;
  }
}

/// Three-input min and max (PTX ISA 8.8): two steps.
template <class Op> struct Three : NeverTiny {
  static float run(float a, float b, float c) { return Op::run(Op::run(a, b), c); }
};
template <class Op> struct ThreeAbs : NeverTiny {
  static float run(float a, float b, float c) {
    return Three<Op>::run(std::fabs(a), std::fabs(b), std::fabs(c));
  }
};

struct Modifiers {
  bool ftz, sat, relu, oob, nan, xorsign, abs, approx, full;
  int round; // -1 none, else rn rz rm rp
};
Modifiers takeModifiers(Decoder &d) {
  Modifiers m;
  m.round = d.takeOneOf({"rn", "rz", "rm", "rp"});
  m.ftz = d.take("ftz");
  m.sat = d.take("sat");
  m.relu = d.take("relu");
  m.oob = d.take("oob");
  m.nan = d.take("NaN");
  m.xorsign = d.take("xorsign");
  m.abs = d.take("abs");
  m.approx = d.take("approx");
  m.full = d.take("full");
  return m;
}

bool decodeBinary(Decoder &d, const Modifiers &m, Type t) {
  const std::string &op = d.raw->opcode;
  if (op == "add")
    return emitLanes(d, binaryFloat<Add>(t, m.ftz, m.sat), t, 2);
  if (op == "sub")
    return emitLanes(d, binaryFloat<Sub>(t, m.ftz, m.sat), t, 2);
  if (op == "mul")
    return emitLanes(d, binaryFloat<Mul>(t, m.ftz, m.sat), t, 2);
  if (op == "div" && t == Type::f32 && (m.approx || m.full))
    return decodeDivApprox(d, m.full, m.ftz);
  if (op == "div")
    return (t == Type::f32 || t == Type::f64) &&
           emitLanes(d, binaryFloat<Div>(t, m.ftz, false), t, 2);
  return false;
}

template <class Op> Handler threeInputs(const Modifiers &m) {
  return m.abs ? f32Ternary<ThreeAbs<Op>>(m.ftz, false) : f32Ternary<Three<Op>>(m.ftz, false);
}

bool decodeMinMax(Decoder &d, const Modifiers &m, Type t) {
  bool max = d.raw->opcode == "max";
  if (t == Type::f32 && d.count() == 4) {
    if (m.xorsign)
      return false;
    Handler run = max ? (m.nan ? threeInputs<MaxNan>(m) : threeInputs<Max>(m))
                      : (m.nan ? threeInputs<MinNan>(m) : threeInputs<Min>(m));
    return emitLanes(d, run, t, 3);
  }
  if (m.xorsign) {
    if (!m.abs)
      return false;
    Handler run = max ? (m.nan ? binaryFloat<XorsignAbs<MaxNan>>(t, m.ftz, false)
                               : binaryFloat<XorsignAbs<Max>>(t, m.ftz, false))
                      : (m.nan ? binaryFloat<XorsignAbs<MinNan>>(t, m.ftz, false)
                               : binaryFloat<XorsignAbs<Min>>(t, m.ftz, false));
    return emitLanes(d, run, t, 2);
  }
  if (m.abs || t == Type::f32x2)
    return false;
  Handler run =
      max ? (m.nan ? binaryFloat<MaxNan>(t, m.ftz, false) : binaryFloat<Max>(t, m.ftz, false))
          : (m.nan ? binaryFloat<MinNan>(t, m.ftz, false) : binaryFloat<Min>(t, m.ftz, false));
  return emitLanes(d, run, t, 2);
}

template <template <class> class Of, typename H> Handler fmaOutOfBounds(bool relu) {
  return relu ? ternaryLanes<Of<OutOfBounds<Narrow<Fma, H, true>>>, uint32_t>
              : ternaryLanes<Of<OutOfBounds<Narrow<Fma, H>>>, uint32_t>;
}
Handler fmaOutOfBounds(Type t, bool relu) {
  switch (t) {
  case Type::f16:
    return fmaOutOfBounds<Whole::Of, Half>(relu);
  case Type::bf16:
    return fmaOutOfBounds<Whole::Of, Brain>(relu);
  case Type::f16x2:
    return fmaOutOfBounds<Packed::Of, Half>(relu);
  case Type::bf16x2:
    return fmaOutOfBounds<Packed::Of, Brain>(relu);
  default:
    return nullptr;
  }
}

bool decodeFma(Decoder &d, const Modifiers &m, Type t) {
  if (m.oob)
    return emitLanes(d, fmaOutOfBounds(t, m.relu), t, 3);
  Handler run = nullptr;
  switch (t) {
  case Type::f32:
    run = f32Ternary<Fma>(m.ftz, m.sat);
    break;
  case Type::f64:
    run = ternaryLanes<Fma, double>;
    break;
  case Type::f32x2:
    run = m.ftz ? ternaryLanes<F32x2<F32<Fma, true, false>>, uint64_t>
                : ternaryLanes<F32x2<F32<Fma, false, false>>, uint64_t>;
    break;
  case Type::f16:
    run = halfFma<Whole>(m.ftz, m.sat, m.relu);
    break;
  case Type::bf16:
    run = m.relu ? ternaryLanes<Narrow<Fma, Brain, true>, uint32_t>
                 : ternaryLanes<Narrow<Fma, Brain>, uint32_t>;
    break;
  case Type::f16x2:
    run = halfFma<Packed>(m.ftz, m.sat, m.relu);
    break;
  case Type::bf16x2:
    run = m.relu ? ternaryLanes<Pair<Narrow<Fma, Brain, true>>, uint32_t>
                 : ternaryLanes<Pair<Narrow<Fma, Brain>>, uint32_t>;
    break;
  default:
    break;
  }
  return emitLanes(d, run, t, 3);
}

bool decodeSign(Decoder &d, const Modifiers &m, Type t) {
  bool neg = d.raw->opcode == "neg";
  switch (t) {
  case Type::f32:
    return emitLanes(d, neg ? f32Unary<Neg>(m.ftz) : f32Unary<Abs>(m.ftz), t, 1);
  case Type::f64:
    return emitLanes(d, neg ? unaryLanes<Neg, double> : unaryLanes<Abs, double>, t, 1);
  case Type::f16:
    return emitLanes(d, neg ? halfSign<Whole, Neg>(m.ftz) : halfSign<Whole, Abs>(m.ftz), t, 1);
  case Type::f16x2:
    return emitLanes(d, neg ? halfSign<Packed, Neg>(m.ftz) : halfSign<Packed, Abs>(m.ftz), t, 1);
  case Type::bf16:
    return emitLanes(d,
                     neg ? unaryLanes<Narrow<Neg, Brain>, uint32_t>
                         : unaryLanes<Narrow<Abs, Brain>, uint32_t>,
                     t, 1);
  case Type::bf16x2:
    return emitLanes(d,
                     neg ? unaryLanes<Pair<Narrow<Neg, Brain>>, uint32_t>
                         : unaryLanes<Pair<Narrow<Abs, Brain>>, uint32_t>,
                     t, 1);
  default:
    return false;
  }
}

struct Copysign {
  template <typename T> static T run(T a, T b) { return std::copysign(b, a); }
};
bool decodeCopysign(Decoder &d) {
  Type t = d.takeType();
  return emitLanes(d,
                   t == Type::f32   ? binaryLanes<Copysign, float>
                   : t == Type::f64 ? binaryLanes<Copysign, double>
                                    : nullptr,
                   t, 2);
}

// testp: a class test with a predicate result.
enum class Class { finite, infinite, number, notanumber, normal, subnormal };
template <typename T> Outcome testp(Warp &w, const Instruction &in) {
  const T *a = w.reg<T>(in.op[1]);
  uint32_t r = 0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    int c = std::fpclassify(a[l]);
    bool yes = false;
    switch (Class(in.sub)) {
    case Class::finite:
      yes = c != FP_NAN && c != FP_INFINITE;
      break;
    case Class::infinite:
      yes = c == FP_INFINITE;
      break;
    case Class::number:
      yes = c != FP_NAN;
      break;
    case Class::notanumber:
      yes = c == FP_NAN;
      break;
    case Class::normal: // zeros are, too
      yes = c == FP_NORMAL || c == FP_ZERO;
      break;
    case Class::subnormal:
      yes = c == FP_SUBNORMAL;
      break;
    }
    r |= uint32_t(yes) << l;
  }
  w.preds[in.op[0]] = (w.preds[in.op[0]] & ~w.mask) | r;
  return Outcome::next;
}
bool decodeTestp(Decoder &d) {
  int c = d.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type t = d.takeType();
  if (c < 0 || (t != Type::f32 && t != Type::f64) || !d.expectOperands(2))
    return false;
  Instruction in;
  in.run = t == Type::f32 ? testp<float> : testp<double>;
  in.sub = uint8_t(c);
  in.op[0] = d.predicate(d.operand(0), true);
  in.op[1] = d.source(1, t);
  if (in.op[0] == kNone || !d.error.empty())
    return false;
  d.emit(in);
  return true;
}

} // namespace

bool decodeFloat(Decoder &d) {
  Modifiers m = takeModifiers(d);
  Type t = d.takeType();
  const std::string &op = d.raw->opcode;
  if (t == Type::f32)
    if (std::optional<Type> narrow = d.tryType())
      return decodeMixed(d, m.round, m.sat, *narrow);
  if (m.round > 0)
    return decodeRounded(d, m.round, m.ftz, m.sat, t);
  if ((m.relu || m.oob) && op != "fma")
    return false;
  if (op == "min" || op == "max")
    return decodeMinMax(d, m, t);
  if (op == "fma" || op == "mad")
    return decodeFma(d, m, t);
  if (op == "neg" || op == "abs")
    return decodeSign(d, m, t);
  return decodeBinary(d, m, t);
}

DecodeFn findFloat(std::string_view opcode) {
  static const std::unordered_map<std::string_view, DecodeFn> kTable{
      {"fma", decodeFloat},         {"rcp", decodeFunction}, {"sqrt", decodeFunction},
      {"rsqrt", decodeFunction},    {"ex2", decodeFunction}, {"lg2", decodeFunction},
      {"sin", decodeFunction},      {"cos", decodeFunction}, {"tanh", decodeFunction},
      {"copysign", decodeCopysign}, {"testp", decodeTestp}};
  auto it = kTable.find(opcode);
  return it == kTable.end() ? nullptr : it->second;
}

} // namespace blockscale::emu
