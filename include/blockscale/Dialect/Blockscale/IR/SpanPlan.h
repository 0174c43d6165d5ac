//===- SpanPlan.h - instructions of K = 96 in a K tile --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A K tile of 768 elements of FP4 is three buffers of 128 bytes a row and eight
// instructions of 48 bytes, some of which cross from one buffer into the next. What is
// left of K behind the last whole tile is covered by instructions of 64, at most two of
// them and first, then by ones of 96. Scales are copied in groups that start on a word
// of four. Source: PTX ISA 9.4, 9.7.18.10.7 (scale ids), and the order of FlashInfer's
// and CUTLASS's kernels.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SPANPLAN_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SPANPLAN_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace blockscale {

/// K of the instructions, of a K tile, and of one buffer of A or B.
inline constexpr int64_t kSpanK = 96, kSpanTileK = 768, kSpanBufferK = 256;
/// K of the shorter instructions of a tail.
inline constexpr int64_t kSpanShortK = 64;
/// Scales of one row in a buffer of scales: three words.
inline constexpr int64_t kSpanScales = 12;

/// One instruction: `k` elements from byte `byte` of its K tile on, whose scales begin with
/// `scale` of its group.
struct SpanStep {
  int64_t k, byte, scale;
};
/// Instructions whose scales are copied together, from word `word` of the K tile on.
struct SpanGroup {
  int64_t word, words;
  llvm::SmallVector<SpanStep, 4> steps;
};

/// K of the instructions that cover `k` elements, at most a K tile.
llvm::SmallVector<int64_t, 8> planSpanSteps(int64_t k);
llvm::SmallVector<SpanGroup, 5> planSpan(int64_t k, int64_t block);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SPANPLAN_H
