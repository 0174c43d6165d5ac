//===- Knowledge.cpp - joining what two know ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Knowledge.h"

namespace blockscale::emu {

void FencedClock::join(const FencedClock &o) {
  shared.join(o.shared);
  global.join(o.global);
  if (own.size() < o.own.size())
    own.resize(o.own.size());
  for (size_t i = 0; i < o.own.size(); ++i)
    own[i].join(o.own[i]);
}

bool FencedClock::includes(const FencedClock &o) const {
  static const Clock kNone;
  for (size_t i = 0; i < o.own.size(); ++i)
    if (!(i < own.size() ? own[i] : kNone).includes(o.own[i]))
      return false;
  return shared.includes(o.shared) && global.includes(o.global);
}

bool Snapshot::includes(const Snapshot &o) const {
  return plain.includes(o.plain) && async.includes(o.async) && maps.includes(o.maps);
}

static bool includes(const ForeignPtr &into, const ForeignPtr &from) {
  if (!from || into == from)
    return true;
  if (!into)
    return false;
  for (const auto &[turn, snapshot] : *from)
    if (auto it = into->find(turn); it == into->end() || !it->second.includes(snapshot))
      return false;
  return true;
}

void Snapshot::join(const Snapshot &o) {
  plain.join(o.plain);
  async.join(o.async);
  maps.join(o.maps);
}

void join(ForeignPtr &into, const ForeignPtr &from) {
  if (!from || into == from)
    return;
  if (!into) {
    into = from;
    return;
  }
  auto both = std::make_shared<Foreign>(*into);
  for (const auto &[turn, snapshot] : *from)
    (*both)[turn].join(snapshot);
  into = std::move(both);
}

void join(AcquiredMapsPtr &into, const AcquiredMapsPtr &from) {
  if (!from || into == from)
    return;
  if (!into) {
    into = from;
    return;
  }
  auto both = std::make_shared<AcquiredMaps>(*into);
  for (const auto &[address, map] : *from) {
    AcquiredMap &m = (*both)[address];
    m.local.join(map.local);
    join(m.foreign, map.foreign);
  }
  into = std::move(both);
}

void Knowledge::join(const Knowledge &o) {
  plain.join(o.plain);
  async.join(o.async);
  init.join(o.init);
  before.join(o.before);
  weak.join(o.weak);
  commits.join(o.commits);
  maps.join(o.maps);
  emu::join(foreign, o.foreign);
  emu::join(acquired, o.acquired);
  emu::join(carried, o.carried);
  emu::join(likely, o.likely);
  earlierOver |= o.earlierOver;
  sawRelaxed |= o.sawRelaxed;
}

bool Knowledge::includes(const Knowledge &o) const {
  return plain.includes(o.plain) && async.includes(o.async) && init.includes(o.init) &&
         before.includes(o.before) && weak.includes(o.weak) && commits.includes(o.commits) &&
         maps.includes(o.maps) && emu::includes(foreign, o.foreign) &&
         (!o.acquired || acquired == o.acquired) && emu::includes(carried, o.carried) &&
         emu::includes(likely, o.likely) && (earlierOver || !o.earlierOver) &&
         (sawRelaxed || !o.sawRelaxed);
}

} // namespace blockscale::emu
