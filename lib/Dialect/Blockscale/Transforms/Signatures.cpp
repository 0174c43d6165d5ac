//===- Signatures.cpp - changing types through functions and calls --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Signatures.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;

bool blockscale::isOurs(Operation *op) {
  return isa_and_nonnull<BlockscaleDialect>(op->getDialect());
}

bool blockscale::passesOnWhole(Operation *op) {
  // What a product overwrites; anything else would have too few bytes, of tiles of scales.
  if (isa<tensor::EmptyOp>(op))
    return op->getNumOperands() == 0 && llvm::all_of(op->getUsers(), llvm::IsaPred<GemmOp>);
  return isa<func::FuncOp, func::CallOp, func::ReturnOp, arith::ConstantOp, scf::IfOp, scf::ForOp,
             scf::YieldOp>(op);
}

void blockscale::rememberArgType(func::FuncOp func, unsigned index, Type type) {
  if (!func.getArgAttr(index, kLogicalTypeAttr))
    func.setArgAttr(index, kLogicalTypeAttr, TypeAttr::get(type));
}

void blockscale::rememberResultType(func::FuncOp func, unsigned index, Type type) {
  if (!func.getResultAttr(index, kLogicalTypeAttr))
    func.setResultAttr(index, kLogicalTypeAttr, TypeAttr::get(type));
}

bool blockscale::isScaleOperand(OpOperand &operand) {
  return llvm::TypeSwitch<Operation *, bool>(operand.getOwner())
      .Case([&](GemmOp op) { return operand.get() == op.getSfa() || operand.get() == op.getSfb(); })
      .Case([&](CheckGemmOp op) {
        return &operand == &op.getSfaMutable() || &operand == &op.getSfbMutable();
      })
      .Case<DequantizeOp, RelayoutScalesOp, ZeroScaleTailOp>(
          [&](auto op) { return &operand == &op.getScalesMutable(); })
      .Default([](Operation *) { return false; });
}
