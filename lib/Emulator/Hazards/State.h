//===- State.h - what the hazard checks keep of a cluster -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_STATE_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_STATE_H

#include "Hazards.h"

#include <deque>
#include <unordered_map>

namespace blockscale::emu {

bool isGuessOfSwap(const Kernel &kernel, const Record &a, const Record &b);

/// Lanes of a warp that did the same, so that they know the same.
struct Hazards::Group {
  uint32_t lanes = 0;
  Knowledge knows;
  Knowledge pending;         // from relaxed reads and waits; a fence makes it known
  Knowledge fenced;          // at the last releasing fence; relaxed writes carry it
  Clock own;                 // of the copies that a lane has waited for, for itself alone
  ForeignPtr absorbed;       // the last that it learned: polls see the same again and again
  ForeignPtr pendingWide;    // from relaxed reads at gpu scope
  ForeignPtr releasedWide;   // at the last releasing fence of that scope
  ForeignPtr pendingLikely;  // from relaxed reads of what others' fences released
  bool wroteRelaxed = false; // a flag that keeps no `weak`
  Clock tensorFenced;        // known before the last tcgen05.fence::after_thread_sync
  /// Lanes of another group come to know what these do, and the reverse.
  void join(const Group &o) {
    knows.join(o.knows);
    own.join(o.own);
    pending.join(o.pending);
    fenced.join(o.fenced);
    tensorFenced.join(o.tensorFenced);
    emu::join(pendingWide, o.pendingWide);
    emu::join(releasedWide, o.releasedWide);
    emu::join(pendingLikely, o.pendingLikely);
    wroteRelaxed |= o.wroteRelaxed;
  }
};

/// A register of D or A of a product of a warpgroup.
struct Hazards::WgmmaRegister {
  enum class Use : uint8_t { none, read, write, operand, accumulator };
  Use use = Use::none;    // the last since wgmma.fence; a write outlasts reads
  bool isOperand = false; // of the last product: of A
  uint32_t useLine = 0;
  uint32_t shape = 0, count = 0, line = 0; // of the last product
};
struct Hazards::WgmmaState {
  bool isFenced = false;
  uint32_t done = 0; // count up to which its products were waited for
  std::unordered_map<Operand, WgmmaRegister> registers;
};

struct Hazards::WarpState {
  Warp *warp = nullptr;
  uint32_t now = 1;              // count of the accesses of its threads
  uint32_t relaxedAt = 0;        // the last at which it wrote a flag that keeps no `weak`
  uint32_t relaxedClusterAt = 0; // the last of its relaxed arrivals at the cluster barrier
  uint32_t agents[kWarpAgents] = {};
  std::vector<Group> groups;
  struct Load {
    uint32_t count, line;
    std::vector<std::pair<uint32_t, uint32_t>> unread; // place of a register, lanes
  };
  uint32_t consumedLoads = 0; // count up to which every result was read
  std::deque<Load> loads;     // tcgen05.ld neither waited for nor consumed
  // Counts at the ends of the groups of copies, per lane: cp.async, bulk.
  std::vector<uint32_t> groupEnds[2][32];
  std::unique_ptr<WgmmaState> wgmma; // null: no wgmma was executed
  std::vector<uint32_t> wgmmaEnds;   // counts at the ends of its groups
  struct BulkStore {
    uint32_t count = 0, line = 0;
    uint32_t from = 0, to = 0; // of its source, inclusive
    uint32_t group = 0;        // of the lane, open when it was issued
  };
  BulkStore lastBulkStore[32];
  bool hasFencedInit = false; // executed fence.mbarrier_init
};

/// Somebody with a count.
struct Hazards::Component {
  Agent agent = Agent::thread;
  WarpState *warp = nullptr;
  uint64_t address = 0;   // of an mbarrier
  uint32_t count = 0;     // operations issued
  uint32_t aRead = 0;     // of a tensor pipe: the component of its reads of A
  uint32_t closeLine = 0; // the last commit, wait or arrival that covers it
};

/// For a report of a deadlock: who arrived, by instruction and warp.
struct Hazards::Signal {
  uint32_t line;
  const Warp *warp;
  uint32_t times;
};

struct Hazards::Barrier {
  uint32_t component = 0;
  Record init;
  uint32_t endLine = 0; // of mbarrier.inval
  bool isLive = false;
  Knowledge pending, done;
  uint32_t completed = 0;                     // phases
  uint32_t first = 0;                         // phase since mbarrier.init
  std::vector<Signal> signals, signalsBefore; // of the open phase, of the one before
  std::vector<uint32_t> copies;       // lines of copies in flight that signal the open phase
  uint32_t duePhase = 0, dueLine = 0; // the last arrival by an operation
  struct Arrival {
    uint32_t phase, component, lane, count, line;
  };
  void signalled(uint32_t line, const Warp *warp);
  uint32_t remotePhase = 0;    // the last that another CTA took part in
  std::vector<Arrival> remote; // by threads of other CTAs, to the last phase
};

/// What others do to the memory of a CTA: it must be over when the CTA ends.
struct Hazards::Ending {
  Clock reads, writes; // by component
  struct Last {        // of each component
    uint32_t line = 0, from = 0, to = 0;
    bool isTensor = false;
  };
  std::vector<Last> last;
  Knowledge exited; // what threads of the CTA knew when they exited
  void add(const Record &r, bool isWrite, const Last &access) {
    (isWrite ? writes : reads).raise(r.component, r.lanes, r.count);
    if (last.size() <= r.component)
      last.resize(r.component + 1);
    last[r.component] = access;
  }
};

struct Hazards::Named {
  Knowledge pending;
  std::vector<std::pair<WarpState *, uint32_t>> waiting;
};

/// Who makes an access.
struct Hazards::Actor {
  WarpState *state = nullptr;
  const Group *group = nullptr;
  const Instruction *in = nullptr;
  unsigned lane = 0;
  Record record;
  Agent agent = Agent::thread;
  // The last component and count that were known of all lanes.
  mutable uint32_t knownComponent = 0, knownCount = 0;
};

struct Hazards::Conflict {
  Rule rule;
  HazardLevel level;
  Record other;
  bool isTensor;
  unsigned rank;
  uint32_t from, to;   // bytes or columns, inclusive
  const char *missing; // null: as the rule says
};

struct Hazards::GlobalConflict {
  Rule rule;
  HazardLevel level;
  GlobalAccess other;
  uint64_t from, to; // inclusive
  std::string missing;
};

/// What travels from the issue of an operation to its landing.
struct AsyncTrace {
  Knowledge knows;
  // Of cp.async.mbarrier.arrive, each of whose lanes tells of its own copies alone: their
  // component and count, and the phase that its first lane arrived in, by mbarrier.
  uint32_t copies = 0, count = 0;
  std::vector<std::pair<uint64_t, uint32_t>> phases;
};

inline Hazards::WarpState &Hazards::stateOf(const Warp &w) const {
  return *warps[size_t(w.cta->rank) * cluster.launch.warpsPerCta + w.id];
}

inline Hazards::Group &Hazards::groupOf(WarpState &s, unsigned lane) {
  for (Group &g : s.groups)
    if (g.lanes >> lane & 1)
      return g;
  return s.groups[0];
}

template <class Fn> void Hazards::eachGroup(WarpState &s, uint32_t lanes, Fn fn) {
  for (size_t i = 0; lanes && i < s.groups.size(); ++i) {
    uint32_t here = s.groups[i].lanes & lanes;
    if (!here)
      continue;
    lanes &= ~here;
    if (here != s.groups[i].lanes) { // the others stay as they are
      Group rest = s.groups[i];
      rest.lanes &= ~here;
      s.groups[i].lanes = here;
      s.groups.push_back(std::move(rest));
    }
    fn(s.groups[i]);
  }
}

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_STATE_H
