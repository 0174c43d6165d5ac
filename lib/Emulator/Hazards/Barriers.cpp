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

#include "../Mbarrier.h"
#include "../Text.h"

#include <algorithm>

namespace blockscale::emu {

Hazards::Barrier *Hazards::barrierAt(uint64_t address) {
  auto it = barriers.find(address);
  return it == barriers.end() || !it->second.isLive ? nullptr : &it->second;
}

static std::string name(uint64_t address) {
  const uint64_t offset = address & kSharedOffsetMask;
  return "mbarrier " + hex(offset) + ".." + hex(offset + 7) + " of cta rank " +
         dec(int64_t(address >> kClusterShift));
}

void Hazards::Barrier::signalled(uint32_t line, const Warp *warp) {
  for (Signal &s : signals)
    if (s.line == line && s.warp == warp) {
      ++s.times;
      return;
    }
  signals.push_back({line, warp, 1});
}

Fault Hazards::namingBarrier(Fault fault, uint64_t address) const {
  auto it = barriers.find(address);
  if (it == barriers.end())
    return fault;
  const Barrier &b = it->second;
  const bool isOver = !b.isLive && b.endLine;
  return std::move(fault).against(isOver ? "mbarrier.inval" : "mbarrier.init",
                                  isOver ? b.endLine : lineOf(b.init));
}

std::string Hazards::missingSignals(uint64_t address) const {
  auto it = barriers.find(address);
  if (it == barriers.end() || !it->second.isLive)
    return {};
  const Barrier &b = it->second;
  std::string out = ", phase " + dec(b.completed);
  if (!b.completed)
    return out + (b.signals.empty()
                      ? ": nobody has arrived since mbarrier.init at line " + dec(lineOf(b.init))
                      : "");
  for (const Signal &before : b.signalsBefore) {
    uint32_t times = before.times;
    for (const Signal &now : b.signals)
      if (now.line == before.line && now.warp == before.warp)
        times -= std::min(times, now.times);
    if (!times)
      continue;
    const Warp &w = *before.warp;
    out += "; missing: line " + dec(before.line) + " of " +
           (cluster.ctas.size() > 1 ? "cta rank " + dec(w.cta->rank) + " " : std::string()) +
           "warp " + dec(w.id) + (times > 1 ? ", " + dec(times) + " times" : std::string());
    out += w.done() ? ", which has exited" : ", which is at line " + dec(w.lineOf(w.fragments[0]));
  }
  return out;
}

/// MB8: by the letter, scope .cta does not reach another CTA.
void Hazards::reportScope(Warp &w, const Instruction &in, const Barrier &b, uint64_t address,
                          const char *what) {
  report(Rule::MB8, HazardLevel::strict, in.line, lineOf(b.init),
         "(warp " + dec(w.id) + ") " + what + " " + name(address) +
             " at .cta scope, in a phase that two CTAs take part in, initialised at " +
             cluster.launch.module.file + ":" + dec(lineOf(b.init)));
}

void Hazards::barrierInit(Warp &w, const Instruction &in, unsigned lane, uint64_t address) {
  Barrier &b = barriers[address];
  Actor x = actor(w, in, lane, Touch::store);
  if (b.isLive)
    report(Rule::MB7, in.line, lineOf(b.init),
           "mbarrier.init on " + name(address) + ", which is live since mbarrier.init at " +
               cluster.launch.module.file + ":" + dec(lineOf(b.init)));
  Cta &cta = *cluster.ctaOf(address);
  b.isLive = false; // its own bytes may be written
  touchShared(x, cta, uint32_t(address & kSharedOffsetMask), 8);
  if (!b.component) {
    b.component = uint32_t(components.size());
    components.emplace_back();
    components.back().agent = Agent::barrier;
    components.back().address = address;
    barrierComponents.push_back(b.component);
  }
  b.isLive = true;
  b.init = x.record;
  b.pending = b.done = {};
  b.copies.clear();
  b.remote.clear();
  // Phases go on counting, so that old knowledge is not taken for new.
  b.completed = b.first = components[b.component].count;
}

void Hazards::barrierInval(Warp &w, const Instruction &in, unsigned lane, uint64_t address) {
  if (Barrier *b = barrierAt(address)) {
    barrierUse(w, in, lane, address);
    b->endLine = in.line;
    b->isLive = false;
    touchShared(actor(w, in, lane, Touch::store), *cluster.ctaOf(address),
                uint32_t(address & kSharedOffsetMask), 8);
  }
}

/// MB1, MB2, MB2w: the initialisation must be visible to who uses the barrier.
void Hazards::barrierUse(Warp &w, const Instruction &in, unsigned lane, uint64_t address) {
  Barrier *b = barrierAt(address);
  if (!b)
    return;
  Actor x = actor(w, in, lane, Touch::atomic);
  const Record &r = b->init;
  if (knows(x, r, 0xFF) || x.group->knows.init.covers(r.component, r.lanes, r.count))
    return;
  bool relaxed = weaklyKnows(x, r, 0xFF);
  const Rule rule = !relaxed                                      ? Rule::MB1
                    : components[r.component].warp->hasFencedInit ? Rule::MB2w
                                                                  : Rule::MB2;
  report(rule, in.line, lineOf(r),
         "(warp " + dec(w.id) + ") uses " + name(address) + " whose initialisation at " +
             cluster.launch.module.file + ":" + dec(lineOf(r)) + " (" + ownerOf(r) +
             ") it may not see");
}

void Hazards::barrierArrive(Warp &w, const Instruction &in, unsigned lane, uint64_t address,
                            Order order, bool isCluster) {
  Barrier *b = barrierAt(address);
  if (!b)
    return;
  barrierUse(w, in, lane, address);
  WarpState &s = stateOf(w);
  Group &g = groupOf(s, lane);
  g.own.raise(b->component, 1u << lane, b->completed);
  b->signalled(in.line, &w);
  if (g.knows.plain.ofAll(b->component) < b->completed &&
      g.knows.weak.ofAll(b->component) < b->completed) {
    const bool commits = std::any_of(components.begin(), components.end(), [](const Component &c) {
      return c.closeLine && (c.agent == Agent::tensor1 || c.agent == Agent::tensor2);
    });
    const uint32_t before = b->signalsBefore.empty() ? 0 : b->signalsBefore.back().line;
    report(
        Rule::MB4, in.line, before ? before : lineOf(b->init),
        "(warp " + dec(w.id) + ") arrives at " + name(address) + " in phase " + dec(b->completed) +
            " but no wait for the phase before" +
            (before ? ", whose last arrival is at " + cluster.launch.module.file + ":" +
                          dec(before) + ","
                    : std::string()) +
            " is ordered ahead of it" +
            (!assumes(6) && commits
                 ? "; with A6 denied the arrival of tcgen05.commit is no release of earlier waits"
                 : ""));
  }
  if (address >> kClusterShift != w.cta->rank) {
    if (!b->remote.empty() && b->remote[0].phase <= b->completed)
      b->remote.clear();
    b->remotePhase = b->completed + 1;
    if (!assumes(5) && !isCluster)
      reportScope(w, in, *b, address, "arrives at");
    b->remote.push_back({b->completed + 1, component(s, Agent::thread), lane, s.now, in.line});
  }
  sawRelaxedArrive |= !isRelease(order);
  publish(s, g, 1u << lane, b->pending, order);
}

uint64_t Hazards::stampState(uint64_t word, uint64_t address) const {
  using namespace mbarrier_state;
  auto it = barriers.find(address);
  if (it == barriers.end())
    return word;
  const uint64_t place =
      address >> kClusterShift << kRankShift | (address & kSharedOffsetMask) / sizeof(uint64_t);
  return (word & ~kLower) | (it->second.completed & kPhaseMask) << kPhaseShift | kStamped | place;
}

void Hazards::stateAsked(const Warp &w, const Instruction &in, uint64_t address, uint64_t state) {
  using namespace mbarrier_state;
  const Barrier *b = barrierAt(address);
  if (!b)
    return;
  auto wrong = [&](const std::string &what) {
    report(Rule::MB3, in.line, lineOf(b->init),
           "(warp " + dec(w.id) + ") waits on " + name(address) + " by state " + hex(state) + what +
               "; initialised at " + cluster.launch.module.file + ":" + dec(lineOf(b->init)),
           "a state that an arrival at this mbarrier returned in its open phase or the one before");
  };
  const uint64_t offset = (state & ((1u << kRankShift) - 1)) * sizeof(uint64_t),
                 rank = (state & kPlaceMask) >> kRankShift;
  auto it = barriers.find(rank << kClusterShift | offset);
  if (!(state & kStamped) || it == barriers.end())
    return wrong(", which no arrival has returned");
  const Barrier &of = it->second;
  const uint64_t behind = (of.completed - (state >> kPhaseShift)) & kPhaseMask;
  if (behind > of.completed)
    return wrong(", which no arrival has returned");
  const uint32_t phase = of.completed - uint32_t(behind);
  if (&of != b)
    return wrong(" of phase " + dec(phase) + " of " + name(it->first));
  if (phase < b->first)
    return wrong(" of phase " + dec(phase) +
                 ", which was over before that mbarrier was initialised");
  if (behind > 1)
    wrong(" of phase " + dec(phase) + " but " + dec(b->completed) + " phases are over");
}

void Hazards::barrierWaited(Warp &w, const Instruction &in, uint32_t lanes, uint64_t address,
                            Order order, bool isCluster) {
  Barrier *b = barrierAt(address);
  if (!b)
    return;
  barrierUse(w, in, unsigned(__builtin_ctz(lanes)), address);
  if (order == Order::weak)
    return;
  if (!assumes(5) && !isCluster && b->completed && b->remotePhase == b->completed)
    reportScope(w, in, *b, address, "waits on");
  sawRelaxedWait |= !isAcquire(order);
  eachGroup(stateOf(w), lanes, [&](Group &g) {
    uint32_t known = g.knows.plain.ofAll(b->component);
    known = std::max(known, g.knows.weak.ofAll(b->component));
    // Who arrives takes part in the open phase.
    known = std::max(known, g.own.of(b->component, unsigned(__builtin_ctz(g.lanes))));
    if (b->completed >= known + 3)
      report(Rule::MB3, in.line, lineOf(b->init),
             "(warp " + dec(w.id) + ") waits on " + name(address) + " for phase " + dec(known) +
                 " but " + dec(b->completed) + " phases are over" +
                 (b->signalsBefore.empty()
                      ? std::string()
                      : ", the last by an arrival at " + cluster.launch.module.file + ":" +
                            dec(b->signalsBefore.back().line)));
    if (!isAcquire(order) || g.knows.plain.ofAll(b->component) < b->completed)
      learn(g, b->done, order);
  });
}

/// A lane's copies are known by its own arrival only. MB5: arrivals of one instruction that
/// end a phase and go on in the next, for then which lanes' copies the first covers is chance.
void Hazards::copiesArrived(Barrier &b, uint64_t address) {
  AsyncTrace &trace = *landing->trace;
  b.pending.plain.raise(trace.copies, landing->arriving, trace.count);
  for (const auto &[barrier, phase] : trace.phases)
    if (barrier == address) {
      if (phase != b.completed)
        report(Rule::MB5, landing->line, lineOf(b.init),
               "(warp " + dec(landing->warp->id) + ") cp.async.mbarrier.arrive on " +
                   name(address) + " ends phase " + dec(phase) +
                   " before all of its lanes have arrived; initialised at " +
                   cluster.launch.module.file + ":" + dec(lineOf(b.init)),
               "an mbarrier.init that counts the arrival of every lane, or no .noinc");
      return;
    }
  trace.phases.emplace_back(address, b.completed);
}

void Hazards::barrierSignalled(uint64_t address) {
  Barrier *b = barrierAt(address);
  if (!b || !landing)
    return;
  b->signalled(landing->line, landing->warp);
  b->pending.earlierOver |= landing->isBehindEarlier;
  if (address >> kClusterShift != landing->warp->cta->rank)
    b->remotePhase = b->completed + 1;
  if (landing->kind() == OpKind::copyArrive)
    copiesArrived(*b, address);
  else if (landing->trace)
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
               " ended before the copy did" +
               (b->signals.empty() ? std::string()
                                   : ", by an arrival at " + cluster.launch.module.file + ":" +
                                         dec(b->signals.back().line)));
  b->copies.clear();
  b->signalsBefore = std::move(b->signals);
  b->signals.clear();
  b->done.join(b->pending);
  b->pending = {};
  components[b->component].count = ++b->completed;
  b->done.plain.raise(b->component, kAllLanes, b->completed);
}

} // namespace blockscale::emu
