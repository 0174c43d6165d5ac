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
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace blockscale {

/// Fields of a schedule that a user may pin, by the names of the pass's options.
static constexpr StringLiteral kNumberPins[] = {"tile-m",       "tile-n",  "inst-k", "stages",
                                                "accumulators", "staging", "ctas",   "cta-group",
                                                "kd",           "flight",  "split",  "warp-rows"};
static constexpr StringLiteral kWordPins[] = {"mma",     "epilogue",    "cluster",  "kernel",
                                              "sums",    "activations", "minima",   "convert",
                                              "weights", "pragma",      "quantizer"};
/// Those that blockscale-insert-relayouts knows, too.
static constexpr StringLiteral kBlockPins[] = {
    "kernel", "kd",     "sums",      "activations", "minima", "convert",  "weights",
    "pragma", "flight", "warp-rows", "split",       "stages", "quantizer"};

static bool isWord(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// What is wrong with one `field=value`, or an empty string.
static std::string checkPin(StringRef field, StringRef value) {
  if (llvm::is_contained(kWordPins, field))
    return isWord(value) ? "" : (field + " has no value").str();
  if (!llvm::is_contained(kNumberPins, field))
    return ("'" + field + "' is not a field").str();
  int64_t number;
  if (value.getAsInteger(10, number))
    return ("'" + value + "' is not a number").str();
  // The pass reads 0 as a field that is not pinned.
  return number == 0 ? (field + " of 0 pins nothing").str() : "";
}

std::string checkSchedulePins(StringRef pins) {
  std::string refusal;
  SmallVector<StringRef> seen, list;
  pins.split(list, ',');
  for (StringRef pin : list) {
    auto [field, value] = pin.split('=');
    if (pins.empty() || !refusal.empty())
      break;
    refusal = llvm::is_contained(seen, field) ? (field + " is given twice").str()
                                              : checkPin(field, value);
    seen.push_back(field);
  }
  if (refusal.empty())
    return {};
  return ("pins_c1: pinned fields must be a list such as ctas=2,stages=3 with fields mma, "
          "tile-m, tile-n, inst-k, stages, accumulators, epilogue, staging, ctas, cta-group, "
          "cluster, and "
          "of blocks kernel, kd, sums, activations, minima, convert, weights, pragma, flight, "
          "warp-rows, split, quantizer, got '" +
          pins + "' (" + refusal + ")")
      .str();
}

/// A pass with the target and the pinned fields, which have been checked; of those, only the
/// ones that `isKnown` takes.
static std::unique_ptr<Pass> withPins(std::unique_ptr<Pass> pass, StringRef arch, StringRef pins,
                                      function_ref<bool(StringRef)> isKnown) {
  std::string options;
  SmallVector<StringRef> list;
  pins.split(list, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef pin : list)
    if (isKnown(pin.split('=').first))
      options += (" " + pin).str();
  if (!arch.empty())
    options += (" arch=" + arch).str();
  auto fail = [](const Twine &) { return failure(); };
  if (!checkSchedulePins(pins).empty() || failed(pass->initializeOptions(options, fail)))
    llvm::reportFatalUsageError("pinned fields must be checked with checkSchedulePins first");
  return pass;
}

void buildProblemPipeline(OpPassManager &passes, const GemmToPTXPipeline &options) {
  if (!options.isImported)
    passes.addPass(createImportLinalg());
  passes.addPass(createCheckEncodings());
  passes.addPass(createExpandBatches());
  passes.addPass(createNormalizeScales());
  passes.addPass(withPins(createInsertRelayouts(), options.arch, options.pins,
                          [](StringRef field) { return llvm::is_contained(kBlockPins, field); }));
  passes.addPass(
      withPins(createChooseSchedule(), options.arch, options.pins, [](StringRef) { return true; }));
  if (options.checks)
    passes.addPass(createInsertChecks());
  passes.addPass(createPackNarrow());
}

void buildKernelPipeline(OpPassManager &passes) {
  passes.addPass(createBlockscaleLowerGemmToKernelPass());
  passes.addPass(createKeepOnDevice());
  passes.addPass(createBlockscaleLowerQuantizeKernelToMachinePass());
  passes.addPass(createBlockscaleLowerKernelToMachinePass());
  passes.addPass(createBlockscaleLowerWarpKernelToMachinePass());
  passes.addPass(createBlockscaleLowerWgmmaKernelToMachinePass());
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
  // Registered by hand, since PassPipelineRegistration cannot refuse an option's value.
  registerPassPipeline(
      "blockscale-gemm-to-ptx", "levels 1 to 5: products become LLVM functions ready for PTX",
      [](OpPassManager &passes, StringRef text,
         function_ref<LogicalResult(const Twine &)> errorHandler) -> LogicalResult {
        GemmToPTXOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        if (std::string refusal = checkSchedulePins(options.pins); !refusal.empty())
          return errorHandler(refusal);
        if (StringRef arch = options.arch; !arch.empty() && !isWord(arch))
          return errorHandler("pins_c1: arch must be one name, got '" + arch + "'");
        buildGemmToPTXPipeline(passes,
                               {options.arch, options.checks, /*freeBuffers=*/true, options.pins});
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(GemmToPTXOptions());
      });
}

} // namespace blockscale
