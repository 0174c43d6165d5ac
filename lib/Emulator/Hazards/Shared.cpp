//===- Shared.cpp - checks of shared memory -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An access conflicts with a record of its bytes when one of the two writes and the
// accessing thread does not know the record's component up to its count, or, across
// the generic and the async proxy, not with a proxy fence on the way.
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include "blockscale/Facts/ArchInfo.h"

#include "../Text.h"

#include <algorithm>

namespace blockscale::emu {

Hazards::Actor Hazards::actor(Warp &w, const Instruction &in, unsigned lane, Touch touch) {
  Actor x;
  x.state = &stateOf(w);
  x.group = &groupOf(*x.state, lane);
  x.in = &in;
  x.lane = lane;
  x.record.component = component(*x.state, Agent::thread);
  x.record.count = x.state->now;
  x.record.site = uint32_t(&in - w.kernel->code.data());
  x.record.lanes = 1u << lane;
  x.record.touch = touch;
  return x;
}

bool Hazards::knows(const Actor &x, const Record &r, uint16_t bytes) const {
  if (r.component == x.knownComponent && r.count <= x.knownCount)
    return true;
  if (x.group->knows.plain.ofAll(r.component) >= r.count) {
    x.knownComponent = r.component;
    x.knownCount = r.count;
    return true;
  }
  uint32_t lanes = r.owners(bytes);
  const Component &c = components[r.component];
  if (c.warp == x.state && c.agent == Agent::thread) {
    if (r.touch == Touch::allocResult)
      return true;
    lanes &= ~(1u << x.lane);
    if (!lanes)
      return true;
  }
  if (c.warp == x.state && (lanes >> x.lane & 1) && x.group->own.of(r.component, x.lane) >= r.count)
    lanes &= ~(1u << x.lane);
  return !lanes || x.group->knows.plain.covers(r.component, lanes, r.count);
}

bool Hazards::weaklyKnows(const Actor &x, const Record &r, uint16_t bytes) const {
  return x.group->knows.weak.covers(r.component, r.owners(bytes), r.count);
}

/// A proxy fence that covers shared memory of the CTA is on the way.
bool Hazards::isFenced(const Actor &x, const Record &r, uint16_t bytes, unsigned rank) const {
  const FencedClock &fenced = x.group->knows.async;
  uint32_t lanes = fenced.shared.unknown(r.component, r.owners(bytes), r.count);
  if (lanes && rank < fenced.own.size())
    lanes = fenced.own[rank].unknown(r.component, lanes, r.count);
  return !lanes;
}

/// The rule that unordered accesses break.
Rule Hazards::sharedRule(const Actor &x, const Record &r, uint16_t bytes) const {
  switch (r.touch) {
  case Touch::mmaShared:
  case Touch::cpShared:
    return weaklyKnows(x, r, bytes) ? (sawRelaxedWait ? Rule::OS5 : Rule::TM10) : Rule::SM1;
  case Touch::bulkRead:
    return Rule::BK1;
  case Touch::bulkWrite:
  case Touch::copyAsync:
  case Touch::storeAsync:
  case Touch::reduceAsync:
    return isWrite(x.record.touch) ? Rule::OS3 : Rule::OS1;
  default:
    break;
  }
  if (x.record.touch == Touch::storeSame && r.touch <= Touch::storeSame && isWrite(r.touch))
    return Rule::OS6;
  if (weaklyKnows(x, r, bytes))
    return sawRelaxedCluster ? Rule::CL1 : Rule::OS5;
  return components[r.component].warp == x.state ? Rule::CL4 : Rule::OS2;
}

void Hazards::checkShared(const Actor &x, const Cell &cell, uint16_t bytes, unsigned rank,
                          uint32_t at) {
  const bool writes = isWrite(x.record.touch), async = isAsyncProxy(x.record.touch);
  auto place = [&](Rule rule, const Record &r, uint16_t both) {
    uint32_t from = at + uint32_t(__builtin_ctz(both)),
             to = at + 31 - uint32_t(__builtin_clz(both));
    conflict(rule, info(rule).level, r, /*isTensor=*/false, rank, from, to);
  };
  for (const Record &r : cell) {
    auto both = uint16_t(r.bytes & bytes);
    if (!both || (!writes && !isWrite(r.touch)) || r.isSameOperation(x.record) ||
        (isStrong(r.touch) && isStrong(x.record.touch)))
      continue;
    if (!knows(x, r, both)) {
      // What a later known read came after is known too.
      bool implied =
          isWrite(r.touch) && std::any_of(cell.begin(), cell.end(), [&](const Record &q) {
            return !isWrite(q.touch) && (q.bytes & both) == both && knows(x, q, both);
          });
      if (!implied)
        place(sharedRule(x, r, both), r, both);
      continue;
    }
    if (async && isGenericProxy(r.touch) && !isFenced(x, r, both, rank))
      place(r.touch == Touch::copyAsync   ? Rule::PX2
            : isWrite(r.touch) && !writes ? Rule::PX1
                                          : Rule::PX3,
            r, both);
  }
}

void Hazards::touchShared(const Actor &x, Cta &cta, uint32_t offset, uint32_t bytes) {
  std::vector<Cell> &cells = sharedCells[cta.rank];
  const bool writes = isWrite(x.record.touch);
  if (writes) {
    uint64_t base = uint64_t(cta.rank) << kClusterShift;
    auto it = barriers.lower_bound(base + (offset > 7 ? offset - 7 : 0));
    for (; it != barriers.end() && it->first < base + offset + bytes; ++it)
      if (it->second.isLive && x.record.touch != Touch::atomic)
        conflict(Rule::MB7, info(Rule::MB7).level, it->second.init, false, cta.rank, offset,
                 offset + bytes - 1);
  }
  Record r = x.record;
  for (uint32_t at = offset, end = offset + bytes; at < end;) {
    uint32_t index = at / kCellBytes, start = index * kCellBytes;
    uint32_t first = at - start, last = std::min(end - start, kCellBytes);
    if (index >= cells.size())
      break;
    r.bytes = uint16_t((1u << last) - (1u << first));
    Cell &cell = cells[index];
    if (!cell.isEmpty())
      checkShared(x, cell, r.bytes, cta.rank, start);
    if (writes)
      cell.addWrite(r);
    else
      cell.addRead(r);
    at = start + kCellBytes;
  }
  if (!conflicts.empty())
    flush(x);
}

void Hazards::access(Warp &w, const Instruction &in, Touch touch, Space space, uint64_t address,
                     unsigned bytes, unsigned lane, Order order, bool isWide) {
  if (space == Space::generic)
    space = classify(address, address);
  bool isShared = space == Space::shared || space == Space::sharedCluster;
  if (isShared) {
    Cta *cta = cluster.ctaOf(address);
    auto offset = uint32_t(address & kSharedOffsetMask);
    // Strong accesses are how flags are made.
    Actor x = actor(w, in, lane,
                    order == Order::weak   ? touch
                    : touch == Touch::load ? Touch::strongLoad
                                           : Touch::atomic);
    touchShared(x, *cta, offset, bytes);
    if (cta != w.cta)
      endings[cta->rank].add(x.record, isWrite(touch), in.line);
  }
  if (!isShared && space == Space::global) {
    Actor x = actor(w, in, lane,
                    order == Order::weak   ? touch
                    : touch == Touch::load ? Touch::strongLoad
                                           : Touch::atomic);
    touchGlobal(x, globalAccess(x, isWide), address, bytes);
  }
  if (order == Order::weak || (!isShared && space != Space::global))
    return;
  WarpState &s = stateOf(w);
  if (!isShared && isWide && shadow != ownShadow.get())
    wideFlag(s, lane, address, touch != Touch::store && touch != Touch::storeSame,
             touch != Touch::load, order);
  uint64_t key = address | (isShared ? uint64_t(1) << 63 : 0);
  if (touch != Touch::store && touch != Touch::storeSame)
    if (auto it = flags.find(key); it != flags.end())
      eachGroup(s, 1u << lane, [&](Group &g) { learn(g, it->second, order); });
  if (touch != Touch::load)
    publish(s, groupOf(s, lane), 1u << lane, flags[key], order);
}

//===----------------------------------------------------------------------===//
// Asynchronous operations
//===----------------------------------------------------------------------===//

/// Checks and records what an operation touches.
class Hazards::Issue final : public AccessSink {
public:
  Issue(Hazards &hazards, Actor actor, bool isCg)
      : hazards(hazards), actor(std::move(actor)), isCg(isCg) {}

  void shared(Touch touch, Cta &cta, uint32_t offset, uint32_t bytes, uint64_t extra) override {
    if (bytes == 0 || offset + uint64_t(bytes) > cta.shared.size())
      return; // reported when it lands
    actor.record.touch = touch;
    ctas |= 1u << cta.rank;
    if (!isKnownByBarrier(touch) && touch != Touch::copyAsync) {
      hazards.touchShared(actor, cta, offset, bytes);
      return;
    }
    Actor x = actor;
    if (isKnownByBarrier(touch)) {
      Barrier *b = hazards.barrierAt(extra);
      if (!b)
        return;
      x.record.component = b->component;
      x.record.count = b->completed + 1;
      x.record.lanes = kAllLanes;
    } else if (touch == Touch::copyAsync) {
      if (isCg && offset + bytes > uint32_t(facts::kDoubtfulCopyAsyncDestination) &&
          hazards.cluster.launch.module.archValue == facts::Arch::sm_107a)
        hazards.report(Rule::OS4, x.in->line, 0,
                       "cp.async.cg (warp " + dec(x.state->warp->id) + ") writes " + hex(offset) +
                           "\n  missing: " + std::string(info(Rule::OS4).missing));
      x.lane = unsigned(extra);
      x.group = &hazards.groupOf(*x.state, x.lane);
      x.record.lanes = 1u << extra;
    }
    hazards.touchShared(x, cta, offset, bytes);
  }
  void tensor(Touch touch, Cta &cta, unsigned quarters, unsigned column, unsigned columns,
              uint32_t place) override {
    actor.record.touch = touch;
    actor.record.place = place;
    ctas |= 1u << cta.rank;
    hazards.touchTensor(actor, cta, quarters, column, columns);
  }

  void global(Touch touch, uint64_t address, uint64_t bytes, uint64_t extra) override {
    if (bytes == 0)
      return;
    Actor x = actor;
    x.record.touch = touch;
    switch (touch) {
    case Touch::globalRead:
      if (const Barrier *b = hazards.barrierAt(extra)) {
        x.record.component = b->component;
        x.record.count = b->completed + 1;
        x.record.lanes = kAllLanes;
      }
      break;
    case Touch::copyAsyncRead:
      x.lane = unsigned(extra);
      x.group = &hazards.groupOf(*x.state, x.lane);
      x.record.lanes = 1u << extra;
      break;
    default:
      x.record.component = hazards.component(*x.state, Agent::bulkDone);
      break;
    }
    GlobalAccess a = hazards.globalAccess(x, touch == Touch::globalReduce);
    a.readBy = actor.record.component;
    if (touch != Touch::globalRead || !hazards.shadow->list(a, address, bytes))
      hazards.touchGlobal(x, a, address, bytes);
  }

private:
  Hazards &hazards;
  Actor actor;
  bool isCg; // cp.async.cg

public:
  uint32_t ctas = 0; // whose memory was touched, by rank
};

void Hazards::issued(AsyncOp &op, Warp &w, const Instruction &in) {
  WarpState &s = stateOf(w);
  unsigned lane = unsigned(__builtin_ctz(op.lanes ? op.lanes : 1));
  Actor x = actor(w, in, lane, Touch::load);
  Agent agent = op.ctaGroup() == 2 ? Agent::tensor2 : Agent::tensor1;
  auto number = [&](Agent a, uint32_t lanes) {
    uint32_t id = component(s, a);
    x.agent = a;
    x.record.component = id;
    x.record.count = ++components[id].count;
    x.record.lanes = lanes;
    return id;
  };
  for (uint64_t address : op.signals()) {
    barrierUse(w, in, lane, address);
    if (Barrier *b = barrierAt(address)) {
      b->duePhase = b->completed + 1;
      b->dueLine = in.line;
    }
    if (completesBytes(op.kind()))
      if (Barrier *b = barrierAt(address))
        b->copies.push_back(in.line);
  }
  switch (op.kind()) {
  case OpKind::mma:
  case OpKind::cp:
  case OpKind::shift:
    number(agent, op.lanes);
    break;
  case OpKind::wgmma:
    number(Agent::wgmma, kAllLanes);
    break;
  case OpKind::tmemLoad:
    number(Agent::tmemLoad, w.full);
    break;
  case OpKind::tmemStore:
    number(Agent::tmemStore, w.full);
    break;
  case OpKind::bulkStore:
    number(Agent::bulkRead, op.lanes);
    s.lastBulkStore[lane] = {x.record.count, in.line};
    break;
  case OpKind::copyAsync:
  case OpKind::copyAsyncCg:
    number(Agent::copyAsync, op.lanes);
    break;
  case OpKind::commit: {
    auto trace = std::make_unique<AsyncTrace>();
    uint32_t id = component(s, agent);
    components[id].closeLine = in.line;
    if (assumes(6))
      trace->knows.join(x.group->knows);
    trace->knows.plain.raise(id, op.lanes, components[id].count);
    if (!assumes(3)) // implied (9.7.18.6.4.2)
      joinTensor(trace->knows.before, trace->knows.plain);
    // To tell a commit of another thread from none.
    for (Agent a : {Agent::tensor1, Agent::tensor2})
      if (s.agents[size_t(a)])
        trace->knows.weak.raise(s.agents[size_t(a)], kAllLanes,
                                components[s.agents[size_t(a)]].count);
    op.trace = std::move(trace);
    return;
  }
  case OpKind::copyArrive: {
    auto trace = std::make_unique<AsyncTrace>();
    uint32_t id = component(s, Agent::copyAsync);
    trace->knows.plain.raise(id, op.lanes, components[id].count);
    op.trace = std::move(trace);
    return;
  }
  default:
    break;
  }
  const Record record = x.record;
  Issue sink(*this, std::move(x), op.kind() == OpKind::copyAsyncCg);
  op.describe(sink);
  if (op.kind() == OpKind::mma || op.kind() == OpKind::cp || op.kind() == OpKind::shift ||
      op.kind() == OpKind::wgmma)
    for (uint32_t m = sink.ctas; m; m &= m - 1)
      endings[size_t(__builtin_ctz(m))].add(record, /*isWrite=*/true, in.line);
}

} // namespace blockscale::emu
