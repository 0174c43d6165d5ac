//===- WarpOps.cpp - elect, shfl, vote, match, redux, activemask ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.6, 9.7.15.7 to 9.7.15.15.
//
//===----------------------------------------------------------------------===//

#include "Float.h"
#include "Lanes.h"
#include "MemberMask.h"

namespace blockscale::emu {
namespace {

/// The elected lane is the lowest of the member mask, every time.
Outcome elect(Warp &w, const Instruction &in) {
  unsigned lane = w.leader();
  if (in.op[0] != kNone) {
    uint32_t *d = w.reg<uint32_t>(in.op[0]);
    for (uint32_t m = w.mask; m; m &= m - 1)
      d[__builtin_ctz(m)] = lane;
  }
  if (in.op[1] != kNone)
    w.preds[in.op[1]] = (w.preds[in.op[1]] & ~w.mask) | (1u << lane);
  return Outcome::next;
}
bool decodeElect(Decoder &d) {
  if (!d.take("sync") || !d.expectOperands(2))
    return false;
  Instruction in;
  in.run = perMemberMask<elect>;
  in.converge = Converge::memberMask;
  in.memberOp = 2;
  const PtxOperand &dest = d.operand(0);
  if (dest.kind != PtxOperand::Kind::sink) {
    PtxOperand plain = dest;
    plain.pair.clear();
    in.op[0] = d.dest(plain, Type::b32);
  }
  in.op[1] = d.predicateNamed(dest.pair);
  in.op[2] = d.source(1, Type::b32);
  d.emit(in);
  return d.error.empty();
}

// sub: 0 up, 1 down, 2 bfly, 3 idx
Outcome shfl(Warp &w, const Instruction &in) {
  uint32_t *d = w.reg<uint32_t>(in.op[0]);
  const uint32_t *a = w.reg<uint32_t>(in.op[2]), *b = w.reg<uint32_t>(in.op[3]),
                 *c = w.reg<uint32_t>(in.op[4]);
  uint32_t out[32], inRange = 0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    int bval = int(b[l] & 0x1F), cval = int(c[l] & 0x1F), mask = int(c[l] >> 8 & 0x1F);
    int maxLane = (l & mask) | (cval & ~mask), minLane = l & mask, j = 0;
    bool ok = false;
    switch (in.sub) {
    case 0:
      j = l - bval;
      ok = j >= maxLane;
      break;
    case 1:
      j = l + bval;
      ok = j <= maxLane;
      break;
    case 2:
      j = l ^ bval;
      ok = j <= maxLane;
      break;
    default:
      j = minLane | (bval & ~mask);
      ok = j <= maxLane;
      break;
    }
    if (!ok)
      j = l;
    out[l] = a[j & 31];
    inRange |= uint32_t(ok) << l;
  }
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    d[l] = out[l];
  }
  if (in.op[1] != kNone)
    w.preds[in.op[1]] = (w.preds[in.op[1]] & ~w.mask) | inRange;
  return Outcome::next;
}
bool decodeShfl(Decoder &d) {
  bool sync = d.take("sync");
  int mode = d.takeOneOf({"up", "down", "bfly", "idx"});
  if (!sync || mode < 0 || d.takeType() != Type::b32 || !d.expectOperands(5))
    return false;
  Instruction in;
  in.run = perMemberMask<shfl>;
  in.sub = uint8_t(mode);
  PtxOperand dest = d.operand(0);
  if (!dest.pair.empty())
    in.op[1] = d.predicateNamed(dest.pair);
  dest.pair.clear();
  in.op[0] = d.dest(dest, Type::b32);
  in.op[2] = d.source(1, Type::b32);
  in.op[3] = d.source(2, Type::b32);
  in.op[4] = d.source(3, Type::b32);
  in.op[5] = d.source(4, Type::b32);
  in.converge = Converge::memberMask;
  in.memberOp = 5;
  d.emit(in);
  return d.error.empty();
}

// sub: 0 all, 1 any, 2 uni, 3 ballot
Outcome vote(Warp &w, const Instruction &in) {
  uint32_t members = w.uniform<uint32_t>(in.op[2]) & w.live;
  uint32_t p = w.preds[in.op[1]];
  if (in.flags & 1)
    p = ~p;
  p &= members & w.mask;
  if (in.sub == 3) {
    uint32_t *d = w.reg<uint32_t>(in.op[0]);
    for (uint32_t m = w.mask; m; m &= m - 1)
      d[__builtin_ctz(m)] = p;
    return Outcome::next;
  }
  uint32_t all = members & w.mask;
  bool r = in.sub == 0 ? p == all : in.sub == 1 ? p != 0 : (p == all || p == 0);
  w.preds[in.op[0]] = (w.preds[in.op[0]] & ~w.mask) | (r ? w.mask : 0);
  return Outcome::next;
}
bool decodeVote(Decoder &d) {
  bool sync = d.take("sync");
  int mode = d.takeOneOf({"all", "any", "uni", "ballot"});
  Type t = d.takeType();
  if (!sync || mode < 0 || !d.expectOperands(3))
    return false;
  Instruction in;
  in.run = perMemberMask<vote>;
  in.sub = uint8_t(mode);
  if (mode == 3)
    in.op[0] = d.dest(0, t);
  else
    in.op[0] = d.predicate(d.operand(0), true);
  bool negated = false;
  in.op[1] = d.predicate(d.operand(1), false, &negated);
  in.flags = negated;
  in.op[2] = d.source(2, Type::b32);
  in.converge = Converge::memberMask;
  in.memberOp = 2;
  d.emit(in);
  return d.error.empty() && in.op[0] != kNone;
}

enum class Reduce : uint8_t { add, min, max, andOp, orOp, xorOp };
template <typename T> Outcome redux(Warp &w, const Instruction &in) {
  const T *a = w.reg<T>(in.op[1]);
  uint32_t members = w.mask;
  T r = a[w.leader()];
  for (uint32_t m = members & (members - 1); m; m &= m - 1) {
    T v = a[__builtin_ctz(m)];
    if constexpr (std::is_floating_point_v<T>) {
      bool nan = in.flags & 1;
      if (in.flags & 2) {
        r = r < 0 ? -r : r;
        v = v < 0 ? -v : v;
      }
      if (r != r || v != v)
        r = nan ? std::bit_cast<float>(kNan32) : r != r ? v : r;
      else
        r = Reduce(in.sub) == Reduce::min ? (v < r ? v : r) : (v > r ? v : r);
    } else {
      switch (Reduce(in.sub)) {
      case Reduce::add:
        r = T(uint32_t(r) + uint32_t(v));
        break;
      case Reduce::min:
        r = v < r ? v : r;
        break;
      case Reduce::max:
        r = v > r ? v : r;
        break;
      case Reduce::andOp:
        r &= v;
        break;
      case Reduce::orOp:
        r |= v;
        break;
      case Reduce::xorOp:
        r ^= v;
        break;
      }
    }
  }
  T *d = w.reg<T>(in.op[0]);
  for (uint32_t m = w.mask; m; m &= m - 1)
    d[__builtin_ctz(m)] = r;
  return Outcome::next;
}
bool decodeRedux(Decoder &d) {
  bool sync = d.take("sync");
  int op = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  bool abs = d.take("abs"), nan = d.take("NaN");
  Type t = d.takeType();
  if (!sync || op < 0 || !d.expectOperands(3))
    return false;
  Instruction in;
  in.sub = uint8_t(op);
  in.flags = uint32_t(nan) | uint32_t(abs) << 1;
  in.run = t == Type::s32                       ? perMemberMask<redux<int32_t>>
           : (t == Type::u32 || t == Type::b32) ? perMemberMask<redux<uint32_t>>
                                                : nullptr;
  if (t == Type::f32 && (op == 1 || op == 2))
    in.run = perMemberMask<redux<float>>;
  in.op[0] = d.dest(0, t);
  in.op[1] = d.source(1, t);
  in.op[2] = d.source(2, Type::b32);
  in.converge = Converge::memberMask;
  in.memberOp = 2;
  d.emit(in);
  return in.run && d.error.empty();
}

Outcome activemask(Warp &w, const Instruction &in) {
  uint32_t *d = w.reg<uint32_t>(in.op[0]);
  for (uint32_t m = w.mask; m; m &= m - 1)
    d[__builtin_ctz(m)] = w.mask;
  return Outcome::next;
}
bool decodeActivemask(Decoder &d) {
  if (d.takeType() != Type::b32 || !d.expectOperands(1))
    return false;
  Instruction in;
  in.run = activemask;
  in.op[0] = d.dest(0, Type::b32);
  d.emit(in);
  return d.error.empty();
}

// match: lanes with the same value.
template <typename T> Outcome match(Warp &w, const Instruction &in) {
  const T *a = w.reg<T>(in.op[2]);
  uint32_t out[32];
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    out[l] = 0;
    for (uint32_t o = w.mask; o; o &= o - 1)
      out[l] |= uint32_t(a[__builtin_ctz(o)] == a[l]) << __builtin_ctz(o);
  }
  uint32_t *d = w.reg<uint32_t>(in.op[0]);
  bool all = in.sub == 1;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    d[l] = all && out[l] != w.mask ? 0 : out[l];
  }
  if (in.op[1] != kNone)
    w.preds[in.op[1]] = (w.preds[in.op[1]] & ~w.mask) | (out[w.leader()] == w.mask ? w.mask : 0);
  return Outcome::next;
}
bool decodeMatch(Decoder &d) {
  int mode = d.takeOneOf({"any", "all"});
  bool sync = d.take("sync");
  Type t = d.takeType();
  if (mode < 0 || !sync || !d.expectOperands(3))
    return false;
  Instruction in;
  in.sub = uint8_t(mode);
  in.run = t == Type::b32   ? perMemberMask<match<uint32_t>>
           : t == Type::b64 ? perMemberMask<match<uint64_t>>
                            : nullptr;
  PtxOperand dest = d.operand(0);
  if (!dest.pair.empty())
    in.op[1] = d.predicateNamed(dest.pair);
  dest.pair.clear();
  in.op[0] = d.dest(dest, Type::b32);
  in.op[2] = d.source(1, t);
  in.op[3] = d.source(2, Type::b32);
  in.converge = Converge::memberMask;
  in.memberOp = 3;
  d.emit(in);
  return in.run && d.error.empty();
}

} // namespace

DecodeFn findWarpOps(std::string_view opcode) {
  static const std::unordered_map<std::string_view, DecodeFn> kTable{
      {"elect", decodeElect},
      {"shfl", decodeShfl},
      {"vote", decodeVote},
      {"redux", decodeRedux},
      {"activemask", decodeActivemask},
      {"match", decodeMatch}};
  auto it = kTable.find(opcode);
  return it == kTable.end() ? nullptr : it->second;
}

} // namespace blockscale::emu
