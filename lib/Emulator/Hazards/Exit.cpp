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

/// BK3: nobody else can wait for a thread's bulk stores.
void Hazards::exits(Warp &w, const Instruction &in, uint32_t lanes) {
  if (!assumes(8))
    return;
  WarpState &s = stateOf(w);
  eachGroup(s, lanes, [&](Group &g) { exited[w.cta->rank].join(g.knows); });
  uint32_t id = s.agents[size_t(Agent::bulkRead)];
  if (!id)
    return;
  for (uint32_t m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(__builtin_ctz(m));
    uint32_t known = groupOf(s, lane).own.of(id, lane);
    if (const auto &[count, line] = s.lastBulkStore[lane]; count > known) {
      report(
          Rule::BK3, in.line, line,
          "thread " + dec(w.id * 32 + lane) + " exits while its bulk store at " +
              cluster.launch.module.file + ":" + dec(line) +
              " may still read shared memory\n  missing: " + std::string(info(Rule::BK3).missing));
      return;
    }
  }
}

/// MB5: what is expected and never comes, or comes and was never expected. CL2: an
/// arrival that is still due to a CTA when its last thread exits.
void Hazards::ended(Cta &cta) {
  const Knowledge &all = exited[cta.rank];
  for (auto it = barriers.lower_bound(uint64_t(cta.rank) << kClusterShift);
       it != barriers.end() && it->first >> kClusterShift == cta.rank; ++it) {
    const Barrier &b = it->second;
    if (!b.isLive)
      continue;
    uint64_t word;
    std::memcpy(&word, cta.shared.data() + (it->first & kSharedOffsetMask), 8);
    if (MbarrierState::unpack(word).tx != 0)
      report(Rule::MB5, lineOf(b.init), 0,
             mbarrierDescribe(cta, it->first) +
                 " has transaction bytes left when its CTA exits\n  missing: " +
                 std::string(info(Rule::MB5).missing));
    uint32_t seen = std::max(all.plain.ofAll(b.component), all.weak.ofAll(b.component));
    if (assumes(8) && b.duePhase > seen)
      report(Rule::CL2, b.dueLine, lineOf(b.init),
             "arrival at " + mbarrierDescribe(cta, it->first) + " of cta rank " + dec(cta.rank) +
                 " may come after the CTA has exited\n  missing: a wait for phase " +
                 dec(b.duePhase - 1) + " of it before the exit");
  }
}

} // namespace blockscale::emu
