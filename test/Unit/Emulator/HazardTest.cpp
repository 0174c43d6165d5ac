//===- HazardTest.cpp - every hazard rule, by a wrong and a right kernel --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wrong kernel is reported under its label under every timing, the nearest right
// one is silent. What is right and wrong comes from PTX ISA 9.4 by the sections that
// the rules cite, not from what the checks say.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

#include <set>

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

// A bulk copy of 128 bytes from the input to buf + 1024 that signals bar + 8 i.
std::string copyIn(int i, const std::string &at = "%r10") {
  std::string bar = "[bar+" + std::to_string(8 * i) + "]";
  return "add.u32 %r10, %b, 1024; mbarrier.arrive.expect_tx.shared::cta.b64 _, " + bar +
         ", 128;\ncp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [" + at +
         "], [%in], 128, " + bar + ";\n";
}
const std::string kCopyOut = "add.u32 %r10, %b, 1024; cp.async.bulk.global.shared::cta.bulk_group "
                             "[%out], [%r10], 128;\n";
const std::string kCommitGroup = "cp.async.bulk.commit_group;\n";
const std::string kFence = "fence.proxy.async.shared::cta;\n";
// Each thread's own word of buf + 1024.
const std::string kWord = "shl.b32 %r11, %t, 2; add.u32 %r11, %r11, %b;\n";
const std::string kStore = "st.shared.u32 [%r11+1024], %t;\n";
const std::string kLoad = "ld.shared.u32 %r12, [%r11+1024];\n";
const std::string kLoadD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r1];\n";
const std::string kWaitLoad = "tcgen05.wait::ld.sync.aligned;\n";
const std::string kStoreD = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r2};\n";
const std::string kWaitStore = "tcgen05.wait::st.sync.aligned;\n";
const std::string kCopyScales = "tcgen05.cp.cta_group::1.32x128b.warpx4 [%tm+128], %ds;\n";
const std::string kAfter = "tcgen05.fence::after_thread_sync;\n";
const std::string kArrive1 = "mbarrier.arrive.shared::cta.b64 _, [bar+8];\n";

// Lane 3 goes another way; an aligned barrier follows.
const std::string kMeetByChance = "setp.eq.u32 %p4, %la, 3; @%p4 bra A1; mov.u32 %r12, %t;\n"
                                  "A1: [+bar.warp.sync -1;\n+]bar.sync 0;\n";
// Warp 1 loads and waits; one lane releases the columns.
const std::string kOneReleases = "setp.ne.u32 %p4, %w, 1; @%p4 bra R1;\n"
                                 "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r1];\n"
                                 "tcgen05.wait::ld.sync.aligned; [+bar.warp.sync -1;\n+]"
                                 "elect.sync _|%p4, -1; @!%p4 bra R1;\n"
                                 "mbarrier.arrive.shared::cta.b64 _, [bar+8];\n"
                                 "R1: bar.warp.sync -1;\n";

// Lanes that go different ways or wait for themselves.
void addLaneCases(std::vector<HazardCase> &cases) {
  HazardOptions strict, noA9;
  strict.mode = HazardMode::strict;
  noA9.denied = 1u << 9;
  cases.push_back({"OS8", kMeetByChance, Setup::shared, HazardLevel::strict, strict});
  // Part of a warp skips a barrier: by exiting it may, by branching around it may not.
  cases.push_back({"OS8_around",
                   "setp.gt.u32 %p4, %t, 39; [-@%p4 bra A2;\n-][+@%p4 ret;\n+]bar.sync 0;\nA2:\n",
                   Setup::shared, HazardLevel::strict, strict});
  cases.push_back({"OS8_denied", kMeetByChance, Setup::shared, HazardLevel::strict, noA9});
  for (HazardCase &c : cases)
    if (c.rule() == "OS8")
      c.touchesNothing = c.isAlone = true;
  std::string text = elected(0, mma() + commit(0));
  text += wait(0, 0);
  text += kOneReleases;
  text += elected(0, wait(1, 0) + mma() + commit(2) + wait(2, 0));
  text += inWarp(1, wait(2, 0));
  cases.push_back({"CL4_load", text, Setup::tensor, HazardLevel::warning});
}

std::vector<HazardCase> cases() {
  HazardOptions early, noA1, noA3, strict;
  noA3.denied = 1u << 3;
  early.manual = ManualRevision::early;
  noA1.denied = 1u << 1;
  strict.mode = HazardMode::strict;
  using L = HazardLevel;
  std::vector<HazardCase> c;
  auto shared = [&](std::string label, std::string body, L level = L::error) {
    c.push_back({std::move(label), std::move(body), Setup::shared, level});
  };
  auto tensor = [&](std::string label, std::string body, L level = L::error,
                    HazardOptions options = {}) {
    c.push_back({std::move(label), std::move(body), Setup::tensor, level, options});
  };

  tensor("TM1", elected(0, mma() + mma("%tm", "1") + commit(0)) + "[+" + wait(0, 0) + "+]" +
                    "[-bar.sync 0;\n-]" + kLoadD + kWaitLoad + wait(0, 0));
  // D43: columns released before a load of them has finished.
  tensor("TM3", elected(0, mma() + commit(0)) + wait(0, 0) +
                    inWarp(1, kLoadD + "[+" + kWaitLoad + "+]") + elected(1, kArrive1) +
                    elected(0, wait(1, 0) + mma() + commit(2) + wait(2, 0)) +
                    inWarp(1, wait(2, 0)));
  // The mma reads two of the four columns that each copy writes: N = 64, half a tile on.
  const std::string copyB = "tcgen05.cp.cta_group::1.32x128b.warpx4 [%tm+136], %ds;\n";
  tensor("TM1_half_tile", "mov.u32 %id, 0x08100480; add.u32 %sb, %tm, 138;\n" +
                              elected(0, copyB + "[+" + mma() + "+]" + copyB + mma() + commit(0)) +
                              wait(0, 0));
  tensor("TM4", elected(0, mma() + commit(0)) + wait(0, 0) + kLoadD + "[+" + kWaitLoad +
                    "+]mov.u32 %r20, 0;\n");
  tensor("TM5", kStoreD + "[+" + kWaitStore + "+]bar.sync 0;\n" + elected(0, mma() + commit(0)) +
                    wait(0, 0));
  c.push_back({"TM6", kStoreD + kLoadD + kWaitLoad + kWaitStore, Setup::tensor, L::error, early,
               /*sameText=*/true});
  tensor("TM7",
         elected(0, mma() + "[+" + commit(0) + wait(0, 0) + "+]" + kCopyScales + commit(1) +
                        wait(1, 0)) +
             "[-" + elected(0, commit(0)) + wait(0, 0) + "-]" + inWarp(0, wait(1, 0)),
         L::strict, noA1);
  tensor("TM8", elected(0, kCopyScales + commit(0) + "[+" + wait(0, 0) + "+]") + "bar.sync 0;\n" +
                    elected(1, mma() + commit(1) + wait(1, 0)) + wait(0, 0));
  tensor("TM9", elected(0, mma() + commit(0)) + wait(0, 0, ".relaxed.cta") + "[+" + kAfter + "+]" +
                    kLoadD + kWaitLoad);
  tensor("TM9s",
         elected(0, mma() + commit(0)) + wait(0, 0) + "[+" + kAfter + "+]" + kLoadD + kWaitLoad,
         L::strict, strict);
  tensor("TM9s_denied",
         elected(0, mma() + commit(0)) + wait(0, 0) + "[+" + kAfter + "+]" + kLoadD + kWaitLoad,
         L::strict, noA3);
  // The releasing half: what a load has read is arrived for, relaxed and not.
  const std::string kBefore = "tcgen05.fence::before_thread_sync;\n";
  auto readThenWrite = [&](const std::string &order) {
    return elected(0, mma() + commit(0)) + wait(0, 0) + kAfter +
           inWarp(1, kLoadD + kWaitLoad + "[+" + kBefore + "+]") +
           elected(1, "mbarrier.arrive" + order + ".shared::cta.b64 _, [bar+8];\n") +
           elected(0, wait(1, 0) + kAfter + mma() + commit(2) + wait(2, 0)) + inWarp(1, wait(2, 0));
  };
  tensor("TM9_before", readThenWrite(".relaxed.cta"));
  tensor("TM9s_before", readThenWrite(""), L::strict, noA3);
  tensor("TM10", inWarp(0, "setp.eq.u32 %p4, %la, 0; setp.eq.u32 %p3, %la, 1;\n@!%p4 bra T1;\n" +
                               mma() + "[+" + commit(0) +
                               "+]T1: bar.warp.sync -1;\n[-@!%p3 bra "
                               "T2;\n" +
                               commit(0) + "T2: bar.warp.sync -1;-]\n") +
                     wait(0, 0) + kLoadD + kWaitLoad);
  const std::string toBoth = "mov.u16 %h0, 3; tcgen05.commit.cta_group::1.mbarrier::arrive::one."
                             "shared::cluster.multicast::cluster.b64 [bar+";
  const std::string leads = "setp.ne.u32 %p2, %cr, 0; @%p2 bra ";
  c.push_back({"TM11",
               elected(0, leads + "P1;\n" + mma() + toBoth + "0], %h0;\nP1:\n") + wait(0, 0) +
                   kLoadD + kWaitLoad + "[+bar.sync 0;\n+]" + "[-barrier.sync 1, 128;\n-]" +
                   elected(0, leads + "P2;\n" + mma() + toBoth + "16], %h0;\nP2:\n") + wait(2, 0),
               Setup::tensor});
  c.back().cluster = {2, 1, 1};
  tensor("TM12", "add.u32 %r21, %tm, [-8-][+0+];\n" + elected(0, mma() + mma("%r21") + commit(0)) +
                     wait(0, 0));
  tensor("TM13", inWarp(1, kStoreD + kWaitStore) + "[+bar.sync 0;\n+]" +
                     inWarp(0, "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 256;\n"));
  c.back().freesItself = true;
  // A load that was waited for came behind the store.
  tensor("TM13_readBack",
         inWarp(0, kStoreD + "[+" + kLoadD + kWaitLoad + "+]" +
                       "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 256;\n"));
  c.back().freesItself = true;
  tensor("TM15", elected(0, mma() + commit(0)) + wait(0, 0) +
                     "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r1+[-64-][+0+]];\n" +
                     kWaitLoad);
  tensor("SM1",
         elected(0, mma() + commit(0) + "[+" + wait(0, 0) + "+]" + copyIn(1, "%b") + wait(1, 0)) +
             wait(0, 0) + wait(1, 0));

  // A in 16 KiB, B behind it; both read by the last MMA.
  tensor("SM2",
         "mov.b64 {%r20, %r21}, %db; add.u32 %r20, %r20, 1024; mov.b64 %db, {%r20, %r21};\n"
         "add.u32 %r22, %b, [-16384-][+0+];\n" +
             elected(0, mma() +
                            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::"
                            "shared::read::mma::a.shared::cluster.b64 [bar];\n" +
                            wait(0, 0) + copyIn(1, "%r22") + wait(1, 0) + commit(2)) +
             wait(2, 0) + wait(1, 0) + wait(0, 0));
  c.back().target = "sm_107a";
  auto collected = [](const std::string &use) {
    std::string text = mma();
    return text.insert(text.find(" [%tm]"), ".collector::a::" + use);
  };
  tensor("TM14", elected(0, collected("[-lastuse-][+fill+]") + commit(0)) + wait(0, 0));
  c.back().isAlone = true; // nothing was filled
  tensor("TM14_source",
         elected(0, collected("fill") + commit(0) + wait(0, 0) + "[-" + copyIn(1, "%b") +
                        wait(1, 0) + "-]" + collected("use") + commit(2)) +
             wait(2, 0) + "[-" + wait(1, 0) + "-]");
  const std::string tryCancel =
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16; clusterlaunchcontrol.try_cancel."
      "async.shared::cta.mbarrier::complete_tx::bytes.b128 [buf], [bar];\n";
  shared("CL3", ".reg .b128 %q;\n" +
                    elected(0, tryCancel + wait(0, 0) +
                                   "ld.shared.b128 %q, [buf]; clusterlaunchcontrol.query_cancel."
                                   "is_canceled.pred.b128 %p3, %q; fence.proxy.async;\n[-" +
                                   tryCancel + wait(0, 1) + "-]"));
  shared(
      "OS15",
      ".reg .b128 %q;\n" +
          elected(0, tryCancel + wait(0, 0) +
                         "ld.shared.b128 %q, [buf]; clusterlaunchcontrol.query_cancel."
                         "is_canceled.pred.b128 %p3, %q;\n[+@%p3 +]clusterlaunchcontrol."
                         "query_cancel.get_first_ctaid.v4.b32.b128 {%r20, %r21, %r22, _}, %q;\n"),
      L::warning);
  c.back().touchesNothing = c.back().isAlone = true;
  shared("PX1", kWord + kStore + "[+" + kFence + "+]bar.sync 0;\n" +
                    elected(0, kCopyOut + kCommitGroup + "cp.async.bulk.wait_group 0;\n"));
  // A fence covers the memory that its suffix names.
  shared("PX1_global", kWord + kStore + "fence.proxy.async[-.global-];\nbar.sync 0;\n" +
                           elected(0, kCopyOut + kCommitGroup + "cp.async.bulk.wait_group 0;\n"));
  shared("PX3_global",
         kWord + kLoad + "fence.proxy.async.[-global-][+shared::cta+];\nbar.sync 0;\n" +
             elected(0, copyIn(0)) + wait(0, 0),
         L::warning);
  const std::string toPeer = "xor.b32 %r13, %cr, 1; mapa.shared::cluster.u32 %r14, %r11, %r13;\n"
                             "st.shared::cluster.u32 [%r14+1024], %t;\n",
                    clusterSync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  shared("PX1_peer", "mov.u32 %cr, %cluster_ctarank;\n" + kWord + toPeer +
                         "fence.proxy.async.shared::[-cta-][+cluster+];\n" + clusterSync +
                         "mad.wide.u32 %out, %cr, 128, %out;\n" +
                         elected(0, kCopyOut + kCommitGroup + "cp.async.bulk.wait_group 0;\n"));
  c.back().cluster = {2, 1, 1};
  tensor("PX2",
         "shl.b32 %r11, %t, 4; add.u32 %r11, %r11, %b; shl.b32 %r13, %t, 1; "
         "cp.async.cg.shared.global [%r11], [%in], 16; cp.async.wait_all;\n[+" +
             kFence + "+]bar.sync 0;\n" + elected(0, kCopyScales + commit(0)) + wait(0, 0),
         L::warning);
  shared("PX3",
         kWord + kLoad + "[+" + kFence + "+]bar.sync 0;\n" + elected(0, copyIn(0)) + wait(0, 0),
         L::warning);
  shared("MB1", "@%p6 mbarrier.init.shared::cta.b64 [bar+8], 1;\n[+bar.sync 0;\n+]"
                "[-nanosleep.u32 1; bar.warp.sync -1; nanosleep.u32 1;\n-]" +
                    elected(1, kArrive1));
  c.push_back(
      {"MB2", "@%p6 mbarrier.init.shared::cta.b64 [bar+8], 1;\n[+fence.mbarrier_init.release."
              "cluster;\n+]barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;"
              "\n" +
                  elected(1, kArrive1)});
  // A fence of that warp came before the initialisation.
  c.push_back({"MB2w",
               "fence.mbarrier_init.release.cluster;\n@%p6 mbarrier.init.shared::cta.b64 [bar+8], "
               "1;\n[+fence.mbarrier_init.release.cluster;\n+]"
               "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n" +
                   elected(1, kArrive1),
               Setup::shared, L::warning});
  // A whole warp stores: the same bytes to the same place is no conflict.
  shared("OS3_warp", "mov.u32 %r10, %b; [-shl.b32 %r12, %la, 4; add.u32 %r10, %r10, %r12;\n-]" +
                         inWarp(0, "cp.async.bulk.global.shared::cta.bulk_group [%in], [%r10], "
                                   "16;\n" +
                                       kCommitGroup + "cp.async.bulk.wait_group 0;\n"));
  shared("MB3", elected(0, kArrive1 + "[-" + kArrive1 + kArrive1 + "-]") + "bar.sync 0;\n" +
                    inWarp(1, wait(1, 0)));
  // Who arrives itself may wait for the phase that has just ended, whoever saw those before.
  shared("MB3_own", elected(0, kArrive1 + kArrive1 + kArrive1 + "[+" + wait(1, 0) + "+]") +
                        "[-bar.sync 0;\n" + inWarp(1, wait(1, 0)) + "-]");
  // Waits by state: of two phases ago, of another mbarrier, and an invented one.
  auto arriveAt = [](const char *state, int barrier) {
    return std::string("mbarrier.arrive.shared::cta.b64 ") + state + ", [bar+" +
           std::to_string(8 * barrier) + "];\n";
  };
  auto waitBy = [](const std::string &state) {
    return "mbarrier.test_wait.shared::cta.b64 %p4, [bar+8], " + state + ";\n";
  };
  shared("MB3_state", elected(0, arriveAt("%rd5", 1) + wait(1, 0) + arriveAt("%rd6", 1) +
                                     wait(1, 1) + waitBy("[-%rd5-][+%rd6+]")));
  shared("MB3_foreign", elected(0, arriveAt("%rd5", 0) + wait(0, 0) + arriveAt("%rd5", 0) +
                                       arriveAt("%rd6", 1) + waitBy("[-%rd5-][+%rd6+]")));
  // The same where the barrier's word was equal then, and from before it was initialised again.
  const std::string arriveAndWait[] = {arriveAt("%rd5", 1) + wait(1, 0),
                                       arriveAt("%rd6", 1) + wait(1, 1),
                                       arriveAt("%rd7", 1) + wait(1, 0)};
  shared("MB3_stateTwin", elected(0, arriveAndWait[0] + arriveAndWait[1] + arriveAndWait[2] +
                                         waitBy("[-%rd5-][+%rd7+]")));
  shared("MB3_foreignTwin",
         elected(0, arriveAt("%rd5", 0) + arriveAt("%rd6", 1) + waitBy("[-%rd5-][+%rd6+]")));
  shared("MB3_stateBefore", elected(0, arriveAndWait[0] +
                                           "mbarrier.inval.shared::cta.b64 [bar+8];\n"
                                           "mbarrier.init.shared::cta.b64 [bar+8], 1;\n" +
                                           arriveAt("%rd6", 1) + waitBy("[-%rd5-][+%rd6+]")));
  // A state is a value: it goes through memory and shuffles, bit by bit.
  shared(
      "MB3_stateKept",
      elected(0, arriveAndWait[0] + arriveAndWait[1] +
                     "st.shared.b64 [%b], [-%rd5-][+%rd6+];\nld.shared.v2.b32 {%r20, %r21}, [%b];\n"
                     "mov.b64 %rd7, {%r20, %r21};\n" +
                     waitBy("%rd7")));
  shared("MB3_invented",
         elected(0, arriveAt("%rd6", 1) + "[-mov.b64 %rd6, 12345;\n-]" + waitBy("%rd6")));
  // Nobody looks whether the wait has seen the phase end.
  const std::string unread = "{\n.reg .pred %pu;\nmbarrier.try_wait.parity.shared::cta.b64 %pu, "
                             "[bar+8], 0;\n}\n";
  shared("OS1_unread",
         elected(0, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar+8], 128;\n"
                    "add.u32 %r10, %b, 1024;\n"
                    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], "
                    "[%in], 128, [bar+8];\n") +
             unread + "[+" + wait(1, 0) + "+]ld.shared.u32 %r13, [%b+1024];\n[-" + wait(1, 0) +
             "-]");
  shared("MB4", elected(0, kArrive1 + "[+" + wait(1, 0) + "+]" + kArrive1), L::warning);
  shared("MB5", elected(0, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar+8], [-144-][+128+];\n"
                           "add.u32 %r10, %b, 1024;\n"
                           "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], "
                           "[%in], 128, [bar+8];\n[-" +
                               std::string("nanosleep.u32 1;\n-]") + "[+" + wait(1, 0) + "+]"));
  // Blocks count in four words, then one stores there.
  shared("GM1_counted",
         "mov.u32 %r10, 0; and.b32 %r11, %t, 3; mul.wide.u32 %rd1, %r11, 4; add.u64 %rd1, %rd1, "
         "%out;\nC1: red.global.add.u32 [%rd1], 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, "
         "4; @%p4 bra C1;\nbar.sync 0;\n[-@%p6 st.global.u32 [%out+8], %t;-]"
         "[+@%p6 red.global.add.u32 [%out+8], %t;+]\n");
  c.back().grid = {3, 1, 1};
  // The same in shared memory, where a plain load follows.
  shared("OS5_counted",
         "mov.u32 %r10, 0; and.b32 %r11, %t, 3; shl.b32 %r11, %r11, 2; add.u32 %r11, %r11, %b;\n"
         "mov.u32 %r12, 0; @%p6 st.shared.v4.u32 [%b], {%r12, %r12, %r12, %r12}; bar.sync 0;\n"
         "C2: red.shared.add.u32 [%r11], 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 4; "
         "@%p4 bra C2;\n[+bar.sync 0;\n+]ld.shared.u32 %r13, [%r11];\n");
  // Who waits for such a phase waits for ever.
  for (const char *bytes : {"144", "112"})
    shared("MB5_" + std::string(bytes),
           elected(0, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar+8], [-" +
                          std::string(bytes) +
                          "-][+128+];\nadd.u32 %r10, %b, 1024;\n"
                          "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], "
                          "[%in], 128, [bar+8];\n") +
               wait(1, 0));
  shared("MB7", elected(0, "[+mbarrier.inval.shared::cta.b64 [bar+8];\n+]st.shared.u32 [bar+8], "
                           "%t;\n"));
  shared("BK1", kWord + elected(0, kFence + kCopyOut + kCommitGroup +
                                       "[+cp.async.bulk.wait_group.read 0;\n+]"
                                       "st.shared.u32 [%r10], %t;\n"
                                       "[-cp.async.bulk.wait_group.read 0;\n-]"));
  shared("BK3",
         elected(0, kCopyOut + "[+" + kCommitGroup + "cp.async.bulk.wait_group.read 0;\n+]"));
  shared("BK3w", elected(0, kCopyOut + kCommitGroup + "[+cp.async.bulk.wait_group.read 0;\n+]"),
         L::warning);
  shared("BK3w_write",
         elected(0, kCopyOut + kCommitGroup + "cp.async.bulk.wait_group[-.read-] 0;\n"), L::strict);
  c.back().options.denied = 1u << 8;
  shared("CL1", kWord + kStore +
                    "barrier.cluster.arrive[-.relaxed-][+.release+].aligned; "
                    "barrier.cluster.wait.aligned;\nxor.b32 %r11, %r11, 128;\n" +
                    kLoad);
  tensor("CL2", elected(0, mma() + commit(0) + commit(1)) + wait(0, 0) + "[+" + wait(1, 0) + "+]");
  shared("CL2_operation",
         "mov.u64 %rd0, 0x41; wgmma.fence.sync.aligned;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %rd0, %rd0, 0, 1, "
         "1, 0, 0;\nwgmma.commit_group.sync.aligned;\n[+wgmma.wait_group.sync.aligned 0;\n+]");
  c.back().target = "sm_90a";
  const std::string peerWord = "xor.b32 %r13, %cr, 1; mapa.shared::cluster.u32 %r14, %r11, %r13;\n",
                    peerBar = "mov.u32 %r15, bar; add.u32 %r15, %r15, 8; "
                              "mapa.shared::cluster.u32 %r15, %r15, %r13;\n";
  const std::string clusterMeets =
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  shared("OS14", "mov.u32 %cr, %cluster_ctarank;\n" + kWord + "[+" + clusterMeets + "+]" +
                     peerWord + "st.shared::cluster.u32 [%r14+1024], %t;\n" + clusterMeets);
  c.back().cluster = {1, 2, 1}; // no pair, whose CTAs meet ahead of the body
  c.back().touchesNothing = c.back().isAlone = true;
  auto inPair = [&](std::string label, std::string body) {
    shared(std::move(label), kWord + peerWord + std::move(body));
    c.back().cluster = {2, 1, 1};
  };
  const std::string thenSync = "[+" + clusterSync + "+]";
  inPair("CL2_store", "st.shared::cluster.u32 [%r14+1024], %t;\n" + thenSync);
  inPair("CL2_load", "ld.shared::cluster.u32 %r12, [%r14+1024];\n" + thenSync);
  inPair("CL2_atomic", "red.relaxed.cluster.shared::cluster.add.u32 [%r14+1024], 1;\n" + thenSync);
  const std::string arrivePeer =
      peerBar + elected(0, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];\n");
  inPair("CL2_arrive", arrivePeer + thenSync);
  inPair("CL2_arriveWait", arrivePeer + "[+" + wait(1, 0, ".acquire.cluster") + "+]");
  // What a relaxed barrier leaves open for a store it does not for a load.
  inPair(
      "CL2_relaxed",
      "[-st.shared::cluster.u32 [%r14+1024], %t;-][+ld.shared::cluster.u32 %r12, [%r14+1024];+]\n"
      "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n");
  shared("CL4", kWord + kStore +
                    "[+bar.warp.sync -1;\n+]elect.sync _|%p3, -1;\n"
                    "xor.b32 %r11, %r11, 64;\n" +
                    kLoad);
  shared("OS1", elected(0, copyIn(0)) + "[-bar.sync 0;-][+" + wait(0, 0) + "+]" + kWord + kLoad +
                    wait(0, 0));
  for (const char *op : {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32",
                         "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
                         "add.u32"}) {
    const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
    c.push_back(
        {"OS1", kWord +
                    "mapa.shared::cluster.u32 %r13, %r11, 1; mov.u32 %r14, bar;\n"
                    "mapa.shared::cluster.u32 %r14, %r14, 1; setp.ne.u32 %p2, %cr, 0;\n"
                    "@%p2 bra P1;\n" +
                    inWarp(0, std::string(op) + " [%r13+1024], %t, [%r14];\n") + "P1: " + sync +
                    "@!%p2 bra P2;\n@%p6 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;"
                    "\n[+" +
                    wait(0, 0) + "+]" + inWarp(0, kLoad) + "[-" + wait(0, 0) + "-]P2:\n"});
    c.back().cluster = {2, 1, 1};
    c.back().name = op[0] == 's' ? "StAsync" : "RedAsync";
  }
  shared("OS2", kWord + kStore + "[+bar.sync 0;\n+]xor.b32 %r11, %r11, 128;\n" + kLoad);
  // Atomics exclude each other's races, not those with the store that only one of them is behind.
  const std::string count = "red.shared.add.u32 [%b], 1;\n";
  shared("OS2_counter", "@%p6 st.shared.u32 [%b], 0;\n[+bar.sync 0;\n+]" + count);
  shared("OS2_counterOfOneLane", "@%p6 st.shared.u32 [%b], 0;\n[+bar.sync 0;\n+]" +
                                     elected(0, count) + elected(1, count + count));
  shared("CL4_counter", "@%p6 st.shared.u32 [%b], 0;\n[+bar.warp.sync -1;\n+]" + inWarp(0, count));
  shared("OS3",
         elected(0, copyIn(0) + "[+" + wait(0, 0) + "+]" + copyIn(1) + wait(1, 0) + wait(0, 0)));
  shared("OS5", kWord + "@%p6 st.shared.u32 [%r11+1024], %t; @%p6 " + kArrive1 + "[-" +
                    wait(1, 0, ".relaxed.cta") + "-][+" + wait(1, 0) +
                    "+]ld.shared.u32 %r12, [%b+1024];\n");
  // A relaxed barrier of the cluster ahead of the access has no part in it.
  shared("OS5_prologue",
         "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n" + kWord +
             "@%p6 st.shared.u32 [%r11+1024], %t; @%p6 mbarrier.arrive[-.relaxed.cta-].shared::cta."
             "b64 _, [bar+8];\n" +
             wait(1, 0) + "ld.shared.u32 %r12, [%b+1024];\n");
  // Which lane's value stays is left open.
  shared("OS12", kWord + inWarp(0, "st.shared.u32 [[-%b-][+%r11+]+1024], %t;\n"), L::warning);
  c.back().isAlone = true;
  shared("OS12_half",
         kWord + "[-and.b32 %r11, %r11, -8;-] [+shl.b32 %r11, %t, 3; add.u32 %r11, %r11, %b;+]\n"
                 "st.shared.v2.u32 [%r11+1024], {%t, %t};\n",
         L::warning);
  c.back().isAlone = true;
  shared("OS12_global", "[-st.global.u32 [%in], %t;-][+st.global.u32 [%po], %t;+]\n", L::warning);
  c.back().isAlone = true;
  shared("OS12_stmatrix",
         inWarp(0, "shl.b32 %r11, %la, 4; [-and.b32 %r11, %r11, 0x60;-] add.u32 %r11, %r11, %b;\n"
                   "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r11+1024], {%t};\n"),
         L::warning);
  c.back().isAlone = true;
  shared("OS12_stmatrixNarrow",
         inWarp(0, "shl.b32 %r11, %la, 4; [-and.b32 %r11, %r11, 0x60;-] add.u32 %r11, %r11, %b;\n"
                   "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r11+1024], {%t};\n"),
         L::warning);
  c.back().isAlone = true;
  // Equal sources, or equal bytes of different ones, leave nothing open.
  shared("OS12_copy",
         "mad.wide.u32 %pi, %la, 4, %in; st.global.u32 [%pi], [-%la-][+7+]; bar.sync 0;\n" +
             inWarp(0, "cp.async.ca.shared.global [%b+1024], [%pi], 4; cp.async.wait_all;\n"),
         L::warning);
  c.back().isAlone = true;
  shared("OS12_copySource",
         "mad.wide.u32 %rd5, %la, 4, %in; st.global.u32 [%rd5], %la; bar.sync 0;\n" +
             inWarp(0, "cp.async.ca.shared.global [%b+1024], [[-%rd5-][+%in+]], 4; "
                       "cp.async.wait_all;\n"),
         L::warning);
  c.back().isAlone = true;
  shared("OS6", kWord + "[-st.shared.u32 [%b+1024], 7;-][+st.shared.u32 [%r11+1024], 7;+]\n",
         L::warning);
  c.push_back({"OS4",
               "mov.u32 %r11, big; shl.b32 %r12, %t, 4; add.u32 %r11, %r11, %r12; add.u32 %r11, "
               "%r11, [-252928-][+1024+];\ncp.async.cg.shared.global [%r11], [%in], 16; "
               "cp.async.wait_all;\n",
               Setup::shared, L::warning});
  c.back().target = "sm_107a";
  c.back().shared = 260000;
  c.back().isAlone = true;
  addLaneCases(c);
  return c;
}

class HazardRules : public testing::TestWithParam<HazardCase> {};
TEST_P(HazardRules, WrongKernelIsReported) { expectReported(GetParam()); }
TEST_P(HazardRules, RightTwinIsSilent) { expectSilent(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, HazardRules, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.label + info.param.name; });

/// A load of the accumulator is over before another warp's product overwrites it: with relaxed
/// synchronisation both tcgen05 fences are needed.
TEST(TensorFence, BeforeAndAfterARelaxedArrival) {
  auto text = [](bool before, bool after) {
    HazardCase c;
    c.setup = Setup::tensor;
    const std::string arrive =
        elected(1, "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar+8];\n");
    c.body = elected(0, mma() + commit(0)) + wait(0, 0) +
             inWarp(1, std::string("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r1]; "
                                   "tcgen05.wait::ld.sync.aligned;\n") +
                           (before ? "tcgen05.fence::before_thread_sync;\n" : "")) +
             arrive +
             elected(0, wait(1, 0, ".relaxed.cta") +
                            (after ? "tcgen05.fence::after_thread_sync;\n" : "") + mma() +
                            commit(2) + wait(2, 0)) +
             inWarp(1, wait(2, 0));
    Scene s;
    s.options = {};
    s.block = {128, 1, 1};
    return run(hazardKernel(c, /*isRight=*/true), s).error;
  };
  EXPECT_EQ(text(true, true), "");
  EXPECT_NE(text(false, true), "");
  EXPECT_NE(text(true, false), "");
}

// Reports cite both lines, the memory, what is missing, and through .loc the source.
TEST(HazardReport, NamesBothPartiesAndTheirSource) {
  std::string text = header("sm_100a") + R"(.file 1 "ffn.mlir"
.shared .align 16 .b8 buf[256];
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .pred %p0; .reg .b32 %r<4>;
mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 32; shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r1, %r1, %r2;
.loc 1 10 3
@%p0 st.shared.u32 [%r1], %r0;
.loc 1 12 8, function_name $L__info_string0, inlined_at 1 10 3
@!%p0 ld.shared.u32 %r3, [buf];
ret;
}
.section .debug_str
{
$L__info_string0:
.b8 98,97,114,0
}
)";
  Scene s;
  s.block = {64, 1, 1};
  s.options.hazards.mode = HazardMode::on;
  EXPECT_EQ(run(text, s).error,
            "t.ptx:12: hazard: ld (warp 1) reads shared memory bytes 0x400..0x403 that st at "
            "t.ptx:10 (warp 0) may not have written\n"
            "  missing: a barrier between them  [OS2]\n"
            "  from: ffn.mlir:12:8 bar\n  against: ffn.mlir:10:3");
}

// Who took part in the last phase and does not in this one, and where it is.
TEST(HazardReport, DeadlockNamesWhoDoesNotArrive) {
  Scene s;
  s.block = {64, 1, 1};
  s.options.hazards.mode = HazardMode::on;
  auto stuck = [&](const std::string &first) {
    return run(kernel(
                   "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n"
                   "setp.lt.u32 %p1, %t, 32; @%p1 bra A;\n"
                   "W0: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W0;\n"
                   "W1: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 1; @!%p2 bra W1;\n"
                   "bra E;\nA:\n" +
                       first + "E:\n",
                   "sm_100a", ".shared .align 8 .b8 bar[8];\n"),
               s)
        .error;
  };
  std::string text = stuck("@%p0 mbarrier.arrive.shared.b64 _, [bar];\n");
  EXPECT_NE(text.find("waits for parity 1 of mbarrier 0x400 (phase parity 1, pending 1 of 1, 0 "
                      "bytes), phase 1; missing: line 15 of warp 0, which has exited"),
            std::string::npos)
      << text;
  text = stuck("");
  EXPECT_NE(text.find("phase 0: nobody has arrived since mbarrier.init at line"), std::string::npos)
      << text;
}

TEST(HazardTable, LabelsAreUniqueAndEveryErrorSaysWhatIsMissing) {
  std::set<std::string_view> labels;
  for (const HazardRule &r : hazardRules()) {
    EXPECT_TRUE(labels.insert(r.label).second) << r.label;
    EXPECT_FALSE(r.gist.empty());
    EXPECT_TRUE(r.level == HazardLevel::never || !r.missing.empty()) << r.label;
  }
}

} // namespace
