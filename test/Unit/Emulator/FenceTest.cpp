//===- FenceTest.cpp - every fence, with and without ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory is sequentially consistent here, so a fence changes no value: what it changes is
// whether the hazard checks are silent. Each kernel is right with its fences and reported
// without.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *kVars = ".shared .align 1024 .b8 buf[4096];\n.shared .align 8 .b8 bar[16];\n"
                    ".shared .align 4 .b8 flag[8];\n";

struct Fences {
  std::string writer, reader;
};
void PrintTo(const Fences &f, std::ostream *out) { *out << f.writer << " " << f.reader; }

Ran runChecked(const std::string &body) {
  Scene s;
  s.options = {};
  s.block = {64, 1, 1};
  return run(kernel(body, "sm_107a", kVars), s);
}

/// Warp 0 stores and raises a flag, warp 1 polls it and reads, both relaxed.
std::string handOver(const std::string &writer, const std::string &reader) {
  return "shr.u32 %r9, %t, 5; mov.u32 %r8, 0; setp.eq.u32 %p0, %t, 0;\n"
         "@%p0 st.shared.u32 [flag], %r8; bar.sync 0; setp.eq.u32 %p1, %t, 32; setp.ne.u32 %p2, "
         "%r9, 0;\n@%p2 bra R; @!%p0 bra Z; mov.u32 %r7, 5; st.shared.u32 [buf], %r7;\n" +
         writer +
         "\nmov.u32 %r6, 1; st.relaxed.cta.shared.u32 [flag], %r6; bra Z;\nR: @!%p1 bra Z;\nP: "
         "ld.relaxed.cta.shared.u32 %r5, [flag]; setp.eq.u32 %p3, %r5, 0; @%p3 bra P;\n" +
         reader + "\nld.shared.u32 %r4, [buf]; st.global.u32 [%out], %r4; Z:";
}

std::vector<Fences> threadFences() {
  std::vector<Fences> out;
  for (const char *membar : {"membar.cta;", "membar.gl;", "membar.sys;"})
    out.push_back({membar, membar});
  for (const char *scope : {"cta", "cluster", "gpu", "sys"}) {
    const std::string s = std::string(".") + scope + ";";
    out.push_back({"fence" + s, "fence" + s});
    out.push_back({"fence.sc" + s, "fence.sc" + s});
    out.push_back({"fence.acq_rel" + s, "fence.acq_rel" + s});
    out.push_back({"fence.release" + s, "fence.acquire" + s});
  }
  out.push_back({"fence.release.sync_restrict::shared::cta.cluster;",
                 "fence.acquire.sync_restrict::shared::cluster.cluster;"});
  return out;
}

class ThreadFence : public ::testing::TestWithParam<Fences> {};

TEST_P(ThreadFence, OrdersWhatARelaxedFlagHandsOver) {
  const Fences &f = GetParam();
  Ran r = runChecked(handOver(f.writer, f.reader));
  EXPECT_EQ(r.error, "");
  ASSERT_FALSE(r.out.empty());
  EXPECT_EQ(r.out[0], 5u);
  EXPECT_NE(runChecked(handOver("", f.reader)).error.find("hazard"), std::string::npos);
  EXPECT_NE(runChecked(handOver(f.writer, "")).error.find("hazard"), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(All, ThreadFence, ::testing::ValuesIn(threadFences()));

/// One warp arrives, another waits: what the first stored is there.
TEST(NamedBarrierForms, ArriveHandsOver) {
  for (std::string form : {"bar.arrive", "bar.cta.arrive", "barrier.arrive", "barrier.cta.arrive",
                           "barrier.arrive.aligned", "barrier.cta.arrive.aligned"})
    for (bool arrives : {true, false}) {
      Ran r = runChecked("setp.lt.u32 %p0, %t, 32; setp.eq.u32 %p1, %t, 0; @!%p0 bra A;\n"
                         "mov.u32 %r7, 5; @%p1 st.shared.u32 [buf], %r7;\n" +
                         (arrives ? std::string(form).append(" 1, 64; ") : std::string()) +
                         "bra Z;\nA: bar.sync 1, 64; setp.eq.u32 %p1, %t, 32; @%p1 ld.shared.u32 "
                         "%r4, [buf]; @%p1 st.global.u32 [%out], %r4; Z:");
      EXPECT_EQ(r.error.empty(), arrives) << form << ": " << r.error;
      if (arrives) {
        EXPECT_EQ(r.out[0], 5u) << form;
      }
    }
}

/// Each CTA of two stores into the other.
TEST(ClusterBarrierForms, WaitShowsWhatTheOtherStored) {
  for (std::string wait : {"", ".acquire", ".aligned", ".acquire.aligned"})
    for (std::string arrive : {"", ".release", ".aligned", ".release.aligned"}) {
      Scene s;
      s.options = {};
      s.grid = s.cluster = {2, 1, 1};
      s.outWords = 2;
      Ran r = run(kernel("mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1; mov.u32 %r2, buf; "
                         "mapa.shared::cluster.u32 %r3, %r2, %r1; setp.eq.u32 %p0, %t, 0;\n"
                         "barrier.cluster.arrive; barrier.cluster.wait;\n"
                         "@%p0 st.shared::cluster.u32 [%r3], %r1; barrier.cluster.arrive" +
                             arrive + "; barrier.cluster.wait" + wait +
                             ";\n@%p0 ld.shared.u32 %r4, [buf]; mad.wide.u32 %rd0, %r0, 4, %out; "
                             "@%p0 st.global.u32 [%rd0], %r4;",
                         "sm_107a", kVars),
                  s);
      ASSERT_EQ(r.error, "") << arrive << wait;
      EXPECT_EQ(r.out, (std::vector<uint32_t>{0, 1})) << arrive << wait;
    }
}

/// A relaxed arrival hands over what fence.mbarrier_init covers.
TEST(ClusterBarrierForms, RelaxedArrivalAfterItsFence) {
  for (std::string arrive : {"arrive.relaxed", "arrive.relaxed.aligned"}) {
    Scene s;
    s.options = {};
    s.grid = s.cluster = {2, 1, 1};
    Ran r = run(kernel("mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1; mov.u32 %r2, bar; "
                       "mapa.shared::cluster.u32 %r3, %r2, %r1; setp.eq.u32 %p0, %t, 0;\n"
                       "@%p0 mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release."
                       "cluster; barrier.cluster." +
                           arrive +
                           "; barrier.cluster.wait;\n@%p0 mbarrier.arrive.release.cluster.shared::"
                           "cluster.b64 _, [%r3];\nW: mbarrier.try_wait.parity.acquire.cluster."
                           "shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;",
                       "sm_107a", kVars),
                s);
    EXPECT_EQ(r.error, "") << arrive;
  }
}

TEST(Control, BreakpointsStopTheKernel) {
  EXPECT_NE(runChecked("brkpt;").error.find("trap: kernel must not trap"), std::string::npos);
  EXPECT_EQ(runChecked("setp.ne.u32 %p0, %t, %t; @%p0 brkpt;").error, "");
}

/// Threads store, and one of them has it copied out.
std::string copyOut(const std::string &writer, const std::string &issuer) {
  return "shl.b32 %r9, %t, 2; mov.u32 %r8, buf; add.u32 %r9, %r9, %r8; st.shared.u32 [%r9], %t;\n" +
         writer + " bar.sync 0;\n" + issuer +
         " setp.eq.u32 %p0, %t, 0; @%p0 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r8], "
         "256;\n@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0;";
}

class ProxyFence : public ::testing::TestWithParam<std::string> {};

TEST_P(ProxyFence, ShowsStoresToTheAsyncProxy) {
  const std::string &f = GetParam();
  Ran r = runChecked(copyOut(f, ""));
  EXPECT_EQ(r.error, "");
  ASSERT_FALSE(r.out.empty());
  EXPECT_EQ(r.out[63], 63u);
  EXPECT_EQ(runChecked(copyOut("", f)).error, "");
  EXPECT_NE(runChecked(copyOut("", "")).error.find("[PX1]"), std::string::npos);
  EXPECT_NE(runChecked(copyOut("fence.proxy.async.global;", "")).error.find("[PX1]"),
            std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(
    All, ProxyFence,
    ::testing::Values("fence.proxy.async;", "membar.proxy.async;", "fence.proxy.async.shared::cta;",
                      "fence.proxy.async.shared::cluster;",
                      "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
                      "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read."
                      "cluster;",
                      "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster."
                      "cluster;"));

} // namespace
