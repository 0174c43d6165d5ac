//===- KernelOps.cpp - syntax and rules of the kernel level ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of single ops; those of a whole kernel are in KernelPlanRules.h.
//
//===----------------------------------------------------------------------===//

#include "KernelPlanRules.h"
#include "KernelSyntax.h"

#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"
#include "blockscale/Facts/QuantizedFormat.h"

using namespace mlir;
using namespace blockscale;

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseKernel<KernelOp>(parser, result);
}
void KernelOp::print(OpAsmPrinter &printer) { printKernel(printer, *this); }

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError("kernel_c0: a kernel must return nothing, got ")
           << getFunctionType().getNumResults() << " results";
  ArrayRef<Type> inputs = getFunctionType().getInputs();
  bool takesM = !inputs.empty() && inputs.back().isInteger(32);
  for (Type type : takesM ? inputs.drop_back() : inputs)
    if (!isa<TensorMapType, BufferType, Float32Type>(type))
      return emitOpError("kernel_c0: a parameter must be a tensor map, a buffer or f32, got ")
             << type;
  if (takesM != getProblem().hasDynamicM())
    return emitOpError("kernel_c0: last parameter must ")
           << (takesM ? "not be m" : "be m, an i32") << " where m of the problem is "
           << extentText(getProblem().getM()) << ", got " << getFunctionType();
  // At the machine level these are all that is left of the plans.
  auto emitError = [&] { return this->emitOpError(); };
  if (failed(verifyProblem(getProblem(), emitError)) ||
      failed(verifySchedule(getProblem(), getSchedule(), emitError)) ||
      failed(verifyFetchable(getProblem(), getSchedule(), emitError)))
    return failure();
  return verifyTiledScales(getProblem(), "use blockscale.relayout_scales before the kernel",
                           emitError);
}

LogicalResult TileCountOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (kernel && kernel.getProblem().hasDynamicM())
    return success();
  return emitOpError("tile_count_c1: m of the kernel's problem must be ?, got ")
         << (kernel ? extentText(kernel.getProblem().getM()) : "no kernel");
}

LogicalResult TileBatchOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (kernel && kernel.getProblem().isBatch())
    return success();
  return emitOpError("tile_batch_c1: batches of the kernel's problem must be more than one, got ")
         << (kernel ? "1" : "no kernel");
}

LogicalResult ApplyEpilogueOp::verify() {
  if (getValues().size() != getResults().size())
    return emitOpError("apply_epilogue_c1: results must be as many as values, got ")
           << getResults().size() << " for " << getValues().size();
  if (!getC().empty() && getC().size() != getValues().size())
    return emitOpError("apply_epilogue_c1: values of c must be as many as values, got ")
           << getC().size() << " for " << getValues().size();
  if (getBeta() && getC().empty())
    return emitOpError("apply_epilogue_c1: beta must be given with c, got none");
  return success();
}

LogicalResult ApplyGateOp::verify() {
  if (getGates().size() == getResults().size())
    return success();
  return emitOpError("apply_gate_c1: results must be as many as gates, got ")
         << getResults().size() << " for " << getGates().size();
}

LogicalResult QuantizeColumnsOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  QuantizedAttr quantized = kernel ? kernel.getProblem().getQuantized() : QuantizedAttr();
  if (!quantized)
    return emitOpError("quantize_columns_c1: D of the kernel must be quantised, got ")
           << (kernel ? "wide values" : "no kernel");
  int64_t count = getValues().size(), block = quantized.getBlock();
  int64_t words = facts::packedBytes(kernel.getProblem().getOut(), count) / 4;
  if (count == 0 || count % block)
    return emitOpError("quantize_columns_c1: values must be whole blocks of ")
           << block << ", got " << count;
  if (int64_t(getWords().size()) != words || int64_t(getScales().size()) != count / block)
    return emitOpError("quantize_columns_c1: words and scales must be ")
           << words << " and " << count / block << ", got " << getWords().size() << " and "
           << getScales().size();
  if (bool(getGlobal()) != facts::hasGlobalScale(quantized.getScale()))
    return emitOpError("quantize_columns_c1: global must be given for ue4m3 only, got ")
           << (getGlobal() ? "one" : "none") << " for "
           << StringRef(facts::name(quantized.getScale()));
  if (getSequence() != kernel.getSchedule().getQuantizer())
    return emitOpError("quantize_columns_c1: sequence must be the schedule's, ")
           << kernel.getSchedule().getQuantizer() << ", got " << getSequence();
  return success();
}

LogicalResult StoreColumnScalesOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  QuantizedAttr quantized = kernel ? kernel.getProblem().getQuantized() : QuantizedAttr();
  int64_t count = getScales().size();
  bool isCount = count == 1 || count == 2 || count == 4;
  if (quantized && isCount && int64_t(getColumn()) % (count * quantized.getBlock()) == 0)
    return success();
  InFlightDiagnostic error = emitOpError("store_column_scales_c1: ");
  if (!quantized)
    return error << "D of the kernel must be quantised, got " << (kernel ? "wide values" : "none");
  return error << "scales must be 1, 2 or 4, the first at a multiple of as many, got " << count
               << " at column " << getColumn();
}

LogicalResult KernelOp::verifyRegions() { return KernelPlanRules(*this).run(); }
