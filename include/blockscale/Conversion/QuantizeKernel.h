//===- QuantizeKernel.h - builds kernels that quantise --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_QUANTIZEKERNEL_H
#define BLOCKSCALE_CONVERSION_QUANTIZEKERNEL_H

#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"

namespace blockscale {

/// Builds the kernel at the builder's insertion point. Parameters: the problem's buffers,
/// then the number of rows.
QuantizeKernelOp buildQuantizeKernel(mlir::OpBuilder &builder, mlir::Location loc,
                                     llvm::StringRef name, QuantizeProblemAttr problem,
                                     QuantizeScheduleAttr schedule);

/// Host memory of what is quantised; no scales where blocks hold them inside. The global
/// scale is read where it is given and written where it is computed.
struct QuantizeMemory {
  mlir::Value source, target, scales, global;
};
struct QuantizeLaunch {
  QuantizeKernelOp kernel;
  mlir::SymbolRefAttr symbol;
};
/// Emits what runs the kernel; before it, where the global scale is computed, the one that
/// finds the largest magnitude.
void buildQuantizeLaunch(mlir::OpBuilder &builder, mlir::Location loc, const QuantizeMemory &memory,
                         QuantizeLaunch launch, QuantizeLaunch amax = {});

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_QUANTIZEKERNEL_H
