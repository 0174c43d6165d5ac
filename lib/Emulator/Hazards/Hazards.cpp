//===- Hazards.cpp - who knows what ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of lanes and what barriers, fences and waits tell them. Same-thread order is
// implied: a clock says what a thread knows of others, and of its own asynchronous
// operations.
//
//===----------------------------------------------------------------------===//

#include "LaunchHazards.h"
#include "State.h"

#include "../Text.h"

#include <span>

namespace blockscale::emu {

namespace {
constexpr size_t kOldGroups = 4096;
}

Hazards::Hazards(Cluster &owner) : cluster(owner), options(owner.launch.options.hazards) {
  components.emplace_back();
  for (auto &cta : owner.ctas)
    for (auto &w : cta->warps) {
      auto s = std::make_unique<WarpState>();
      s->warp = w.get();
      s->groups.emplace_back();
      s->groups[0].lanes = w->full;
      w->hazards = this;
      warps.push_back(std::move(s));
    }
  pairAllocs.resize(owner.ctas.size());
  pairFrees.resize(owner.ctas.size() / 2);
  endings.resize(owner.ctas.size());
  dependence.resize(owner.ctas.size());
  named.resize(owner.ctas.size() * 16);
  together = owner.launch.hazardsTogether.get();
  for (size_t i = 0; i < owner.ctas.size(); ++i) {
    sharedCells.push_back(together->takeCells(/*isTensor=*/false));
    sharedCells.back().resize(owner.launch.sharedBytes / kCellBytes + 1);
    tensorCells.push_back(together->takeCells(/*isTensor=*/true));
  }
  shadow = together->common();
  if (!shadow) {
    ownShadow = std::make_unique<GlobalShadow>(owner.launch.memory);
    shadow = ownShadow.get();
  }
}

Hazards::~Hazards() {
  for (Cells &cells : sharedCells)
    together->giveCells(/*isTensor=*/false, std::move(cells));
  for (Cells &cells : tensorCells)
    together->giveCells(/*isTensor=*/true, std::move(cells));
}

uint32_t Hazards::component(WarpState &s, Agent agent) {
  uint32_t &id = s.agents[size_t(agent)];
  if (!id) {
    id = uint32_t(components.size());
    components.emplace_back();
    components.back().agent = agent;
    components.back().warp = &s;
    usesTensor |= agent >= Agent::tensor1 && agent <= Agent::tmemStore;
  }
  return id;
}

/// What lanes of a group have waited for themselves.
void Hazards::giveOwn(const WarpState &s, const Group &g, uint32_t lanes, Clock &into,
                      bool onlyTensor) const {
  if (g.own.isEmpty())
    return;
  static constexpr Agent kWaited[] = {Agent::tmemLoad, Agent::tmemStore, Agent::bulkRead,
                                      Agent::bulkDone, Agent::copyAsync};
  for (Agent a : std::span(kWaited, onlyTensor ? 2 : std::size(kWaited)))
    if (uint32_t id = s.agents[size_t(a)])
      for (uint32_t m = lanes; m;) {
        uint32_t known = g.own.of(id, unsigned(__builtin_ctz(m))), same = 0;
        for (uint32_t k = m; k; k &= k - 1)
          if (g.own.of(id, unsigned(__builtin_ctz(k))) == known)
            same |= k & -k;
        m &= ~same;
        if (known)
          into.raise(id, same, known);
      }
}

/// Lanes of a group release what they know and what they did.
/// The earlier manual's fences and, by A3, releases: what the lanes have issued to the tensor
/// pipes may pipeline with what others issue behind the synchronisation.
void Hazards::giveIssued(const WarpState &s, uint32_t lanes, Clock &into) const {
  if (options.manual != ManualRevision::early || !assumes(3))
    return;
  for (Agent a : {Agent::tensor1, Agent::tensor2})
    if (uint32_t id = s.agents[size_t(a)])
      into.raise(id, lanes, components[id].count);
}

void Hazards::publish(WarpState &s, const Group &g, uint32_t lanes, Knowledge &into, Order order) {
  uint32_t own = component(s, Agent::thread);
  into.init.join(g.knows.init);
  into.weak.join(g.knows.weak);
  into.before.join(g.knows.before);
  into.earlierOver |= g.knows.earlierOver;
  into.sawRelaxed |= g.knows.sawRelaxed;
  if (isRelease(order)) {
    emu::join(into.carried, g.knows.carried);
    emu::join(into.carried, g.releasedWide);
    for (const ForeignPtr &seen : {g.knows.likely, g.pendingWide, g.pendingLikely})
      emu::join(into.likely, seen);
    giveIssued(s, lanes, into.before);
    into.commits.join(g.knows.commits);
    into.plain.join(g.knows.plain);
    giveOwn(s, g, lanes, into.plain);
    into.async.join(g.knows.async);
    into.maps.join(g.knows.maps);
    emu::join(into.foreign, g.knows.foreign);
    emu::join(into.acquired, g.knows.acquired);
    into.plain.raise(own, lanes, s.now);
    ++s.now;
    return;
  }
  into.plain.join(g.fenced.plain);
  into.async.join(g.fenced.async);
  into.maps.join(g.fenced.maps);
  emu::join(into.foreign, g.fenced.foreign);
  into.weak.join(g.knows.plain);
  into.weak.raise(own, lanes, s.now);
  ++s.now;
}

void Hazards::learn(Group &g, const Knowledge &from, Order order) {
  if (isAcquire(order)) {
    g.knows.join(from);
    if (options.manual == ManualRevision::early && assumes(3))
      g.tensorFenced.join(from.before);
    return;
  }
  g.pending.join(from);
  g.knows.earlierOver |= from.earlierOver;
  g.knows.sawRelaxed |= from.sawRelaxed;
  g.knows.init.join(from.init);
  g.knows.before.join(from.before);
  g.knows.weak.join(from.weak);
  g.knows.weak.join(from.plain);
}

/// Whether a relaxed flag hands on what its writer did, as Knowledge::weak. That decides what is
/// reported of several CTAs and of tensor memory; else it only names a mistake, for which
/// weaklyKnows() finds it out later.
bool Hazards::keepsWeak() const { return cluster.ctas.size() > 1 || usesTensor; }

/// A relaxed access to a flag without `weak`, which many threads may count by: what has no news
/// costs no joining, and parts no lanes of a group.
void Hazards::passFlag(WarpState &s, uint32_t lanes, uint64_t key, bool reads, bool writes) {
  Group &g = groupOf(s, unsigned(__builtin_ctz(lanes)));
  if (writes) {
    g.wroteRelaxed = true;
    s.relaxedAt = s.now++;
    const Knowledge &fenced = g.fenced;
    const bool hasNews = !barrierComponents.empty() || g.knows.earlierOver ||
                         !g.knows.init.isEmpty() || !g.knows.before.isEmpty() ||
                         !fenced.plain.isEmpty() || !fenced.async.isEmpty() ||
                         !fenced.maps.isEmpty() || fenced.foreign;
    if (hasNews) {
      Knowledge &into = flags[key];
      into.init.join(g.knows.init);
      into.before.join(g.knows.before);
      into.earlierOver |= g.knows.earlierOver;
      into.plain.join(fenced.plain);
      into.async.join(fenced.async);
      into.maps.join(fenced.maps);
      emu::join(into.foreign, fenced.foreign);
      for (uint32_t c : barrierComponents) {
        into.weak.joinOne(g.knows.weak, c);
        into.weak.joinOne(g.knows.plain, c);
      }
    }
  }
  if (!reads)
    return;
  g.knows.sawRelaxed = true;
  if (flags.empty())
    return;
  auto it = flags.find(key);
  if (it != flags.end() && !g.pending.includes(it->second))
    eachGroup(s, lanes, [&](Group &part) { learn(part, it->second, Order::relaxed); });
}

//===----------------------------------------------------------------------===//
// Barriers of warps, CTAs and clusters
//===----------------------------------------------------------------------===//

void Hazards::warpSync(Warp &w) {
  WarpState &s = stateOf(w);
  if (!(w.mask & (w.mask - 1)))
    return;
  Group all;
  all.lanes = w.mask;
  size_t kept = 0;
  for (Group &g : s.groups) {
    if (uint32_t here = g.lanes & w.mask) {
      all.join(g);
      giveOwn(s, g, here, all.knows.plain);
      g.lanes &= ~here;
    }
    if (g.lanes) {
      if (&s.groups[kept] != &g)
        s.groups[kept] = std::move(g);
      ++kept;
    }
  }
  s.groups.resize(kept);
  all.knows.plain.raise(component(s, Agent::thread), w.mask, s.now++);
  s.groups.push_back(std::move(all));
}

void Hazards::metByChance(const Warp &w, const Instruction &in) {
  report(Rule::OS8, in.line, 0,
         "(warp " + dec(w.id) +
             ") .aligned instruction behind a divergent branch; nothing made the lanes wait for "
             "each other");
}

void Hazards::namedArrive(Warp &w, unsigned id, bool waits) {
  WarpState &s = stateOf(w);
  Named &b = named[size_t(w.cta->rank) * 16 + id];
  eachGroup(s, w.mask, [&](Group &g) { publish(s, g, g.lanes, b.pending, Order::acquireRelease); });
  if (waits)
    b.waiting.emplace_back(&s, w.mask);
}

void Hazards::namedEnd(Cta &cta, unsigned id) {
  Named &b = named[size_t(cta.rank) * 16 + id];
  for (auto &[s, lanes] : b.waiting)
    eachGroup(*s, lanes, [&](Group &g) { learn(g, b.pending, Order::acquireRelease); });
  // Lanes that waited here together know the same from now on.
  for (auto &[s, lanes] : b.waiting) {
    size_t first = s->groups.size();
    for (size_t i = 0; i < s->groups.size();) {
      if ((s->groups[i].lanes & ~lanes) != 0) {
        ++i;
      } else if (first == s->groups.size()) {
        first = i++;
      } else {
        Group &into = s->groups[first];
        into.lanes |= s->groups[i].lanes;
        into.join(s->groups[i]);
        s->groups.erase(s->groups.begin() + long(i));
      }
    }
  }
  b = {};
}

void Hazards::clusterArrive(Warp &w, Order order) {
  WarpState &s = stateOf(w);
  if (!isRelease(order))
    s.relaxedClusterAt = s.now;
  eachGroup(s, w.mask, [&](Group &g) { publish(s, g, g.lanes, clusterPending, order); });
}

void Hazards::clusterEnd() {
  clusterDone = std::move(clusterPending);
  clusterPending = {};
}

void Hazards::clusterWait(Warp &w, Order order) {
  eachGroup(stateOf(w), w.mask, [&](Group &g) { learn(g, clusterDone, order); });
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

/// Of tensor memory only.
void Hazards::joinTensor(Clock &into, const Clock &from) const {
  for (uint32_t c = 1; c < from.size(); ++c)
    if (components[c].agent >= Agent::tensor1 && components[c].agent <= Agent::tmemStore)
      into.joinOne(from, c);
}

void Hazards::fence(Warp &w, FenceKind kind) {
  WarpState &s = stateOf(w);
  uint32_t own = component(s, Agent::thread);
  auto cover = [&](const Group &g, Clock &fenced) {
    fenced.join(g.knows.plain);
    giveOwn(s, g, g.lanes, fenced);
    fenced.raise(own, g.lanes, s.now);
  };
  auto coverForeign = [](Group &g, Clock Snapshot::*clock) {
    if (!g.knows.foreign)
      return;
    auto fenced = std::make_shared<Foreign>(*g.knows.foreign);
    for (auto &[turn, snapshot] : *fenced)
      (snapshot.*clock).join(snapshot.plain);
    g.knows.foreign = std::move(fenced);
  };
  auto coverGlobal = [&](Group &g) {
    cover(g, g.knows.async.global);
    coverForeign(g, &Snapshot::async);
  };
  eachGroup(s, w.mask, [&](Group &g) {
    switch (kind) {
    case FenceKind::threadWide:
    case FenceKind::thread:
      if (kind == FenceKind::threadWide &&
          (cluster.launch.kernel.talksThroughGlobal || cluster.launch.kernel.launchesDependents)) {
        absorb(g, g.pendingWide);
        emu::join(g.knows.likely, g.pendingLikely);
        emu::join(g.knows.carried, g.knows.likely);
        emu::join(g.releasedWide, releasable(s, g, g.lanes));
      }
      g.knows.plain.join(g.pending.plain);
      g.knows.async.join(g.pending.async);
      g.knows.maps.join(g.pending.maps);
      emu::join(g.knows.foreign, g.pending.foreign);
      g.fenced.maps.join(g.knows.maps);
      emu::join(g.fenced.foreign, g.knows.foreign);
      g.fenced.plain.join(g.knows.plain);
      g.fenced.plain.raise(own, g.lanes, s.now);
      giveOwn(s, g, g.lanes, g.fenced.plain);
      g.fenced.async.join(g.knows.async);
      break;
    case FenceKind::proxyAsync:
      cover(g, g.knows.async.shared);
      coverGlobal(g);
      break;
    case FenceKind::proxyAsyncGlobal:
      coverGlobal(g);
      break;
    case FenceKind::proxyAsyncCluster:
      cover(g, g.knows.async.shared);
      break;
    case FenceKind::proxyAsyncCta:
      if (cluster.ctas.size() == 1) {
        cover(g, g.knows.async.shared);
        break;
      }
      if (g.knows.async.own.size() <= w.cta->rank)
        g.knows.async.own.resize(w.cta->rank + 1);
      cover(g, g.knows.async.own[w.cta->rank]);
      break;
    case FenceKind::mbarrierInit:
      s.hasFencedInit = true;
      g.knows.init.raise(own, g.lanes, s.now);
      break;
    case FenceKind::tensormapRelease:
      cover(g, g.knows.maps);
      coverForeign(g, &Snapshot::maps);
      break;
    case FenceKind::none:
      break;
    case FenceKind::tcgen05Before:
      joinTensor(g.fenced.plain, g.knows.plain);
      giveOwn(s, g, g.lanes, g.fenced.plain, /*onlyTensor=*/true);
      giveIssued(s, g.lanes, g.knows.before);
      if (!assumes(3)) {
        joinTensor(g.knows.before, g.knows.plain);
        giveOwn(s, g, g.lanes, g.knows.before, /*onlyTensor=*/true);
      }
      break;
    case FenceKind::tcgen05After:
      joinTensor(g.knows.plain, g.pending.plain);
      g.tensorFenced = g.knows.plain;
      if (options.manual == ManualRevision::early && assumes(3))
        g.tensorFenced.join(g.knows.before);
      break;
    }
  });
  ++s.now;
}

//===----------------------------------------------------------------------===//
// Groups of copies
//===----------------------------------------------------------------------===//

void Hazards::closeGroup(Warp &w, bool bulk) {
  WarpState &s = stateOf(w);
  uint32_t count = components[component(s, bulk ? Agent::bulkRead : Agent::copyAsync)].count;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    std::vector<uint32_t> &ends = s.groupEnds[bulk][__builtin_ctz(m)];
    if (ends.size() == kOldGroups) // long since complete
      ends.erase(ends.begin(), ends.begin() + kOldGroups / 2);
    ends.push_back(count);
  }
}

/// kind: 0 cp.async, 1 bulk, 2 bulk, sources only. left: groups that may be open,
/// ~0: no copy at all.
void Hazards::waitGroup(Warp &w, unsigned kind, uint64_t left) {
  WarpState &s = stateOf(w);
  bool bulk = kind != 0;
  uint32_t read = component(s, bulk ? Agent::bulkRead : Agent::copyAsync);
  uint32_t done = kind == 1 ? component(s, Agent::bulkDone) : 0;
  auto knownOf = [&](unsigned lane) -> uint32_t {
    const std::vector<uint32_t> &ends = s.groupEnds[bulk][lane];
    if (left == ~uint64_t(0))
      return components[read].count;
    return ends.size() > left ? ends[ends.size() - 1 - left] : 0;
  };
  for (uint32_t rest = w.mask; rest;) {
    uint32_t known = knownOf(unsigned(__builtin_ctz(rest))), same = 0;
    for (uint32_t m = rest; m; m &= m - 1)
      if (knownOf(unsigned(__builtin_ctz(m))) == known)
        same |= m & -m;
    rest &= ~same;
    eachGroup(s, same, [&](Group &g) {
      g.own.raise(read, g.lanes, known);
      if (done)
        g.own.raise(done, g.lanes, known);
    });
  }
}

void Hazards::closeWgmma(Warp &w) {
  WarpState &s = stateOf(w);
  if (s.wgmmaEnds.size() == kOldGroups) // long since complete
    s.wgmmaEnds.erase(s.wgmmaEnds.begin(), s.wgmmaEnds.begin() + kOldGroups / 2);
  s.wgmmaEnds.push_back(components[component(s, Agent::wgmma)].count);
}

void Hazards::waitWgmma(Warp &w, uint64_t left) {
  WarpState &s = stateOf(w);
  if (s.wgmmaEnds.size() <= left)
    return;
  uint32_t id = component(s, Agent::wgmma), known = s.wgmmaEnds[s.wgmmaEnds.size() - 1 - left];
  eachGroup(s, w.mask, [&](Group &g) { g.knows.plain.raise(id, kAllLanes, known); });
  if (s.wgmma)
    s.wgmma->done = std::max(s.wgmma->done, known);
}

} // namespace blockscale::emu
