//===- LowerBlockGemm.h - host code of a product of blocks ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_LOWERBLOCKGEMM_H
#define BLOCKSCALE_LIB_CONVERSION_LOWERBLOCKGEMM_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Builds, in front of `gemm`, what uploads its operands, launches `kernel` and
/// downloads the result.
void buildBlockLaunch(mlir::OpBuilder &builder, GemmOp gemm, WarpKernelOp kernel,
                      mlir::SymbolRefAttr symbol);
/// The same of a wgmma kernel, whose operands are tensor maps.
void buildWgmmaLaunch(mlir::OpBuilder &builder, GemmOp gemm, WgmmaKernelOp kernel,
                      mlir::SymbolRefAttr symbol);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_LOWERBLOCKGEMM_H
