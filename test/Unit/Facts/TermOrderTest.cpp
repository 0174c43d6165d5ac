//===- TermOrderTest.cpp - orders of terms and slots have no bank conflicts ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/TermOrder.h"
#include "blockscale/Facts/SlotOrder.h"

#include <gtest/gtest.h>

#include <set>

using namespace blockscale::facts;

namespace {

constexpr int kTokens = 64;
const TermAccess kAccesses[] = {{TermFill::pairs, 8},    {TermFill::pairs, 4},
                                {TermFill::pairs, 8, 2}, {TermFill::pairs, 4, 2},
                                {TermFill::words, 8},    {TermFill::words, 4}};

TEST(TermOrder, StoresAndLoadsTakeTheLeastCycles) {
  for (TermAccess access : kAccesses) {
    TermOrder order = chooseTermOrder(access);
    for (int chunk = 0; chunk < (access.fill == TermFill::pairs ? 2 : 1); ++chunk)
      EXPECT_EQ(termStoreCycles(order, access, chunk, kTokens), leastTermCycles(access));
    for (int chunk = 0; chunk < 8; ++chunk)
      for (int group = 0; group < kTokens / 16; ++group)
        EXPECT_EQ(termLoadCycles(order, access, chunk, group, kTokens),
                  termLoadCycles({}, access, chunk, group, kTokens));
  }
}

TEST(TermOrder, WithoutOneStoresConflict) {
  EXPECT_EQ(termStoreCycles({}, {TermFill::pairs, 8}, 0, kTokens), 4);    // of 2
  EXPECT_EQ(termStoreCycles({}, {TermFill::pairs, 4}, 0, kTokens), 4);    // of 1
  EXPECT_EQ(termStoreCycles({}, {TermFill::pairs, 4, 2}, 0, kTokens), 2); // of 1
  EXPECT_EQ(termStoreCycles({}, {TermFill::words, 8}, 0, kTokens), 16);   // of 2
  EXPECT_EQ(termStoreCycles({}, {TermFill::words, 4}, 0, kTokens), 8);    // of 1
}

TEST(TermOrder, EachEntryHasOnePlaceAndPairsStayTogether) {
  for (TermAccess access : kAccesses) {
    TermOrder order = chooseTermOrder(access);
    std::set<int> seen;
    for (int chunk = 0; chunk < 8; ++chunk)
      for (int token = 0; token < kTokens; ++token) {
        int at = termOffset(order, access, chunk, token, kTokens);
        EXPECT_TRUE(seen.insert(at).second);
        EXPECT_EQ(at / (access.entryBytes * kTokens), chunk);
        if (token % 16 < 8) {
          EXPECT_EQ(termOffset(order, access, chunk, token + 8, kTokens) ^ access.entryBytes, at);
        }
      }
  }
}

TEST(SlotOrder, StoresOfARowAndLoadsOfAChunkTakeTheLeastCycles) {
  int factor = chooseSlotFactor(/*pieces=*/8);
  EXPECT_EQ(slotStoreCycles(8, /*factor=*/0), 16);
  EXPECT_EQ(slotStoreCycles(8, factor), 4);
  for (int pair = 0; pair < 4; ++pair)
    EXPECT_EQ(slotLoadCycles(pair, factor), 4);
  // Passes of four chunks: two rows of two pairs are no better in any order.
  for (int other = 0; other < 8; ++other)
    EXPECT_EQ(slotStoreCycles(4, other), 8);
  for (int pair = 0; pair < 4; ++pair) {
    std::set<int> seen;
    for (int row = 0; row < 8; ++row)
      seen.insert(slotOfRow(row, pair, factor));
    EXPECT_EQ(seen.size(), 8u);
    EXPECT_EQ(*seen.rbegin(), 7);
  }
}

} // namespace
