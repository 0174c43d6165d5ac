//===- QuickExit.h - clusters that only look at their number --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grid may be far larger than the work in it: most CTAs compare their index with a bound
// and return. Where all warps of a cluster exit while they have done nothing but compute in
// registers, nobody can see that the cluster was there. Such a cluster is run on registers
// that are used again and again; any other starts as if nobody had looked.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_QUICKEXIT_H
#define BLOCKSCALE_LIB_EMULATOR_QUICKEXIT_H

#include "Machine.h"

#include <memory>

namespace blockscale::emu {

class QuickExit {
public:
  QuickExit(Launch &launch, uint64_t clusters);
  ~QuickExit();
  /// The cluster exits at once; `executed` grows by its thread instructions.
  bool ends(const ClusterPlace &place, uint64_t &executed);
  /// No warp sees which cluster it is of: where one exits at once, all do.
  bool isAlike() const { return own.empty(); }

private:
  Launch &launch;
  bool isOff = false;
  uint64_t skip = 0, failures = 0;  // clusters not to look at, after some in a row that go on
  std::unique_ptr<Cluster> cluster; // for its warps' registers
  std::vector<std::vector<uint8_t>> registers; // of each warp, as it starts
  std::vector<Preset> own;                     // those that differ from cluster to cluster

  void prepare(const ClusterPlace &place);
  bool ends(Warp &warp, const std::vector<uint8_t> &start, uint64_t &executed);
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_QUICKEXIT_H
