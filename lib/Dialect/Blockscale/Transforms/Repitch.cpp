//===- Repitch.cpp - copies of operands that TMA cannot fetch -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repitch.h"

using namespace mlir;
using namespace blockscale;

static Value repitch(OpBuilder &builder, Location loc, Value elements, RankedTensorType type) {
  return RepitchOp::create(builder, loc, type, elements, Value(), RowsAttr()).getResult();
}

static void repitchOperand(GemmOp gemm, OpOperand &operand, int64_t pitch) {
  Value elements = operand.get();
  auto type = cast<RankedTensorType>(elements.getType());
  // Rows that need no room behind them lie dense.
  int64_t row = facts::packedBytes(*getFormat(type.getElementType()), type.getDimSize(1));
  auto wanted = RankedTensorType::get(
      type.getShape(), type.getElementType(),
      pitch == row ? PitchedAttr()
                   : PitchedAttr::get(gemm.getContext(), pitch, /*zero_tail=*/true));
  for (Operation *user : elements.getUsers())
    if (auto copy = dyn_cast<RepitchOp>(user);
        copy && copy.getResult() && copy.getResult().getType() == wanted &&
        copy->getBlock() == gemm->getBlock() && copy->isBeforeInBlock(gemm))
      return operand.set(copy.getResult());
  OpBuilder builder(gemm);
  operand.set(repitch(builder, gemm.getLoc(), elements, wanted));
}

void blockscale::repitchOperands(GemmOp gemm, std::array<int64_t, 2> pitches) {
  if (pitches[0])
    repitchOperand(gemm, gemm.getAMutable(), pitches[0]);
  if (pitches[1])
    repitchOperand(gemm, gemm.getBMutable(), pitches[1]);
}

Value blockscale::denseRows(OpBuilder &builder, Location loc, Value elements) {
  if (!getPitched(elements.getType()))
    return elements;
  if (auto copy = elements.getDefiningOp<RepitchOp>();
      copy && !getPitched(copy.getElements().getType()))
    return copy.getElements();
  auto type = cast<RankedTensorType>(elements.getType());
  return repitch(builder, loc, elements,
                 RankedTensorType::get(type.getShape(), type.getElementType()));
}
