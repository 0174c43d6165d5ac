//===- GemmKernel.h - builds the kernel of one scheduled gemm -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_GEMMKERNEL_H
#define BLOCKSCALE_CONVERSION_GEMMKERNEL_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Optional parts of the epilogue; each adds a kernel parameter.
struct GemmEpilogue {
  bool alpha = false, bias = false;
};

/// Sizes that follow from a problem and a schedule.
struct GemmShape {
  GemmShape(ProblemAttr problem, ScheduleAttr schedule);

  int64_t tilesM, tilesN, tilesK;   // tiles of the matrix
  int64_t scalesPerRow;             // ceil(k / block)
  int64_t scaleTilesPerStage;       // 512-byte tiles along K of one stage
  int64_t lastSteps;                // instructions in the last K tile
  int64_t stepsPerStage;            // instructions in the others
  int64_t rowBytesA, rowBytesB;     // of one row of A and of B in memory
  int64_t stageBytesA, stageBytesB; // of one stage
  int64_t stageBytesScales;         // of SFA or SFB of one stage
  int64_t outBytes;                 // of one element of D
  int64_t outColumns;               // of D in 128 bytes
  int64_t tiles() const { return tilesM * tilesN; }
};

/// Tensor maps of the kernel's parameters.
TmaMapAttr operandMap(mlir::MLIRContext *context, int64_t rows, int64_t rowBytes, int64_t tileRows);
TmaMapAttr scaleMap(mlir::MLIRContext *context, int64_t rows, int64_t scalesPerRow,
                    int64_t tilesPerStage);
TmaMapAttr outputMap(mlir::MLIRContext *context, int64_t rows, int64_t columns,
                     int64_t elementBytes);

/// Builds the kernel at the builder's insertion point. Parameters: maps of A, B,
/// SFA, SFB; map or buffer of D; then bias buffer and alpha where asked for.
KernelOp buildGemmKernel(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                         ProblemAttr problem, ScheduleAttr schedule, GemmEpilogue epilogue);

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_GEMMKERNEL_H
