//===- LowerBlockGemm.cpp - host code of a product of blocks --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerBlockGemm.h"

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"

using namespace mlir;
using namespace blockscale;

void blockscale::buildBlockLaunch(OpBuilder &b, GemmOp gemm, WarpKernelOp kernel,
                                  SymbolRefAttr symbol) {
  Location loc = gemm.getLoc();
  BlockProblemAttr problem = gemm.getBlockProblem();
  auto allocate = [&](StringRef name, int64_t bytes) -> Value {
    auto op = AllocOp::create(b, loc, bytes);
    op->setAttr("blockscale.name", b.getStringAttr(name)); // what the manifest calls it
    return op;
  };
  Value a = allocate("a", problem.getABytes());
  CopyOp::create(b, loc, gemm.getA(), a);
  Value weights = allocate("b", problem.getBBytes());
  CopyOp::create(b, loc, gemm.getB(), weights);
  Value d = allocate("d", problem.getOutBytes());
  Value tokens = arith::ConstantIntOp::create(b, loc, problem.getM(), /*width=*/32);
  WarpGrid grid = planGrid(problem, gemm.getWarpSchedule().getTile());
  LaunchOp::create(b, loc, symbol, ArrayRef<int64_t>{grid.tokens, grid.rows, 1},
                   ArrayRef<int64_t>{int64_t(kernel.getThreads()), 1, 1},
                   ArrayRef<int64_t>{1, 1, 1}, kernel.getSharedBytes(), /*oversized=*/false,
                   ValueRange{a, weights, d, tokens});
  CopyOp::create(b, loc, d, gemm.getOut());
  for (Value buffer : {d, weights, a})
    FreeOp::create(b, loc, buffer);
}
