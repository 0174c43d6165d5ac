//===- Bufferize.cpp - tensors to memrefs, where there are tensors --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's deallocation refuses host code that already frees its buffers, which
// dumps of levels 2 to 4 do, so it must run on levels with tensors only.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Pipelines/Pipelines.h"

#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace blockscale;

static bool isTensor(Type type) { return isa<TensorType>(type); }

/// Whether the op takes, makes or declares a tensor.
static bool hasTensor(Operation *op) {
  if (auto function = dyn_cast<func::FuncOp>(op))
    return llvm::any_of(function.getArgumentTypes(), isTensor) ||
           llvm::any_of(function.getResultTypes(), isTensor);
  return llvm::any_of(op->getOperandTypes(), isTensor) ||
         llvm::any_of(op->getResultTypes(), isTensor);
}

namespace {
class BufferizePass : public PassWrapper<BufferizePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BufferizePass)

  BufferizePass() = default;
  explicit BufferizePass(bool free) { freeBuffers = free; }
  BufferizePass(const BufferizePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "blockscale-bufferize"; }
  StringRef getDescription() const override {
    return "tensors of host code to memrefs; leaves a module without tensors alone";
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager passes(ModuleOp::getOperationName());
    build(passes, /*free=*/true);
    passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    WalkResult found = getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
      if (isa<KernelOp>(op))
        return WalkResult::skip();
      return hasTensor(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!found.wasInterrupted())
      return markAllAnalysesPreserved();
    OpPassManager passes(ModuleOp::getOperationName());
    build(passes, freeBuffers);
    bool hasBatch =
        getOperation()->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!freeBuffers && hasBatch) {
      // A loop over a batch hands the result on that it writes parts of, and copies them to
      // themselves, which deallocation would have cleaned up.
      passes.addPass(createCSEPass());
      passes.addPass(createCanonicalizerPass());
    }
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }

private:
  static void build(OpPassManager &passes, bool free) {
    bufferization::OneShotBufferizePassOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
    passes.addPass(bufferization::createOneShotBufferizePass(options));
    if (free)
      bufferization::buildBufferDeallocationPipeline(
          passes, bufferization::BufferDeallocationPipelineOptions());
  }

  Option<bool> freeBuffers{*this, "free-buffers", llvm::cl::init(true),
                           llvm::cl::desc("free the buffers that tensors become")};
};
} // namespace

void blockscale::buildBufferizePipeline(OpPassManager &passes, bool freeBuffers) {
  passes.addPass(std::make_unique<BufferizePass>(freeBuffers));
}

void blockscale::registerBufferizePass() { PassRegistration<BufferizePass>(); }
