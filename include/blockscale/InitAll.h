//===- InitAll.h - registers everything that is ours ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tools, plugins and frontends: one call for the dialect with its
// interfaces, one for the passes and pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_INITALL_H
#define BLOCKSCALE_INITALL_H

namespace mlir {
class DialectRegistry;
}

namespace blockscale {

/// Inserts the dialect and attaches the external models of its interfaces.
void registerDialect(mlir::DialectRegistry &registry);

/// Registers every pass and pipeline by its name.
void registerPasses();

} // namespace blockscale

#endif // BLOCKSCALE_INITALL_H
