//===- Passes.h - passes on the problem level -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_PASSES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_PASSES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace blockscale {

#define GEN_PASS_DECL
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"

/// How one-shot-bufferize treats problem-level ops. Register it wherever that
/// pass runs.
void registerBufferizableOpInterfaceExternalModels(mlir::DialectRegistry &registry);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_PASSES_H
