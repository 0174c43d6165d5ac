//===- Expect.h - what a chip gave, and what is known to differ -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_SILICON_EXPECT_H
#define BLOCKSCALE_TOOLS_BENCH_SILICON_EXPECT_H

#include "blockscale/Facts/Result.h"

#include <map>
#include <string>
#include <vector>

namespace blockscale::silicon {

using facts::Refusal;
using facts::Result;

/// Lines "NAME HASH"; what stands behind is for people.
Result<std::map<std::string, std::string>> readExpected(const std::string &file);

/// A line "NAME REASON"; a NAME that ends in * stands for all that start so. Of several
/// lines that fit a program the longest NAME counts.
struct Known {
  std::string name, reason;
  unsigned programs = 0, differing = 0; // of this run, those that can be compared
  bool covers(const std::string &program) const;
  /// It names programs of this run, and none of them differs any more.
  bool isStale() const { return programs && !differing; }
};
Result<std::vector<Known>> readKnown(const std::string &file);
/// The line of `known` that fits, or null.
Known *findKnown(std::vector<Known> &known, const std::string &program);

} // namespace blockscale::silicon

#endif // BLOCKSCALE_TOOLS_BENCH_SILICON_EXPECT_H
