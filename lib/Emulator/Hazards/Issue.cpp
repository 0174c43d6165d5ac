//===- Issue.cpp - asynchronous operations as they are issued -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation gets a number of the component that will complete it, and what it
// will touch is checked at once, whenever it lands.
//
//===----------------------------------------------------------------------===//

#include "LaunchHazards.h"
#include "State.h"

#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/LayoutsTma.h"

#include "../Text.h"

#include <algorithm>
#include <array>

namespace blockscale::emu {

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
    extend(cta, offset, offset + bytes - 1, /*isTensor=*/false);
    if (touch == Touch::bulkRead) {
      WarpState::BulkStore &last = actor.state->lastBulkStore[actor.lane];
      last.from = offset;
      last.to = offset + bytes - 1;
    }
    if (!isKnownByBarrier(touch) && touch != Touch::copyAsync) {
      // Chunks of operands come one by one; neighbours are touched together.
      if (run.cta == &cta && run.touch == touch &&
          (offset == run.end || offset + bytes == run.begin)) {
        run.begin = std::min(run.begin, offset);
        run.end = std::max(run.end, offset + bytes);
        return;
      }
      flush();
      run = {&cta, touch, offset, offset + bytes};
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
                       "cp.async.cg (warp " + dec(x.state->warp->id) +
                           ") writes shared memory bytes " + hex(offset) + ".." +
                           hex(offset + bytes - 1) +
                           "; the limit is from a code comment, unmeasured");
      x.lane = unsigned(extra);
      x.group = &hazards.groupOf(*x.state, x.lane);
      x.record.lanes = 1u << extra;
    }
    hazards.touchShared(x, cta, offset, bytes);
  }
  void tensor(Touch touch, Cta &cta, unsigned quarters, unsigned column, unsigned columns,
              uint32_t place) override {
    actor.record.touch = touch;
    const uint32_t issuer = actor.record.place;
    actor.record.place = place;
    ctas |= 1u << cta.rank;
    extend(cta, column, column + columns - 1, /*isTensor=*/true);
    hazards.touchTensor(actor, cta, quarters, column, columns);
    actor.record.place = issuer;
  }

  void global(Touch touch, uint64_t address, uint64_t bytes, uint64_t extra) override {
    if (bytes == 0)
      return;
    Actor x = actor;
    x.record.touch = touch;
    switch (touch) {
    case Touch::mapRead: // of a store: known as its source's read is
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
    if (touch == Touch::mapRead)
      hazards.checkMapOfLaunch(x, address);
    GlobalAccess a = hazards.globalAccess(x, touch == Touch::globalReduce);
    a.readBy = actor.record.component;
    if (touch != Touch::globalRead || !hazards.shadow->list(a, address, bytes))
      hazards.touchGlobal(x, a, address, bytes);
    else
      hazards.checkEarlier(x, a, address, bytes);
  }

  /// What is left.
  void flush() {
    if (!run.cta)
      return;
    actor.record.touch = run.touch;
    hazards.touchShared(actor, *run.cta, run.begin, run.end - run.begin);
    run.cta = nullptr;
  }

private:
  /// What a report of the end of a CTA says was touched: tensor memory, where some was.
  void extend(const Cta &cta, uint32_t from, uint32_t to, bool isTensor) {
    Ending::Last &s = span[cta.rank];
    if (s.line && s.isTensor != isTensor && !isTensor)
      return;
    const bool isFirst = !s.line || s.isTensor != isTensor;
    s = {actor.in->line, isFirst ? from : std::min(s.from, from), isFirst ? to : std::max(s.to, to),
         isTensor};
  }
  struct Run {
    Cta *cta = nullptr;
    Touch touch = Touch::load;
    uint32_t begin = 0, end = 0;
  } run;
  Hazards &hazards;
  Actor actor;
  bool isCg; // cp.async.cg

public:
  uint32_t ctas = 0; // whose memory was touched, by rank
  std::array<Ending::Last, 32> span{};
};

void Hazards::issued(AsyncOp &op, Warp &w, const Instruction &in) {
  WarpState &s = stateOf(w);
  unsigned lane = unsigned(__builtin_ctz(op.lanes ? op.lanes : 1));
  Actor x = actor(w, in, lane, Touch::load);
  op.isBehindEarlier = x.group->knows.earlierOver;
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
    s.lastBulkStore[lane] = {x.record.count, in.line, 0, 0, w.bulkGroup[lane]};
    break;
  case OpKind::copyAsync:
  case OpKind::copyAsyncCg:
    number(Agent::copyAsync, op.lanes);
    break;
  case OpKind::commit: {
    auto trace = std::make_unique<AsyncTrace>();
    uint32_t id = component(s, agent);
    components[id].closeLine = in.line;
    if (assumes(6)) {
      trace->knows.join(x.group->knows);
    } else {
      trace->knows.commits.join(x.group->knows.commits);
      trace->knows.commits.join(x.group->knows.plain);
    }
    if (op.isRestricted()) {
      const uint32_t count = components[id].count;
      uint32_t read = components[id].aRead;
      if (!read) {
        components[id].aRead = read = uint32_t(components.size());
        components.push_back(components[id]);
      }
      trace->knows.plain.raise(read, op.lanes, count);
      op.trace = std::move(trace);
      return;
    }
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
    trace->copies = component(s, Agent::copyAsync);
    trace->count = components[trace->copies].count;
    op.trace = std::move(trace);
    return;
  }
  default:
    break;
  }
  const Record record = x.record;
  x.record.place = w.cta->rank; // of shared memory: who issued it
  Issue sink(*this, std::move(x), op.kind() == OpKind::copyAsyncCg);
  op.describe(sink);
  sink.flush();
  if (op.kind() == OpKind::mma || op.kind() == OpKind::cp || op.kind() == OpKind::shift ||
      op.kind() == OpKind::wgmma)
    for (uint32_t m = sink.ctas; m; m &= m - 1)
      endings[size_t(__builtin_ctz(m))].add(record, /*isWrite=*/true,
                                            sink.span[size_t(__builtin_ctz(m))]);
}

} // namespace blockscale::emu
