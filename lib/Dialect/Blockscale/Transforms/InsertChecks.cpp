//===- InsertChecks.cpp - a comparison behind every gemm ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"

using namespace mlir;
using namespace blockscale;

namespace blockscale {
#define GEN_PASS_DEF_INSERTCHECKS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

namespace {
struct InsertChecksPass : blockscale::impl::InsertChecksBase<InsertChecksPass> {
  void runOnOperation() override {
    int64_t count = 0;
    getOperation()->walk([&](GemmOp gemm) {
      if (gemm.isBlockProduct() ? !gemm.getWarpSchedule() : !gemm.getSchedule()) {
        gemm.emitOpError("insert_checks_c1: gemm must have a schedule, got none; run "
                         "blockscale-choose-schedule first");
        return signalPassFailure();
      }
      OpBuilder builder(gemm->getContext());
      builder.setInsertionPointAfter(gemm);
      StringAttr name = builder.getStringAttr("gemm_" + Twine(count++));
      Value result = gemm.getResult() ? gemm.getResult() : gemm.getOut();
      if (gemm.isBlockProduct()) {
        CheckBlockGemmOp::create(builder, gemm.getLoc(), gemm.getA(), gemm.getB(), result, name,
                                 gemm.getBlockProblem());
        return;
      }
      CheckGemmOp::create(builder, gemm.getLoc(), gemm.getA(), gemm.getSfa(), gemm.getB(),
                          gemm.getSfb(), gemm.getAlpha(), gemm.getBias(), gemm.getBeta(),
                          gemm.getC(), result, name, gemm.getSchedule(), gemm.getProblem(),
                          gemm.getMajorA(), gemm.getMajorB());
    });
  }
};
} // namespace
