//===- ReplayTest.cpp - what fuzzing has found stays mended ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each file of regressions/<target> once crashed, hung or broke a promise; those of
// corpus/<target> together reach most of what longer runs have reached.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

using namespace blockscale;

namespace {

namespace fs = std::filesystem;

std::string readBytes(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// All inputs of a folder, within the fuzzer's own limit of time.
void replay(const char *name) {
  const fs::path folder = fs::path(BLOCKSCALE_TEST_DIR) / "Fuzz" / name;
  for (const fuzz::Target &target : fuzz::kTargets) {
    ASSERT_TRUE(fs::is_directory(folder / target.name)) << target.name;
    for (const auto &entry : fs::directory_iterator(folder / target.name)) {
      SCOPED_TRACE(entry.path().string());
      auto start = std::chrono::steady_clock::now();
      target.run(readBytes(entry.path()));
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    }
  }
}

TEST(Fuzz, RegressionsOfEveryTarget) { replay("regressions"); }
TEST(Fuzz, KeptCorpusOfEveryTarget) { replay("corpus"); }

TEST(Fuzz, NothingAtAll) {
  for (const fuzz::Target &target : fuzz::kTargets)
    target.run("");
}

TEST(FuzzDeathTest, BrokenPromisesEndTheProcess) {
  EXPECT_DEATH(fuzz::requireOneLine("two\nlines"), "must be one line");
  EXPECT_DEATH(fuzz::requireOneLine(""), "must say something");
  EXPECT_DEATH(fuzz::require(false, "a", "b"), "broken promise: a, got b");
}

} // namespace
