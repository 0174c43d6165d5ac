//===- CommitReadsTest.cpp - commits that follow reads of A alone ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.18.12.1: .sync_restrict::shared::read::mma::a signals once earlier
// MMAs have read A from shared memory. Whoever waits for it may overwrite A; B is free
// only after a commit without it.
//
//===----------------------------------------------------------------------===//

#include "MmaScene.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

enum class Victim { a, b };

/// A commit to bar + 8, a wait for it, and then 16 KiB of an operand are overwritten.
std::string freed(const std::string &commit, Victim victim) {
  static int number = 0;
  std::string l = std::to_string(number++);
  return "@%p3 " + commit + "\nV" + l +
         ": mbarrier.try_wait.parity.shared.b64 %p5, [bar+8], 0; @!%p5 bra V" + l +
         ";\nmov.u32 %v0, 0x55AA55AA; shl.b32 %r32, %t, 4; mov.u32 %r33, 0; O" + l +
         ": add.u32 %r31, %r0, %r32; add.u32 %r31, %r31, %r33;\nst.shared.v4.u32 [%r31+" +
         (victim == Victim::a ? "0" : "0x8000") +
         "], {%v0, %v0, %v0, %v0}; add.u32 %r33, %r33, 2048; setp.lt.u32 %p0, %r33, 16384; @%p0 "
         "bra O" +
         l + ";\n";
}

MmaScene operands(unsigned group) {
  MmaScene s;
  s.target = "sm_107a";
  s.group = group;
  s.padded = true;
  s.n = 64;
  for (OperandPlan *p : {&s.a, &s.b}) {
    p->stride = 1024;
    p->leading = 16;
  }
  s.b.start = 0x8000;
  // Table 52: N >> 3 at bit 17, M >> 7 at bit 27, UE8M0 at bit 23.
  s.idesc = uint32_t(s.n) >> 3 << 17 | group << 27 | 1u << 23;
  return s;
}

struct Spelling {
  unsigned group;
  const char *rest;
};
const Spelling kSpellings[] = {
    {1, ".b64 [bar+8];"},
    {1, ".shared::cluster.b64 [bar+8];"},
    {1, ".shared::cluster.multicast::cluster.b64 [bar+8], 1;"},
    {2, ".shared::cluster.multicast::cluster.b64 [bar+8], 3;"},
    {2, ".shared::cluster.multicast::cluster::16b.b64 [bar+8], 3;"},
    {2, ".shared::cluster.multicast::cluster::32b.b64 [bar+8], 3;"},
};

std::string commit(const Spelling &c, bool restricted) {
  std::string rest = c.rest;
  if (rest[1] == 'b') // generic
    rest = ".b64 [%rd8];";
  return "tcgen05.commit.cta_group::" + std::to_string(c.group) + ".mbarrier::arrive::one" +
         (restricted ? ".sync_restrict::shared::read::mma::a" : "") + rest;
}
const char *kGeneric = "mov.u32 %r31, bar; cvt.u64.u32 %rd8, %r31; cvta.shared.u64 %rd8, %rd8; "
                       "add.u64 %rd8, %rd8, 8;\n";

unsigned wrongs(const MmaResult &r) {
  unsigned wrong = 0;
  for (size_t i = 0; i < r.got.size(); ++i)
    wrong += r.got[i] != r.expected[i];
  return wrong;
}

TEST(CommitOfReads, LetsABeOverwritten) {
  for (const Spelling &c : kSpellings)
    for (const Options &o : allTimings()) {
      MmaScene s = operands(c.group);
      s.options = o;
      s.behind = kGeneric + freed(commit(c, /*restricted=*/true), Victim::a);
      MmaResult r = runMma(s);
      ASSERT_EQ(r.error, "") << c.rest;
      EXPECT_EQ(wrongs(r), 0u) << c.rest << " timing " << int(o.timing) << " seed " << o.seed;
    }
}

TEST(CommitOfReads, DoesNotLetBBeOverwritten) {
  for (const Spelling &c : kSpellings)
    for (bool restricted : {true, false}) {
      MmaScene s = operands(c.group);
      s.options.timing = Timing::latest;
      s.behind = kGeneric + freed(commit(c, restricted), Victim::b);
      s.options.hazards.mode = HazardMode::off;
      MmaResult r = runMma(s);
      ASSERT_EQ(r.error, "") << c.rest;
      EXPECT_EQ(wrongs(r) != 0, restricted) << c.rest;
    }
}

TEST(CommitOfReads, IsToldOfEveryEarlierRead) {
  // Two products of the same operands; the second adds nothing but its own.
  for (const Options &o : allTimings()) {
    MmaScene s = operands(1);
    s.options = o;
    s.then = {".collector::a::discard"};
    s.behind = freed(commit(kSpellings[1], /*restricted=*/true), Victim::a);
    MmaResult r = runMma(s);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(wrongs(r), 0u) << "timing " << int(o.timing) << " seed " << o.seed;
  }
}

TEST(CommitOfReads, HasItsTarget) {
  std::string error =
      run(kernel("tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::shared::read::"
                 "mma::a.shared::cluster.b64 [%r0];",
                 "sm_103a"))
          .error;
  EXPECT_NE(error.find("ptx_target: .sync_restrict::shared::read::mma::a must have a target with "
                       "commit_sync_restrict, got sm_103a"),
            std::string::npos)
      << error;
}

} // namespace
