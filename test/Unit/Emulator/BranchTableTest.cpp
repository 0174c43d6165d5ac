//===- BranchTableTest.cpp - brx.idx --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

/// Lane t goes to table entry `index`; entries store 100, 200 and 300, and what falls
/// through stores 7.
std::string branching(const std::string &index, const std::string &guard = "") {
  return kernel("table: .branchtargets A, B, C;\nmov.b32 %r1, 7;\n" + index + guard +
                "brx.idx %r0, table;\nbra DONE;\n"
                "C: mov.b32 %r1, 300; bra DONE;\n"
                "A: mov.b32 %r1, 100; bra DONE;\n"
                "B: mov.b32 %r1, 200;\n"
                "DONE: st.global.b32 [%po], %r1;");
}

TEST(BranchTable, UniformIndex) {
  Ran r = run(branching("mov.b32 %r0, 2;\n"));
  ASSERT_EQ(r.error, "");
  for (unsigned t = 0; t < 32; ++t)
    EXPECT_EQ(r.out[t], 300u);
}

TEST(BranchTable, EachLaneItsOwn) {
  Ran r = run(branching("rem.u32 %r0, %t, 3;\n"));
  ASSERT_EQ(r.error, "");
  for (unsigned t = 0; t < 32; ++t)
    EXPECT_EQ(r.out[t], 100 * (t % 3 + 1)) << t;
}

TEST(BranchTable, LanesThatTheGuardLeavesOutFallThrough) {
  Ran r = run(branching("rem.u32 %r0, %t, 3; setp.lt.u32 %p0, %t, 20;\n", "@%p0 "));
  ASSERT_EQ(r.error, "");
  for (unsigned t = 0; t < 32; ++t)
    EXPECT_EQ(r.out[t], t < 20 ? 100 * (t % 3 + 1) : 7) << t;
}

TEST(BranchTable, Refusals) {
  Ran r = run(branching("mov.b32 %r0, 3;\n"));
  EXPECT_NE(r.error.find("brx_index"), std::string::npos) << r.error;
  r = run(kernel("brx.idx %r0, nowhere;"));
  EXPECT_NE(r.error.find("ptx_operand"), std::string::npos) << r.error;
  r = run(kernel("table: .branchtargets NOWHERE;\nbrx.idx %r0, table;"));
  EXPECT_NE(r.error.find("ptx_label"), std::string::npos) << r.error;
}

} // namespace
