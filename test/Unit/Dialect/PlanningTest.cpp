//===- PlanningTest.cpp - stages, scale chunks and columns of a kernel ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The specification's tables, out of the planner: bytes of a mixed stage and stages
// in a budget, 512-byte chunks of scales along K, columns of tensor memory.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Planning.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace blockscale;
using facts::Format;
using facts::Major;
using facts::MmaKind;
using facts::ScaleFormat;

namespace {

class Planning : public ::testing::Test {
protected:
  Planning() { context.loadDialect<BlockscaleDialect>(); }

  ProblemAttr problem(Format a, Format b, ScaleFormat scale, int64_t block) {
    return ProblemAttr::get(&context, 1024, 1024, 1024, a, b, scale, block,
                            facts::ScaleLayout::tiled, facts::ScaleLayout::tiled, Format::f32,
                            Major::k, Major::k, /*pitch_a=*/0, /*pitch_b=*/0, QuantizedAttr(),
                            GateAttr(), /*batches=*/1, /*shared_b=*/false);
  }
  /// Of a tile of 128 rows and `n` columns.
  StageBytes stage(ProblemAttr problem, MmaKind kind, int64_t n, int64_t instK) {
    return planStage(problem, {kind, {128, n, instK}, {128, n, facts::tileK(kind)}});
  }

  mlir::MLIRContext context;
};

constexpr int64_t kKiB = 1024;

// FP4 x FP8: K = 32 of sm_100a holds FP4 in 16 bytes for 16 elements, K = 64 of sm_107a
// packed.
TEST_F(Planning, StagesOfFp4WithFp8InABudget) {
  ProblemAttr mixed = problem(Format::e2m1, Format::e4m3, ScaleFormat::ue8m0, 32);
  struct Row {
    int64_t n, sm100, sm107, stages100, stages107;
  };
  for (Row row : {Row{128, 32 * kKiB, 24 * kKiB, 8, 10}, {256, 48 * kKiB, 40 * kKiB, 5, 6}}) {
    StageBytes padded = stage(mixed, MmaKind::mxf8f6f4, row.n, 32);
    StageBytes packed = stage(mixed, MmaKind::mxf8f6f4, row.n, 64);
    EXPECT_EQ(padded.a, 16 * kKiB);
    EXPECT_EQ(packed.a, 8 * kKiB);
    EXPECT_EQ(padded.a + padded.b, row.sm100);
    EXPECT_EQ(packed.a + packed.b, row.sm107);
    EXPECT_EQ(256 * kKiB / (padded.a + padded.b), row.stages100);
    EXPECT_EQ(256 * kKiB / (packed.a + packed.b), row.stages107);
  }
  // The other order.
  ProblemAttr swapped = problem(Format::e4m3, Format::e2m1, ScaleFormat::ue8m0, 32);
  EXPECT_EQ(stage(swapped, MmaKind::mxf8f6f4, 256, 64).b, 16 * kKiB);
  EXPECT_EQ(stage(swapped, MmaKind::mxf8f6f4, 256, 32).b, 32 * kKiB);
}

// 128 rows x 4 scales are a chunk of 512 bytes.
TEST_F(Planning, ChunksOfScalesAlongK) {
  struct Row {
    Format format;
    ScaleFormat scale;
    int64_t block;
    MmaKind kind;
    int64_t instK, chunks;
  };
  for (const Row &row : {Row{Format::e4m3, ScaleFormat::ue8m0, 32, MmaKind::mxf8f6f4, 64, 1},
                         Row{Format::e2m1, ScaleFormat::ue8m0, 32, MmaKind::mxf4, 128, 2},
                         Row{Format::e2m1, ScaleFormat::ue4m3, 16, MmaKind::mxf4nvf4, 128, 4}}) {
    ProblemAttr p = problem(row.format, row.format, row.scale, row.block);
    StageBytes s = stage(p, row.kind, 128, row.instK);
    EXPECT_EQ(s.sfa, row.chunks * 512);
    EXPECT_EQ(s.sfb, row.chunks * 512);
    EXPECT_EQ(stage(p, row.kind, 256, row.instK).sfb, row.chunks * 2 * 512);
    // 192 columns pay for 256, 64 for 128.
    EXPECT_EQ(stage(p, row.kind, 192, row.instK).sfb, row.chunks * 2 * 512);
    EXPECT_EQ(stage(p, row.kind, 64, row.instK).sfb, row.chunks * 512);
  }
}

TEST_F(Planning, ColumnsOfTwoAccumulatorsOf256) {
  auto columns = [&](ScaleFormat scale, int64_t block) {
    StageBytes s =
        stage(problem(Format::e2m1, Format::e2m1, scale, block), MmaKind::mxf4nvf4, 256, 128);
    return planTmem(s, {128, 256, 256}, 2);
  };
  TmemColumns by16 = columns(ScaleFormat::ue4m3, 16), by32 = columns(ScaleFormat::ue8m0, 32);
  EXPECT_EQ(by16.sfa, 16);
  EXPECT_EQ(by16.sfb, 32);
  EXPECT_EQ(by16.used(), 560);
  EXPECT_EQ(by32.sfa, 8);
  EXPECT_EQ(by32.sfb, 16);
  EXPECT_EQ(by32.used(), 536);
  EXPECT_EQ(facts::roundedTmemColumns(facts::Arch::sm_107a, int(by16.used())), 576);
  EXPECT_EQ(facts::roundedTmemColumns(facts::Arch::sm_107a, int(by32.used())), 544);
  EXPECT_EQ(facts::roundedTmemColumns(facts::Arch::sm_100a, int(by16.used())), 0);
}

// What two accumulators share is what the scales take, up to a multiple of 16 columns.
TEST_F(Planning, ColumnsOfOverlappedAccumulators) {
  struct Row {
    ScaleFormat scale;
    int64_t block;
    MmaKind kind;
    int64_t second;
  };
  for (const Row &row : {Row{ScaleFormat::ue4m3, 16, MmaKind::mxf4nvf4, 208},
                         {ScaleFormat::ue8m0, 32, MmaKind::mxf4, 224},
                         {ScaleFormat::ue8m0, 32, MmaKind::mxf8f6f4, 240}}) {
    ProblemAttr p = problem(Format::e2m1, Format::e2m1, row.scale, row.block);
    StageBytes s = stage(p, row.kind, 256, row.kind == MmaKind::mxf8f6f4 ? 32 : 64);
    Shape3 tile{128, 256, facts::tileK(row.kind)};
    for (facts::Arch arch : {facts::Arch::sm_100a, facts::Arch::sm_103a})
      EXPECT_EQ(accumulatorStep(arch, s, tile, AccumulatorColumns::overlapped), row.second);
    EXPECT_EQ(accumulatorStep(facts::Arch::sm_107a, s, tile, AccumulatorColumns::disjoint), 256);
    EXPECT_LE(row.second + planTmem(s, tile, 1).used(), 512);
  }
}

// Two products that share B on sm_107a are one accumulator stage, with scales of A for both.
TEST_F(Planning, ColumnsOfTwoProductsThatShareB) {
  auto columns = [&](ScaleFormat scale, int64_t block, int64_t n, int64_t pair) {
    auto schedule = ScheduleAttr::get(
        &context, facts::Arch::sm_107a, MmaKind::mxf4nvf4, Shape3{128 * pair, n, 128}, pair,
        Shape3{256 * pair, n, 256}, /*stages=*/2, /*accumulators=*/1, Epilogue::plain_store,
        /*staging=*/0, /*ctas=*/pair, ClusterShape{pair, 1}, AccumulatorColumns::disjoint,
        /*scale_stages=*/0, SequenceAttr());
    ProblemAttr p = problem(Format::e2m1, Format::e2m1, scale, block);
    return int(planTmem(planStage(p, choiceOf(schedule)), schedule).used());
  };
  for (int64_t pair : {1, 2}) {
    EXPECT_EQ(columns(ScaleFormat::ue4m3, 16, 256, pair), 576);
    EXPECT_EQ(columns(ScaleFormat::ue8m0, 32, 256, pair), 544);
    EXPECT_EQ(columns(ScaleFormat::ue4m3, 16, 192, pair), 448);
  }
  EXPECT_EQ(facts::roundedTmemColumns(facts::Arch::sm_107a, 448), 512);
}

} // namespace
