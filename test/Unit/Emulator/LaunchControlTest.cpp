//===- LaunchControlTest.cpp - clusters that take the work of others ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *kVars = ".shared .align 16 .b8 answer[16];\n.shared .align 8 .b8 bar[8];\n";

/// Each cluster does its own tile and then those that it cancels: out[tile] counts how
/// often a tile was done (per CTA of a cluster), out[128 + tile] who did it.
std::string persistent(bool multicast, const std::string &after = "") {
  std::string done =
      "add.u32 %r9, %r8, %r21; mul.wide.u32 %rd0, %r9, 4; add.u64 %rd0, %rd0, %out; @%p1 "
      "red.global.add.u32 [%rd0], 1; @%p1 st.global.u32 [%rd0+512], %r20;\n";
  return kernel(
      ".reg .b128 %q; mov.u32 %r20, %ctaid.x; mov.u32 %r21, %cluster_ctarank; sub.u32 %r8, %r20, "
      "%r21; setp.eq.u32 %p1, %t, 0; mov.u32 %r22, 0; setp.eq.u32 %p4, %r21, 0; and.pred %p4, "
      "%p4, %p1;\n"
      "@%p1 mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; "
      "barrier.cluster.arrive; barrier.cluster.wait;\n"
      "L: " +
          done + "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n" +
          (multicast ? "barrier.cluster.arrive; barrier.cluster.wait; @%p4 "
                       "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::"
                       "bytes.multicast::cluster::all.b128 [answer], [bar];\n"
                     : "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
                       "complete_tx::bytes.b128 [answer], [bar];\n") +
          "W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r22; @!%p2 bra W; xor.b32 %r22, "
          "%r22, 1;\n"
          "ld.shared.b128 %q, [answer]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 "
          "%p3, %q; @%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r8, %r10, "
          "%r11, _}, %q;\n"
          "@%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r12, %q; @%p3 "
          "setp.ne.u32 %p5, %r12, %r8; @!%p3 setp.ne.u32 %p5, 0, 0; @%p5 trap;\n"
          // What a query leaves alone is not zero, as y and z are.
          "mov.u32 %r12, 77; @%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 "
          "%r12, %q; @%p3 setp.ne.u32 %p5, %r12, %r10; @%p5 trap; mov.u32 %r12, 77; @%p3 "
          "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r12, %q; @%p3 "
          "setp.ne.u32 %p5, %r12, %r11; @%p5 trap;\n"
          "fence.proxy.async; bar.sync 0; @%p3 bra L;\n" +
          after + (multicast ? "barrier.cluster.arrive; barrier.cluster.wait;" : ""),
      "sm_100a", kVars);
}

Ran runPersistent(bool multicast, Options o, uint32_t resident, uint32_t tiles, uint32_t cluster,
                  const std::string &after = "") {
  Scene s;
  o.residentClusters = resident;
  s.options = o;
  s.grid = {tiles, 1, 1};
  s.cluster = {cluster, 1, 1};
  s.outFill = [](uint8_t *out) { std::memset(out, 0, 1024); };
  return run(persistent(multicast, after), s);
}

TEST(LaunchControl, EveryTileIsDoneOnce) {
  for (bool multicast : {false, true})
    for (Options o : allTimings()) {
      uint32_t cluster = multicast ? 2 : 1;
      Ran r = runPersistent(multicast, o, 3, 24, cluster);
      ASSERT_EQ(r.error, "");
      for (uint32_t i = 0; i < 24; ++i)
        EXPECT_EQ(r.out[i], 1u) << i;
      // Three clusters were started; nobody else has worked.
      std::vector<uint32_t> workers(r.out.begin() + 128, r.out.begin() + 152);
      std::sort(workers.begin(), workers.end());
      workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
      EXPECT_EQ(workers.size(), 3u * cluster);
    }
}

TEST(LaunchControl, NothingIsLeftWhenAllAreResident) {
  Ran r = runPersistent(false, unchecked(), 24, 24, 1);
  ASSERT_EQ(r.error, "");
  for (uint32_t i = 0; i < 24; ++i)
    EXPECT_EQ(r.out[128 + i], i);
}

TEST(LaunchControl, NoFurtherTryAfterAFailureWasSeen) {
  // The rule is named where hazards are checked.
  Options o;
  Ran r = runPersistent(false, o, 1, 2, 1,
                        "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
                        "complete_tx::bytes.b128 [answer], [bar];\n");
  EXPECT_NE(r.error.find("cancel_after_failure: try_cancel must not follow an answer that says no "
                         "cluster was left\n  memory: shared memory bytes 0x"),
            std::string::npos)
      << r.error;
  EXPECT_NE(r.error.find("\n  missing: a branch around the request once clusterlaunchcontrol."
                         "query_cancel has seen a failure  [CL3]"),
            std::string::npos)
      << r.error;
}

} // namespace
