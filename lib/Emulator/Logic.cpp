//===- Logic.cpp - bits, shifts and fields --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.1 (bit counting, fields) and 9.7.8 (logic and shift). Shift
// amounts are clamped to the width, not reduced modulo it.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

namespace blockscale::emu {
namespace {

struct And {
  template <typename T> static T run(T a, T b) { return a & b; }
};
struct Or {
  template <typename T> static T run(T a, T b) { return a | b; }
};
struct Xor {
  template <typename T> static T run(T a, T b) { return a ^ b; }
};
struct Not {
  template <typename T> static T run(T a) { return T(~a); }
};
struct Cnot {
  template <typename T> static T run(T a) { return T(a == 0); }
};
struct Shl {
  template <typename T> static T run(T a, uint32_t n) {
    return n >= 8 * sizeof(T) ? T(0) : runShort(a, n);
  }
  /// By less than the width.
  template <typename T> static T runShort(T a, uint32_t n) { return T(a << n); }
};
struct Shr {
  template <typename T> static T runShort(T a, uint32_t n) { return T(a >> n); }
  template <typename T> static T run(T a, uint32_t n) {
    if (n >= 8 * sizeof(T))
      n = std::is_signed_v<T> ? 8 * sizeof(T) - 1 : 8 * sizeof(T);
    if constexpr (sizeof(T) == 8)
      return n >= 64 ? T(0) : T(a >> n);
    else
      return T((std::is_signed_v<T> ? int64_t(a) : int64_t(uint64_t(a))) >> n);
  }
};
struct Popc {
  template <typename T> static uint32_t run(T a) { return uint32_t(std::popcount(a)); }
};
struct Clz {
  template <typename T> static uint32_t run(T a) { return uint32_t(std::countl_zero(a)); }
};
struct Brev {
  template <typename T> static T run(T a) {
    T r = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i)
      r = T(r << 1) | T((a >> i) & 1);
    return r;
  }
};
struct Bfind {
  template <typename T> static uint32_t run(T a) {
    std::make_unsigned_t<T> u = std::make_unsigned_t<T>(std::is_signed_v<T> && a < 0 ? ~a : a);
    return u ? uint32_t(8 * sizeof(T) - 1) - uint32_t(std::countl_zero(u)) : 0xFFFFFFFF;
  }
};
struct BfindShift {
  template <typename T> static uint32_t run(T a) {
    uint32_t p = Bfind::run(a);
    return p == 0xFFFFFFFF ? p : uint32_t(8 * sizeof(T) - 1) - p;
  }
};
/// Positions and lengths of bfe and bfi: 8 bits count. Where the width is 64, ptxas makes
/// shifts of them that saturate, so that more than 255 is as much as 255.
template <typename T> unsigned fieldCount(uint32_t n) {
  return sizeof(T) == 8 ? std::min(n, 0xFFu) : n & 0xFF;
}

template <typename T> struct Bfe {
  static T run(T a, uint32_t pos, uint32_t len) {
    constexpr unsigned msb = 8 * sizeof(T) - 1;
    unsigned p = fieldCount<T>(pos), n = fieldCount<T>(len);
    using U = std::make_unsigned_t<T>;
    U sign = 0;
    if (std::is_signed_v<T> && n)
      sign = (U(a) >> std::min(p + n - 1, msb)) & 1;
    U out = 0;
    for (unsigned i = 0; i <= msb; ++i) {
      U bit = i < n && p + i <= msb ? (U(a) >> (p + i)) & 1 : sign;
      out |= U(bit << i);
    }
    return T(out);
  }
};

template <class Op> Handler binaryBits(Type t) {
  switch (t) {
  case Type::b16:
    return binaryLanes<Op, uint16_t>;
  case Type::b32:
    return binaryLanes<Op, uint32_t>;
  case Type::b64:
    return binaryLanes<Op, uint64_t>;
  default:
    return nullptr;
  }
}

// Predicates are masks.
enum class PredOp { andOp, orOp, xorOp, notOp };
template <PredOp kind> Outcome predLogic(Warp &w, const Instruction &in) {
  uint32_t a = w.preds[in.op[1]], b = kind == PredOp::notOp ? 0 : w.preds[in.op[2]];
  if (in.flags & 1)
    a = ~a;
  if (in.flags & 2)
    b = ~b;
  uint32_t r = kind == PredOp::andOp   ? (a & b)
               : kind == PredOp::orOp  ? (a | b)
               : kind == PredOp::xorOp ? (a ^ b)
                                       : ~a;
  w.preds[in.op[0]] = (w.preds[in.op[0]] & ~w.mask) | (r & w.mask);
  return Outcome::next;
}

bool decodePred(Decoder &d, Handler run, unsigned sources) {
  if (!d.expectOperands(sources + 1))
    return false;
  Instruction in;
  in.run = run;
  bool na = false, nb = false;
  in.op[0] = d.predicate(d.operand(0), true);
  in.op[1] = d.predicate(d.operand(1), false, &na);
  if (sources == 2)
    in.op[2] = d.predicate(d.operand(2), false, &nb);
  in.flags = uint32_t(na) | uint32_t(nb) << 1;
  if (!d.error.empty() || in.op[0] == kNone)
    return false;
  d.emit(in);
  return true;
}

bool decodeLogic(Decoder &d) {
  Type t = d.takeType();
  const std::string &op = d.raw->opcode;
  if (op == "not") {
    if (t == Type::pred)
      return decodePred(d, predLogic<PredOp::notOp>, 1);
    return emitLanes(d,
                     t == Type::b16   ? unaryLanes<Not, uint16_t>
                     : t == Type::b32 ? unaryLanes<Not, uint32_t>
                     : t == Type::b64 ? unaryLanes<Not, uint64_t>
                                      : nullptr,
                     t, 1);
  }
  if (t == Type::pred)
    return decodePred(d,
                      op == "and"  ? predLogic<PredOp::andOp>
                      : op == "or" ? predLogic<PredOp::orOp>
                                   : predLogic<PredOp::xorOp>,
                      2);
  return emitLanes(d,
                   op == "and"  ? binaryBits<And>(t)
                   : op == "or" ? binaryBits<Or>(t)
                                : binaryBits<Xor>(t),
                   t, 2);
}

bool decodeCnot(Decoder &d) {
  Type t = d.takeType();
  return emitLanes(d,
                   t == Type::b16   ? unaryLanes<Cnot, uint16_t>
                   : t == Type::b32 ? unaryLanes<Cnot, uint32_t>
                   : t == Type::b64 ? unaryLanes<Cnot, uint64_t>
                                    : nullptr,
                   t, 1);
}

template <class Op, typename T> Outcome runShift(Warp &w, const Instruction &in) {
  const uint32_t *counts = w.lanes<uint32_t>(in.op[2]);
  uint32_t count = counts[0], differ = 0;
  if (!(in.op[2] & kConstantBit))
    for (int l = 1; l < 32; ++l)
      differ |= counts[l] ^ count;
  if (w.mask != ~0u || differ || count >= 8 * sizeof(T))
    return runBinary<Op, T, T, uint32_t>(w, in);
  // All by one count, as most are.
  Stored<T> *d = w.lanes<Stored<T>>(in.op[0]);
  const Stored<T> *a = w.lanes<Stored<T>>(in.op[1]);
  forAllLanes([&](int l) { d[l] = storeLane<T>(Op::runShort(loadLane<T>(a[l]), count)); });
  return Outcome::next;
}
template <class Op, typename T> inline constexpr LaneHandler shiftLanes = forHost<runShift<Op, T>>;

bool decodeShift(Decoder &d) {
  Type t = d.takeType();
  Handler run = nullptr;
  if (d.raw->opcode == "shl") {
    run = t == Type::b16   ? shiftLanes<Shl, uint16_t>
          : t == Type::b32 ? shiftLanes<Shl, uint32_t>
          : t == Type::b64 ? shiftLanes<Shl, uint64_t>
                           : nullptr;
  } else {
    switch (t) {
    case Type::b16:
    case Type::u16:
      run = shiftLanes<Shr, uint16_t>;
      break;
    case Type::s16:
      run = shiftLanes<Shr, int16_t>;
      break;
    case Type::b32:
    case Type::u32:
      run = shiftLanes<Shr, uint32_t>;
      break;
    case Type::s32:
      run = shiftLanes<Shr, int32_t>;
      break;
    case Type::b64:
    case Type::u64:
      run = shiftLanes<Shr, uint64_t>;
      break;
    case Type::s64:
      run = shiftLanes<Shr, int64_t>;
      break;
    default:
      break;
    }
  }
  if (!run || !d.expectOperands(3))
    return false;
  Instruction in;
  in.run = run;
  in.op[0] = d.dest(0, t);
  in.op[1] = d.source(1, t);
  in.op[2] = d.source(2, Type::u32);
  d.emit(in);
  return d.error.empty();
}

/// One source, 32-bit result.
bool decodeCount(Decoder &d) {
  const std::string &op = d.raw->opcode;
  bool amount = op == "bfind" && d.take("shiftamt");
  Type t = d.takeType();
  Handler run = nullptr;
  bool w64 = bits(t) == 64;
  if (op == "popc")
    run = w64 ? unaryLanes<Popc, uint64_t, uint32_t> : unaryLanes<Popc, uint32_t, uint32_t>;
  else if (op == "clz")
    run = w64 ? unaryLanes<Clz, uint64_t, uint32_t> : unaryLanes<Clz, uint32_t, uint32_t>;
  else if (t == Type::u32)
    run =
        amount ? unaryLanes<BfindShift, uint32_t, uint32_t> : unaryLanes<Bfind, uint32_t, uint32_t>;
  else if (t == Type::s32)
    run = amount ? unaryLanes<BfindShift, int32_t, uint32_t> : unaryLanes<Bfind, int32_t, uint32_t>;
  else if (t == Type::u64)
    run =
        amount ? unaryLanes<BfindShift, uint64_t, uint32_t> : unaryLanes<Bfind, uint64_t, uint32_t>;
  else if (t == Type::s64)
    run = amount ? unaryLanes<BfindShift, int64_t, uint32_t> : unaryLanes<Bfind, int64_t, uint32_t>;
  if (!run || bits(t) < 32 || !d.expectOperands(2))
    return false;
  Instruction in;
  in.run = run;
  in.op[0] = d.dest(0, Type::u32);
  in.op[1] = d.source(1, t);
  d.emit(in);
  return d.error.empty();
}

bool decodeBrev(Decoder &d) {
  Type t = d.takeType();
  return emitLanes(d,
                   t == Type::b32   ? unaryLanes<Brev, uint32_t>
                   : t == Type::b64 ? unaryLanes<Brev, uint64_t>
                                    : nullptr,
                   t, 1);
}

template <typename T> Outcome bfe(Warp &w, const Instruction &in) {
  T *d = w.reg<T>(in.op[0]);
  const T *a = w.reg<T>(in.op[1]);
  const uint32_t *pos = w.reg<uint32_t>(in.op[2]), *len = w.reg<uint32_t>(in.op[3]);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    d[l] = Bfe<T>::run(a[l], pos[l], len[l]);
  }
  return Outcome::next;
}

template <typename T> Outcome bfi(Warp &w, const Instruction &in) {
  T *d = w.reg<T>(in.op[0]);
  const T *a = w.reg<T>(in.op[1]), *b = w.reg<T>(in.op[2]);
  const uint32_t *pos = w.reg<uint32_t>(in.op[3]), *len = w.reg<uint32_t>(in.op[4]);
  constexpr unsigned width = 8 * sizeof(T);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    unsigned p = fieldCount<T>(pos[l]), n = fieldCount<T>(len[l]);
    T field = n >= width ? ~T(0) : T((T(1) << n) - 1);
    T shifted = p >= width ? T(0) : T(field << p);
    d[l] = (b[l] & ~shifted) | (p >= width ? T(0) : T(T(a[l] << p) & shifted));
  }
  return Outcome::next;
}

bool decodeField(Decoder &d) {
  Type t = d.takeType();
  bool insert = d.raw->opcode == "bfi";
  if (!d.expectOperands(insert ? 5 : 4))
    return false;
  Instruction in;
  if (insert)
    in.run = t == Type::b32 ? bfi<uint32_t> : t == Type::b64 ? bfi<uint64_t> : nullptr;
  else
    in.run = t == Type::u32   ? bfe<uint32_t>
             : t == Type::s32 ? bfe<int32_t>
             : t == Type::u64 ? bfe<uint64_t>
             : t == Type::s64 ? bfe<int64_t>
                              : nullptr;
  in.op[0] = d.dest(0, t);
  in.op[1] = d.source(1, t);
  unsigned i = 2;
  if (insert)
    in.op[i] = d.source(i, t), ++i;
  in.op[i] = d.source(i, Type::u32);
  in.op[i + 1] = d.source(i + 1, Type::u32);
  d.emit(in);
  return in.run && d.error.empty();
}

struct Prmt {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t bytes = uint64_t(b) << 32 | a;
    uint32_t out = 0;
    for (int i = 0; i < 4; ++i) {
      uint32_t sel = (c >> (4 * i)) & 0xF;
      uint8_t byte = uint8_t(bytes >> (8 * (sel & 7)));
      if (sel & 8)
        byte = byte & 0x80 ? 0xFF : 0;
      out |= uint32_t(byte) << (8 * i);
    }
    return out;
  }
};
// The named modes of prmt pick four bytes by the two low bits of c.
template <int mode> struct PrmtMode {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    static constexpr uint16_t kSelectors[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
        {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
        {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
        {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
        {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
        {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
    };
    return Prmt::run(a, b, kSelectors[mode][c & 3]);
  }
};
bool decodePrmt(Decoder &d) {
  Type t = d.takeType();
  int mode = d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  static constexpr LaneHandler kModes[] = {
      ternaryLanes<PrmtMode<0>, uint32_t>, ternaryLanes<PrmtMode<1>, uint32_t>,
      ternaryLanes<PrmtMode<2>, uint32_t>, ternaryLanes<PrmtMode<3>, uint32_t>,
      ternaryLanes<PrmtMode<4>, uint32_t>, ternaryLanes<PrmtMode<5>, uint32_t>};
  return t == Type::b32 &&
         emitLanes(d, mode < 0 ? ternaryLanes<Prmt, uint32_t> : kModes[mode], t, 3);
}

Outcome lop3(Warp &w, const Instruction &in) {
  uint32_t *d = w.reg<uint32_t>(in.op[0]);
  const uint32_t *a = w.reg<uint32_t>(in.op[1]), *b = w.reg<uint32_t>(in.op[2]),
                 *c = w.reg<uint32_t>(in.op[3]);
  unsigned lut = unsigned(in.imm);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint32_t r = 0;
    for (unsigned i = 0; i < 8; ++i)
      if (lut >> i & 1)
        r |= (i & 4 ? a[l] : ~a[l]) & (i & 2 ? b[l] : ~b[l]) & (i & 1 ? c[l] : ~c[l]);
    d[l] = r;
  }
  return Outcome::next;
}
bool decodeLop3(Decoder &d) {
  Type t = d.takeType();
  auto lut = d.immediate(d.operand(4));
  if (t != Type::b32 || !d.expectOperands(5))
    return false;
  if (!lut || *lut < 0 || *lut > 255)
    return d.fail("ptx_operand: lop3 table must be a number from 0 to 255");
  Instruction in;
  in.run = lop3;
  in.op[0] = d.dest(0, t);
  for (unsigned i = 1; i < 4; ++i)
    in.op[i] = d.source(i, t);
  in.imm = *lut;
  d.emit(in);
  return d.error.empty();
}

template <bool left, bool clamp> struct Funnel {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    unsigned n = clamp ? std::min(c, 32u) : c & 31;
    uint64_t both = uint64_t(b) << 32 | a;
    return left ? uint32_t((both << n) >> 32) : uint32_t(both >> n);
  }
};
bool decodeShf(Decoder &d) {
  int side = d.takeOneOf({"l", "r"}), mode = d.takeOneOf({"clamp", "wrap"});
  Type t = d.takeType();
  if (side < 0 || mode < 0 || t != Type::b32)
    return false;
  Handler run = side == 0 ? (mode == 0 ? ternaryLanes<Funnel<true, true>, uint32_t>
                                       : ternaryLanes<Funnel<true, false>, uint32_t>)
                          : (mode == 0 ? ternaryLanes<Funnel<false, true>, uint32_t>
                                       : ternaryLanes<Funnel<false, false>, uint32_t>);
  return emitLanes(d, run, t, 3);
}

// fns: the n-th set bit from a base position.
struct Fns {
  static uint32_t run(uint32_t mask, uint32_t base, uint32_t offset) {
    int32_t n = int32_t(offset), step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;
    if (n == 0)
      return base < 32 && (mask >> base & 1) ? base : 0xFFFFFFFF;
    for (int32_t pos = int32_t(base); pos >= 0 && pos < 32; pos += step)
      if ((mask >> pos & 1) && --left == 0)
        return uint32_t(pos);
    return 0xFFFFFFFF;
  }
};
bool decodeFns(Decoder &d) {
  return d.takeType() == Type::b32 && emitLanes(d, ternaryLanes<Fns, uint32_t>, Type::b32, 3);
}

/// .clamp clamps position and length to 32, .wrap takes them modulo 32.
template <bool wrap> struct Bmsk {
  static uint32_t run(uint32_t pos, uint32_t len) {
    if (wrap)
      pos &= 31, len &= 31;
    uint64_t field = len >= 32 ? 0xFFFFFFFF : (uint64_t(1) << len) - 1;
    return pos >= 32 ? 0 : uint32_t(field << pos);
  }
};
bool decodeBmsk(Decoder &d) {
  int mode = d.takeOneOf({"clamp", "wrap"});
  return mode >= 0 && d.takeType() == Type::b32 &&
         emitLanes(d, mode ? binaryLanes<Bmsk<true>, uint32_t> : binaryLanes<Bmsk<false>, uint32_t>,
                   Type::b32, 2);
}

/// The lowest n bits of a, extended: the types' sign decides how.
template <bool wrap> struct Szext {
  template <typename T> static T run(T a, T n) {
    uint32_t width = uint32_t(n);
    if (wrap)
      width &= 31;
    if (width == 0)
      return 0;
    if (width >= 32)
      return a;
    return T(uint32_t(a) << (32 - width)) >> (32 - width);
  }
};
bool decodeSzext(Decoder &d) {
  int mode = d.takeOneOf({"clamp", "wrap"});
  Type t = d.takeType();
  if (mode < 0 || (t != Type::s32 && t != Type::u32))
    return false;
  bool isSigned = t == Type::s32;
  return emitLanes(
      d,
      mode ? (isSigned ? binaryLanes<Szext<true>, int32_t> : binaryLanes<Szext<true>, uint32_t>)
           : (isSigned ? binaryLanes<Szext<false>, int32_t> : binaryLanes<Szext<false>, uint32_t>),
      t, 2);
}

} // namespace

DecodeFn findLogic(std::string_view opcode) {
  static const std::unordered_map<std::string_view, DecodeFn> kTable{
      {"and", decodeLogic}, {"or", decodeLogic},    {"xor", decodeLogic},  {"not", decodeLogic},
      {"cnot", decodeCnot}, {"shl", decodeShift},   {"shr", decodeShift},  {"popc", decodeCount},
      {"clz", decodeCount}, {"bfind", decodeCount}, {"brev", decodeBrev},  {"bfe", decodeField},
      {"bfi", decodeField}, {"prmt", decodePrmt},   {"lop3", decodeLop3},  {"shf", decodeShf},
      {"fns", decodeFns},   {"bmsk", decodeBmsk},   {"szext", decodeSzext}};
  auto it = kTable.find(opcode);
  return it == kTable.end() ? nullptr : it->second;
}

} // namespace blockscale::emu
