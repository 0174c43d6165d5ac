//===- GemmOutput.h - rules of what a product's result is -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_GEMMOUTPUT_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_GEMMOUTPUT_H

#include "blockscale/Dialect/Blockscale/IR/Operands.h"

namespace blockscale {

/// The scales of D of so many columns, where it is quantised: the block is the one by which they
/// have columns / block columns, else the usual one, and the rules say why. Null elsewhere.
QuantizedAttr quantizedOf(const ProductTypes &types, int64_t columns);

/// gemm_c30 and gemm_c32 of a problem.
mlir::LogicalResult verifyOutput(ProblemAttr problem, ErrorFn emitError);
/// gemm_c30 of the types of the logical form.
mlir::LogicalResult verifyOutScales(const ProductTypes &types, int64_t m, int64_t columns,
                                    ErrorFn emitError);
/// gemm_c31 and gemm_c33, and gemm_c32 of what stands beside a gate.
mlir::LogicalResult verifyFactors(const ProductTypes &types, ProblemAttr problem,
                                  ErrorFn emitError);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_GEMMOUTPUT_H
