//===- Passes.h - conversion of host code ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_HOST_PASSES_H
#define BLOCKSCALE_CONVERSION_HOST_PASSES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace blockscale {

#define GEN_PASS_DECL
#include "blockscale/Conversion/Host/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blockscale/Conversion/Host/Passes.h.inc"

/// Device buffers and tensor maps become i64.
void populateBlockscaleHostTypeConversions(mlir::TypeConverter &converter);

/// Patterns from host ops and host references to runtime calls.
void populateBlockscaleHostToLLVMPatterns(const mlir::TypeConverter &converter,
                                          mlir::RewritePatternSet &patterns);

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_HOST_PASSES_H
