//===- InsertChecks.cpp - a comparison behind every gemm ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizeActivations.h"
#include "Repitch.h"

#include "blockscale/Dialect/Blockscale/IR/Operands.h"
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
      if (gemm.isBlockProduct() ? !gemm.getWarpSchedule() && !gemm.getWgmmaSchedule()
                                : !gemm.getSchedule()) {
        gemm.emitOpError("insert_checks_c1: gemm must have a schedule, got none; run "
                         "blockscale-choose-schedule first");
        return signalPassFailure();
      }
      OpBuilder builder(gemm->getContext());
      builder.setInsertionPointAfter(gemm);
      StringAttr name = builder.getStringAttr("gemm_" + Twine(count++));
      Value result = gemm.getResult() ? gemm.getResult() : gemm.getOut();
      if (gemm.isBlockProduct()) {
        // The reference reads chunks, so that it sees what became of them.
        Value a = gemm.getA();
        if (auto transpose = a.getDefiningOp<TransposeChunksOp>();
            transpose && facts::isTile(transpose.getLogicalMatrix().getTo()))
          a = transpose.getChunks();
        else if (auto quantize = a.getDefiningOp<QuantizeChunksOp>();
                 quantize && !quantize.getFormat() && facts::isTile(quantize.getLogicalFormat()))
          a = QuantizeChunksOp::create(builder, quantize.getLoc(), chunksTypeOf(quantize.getX()),
                                       quantize.getX(), Value(), QuantizeScheduleAttr(),
                                       BlocksAttr())
                  .getResult();
        BlockProblemAttr problem = gemm.getBlockProblem();
        if (problem && a != gemm.getA())
          problem = BlockProblemAttr::get(problem.getContext(), problem.getM(), problem.getN(),
                                          problem.getK(), facts::BlockFormat::q8_1_chunk,
                                          problem.getB(), problem.getContract());
        BlocksAttr blocks = getBlocks(a.getType());
        if ((blocks && isTile(blocks.getFormat())) || (problem && isTile(problem.getA()))) {
          gemm.emitOpError("insert_checks_c2: tiles of activations must come from a "
                           "quantize_chunks or a transpose_chunks, so that the reference has "
                           "chunks, got another value");
          return signalPassFailure();
        }
        Value b = gemm.getB();
        if (auto decode = b.getDefiningOp<DecodeScalesOp>())
          b = decode.getWeights();
        if (problem && b != gemm.getB())
          problem = BlockProblemAttr::get(problem.getContext(), problem.getM(), problem.getN(),
                                          problem.getK(), problem.getA(), facts::BlockFormat::q4_K,
                                          problem.getContract());
        BlocksAttr weights = getBlocks(b.getType());
        if ((weights ? weights.getFormat() : problem.getB()) != facts::BlockFormat::q4_K) {
          gemm.emitOpError("insert_checks_c3: planes of weights must come from a decode_scales, so "
                           "that the reference has blocks, got another value");
          return signalPassFailure();
        }
        CheckBlockGemmOp::create(builder, gemm.getLoc(), a, b, result, name, problem);
        return;
      }
      Value scales = gemm.getNumResults() > 1 ? gemm.getResults()[1] : gemm.getOutScales();
      Value a = denseRows(builder, gemm.getLoc(), gemm.getA());
      Value b = denseRows(builder, gemm.getLoc(), gemm.getB());
      CheckGemmOp::create(builder, gemm.getLoc(), a, gemm.getSfa(), b, gemm.getSfb(),
                          gemm.getAlpha(), gemm.getAlphaRows(), gemm.getAlphaColumns(),
                          gemm.getBias(), gemm.getBeta(), gemm.getC(), gemm.getGlobal(),
                          gemm.getNormConst(), result, scales, name, gemm.getSchedule(),
                          gemm.getProblem(), gemm.getMajorA(), gemm.getMajorB(),
                          gemm.getActivationAttr(), gemm.getGateAttr());
    });
  }
};
} // namespace
