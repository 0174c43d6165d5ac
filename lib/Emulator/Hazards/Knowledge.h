//===- Knowledge.h - what travels from a release to an acquire ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clocks of the components of one cluster, and snapshots of those of other clusters
// for kernels that synchronise through global memory. The snapshots are shared until
// somebody learns more.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_KNOWLEDGE_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_KNOWLEDGE_H

#include "Clock.h"

#include <map>

namespace blockscale::emu {

/// What is known with a proxy fence on the way, by the memory that the fence covers.
struct FencedClock {
  Clock shared; // of every CTA of the cluster
  Clock global;
  std::vector<Clock> own; // shared memory of one CTA, by rank; may be shorter
  void join(const FencedClock &o);
  bool includes(const FencedClock &o) const;
  bool isEmpty() const { return shared.isEmpty() && global.isEmpty() && own.empty(); }
};

/// What is known of another cluster: of its accesses, those to global memory behind a
/// proxy fence, and tensor maps that it has released.
struct Snapshot {
  Clock plain, async, maps;
  void join(const Snapshot &o);
  bool includes(const Snapshot &o) const;
};

/// By the cluster's turn.
using Foreign = std::map<uint32_t, Snapshot>;
using ForeignPtr = std::shared_ptr<const Foreign>;
void join(ForeignPtr &into, const ForeignPtr &from);

/// Changes of a tensor map that an acquiring fence on its address has seen.
struct AcquiredMap {
  Clock local;
  ForeignPtr foreign;
};
using AcquiredMaps = std::map<uint64_t, AcquiredMap>; // by address
using AcquiredMapsPtr = std::shared_ptr<const AcquiredMaps>;
void join(AcquiredMapsPtr &into, const AcquiredMapsPtr &from);

struct Knowledge {
  Clock plain;
  FencedClock async;
  Clock init;    // of mbarrier.init, by fence.mbarrier_init and relaxed cluster arrives
  Clock before;  // of tensor memory, with a tcgen05.fence::before_thread_sync; without A3
  Clock weak;    // by synchronisation that does not suffice: to name the mistake
  Clock commits; // what commits would hand on; where A6 is denied
  Clock maps;    // of changes of tensor maps, with a releasing tensormap fence
  ForeignPtr foreign;
  AcquiredMapsPtr acquired;
  /// Released by a fence of gpu scope of a thread ordered ahead. A relaxed write of that thread
  /// would hand it on; one of another thread behind a barrier does only if fences are
  /// cumulative.
  ForeignPtr carried;
  ForeignPtr likely;        // known if they are
  bool earlierOver = false; // a griddepcontrol.wait comes ahead
  bool sawRelaxed = false;  // a relaxed read of a flag that keeps no `weak`: Hazards::passFlag
  void join(const Knowledge &o);
  /// Joining the other would change nothing.
  bool includes(const Knowledge &o) const;
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_KNOWLEDGE_H
