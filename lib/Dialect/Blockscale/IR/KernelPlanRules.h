//===- KernelPlanRules.h - how the plans of one kernel agree -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules kernel_c1 … kernel_c21 relate the plans of one kernel to each other
// and to what its ops do, so that a changed column, offset, stage or count is
// refused instead of run. KernelOps.td states them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELPLANRULES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELPLANRULES_H

#include "blockscale/Dialect/Blockscale/IR/ClusterPlan.h"
#include "blockscale/Dialect/Blockscale/IR/Planning.h"

namespace blockscale {

/// A named half-open range of bytes or columns.
struct PlanRange {
  mlir::Operation *owner;
  mlir::StringRef what;
  int64_t begin, size;
};

/// Checks one kernel; each rule is one method, called in the order of the labels.
class KernelPlanRules {
public:
  explicit KernelPlanRules(KernelOp kernel);
  mlir::LogicalResult run();

private:
  // Memory, pipelines and roles: KernelPlanRules.cpp.
  mlir::LogicalResult checkArch();
  mlir::LogicalResult checkSharedRanges();
  mlir::LogicalResult checkAlignment();
  mlir::LogicalResult checkTmem();
  mlir::LogicalResult checkDepths();
  mlir::LogicalResult checkTransactions();
  mlir::LogicalResult checkArrivals();
  mlir::LogicalResult checkRoles();

  // What ops do with them: KernelUseRules.cpp.
  mlir::LogicalResult checkScaleCopies();
  mlir::LogicalResult checkMmaOperands(mlir::Operation *op, mlir::Value a, mlir::Value b,
                                       mlir::Value shift);
  mlir::LogicalResult checkMmas();
  mlir::LogicalResult checkAccumulatorLoads();
  mlir::LogicalResult checkWarps();
  mlir::LogicalResult checkLoads();
  mlir::LogicalResult checkStaging();
  mlir::LogicalResult checkTurns();

  // Shares of a cluster and products of a batch: KernelTileRules.cpp.
  mlir::LogicalResult checkShares();
  mlir::LogicalResult checkBatches();

  mlir::LogicalResult checkDisjoint(mlir::MutableArrayRef<PlanRange> ranges, mlir::StringRef label,
                                    mlir::StringRef unit);
  /// The tile of an operand's buffer; null for others.
  const facts::OperandTile *tileOf(SharedPlanAttr plan) const {
    return plan.getContent() == SharedContent::a   ? &shape.a
           : plan.getContent() == SharedContent::b ? &shape.b
                                                   : nullptr;
  }
  /// What a load brings a part of.
  static ProblemOperand operandOf(TmaLoadOp load);
  /// Loads that a stage of its buffer takes.
  int64_t boxesOf(TmaLoadOp load) const;
  /// Bytes that one load adds to its barrier: gaps of a padded type do not arrive.
  int64_t arrivingBytes(TmaLoadOp load) const;
  static WarpRole roleOf(mlir::Operation *op) {
    return op->getParentOfType<WarpRoleOp>().getRole().getValue();
  }
  static bool isEpilogues(ConsumerReleaseOp op) {
    auto pipeline = op.getPipeline().getDefiningOp<PipelineOp>();
    return pipeline && pipeline.getPlan().getConsumer() == WarpRole::epilogue;
  }
  /// Columns of an accumulator stage that the next tile may write once it is released.
  int64_t sharedColumns(TmemPlanAttr plan) const {
    mlir::ArrayRef<int64_t> bases = plan.getAccumulators();
    return isOverlapped() ? columnsUntilRead(shape, schedule, bases[0] + plan.getWidth() - bases[1])
                          : plan.getWidth();
  }
  bool isOverlapped() const {
    return schedule.getAccumulatorColumns() == AccumulatorColumns::overlapped;
  }
  int64_t scalesPerStep() const { return schedule.getInst().k / problem.getBlock(); }
  int64_t maxSteps() const { return schedule.getTile().k / schedule.getInst().k; }

  KernelOp kernel;
  ProblemAttr problem;
  ScheduleAttr schedule;
  GemmShape shape;
  ClusterPlan cluster;
  mlir::SmallVector<SharedBufferOp> buffers;
  mlir::SmallVector<TmemPlanOp> tmems;
  mlir::SmallVector<PipelineOp> pipelines;
  mlir::SmallVector<WarpRoleOp> roles;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELPLANRULES_H
