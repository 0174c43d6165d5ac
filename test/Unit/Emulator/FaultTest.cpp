//===- FaultTest.cpp - refusals of a running kernel, as reports -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Under the hazard checks a refusal says the memory, who else took part, and what is
// missing or wrong. Here some are read word for word, and those that no other test brings
// about are brought about; Harness.h asks every refused run of every test for its last
// line.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *kVars = ".shared .align 1024 .b8 buf[4096];\n.shared .align 8 .b8 bar[16];\n"
                    ".shared .align 4 .b8 tm[8];\n.shared .align 4 .b8 other[8];\n";
// The body starts at line 12 of the module.
const std::string kInit =
    "setp.eq.u32 %p0, %t, 0;\n@%p0 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\n";
const std::string kAlloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], 32;\n"
                           "ld.shared.b32 %r10, [tm];\n";

struct Case {
  const char *name;
  std::string body;
  std::string report; // all of it, or its first words where it goes on
  const char *target = "sm_100a";
};

std::string refused(const std::string &body, const char *target, HazardMode mode,
                    Dim3 cluster = {}) {
  Scene s;
  s.options.hazards.mode = mode;
  s.cluster = s.grid = cluster;
  return run(kernel(body, target, kVars), s).error;
}

const Case kCases[] = {
    {"Uninitialised", "mbarrier.arrive.shared.b64 _, [bar];",
     "t.ptx:12: mbar_init: mbarrier must be initialised, got 0x1400\n"
     "  memory: shared memory bytes 0x1400..0x1407 of cta rank 0\n"
     "  missing: mbarrier.init before this use, or this use before mbarrier.inval  [MB1]"},
    {"Invalidated",
     kInit + "@%p0 mbarrier.inval.shared.b64 [bar];\nbar.sync 0;\n"
             "mbarrier.arrive.shared.b64 _, [bar];",
     "t.ptx:17: mbar_init: mbarrier must be initialised, got 0x1400\n"
     "  memory: shared memory bytes 0x1400..0x1407 of cta rank 0\n"
     "  other: mbarrier.inval at t.ptx:15\n"
     "  missing: mbarrier.init before this use, or this use before mbarrier.inval  [MB1]"},
    {"OverArrival", kInit + "@%p0 mbarrier.arrive.shared.b64 _, [bar], 2;",
     "t.ptx:15: mbar_arrivals: arrivals must be at most the pending 1, got 2 at 0x1400\n"
     "  memory: shared memory bytes 0x1400..0x1407 of cta rank 0\n"
     "  other: mbarrier.init at t.ptx:13\n"
     "  wrong: the count of mbarrier.init, or the number of arrivals in a phase  [MB5]"},
    {"OutOfBounds", "ld.global.u32 %r0, [%in+256];",
     "t.ptx:12: mem_global: global access of 4 bytes must lie in a live allocation, got "
     "0x100000000100 (256 bytes into an allocation of 256)\n"
     "  memory: global memory bytes 0x100000000100..0x100000000103\n"
     "  wrong: the address, or the size of the buffer"},
    {"Misaligned", "mov.u32 %r0, buf; ld.shared.v2.b32 {%r1, %r2}, [%r0+4];",
     "t.ptx:12: mem_align: address must be a multiple of 8 bytes, got 0x404\n"
     "  memory: shared memory bytes 0x404..0x40b of cta rank 0\n  wrong: the address"},
    {"Local", ".local .align 4 .b8 stack[16];\nmov.u32 %r0, stack;\nld.local.u32 %r1, [%r0+16];",
     "t.ptx:14: mem_local: local access of 4 bytes must lie in 16 bytes, got 0x10\n"
     "  memory: local memory bytes 0x10..0x13\n  wrong: the address"},
    {"Unwritten",
     kAlloc + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r10+3];\n"
              "tcgen05.wait::ld.sync.aligned;",
     "t.ptx:14: tmem_unwritten: tcgen05.ld must read cells that were written, got lane 0 column "
     "3\n  memory: tensor memory columns 3..3 of cta rank 0\n  other: tcgen05.alloc at t.ptx:12\n"
     "  missing: a tcgen05.st, cp or mma that writes these columns in every lane that is read  "
     "[TM15]"},
    {"Leak", kAlloc,
     "t.ptx:12: tmem_leak: tensor memory columns 0..31 must be freed before the CTA exits\n"
     "  memory: tensor memory of cta rank 0\n  other: exit at t.ptx:15\n"
     "  missing: tcgen05.dealloc before the exit  [TM13]"},
    {"Growing", kAlloc + "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], 64;",
     "t.ptx:14: tmem_alloc: columns must not grow over a CTA's life, got 64 after 32\n"
     "  memory: tensor memory of cta rank 0, 64 columns\n  other: tcgen05.alloc at t.ptx:12\n"
     "  wrong: the order or the columns of the allocations of the CTA  [TM13]"},
    {"InFlightAtExit",
     "setp.eq.u32 %p0, %t, 0; mov.u32 %r0, buf;\n"
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0], 16;",
     // The thread that issued it is told first.
     "t.ptx:14: hazard: thread 0 exits while its bulk store at t.ptx:13 may still read shared "
     "memory bytes 0x400..0x40f\n"
     "  missing: cp.async.bulk.commit_group and wait_group.read before the exit  [BK3]"},
    {"TwoClusterArrivals", "barrier.cluster.arrive.aligned;\nbarrier.cluster.arrive.aligned;",
     "t.ptx:13: cluster_arrive: thread must wait between two arrivals at the cluster barrier\n"
     "  other: the first arrival at t.ptx:12\n"
     "  missing: barrier.cluster.wait between the two arrivals  [CL1]"},
    {"Deadlock", kInit + "L: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;",
     "t.ptx:15: deadlock: no warp can run and nothing is in flight; cta 0,0,0 warp 0 at line 15 "
     "waits for parity 0 of mbarrier 0x1400 (phase parity 0, pending 1 of 1, 0 bytes), phase 0: "
     "nobody has arrived since mbarrier.init at line 13\n"
     "  missing: an arrival, copy or commit that ends one of these waits"},
    {"WrongBytes",
     kInit + "mov.u32 %r0, buf;\n@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;\n"
             "@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0], [%in], "
             "16, [bar];\nL: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;",
     "t.ptx:18: deadlock: "},
    // What no other test brings about.
    {"MulticastMask",
     kInit + "mov.u32 %r0, buf; mov.u32 %r1, bar; mov.u16 %h0, 0;\n@%p0 "
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
             "[%r0], [%in], 16, [%r1], %h0;",
     "t.ptx:16: tma_multicast: mask must name CTAs of the cluster of 1, got 0x0\n"
     "  wrong: the mask of CTAs"},
    {"TmemAddress",
     kAlloc + "add.u32 %r10, %r10, %t;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r10];",
     "t.ptx:15: tmem_address: address must be the same in all lanes, got 0x0 and 0x1\n"
     "  wrong: the address, which all lanes must share"},
    {"BulkAlign",
     kInit + "mov.u32 %r0, buf;\n@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::"
             "bytes [%r0], [%in], 8, [bar];",
     "t.ptx:16: bulk_align: addresses and size must be multiples of 16 bytes, got 0x100000000000 "
     "and 8\n  memory: global memory bytes 0x100000000000..0x100000000007\n"
     "  wrong: the address or the size of the copy"},
    {"CancelAddress",
     kInit + "@%p0 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
             "b128 [buf+8], [bar];",
     "t.ptx:15: cancel_address: answer must lie at a multiple of 16 bytes, got 0x408\n"
     "  memory: shared memory bytes 0x408..0x417 of cta rank 0\n"
     "  wrong: the address of the answer or of the mbarrier"},
    {"CopySize",
     "mov.u32 %r0, buf; mov.u32 %r1, 17;\ncp.async.cg.shared.global [%r0], [%in], 16, %r1;",
     "t.ptx:13: cp_async_size: source size must be at most 16, got 17\n"
     "  memory: global memory bytes 0x100000000000..0x100000000010\n"
     "  wrong: the size of the source"},
    {"CopyBounds",
     kAlloc + "mov.b64 %rd0, 0x0000400400013FFF; setp.eq.u32 %p0, %t, 0;\n"
              "@%p0 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r10], %rd0;",
     "t.ptx:15: cp_bounds: source of tcgen05.cp must lie in shared memory, got 0x3fff0\n"
     "  memory: shared memory bytes 0x3fff0..0x3ffff of cta rank 0\n"
     "  wrong: the descriptor of the source: its start or its strides"},
    {"MapaRank", "mov.u32 %r0, buf;\nmapa.shared::cluster.u32 %r1, %r0, 5;",
     "t.ptx:13: mapa_rank: rank must be below the cluster's 1 CTAs, got 5\n"
     "  wrong: the rank of mapa"},
    {"BarrierAlign", "mbarrier.init.shared.b64 [bar+4], 1;",
     "t.ptx:12: mbar_align: mbarrier must lie at a multiple of 8 bytes, got 0x1404\n"
     "  memory: shared memory bytes 0x1404..0x140b of cta rank 0\n"
     "  wrong: the address of the mbarrier"},
    {"StackSize", "mov.u64 %rd0, 8193;\nalloca.u64 %rd1, %rd0;",
     "t.ptx:13: stack_size: alloca must fit the 8192 bytes that are left of 8192, got 8193 at a "
     "multiple of 8\n  memory: local memory bytes 0x0..0x1fff\n"
     "  wrong: the size, or stackrestore is missing in a loop"},
    {"StackPointer", "mov.u32 %r0, 0xFFFFFF00;\nstackrestore.u32 %r0;",
     "t.ptx:13: stack_pointer: stackrestore must have what stacksave gave, 0x0..0x2000, got "
     "0xffffff00\n  memory: local memory bytes 0x0..0x1fff\n"
     "  wrong: the pointer, which must be that of stacksave"},
};

class Fault : public ::testing::TestWithParam<Case> {};

TEST_P(Fault, IsAReport) {
  const Case &c = GetParam();
  const std::string report = refused(c.body, c.target, HazardMode::on);
  EXPECT_EQ(c.report.back() == ' ' ? report.substr(0, c.report.size()) : report, c.report)
      << report;
}
TEST_P(Fault, IsOneLineWithoutTheChecks) {
  const Case &c = GetParam();
  const std::string report = refused(c.body, c.target, HazardMode::off);
  EXPECT_EQ(report.find('\n'), std::string::npos) << report;
}
INSTANTIATE_TEST_SUITE_P(All, Fault, ::testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

TEST(FaultLines, WrongBytesBreakTheRuleOfBytes) {
  const std::string report = refused(kCases[12].body, "sm_100a", HazardMode::on);
  EXPECT_NE(report.find("but 32 bytes are expected and 16 came\n"
                        "  memory: shared memory bytes 0x1400..0x1407 of cta rank 0\n"
                        "  other: mbarrier.init at t.ptx:13\n"
                        "  wrong: the bytes of expect_tx"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("[MB5]"), std::string::npos) << report;
}

// .loc names the operation of both lines.
TEST(FaultLines, NameTheSourceOfBothParties) {
  std::string text = header("sm_100a") + R"(.file 1 "ffn.mlir"
.shared .align 8 .b8 bar[8];
.visible .entry k(.param .u64 in, .param .u64 out) {
.loc 1 10 3
mbarrier.init.shared.b64 [bar], 1;
.loc 1 12 8
mbarrier.arrive.shared.b64 _, [bar], 2;
ret;
}
)";
  Scene s;
  s.block = {1, 1, 1};
  s.options.hazards.mode = HazardMode::on;
  EXPECT_EQ(run(text, s).error,
            "t.ptx:10: mbar_arrivals: arrivals must be at most the pending 1, got 2 at 0x400\n"
            "  memory: shared memory bytes 0x400..0x407 of cta rank 0\n"
            "  other: mbarrier.init at t.ptx:8\n"
            "  wrong: the count of mbarrier.init, or the number of arrivals in a phase  [MB5]\n"
            "  from: ffn.mlir:12:8\n  against: ffn.mlir:10:3");
}

// A wait at the barrier of another CTA, and an answer to a CTA that has exited.
TEST(FaultLines, InClusters) {
  EXPECT_EQ(refused(kInit + "mov.u32 %r0, bar; mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1;"
                            "mapa.shared::cluster.u32 %r0, %r0, %r1;\n"
                            "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r0], 0;\n"
                            "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
                    "sm_100a", HazardMode::on, {2, 1, 1}),
            "t.ptx:16: mbar_wait: mbarrier of a wait must lie in the CTA's own shared memory, got "
            "0x1001400\n  memory: shared memory bytes 0x1400..0x1407 of cta rank 1\n"
            "  missing: an mbarrier of the own CTA that the other CTA arrives at  [MB3]");
  const std::string answered = refused(
      kInit + "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
              "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1;\n@%p1 ret;\n"
              "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
              "mov.u32 %r2, 0;\nS: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 10000; @%p2 bra S;\n"
              "@%p0 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
              "multicast::cluster::all.b128 [buf], [bar];\n"
              "L: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;",
      "sm_100a", HazardMode::on, {2, 1, 1});
  EXPECT_NE(answered.find("cancel_multicast: CTAs of the cluster must not have exited\n"
                          "  memory: shared memory bytes 0x400..0x40f of cta rank 1\n"
                          "  other: exit of that CTA at t.ptx:17\n"
                          "  missing: a wait for the answer in every CTA before its exit  [CL3]"),
            std::string::npos)
      << answered;
}

// Operands of a product that a scene with tensor memory has.
TEST(FaultLines, OfProducts) {
  HazardCase c;
  c.setup = Setup::tensor;
  c.body = "add.u32 %r21, %tm, 0x10000;\n" + elected(0, mma("%r21") + commit(0)) + wait(0, 0);
  std::string report = runCase(c, /*isRight=*/true, {}).error;
  EXPECT_NE(report.find("mma_lane: accumulator must start at lane 0, got lane 1\n"
                        "  wrong: the lane of the accumulator's address"),
            std::string::npos)
      << report;
  // Warp 1 writes other scales to its part.
  c.body = "setp.eq.u32 %p2, %w, 1; selp.b32 %r2, 5, 0, %p2;\n"
           "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1+128], {%r2};\n"
           "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0;\n"
           "tcgen05.fence::after_thread_sync;\n" +
           elected(0, mma() + commit(0)) + wait(0, 0);
  report = runCase(c, /*isRight=*/true, {}).error;
  EXPECT_NE(report.find("scale_parts: scales of A must be the same in the 32-lane parts, lane 0 "
                        "column 128 differs from lane 32\n"
                        "  memory: tensor memory columns 128..128 of cta rank 0\n"
                        "  missing: a tcgen05.cp.warpx4, or stores by all four warps"),
            std::string::npos)
      << report;
}

// Every row says something, once, and belongs to a rule where it names one.
TEST(FaultLines, RowsAreWhole) {
  for (const HazardFault &f : hazardFaults()) {
    EXPECT_FALSE(f.missing.empty()) << f.code;
    bool known = f.label.empty();
    for (const HazardRule &r : hazardRules())
      known |= r.label == f.label;
    EXPECT_TRUE(known) << f.label;
  }
  for (const HazardRule &r : hazardRules())
    if (r.level != HazardLevel::never || !r.switches.empty())
      EXPECT_FALSE(r.missing.empty()) << r.label;
}

} // namespace
