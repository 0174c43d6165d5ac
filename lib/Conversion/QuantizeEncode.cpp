//===- QuantizeEncode.cpp - blocks of each format, from values ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bits are those of the host references, where the schedule's sequence gives them:
// every operation that rounds there rounds here.
//
//===----------------------------------------------------------------------===//

#include "QuantizeEncode.h"

#include "InlinePtx.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

/// x + 1.5 * 2^23 has rint(x) in its low mantissa bits, where |x| < 2^22.
static constexpr float kRoundBias = 0x1.8p23f;
/// What cvt makes of a NaN.
static constexpr int64_t kHalfNan = 0x7FFF;
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

/// Elements with a ue8m0 scale beside them.
void Encoder::encodeScaled(QuantizeSequence sequence) {
  Value bytes = EncodeScaleOp::create(b, loc, owned(b.getI32Type()), amax());
  Value scales = bytes;
  if (sequence != QuantizeSequence::scaled)
    scales = ScaleFactorOp::create(b, loc, owned(b.getF32Type()), bytes);
  Value encoded = EncodeF8Op::create(b, loc, words(shape.elements / 4), in.values, spread(scales));
  StoreElementsOp::create(b, loc, encoded, in.target, in.rows);
  StoreScalesOp::create(b, loc, bytes, in.scales, in.rows);
}

} // namespace

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

Value blockscale::encodeScale(WarpEmitter &e, QuantizeSequence sequence, facts::Format element,
                              Value amax) {
  // For every amax the power of two above it is that of the quotient by division.
  Value quotient = e.mulf(amax, e.f32(float(1 / facts::info(element).max)));
  if (sequence != QuantizeSequence::integer)
    return e.toUe8m0(quotient);
  constexpr int64_t kLeast = 0x00400000; // 2^-127
  constexpr int64_t kNan = 0xFF, kLargest = 0xFE, kInfinityBits = 0x7F800000;
  Value bits = e.asI32(quotient);
  Value up = e.shr(e.add(bits, 0x007FFFFF), 23);
  up = e.select(e.below(bits, kLeast + 1), e.i32(0), e.minu(up, e.i32(kLargest)));
  Value isNan = e.below(e.i32(kInfinityBits), e.andi(bits, 0x7FFFFFFF));
  return e.select(isNan, e.i32(kNan), up);
}

Value blockscale::scaleFactor(WarpEmitter &e, QuantizeSequence sequence, Value byte) {
  if (sequence == QuantizeSequence::reciprocal) {
    Value scale = e.fromUe8m0(byte);
    Value factor = e.minNumber(e.reciprocal(scale), e.f32(std::numeric_limits<float>::max()));
    Value mask = e.minNumber(e.mulf(scale, e.f32(1e30f)), e.f32(1));
    return e.mulf(factor, mask);
  }
  // 2^(127 - byte), of which only that of 254 is subnormal; NaN of the NaN byte.
  Value bits = e.shl(e.sub(e.i32(254), byte), 23);
  bits = e.select(e.below(byte, 254), bits, e.i32(0x00400000));
  return e.asF32(e.select(e.below(byte, 255), bits, e.i32(0x7FFFFFFF)));
}

Value blockscale::encodeF8(WarpEmitter &e, facts::Format element, ArrayRef<Value> values,
                           Value scale) {
  if (scale.getType().isInteger(32))
    return e.convertScaled(element, values, scale);
  SmallVector<Value> scaled;
  for (Value value : values)
    scaled.push_back(e.mulf(value, scale));
  Value low = e.toF8(element, scaled[1], scaled[0]), high = e.toF8(element, scaled[3], scaled[2]);
  return e.ori(low, e.shl(high, 16));
}
