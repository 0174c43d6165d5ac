//===- LaunchHazards.h - what the clusters of a launch check together -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a kernel cannot synchronise clusters, each keeps its own shadow of global
// memory, and those are merged in the order of starts as clusters end, so that
// reports do not depend on host threads. Kernels that can, run on one host thread and
// share one shadow from the start.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_LAUNCHHAZARDS_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_LAUNCHHAZARDS_H

#include "GlobalShadow.h"
#include "Knowledge.h"

#include "../Machine.h"

#include <set>

namespace blockscale::emu {

class LaunchHazards {
public:
  explicit LaunchHazards(Launch &launch);
  ~LaunchHazards();
  /// The shadow of all clusters, or null when each keeps its own.
  GlobalShadow *common() { return launch.kernel.talksThroughGlobal ? &shadow : nullptr; }
  /// A cluster has ended.
  void merge(uint64_t turn, std::unique_ptr<GlobalShadow> from);
  /// Released at gpu or sys scope, by address. Of kernels that run on one host thread.
  std::map<uint64_t, ForeignPtr> flags;

  /// Tensor maps that an earlier launch changed, by address.
  bool wasMapChanged(uint64_t address) const { return changedBefore.count(address) != 0; }
  void mapChanged(uint64_t address);

private:
  Launch &launch;
  GlobalShadow shadow;
  std::mutex lock;
  std::map<uint64_t, std::unique_ptr<GlobalShadow>> waiting; // by turn
  uint64_t merged = 0;                                       // turns
  std::set<uint64_t> changedBefore;

  void report(const GlobalAccess &later, const GlobalAccess &earlier, uint64_t from, uint64_t to);
};

/// "bytes 0x40..0x7f of a buffer of 1024 bytes".
std::string describeGlobal(const GlobalMemory &memory, uint64_t from, uint64_t to);
const char *verb(Touch t);
bool isAsynchronous(Touch t);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_LAUNCHHAZARDS_H
