//===- PtxVersionTest.cpp - versions as ptxas takes them ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/PtxVersion.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

using namespace blockscale::facts;

namespace {

// What ptxas 13.5 does not call an unsupported .version, of 1.0 to 9.9.
const std::set<std::string> kTaken{
    "1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "2.0", "2.1", "2.2", "2.3", "3.0", "3.1", "3.2",
    "4.0", "4.1", "4.2", "4.3", "5.0", "5.1", "6.0", "6.1", "6.2", "6.3", "6.4", "6.5", "7.0",
    "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "8.0", "8.1", "8.2", "8.3", "8.4",
    "8.5", "8.6", "8.7", "8.8", "9.0", "9.1", "9.2", "9.3", "9.4", "9.5"};

TEST(PtxVersion, ExactlyThoseThatExist) {
  for (int major = 0; major < 11; ++major)
    for (int minor = 0; minor < 12; ++minor) {
      std::string text = std::to_string(major) + "." + std::to_string(minor);
      EXPECT_EQ(bool(parsePtxVersion(text)), kTaken.count(text) == 1) << text;
    }
}

TEST(PtxVersion, ptx_version_c1) {
  for (const char *text : {"", "9", "9.", ".4", "9.04", "09.4", "9.4.1", "9.4x", "99.9", "-9.4"})
    EXPECT_EQ(parsePtxVersion(text).message(),
              std::string("ptx_version_c1: .version must be one of 1.0 to 1.5, 2.0 to 2.3, 3.0 to "
                          "3.2, 4.0 to 4.3, 5.0 to 5.1, 6.0 to 6.5, 7.0 to 7.8, 8.0 to 8.8, 9.0 to "
                          "9.5, got ") +
                  (*text ? text : "none"));
}

TEST(PtxVersion, ptx_version_c2) {
  EXPECT_TRUE(checkPtxTarget({9, 4}, Arch::sm_107a));
  EXPECT_EQ(checkPtxTarget({9, 3}, Arch::sm_107a).message(),
            "ptx_version_c2: .version of sm_107a must be at least 9.4, got 9.3");
  EXPECT_TRUE(checkPtxTarget({8, 6}, Arch::sm_100a));
  EXPECT_EQ(checkPtxTarget({8, 5}, Arch::sm_100a).message(),
            "ptx_version_c2: .version of sm_100a must be at least 8.6, got 8.5");
  EXPECT_TRUE(checkPtxTarget({9, 0}, Arch::sm_80));
}

TEST(PtxVersion, ptx_version_c3) {
  EXPECT_TRUE(checkPtxPragma({9, 3}, "mma_throughput"));
  EXPECT_EQ(checkPtxPragma({9, 2}, "mma_throughput").message(),
            "ptx_version_c3: .version of .pragma \"mma_throughput\" must be at least 9.3, got 9.2");
  EXPECT_TRUE(checkPtxPragma({1, 0}, "nounroll"));
}

} // namespace
