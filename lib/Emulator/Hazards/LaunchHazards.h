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
#include "Rules.h"

#include "../Machine.h"

#include <set>
#include <unordered_map>

namespace blockscale::emu {

/// A grid that may not be over when a dependent one starts.
struct EarlierGrid {
  explicit EarlierGrid(GlobalShadow accesses) : accesses(std::move(accesses)) {}
  GlobalShadow accesses;
  std::string kernel, file;
  std::vector<uint32_t> lines; // of its code
  std::shared_ptr<const SourceLines> source;
  std::shared_ptr<const EarlierGrid> before; // not over either when dependents start
};

/// Marks accesses that dependent grids see from their start on.
void markVisible(GlobalShadow &shadow, const Foreign &sees);

class LaunchHazards {
public:
  /// `earlier` may still run; null: all grids before are over.
  LaunchHazards(Launch &launch, std::shared_ptr<const EarlierGrid> earlier);
  ~LaunchHazards();
  /// The shadow of all clusters, or null when each keeps its own.
  GlobalShadow *common() { return launch.kernel.talksThroughGlobal ? &shadow : nullptr; }
  /// Cells of the shared or tensor memory of a CTA that has ended, for another one, or none.
  Cells takeCells(bool isTensor);
  void giveCells(bool isTensor, Cells cells);
  /// A cluster has ended.
  void merge(uint64_t turn, std::unique_ptr<GlobalShadow> from);
  /// Released at gpu or sys scope, by address. Of kernels that run on one host thread.
  struct Flag {
    ForeignPtr released;
    ForeignPtr likely; // if fences are cumulative
    bool earlierOver = false;
  };
  std::unordered_map<uint64_t, Flag> flags;

  const EarlierGrid *earlier() const { return before.get(); }
  /// Of one cluster: what dependents see from their start on, and whether they start behind the
  /// end of the grids before.
  void dependentsStart(const Foreign &sees, bool isBehindEarlier, bool launches);
  /// The grid has ended: what a dependent one must know of it.
  std::shared_ptr<const EarlierGrid> end();

  /// Tensor maps that an earlier launch changed, by address.
  bool wasMapChanged(uint64_t address) const { return changedBefore.count(address) != 0; }
  void mapChanged(uint64_t address);

private:
  Launch &launch;
  GlobalShadow shadow;
  std::mutex lock;
  std::vector<Cells> spare[2];
  std::map<uint64_t, std::unique_ptr<GlobalShadow>> waiting; // by turn
  uint64_t merged = 0;                                       // turns
  std::set<uint64_t> changedBefore;
  std::shared_ptr<const EarlierGrid> before;
  Foreign visible; // to dependent grids
  bool isEarlierOver = false, launchesDependents = false;

  void report(Rule label, const GlobalAccess &later, const GlobalAccess &earlier, uint64_t from,
              uint64_t to);
};

/// "bytes 0x40..0x7f of a buffer of 1024 bytes".
std::string describeGlobal(const GlobalMemory &memory, uint64_t from, uint64_t to);
const char *verb(Touch t);
bool isAsynchronous(Touch t);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_LAUNCHHAZARDS_H
