//===- HazardDenialTest.cpp - what an assumption excuses ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A2, A4, A5, A6 and A7 denied. With the assumption both kernels of a case are silent.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

std::vector<HazardCase> cases() {
  std::vector<HazardCase> c;
  auto add = [&](std::string label, std::string body, Setup setup, unsigned assumption,
                 unsigned ctas) {
    c.push_back({std::move(label), std::move(body), setup, HazardLevel::strict});
    c.back().options.denied = 1u << assumption;
    if (ctas > 1)
      c.back().cluster = {ctas, 1, 1};
  };
  const std::string peerBar = "xor.b32 %r13, %cr, 1; mov.u32 %r15, bar; add.u32 %r15, %r15, 8; "
                              "mapa.shared::cluster.u32 %r15, %r15, %r13;\n";
  // The second copy's columns lie in those of the scales of B, but are not their address.
  add("TM7_overlap",
      elected(0,
              "tcgen05.cp.cta_group::1.128x256b [%tm+[-132-][+136+]], %ds;\n" + mma() + commit(0)) +
          wait(0, 0),
      Setup::tensor, 2, 1);
  // D43: every lane has read the result of a load, without a wait.
  add("TM3_consumed",
      elected(0, mma() + commit(0)) + wait(0, 0) +
          inWarp(1, "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r1];\n"
                    "[+tcgen05.wait::ld.sync.aligned;\n+]add.u32 %r21, %r20, 1;\n") +
          elected(1, "mbarrier.arrive.shared::cta.b64 _, [bar+8];\n") +
          elected(0, wait(1, 0) + mma() + commit(2) + wait(2, 0)) + inWarp(1, wait(2, 0)),
      Setup::tensor, 4, 1);
  // The phase of bar + 8 is known through the arrival of a commit alone.
  const std::string arrive1 = "mbarrier.arrive.shared::cta.b64 _, [bar+8];\n";
  add("MB4_commit",
      elected(1, arrive1) + elected(0, wait(1, 0) + mma() + commit(2)) +
          elected(1, wait(2, 0) + "[+" + wait(1, 0) + "+]" + arrive1) + wait(2, 0),
      Setup::tensor, 6, 1);
  // So is the copy that the second one overwrites.
  auto copyBy = [](int barrier) {
    const std::string at = "[bar+" + std::to_string(8 * barrier) + "]";
    return "mbarrier.arrive.expect_tx.shared::cta.b64 _, " + at +
           ", 128; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], [%in], "
           "128, " +
           at + ";\n";
  };
  add("OS13",
      "add.u32 %r10, %b, 1024;\n" + elected(1, copyBy(0)) + elected(0, wait(0, 0) + commit(2)) +
          elected(1, wait(2, 0) + "[+" + wait(0, 0) + "+]" + copyBy(1)) + wait(1, 0),
      Setup::tensor, 6, 1);
  add("MB8_arrive",
      peerBar +
          elected(0, "mbarrier.arrive.release.[-cta-][+cluster+].shared::cluster.b64 _, "
                     "[%r15];\n") +
          wait(1, 0, ".acquire.cluster"),
      Setup::shared, 5, 2);
  add("MB8_wait",
      peerBar + elected(0, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];\n") +
          wait(1, 0, ".acquire.[-cta-][+cluster+]"),
      Setup::shared, 5, 2);
  add("PX4",
      elected(0, mma() + commit(0)) + wait(0, 0) +
          "[+fence.proxy.async.shared::cta;\n+]@%p6 st.shared.u32 [%b], %t;\n",
      Setup::tensor, 7, 1);
  // One CTA's copy into both, then each stores its own.
  const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  add("PX4_cluster",
      "add.u32 %r10, %b, 1024; mad.wide.u32 %out, %cr, 128, %out;\n" +
          elected(0, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n") + sync +
          elected(0, "setp.ne.u32 %p2, %cr, 0; @%p2 bra P1; mov.u16 %h0, 3;\n"
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
                     "multicast::cluster [%r10], [%in], 128, [bar], %h0;\nP1:\n") +
          wait(0, 0) + "[+fence.proxy.async.shared::cta;\n+]" +
          elected(0, "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r10], 128;\n"
                     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"),
      Setup::shared, 7, 2);
  return c;
}

TEST(CommitDenied, WithoutA6TheReportSaysWhatACommitDoesNot) {
  for (const HazardCase &c : cases())
    if (c.label == "MB4_commit") {
      Ran r = runCase(c, /*isRight=*/false, unchecked());
      ASSERT_EQ(r.stats.warnings.size(), 1u);
      for (const char *part :
           {"arrives at mbarrier 0x5408..0x540f of cta rank 0 in phase 1 but no wait for the phase "
            "before, whose last arrival is at t.ptx:",
            ", is ordered ahead of it; with A6 denied the arrival of tcgen05.commit is no release "
            "of earlier waits\n  missing: a wait for the previous phase before the arrival  [MB4]"})
        EXPECT_NE(r.stats.warnings[0].find(part), std::string::npos) << r.stats.warnings[0];
    }
}

class DeniedHazards : public testing::TestWithParam<HazardCase> {};
TEST_P(DeniedHazards, WrongKernelIsReported) { expectReported(GetParam()); }
TEST_P(DeniedHazards, RightTwinIsSilent) { expectSilent(GetParam()); }
TEST_P(DeniedHazards, TheAssumptionExcusesBoth) {
  HazardCase c = GetParam();
  c.options = {};
  expectSilent(c);
  for (const Options &o : allTimings()) {
    Ran r = runCase(c, /*isRight=*/false, o);
    EXPECT_EQ(r.error, "");
    EXPECT_TRUE(r.stats.warnings.empty()) << r.stats.warnings[0];
  }
}
INSTANTIATE_TEST_SUITE_P(All, DeniedHazards, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.label; });

} // namespace
