//===- EmptyGridTest.cpp - clusters that exit at once ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Grids that are far larger than the work in them. What such a grid counts and writes is
// what a grid counts and writes whose every cluster runs in full.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

/// Behind a bound on the index in the grid (%r1): the rest does `work`.
std::string bounded(const std::string &work, const std::string &bound = "100") {
  return kernel("mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r1, %r1, %r2, %t;\n"
                "setp.ge.u32 %p1, %r1, " +
                bound + "; @%p1 ret;\n" + work);
}

const char *const kWrite =
    "mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd1, %out; st.global.u32 [%rd1], %r1;";

/// With a limit of instructions that nothing reaches every cluster runs in full.
Scene inFull(Scene s) {
  s.options.maxInstructions = uint64_t(1) << 60;
  return s;
}

TEST(EmptyGrid, WritesAndCountsTheSame) {
  for (const Options &options : allTimings())
    for (unsigned threads : {1u, 3u})
      for (bool checked : {false, true}) {
        Scene s;
        s.options = options;
        s.options.threads = threads;
        s.options.hazards.mode = checked ? HazardMode::on : HazardMode::off;
        s.grid = {1000, 2, 1};
        s.block = {64, 1, 1};
        // The second row of the grid would write the same again.
        const std::string ptx = bounded(
            "mov.u32 %r3, %ctaid.y; setp.ne.u32 %p2, %r3, 0; @%p2 exit;" + std::string(kWrite));
        Ran r = run(ptx, s), full = run(ptx, inFull(s));
        ASSERT_EQ(r.error, "");
        ASSERT_EQ(full.error, "");
        EXPECT_EQ(r.out, full.out);
        EXPECT_EQ(r.out[99], 99u);
        EXPECT_EQ(r.stats.threadInstructions, full.stats.threadInstructions);
      }
}

TEST(EmptyGrid, ClustersWhoseCtasDiffer) {
  // Only the last CTA of each cluster writes, and only in every 16th cluster.
  Scene s;
  s.grid = {4, 64, 4};
  s.cluster = {4, 1, 1};
  const std::string ptx =
      kernel("mov.u32 %r1, %cluster_ctaid.x; setp.ne.u32 %p1, %r1, 3; @%p1 ret;\n"
             "mov.u32 %r2, %clusterid.y; mov.u32 %r3, %ctaid.z; mad.lo.u32 %r2, %r3, 64, %r2;\n"
             "and.b32 %r3, %r2, 15; setp.ne.u32 %p1, %r3, 0; @%p1 exit; shr.u32 %r2, %r2, 4;\n"
             "mul.wide.u32 %rd1, %r2, 4; add.u64 %rd1, %rd1, %out; @%p2 bra E;\n"
             "red.global.add.u32 [%rd1], 1; E:");
  Ran r = run(ptx, s), full = run(ptx, inFull(s));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out, full.out);
  EXPECT_EQ(r.out[15], 0xAAAAAAAA + 32);
  EXPECT_EQ(r.out[16], 0xAAAAAAAA);
  EXPECT_EQ(r.stats.threadInstructions, full.stats.threadInstructions);
}

TEST(EmptyGrid, TheLargestThereIs) {
  Scene s;
  s.grid = {0x7FFFFFFF, 1, 1};
  Ran r = run(kernel("setp.ge.u32 %p1, %t, 16; @%p1 exit;"), s);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.stats.threadInstructions % 0x7FFFFFFF, 0u);
  EXPECT_GE(r.stats.threadInstructions / 0x7FFFFFFF, 32u * 3);
}

TEST(EmptyGrid, LateWorkIsDone) {
  // The work lies in the last of many clusters, or in every other one.
  Scene s;
  s.grid = {20000, 1, 1};
  Ran r = run(kernel("mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 19999; @%p1 ret;\n"
                     "st.global.u32 [%po], %r1;"),
              s);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[31], 19999u);
  r = run(kernel("mov.u32 %r1, %ctaid.x; and.b32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 ret;\n"
                 "red.global.add.u32 [%po], 1;"),
          s);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[31], 0xAAAAAAAA + 10000);
}

TEST(EmptyGrid, RefusalsAreKept) {
  Scene s;
  s.grid = {5000, 1, 1};
  EXPECT_EQ(
      run(kernel("mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 4000; @%p1 ret;\ntrap;"), s).error,
      "t.ptx:9: trap: kernel must not trap, cta 4000,0,0 thread 0 did");
  EXPECT_EQ(run(kernel("ld.param.u64 %rd1, [in+4096];"), s).error.substr(0, 17),
            "t.ptx:8: mem_para");
}

} // namespace
