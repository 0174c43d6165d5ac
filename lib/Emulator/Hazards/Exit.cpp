//===- Exit.cpp - what must be over when threads and CTAs end -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include "../Mbarrier.h"
#include "../Text.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {

/// BK3, BK3w: nobody else can wait for a thread's bulk stores.
void Hazards::exits(Warp &w, const Instruction &in, uint32_t lanes) {
  WarpState &s = stateOf(w);
  eachGroup(s, lanes, [&](Group &g) {
    endings[w.cta->rank].exited.join(g.knows);
    giveOwn(s, g, g.lanes, endings[w.cta->rank].exited.plain);
  });
  const uint32_t read = s.agents[size_t(Agent::bulkRead)], done = s.agents[size_t(Agent::bulkDone)];
  if (!read)
    return;
  for (uint32_t m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(__builtin_ctz(m));
    const Clock &own = groupOf(s, lane).own;
    const auto &[count, line, from, to, group] = s.lastBulkStore[lane];
    const bool isRead = own.of(read, lane) >= count,
               isDone = assumes(8) || (done && own.of(done, lane) >= count);
    if (isRead && (isDone || !count))
      continue;
    const Rule rule = group < w.bulkGroup[lane] ? Rule::BK3w : Rule::BK3;
    report(rule, isRead ? HazardLevel::strict : info(rule).level, in.line, line,
           "thread " + dec(w.id * 32 + lane) + " exits while its bulk store at " +
               cluster.launch.module.file + ":" + dec(line) + " may still " +
               (isRead ? "write global memory from shared memory bytes "
                       : "read shared memory bytes ") +
               hex(from) + ".." + hex(to),
           isRead ? "cp.async.bulk.wait_group without .read before the exit" : "");
    return;
  }
}

/// CL2: what others still do to the memory of a CTA whose last thread exits.
void Hazards::ended(Cta &cta) {
  checkBarriers(cta);
  const Ending &e = endings[cta.rank];
  const uint32_t components = uint32_t(std::max(e.reads.size(), e.writes.size()));
  for (uint32_t c = 1; c < components; ++c) {
    // A relaxed barrier behind a load comes after it, as what depends on the load does.
    bool reads = false, writes = false;
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint32_t known = e.exited.plain.of(c, lane);
      writes |= e.writes.of(c, lane) > known;
      reads |= e.reads.of(c, lane) > std::max(known, e.exited.weak.of(c, lane));
    }
    if (!reads && !writes)
      continue;
    const Component &by = this->components[c];
    const bool isThread = by.agent == Agent::thread;
    const Ending::Last &last = e.last[c];
    const std::string bytes = last.isTensor
                                  ? "tensor memory columns " + dec(last.from) + ".." + dec(last.to)
                                  : "shared memory bytes " + hex(last.from) + ".." + hex(last.to);
    report(Rule::CL2, last.line, cta.exitLine,
           std::string(isThread ? "access" : "operation") + " of warp " + dec(by.warp->warp->id) +
               " of cta rank " + dec(by.warp->warp->cta->rank) + (writes ? " to " : " from ") +
               bytes + " of cta rank " + dec(cta.rank) + " may come after the CTA has exited, at " +
               cluster.launch.module.file + ":" + dec(cta.exitLine),
           isThread ? "" : "a wait for a commit behind it, before the exit");
  }
}

/// MB5: what is expected and never comes, or comes and was never expected. CL2: an
/// arrival that is still due.
void Hazards::checkBarriers(Cta &cta) {
  const Knowledge &all = endings[cta.rank].exited;
  for (auto it = barriers.lower_bound(uint64_t(cta.rank) << kClusterShift);
       it != barriers.end() && it->first >> kClusterShift == cta.rank; ++it) {
    const Barrier &b = it->second;
    if (!b.isLive)
      continue;
    uint64_t word;
    std::memcpy(&word, cta.shared.data() + (it->first & kSharedOffsetMask), 8);
    if (MbarrierState::unpack(word).tx != 0)
      report(Rule::MB5, lineOf(b.init), b.signals.empty() ? cta.exitLine : b.signals.back().line,
             mbarrierDescribe(cta, it->first) +
                 " has transaction bytes left when its CTA exits, at " +
                 cluster.launch.module.file + ":" + dec(cta.exitLine) +
                 (b.signals.empty() ? std::string()
                                    : "; its last arrival is at " + cluster.launch.module.file +
                                          ":" + dec(b.signals.back().line)));
    const uint32_t seen = std::max(all.plain.ofAll(b.component), all.weak.ofAll(b.component));
    auto due = [&](uint32_t line, uint32_t phase) {
      report(Rule::CL2, line, lineOf(b.init),
             "arrival at " + mbarrierDescribe(cta, it->first) + " of cta rank " + dec(cta.rank) +
                 " may come after the CTA has exited, at " + cluster.launch.module.file + ":" +
                 dec(cta.exitLine),
             "a wait for phase " + dec(phase - 1) + " of it before the exit");
    };
    if (b.duePhase > seen)
      due(b.dueLine, b.duePhase);
    for (const Barrier::Arrival &a : b.remote)
      if (a.phase > seen && all.plain.of(a.component, a.lane) < a.count)
        due(a.line, a.phase);
  }
}

} // namespace blockscale::emu
