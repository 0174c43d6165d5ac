//===- TensorMaps.cpp - tensor maps that a kernel changes -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 8.9.4 and 9.7.15.17: copies read maps through a proxy of their own. A
// change is seen behind a releasing fence of the writer, synchronisation, and an
// acquiring fence on the map's address; a kernel's end does not stand for them.
//
//===----------------------------------------------------------------------===//

#include "LaunchHazards.h"
#include "State.h"

#include "blockscale/Facts/LayoutsTma.h"

namespace blockscale::emu {

void Hazards::mapReplaced(Warp &w, const Instruction &in, unsigned lane, Space space,
                          uint64_t address) {
  if (space == Space::generic)
    space = classify(address, address);
  access(w, in, Touch::store, space, address, unsigned(facts::kTmaMapBytes), lane);
  if (space == Space::global)
    together->mapChanged(address);
}

/// tensormap.cp_fenceproxy: a copy with a releasing fence behind it.
void Hazards::mapCopied(Warp &w, const Instruction &in, uint64_t from, uint64_t to) {
  const auto bytes = unsigned(facts::kTmaMapBytes);
  access(w, in, Touch::load, Space::shared, from, bytes, w.leader());
  access(w, in, Touch::store, Space::global, to, bytes, w.leader());
  together->mapChanged(to);
  fence(w, FenceKind::tensormapRelease);
}

void Hazards::mapAcquired(Warp &w, uint32_t lanes, uint64_t address) {
  eachGroup(stateOf(w), lanes, [&](Group &g) {
    auto maps = g.knows.acquired ? std::make_shared<AcquiredMaps>(*g.knows.acquired)
                                 : std::make_shared<AcquiredMaps>();
    AcquiredMap &map = (*maps)[address];
    map.local.join(g.knows.maps);
    emu::join(map.foreign, g.knows.foreign);
    g.knows.acquired = std::move(maps);
  });
}

/// What stands between a use of a map and an earlier change of it, or the reverse; null:
/// nothing.
const char *Hazards::mapMissing(const Actor &x, const GlobalAccess &a, const GlobalAccess &earlier,
                                const Record &r, uint64_t address) const {
  const bool isOwn = a.turn() == earlier.turn();
  auto covers = [&](const Clock &own, const Foreign *foreign, Clock Snapshot::*clock) {
    if (isOwn)
      return own.covers(r.component, r.lanes, r.count);
    if (!foreign)
      return false;
    auto it = foreign->find(earlier.turn());
    return it != foreign->end() && (it->second.*clock).covers(r.component, r.lanes, r.count);
  };
  const Knowledge &knows = x.group->knows;
  if (a.record.touch != Touch::mapRead) {
    const bool over =
        isOwn ? this->knows(x, r, 1) : covers(knows.plain, knows.foreign.get(), &Snapshot::plain);
    return over ? nullptr : "completion of the copies that use the map, seen before it is changed";
  }
  if (knows.acquired)
    if (auto it = knows.acquired->find(address);
        it != knows.acquired->end() &&
        covers(it->second.local, it->second.foreign.get(), &Snapshot::maps))
      return nullptr;
  if (!covers(knows.maps, knows.foreign.get(), &Snapshot::maps))
    return "fence.proxy.tensormap::generic.release or tensormap.cp_fenceproxy behind the change, "
           "and synchronisation with it";
  return "fence.proxy.tensormap::generic.acquire on the map by its user";
}

/// A map that an earlier launch has changed needs an acquiring fence, too.
void Hazards::checkMapOfLaunch(const Actor &x, uint64_t address) {
  const AcquiredMapsPtr &acquired = x.group->knows.acquired;
  if (together->wasMapChanged(address) && !(acquired && acquired->count(address)))
    report(Rule::TP1, x.in->line, 0,
           "a copy (warp " + dec(x.state->warp->id) + ") uses the tensor map in " +
               describeGlobal(cluster.launch.memory, address,
                              address + uint64_t(facts::kTmaMapBytes) - 1) +
               " that an earlier launch has changed",
           "fence.proxy.tensormap::generic.acquire on the map by its user");
}

} // namespace blockscale::emu
