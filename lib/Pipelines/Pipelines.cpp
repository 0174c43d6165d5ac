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
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace blockscale {

/// The schedule pass with the target and the pinned fields.
static std::unique_ptr<Pass> makeChooseSchedule(StringRef arch, StringRef pins,
                                                std::string &refusal) {
  std::unique_ptr<Pass> pass = createChooseSchedule();
  std::string options = pins.str();
  std::replace(options.begin(), options.end(), ',', ' ');
  if (!arch.empty())
    options += (" arch=" + arch).str();
  std::string printed;
  llvm::raw_string_ostream errors(printed);
  if (failed(pass->initializeOptions(options,
                                     [&](const Twine &message) {
                                       errors << message;
                                       return failure();
                                     })) &&
      printed.empty())
    errors << "not a field";
  refusal = StringRef(printed).split('\n').first.trim().str();
  return pass;
}

std::string checkSchedulePins(StringRef pins) {
  std::string refusal;
  makeChooseSchedule("", pins, refusal);
  if (refusal.empty() && pins.contains("arch"))
    refusal = "the target is not a field";
  if (refusal.empty())
    return {};
  return ("pins_c1: pinned fields must be a list such as ctas=2,stages=3 with fields inst-k, "
          "stages, accumulators, epilogue, staging, ctas, got '" +
          pins + "' (" + refusal + ")")
      .str();
}

void buildProblemPipeline(OpPassManager &passes, const GemmToPTXPipeline &options) {
  passes.addPass(createCheckEncodings());
  passes.addPass(createNormalizeScales());
  passes.addPass(createInsertRelayouts());
  std::string refusal;
  passes.addPass(makeChooseSchedule(options.arch, options.pins, refusal));
  if (!refusal.empty())
    llvm::reportFatalUsageError("pinned fields must be checked with checkSchedulePins first");
  if (options.checks)
    passes.addPass(createInsertChecks());
  passes.addPass(createPackNarrow());
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
  Option<std::string> pins{*this, "pins", llvm::cl::desc("pinned fields, such as ctas=2,stages=3")};
};
} // namespace

void registerPipelines() {
  registerBufferizePass();
  PassPipelineRegistration<>("blockscale-kernel-to-nvvm",
                             "levels 2 to 5: scheduled products and kernels become LLVM functions",
                             buildKernelPipeline);
  PassPipelineRegistration<GemmToPTXOptions>(
      "blockscale-gemm-to-ptx", "levels 1 to 5: products become LLVM functions ready for PTX",
      [](OpPassManager &passes, const GemmToPTXOptions &options) {
        buildGemmToPTXPipeline(passes,
                               {options.arch, options.checks, /*freeBuffers=*/true, options.pins});
      });
}

} // namespace blockscale
