//===- Scheduler.h - which clusters of a launch run -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device starts as many clusters as it has room for and starts another whenever
// one ends, or gives it away when a running cluster cancels it. Of the started ones
// each host thread runs one at a time, until it ends or only waits for others; then
// the thread takes the next. Nobody can go on only when every resident cluster
// repeats itself while no memory changes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_SCHEDULER_H
#define BLOCKSCALE_LIB_EMULATOR_SCHEDULER_H

#include "Machine.h"
#include "QuickExit.h"

#include <condition_variable>

namespace blockscale::emu {

/// The clusters of a grid in the order of their starts. With a preferred cluster size
/// the grid consists of tiles of that size, and each is one preferred cluster or
/// as many ordinary ones as it holds.
class ClusterSource {
public:
  ClusterSource(const LaunchConfig &config, const Options &options);
  uint64_t total() const { return clusters; }
  bool done() const { return tile == tiles; }
  /// Takes all that are left; how many there were.
  uint64_t takeRest();
  /// The next one; nothing may be asked when done.
  ClusterPlace next() const;
  void advance();

private:
  Dim3 size, tileSize, tileGrid, inTile;
  bool mixed = false; // tiles that are split alternate with those that are not
  bool splitFirst = false, splitAll = true;
  uint64_t tiles = 1, clusters = 0, rotation = 0;
  uint64_t tile = 0, part = 0;
  uint64_t parts = 1; // ordinary clusters of a tile
  bool isSplit(uint64_t t) const { return mixed ? ((t & 1) == 0) == splitFirst : splitAll; }
};

/// Clusters of `ctas` CTAs that the chip holds at once: SMs, GPCs, and how many CTAs
/// fit an SM by threads, blocks, registers where the kernel names them, shared and
/// tensor memory. At least 1.
uint64_t residentClusters(const Launch &launch, unsigned ctas);

class Scheduler {
public:
  explicit Scheduler(Launch &launch);
  ~Scheduler();
  uint64_t total() const { return source.total(); }
  /// Runs the launch on this host thread and as many others as were asked for.
  void run(unsigned threads);
  /// A cluster that was not started and never will be: its caller does its work.
  bool cancel(const Cluster &caller, ClusterPlace &place);

private:
  Launch &launch;
  ClusterSource source;
  uint64_t capacity;     // in ordinary clusters
  unsigned ctasOfUnit;   // CTAs of an ordinary cluster
  uint64_t resident = 0; // started and not ended, in ordinary clusters
  uint64_t begun = 0;    // how many have run: the order of failures
  std::deque<ClusterPlace> started;
  QuickExit quick;
  std::deque<std::unique_ptr<Cluster>> parked;
  unsigned running = 0;
  bool over = false;
  uint64_t rng;
  std::mutex lock;
  std::condition_variable wake;

  uint64_t units(const ClusterPlace &place) const;
  void start();
  void passQuickExits();
  void work();
  std::unique_ptr<Cluster> pick();
  std::unique_ptr<Cluster> takeParked(size_t i);
  void reportStuck();
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_SCHEDULER_H
