//===- WarpPlanning.h - sizes and choice of the mma.sync kernels ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Planes of shared memory, blocks that an SM holds and bytes that are read again, all
// from a schedule. The choice of a schedule, its rules, the kernel's plan and its
// launch use the same functions, so they cannot disagree.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WARPPLANNING_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WARPPLANNING_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"
#include "blockscale/Facts/ArchInfo.h"

namespace blockscale {

/// Chips that kernels of blocks are built for; all have mma.sync of s8 and cp.async.
inline constexpr std::array<facts::Arch, 5> kWarpTargets{facts::Arch::sm_80, facts::Arch::sm_89,
                                                         facts::Arch::sm_90a, facts::Arch::sm_120a,
                                                         facts::Arch::sm_121a};
bool isWarpTarget(facts::Arch arch);

/// Threads of such a kernel: eight warps, half of them with twice the rows a warp.
inline constexpr int64_t kWarpKernelThreads = 256;
/// Rows of a strip: two instructions of 8. A warp multiplies one or two.
inline constexpr int64_t kStripRows = 16;
inline constexpr int64_t kMostStrips = 2;
constexpr int64_t threadsOf(int64_t warpRows) { return kWarpKernelThreads * kStripRows / warpRows; }
/// Tokens of a group: rows of one instruction.
inline constexpr int64_t kGroupTokens = 16;

/// How the tile of a schedule is shared out.
struct WarpShape {
  explicit WarpShape(WarpScheduleAttr schedule);

  int64_t tokens, rows, chunks; // of one pass
  int64_t warpRows, threads;
  int64_t rowWarps, tokenWarps; // their product is the number of warps
  int64_t groups, strips;       // of one warp: of tokens, of rows
  bool raw, packed, transposed;
  bool splitMinima;   // a product of their own
  int64_t split;      // CTAs that share a tile of D
  int64_t stages;     // passes that shared memory holds
  int64_t stageBytes; // from the planes of one pass to those of the next
  // A ring holds `stages` tiles of A, then two passes of B, then the mbarriers.
  bool ring;
  int64_t tileBytes, weightBytes;
  int64_t weights() const { return stages * tileBytes; }
  int64_t barriers() const { return weights() + 2 * weightBytes; }
  /// Bytes from a token's partial sums to those of the next; stores of pairs have no bank
  /// conflicts.
  int64_t sumsPitch() const { return (rows + 8) * 4; }
};
/// Two mbarriers of each stage of a ring: it is full, it is empty.
inline constexpr int64_t kRingBarrierBytes = 16;
/// Stages that a ring may have.
inline constexpr int64_t kMostStages = 4;
/// Whether the chip has bulk copies that an mbarrier counts.
bool hasBulkCopies(facts::Arch arch);

/// The planes of a schedule, one after the other.
mlir::SmallVector<PlaneAttr> planPlanes(WarpScheduleAttr schedule);
/// Shared bytes of one block.
int64_t planPlaneBytes(WarpScheduleAttr schedule);
/// The same of a tile: `expanded` has a byte an element in slots of 48 bytes.
int64_t planPlaneBytes(Shape3 tile, bool expanded, ChunkSums sums);

/// Blocks of one SM by each limit.
struct Occupancy {
  int64_t byShared, byRegisters, byThreads;
  int64_t blocks() const { return std::min({byShared, byRegisters, byThreads}); }
};
Occupancy planOccupancy(facts::Arch arch, int64_t sharedBytes, int64_t registers, int64_t threads);
/// Registers of one thread: its accumulators, and what the rest was measured to take.
int64_t planRegisters(Shape3 tile, int64_t threads = kWarpKernelThreads);

/// Bytes of A and of B that all blocks together read: every row tile reads A again,
/// every token tile B.
struct Traffic {
  int64_t a, b;
  int64_t total() const { return a + b; }
};
Traffic planTraffic(BlockProblemAttr problem, Shape3 tile);

/// Blocks of the launch: token tiles and row tiles.
struct WarpGrid {
  int64_t tokens, rows;
};
WarpGrid planGrid(BlockProblemAttr problem, Shape3 tile);

/// Fields that a user may fix.
struct WarpPins {
  std::optional<WarpKernel> kernel;
  std::optional<int64_t> chunks; // KD: chunks of one pass
  std::optional<ChunkSums> sums;
  std::optional<Activations> activations;
  std::optional<Minima> minima;
  std::optional<SumConversion> convert;
  std::optional<Weights> weights;
  std::optional<Pragma> pragma;
  std::optional<int64_t> stages, flight, warpRows, split;
};
/// The same as a pass's options have them: empty words and zeroes are free.
struct WarpPinWords {
  llvm::StringRef kernel, sums, activations, minima, convert, weights, pragma;
  int64_t chunks, stages, flight, warpRows, split;
};
mlir::FailureOr<WarpPins> readWarpPins(const WarpPinWords &words, ErrorFn emitError);
/// A schedule, and why it is not the first choice: empty where it is.
struct WarpChoice {
  WarpScheduleAttr schedule;
  std::string fallback;
};
/// The kernel of the least traffic per block that an SM holds, or the one that is
/// pinned; where it cannot run, the next of raw_nibble, wide, narrow that can.
mlir::FailureOr<WarpChoice> chooseWarpSchedule(BlockProblemAttr problem, facts::Arch arch,
                                               const WarpPins &pins, ErrorFn emitError);

/// warp_schedule_c1 .. warp_schedule_c13.
mlir::LogicalResult verifyWarpSchedule(WarpScheduleAttr schedule, ErrorFn emitError);
/// gemm_c25 of a schedule: what it may round is what the contract allows.
mlir::LogicalResult verifyContract(WarpScheduleAttr schedule, BlockContract contract,
                                   ErrorFn emitError);
/// warp_schedule_c14 of a schedule for that k.
mlir::LogicalResult verifyDepth(WarpScheduleAttr schedule, int64_t k, ErrorFn emitError);
/// gemm_c5, gemm_c15 to gemm_c17 of a problem alone.
mlir::LogicalResult verifyBlockProblem(BlockProblemAttr problem, ErrorFn emitError);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WARPPLANNING_H
