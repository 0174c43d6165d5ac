//===- Arithmetic.cpp - integer and floating add, sub, mul, mad, … --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.1 and 9.7.3 to 9.7.5. add, sub, mul, min, max, abs, neg, div
// and fma share an opcode between integers and floats; floats go to Float.cpp.
//
//===----------------------------------------------------------------------===//

#include "Float.h"
#include "Lanes.h"

#include <algorithm>
#include <limits>

namespace blockscale::emu {
namespace {

template <typename T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;
// Wrapping arithmetic goes through unsigned types of at least 32 bits.
template <typename T> using Wrap = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

struct Add {
  template <typename T> static T run(T a, T b) { return T(Wrap<T>(a) + Wrap<T>(b)); }
};
struct Sub {
  template <typename T> static T run(T a, T b) { return T(Wrap<T>(a) - Wrap<T>(b)); }
};
struct MulLo {
  template <typename T> static T run(T a, T b) { return T(Wrap<T>(a) * Wrap<T>(b)); }
};
struct MulHi {
  template <typename T> static T run(T a, T b) {
    return T((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T)));
  }
};
struct MulWide {
  template <typename T> static Wide<T> run(T a, T b) { return Wide<T>(a) * Wide<T>(b); }
};
struct MadLo {
  template <typename T> static T run(T a, T b, T c) { return Add::run<T>(MulLo::run<T>(a, b), c); }
};
struct MadHi {
  template <typename T> static T run(T a, T b, T c) { return Add::run<T>(MulHi::run<T>(a, b), c); }
};
struct MadWide {
  template <typename T> static Wide<T> run(T a, T b, Wide<T> c) {
    return Add::run<Wide<T>>(MulWide::run<T>(a, b), c);
  }
};
struct AddSat {
  template <typename T> static T run(T a, T b) {
    int64_t s = int64_t(a) + int64_t(b);
    return T(s > std::numeric_limits<T>::max()   ? std::numeric_limits<T>::max()
             : s < std::numeric_limits<T>::min() ? std::numeric_limits<T>::min()
                                                 : s);
  }
};
struct SubSat {
  template <typename T> static T run(T a, T b) {
    int64_t s = int64_t(a) - int64_t(b);
    return T(s > std::numeric_limits<T>::max()   ? std::numeric_limits<T>::max()
             : s < std::numeric_limits<T>::min() ? std::numeric_limits<T>::min()
                                                 : s);
  }
};
// Division by zero gives all ones (what the chips do); the manual leaves it open.
struct Div {
  template <typename T> static T run(T a, T b) {
    if (b == 0)
      return T(~T(0));
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return T(Wrap<T>(0) - Wrap<T>(a));
    return T(a / b);
  }
};
struct Rem {
  template <typename T> static T run(T a, T b) {
    if (b == 0) // as an H200 gives; the manual leaves it open
      return T(~T(0));
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return 0;
    return T(a % b);
  }
};
struct Min {
  template <typename T> static T run(T a, T b) { return a < b ? a : b; }
};
struct Max {
  template <typename T> static T run(T a, T b) { return a > b ? a : b; }
};
struct Neg {
  template <typename T> static T run(T a) { return T(Wrap<T>(0) - Wrap<T>(a)); }
};
struct Abs {
  template <typename T> static T run(T a) { return a < 0 ? T(Wrap<T>(0) - Wrap<T>(a)) : a; }
};
struct Sad {
  template <typename T> static T run(T a, T b, T c) {
    return T(Wrap<T>(c) + (a < b ? Wrap<T>(b) - Wrap<T>(a) : Wrap<T>(a) - Wrap<T>(b)));
  }
};

template <class Op> Handler binaryInt(Type t) {
  switch (t) {
  case Type::u16:
    return binaryLanes<Op, uint16_t>;
  case Type::s16:
    return binaryLanes<Op, int16_t>;
  case Type::u32:
    return binaryLanes<Op, uint32_t>;
  case Type::s32:
    return binaryLanes<Op, int32_t>;
  case Type::u64:
    return binaryLanes<Op, uint64_t>;
  case Type::s64:
    return binaryLanes<Op, int64_t>;
  default:
    return nullptr;
  }
}
template <class Op> Handler ternaryInt(Type t) {
  switch (t) {
  case Type::u16:
    return ternaryLanes<Op, uint16_t>;
  case Type::s16:
    return ternaryLanes<Op, int16_t>;
  case Type::u32:
    return ternaryLanes<Op, uint32_t>;
  case Type::s32:
    return ternaryLanes<Op, int32_t>;
  case Type::u64:
    return ternaryLanes<Op, uint64_t>;
  case Type::s64:
    return ternaryLanes<Op, int64_t>;
  default:
    return nullptr;
  }
}
template <class Op> Handler unarySigned(Type t) {
  switch (t) {
  case Type::s16:
    return unaryLanes<Op, int16_t>;
  case Type::s32:
    return unaryLanes<Op, int32_t>;
  case Type::s64:
    return unaryLanes<Op, int64_t>;
  default:
    return nullptr;
  }
}
template <class Op> Handler wideBinary(Type t) {
  switch (t) {
  case Type::u16:
    return binaryLanes<Op, uint16_t, uint32_t>;
  case Type::s16:
    return binaryLanes<Op, int16_t, int32_t>;
  case Type::u32:
    return binaryLanes<Op, uint32_t, uint64_t>;
  case Type::s32:
    return binaryLanes<Op, int32_t, int64_t>;
  default:
    return nullptr;
  }
}
template <class Op> Handler wideTernary(Type t) {
  switch (t) {
  case Type::u16:
    return ternaryLanes<Op, uint16_t, uint32_t>;
  case Type::s16:
    return ternaryLanes<Op, int16_t, int32_t>;
  case Type::u32:
    return ternaryLanes<Op, uint32_t, uint64_t>;
  case Type::s32:
    return ternaryLanes<Op, int32_t, int64_t>;
  default:
    return nullptr;
  }
}

/// An operation on both halves of a register.
template <class Op, typename T> struct Halves {
  static uint32_t run(uint32_t a, uint32_t b) {
    return uint16_t(Op::template run<T>(T(a), T(b))) |
           uint32_t(uint16_t(Op::template run<T>(T(a >> 16), T(b >> 16)))) << 16;
  }
};
/// An operation on each byte of a register.
template <class Op, typename T> struct Bytes {
  static uint32_t run(uint32_t a, uint32_t b) {
    uint32_t out = 0;
    for (unsigned shift = 0; shift < 32; shift += 8)
      out |= uint32_t(uint8_t(Op::template run<T>(T(a >> shift), T(b >> shift)))) << shift;
    return out;
  }
};
template <class Op> struct Relu {
  template <typename T> static T run(T a, T b) { return std::max(T(0), Op::template run<T>(a, b)); }
};
template <class Op> Handler packedInt(Type t) {
  return t == Type::u16x2   ? binaryLanes<Halves<Op, uint16_t>, uint32_t>
         : t == Type::s16x2 ? binaryLanes<Halves<Op, int16_t>, uint32_t>
         : t == Type::u8x4  ? binaryLanes<Bytes<Op, uint8_t>, uint32_t>
         : t == Type::s8x4  ? binaryLanes<Bytes<Op, int8_t>, uint32_t>
                            : nullptr;
}

/// The type is the last modifier; the others come before it and are known.
std::optional<Type> lastType(const Decoder &d) {
  return d.raw->modifiers.empty() ? std::nullopt : parseType(d.raw->modifiers.back());
}
bool isPackedInteger(Type t) {
  return t == Type::u16x2 || t == Type::s16x2 || t == Type::u8x4 || t == Type::s8x4;
}
bool isIntegerForm(const Decoder &d) {
  auto t = lastType(d);
  return t && (isInteger(*t) || isPackedInteger(*t));
}

bool decodeAddSub(Decoder &d) {
  if (d.peekModifier() == "cc")
    return decodeCarry(d);
  if (!isIntegerForm(d))
    return decodeFloat(d);
  bool sub = d.raw->opcode == "sub";
  bool sat = d.take("sat");
  Type t = d.takeType();
  if (sat && isPackedInteger(t))
    return emitLanes(d, sub ? packedInt<SubSat>(t) : packedInt<AddSat>(t), t, 2);
  if (sat && t == Type::u32)
    return !sub && emitLanes(d, binaryLanes<AddSat, uint32_t>, t, 2);
  if (sat)
    return t == Type::s32 &&
           emitLanes(d, sub ? binaryLanes<SubSat, int32_t> : binaryLanes<AddSat, int32_t>, t, 2);
  if (isPackedInteger(t))
    return emitLanes(d, sub ? packedInt<Sub>(t) : packedInt<Add>(t), t, 2);
  return emitLanes(d, sub ? binaryInt<Sub>(t) : binaryInt<Add>(t), t, 2);
}

bool emitWide(Decoder &d, Handler run, Type t, bool third) {
  Type wide = bits(t) == 16 ? Type::b32 : Type::b64;
  if (!run || !d.expectOperands(third ? 4 : 3))
    return false;
  Instruction in;
  in.run = run;
  in.op[0] = d.dest(0, wide);
  in.op[1] = d.source(1, t);
  in.op[2] = d.source(2, t);
  if (third)
    in.op[3] = d.source(3, wide);
  d.emit(in);
  return d.error.empty();
}

bool decodeMul(Decoder &d) {
  if (!isIntegerForm(d))
    return decodeFloat(d);
  int form = d.takeOneOf({"lo", "hi", "wide"});
  Type t = d.takeType();
  if (form == 2)
    return emitWide(d, wideBinary<MulWide>(t), t, false);
  return form >= 0 && emitLanes(d, form ? binaryInt<MulHi>(t) : binaryInt<MulLo>(t), t, 2);
}

struct Mul32Hi {
  static int32_t run(int32_t a, int32_t b) { return int32_t((int64_t(a) * b) >> 32); }
};
template <class Mul> struct MadOf {
  template <typename T> static T run(T a, T b, T c) {
    return T(uint32_t(Mul::run(a, b)) + uint32_t(c));
  }
};
template <class Mul> struct MadSaturated {
  static int32_t run(int32_t a, int32_t b, int32_t c) {
    int64_t sum = int64_t(Mul::run(a, b)) + c;
    return int32_t(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
  }
};

bool decodeMad(Decoder &d) {
  if (d.peekModifier(1) == "cc")
    return decodeCarry(d);
  if (!isIntegerForm(d))
    return decodeFloat(d);
  int form = d.takeOneOf({"lo", "hi", "wide"});
  bool sat = d.take("sat");
  Type t = d.takeType();
  if (sat)
    return form == 1 && t == Type::s32 &&
           emitLanes(d, ternaryLanes<MadSaturated<Mul32Hi>, int32_t>, t, 3);
  if (form == 2)
    return emitWide(d, wideTernary<MadWide>(t), t, true);
  return form >= 0 && emitLanes(d, form ? ternaryInt<MadHi>(t) : ternaryInt<MadLo>(t), t, 3);
}

// 24-bit forms: bits 31:0 (lo) or 47:16 (hi) of the product. .sat is for mad.hi of s32.
template <bool hi> struct Mul24 {
  template <typename T> static T run(T a, T b) {
    return T((int64_t(narrow(a)) * narrow(b)) >> (hi ? 16 : 0));
  }
  template <typename T> static int64_t narrow(T a) {
    if constexpr (std::is_signed_v<T>)
      return int32_t(uint32_t(a) << 8) >> 8;
    else
      return a & 0xFFFFFF;
  }
};
template <bool hi> Handler lanes24(Type t, bool mad, bool sat) {
  using Mul = Mul24<hi>;
  if (sat)
    return mad && hi && t == Type::s32 ? ternaryLanes<MadSaturated<Mul>, int32_t> : nullptr;
  if (t == Type::s32)
    return mad ? ternaryLanes<MadOf<Mul>, int32_t> : binaryLanes<Mul, int32_t>;
  if (t == Type::u32)
    return mad ? ternaryLanes<MadOf<Mul>, uint32_t> : binaryLanes<Mul, uint32_t>;
  return nullptr;
}
bool decode24(Decoder &d) {
  bool mad = d.raw->opcode == "mad24";
  int half = d.takeOneOf({"lo", "hi"});
  bool sat = d.take("sat");
  Type t = d.takeType();
  return half >= 0 && emitLanes(d, half ? lanes24<true>(t, mad, sat) : lanes24<false>(t, mad, sat),
                                t, mad ? 3 : 2);
}

// Dot products of bytes; dp2a takes halves of a and the lower or upper two bytes of b.
template <typename A, typename B, bool hi> struct Dp2a {
  static int32_t run(int32_t a, int32_t b, int32_t c) {
    uint32_t sum = uint32_t(c), bytes = uint32_t(b) >> (hi ? 16 : 0);
    for (int i = 0; i < 2; ++i)
      sum += uint32_t(int32_t(A(uint32_t(a) >> (16 * i))) * int32_t(B(bytes >> (8 * i))));
    return int32_t(sum);
  }
};
template <bool hi> Handler dp2aLanes(bool sa, bool sb) {
  return sa ? (sb ? ternaryLanes<Dp2a<int16_t, int8_t, hi>, int32_t>
                  : ternaryLanes<Dp2a<int16_t, uint8_t, hi>, int32_t>)
            : (sb ? ternaryLanes<Dp2a<uint16_t, int8_t, hi>, int32_t>
                  : ternaryLanes<Dp2a<uint16_t, uint8_t, hi>, int32_t>);
}
bool decodeDp2a(Decoder &d) {
  int half = d.takeOneOf({"lo", "hi"});
  Type a = d.takeType(), b = d.takeType();
  bool sa = a == Type::s32, sb = b == Type::s32;
  return half >= 0 && bits(a) == 32 && bits(b) == 32 &&
         emitLanes(d, half ? dp2aLanes<true>(sa, sb) : dp2aLanes<false>(sa, sb), Type::b32, 3);
}
template <typename A, typename B> struct Dp4a {
  static int32_t run(int32_t a, int32_t b, int32_t c) {
    uint32_t sum = uint32_t(c);
    for (int i = 0; i < 4; ++i)
      sum += uint32_t(int32_t(A(uint32_t(a) >> (8 * i))) * int32_t(B(uint32_t(b) >> (8 * i))));
    return int32_t(sum);
  }
};
bool decodeDp4a(Decoder &d) {
  Type a = d.takeType(), b = d.takeType();
  bool sa = a == Type::s32, sb = b == Type::s32;
  Handler run = sa ? (sb ? ternaryLanes<Dp4a<int8_t, int8_t>, int32_t>
                         : ternaryLanes<Dp4a<int8_t, uint8_t>, int32_t>)
                   : (sb ? ternaryLanes<Dp4a<uint8_t, int8_t>, int32_t>
                         : ternaryLanes<Dp4a<uint8_t, uint8_t>, int32_t>);
  return bits(a) == 32 && bits(b) == 32 && emitLanes(d, run, Type::b32, 3);
}

bool decodeDivRem(Decoder &d) {
  if (!isIntegerForm(d))
    return d.raw->opcode == "div" && decodeFloat(d);
  bool rem = d.raw->opcode == "rem";
  Type t = d.takeType();
  return emitLanes(d, rem ? binaryInt<Rem>(t) : binaryInt<Div>(t), t, 2);
}

bool decodeMinMax(Decoder &d) {
  if (!isIntegerForm(d))
    return decodeFloat(d);
  bool max = d.raw->opcode == "max", relu = d.take("relu");
  Type t = d.takeType();
  if (relu && t == Type::s32)
    return emitLanes(d, max ? binaryLanes<Relu<Max>, int32_t> : binaryLanes<Relu<Min>, int32_t>, t,
                     2);
  if (relu)
    return emitLanes(d, max ? packedInt<Relu<Max>>(t) : packedInt<Relu<Min>>(t), t, 2);
  if (isPackedInteger(t))
    return emitLanes(d, max ? packedInt<Max>(t) : packedInt<Min>(t), t, 2);
  return emitLanes(d, max ? binaryInt<Max>(t) : binaryInt<Min>(t), t, 2);
}

struct NegBytes {
  static uint32_t run(uint32_t a) { return Bytes<Sub, int8_t>::run(0, a); }
};

bool decodeNegAbs(Decoder &d) {
  if (!isIntegerForm(d))
    return decodeFloat(d);
  bool neg = d.raw->opcode == "neg";
  Type t = d.takeType();
  if (t == Type::s8x4)
    return neg && emitLanes(d, unaryLanes<NegBytes, uint32_t>, t, 1);
  return emitLanes(d, neg ? unarySigned<Neg>(t) : unarySigned<Abs>(t), t, 1);
}

bool decodeSad(Decoder &d) {
  Type t = d.takeType();
  return emitLanes(d, ternaryInt<Sad>(t), t, 3);
}

} // namespace

DecodeFn findArithmetic(std::string_view opcode) {
  static const std::unordered_map<std::string_view, DecodeFn> kTable{
      {"add", decodeAddSub}, {"sub", decodeAddSub}, {"mul", decodeMul},    {"mad", decodeMad},
      {"div", decodeDivRem}, {"rem", decodeDivRem}, {"min", decodeMinMax}, {"max", decodeMinMax},
      {"neg", decodeNegAbs}, {"abs", decodeNegAbs}, {"sad", decodeSad},    {"mul24", decode24},
      {"mad24", decode24},   {"dp2a", decodeDp2a},  {"dp4a", decodeDp4a}};
  auto it = kTable.find(opcode);
  return it == kTable.end() ? nullptr : it->second;
}

} // namespace blockscale::emu
