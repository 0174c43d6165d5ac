//===- HazardClauseTest.cpp - further clauses of the hazard rules ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules that forbid several things have a case each here beside the one in
// HazardTest.cpp; rules that never report have kernels that they could be thought to
// forbid; and reports are read word for word.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const std::string kClusterSync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
const std::string kCopyScales = "tcgen05.cp.cta_group::1.32x128b.warpx4 [%tm+128], %ds;\n";
const std::string kBefore = "tcgen05.fence::before_thread_sync;\n";
const std::string kAfter = "tcgen05.fence::after_thread_sync;\n";
const std::string kWord = "shl.b32 %r11, %t, 2; add.u32 %r11, %r11, %b;\n";

std::string copyIn(int i, bool expectFirst = true) {
  std::string bar = "[bar+" + std::to_string(8 * i) + "]";
  std::string copy = "add.u32 %r10, %b, 1024;\n"
                     "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], "
                     "[%in], 128, " +
                     bar + ";\n";
  std::string expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, " + bar + ", 128;\n";
  return expectFirst ? expect + copy : copy + expect;
}

std::string relaxedArrive(int barrier) {
  return "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar+" + std::to_string(8 * barrier) +
         "];\n";
}

/// A copy of scales in warp 0 and, behind a relaxed hand-over, the product in warp 1.
HazardCase copyThenProduct(const std::string &before, const std::string &after) {
  HazardCase c;
  c.setup = Setup::tensor;
  c.body = elected(0, kCopyScales + before + relaxedArrive(1)) +
           elected(1, wait(1, 0, ".relaxed.cta") + after + mma() + commit(2) + wait(2, 0)) +
           elected(0, commit(0)) + wait(0, 0) + wait(2, 0);
  return c;
}

/// Two products of one accumulator that differ in their kinds alone.
HazardCase twoKinds() {
  HazardCase c;
  c.setup = Setup::tensor;
  std::string other = mma();
  other.replace(other.find("mxf4nvf4"), 8, "mxf4");
  other.replace(other.find("block16"), 7, "block32");
  c.body = "mov.u32 %r20, 0x08880480;\n" + elected(0, mma() + other + commit(0)) + wait(0, 0);
  c.body.replace(c.body.find("%id", c.body.find("kind::mxf4.")), 3, "%r20");
  return c;
}

std::vector<HazardCase> cases() {
  HazardOptions early;
  early.manual = ManualRevision::early;
  std::vector<HazardCase> c;
  c.push_back({"CL1_twoArrives", "barrier.cluster.arrive.aligned;\n[-barrier.cluster.arrive."
                                 "aligned;\n-]barrier.cluster.wait.aligned;\n"});
  c.back().touchesNothing = true;
  // CTA 1 exits long before the answer comes; in the right kernel it waits for it, too.
  c.push_back(
      {"CL3_exited",
       "[-setp.eq.u32 %p2, %cr, 1; @%p2 bra D;\nmov.u32 %r20, 0;\n"
       "S: add.u32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 10000; @%p2 bra S;\n-]" +
           elected(0, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n") + "[+" +
           kClusterSync + "+]" +
           elected(0, "setp.ne.u32 %p2, %cr, 0; @%p2 bra P1;\n"
                      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::"
                      "bytes.multicast::cluster::all.b128 [buf], [bar];\nP1:\n") +
           wait(0, 0) + "D:\n"});
  c.back().cluster = {2, 1, 1};
  c.push_back({"MB3_remote",
               "xor.b32 %r13, %cr, 1; mov.u32 %r15, bar; add.u32 %r15, %r15, 8;\n"
               "[-mapa.shared::cluster.u32 %r15, %r15, %r13;\n-]" +
                   elected(0, "mbarrier.arrive.shared::cta.b64 _, [bar+8];\n") + kClusterSync +
                   "WR: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r15], 0; @!%p3 bra WR;\n" +
                   kClusterSync});
  c.back().cluster = {2, 1, 1};
  c.back().isAlone = true;
  c.push_back({"TM12_kind", twoKinds().body, Setup::tensor, HazardLevel::error, early,
               /*sameText=*/true});
  for (const char *fence : {"before", "after"}) {
    const bool before = fence[0] == 'b';
    HazardCase pair = copyThenProduct(before ? "[+" + kBefore + "+]" : kBefore,
                                      before ? kAfter : "[+" + kAfter + "+]");
    c.push_back({"TM8_" + std::string(fence), pair.body, Setup::tensor});
    c.back().options = early;
  }
  return c;
}

class HazardClauses : public testing::TestWithParam<HazardCase> {};
TEST_P(HazardClauses, WrongKernelIsReported) { expectReported(GetParam()); }
TEST_P(HazardClauses, RightTwinIsSilent) {
  HazardCase c = GetParam();
  const std::string mark = c.mark();
  for (Options o : allTimings()) {
    HazardCase right = c;
    Ran r = runCase(right, /*isRight=*/true, o);
    EXPECT_EQ(r.error, "");
    for (const std::string &w : r.stats.warnings)
      EXPECT_EQ(w.find(mark), std::string::npos) << w;
  }
}
INSTANTIATE_TEST_SUITE_P(All, HazardClauses, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.label; });

// In 9.4 a pair holds inside one warp only, whatever fences stand between.
TEST(HazardClauses, APairOverTwoWarpsIsOfTheEarlierManualOnly) {
  HazardCase c = copyThenProduct(kBefore, kAfter);
  c.label = "TM8";
  expectReported(c);
}

//===----------------------------------------------------------------------===//
// Rules that never report
//===----------------------------------------------------------------------===//

void expectNothing(const HazardCase &c) {
  for (const Options &o : allTimings()) {
    Ran r = runCase(c, /*isRight=*/true, o);
    EXPECT_EQ(r.error, "");
    EXPECT_TRUE(r.stats.warnings.empty()) << r.stats.warnings[0];
  }
}

// MB6: a copy may come before or after the expect_tx of its phase.
TEST(SilentRules, ACopyOnEitherSideOfItsExpectTx) {
  HazardCase c;
  c.options.mode = HazardMode::strict;
  for (bool expectFirst : {true, false}) {
    c.body = elected(0, copyIn(0, expectFirst)) + wait(0, 0);
    expectNothing(c);
  }
}

// GM4: what an earlier kernel stored a bulk copy reads without a proxy fence.
TEST(SilentRules, ABulkCopyOfAnEarlierKernelsData) {
  Options options;
  options.hazards.mode = HazardMode::strict;
  auto device = makeDevice(options);
  auto writer = load(*device, kernel("st.global.u32 [%po], %t;\n"), "w.ptx");
  HazardCase c;
  c.body = elected(0, copyIn(0)) + wait(0, 0) +
           "ld.shared.u32 %r12, [%b+1028]; @%p6 st.global.u32 "
           "[%out], %r12;\n";
  auto reader = load(*device, hazardKernel(c, /*isRight=*/true), "r.ptx");
  ASSERT_TRUE(bool(writer) && bool(reader));
  uint64_t a = *device->allocate(1024), b = *device->allocate(1024);
  LaunchConfig config;
  config.block = {128, 1, 1};
  config.params = {param(b), param(a)};
  auto stats = device->launch(**writer, "k", config);
  ASSERT_TRUE(bool(stats)) << stats.message();
  config.params = {param(a), param(b)};
  stats = device->launch(**reader, "k", config);
  ASSERT_TRUE(bool(stats)) << stats.message();
  EXPECT_TRUE(stats->warnings.empty()) << stats->warnings[0];
  uint32_t word = 0;
  ASSERT_TRUE(bool(device->read(b, &word, 4)));
  EXPECT_EQ(word, 1u);
}

//===----------------------------------------------------------------------===//
// Reports, word for word
//===----------------------------------------------------------------------===//

/// The first report of a kernel, errors before warnings.
std::string reportOf(const HazardCase &c) {
  Ran r = runCase(c, /*isRight=*/false, unchecked());
  return !r.error.empty() || r.stats.warnings.empty() ? r.error : r.stats.warnings[0];
}

/// The line of the kernel that starts with this text.
std::string lineOf(const HazardCase &c, const std::string &text) {
  std::string whole = hazardKernel(c, /*isRight=*/false);
  size_t at = whole.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  return std::to_string(1 + std::count(whole.begin(), whole.begin() + long(at), '\n'));
}

TEST(HazardWords, TensorMemory) {
  HazardCase c;
  c.setup = Setup::tensor;
  c.body = elected(0, mma() + commit(0)) +
           "bar.sync 0;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r1];\n" +
           "tcgen05.wait::ld.sync.aligned;\n" + wait(0, 0);
  std::string at = lineOf(c, "tcgen05.ld."), of = lineOf(c, "tcgen05.mma."),
              commits = lineOf(c, "tcgen05.commit.");
  EXPECT_EQ(reportOf(c).substr(0, reportOf(c).find("  [")),
            "t.ptx:" + at +
                ": hazard: tcgen05.ld (warp 0) reads tensor memory columns 0..0 that "
                "tcgen05.mma at t.ptx:" +
                of +
                " (warp 0) may still be writing\n  missing: an acquiring wait on the "
                "mbarrier of the tcgen05.commit at t.ptx:" +
                commits + ", for the right phase");
}

TEST(HazardWords, Proxies) {
  HazardCase c;
  c.body = kWord + "st.shared.u32 [%r11+1024], %t;\nbar.sync 0;\n" +
           elected(0, "add.u32 %r10, %b, 1024;\ncp.async.bulk.global.shared::cta.bulk_group "
                      "[%out], [%r10], 128;\n"
                      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n");
  std::string at = lineOf(c, "cp.async.bulk.global"), of = lineOf(c, "st.shared.u32");
  EXPECT_EQ(reportOf(c), "t.ptx:" + at +
                             ": hazard: a bulk store (warp 0) reads shared memory bytes "
                             "0x800..0x87f that st at t.ptx:" +
                             of +
                             " (warp 0) wrote, not yet visible to the async proxy\n  missing: "
                             "fence.proxy.async by the writer before the synchronisation, or by "
                             "the issuer behind it  [PX1]");
}

TEST(HazardWords, Mbarriers) {
  HazardCase c;
  c.label = "MB1";
  c.body = "@%p6 mbarrier.init.shared::cta.b64 [bar+8], 1;\nnanosleep.u32 1;\n" +
           elected(1, "mbarrier.arrive.shared::cta.b64 _, [bar+8];\n");
  std::string at = lineOf(c, "mbarrier.arrive"), of = lineOf(c, "@%p6 mbarrier.init");
  EXPECT_EQ(reportOf(c), "t.ptx:" + at +
                             ": hazard: (warp 1) uses mbarrier 0x5408..0x540f of cta rank 0 "
                             "whose initialisation at t.ptx:" +
                             of +
                             " (warp 0) it may not see\n  missing: a barrier between "
                             "mbarrier.init and its use  [MB1]");
}

TEST(HazardWords, StatesOfMbarriers) {
  HazardCase c;
  c.label = "MB3";
  c.body = elected(0, "mbarrier.arrive.shared::cta.b64 %rd5, [bar];\n"
                      "mbarrier.arrive.shared::cta.b64 %rd6, [bar+8];\n"
                      "mbarrier.test_wait.shared::cta.b64 %p4, [bar+8], %rd5;\n");
  const std::string report = reportOf(c);
  EXPECT_NE(report.find("(warp 0) waits on mbarrier 0x5408..0x540f of cta rank 0 by state 0x"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find(" of phase 0 of mbarrier 0x5400..0x5407 of cta rank 0; initialised at "
                        "t.ptx:"),
            std::string::npos)
      << report;
}

TEST(HazardWords, AnswersOfTryCancel) {
  HazardCase c;
  c.body = elected(0, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
                      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::"
                      "bytes.b128 [buf], [bar];\nld.shared.u32 %r12, [buf];\n") +
           wait(0, 0);
  const std::string report = reportOf(c);
  EXPECT_NE(report.find(" that the answer of clusterlaunchcontrol.try_cancel at t.ptx:"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find(" of mbarrier 0x5400, which the answer signals  [OS1]"), std::string::npos)
      << report;
}

/// What nobody has measured says so where it is reported.
TEST(HazardWords, UnmeasuredLimit) {
  HazardCase c;
  c.target = "sm_107a";
  c.shared = 260000;
  c.body = "mov.u32 %r11, big; add.u32 %r11, %r11, 252928;\n"
           "@%p6 cp.async.cg.shared.global [%r11], [%in], 16; cp.async.wait_all;\n";
  EXPECT_NE(reportOf(c).find("; the limit is from a code comment, unmeasured\n"), std::string::npos)
      << reportOf(c);
}

TEST(HazardWords, NonUniformAligned) {
  HazardCase c;
  c.body = "setp.lt.u32 %p4, %la, 7; @%p4 bra N0;\nbar.sync 0; bra N1;\nN0: bar.sync 0;\nN1:\n";
  const std::string report = reportOf(c);
  EXPECT_NE(report.find("at line " + lineOf(c, "N0: ") +
                        ", which is .aligned, waits for lanes 0xffffff80 of its warp"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("\n  missing: one path of all lanes of the warp to each .aligned"),
            std::string::npos)
      << report;
}

/// Lanes that one of them keeps waiting lack what that one waits for.
TEST(HazardWords, AlignedBehindAWaitThatDoesNotEnd) {
  HazardCase c;
  c.body = "setp.eq.u32 %p4, %la, 7; @!%p4 bra N0;\n" + wait(1, 0) + "N0: bar.sync 0;\n";
  const std::string report = reportOf(c);
  EXPECT_NE(report.find(", which is .aligned, waits for lanes 0x80 of its warp"), std::string::npos)
      << report;
  EXPECT_NE(report.find("\n  missing: an arrival, copy"), std::string::npos) << report;
}

TEST(HazardWords, GlobalMemory) {
  HazardCase c;
  c.grid = {2, 1, 1};
  c.body = "mov.u32 %r20, %ctaid.x; add.u32 %r21, %t, %r20;\nst.global.u32 [%po], %r21;\n";
  std::string at = lineOf(c, "st.global.u32");
  EXPECT_EQ(reportOf(c),
            "t.ptx:" + at +
                ": hazard: st (warp 0) writes global memory bytes 0x0..0x7f of a buffer of 1024 "
                "that st at t.ptx:" +
                at +
                " (another cluster) may not have written\n  missing: a release and an acquire at "
                "gpu scope between the CTAs  [GM1]");
}

//===----------------------------------------------------------------------===//
// Livelocks
//===----------------------------------------------------------------------===//

// A poll that never suspends names the same as a wait does in a deadlock.
TEST(HazardWords, LivelockNamesWhoDoesNotArrive) {
  HazardCase c;
  c.body = elected(1, "mbarrier.arrive.shared::cta.b64 _, [bar+8];\n") +
           "T0: mbarrier.test_wait.parity.shared::cta.b64 %p3, [bar+8], 0;\n@!%p3 bra T0;\n"
           "T1: mbarrier.test_wait.parity.shared::cta.b64 %p3, [bar+8], 1;\n@!%p3 bra T1;\n";
  std::string text = reportOf(c);
  EXPECT_NE(text.find(" polls: line " + lineOf(c, "T1:") +
                      " tests parity 1 of mbarrier 0x5408 (phase parity 1, pending 1 of 1, 0 "
                      "bytes), phase 1; missing: line " +
                      lineOf(c, "mbarrier.arrive.") + " of warp 1, which is at line "),
            std::string::npos)
      << text;
}

} // namespace
