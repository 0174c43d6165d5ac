//===- ConvertWgmma.cpp - level 4 to 5 of wgmma kernels -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlinePtx.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"

using namespace mlir;
using namespace blockscale;

namespace {

struct WgmmaKernelPattern : ConvertOpToLLVMPattern<WgmmaKernelOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(WgmmaKernelOp op, OpAdaptor,
                                ConversionPatternRewriter &b) const override {
    MLIRContext *context = b.getContext();
    TypeConverter::SignatureConversion signature(op.getNumArguments());
    if (failed(getTypeConverter()->convertSignatureArgs(op.getArgumentTypes(), signature)))
      return b.notifyMatchFailure(op, "parameter types have no LLVM form");
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                            signature.getConvertedTypes());
    auto func = LLVM::LLVMFuncOp::create(b, op.getLoc(), op.getName(), type);
    func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  b.getDenseI32ArrayAttr({int32_t(op.getThreads()), 1, 1}));
    // setmaxnreg shares out what so many blocks leave to each.
    func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  b.getI32IntegerAttr(int32_t(op.getSchedule().getBlocks())));
    if (op.getSchedule().isSplit())
      func->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    b.getDenseI32ArrayAttr({int32_t(op.getSchedule().getSplit()), 1, 1}));
    // A tensor map is a 128-byte parameter that the TMA unit reads in place.
    Type map = LLVM::LLVMArrayType::get(b.getI64Type(), 16);
    for (auto [i, param] : llvm::enumerate(op.getArgumentTypes())) {
      if (!isa<TensorMapType>(param))
        continue;
      func.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(map));
      func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
      func.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
    }
    b.inlineRegionBefore(op.getBody(), func.getBody(), func.end());
    if (failed(b.convertRegionTypes(&func.getBody(), *getTypeConverter(), &signature)))
      return failure();
    b.eraseOp(op);
    return success();
  }
};

template <typename From, typename To> struct BarePattern : ConvertOpToLLVMPattern<From> {
  using ConvertOpToLLVMPattern<From>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor,
                                ConversionPatternRewriter &b) const override {
    To::create(b, op.getLoc());
    b.eraseOp(op);
    return success();
  }
};

struct WaitPattern : ConvertOpToLLVMPattern<WgmmaWaitGroupOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(WgmmaWaitGroupOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    NVVM::WgmmaWaitGroupSyncOp::create(b, op.getLoc(), op.getPending());
    b.replaceOp(op, inline_ptx::settle(b, op.getLoc(), adaptor.getSums()));
    return success();
  }
};

struct MmaPattern : ConvertOpToLLVMPattern<WgmmaMmaAsyncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(WgmmaMmaAsyncOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    std::array<Value, 4> a{adaptor.getA0(), adaptor.getA1(), adaptor.getA2(), adaptor.getA3()};
    b.replaceOp(op, inline_ptx::wgmma(b, op.getLoc(), a, adaptor.getB(), adaptor.getSums()));
    return success();
  }
};

} // namespace

void blockscale::populateWgmmaToNVVMPatterns(LLVMTypeConverter &converter,
                                             RewritePatternSet &patterns) {
  patterns.add<WgmmaKernelPattern, WaitPattern, MmaPattern,
               BarePattern<WgmmaFenceOp, NVVM::WgmmaFenceAlignedOp>,
               BarePattern<WgmmaCommitGroupOp, NVVM::WgmmaGroupSyncAlignedOp>>(converter);
}
