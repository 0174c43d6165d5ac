//===- Planning.h - sizes that follow from a problem and a tile -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many bytes of shared memory and how many columns of tensor memory a
// kernel takes. The choice of a schedule, its verifier and the kernel's plan use
// the same functions, so they cannot disagree.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PLANNING_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PLANNING_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/ScaleTile.h"
#include "blockscale/Facts/Tmem.h"

namespace blockscale {

/// Bytes of K in one row of an operand tile: the width of the 128-byte swizzle.
inline constexpr int64_t kTileRowBytes = 128;
/// One staging buffer of the epilogue: 128 rows of 128 bytes.
inline constexpr int64_t kStagingBytes = 128 * kTileRowBytes;
/// Room for barriers and the tensor-memory address; keeps buffers 1024-aligned.
inline constexpr int64_t kControlBytes = 1024;

/// Bytes of one stage of the operand ring.
struct StageBytes {
  int64_t a, b, sfa, sfb;
  int64_t total() const { return a + b + sfa + sfb; }
};

inline StageBytes planStage(ProblemAttr problem, Shape3 tile) {
  int64_t scales = tile.k / problem.getBlock();
  return {facts::packedBytes(problem.getA(), tile.m * tile.k),
          facts::packedBytes(problem.getB(), tile.n * tile.k),
          facts::scaleTileBytes(tile.m, scales), facts::scaleTileBytes(tile.n, scales)};
}

/// Shared bytes of a kernel with these stages and staging buffers.
inline int64_t planSharedBytes(StageBytes stage, int64_t stages, int64_t staging) {
  return kControlBytes + stages * stage.total() + staging * kStagingBytes;
}

/// Columns of tensor memory: accumulator stages, then the scales of one K tile.
struct TmemColumns {
  int64_t accumulators, sfa, sfb;
  int64_t used() const { return accumulators + sfa + sfb; }
};

inline TmemColumns planTmem(StageBytes stage, Shape3 tile, int64_t accumulators) {
  // UTCCP spreads a tile over 32 lanes and repeats it for the other warps.
  constexpr int64_t columnBytes = facts::kTmemLanesPerWarp * facts::kTmemColumnBits / 8;
  return {accumulators * tile.n, stage.sfa / columnBytes, stage.sfb / columnBytes};
}

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PLANNING_H
