//===- HazardWgmmaTest.cpp - the registers of wgmma -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As in HazardTest.cpp: a wrong kernel and its right twin for each way to miss a
// wgmma.fence or a wgmma.wait_group. Operands are whatever shared memory holds.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

std::vector<HazardCase> cases() {
  std::vector<HazardCase> cases;
  auto add = [&](std::string name, std::string body, HazardLevel level = HazardLevel::error) {
    cases.push_back({"OS9", "mov.u64 %rd0, 0x41;\n" + std::move(body), Setup::shared, level});
    cases.back().name = std::move(name);
    cases.back().target = "sm_90a";
  };
  const std::string head = "wgmma.mma_async.sync.aligned.m64n", tail = ", 0, 1, 1, 0",
                    product =
                        head + "8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %rd0, %rd0" + tail + ", 0;\n",
                    wide = head +
                           "16k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, %rd0, "
                           "%rd0" +
                           tail + ", 0;\n",
                    registers = head +
                                "8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, "
                                "{%r20,%r21,%r22,%r23}, %rd0" +
                                tail + ";\n",
                    more = head +
                           "8k16.f32.bf16.bf16 {%f4,%f5,%f6,%f7}, {%r20,%r21,%r22,%r23}, "
                           "%rd0" +
                           tail + ";\n",
                    fence = "wgmma.fence.sync.aligned;\n",
                    close = "wgmma.commit_group.sync."
                            "aligned;\n",
                    done = "wgmma.wait_group.sync.aligned 0;\n";
  const std::string end = close + done, fenced = "[+" + fence + "+]", waited = "[+" + done + "+]",
                    late = "[-" + done + "-]", clear = "mov.b32 %f3, 0f00000000;\n",
                    look = "add.f32 %f9, %f3, %f3;\n", fill = "mov.u32 %r21, %t;\n";
  add("First", fenced + product + end);
  cases.back().isAlone = true;
  add("AccumulatorWritten", fence + clear + fenced + product + end);
  // The fence comes before the write.
  add("FenceTooEarly", "[-" + fence + clear + "-][+" + clear + fence + "+]" + product + end);
  // By one lane of it, too.
  add("OneLane", fence + "@%p6 " + clear + fenced + product + end);
  add("OperandWritten", fence + fill + fenced + registers + end);
  add("ReadBetween", fence + product + end + look + fenced + product + end);
  add("WrittenBetween", fence + product + end + clear + fenced + product + end);
  add("OperandBetween", fence + registers + end + fill + fenced + registers + end);
  add("OtherShape", fence + product + end + fenced + wide + end);
  add("ReadInFlight", fence + product + close + waited + look + late);
  add("WriteInFlight", fence + product + close + waited + clear + late);
  add("OperandInFlight", fence + registers + close + waited + fill + late);
  add("OperandReadInFlight", fence + registers + close + waited + "add.u32 %r12, %r21, 1;\n" + late,
      HazardLevel::warning);
  add("NotCommitted",
      fence + product + "[+" + close + "+]" + done + look + "[-" + close + done + "-]");
  // The second group is the one that is used.
  add("OneGroupLeft", fence + registers + close + more + close +
                          "wgmma.wait_group.sync.aligned 1;\nadd.f32 %f9, %f[-4-][+3+], %f3;\n" +
                          done);
  add("OtherShapeInFlight", fence + product + close + waited + fence + wide + end);
  add("AsOperandInFlight",
      fence + head +
          "16k8.f32.tf32.tf32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, %rd0, %rd0, 0, 1, 1;\n" + close +
          waited + fence + head +
          "8k8.f32.tf32.tf32 {%f8,%f9,%f10,%f11}, {%f0,%f1,%f2,%f3}, %rd0, 0, 1, 1;\n" + end);
  return cases;
}

class WgmmaHazards : public testing::TestWithParam<HazardCase> {};
TEST_P(WgmmaHazards, WrongKernelIsReported) { expectReported(GetParam()); }
TEST_P(WgmmaHazards, RightTwinIsSilent) { expectSilent(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, WgmmaHazards, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.label + info.param.name; });

/// What needs neither a fence nor a wait: products of one shape that add up, A read again, and
/// registers that wgmma does not use.
TEST(WgmmaHazard, WhatIsOrderedAnyway) {
  const std::string next = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, "
                           "{%r20,%r21,%r22,%r23}, %rd0, 1, 1, 1, 0;\n",
                    close = "wgmma.commit_group.sync.aligned;\n";
  HazardCase c;
  c.label = "OS9";
  c.target = "sm_90a";
  c.body = "mov.u64 %rd0, 0x41; mov.u32 %r21, 0; mov.b32 %f3, 0f00000000;\n"
           "wgmma.fence.sync.aligned;\n" +
           next + next + close + "mov.b32 %f9, 0f3F800000; add.u32 %r24, %r24, 1;\n" + next +
           close + "wgmma.wait_group.sync.aligned 1;\n" + next + close +
           "wgmma.wait_group.sync.aligned 0;\nadd.u32 %r24, %r21, 1;\n" + next + close +
           "wgmma.wait_group.sync.aligned 0;\nadd.f32 %f9, %f3, %f0;\n"
           "wgmma.fence.sync.aligned;\n" +
           next + close + "wgmma.wait_group.sync.aligned 0;\n";
  expectSilent(c);
}

TEST(WgmmaHazard, IsNamed) {
  HazardCase c;
  c.label = "PX1";
  c.target = "sm_90a";
  c.body = "mov.u64 %rd0, 0x41; st.shared.u32 [%b+64], 0; [+fence.proxy.async;+]\nbar.sync 0;\n"
           "wgmma.fence.sync.aligned;\n"
           "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %rd0, %rd0, 0, "
           "1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  EXPECT_NE(runCase(c, /*isRight=*/false, unchecked()).error.find("hazard: wgmma (warp "),
            std::string::npos);
  expectSilent(c);
}

} // namespace
