//===- ConvertBlockscaleToNVVM.cpp - level 4 to 5 -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One NVVM or LLVM op for each machine op; descriptors become integers here and
// nowhere else. What they mean is kept in the module's `blockscale.descriptor_notes`,
// from which the PTX emitter writes its comments.
//
//===----------------------------------------------------------------------===//

#include "InlinePtx.h"
#include "SourceLocations.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/SmemDescFields.h"
#include "blockscale/Facts/Tmem.h"
#include "blockscale/Target/PTX/TranslateKernels.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/FormatVariadic.h"

namespace blockscale {
#define GEN_PASS_DEF_CONVERTBLOCKSCALETONVVMPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

/// The dynamic shared memory of every kernel of a module.
static constexpr StringLiteral kSharedName = "blockscale_shared";
/// Every buffer starts on it: device allocations are 256-aligned.
static constexpr int64_t kBufferAlignment = 16;

namespace {

// Address spaces of NVPTX.
enum AddressSpace : unsigned { kGlobal = 1, kShared = 3, kTensor = 6, kSharedCluster = 7 };

/// A pattern made of one function.
template <typename OpT> class FunctionPattern : public ConvertOpToLLVMPattern<OpT> {
public:
  using Adaptor = typename OpT::Adaptor;
  using Function = LogicalResult (*)(OpT, Adaptor, ConversionPatternRewriter &);
  FunctionPattern(LLVMTypeConverter &converter, Function function)
      : ConvertOpToLLVMPattern<OpT>(converter), function(function) {}
  LogicalResult matchAndRewrite(OpT op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return function(op, adaptor, rewriter);
  }

private:
  Function function;
};

using Rewriter = ConversionPatternRewriter;

Value constant(OpBuilder &b, Location loc, int64_t value, unsigned width = 32) {
  return LLVM::ConstantOp::create(b, loc, b.getIntegerType(width),
                                  b.getIntegerAttr(b.getIntegerType(width), value));
}
Value pointer(OpBuilder &b, Location loc, Value address, AddressSpace space) {
  return LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), space),
                                  address);
}
Value element(OpBuilder &b, Location loc, Value buffer, Value offset) {
  return LLVM::GEPOp::create(b, loc, buffer.getType(), b.getI8Type(), buffer,
                             ArrayRef<LLVM::GEPArg>{offset});
}
facts::Arch archOf(Operation *op) {
  if (auto kernel = op->getParentOfType<KernelOp>())
    return kernel.getArch();
  auto name = op->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>("blockscale.arch");
  return *facts::parseArch(std::string_view(name.getValue()));
}

NVVM::CTAGroupKind groupOf(bool pair) {
  return pair ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
}
/// The mask of a multicast has 16 bits.
Value maskOf(OpBuilder &b, Location loc, Value mask) {
  return mask ? LLVM::TruncOp::create(b, loc, b.getI16Type(), mask).getResult() : Value();
}

template <typename To, typename From>
LogicalResult replaceBare(From op, typename From::Adaptor, Rewriter &b) {
  To::create(b, op.getLoc());
  b.eraseOp(op);
  return success();
}
template <typename To, typename From>
LogicalResult replaceRegister(From op, typename From::Adaptor, Rewriter &b) {
  b.replaceOp(op, To::create(b, op.getLoc(), b.getI32Type()).getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

LogicalResult lowerKernel(KernelOp op, KernelOp::Adaptor, Rewriter &b,
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

struct KernelPattern : ConvertOpToLLVMPattern<KernelOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(KernelOp op, OpAdaptor adaptor, Rewriter &b) const override {
    return lowerKernel(op, adaptor, b, *getTypeConverter());
  }
};

LogicalResult lower(blockscale::ReturnOp op, blockscale::ReturnOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange{});
  return success();
}
LogicalResult lower(SharedBaseOp op, SharedBaseOp::Adaptor, Rewriter &b) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), kShared);
  Value address = LLVM::AddressOfOp::create(b, op.getLoc(), type, kSharedName);
  b.replaceOpWithNewOp<LLVM::PtrToIntOp>(op, b.getI32Type(), address);
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers and fences
//===----------------------------------------------------------------------===//

LogicalResult lower(BarSyncOp op, BarSyncOp::Adaptor, Rewriter &b) {
  NVVM::BarrierOp::create(b, op.getLoc(), constant(b, op.getLoc(), op.getId()));
  b.eraseOp(op);
  return success();
}
LogicalResult lower(BarWarpSyncOp op, BarWarpSyncOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::SyncWarpOp>(op, constant(b, op.getLoc(), -1));
  return success();
}
LogicalResult lower(ElectSyncOp op, ElectSyncOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::ElectSyncOp>(op, b.getI1Type(), Value());
  return success();
}
LogicalResult lower(MbarrierInitOp op, MbarrierInitOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::MBarrierInitOp::create(b, loc, pointer(b, loc, adaptor.getBarrier(), kShared),
                               constant(b, loc, op.getCount()), Value());
  b.eraseOp(op);
  return success();
}
LogicalResult lower(MbarrierArriveOp op, MbarrierArriveOp::Adaptor adaptor, Rewriter &b) {
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
LogicalResult lower(MbarrierArriveExpectTxOp op, MbarrierArriveExpectTxOp::Adaptor adaptor,
                    Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::MBarrierArriveExpectTxOp::create(
      b, loc, b.getI64Type(), pointer(b, loc, adaptor.getBarrier(), kShared),
      constant(b, loc, op.getBytes()), NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
  b.eraseOp(op);
  return success();
}
LogicalResult lower(MbarrierTryWaitParityOp op, MbarrierTryWaitParityOp::Adaptor adaptor,
                    Rewriter &b) {
  Location loc = op.getLoc();
  b.replaceOp(op, NVVM::MBarrierTryWaitOp::create(
                      b, loc, b.getI1Type(), pointer(b, loc, adaptor.getBarrier(), kShared),
                      adaptor.getParity(), Value(),
                      op.getCluster() ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA,
                      op.getRelaxed()));
  return success();
}
LogicalResult lower(BarrierClusterArriveOp op, BarrierClusterArriveOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::ClusterArriveOp>(op, b.getUnitAttr());
  return success();
}
LogicalResult lower(BarrierClusterWaitOp op, BarrierClusterWaitOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::ClusterWaitOp>(op, b.getUnitAttr());
  return success();
}
LogicalResult lower(FenceProxyAsyncOp op, FenceProxyAsyncOp::Adaptor, Rewriter &b) {
  auto space = NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta);
  NVVM::FenceProxyOp::create(
      b, op.getLoc(), NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
      space);
  b.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// TMA
//===----------------------------------------------------------------------===//

LogicalResult lower(PrefetchTensormapOp op, PrefetchTensormapOp::Adaptor adaptor, Rewriter &b) {
  NVVM::PrefetchOp::create(b, op.getLoc(), NVVM::PrefetchCacheLevelAttr(),
                           NVVM::CacheEvictionPriorityAttr(), adaptor.getMap(), Value(),
                           b.getUnitAttr());
  b.eraseOp(op);
  return success();
}
LogicalResult lower(CpAsyncBulkTensorLoadOp op, CpAsyncBulkTensorLoadOp::Adaptor adaptor,
                    Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      b, loc, pointer(b, loc, adaptor.getTarget(), kSharedCluster), adaptor.getMap(),
      adaptor.getCoordinates(), pointer(b, loc, adaptor.getBarrier(), kShared),
      /*im2colOffsets=*/ValueRange{}, maskOf(b, loc, adaptor.getMask()), /*l2CacheHint=*/Value(),
      NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
      op.getPair() ? NVVM::CTAGroupKindAttr::get(b.getContext(), NVVM::CTAGroupKind::CTA_2)
                   : NVVM::CTAGroupKindAttr(),
      Value());
  b.eraseOp(op);
  return success();
}
LogicalResult lower(CpAsyncBulkTensorStoreOp op, CpAsyncBulkTensorStoreOp::Adaptor adaptor,
                    Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      b, loc, adaptor.getMap(), pointer(b, loc, adaptor.getSource(), kShared),
      adaptor.getCoordinates(), /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE, Value());
  b.eraseOp(op);
  return success();
}
LogicalResult lower(CpAsyncBulkWaitGroupOp op, CpAsyncBulkWaitGroupOp::Adaptor, Rewriter &b) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, op.getLoc(), op.getPending(),
                                       op.getRead() ? b.getUnitAttr() : UnitAttr());
  b.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Tensor memory and the tensor core
//===----------------------------------------------------------------------===//

LogicalResult lower(Tcgen05AllocOp op, Tcgen05AllocOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  int columns = int(op.getColumns());
  if (facts::needsExclusiveAlloc(columns))
    inline_ptx::allocExclusive(b, loc, adaptor.getTarget(), columns, op.getPair());
  else
    NVVM::Tcgen05AllocOp::create(b, loc, pointer(b, loc, adaptor.getTarget(), kShared),
                                 constant(b, loc, columns), groupOf(op.getPair()));
  b.eraseOp(op);
  return success();
}
LogicalResult lower(Tcgen05DeallocOp op, Tcgen05DeallocOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  int columns = int(op.getColumns());
  if (facts::needsExclusiveAlloc(columns))
    inline_ptx::deallocExclusive(b, loc, adaptor.getAddress(), columns, op.getPair());
  else
    NVVM::Tcgen05DeallocOp::create(b, loc, pointer(b, loc, adaptor.getAddress(), kTensor),
                                   constant(b, loc, columns), groupOf(op.getPair()));
  b.eraseOp(op);
  return success();
}
LogicalResult lower(Tcgen05RelinquishAllocPermitOp op, Tcgen05RelinquishAllocPermitOp::Adaptor,
                    Rewriter &b) {
  NVVM::Tcgen05RelinquishAllocPermitOp::create(b, op.getLoc(), groupOf(op.getPair()));
  b.eraseOp(op);
  return success();
}
LogicalResult lower(Tcgen05FenceBeforeOp op, Tcgen05FenceBeforeOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::Tcgen05FenceOp>(op, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  return success();
}
LogicalResult lower(Tcgen05FenceAfterOp op, Tcgen05FenceAfterOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::Tcgen05FenceOp>(op, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  return success();
}
LogicalResult lower(Tcgen05WaitLdOp op, Tcgen05WaitLdOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::Tcgen05WaitOp>(op, NVVM::Tcgen05WaitKind::LOAD);
  return success();
}
LogicalResult lower(Tcgen05CommitOp op, Tcgen05CommitOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::Tcgen05CommitOp::create(b, loc, pointer(b, loc, adaptor.getBarrier(), kShared),
                                maskOf(b, loc, adaptor.getMask()), groupOf(op.getPair()));
  b.eraseOp(op);
  return success();
}
LogicalResult lower(Tcgen05CpOp op, Tcgen05CpOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::Tcgen05CpOp::create(b, loc, NVVM::Tcgen05CpShape::SHAPE_32x128b, groupOf(op.getPair()),
                            NVVM::Tcgen05CpMulticast::WARPX4, NVVM::Tcgen05CpSrcFormatAttr(),
                            pointer(b, loc, adaptor.getAddress(), kTensor), adaptor.getSource());
  b.eraseOp(op);
  return success();
}
LogicalResult lower(Tcgen05MmaOp op, Tcgen05MmaOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  IDescAttr idesc = op.getIdesc();
  auto word = idesc.encode(archOf(op), op.getPair() ? 2 : 1);
  if (!word)
    return op.emitOpError(word.message());
  NVVM::MMABlockScaleKind kind = NVVM::MMABlockScaleKind::MXF8F6F4;
  // The kinds of FP4 say the block size; mxf8f6f4 has only one.
  auto size = NVVM::Tcgen05MMABlockScale::DEFAULT;
  switch (idesc.getKind()) {
  case facts::MmaKind::mxf8f6f4:
    break;
  case facts::MmaKind::mxf4:
    kind = NVVM::MMABlockScaleKind::MXF4;
    break;
  case facts::MmaKind::mxf4nvf4:
    kind = NVVM::MMABlockScaleKind::MXF4NVF4;
    size = idesc.getBlock() == 16 ? NVVM::Tcgen05MMABlockScale::BLOCK16
                                  : NVVM::Tcgen05MMABlockScale::BLOCK32;
    break;
  default:
    return op.emitOpError("machine_c9: kind must be block-scaled, got ")
           << StringRef(facts::name(idesc.getKind()));
  }
  if (CollectorUseAttr ofB = op.getCollectorBAttr()) {
    Value accumulate = LLVM::ZExtOp::create(b, loc, b.getI32Type(), adaptor.getAccumulate());
    inline_ptx::mmaKeepingB(b, loc, idesc.getKind(), int(idesc.getBlock()), op.getPair(),
                            StringRef(name(ofB.getValue())),
                            {adaptor.getD(), adaptor.getA(), adaptor.getB(),
                             constant(b, loc, int32_t(*word)), adaptor.getSfa(), adaptor.getSfb(),
                             accumulate});
    b.eraseOp(op);
    return success();
  }
  NVVM::Tcgen05MMABlockScaleOp::create(
      b, loc, kind, groupOf(op.getPair()), size, NVVM::Tcgen05MMACollectorOp::DISCARD,
      pointer(b, loc, adaptor.getD(), kTensor), adaptor.getA(), adaptor.getB(),
      constant(b, loc, int32_t(*word)), adaptor.getAccumulate(),
      pointer(b, loc, adaptor.getSfa(), kTensor), pointer(b, loc, adaptor.getSfb(), kTensor));
  b.eraseOp(op);
  return success();
}
LogicalResult lower(Tcgen05LdOp op, Tcgen05LdOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  int64_t count = op.getValues().size();
  Type type = b.getI32Type();
  if (count > 1)
    type = VectorType::get({count}, type);
  Value load =
      NVVM::Tcgen05LdOp::create(b, loc, type, /*pack=*/false, NVVM::Tcgen05LdStShape::SHAPE_32X32B,
                                pointer(b, loc, adaptor.getAddress(), kTensor), Value());
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(
        count == 1 ? load
                   : LLVM::ExtractElementOp::create(b, loc, load, constant(b, loc, i)).getResult());
  b.replaceOp(op, values);
  return success();
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// The address field holds bits 4.. of an address.
constexpr int kAddressShift = 4;
constexpr int kLeadingShift = facts::smemDescField(facts::SmemDescField::leading).low;

LogicalResult lower(SmemDescOp op, SmemDescOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  facts::Arch arch = archOf(op);
  auto word = op.getDesc().encode(arch, /*absolute=*/bool(op.getNext()));
  if (!word)
    return op.emitOpError(word.message());
  int64_t mask = (int64_t(1) << facts::info(arch).smemAddressBits) - 1;
  auto fieldOf = [&](Value address) -> Value {
    Value field = LLVM::LShrOp::create(b, loc, address, constant(b, loc, kAddressShift));
    return LLVM::AndOp::create(b, loc, field, constant(b, loc, mask));
  };
  Value field = fieldOf(adaptor.getAddress());
  if (op.getNext())
    field = LLVM::OrOp::create(
        b, loc, field,
        LLVM::ShlOp::create(b, loc, fieldOf(adaptor.getNext()), constant(b, loc, kLeadingShift)));
  field = LLVM::ZExtOp::create(b, loc, b.getI64Type(), field);
  b.replaceOpWithNewOp<LLVM::OrOp>(op, field, constant(b, loc, int64_t(*word), /*width=*/64));
  return success();
}
LogicalResult lower(DescAdvanceOp op, DescAdvanceOp::Adaptor adaptor, Rewriter &b) {
  // The tile lies inside the address space, so no carry leaves the field.
  b.replaceOpWithNewOp<LLVM::AddOp>(
      op, adaptor.getDesc(),
      constant(b, op.getLoc(), op.getBytes() >> kAddressShift, /*width=*/64));
  return success();
}

//===----------------------------------------------------------------------===//
// Loads, stores and arithmetic
//===----------------------------------------------------------------------===//

LogicalResult lower(LdSharedOp op, LdSharedOp::Adaptor adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<LLVM::LoadOp>(op, b.getI32Type(),
                                     pointer(b, op.getLoc(), adaptor.getAddress(), kShared),
                                     /*alignment=*/4);
  return success();
}
LogicalResult lower(StSharedOp op, StSharedOp::Adaptor adaptor, Rewriter &b) {
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
LogicalResult lower(LdGlobalOp op, LdGlobalOp::Adaptor adaptor, Rewriter &b) {
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
LogicalResult lower(StGlobalOp op, StGlobalOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  LLVM::StoreOp::create(b, loc, adaptor.getValue(),
                        element(b, loc, adaptor.getBuffer(), adaptor.getOffset()),
                        op.getValue().getType().getIntOrFloatBitWidth() / 8);
  b.eraseOp(op);
  return success();
}
LogicalResult lower(FmaRnOp op, FmaRnOp::Adaptor adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<LLVM::FMAOp>(op, adaptor.getA(), adaptor.getB(), adaptor.getC());
  return success();
}
LogicalResult lower(Ex2ApproxOp op, Ex2ApproxOp::Adaptor adaptor, Rewriter &b) {
  b.replaceOp(op, inline_ptx::exp2(b, op.getLoc(), adaptor.getA()));
  return success();
}
LogicalResult lower(RcpApproxOp op, RcpApproxOp::Adaptor adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::RcpApproxFtzF32Op>(op, b.getF32Type(), adaptor.getA());
  return success();
}
LogicalResult lower(CvtRnBf16x2Op op, CvtRnBf16x2Op::Adaptor adaptor, Rewriter &b) {
  auto type = VectorType::get({2}, b.getBF16Type());
  Value pair = NVVM::ConvertF32x2ToBF16x2Op::create(
      b, op.getLoc(), type, adaptor.getHigh(), adaptor.getLow(), Value(), NVVM::FPRoundingMode::RN);
  b.replaceOpWithNewOp<LLVM::BitcastOp>(op, b.getI32Type(), pair);
  return success();
}

LogicalResult lower(CvtRnF16x2Op op, CvtRnF16x2Op::Adaptor adaptor, Rewriter &b) {
  auto type = VectorType::get({2}, b.getF16Type());
  Value pair = NVVM::ConvertF32x2ToF16x2Op::create(
      b, op.getLoc(), type, adaptor.getHigh(), adaptor.getLow(), Value(), NVVM::FPRoundingMode::RN);
  b.replaceOpWithNewOp<LLVM::BitcastOp>(op, b.getI32Type(), pair);
  return success();
}

template <typename... Ops>
void addFunctions(LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  (patterns.add(std::make_unique<FunctionPattern<Ops>>(
       converter,
       [](Ops op, typename Ops::Adaptor adaptor, Rewriter &b) { return lower(op, adaptor, b); })),
   ...);
}
template <typename Op>
void addFunction(LLVMTypeConverter &converter, RewritePatternSet &patterns,
                 typename FunctionPattern<Op>::Function function) {
  patterns.add(std::make_unique<FunctionPattern<Op>>(converter, function));
}

//===----------------------------------------------------------------------===//
// What descriptors mean
//===----------------------------------------------------------------------===//

/// Integers that the PTX will hold, each with its decoded form, once and in order.
ArrayAttr describeDescriptors(ModuleOp module) {
  Builder b(module.getContext());
  llvm::MapVector<int64_t, std::string> known;
  auto describe = [](Attribute attr) {
    std::string text;
    llvm::raw_string_ostream(text) << attr;
    return StringRef(text).drop_front(StringRef("#blockscale.").size()).str();
  };
  auto describeSmem = [&](SmemDescOp desc, int64_t bytes) {
    auto word = desc.getDesc().encode(archOf(desc), /*absolute=*/bool(desc.getNext()));
    if (!word)
      return;
    int64_t value = int64_t(*word) + (bytes >> kAddressShift);
    std::string text =
        llvm::formatv("{0:x16} = ", uint64_t(value)).str() + describe(desc.getDesc());
    if (desc.getNext())
      text += ", then on at another address";
    if (bytes)
      text += " + " + std::to_string(bytes) + " bytes";
    known.insert({value, text});
  };
  module.walk([&](Operation *op) {
    if (auto mma = dyn_cast<Tcgen05MmaOp>(op)) {
      if (auto word = mma.getIdesc().encode(archOf(mma), mma.getPair() ? 2 : 1))
        known.insert(
            {int64_t(*word), llvm::formatv("{0:x8} = ", *word).str() + describe(mma.getIdesc())});
    } else if (auto desc = dyn_cast<SmemDescOp>(op)) {
      describeSmem(desc, 0);
    } else if (auto advance = dyn_cast<DescAdvanceOp>(op)) {
      // LLVM adds a constant advance to the constant part of its descriptor.
      int64_t bytes = advance.getBytes();
      Value from = advance.getDesc();
      while (auto before = from.getDefiningOp<DescAdvanceOp>()) {
        bytes += before.getBytes();
        from = before.getDesc();
      }
      if (auto desc = from.getDefiningOp<SmemDescOp>())
        describeSmem(desc, bytes);
    }
  });
  SmallVector<Attribute> rows;
  for (auto &[value, text] : known)
    rows.push_back(b.getArrayAttr({b.getI64IntegerAttr(value), b.getStringAttr(text)}));
  return b.getArrayAttr(rows);
}

} // namespace

void blockscale::populateBlockscaleToNVVMTypeConversions(LLVMTypeConverter &converter) {
  converter.addConversion(
      [](TensorMapType type) { return LLVM::LLVMPointerType::get(type.getContext()); });
  converter.addConversion(
      [](BufferType type) { return LLVM::LLVMPointerType::get(type.getContext(), kGlobal); });
}

void blockscale::populateBlockscaleToNVVMPatterns(LLVMTypeConverter &converter,
                                                  RewritePatternSet &patterns) {
  patterns.add<KernelPattern>(converter);
  populateWarpKernelToNVVMPatterns(converter, patterns);
  populateWgmmaToNVVMPatterns(converter, patterns);
  addFunctions<blockscale::ReturnOp, SharedBaseOp, BarSyncOp, BarWarpSyncOp, ElectSyncOp,
               MbarrierInitOp, MbarrierArriveOp, MbarrierArriveExpectTxOp, MbarrierTryWaitParityOp,
               BarrierClusterArriveOp, BarrierClusterWaitOp, FenceProxyAsyncOp, PrefetchTensormapOp,
               CpAsyncBulkTensorLoadOp, CpAsyncBulkTensorStoreOp, CpAsyncBulkWaitGroupOp,
               Tcgen05AllocOp, Tcgen05DeallocOp, Tcgen05RelinquishAllocPermitOp,
               Tcgen05FenceBeforeOp, Tcgen05FenceAfterOp, Tcgen05WaitLdOp, Tcgen05CommitOp,
               Tcgen05CpOp, Tcgen05MmaOp, Tcgen05LdOp, SmemDescOp, DescAdvanceOp, LdSharedOp,
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
  addFunction<CpAsyncBulkCommitGroupOp>(
      converter, patterns, replaceBare<NVVM::CpAsyncBulkCommitGroupOp, CpAsyncBulkCommitGroupOp>);
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
