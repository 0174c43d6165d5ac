//===- TilePlanningTest.cpp - which tile a large product gets -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/TilePlanning.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace blockscale;
using facts::Arch;
using facts::Format;
using facts::MmaKind;
using facts::ScaleFormat;

namespace {

class TilePlanning : public ::testing::Test {
protected:
  TilePlanning() { context.loadDialect<BlockscaleDialect>(); }

  ProblemAttr nvfp4(int64_t m, int64_t n, int64_t k) {
    return ProblemAttr::get(&context, m, n, k, Format::e2m1, Format::e2m1, ScaleFormat::ue4m3, 16,
                            facts::ScaleLayout::tiled, facts::ScaleLayout::tiled, Format::bf16,
                            facts::Major::k, facts::Major::k, /*pitch_a=*/0, /*pitch_b=*/0,
                            QuantizedAttr(), GateAttr(), /*batches=*/1, /*shared_b=*/false);
  }
  TileChoice choose(Arch arch, ProblemAttr problem, std::vector<int64_t> instKs) {
    return chooseTile(problem, arch, MmaKind::mxf4nvf4, instKs);
  }

  mlir::MLIRContext context;
};

TileChoice tile(int64_t group, Shape3 inst, Shape3 tile) {
  return {MmaKind::mxf4nvf4, inst, tile, group};
}

// 4096 x 4096 x 4096 on 148 SMs, by hand. A K tile of one CTA is 2 x 16 KiB and 2 x 2 KiB, at 70
// bytes a clock 527 cycles, longer than four products of 64 cycles; 1024 tiles are 7 for an SM.
// Of a pair it is 38 KiB, and four products of 128 with 12 copies of 4 take 560; 256 tiles are 4
// for each of 74 pairs.
TEST_F(TilePlanning, CyclesByHand) {
  ProblemAttr p = nvfp4(4096, 4096, 4096);
  TileChoice one = tile(1, {128, 128, 64}, {128, 128, 256});
  TileChoice pair = tile(2, {256, 256, 64}, {256, 256, 256});
  EXPECT_DOUBLE_EQ(modelledCycles(p, Arch::sm_100a, one), 7 * 16 * (36864 / 70.0));
  EXPECT_DOUBLE_EQ(modelledCycles(p, Arch::sm_100a, pair), 4 * 16 * 560);
}

// Two products that share B read it once: 131 cycles, then 128 for A alone. Their accumulator
// has no second one, so that 512 columns of 512 bytes a lane row are read behind the products.
TEST_F(TilePlanning, CyclesWhereBIsReused) {
  ProblemAttr p = nvfp4(4096, 4096, 4096);
  TileChoice both = tile(2, {256, 256, 128}, {512, 256, 256});
  double bytes = 2 * 16384 + 16384 + 2 * 2048 + 4096;
  EXPECT_GT(bytes / 70, 2 * (131 + 128) + 16 * 4); // 819 cycles
  EXPECT_DOUBLE_EQ(modelledCycles(p, Arch::sm_107a, both), 2 * (16 * (bytes / 70) + 512 * 4));
}

// K = 96: three stages and four buffers of scales are 768 elements, eight products of 128
// cycles and 36 copies; what is left of K takes its share.
TEST_F(TilePlanning, CyclesOfASpan) {
  TileChoice pair = tile(2, {256, 256, 96}, {256, 256, 768});
  double bytes = 3 * 2 * 16384 + 4 * (3 * 512 + 6 * 512);
  EXPECT_DOUBLE_EQ(modelledCycles(nvfp4(256, 256, 3072), Arch::sm_103a, pair), 4 * (bytes / 70));
}

TEST_F(TilePlanning, SmallAndUnknownRowsKeepOneCta) {
  for (ProblemAttr p : {nvfp4(128, 128, 4096), nvfp4(1024, 2304, 4096), // 144 tiles
                        nvfp4(kDynamicExtent, 65536, 4096)}) {
    TileChoice choice = choose(Arch::sm_100a, p, {64});
    EXPECT_EQ(choice.tile, (Shape3{128, 128, 256}));
    EXPECT_EQ(choice.ctas, 1);
  }
}

// What counts is the tiles of all products of a batch.
TEST_F(TilePlanning, BatchesCountTogether) {
  ProblemAttr one = nvfp4(1024, 1024, 4096);
  EXPECT_EQ(choose(Arch::sm_100a, one, {64}).tile, (Shape3{128, 128, 256}));
  ProblemAttr batch = one.withBatches(16, /*sharesB=*/false);
  EXPECT_EQ(choose(Arch::sm_100a, batch, {64}).tile, (Shape3{256, 256, 256}));
  TileChoice pair = tile(2, {256, 256, 64}, {256, 256, 256});
  EXPECT_DOUBLE_EQ(modelledCycles(batch, Arch::sm_100a, pair), 4 * 16 * 560);
}

TEST_F(TilePlanning, LargeOnesTakePairsLongKAndBTwice) {
  EXPECT_EQ(choose(Arch::sm_100a, nvfp4(4096, 4096, 4096), {64}).tile, (Shape3{256, 256, 256}));
  EXPECT_EQ(choose(Arch::sm_103a, nvfp4(4096, 4096, 4096), {64, 96}).inst, (Shape3{256, 256, 96}));
  EXPECT_EQ(choose(Arch::sm_107a, nvfp4(4096, 4096, 4096), {128}).tile, (Shape3{256, 256, 256}));
  EXPECT_EQ(choose(Arch::sm_107a, nvfp4(8192, 8192, 8192), {128}).tile, (Shape3{512, 256, 256}));
  // 88 tiles of 256 x 192 leave fewer of 112 pairs idle than 64 of 256 x 256.
  EXPECT_EQ(choose(Arch::sm_107a, nvfp4(2048, 2048, 4096), {128}).tile, (Shape3{256, 192, 256}));
  // One row of tiles has nothing for the second half of a pair.
  TileChoice flat = choose(Arch::sm_100a, nvfp4(128, 28672, 4096), {64});
  EXPECT_EQ(flat.tile, (Shape3{128, 256, 256}));
  EXPECT_EQ(flat.ctas, 1);
  // Columns that are few take no more than they need.
  EXPECT_EQ(choose(Arch::sm_100a, nvfp4(65536, 64, 1024), {64}).tile, (Shape3{256, 64, 256}));
}

} // namespace
