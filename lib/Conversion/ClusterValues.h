//===- ClusterValues.h - a CTA's place in its cluster, as values ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ClusterPlan.h says of rank 0, for the rank of the running CTA. Extents are powers
// of two, so that every place and mask is a shift.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_CLUSTERVALUES_H
#define BLOCKSCALE_LIB_CONVERSION_CLUSTERVALUES_H

#include "blockscale/Dialect/Blockscale/IR/ClusterPlan.h"

namespace blockscale {

/// Made once, in front of everything that uses it. A kernel without clusters has none of
/// the values, one without pairs no pairRank and no isLeader.
struct ClusterValues {
  explicit ClusterValues(ScheduleAttr schedule) : plan(schedule) {}
  void create(mlir::OpBuilder &b, mlir::Location loc);

  bool hasPairs() const { return plan.pair > 1; }

  ClusterPlan plan;
  mlir::Value row, column;   // of the cluster
  mlir::Value pairRank;      // 0 or 1
  mlir::Value isLeader;      // the even CTA of a pair
  mlir::Value readersMask;   // CTAs that load what this CTA's product, or its pair's, reads
  mlir::Value pairMask;      // both CTAs of the pair
  mlir::Value shareMasks[4]; // of each ProblemOperand: who needs the same; null: nobody else
  mlir::Value shares[4];     // which share this CTA loads
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_CLUSTERVALUES_H
