//===- QuantizeKernelOps.cpp - syntax and rules of kernels that quantise --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// QuantizeKernelOps.td states the rules quantize_kernel_c1 to quantize_kernel_c8.
//
//===----------------------------------------------------------------------===//

#include "KernelSyntax.h"

#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;

ParseResult QuantizeKernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseKernel<QuantizeKernelOp>(parser, result);
}
void QuantizeKernelOp::print(OpAsmPrinter &printer) { printKernel(printer, *this); }

/// Blocks that kernels make, and the rows of whole ones.
static bool isBuiltTarget(QuantizeProblemAttr problem) {
  if (std::optional<facts::BlockFormat> format = problem.getBlockFormat())
    return !facts::isQ4K(*format) && *format != facts::BlockFormat::q8_1 &&
           problem.getK() % facts::info(*format).elements == 0;
  if (isa<AmaxAttr>(problem.getTarget()))
    return problem.getK() % kAmaxBlock == 0;
  BlockedAttr blocked = problem.getBlocked();
  return blocked && blocked.getRows() == problem.getRows() && blocked.getK() == problem.getK() &&
         findQuantized(blocked.getElement(), blocked.getScale(), blocked.getBlock()) &&
         problem.getK() % blocked.getBlock() == 0;
}

static bool isQuantizable(QuantizeProblemAttr problem) {
  auto legal = [](int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  return llvm::is_contained({facts::Format::f32, facts::Format::f16, facts::Format::bf16},
                            problem.getSource()) &&
         legal(problem.getRows()) && legal(problem.getK()) && isBuiltTarget(problem);
}

LogicalResult QuantizeKernelOp::verify() {
  ArrayRef<Type> inputs = getFunctionType().getInputs();
  size_t buffers = getProblem().getBuffers().size();
  bool fits = getFunctionType().getResults().empty() && inputs.size() == buffers + 1 &&
              llvm::all_of(inputs.take_front(buffers), llvm::IsaPred<BufferType>) &&
              inputs.back().isInteger(32);
  if (!fits)
    return emitOpError("quantize_kernel_c1: parameters must be ")
           << buffers << " buffers and an i32, and nothing returned, got " << getFunctionType();
  if (!isQuantizable(getProblem()))
    return emitOpError("quantize_kernel_c2: problem must be whole blocks of q8_1_chunk, q8_1_tile, "
                       "q8_1_tile_parts, amax or what blockscale.quantize makes from f32, f16 or "
                       "bf16, extents 1 .. 2^28, got ")
           << getProblem();
  BlockedAttr blocked = getProblem().getBlocked();
  bool wantsGlobal = blocked && facts::hasGlobalScale(blocked.getScale());
  if (wantsGlobal != (getProblem().getGlobal() != GlobalScale::none))
    return emitOpError("quantize_kernel_c7: global scale must be ")
           << (wantsGlobal ? "given or computed for ue4m3" : "none but for ue4m3") << ", got "
           << StringRef(name(getProblem().getGlobal()));
  if (failed(verifyQuantizeSchedule(getSchedule(), [&] { return this->emitOpError(); })))
    return failure();
  if (!isSequenceOf(getSchedule().getSequence(), getProblem()))
    return emitOpError("quantize_kernel_c6: sequence must be ")
           << (!blocked ? "divide for Q8_1 and amax"
               : blocked.getScale() == facts::ScaleFormat::ue8m0
                   ? "integer, reciprocal or scaled for ue8m0"
                   : "remainder for ue4m3 and ue5m3")
           << ", got " << StringRef(name(getSchedule().getSequence()));
  if (blocked && !convertsScales(getArch(), blocked.getScale()))
    return emitOpError("quantize_kernel_c8: chip must have the conversions of ")
           << StringRef(name(blocked.getScale())) << ", got " << StringRef(facts::name(getArch()));
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto arch = module->getAttrOfType<StringAttr>("blockscale.arch");
  if (!arch || arch.getValue() != StringRef(facts::name(getArch())))
    return emitOpError("quantize_kernel_c3: the schedule's chip must be the module's "
                       "blockscale.arch, got ")
           << StringRef(facts::name(getArch())) << " in a module for "
           << (arch ? arch.getValue() : StringRef("no chip"));
  int64_t shared = planQuantizeShared(getProblem());
  if (int64_t(getThreads()) != getSchedule().getThreads() || int64_t(getSharedBytes()) != shared)
    return emitOpError("quantize_kernel_c4: threads and shared_bytes must be ")
           << getSchedule().getThreads() << " and " << shared << ", got " << getThreads() << " and "
           << getSharedBytes();
  return success();
}

LogicalResult QuantizeKernelOp::verifyRegions() {
  QuantizeShape shape(getProblem());
  SmallVector<int64_t> values{shape.steps, shape.elements}, words{shape.steps, shape.words()};
  SmallVector<int64_t> perStep{shape.steps}, perBlock{shape.owned};
  WalkResult result = getBody().walk([&](Operation *op) {
    SmallVector<std::pair<Value, ArrayRef<int64_t>>> want;
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](LoadBlocksOp op) { want = {{op.getValues(), values}}; })
        .Case([&](BlockAmaxOp op) { want = {{op.getValues(), values}, {op.getAmax(), perBlock}}; })
        .Case([&](SpreadOp op) { want = {{op.getOwned(), perBlock}, {op.getSteps(), perStep}}; })
        .Case([&](EncodeS8Op op) {
          want = {{op.getValues(), values}, {op.getFactors(), perStep}, {op.getWords(), words}};
        })
        .Case([&](BlockSumOp op) { want = {{op.getWords(), words}, {op.getSum(), perBlock}}; })
        .Case([&](BlocksInsideOp op) { want = {{op.getResult(), perBlock}}; })
        .Case(
            [&](EncodeScaleOp op) { want = {{op.getAmax(), perBlock}, {op.getBytes(), perBlock}}; })
        .Case([&](ScaleFactorOp op) {
          want = {{op.getBytes(), perBlock}, {op.getFactors(), perBlock}};
        })
        .Case([&](EncodeElementsOp op) {
          want = {{op.getValues(), values}, {op.getWords(), words}};
          if (op.getScales())
            want.push_back({op.getScales(), perStep});
        })
        .Case([&](FiniteAmaxOp op) { want = {{op.getValues(), values}}; })
        .Case([&](ScaleDivisorOp op) {
          want = {{op.getBytes(), perBlock}, {op.getDivisors(), perBlock}};
        })
        .Case([&](DivideBlocksOp op) {
          want = {{op.getValues(), values}, {op.getDivisors(), perStep}};
        })
        .Case([&](StoreElementsOp op) { want = {{op.getWords(), words}}; })
        .Case([&](StoreScalesOp op) { want = {{op.getBytes(), perBlock}}; })
        .Case<StoreChunksOp, StoreTilesOp>([&](auto op) {
          want = {{op.getScales(), perBlock}, {op.getWords(), words}, {op.getSums(), perBlock}};
        });
    for (auto [value, extents] : want) {
      auto type = cast<VectorType>(value.getType());
      if (type.getShape() == extents)
        continue;
      InFlightDiagnostic error =
          op->emitOpError("quantize_kernel_c5: vector must have the extents ");
      llvm::interleave(extents, error, "x");
      return error << ", got " << type, WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
