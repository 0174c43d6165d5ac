//===- HazardPairTest.cpp - tensor memory that a pair frees ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// D35: tcgen05.dealloc.cta_group::2 frees the columns of both CTAs: each must have heard
// from the other since the allocation, and of all its accesses.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const std::string kFree = inWarp(0, "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %tm, 64;\n");
const std::string kClusterSync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
const std::string kRead = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r1];\n"
                          "tcgen05.wait::ld.sync.aligned;\n";

/// Behind the allocation, with bar the mbarrier that the peer arrives at.
Ran runPair(const std::string &body, const Options &o) {
  Scene s;
  s.options = o;
  s.options.hazards = {};
  s.block = {128, 1, 1};
  s.grid = s.cluster = {2, 1, 1};
  return run(
      kernel(".reg .b32 %w, %cr, %tm, %peer, %far; shr.u32 %w, %t, 5; mov.u32 %cr, "
             "%cluster_ctarank; xor.b32 %peer, %cr, 1; setp.eq.u32 %p6, %t, 0;\n"
             "@%p6 mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n" +
                 kClusterSync +
                 inWarp(0, "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tm], 64;\n"
                           "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n") +
                 "bar.sync 0; ld.shared.b32 %tm, [tm]; shl.b32 %r0, %w, 21; add.u32 %r1, %tm, %r0; "
                 "mov.u32 %r2, 0; mov.u32 %r3, bar; mapa.shared::cluster.u32 %far, %r3, %peer;\n" +
                 body,
             "sm_100a", ".shared .align 8 .b8 bar[8];\n.shared .align 4 .b8 tm[8];\n"),
      s);
}

void expectFreed(const std::string &body, bool isRight) {
  for (const Options &o : allTimings()) {
    Ran r = runPair(body, o);
    if (isRight)
      EXPECT_EQ(r.error, "");
    else
      EXPECT_NE(r.error.find("[TM13]"), std::string::npos) << r.error;
  }
}

const std::string kArriveAtPeer =
    elected(0, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%far];\n");

TEST(PairFree, NeedsToHearFromThePeer) {
  expectFreed("bar.sync 0;\n" + kFree, false);
  expectFreed(kClusterSync + kFree, true);
  expectFreed("bar.sync 0;\n" + kArriveAtPeer + wait(0, 0, ".acquire.cluster") + kFree, true);
}

TEST(PairFree, WaitsForTheReadsOfThePeer) {
  const std::string fill = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r2};\n"
                           "tcgen05.wait::st.sync.aligned;\n";
  // The handshake comes before the reads, or behind them.
  expectFreed(fill + kClusterSync + kRead + "bar.sync 0;\n" + kFree, false);
  expectFreed(fill + kRead + kClusterSync + kFree, true);
  // One CTA is late.
  const std::string late = "setp.eq.u32 %p2, %cr, 0; @%p2 bra G; mov.u32 %r5, 0;\n"
                           "L: add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 500; @%p3 bra L; G:\n";
  expectFreed(fill + kClusterSync + late + kRead + "bar.sync 0;\n" + kFree, false);
  expectFreed(fill + kClusterSync + late + kRead + "bar.sync 0;\n" + kArriveAtPeer +
                  wait(0, 0, ".acquire.cluster") + kFree,
              true);
}

TEST(PairFree, SaysWhatIsMissing) {
  EXPECT_NE(runPair("bar.sync 0;\n" + kFree, {}).error.find("missing: a handshake of the two CTAs"),
            std::string::npos);
}

} // namespace
