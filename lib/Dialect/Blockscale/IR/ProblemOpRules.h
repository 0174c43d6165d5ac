//===- ProblemOpRules.h - rules that several problem-level ops share ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_PROBLEMOPRULES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_PROBLEMOPRULES_H

#include "blockscale/Dialect/Blockscale/IR/Operands.h"

namespace blockscale {

/// Where the values of an op live.
enum class Storage { tensors, memrefs };

/// Refuses a mixture of tensors and memrefs, and memrefs that are not contiguous.
/// Scalars do not count.
mlir::FailureOr<Storage> verifyStorage(mlir::StringRef label, mlir::TypeRange types,
                                       ErrorFn emitError);

/// The same for an op with optional destinations: `count` results on tensors,
/// `count` destinations on memrefs, never both.
mlir::FailureOr<Storage> verifyDestinations(mlir::StringRef label, mlir::Operation *op,
                                            unsigned outs, unsigned count);

mlir::LogicalResult verifyStatic(mlir::StringRef label, mlir::TypeRange types, ErrorFn emitError);

/// Refuses a type that is not `bytes` packed bytes.
mlir::LogicalResult verifyBytes(mlir::StringRef label, mlir::StringRef what, mlir::Type type,
                                int64_t bytes, ErrorFn emitError);

/// The format of a tensor of elements; nullopt when it has none of ours, or an
/// encoding, which only scales may have.
std::optional<facts::Format> getElementFormat(mlir::Type type);

/// "178x384", for messages.
std::string shapeOf(mlir::ShapedType type);

/// Adds the effect if the operand is a memref.
void addMemrefEffect(mlir::OpOperand &operand, mlir::MemoryEffects::Effect *effect,
                     mlir::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

/// The effects of an op that reads `inputs` operands and writes the others.
void addCopyEffects(mlir::Operation *op, mlir::ValueRange outs,
                    mlir::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

/// The rule `label` of a global scale whose value is known, or, with isInverse, of its
/// reciprocal: above 0, and 6 times the scale is finite.
mlir::LogicalResult verifyConstantGlobal(mlir::Value global, llvm::StringRef label,
                                         llvm::StringRef what, bool isInverse, ErrorFn emitError);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_PROBLEMOPRULES_H
