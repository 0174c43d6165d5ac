//===- QuantizeKernel.h - builds kernels that quantise --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_QUANTIZEKERNEL_H
#define BLOCKSCALE_CONVERSION_QUANTIZEKERNEL_H

#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"

namespace blockscale {

/// Builds the kernel at the builder's insertion point. Parameters: buffers of source,
/// target and, where they are apart, scales; then the number of rows.
QuantizeKernelOp buildQuantizeKernel(mlir::OpBuilder &builder, mlir::Location loc,
                                     llvm::StringRef name, QuantizeProblemAttr problem,
                                     QuantizeScheduleAttr schedule);

/// Host memory of what is quantised; no scales where blocks hold them inside.
struct QuantizeMemory {
  mlir::Value source, target, scales;
};
/// Emits what runs the kernel.
void buildQuantizeLaunch(mlir::OpBuilder &builder, mlir::Location loc, const QuantizeMemory &memory,
                         QuantizeKernelOp kernel, mlir::SymbolRefAttr symbol);

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_QUANTIZEKERNEL_H
