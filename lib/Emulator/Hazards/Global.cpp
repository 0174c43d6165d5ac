//===- Global.cpp - checks of global memory -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside a cluster the clocks say who knows what, as for shared memory. Towards other
// clusters knowledge travels through flags at gpu and sys scope as snapshots of a
// cluster's clocks (Knowledge.h).
//
//===----------------------------------------------------------------------===//

#include "LaunchHazards.h"
#include "State.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace blockscale::emu {

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

GlobalAccess Hazards::globalAccess(const Actor &x, bool isWide) const {
  GlobalAccess a;
  a.record = x.record;
  a.record.place = uint32_t(cluster.turn);
  a.warp = uint16_t(x.state->warp->id);
  a.rank = uint8_t(x.state->warp->cta->rank);
  a.isWide = isWide;
  return a;
}

namespace {
/// Lanes at the same address, without comparing each with each.
class AlikeLanes {
public:
  explicit AlikeLanes(const uint64_t *addresses) : addresses(addresses) {}
  void fill(uint32_t lanes) {
    std::memset(buckets, 0, sizeof buckets);
    for (uint32_t m = lanes; m; m &= m - 1)
      buckets[bucketOf(unsigned(__builtin_ctz(m)))] |= m & -m;
  }
  uint32_t of(unsigned lane) const {
    uint32_t out = 0;
    for (uint32_t m = buckets[bucketOf(lane)]; m; m &= m - 1)
      if (addresses[__builtin_ctz(m)] == addresses[lane])
        out |= m & -m;
    return out;
  }

private:
  static constexpr unsigned kBuckets = 64;
  const uint64_t *addresses;
  uint32_t buckets[kBuckets]; // not filled for ordinary accesses
  unsigned bucketOf(unsigned lane) const { return unsigned(addresses[lane] >> 2) % kBuckets; }
};
} // namespace

/// A warp's ordinary access, lane by lane or in runs of neighbours.
void Hazards::accesses(Warp &w, const Instruction &in, Touch touch, Space space,
                       const uint64_t *addresses, unsigned bytes, uint32_t same, Order order,
                       bool isWide) {
  if (space == Space::local || space == Space::param || space == Space::constant)
    return;
  const bool isGlobal = space == Space::global;
  const uint8_t shift = bytes <= 32 ? uint8_t(__builtin_ctz(bytes)) : kEveryLane;
  AlikeLanes alike(addresses);
  std::optional<Actor> strong;
  if (order == Order::relaxed) {
    alike.fill(w.mask);
    strong = actor(w, in, unsigned(__builtin_ctz(w.mask)), touch);
  }
  // Threads that count and have nothing to tell: strongAccess() of each lane, without its flags.
  auto onlyCounts = [&](const WarpState &s, const Group &g) {
    const Knowledge &k = g.knows, &f = g.fenced;
    return (isGlobal || space == Space::shared) && touch == Touch::atomic && !keepsWeak() &&
           flags.empty() && together->flags.empty() && barrierComponents.empty() &&
           s.groups.size() == 1 && g.own.isEmpty() && !g.releasedWide && !k.carried &&
           !k.earlierOver && k.init.isEmpty() && k.before.isEmpty() && f.plain.isEmpty() &&
           f.async.isEmpty() && f.maps.isEmpty() && !f.foreign;
  };
  if (strong && onlyCounts(*strong->state, *strong->group)) {
    WarpState &s = *strong->state;
    s.groups[0].wroteRelaxed = s.groups[0].knows.sawRelaxed = true;
    GlobalAccess a = globalAccess(*strong, isWide);
    for (uint32_t m = w.mask; m;) {
      const auto lane = unsigned(__builtin_ctz(m));
      const uint32_t together = alike.of(lane) & m;
      m &= ~together;
      strong->lane = lane;
      strong->record.lanes = a.record.lanes = together;
      strong->record.count = a.record.count = s.relaxedAt = s.now++;
      if (isGlobal)
        touchGlobal(*strong, a, addresses[lane], bytes);
      else
        touchSharedAt(*strong, space, addresses[lane], bytes);
    }
    return;
  }
  if (order == Order::weak && (space == Space::shared || space == Space::sharedCluster)) {
    std::optional<Actor> x;
    for (uint32_t m = w.mask; m; m &= m - 1) {
      const auto lane = unsigned(__builtin_ctz(m));
      if (!x || !(x->group->lanes >> lane & 1))
        x = actor(w, in, lane, touch);
      x->lane = lane;
      x->record.lanes = 1u << lane;
      x->record.touch = same >> lane & 1 ? Touch::storeSame : touch;
      touchSharedAt(*x, space, addresses[lane], bytes);
    }
    return;
  }
  // Reads of what nobody has written are only noted, whatever the threads know.
  std::optional<GlobalAccess> noted;
  if (isGlobal && touch == Touch::load && order == Order::weak && !together->earlier())
    noted = globalAccess(actor(w, in, unsigned(__builtin_ctz(w.mask)), touch), false);
  for (uint32_t m = w.mask; m;) {
    const auto lane = unsigned(__builtin_ctz(m));
    const uint64_t address = addresses[lane];
    const Touch here = same >> lane & 1 ? Touch::storeSame : touch;
    if (order == Order::relaxed) {
      // One access of all lanes at this address that know the same.
      Actor &x = *strong;
      const Group &g = groupOf(*x.state, lane);
      const uint32_t together =
          g.own.isEmpty() ? alike.of(lane) & m & g.lanes : uint32_t(1) << lane;
      uint64_t inSpace = address;
      const Space where = space == Space::generic ? classify(address, inSpace) : space;
      x.group = &g;
      x.lane = lane;
      x.record.touch = here;
      x.record.count = x.state->now;
      x.knownComponent = x.knownCount = 0;
      strongAccess(x, where, inSpace, bytes, together, order, isWide);
      m &= ~together;
      continue;
    }
    uint64_t unused;
    if (order != Order::weak ||
        (!isGlobal && (space != Space::generic || classify(address, unused) != Space::global))) {
      access(w, in, here, space, address, bytes, lane, order, isWide);
      m &= m - 1;
      continue;
    }
    // Lanes that go on where the one before ends, or read the same.
    uint32_t run = 1u << lane;
    bool isCommon = false;
    for (unsigned next = lane + 1; next < 32 && (m >> next & 1); ++next) {
      const uint64_t step = addresses[next] - address;
      const bool common = step == 0 && (next == lane + 1 || isCommon);
      if ((!common && (isCommon || step != uint64_t(next - lane) * bytes)) ||
          ((same >> next ^ same >> lane) & 1))
        break;
      isCommon = common;
      run |= 1u << next;
    }
    m &= ~run;
    uint32_t owners = run;
    uint8_t pattern = kEveryLane;
    uint64_t length = bytes;
    if ((run & (run - 1)) && !isCommon) {
      owners = lane;
      pattern = shift;
      length = uint64_t(bytes) * uint64_t(__builtin_popcount(run));
    }
    if (noted) {
      noted->record.lanes = owners;
      noted->record.shift = pattern;
      if (shadow->note(*noted, address, length))
        continue;
    }
    Actor x = actor(w, in, lane, here);
    GlobalAccess a = globalAccess(x, false);
    a.record.lanes = owners;
    a.record.shift = pattern;
    if (run & (run - 1)) {
      // Each lane may know something else.
      if ((x.group->lanes & run) != run) {
        for (uint32_t one = run; one; one &= one - 1) {
          const auto l = unsigned(__builtin_ctz(one));
          Actor y = actor(w, in, l, here);
          touchGlobal(y, globalAccess(y, false), addresses[l], bytes);
        }
        continue;
      }
    }
    touchGlobal(x, a, address, length);
  }
}

uint32_t Hazards::stored(uint64_t address, unsigned bytes, unsigned count, const uint8_t *values,
                         uint32_t same) {
  using Before = StoredBytes::Before;
  Before before[32 * 32];
  ownShadow->store(address, uint64_t(bytes) * count, values, before);
  for (unsigned i = 0; i < count; ++i) {
    const Before *const first = before + size_t(i) * bytes, *const end = first + bytes;
    if (std::find(first, end, Before::other) != end)
      same &= ~(1u << i);
    else if (std::find(first, end, Before::nothing) == end)
      same |= 1u << i;
  }
  return same;
}

void Hazards::touchGlobal(const Actor &x, const GlobalAccess &a, uint64_t address, uint64_t bytes) {
  checkEarlier(x, a, address, bytes);
  shadow->touch(a, address, bytes,
                [&](const GlobalAccess &part, const GlobalAccess &earlier, uint64_t cell,
                    unsigned from, unsigned to) {
                  if (isWrite(part.record.touch) || isWrite(earlier.record.touch))
                    checkGlobal(x, part, earlier, cell, from, to);
                });
  if (!globalConflicts.empty())
    flushGlobal(x);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

const Snapshot *Hazards::foreignOf(const Actor &x, uint32_t turn) const {
  const ForeignPtr &foreign = x.group->knows.foreign;
  if (!foreign)
    return nullptr;
  auto it = foreign->find(turn);
  return it == foreign->end() ? nullptr : &it->second;
}

/// Lanes of the earlier access that touched bytes which another lane of the same warp
/// touches now.
static uint32_t others(const GlobalAccess &now, const GlobalAccess &then, unsigned from,
                       unsigned to) {
  unsigned step = to - from;
  for (const GlobalAccess *a : {&now, &then})
    if (a->record.shift != kEveryLane)
      step = std::min(step, 1u << a->record.shift);
  uint32_t out = 0;
  for (unsigned b = from; b < to; b += step) {
    const uint32_t here = now.owners(b, b + step), there = then.owners(b, b + step);
    out |=
        here & (here - 1) ? (here == there && !(there & (there - 1)) ? 0 : there) : there & ~here;
  }
  return out;
}

/// Both strong and of the same bytes; the elements of a cp.reduce are not told apart.
static bool isSameElement(const GlobalAccess &a, const GlobalAccess &e) {
  return isStrong(a.record.touch) && isStrong(e.record.touch) &&
         (a.record.touch == Touch::globalReduce || e.record.touch == Touch::globalReduce ||
          (a.from == e.from && a.to == e.to));
}

void Hazards::checkGlobal(const Actor &x, const GlobalAccess &a, const GlobalAccess &e,
                          uint64_t cell, unsigned from, unsigned to) {
  const Touch now = a.record.touch, then = e.record.touch;
  const bool isOwn = e.turn() == a.turn();
  if (a.isSameOperation(e) || (isSameElement(a, e) && (isOwn || (a.isWide && e.isWide))))
    return;
  // A thread's own accesses are in order, its bulk stores are not.
  auto isOfOwnWarp = [&](const GlobalAccess &o) {
    const uint32_t component = o.record.component;
    return o.turn() == a.turn() && component == x.record.component &&
           components[component].agent == Agent::thread;
  };
  auto recordOf = [&](const GlobalAccess &o) {
    Record r = o.record;
    r.shift = kEveryLane;
    r.bytes = 1;
    r.lanes = isOfOwnWarp(o) ? others(a, o, from, to) : o.owners(from, to);
    return r;
  };
  const Record r = recordOf(e);
  if (now == Touch::mapRead || then == Touch::mapRead) {
    const uint64_t map = cell + uint64_t(int64_t(now == Touch::mapRead ? a.base : e.base));
    if (const char *missing = mapMissing(x, a, e, r, map))
      addConflict(Rule::TP1, e, cell + from, cell + to - 1, missing);
    return;
  }
  const Snapshot *foreign = isOwn ? nullptr : foreignOf(x, e.turn());
  auto covered = [&](const Clock &own, Clock Snapshot::*clock) {
    return isOwn ? own.covers(r.component, r.lanes, r.count)
                 : foreign && (foreign->*clock).covers(r.component, r.lanes, r.count);
  };
  const uint32_t lanes = a.owners(from, to);
  const bool isOneLane =
      x.record.component != x.state->agents[size_t(Agent::thread)] || !(lanes & (lanes - 1));
  auto isKnown = [&](const GlobalAccess &o, const Record &of) {
    if (!of.lanes)
      return true;
    if (o.turn() == a.turn())
      return !isOfOwnWarp(o) && isOneLane
                 ? knows(x, of, 1)
                 : x.group->knows.plain.covers(of.component, of.lanes, of.count);
    const Snapshot *known = foreignOf(x, o.turn());
    return known && known->plain.covers(of.component, of.lanes, of.count);
  };
  // Whoever is behind a strong load that found the strong write there, or a later one, is behind
  // that write, released or not: causality order goes through observation order.
  auto isObserved = [&] {
    bool found = false;
    if (then == Touch::atomic && isGenericProxy(now) && !isStrong(now))
      shadow->overlaps(
          cell + e.from, e.to - e.from, [&](const GlobalAccess &o, uint64_t, uint64_t) {
            found |= o.record.touch == Touch::strongLoad && o.from == e.from && o.to == e.to &&
                     (o.turn() == e.turn() || (o.isWide && e.isWide)) && isKnown(o, recordOf(o));
          });
    return found;
  };
  const bool known = isKnown(e, r) || isObserved();
  const bool isSameCta = isOwn && e.rank == a.rank;
  auto place = [&](Rule rule, const char *missing = nullptr) {
    addConflict(rule, e, cell + from, cell + to - 1, missing);
  };
  if (known) {
    if (isAsyncProxy(now) && isGenericProxy(then) &&
        !covered(x.group->knows.async.global, &Snapshot::async))
      place(!isWrite(then) || isWrite(now) ? Rule::PX3 : isSameCta ? Rule::PX1 : Rule::GM2);
    return;
  }
  // By the model a relaxed write hands on only what a fence of its own thread is behind, and a
  // relaxed read brings it to nobody but its own thread, behind a fence. Kernels whose threads
  // each fence, meet at a barrier and let one of them count rely on more, and ship everywhere.
  if (!isSameCta && x.group->knows.likely) {
    auto it = x.group->knows.likely->find(e.turn());
    if (it != x.group->knows.likely->end() &&
        it->second.plain.covers(r.component, r.lanes, r.count)) {
      place(Rule::OS10);
      return;
    }
  }
  if (isGuessOfSwap(cluster.launch.kernel, a.record, e.record)) {
    place(Rule::OS11);
    return;
  }
  if (then == Touch::globalWrite || then == Touch::globalReduce) {
    // The source is read at least.
    Record read = r;
    read.component = e.readBy;
    const bool isRead =
        isOwn ? knows(x, read, 1)
              : foreign && foreign->plain.covers(read.component, read.lanes, read.count);
    place(isRead         ? Rule::BK2
          : !isSameCta   ? Rule::GM1
          : isWrite(now) ? Rule::OS3
                         : Rule::OS1,
          isRead
              ? nullptr
              : "cp.async.bulk.wait_group by the thread that issued it, and a release and acquire");
    return;
  }
  auto isPlain = [](Touch t) { return t == Touch::store || t == Touch::storeSame; };
  if (now == Touch::storeSame && isPlain(then))
    place(Rule::OS6);
  else if (!isSameCta)
    place(Rule::GM1);
  else if (then == Touch::globalRead || then == Touch::copyAsyncRead)
    place(Rule::OS3, "completion of the copy seen before its source is written");
  else
    place(Rule::OS7);
}

void Hazards::addConflict(Rule rule, const GlobalAccess &other, uint64_t from, uint64_t to,
                          const char *missing) {
  for (GlobalConflict &c : globalConflicts)
    if (c.rule == rule && c.other.record.site == other.record.site &&
        c.other.turn() == other.turn()) {
      c.from = std::min(c.from, from);
      c.to = std::max(c.to, to);
      return;
    }
  globalConflicts.push_back(
      {rule, info(rule).level, other, from, to, std::string(missing ? missing : "")});
}

void Hazards::flushGlobal(const Actor &x) {
  const Launch &launch = cluster.launch;
  for (const GlobalConflict &c : globalConflicts) {
    const Touch now = x.record.touch, then = c.other.record.touch;
    const uint32_t line = launch.kernel.code[c.other.record.site].line;
    std::string text = verb(now);
    text += " (warp " + dec(x.state->warp->id) + ")" + (isWrite(now) ? " writes " : " reads ") +
            describeGlobal(launch.memory, c.from, c.to) + " that " + verb(then) + " at " +
            launch.module.file + ":" + dec(line) + " (warp " + dec(c.other.warp);
    if (c.other.turn() != uint32_t(cluster.turn))
      text += " of another cluster";
    else if (cluster.ctas.size() > 1)
      text += ", cta rank " + dec(c.other.rank);
    text += ")";
    if (now == Touch::mapRead)
      text += " changed, not yet visible to the tensormap proxy";
    else if (c.rule == Rule::PX1 || c.rule == Rule::GM2)
      text += " wrote, not yet visible to the async proxy";
    else if (isAsynchronous(then))
      text += isWrite(then) ? " may still be writing" : " may still be reading";
    else
      text += isWrite(then) ? " may not have written" : " may not have read";
    report(c.rule, c.level, x.in->line, line, text, c.missing);
  }
  globalConflicts.clear();
}

//===----------------------------------------------------------------------===//
// Flags between clusters
//===----------------------------------------------------------------------===//

/// What lanes of a group could release at gpu scope.
ForeignPtr Hazards::releasable(WarpState &s, const Group &g, uint32_t lanes) {
  auto out =
      g.knows.foreign ? std::make_shared<Foreign>(*g.knows.foreign) : std::make_shared<Foreign>();
  Snapshot &own = (*out)[uint32_t(cluster.turn)];
  own.plain.join(g.knows.plain);
  giveOwn(s, g, lanes, own.plain);
  own.plain.raise(component(s, Agent::thread), lanes, s.now);
  own.async.join(g.knows.async.global);
  own.maps.join(g.knows.maps);
  return out;
}

/// Also brings back what this cluster had released.
void Hazards::absorb(Group &g, const ForeignPtr &from) {
  if (!from || g.absorbed == from)
    return;
  g.absorbed = from;
  emu::join(g.knows.foreign, from);
  if (auto it = from->find(uint32_t(cluster.turn)); it != from->end()) {
    g.knows.plain.join(it->second.plain);
    g.knows.async.global.join(it->second.async);
    g.knows.maps.join(it->second.maps);
  }
}

/// A strong access at gpu or sys scope.
void Hazards::wideFlag(WarpState &s, uint32_t lanes, uint64_t address, bool reads, bool writes,
                       Order order) {
  // Most atomics of a kernel are no flags: nobody has anything to hand on by them.
  const Group &first = groupOf(s, unsigned(__builtin_ctz(lanes)));
  const bool gives = writes && (isRelease(order) || first.knows.earlierOver || first.releasedWide ||
                                first.knows.carried);
  auto hasSeen = [&](const LaunchHazards::Flag &f) {
    return (!f.earlierOver || first.knows.earlierOver) &&
           (!f.released || f.released == first.pendingWide) &&
           (!f.likely || f.likely == first.pendingLikely);
  };
  if (order == Order::relaxed && !gives && together->flags.empty())
    return;
  auto known = together->flags.find(address);
  if (order == Order::relaxed && !gives &&
      (!reads || known == together->flags.end() || hasSeen(known->second)))
    return;
  LaunchHazards::Flag &flag =
      known == together->flags.end() ? together->flags[address] : known->second;
  auto read = [&](Group &g) {
    g.knows.earlierOver |= flag.earlierOver;
    if (isAcquire(order)) {
      absorb(g, flag.released);
      emu::join(g.knows.likely, flag.likely);
    } else {
      emu::join(g.pendingWide, flag.released);
      emu::join(g.pendingLikely, flag.likely);
    }
  };
  auto write = [&](Group &g) {
    flag.earlierOver |= g.knows.earlierOver;
    emu::join(flag.released, isRelease(order) ? releasable(s, g, g.lanes) : g.releasedWide);
    emu::join(flag.likely, g.knows.carried);
    if (isRelease(order))
      emu::join(flag.likely, g.knows.likely);
  };
  eachGroup(s, lanes, [&](Group &g) {
    if (writes && order == Order::relaxed) // which each of the lanes may see
      write(g);
    if (reads)
      read(g);
    if (writes && order != Order::relaxed)
      write(g);
  });
}

} // namespace blockscale::emu
