//===- SharedLayoutTest.cpp - where the parts of shared memory lie --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/SharedLayout.h"

#include <gtest/gtest.h>

using namespace blockscale::facts;

namespace {

constexpr int64_t kKiB = 1024;
using Offsets = std::vector<int64_t>;

TEST(SharedLayout, PartsLieInTheOrderOfTheRequests) {
  auto layout = layOutShared({{100, 1}, {64, 128}, {8, 8, SharedWriter::threads}});
  ASSERT_TRUE(layout) << layout.message();
  EXPECT_EQ(layout->offsets, (Offsets{0, 128, 192}));
  EXPECT_EQ(layout->end, 200);
}

// A whose rows are gathered, and its scales: declared behind B as they are, SFA would lie at
// 272 KiB.
TEST(SharedLayout, TargetsOfCpAsyncComeFirst) {
  std::vector<SharedPart> parts{{128 * kKiB, 1024},
                                {16 * kKiB, 1024, SharedWriter::threads},
                                {128 * kKiB, 1024, SharedWriter::cpAsync},
                                {16 * kKiB, 128, SharedWriter::cpAsync},
                                {32 * kKiB, 128}};
  auto layout = layOutShared(parts);
  ASSERT_TRUE(layout) << layout.message();
  EXPECT_EQ(layout->offsets, (Offsets{144 * kKiB, 272 * kKiB, 0, 128 * kKiB, 288 * kKiB}));
  EXPECT_EQ(layout->end, 320 * kKiB);
}

TEST(SharedLayout, SharedC1KeepsThemBelow248KiB) {
  std::vector<SharedPart> parts{{64 * kKiB, 128}, {248 * kKiB, 128, SharedWriter::cpAsync}};
  EXPECT_TRUE(layOutShared(parts));
  parts.push_back({16, 16, SharedWriter::cpAsync});
  auto layout = layOutShared(parts);
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.message(), "shared_c1: targets of cp.async must end at 253952 bytes of shared "
                              "memory at most, got 253968");
}

TEST(SharedLayout, BranchesTakeTheirLargest) {
  auto layout = layOutShared({{32 * kKiB, 128},
                              {64 * kKiB, 128, SharedWriter::tma, 0},
                              {8 * kKiB, 128, SharedWriter::cpAsync, 1},
                              {96 * kKiB, 128, SharedWriter::tma, 1},
                              {16 * kKiB, 128, SharedWriter::cpAsync, 0},
                              {4 * kKiB, 128, SharedWriter::cpAsync}});
  ASSERT_TRUE(layout) << layout.message();
  // Common targets, then 80 KiB of the first branch over 104 KiB of the second, then the rest.
  EXPECT_EQ(layout->offsets, (Offsets{108 * kKiB, 20 * kKiB, 4 * kKiB, 12 * kKiB, 4 * kKiB, 0}));
  EXPECT_EQ(layout->end, 140 * kKiB);
}

} // namespace
