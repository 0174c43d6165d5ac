//===- GemmKernel.h - builds the kernel of one scheduled gemm -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_GEMMKERNEL_H
#define BLOCKSCALE_CONVERSION_GEMMKERNEL_H

#include "blockscale/Dialect/Blockscale/IR/Planning.h"

namespace blockscale {

/// Optional parts of the epilogue; each adds a kernel parameter.
struct GemmEpilogue {
  bool alpha = false, alphaRows = false, alphaColumns = false, bias = false, beta = false,
       c = false, global = false, normConst = false;
  ActivationAttr activation; // or null
};

/// Builds the kernel at the builder's insertion point. Parameters: maps of A, B,
/// SFA, SFB; map or buffer of D; then buffers of the scales of a quantised D, of bias, C and the
/// factors of rows and columns, then alpha, beta, and the global scale or its reciprocal, where
/// asked for.
KernelOp buildGemmKernel(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                         ProblemAttr problem, ScheduleAttr schedule, GemmEpilogue epilogue);

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_GEMMKERNEL_H
