//===- Signatures.h - changing types through functions and calls ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What blockscale-normalize-scales and blockscale-pack-narrow share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SIGNATURES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SIGNATURES_H

#include "blockscale/Dialect/Blockscale/IR/Operands.h"

namespace blockscale {

bool isOurs(mlir::Operation *op);

/// Whether the op hands tensors on without looking at them: functions, calls,
/// returns, constants, scf.if, scf.for and their yields, and a static tensor.empty that products
/// overwrite.
bool passesOnWhole(mlir::Operation *op);

/// Writes `blockscale.type` unless an earlier pass did.
void rememberArgType(mlir::func::FuncOp func, unsigned index, mlir::Type type);
void rememberResultType(mlir::func::FuncOp func, unsigned index, mlir::Type type);

/// Whether the operand is one of the scales of one of our ops.
bool isScaleOperand(mlir::OpOperand &operand);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SIGNATURES_H
