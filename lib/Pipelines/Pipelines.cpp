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
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace blockscale {

void buildProblemPipeline(OpPassManager &passes, const GemmToPTXPipeline &options) {
  passes.addPass(createCheckEncodings());
  passes.addPass(createNormalizeScales());
  passes.addPass(createInsertRelayouts());
  ChooseScheduleOptions schedule;
  schedule.arch = options.arch;
  passes.addPass(createChooseSchedule(schedule));
  if (options.checks)
    passes.addPass(createInsertChecks());
  passes.addPass(createPackNarrow());
}

void buildBufferizePipeline(OpPassManager &passes, bool freeBuffers) {
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  passes.addPass(bufferization::createOneShotBufferizePass(bufferize));
  if (freeBuffers)
    bufferization::buildBufferDeallocationPipeline(passes,
                                                   bufferization::BufferDeallocationPipelineOptions());
}

void buildKernelPipeline(OpPassManager &passes) {
  passes.addPass(createBlockscaleLowerGemmToKernelPass());
  passes.addPass(createBlockscaleLowerKernelToMachinePass());
  passes.addPass(createConvertBlockscaleToNVVMPass());
}

void buildGemmToPTXPipeline(OpPassManager &passes, const GemmToPTXPipeline &options) {
  buildProblemPipeline(passes, options);
  buildBufferizePipeline(passes, options.freeBuffers);
  buildKernelPipeline(passes);
}

void registerPipelineInterfaces(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  registerBufferizableOpInterfaceExternalModels(registry);
}

namespace {
struct GemmToPTXOptions : PassPipelineOptions<GemmToPTXOptions> {
  Option<std::string> arch{*this, "arch", llvm::cl::desc("target, such as sm_107a")};
  Option<bool> checks{*this, "checks", llvm::cl::init(false),
                      llvm::cl::desc("compare every product with the reference at run time")};
};
} // namespace

void registerPipelines() {
  PassPipelineRegistration<>("blockscale-kernel-to-nvvm",
                             "levels 2 to 5: scheduled products and kernels become LLVM functions",
                             buildKernelPipeline);
  PassPipelineRegistration<GemmToPTXOptions>(
      "blockscale-gemm-to-ptx", "levels 1 to 5: products become LLVM functions ready for PTX",
      [](OpPassManager &passes, const GemmToPTXOptions &options) {
        buildGemmToPTXPipeline(passes, {options.arch, options.checks});
      });
}

} // namespace blockscale
