//===- HandwrittenShareTest.cpp - when a comparison by tools/bench/q4k is void ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../tools/bench/q4k/Comparison.h"

#include <gtest/gtest.h>

using namespace blockscale::q4k;

namespace {

TEST(HandwrittenShare, BelowAFifthOfTheVendorItIsVoid) {
  Verdict slow = judgeHandwritten(/*vendor=*/0.199, /*handwritten=*/1.0);
  EXPECT_TRUE(slow.isVoid);
  EXPECT_EQ(slow.text,
            "VOID: hand-written kernel: 0.199 of cublas-f16, at least 0.20 is asked of it");
  Verdict fair = judgeHandwritten(0.2, 1.0);
  EXPECT_FALSE(fair.isVoid);
  EXPECT_EQ(fair.text, "hand-written kernel: 0.200 of cublas-f16, at least 0.20 is asked of it");
}

TEST(HandwrittenShare, WithoutOneOfBothItIsVoid) {
  EXPECT_EQ(judgeHandwritten(0, 1.0).text,
            "VOID: a comparison with the hand-written kernel wants it and cublas-f16 in one run, "
            "got no cublas-f16");
  EXPECT_TRUE(judgeHandwritten(1.0, 0).isVoid);
}

} // namespace
