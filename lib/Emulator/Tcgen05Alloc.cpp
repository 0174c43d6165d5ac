//===- Tcgen05Alloc.cpp - tcgen05.alloc, dealloc, relinquish_alloc_permit -===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.18.7.1. With .cta_group::2 one warp of each CTA of the pair
// executes the instruction; it waits until the other has come.
//
//===----------------------------------------------------------------------===//

#include "Hazards/Hazards.h"
#include "Tcgen05.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {
namespace {

using Kind = PairCall::Kind;
enum : uint32_t { kWide = 1, kGeneric = 2, kPair = 4 };

const char *nameOf(Kind kind) {
  return kind == Kind::alloc     ? "tcgen05.alloc"
         : kind == Kind::dealloc ? "tcgen05.dealloc"
                                 : "tcgen05.relinquish_alloc_permit";
}

Outcome waitForMemory(Warp &w) {
  return w.block(Wait::Kind::tmemAlloc, false, 0, w.cta->cluster->progress);
}

/// Checks what a CTA must have kept to before it allocates; false when refused.
bool mayAllocate(Warp &w, const Instruction &in, const Cta &cta, unsigned columns) {
  const Tmem &tmem = cta.tmem;
  if (tmem.relinquished)
    w.fail(in,
           Fault("tmem_alloc: no allocation must follow relinquish_alloc_permit in a CTA")
               .at("tensor memory of cta rank " + dec(cta.rank) + ", " + dec(columns) + " columns")
               .against("tcgen05.relinquish_alloc_permit", tmem.relinquishedLine));
  else if (tmem.lastAllocated && columns > tmem.lastAllocated)
    w.fail(in,
           Fault("tmem_alloc: columns must not grow over a CTA's life, got " + dec(columns) +
                 " after " + dec(tmem.lastAllocated))
               .at("tensor memory of cta rank " + dec(cta.rank) + ", " + dec(columns) + " columns")
               .against("tcgen05.alloc", tmem.allocatedLine));
  else
    return true;
  return false;
}

bool nothingInFlight(Warp &w, const Instruction &in, const Cta &cta, const PairCall &call) {
  for (const auto &op : w.cta->cluster->operations())
    if (op->touchesTmem() && op->touches(cta)) {
      w.fail(in, Fault(std::string("tmem_dealloc: ") + op->what() + " at line " + dec(op->line) +
                       " must be complete before its columns are freed")
                     .at(tensorColumns(call.column, call.columns, cta.rank))
                     .against(op->what(), op->line));
      return false;
    }
  return true;
}

/// What the call does to one CTA. For alloc the column, -1 when there is no room.
Outcome perform(Warp &w, const Instruction &in, Cta &cta, PairCall &call) {
  switch (call.kind) {
  case Kind::alloc: {
    if (!mayAllocate(w, in, cta, call.columns))
      return Outcome::error;
    int column = cta.tmem.allocate(call.columns, call.exclusive, in.line);
    if (column < 0)
      return Outcome::blocked;
    cta.tmem.lastAllocated = call.columns;
    cta.tmem.allocatedLine = in.line;
    call.column = unsigned(column);
    return Outcome::next;
  }
  case Kind::dealloc:
    if (!nothingInFlight(w, in, cta, call))
      return Outcome::error;
    if (std::string e = cta.tmem.release(call.column, call.columns, call.exclusive); !e.empty())
      return w.fail(in, Fault("tmem_dealloc: " + e)
                            .at(tensorColumns(call.column, call.columns, cta.rank))
                            .against("the last tcgen05.alloc", cta.tmem.allocatedLine));
    return Outcome::next;
  case Kind::relinquish:
    cta.tmem.relinquished = true;
    cta.tmem.relinquishedLine = in.line;
    return Outcome::next;
  }
  return Outcome::next;
}

/// Both CTAs of the pair at once. `call` of a warp that was answered comes back done.
Outcome performPair(Warp &w, const Instruction &in, PairCall &call) {
  Cta &own = *w.cta;
  if (own.pairCall.warp == &w && own.pairCall.isDone) {
    call = own.pairCall;
    own.pairCall = {};
    return Outcome::next;
  }
  Cta *peer = pairPeer(w, in);
  if (!peer)
    return Outcome::error;
  if (own.pairCall.warp && own.pairCall.warp != &w)
    return waitForMemory(w); // another warp of this CTA is at such an instruction
  call.warp = &w;
  call.line = in.line;
  own.pairCall = call;
  PairCall &other = peer->pairCall;
  if (!other.warp || other.isDone)
    return waitForMemory(w);
  if (other.kind != call.kind)
    return w.fail(in, Fault(std::string("tmem_pair: CTAs of a pair must meet at the same "
                                        "instruction, got ") +
                            nameOf(call.kind) + " and " + nameOf(other.kind) + " at line " +
                            dec(other.line))
                          .at("tensor memory of both CTAs")
                          .against(nameOf(other.kind), other.line));
  if (other.columns != call.columns || other.exclusive != call.exclusive ||
      (call.kind == Kind::dealloc && other.column != call.column))
    return w.fail(in,
                  Fault(std::string("tmem_pair: ") + nameOf(call.kind) +
                        " must name the same columns in both CTAs of a pair, got " +
                        dec(call.column) + "+" + dec(call.columns) + " and " + dec(other.column) +
                        "+" + dec(other.columns) + " at line " + dec(other.line))
                      .at(tensorColumns(call.column, call.columns, own.rank))
                      .against(nameOf(other.kind), other.line));
  if (Outcome o = perform(w, in, own, call); o != Outcome::next)
    return o == Outcome::blocked ? waitForMemory(w) : o;
  // The pair's allocations have always been the same.
  if (Outcome o = perform(w, in, *peer, other); o != Outcome::next)
    return o == Outcome::blocked ? waitForMemory(w) : o;
  other.isDone = true;
  own.pairCall = {};
  return Outcome::next;
}

Outcome call(Warp &w, const Instruction &in, PairCall &call) {
  Outcome o;
  if (in.flags & kPair) {
    o = performPair(w, in, call);
  } else {
    o = perform(w, in, *w.cta, call);
    if (o == Outcome::blocked)
      return waitForMemory(w);
  }
  if (o == Outcome::next)
    ++w.cta->cluster->progress;
  return o;
}

// op: 0 address of the result, 1 columns; sub: exclusive
Outcome alloc(Warp &w, const Instruction &in) {
  PairCall c;
  c.columns = w.uniform<uint32_t>(in.op[1]);
  c.exclusive = in.sub;
  if (auto ok = facts::checkTmemAlloc(w.launch->module.archValue, int(std::min(c.columns, 0xFFFFu)),
                                      c.exclusive);
      !ok)
    return w.fail(in, ok.message());
  uint64_t address = addressAt(w, in.op[0], in.flags & kWide, in.imm, int(w.leader()));
  if ((in.flags & kGeneric) && classify(address, address) != Space::sharedCluster)
    return w.fail(in,
                  Fault("tmem_alloc: result must be written to shared memory, got " + hex(address))
                      .at(globalBytes(address, 4)));
  uint8_t *p = w.resolve(in, Space::shared, address, 4, 0);
  if (!p)
    return Outcome::error;
  if (Outcome o = call(w, in, c); o != Outcome::next)
    return o;
  uint32_t result = facts::tmemAddress(0, int(c.column));
  std::memcpy(p, &result, 4);
  if (w.hazards)
    w.hazards->allocated(w, in, address, in.flags & kPair);
  return Outcome::next;
}

// op: 0 address, 1 columns; sub: exclusive
Outcome dealloc(Warp &w, const Instruction &in) {
  PairCall c;
  c.kind = Kind::dealloc;
  c.column = unsigned(facts::tmemColumn(w.uniform<uint32_t>(in.op[0])));
  c.columns = w.uniform<uint32_t>(in.op[1]);
  c.exclusive = in.sub;
  Outcome o = call(w, in, c);
  if (o == Outcome::next && w.hazards && (in.flags & kPair))
    w.hazards->freedByPair(w, in, c.column, c.columns);
  else if (o == Outcome::next && w.hazards)
    w.hazards->freed(w, in, c.column, c.columns);
  return o;
}

Outcome relinquish(Warp &w, const Instruction &in) {
  PairCall c;
  c.kind = Kind::relinquish;
  return call(w, in, c);
}

} // namespace

Cta *pairPeer(Warp &w, const Instruction &in) {
  Cluster &cluster = *w.cta->cluster;
  unsigned rank = w.cta->rank ^ 1;
  if (rank >= cluster.ctas.size()) {
    w.fail(in, "tcgen05_cta_group: .cta_group::2 must have a peer CTA in the cluster");
    return nullptr;
  }
  Cta *peer = cluster.ctas[rank].get();
  if (!peer->liveThreads) {
    w.fail(in, Fault("tcgen05_cta_group: peer CTA of .cta_group::2 must not have exited")
                   .against("exit of cta rank " + dec(rank), peer->exitLine));
    return nullptr;
  }
  return peer;
}

bool decodeTmemAlloc(Decoder &d, bool isAlloc) {
  Instruction in;
  in.run = isAlloc ? alloc : dealloc;
  in.sub = d.take("exclusive");
  if (in.sub && !facts::supports(d.arch, facts::Feature::allocExclusive))
    return d.fail("ptx_target: .exclusive must have a target with alloc_exclusive, got " +
                  std::string(facts::name(d.arch)));
  unsigned group = takeCtaGroup(d);
  bool ok = d.take("sync") && d.take("aligned");
  bool shared = isAlloc && d.take("shared::cta");
  if (!ok || d.takeType() != Type::b32 || !d.expectOperands(2))
    return false;
  if (isAlloc) {
    AddressOperand a = d.address(d.operand(0));
    in.op[0] = a.base;
    in.imm = a.offset;
    in.flags = (a.wide ? uint32_t(kWide) : 0) | (shared ? 0 : uint32_t(kGeneric));
  } else {
    in.op[0] = d.source(0, Type::b32);
  }
  in.flags |= group == 2 ? uint32_t(kPair) : 0;
  // A number is checked by the assembler too; a register only when it executes.
  if (auto n = d.immediate(d.operand(1))) {
    // Too many columns of an exclusive allocation are PTX, and fail when it executes.
    if (auto ok = facts::checkTmemAlloc(d.arch, int(std::clamp<int64_t>(*n, INT32_MIN, INT32_MAX)),
                                        in.sub);
        !ok && !(in.sub && *n > 0 && *n % facts::kTmemAllocStep == 0))
      return d.fail(ok.message());
    d.kernel.tmemColumns =
        std::max(d.kernel.tmemColumns, unsigned(std::min<int64_t>(*n, INT32_MAX)));
  }
  in.op[1] = d.source(1, Type::b32);
  in.converge = Converge::allLive;
  d.emit(in);
  return d.error.empty();
}

bool decodeTmemRelinquish(Decoder &d) {
  Instruction in;
  in.run = relinquish;
  in.flags = takeCtaGroup(d) == 2 ? uint32_t(kPair) : 0;
  in.converge = Converge::allLive;
  d.emit(in);
  return d.take("sync") && d.take("aligned") && d.expectOperands(0);
}

} // namespace blockscale::emu
