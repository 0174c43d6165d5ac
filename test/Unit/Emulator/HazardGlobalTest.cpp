//===- HazardGlobalTest.cpp - hazards of global memory --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between threads, CTAs and clusters; see HazardTest.cpp. The input holds zeros: a
// flag in its first word, data from byte 128 on.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

#include <regex>

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

// CTA 0 produces, CTA 1 consumes.
std::string twoRoles(const std::string &producer, const std::string &consumer) {
  return "mov.u32 %r21, %ctaid.x; setp.ne.u32 %p2, %r21, 0; @%p2 bra C1;\n" + producer +
         "bra D1;\nC1:\n" + consumer + "D1:\n";
}
std::string poll(const std::string &order = "acquire.gpu") {
  std::string text = "G1: ld.";
  text += order;
  return text += ".global.u32 %r20, [%in]; setp.eq.u32 %p3, %r20, 0; @%p3 bra G1;\n";
}
std::string signal(const std::string &order = "release.gpu") {
  std::string text = "st.";
  text += order;
  return text += ".global.u32 [%in], 1;\n";
}
const std::string kPut = "st.global.u32 [%in+128], 7;\n";
const std::string kGet = "ld.global.u32 %r22, [%in+128];\n";
const std::string kGpuFence = "fence.acq_rel.gpu;\n";
const std::string kTakeData =
    "add.u32 %r10, %b, 1024; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
    "add.u64 %rd5, %in, 128;\n"
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], [%rd5], 64, [bar];\n";
const std::string kPutData = "add.u32 %r10, %b, 1024; add.u64 %rd5, %in, 128;\n"
                             "cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r10], 64;\n"
                             "cp.async.bulk.commit_group;\n";

std::vector<HazardCase> cases() {
  using L = HazardLevel;
  std::vector<HazardCase> c;
  auto one = [&](std::string label, std::string body, L level = L::error) {
    c.push_back({std::move(label), std::move(body), Setup::shared, level});
  };
  // In two CTAs, each a cluster.
  auto two = [&](std::string label, std::string body, L level = L::error) {
    one(std::move(label), std::move(body), level);
    c.back().grid = {2, 1, 1};
  };
  two("GM1", "mov.u32 %r20, %ctaid.x; add.u32 %r21, %t, %r20; [-mov.u32 %r20, 0;-]\n"
             "mad.wide.u32 %po, %r20, 512, %po; st.global.u32 [%po], %r21;\n");
  two("GM1_read", "mov.u32 %r20, %ctaid.x; setp.eq.u32 %p2, %r20, 0;\n"
                  "@!%p2 ld.global.u32 %r22, [%po]; @%p2 st.global.u32 [%po+[-0-][+512+]], 7;\n");
  two("GM1_release",
      twoRoles(elected(0, kPut + signal("[-relaxed-][+release+].gpu")), elected(0, poll() + kGet)));
  two("GM1_acquire",
      twoRoles(elected(0, kPut + signal()), elected(0, poll("[-relaxed-][+acquire+].gpu") + kGet)));
  two("GM1_scope",
      twoRoles(elected(0, kPut + signal("release.[-cta-][+gpu+]")), elected(0, poll() + kGet)));
  two("GM1_fence", twoRoles(elected(0, kPut + "[+" + kGpuFence + "+]" + signal("relaxed.gpu")),
                            elected(0, poll("relaxed.gpu") + kGpuFence + kGet)));
  two("GM1_fenceScope",
      twoRoles(elected(0, kPut + kGpuFence + signal("relaxed.gpu")),
               elected(0, poll("relaxed.gpu") + "fence.acq_rel.[-cta-][+gpu+];\n" + kGet)));
  // A barrier hands over what all threads of a CTA did, on either side.
  const std::string mine = "mad.wide.u32 %pi, %t, 4, %in; setp.lt.u32 %p1, %t, 32;\n";
  two("GM1_writers",
      mine + twoRoles("@%p1 st.global.u32 [%pi+128], %t;\n[+bar.sync 0;\n+]" +
                          elected(0, "red.release.gpu.global.add.u32 [%in], 1;\n"),
                      elected(0, poll()) + "bar.sync 0; @%p1 ld.global.u32 %r22, [%pi+128];\n"));
  two("GM1_readers", mine + twoRoles("@%p1 st.global.u32 [%pi+128], %t;\nbar.sync 0;\n" +
                                         elected(0, "red.release.gpu.global.add.u32 [%in], 1;\n"),
                                     elected(1, poll()) +
                                         "[+bar.sync 0;\n+]@%p1 ld.global.u32 %r22, [%pi+128];\n"));
  // Each thread its own flag.
  two("GM1_flags",
      "mad.wide.u32 %pi, %t, 4, %in; setp.ge.u32 %p1, %t, 16; @%p1 bra D1;\n" +
          twoRoles(
              "st.global.u32 [%pi+128], %t; st.release.gpu.global.u32 [%pi], 1;\n",
              "G1: ld.acquire.gpu.global.u32 %r20, [%pi]; setp.eq.u32 %p3, %r20, 0; @%p3 bra G1;\n"
              "[-xor.b32 %r20, %t, 1; mad.wide.u32 %pi, %r20, 4, %in;\n-]"
              "ld.global.u32 %r22, [%pi+128];\n"));
  // Strong accesses of different sizes race.
  two("GM1_sizes", elected(0, "mov.u32 %r20, %ctaid.x; setp.eq.u32 %p2, %r20, 0;\n"
                              "@%p2 red.relaxed.gpu.global.add.u64 [%in], 1;\n"
                              "@!%p2 red.relaxed.gpu.global.add.[-u32-][+u64+] [%in+[-4-][+0+]], "
                              "1;\n"));
  two("GM1_flagSize", twoRoles(elected(0, kPut + "mov.u64 %rd5, 1; st.release.gpu.global.u64 "
                                                 "[%in], %rd5;\n"),
                               elected(0, "G1: ld.acquire.gpu.global.u[-32 %r20-][+64 %rd6+], "
                                          "[%in]; [+cvt.u32.u64 %r20, %rd6;+]\nsetp.eq.u32 %p3, "
                                          "%r20, 0; @%p3 bra G1;\n" +
                                              kGet)));
  one("OS2_sizes",
      "@%p6 st.shared.u64 [%b], 0;\nbar.sync 0;\n" +
          elected(0, "atom.relaxed.cta.shared.add.u64 %rd5, [%b], 1;\n") +
          elected(1,
                  "atom.relaxed.cta.shared.add.[-u32 %r20-][+u64 %rd5+], [%b+[-4-][+0+]], 1;\n"));
  // A CTA clears the counter, then all count.
  const std::string clear = "mov.u32 %r20, %ctaid.x; setp.eq.u32 %p2, %r20, 0;\n"
                            "[-@%p2 st.global.u32 [%in], 0;-]\n";
  two("GM1_counter", elected(0, clear + "red.relaxed.gpu.global.add.u32 [%in], 1;\n"));
  two("GM1_counterOrdered",
      elected(0, clear + "atom.acq_rel.gpu.global.add.u32 %r22, [%in], 1;\n"));
  // The first store finds its value there by chance: OS6 is of two that agree.
  one("OS7_chance", "shr.u32 %r20, %t, 5; @[+!+]%p6 bra S1; st.global.u32 [%in], %r20;\nS1:\n",
      L::warning);
  // The elements of a vector are accesses of their own.
  two("GM1_vector",
      twoRoles(elected(0,
                       "mov.u64 %rd5, 1; mov.u32 %r23, 1; st.relaxed.gpu.global.[-u64 [%in], %rd5-]"
                       "[+v2.u32 [%in], {%r23, %r23}+];\n"),
               elected(0, "ld.relaxed.gpu.global.u32 %r20, [%in+4];\n")));
  // The last CTA to count takes what all have written (CUDA's sample threadFenceReduction): each
  // thread has a fence of its own, but another one counts.
  const std::string lastBlock =
      "mov.u32 %r21, %ctaid.x; mad.wide.u32 %rd5, %r21, 512, %po; st.global.u32 [%rd5], %t;\n"
      "EACH bar.sync 0;\nAHEAD @%p6 atom.relaxed.gpu.global.add.u32 %r20, [%in], 1;\nBEHIND "
      "@%p6 st.shared.u32 [%b], %r20;\nbar.sync 0;\nld.shared.u32 %r20, [%b];\n"
      "setp.ne.u32 %p2, %r20, 1; @%p2 bra D1;\n"
      "ld.global.u32 %r22, [%po]; ld.global.u32 %r22, [%po+512];\nD1:\n";
  auto fences = [&](const char *each, const char *ahead, const char *behind) {
    std::string text = lastBlock;
    text.replace(text.find("EACH"), 4, each);
    text.replace(text.find("AHEAD"), 5, ahead);
    return text.replace(text.find("BEHIND"), 6, behind);
  };
  const char *const fence = "fence.acq_rel.gpu;\n";
  const char *const missing = "[+fence.acq_rel.gpu;\n+]";
  const char *const scope = "fence.acq_rel.[-cta-][+gpu+];\n";
  two("GM1_lastBlock", fences(missing, "", ""));
  two("GM1_lastBlockScope", fences(scope, "", ""));
  two("GM1_lastBlockReader", fences("", missing, fence));
  two("OS10", fences(fence, missing, missing), L::warning);
  two("OS10_write", fences(fence, missing, fence), L::warning);
  two("OS10_read", fences("", fence, missing), L::warning);
  // Who found the flag set may reset it; so may whoever is behind that thread.
  const std::string raise = kGpuFence + "red.relaxed.gpu.global.add.u32 [%in], 1;\n";
  const std::string lower = "st.global.u32 [%in], 0;\n";
  two("GM1_reset", twoRoles(elected(0, kPut + raise), elected(0, "[+" + poll() + "+]" + lower)));
  two("GM1_resetByAnother", twoRoles(elected(0, kPut + raise),
                                     elected(0, poll()) + "[+bar.sync 0;\n+]" + elected(1, lower)));
  two("GM1_resetOther",
      twoRoles(elected(0, "st.global.u32 [%in+4], 1;\n" + raise),
               elected(0, poll("relaxed.gpu") + "st.global.u32 [%in[-+4-]], 0;\n")));
  // A compare-and-swap fails where its first guess was wrong.
  auto countBySwaps = [](const std::string &load, const std::string &guess) {
    return load + "S1: add.u32 %r21, %r20, 1; atom.CAS.b32 %r22, [ADDRESS], " + guess +
           ", %r21;\nsetp.ne.u32 %p2, %r22, %r20; mov.u32 %r20, %r22; @%p2 bra S1;\n";
  };
  auto at = [](std::string text, const std::string &space, const std::string &address) {
    text.replace(text.find("CAS"), 3, space + ".cas");
    return text.replace(text.find("ADDRESS"), 7, address);
  };
  two("OS11",
      at(countBySwaps("ld.[+relaxed.gpu.+]global.u32 %r20, [%in];\n", "%r20"), "global", "%in"),
      L::warning);
  one("OS11_shared",
      "@%p6 st.shared.u32 [%b], 0;\nbar.sync 0;\n" +
          at(countBySwaps("ld.[+relaxed.cta.+]shared.u32 %r20, [%b];\n", "%r20"), "shared", "%b"),
      L::warning);
  two("GM1_noGuess", at(countBySwaps("ld.[+relaxed.gpu.+]global.u32 %r23, [%in];\n"
                                     "mov.u32 %r20, %r23;\n",
                                     "%r20"),
                        "global", "%in"));
  // Its own relaxed read tells a thread nothing.
  two("GM1_noBarrier", twoRoles(elected(0, kPut + kGpuFence + signal("relaxed.gpu")),
                                elected(0, poll("relaxed.gpu") + "[+" + kGpuFence + "+]" + kGet)));
  one("GM1_cluster", "mov.u32 %cr, %cluster_ctarank; xor.b32 %r20, %cr, 1;\n"
                     "mad.wide.u32 %rd5, %cr, 512, %po; mad.wide.u32 %rd6, %r20, 512, %po;\n"
                     "st.global.u32 [%rd5], %t;\n[+barrier.cluster.arrive.aligned; "
                     "barrier.cluster.wait.aligned;\n+]ld.global.u32 %r22, [%rd6];\n");
  c.back().cluster = {2, 1, 1};
  two("GM1_store", twoRoles(elected(0, kPutData + "[+cp.async.bulk.wait_group 0;\n+]" + signal() +
                                           "cp.async.bulk.wait_group 0;\n"),
                            elected(0, poll() + kGet)));
  two("GM2",
      twoRoles(elected(0, kPut + signal()),
               elected(0, poll() + "[+fence.proxy.async.global;\n+]" + kTakeData + wait(0, 0))),
      L::warning);
  two("GM2_space",
      twoRoles(elected(0, kPut + signal()),
               elected(0, poll() + "fence.proxy.async.[-shared::cta-][+global+];\n" + kTakeData +
                              wait(0, 0))),
      L::warning);
  one("PX1_load", elected(0, kPut + "[+fence.proxy.async;\n+]" + kTakeData + wait(0, 0)));
  one("PX1_space",
      elected(0, kPut + "fence.proxy.async.[-shared::cta-][+global+];\n" + kTakeData + wait(0, 0)));
  one("BK2", elected(0, kPutData + "cp.async.bulk.wait_group[-.read-] 0;\n" + kGet), L::warning);
  two("BK2_published",
      twoRoles(elected(0, kPutData + "cp.async.bulk.wait_group[-.read-] 0;\n" + signal()),
               elected(0, poll() + kGet)),
      L::warning);
  one("OS1_store", elected(0, kPutData + "[+cp.async.bulk.wait_group 0;\n+]" + kGet +
                                  "cp.async.bulk.wait_group 0;\n"));
  one("OS3_source", elected(0, kTakeData + "[+" + wait(0, 0) + "+]" + kPut + wait(0, 0)));
  one("OS7",
      "st.global.u32 [%po], %t;\n[+bar.sync 0;\n+]xor.b32 %r20, %t, 64; "
      "mad.wide.u32 %rd5, %r20, 4, %out; ld.global.u32 %r22, [%rd5];\n",
      L::warning);
  two("OS6_clusters",
      "mov.u32 %r20, [-0-][+%ctaid.x+]; mad.wide.u32 %po, %r20, 512, %po;\n"
      "st.global.u32 [%po], 0xAAAAAAAA;\n",
      L::warning);
  // Different values, whatever lies in memory (0xAA) before.
  two("GM1_value",
      "mov.u32 %r21, %ctaid.x; setp.eq.u32 %p2, %r21, 0;\n"
      "selp.b32 %r21, 0xAAAAAAAA, [-7-][+0xAAAAAAAA+], %p2; st.global.u32 [%po], %r21;\n");
  two("GM1_byte",
      elected(0, "mov.u32 %r21, %ctaid.x; setp.eq.u32 %p2, %r21, 0; mov.u32 %r22, "
                 "0x0A0B0C0D; mov.u16 %h0, [-0x0D-][+0x0C+];\n"
                 "@%p2 st.global.u32 [%out], %r22; @!%p2 st.global.u8 [%out+1], %h0;\n"));
  two("GM1_first", "[-st.global.u32 [%po], 5;-]\nst.global.u32 [%po], 6;\n");
  return c;
}

class GlobalHazards : public testing::TestWithParam<HazardCase> {};
TEST_P(GlobalHazards, WrongKernelIsReported) { expectReported(GetParam()); }
TEST_P(GlobalHazards, RightTwinIsSilent) { expectSilent(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, GlobalHazards, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.label; });

// Neighbours of ragged tiles share 32 bytes but no byte; a column that all read is written by none.
TEST(GlobalHazards, NeighboursOfOneCellAreNoConflict) {
  Scene s;
  s.grid = {4, 1, 1};
  s.block = {21, 1, 1};
  s.options.hazards.mode = HazardMode::on;
  Ran r = run(kernel("mov.u32 %r0, %ctaid.x; mul.lo.u32 %r0, %r0, 21; add.u32 %r0, %r0, %t;\n"
                     "ld.global.u32 %r1, [%in]; cvt.u16.u32 %h0, %r0; mad.wide.u32 %po, %r0, 2, "
                     "%out; st.global.u16 [%po], %h0;\n"),
              s);
  EXPECT_EQ(r.error, "");
  EXPECT_TRUE(r.stats.warnings.empty());
}

// The clusters end in any order on several host threads.
TEST(GlobalHazards, ReportsDoNotDependOnHostThreads) {
  std::string text =
      kernel("mov.u32 %r0, %ctaid.x; and.b32 %r1, %r0, 3; mad.wide.u32 %po, %r1, 128, %po;\n"
             "setp.ge.u32 %p0, %r0, 8; setp.eq.u32 %p1, %r0, 13;\n"
             "@%p0 ld.global.u32 %r2, [%po+4]; add.u32 %r0, %r0, %t; st.global.u32 [%po], %r0;\n"
             "@%p1 st.global.u32 [%out+512], %r0;\n");
  std::string first;
  for (unsigned threads : {1u, 2u, 4u, 4u, 4u}) {
    Scene s;
    s.grid = {16, 1, 1};
    s.options.hazards.mode = HazardMode::on;
    s.options.threads = threads;
    Ran r = run(text, s);
    EXPECT_NE(r.error.find("[GM1]"), std::string::npos) << r.error;
    if (first.empty())
      first = r.error;
    EXPECT_EQ(r.error, first) << threads;
  }
}

// Which cluster finds its value in memory is chance; reports are not.
TEST(GlobalHazards, ValuesAreComparedWhateverClusterComesFirst) {
  // Words 0: 0 over 0 or 7; 1: all 5; 2: 1 and 2; 3: both threads of a cluster the same.
  std::string text = kernel(
      "mov.u32 %r0, %ctaid.x; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0;\n"
      "setp.ne.u32 %p1, %t, 0; @%p1 bra D1;\nselp.b32 %r2, 0, 7, %p0; st.global.u32 [%in], %r2;\n"
      "st.global.u32 [%in+4], 5;\nadd.u32 %r2, %r1, 1; st.global.u32 [%in+8], %r2;\n"
      "D1: setp.eq.u32 %p1, %t, 32; @%p1 bra D2; setp.ne.u32 %p1, %t, 0; @%p1 bra D3;\n"
      "D2: st.global.u32 [%in+12], %r1;\nD3:\n");
  std::string first;
  for (uint64_t seed : {0, 1, 2, 3})
    for (unsigned threads : {1u, 2u, 4u, 4u}) {
      Scene s;
      s.grid = {16, 1, 1};
      s.block = {64, 1, 1};
      s.options.hazards.mode = HazardMode::on;
      s.options.threads = threads;
      s.options.seed = seed;
      s.options.timing = seed ? Timing::random : Timing::latest;
      Ran r = run(text, s);
      // Which warp of a cluster came last is the seed's.
      const std::string all = std::regex_replace(r.error, std::regex("warp [01]"), "warp");
      size_t count = 0;
      for (size_t at = 0; (at = all.find("[GM1]", at)) != std::string::npos; ++at)
        ++count;
      EXPECT_EQ(count, 3u) << all;
      if (first.empty())
        first = all;
      EXPECT_EQ(all, first) << threads << " threads, seed " << seed;
    }
}

} // namespace
