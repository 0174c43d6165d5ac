//===- WarpEmitter.cpp - instructions of mma.sync kernels, in few words ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpEmitter.h"

#include "InlinePtx.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"

using namespace mlir;
using namespace blockscale;

// Address spaces of NVPTX.
static constexpr unsigned kGlobal = 1, kShared = 3, kSharedCluster = 7;
static constexpr int64_t kWordBytes = 4;
static constexpr int64_t kLastLane = 31;

Value WarpEmitter::pointer(Value address, unsigned space) {
  return LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), space),
                                  address);
}

WarpEmitter::Values WarpEmitter::unpack(Value vector, int64_t words) {
  if (words == 1)
    return {vector};
  Values values;
  for (int64_t i = 0; i < words; ++i) {
    Value index = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(i));
    values.push_back(LLVM::ExtractElementOp::create(b, loc, vector, index));
  }
  return values;
}

Value WarpEmitter::pack(ArrayRef<Value> words) {
  if (words.size() == 1)
    return words.front();
  auto type = VectorType::get({int64_t(words.size())}, words.front().getType());
  Value vector = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, word] : llvm::enumerate(words)) {
    Value index = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(i));
    vector = LLVM::InsertElementOp::create(b, loc, vector, word, index);
  }
  return vector;
}

WarpEmitter::Values WarpEmitter::fields(Value structure, int64_t count) {
  Values values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, loc, structure, i));
  return values;
}

static Type vectorOf(Type element, int64_t words) {
  return words == 1 ? element : VectorType::get({words}, element);
}

Value WarpEmitter::halfToF32(Value word) {
  Value low = arith::TruncIOp::create(b, loc, b.getI16Type(), word);
  Value half = arith::BitcastOp::create(b, loc, b.getF16Type(), low);
  return arith::ExtFOp::create(b, loc, b.getF32Type(), half);
}

Value WarpEmitter::shuffleXor(Value x, int64_t mask) {
  return NVVM::ShflOp::create(b, loc, x.getType(), i32(-1), x, i32(mask), i32(kLastLane),
                              NVVM::ShflKind::bfly, UnitAttr());
}

Value WarpEmitter::shuffleFrom(Value x, int64_t from, int64_t width) {
  // Bits 12:8 are those of the lane that stay.
  int64_t segment = (kLastLane + 1 - width) << 8 | kLastLane;
  return NVVM::ShflOp::create(b, loc, x.getType(), i32(-1), x, i32(from), i32(segment),
                              NVVM::ShflKind::idx, UnitAttr());
}

Value WarpEmitter::maxOfWarp(Value x) {
  return NVVM::ReduxOp::create(b, loc, b.getI32Type(), x, NVVM::ReduxKind::UMAX, i32(-1));
}

Value WarpEmitter::permute(Value low, Value high, int64_t selector) {
  return NVVM::PermuteOp::create(b, loc, b.getI32Type(), low, high, i32(selector),
                                 NVVM::PermuteMode::DEFAULT);
}

Value WarpEmitter::addBytes(Value bytes, Value sum) {
  auto type = VectorType::get({kWordBytes}, b.getI8Type());
  Value four = LLVM::BitcastOp::create(b, loc, type, bytes);
  Value ones = LLVM::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, int8_t(1)));
  return NVVM::DotAccumulate4WayOp::create(b, loc, b.getI32Type(), four,
                                           NVVM::DotAccumulateType::SIGNED, ones,
                                           NVVM::DotAccumulateType::SIGNED, sum);
}

WarpEmitter::Values WarpEmitter::loadShared(Value address, int64_t words) {
  Value load = LLVM::LoadOp::create(b, loc, vectorOf(b.getI32Type(), words),
                                    pointer(address, kShared), unsigned(words * kWordBytes));
  return unpack(load, words);
}

void WarpEmitter::storeShared(Value address, ArrayRef<Value> words) {
  LLVM::StoreOp::create(b, loc, pack(words), pointer(address, kShared),
                        unsigned(words.size() * kWordBytes));
}

WarpEmitter::Values WarpEmitter::loadCluster(Value address, int64_t rank, int64_t words) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), kSharedCluster);
  Value remote = NVVM::MapaOp::create(b, loc, type, pointer(address, kShared), i32(rank));
  Value load = LLVM::LoadOp::create(b, loc, vectorOf(b.getI32Type(), words), remote,
                                    unsigned(words * kWordBytes));
  return unpack(load, words);
}

WarpEmitter::Values WarpEmitter::loadGlobal(Value address, int64_t words) {
  Value load = LLVM::LoadOp::create(b, loc, vectorOf(b.getI32Type(), words),
                                    pointer(address, kGlobal), unsigned(words * kWordBytes),
                                    /*isVolatile=*/false, /*isNonTemporal=*/false,
                                    /*isInvariant=*/true);
  return unpack(load, words);
}

void WarpEmitter::storeGlobal(Value address, ArrayRef<Value> words) {
  LLVM::StoreOp::create(b, loc, pack(words), pointer(address, kGlobal),
                        unsigned(words.size() * kWordBytes));
}

void WarpEmitter::storeGlobalNarrow(Value address, Value word, int64_t bytes) {
  Value low = arith::TruncIOp::create(b, loc, b.getIntegerType(unsigned(bytes * 8)), word);
  LLVM::StoreOp::create(b, loc, low, pointer(address, kGlobal), unsigned(bytes));
}

void WarpEmitter::raiseGlobal(Value address, Value word) {
  LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::umax, pointer(address, kGlobal), word,
                            LLVM::AtomicOrdering::monotonic, /*syncscope=*/"device");
}

Value WarpEmitter::reciprocal(Value x) {
  return NVVM::RcpApproxFtzF32Op::create(b, loc, b.getF32Type(), x);
}

Value WarpEmitter::minMagnitude(Value x, Value y) {
  return LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(),
                                       b.getStringAttr("llvm.nvvm.fmin.xorsign.abs.f"),
                                       ValueRange{x, y})
      .getResult(0);
}

Value WarpEmitter::toUe8m0(Value x) {
  Type type = Float8E8M0FNUType::get(b.getContext());
  Value pair = NVVM::ConvertF32x2ToF8x2Op::create(
      b, loc, b.getI16Type(), f32(0), x, NVVM::FPRoundingMode::RP, NVVM::SaturationMode::SATFINITE,
      /*relu=*/false, type);
  return andi(arith::ExtUIOp::create(b, loc, b.getI32Type(), pair), 0xFF);
}

Value WarpEmitter::fromUe8m0(Value byte) {
  Type i16 = b.getI16Type(), bytes = VectorType::get({2}, b.getI8Type());
  Value pair = LLVM::BitcastOp::create(b, loc, bytes, arith::TruncIOp::create(b, loc, i16, byte));
  Type type = Float8E8M0FNUType::get(b.getContext());
  Value both = NVVM::ConvertF8x2ToBF16x2Op::create(b, loc, VectorType::get({2}, b.getBF16Type()),
                                                   pair, type);
  return asF32(shl(LLVM::BitcastOp::create(b, loc, b.getI32Type(), both), 16));
}

Value WarpEmitter::toF8(facts::Format element, Value high, Value low) {
  Value pair = NVVM::ConvertF32x2ToF8x2Op::create(
      b, loc, b.getI16Type(), high, low, NVVM::FPRoundingMode::RN, NVVM::SaturationMode::SATFINITE,
      /*relu=*/false, getElementType(b.getContext(), element));
  return arith::ExtUIOp::create(b, loc, b.getI32Type(), pair);
}

Value WarpEmitter::toNarrow(facts::Format element, Value high, Value low) {
  Type type = getElementType(b.getContext(), element);
  switch (facts::info(element).bits) {
  case 4: {
    Value pair = NVVM::ConvertF32x2ToF4x2Op::create(b, loc, b.getI8Type(), high, low,
                                                    /*relu=*/false, type);
    return arith::ExtUIOp::create(b, loc, b.getI32Type(), pair);
  }
  case 6: {
    Value pair = NVVM::ConvertF32x2ToF6x2Op::create(b, loc, b.getI16Type(), high, low,
                                                    /*relu=*/false, type);
    return arith::ExtUIOp::create(b, loc, b.getI32Type(), pair);
  }
  default:
    return toF8(element, high, low);
  }
}

Value WarpEmitter::toUe5m3(Value x) { return inline_ptx::toUe5m3(b, loc, x); }
Value WarpEmitter::fromUe5m3(Value byte) {
  return asF32(shl(inline_ptx::fromUe5m3(b, loc, byte), 16)); // the lower bf16
}

Value WarpEmitter::fromE4m3(Value byte) {
  Type i16 = b.getI16Type(), bytes = VectorType::get({2}, b.getI8Type());
  Value pair = LLVM::BitcastOp::create(b, loc, bytes, arith::TruncIOp::create(b, loc, i16, byte));
  Value both =
      NVVM::ConvertF8x2ToF16x2Op::create(b, loc, VectorType::get({2}, b.getF16Type()), pair,
                                         /*relu=*/false, Float8E4M3FNType::get(b.getContext()));
  return halfToF32(LLVM::BitcastOp::create(b, loc, b.getI32Type(), both));
}

Value WarpEmitter::convertScaled(facts::Format element, ArrayRef<Value> values, Value byte) {
  return inline_ptx::convertScaled(b, loc, element, values, byte);
}

void WarpEmitter::copyAsync(Value shared, Value global, uint32_t bytes) {
  NVVM::CpAsyncOp::create(b, loc, pointer(shared, kShared), pointer(global, kGlobal), bytes,
                          bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                      : NVVM::LoadCacheModifierKind::CA,
                          /*cpSize=*/Value());
}

void WarpEmitter::commitCopies() { NVVM::CpAsyncCommitGroupOp::create(b, loc); }

void WarpEmitter::waitCopies(uint32_t pending) {
  if (pending == 0)
    commitCopies();
  NVVM::CpAsyncWaitGroupOp::create(b, loc, pending);
}

void WarpEmitter::copyBulk(Value shared, Value global, int64_t bytes, Value barrier) {
  Value target = LLVM::AddrSpaceCastOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedCluster), pointer(shared, kShared));
  NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(
      b, loc, target, pointer(global, kGlobal), pointer(barrier, kShared), i32(bytes),
      /*multicastMask=*/Value(), /*l2CacheHint=*/Value());
}

void WarpEmitter::waitBarrier(Value barrier, Value parity) {
  Value yes = arith::ConstantIntOp::create(b, loc, 1, /*width=*/1);
  scf::WhileOp::create(
      b, loc, TypeRange{}, ValueRange{},
      [&](OpBuilder &builder, Location loc, ValueRange) {
        Value done =
            MbarrierTryWaitParityOp::create(builder, loc, barrier, parity, /*relaxed=*/false);
        Value again = arith::XOrIOp::create(builder, loc, done, yes);
        scf::ConditionOp::create(builder, loc, again, ValueRange{});
      },
      [&](OpBuilder &builder, Location loc, ValueRange) { scf::YieldOp::create(builder, loc); });
}

WarpEmitter::Values WarpEmitter::ldmatrix(Value address, int64_t matrices) {
  MLIRContext *context = b.getContext();
  auto type = LLVM::LLVMStructType::getLiteral(context,
                                               SmallVector<Type>(size_t(matrices), b.getI32Type()));
  Value load = NVVM::LdMatrixOp::create(
      b, loc, type, pointer(address, kShared), uint32_t(matrices), NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(context, 8, 8), NVVM::LdStMatrixEltType::B16);
  return fields(load, matrices);
}

WarpEmitter::Values WarpEmitter::mma(ArrayRef<Value> a, ArrayRef<Value> bWords, ArrayRef<Value> c) {
  auto type =
      LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getI32Type()));
  Value product = NVVM::MmaOp::create(
      b, loc, type, a, bWords, c, /*shape=*/ArrayRef<int64_t>{16, 8, 32}, /*b1Op=*/std::nullopt,
      NVVM::MMAIntOverflow::wrapped,
      std::array<NVVM::MMATypes, 2>{NVVM::MMATypes::s8, NVVM::MMATypes::s8},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  return fields(product, 4);
}

WarpEmitter::Values WarpEmitter::mmaBf16(ArrayRef<Value> a, ArrayRef<Value> bWords,
                                         ArrayRef<Value> c) {
  auto type =
      LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getF32Type()));
  Value product = NVVM::MmaOp::create(
      b, loc, type, a, bWords, c, /*shape=*/ArrayRef<int64_t>{16, 8, int64_t(4 * a.size())},
      /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
      std::array<NVVM::MMATypes, 2>{NVVM::MMATypes::bf16, NVVM::MMATypes::bf16},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  return fields(product, 4);
}

void WarpEmitter::clusterBarrier() {
  NVVM::ClusterArriveOp::create(b, loc, b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, loc, b.getUnitAttr());
}

void WarpEmitter::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}
