//===- QuantizePlanning.h - how a matrix that is quantised is shared out --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of a kernel, its shared memory and its launch come from the same numbers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZEPLANNING_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZEPLANNING_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"

namespace blockscale {

/// Chips that kernels which quantise are built for.
inline constexpr std::array<facts::Arch, 8> kQuantizeTargets{
    facts::Arch::sm_80,   facts::Arch::sm_89,   facts::Arch::sm_90a,  facts::Arch::sm_100a,
    facts::Arch::sm_103a, facts::Arch::sm_107a, facts::Arch::sm_120a, facts::Arch::sm_121a};

inline constexpr int64_t kQuantizeThreads = 256;
/// Blocks of an SM that hide the latency of memory: 32 warps with 4 KiB in flight each.
inline constexpr int64_t kQuantizeBlocksPerSm = 4;
inline constexpr int64_t kLanes = 32;
/// What a lane loads at once.
inline constexpr int64_t kLaneBytes = 16;
/// What a warp takes: 32 elements a lane.
inline constexpr int64_t kWarpElements = 1024;

/// Tokens of a tile that a warp takes, with all its chunks.
inline constexpr int64_t kTileTokensOfWarp = 4;

/// Blocks of a matrix whose largest magnitude is looked for: every scaled one has whole ones.
inline constexpr int64_t kAmaxBlock = 16;

/// Which blocks a warp takes: one after the other, row by row; four tokens of a tile of
/// activations, 8 apart, with all chunks; or one after the other with rows and columns
/// padded to whole tiles of scales.
enum class BlockOrder { rows, tiles, scales };

/// How a problem is shared out.
struct QuantizeShape {
  explicit QuantizeShape(QuantizeProblemAttr problem);

  BlockOrder order;
  int64_t block;        // elements of a block
  int64_t elements;     // of a lane in a step
  int64_t steps;        // of a warp
  int64_t lanes;        // of a block
  int64_t owned;        // blocks that a lane owns
  int64_t warpBlocks;   // blocks of a warp
  int64_t blocksPerRow; // of the matrix
  int64_t blockBytes;   // of a block of the source
  int64_t paddedCols;   // blocks of a row, padding included
  int64_t ctas;         // of the launch
  int64_t elementBits;  // of the target

  /// Words that hold the elements of a lane in a step.
  int64_t words() const { return (elements * elementBits + 31) / 32; }
  /// Blocks of a block of threads.
  int64_t ctaBlocks() const { return warpBlocks * (kQuantizeThreads / kLanes); }
};

/// Shared bytes of one block of threads: where the chunks of its warps meet.
int64_t planQuantizeShared(QuantizeProblemAttr problem);

/// The schedule of a chip, which must be one of kQuantizeTargets.
QuantizeScheduleAttr chooseQuantizeSchedule(QuantizeProblemAttr problem, facts::Arch arch);
/// Whether a kernel is built for it; the host computes the others.
bool hasQuantizeKernel(QuantizeOp op, facts::Arch arch);
/// Whether the chip rounds to the scales: all of kQuantizeTargets that have FP8, but UE5M3.
bool convertsScales(facts::Arch arch, facts::ScaleFormat scale);
/// Whether the sequence makes the problem's factors, on some chip.
bool isSequenceOf(QuantizeSequence sequence, QuantizeProblemAttr problem);
/// The same of scales beside elements.
bool isSequenceOf(QuantizeSequence sequence, facts::ScaleFormat scale);
/// Whether the chip has the conversions of a sequence.
bool hasSequence(facts::Arch arch, QuantizeSequence sequence);
/// The best sequence for such scales; nullopt where the chip has none of their conversions.
std::optional<QuantizeSequence> chooseSequence(facts::ScaleFormat scale, facts::Arch arch);

/// quantize_schedule_c1 to quantize_schedule_c4.
mlir::LogicalResult verifyQuantizeSchedule(QuantizeScheduleAttr schedule, ErrorFn emitError);

/// What a verified op computes.
QuantizeProblemAttr getQuantizeProblem(QuantizeChunksOp op);
QuantizeProblemAttr getQuantizeProblem(QuantizeOp op);
/// Its first step, where the global scale is computed.
QuantizeProblemAttr getAmaxProblem(QuantizeProblemAttr problem);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZEPLANNING_H
