//===- Batches.h - products with a batch in front of their matrices -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BATCHES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BATCHES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Bytes of a static tensor of encoded scales, padding of each batch included.
int64_t getScaleBytes(mlir::RankedTensorType type);

/// Whether a product in the logical form has a batch in front of its matrices.
bool hasBatch(GemmOp gemm);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BATCHES_H
