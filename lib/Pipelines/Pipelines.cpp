//===- Pipelines.cpp - passes in order ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass that finds nothing of its level does nothing, so that an input of any
// level goes through the same pipeline.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pipelines/Pipelines.h"

#include "blockscale/Conversion/Passes.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace blockscale {

void buildKernelPipeline(OpPassManager &passes) {
  passes.addPass(createBlockscaleLowerGemmToKernelPass());
  passes.addPass(createBlockscaleLowerKernelToMachinePass());
  passes.addPass(createConvertBlockscaleToNVVMPass());
}

void registerPipelines() {
  PassPipelineRegistration<>("blockscale-kernel-to-nvvm",
                             "levels 2 to 5: scheduled products and kernels become LLVM functions",
                             buildKernelPipeline);
}

} // namespace blockscale
