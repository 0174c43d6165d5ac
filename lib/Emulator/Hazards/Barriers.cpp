//===- Barriers.cpp - mbarriers and what passes through them --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrivals put what their thread knows into the open phase; a phase that ends hands
// it to whoever waits for it. A copy that signals an mbarrier is known once a phase
// is, so it must land in the phase that was open when it was issued.
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include "../Text.h"

#include <algorithm>

namespace blockscale::emu {

Hazards::Barrier *Hazards::barrierAt(uint64_t address) {
  auto it = barriers.find(address);
  return it == barriers.end() || !it->second.isLive ? nullptr : &it->second;
}

static std::string name(uint64_t address) {
  return "mbarrier " + hex(address & kSharedOffsetMask) + " of cta rank " +
         dec(int64_t(address >> kClusterShift));
}

void Hazards::barrierInit(Warp &w, const Instruction &in, unsigned lane, uint64_t address) {
  Barrier &b = barriers[address];
  Actor x = actor(w, in, lane, Touch::store);
  if (b.isLive)
    report(Rule::MB7, in.line, lineOf(b.init),
           "mbarrier.init on " + name(address) + ", which is live since " + nameOf(b.init));
  Cta &cta = *cluster.ctaOf(address);
  b.isLive = false; // its own bytes may be written
  touchShared(x, cta, uint32_t(address & kSharedOffsetMask), 8);
  if (!b.component) {
    b.component = uint32_t(components.size());
    components.emplace_back();
    components.back().agent = Agent::barrier;
    components.back().address = address;
  }
  b.isLive = true;
  b.init = x.record;
  b.pending = b.done = {};
  b.copies.clear();
  b.remote.clear();
  // Phases go on counting, so that old knowledge is not taken for new.
  b.completed = components[b.component].count;
}

void Hazards::barrierInval(Warp &w, const Instruction &in, unsigned lane, uint64_t address) {
  if (Barrier *b = barrierAt(address)) {
    barrierUse(w, in, lane, address);
    b->isLive = false;
    touchShared(actor(w, in, lane, Touch::store), *cluster.ctaOf(address),
                uint32_t(address & kSharedOffsetMask), 8);
  }
}

/// MB1, MB2: the initialisation must be visible to who uses the barrier.
void Hazards::barrierUse(Warp &w, const Instruction &in, unsigned lane, uint64_t address) {
  Barrier *b = barrierAt(address);
  if (!b)
    return;
  Actor x = actor(w, in, lane, Touch::atomic);
  const Record &r = b->init;
  if (knows(x, r, 0xFF) || x.group->knows.init.covers(r.component, r.lanes, r.count))
    return;
  bool relaxed = weaklyKnows(x, r, 0xFF);
  report(relaxed ? Rule::MB2 : Rule::MB1, in.line, lineOf(r),
         "(warp " + dec(w.id) + ") uses " + name(address) + " whose initialisation by " +
             nameOf(r) + " it may not see");
}

void Hazards::barrierArrive(Warp &w, const Instruction &in, unsigned lane, uint64_t address,
                            Order order) {
  Barrier *b = barrierAt(address);
  if (!b)
    return;
  barrierUse(w, in, lane, address);
  WarpState &s = stateOf(w);
  const Group &g = groupOf(s, lane);
  if (g.knows.plain.ofAll(b->component) < b->completed &&
      g.knows.weak.ofAll(b->component) < b->completed)
    report(Rule::MB4, in.line, lineOf(b->init),
           "(warp " + dec(w.id) + ") arrives at " + name(address) + " in phase " +
               dec(b->completed) + " but no wait for the phase before is ordered ahead of it");
  if (address >> kClusterShift != w.cta->rank) {
    if (!b->remote.empty() && b->remote[0].phase <= b->completed)
      b->remote.clear();
    b->remote.push_back({b->completed + 1, component(s, Agent::thread), lane, s.now, in.line});
  }
  sawRelaxedArrive |= !isRelease(order);
  publish(s, g, 1u << lane, b->pending, order);
}

void Hazards::barrierWaited(Warp &w, const Instruction &in, uint32_t lanes, uint64_t address,
                            Order order) {
  Barrier *b = barrierAt(address);
  if (!b)
    return;
  barrierUse(w, in, unsigned(__builtin_ctz(lanes)), address);
  sawRelaxedWait |= !isAcquire(order);
  eachGroup(stateOf(w), lanes, [&](Group &g) {
    uint32_t known = g.knows.plain.ofAll(b->component);
    known = std::max(known, g.knows.weak.ofAll(b->component));
    if (b->completed >= known + 3)
      report(Rule::MB3, in.line, lineOf(b->init),
             "(warp " + dec(w.id) + ") waits on " + name(address) + " for phase " + dec(known) +
                 " but " + dec(b->completed) + " phases are over");
    if (!isAcquire(order) || g.knows.plain.ofAll(b->component) < b->completed)
      learn(g, b->done, order);
  });
}

void Hazards::barrierSignalled(uint64_t address) {
  Barrier *b = barrierAt(address);
  if (!b || !landing)
    return;
  if (landing->trace)
    b->pending.join(landing->trace->knows);
  if (completesBytes(landing->kind()))
    for (size_t i = 0; i < b->copies.size(); ++i)
      if (b->copies[i] == landing->line) {
        b->copies.erase(b->copies.begin() + long(i));
        break;
      }
}

void Hazards::barrierPhaseEnded(uint64_t address) {
  Barrier *b = barrierAt(address);
  if (!b)
    return;
  for (uint32_t line : b->copies)
    report(Rule::MB5, line, lineOf(b->init),
           "copy signals " + name(address) + ", whose phase " + dec(b->completed) +
               " ended before the copy did");
  b->copies.clear();
  b->done.join(b->pending);
  b->pending = {};
  components[b->component].count = ++b->completed;
  b->done.plain.raise(b->component, kAllLanes, b->completed);
}

} // namespace blockscale::emu
