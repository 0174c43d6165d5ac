//===- UnsetRegisterTest.cpp - rule RG1 -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register that no instruction writes, behind setmaxnreg.inc.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const std::string kRaise = "setmaxnreg.inc.sync.aligned.u32 232;\n";

std::vector<HazardCase> cases() {
  std::vector<HazardCase> c;
  auto one = [&](std::string label, std::string body, Setup setup = Setup::shared) {
    c.push_back({"RG1_" + std::move(label), std::move(body), setup});
  };
  one("address", kRaise + "[+mov.u32 %r40, %b;+]\nld.shared.u32 %r22, [%r40+1024];\n");
  one("store", kRaise + "[+mov.u64 %rd20, %out;+]\n@%p6 st.global.u32 [%rd20], 1;\n");
  one("guard", kRaise + "[+setp.eq.u32 %p1, %t, 0;+]\n@%p1 st.global.u32 [%out], 1;\n");
  one("branch", kRaise + "[+setp.eq.u32 %p1, %t, 0;+]\n@!%p1 bra D1;\nD1:\n");
  one("barrier",
      kRaise + "[+mov.u32 %r40, bar;+]\n@%p6 mbarrier.arrive.shared::cta.b64 _, [%r40];\n");
  one("descriptor",
      kRaise +
          elected(0, "[+mov.u64 %rd20, %da;+]\ntcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale."
                     "block16 [%tm], %rd20, %db, %id, [%sa], [%sb], %p7;\n" +
                         commit(0) + wait(0, 0)),
      Setup::tensor);
  // In a loop the text of the write may come behind that of the use.
  one("loop", kRaise + "setp.ne.u32 %p1, %t, %t; bra S1;\nS0: ld.shared.u32 %r22, [%r40+1024]; bra "
                       "D1;\nS1: [+mov.u32 %r40, %b;+]\nbra S0;\nD1:\n");
  // Without the instruction, or with .dec, nobody gets new registers.
  one("raise", "[-setmaxnreg.inc-][+setmaxnreg.dec+].sync.aligned.u32 64;\n"
               "@%p1 st.global.u32 [%out], 1;\n");
  // The warp that executes it, no other.
  one("warp", "setp.ne.u32 %p2, %w, 0; @%p2 bra D1;\n" + kRaise +
                  "D1: setp.eq.u32 %p2, %w, [-0-][+1+];\n@!%p2 bra D2; @%p1 bra D2;\nD2:\n");
  return c;
}

class UnsetRegisters : public testing::TestWithParam<HazardCase> {};
TEST_P(UnsetRegisters, WrongKernelIsReported) { expectReported(GetParam()); }
TEST_P(UnsetRegisters, RightTwinIsSilent) { expectSilent(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, UnsetRegisters, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.label; });

TEST(UnsetRegisters, SaysWhichAndFor) {
  Scene scene;
  scene.options.hazards.mode = HazardMode::on;
  Ran r = run(kernel(kRaise + "ld.global.u32 %r20, [%rd30];", "sm_100a"), scene);
  EXPECT_NE(
      r.error.find("register_unset: register of an address must have been written, got %rd30, "
                   "which no instruction writes"),
      std::string::npos)
      << r.error;
}

// Compilers leave undefined values where they do not matter.
TEST(UnsetRegisters, MovesPacksSelectsAndStoredDataAreSilent) {
  HazardCase c;
  c.label = "RG1";
  c.body = kRaise +
           "mov.u32 %r20, %r40; mov.b64 %rd5, {%r40, %r41}; selp.b32 %r20, %r20, %r42, %p6;"
           "\nadd.u32 %r20, %r20, %r43; @%p6 st.global.u32 [%out], %r44;\n"
           "@%p6 st.shared.v2.u32 [%b+1024], {%r45, %r46};\n";
  expectSilent(c);
}

} // namespace
