//===- ClusterPlanTest.cpp - who shares what in a cluster -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every shape of a cluster against a list of what each CTA needs: which rows of A, which
// part of B, and whose product reads it.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/ClusterPlan.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <set>

using namespace blockscale;
using facts::Format;
using facts::MmaKind;

namespace {

constexpr ProblemOperand kOperands[] = {ProblemOperand::a, ProblemOperand::b, ProblemOperand::sfa,
                                        ProblemOperand::sfb};

/// A CTA of a cluster whose ranks run along M first.
struct Cta {
  int64_t row, column, pair;
  /// What it holds of an operand: equal for CTAs that hold the same bytes.
  std::pair<int64_t, int64_t> holds(ProblemOperand operand) const {
    switch (operand) {
    case ProblemOperand::a:
    case ProblemOperand::sfa:
      return {row, 0};
    case ProblemOperand::b: // one half for each CTA of a pair
      return {column, row % pair};
    case ProblemOperand::sfb:
      break;
    }
    return {column, 0};
  }
  /// The product that reads its memory.
  std::pair<int64_t, int64_t> product() const { return {row / pair, column}; }
};

class ClusterPlans : public ::testing::Test {
protected:
  ClusterPlans() { context.loadDialect<BlockscaleDialect>(); }

  ScheduleAttr schedule(ClusterShape cluster, int64_t pair, int64_t n) {
    return ScheduleAttr::get(&context, facts::Arch::sm_107a, MmaKind::mxf4nvf4,
                             Shape3{128 * pair, n, 128}, pair, Shape3{128 * pair, n, 256},
                             /*stages=*/2, /*accumulators=*/1, Epilogue::plain_store, /*staging=*/0,
                             /*ctas=*/cluster.size(), cluster, AccumulatorColumns::disjoint,
                             /*scale_stages=*/0, SequenceAttr());
  }

  mlir::MLIRContext context;
};

TEST_F(ClusterPlans, MasksAndArrivalsAreThoseOfWhatEachCtaHolds) {
  for (int64_t m : {1, 2, 4})
    for (int64_t n : {1, 2, 4})
      for (int64_t pair : {1, 2}) {
        if (m % pair)
          continue;
        ClusterPlan plan(schedule({m, n}, pair, 128));
        std::vector<Cta> ctas;
        for (int64_t rank = 0; rank < m * n; ++rank)
          ctas.push_back({rank % m, rank / m, pair});
        std::set<std::pair<int64_t, int64_t>> readers;
        uint32_t loaders = 0, pairMask = 0;
        for (ProblemOperand operand : kOperands) {
          uint32_t sharers = 0;
          for (size_t rank = 0; rank < ctas.size(); ++rank) {
            if (ctas[rank].holds(operand) == ctas[0].holds(operand)) {
              sharers |= 1u << rank;
              readers.insert(ctas[rank].product());
            }
            // What loads bytes that the product of rank 0 reads, in any CTA of its pair.
            for (const Cta &own : ctas)
              if (own.product() == ctas[0].product() &&
                  own.holds(operand) == ctas[rank].holds(operand))
                loaders |= 1u << rank;
            if (ctas[rank].product() == ctas[0].product())
              pairMask |= 1u << rank;
          }
          EXPECT_EQ(plan.sharerMask(operand), sharers);
          EXPECT_EQ(plan.sharers(operand), llvm::popcount(sharers));
        }
        EXPECT_EQ(plan.readers(), int64_t(readers.size()));
        EXPECT_EQ(plan.rowMask() | plan.columnMask(), loaders);
        EXPECT_EQ(plan.pairMask(), pairMask);
      }
}

// Shares are equal, whole 128 bytes, and together the stage; also those of three words of scales.
TEST_F(ClusterPlans, SharesAreTheStage) {
  for (auto [format, kind, scale, block, instK] :
       {std::tuple(Format::e2m1, MmaKind::mxf4nvf4, facts::ScaleFormat::ue4m3, 16, int64_t(64)),
        {Format::e2m1, MmaKind::mxf4nvf4, facts::ScaleFormat::ue4m3, 16, kSpanK},
        {Format::e2m1, MmaKind::mxf4, facts::ScaleFormat::ue8m0, 32, 64},
        {Format::e2m1, MmaKind::mxf4, facts::ScaleFormat::ue8m0, 32, kSpanK},
        {Format::e4m3, MmaKind::mxf8f6f4, facts::ScaleFormat::ue8m0, 32, 32}})
    for (int64_t tileN : kTileColumns)
      for (int64_t m : {1, 2, 4})
        for (int64_t n : {1, 2, 4}) {
          ScheduleAttr schedule = this->schedule({m, n}, /*pair=*/1, tileN);
          bool isSpan = instK == kSpanK;
          schedule = ScheduleAttr::get(
              &context, schedule.getArch(), kind, Shape3{128, tileN, instK}, 1,
              Shape3{128, tileN, tileK(kind, instK)}, 2, 1, Epilogue::plain_store, 0, m * n,
              schedule.getCluster(), AccumulatorColumns::disjoint, isSpan, SequenceAttr());
          auto problem = ProblemAttr::get(&context, 1024, 1024, 1024, format, format, scale, block,
                                          facts::ScaleLayout::tiled, facts::ScaleLayout::tiled,
                                          Format::f32, facts::Major::k, facts::Major::k,
                                          /*pitch_a=*/0, /*pitch_b=*/0, QuantizedAttr(), GateAttr(),
                                          /*batches=*/1, /*shared_b=*/false);
          GemmShape shape(problem, schedule);
          ClusterPlan plan(schedule);
          int64_t stage[] = {shape.stage.a, shape.stage.b, shape.stage.sfa, shape.stage.sfb};
          for (ProblemOperand operand : kOperands) {
            BoxPart part = plan.part(operand, shape);
            bool isScale = operand == ProblemOperand::sfa || operand == ProblemOperand::sfb;
            int64_t bytesOfElement = isScale ? 2 : 1, bytes = bytesOfElement;
            for (int64_t extent : part.box)
              bytes *= extent;
            EXPECT_EQ(part.count(), plan.sharers(operand));
            EXPECT_EQ(bytes, part.bytes);
            EXPECT_EQ(part.bytes * part.count(), stage[size_t(operand)]);
            EXPECT_EQ(part.bytes % 128, 0);
            // Rows of a box follow each other in memory where each is a whole piece.
            if (isScale && part.box[1] > 1)
              EXPECT_EQ(part.box[0] * bytesOfElement * part.pieces, facts::kScaleTileBytes);
            EXPECT_TRUE(isSpan || part.pieces == 1);
          }
        }
}

} // namespace
