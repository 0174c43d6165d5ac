//===- QuantizeActivations.h - chunks in front of a product of blocks -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_QUANTIZEACTIVATIONS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_QUANTIZEACTIVATIONS_H

#include "blockscale/Dialect/Blockscale/IR/Operands.h"

namespace blockscale {

/// q8_1_chunk of a matrix of f32 or f16.
mlir::RankedTensorType chunksTypeOf(mlir::Value activations);

/// Has a product of blocks read chunks of its activations; several products of one
/// block share them.
void quantizeActivations(GemmOp gemm);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_QUANTIZEACTIVATIONS_H
