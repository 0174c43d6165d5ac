//===- ClusterPlan.h - what the CTAs of a cluster share -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CTAs of one row of a cluster need the same tile of A, those of one column the same
// tile of B. Each fetches a part and sends it to all of them. Who these are, which part
// is whose, and how many products read what a CTA sends, is said here and nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CLUSTERPLAN_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CLUSTERPLAN_H

#include "blockscale/Dialect/Blockscale/IR/KernelEnums.h"
#include "blockscale/Dialect/Blockscale/IR/Planning.h"

namespace blockscale {

/// The part of a stage that one of several CTAs loads.
struct BoxPart {
  llvm::SmallVector<int64_t, 3> box;   // elements of one load
  llvm::SmallVector<int64_t, 3> parts; // along each dimension, the first runs fastest
  int64_t bytes;                       // of shared memory that it spans
  int64_t pieces = 1;                  // of a tile of scales that dimension 1 counts

  int64_t count() const;
};

/// The CTAs of a cluster; their ranks run along M first, so that those of a pair are
/// neighbours.
struct ClusterPlan {
  explicit ClusterPlan(ScheduleAttr schedule)
      : shape(schedule.getCluster()), pair(schedule.getCtaGroup()) {}

  ClusterShape shape;
  int64_t pair; // CTAs that compute one tile

  int64_t size() const { return shape.size(); }
  bool isAlone() const { return size() == 1; }
  /// Tiles of a cluster.
  int64_t rowTiles() const { return shape.m / pair; }
  int64_t columnTiles() const { return shape.n; }
  /// Clusters that cover the tiles of a matrix, and of all of a batch.
  int64_t clustersM(const GemmShape &gemm) const;
  int64_t clustersN(const GemmShape &gemm) const;
  int64_t clusters(const GemmShape &gemm) const {
    return clustersM(gemm) * clustersN(gemm) * gemm.batches;
  }
  /// Rows of the matrix that a cluster computes.
  int64_t rows(ScheduleAttr schedule) const { return schedule.getTile().m * rowTiles(); }
  /// CTAs of a launch: persistent ones, in whole clusters. M is known.
  int64_t grid(const GemmShape &gemm, ScheduleAttr schedule) const;

  /// CTAs that need the same bytes of an operand; each loads one part of them.
  int64_t sharers(ProblemOperand operand) const;
  BoxPart part(ProblemOperand operand, const GemmShape &gemm) const;
  /// Products, one of a pair, that read what a CTA loads: those of its row and its column. Each
  /// gives a stage back to all CTAs that load for it.
  int64_t readers() const { return rowTiles() + columnTiles() - 1; }

  /// Bit r: rank r. The sharers of an operand that are in row 0 and column 0 with rank 0.
  uint32_t sharerMask(ProblemOperand operand) const;
  /// CTAs of the same row (or pair of rows) as rank 0, and of the same column.
  uint32_t rowMask() const;
  uint32_t columnMask() const { return (uint32_t(1) << shape.m) - 1; }
  uint32_t pairMask() const { return (uint32_t(1) << pair) - 1; }
};

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CLUSTERPLAN_H
