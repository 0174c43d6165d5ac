//===- Compare.cpp - setp, set, selp, slct --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.6 and 9.7.7.
//
//===----------------------------------------------------------------------===//

#include "Float.h"
#include "Lanes.h"

#include <array>

namespace blockscale::emu {
namespace {

enum Cmp : uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};
constexpr std::string_view kCmpNames[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                          "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                          "ltu", "leu", "gtu", "geu", "num", "nan"};

template <Cmp c, typename T> bool compare(T a, T b) {
  constexpr bool unordered = c >= equ && c <= geu;
  bool anyNan = a != a || b != b;
  if constexpr (c == num)
    return !anyNan;
  if constexpr (c == nan)
    return anyNan;
  if (anyNan)
    return unordered;
  if constexpr (c == eq || c == equ)
    return a == b;
  if constexpr (c == ne || c == neu)
    return a != b;
  if constexpr (c == lt || c == ltu || c == lo)
    return a < b;
  if constexpr (c == le || c == leu || c == ls)
    return a <= b;
  if constexpr (c == gt || c == gtu || c == hi)
    return a > b;
  return a >= b;
}

struct F16Value {
  float v;
  F16Value(uint32_t b) : v(fromF16(uint16_t(b))) {}
};
struct FlushedF16Value : F16Value { // .ftz
  FlushedF16Value(uint32_t b) : F16Value(b & 0x7C00 ? b : b & 0x8000) {}
};
struct Bf16Value {
  float v;
  Bf16Value(uint32_t b) : v(fromBf16(uint16_t(b))) {}
};

/// The comparison as a mask over all lanes.
template <Cmp c, typename T> uint32_t compareMask(Warp &w, const Instruction &in) {
  const Stored<T> *a = w.lanes<Stored<T>>(in.op[2]), *b = w.lanes<Stored<T>>(in.op[3]);
  uint8_t r[32];
  forAllLanes([&](int l) { r[l] = compare<c, T>(loadLane<T>(a[l]), loadLane<T>(b[l])); });
  uint32_t out = 0;
  for (int q = 0; q < 4; ++q) {
    uint64_t v;
    __builtin_memcpy(&v, r + 8 * q, 8);
    out |= uint32_t((v * 0x0102040810204080ull) >> 56) << (8 * q);
  }
  return out;
}
/// 16-bit values, or one half of pairs: from bit `shift` on.
template <Cmp c, typename V, int shift = 0> uint32_t compareHalf(Warp &w, const Instruction &in) {
  const uint32_t *a = w.reg<uint32_t>(in.op[2]), *b = w.reg<uint32_t>(in.op[3]);
  uint32_t out = 0;
  for (int l = 0; l < 32; ++l)
    out |= uint32_t(compare<c, float>(V(a[l] >> shift).v, V(b[l] >> shift).v)) << l;
  return out;
}
template <Cmp c> uint32_t compareFtz(Warp &w, const Instruction &in) {
  const float *a = w.reg<float>(in.op[2]), *b = w.reg<float>(in.op[3]);
  uint32_t out = 0;
  for (int l = 0; l < 32; ++l)
    out |= uint32_t(compare<c, float>(flush(a[l]), flush(b[l]))) << l;
  return out;
}

using MaskFn = uint32_t (*)(Warp &, const Instruction &);

/// With the predicate of op[4]. flags: bits 1:0 (0 not, 1 and, 2 or, 3 xor), bit 2 negates it.
uint32_t combined(const Warp &w, const Instruction &in, uint32_t r) {
  if (!(in.flags & 3))
    return r;
  uint32_t c = in.flags & 4 ? ~w.preds[in.op[4]] : w.preds[in.op[4]];
  return (in.flags & 3) == 1 ? r & c : (in.flags & 3) == 2 ? r | c : r ^ c;
}

template <MaskFn mask> Outcome setp(Warp &w, const Instruction &in) {
  uint32_t r = mask(w, in), other = combined(w, in, ~r);
  r = combined(w, in, r);
  if (in.op[0] != kNone)
    w.preds[in.op[0]] = (w.preds[in.op[0]] & ~w.mask) | (r & w.mask);
  if (in.op[1] != kNone)
    w.preds[in.op[1]] = (w.preds[in.op[1]] & ~w.mask) | (other & w.mask);
  return Outcome::next;
}
/// Pairs: the first predicate is the lower half's, the second the upper's.
template <MaskFn low, MaskFn high> Outcome setpPair(Warp &w, const Instruction &in) {
  const uint32_t r[2] = {combined(w, in, low(w, in)), combined(w, in, high(w, in))};
  for (int half = 0; half < 2; ++half)
    if (Operand p = in.op[half]; p != kNone)
      w.preds[p] = (w.preds[p] & ~w.mask) | (r[half] & w.mask);
  return Outcome::next;
}
// set; imm: what stands for true, ones or 1.0
template <MaskFn mask> Outcome setValue(Warp &w, const Instruction &in) {
  uint32_t r = combined(w, in, mask(w, in));
  uint32_t *d = w.reg<uint32_t>(in.op[0]);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    d[l] = r >> l & 1 ? uint32_t(in.imm) : 0;
  }
  return Outcome::next;
}

/// Pairs: a half each, where imm is what one half holds.
template <MaskFn low, MaskFn high> Outcome setPair(Warp &w, const Instruction &in) {
  const uint32_t r[2] = {combined(w, in, low(w, in)), combined(w, in, high(w, in))};
  uint32_t *d = w.reg<uint32_t>(in.op[0]);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    d[l] = (r[0] >> l & 1 ? uint32_t(in.imm) : 0) | (r[1] >> l & 1 ? uint32_t(in.imm) << 16 : 0);
  }
  return Outcome::next;
}

template <Cmp c> struct Table {
  template <template <MaskFn, MaskFn> class Wrap> static Handler pick(Type t, bool ftz) {
    constexpr bool floatOnly = c >= equ;
    if constexpr (!floatOnly) {
      switch (t) {
      case Type::u16:
        return Wrap<compareMask<c, uint16_t>, nullptr>::value;
      case Type::s16:
        return Wrap<compareMask<c, int16_t>, nullptr>::value;
      case Type::b16:
        return Wrap<compareMask<c, uint16_t>, nullptr>::value;
      case Type::u32:
      case Type::b32:
        return Wrap<compareMask<c, uint32_t>, nullptr>::value;
      case Type::s32:
        return Wrap<compareMask<c, int32_t>, nullptr>::value;
      case Type::u64:
      case Type::b64:
        return Wrap<compareMask<c, uint64_t>, nullptr>::value;
      case Type::s64:
        return Wrap<compareMask<c, int64_t>, nullptr>::value;
      default:
        break;
      }
    }
    switch (t) {
    case Type::f32:
      return ftz ? Wrap<compareFtz<c>, nullptr>::value
                 : Wrap<compareMask<c, float>, nullptr>::value;
    case Type::f64:
      return Wrap<compareMask<c, double>, nullptr>::value;
    case Type::f16:
      return ftz ? Wrap<compareHalf<c, FlushedF16Value>, nullptr>::value
                 : Wrap<compareHalf<c, F16Value>, nullptr>::value;
    case Type::bf16:
      return Wrap<compareHalf<c, Bf16Value>, nullptr>::value;
    case Type::f16x2:
      return ftz ? Wrap<compareHalf<c, FlushedF16Value>, compareHalf<c, FlushedF16Value, 16>>::value
                 : Wrap<compareHalf<c, F16Value>, compareHalf<c, F16Value, 16>>::value;
    case Type::bf16x2:
      return Wrap<compareHalf<c, Bf16Value>, compareHalf<c, Bf16Value, 16>>::value;
    default:
      return nullptr;
    }
  }
};
/// The handler of a comparison, or of one of pairs.
template <MaskFn low, MaskFn high> struct SetpOf {
  static constexpr LaneHandler value = forHost<setpPair<low, high>>;
};
template <MaskFn mask> struct SetpOf<mask, nullptr> {
  static constexpr LaneHandler value = forHost<setp<mask>>;
};
template <MaskFn low, MaskFn high> struct SetOf {
  static constexpr LaneHandler value = forHost<setPair<low, high>>;
};
template <MaskFn mask> struct SetOf<mask, nullptr> {
  static constexpr LaneHandler value = forHost<setValue<mask>>;
};

template <template <MaskFn, MaskFn> class Wrap> Handler pickCompare(int c, Type t, bool ftz) {
  switch (c) {
#define BLOCKSCALE_CASE(x)                                                                         \
  case x:                                                                                          \
    return Table<x>::template pick<Wrap>(t, ftz);
    // clang-format off
    BLOCKSCALE_CASE(eq)
    BLOCKSCALE_CASE(ne)
    BLOCKSCALE_CASE(lt)
    BLOCKSCALE_CASE(le)
    BLOCKSCALE_CASE(gt)
    BLOCKSCALE_CASE(ge)
    BLOCKSCALE_CASE(lo)
    BLOCKSCALE_CASE(ls)
    BLOCKSCALE_CASE(hi)
    BLOCKSCALE_CASE(hs)
    BLOCKSCALE_CASE(equ)
    BLOCKSCALE_CASE(neu)
    BLOCKSCALE_CASE(ltu)
    BLOCKSCALE_CASE(leu)
    BLOCKSCALE_CASE(gtu)
    BLOCKSCALE_CASE(geu)
    BLOCKSCALE_CASE(num)
    BLOCKSCALE_CASE(nan)
    // clang-format on
#undef BLOCKSCALE_CASE
  default:
    return nullptr;
  }
}

int takeCompare(Decoder &d) {
  for (int i = 0; i < 18; ++i)
    if (d.take(kCmpNames[i]))
      return i;
  d.fail("ptx_modifier: " + d.raw->opcode + " must have a comparison");
  return -1;
}

/// The third operand of a comparison that combines.
void takeCombined(Decoder &d, int combine, Instruction &in) {
  if (combine < 0)
    return;
  bool negated = false;
  in.op[4] = d.predicate(d.operand(3), false, &negated);
  in.flags = uint32_t(combine + 1) | uint32_t(negated) << 2;
}

bool decodeSetp(Decoder &d) {
  int c = takeCompare(d);
  int combine = d.takeOneOf({"and", "or", "xor"});
  bool ftz = d.take("ftz");
  Type t = d.takeType();
  if (c < 0 || !d.expectOperands(combine < 0 ? 3 : 4))
    return false;
  Instruction in;
  in.run = pickCompare<SetpOf>(c, t, ftz);
  const PtxOperand &dest = d.operand(0);
  if (dest.kind != PtxOperand::Kind::sink)
    in.op[0] = d.predicateNamed(dest.name);
  if (!dest.pair.empty() && dest.pair != "_")
    in.op[1] = d.predicateNamed(dest.pair);
  in.op[2] = d.source(1, t);
  in.op[3] = d.source(2, t);
  takeCombined(d, combine, in);
  d.emit(in);
  return in.run && d.error.empty();
}

/// What `set` writes for true: of pairs, to one half.
uint32_t truthOf(Type result, Type compared) {
  switch (result) {
  case Type::f32:
    return 0x3F800000;
  case Type::f16:
  case Type::f16x2:
    return 0x3C00;
  case Type::bf16:
  case Type::bf16x2:
    return 0x3F80;
  case Type::u16:
  case Type::s16:
    return 0xFFFF;
  default:
    return compared == Type::f16x2 || compared == Type::bf16x2 ? 0xFFFF : 0xFFFFFFFF;
  }
}

bool decodeSet(Decoder &d) {
  int c = takeCompare(d);
  int combine = d.takeOneOf({"and", "or", "xor"});
  bool ftz = d.take("ftz");
  Type r = d.takeType(), t = d.takeType();
  if (c < 0 || !d.expectOperands(combine < 0 ? 3 : 4))
    return false;
  Instruction in;
  in.run = pickCompare<SetOf>(c, t, ftz);
  in.imm = truthOf(r, t);
  in.op[0] = d.dest(0, r);
  in.op[2] = d.source(1, t);
  in.op[3] = d.source(2, t);
  takeCombined(d, combine, in);
  d.emit(in);
  return in.run && d.error.empty();
}

/// A table, since SSE4.1 shifts all lanes by one count only.
constexpr std::array<uint32_t, 32> kLaneBits = [] {
  std::array<uint32_t, 32> bits{};
  for (unsigned l = 0; l < 32; ++l)
    bits[l] = 1u << l;
  return bits;
}();

template <typename T> Outcome selp(Warp &w, const Instruction &in) {
  T *d = w.lanes<T>(in.op[0]);
  const T *a = w.lanes<T>(in.op[1]), *b = w.lanes<T>(in.op[2]);
  uint32_t p = w.preds[in.op[3]];
  if (in.flags & 1)
    p = ~p;
  if (w.mask == ~0u) {
    forAllLanes([&](int l) {
      T x = a[l], y = b[l]; // both, or the choice would be one of addresses
      d[l] = p & kLaneBits[l] ? x : y;
    });
  } else {
    for (uint32_t m = w.mask; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      d[l] = p >> l & 1 ? a[l] : b[l];
    }
  }
  return Outcome::next;
}
bool decodeSelp(Decoder &d) {
  Type t = d.takeType();
  if (!d.expectOperands(4))
    return false;
  Instruction in;
  in.run = bits(t) == 64   ? forHost<selp<uint64_t>>
           : bits(t) <= 32 ? forHost<selp<uint32_t>>
                           : nullptr;
  in.op[0] = d.dest(0, t);
  in.op[1] = d.source(1, t);
  in.op[2] = d.source(2, t);
  bool negated = false;
  in.op[3] = d.predicate(d.operand(3), false, &negated);
  in.flags = negated;
  d.emit(in);
  return in.run && d.error.empty();
}

template <typename T, typename C, bool ftz = false> Outcome slct(Warp &w, const Instruction &in) {
  T *d = w.reg<T>(in.op[0]);
  const T *a = w.reg<T>(in.op[1]), *b = w.reg<T>(in.op[2]);
  const C *c = w.reg<C>(in.op[3]);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    C selector = c[l];
    if constexpr (ftz)
      selector = flush(selector);
    d[l] = selector >= 0 ? a[l] : b[l];
  }
  return Outcome::next;
}
bool decodeSlct(Decoder &d) {
  bool ftz = d.take("ftz");
  Type t = d.takeType(), c = d.takeType();
  if ((c != Type::s32 && c != Type::f32) || bits(t) > 64 || !d.expectOperands(4))
    return false;
  Instruction in;
  bool wide = bits(t) == 64, real = c == Type::f32;
  in.run = wide ? (real ? slct<uint64_t, float> : slct<uint64_t, int32_t>)
                : (real ? slct<uint32_t, float> : slct<uint32_t, int32_t>);
  if (ftz && real) // a negative subnormal counts as zero
    in.run = wide ? slct<uint64_t, float, true> : slct<uint32_t, float, true>;
  in.op[0] = d.dest(0, t);
  in.op[1] = d.source(1, t);
  in.op[2] = d.source(2, t);
  in.op[3] = d.source(3, c);
  d.emit(in);
  return d.error.empty();
}

} // namespace

DecodeFn findCompare(std::string_view opcode) {
  static const std::unordered_map<std::string_view, DecodeFn> kTable{
      {"setp", decodeSetp}, {"set", decodeSet}, {"selp", decodeSelp}, {"slct", decodeSlct}};
  auto it = kTable.find(opcode);
  return it == kTable.end() ? nullptr : it->second;
}

} // namespace blockscale::emu
