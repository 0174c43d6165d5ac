//===- SourceLocations.h - which op an instruction comes from -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_SOURCELOCATIONS_H
#define BLOCKSCALE_LIB_CONVERSION_SOURCELOCATIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace blockscale {

/// Names the location of `root` and of every op in it after the op, unless a level
/// above has named it.
void nameLocations(mlir::Operation *root);

/// Gives each kernel (llvm.func) a subprogram, and each op in it the location of the
/// op that it comes from as a function of that op's name, inlined into the kernel.
void attachSourceLocations(mlir::ModuleOp module);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_SOURCELOCATIONS_H
