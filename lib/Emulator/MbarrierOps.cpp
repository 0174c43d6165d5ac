//===- MbarrierOps.cpp - mbarrier.* ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.15.16. A failed try_wait suspends the fragment until the phase
// is over; a failed test_wait lets others run and goes on.
//
//===----------------------------------------------------------------------===//

#include "MbarrierPlace.h"

#include "blockscale/Facts/Features.h"

#include "Hazards/Hazards.h"
#include "Lanes.h"
#include "Polls.h"

#include <cstring>
#include <utility>

namespace blockscale::emu {

using namespace mbarrier;

namespace {

enum : uint32_t {
  kWideBase = 1,
  kGeneric = 2,
  kDrop = 4,
  kExpect = 8,
  kNoinc = 16,
  kParity = 32,
  kTry = 64,
  kOwn = 128,
  kNoComplete = 256,
  kLayoutV1 = 512,
  kClusterScope = 1 << 16
};

Outcome wait(Warp &w, const Instruction &in);

/// The cluster address of lane l's barrier; false when refused.
bool barrierAddress(Warp &w, const Instruction &in, Operand base, int l, uint64_t &address) {
  address = (in.flags & kWideBase ? w.reg<uint64_t>(base)[l] : w.reg<uint32_t>(base)[l]) +
            uint64_t(in.imm);
  if (in.flags & kGeneric) {
    if (classify(address, address) != Space::sharedCluster) {
      w.fail(in, Fault("mbar_address: mbarrier must lie in shared memory, got generic address " +
                       hex(address))
                     .at(globalBytes(address, kBytes)));
      return false;
    }
  }
  if ((in.flags & kOwn) && (address >> kClusterShift) != w.cta->rank) {
    w.fail(in, Fault((in.run == wait ? "mbar_wait: mbarrier of a wait" : "mbar_address: mbarrier") +
                     std::string(" must lie in the CTA's own shared memory, got ") + hex(address))
                   .at(sharedBytes(address, kBytes)));
    return false;
  }
  return true;
}

Outcome init(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t address;
    if (!barrierAddress(w, in, in.op[0], l, address))
      return Outcome::error;
    uint32_t count = w.reg<uint32_t>(in.op[1])[l];
    MbarrierLayout layout = in.flags & kLayoutV1 ? MbarrierLayout::v1 : MbarrierLayout::v0;
    if (count == 0 || count > uint32_t(maxCount(layout)))
      return w.fail(
          in, Fault("mbar_count: count must be 1.." + dec(maxCount(layout)) + ", got " + dec(count))
                  .at(sharedBytes(address, kBytes)));
    if (address % kBytes)
      return w.fail(
          in, Fault("mbar_align: mbarrier must lie at a multiple of 8 bytes, got " + hex(address))
                  .at(sharedBytes(address, kBytes)));
    Cta *owner = nullptr;
    uint8_t *p = w.resolveShared(in, address, 8, &owner);
    if (!p)
      return Outcome::error;
    MbarrierState s;
    s.expected = s.pending = int32_t(count);
    uint64_t word = s.pack();
    std::memcpy(p, &word, 8);
    owner->barrierLive[(address & kSharedOffsetMask) / 8] = uint8_t(layout);
    owner->transactions.erase(address & kSharedOffsetMask);
    if (w.hazards)
      w.hazards->barrierInit(w, in, unsigned(l), address);
    ++w.cta->cluster->progress;
  }
  return Outcome::next;
}

Outcome inval(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    uint64_t address;
    if (!barrierAddress(w, in, in.op[0], __builtin_ctz(m), address))
      return Outcome::error;
    Place p;
    if (Fault e = find(*w.cta, address, p); !e.empty())
      return w.fail(in, e);
    if (w.hazards)
      w.hazards->barrierInval(w, in, unsigned(__builtin_ctz(m)), address);
    p.cta->barrierLive[p.offset / 8] = 0;
  }
  return Outcome::next;
}

uint64_t stateToken(Warp &w, uint64_t address) {
  Place p;
  if (!find(*w.cta, address, p).empty())
    return 0;
  const uint64_t word = p.state.pack();
  return w.hazards ? w.hazards->stampState(word, address) : word;
}

/// The barriers of a lane: with a mask (op[3]) the same offset in several CTAs.
bool eachBarrier(Warp &w, const Instruction &in, int l, const std::function<Fault(uint64_t)> &act) {
  uint64_t address;
  if (!barrierAddress(w, in, in.op[1], l, address))
    return false;
  auto one = [&](uint64_t a) {
    Fault e = act(a);
    if (!e.empty())
      w.fail(in, e);
    return e.empty();
  };
  if (in.op[3] == kNone)
    return one(address);
  uint32_t mask = w.reg<uint32_t>(in.op[3])[l];
  if (!mask || (mask >> 1 >> (w.cta->cluster->ctas.size() - 1))) {
    w.fail(in, "mbar_multicast: mask must name CTAs of the cluster of " +
                   dec(int64_t(w.cta->cluster->ctas.size())) + ", got " + hex(mask));
    return false;
  }
  for (; mask; mask &= mask - 1)
    if (!one(uint64_t(__builtin_ctz(mask)) << kClusterShift | (address & kSharedOffsetMask)))
      return false;
  return true;
}

// op: 0 state or none, 1 barrier, 2 count or bytes, 3 mask of CTAs or none
Outcome arrive(Warp &w, const Instruction &in) {
  const Arrival arrival = Arrival((in.flags & kDrop ? 1 : 0) + (in.flags & kNoComplete ? 2 : 0));
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint32_t value = in.op[2] == kNone ? 1 : w.reg<uint32_t>(in.op[2])[l];
    uint64_t token = 0;
    bool done = eachBarrier(w, in, l, [&](uint64_t address) -> Fault {
      if (in.op[0] != kNone) {
        if (address >> kClusterShift != w.cta->rank)
          return on(*w.cta, address,
                    "mbar_state: an arrival that returns a state must be at a barrier of the own "
                    "CTA, got " +
                        hex(address));
        token = stateToken(w, address) | (isNoComplete(arrival) ? mbarrier_state::kCounted : 0);
      }
      if (w.hazards)
        w.hazards->barrierArrive(w, in, unsigned(l), address, Order(in.sub),
                                 in.flags & kClusterScope);
      return in.flags & kExpect ? mbarrierArrive(*w.cta, address, 1, value, arrival)
                                : mbarrierArrive(*w.cta, address, value, 0, arrival);
    });
    if (!done)
      return Outcome::error;
    if (in.op[0] != kNone)
      w.reg<uint64_t>(in.op[0])[l] = token;
  }
  return Outcome::next;
}

// op: as of arrive; sub: complete_tx
Outcome expectTx(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    int64_t bytes = w.reg<uint32_t>(in.op[2])[l];
    bool done = eachBarrier(w, in, l, [&](uint64_t address) {
      Place p;
      Fault e = find(*w.cta, address, p);
      if (w.hazards)
        w.hazards->barrierUse(w, in, unsigned(l), address);
      if (e.empty())
        e = addTx(p, address, in.sub ? -bytes : bytes);
      if (!e.empty())
        return e;
      // An expect_tx that brings a negative count back to zero completes too (measured).
      p.state.complete();
      p.save();
      return e;
    });
    if (!done)
      return Outcome::error;
  }
  return Outcome::next;
}

Outcome pendingCount(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t state = w.reg<uint64_t>(in.op[1])[l];
    if (!(state & mbarrier_state::kCounted))
      return w.fail(in,
                    "mbar_state: state of mbarrier.pending_count must come from an arrival with "
                    ".noComplete, got " +
                        hex(state));
    w.reg<uint32_t>(in.op[0])[l] = uint32_t(MbarrierState::unpack(state).pending);
  }
  return Outcome::next;
}

// op: 0 predicate, 1 barrier
Outcome checkLayout(Warp &w, const Instruction &in) {
  const MbarrierLayout asked = in.flags & kLayoutV1 ? MbarrierLayout::v1 : MbarrierLayout::v0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    bool done = eachBarrier(w, in, l, [&](uint64_t address) {
      Place p;
      Fault e = find(*w.cta, address, p);
      if (w.hazards)
        w.hazards->barrierUse(w, in, unsigned(l), address);
      if (e.empty())
        w.preds[in.op[0]] = (w.preds[in.op[0]] & ~(1u << l)) | uint32_t(p.layout() == asked) << l;
      return e;
    });
    if (!done)
      return Outcome::error;
  }
  return Outcome::next;
}

/// Tells the hazard checks of lanes that saw their phase end, those of one barrier together.
void tellWaited(Warp &w, const Instruction &in, uint32_t lanes, const uint64_t *address) {
  while (lanes) {
    uint64_t first = address[__builtin_ctz(lanes)];
    uint32_t same = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
      if (address[__builtin_ctz(m)] == first)
        same |= m & -m;
    lanes &= ~same;
    // Who does not look whether the phase is over does not know it.
    const bool isSeen = w.kernel->reads(in.op[0]);
    w.hazards->barrierWaited(w, in, same, first, isSeen ? Order(in.sub) : Order::weak,
                             in.flags & kClusterScope);
  }
}

/// The time limit of a try_wait ends where nothing else happens any more, and now and then.
bool isTimeOver(Warp &w, bool expired) {
  constexpr uint64_t kTries = 8; // of which one gives up
  return expired ||
         (w.launch->options.timing == Timing::random && w.cta->cluster->random() % kTries == 0);
}

// op: 0 predicate, 1 barrier, 2 parity or state, 4 predicate and 5 value of the report, or
// none; sub: order
Outcome wait(Warp &w, const Instruction &in) {
  const bool expired = std::exchange(w.fragment().expired, false);
  uint32_t done = 0;
  uint64_t address = 0, waited[32];
  bool parity = false;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t a;
    if (!barrierAddress(w, in, in.op[1], l, a))
      return Outcome::error;
    Place p;
    if (Fault e = find(*w.cta, a, p); !e.empty())
      return w.fail(in, e);
    bool x = false;
    if (in.flags & kParity) {
      const uint32_t value = w.reg<uint32_t>(in.op[2])[l];
      if (value > 1)
        return w.fail(in, on(*w.cta, a, "mbar_parity: parity must be 0 or 1, got " + dec(value)));
      x = value;
    } else {
      const uint64_t state = w.reg<uint64_t>(in.op[2])[l];
      if (w.hazards)
        w.hazards->stateAsked(w, in, a, state);
      x = state >> 63;
    }
    if (mbarrierPhaseDone(*w.cta, a, x)) {
      done |= 1u << l;
      waited[l] = a;
    } else {
      address = a;
      parity = x;
    }
  }
  // Lanes that all fail sleep together until one barrier changes.
  if (!done && (in.flags & kTry) && !isTimeOver(w, expired))
    return w.block(Wait::Kind::mbarrier, false, address, parity);
  if (w.hazards)
    tellWaited(w, in, done, waited);
  w.preds[in.op[0]] = (w.preds[in.op[0]] & ~w.mask) | done;
  // Nothing reports failures, so the report of a phase that is over is zero.
  if (in.op[4] != kNone)
    w.preds[in.op[4]] &= ~done;
  if (in.op[5] != kNone)
    for (uint32_t m = done; m; m &= m - 1)
      w.reg<uint32_t>(in.op[5])[__builtin_ctz(m)] = 0;
  return done == w.mask ? Outcome::next : Outcome::yield;
}

bool takeBarrier(Decoder &d, size_t i, Instruction &in, Operand &base) {
  AddressOperand a = d.address(d.operand(i));
  base = a.base;
  in.imm = a.offset;
  in.flags |= a.wide ? uint32_t(kWideBase) : 0;
  return d.error.empty();
}

/// What the forms do not say of operands. PTX ISA 9.4, 9.7.15.16.16 and .17.
bool decodeArrive(Decoder &d, Instruction &in, bool expect, bool multicast, bool atCluster) {
  const bool first = d.operand(0).kind != PtxOperand::Kind::address;
  const bool isSink = first && d.operand(0).kind == PtxOperand::Kind::sink;
  const std::string what = "mbarrier." + d.raw->modifiers[0];
  if (!first)
    return d.fail("ptx_operands: " + what + " must have a state or _ and a barrier");
  if ((atCluster || multicast) && !isSink)
    return d.fail("ptx_operand: " + what + " must have _ for its state in shared::cluster");
  size_t n = d.count() - (multicast ? 1 : 0);
  const bool counted = in.flags & kNoComplete;
  if (d.count() < (multicast ? 3u : 2u) || n > 3 || ((expect || counted) && n != 3))
    return d.fail("ptx_operands: " + what + " must have a barrier" +
                  (expect    ? " and transaction bytes"
                   : counted ? " and a count"
                             : "") +
                  (multicast ? " and a mask" : ""));
  if (!isSink)
    in.op[0] = d.dest(0, Type::b64);
  if (!takeBarrier(d, 1, in, in.op[1]))
    return false;
  if (n == 3) {
    if (!expect && !counted && !facts::supports(d.arch, facts::Feature::clusters))
      return d.fail("ptx_target: a count without .noComplete must have a target from sm_90, got " +
                    std::string(facts::name(d.arch)));
    in.op[2] = d.source(2, Type::u32);
  }
  if (multicast)
    in.op[3] = d.source(n, Type::b32);
  return d.error.empty();
}

/// `complete`, `complete|report` or `complete|report, value`, then barrier and phase.
bool decodeWait(Decoder &d, Instruction &in, bool parity, bool isTry) {
  const PtxOperand &target = d.operand(0);
  const bool paired = !target.pair.empty();
  const bool primary = d.take("phase_type::primary"),
             conditional = d.take("phase_type::conditional");
  if (conditional && !parity)
    return d.fail("ptx_modifier: .phase_type::conditional must have .parity");
  if (paired && !primary)
    return d.fail("ptx_operand: a report must have .phase_type::primary");
  const bool valued = paired && d.count() > 1 && d.operand(1).kind != PtxOperand::Kind::address;
  const size_t at = valued ? 2 : 1;
  if (d.count() != at + 2 && !(isTry && d.count() == at + 3))
    return d.expectOperands(at + 2);
  in.op[0] = d.predicate(target, true);
  if (paired && target.pair != "_")
    in.op[4] = d.predicateNamed(target.pair);
  if (valued)
    in.op[5] = d.dest(1, Type::b8);
  if (!d.error.empty() || in.op[0] == kNone || !takeBarrier(d, at, in, in.op[1]))
    return false;
  in.op[2] = d.source(at + 1, parity ? Type::u32 : Type::b64);
  if (d.count() == at + 3)
    d.source(at + 2, Type::u32); // the time limit of the suspension: a hint
  return d.error.empty();
}

bool decodeMbarrier(Decoder &d) {
  if (!facts::covers(d.arch, facts::ArchSet{facts::Arch::sm_80}) &&
      !facts::supports(d.arch, facts::Feature::cpAsync))
    return d.fail("ptx_target: mbarrier must have a target from sm_80, got " +
                  std::string(facts::name(d.arch)));
  int kind = d.takeOneOf({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx",
                          "test_wait", "try_wait", "pending_count", "check_layout"});
  Instruction in;
  const bool expect = kind >= 2 && kind <= 3 && d.take("expect_tx");
  if (d.take("noComplete"))
    in.flags |= kNoComplete;
  const bool parity = d.take("parity");
  if (d.takeOneOf({"layout::v0", "layout::v1"}) == 1)
    in.flags |= kLayoutV1;
  int order = d.takeOneOf({"release", "acquire", "relaxed"});
  if (d.takeOneOf({"cta", "cluster"}) == 1)
    in.flags |= kClusterScope;
  const bool multicast = d.take("multicast::cluster::32b");
  int space = d.takeOneOf({"shared", "shared::cta", "shared::cluster"});
  if (space < 0)
    in.flags |= kGeneric;
  bool decoded = false;
  switch (kind) {
  case 0:
    in.run = init;
    in.flags |= kOwn;
    if (!d.expectOperands(2) || !takeBarrier(d, 0, in, in.op[0]))
      return false;
    in.op[1] = d.source(1, Type::u32);
    decoded = true;
    break;
  case 1:
    in.run = inval;
    in.flags |= kOwn;
    decoded = d.expectOperands(1) && takeBarrier(d, 0, in, in.op[0]);
    break;
  case 2:
  case 3:
    in.run = arrive;
    in.sub = uint8_t(order == 2 ? Order::relaxed : Order::release);
    in.flags |= (expect ? uint32_t(kExpect) : 0) | (kind == 3 ? uint32_t(kDrop) : 0);
    decoded = decodeArrive(d, in, expect, multicast, /*atCluster=*/space == 2);
    break;
  case 4:
  case 5:
    in.run = expectTx;
    in.sub = kind == 5;
    if (!d.expectOperands(multicast ? 3 : 2) || !takeBarrier(d, 0, in, in.op[1]))
      return false;
    in.op[2] = d.source(1, Type::u32);
    if (multicast)
      in.op[3] = d.source(2, Type::b32);
    decoded = true;
    break;
  case 6:
  case 7:
    in.run = wait;
    in.sub = uint8_t(order == 2 ? Order::relaxed : Order::acquire);
    in.flags |= (kind == 7 ? uint32_t(kTry) : 0) | (parity ? uint32_t(kParity) : 0) | kOwn;
    decoded = decodeWait(d, in, parity, kind == 7);
    break;
  case 8:
    in.run = pendingCount;
    if (!d.expectOperands(2))
      return false;
    in.op[0] = d.dest(0, Type::u32);
    in.op[1] = d.source(1, Type::b64);
    decoded = true;
    break;
  case 9:
    in.run = checkLayout;
    in.flags |= kOwn;
    if (!d.expectOperands(2))
      return false;
    in.op[0] = d.predicate(d.operand(0), true);
    decoded = in.op[0] != kNone && takeBarrier(d, 1, in, in.op[1]);
    break;
  default:
    return false;
  }
  if (!decoded || d.takeType() != Type::b64)
    return false;
  d.emit(in);
  return d.error.empty();
}

} // namespace

Polled polledBarrier(Warp &w, const Instruction &in, uint32_t lanes) {
  for (uint32_t m = in.run == wait ? lanes : 0; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t address;
    if (!barrierAddress(w, in, in.op[1], l, address))
      return {};
    const bool parity =
        in.flags & kParity ? w.reg<uint32_t>(in.op[2])[l] & 1 : w.reg<uint64_t>(in.op[2])[l] >> 63;
    if (!mbarrierPhaseDone(*w.cta, address, parity))
      return {3, " tests parity " + dec(int64_t(parity)) + " of " +
                     mbarrierDescribe(*w.cta, address) +
                     (w.hazards ? w.hazards->missingSignals(address) : std::string())};
  }
  return {};
}

DecodeFn findMbarrier(std::string_view opcode) {
  return opcode == "mbarrier" ? decodeMbarrier : nullptr;
}

} // namespace blockscale::emu
