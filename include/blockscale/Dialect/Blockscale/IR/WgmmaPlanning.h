//===- WgmmaPlanning.h - sizes and choice of the wgmma kernel -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings of shared memory, registers and the grid, all from a schedule. The choice of a
// schedule, its rules, the kernel's plan and its launch use the same functions.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WGMMAPLANNING_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WGMMAPLANNING_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"

namespace blockscale {

/// What reports call the kernel.
inline constexpr std::string_view kWgmmaKernelName = "dequantise_wgmma";

/// How the tile of a schedule is shared out.
struct WgmmaShape {
  explicit WgmmaShape(WgmmaScheduleAttr schedule);

  static constexpr int64_t kPartElements = 64; // of k: one stage of activations
  static constexpr int64_t kParts = 4;         // of a block
  static constexpr int64_t kRuns = 2;          // of 16 bytes of nibbles, of a part
  static constexpr int64_t kFragmentRows = 64; // of one instruction
  static constexpr int64_t kProducers = 128;   // threads that do not multiply
  static constexpr int64_t kConverters = 64;
  static constexpr int64_t kFirstConverter = 64;
  static constexpr int64_t kPlaneGap = 4; // words between rows: sums of a warp in all banks

  int64_t tokens, rows, groups, fragments;
  int64_t groupRows;                         // of one warpgroup
  int64_t sums;                              // of one thread
  int64_t words;                             // of A of a run
  int64_t blockBytes, termBytes, tokenBytes; // of a stage
  int64_t planePitch, planeBytes;            // of partial sums, a row a token; from offset 0
};

/// Rings and their barriers, one after the other.
mlir::SmallVector<RingAttr> planRings(WgmmaScheduleAttr schedule);
/// Shared bytes of one block.
int64_t planRingBytes(WgmmaScheduleAttr schedule);

/// Registers of a thread after setmaxnreg, by what it does.
struct WgmmaRegisters {
  int64_t producers, multipliers;
};
WgmmaRegisters planWgmmaRegisters(WgmmaScheduleAttr schedule);

/// Tiles of a problem, and blocks of the launch, which take them in turn; of a split k a
/// cluster for each.
struct WgmmaGrid {
  int64_t tokenTiles, rowTiles, blocks;
  int64_t tiles() const { return tokenTiles * rowTiles; }
};
WgmmaGrid planWgmmaGrid(BlockProblemAttr problem, WgmmaScheduleAttr schedule);

/// Maps of the kernel's operands.
TmaMapAttr tokenMap(BlockProblemAttr problem, WgmmaScheduleAttr schedule);
TmaMapAttr blockMap(BlockProblemAttr problem, WgmmaScheduleAttr schedule);

/// Whether a chip has the kernel.
bool isWgmmaTarget(facts::Arch arch);
/// The schedule of a problem of f16 activations. A `split` of 0 is to be chosen.
WgmmaScheduleAttr chooseWgmmaSchedule(BlockProblemAttr problem, facts::Arch arch, int64_t split);

/// wgmma_schedule_c1 .. wgmma_schedule_c9.
mlir::LogicalResult verifyWgmmaSchedule(BlockProblemAttr problem, WgmmaScheduleAttr schedule,
                                        ErrorFn emitError);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WGMMAPLANNING_H
