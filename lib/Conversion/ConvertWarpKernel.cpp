//===- ConvertWarpKernel.cpp - level 4 to 5 of kernels of equal warps -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Their instructions are NVVM and LLVM ops already; what is left is the function and its
// pragma.
//
//===----------------------------------------------------------------------===//

#include "InlinePtx.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"

using namespace mlir;
using namespace blockscale;

/// Every buffer starts on it: device allocations are 256-aligned.
static constexpr int64_t kBufferAlignment = 16;

/// Registers that ptxas is told to keep to, or 0. In code for the 120 family it takes 126
/// for raw_nibble though 120 do, without spills and with as many instructions.
static int64_t mostRegisters(WarpScheduleAttr schedule) {
  constexpr int64_t kRawNibble = 120;
  bool isCapped = facts::covers(schedule.getArch(), facts::Arch::sm_120f) &&
                  schedule.getKernel() == WarpKernel::raw_nibble &&
                  schedule.getThreads() == kWarpKernelThreads;
  return isCapped ? kRawNibble : 0;
}
static int64_t mostRegisters(QuantizeScheduleAttr) { return 0; }

static int64_t clusterOf(WarpScheduleAttr schedule) { return schedule.getSplit(); }
static int64_t clusterOf(QuantizeScheduleAttr) { return 1; }

namespace {

template <typename KernelT> struct WarpKernelPattern : ConvertOpToLLVMPattern<KernelT> {
  using ConvertOpToLLVMPattern<KernelT>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(KernelT op, typename KernelT::Adaptor,
                                ConversionPatternRewriter &b) const override {
    const LLVMTypeConverter &converter = *this->getTypeConverter();
    TypeConverter::SignatureConversion signature(op.getNumArguments());
    if (failed(converter.convertSignatureArgs(op.getArgumentTypes(), signature)))
      return b.notifyMatchFailure(op, "parameter types have no LLVM form");
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                            signature.getConvertedTypes());
    auto func = LLVM::LLVMFuncOp::create(b, op.getLoc(), op.getName(), type);
    func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  b.getDenseI32ArrayAttr({int32_t(op.getThreads()), 1, 1}));
    // ptxas keeps a thread's registers low enough for so many blocks.
    func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  b.getI32IntegerAttr(int32_t(op.getBlocks())));
    if (int64_t most = mostRegisters(op.getSchedule()))
      func->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(), b.getI32IntegerAttr(int32_t(most)));
    if (int64_t cluster = clusterOf(op.getSchedule()); cluster > 1)
      func->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    b.getDenseI32ArrayAttr({int32_t(cluster), 1, 1}));
    for (auto [i, param] : llvm::enumerate(op.getArgumentTypes()))
      if (isa<BufferType>(param))
        func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(kBufferAlignment));
    b.inlineRegionBefore(op.getBody(), func.getBody(), func.end());
    if (failed(b.convertRegionTypes(&func.getBody(), converter, &signature)))
      return failure();
    b.eraseOp(op);
    return success();
  }
};

struct BufferAddressPattern : ConvertOpToLLVMPattern<BufferAddressOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(BufferAddressOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    b.replaceOpWithNewOp<LLVM::PtrToIntOp>(op, b.getI64Type(), adaptor.getBuffer());
    return success();
  }
};

struct PtxPragmaPattern : ConvertOpToLLVMPattern<PtxPragmaOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(PtxPragmaOp op, OpAdaptor,
                                ConversionPatternRewriter &b) const override {
    inline_ptx::pragma(b, op.getLoc(), name(op.getPragma().getValue()));
    b.eraseOp(op);
    return success();
  }
};

} // namespace

void blockscale::populateWarpKernelToNVVMPatterns(LLVMTypeConverter &converter,
                                                  RewritePatternSet &patterns) {
  patterns.add<WarpKernelPattern<WarpKernelOp>, WarpKernelPattern<QuantizeKernelOp>,
               BufferAddressPattern, PtxPragmaPattern>(converter);
}
