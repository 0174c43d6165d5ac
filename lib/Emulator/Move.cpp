//===- Move.cpp - mov, cvta, isspacep, mapa -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.1 to 9.7.10.23.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <cstring>

namespace blockscale::emu {
namespace {

struct Copy {
  template <typename T> static T run(T a) { return a; }
};

Outcome movPred(Warp &w, const Instruction &in) {
  uint32_t v = w.preds[in.op[1]];
  if (in.flags & 1)
    v = ~v;
  w.preds[in.op[0]] = (w.preds[in.op[0]] & ~w.mask) | (v & w.mask);
  return Outcome::next;
}

// op[1]: a special register, of which any bit stands for true
Outcome movSpecialPred(Warp &w, const Instruction &in) {
  const uint32_t *v = w.reg<uint32_t>(in.op[1]);
  uint32_t yes = 0;
  for (uint32_t m = w.mask; m; m &= m - 1)
    yes |= uint32_t(v[__builtin_ctz(m)] != 0) << __builtin_ctz(m);
  w.preds[in.op[0]] = (w.preds[in.op[0]] & ~w.mask) | yes;
  return Outcome::next;
}

Outcome movClock(Warp &w, const Instruction &in) {
  uint64_t now = w.cta->cluster->steps * 64 + w.executed / 32;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    if (in.sub == 64)
      w.reg<uint64_t>(in.op[0])[l] = now;
    else
      w.reg<uint32_t>(in.op[0])[l] = uint32_t(in.sub == 32 ? now : now >> 32);
  }
  return Outcome::yield; // somebody who watches the clock waits
}

/// Parts of `partBytes` each in lists[list..] to or from one register.
template <bool unpack> Outcome movParts(Warp &w, const Instruction &in) {
  unsigned part = in.sub;
  const Operand *parts = w.kernel->lists.data() + in.list;
  unsigned whole = laneBytes(RegClass(in.flags & 3));
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint8_t bytes[16] = {};
    uint8_t *reg = w.reg<uint8_t>(in.op[0]) + unsigned(l) * whole;
    if (unpack)
      std::memcpy(bytes, reg, whole);
    for (unsigned i = 0; i < in.listCount; ++i) {
      if (parts[i] == kNone)
        continue;
      unsigned stored = part <= 4 ? 4 : part;
      uint8_t *p = w.reg<uint8_t>(parts[i]) + unsigned(l) * stored;
      if (unpack) {
        uint64_t v = 0;
        std::memcpy(&v, bytes + i * part, part);
        std::memcpy(p, &v, stored);
      } else {
        std::memcpy(bytes + i * part, p, part);
      }
    }
    if (!unpack)
      std::memcpy(reg, bytes, whole);
  }
  return Outcome::next;
}

// The pairs that epilogues use all the time.
Outcome packPair32(Warp &w, const Instruction &in) {
  uint64_t *d = w.reg<uint64_t>(in.op[0]);
  const Operand *p = w.kernel->lists.data() + in.list;
  const uint32_t *lo = w.reg<uint32_t>(p[0]), *hi = w.reg<uint32_t>(p[1]);
  if (w.mask == ~0u) {
    forAllLanes([&](int l) { d[l] = uint64_t(hi[l]) << 32 | lo[l]; });
    return Outcome::next;
  }
  return movParts<false>(w, in);
}

bool decodeParts(Decoder &d, Type t, bool unpack) {
  const PtxOperand &list = d.operand(unpack ? 0 : 1);
  size_t n = list.items.size();
  unsigned total = bits(t);
  if ((n != 2 && n != 4) || total / n < 8 || total % n)
    return d.fail("ptx_operand: vector of mov must have 2 or 4 parts");
  unsigned part = unsigned(total / n);
  Type partType = part == 8    ? Type::b8
                  : part == 16 ? Type::b16
                  : part == 32 ? Type::b32
                               : Type::b64;
  Instruction in;
  in.run = unpack ? movParts<true> : movParts<false>;
  in.sub = uint8_t(part / 8);
  in.op[0] = unpack ? d.source(d.operand(1), t) : d.dest(d.operand(0), t);
  in.flags = uint32_t(regClass(total));
  std::vector<Operand> parts;
  for (const PtxOperand &o : list.items)
    parts.push_back(unpack ? d.sinkOr(o, partType) : d.source(o, partType));
  if (!d.error.empty())
    return false;
  in.list = uint32_t(d.kernel.lists.size());
  in.listCount = uint32_t(n);
  d.kernel.lists.insert(d.kernel.lists.end(), parts.begin(), parts.end());
  if (!unpack && n == 2 && part == 32)
    in.run = forHost<packPair32>;
  d.emit(in);
  return true;
}

bool decodeMov(Decoder &d) {
  Type t = d.takeType();
  if (!d.expectOperands(2))
    return false;
  if (d.operand(0).kind == PtxOperand::Kind::vector)
    return decodeParts(d, t, true);
  if (d.operand(1).kind == PtxOperand::Kind::vector)
    return decodeParts(d, t, false);
  Instruction in;
  if (t == Type::pred) {
    bool negated = false;
    in.run = movPred;
    in.op[0] = d.predicate(d.operand(0), true);
    if (d.operand(1).name == "%is_explicit_cluster") {
      if (!facts::supports(d.arch, facts::Feature::clusters))
        return d.fail("ptx_target: %is_explicit_cluster must have a target with clusters, got " +
                      std::string(facts::name(d.arch)));
      in.run = movSpecialPred;
      in.op[1] = d.explicitCluster();
    } else {
      in.op[1] = d.predicate(d.operand(1), false, &negated);
    }
    in.flags = negated;
    if (!d.error.empty() || in.op[0] == kNone)
      return false;
    d.emit(in);
    return true;
  }
  const std::string &n = d.operand(1).name;
  if (n == "%clock" || n == "%clock_hi" || n == "%clock64" || n == "%globaltimer" ||
      n == "%globaltimer_lo" || n == "%globaltimer_hi") {
    in.run = movClock;
    d.kernel.readsClock = true;
    in.sub = bits(t) == 64 ? 64 : n.find("_hi") != std::string::npos ? 33 : 32;
    in.op[0] = d.dest(0, t);
    d.emit(in);
    return d.error.empty();
  }
  if (bits(t) == 128) {
    in.run = unaryLanes<Copy, unsigned __int128>;
  } else {
    in.run = bits(t) == 64 ? unaryLanes<Copy, uint64_t> : unaryLanes<Copy, uint32_t>;
  }
  in.op[0] = d.dest(0, t);
  in.op[1] = d.source(1, t);
  d.emit(in);
  return d.error.empty();
}

template <int mode> struct Window {
  static constexpr uint64_t base = mode == 1 ? kSharedWindow : mode == 2 ? kLocalWindow : 0;
  static uint64_t run(uint64_t a) { return a + base; }
};
/// A 32-bit register holds the offset of a parameter only.
struct ParamWindow {
  static uint64_t run(uint64_t a) { return a | kParamWindow; }
};
template <int mode> struct FromWindow {
  static uint64_t run(uint64_t a) { return a - Window<mode>::base; }
};

bool decodeCvta(Decoder &d) {
  bool to = d.take("to");
  int space = d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster", "local", "param",
                           "param::entry", "const"});
  Type t = d.takeType();
  if (space < 0 || t != Type::u64 || !d.expectOperands(2))
    return false;
  Instruction in;
  if (space >= 1 && space <= 3)
    in.run = to ? unaryLanes<FromWindow<1>, uint64_t> : unaryLanes<Window<1>, uint64_t>;
  else if (space == 4)
    in.run = to ? unaryLanes<FromWindow<2>, uint64_t> : unaryLanes<Window<2>, uint64_t>;
  else if ((space == 5 || space == 6) && !to)
    in.run = unaryLanes<ParamWindow, uint64_t>;
  else
    in.run = unaryLanes<Copy, uint64_t>;
  in.op[0] = d.dest(0, t);
  in.op[1] = d.source(1, t);
  d.emit(in);
  return d.error.empty();
}

Outcome isspacep(Warp &w, const Instruction &in) {
  const uint64_t *a = w.reg<uint64_t>(in.op[1]);
  uint32_t r = 0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t address;
    Space s = classify(a[l], address);
    bool yes = false;
    switch (in.sub) {
    case 0:
      yes = s == Space::global && !w.launch->module.isConstant(address);
      break;
    case 1:
    case 2:
      yes = s == Space::sharedCluster && (address >> kClusterShift) == w.cta->rank;
      break;
    case 3:
      yes = s == Space::sharedCluster;
      break;
    case 4:
      yes = s == Space::local;
      break;
    case 7:
      yes = s == Space::global && w.launch->module.isConstant(address);
      break;
    default:
      yes = s == Space::param;
      break;
    }
    r |= uint32_t(yes) << l;
  }
  w.preds[in.op[0]] = (w.preds[in.op[0]] & ~w.mask) | r;
  return Outcome::next;
}
bool decodeIsspacep(Decoder &d) {
  int space = d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster", "local", "param",
                           "param::entry", "const"});
  if (space < 0 || !d.expectOperands(2))
    return false;
  Instruction in;
  in.run = isspacep;
  in.sub = uint8_t(space);
  in.op[0] = d.predicate(d.operand(0), true);
  in.op[1] = d.source(1, Type::u64);
  if (!d.error.empty() || in.op[0] == kNone)
    return false;
  d.emit(in);
  return true;
}

// mapa: the same offset in another CTA of the cluster.
template <typename T, bool generic> Outcome mapa(Warp &w, const Instruction &in) {
  T *d = w.reg<T>(in.op[0]);
  const T *a = w.reg<T>(in.op[1]);
  const uint32_t *rank = w.reg<uint32_t>(in.op[2]);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    if (rank[l] >= w.cta->cluster->ctas.size())
      return w.fail(in, "mapa_rank: rank must be below the cluster's " +
                            dec(int64_t(w.cta->cluster->ctas.size())) + " CTAs, got " +
                            dec(rank[l]));
    uint64_t offset = (generic ? a[l] - kSharedWindow : a[l]) & kSharedOffsetMask;
    d[l] = T((generic ? kSharedWindow : 0) + (uint64_t(rank[l]) << kClusterShift | offset));
  }
  return Outcome::next;
}
bool decodeMapa(Decoder &d) {
  bool shared = d.take("shared::cluster");
  Type t = d.takeType();
  if (!d.expectOperands(3) || !isInteger(t))
    return false;
  Instruction in;
  if (shared)
    in.run = t == Type::u32 ? mapa<uint32_t, false> : mapa<uint64_t, false>;
  else
    in.run = t == Type::u64 ? mapa<uint64_t, true> : nullptr;
  in.op[0] = d.dest(0, t);
  in.op[1] = d.source(1, t);
  in.op[2] = d.source(2, Type::u32);
  d.emit(in);
  return in.run && d.error.empty();
}
template <typename T, bool generic> Outcome getctarank(Warp &w, const Instruction &in) {
  uint32_t *d = w.reg<uint32_t>(in.op[0]);
  const T *a = w.reg<T>(in.op[1]);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    d[l] = uint32_t((generic ? a[l] - kSharedWindow : a[l]) >> kClusterShift);
  }
  return Outcome::next;
}
bool decodeGetctarank(Decoder &d) {
  bool shared = d.take("shared::cluster");
  Type t = d.takeType();
  if (!d.expectOperands(2))
    return false;
  Instruction in;
  in.run = shared ? (t == Type::u32 ? getctarank<uint32_t, false> : getctarank<uint64_t, false>)
                  : getctarank<uint64_t, true>;
  in.op[0] = d.dest(0, Type::u32);
  in.op[1] = d.source(1, t);
  d.emit(in);
  return d.error.empty();
}

} // namespace

DecodeFn findMove(std::string_view opcode) {
  static const std::unordered_map<std::string_view, DecodeFn> kTable{
      {"mov", decodeMov},
      {"cvta", decodeCvta},
      {"isspacep", decodeIsspacep},
      {"mapa", decodeMapa},
      {"getctarank", decodeGetctarank}};
  auto it = kTable.find(opcode);
  return it == kTable.end() ? nullptr : it->second;
}

} // namespace blockscale::emu
