//===- Shared.cpp - checks of shared memory -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An access conflicts with a record of its bytes when one of the two writes and the
// accessing thread does not know the record's component up to its count, or, across
// the generic and the async proxy, not with a proxy fence on the way.
//
//===----------------------------------------------------------------------===//

#include "LaunchHazards.h"
#include "State.h"

#include "../CompareAndSwap.h"

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

bool Hazards::knows(const Actor &x, const Record &r, uint32_t bytes) const {
  if (r.component == x.knownComponent && r.count <= x.knownCount)
    return true;
  if (r.touch == Touch::mmaSharedA && isReadOfA(x, r))
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
    // What a lane did itself is in order; of several lanes at once another one did it.
    if (x.record.component != r.component || !(x.record.lanes & (x.record.lanes - 1)))
      lanes &= ~(1u << x.lane);
    if (!lanes)
      return true;
  }
  if (c.warp == x.state && (lanes >> x.lane & 1) && x.group->own.of(r.component, x.lane) >= r.count)
    lanes &= ~(1u << x.lane);
  return !lanes || x.group->knows.plain.covers(r.component, lanes, r.count);
}

bool Hazards::weaklyKnows(const Actor &x, const Record &r, uint32_t bytes) const {
  if (x.group->knows.weak.covers(r.component, r.owners(bytes), r.count))
    return true;
  if (!x.group->knows.sawRelaxed)
    return false;
  // Through a flag that does not tell what its writers knew.
  for (const auto &s : warps)
    for (const Group &g : s->groups)
      if (g.wroteRelaxed && ((components[r.component].warp == s.get() && r.count <= s->relaxedAt) ||
                             g.knows.plain.covers(r.component, r.owners(bytes), r.count)))
        return true;
  return false;
}

/// A restricted commit says that the tensor pipe has read its A operands.
bool Hazards::isReadOfA(const Actor &x, const Record &r) const {
  const uint32_t read = components[r.component].aRead;
  return read && x.group->knows.plain.covers(read, r.lanes, r.count);
}

/// A proxy fence that covers shared memory of the CTA is on the way.
bool Hazards::isFenced(const Actor &x, const Record &r, uint32_t bytes, unsigned rank) const {
  const FencedClock &fenced = x.group->knows.async;
  uint32_t lanes = fenced.shared.unknown(r.component, r.owners(bytes), r.count);
  if (lanes && rank < fenced.own.size())
    lanes = fenced.own[rank].unknown(r.component, lanes, r.count);
  return !lanes;
}

/// One of the two is an atomic, the other the ordinary load of a value that a compare-and-swap
/// expects. Kernels do so everywhere.
bool isGuessOfSwap(const Kernel &kernel, const Record &a, const Record &b) {
  if (a.touch == Touch::load && b.touch == Touch::atomic)
    return isFirstGuess(kernel, kernel.code[a.site]);
  return b.touch == Touch::load && a.touch == Touch::atomic &&
         isFirstGuess(kernel, kernel.code[b.site]);
}

/// The rule that unordered accesses break.
Rule Hazards::sharedRule(const Actor &x, const Record &r, uint32_t bytes) const {
  if (isGuessOfSwap(cluster.launch.kernel, x.record, r))
    return Rule::OS11;
  switch (r.touch) {
  case Touch::mmaShared:
  case Touch::mmaSharedA:
  case Touch::cpShared:
    if (isReadOfA(x, r))
      return Rule::SM2;
    return weaklyKnows(x, r, bytes) ? (sawRelaxedWait ? Rule::OS5 : Rule::TM10) : Rule::SM1;
  case Touch::bulkRead:
  case Touch::bulkSource:
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
  const WarpState *by = components[r.component].warp;
  if (weaklyKnows(x, r, bytes)) // by the cluster barrier, if it came behind the access
    return by && r.count <= by->relaxedClusterAt ? Rule::CL1 : Rule::OS5;
  return by == x.state ? Rule::CL4 : Rule::OS2;
}

/// A7: a store over what a committed operation has read, and asynchronous accesses that two
/// CTAs have issued.
bool Hazards::needsFenceWithoutA7(const Actor &x, const Record &r) const {
  if (!isAsyncProxy(x.record.touch))
    return r.touch == Touch::mmaShared || r.touch == Touch::mmaSharedA ||
           r.touch == Touch::cpShared;
  return isAsyncProxy(r.touch) && r.place != x.record.place;
}

/// Strong accesses exclude each other's races only where they are of the same bytes
/// (PTX ISA 9.4, 8.7.1). What operations do without a thread comes by elements of no known size.
static bool isMorallyStrong(const Record &r, const Record &now, uint32_t bytes) {
  if (!isStrong(r.touch) || !isStrong(now.touch))
    return false;
  if (r.touch == Touch::reduceAsync || now.touch == Touch::reduceAsync)
    return true;
  return r.shift == kEveryLane ? r.bytes == bytes
                               : 1u << r.shift == unsigned(__builtin_popcount(bytes));
}

void Hazards::checkShared(const Actor &x, const Cell &cell, uint32_t bytes, unsigned rank,
                          uint32_t at) {
  const bool writes = isWrite(x.record.touch), async = isAsyncProxy(x.record.touch);
  auto place = [&](Rule rule, const Record &r, uint32_t both) {
    uint32_t from = at + uint32_t(__builtin_ctz(both)),
             to = at + 31 - uint32_t(__builtin_clz(both));
    conflict(rule, info(rule).level, r, /*isTensor=*/false, rank, from, to);
  };
  for (const Record &r : cell) {
    const uint32_t both = r.bytes & bytes;
    if (!both || (!writes && !isWrite(r.touch)) || r.isSameOperation(x.record) ||
        isMorallyStrong(r, x.record, bytes))
      continue;
    if (!knows(x, r, both)) {
      // What a later known read came after is known too.
      bool implied =
          isWrite(r.touch) && std::any_of(cell.begin(), cell.end(), [&](const Record &q) {
            return !isWrite(q.touch) && (q.bytes & both) == both && knows(x, q, both);
          });
      const bool byCommit =
          !assumes(6) && x.group->knows.commits.covers(r.component, r.owners(both), r.count);
      if (!implied)
        place(byCommit ? Rule::OS13 : sharedRule(x, r, both), r, both);
      continue;
    }
    if (!assumes(7) && needsFenceWithoutA7(x, r) && !isFenced(x, r, both, rank))
      conflict(Rule::PX4, HazardLevel::strict, r, /*isTensor=*/false, rank,
               at + uint32_t(__builtin_ctz(both)), at + 31 - uint32_t(__builtin_clz(both)));
    if (async && isGenericProxy(r.touch) && !isFenced(x, r, both, rank))
      place(r.touch == Touch::copyAsync   ? Rule::PX2
            : isWrite(r.touch) && !writes ? Rule::PX1
                                          : Rule::PX3,
            r, both);
  }
}

void Hazards::touchShared(const Actor &x, Cta &cta, uint32_t offset, uint32_t bytes) {
  Cells &cells = sharedCells[cta.rank];
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
    r.bytes = uint32_t((uint64_t(1) << last) - (uint64_t(1) << first));
    Cell &cell = cells[index];
    at = start + kCellBytes;
    if (r.touch == Touch::atomic &&
        cell.countAgain(r, [&](const Record &o) { return knows(x, o, o.bytes & r.bytes); }))
      continue;
    if (!cell.isEmpty())
      checkShared(x, cell, r.bytes, cta.rank, start);
    if (writes)
      cell.addWrite(r);
    else
      cell.addRead(r);
  }
  if (!conflicts.empty())
    flush(x);
}

void Hazards::access(Warp &w, const Instruction &in, Touch touch, Space space, uint64_t address,
                     unsigned bytes, unsigned lane, Order order, bool isWide) {
  if (space == Space::generic)
    space = classify(address, address);
  Actor x = actor(w, in, lane, touch);
  if (order != Order::weak) // how flags are made
    return strongAccess(x, space, address, bytes, 1u << lane, order, isWide);
  if (space == Space::global)
    touchGlobal(x, globalAccess(x, isWide), address, bytes);
  else
    touchSharedAt(x, space, address, bytes);
}

void Hazards::lanesCollided(const Warp &w, const Instruction &in, const char *store, Space space,
                            const uint64_t *addresses, unsigned bytes, uint32_t lanes,
                            uint32_t lost) {
  const auto lane = unsigned(__builtin_ctz(lost));
  unsigned other = lane;
  for (uint32_t m = lanes & ~(1u << lane); m; m &= m - 1) {
    const auto l = unsigned(__builtin_ctz(m));
    if (addresses[l] - addresses[lane] + bytes - 1 < 2 * bytes - 1)
      other = l;
  }
  if (other == lane) // another cluster's store
    return;
  uint64_t at = addresses[lane];
  if (space == Space::generic)
    space = classify(at, at);
  const std::string what = space == Space::global
                               ? describeGlobal(cluster.launch.memory, at, at + bytes - 1)
                               : "shared memory bytes " + hex(at & kSharedOffsetMask) + ".." +
                                     hex((at & kSharedOffsetMask) + bytes - 1);
  report(Rule::OS12, info(Rule::OS12).level, in.line, in.line,
         std::string(store) + " (warp " + dec(w.id) + ") writes " + what + " by lanes " +
             dec(lane) + " and " + dec(other) + " with different values",
         {});
}

void Hazards::usedFailedAnswer(const Warp &w, const Instruction &in) {
  report(Rule::OS15, in.line, 0,
         "(warp " + dec(w.id) +
             ") takes the first CTA from an answer that says that no cluster was cancelled");
}

/// OS14: something of that CTA must be known.
void Hazards::checkStarted(const Actor &x, uint32_t rank, uint32_t offset, unsigned bytes) {
  const Knowledge &k = x.group->knows;
  for (const auto &s : warps)
    if (s->warp->cta->rank == rank)
      if (const uint32_t c = s->agents[size_t(Agent::thread)];
          c && (k.plain.coversAny(c, kAllLanes, 1) || k.weak.coversAny(c, kAllLanes, 1)))
        return;
  if (!k.sawRelaxed)
    report(Rule::OS14, x.in->line, 0,
           std::string(verb(x.record.touch)) + " (warp " + dec(x.state->warp->id) +
               ") touches shared memory bytes " + hex(offset) + ".." + hex(offset + bytes - 1) +
               " of cta rank " + dec(rank) + ", which it does not know to have started");
}

void Hazards::touchSharedAt(const Actor &x, Space space, uint64_t address, unsigned bytes) {
  if (space != Space::shared && space != Space::sharedCluster)
    return;
  Cta *cta = cluster.ctaOf(address);
  if (cta != x.state->warp->cta)
    checkStarted(x, cta->rank, uint32_t(address & kSharedOffsetMask), bytes);
  touchShared(x, *cta, uint32_t(address & kSharedOffsetMask), bytes);
  if (cta != x.state->warp->cta)
    endings[cta->rank].add(x.record, isWrite(x.record.touch),
                           {x.in->line, uint32_t(address & kSharedOffsetMask),
                            uint32_t(address & kSharedOffsetMask) + bytes - 1});
}

/// Of lanes of one group at one address; several only in a relaxed access, where no lane's
/// release may tell the next one of something.
void Hazards::strongAccess(Actor &x, Space space, uint64_t address, unsigned bytes, uint32_t lanes,
                           Order order, bool isWide) {
  const Touch touch = x.record.touch;
  const bool isShared = space == Space::shared || space == Space::sharedCluster;
  if (!isShared && space != Space::global)
    return;
  const bool reads = touch != Touch::store && touch != Touch::storeSame,
             writes = touch != Touch::load;
  const unsigned lane = x.lane;
  x.record.touch = writes ? Touch::atomic : Touch::strongLoad;
  x.record.lanes = lanes;
  if (isShared)
    touchSharedAt(x, space, address, bytes);
  else
    touchGlobal(x, globalAccess(x, isWide), address, bytes);
  WarpState &s = *x.state;
  if (!isShared && isWide && shadow != ownShadow.get())
    wideFlag(s, lanes, address, reads, writes, order);
  const uint64_t key = address | (isShared ? uint64_t(1) << 63 : 0);
  if (!keepsWeak()) {
    if (order == Order::relaxed)
      return passFlag(s, lanes, key, reads, writes);
    groupOf(s, lane).knows.sawRelaxed |= reads; // perhaps of a relaxed write
  }
  auto write = [&] { publish(s, groupOf(s, lane), lanes, flags[key], order); };
  if (writes && order == Order::relaxed) // which each of the lanes may see
    write();
  if (auto it = flags.find(key); reads && it != flags.end())
    eachGroup(s, lanes, [&](Group &g) { learn(g, it->second, order); });
  if (writes && order != Order::relaxed)
    write();
}

} // namespace blockscale::emu
