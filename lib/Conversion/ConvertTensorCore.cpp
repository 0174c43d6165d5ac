//===- ConvertTensorCore.cpp - level 4 to 5 of TMA, tensor memory and tcgen05 ===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptors become integers here and nowhere else.
//
//===----------------------------------------------------------------------===//

#include "FunctionPattern.h"
#include "InlinePtx.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/SmemDescFields.h"
#include "blockscale/Facts/Tmem.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::convert;

namespace blockscale {

static NVVM::CTAGroupKind groupOf(bool pair) {
  return pair ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
}
/// The mask of a multicast has 16 bits.
static Value maskOf(OpBuilder &b, Location loc, Value mask) {
  return mask ? LLVM::TruncOp::create(b, loc, b.getI16Type(), mask).getResult() : Value();
}

//===----------------------------------------------------------------------===//
// TMA
//===----------------------------------------------------------------------===//

static LogicalResult lower(PrefetchTensormapOp op, PrefetchTensormapOp::Adaptor adaptor,
                           Rewriter &b) {
  NVVM::PrefetchOp::create(b, op.getLoc(), NVVM::PrefetchCacheLevelAttr(),
                           NVVM::CacheEvictionPriorityAttr(), adaptor.getMap(), Value(),
                           b.getUnitAttr());
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(CpAsyncBulkTensorLoadOp op, CpAsyncBulkTensorLoadOp::Adaptor adaptor,
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
static LogicalResult lower(CpAsyncBulkTensorStoreOp op, CpAsyncBulkTensorStoreOp::Adaptor adaptor,
                           Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      b, loc, adaptor.getMap(), pointer(b, loc, adaptor.getSource(), kShared),
      adaptor.getCoordinates(), /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE, Value());
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(CpAsyncBulkWaitGroupOp op, CpAsyncBulkWaitGroupOp::Adaptor,
                           Rewriter &b) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, op.getLoc(), op.getPending(),
                                       op.getRead() ? b.getUnitAttr() : UnitAttr());
  b.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Tensor memory and the tensor core
//===----------------------------------------------------------------------===//

static LogicalResult lower(Tcgen05AllocOp op, Tcgen05AllocOp::Adaptor adaptor, Rewriter &b) {
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
static LogicalResult lower(Tcgen05DeallocOp op, Tcgen05DeallocOp::Adaptor adaptor, Rewriter &b) {
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
static LogicalResult lower(Tcgen05RelinquishAllocPermitOp op,
                           Tcgen05RelinquishAllocPermitOp::Adaptor, Rewriter &b) {
  NVVM::Tcgen05RelinquishAllocPermitOp::create(b, op.getLoc(), groupOf(op.getPair()));
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(Tcgen05FenceBeforeOp op, Tcgen05FenceBeforeOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::Tcgen05FenceOp>(op, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  return success();
}
static LogicalResult lower(Tcgen05FenceAfterOp op, Tcgen05FenceAfterOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::Tcgen05FenceOp>(op, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  return success();
}
static LogicalResult lower(Tcgen05WaitLdOp op, Tcgen05WaitLdOp::Adaptor, Rewriter &b) {
  b.replaceOpWithNewOp<NVVM::Tcgen05WaitOp>(op, NVVM::Tcgen05WaitKind::LOAD);
  return success();
}
static LogicalResult lower(Tcgen05CommitOp op, Tcgen05CommitOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::Tcgen05CommitOp::create(b, loc, pointer(b, loc, adaptor.getBarrier(), kShared),
                                maskOf(b, loc, adaptor.getMask()), groupOf(op.getPair()));
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(Tcgen05CpOp op, Tcgen05CpOp::Adaptor adaptor, Rewriter &b) {
  Location loc = op.getLoc();
  NVVM::Tcgen05CpOp::create(b, loc, NVVM::Tcgen05CpShape::SHAPE_32x128b, groupOf(op.getPair()),
                            NVVM::Tcgen05CpMulticast::WARPX4, NVVM::Tcgen05CpSrcFormatAttr(),
                            pointer(b, loc, adaptor.getAddress(), kTensor), adaptor.getSource());
  b.eraseOp(op);
  return success();
}
static LogicalResult lower(Tcgen05MmaOp op, Tcgen05MmaOp::Adaptor adaptor, Rewriter &b) {
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
static LogicalResult lower(Tcgen05LdOp op, Tcgen05LdOp::Adaptor adaptor, Rewriter &b) {
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

static LogicalResult lower(SmemDescOp op, SmemDescOp::Adaptor adaptor, Rewriter &b) {
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
static LogicalResult lower(DescAdvanceOp op, DescAdvanceOp::Adaptor adaptor, Rewriter &b) {
  // The tile lies inside the address space, so no carry leaves the field.
  b.replaceOpWithNewOp<LLVM::AddOp>(
      op, adaptor.getDesc(),
      constant(b, op.getLoc(), op.getBytes() >> kAddressShift, /*width=*/64));
  return success();
}

} // namespace blockscale

void blockscale::populateTensorCoreToNVVMPatterns(LLVMTypeConverter &converter,
                                                  RewritePatternSet &patterns) {
  addFunctions<PrefetchTensormapOp, CpAsyncBulkTensorLoadOp, CpAsyncBulkTensorStoreOp,
               CpAsyncBulkWaitGroupOp, Tcgen05AllocOp, Tcgen05DeallocOp,
               Tcgen05RelinquishAllocPermitOp, Tcgen05FenceBeforeOp, Tcgen05FenceAfterOp,
               Tcgen05WaitLdOp, Tcgen05CommitOp, Tcgen05CpOp, Tcgen05MmaOp, Tcgen05LdOp, SmemDescOp,
               DescAdvanceOp>(converter, patterns);
  addFunction<CpAsyncBulkCommitGroupOp>(
      converter, patterns, replaceBare<NVVM::CpAsyncBulkCommitGroupOp, CpAsyncBulkCommitGroupOp>);
}

//===----------------------------------------------------------------------===//
// What descriptors mean
//===----------------------------------------------------------------------===//

/// Integers that the PTX will hold, each with its decoded form, once and in order.
ArrayAttr blockscale::describeDescriptors(ModuleOp module) {
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
