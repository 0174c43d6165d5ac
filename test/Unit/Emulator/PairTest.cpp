//===- PairTest.cpp - the two CTAs of a pair, and what clusters share ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Management of tensor memory by pairs, TMA that tells the peer's barrier, multicast,
// distributed shared memory, and what must not meet a CTA that has exited.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *kVars = ".shared .align 1024 .b8 buf[4096];\n.shared .align 8 .b8 bar[16];\n"
                    ".shared .align 4 .b8 tm[8];\n";

std::string pairKernel(const std::string &body) {
  return kernel("mov.u32 %r30, %cluster_ctarank; mov.u32 %r0, buf; mov.u32 %r1, bar; setp.eq.u32 "
                "%p0, %r30, 0; setp.eq.u32 %p1, %t, 0; and.pred %p2, %p0, %p1;\n" +
                    body,
                "sm_100a", kVars);
}

Ran runPair(const std::string &body, const Options &o = {}, unsigned ctas = 2,
            std::function<void(uint64_t, uint64_t, std::vector<uint32_t> &)> fill = {}) {
  Scene s;
  s.options = o;
  s.grid = s.cluster = {ctas, 1, 1};
  s.in.assign(1024, 0);
  s.fill = std::move(fill);
  return run(pairKernel(body), s);
}

/// The first line of a refusal, without its place.
std::string afterLine(const std::string &error) {
  size_t at = error.find(": ");
  std::string text = at == std::string::npos ? error : error.substr(at + 2);
  return text.substr(0, text.find('\n'));
}

const std::string kBoth = "barrier.cluster.arrive; barrier.cluster.wait;\n";

/// 96 columns are no power of two, so they are only to be had exclusively; whoever does not
/// free them leaks.
TEST(PairAlloc, Exclusive) {
  Ran r = runPair("tcgen05.alloc.exclusive.cta_group::2.sync.aligned.shared::cta.b32 [tm], 96;\n"
                  "ld.shared.b32 %r6, [tm]; add.u32 %r7, %r6, 64; tcgen05.st.sync.aligned.32x32b."
                  "x1.b32 [%r7], {%r30}; tcgen05.wait::st.sync.aligned;\n" +
                  kBoth + "tcgen05.dealloc.exclusive.cta_group::2.sync.aligned.b32 %r6, 96;");
  EXPECT_EQ(r.error, "");
}

TEST(PairAlloc, BothCtasGetTheSameColumns) {
  // CTA 1 comes late: it counts to 2000 first.
  for (const Options &o : allTimings()) {
    Ran r = runPair(
        "@%p0 bra G; mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 2000; @%p3 bra "
        "L; G:\n"
        "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tm], 128;\n"
        "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tm+4], 64;\n"
        "ld.shared.b32 %r6, [tm]; ld.shared.b32 %r7, [tm+4]; shl.b32 %r8, %r30, 3; cvt.u64.u32 "
        "%rd0, %r8; add.u64 %rd0, %rd0, %out; st.global.v2.u32 [%rd0], {%r6, %r7};\n"
        "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n"
        "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r7, 64;\n"
        "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r6, 128;",
        o);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(std::vector<uint32_t>(r.out.begin(), r.out.begin() + 4),
              (std::vector<uint32_t>{0, 128, 0, 128}));
  }
}

TEST(PairAlloc, WaitsForTheOtherCta) {
  Ran r = runPair(kBoth + "@!%p0 bra E; tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 "
                          "[tm], 128;\nE: barrier.cluster.arrive; barrier.cluster.wait;");
  EXPECT_NE(r.error.find("deadlock"), std::string::npos) << r.error;
  EXPECT_NE(r.error.find("waits for a warp of its peer CTA at the same instruction"),
            std::string::npos);
}

TEST(PairAlloc, Refusals) {
  const std::string alloc = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tm], ";
  Ran r = runPair("@%p0 bra A; " + alloc + "64; bra B;\nA: " + alloc + "128; B:");
  EXPECT_NE(r.error.find("tmem_pair: tcgen05.alloc must name the same columns in both CTAs of a "
                         "pair, got "),
            std::string::npos)
      << r.error;
  r = runPair("@%p0 bra A; " + alloc +
              "64; bra B;\nA: tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned; B:");
  EXPECT_NE(r.error.find("tmem_pair: CTAs of a pair must meet at the same instruction"),
            std::string::npos)
      << r.error;
  // The peer has gone, or there is none.
  r = runPair("@%p0 bra A; ret;\nA: mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; setp.lt.u32 %p3, "
              "%r5, 20000; @%p3 bra L;\n" +
              alloc + "64;");
  EXPECT_EQ(afterLine(r.error),
            "tcgen05_cta_group: peer CTA of .cta_group::2 must not have exited");
  r = runPair(alloc + "64;", {}, 1);
  EXPECT_EQ(afterLine(r.error),
            "tcgen05_cta_group: .cta_group::2 must have a peer CTA in the cluster");
}

/// Words 32.. of `in` hold 1000, 1001, …; a map of 32 words a row over them in words 0..31.
void mapOfRows(uint64_t in, uint64_t, std::vector<uint32_t> &words) {
  facts::TensorMap m;
  m.type = facts::TmaType::u32;
  m.address = in + 128;
  m.dims = {32, 8};
  m.strides = {128};
  m.box = {32, 1};
  auto bytes = encodeTensorMap(facts::Arch::sm_100a, m);
  ASSERT_TRUE(bool(bytes)) << bytes.message();
  std::memcpy(words.data(), bytes->data(), 128);
  for (uint32_t i = 0; i < 256; ++i)
    words[32 + i] = 1000 + i;
}

/// Each CTA writes word %t of its buffer to out[rank * 32 + t].
const std::string kDump = "shl.b32 %r40, %t, 2; add.u32 %r40, %r40, %r0; ld.shared.u32 %r41, "
                          "[%r40]; mad.lo.u32 %r42, %r30, 32, %t; mul.wide.u32 %rd7, %r42, 4; "
                          "add.u64 %rd7, %rd7, %out; st.global.u32 [%rd7], %r41;\n";

TEST(PairTma, BothCtasTellTheEvenOnesBarrier) {
  // Each CTA loads its own row; the barrier named has bit 24 cleared, so the leader waits
  // for the bytes of both and then tells the other.
  for (const Options &o : allTimings()) {
    Ran r =
        runPair("@%p2 mbarrier.init.shared.b64 [%r1], 1; @%p1 mbarrier.init.shared.b64 "
                "[%r1+8], 1; fence.mbarrier_init.release.cluster;\n" +
                    kBoth +
                    "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 256;\n"
                    "and.b32 %r2, %r1, 0xFEFFFFFF; mov.u32 %r3, 0; @%p1 "
                    "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier"
                    "::complete_tx::bytes [%r0], [%in, {%r3, %r30}], [%r2];\n"
                    "@!%p2 bra N; W: mbarrier.try_wait.parity.shared.b64 %p3, [%r1], 0; @!%p3 "
                    "bra W;\n"
                    "mapa.shared::cluster.u32 %r4, %r1, 0; "
                    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4+8];\n"
                    "mapa.shared::cluster.u32 %r4, %r1, 1; "
                    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4+8];\n"
                    "N: V: mbarrier.try_wait.parity.shared.b64 %p3, [%r1+8], 0; @!%p3 bra V;\n" +
                    kDump + kBoth,
                o, 2, mapOfRows);
    ASSERT_EQ(r.error, "");
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(r.out[i], 1000 + i);
  }
}

TEST(Multicast, DataAndBytesReachEveryCtaOfTheMask) {
  // CTA 0 sends row 3 to CTAs 1 and 3; each waits at its own barrier.
  for (const Options &o : allTimings()) {
    Ran r = runPair("shl.b32 %r40, %t, 2; add.u32 %r40, %r40, %r0; mov.u32 %r9, 7; st.shared.u32 "
                    "[%r40], %r9;\n"
                    "@%p1 mbarrier.init.shared.b64 [%r1], 1; fence.mbarrier_init.release.cluster;"
                    "fence.proxy.async;\n" +
                        kBoth +
                        "and.b32 %r5, %r30, 1; setp.eq.u32 %p4, %r5, 1; and.pred %p5, %p4, %p1; "
                        "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;\n"
                        "mov.u16 %h0, 10; @%p2 cp.async.bulk.tensor.2d.shared::cluster.global."
                        "tile.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%in, {0, "
                        "3}], [%r1], %h0;\n"
                        "@!%p4 bra N; W: mbarrier.try_wait.parity.shared.b64 %p3, [%r1], 0; @!%p3 "
                        "bra W; N:\n" +
                        kDump + kBoth,
                    o, 4, mapOfRows);
    ASSERT_EQ(r.error, "");
    for (uint32_t i = 0; i < 128; ++i)
      EXPECT_EQ(r.out[i], i / 32 % 2 ? 1000 + 96 + i % 32 : 7u) << i;
  }
}

TEST(DistributedShared, StoresLoadsAndAtomicsOfAPeer) {
  // Each CTA adds its lane numbers to the next one's counters and reads them back.
  for (const Options &o : allTimings()) {
    Ran r = runPair(
        "shl.b32 %r40, %t, 2; add.u32 %r40, %r40, %r0; mov.u32 %r9, 100; st.shared.u32 [%r40], "
        "%r9;\n" +
            kBoth +
            "add.u32 %r5, %r30, 1; and.b32 %r5, %r5, 3; mapa.shared::cluster.u32 %r6, %r40, %r5; "
            "red.relaxed.cluster.shared::cluster.add.u32 [%r6], %t; mov.u32 %r8, %r30; "
            "st.shared::cluster.u32 [%r6+128], %r8; getctarank.shared::cluster.u32 %r7, %r6;\n"
            "setp.ne.u32 %p6, %r7, %r5; @%p6 trap;\n" +
            kBoth + "ld.shared::cluster.u32 %r10, [%r6];" + kBoth +
            "add.u32 %r10, %r10, 1000; st.shared.u32 [%r40+256], %r10; ld.shared.u32 %r11, "
            "[%r40+128]; ld.shared.u32 %r12, [%r40+256]; add.u32 %r12, %r12, %r11; st.shared.u32 "
            "[%r40], %r12;\n" +
            kBoth + kDump,
        o, 4);
    ASSERT_EQ(r.error, "");
    for (uint32_t i = 0; i < 128; ++i)
      EXPECT_EQ(r.out[i], 1100 + i % 32 + (i / 32 + 3) % 4) << i;
  }
}

TEST(Exited, MemoryOfACtaThatHasExitedIsOutOfReach) {
  // CTA 1 exits at once; CTA 0 comes late and writes to it.
  const std::string late = "@!%p0 bra E; mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; setp.lt.u32 %p3, "
                           "%r5, 20000; @%p3 bra L; mapa.shared::cluster.u32 %r6, %r1, 1;\n";
  EXPECT_EQ(afterLine(runPair(late + "st.shared::cluster.u32 [%r6], %r5; E:").error).substr(0, 63),
            "cluster_exited: CTA of a shared address must not have exited, g");
  EXPECT_EQ(afterLine(runPair("@%p1 mbarrier.init.shared.b64 [%r1], 1;\n" + kBoth + late +
                              "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6]; E:")
                          .error)
                .substr(0, 56),
            "cluster_exited: CTA of an mbarrier must not have exited,");
}

TEST(Exited, ACopyIntoACtaMustLandBeforeItExits) {
  Options o = unchecked();
  o.timing = Timing::latest;
  // CTA 1 does not wait for what CTA 0 sends it.
  Ran r = runPair("@%p1 mbarrier.init.shared.b64 [%r1], 1; fence.mbarrier_init.release.cluster;\n" +
                      kBoth +
                      "setp.eq.u32 %p4, %r30, 1; and.pred %p5, %p4, %p1; @%p5 "
                      "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;\n"
                      "mov.u16 %h0, 2; @%p2 cp.async.bulk.tensor.2d.shared::cluster.global.tile."
                      "mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%in, {0, 3}], "
                      "[%r1], %h0;\n" +
                      kBoth,
                  o, 2, mapOfRows);
  EXPECT_EQ(afterLine(r.error), "exit: cp.async.bulk.tensor must be complete when its CTA exits");
}

} // namespace
