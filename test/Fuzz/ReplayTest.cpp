//===- ReplayTest.cpp - what fuzzing has found stays mended ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each file of regressions/<target> once crashed, hung or broke a promise.
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

TEST(Fuzz, RegressionsOfEveryTarget) {
  const fs::path folder = fs::path(BLOCKSCALE_TEST_DIR) / "Fuzz" / "regressions";
  for (const fuzz::Target &target : fuzz::kTargets) {
    ASSERT_TRUE(fs::is_directory(folder / target.name)) << target.name;
    for (const auto &entry : fs::directory_iterator(folder / target.name)) {
      SCOPED_TRACE(entry.path().string());
      auto start = std::chrono::steady_clock::now();
      target.run(readBytes(entry.path()));
      // The fuzzer's own limit, where a hang would be found.
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    }
  }
}

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
