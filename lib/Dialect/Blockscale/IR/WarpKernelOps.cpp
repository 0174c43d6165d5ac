//===- WarpKernelOps.cpp - syntax and rules of mma.sync kernels -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of the plan and of what the ops do with it are in WarpPlanRules.cpp.
//
//===----------------------------------------------------------------------===//

#include "KernelSyntax.h"

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

ParseResult WarpKernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseKernel<WarpKernelOp>(parser, result);
}
void WarpKernelOp::print(OpAsmPrinter &printer) { printKernel(printer, *this); }

//===----------------------------------------------------------------------===//
// Rules of one op
//===----------------------------------------------------------------------===//

LogicalResult MmaS8Op::verify() {
  if (Operation *source = getB().getDefiningOp();
      source && !isa<UnpackNibblesOp, LoadRowsOp>(source))
    return emitOpError("mma_s8_c1: b must be the nibbles themselves, never (nibble - min): dmin "
                       "scales the minimum, got the result of '")
           << source->getName() << "'";
  return success();
}

LogicalResult Rank1RescaleOp::verify() {
  auto tokens = getTokens().getDefiningOp<LoadTokenScalesOp>();
  auto rows = getRows().getDefiningOp<LoadRowScalesOp>();
  if (!getSums().getDefiningOp<MmaS8Op>() || !tokens || !rows)
    return emitOpError("rank1_rescale_c1: operands must be sums of an mma_s8, token scales and row "
                       "scales, got another value");
  if (tokens.getChunk() != rows.getChunk())
    return emitOpError("rank1_rescale_c1: both terms must be of one chunk, got scales of chunk ")
           << tokens.getChunk() << " and of chunk " << rows.getChunk();
  if (cast<VectorType>(rows.getType()).getNumElements() !=
      2 * cast<VectorType>(tokens.getType()).getNumElements())
    return emitOpError("rank1_rescale_c2: token scales and row scales must both have their second "
                       "terms, or neither, got ")
           << tokens.getType() << " and " << rows.getType();
  return success();
}

LogicalResult PtxPragmaOp::verify() {
  auto kernel = (*this)->getParentOfType<WarpKernelOp>();
  Pragma want = kernel ? kernel.getSchedule().getPragma() : Pragma::none;
  if (want != Pragma::none && getPragma().getValue() == want)
    return success();
  return emitOpError("ptx_pragma_c1: pragma must be that of the kernel's schedule, ")
         << name(want) << ", got " << name(getPragma().getValue());
}

LogicalResult MmaMinimaOp::verify() {
  if (getParts().getDefiningOp<LoadSumPartsOp>() && getMinima().getDefiningOp<LoadMinimaOp>() &&
      getScales().getDefiningOp<LoadMinimaScalesOp>())
    return success();
  return emitOpError("mma_minima_c1: operands must be parts of sums, minima and their scales from "
                     "their planes, got another value");
}

//===----------------------------------------------------------------------===//
// Rules of a kernel
//===----------------------------------------------------------------------===//

LogicalResult WarpKernelOp::verify() {
  ArrayRef<Type> inputs = getFunctionType().getInputs();
  bool fits = getFunctionType().getResults().empty() && inputs.size() == 4 &&
              llvm::all_of(inputs.take_front(3), llvm::IsaPred<BufferType>) &&
              inputs.back().isInteger(32);
  if (!fits)
    return emitOpError("warp_kernel_c1: parameters must be three buffers and an i32, and nothing "
                       "returned, got ")
           << getFunctionType();
  auto emitError = [&] { return this->emitOpError(); };
  if (failed(verifyBlockProblem(getProblem(), emitError)) ||
      failed(verifyWarpSchedule(getSchedule(), emitError)))
    return failure();
  if (getProblem().getA() == facts::BlockFormat::f16)
    return emitOpError(
               "gemm_c16: activations of a warp_kernel must be q8_1_chunk or tiles of it, got ")
           << facts::name(getProblem().getA());
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto arch = module->getAttrOfType<StringAttr>("blockscale.arch");
  if (!arch || arch.getValue() != StringRef(facts::name(getArch())))
    return emitOpError("warp_kernel_c2: the schedule's chip must be the module's blockscale.arch, "
                       "got ")
           << StringRef(facts::name(getArch())) << " in a module for "
           << (arch ? arch.getValue() : StringRef("no chip"));
  if (int64_t(getThreads()) != getSchedule().getThreads() ||
      int64_t(getBlocks()) != getSchedule().getBlocks())
    return emitOpError("warp_kernel_c3: threads and blocks must be the schedule's ")
           << getSchedule().getThreads() << " and " << getSchedule().getBlocks() << ", got "
           << getThreads() << " and " << getBlocks();
  if (getProblem().getA() != getSchedule().getAFormat())
    return emitOpError("warp_kernel_c3: a must be the ")
           << name(getSchedule().getAFormat()) << " that the schedule reads, got "
           << name(getProblem().getA());
  if (getProblem().getB() != getSchedule().getBFormat())
    return emitOpError("warp_kernel_c3: b must be the ")
           << name(getSchedule().getBFormat()) << " that the schedule reads, got "
           << name(getProblem().getB());
  if (getSchedule().getMinima() == Minima::mma && !mayReorder(getProblem().getContract()))
    return emitOpError("warp_kernel_c10: contract must be bounded where minima are a product of "
                       "their own, got ")
           << name(getProblem().getContract());
  if (getSchedule().isSplit() && !mayReorder(getProblem().getContract()))
    return emitOpError("warp_kernel_c11: contract must be bounded where k is split, got ")
           << name(getProblem().getContract());
  return verifyDepth(getSchedule(), getProblem().getK(), emitError);
}
