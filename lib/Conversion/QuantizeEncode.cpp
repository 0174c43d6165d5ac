//===- QuantizeEncode.cpp - blocks of each format, from values ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bits are those of the host references, where the schedule's sequence gives them:
// every operation that rounds there rounds here.
//
//===----------------------------------------------------------------------===//

#include "QuantizeEncode.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

/// x + 1.5 * 2^23 has rint(x) in its low mantissa bits, where |x| < 2^22.
static constexpr float kRoundBias = 0x1.8p23f;
/// What cvt makes of a NaN.
static constexpr int64_t kHalfNan = 0x7FFF;
/// Of f32.
static constexpr int64_t kMantissaBits = 23, kBias = 127;
static constexpr float kInfinity = std::numeric_limits<float>::infinity();

//===----------------------------------------------------------------------===//
// Level 3
//===----------------------------------------------------------------------===//

namespace {

/// What there is once in a block, for each block that a lane owns; and the ops between.
class Encoder {
public:
  Encoder(OpBuilder &b, Location loc, QuantizeProblemAttr problem, const EncodeOperands &operands)
      : b(b), loc(loc), problem(problem), shape(problem), in(operands) {}

  void encodeChunks();
  void encodeScaled(QuantizeSequence sequence);

private:
  VectorType owned(Type element) { return VectorType::get({shape.owned}, element); }
  VectorType words(int64_t each) { return VectorType::get({shape.steps, each}, b.getI32Type()); }
  Value f32(float value) {
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(owned(b.getF32Type()), APFloat(value)));
  }
  Value i32(int64_t value) {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(owned(b.getI32Type()), APInt(32, uint64_t(value))));
  }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  /// False of a NaN.
  Value isFinite(Value magnitude) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, magnitude, f32(kInfinity));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value half(Value x) { return arith::TruncFOp::create(b, loc, owned(b.getF16Type()), x); }
  /// The bits of x as f16, in a word.
  Value halfBits(Value x) {
    Value bits = arith::BitcastOp::create(b, loc, owned(b.getI16Type()), half(x));
    return arith::ExtUIOp::create(b, loc, owned(b.getI32Type()), bits);
  }
  Value globalScale();
  Value divide(Value bytes, Value global);
  Value amax() { return BlockAmaxOp::create(b, loc, owned(b.getF32Type()), in.values); }
  Value spread(Value each) {
    Type type = VectorType::get({shape.steps}, getElementTypeOrSelf(each));
    return SpreadOp::create(b, loc, type, each);
  }

  OpBuilder &b;
  Location loc;
  QuantizeProblemAttr problem;
  QuantizeShape shape;
  EncodeOperands in;
};

/// d = amax / 127 and q = rint(x * (1 / d)). Without a finite 1 / d all q are 0: the chunk
/// is zeroes, or nearly so, or not finite, and then d is NaN.
void Encoder::encodeChunks() {
  bool isTile = shape.order == BlockOrder::tiles;
  Value largest = amax();
  if (isTile) { // tokens beyond the last are zeroes
    Value inside = BlocksInsideOp::create(b, loc, owned(b.getI1Type()), in.rows);
    largest = select(inside, largest, f32(0));
  }
  Value d = div(largest, f32(facts::kQ8MaxElement));
  Value reciprocal = div(f32(1), d);
  Value factors = spread(select(isFinite(reciprocal), reciprocal, f32(0)));
  Value bytes = EncodeS8Op::create(b, loc, words(shape.elements / 4), in.values, factors);
  Value sum = BlockSumOp::create(b, loc, owned(b.getI32Type()), bytes);
  if (!isTile) {
    Value scale = select(isFinite(largest), halfBits(d), i32(kHalfNan));
    StoreChunksOp::create(b, loc, scale, bytes, sum, in.target, in.rows);
    return;
  }
  Value rounded = arith::ExtFOp::create(b, loc, owned(b.getF32Type()), half(d));
  Value scale = select(isFinite(largest), rounded, f32(std::numeric_limits<float>::quiet_NaN()));
  Value whole = arith::SIToFPOp::create(b, loc, owned(b.getF32Type()), sum);
  Value scaledSum = arith::MulFOp::create(b, loc, scale, whole);
  StoreTilesOp::create(b, loc, scale, bytes, scaledSum, in.target);
}

/// Elements with a scale beside them.
void Encoder::encodeScaled(QuantizeSequence sequence) {
  Value global = globalScale();
  Value bytes = EncodeScaleOp::create(b, loc, owned(b.getI32Type()), amax(), global);
  Value encoded;
  if (sequence == QuantizeSequence::remainder) {
    Value quotients = divide(bytes, global);
    encoded = EncodeElementsOp::create(b, loc, words(shape.words()), quotients, /*scales=*/Value());
  } else {
    Value scales = bytes;
    if (sequence != QuantizeSequence::scaled)
      scales = ScaleFactorOp::create(b, loc, owned(b.getF32Type()), bytes);
    encoded = EncodeElementsOp::create(b, loc, words(shape.words()), in.values, spread(scales));
  }
  StoreElementsOp::create(b, loc, encoded, in.target, in.rows);
  StoreScalesOp::create(b, loc, bytes, in.scales, in.rows);
}

/// What is given, or amax over the largest product of element and scale, and 1 where that
/// is 0; null where there is none.
Value Encoder::globalScale() {
  if (problem.getGlobal() == GlobalScale::none)
    return nullptr;
  if (problem.getGlobal() == GlobalScale::given)
    return LoadScalarOp::create(b, loc, b.getF32Type(), in.global);
  auto scalar = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(value)));
  };
  BlockedAttr blocked = problem.getBlocked();
  Value largest =
      scalar(facts::info(blocked.getScale()).max * facts::info(blocked.getElement()).max);
  Value whole = LoadScalarOp::create(b, loc, b.getF32Type(), in.amax);
  Value global = div(whole, largest);
  Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, global, scalar(0));
  global = select(isZero, scalar(1), global);
  StoreScalarOp::create(b, loc, global, in.global);
  return global;
}

/// Values over scale x global scale.
Value Encoder::divide(Value bytes, Value global) {
  Value prescale = global ? prescaleOf(b, loc, global) : Value();
  Value divisors = ScaleDivisorOp::create(b, loc, owned(b.getF32Type()), bytes, global, prescale);
  Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, divisors, f32(0));
  Value negated = select(isZero, f32(-0.0f), div(f32(-1), divisors));
  return DivideBlocksOp::create(b, loc, in.values.getType(), in.values, spread(divisors),
                                spread(negated), prescale);
}

} // namespace

Value blockscale::prescaleOf(OpBuilder &b, Location loc, Value global) {
  auto integer = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, /*width=*/32);
  };
  Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), global);
  Value exponent = arith::ShRUIOp::create(b, loc, bits, integer(kMantissaBits));
  Value opposite = arith::SubIOp::create(b, loc, integer(2 * kBias), exponent);
  opposite = arith::MaxUIOp::create(b, loc, opposite, integer(1));
  Value power = arith::ShLIOp::create(b, loc, opposite, integer(kMantissaBits));
  return arith::BitcastOp::create(b, loc, b.getF32Type(), power);
}

void blockscale::encodeBlocks(OpBuilder &builder, Location loc, QuantizeKernelOp kernel,
                              const EncodeOperands &operands) {
  Encoder encoder(builder, loc, kernel.getProblem(), operands);
  if (kernel.getProblem().getBlocked())
    encoder.encodeScaled(kernel.getSchedule().getSequence());
  else
    encoder.encodeChunks();
}

//===----------------------------------------------------------------------===//
// Level 4
//===----------------------------------------------------------------------===//

Value blockscale::encodeS8(WarpEmitter &e, ArrayRef<Value> values, Value factor) {
  SmallVector<Value> rounded;
  for (Value value : values)
    rounded.push_back(e.asI32(e.addf(e.mulf(value, factor), e.f32(kRoundBias))));
  Value low = e.permute(rounded[0], rounded[1], 0x0040);
  Value high = e.permute(rounded[2], rounded[3], 0x0040);
  return e.select(e.isZero(factor), e.i32(0), e.permute(low, high, 0x5410));
}

std::array<Value, facts::kSumParts> blockscale::splitSum(WarpEmitter &e, Value sum) {
  constexpr int64_t kExponent = 0x7F800000, kMantissa = 0x007FFFFF, kUpper = 0xFFFF0000;
  Value bits = e.asI32(sum);
  Value isFinite = e.below(e.andi(bits, 0x7FFFFFFF), kExponent);
  Value special = e.select(e.notZero(e.andi(bits, kMantissa)), e.i32(0x7FFF), e.shr(bits, 16));
  std::array<Value, facts::kSumParts> parts;
  for (size_t i = 0; i < parts.size(); ++i) {
    Value upper = e.andi(e.asI32(sum), kUpper);
    parts[i] = e.select(isFinite, e.shr(upper, 16), i ? e.i32(0) : special);
    sum = e.subf(sum, e.asF32(upper));
  }
  return parts;
}
