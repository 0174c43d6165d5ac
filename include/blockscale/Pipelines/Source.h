//===- Source.h - MLIR text that is not trusted ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What MLIR's own reader would not survive is refused before it is read.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PIPELINES_SOURCE_H
#define BLOCKSCALE_PIPELINES_SOURCE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/Support/MemoryBuffer.h"

namespace blockscale {

/// Refuses text that nests too deep, as an error at the place (source_c1). Bytecode
/// is not text and has no recursive reader.
llvm::LogicalResult checkNesting(const llvm::MemoryBuffer &source, mlir::MLIRContext &context);

/// The module of a file, "-" for standard input; errors are diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> parseSource(llvm::StringRef path, mlir::MLIRContext &context);

} // namespace blockscale

#endif // BLOCKSCALE_PIPELINES_SOURCE_H
