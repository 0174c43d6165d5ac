//===- LowerWarpProducts.cpp - fragments, products and results ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets inside planes are those of Facts/PlaneLayout.h and Facts/ActivationTile.h.
//
//===----------------------------------------------------------------------===//

#include "WarpKernelLowering.h"

#include "blockscale/Facts/ActivationTile.h"

using namespace mlir;
using namespace blockscale;

/// Sums are added to the bits of 1.5 * 2^23, of which they are the low mantissa bits: an
/// f32 subtraction then gives the exact sum, at the full rate that a conversion lacks.
static constexpr int32_t kSumBias = 0x4B400000;
static constexpr float kSumBiasValue = 0x1.8p23f;

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

WarpKernelLowering::Values WarpKernelLowering::asF32(const Values &words) {
  return llvm::map_to_vector(words, [&](Value word) { return e.asF32(word); });
}

const WarpKernelLowering::Values &WarpKernelLowering::loadOnce(Value plane, int64_t offset,
                                                               llvm::function_ref<Values()> load) {
  Values &words = loaded[{plane, offset}];
  if (words.empty())
    words = load();
  return words;
}

WarpKernelLowering::Values WarpKernelLowering::lowerLoad(LoadGroupOp op) {
  Value base = op.getGroup() % 2 ? e.xori(baseOf(op.getPlane()), 64) : baseOf(op.getPlane());
  int64_t offset = op.getChunk() * shape.tokens * facts::kChunkElements +
                   op.getGroup() * kGroupTokens * facts::kChunkElements;
  return e.ldmatrix(e.add(base, offset));
}

WarpKernelLowering::Values WarpKernelLowering::lowerTokenScales(LoadTokenScalesOp op) {
  if (shape.transposed) {
    // Four words are two tokens of this group and two of its neighbour.
    auto loadQuad = [&](int64_t plane) {
      int64_t offset = plane + op.getChunk() * shape.tokens * 4 +
                       int64_t(op.getGroup()) / 2 * 2 * kGroupTokens * 4;
      return loadOnce(op.getPlane(), offset,
                      [&] { return asF32(e.loadShared(e.add(baseOf(op.getPlane()), offset), 4)); });
    };
    size_t first = op.getGroup() % 2 * 2;
    Values d = loadQuad(0);
    if (shape.splitMinima)
      return {d[first], d[first + 1]};
    Values sums = loadQuad(facts::kTileScaleBytes);
    return {d[first], sums[first], d[first + 1], sums[first + 1]};
  }
  int64_t entry = shape.packed ? 4 : 8;
  facts::TermOrder order = facts::chooseTermOrder(termAccess());
  int swizzle = order.swizzle(int(op.getChunk() % facts::kQ4KSubBlocks));
  constexpr int kPairBits = 0xE;
  int64_t group = op.getGroup() ^ (swizzle >> facts::TermOrder::kGroupBit);
  Value address = e.add(e.xori(baseOf(op.getPlane()), (swizzle & kPairBits) * entry),
                        op.getChunk() * shape.tokens * entry + group * kGroupTokens * entry);
  Values words = e.loadShared(address, shape.packed ? 2 : 4);
  if (swizzle & 1) // rows r + 8 lie in front of rows r
    std::rotate(words.begin(), words.begin() + words.size() / 2, words.end());
  if (!shape.packed)
    return asF32(words);
  Values scales;
  for (Value word : words) {
    Value d = e.halfToF32(word);
    scales.push_back(d);
    scales.push_back(e.mulf(d, e.signedToF32(e.ashr(word, 16))));
  }
  return scales;
}

WarpKernelLowering::Values WarpKernelLowering::lowerRowScales(LoadRowScalesOp op) {
  int64_t strip = op.getStrip() * kStripRows;
  if (shape.splitMinima)
    return asF32(
        e.loadShared(e.add(baseOf(op.getPlane()), (op.getChunk() * shape.rows + strip) * 4), 4));
  Values scales;
  for (int64_t half = 0; half < 2; ++half)
    llvm::append_range(
        scales, asF32(e.loadShared(e.add(baseOf(op.getPlane()),
                                         (op.getChunk() * shape.rows + strip) * 8 + half * 64),
                                   4)));
  return scales;
}

/// Matrices of part 0 and part 1 of the group's 16 tokens; the last part of two groups is
/// one load.
WarpKernelLowering::Values WarpKernelLowering::lowerParts(LoadSumPartsOp op) {
  constexpr int64_t kRow = facts::kTileChunks * 2;
  Value base = baseOf(op.getPlane());
  Value pair = e.add(
      base, e.add(e.mul(e.shr(lane, 4), facts::kTilePartBytes), e.mul(e.andi(lane, 15), kRow)));
  Values words = e.ldmatrix(e.add(pair, op.getGroup() * kGroupTokens * kRow));
  int64_t offset = 2 * facts::kTilePartBytes + int64_t(op.getGroup()) / 2 * 2 * kGroupTokens * kRow;
  Values last = loadOnce(op.getPlane(), offset,
                         [&] { return e.ldmatrix(e.add(e.add(base, e.mul(lane, kRow)), offset)); });
  llvm::append_range(words, ArrayRef<Value>(last).slice(op.getGroup() % 2 * 2, 2));
  return words;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void WarpKernelLowering::lowerMma(MmaS8Op op) {
  Values a = values.lookup(op.getA()), b = values.lookup(op.getB()), sums;
  bool hasOffset = kernel.getSchedule().getConvert() == SumConversion::offset;
  Value start = e.i32(hasOffset ? kSumBias : 0);
  for (int64_t half = 0; half < 2; ++half)
    sums.append(e.mma(a, ArrayRef<Value>(b).slice(2 * half, 2), {start, start, start, start}));
  values[op.getSums()] = sums;
}

void WarpKernelLowering::lowerRescale(Rank1RescaleOp op) {
  Values acc = values.lookup(op.getAcc()), sums = values.lookup(op.getSums()),
         tokens = values.lookup(op.getTokens()), rows = values.lookup(op.getRows());
  bool hasOffset = kernel.getSchedule().getConvert() == SumConversion::offset;
  size_t terms = shape.splitMinima ? 1 : 2;
  Value bias = hasOffset ? e.f32(kSumBiasValue) : Value();
  for (size_t i = 0; i < acc.size(); ++i) {
    size_t tokenAt = terms * (i % 4 / 2), rowAt = terms * (i / 4 * 2 + i % 2);
    Value sum = hasOffset ? e.subf(e.asF32(sums[i]), bias) : e.signedToF32(sums[i]);
    Value scale = e.mulf(tokens[tokenAt], rows[rowAt]);
    acc[i] = e.fma(scale, sum, acc[i]);
    if (terms == 2)
      acc[i] = e.fma(tokens[tokenAt + 1], rows[rowAt + 1], acc[i]);
  }
  values[op.getResult()] = acc;
}

void WarpKernelLowering::lowerMinima(MmaMinimaOp op) {
  Values acc = values.lookup(op.getAcc()), parts = values.lookup(op.getParts()),
         minima = values.lookup(op.getMinima()), scales = values.lookup(op.getScales());
  Value zero = e.f32(0);
  for (size_t half = 0; half < 2; ++half) {
    // k of the first product is the eight chunks twice: of part 0 and of part 1.
    Value b = minima[half];
    Values sums = e.mmaBf16(ArrayRef<Value>(parts).take_front(4), {b, b}, {zero, zero, zero, zero});
    sums = e.mmaBf16(ArrayRef<Value>(parts).take_back(2), {b}, sums);
    for (size_t i = 0; i < 4; ++i)
      acc[4 * half + i] = e.fma(scales[2 * half + i % 2], sums[i], acc[4 * half + i]);
  }
  values[op.getResult()] = acc;
}
