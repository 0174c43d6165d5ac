//===- Pipelines.h - passes in order --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PIPELINES_PIPELINES_H
#define BLOCKSCALE_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

#include <string>

namespace blockscale {

/// Levels 2 to 5: products on packed memrefs with a schedule, or kernels of any
/// level, become LLVM functions in `@kernels`; host code stays.
void buildKernelPipeline(mlir::OpPassManager &passes);

/// Registers the pipelines by name.
void registerPipelines();

} // namespace blockscale

#endif // BLOCKSCALE_PIPELINES_PIPELINES_H
