//===- KernelLowering.h - one kernel of level 3 becomes one of level 4 ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op of the kernel stands at the builder's insertion point and is replaced by those of the
// machine. Constants, the base of shared memory, the warp and the lane exist once, at the
// kernel's start.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_KERNELLOWERING_H
#define BLOCKSCALE_LIB_CONVERSION_KERNELLOWERING_H

#include "ClusterValues.h"

#include "blockscale/Conversion/GemmKernel.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"
#include "blockscale/Facts/LayoutsCluster.h"

namespace blockscale {

class KernelLowering {
public:
  using Value = mlir::Value;

  explicit KernelLowering(KernelOp kernel)
      : kernel(kernel), problem(kernel.getProblem()), schedule(kernel.getSchedule()),
        shape(problem, schedule), cluster(schedule), b(kernel.getContext()) {}

  void run();

private:
  // Values, control and structure: LowerKernelToMachine.cpp.
  Value constant(int64_t value);
  Value add(Value a, Value c) { return mlir::arith::AddIOp::create(b, loc, a, c); }
  Value add(Value a, int64_t c) { return c == 0 ? a : add(a, constant(c)); }
  Value mul(Value a, int64_t c) {
    return c == 1 ? a : mlir::arith::MulIOp::create(b, loc, a, constant(c)).getResult();
  }
  Value equals(Value a, int64_t c) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::eq, a, constant(c));
  }
  Value less(Value a, Value c) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::slt, a, c);
  }
  Value widen(Value a) { return mlir::arith::ExtUIOp::create(b, loc, b.getI64Type(), a); }
  /// Address of a stage in shared memory.
  Value shared(int64_t offset) { return add(sharedBase, offset); }
  Value shared(int64_t offset, Value stage, int64_t bytes) {
    return add(shared(offset), mul(stage, bytes));
  }
  Value accumulator(TmemPlanAttr plan, Value stage);
  /// The same barrier of the even CTA, where a pair shares it.
  Value ofLeader(Value barrier) {
    if (!cluster.hasPairs())
      return barrier;
    return mlir::arith::AndIOp::create(b, loc, barrier,
                                       constant(int32_t(facts::evenCtaAddress(~uint32_t(0)))));
  }
  /// Whether some tile of a cluster reaches beyond the matrix.
  bool overhangsM() const {
    return problem.hasDynamicM() ||
           problem.getM() % (schedule.getTile().m * cluster.plan.rowTiles()) != 0;
  }
  bool overhangsN() const {
    return problem.getN() % (schedule.getTile().n * cluster.plan.columnTiles()) != 0;
  }
  /// Rows of the matrix; the last parameter where a launch says them.
  Value rows() {
    return problem.hasDynamicM() ? entry->getArguments().back() : constant(problem.getM());
  }
  /// What clusters compute along M.
  Value clustersM() { return rowClusters ? rowClusters : constant(cluster.plan.clustersM(shape)); }
  /// The first row of those that a warpgroup drains at a time.
  Value firstRow(Value tileRow) { return mul(tileRow, rowsOfProduct(schedule)); }
  /// The row of D that is the lane's.
  Value ownRow(Value tileRow) { return add(add(firstRow(tileRow), mul(warp, 32)), lane); }
  /// The same, or the last row where it lies beyond.
  Value ownRowInside(Value tileRow) {
    Value row = ownRow(tileRow);
    if (!overhangsM())
      return row;
    return mlir::arith::MinSIOp::create(
        b, loc, row, problem.hasDynamicM() ? add(rows(), -1) : constant(problem.getM() - 1));
  }
  /// The byte in D, or C, that a row of a product of the batch starts at; i64.
  Value startOfRow(Value batch, Value row);
  /// A column of D in a tile as one of the matrix.
  Value columnOfD(Value tileColumn, int64_t column) {
    return add(mul(tileColumn, shape.tileColumns), column);
  }
  /// f32s of as many columns of the product, from `column` of the tile on. Those behind the last
  /// one are read from in front of it and never stored.
  llvm::SmallVector<Value> loadColumns(Value buffer, Value tileColumn, int64_t column,
                                       int64_t count);

  // Control.
  void ifTrue(Value condition, llvm::function_ref<void()> body);
  /// In one lane; the others wait for it, so that .aligned instructions may follow.
  void ifElected(llvm::function_ref<void()> body) {
    ifTrue(ElectSyncOp::create(b, loc), body);
    BarWarpSyncOp::create(b, loc);
  }
  void waitParity(Value barrier, Value parity, bool relaxed = false);
  void waitUntilEmpty(Value pipeline, Value stage, Value phase, bool relaxed = false);

  // Structure of the kernel.
  /// A barrier of all threads, of the whole cluster.
  void syncAll();
  void setUp();
  void tearDown();
  void lowerRole(WarpRoleOp op);

  // Ops. Each stands at the builder's insertion point and replaces its op.
  void lower(mlir::Operation *op);
  void lowerOp(TileCountOp op);
  void lowerOp(TileCoordinatesOp op);
  void lowerOp(TileBatchOp op);
  void lowerOp(CtaIndexOp op);
  void lowerOp(CtaCountOp op);
  void lowerOp(PairRankOp op);
  void lowerOp(ScaleTilesOfBOp op);
  void lowerOp(ProducerAcquireOp op);
  void lowerOp(ProducerCommitOp op);
  void lowerOp(ConsumerWaitOp op);
  void lowerOp(ConsumerReleaseOp op);
  void lowerOp(PipelineAdvanceOp op);
  void lowerOp(PipelineDrainOp op);
  void lowerOp(TmaLoadOp op);
  void lowerOp(CopyScalesOp op);
  void lowerOp(MmaOp op);
  void lowerOp(MmaSpanOp op);
  bool holdsBack(LoadAccumulatorOp op);
  void lowerOp(LoadAccumulatorOp op);
  void lowerOp(LoadCOp op);
  void lowerOp(LoadRowAlphaOp op);
  void lowerOp(ApplyEpilogueOp op);
  void lowerOp(ApplyGateOp op);
  void lowerOp(QuantizeColumnsOp op);
  void lowerOp(StoreColumnsOp op);
  void lowerOp(StoreColumnScalesOp op);
  void lowerOp(StagingAcquireOp op);
  void lowerOp(StoreStagingOp op);
  void lowerOp(TmaStoreOp op);
  void lowerOp(StagingDrainOp op);
  void lowerOp(PlainStoreOp op);

  static SharedPlanAttr planOf(Value shared) {
    return shared.getDefiningOp<SharedBufferOp>().getPlan();
  }
  static PipelinePlanAttr pipelineOf(Value pipeline) {
    return pipeline.getDefiningOp<PipelineOp>().getPlan();
  }
  static TmemPlanAttr tmemOf(Value tmem) { return tmem.getDefiningOp<TmemPlanOp>().getPlan(); }
  /// Two values of D as one word, to the nearest even.
  Value pack(Value high, Value low) {
    if (problem.getOut() == facts::Format::f16)
      return CvtRnF16x2Op::create(b, loc, high, low);
    return CvtRnBf16x2Op::create(b, loc, high, low);
  }
  Value bits(Value f32) { return mlir::arith::BitcastOp::create(b, loc, b.getI32Type(), f32); }

  KernelOp kernel;
  ProblemAttr problem;
  ScheduleAttr schedule;
  GemmShape shape;
  ClusterValues cluster;
  mlir::OpBuilder b;
  mlir::Location loc = kernel.getLoc();
  mlir::Block *entry = &kernel.getBody().front();
  llvm::DenseMap<int64_t, Value> constants;
  Value sharedBase, warp, tmemBase;
  Value rowClusters;             // where m is known at launch only
  Value laneOffset, laneSwizzle; // of the lane's row in a staging buffer
  Value lane, warpLane;          // lane in the warp; lane part of a tensor-memory address
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_KERNELLOWERING_H
