//===- DivergenceTest.cpp - branches, loops and reconvergence -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

uint32_t value(const std::string &body, size_t i, Scene s = {}) {
  Ran r = run(
      kernel(body, "sm_100a", ".shared .align 8 .b8 bar[8];\n.shared .align 4 .b8 buf[256];\n"), s);
  EXPECT_EQ(r.error, "");
  return r.error.empty() ? r.out[i] : 0;
}

TEST(Divergence, TripCountsPerLane) {
  std::string body =
      "mov.u32 %r0, 0; mov.u32 %r1, 0; L: setp.ge.u32 %p0, %r1, %t; @%p0 bra E; add.u32 %r0, %r0, "
      "%r1; add.u32 %r1, %r1, 1; bra L; E: st.global.u32 [%po], %r0;";
  EXPECT_EQ(value(body, 10), 45u);
  EXPECT_EQ(value(body, 0), 0u);
}

TEST(Divergence, ColdBlockBehindTheReturn) {
  // The join lies before the cold block, so the warp meets again only at the shuffle.
  std::string body =
      "mov.u32 %r0, 1; setp.eq.u32 %p0, %t, 5; @%p0 bra COLD; JOIN: shfl.sync.idx.b32 %r1, %r0, 5, "
      "31, -1; st.global.u32 [%po], %r1; ret;\nCOLD: mov.u32 %r0, 77; bra JOIN;";
  EXPECT_EQ(value(body, 20), 77u);
}

TEST(Divergence, ElectedLaneWorksWhileOthersWait) {
  std::string body = "mov.u32 %r3, 0; elect.sync _|%p0, -1; @!%p0 bra S; L: add.u32 %r3, %r3, 1; "
                     "setp.lt.u32 %p1, %r3, 100; @%p1 bra L; st.shared.u32 [buf], %r3; S: "
                     "bar.warp.sync -1; ld.shared.u32 %r4, [buf]; st.global.u32 [%po], %r4;";
  EXPECT_EQ(value(body, 31), 100u);
}

TEST(Divergence, NestedBranches) {
  std::string body =
      "and.b32 %r0, %t, 1; and.b32 %r1, %t, 2; setp.ne.u32 %p0, %r0, 0; setp.ne.u32 %p1, %r1, 0;\n"
      "@%p0 bra A; @%p1 bra B; mov.u32 %r2, 10; bra J; B: mov.u32 %r2, 20; bra J; A: @%p1 bra C; "
      "mov.u32 %r2, 30; bra J; C: mov.u32 %r2, 40; J: redux.sync.add.s32 %r3, %r2, -1; add.u32 "
      "%r2, %r2, %r3; st.global.u32 [%po], %r2;";
  EXPECT_EQ(value(body, 0), 810u);
  EXPECT_EQ(value(body, 1), 830u);
  EXPECT_EQ(value(body, 2), 820u);
  EXPECT_EQ(value(body, 3), 840u);
}

TEST(Divergence, LanesOfOneWarpSignalEachOther) {
  // Lane 0 waits at a lower address than the lanes that arrive.
  std::string body =
      "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [bar], 31; bar.sync 0; @!%p0 bra A;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W; mov.u32 %r0, 5; "
      "st.global.u32 [%po], %r0; bra E; A: mbarrier.arrive.shared.b64 _, [bar]; E:";
  EXPECT_EQ(value(body, 0), 5u);
}

TEST(Divergence, SpinOnSharedMemoryWithinAWarp) {
  std::string body = "setp.eq.u32 %p0, %t, 0; mov.u32 %r0, 0; @%p0 st.shared.u32 [buf], %r0; "
                     "bar.warp.sync -1; @!%p0 bra A;\n"
                     "W: ld.volatile.shared.u32 %r1, [buf]; setp.eq.u32 %p1, %r1, 0; @%p1 bra W; "
                     "st.global.u32 [%po], %r1; bra E; A: setp.eq.u32 %p2, %t, 1; mov.u32 %r2, 9; "
                     "@%p2 st.shared.u32 [buf], %r2; E:";
  EXPECT_EQ(value(body, 0), 9u);
}

TEST(Divergence, ExitedLanesAreNotWaitedFor) {
  std::string body = "setp.gt.u32 %p0, %t, 7; @%p0 ret; bar.sync 0; vote.sync.ballot.b32 %r0, 1, "
                     "-1; st.global.u32 [%po], %r0;";
  EXPECT_EQ(value(body, 7), 0xFFu);
}

TEST(Divergence, AlignedInstructionsAreGuardedAlike) {
  for (const char *aligned :
       {"bar.sync 0;", "barrier.sync.aligned 0;", "tcgen05.wait::ld.sync.aligned;",
        "barrier.cluster.arrive.aligned; @%p0 barrier.cluster.wait.aligned;",
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"}) {
    auto error = [&](const std::string &condition) {
      return run(kernel("setp." + condition + "; @%p0 " + aligned, "sm_100a"), {}).error;
    };
    EXPECT_NE(error("gt.u32 %p0, %t, 7")
                  .find("warp_aligned: guard of an .aligned instruction must "
                        "be the same in all lanes, got lanes 0xffffff00 of "
                        "0xffffffff"),
              std::string::npos)
        << aligned;
    EXPECT_EQ(error("ge.u32 %p0, %t, 0"), "") << aligned;
    EXPECT_EQ(error("lt.u32 %p0, %t, 0"), "") << aligned;
  }
}

TEST(Divergence, BarriersBetweenWarps) {
  Scene s;
  s.block = {128, 1, 1};
  // Producer and consumer over named barriers, with bar.arrive.
  std::string body = "setp.ge.u32 %p0, %t, 64; shl.b32 %r0, %t, 2; and.b32 %r0, %r0, 255; mov.u32 "
                     "%r1, buf; add.u32 %r0, %r0, %r1; @%p0 bra C;\n"
                     "add.u32 %r2, %t, 500; st.shared.u32 [%r0], %r2; bar.arrive 3, 128; bra E; C: "
                     "bar.sync 3, 128; ld.shared.u32 %r3, [%r0]; st.global.u32 [%po], %r3; E:";
  for (const Options &o : allTimings()) {
    s.options = o;
    EXPECT_EQ(value(body, 70, s), 506u);
  }
}

TEST(Divergence, LanesThatExitReleaseNoBarrier) {
  // Half of two warps waits while the other half exits; the third warp comes late. The
  // lanes that wait arrive once.
  std::string body = "and.b32 %r1, %t, 31; shr.u32 %r2, %t, 5; setp.eq.u32 %p1, %r2, 2; @%p1 bra "
                     "SLOW; setp.ge.u32 %p2, %r1, 16; @%p2 bra GONE; barrier.sync 0; "
                     "ld.shared.u32 %r4, [buf]; st.global.u32 [%po], %r4; ret;\n"
                     "SLOW: mov.u32 %r5, 0; LOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, "
                     "10000; @%p3 bra LOOP; st.shared.u32 [buf], 7; barrier.sync 0; ret;\nGONE:";
  Scene s;
  s.block = {96, 1, 1};
  EXPECT_EQ(value(body, 0, s), 7u);
  EXPECT_EQ(value(body, 47, s), 7u);
}

TEST(Clusters, RemoteArriveAndDistributedShared) {
  Scene s;
  s.grid = s.cluster = {2, 1, 1};
  // Each CTA writes its peer's memory and arrives on its barrier.
  std::string body =
      "mov.u32 %r0, bar; mov.u32 %r1, buf; setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 "
      "[%r0], 1; fence.mbarrier_init.release.cluster;\n"
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mov.u32 %r2, "
      "%cluster_ctarank; xor.b32 %r3, %r2, 1;\n"
      "mapa.shared::cluster.u32 %r4, %r1, %r3; mapa.shared::cluster.u32 %r5, %r0, %r3; add.u32 "
      "%r6, %r2, 40; @%p0 st.shared::cluster.u32 [%r4], %r6;\n"
      "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5]; W: "
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r0], 0; @!%p1 bra W;\n"
      "ld.shared.u32 %r7, [%r1]; mad.lo.u32 %r8, %r2, 128, 0; cvt.u64.u32 %rd0, %r8; add.u64 %po, "
      "%po, %rd0; st.global.u32 [%po], %r7; barrier.cluster.arrive; barrier.cluster.wait;";
  for (const Options &o : allTimings()) {
    s.options = o;
    EXPECT_EQ(value(body, 0, s), 41u);
    EXPECT_EQ(value(body, 32, s), 40u);
  }
}

TEST(Grids, ResultsDoNotDependOnHostThreads) {
  Scene s;
  s.grid = {7, 1, 1};
  s.outWords = 7 * 32;
  std::string body =
      "mov.u32 %r0, %ctaid.x; mad.lo.u32 %r1, %r0, 32, %t; mad.wide.u32 %rd0, %r1, 4, %out; "
      "mul.lo.u32 %r2, %r1, 3; st.global.u32 [%rd0], %r2; atom.global.add.u32 %r3, [%in], 1;";
  for (unsigned threads : {1u, 2u, 5u}) {
    s.options.threads = threads;
    Ran r = run(kernel(body), s);
    ASSERT_EQ(r.error, "");
    for (uint32_t i = 0; i < 7 * 32; ++i)
      EXPECT_EQ(r.out[i], 3 * i);
  }
}

} // namespace
