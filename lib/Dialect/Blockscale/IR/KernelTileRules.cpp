//===- KernelTileRules.cpp - rules of whose a kernel's bytes are ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which part of an operand each CTA of a cluster loads, and which product of a batch a tile is of.
//
//===----------------------------------------------------------------------===//

#include "KernelPlanRules.h"

using namespace mlir;
using namespace blockscale;

/// The operand that a load brings a part of.
ProblemOperand KernelPlanRules::operandOf(TmaLoadOp op) {
  auto target = op.getTarget().getDefiningOp<SharedBufferOp>();
  SharedContent content = target.getPlan().getContent();
  if (content == SharedContent::scales_tiled)
    for (Operation *user : target->getUsers())
      if (auto copy = dyn_cast<CopyScalesOp>(user))
        return copy.getOperand().getValue() == ScaleOperand::sfa ? ProblemOperand::sfa
                                                                 : ProblemOperand::sfb;
  return content == SharedContent::b ? ProblemOperand::b : ProblemOperand::a;
}

int64_t KernelPlanRules::boxesOf(TmaLoadOp load) const {
  auto target = load.getTarget().getDefiningOp<SharedBufferOp>();
  if (const facts::OperandTile *tile = tileOf(target.getPlan()))
    return tile->boxes;
  return operandOf(load) == ProblemOperand::sfa ? shape.boxesOfSfa : 1;
}

int64_t KernelPlanRules::arrivingBytes(TmaLoadOp load) const {
  auto target = load.getTarget().getDefiningOp<SharedBufferOp>();
  if (const facts::OperandTile *tile = tileOf(target.getPlan()))
    return tile->arriving;
  return target.getPlan().getBytes() / boxesOf(load);
}

LogicalResult KernelPlanRules::checkShares() {
  WalkResult result = kernel.getBody().walk([&](TmaLoadOp op) {
    ProblemOperand want = operandOf(op);
    int64_t sharers = cluster.sharers(want);
    ProblemOperandAttr share = op.getShare().value_or(ProblemOperandAttr());
    if (sharers > 1 ? share && share.getValue() == want : !share)
      return WalkResult::advance();
    InFlightDiagnostic diag = op.emitOpError("kernel_c21: ");
    if (sharers > 1)
      diag << "box must be loaded as a share of " << StringRef(name(want)) << ", which " << sharers
           << " CTAs need, got ";
    else
      diag << "box must be loaded whole, since no other CTA needs it, got ";
    if (share)
      diag << "a share of " << StringRef(name(share.getValue()));
    else
      diag << "the whole box";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelPlanRules::checkBatches() {
  // The batch of the tile whose row and column are worked on.
  auto isOfTile = [](Value batch) {
    auto op = batch.getDefiningOp<TileBatchOp>();
    return op && llvm::any_of(op.getTile().getUsers(), [&](Operation *user) {
             return isa<TileCoordinatesOp>(user) && user->getBlock() == op->getBlock();
           });
  };
  auto check = [&](Operation *op, StringRef what, Value batch, bool isOwn) {
    if (isOwn ? batch && isOfTile(batch) : !batch)
      return WalkResult::advance();
    InFlightDiagnostic error = op->emitOpError("kernel_c22: ");
    error << what << (isOwn ? " must be at the tile_batch of its tile" : " must have no batch")
          << ", got "
          << (!batch  ? "none"
              : isOwn ? "another value"
                      : "one");
    return WalkResult::interrupt();
  };
  WalkResult result = kernel.getBody().walk([&](Operation *op) -> WalkResult {
    if (auto load = dyn_cast<TmaLoadOp>(op)) {
      ProblemOperand operand = operandOf(load);
      bool isScales = operand == ProblemOperand::sfa || operand == ProblemOperand::sfb;
      size_t ofMatrix = isScales ? 3 : 2, count = load.getCoordinates().size();
      if (count != ofMatrix && count != ofMatrix + 1)
        return op->emitOpError("kernel_c22: coordinates must be ")
                   << ofMatrix << " in a matrix, and one of a batch, got " << count,
               WalkResult::interrupt();
      return check(op, name(operand), count > ofMatrix ? load.getCoordinates().back() : Value(),
                   hasBatches(problem, operand));
    }
    if (auto store = dyn_cast<TmaStoreOp>(op))
      return check(op, "d", store.getBatch(), problem.isBatch());
    if (auto store = dyn_cast<PlainStoreOp>(op))
      return check(op, "d", store.getBatch(), problem.isBatch());
    if (auto load = dyn_cast<LoadCOp>(op))
      return check(op, "c", load.getBatch(), problem.isBatch());
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
