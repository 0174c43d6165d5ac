//===- WarpKernel.h - builds the kernel of one product of blocks ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_WARPKERNEL_H
#define BLOCKSCALE_CONVERSION_WARPKERNEL_H

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"

namespace blockscale {

/// Builds the kernel at the builder's insertion point. Parameters: buffers of A (chunks),
/// B (blocks) and D, then the number of tokens.
WarpKernelOp buildWarpKernel(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                             BlockProblemAttr problem, WarpScheduleAttr schedule);

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_WARPKERNEL_H
