//===- LowerBlockGemm.cpp - host code of a product of blocks --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerBlockGemm.h"

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"

using namespace mlir;
using namespace blockscale;

namespace {
/// Operands on the device, and what gives them back.
struct DeviceOperands {
  DeviceOperands(OpBuilder &b, GemmOp gemm, BlockProblemAttr problem) : b(b), loc(gemm.getLoc()) {
    a = allocate("a", problem.getABytes());
    CopyOp::create(b, loc, gemm.getA(), a);
    weights = allocate("b", problem.getBBytes());
    CopyOp::create(b, loc, gemm.getB(), weights);
    d = allocate("d", problem.getOutBytes());
  }
  void finish(GemmOp gemm) {
    CopyOp::create(b, loc, d, gemm.getOut());
    for (Value buffer : {d, weights, a})
      FreeOp::create(b, loc, buffer);
  }

  Value a, weights, d;

private:
  Value allocate(StringRef name, int64_t bytes) {
    auto op = AllocOp::create(b, loc, bytes);
    op->setAttr("blockscale.name", b.getStringAttr(name)); // what the manifest calls it
    return op;
  }
  OpBuilder &b;
  Location loc;
};
} // namespace

void blockscale::buildBlockLaunch(OpBuilder &b, GemmOp gemm, WarpKernelOp kernel,
                                  SymbolRefAttr symbol) {
  Location loc = gemm.getLoc();
  BlockProblemAttr problem = gemm.getBlockProblem();
  DeviceOperands operands(b, gemm, problem);
  Value tokens = arith::ConstantIntOp::create(b, loc, problem.getM(), /*width=*/32);
  WarpGrid grid = planGrid(problem, gemm.getWarpSchedule().getTile());
  int64_t split = gemm.getWarpSchedule().getSplit();
  LaunchOp::create(b, loc, symbol, ArrayRef<int64_t>{grid.tokens * split, grid.rows, 1},
                   ArrayRef<int64_t>{int64_t(kernel.getThreads()), 1, 1},
                   ArrayRef<int64_t>{split, 1, 1}, kernel.getSharedBytes(), /*oversized=*/false,
                   ValueRange{operands.a, operands.weights, operands.d, tokens});
  operands.finish(gemm);
}

void blockscale::buildWgmmaLaunch(OpBuilder &b, GemmOp gemm, WgmmaKernelOp kernel,
                                  SymbolRefAttr symbol) {
  Location loc = gemm.getLoc();
  BlockProblemAttr problem = gemm.getBlockProblem();
  WgmmaScheduleAttr schedule = gemm.getWgmmaSchedule();
  DeviceOperands operands(b, gemm, problem);
  Value tokens = TensorMapOp::create(b, loc, operands.a, tokenMap(problem, schedule));
  Value blocks = TensorMapOp::create(b, loc, operands.weights, blockMap(problem, schedule));
  LaunchOp::create(b, loc, symbol, ArrayRef<int64_t>{planWgmmaGrid(problem, schedule).blocks, 1, 1},
                   ArrayRef<int64_t>{int64_t(kernel.getThreads()), 1, 1},
                   ArrayRef<int64_t>{schedule.getSplit(), 1, 1}, kernel.getSharedBytes(),
                   /*oversized=*/false, ValueRange{tokens, blocks, operands.d});
  operands.finish(gemm);
}
