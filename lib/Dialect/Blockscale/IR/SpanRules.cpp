//===- SpanRules.cpp - rules of products whose K crosses stages -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of a K tile follow each other without a gap, in bytes and in scales;
// kernel_c20 follows them through a block.
//
//===----------------------------------------------------------------------===//

#include "SpanRules.h"

#include "blockscale/Dialect/Blockscale/IR/Planning.h"
#include "blockscale/Facts/MmaMode.h"

using namespace mlir;
using namespace blockscale;

namespace {

/// The place that the next instruction of a block must start at.
class SpanWalk {
public:
  explicit SpanWalk(KernelOp kernel)
      : problem(kernel.getProblem()), schedule(kernel.getSchedule()) {}

  LogicalResult visit(Operation *op) {
    if (auto copy = dyn_cast<CopyScalesOp>(op))
      return visit(copy);
    if (auto span = dyn_cast<MmaSpanOp>(op))
      return visit(span);
    if (isa<MmaOp>(op) && isSpan(schedule))
      return op->emitOpError("kernel_c20: product must be an mma_span where k of inst is ")
             << schedule.getInst().k << ", got an mma";
    return success();
  }
  /// Copies that no instruction reads are wrong at the end of a group.
  LogicalResult finishGroup() {
    for (CopyScalesOp copy : {copies[0], copies[1]})
      if (int64_t words = facts::scaleTileKBlocks(scale); copy && int64_t(copy.getTiles()) != words)
        return copy.emitOpError("kernel_c20: tiles must be ")
               << words << ", those of the " << scale << " scales of a row that are read, got "
               << copy.getTiles();
    return success();
  }

private:
  LogicalResult visit(CopyScalesOp op) {
    if (!isSpan(schedule))
      return success();
    bool isB = op.getOperand().getValue() == ScaleOperand::sfb;
    if (scale != 0 || copies[isB]) {
      if (failed(finishGroup()))
        return failure();
      scale = 0;
      copies[0] = copies[1] = CopyScalesOp();
    }
    copies[isB] = op;
    return success();
  }

  LogicalResult visit(MmaSpanOp op) {
    auto fail = [&]() -> InFlightDiagnostic { return op.emitOpError("kernel_c20: "); };
    if (!isSpan(schedule))
      return fail() << "product must be an mma where k of inst is " << schedule.getInst().k
                    << ", got an mma_span";
    int64_t k = op.getK(), block = problem.getBlock();
    const facts::MmaMode *mode = facts::findMmaMode(schedule.getMma(), int(block), int(k));
    if (!mode || (k != kSpanK && k != kSpanShortK))
      return fail() << "k must be 64 or 96, got " << k;
    auto nextOf = [](Value stage) { return stage.getDefiningOp<PipelineAdvanceOp>(); };
    if (previous) {
      bool crossed = byte >= facts::kTileRowBytes;
      byte %= facts::kTileRowBytes;
      auto from = nextOf(op.getStage());
      if (crossed ? !from || from.getStage() != previous.getStage()
                  : op.getStage() != previous.getStage())
        return fail() << "stage must be the " << (crossed ? "one behind that" : "one")
                      << " of the mma_span before it, got another";
    }
    if (int64_t(op.getByte()) != byte)
      return fail() << "byte must be " << byte << ", where the one before it ends, got "
                    << op.getByte();
    bool isLong = k == kSpanK;
    auto from = op.getNext() ? nextOf(op.getNext()) : PipelineAdvanceOp();
    if (isLong != bool(op.getNext()) || (isLong && (!from || from.getStage() != op.getStage())))
      return fail() << "next must be " << (isLong ? "the stage behind it" : "absent")
                    << " where k is " << k << ", got " << (op.getNext() ? "another" : "none");
    if (byte + k / 2 > facts::kTileRowBytes && !op.getNext())
      return fail() << "bytes must lie inside a stage, got " << byte << ".." << byte + k / 2 - 1;
    if (int64_t(op.getScale()) != scale)
      return fail() << "scale must be " << scale << ", behind those of the one before it, got "
                    << op.getScale();
    if (int id = int(scale % facts::kScaleTileScales); !mode->scaleIds.contains(id))
      return fail() << "scale id must be one that k = " << k << " has, got " << id;
    scale += k / block;
    for (auto [copy, what] : {std::pair(copies[0], "a"), {copies[1], "b"}})
      if (!copy || int64_t(copy.getTiles()) * facts::kScaleTileScales < scale)
        return fail() << "scales of " << what << " must be copied ahead of it, up to " << scale
                      << " a row, got " << (copy ? copy.getTiles() * facts::kScaleTileScales : 0);
    byte += k / 2;
    previous = op;
    return success();
  }

  ProblemAttr problem;
  ScheduleAttr schedule;
  MmaSpanOp previous;
  int64_t byte = 0, scale = 0;
  CopyScalesOp copies[2]; // of the group
};

} // namespace

LogicalResult blockscale::verifySpans(KernelOp kernel) {
  WalkResult result = kernel.getBody().walk([&](Block *block) {
    SpanWalk walk(kernel);
    for (Operation &op : *block)
      if (failed(walk.visit(&op)))
        return WalkResult::interrupt();
    return failed(walk.finishGroup()) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
