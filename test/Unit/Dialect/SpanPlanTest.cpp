//===- SpanPlanTest.cpp - instructions of K = 96 in every K tile ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every K that TMA can fetch, a multiple of 32, and both blocks: what is covered, in which
// order, by which scale ids and in how many words; a whole tile against the walk that the
// facts state.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/SpanPlan.h"

#include "blockscale/Facts/LayoutsSmem.h"
#include "blockscale/Facts/MmaMode.h"

#include <gtest/gtest.h>

using namespace blockscale;

namespace {

TEST(SpanPlan, EveryTailIsCoveredBySixtyFoursFirst) {
  for (int64_t k = 32; k <= kSpanTileK; k += 32) {
    int64_t sum = 0, shorts = 0;
    bool behindLong = false;
    for (int64_t step : planSpanSteps(k)) {
      sum += step;
      shorts += step == 64;
      EXPECT_FALSE(behindLong && step == 64) << k;
      behindLong |= step == 96;
    }
    EXPECT_EQ(sum, k == 32 ? 64 : k);
    EXPECT_LE(shorts, 2) << k;
  }
}

TEST(SpanPlan, ScaleIdsAndWords) {
  for (int64_t block : {16, 32})
    for (int64_t k = 32; k <= kSpanTileK; k += 32) {
      int64_t byte = 0, word = 0;
      for (const SpanGroup &group : planSpan(k, block)) {
        EXPECT_EQ(group.word, word);
        EXPECT_LE(group.words, 3);
        int64_t scale = 0;
        for (const SpanStep &step : group.steps) {
          EXPECT_EQ(step.byte, byte);
          EXPECT_EQ(step.scale, scale);
          const facts::MmaMode *mode =
              facts::findMmaMode(facts::MmaKind::mxf4nvf4, int(block), int(step.k));
          ASSERT_TRUE(mode);
          EXPECT_TRUE(mode->scaleIds.contains(int(step.scale % 4))) << k << " by " << block;
          byte += step.k / 2;
          scale += step.k / block;
        }
        EXPECT_EQ(group.words, (scale + 3) / 4);
        word += group.words;
      }
    }
}

TEST(SpanPlan, NoGroupButTheLastEndsInsideAWord) {
  for (int64_t block : {16, 32})
    for (int64_t k = 32; k <= kSpanTileK; k += 32) {
      auto groups = planSpan(k, block);
      int64_t elements = 0;
      for (size_t i = 0; i + 1 < groups.size(); ++i) {
        for (const SpanStep &step : groups[i].steps)
          elements += step.k;
        EXPECT_EQ(elements, groups[i + 1].word * 4 * block) << k << " by " << block;
      }
    }
}

TEST(SpanPlan, WholeTile) {
  for (auto [block, groups] : {std::pair<int64_t, size_t>(16, 4), {32, 2}}) {
    auto plan = planSpan(kSpanTileK, block);
    EXPECT_EQ(plan.size(), groups);
    int instruction = 0;
    for (const SpanGroup &group : plan)
      for (const SpanStep &step : group.steps) {
        facts::K96Step want = facts::k96Step(instruction++);
        EXPECT_EQ(step.k, 96);
        EXPECT_EQ(step.byte, want.stage * 128 + want.unit * 16);
      }
    EXPECT_EQ(instruction, facts::kK96Steps);
  }
  // 224 = 64 + 64 + 96: eight scales of 16, then six.
  auto tail = planSpan(224, 16);
  ASSERT_EQ(tail.size(), 2u);
  EXPECT_EQ(tail[0].words, 2);
  EXPECT_EQ(tail[1].word, 2);
  EXPECT_EQ(tail[1].words, 2);
}

} // namespace
