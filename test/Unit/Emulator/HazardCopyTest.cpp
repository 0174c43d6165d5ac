//===- HazardCopyTest.cpp - cp.async whose end an mbarrier tells ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each lane's arrival tells of its own copies alone (PTX ISA 9.4, 9.7.15.16.18). When a
// phase has room for fewer arrivals than lanes make, the fastest lanes end it, and the
// words of the others may not have landed.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

/// Threads copy a word each, signal a barrier of `count` arrivals and read the word of the
/// next lane.
HazardCase gather(unsigned threads, const std::string &count, const std::string &arrive) {
  HazardCase c;
  c.body = "@%p6 mbarrier.init.shared::cta.b64 [bar+24], " + count +
           "; bar.sync 0;\nsetp.ge.u32 %p2, %t, " + std::to_string(threads) +
           "; @%p2 bra D;\nshl.b32 %r11, %t, 2; add.u32 %r11, %r11, %b;\n"
           "cp.async.ca.shared.global [%r11+1024], [%pi], 4;\n" +
           arrive + wait(3, 0) +
           "add.u32 %r12, %t, 1; and.b32 %r12, %r12, 31; and.b32 %r13, %t, 32; or.b32 %r12, %r12, "
           "%r13;\nshl.b32 %r12, %r12, 2; add.u32 %r12, %r12, %b; ld.shared.u32 %r14, "
           "[%r12+1024];\ncp.async.wait_all;\nD:\n";
  return c;
}
const std::string kNoInc = "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar+24];\n";

TEST(CopyHazards, APhaseWithoutRoomForAllLanes) {
  for (auto [threads, count] : {std::pair{32u, 31u}, {64u, 63u}, {64u, 40u}, {32u, 17u}}) {
    HazardCase c = gather(threads, std::to_string(count), kNoInc);
    for (const char *rule : {"OS1", "MB5"}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, count " + std::to_string(count));
      c.label = rule;
      expectReported(c);
    }
  }
}

TEST(CopyHazards, APhaseWithRoomForAllLanesIsSilent) {
  for (unsigned threads : {32u, 64u}) {
    HazardCase c = gather(threads, std::to_string(threads), kNoInc);
    c.label = "MB5";
    expectSilent(c);
    c.options.mode = HazardMode::strict;
    expectSilent(c);
  }
}

// Without .noinc the barrier counts the lanes itself; with it they must be counted.
TEST(CopyHazards, NoIncThatIsNotCounted) {
  const std::string own = "bar.warp.sync -1; @%p6 mbarrier.arrive.shared::cta.b64 _, [bar+24];\n";
  HazardCase c =
      gather(32, "1", "cp.async.mbarrier.arrive[-.noinc-].shared::cta.b64 [bar+24];\n" + own);
  c.label = "MB5";
  expectReported(c);
  expectSilent(c);
}

// Lanes of one instruction may signal different barriers.
TEST(CopyHazards, EachHalfOfAWarpHasItsBarrier) {
  HazardCase c = gather(32, "16",
                        "mov.u32 %r15, bar; and.b32 %r16, %t, 16; shr.u32 %r16, %r16, 1; "
                        "add.u32 %r15, %r15, %r16;\n"
                        "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r15+24];\n" +
                            wait(4, 0));
  c.body = "@%p6 mbarrier.init.shared::cta.b64 [bar+32], 16;\n" + c.body;
  c.label = "MB5";
  expectSilent(c);
  // The half whose barrier nobody has waited for is not known.
  c.body.erase(c.body.find("W", c.body.find("[%r15+24]")), wait(4, 0).size());
  c.label = "OS1";
  expectReported(c);
}

TEST(CopyHazards, TheReportNamesThePhase) {
  HazardCase c = gather(32, "31", kNoInc);
  std::string text = runCase(c, /*isRight=*/false, unchecked()).error;
  for (const char *part :
       {"hazard: (warp 0) cp.async.mbarrier.arrive on mbarrier 0x5418..0x541f of cta rank 0 ends "
        "phase 0 before all of its lanes have arrived; initialised at t.ptx:",
        "\n  missing: an mbarrier.init that counts the arrival of every lane, or no .noinc  "
        "[MB5]"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

} // namespace
