//===- InsertRelayouts.cpp - copies that a gemm needs become visible ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value that several products of one block use is copied once.
//
//===----------------------------------------------------------------------===//

#include "BlockPins.h"
#include "QuantizeActivations.h"

#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"
#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Facts/ScaleTile.h"
#include "blockscale/Facts/WeightPlane.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace blockscale;
using facts::ScaleLayout;

namespace blockscale {
#define GEN_PASS_DEF_INSERTRELAYOUTS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

/// Whether whoever made tiled scales also zeroed their padding columns.
static bool producerZeroesTail(Value scales) {
  return isa_and_nonnull<QuantizeOp, GemmOp, RelayoutScalesOp, ZeroScaleTailOp, arith::ConstantOp>(
      scales.getDefiningOp());
}

namespace {
struct InsertRelayoutsPass : blockscale::impl::InsertRelayoutsBase<InsertRelayoutsPass> {
  using InsertRelayoutsBase::InsertRelayoutsBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](GemmOp gemm) {
      if (gemm.getProblem() || gemm.getBlockProblem())
        return WalkResult::advance(); // bytes: nothing left to insert
      if (gemm.isBlockProduct()) {
        if (isActivations(gemm.getA().getType())) {
          if (decidesLater(gemm))
            return WalkResult::advance();
          quantizeActivations(gemm);
        }
        prepareChunks(gemm);
        return failed(prepareTiles(gemm)) ? WalkResult::interrupt() : WalkResult::advance();
      }
      if (!autoRelayout &&
          failed(verifyTiledScales(gemm.getLogicalProblem(), "auto-relayout=true inserts the copy",
                                   [&] { return gemm.emitOpError(); })))
        return WalkResult::interrupt();
      prepareScales(gemm, gemm.getSfaMutable()[0]);
      prepareScales(gemm, gemm.getSfbMutable()[0]);
      prepareNibbles(gemm, gemm.getAMutable(), gemm.getNibblesA());
      prepareNibbles(gemm, gemm.getBMutable(), gemm.getNibblesB());
      gemm.removeNibblesAAttr();
      gemm.removeNibblesBAttr();
      return WalkResult::advance();
    });
    copies.clear();
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// The copy of `source` that `make` builds in front of the first use in the block.
  Value copyOf(GemmOp gemm, Value source, llvm::function_ref<Value(OpBuilder &)> make) {
    return copyOf(gemm, source, Type(), make);
  }
  /// The same where copies of several types are made of one source.
  Value copyOf(GemmOp gemm, Value source, Type type, llvm::function_ref<Value(OpBuilder &)> make) {
    Value &copy = copies[{{source, gemm->getBlock()}, type}];
    if (!copy) {
      OpBuilder builder(gemm);
      copy = make(builder);
    }
    return copy;
  }

  FailureOr<WarpPins> readPins(ErrorFn emitError) {
    return readWarpPins({kernel, sums, activations, minima, convert, weights, pragma, kd, stages,
                         flight, warpRows, split},
                        emitError);
  }

  /// Where halves are allowed the choice of the schedule decides, but for fields that only
  /// kernels of chunks have.
  bool decidesLater(GemmOp gemm) {
    BlockContract contract = gemm.getLogicalBlockProblem().getContract();
    if (!mayBeHalves(contract) || contract == BlockContract::halves || gemm.getWgmmaSchedule() ||
        kernel.getValue() == kWgmmaKernelName)
      return mayBeHalves(contract);
    FailureOr<WarpPins> pins = readPins([&] { return gemm.emitOpError(); });
    return failed(pins) || pinnedOfChunks(*pins, quantizer.getValue()).empty();
  }

  /// The schedule that the product has, or will get; null where the chip is not known.
  FailureOr<WarpScheduleAttr> scheduleOf(GemmOp gemm) {
    if (WarpScheduleAttr given = gemm.getWarpSchedule())
      return given;
    auto emitError = [&] { return gemm.emitOpError(); };
    FailureOr<WarpPins> pins = readPins(emitError);
    if (failed(pins))
      return failure();
    facts::Result<facts::Arch> target = findTargetFor(getOperation(), arch);
    if (arch.empty() || !target || !isWarpTarget(*target))
      return WarpScheduleAttr(); // blockscale-choose-schedule says why
    BlockProblemAttr problem = gemm.getLogicalBlockProblem();
    FailureOr<WarpChoice> choice = chooseWarpSchedule(problem, *target, *pins, emitError);
    if (failed(choice))
      return failure();
    WarpScheduleAttr schedule = choice->schedule;
    bool isMade = isa_and_nonnull<QuantizeChunksOp>(gemm.getA().getDefiningOp());
    if (!isMade || pins->activations || schedule.getKernel() != WarpKernel::raw_nibble ||
        schedule.getSums() != ChunkSums::two_word)
      return schedule;
    // Who quantises may as well write tiles: they were measured to pay where they make a ring.
    pins->kernel = WarpKernel::raw_nibble;
    pins->activations = Activations::transposed;
    FailureOr<WarpChoice> tiles = chooseWarpSchedule(problem, *target, *pins, emitError);
    if (failed(tiles))
      return failure();
    return tiles->schedule.getStages() > 1 ? tiles->schedule : schedule;
  }

  /// ggml's own blocks have no sums that are exact.
  void prepareChunks(GemmOp gemm) {
    Value blocks = gemm.getA();
    if (BlocksAttr format = getBlocks(blocks.getType());
        !format || format.getFormat() != facts::BlockFormat::q8_1)
      return;
    BlockProblemAttr problem = gemm.getLogicalBlockProblem();
    constexpr auto to = facts::BlockFormat::q8_1_chunk;
    auto chunks = RankedTensorType::get(
        {problem.getM(), facts::matrixBytes(to, /*rows=*/1, problem.getK())},
        IntegerType::get(&getContext(), 8), BlocksAttr::get(&getContext(), to));
    gemm.getAMutable().set(copyOf(gemm, blocks, chunks, [&](OpBuilder &builder) -> Value {
      return TransposeChunksOp::create(builder, gemm.getLoc(), chunks, blocks, Value(),
                                       ChunkMatrixAttr())
          .getResult();
    }));
  }

  LogicalResult prepareTiles(GemmOp gemm) {
    FailureOr<WarpScheduleAttr> schedule = scheduleOf(gemm);
    if (failed(schedule))
      return failure();
    if (*schedule)
      prepareWeights(gemm, *schedule);
    Value chunks = gemm.getA();
    if (!*schedule || (*schedule).getActivations() == Activations::chunks ||
        getBlocks(chunks.getType()).getFormat() != facts::BlockFormat::q8_1_chunk)
      return success();
    facts::BlockFormat format = (*schedule).getAFormat();
    BlockProblemAttr problem = gemm.getLogicalBlockProblem();
    int64_t rows = (problem.getM() + facts::kTileTokens - 1) / facts::kTileTokens;
    auto tiles = RankedTensorType::get(
        {rows, facts::matrixBytes(format, problem.getM(), problem.getK()) / rows},
        IntegerType::get(&getContext(), 8), BlocksAttr::get(&getContext(), format));
    auto quantize = chunks.getDefiningOp<QuantizeChunksOp>();
    if (quantize && quantizer.getValue() == "device") {
      Value x = quantize.getX();
      gemm.getAMutable().set(copyOf(gemm, x, tiles, [&](OpBuilder &builder) -> Value {
        return QuantizeChunksOp::create(builder, quantize.getLoc(), tiles, x, Value(),
                                        QuantizeScheduleAttr(), BlocksAttr())
            .getResult();
      }));
      if (quantize->use_empty())
        quantize.erase();
      return success();
    }
    gemm.getAMutable().set(copyOf(gemm, chunks, tiles, [&](OpBuilder &builder) -> Value {
      return TransposeChunksOp::create(builder, gemm.getLoc(), tiles, chunks, Value(),
                                       ChunkMatrixAttr())
          .getResult();
    }));
    return success();
  }

  void prepareWeights(GemmOp gemm, WarpScheduleAttr schedule) {
    BlockProblemAttr problem = gemm.getLogicalBlockProblem();
    if (problem.getB() == schedule.getBFormat() || problem.getB() != facts::BlockFormat::q4_K)
      return;
    int64_t rows = (problem.getN() + facts::kPlaneRows - 1) / facts::kPlaneRows;
    facts::BlockFormat format = schedule.getBFormat();
    auto planes = RankedTensorType::get(
        {rows, facts::matrixBytes(format, problem.getN(), problem.getK()) / rows},
        IntegerType::get(&getContext(), 8), BlocksAttr::get(&getContext(), format));
    Value weights = gemm.getB();
    gemm.getBMutable().set(copyOf(gemm, weights, planes, [&](OpBuilder &builder) -> Value {
      return DecodeScalesOp::create(builder, gemm.getLoc(), planes, weights, Value(),
                                    WeightMatrixAttr())
          .getResult();
    }));
  }

  void prepareScales(GemmOp gemm, OpOperand &operand) {
    Value scales = operand.get();
    ScaleMatrixAttr matrix = getScaleMatrices(scales.getType());
    MLIRContext *context = &getContext();
    if (matrix.getLayout() == ScaleLayout::linear) {
      auto tiled = RankedTensorType::get(
          cast<ShapedType>(scales.getType()).getShape(), IntegerType::get(context, 8),
          ScalesAttr::get(context, matrix.getFormat(), ScaleLayout::tiled));
      operand.set(copyOf(gemm, scales, [&](OpBuilder &builder) -> Value {
        return RelayoutScalesOp::create(builder, gemm.getLoc(), tiled, scales, Value(),
                                        ScaleMatrixAttr(), ScaleMatrixAttr())
            .getResult();
      }));
      return;
    }
    if (matrix.getCols() % facts::kScaleTileScales == 0 || producerZeroesTail(scales))
      return;
    operand.set(copyOf(gemm, scales, [&](OpBuilder &builder) -> Value {
      return ZeroScaleTailOp::create(builder, gemm.getLoc(), scales.getType(), scales,
                                     ScaleMatrixAttr())
          .getResult();
    }));
  }

  void prepareNibbles(GemmOp gemm, OpOperand &operand, NibblesAttr nibbles) {
    if (!nibbles || nibbles.getOrder() == NibbleOrder::low_first)
      return;
    Value elements = operand.get();
    operand.set(copyOf(gemm, elements, [&](OpBuilder &builder) -> Value {
      return SwapNibblesOp::create(builder, gemm.getLoc(), elements.getType(), elements, Value())
          .getResult();
    }));
  }

  llvm::DenseMap<std::pair<std::pair<Value, Block *>, Type>, Value> copies;
};
} // namespace
