//===- LayoutsCluster.h - shared addresses within a cluster ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside a cluster a shared address carries the CTA's rank above its offset, and
// copies for a pair signal one of its two mbarriers. Source: PTX ISA 9.4, 9.7.10.28;
// addresses read on an H200 with a cluster of 4.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_LAYOUTSCLUSTER_H
#define BLOCKSCALE_FACTS_LAYOUTSCLUSTER_H

#include <cstdint>

namespace blockscale::facts {

/// A CTA's shared memory starts every 16 MiB of the cluster window.
inline constexpr int kClusterRankShift = 24;

constexpr uint32_t clusterAddress(uint32_t offset, int rank) {
  return offset | uint32_t(rank) << kClusterRankShift;
}
constexpr int clusterRank(uint32_t address) { return int(address >> kClusterRankShift); }
constexpr uint32_t clusterOffset(uint32_t address) {
  return address & ((uint32_t(1) << kClusterRankShift) - 1);
}
/// The same offset in the even CTA of the pair.
constexpr uint32_t evenCtaAddress(uint32_t address) {
  return address & ~(uint32_t(1) << kClusterRankShift);
}
/// Whether a multicast mask reaches a CTA; data lands at the same offset in each.
constexpr bool multicastReaches(uint32_t mask, int rank) { return mask >> rank & 1; }
/// Rank whose mbarrier is signalled for data that lands in `destination`.
constexpr int signalledRank(int destination, int mbarrierRank, int ctaGroup) {
  return ctaGroup == 1 ? destination : (destination & ~1) | (mbarrierRank & 1);
}

static_assert(clusterAddress(0x400, 3) == 0x3000400 && clusterRank(0x3000400) == 3 &&
              clusterOffset(0x3000400) == 0x400 && evenCtaAddress(0x3000400) == 0x2000400);
static_assert(signalledRank(3, 0, /*ctaGroup=*/2) == 2 && signalledRank(3, 0, 1) == 3);

/// Limits of an mbarrier. Layout v1 counts to less, because it also keeps a report of the
/// operations that it tracks (PTX ISA 9.4, 9.7.15.16.3).
inline constexpr uint32_t kMbarrierMaxCount = (1u << 20) - 1; // layout v0
inline constexpr uint32_t kMbarrierMaxCountV1 = (1u << 9) - 1;
inline constexpr int32_t kMbarrierMaxTransaction = (1 << 20) - 1;

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_LAYOUTSCLUSTER_H
