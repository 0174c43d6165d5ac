//===- KernelUseRules.cpp - ops use the plans of their kernel ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies, products, loads, stores and turns of one kernel against its plans.
//
//===----------------------------------------------------------------------===//

#include "KernelPlanRules.h"

#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/MmaMode.h"
#include "blockscale/Facts/QuantizedFormat.h"
#include "blockscale/Facts/ScaleTile.h"
#include "blockscale/Facts/Tmem.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace blockscale;

LogicalResult KernelPlanRules::checkScaleCopies() {
  WalkResult result = kernel.getBody().walk([&](CopyScalesOp op) {
    auto source = op.getSource().getDefiningOp<SharedBufferOp>();
    auto tmem = op.getTmem().getDefiningOp<TmemPlanOp>();
    if (!source || !tmem)
      return op.emitOpError(
                 "kernel_c13: operands must be plans of this kernel, got a block argument"),
             WalkResult::interrupt();
    SharedPlanAttr plan = source.getPlan();
    if (plan.getContent() != SharedContent::scales_tiled)
      return op.emitOpError("kernel_c13: tcgen05.cp reads scales in 128x4 tiles only, got ")
                 << StringRef(name(plan.getContent()))
                 << "; use blockscale.relayout_scales before the kernel",
             WalkResult::interrupt();
    bool isA = op.getOperand().getValue() == ScaleOperand::sfa;
    int64_t tiles = op.getTiles(), along = shape.scaleTilesPerStage;
    int64_t stageBytes = isA ? shape.stage.sfa : shape.stage.sfb;
    int64_t from = op.getFrom().value_or(0), product = op.getProduct().value_or(0);
    if (tiles < 1 || tiles > along)
      return op.emitOpError("kernel_c13: tiles must be 1..")
                 << along << " of a stage, got " << tiles,
             WalkResult::interrupt();
    if (from < 0 || from + tiles > along)
      return op.emitOpError("kernel_c13: tiles must lie inside the ")
                 << along << " of a stage, got " << tiles << " from " << from,
             WalkResult::interrupt();
    if (op.getProduct() && (!isA || product < 0 || product >= shape.scaleTilesOfA))
      return op.emitOpError("kernel_c13: product must be one of the ")
                 << (isA ? shape.scaleTilesOfA : 0) << " that share B, of sfa, got " << product,
             WalkResult::interrupt();
    if (plan.getBytes() != stageBytes)
      return source.emitOpError("kernel_c13: a stage of scales must be ")
                 << stageBytes << " bytes, got " << plan.getBytes(),
             WalkResult::interrupt();
    int64_t columns = isA ? tmem.getPlan().getSfaColumns() : tmem.getPlan().getSfbColumns();
    int64_t want = plan.getBytes() / facts::kScaleTileBytes * facts::kScaleTileScales;
    if (columns != want)
      return tmem.emitOpError("kernel_c13: ")
                 << StringRef(name(op.getOperand().getValue())) << "_columns must be " << want
                 << ", four for each tile of a stage, got " << columns,
             WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelPlanRules::checkMmaOperands(Operation *op, Value ofA, Value ofB, Value shift) {
  auto fail = [&](auto emit) {
    emit(op->emitOpError("kernel_c14: "));
    return failure();
  };
  auto a = ofA.getDefiningOp<SharedBufferOp>();
  auto b = ofB.getDefiningOp<SharedBufferOp>();
  if (!a || a.getPlan().getContent() != SharedContent::a || !b ||
      b.getPlan().getContent() != SharedContent::b)
    return fail([](auto &&d) { d << "operands must be an a and a b buffer, got others"; });
  for (SharedBufferOp buffer : {a, b}) {
    const facts::OperandTile &tile = *tileOf(buffer.getPlan());
    if (buffer.getPlan().getBytes() != tile.bytes())
      return fail([&](auto &&d) {
        d << "a stage must hold the tile's " << tile.bytes() << " bytes, got "
          << buffer.getPlan().getBytes();
      });
    if (buffer.getPlan().getSwizzle() != tile.swizzle)
      return fail([&](auto &&d) {
        d << "operands must lie in the " << StringRef(facts::name(tile.swizzle)) << " swizzle, got "
          << StringRef(facts::name(buffer.getPlan().getSwizzle()));
      });
  }
  if (cutsScaleTiles(schedule.getTile()) != bool(shift))
    return fail([&](auto &&d) {
      d << "scales of B must " << (shift ? "not " : "") << "be shifted for tiles of "
        << schedule.getTile().n << " columns, got " << (shift ? "a shift" : "none");
    });
  if (shift && !shift.getDefiningOp<ScaleTilesOfBOp>())
    return fail([](auto &&d) { d << "shift must come from scale_tiles_of_b, got another"; });
  return success();
}

LogicalResult KernelPlanRules::checkMmas() {
  WalkResult result = kernel.getBody().walk([&](MmaOp op) {
    auto fail = [&](auto emit) {
      emit(op.emitOpError("kernel_c14: "));
      return WalkResult::interrupt();
    };
    if (failed(checkMmaOperands(op, op.getA(), op.getB(), op.getShift())))
      return WalkResult::interrupt();
    int64_t steps = op.getSteps(), from = op.getFrom().value_or(0);
    if (steps < 1 || from + steps > maxSteps())
      return fail(
          [&](auto &&d) { d << "steps must be 1.." << maxSteps() - from << ", got " << steps; });
    // A stage begins with step 0; what an mma leaves is the next one's.
    Operation *before = op->getPrevNode();
    while (before && !isa<MmaOp>(before))
      before = before->getPrevNode();
    auto last = dyn_cast_or_null<MmaOp>(before);
    int64_t end = last ? last.getFrom().value_or(0) + int64_t(last.getSteps()) : 0;
    if (from && from != end)
      return fail([&](auto &&d) { d << "first step must be 0 or " << end << ", got " << from; });
    // Scales of every step must have been copied in this block since the mma before
    // it: an inlined loop puts several K tiles into one block.
    int64_t first = from * scalesPerStep() / 4;
    int64_t words = ((from + steps) * scalesPerStep() + 3) / 4 - first;
    for (ScaleOperand operand : {ScaleOperand::sfa, ScaleOperand::sfb}) {
      int64_t products = operand == ScaleOperand::sfa ? shape.scaleTilesOfA : 1;
      int64_t copied = 0;
      bool isRight = true;
      for (Operation *other = op->getPrevNode(); other && !isa<MmaOp>(other);
           other = other->getPrevNode())
        if (auto copy = dyn_cast<CopyScalesOp>(other);
            copy && copy.getOperand().getValue() == operand) {
          copied += copy.getTiles() * (copy.getProduct() ? 1 : products);
          isRight &= int64_t(copy.getFrom().value_or(0)) == first;
          for (Operation *twin = copy->getPrevNode(); twin && !isa<MmaOp>(twin);
               twin = twin->getPrevNode())
            if (auto same = dyn_cast<CopyScalesOp>(twin))
              isRight &=
                  same.getOperand() != copy.getOperand() || same.getProduct() != copy.getProduct();
        }
      if (copied != words * products)
        return fail([&](auto &&d) {
          d << "scale tiles copied for " << StringRef(name(operand)) << " must be "
            << words * products << " for " << steps << " steps, got " << copied;
        });
      if (!isRight)
        return fail([&](auto &&d) {
          d << "scale tiles copied for " << StringRef(name(operand)) << " must be from " << first
            << ", once for each product, got others";
        });
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  result = kernel.getBody().walk([&](MmaSpanOp op) {
    return failed(checkMmaOperands(op, op.getA(), op.getB(), op.getShift()))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelPlanRules::checkAccumulatorLoads() {
  // Columns of one stage are read in one block, up to the width of the stage.
  llvm::MapVector<Block *, int64_t> next;
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadAccumulatorOp>(op)) {
      int64_t &column = next[op->getBlock()], count = load.getValues().size();
      std::optional<int64_t> stage = getConstantIntValue(load.getAccumulator());
      if (isOverlapped() && (!stage || *stage < 0 || *stage > 1))
        return op->emitOpError("kernel_c15: accumulator must be a constant 0 or 1 where they are "
                               "overlapped, got ")
                   << (stage ? std::to_string(*stage) : "a value"),
               WalkResult::interrupt();
      // The first of two overlapped stages is read from its end, which the second writes.
      bool isBackward = isOverlapped() && *stage == 0;
      int64_t want = count ? epilogueColumn(shape, schedule, column / count, count) : column;
      if (isBackward)
        want = schedule.getInst().n - want - count;
      if (int64_t(load.getColumn()) != want)
        return op->emitOpError("kernel_c15: column must be ")
                   << want << ", the next one of the stage, got " << load.getColumn(),
               WalkResult::interrupt();
      column += count;
    } else if (auto apply = dyn_cast<ApplyEpilogueOp>(op)) {
      auto load = apply.getValues().empty()
                      ? LoadAccumulatorOp()
                      : apply.getValues().front().getDefiningOp<LoadAccumulatorOp>();
      int64_t column = load ? int64_t(load.getColumn()) % schedule.getInst().n : 0;
      if (load && column != int64_t(apply.getColumn()))
        return op->emitOpError("kernel_c15: column must be ")
                   << column << ", that of its values, got " << apply.getColumn(),
               WalkResult::interrupt();
    } else if (auto release = dyn_cast<ConsumerReleaseOp>(op); release && isEpilogues(release)) {
      for (TmemPlanOp plan : tmems)
        if (int64_t read = next[op->getBlock()], want = sharedColumns(plan.getPlan()); read < want)
          return op->emitOpError("kernel_c15: the ")
                     << want << " columns that the next tile may write must be read before the "
                     << "stage is released, got " << read,
                 WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (auto [block, column] : next)
    for (TmemPlanOp op : tmems)
      if (column != op.getPlan().getWidth())
        return op.emitOpError("kernel_c15: all ")
               << op.getPlan().getWidth() << " columns of a stage must be read, got " << column;
  return success();
}

LogicalResult KernelPlanRules::checkTurns() {
  if (!isOverlapped())
    return success();
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    Value accumulator;
    if (auto mma = dyn_cast<MmaOp>(op))
      accumulator = mma.getAccumulator();
    else if (auto span = dyn_cast<MmaSpanOp>(op))
      accumulator = span.getAccumulator();
    else
      return WalkResult::advance();
    bool isTurn = llvm::any_of(accumulator.getUsers(), [&](Operation *user) {
      auto acquire = dyn_cast<ProducerAcquireOp>(user);
      auto ring = acquire ? acquire.getPipeline().getDefiningOp<PipelineOp>() : PipelineOp();
      return ring && acquire.getPhase() == accumulator &&
             ring.getPlan().getConsumer() == WarpRole::epilogue;
    });
    if (isTurn)
      return WalkResult::advance();
    op->emitOpError("kernel_c19: overlapped accumulator must be the phase in which the ring was "
                    "acquired, got another value");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelPlanRules::checkWarps() {
  SmallVector<PlanRange> ranges;
  for (WarpRoleOp op : roles) {
    int64_t first = op.getFirst(), last = op.getLast();
    if (first < 0 || last < first || (last + 1) * 32 > int64_t(kernel.getThreads()))
      return op.emitOpError("kernel_c16: warps must lie inside 0..")
             << kernel.getThreads() / 32 - 1 << ", got " << first << ".." << last;
    if (op.getRole().getValue() == WarpRole::epilogue && (first != 0 || last != 3))
      return op.emitOpError(
                 "kernel_c16: epilogue warps must be 0..3, which reach lanes 0..127, got ")
             << first << ".." << last;
    if (op.getRole().getValue() != WarpRole::epilogue && first != last)
      return op.emitOpError("kernel_c16: role must have one warp, got ") << last - first + 1;
    ranges.push_back({op, StringRef(name(op.getRole().getValue())), first, last - first + 1});
  }
  for (TmemPlanOp op : tmems)
    if (int64_t warp = op.getPlan().getAllocWarp();
        warp < 0 || (warp + 1) * 32 > int64_t(kernel.getThreads()))
      return op.emitOpError("kernel_c16: alloc_warp must lie inside the block, got ") << warp;
  if (failed(checkDisjoint(ranges, "kernel_c16", "warps")))
    return failure();
  int64_t warps = 0;
  for (const PlanRange &range : ranges)
    warps += range.size;
  if (warps && int64_t(kernel.getThreads()) != 32 * warps)
    return kernel.emitOpError("kernel_c16: threads must be ")
           << 32 * warps << ", those of the roles, got " << kernel.getThreads();
  return success();
}

LogicalResult KernelPlanRules::checkLoads() {
  WalkResult result = kernel.getBody().walk([&](TmaLoadOp op) {
    auto fail = [&](auto emit) {
      emit(op.emitOpError("kernel_c17: "));
      return WalkResult::interrupt();
    };
    auto target = op.getTarget().getDefiningOp<SharedBufferOp>();
    auto pipeline = op.getPipeline().getDefiningOp<PipelineOp>();
    if (!target || !pipeline)
      return fail(
          [](auto &&d) { d << "operands must be plans of this kernel, got a block argument"; });
    if (target.getPlan().getStages() != pipeline.getPlan().getStages())
      return fail([&](auto &&d) {
        d << "buffer must be as deep as its pipeline, " << pipeline.getPlan().getStages()
          << " stages, got " << target.getPlan().getStages();
      });
    int64_t parts = boxesOf(op), part = op.getPart().value_or(0);
    if (part < 0 || part >= parts || op.getPart().has_value() != (parts > 1))
      return fail([&](auto &&d) {
        d << "part must be " << (parts > 1 ? "0.." + std::to_string(parts - 1) : "absent")
          << " for a stage of " << parts << " boxes, got "
          << (op.getPart() ? std::to_string(part) : "none");
      });
    bool twice = llvm::any_of(*op->getBlock(), [&](Operation &other) {
      auto load = dyn_cast<TmaLoadOp>(other);
      return load && load != op && load.getTarget() == op.getTarget() &&
             load.getStage() == op.getStage() && load.getPart() == op.getPart();
    });
    if (twice)
      return fail([&](auto &&d) { d << "a part of a stage must be loaded once, got more"; });
    bool acquired = llvm::any_of(*op->getBlock(), [&](Operation &other) {
      auto acquire = dyn_cast<ProducerAcquireOp>(other);
      return acquire && acquire.getPipeline() == op.getPipeline() &&
             acquire.getStage() == op.getStage() && acquire->isBeforeInBlock(op);
    });
    if (!acquired)
      return fail([](auto &&d) { d << "stage must be acquired before it is loaded, got none"; });
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelPlanRules::checkStaging() {
  for (SharedBufferOp op : buffers) {
    SharedPlanAttr plan = op.getPlan();
    if (plan.getContent() != SharedContent::staging)
      continue;
    // One warp's 32 rows of 128 bytes are one TMA store.
    int64_t want = kStagingBytes;
    if (plan.getBytes() != want || plan.getSwizzle() != facts::Swizzle::b128)
      return op.emitOpError("kernel_c18: staging must be ")
             << want << " bytes in the b128 swizzle, got " << plan.getBytes() << " in "
             << StringRef(facts::name(plan.getSwizzle()));
  }
  int64_t acquired = -1; // the buffer that the epilogue holds
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    int64_t buffer = -1, byte = 0, bytes = 0, column = 0;
    Value staging;
    if (auto store = dyn_cast<StoreStagingOp>(op)) {
      buffer = store.getBuffer(), byte = store.getByte(), staging = store.getStaging();
      bytes = facts::packedBytes(problem.getOut(), store.getValues().size());
    } else if (auto acquire = dyn_cast<StagingAcquireOp>(op)) {
      acquired = buffer = acquire.getBuffer(), staging = acquire.getStaging();
    } else if (auto send = dyn_cast<TmaStoreOp>(op)) {
      buffer = send.getBuffer(), staging = send.getStaging(), column = send.getColumn();
    } else {
      return WalkResult::advance();
    }
    auto plan = staging.getDefiningOp<SharedBufferOp>();
    if (!plan || plan.getPlan().getContent() != SharedContent::staging || buffer < 0 ||
        buffer >= plan.getPlan().getStages())
      return op->emitOpError("kernel_c18: buffer must be one of the staging plan, got ") << buffer,
             WalkResult::interrupt();
    if (buffer != acquired)
      return op->emitOpError("kernel_c18: buffer must be the one acquired, ")
                 << acquired << ", got " << buffer,
             WalkResult::interrupt();
    if (int64_t columns = 128 / facts::packedBytes(problem.getOut(), 1);
        column % columns || column < 0 || column >= schedule.getTile().n)
      return op->emitOpError("kernel_c18: column must be a multiple of ")
                 << columns << " inside the tile, got " << column,
             WalkResult::interrupt();
    if (byte < 0 || byte % 16 || bytes % 16 || byte + bytes > 128)
      return op->emitOpError("kernel_c18: a row takes 16-byte pieces inside 0..127, got ")
                 << byte << ".." << byte + bytes - 1,
             WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
