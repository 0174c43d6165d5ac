//===- DependentGrids.cpp - grids that start before others are over -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Grids run one after the other here. What a launch has touched is kept, and an access
// of a dependent grid that no griddepcontrol.wait comes ahead of is compared with it.
// Whatever a thread learns of another behind that thread's wait, it learns behind the end
// of the earlier grids, be it by a relaxed access or the arrival of a copy.
//
//===----------------------------------------------------------------------===//

#include "LaunchHazards.h"
#include "State.h"

namespace blockscale::emu {

void Hazards::waitsForEarlierGrids(Warp &w) {
  dependence[w.cta->rank].waits = true;
  eachGroup(stateOf(w), w.mask, [](Group &g) { g.knows.earlierOver = true; });
}

/// Each of a CTA's launch_dependents behind a releasing fence synchronises with the start of the
/// dependents. Fences of other threads ahead of a barrier count, too: what OS10 only warns of is
/// no error here.
void Hazards::launchesDependents(Warp &w) {
  Dependence &d = dependence[w.cta->rank];
  d.launches = true;
  bool isBehindEarlier = false;
  eachGroup(stateOf(w), w.mask, [&](Group &g) {
    isBehindEarlier |= g.knows.earlierOver;
    for (const ForeignPtr &seen : {g.releasedWide, g.knows.carried})
      if (seen)
        for (const auto &[turn, snapshot] : *seen)
          visible[turn].join(snapshot);
  });
  if (isBehindEarlier)
    together->dependentsStart({}, isBehindEarlier, /*launches=*/true);
}

void Hazards::finished() {
  bool isBehindEarlier = false, launches = false;
  for (const Dependence &d : dependence) {
    isBehindEarlier |= d.waits && !d.launches;
    launches |= d.launches;
  }
  together->dependentsStart(ownShadow ? Foreign() : visible, isBehindEarlier, launches);
  if (!ownShadow)
    return;
  markVisible(*ownShadow, visible);
  together->merge(cluster.turn, std::move(ownShadow));
}

void markVisible(GlobalShadow &shadow, const Foreign &sees) {
  if (sees.empty())
    return;
  shadow.eachAccess([&](GlobalAccess &a) {
    if (auto it = sees.find(a.turn()); it != sees.end())
      a.isVisible |=
          it->second.plain.covers(a.record.component, a.owners(a.from, a.to), a.record.count);
  });
}

void LaunchHazards::dependentsStart(const Foreign &sees, bool isBehindEarlier, bool launches) {
  std::lock_guard<std::mutex> guard(lock);
  for (const auto &[turn, snapshot] : sees)
    visible[turn].join(snapshot);
  isEarlierOver |= isBehindEarlier;
  launchesDependents |= launches;
}

std::shared_ptr<const EarlierGrid> LaunchHazards::end() {
  // Only a grid that executes launch_dependents may still run when dependents start.
  if (!launchesDependents)
    return isEarlierOver ? nullptr : before;
  markVisible(shadow, visible);
  shadow.settle();
  auto grid = std::make_shared<EarlierGrid>(std::move(shadow));
  grid->kernel = launch.kernel.name;
  grid->file = launch.module.file;
  grid->source = launch.module.source;
  for (const Instruction &in : launch.kernel.code)
    grid->lines.push_back(in.line);
  if (!isEarlierOver)
    grid->before = before;
  return grid;
}

/// GM3.
void Hazards::checkEarlier(const Actor &x, const GlobalAccess &a, uint64_t address,
                           uint64_t bytes) {
  if (!together->earlier() || x.group->knows.earlierOver)
    return;
  const Touch now = a.record.touch;
  auto isPlain = [](Touch t) { return t == Touch::store || t == Touch::storeSame; };
  for (const EarlierGrid *grid = together->earlier(); grid; grid = grid->before.get()) {
    const GlobalAccess *other = nullptr;
    uint64_t first = 0, last = 0;
    grid->accesses.overlaps(address, bytes, [&](const GlobalAccess &e, uint64_t from, uint64_t to) {
      const Touch then = e.record.touch;
      if (e.isVisible || !(isWrite(now) || isWrite(then)) ||
          (isStrong(now) && isStrong(then) && a.isWide && e.isWide) ||
          (now == Touch::storeSame && isPlain(then)))
        return;
      if (!other) {
        other = &e;
        first = from;
        last = to - 1;
      } else if (other->record.site == e.record.site) {
        first = std::min(first, from);
        last = std::max(last, to - 1);
      }
    });
    if (!other)
      continue;
    const Touch then = other->record.touch;
    const uint32_t line = grid->lines[other->record.site];
    const bool isSameSource = grid->source == cluster.launch.module.source;
    report(Rule::GM3, x.in->line, isSameSource ? line : 0,
           verb(now) + std::string(" (warp ") + dec(x.state->warp->id) + ")" +
               (isWrite(now) ? " writes " : " reads ") +
               describeGlobal(cluster.launch.memory, first, last) + " that " + verb(then) + " at " +
               grid->file + ":" + dec(line) + " of the earlier grid " + grid->kernel +
               (isWrite(then) ? " may not have written" : " may not have read"));
  }
}

} // namespace blockscale::emu
