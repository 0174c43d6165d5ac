//===- WgmmaKernel.h - builds the wgmma kernel of a product of blocks -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_WGMMAKERNEL_H
#define BLOCKSCALE_CONVERSION_WGMMAKERNEL_H

#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"

namespace blockscale {

/// Builds the kernel at the builder's insertion point. Parameters: maps of activations
/// and of blocks, and the buffer of D.
WgmmaKernelOp buildWgmmaKernel(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                               BlockProblemAttr problem, WgmmaScheduleAttr schedule);

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_WGMMAKERNEL_H
