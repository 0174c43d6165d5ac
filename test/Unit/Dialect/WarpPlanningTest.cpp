//===- WarpPlanningTest.cpp - shared bytes, blocks of an SM, traffic ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the kernel that ours follow, row by row, and the bytes that tiles make
// all blocks read again.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace blockscale;
using facts::Arch;

namespace {

struct Row {
  Shape3 tile;
  int64_t expanded, raw;
  int64_t expandedBlocks, rawBlocks; // of an SM with 100 KiB of shared memory
};

TEST(WarpPlanning, SharedBytesAndBlocksOfTheTable) {
  // 64 x 64 as nibbles: the table says two to three.
  const Row table[] = {{{64, 128, 256}, 77824, 45056, 1, 2},
                       {{128, 64, 256}, 69632, 53248, 1, 1},
                       {{64, 64, 256}, 49152, 32768, 2, 3}};
  for (const Row &row : table) {
    EXPECT_EQ(planPlaneBytes(row.tile, /*expanded=*/true, ChunkSums::two_word), row.expanded);
    EXPECT_EQ(planPlaneBytes(row.tile, /*expanded=*/false, ChunkSums::two_word), row.raw);
    for (Arch arch : {Arch::sm_89, Arch::sm_120a, Arch::sm_121a}) {
      EXPECT_EQ(planOccupancy(arch, row.expanded, 80, 256).byShared, row.expandedBlocks);
      EXPECT_EQ(planOccupancy(arch, row.raw, 80, 256).byShared, row.rawBlocks);
    }
  }
  EXPECT_EQ(planPlaneBytes({128, 128, 256}, /*expanded=*/true, ChunkSums::two_word), 98304);
  EXPECT_EQ(planPlaneBytes({64, 128, 256}, /*expanded=*/false, ChunkSums::packed), 43008);
}

TEST(WarpPlanning, RegistersDecideWhereSharedMemoryIsLarge) {
  EXPECT_EQ(planOccupancy(Arch::sm_90a, 45056, 128, 256).byShared, 5);
  EXPECT_EQ(planOccupancy(Arch::sm_90a, 45056, 128, 256).blocks(), 2);
  EXPECT_EQ(planOccupancy(Arch::sm_90a, 45056, 129, 256).blocks(), 1);
  EXPECT_EQ(planOccupancy(Arch::sm_90a, 45056, 80, 256).blocks(), 3);
  EXPECT_EQ(planOccupancy(Arch::sm_90a, 1024, 16, 256).blocks(), 8); // 2048 threads
}

TEST(WarpPlanning, NoKernelOfWholeBlocksIsEverRefused) {
  // Neither by registers, of which a thread has 255, nor by shared memory.
  for (Arch arch : kWarpTargets)
    for (auto [tile, expanded] :
         {std::pair(Shape3{64, 128, 256}, false), std::pair(Shape3{128, 128, 256}, true),
          std::pair(Shape3{64, 64, 256}, true)}) {
      int64_t bytes = planPlaneBytes(tile, expanded, ChunkSums::two_word);
      EXPECT_LE(bytes, facts::info(arch).sharedPerBlock);
      EXPECT_LE(planRegisters(tile), 255);
      EXPECT_GE(planOccupancy(arch, bytes, planRegisters(tile), 256).blocks(), 1);
    }
  EXPECT_EQ(planOccupancy(Arch::sm_80, 45056, planRegisters({64, 128, 256}), 256).byRegisters, 2);
}

TEST(WarpPlanning, TrafficCountsWhatIsReadAgain) {
  mlir::MLIRContext context;
  context.loadDialect<BlockscaleDialect>();
  auto problem = BlockProblemAttr::get(&context, 512, 18944, 3584, facts::BlockFormat::q8_1_chunk,
                                       facts::BlockFormat::q4_K, BlockContract::ordered);
  // A: 512 rows of 112 chunks of 40 bytes, for each of 148 row tiles. B: 18944 rows of 14
  // blocks of 144 bytes, for each of 4 token tiles.
  Traffic square = planTraffic(problem, {128, 128, 256});
  EXPECT_EQ(square.a, int64_t(512) * 112 * 40 * 148);
  EXPECT_EQ(square.b, int64_t(18944) * 14 * 144 * 4);
  EXPECT_EQ(square.a / 1000000, 339);
  EXPECT_EQ(square.b / 1000000, 152);
  Traffic raw = planTraffic(problem, {64, 128, 256}), narrow = planTraffic(problem, {64, 64, 256});
  EXPECT_EQ(raw.a, square.a);
  EXPECT_EQ(raw.b, 2 * square.b);
  EXPECT_EQ(narrow.a, 2 * square.a);
  EXPECT_EQ(narrow.b, raw.b);
}

TEST(WarpPlanning, AScheduleSharesOutItsTile) {
  mlir::MLIRContext context;
  context.loadDialect<BlockscaleDialect>();
  auto shapeOf = [&](WarpKernel kernel, Shape3 tile) {
    return WarpShape(WarpScheduleAttr::get(
        &context, Arch::sm_90a, kernel, tile, ChunkSums::two_word, Activations::chunks,
        Weights::blocks, Minima::fold, SumConversion::offset, /*stages=*/1, /*flight=*/2,
        Pragma::none, kStripRows, /*split=*/1, kWarpKernelThreads, /*blocks=*/1));
  };
  WarpShape raw = shapeOf(WarpKernel::raw_nibble, {64, 128, 256});
  EXPECT_EQ(raw.rowWarps, 8);
  EXPECT_EQ(raw.tokenWarps, 1);
  EXPECT_EQ(raw.groups, 4);
  WarpShape narrow = shapeOf(WarpKernel::narrow, {64, 64, 256});
  EXPECT_EQ(narrow.rowWarps, 4);
  EXPECT_EQ(narrow.tokenWarps, 2);
  EXPECT_EQ(narrow.groups, 2);
}

/// Chooses for 2048 x 18944 x 3584.
class WarpChoiceTest : public testing::Test {
protected:
  WarpChoiceTest() { context.loadDialect<BlockscaleDialect>(); }

  WarpScheduleAttr choose(Arch arch, const WarpPins &pins,
                          facts::BlockFormat a = facts::BlockFormat::q8_1_chunk,
                          BlockContract contract = BlockContract::ordered) {
    auto problem =
        BlockProblemAttr::get(&context, 2048, 18944, 3584, a, facts::BlockFormat::q4_K, contract);
    auto choice = chooseWarpSchedule(
        problem, arch, pins, [&] { return mlir::emitError(mlir::UnknownLoc::get(&context)); });
    return failed(choice) ? WarpScheduleAttr() : choice->schedule;
  }

  template <typename T> static WarpPins pin(std::optional<T> WarpPins::*field, T value) {
    WarpPins pins;
    pins.*field = value;
    return pins;
  }

  mlir::MLIRContext context;
};

TEST_F(WarpChoiceTest, HalfTheWarpsHaveTwiceTheRows) {
  WarpPins pins;
  pins.warpRows = 32;
  WarpScheduleAttr wide = choose(Arch::sm_90a, pins, facts::BlockFormat::q8_1_tile);
  ASSERT_TRUE(wide);
  // With one stage three blocks fit by registers; two are what a ring is for.
  EXPECT_EQ(wide.getStages(), 3);
  EXPECT_EQ(wide.getThreads(), 128);
  EXPECT_EQ(wide.getBlocks(), 2);
  WarpShape shape(wide);
  EXPECT_EQ(shape.rowWarps, 4);
  EXPECT_EQ(shape.tokenWarps, 1);
  EXPECT_EQ(shape.groups, 4);
  EXPECT_EQ(shape.strips, 2);
  EXPECT_FALSE(choose(Arch::sm_90a, pins)); // chunks make no ring
}

TEST_F(WarpChoiceTest, TwoPassesWhereTheyCostNoBlock) {
  WarpScheduleAttr raw = choose(Arch::sm_90a, {});
  EXPECT_EQ(raw.getStages(), 2);
  EXPECT_EQ(WarpShape(raw).stageBytes, 45056);
  EXPECT_EQ(planPlaneBytes(raw), 90112);
  EXPECT_EQ(planPlaneBytes(choose(Arch::sm_90a, pin(&WarpPins::sums, ChunkSums::packed))), 86016);
  // 180 KiB do not fit the 164 of sm_80, nor the 100 of the others.
  for (Arch arch : {Arch::sm_80, Arch::sm_89, Arch::sm_120a, Arch::sm_121a}) {
    WarpScheduleAttr other = choose(arch, {});
    EXPECT_EQ(other.getStages(), 1);
    EXPECT_EQ(planPlaneBytes(other), 45056);
  }
  EXPECT_EQ(choose(Arch::sm_90a, pin(&WarpPins::kernel, WarpKernel::narrow)).getStages(), 1);
  EXPECT_EQ(choose(Arch::sm_90a, pin(&WarpPins::stages, int64_t(1))).getStages(), 1);
}

TEST_F(WarpChoiceTest, TilesComeInRings) {
  // Three tiles of A, two passes of B, and two mbarriers of each stage.
  WarpScheduleAttr fold = choose(Arch::sm_90a, {}, facts::BlockFormat::q8_1_tile);
  EXPECT_EQ(fold.getActivations(), Activations::transposed);
  EXPECT_EQ(fold.getMinima(), Minima::fold);
  EXPECT_EQ(fold.getStages(), 3);
  EXPECT_EQ(fold.getBlocks(), 2);
  EXPECT_EQ(fold.getConvert(), SumConversion::cvt);
  EXPECT_EQ(fold.getFlight(), 2);
  EXPECT_EQ(planPlaneBytes(fold), 3 * 20480 + 2 * (16384 + 8192) + 3 * 16);
  WarpScheduleAttr mma =
      choose(Arch::sm_90a, {}, facts::BlockFormat::q8_1_tile_parts, BlockContract::bounded);
  EXPECT_EQ(mma.getMinima(), Minima::mma);
  EXPECT_EQ(mma.getFlight(), 1);
  EXPECT_EQ(mma.getAFormat(), facts::BlockFormat::q8_1_tile_parts);
  EXPECT_EQ(planPlaneBytes(mma), 3 * 21504 + 2 * (16384 + 4096 + 2048 + 512) + 3 * 16);
  // Chips without room for two blocks of two tiles, or without bulk copies, hold one.
  for (Arch arch : {Arch::sm_80, Arch::sm_89, Arch::sm_120a, Arch::sm_121a}) {
    WarpScheduleAttr one = choose(arch, {}, facts::BlockFormat::q8_1_tile);
    EXPECT_EQ(one.getStages(), 1);
    EXPECT_EQ(planPlaneBytes(one), 45056);
  }
}

TEST_F(WarpChoiceTest, TheContractDecidesHowMinimaAreSubtracted) {
  WarpPins transposed = pin(&WarpPins::activations, Activations::transposed);
  EXPECT_EQ(choose(Arch::sm_90a, transposed).getMinima(), Minima::fold);
  EXPECT_EQ(choose(Arch::sm_90a, transposed, facts::BlockFormat::q8_1_chunk, BlockContract::bounded)
                .getMinima(),
            Minima::mma);
  EXPECT_EQ(
      choose(Arch::sm_90a, {}, facts::BlockFormat::q8_1_chunk, BlockContract::bounded).getMinima(),
      Minima::fold);
}

} // namespace
