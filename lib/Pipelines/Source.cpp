//===- Source.cpp - MLIR text that is not trusted -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pipelines/Source.h"

#include "blockscale/Support/Nesting.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace blockscale {

/// The first bytes of bytecode.
static constexpr llvm::StringLiteral kBytecodeMagic("ML\xefR");

LogicalResult checkNesting(const llvm::MemoryBuffer &source, MLIRContext &context) {
  StringRef text = source.getBuffer();
  if (text.starts_with(kBytecodeMagic))
    return success();
  std::optional<rt::DeepPlace> deep = rt::findDeepNesting({text.data(), text.size()});
  if (!deep)
    return success();
  Location where = FileLineColLoc::get(&context, source.getBufferIdentifier(), unsigned(deep->line),
                                       unsigned(deep->column));
  return emitError(where) << "source_c1: input must have at most " << deep->most << " "
                          << StringRef(deep->what.data(), deep->what.size()) << ", got more";
}

OwningOpRef<ModuleOp> parseSource(llvm::StringRef path, MLIRContext &context) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &error);
  if (!buffer) {
    emitError(UnknownLoc::get(&context)) << error;
    return nullptr;
  }
  if (failed(checkNesting(*buffer, context)))
    return nullptr;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, &context);
}

} // namespace blockscale
