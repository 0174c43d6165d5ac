//===- GemmKernelBuilder.h - the parts of a gemm's kernel -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the files that build them: plans, loads, products and the epilogue in
// GemmKernel.cpp; scales with a ring of their own and products that cross from one
// stage into the next in GemmKernelSpan.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_GEMMKERNELBUILDER_H
#define BLOCKSCALE_LIB_CONVERSION_GEMMKERNELBUILDER_H

#include "blockscale/Conversion/GemmKernel.h"
#include "blockscale/Dialect/Blockscale/IR/ClusterPlan.h"

#include "llvm/ADT/MapVector.h"

namespace blockscale {

class KernelBuilder {
public:
  KernelBuilder(mlir::OpBuilder &b, mlir::Location loc, ProblemAttr problem, ScheduleAttr schedule,
                GemmEpilogue epilogue)
      : b(b), loc(loc), problem(problem), schedule(schedule), epilogue(epilogue),
        shape(problem, schedule), cluster(schedule) {}

  KernelOp build(llvm::StringRef name);

private:
  /// Parameters in order.
  enum Param { kA, kB, kSfa, kSfb, kD, kFirstOptional };

  void planShared();
  void buildLoads();
  void buildMultiplies();
  void buildEpilogue();
  // GemmKernelSpan.cpp: K of the instructions is 96.
  void buildScaleLoads();
  void buildSpanMultiplies();
  /// Where a warp is in both rings.
  struct SpanRings {
    mlir::Value stage, phase, scaleStage, scalePhase;
  };
  /// The instructions of one K tile of `k` elements.
  SpanRings multiplySpan(int64_t k, SpanRings at, mlir::Value target, mlir::Value accumulate,
                         mlir::Value shift);

  /// Columns of an accumulator are read from its first or from its last one on, and given
  /// back behind so many loads.
  enum class DrainOrder { forward, backward };
  struct Drain {
    mlir::Value accumulator;
    DrainOrder order;
    int64_t loadsBeforeRelease;
  };
  struct EpilogueParams {
    mlir::Value out, outScales, bias, c, alpha, alphaRows, alphaColumns, beta, global;
  };
  /// Reads one accumulator and stores its tile.
  void drain(const EpilogueParams &params, mlir::Value row, mlir::Value column, mlir::Value stage,
             mlir::Value phase, const Drain &drain);
  /// Quantises columns of D from `column` of the tile on and stores them; scales wait in `pending`
  /// until as many as are stored at once are there.
  using PendingScales =
      llvm::MapVector<std::pair<int64_t, int64_t>, mlir::SmallVector<mlir::Value>>;
  void storeQuantized(const EpilogueParams &params, int64_t product, mlir::Value row,
                      mlir::Value tileColumn, int64_t column, mlir::ValueRange values,
                      PendingScales &pending);
  bool isOverlapped() const {
    return schedule.getAccumulatorColumns() == AccumulatorColumns::overlapped;
  }

  /// The operand whose map it is where several CTAs load shares of it; null elsewhere.
  ProblemOperandAttr shareOf(Param map) {
    auto operand = ProblemOperand(map); // in the order of parameters
    if (cluster.sharers(operand) == 1)
      return {};
    return ProblemOperandAttr::get(b.getContext(), operand);
  }
  /// A box of what `target` holds, at the tile's product of the batch.
  void load(Param map, llvm::ArrayRef<mlir::Value> coordinates, mlir::Value target,
            mlir::IntegerAttr part, mlir::Value pipeline, mlir::Value stage) {
    llvm::SmallVector<mlir::Value, 4> all(coordinates);
    if (hasBatches(problem, ProblemOperand(map)))
      all.push_back(batch);
    TmaLoadOp::create(b, loc, entry->getArgument(map), all, target, part, shareOf(map), pipeline,
                      stage);
  }
  /// The first tile of B's scales that a column tile reads.
  mlir::Value firstScaleTileOfB(mlir::Value column);

  /// `body(row tile, column tile, carried stage, carried phase)` for each tile of
  /// this CTA; returns what it carries on.
  using Carried = std::pair<mlir::Value, mlir::Value>;
  Carried forEachTile(llvm::function_ref<Carried(mlir::Value row, mlir::Value column,
                                                 mlir::Value stage, mlir::Value phase)>
                          body);
  /// Where loops over tiles end.
  mlir::Value tileCount() {
    return problem.hasDynamicM() ? TileCountOp::create(b, loc).getResult()
                                 : constant(cluster.clusters(shape));
  }
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIntOp::create(b, loc, value, /*width=*/32);
  }
  mlir::Value times(mlir::Value value, int64_t factor) {
    return factor == 1 ? value
                       : mlir::arith::MulIOp::create(b, loc, value, constant(factor)).getResult();
  }
  Carried advance(mlir::Value pipeline, mlir::Value stage, mlir::Value phase) {
    auto op = PipelineAdvanceOp::create(b, loc, pipeline, stage, phase);
    return {op.getNextStage(), op.getNextPhase()};
  }
  WarpRoleOp role(WarpRole role, int64_t first, int64_t last) {
    auto op = WarpRoleOp::create(b, loc, WarpRoleAttr::get(b.getContext(), role), first, last);
    b.createBlock(&op.getBody());
    return op;
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  ProblemAttr problem;
  ScheduleAttr schedule;
  GemmEpilogue epilogue;
  GemmShape shape;
  ClusterPlan cluster;
  mlir::Block *entry = nullptr;
  int64_t sharedBytes = 0;
  mlir::Value bufferA, bufferB, bufferSfa, bufferSfb, staging, tmem, ring, accumulators;
  mlir::Value scaleRing; // where K of the instructions is 96
  mlir::Value batch;     // of the tile in hand, where there are several
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_GEMMKERNELBUILDER_H
