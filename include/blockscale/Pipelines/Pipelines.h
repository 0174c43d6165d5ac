//===- Pipelines.h - passes in order --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PIPELINES_PIPELINES_H
#define BLOCKSCALE_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

#include <string>

namespace mlir {
class DialectRegistry;
}

namespace blockscale {

struct GemmToPTXPipeline {
  /// Target with its suffix; blockscale-choose-schedule refuses what is none.
  std::string arch;
  /// Compare every product with the reference at run time.
  bool checks = false;
  /// Free the host buffers that bufferization makes; needless where the host
  /// code is thrown away.
  bool freeBuffers = true;
  /// Fields of the schedule that the user pins, as options of
  /// blockscale-choose-schedule: "ctas=2,stages=3". See checkSchedulePins.
  std::string pins;
  /// Whether blockscale-import-linalg has run already.
  bool isImported = false;
};

/// The reason why `pins` is not a list of fields to pin, or an empty string.
std::string checkSchedulePins(llvm::StringRef pins);

/// Level 1 to packed, scheduled products on tensors.
void buildProblemPipeline(mlir::OpPassManager &passes, const GemmToPTXPipeline &options);

/// Tensors to memrefs, in whole modules with identity layouts; a module without
/// tensors is left alone.
void buildBufferizePipeline(mlir::OpPassManager &passes, bool freeBuffers);

/// Levels 2 to 5: products on packed memrefs with a schedule, or kernels of any
/// level, become LLVM functions in `@kernels`; host code stays.
void buildKernelPipeline(mlir::OpPassManager &passes);

/// All three: an input of any level becomes kernels that translateKernelsToPTX
/// takes, and host code.
void buildGemmToPTXPipeline(mlir::OpPassManager &passes, const GemmToPTXPipeline &options);

/// What bufferization needs to know of the dialects of host code.
void registerPipelineInterfaces(mlir::DialectRegistry &registry);

/// Registers the pass of buildBufferizePipeline as `blockscale-bufferize`.
void registerBufferizePass();

/// Registers the pipelines by name.
void registerPipelines();

} // namespace blockscale

#endif // BLOCKSCALE_PIPELINES_PIPELINES_H
