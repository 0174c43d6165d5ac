//===- KnownAttributes.h - no attribute is ignored ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_KNOWNATTRIBUTES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_KNOWNATTRIBUTES_H

#include "mlir/IR/OpDefinition.h"

namespace blockscale {

/// attributes_c1 of an op.
mlir::LogicalResult verifyKnownAttributes(mlir::Operation *op);

template <typename ConcreteOp>
class KnownAttributes : public mlir::OpTrait::TraitBase<ConcreteOp, KnownAttributes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyKnownAttributes(op); }
};

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_KNOWNATTRIBUTES_H
