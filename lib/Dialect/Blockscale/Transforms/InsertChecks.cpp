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
      if (!gemm.getSchedule()) {
        gemm.emitOpError("insert_checks_c1: gemm must have a schedule, got none; run "
                         "blockscale-choose-schedule first");
        return signalPassFailure();
      }
      OpBuilder builder(gemm->getContext());
      builder.setInsertionPointAfter(gemm);
      CheckGemmOp::create(
          builder, gemm.getLoc(), gemm.getA(), gemm.getSfa(), gemm.getB(), gemm.getSfb(),
          gemm.getAlpha(), gemm.getBias(), gemm.getResult() ? gemm.getResult() : gemm.getOut(),
          builder.getStringAttr("gemm_" + Twine(count++)), gemm.getSchedule(), gemm.getProblem());
    });
  }
};
} // namespace
