//===- Passes.h - conversions between the levels --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_PASSES_H
#define BLOCKSCALE_CONVERSION_PASSES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace blockscale {

#define GEN_PASS_DECL
#include "blockscale/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blockscale/Conversion/Passes.h.inc"

/// Adds device types to a converter: tensor maps and buffers become pointers.
void populateBlockscaleToNVVMTypeConversions(mlir::LLVMTypeConverter &converter);

/// Patterns from machine ops to NVVM and LLVM.
void populateBlockscaleToNVVMPatterns(mlir::LLVMTypeConverter &converter,
                                      mlir::RewritePatternSet &patterns);

/// Patterns of TMA, tensor memory and tcgen05; a part of those above.
void populateTensorCoreToNVVMPatterns(mlir::LLVMTypeConverter &converter,
                                      mlir::RewritePatternSet &patterns);

/// Descriptors that the PTX of a module will hold as integers: pairs of an i64 and its decoded
/// form, each once and in order.
mlir::ArrayAttr describeDescriptors(mlir::ModuleOp module);

/// Patterns of blockscale.warp_kernel and .quantize_kernel; a part of those above.
void populateWarpKernelToNVVMPatterns(mlir::LLVMTypeConverter &converter,
                                      mlir::RewritePatternSet &patterns);

/// Patterns of blockscale.wgmma_kernel and of wgmma; a part of those above.
void populateWgmmaToNVVMPatterns(mlir::LLVMTypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_PASSES_H
