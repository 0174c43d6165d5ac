//===- MbarrierTest.cpp - layouts, counts and states of mbarriers ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expected values by hand from PTX ISA 9.4, 9.7.15.16.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *kVars = ".shared .align 8 .b8 bar[64];\n";

/// Runs `body` in one thread; it stores to %out, which holds 0xAAAAAAAA.
Ran runOne(const std::string &body, const std::string &target = "sm_107a") {
  Scene s;
  s.options = {};
  s.block = {1, 1, 1};
  s.outWords = 16;
  return run(kernel(".reg .b8 %q0; mov.u32 %r30, bar; cvt.u64.u32 %rd30, %r30; cvta.shared.u64 "
                    "%rd30, %rd30;\n" +
                        body,
                    target, kVars),
             s);
}

/// The first line, without its place.
std::string refusal(const std::string &body, const std::string &target = "sm_107a") {
  std::string error = runOne(body, target).error;
  error = error.substr(0, error.find('\n'));
  return error.empty() ? error : error.substr(error.find(": ") + 2);
}

TEST(MbarrierLayout, OneCountsTo511) {
  EXPECT_EQ(refusal("mbarrier.init.layout::v1.shared::cta.b64 [bar], 511;"), "");
  EXPECT_EQ(refusal("mbarrier.init.layout::v1.shared::cta.b64 [bar], 512;"),
            "mbar_count: count must be 1..511, got 512");
  EXPECT_EQ(refusal("mbarrier.init.layout::v0.shared::cta.b64 [bar], 512;"), "");
  EXPECT_EQ(refusal("mbarrier.init.layout::v0.shared::cta.b64 [bar], 1048575;"), "");
  EXPECT_EQ(refusal("mbarrier.init.shared::cta.b64 [bar], 1048576;"),
            "mbar_count: count must be 1..1048575, got 1048576");
}

TEST(MbarrierLayout, PendingCountStaysInIt) {
  const char *arrive = ".shared::cta.b64 [bar], 511; cp.async.mbarrier.arrive.shared::cta.b64 "
                       "[bar]; mov.u32 %r0, 511; mbarrier.arrive.shared::cta.b64 _, [bar], %r0; W: "
                       "mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra W;";
  EXPECT_EQ(refusal(std::string("mbarrier.init.layout::v1") + arrive),
            "mbar_count: pending count must be at most 511");
  EXPECT_EQ(refusal(std::string("mbarrier.init.layout::v0") + arrive), "");
}

TEST(MbarrierLayout, IsTold) {
  // Barrier 0 of layout v1, barrier 1 of v0, barrier 2 of the default, which is v0.
  Ran r =
      runOne("mbarrier.init.layout::v1.shared.b64 [bar], 2;\n"
             "mbarrier.init.layout::v0.b64 [%rd30+8], 2; mbarrier.init.shared.b64 [bar+16], 2;\n"
             "mbarrier.check_layout.layout::v1.shared::cta.b64 %p0, [bar];\n"
             "mbarrier.check_layout.layout::v0.shared.b64 %p1, [bar];\n"
             "mbarrier.check_layout.layout::v1.b64 %p2, [%rd30+8];\n"
             "mbarrier.check_layout.layout::v0.shared::cta.b64 %p3, [bar+8];\n"
             "mbarrier.check_layout.layout::v0.b64 %p4, [%rd30+16];\n"
             "selp.u32 %r0, 1, 0, %p0; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2;\n"
             "selp.u32 %r3, 1, 0, %p3; selp.u32 %r4, 1, 0, %p4;\n"
             "st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3}; st.global.u32 [%out+16], %r4;");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(std::vector<uint32_t>(r.out.begin(), r.out.begin() + 5),
            (std::vector<uint32_t>{1, 0, 0, 1, 1}));
  EXPECT_EQ(refusal("mbarrier.check_layout.layout::v0.shared.b64 %p1, [bar];"),
            "mbar_init: mbarrier must be initialised, got 0x400");
}

TEST(MbarrierLayout, OneWorksLikeZero) {
  for (const char *phase : {"", ".phase_type::primary", ".phase_type::conditional"})
    for (const char *wait : {"try_wait", "test_wait"}) {
      Ran r = runOne(std::string("mbarrier.init.layout::v1.shared.b64 [bar], 2;\n") +
                     "mbarrier.arrive.shared.b64 _, [bar]; mbarrier.test_wait.parity" + phase +
                     ".shared.b64 %p0, [bar], 0;\n"
                     "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n"
                     "mbarrier.test_wait.parity" +
                     phase +
                     ".shared.b64 %p1, [bar], 0;\n"
                     "mbarrier.complete_tx.shared.b64 [bar], 64;\nmbarrier." +
                     wait + ".parity" + phase + ".shared.b64 %p2, [bar], 0;\nmbarrier." + wait +
                     ".parity" + phase +
                     ".acquire.cluster.shared::cta.b64 %p3, [bar], 0;\n"
                     "mbarrier.inval.shared.b64 [bar];\n"
                     "selp.u32 %r0, 1, 0, %p0; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2;\n"
                     "selp.u32 %r3, 1, 0, %p3; st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};");
      ASSERT_EQ(r.error, "");
      EXPECT_EQ(std::vector<uint32_t>(r.out.begin(), r.out.begin() + 4),
                (std::vector<uint32_t>{0, 0, 1, 1}));
    }
}

TEST(MbarrierReport, IsZeroOfAPhaseThatIsOver) {
  // The predicate, set before, is cleared and the value is 0; of an open phase nothing is said.
  for (const char *wait : {"test_wait", "try_wait"})
    for (bool parity : {false, true})
      for (const char *layout : {"v0", "v1"}) {
        std::string form = std::string("mbarrier.") + wait + (parity ? ".parity" : "") +
                           ".phase_type::primary.shared.b64 ",
                    of = parity ? ", [bar], 0;\n" : ", [bar], %rd0;\n";
        Ran r =
            runOne("mbarrier.init.layout::" + std::string(layout) +
                   ".shared.b64 [bar], 1;\n"
                   "mbarrier.arrive.shared.b64 %rd0, [bar]; setp.eq.u32 %p1, 0, 0;\n"
                   "setp.eq.u32 %p3, 0, 0; setp.eq.u32 %p5, 0, 1; cvt.u8.u32 %q0, 7;\n" +
                   form + "%p0" + of + form + "%p2|%p1" + of + form + "%p4|%p3, %q0" + of + form +
                   "%p5|_" + of +
                   "selp.u32 %r0, 1, 0, %p0; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2;\n"
                   "selp.u32 %r3, 1, 0, %p3; selp.u32 %r4, 1, 0, %p4; selp.u32 %r5, 1, 0, %p5;\n"
                   "cvt.u32.u8 %r6, %q0; st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};\n"
                   "st.global.v4.u32 [%out+16], {%r4, %r5, %r6, %r6};");
        ASSERT_EQ(r.error, "");
        EXPECT_EQ(std::vector<uint32_t>(r.out.begin(), r.out.begin() + 7),
                  (std::vector<uint32_t>{1, 0, 1, 0, 1, 1, 0}));
      }
}

TEST(MbarrierNoComplete, StateTellsThePendingCountBefore) {
  // 7 pending, then 7 - 2 = 5, then 5 - 1 = 4 with one dropped for good: after four more
  // arrivals the next phase waits for 6.
  Ran r = runOne("mbarrier.init.shared.b64 [bar], 7;\n"
                 "mbarrier.arrive.noComplete.shared.b64 %rd0, [bar], 2;\n"
                 "mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %rd1, [bar], 1;\n"
                 "mbarrier.arrive.noComplete.b64 %rd2, [%rd30], 1;\n"
                 "mbarrier.pending_count.b64 %r0, %rd0;\n"
                 "mbarrier.pending_count.layout::v0.b64 %r1, %rd1;\n"
                 "mbarrier.pending_count.b64 %r2, %rd2;\n"
                 "mbarrier.arrive.shared.b64 _, [bar], 3;\n"
                 "mbarrier.test_wait.shared.b64 %p0, [bar], %rd0; selp.u32 %r3, 1, 0, %p0;\n"
                 "mbarrier.arrive.noComplete.release.cta.shared.b64 %rd3, [bar], 1;\n"
                 "mbarrier.arrive_drop.noComplete.shared.b64 _, [bar], 1;\n"
                 "mbarrier.arrive_drop.noComplete.b64 %rd4, [%rd30], 1;\n"
                 "mbarrier.pending_count.b64 %r4, %rd3; mbarrier.pending_count.b64 %r5, %rd4;\n"
                 "st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};\n"
                 "st.global.v2.u32 [%out+16], {%r4, %r5};");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(std::vector<uint32_t>(r.out.begin(), r.out.begin() + 6),
            (std::vector<uint32_t>{7, 5, 4, 1, 6, 4}));
}

TEST(MbarrierNoComplete, MayNotEndThePhase) {
  EXPECT_EQ(refusal("mbarrier.init.shared.b64 [bar], 2;\n"
                    "mbarrier.arrive.noComplete.shared.b64 _, [bar], 2;"),
            "mbar_nocomplete: arrival with .noComplete must not end the phase, got the last 2 at "
            "0x400");
  // Bytes that are expected keep it open.
  EXPECT_EQ(refusal("mbarrier.init.shared.b64 [bar], 2; mbarrier.expect_tx.shared.b64 [bar], 8;\n"
                    "mbarrier.arrive.noComplete.shared.b64 _, [bar], 2;\n"
                    "mbarrier.complete_tx.shared.b64 [bar], 8;"),
            "");
}

TEST(MbarrierNoComplete, AloneGivesAStateWithACount) {
  EXPECT_EQ(refusal("mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.shared.b64 %rd0, [bar];\n"
                    "mbarrier.pending_count.b64 %r0, %rd0;"),
            "mbar_state: state of mbarrier.pending_count must come from an arrival with "
            ".noComplete, got 0x7ffff00000200080");
}

/// The hazard checks find the barrier by its state where shared memory is largest, too.
TEST(MbarrierState, OfABarrierBeyond256KiB) {
  Scene s;
  s.options = {};
  s.shared = 300000;
  s.oversized = true;
  Ran r = run(kernel("mov.u32 %r1, 280000; setp.eq.u32 %p0, %t, 0;\n"
                     "@%p0 mbarrier.init.shared.b64 [%r1], 1;\n"
                     "@%p0 mbarrier.arrive.shared.b64 %rd0, [%r1];\n"
                     "@%p0 mbarrier.test_wait.shared.b64 %p1, [%r1], %rd0;\n"
                     "selp.u32 %r2, 1, 2, %p1; @%p0 st.global.u32 [%out], %r2;",
                     "sm_107a", kVars),
              s);
  EXPECT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 1u);
}

TEST(MbarrierDrop, LeavesAnExpectedArrival) {
  EXPECT_EQ(refusal("mbarrier.init.shared.b64 [bar], 2;\n"
                    "mbarrier.arrive_drop.shared.b64 _, [bar], 2;"),
            "mbar_drop: arrive_drop must leave an expected count of at least 1, got 2 less 2 at "
            "0x400");
  EXPECT_EQ(refusal("mbarrier.init.shared.b64 [bar], 3;\n"
                    "mbarrier.arrive_drop.shared.b64 _, [bar], 2;"),
            "");
}

// A kernel that waits once and trusts it works only by luck.
TEST(MbarrierTryWait, GivesUpInSomeRandomRuns) {
  auto isOver = [](Timing timing, uint64_t seed) {
    Scene s;
    s.options.timing = timing;
    s.options.seed = seed;
    s.block = {1, 1, 1};
    Ran r = run(
        kernel("mbarrier.init.shared.b64 [bar], 1; mov.u32 %r1, buf;\n"
               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
               "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%in], 16, "
               "[bar];\nmbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;\n"
               "selp.u32 %r0, 1, 0, %p0; st.global.u32 [%po], %r0;\n"
               "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W;",
               "sm_100a", ".shared .align 8 .b8 bar[8];\n.shared .align 16 .b8 buf[16];\n"),
        s);
    EXPECT_EQ(r.error, "");
    return r.error.empty() && r.out[0] == 1;
  };
  EXPECT_TRUE(isOver(Timing::earliest, 0));
  EXPECT_TRUE(isOver(Timing::latest, 0));
  unsigned over = 0;
  const unsigned seeds = 64;
  for (unsigned seed = 1; seed <= seeds; ++seed)
    over += isOver(Timing::random, seed);
  EXPECT_GT(over, seeds / 2);
  EXPECT_LT(over, seeds);
}

// No low bit is taken of a larger number.
/// Kernels look whether the next buffer is free before they do what frees it: the suspension
/// ends by itself. With a second warp that polls, that computes, or that does nothing.
TEST(MbarrierTryWait, EndsWhereNothingElseCanHappen) {
  const std::string poll = "Q: mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar+8], 0; @!%p1 "
                           "bra Q;\n",
                    sleep = "mov.u32 %r2, 0; Q: mbarrier.try_wait.parity.shared::cta.b64 %p1, "
                            "[bar+8], 0; add.u32 %r2, %r2, 1; @!%p1 bra Q;\n";
  for (const std::string &other : {std::string(), poll, sleep})
    for (Timing timing : {Timing::earliest, Timing::latest, Timing::random}) {
      Scene s;
      s.options.timing = timing;
      s.block = {other.empty() ? 32u : 64u, 1, 1};
      Ran r =
          run(kernel("setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [bar], 1; @%p0 "
                     "mbarrier.init.shared::cta.b64 [bar+8], 1; bar.sync 0;\n"
                     "setp.ge.u32 %p2, %t, 32; @%p2 bra B;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n"
                     "selp.u32 %r1, 1, 2, %p1; @%p0 st.global.u32 [%out], %r1;\n"
                     "@%p0 mbarrier.arrive.shared::cta.b64 _, [bar+8]; bra E;\nB: " +
                         other + "E:\n",
                     "sm_107a", kVars),
              s);
      EXPECT_EQ(r.error, "") << other;
      EXPECT_EQ(r.out[0], 2u) << other;
    }
}

TEST(MbarrierParity, IsZeroOrOne) {
  auto waited = [](const std::string &wait, const std::string &parity) {
    return refusal("mbarrier.init.shared.b64 [bar], 1; mov.u32 %r29, " + parity + "; mbarrier." +
                   wait + ".parity.shared.b64 %p0, [bar], %r29;");
  };
  EXPECT_EQ(waited("test_wait", "0"), "");
  for (const char *wait : {"try_wait", "test_wait"}) {
    EXPECT_EQ(waited(wait, "1"), ""); // the phase before the first is over
    EXPECT_EQ(waited(wait, "2"), "mbar_parity: parity must be 0 or 1, got 2");
    EXPECT_EQ(waited(wait, "16"), "mbar_parity: parity must be 0 or 1, got 16");
  }
}

TEST(MbarrierForms, RefuseWhatTheAssemblerRefuses) {
  EXPECT_EQ(refusal("mbarrier.init.layout::v1.shared.b64 [bar], 2;", "sm_80"),
            "ptx_target: .layout::v1 must have a target with clusters, got sm_80");
  EXPECT_EQ(refusal("mbarrier.arrive.shared.b64 %rd0, [bar], 2;", "sm_80"),
            "ptx_target: a count without .noComplete must have a target from sm_90, got sm_80");
  EXPECT_EQ(refusal("mbarrier.init.shared.b64 [bar], 3;\n"
                    "mbarrier.arrive.noComplete.shared.b64 %rd0, [bar], 2;",
                    "sm_80"),
            "");
  EXPECT_EQ(refusal("mbarrier.arrive.noComplete.shared.b64 %rd0, [bar];"),
            "ptx_operands: mbarrier.arrive must have a barrier and a count");
  EXPECT_EQ(refusal("mbarrier.arrive.shared::cluster.b64 %rd0, [bar];"),
            "ptx_operand: mbarrier.arrive must have _ for its state in shared::cluster");
  EXPECT_EQ(refusal("mbarrier.arrive.shared.b64 [bar];"),
            "ptx_operands: mbarrier.arrive must have a state or _ and a barrier");
  EXPECT_EQ(refusal("mbarrier.test_wait.phase_type::conditional.shared.b64 %p0, [bar], %rd0;"),
            "ptx_modifier: .phase_type::conditional must have .parity");
  EXPECT_EQ(refusal("mbarrier.test_wait.shared.b64 %p0|%p1, [bar], %rd0;"),
            "ptx_operand: a report must have .phase_type::primary");
  EXPECT_EQ(refusal("mbarrier.arrive.release.shared.b64 _, [bar];"),
            "ptx_modifier: mbarrier must have .cta, .cluster, got "
            "mbarrier.arrive.release.shared.b64");
  EXPECT_EQ(
      refusal("mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 _, [bar], 3;",
              "sm_100a"),
      "ptx_target: .multicast::cluster::32b must have a target with multicast32, got sm_100a");
}

/// Every order, scope and space. Three arrivals, of which one drops itself, and 24 bytes; then
/// two, of which one drops itself.
TEST(MbarrierForms, OfEveryOrderScopeAndSpace) {
  for (std::string space : {".shared", ".shared::cta", ".shared::cluster", ""})
    for (std::string scope : {"", ".cta", ".cluster"})
      for (bool relaxed : {false, true}) {
        const std::string at = space.empty() ? "[%rd30]" : "[bar]", sink = " _, " + at;
        auto order = [&](const char *strong) {
          return scope.empty() ? scope : (relaxed ? ".relaxed" : strong) + scope;
        };
        const std::string arrive = order(".release") + space + ".b64" + sink,
                          count = (scope.empty() ? "" : ".relaxed" + scope) + space + ".b64 " + at,
                          wait = order(".acquire") +
                                 (space == ".shared::cluster" ? ".shared" : space) + ".b64 ";
        Ran r =
            runOne("mbarrier.init.shared.b64 [bar], 3; mbarrier.expect_tx" + count +
                   ", 8;\nmbarrier.arrive" + arrive + "; mbarrier.arrive_drop.expect_tx" + arrive +
                   ", 4; mbarrier.arrive.expect_tx" + arrive + ", 12;\nmbarrier.complete_tx" +
                   count + ", 20; mbarrier.test_wait.parity" + wait + "%p0, " + at +
                   ", 0;\nmbarrier.complete_tx" + count + ", 4; mbarrier.try_wait.parity" + wait +
                   "%p1, " + at + ", 0;\nmbarrier.arrive_drop" + arrive +
                   "; mbarrier.test_wait.parity" + wait + "%p2, " + at + ", 1;\nmbarrier.arrive" +
                   arrive + "; mbarrier.test_wait.parity" + wait + "%p3, " + at +
                   ", 1;\n"
                   "selp.u32 %r0, 1, 0, %p0; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2;\n"
                   "selp.u32 %r3, 1, 0, %p3; st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};");
        ASSERT_EQ(r.error, "");
        EXPECT_EQ(std::vector<uint32_t>(r.out.begin(), r.out.begin() + 4),
                  (std::vector<uint32_t>{0, 1, 0, 1}))
            << space << scope << relaxed;
      }
}

TEST(MbarrierForms, NoCompleteOfTheOwnCta) {
  Ran r =
      runOne("mbarrier.init.shared.b64 [bar], 4;\n"
             "mbarrier.arrive.noComplete.shared::cta.b64 _, [bar], 1;\n"
             "mbarrier.arrive_drop.noComplete.shared::cta.b64 _, [bar], 2;\n"
             "mbarrier.arrive_drop.noComplete.release.cta.shared.b64 %rd0, [bar], 0;\n"
             "mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0; mbarrier.arrive.shared.b64 _, "
             "[bar];\nmbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.u32 %r0, 1, 0, "
             "%p0;\nselp.u32 %r1, 1, 0, %p1; mbarrier.pending_count.b64 %r2, %rd0;\n"
             "st.global.v4.u32 [%out], {%r0, %r1, %r2, %r2};");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(std::vector<uint32_t>(r.out.begin(), r.out.begin() + 3),
            (std::vector<uint32_t>{0, 1, 1}));
}

/// In a cluster of four, CTA 0 runs `act` (%r5 is a mask); then each CTA stores whether the
/// first phase of its barrier is over.
std::vector<uint32_t> runMulticast(const std::string &act, uint32_t mask, std::string &error,
                                   const std::string &init = "2") {
  Scene s;
  s.options = {};
  s.grid = s.cluster = {4, 1, 1};
  s.block = {32, 1, 1};
  s.outWords = 4;
  Ran r = run(kernel("mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %t, 0; setp.eq.and.u32 %p1, "
                     "%r0, 0, %p0; mov.u32 %r5, " +
                         std::to_string(mask) + "; mov.u32 %r6, bar;\n" +
                         "cvt.u64.u32 %rd6, %r6; cvta.shared.u64 %rd6, %rd6;\n"
                         "@%p0 mbarrier.init.shared.b64 [bar], " +
                         init +
                         "; fence.mbarrier_init.release.cluster;\n"
                         "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
                         "@!%p1 bra S;\n" +
                         act +
                         "\nS: bar.warp.sync -1; barrier.cluster.arrive.aligned; "
                         "barrier.cluster.wait.aligned;\n"
                         "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0; selp.u32 %r1, 1, 0, "
                         "%p2;\n"
                         "mad.wide.u32 %rd0, %r0, 4, %out; @%p0 st.global.u32 [%rd0], %r1;\n",
                     "sm_107a", kVars),
              s);
  error = r.error;
  return r.out;
}

TEST(MbarrierMulticast, ReachesTheCtasOfItsMask) {
  struct {
    const char *act;
    const char *init;
  } const kActs[] = {
      {"mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 _, [%r6], 2, %r5;", "2"},
      {"mbarrier.arrive.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [%r6], %r5;",
       "1"},
      {"mbarrier.arrive.relaxed.cta.multicast::cluster::32b.b64 _, [%rd6], 2, %r5;", "2"},
      {"mbarrier.arrive.multicast::cluster::32b.b64 _, [%rd6], 2, %r5;", "2"},
      {"mbarrier.arrive_drop.shared::cluster.multicast::cluster::32b.b64 _, [%r6], %r5;\n"
       "mbarrier.arrive_drop.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [%r6], "
       "%r5; mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 _, [%r6], %r5;",
       "3"},
      {"mbarrier.arrive_drop.relaxed.cluster.shared::cluster.multicast::cluster::32b.b64 _, [%r6], "
       "%r5; mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 _, [%r6], %r5;",
       "2"},
      {"mbarrier.arrive.expect_tx.shared::cluster.multicast::cluster::32b.b64 _, [%r6], 16, %r5;\n"
       "mbarrier.complete_tx.shared::cluster.multicast::cluster::32b.b64 [%r6], 16, %r5;",
       "1"},
      {"mbarrier.arrive_drop.expect_tx.release.cta.shared::cluster.multicast::cluster::32b.b64 _, "
       "[%r6], 16, %r5;\n"
       "mbarrier.arrive.expect_tx.release.cluster.multicast::cluster::32b.b64 _, [%rd6], 8, %r5;\n"
       "mbarrier.complete_tx.relaxed.cluster.shared::cluster.multicast::cluster::32b.b64 [%r6], "
       "24, "
       "%r5;",
       "2"},
      // Bytes that came before they were expected.
      {"mbarrier.complete_tx.relaxed.cta.multicast::cluster::32b.b64 [%rd6], 16, %r5;\n"
       "mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 _, [%r6], %r5;\n"
       "mbarrier.expect_tx.relaxed.cta.shared::cluster.multicast::cluster::32b.b64 [%r6], 8, %r5;\n"
       "mbarrier.expect_tx.multicast::cluster::32b.b64 [%rd6], 4, %r5;\n"
       "mbarrier.expect_tx.relaxed.cluster.multicast::cluster::32b.b64 [%rd6], 2, %r5;\n"
       "mbarrier.expect_tx.shared::cluster.multicast::cluster::32b.b64 [%r6], 2, %r5;",
       "1"}};
  for (const auto &row : kActs) {
    std::string error;
    EXPECT_EQ(runMulticast(row.act, 0b1010, error, row.init), (std::vector<uint32_t>{0, 1, 0, 1}))
        << row.act;
    EXPECT_EQ(error, "") << row.act;
  }
}

TEST(MbarrierMulticast, MaskNamesCtasOfTheCluster) {
  std::string error;
  runMulticast("mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 _, [%r6], %r5;", 16,
               error);
  EXPECT_NE(error.find("mbar_multicast: mask must name CTAs of the cluster of 4, got 0x10"),
            std::string::npos)
      << error;
}

} // namespace
