//===- Barrier.cpp - bar, barrier, barrier.cluster, fence, membar ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.15.1 to 9.7.15.4. Memory is sequentially consistent here, so
// fences order nothing that is not ordered already; what they would have been
// needed for is the business of the hazard checks.
//
//===----------------------------------------------------------------------===//

#include "AsyncOps.h"
#include "BarrierReduce.h"
#include "Hazards/Hazards.h"
#include "Lanes.h"
#include "MemberMask.h"

namespace blockscale::emu {
namespace {

constexpr unsigned kNamedBarriers = 16;

// Without a count all threads of the CTA take part.
Outcome named(Warp &w, const Instruction &in) {
  uint32_t id = w.uniform<uint32_t>(in.op[0]);
  if (id >= kNamedBarriers)
    return w.fail(in, "bar_id: barrier must be 0..15, got " + dec(id));
  uint32_t expected = in.op[1] == kNone ? 0 : w.uniform<uint32_t>(in.op[1]);
  if (in.op[1] != kNone && (expected == 0 || expected % 32))
    return w.fail(in, "bar_count: thread count of barrier " + dec(id) +
                          " must be a multiple of 32, got " + dec(expected));
  NamedBarrier &b = w.cta->named[id];
  if (b.arrived && b.expected != expected)
    return w.fail(in, Fault("bar_count: thread count of barrier " + dec(id) + " must be " +
                            dec(b.expected) + " as for others, got " + dec(expected))
                          .against("the last arrival", b.line));
  b.expected = expected;
  // A warp that is not full counts as a whole when a count is given.
  uint32_t arriving = uint32_t(std::popcount(w.mask));
  if (expected && w.mask == w.full)
    arriving = 32;
  b.arrived += arriving;
  if (w.hazards)
    w.hazards->namedArrive(w, id, /*waits=*/!(in.flags & 1));
  uint64_t generation = b.generation;
  uint32_t need = expected ? expected : w.cta->liveThreads;
  if (b.arrived > need)
    return w.fail(in, Fault("bar_count: barrier " + dec(id) + " must have " + dec(need) +
                            " threads, got " + dec(b.arrived))
                          .against("the arrival before", b.line));
  b.line = in.line;
  if (b.arrived == need) {
    w.cta->completeNamed(id);
    return Outcome::next;
  }
  ++w.cta->cluster->progress;
  if (in.flags & 1) // arrive
    return Outcome::next;
  return w.block(Wait::Kind::named, /*advance=*/true, id, generation);
}

Outcome warpSync(Warp &w, const Instruction &) {
  if (w.hazards)
    w.hazards->warpSync(w);
  return Outcome::next;
}

// sub: FenceKind
Outcome fence(Warp &w, const Instruction &in) {
  if (w.hazards)
    w.hazards->fence(w, FenceKind(in.sub));
  return Outcome::next;
}

// op: 0 address; flags: 1 wide
Outcome acquireMap(Warp &w, const Instruction &in) {
  if (!w.hazards)
    return Outcome::next;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    uint64_t address = addressAt(w, in.op[0], in.flags & 1, in.imm, __builtin_ctz(m));
    classify(address, address);
    w.hazards->mapAcquired(w, m & -m, address);
  }
  return Outcome::next;
}

Outcome clusterArrive(Warp &w, const Instruction &in) {
  Cluster &c = *w.cta->cluster;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    if (w.clusterPhase[l] != kNoArrival)
      return w.fail(
          in, Fault("cluster_arrive: thread must wait between two arrivals at the cluster barrier")
                  .against("the first arrival", w.clusterLine));
    w.clusterPhase[l] = c.clusterGeneration;
  }
  w.clusterLine = in.line;
  if (w.hazards)
    w.hazards->clusterArrive(w, Order(in.sub));
  c.clusterArrived += uint32_t(std::popcount(w.mask));
  ++c.progress;
  c.clusterCheck();
  return Outcome::next;
}
Outcome clusterWait(Warp &w, const Instruction &in) {
  uint64_t generation = w.clusterPhase[w.leader()];
  if (generation == kNoArrival)
    return w.fail(in, "cluster_wait: thread must arrive at the cluster barrier before it waits");
  if (w.cta->cluster->clusterGeneration == generation)
    return w.block(Wait::Kind::cluster, false, 0, generation);
  for (uint32_t m = w.mask; m; m &= m - 1)
    w.clusterPhase[__builtin_ctz(m)] = kNoArrival;
  if (w.hazards)
    w.hazards->clusterWait(w, Order(in.sub));
  return Outcome::next;
}

bool decodeCluster(Decoder &d) {
  int kind = d.takeOneOf({"arrive", "wait"});
  int order = d.takeOneOf({"release", "acquire", "relaxed"});
  bool aligned = d.take("aligned");
  Instruction in;
  in.sub = uint8_t(order == 2 ? Order::relaxed : kind == 0 ? Order::release : Order::acquire);
  in.run = kind == 0 ? clusterArrive : kind == 1 ? clusterWait : nullptr;
  in.converge = aligned ? Converge::allLive : Converge::no;
  d.emit(in);
  return in.run && d.expectOperands(0);
}

bool decodeBarrier(Decoder &d) {
  if (d.take("cluster"))
    return decodeCluster(d);
  if (d.take("warp")) { // bar.warp.sync
    if (!d.take("sync") || !d.expectOperands(1))
      return false;
    Instruction in;
    in.run = perMemberMask<warpSync>;
    in.converge = Converge::memberMask;
    in.op[0] = d.source(0, Type::b32);
    d.emit(in);
    return d.error.empty();
  }
  d.take("cta");
  if (d.take("red"))
    return decodeBarrierReduce(d, named);
  int kind = d.takeOneOf({"sync", "arrive"});
  bool aligned = d.take("aligned") || d.raw->opcode == "bar";
  if (kind < 0)
    return false;
  if (d.count() < 1 || d.count() > 2 || (kind == 1 && d.count() != 2))
    return d.fail("ptx_operands: " + d.raw->opcode + " must have a barrier and a thread count");
  if (auto n = d.immediate(d.operand(0)); n && *n < 0) // a register shows as unsigned
    return d.fail("bar_id: barrier must be 0..15, got " + dec(*n));
  Instruction in;
  in.run = named;
  in.flags = kind == 1;
  in.converge = aligned ? Converge::allLive : Converge::no;
  in.op[0] = d.source(0, Type::b32);
  if (d.count() == 2)
    in.op[1] = d.source(1, Type::b32);
  d.emit(in);
  return d.error.empty();
}

bool decodeFence(Decoder &d) {
  Instruction in;
  in.run = fence;
  in.sub = uint8_t(FenceKind::thread);
  if (d.raw->opcode == "membar") {
    if (d.take("proxy"))
      in.sub =
          uint8_t(d.takeOneOf({"alias", "async"}) == 1 ? FenceKind::proxyAsync : FenceKind::none);
    else if (int scope = d.takeOneOf({"cta", "gl", "sys"}); scope < 0)
      return false;
    else if (scope > 0) {
      d.kernel.talksThroughGlobal = true;
      in.sub = uint8_t(FenceKind::threadWide);
    }
    d.emit(in);
    return d.expectOperands(0);
  }
  if (d.take("mbarrier_init")) {
    in.sub = uint8_t(FenceKind::mbarrierInit);
    if (!d.take("release") || !d.take("cluster"))
      return false;
  } else if (d.take("proxy")) {
    bool tensormap = d.take("tensormap::generic");
    bool generic = d.take("async::generic");
    if (tensormap || generic) {
      const bool acquires = d.takeOneOf({"release", "acquire"}) == 1;
      int part = d.takeOneOf({"sync_restrict::shared::cta", "sync_restrict::shared::cluster",
                              "sync_restrict::shared::cluster::read"});
      d.takeOneOf({"cta", "cluster", "gpu", "sys"});
      in.sub = uint8_t(!generic    ? FenceKind::tensormapRelease
                       : part < 0  ? FenceKind::proxyAsync
                       : part == 0 ? FenceKind::proxyAsyncCta
                                   : FenceKind::proxyAsyncCluster);
      if (tensormap && acquires) {
        if (!d.expectOperands(2))
          return false;
        AddressOperand a = d.address(d.operand(0));
        in.run = acquireMap;
        in.op[0] = a.base;
        in.imm = a.offset;
        in.flags = a.wide;
      }
    } else {
      int which = d.takeOneOf({"alias", "async"});
      if (which < 0)
        return false;
      constexpr FenceKind kSpaces[] = {FenceKind::proxyAsync, FenceKind::proxyAsyncGlobal,
                                       FenceKind::proxyAsyncCta, FenceKind::proxyAsyncCluster};
      int space = d.takeOneOf({"global", "shared::cta", "shared::cluster"});
      in.sub = uint8_t(which == 1 ? kSpaces[space + 1] : FenceKind::none);
    }
    d.emit(in);
    return d.error.empty();
  } else {
    d.takeOneOf({"sc", "acq_rel", "acquire", "release"});
    d.takeOneOf({"sync_restrict::shared::cluster", "sync_restrict::shared::cta"});
    int scope = d.takeOneOf({"cta", "cluster", "gpu", "sys"});
    if (scope < 0)
      return false;
    if (scope >= 2) {
      d.kernel.talksThroughGlobal = true;
      in.sub = uint8_t(FenceKind::threadWide);
    }
  }
  d.emit(in);
  return d.expectOperands(0);
}

} // namespace

DecodeFn findBarrier(std::string_view opcode) {
  if (opcode == "bar" || opcode == "barrier")
    return decodeBarrier;
  if (opcode == "fence" || opcode == "membar")
    return decodeFence;
  return nullptr;
}

} // namespace blockscale::emu
