//===- ConvertBlockscaleToNVVM.cpp - level 4 to 5 -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One NVVM or LLVM op for each machine op. What descriptors mean is kept in the module's
// `blockscale.descriptor_notes`, from which the PTX emitter writes its comments.
//
//===----------------------------------------------------------------------===//

#include "FunctionPattern.h"
#include "InlinePtx.h"
#include "SourceLocations.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Target/PTX/TranslateKernels.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Transforms/DialectConversion.h"

namespace blockscale {
#define GEN_PASS_DEF_CONVERTBLOCKSCALETONVVMPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;
using namespace blockscale::convert;

/// The dynamic shared memory of every kernel of a module.
static constexpr StringLiteral kSharedName = "blockscale_shared";
/// Every buffer starts on it: device allocations are 256-aligned.
static constexpr int64_t kBufferAlignment = 16;

namespace blockscale {

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

static LogicalResult lowerKernel(KernelOp op, KernelOp::Adaptor, Rewriter &b,
                                 const LLVMTypeConverter &converter) {
  MLIRContext *context = b.getContext();
  TypeConverter::SignatureConversion signature(op.getNumArguments());
  if (failed(converter.convertSignatureArgs(op.getArgumentTypes(), signature)))
    return b.notifyMatchFailure(op, "parameter types have no LLVM form");
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), signature.getConvertedTypes());
  auto func = LLVM::LLVMFuncOp::create(b, op.getLoc(), op.getName(), type);
  func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                b.getDenseI32ArrayAttr({int32_t(op.getThreads()), 1, 1}));
  // One CTA fills an SM with its shared memory; told so, ptxas uses the registers
  // that there are instead of spilling for an occupancy that cannot be.
  func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  if (int64_t size = op.getSchedule().getCluster().size(); size > 1)
    func->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                  b.getDenseI32ArrayAttr({int32_t(size), 1, 1}));
  // A tensor map is a 128-byte parameter that the TMA unit reads in place.
  Type map = LLVM::LLVMArrayType::get(b.getI64Type(), 16);
  for (auto [i, param] : llvm::enumerate(op.getArgumentTypes())) {
    // Vectors of four words are loaded from buffers.
    if (isa<BufferType>(param))
      func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(kBufferAlignment));
    if (!isa<TensorMapType>(param))
      continue;
    func.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(map));
    func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
    func.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  }
  b.inlineRegionBefore(op.getBody(), func.getBody(), func.end());
  if (failed(b.convertRegionTypes(&func.getBody(), converter, &signature)))
    return failure();
  b.eraseOp(op);
  return success();
}

namespace {
struct KernelPattern : ConvertOpToLLVMPattern<KernelOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(KernelOp op, OpAdaptor adaptor, Rewriter &b) const override {
    return lowerKernel(op, adaptor, b, *getTypeConverter());
  }
};
} // namespace

static LogicalResult lower(blockscale::ReturnOp op, blockscale::ReturnOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange{});
  return success();
}
static LogicalResult lower(SharedBaseOp op, SharedBaseOp::Adaptor, Rewriter &b) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), kShared);
  Value address = LLVM::AddressOfOp::create(b, op.getLoc(), type, kSharedName);
  b.replaceOpWithNewOp<LLVM::PtrToIntOp>(op, b.getI32Type(), address);
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers and fences
//===----------------------------------------------------------------------===//

static LogicalResult lower(BarSyncOp op, BarSyncOp::Adaptor, Rewriter &b) {
  NVVM::BarrierOp::create(b, op.getLoc(), constant(b, op.getLoc(), op.getId()));
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(BarWarpSyncOp op, BarWarpSyncOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::SyncWarpOp>(op, constant(b, op.getLoc(), -1));
  return success();
}
static LogicalResult lower(ElectSyncOp op, ElectSyncOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::ElectSyncOp>(op, b.getI1Type(), Value());
  return success();
}
static LogicalResult lower(MbarrierInitOp op, MbarrierInitOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::MBarrierInitOp::create(b, loc, pointer(b, loc, adaptor.getBarrier(), kShared),
                               constant(b, loc, op.getCount()), Value());
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(MbarrierArriveOp op, MbarrierArriveOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  if (op.getCluster())
    NVVM::MBarrierArriveOp::create(b, loc, Type(),
                                   pointer(b, loc, adaptor.getBarrier(), kSharedCluster), Value(),
                                   NVVM::MemScopeKind::CLUSTER, /*relaxed=*/false);
  else
    NVVM::MBarrierArriveOp::create(b, loc, b.getI64Type(),
                                   pointer(b, loc, adaptor.getBarrier(), kShared), Value());
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(MbarrierArriveExpectTxOp op, MbarrierArriveExpectTxOp::Adaptor adaptor,
                           Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::MBarrierArriveExpectTxOp::create(
      b, loc, b.getI64Type(), pointer(b, loc, adaptor.getBarrier(), kShared),
      constant(b, loc, op.getBytes()), NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(MbarrierTryWaitParityOp op, MbarrierTryWaitParityOp::Adaptor adaptor,
                           Rewriter &b) {
  Location loc = op.getLoc();
  b.replaceOp(op, NVVM::MBarrierTryWaitOp::create(
                      b, loc, b.getI1Type(), pointer(b, loc, adaptor.getBarrier(), kShared),
                      adaptor.getParity(), Value(),
                      op.getCluster() ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA,
                      op.getRelaxed()));
  return success();
}
static LogicalResult lower(BarrierClusterArriveOp op, BarrierClusterArriveOp::Adaptor,
                           Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::ClusterArriveOp>(op, b.getUnitAttr());
  return success();
}
static LogicalResult lower(BarrierClusterWaitOp op, BarrierClusterWaitOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::ClusterWaitOp>(op, b.getUnitAttr());
  return success();
}
static LogicalResult lower(FenceProxyAsyncOp op, FenceProxyAsyncOp::Adaptor, Rewriter &b) {
  auto space = NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta);
  NVVM::FenceProxyOp::create(
      b, op.getLoc(), NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
      space);
  b.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Loads, stores and arithmetic
//===----------------------------------------------------------------------===//

static LogicalResult lower(LdSharedOp op, LdSharedOp::Adaptor adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<LLVM::LoadOp>(op, b.getI32Type(),
                                     pointer(b, op.getLoc(), adaptor.getAddress(), kShared),
                                     /*alignment=*/4);
  return success();
}
static LogicalResult lower(StSharedOp op, StSharedOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  ValueRange values = adaptor.getValues();
  auto type = VectorType::get({int64_t(values.size())}, b.getI32Type());
  Value vector = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, value] : llvm::enumerate(values))
    vector = LLVM::InsertElementOp::create(b, loc, vector, value, constant(b, loc, i));
  LLVM::StoreOp::create(b, loc, vector, pointer(b, loc, adaptor.getAddress(), kShared),
                        /*alignment=*/4 * values.size());
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(LdGlobalOp op, LdGlobalOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  int64_t count = op.getValues().size();
  Type value = op.getValues().front().getType();
  auto type = VectorType::get({count}, value);
  Value address = element(b, loc, adaptor.getBuffer(), adaptor.getOffset());
  Value load = LLVM::LoadOp::create(b, loc, type, address,
                                    value.getIntOrFloatBitWidth() / 8 * unsigned(count));
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(LLVM::ExtractElementOp::create(b, loc, load, constant(b, loc, i)));
  b.replaceOp(op, values);
  return success();
}
static LogicalResult lower(StGlobalOp op, StGlobalOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  LLVM::StoreOp::create(b, loc, adaptor.getValue(),
                        element(b, loc, adaptor.getBuffer(), adaptor.getOffset()),
                        op.getValue().getType().getIntOrFloatBitWidth() / 8);
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(FmaRnOp op, FmaRnOp::Adaptor adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<LLVM::FMAOp>(op, adaptor.getA(), adaptor.getB(), adaptor.getC());
  return success();
}
static LogicalResult lower(Ex2ApproxOp op, Ex2ApproxOp::Adaptor adaptor, Rewriter &b) {
  b.replaceOp(op, inline_ptx::exp2(b, op.getLoc(), adaptor.getA()));
  return success();
}
static LogicalResult lower(RcpApproxOp op, RcpApproxOp::Adaptor adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::RcpApproxFtzF32Op>(op, b.getF32Type(), adaptor.getA());
  return success();
}
static LogicalResult lower(CvtRnBf16x2Op op, CvtRnBf16x2Op::Adaptor adaptor, Rewriter &b) {
  auto type = VectorType::get({2}, b.getBF16Type());
  Value pair = NVVM::ConvertF32x2ToBF16x2Op::create(
      b, op.getLoc(), type, adaptor.getHigh(), adaptor.getLow(), Value(), NVVM::FPRoundingMode::RN);
  b.replaceOpWithNewOp<LLVM::BitcastOp>(op, b.getI32Type(), pair);
  return success();
}

static LogicalResult lower(CvtRnF16x2Op op, CvtRnF16x2Op::Adaptor adaptor, Rewriter &b) {
  auto type = VectorType::get({2}, b.getF16Type());
  Value pair = NVVM::ConvertF32x2ToF16x2Op::create(
      b, op.getLoc(), type, adaptor.getHigh(), adaptor.getLow(), Value(), NVVM::FPRoundingMode::RN);
  b.replaceOpWithNewOp<LLVM::BitcastOp>(op, b.getI32Type(), pair);
  return success();
}

} // namespace blockscale

void blockscale::populateBlockscaleToNVVMTypeConversions(LLVMTypeConverter &converter) {
  converter.addConversion(
      [](TensorMapType type) { return LLVM::LLVMPointerType::get(type.getContext()); });
  converter.addConversion(
      [](BufferType type) { return LLVM::LLVMPointerType::get(type.getContext(), kGlobal); });
}

void blockscale::populateBlockscaleToNVVMPatterns(LLVMTypeConverter &converter,
                                                  RewritePatternSet &patterns) {
  patterns.add<KernelPattern>(converter);
  populateTensorCoreToNVVMPatterns(converter, patterns);
  populateWarpKernelToNVVMPatterns(converter, patterns);
  populateWgmmaToNVVMPatterns(converter, patterns);
  addFunctions<blockscale::ReturnOp, SharedBaseOp, BarSyncOp, BarWarpSyncOp, ElectSyncOp,
               MbarrierInitOp, MbarrierArriveOp, MbarrierArriveExpectTxOp, MbarrierTryWaitParityOp,
               BarrierClusterArriveOp, BarrierClusterWaitOp, FenceProxyAsyncOp, LdSharedOp,
               StSharedOp, LdGlobalOp, StGlobalOp, FmaRnOp, Ex2ApproxOp, RcpApproxOp, CvtRnBf16x2Op,
               CvtRnF16x2Op>(converter, patterns);
  addFunction<TidXOp>(converter, patterns, replaceRegister<NVVM::ThreadIdXOp, TidXOp>);
  addFunction<LaneIdOp>(converter, patterns, replaceRegister<NVVM::LaneIdOp, LaneIdOp>);
  addFunction<CtaIdXOp>(converter, patterns, replaceRegister<NVVM::BlockIdXOp, CtaIdXOp>);
  addFunction<ClusterCtaRankOp>(converter, patterns,
                                replaceRegister<NVVM::ClusterId, ClusterCtaRankOp>);
  addFunction<NctaIdXOp>(converter, patterns, replaceRegister<NVVM::GridDimXOp, NctaIdXOp>);
  addFunction<FenceMbarrierInitOp>(converter, patterns,
                                   replaceBare<NVVM::FenceMbarrierInitOp, FenceMbarrierInitOp>);
}

namespace {

struct ConvertBlockscaleToNVVM
    : blockscale::impl::ConvertBlockscaleToNVVMPassBase<ConvertBlockscaleToNVVM> {
  void runOnOperation() override {
    SmallVector<ModuleOp> modules;
    getOperation().walk([&](ModuleOp module) {
      if (llvm::any_of(module.getOps(),
                       llvm::IsaPred<KernelOp, WarpKernelOp, WgmmaKernelOp, QuantizeKernelOp>))
        modules.push_back(module);
    });
    for (ModuleOp module : modules)
      if (failed(convert(module)))
        return signalPassFailure();
  }

  LogicalResult convert(ModuleOp module) {
    MLIRContext *context = &getContext();
    for (Operation &op : module.getOps())
      if (isa<KernelOp, WarpKernelOp, WgmmaKernelOp, QuantizeKernelOp>(op))
        nameLocations(&op);
    module->setAttr(kDescriptorNotesAttr, describeDescriptors(module));
    if (!module.lookupSymbol(kSharedName)) {
      OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
      LLVM::GlobalOp::create(b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                             /*isConstant=*/false, LLVM::Linkage::External, kSharedName,
                             Attribute(), /*alignment=*/1024, kShared);
    }
    LowerToLLVMOptions options(context);
    LLVMTypeConverter converter(context, options);
    populateBlockscaleToNVVMTypeConversions(converter);
    RewritePatternSet patterns(context);
    populateBlockscaleToNVVMPatterns(converter, patterns);
    populateSCFToControlFlowConversionPatterns(patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addIllegalDialect<BlockscaleDialect, scf::SCFDialect, cf::ControlFlowDialect,
                             arith::ArithDialect>();
    target.addLegalOp<ModuleOp>();
    if (failed(applyFullConversion(module, target, std::move(patterns))))
      return failure();
    attachSourceLocations(module);
    return success();
  }
};

} // namespace
