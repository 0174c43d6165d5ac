//===- WgmmaWeights.cpp - f16 weights of Q4_K blocks in registers ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WgmmaWeights.h"

using namespace mlir;
using namespace blockscale;

void HalfWeights::convertRow(Value header, Value target) {
  Values words = e.loadShared(header, 4);
  Value d = e.halfToF32(words[0]), dmin = e.negf(e.halfToF32(e.shr(words[0], 16)));
  for (int64_t half = 0; half < 2; ++half) {
    Value scales = e.andi(words[1], 0x3F3F3F3F), mins = e.andi(words[2], 0x3F3F3F3F);
    if (half) {
      scales = e.ori(e.andi(words[3], 0x0F0F0F0F), e.andi(e.shr(words[1], 2), 0x30303030));
      mins = e.ori(e.andi(e.shr(words[3], 4), 0x0F0F0F0F), e.andi(e.shr(words[2], 2), 0x30303030));
    }
    auto byte = [&](Value word, int64_t j) {
      return e.unsignedToF32(e.andi(j ? e.shr(word, 8 * j) : word, 0xFF));
    };
    auto asHalf = [&](Value value) {
      Value rounded = arith::TruncFOp::create(b, e.getLoc(), b.getF16Type(), value);
      Value bits = arith::BitcastOp::create(b, e.getLoc(), b.getI16Type(), rounded);
      return arith::ExtUIOp::create(b, e.getLoc(), e.i32Type(), bits).getResult();
    };
    for (int64_t pair = 0; pair < 2; ++pair) {
      Values stored;
      for (int64_t j = 2 * pair; j < 2 * pair + 2; ++j)
        stored.push_back(e.ori(asHalf(e.mulf(d, byte(scales, j))),
                               e.shl(asHalf(e.mulf(dmin, byte(mins, j))), 16)));
      e.storeShared(e.add(target, (2 * half + pair) * shape.rows * 8), stored);
    }
  }
}

Value HalfWeights::constantPair(float value) {
  auto half = b.getFloatAttr(b.getF16Type(), value);
  return LLVM::ConstantOp::create(b, e.getLoc(), pairType(),
                                  DenseElementsAttr::get(pairType(), half.getValue()));
}

Value HalfWeights::splat(Value word, bool high) {
  Value low = arith::TruncIOp::create(b, e.getLoc(), b.getI16Type(), high ? e.shr(word, 16) : word);
  Value half = arith::BitcastOp::create(b, e.getLoc(), b.getF16Type(), low);
  Value pair = LLVM::PoisonOp::create(b, e.getLoc(), pairType());
  for (int64_t i = 0; i < 2; ++i) {
    Value index = LLVM::ConstantOp::create(b, e.getLoc(), e.i32Type(), b.getI32IntegerAttr(i));
    pair = LLVM::InsertElementOp::create(b, e.getLoc(), pair, half, index);
  }
  return pair;
}

Value HalfWeights::weights(Value bytes, bool high, Value scale, Value min) {
  constexpr int64_t k1024 = 0x64006400; // in both halves
  Value biased =
      LLVM::BitcastOp::create(b, e.getLoc(), pairType(),
                              e.ori(e.andi(bytes, high ? 0x00F000F0 : 0x000F000F), e.i32(k1024)));
  Value nibbles;
  if (high) // 1024 + 16 n
    nibbles = LLVM::FMAOp::create(b, e.getLoc(), biased, constantPair(0.0625f), constantPair(-64));
  else
    nibbles = LLVM::FAddOp::create(b, e.getLoc(), biased, constantPair(-1024));
  Value weight = LLVM::FMAOp::create(b, e.getLoc(), nibbles, scale, min);
  return LLVM::BitcastOp::create(b, e.getLoc(), e.i32Type(), weight);
}

HalfWeights::Terms HalfWeights::loadTerms(Value from, int64_t part) {
  Terms terms;
  for (int64_t fragment = 0; fragment < shape.fragments; ++fragment)
    for (int64_t below = 0; below < 2; ++below) { // rows r and r + 8
      int64_t row = fragment * WgmmaShape::kFragmentRows + 8 * below;
      for (Value pair : e.loadShared(e.add(from, (part * shape.rows + row) * 8), 2)) {
        terms.scales.push_back(splat(pair, /*high=*/false));
        terms.mins.push_back(splat(pair, /*high=*/true));
      }
    }
  return terms;
}

HalfWeights::Values HalfWeights::makeRun(Value words, Value byteOrder, const Terms &terms,
                                         int64_t part, int64_t run) {
  const facts::BlockFormatInfo &format = facts::info(facts::BlockFormat::q4_K);
  Values a(static_cast<size_t>(shape.words));
  for (int64_t fragment = 0; fragment < shape.fragments; ++fragment)
    for (int64_t below = 0; below < 2; ++below) {
      int64_t row = fragment * WgmmaShape::kFragmentRows + 8 * below;
      for (int64_t k = 0; k < 2; ++k) { // eight columns each
        int64_t byte = format.elementOffset + part * 32 + run * 16 + k * 8;
        Value word = e.loadShared(e.add(words, row * format.bytes + byte), 1).front();
        Value bytes = NVVM::PermuteOp::create(b, e.getLoc(), e.i32Type(), word, e.i32(0), byteOrder,
                                              NVVM::PermuteMode::DEFAULT);
        for (int64_t high = 0; high < 2; ++high) {
          size_t term = size_t((fragment * 2 + below) * 2 + high);
          a[size_t((fragment * 2 + high) * 4 + 2 * k + below)] =
              weights(bytes, high, terms.scales[term], terms.mins[term]);
        }
      }
    }
  return a;
}
