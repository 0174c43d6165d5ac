//===- Mbarrier.cpp - mbarrier.* ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.15.16. A failed try_wait suspends the fragment until the phase
// is over; a failed test_wait lets others run and goes on.
//
//===----------------------------------------------------------------------===//

#include "Mbarrier.h"

#include "blockscale/Facts/Features.h"

#include "Hazards/Hazards.h"
#include "Lanes.h"

#include <cstring>

namespace blockscale::emu {

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

MbarrierState MbarrierState::unpack(uint64_t word) {
  MbarrierState s;
  s.phase = uint32_t(word >> 63);
  s.pending = int32_t((0 - (word >> 43)) & 0xFFFFF);
  int32_t tx = int32_t((0 - (word >> 21)) & 0x1FFFFF);
  s.tx = tx >= 1 << 20 ? tx - (1 << 21) : tx;
  s.expected = int32_t(word & 0xFFFFF);
  return s;
}

uint64_t MbarrierState::pack() const {
  return uint64_t(phase) << 63 | (uint64_t(0u - uint32_t(pending)) & 0xFFFFF) << 43 |
         (uint64_t(0u - uint32_t(tx)) & 0x1FFFFF) << 21 | (uint64_t(uint32_t(expected)) & 0xFFFFF);
}

namespace {

struct Place {
  Cta *cta = nullptr;
  uint64_t offset = 0;
  MbarrierState state;
  void save() {
    uint64_t word = state.pack(), before;
    std::memcpy(&before, cta->shared.data() + offset, 8);
    if (cta->cluster->hazards && (word ^ before) >> 63)
      cta->cluster->hazards->barrierPhaseEnded(uint64_t(cta->rank) << kClusterShift | offset);
    std::memcpy(cta->shared.data() + offset, &word, 8);
    ++cta->cluster->progress;
  }
};

std::string find(const Cta &any, uint64_t address, Place &place) {
  place.cta = any.cluster->ctaOf(address);
  place.offset = address & kSharedOffsetMask;
  if (!place.cta || place.offset < kSharedBase || place.offset + 8 > place.cta->shared.size())
    return "mbar_address: mbarrier must lie in shared memory, got " + hex(address);
  if (!place.cta->liveThreads && place.cta != &any)
    return "cluster_exited: CTA of an mbarrier must not have exited, got " + hex(address);
  if (place.offset % 8)
    return "mbar_align: mbarrier must lie at a multiple of 8 bytes, got " + hex(address);
  if (!place.cta->isBarrier(place.offset))
    return "mbar_init: mbarrier must be initialised, got " + hex(address);
  uint64_t word;
  std::memcpy(&word, place.cta->shared.data() + place.offset, 8);
  place.state = MbarrierState::unpack(word);
  return {};
}

std::string addTx(Place &p, uint64_t address, int64_t bytes) {
  int64_t tx = p.state.tx + bytes;
  if (tx > MbarrierState::kMaxTx || tx < -MbarrierState::kMaxTx)
    return "mbar_tx: transaction bytes must stay within +-" + dec(MbarrierState::kMaxTx) +
           ", got " + dec(tx) + " at " + hex(address);
  p.state.tx = int32_t(tx);
  return {};
}

} // namespace

bool mbarrierPhaseDone(const Cta &cta, uint64_t address, bool parity) {
  uint64_t offset = address & kSharedOffsetMask;
  const Cta *owner = cta.cluster->ctaOf(address);
  if (!owner || !owner->isBarrier(offset))
    return true;
  uint64_t word;
  std::memcpy(&word, owner->shared.data() + offset, 8);
  return (word >> 63) != uint64_t(parity);
}

std::string mbarrierCompleteTx(Cta &any, uint64_t address, uint32_t bytes) {
  Place p;
  if (std::string e = find(any, address, p); !e.empty())
    return e;
  if (std::string e = addTx(p, address, -int64_t(bytes)); !e.empty())
    return e;
  if (any.cluster->hazards)
    any.cluster->hazards->barrierSignalled(address);
  p.state.complete();
  p.save();
  return {};
}

std::string mbarrierArrive(Cta &any, uint64_t address, uint32_t count, int64_t expectTx,
                           bool drop) {
  Place p;
  if (std::string e = find(any, address, p); !e.empty())
    return e;
  if (expectTx)
    if (std::string e = addTx(p, address, expectTx); !e.empty())
      return e;
  if (int64_t(count) > p.state.pending)
    return "mbar_arrivals: arrivals must be at most the pending " + dec(p.state.pending) +
           ", got " + dec(count) + " at " + hex(address);
  if (drop)
    p.state.expected -= int32_t(count);
  p.state.pending -= int32_t(count);
  if (any.cluster->hazards)
    any.cluster->hazards->barrierSignalled(address);
  p.state.complete();
  p.save();
  return {};
}

std::string mbarrierAddPending(Cta &any, uint64_t address, uint32_t count) {
  Place p;
  if (std::string e = find(any, address, p); !e.empty())
    return e;
  if (p.state.pending + int64_t(count) > MbarrierState::kMaxCount)
    return "mbar_count: pending count must be at most " + dec(MbarrierState::kMaxCount);
  p.state.pending += int32_t(count);
  p.save();
  return {};
}

std::string mbarrierDescribe(const Cta &cta, uint64_t address) {
  Place p;
  std::string e = find(cta, address, p);
  if (!e.empty())
    return "mbarrier " + hex(address);
  return "mbarrier " + hex(address) + " (phase parity " + dec(p.state.phase) + ", pending " +
         dec(p.state.pending) + " of " + dec(p.state.expected) + ", " + dec(p.state.tx) + " bytes)";
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {

enum : uint32_t {
  kWideBase = 1,
  kGeneric = 2,
  kDrop = 4,
  kExpect = 8,
  kNoinc = 16,
  kParity = 32,
  kTry = 64,
  kOwn = 128
};

/// The cluster address of lane l's barrier; false when refused.
bool barrierAddress(Warp &w, const Instruction &in, Operand base, int l, uint64_t &address) {
  address = (in.flags & kWideBase ? w.reg<uint64_t>(base)[l] : w.reg<uint32_t>(base)[l]) +
            uint64_t(in.imm);
  if (in.flags & kGeneric) {
    if (classify(address, address) != Space::sharedCluster) {
      w.fail(in, "mbar_address: mbarrier must lie in shared memory, got generic address " +
                     hex(address));
      return false;
    }
  }
  if ((in.flags & kOwn) && (address >> kClusterShift) != w.cta->rank) {
    w.fail(in,
           "mbar_address: mbarrier must lie in the CTA's own shared memory, got " + hex(address));
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
    if (count == 0 || count > uint32_t(MbarrierState::kMaxCount))
      return w.fail(in, "mbar_count: count must be 1.." + dec(MbarrierState::kMaxCount) + ", got " +
                            dec(count));
    if (address % 8)
      return w.fail(in,
                    "mbar_align: mbarrier must lie at a multiple of 8 bytes, got " + hex(address));
    Cta *owner = nullptr;
    uint8_t *p = w.resolveShared(in, address, 8, &owner);
    if (!p)
      return Outcome::error;
    MbarrierState s;
    s.expected = s.pending = int32_t(count);
    uint64_t word = s.pack();
    std::memcpy(p, &word, 8);
    owner->barrierLive[(address & kSharedOffsetMask) / 8] = 1;
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
    if (std::string e = find(*w.cta, address, p); !e.empty())
      return w.fail(in, e);
    if (w.hazards)
      w.hazards->barrierInval(w, in, unsigned(__builtin_ctz(m)), address);
    p.cta->barrierLive[p.offset / 8] = 0;
  }
  return Outcome::next;
}

uint64_t stateToken(Warp &w, uint64_t address) {
  Place p;
  return find(*w.cta, address, p).empty() ? p.state.pack() : 0;
}

// op: 0 state or none, 1 barrier, 2 count or bytes, 3 count of expect_tx
Outcome arrive(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t address;
    if (!barrierAddress(w, in, in.op[1], l, address))
      return Outcome::error;
    uint64_t token = in.op[0] == kNone ? 0 : stateToken(w, address);
    uint32_t value = in.op[2] == kNone ? 1 : w.reg<uint32_t>(in.op[2])[l];
    if (w.hazards)
      w.hazards->barrierArrive(w, in, unsigned(l), address, Order(in.sub));
    std::string e = in.flags & kExpect
                        ? mbarrierArrive(*w.cta, address, 1, value, in.flags & kDrop)
                        : mbarrierArrive(*w.cta, address, value, 0, in.flags & kDrop);
    if (!e.empty())
      return w.fail(in, e);
    if (in.op[0] != kNone)
      w.reg<uint64_t>(in.op[0])[l] = token;
  }
  return Outcome::next;
}

Outcome expectTx(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t address;
    if (!barrierAddress(w, in, in.op[1], l, address))
      return Outcome::error;
    Place p;
    std::string e = find(*w.cta, address, p);
    int64_t bytes = w.reg<uint32_t>(in.op[2])[l];
    if (w.hazards)
      w.hazards->barrierUse(w, in, unsigned(l), address);
    if (e.empty())
      e = addTx(p, address, in.sub ? -bytes : bytes);
    if (!e.empty())
      return w.fail(in, e);
    // An expect_tx that brings a negative count back to zero completes too (measured).
    p.state.complete();
    p.save();
  }
  return Outcome::next;
}

Outcome pendingCount(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    w.reg<uint32_t>(in.op[0])[l] =
        uint32_t(MbarrierState::unpack(w.reg<uint64_t>(in.op[1])[l]).pending);
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
    w.hazards->barrierWaited(w, in, same, first, Order(in.sub));
  }
}

// op: 0 predicate, 1 barrier, 2 parity or state; sub: order
Outcome wait(Warp &w, const Instruction &in) {
  uint32_t done = 0;
  uint64_t address = 0, waited[32];
  bool parity = false;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t a;
    if (!barrierAddress(w, in, in.op[1], l, a))
      return Outcome::error;
    Place p;
    if (std::string e = find(*w.cta, a, p); !e.empty())
      return w.fail(in, e);
    bool x =
        in.flags & kParity ? w.reg<uint32_t>(in.op[2])[l] & 1 : w.reg<uint64_t>(in.op[2])[l] >> 63;
    if (mbarrierPhaseDone(*w.cta, a, x)) {
      done |= 1u << l;
      waited[l] = a;
    } else {
      address = a;
      parity = x;
    }
  }
  // Lanes that all fail sleep together until one barrier changes.
  if (!done && (in.flags & kTry))
    return w.block(Wait::Kind::mbarrier, false, address, parity);
  if (w.hazards)
    tellWaited(w, in, done, waited);
  w.preds[in.op[0]] = (w.preds[in.op[0]] & ~w.mask) | done;
  return done == w.mask ? Outcome::next : Outcome::yield;
}

bool takeBarrier(Decoder &d, size_t i, Instruction &in, Operand &base) {
  AddressOperand a = d.address(d.operand(i));
  base = a.base;
  in.imm = a.offset;
  in.flags |= a.wide ? uint32_t(kWideBase) : 0;
  return d.error.empty();
}

bool decodeMbarrier(Decoder &d) {
  if (!facts::covers(d.arch, facts::ArchSet{facts::Arch::sm_80}) &&
      !facts::supports(d.arch, facts::Feature::cpAsync))
    return d.fail("ptx_target: mbarrier must have a target from sm_80, got " +
                  std::string(facts::name(d.arch)));
  int kind = d.takeOneOf({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx",
                          "test_wait", "try_wait", "pending_count"});
  Instruction in;
  bool expect = kind >= 2 && kind <= 3 && d.take("expect_tx");
  bool noComplete = d.take("noComplete");
  bool parity = d.take("parity");
  int order = d.takeOneOf({"release", "acquire", "relaxed"});
  d.takeOneOf({"cta", "cluster"});
  int space = d.takeOneOf({"shared", "shared::cta", "shared::cluster"});
  if (space < 0)
    in.flags |= kGeneric;
  if (d.takeType() != Type::b64 || noComplete)
    return false;
  switch (kind) {
  case 0:
    in.run = init;
    in.flags |= kOwn;
    if (!d.expectOperands(2) || !takeBarrier(d, 0, in, in.op[0]))
      return false;
    in.op[1] = d.source(1, Type::u32);
    break;
  case 1:
    in.run = inval;
    in.flags |= kOwn;
    if (!d.expectOperands(1) || !takeBarrier(d, 0, in, in.op[0]))
      return false;
    break;
  case 2:
  case 3: {
    in.run = arrive;
    in.sub = uint8_t(order == 2 ? Order::relaxed : Order::release);
    in.flags |= (expect ? uint32_t(kExpect) : 0) | (kind == 3 ? uint32_t(kDrop) : 0);
    size_t n = d.count(), first = d.operand(0).kind == PtxOperand::Kind::address ? 0 : 1;
    if (n < first + 1 || n > first + 2 || (expect && n != first + 2))
      return d.fail("ptx_operands: mbarrier.arrive must have a barrier" +
                    std::string(expect ? " and transaction bytes" : ""));
    if (first && d.operand(0).kind != PtxOperand::Kind::sink)
      in.op[0] = d.dest(0, Type::b64);
    if (!takeBarrier(d, first, in, in.op[1]))
      return false;
    if (n == first + 2)
      in.op[2] = d.source(first + 1, Type::u32);
    break;
  }
  case 4:
  case 5:
    in.run = expectTx;
    in.sub = kind == 5;
    if (!d.expectOperands(2) || !takeBarrier(d, 0, in, in.op[1]))
      return false;
    in.op[2] = d.source(1, Type::u32);
    break;
  case 6:
  case 7: {
    in.run = wait;
    in.sub = uint8_t(order == 2 ? Order::relaxed : Order::acquire);
    in.flags |= (kind == 7 ? uint32_t(kTry) : 0) | (parity ? uint32_t(kParity) : 0) | kOwn;
    if (d.count() != 3 && !(kind == 7 && d.count() == 4))
      return d.expectOperands(3);
    in.op[0] = d.predicate(d.operand(0), true);
    if (in.op[0] == kNone || !takeBarrier(d, 1, in, in.op[1]))
      return false;
    in.op[2] = d.source(2, parity ? Type::u32 : Type::b64);
    if (d.count() == 4)
      d.source(3, Type::u32); // the time limit of the suspension: a hint
    break;
  }
  case 8:
    in.run = pendingCount;
    if (!d.expectOperands(2))
      return false;
    in.op[0] = d.dest(0, Type::u32);
    in.op[1] = d.source(1, Type::b64);
    break;
  default:
    return false;
  }
  d.emit(in);
  return d.error.empty();
}

} // namespace

DecodeFn findMbarrier(std::string_view opcode) {
  return opcode == "mbarrier" ? decodeMbarrier : nullptr;
}

} // namespace blockscale::emu
