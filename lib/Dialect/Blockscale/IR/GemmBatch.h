//===- GemmBatch.h - rules of a batch of products -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the logical form the types of a product have the batch in front, in the packed form its
// problem says it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_GEMMBATCH_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_GEMMBATCH_H

#include "blockscale/Dialect/Blockscale/IR/Operands.h"

namespace blockscale {

/// Whether these are types of the logical form with a batch in front.
bool areBatches(const ProductTypes &types);
/// The types of one of its products.
ProductTypes matricesOf(ProductTypes types);
/// gemm_c27 on types with a batch, and what no batch has.
mlir::LogicalResult verifyBatch(const ProductTypes &types, ErrorFn emitError);
/// gemm_c34.
mlir::LogicalResult verifyBatches(ProblemAttr problem, ErrorFn emitError);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_GEMMBATCH_H
