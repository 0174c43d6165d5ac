//===- WgmmaWeights.h - f16 weights of Q4_K blocks in registers -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane's part of a fragment of weights is two bytes of nibbles for each register pair:
// bytes 2 c and 2 c + 1 of eight, c its place among four. As f16 a nibble is or-ed below
// 1024, whose last place is 1.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_WGMMAWEIGHTS_H
#define BLOCKSCALE_LIB_CONVERSION_WGMMAWEIGHTS_H

#include "WarpEmitter.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"

namespace blockscale {

class HalfWeights {
public:
  using Value = mlir::Value;
  using Values = mlir::SmallVector<Value>;

  /// Scales and minima of one part, each twice in a word: by fragment, row of the lane,
  /// half of the nibbles.
  struct Terms {
    Values scales, mins;
  };

  HalfWeights(mlir::OpBuilder &builder, WarpEmitter &e, const WgmmaShape &shape)
      : b(builder), e(e), shape(shape) {}

  /// The header of a block in shared memory to pairs (f16(d * sc), -f16(dmin * min)); those
  /// of part p lie at p * 8 rows, 8 bytes a row.
  void convertRow(Value header, Value target);
  /// From the terms of the lane's first row.
  Terms loadTerms(Value from, int64_t part);
  /// A of a run, in order of fragment, half of the nibbles, register; `words` is the lane's
  /// first word of its first block, `byteOrder` selects its two bytes of a word.
  Values makeRun(Value words, Value byteOrder, const Terms &terms, int64_t part, int64_t run);

private:
  mlir::VectorType pairType() { return mlir::VectorType::get({2}, b.getF16Type()); }
  Value constantPair(float value);
  /// The low or high half of a word, twice.
  Value splat(Value word, bool high);
  /// Two weights of nibbles at bits 0 and 16, or 4 and 20.
  Value weights(Value bytes, bool high, Value scale, Value min);

  mlir::OpBuilder &b;
  WarpEmitter &e;
  const WgmmaShape &shape;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_WGMMAWEIGHTS_H
