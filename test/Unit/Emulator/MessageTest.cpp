//===- MessageTest.cpp - every refusal is one located line ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Sanitized.h"
#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

struct Case {
  const char *name;
  std::string body;
  std::string message; // after "t.ptx:LINE: "
  const char *target = "sm_100a";
};

// The body starts at line 9 of the module: three of header, three of variables, three of prologue.
const char *kVars = ".shared .align 1024 .b8 buf[4096];\n.shared .align 8 .b8 bar[16];\n.shared "
                    ".align 4 .b8 tm[8];\n";
constexpr int kBodyLine = 11;

std::string alloc(const char *columns, const char *exclusive = "") {
  return std::string("mov.u32 %r20, ") + columns + "; tcgen05.alloc" + exclusive +
         ".cta_group::1.sync.aligned.shared::cta.b32 [tm], %r20; ld.shared.b32 %r10, [tm];";
}
std::string init = "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;";

const Case kCases[] = {
    {"UnknownInstruction", "frobnicate.b32 %r0, %r1;",
     "ptx_instruction: unknown instruction frobnicate.b32"},
    {"UnknownModifier", "add.wobble.s32 %r0, %r1, %r2;",
     "ptx_modifier: add must not have .wobble here, got add.wobble.s32"},
    {"LeftOverModifier", "mov.b32.wobble %r0, %r1;",
     "ptx_modifier: mov must not have .wobble here, got mov.b32.wobble"},
    {"UnknownName", "mov.u32 %r0, nobody;", "ptx_name: unknown name nobody"},
    {"UnknownLabel", "bra NOWHERE;", "ptx_label: unknown label NOWHERE"},
    {"CallThroughRegister",
     "P: .callprototype (.param .b32 _) _ (.param .b32 _,\n .param .align 8 .b8 _[16]);\n"
     "call %rd0, P;",
     "ptx_call: call with P must have 2 parameters and 1 results, got 0 and 0"},
    {"WrongWidth", "add.s64 %r0, %rd0, %rd1;",
     "ptx_operand: register %r0 must have the width of .s64"},
    {"OperandCount", "add.s32 %r0, %r1;", "ptx_operands: add must have 3 operands, got 2"},
    {"NotOnTarget", "tcgen05.wait::ld.sync.aligned;",
     "ptx_target: tcgen05.wait::ld.sync.aligned must have a target with tcgen05, got sm_90a",
     "sm_90a"},
    {"CollectorB",
     "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.collector::b::fill [%r0], %rd0, %rd1, %r1, "
     "[%r2], [%r3], %p0;",
     "ptx_target: .collector::b::fill must have a target with collector_b, got sm_100a"},
    {"Ue5m3", "cvt.rn.satfinite.ue5m3x2.f32 %h0, %f0, %f1;",
     "ptx_target: .ue5m3x2 must have a target with cvt_ue5m3, got sm_100a"},
    {"OutOfBounds", "ld.global.u32 %r0, [%in+256];",
     "mem_global: global access of 4 bytes must lie in a live allocation, got 0x100000000100 (256 "
     "bytes into an allocation of 256)"},
    {"NullPointer", "mov.u64 %rd0, 0; ld.global.u32 %r0, [%rd0];",
     "mem_global: global access of 4 bytes must lie in a live allocation, got 0x0 (no allocation "
     "is near)"},
    {"Misaligned", "ld.global.u32 %r0, [%in+2];",
     "mem_align: address must be a multiple of 4 bytes, got 0x100000000002"},
    {"MisalignedVector", "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%in+8];",
     "mem_align: address must be a multiple of 16 bytes, got 0x100000000008"},
    {"SharedBounds", "mov.u32 %r0, buf; ld.shared.u32 %r1, [%r0+65536];",
     "mem_shared: shared access of 4 bytes must lie in 0x400..0x1420, got 0x10400"},
    {"Deadlock", init + "\nL: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra L;",
     "deadlock: no warp can run and nothing is in flight; cta 0,0,0 warp 0 at line 12 waits for "
     "parity 0 of mbarrier 0x1400 (phase parity 0, pending 1 of 1, 0 bytes)"},
    {"WrongBytes",
     init + "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256; mov.u32 %r0, buf; mov.u32 "
            "%r1, bar;"
            "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%in], "
            "128, [%r1];"
            "\nL: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra L;",
     "deadlock: no warp can run and nothing is in flight; cta 0,0,0 warp 0 at line 12 waits for "
     "parity 0 of mbarrier 0x1400 (phase parity 0, pending 0 of 1, 128 bytes); mbarrier 0x1400 "
     "lacks no arrival, but 256 bytes are expected and 128 came"},
    {"TooManyBytes",
     init + "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16; mov.u32 %r0, buf; mov.u32 "
            "%r1, bar;"
            "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%in], "
            "128, [%r1];"
            "\nL: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra L;",
     "livelock: every warp polls and nothing is in flight; cta 0,0,0 warp 0 at line 12 polls: line "
     "12 tests parity 0 of mbarrier 0x1400 (phase parity 0, pending 0 of 1, -112 bytes); mbarrier "
     "0x1400 lacks no arrival, but 16 bytes are expected and 128 came"},
    {"BytesOfTheSecondPhase",
     init + "mov.u32 %r0, buf; mov.u32 %r1, bar; @!%p0 bra W;"
            "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%in], 64, "
            "[%r1]; V: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra V;"
            "mbarrier.expect_tx.shared.b64 [bar], 32; mbarrier.arrive.shared.b64 _, [bar];"
            "\nW: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1; @!%p1 bra W;",
     "deadlock: no warp can run and nothing is in flight; cta 0,0,0 warp 0 at line 12 waits for "
     "parity 1 of mbarrier 0x1400 (phase parity 1, pending 0 of 1, 32 bytes); mbarrier 0x1400 "
     "lacks no arrival, but 32 bytes are expected and 0 came"},
    {"Livelock", init + "\nL: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra L;",
     "livelock: every warp polls and nothing is in flight; cta 0,0,0 warp 0 at line 12 polls: line "
     "12 tests parity 0 of mbarrier 0x1400 (phase parity 0, pending 1 of 1, 0 bytes)"},
    {"LivelockOfGlobal",
     "L: ld.relaxed.gpu.global.u32 %r1, [%in+8];\nsetp.eq.u32 %p1, %r1, 0; "
     "@%p1 bra L;",
     "livelock: every warp polls and nothing is in flight; cta 0,0,0 warp 0 at line 12 polls: line "
     "11 reads global memory 0x100000000008, which holds 0x0"},
    {"LivelockOfShared",
     "mov.u32 %r0, buf; mov.u32 %r2, 7; st.shared.u32 [%r0+4], %r2;\n"
     "L: ld.global.u32 %r3, [%in]; ld.volatile.shared.u32 %r1, [%r0+4];\n"
     "setp.eq.u32 %p1, %r1, 7; @%p1 bra L;",
     "livelock: every warp polls and nothing is in flight; cta 0,0,0 warp 0 at line 13 polls: line "
     "12 reads shared memory 0x404, which holds 0x7"},
    {"LivelockOfAtomics",
     "L: atom.global.cas.b32 %r1, [%in+4], 7, 8; setp.ne.u32 %p1, %r1, 7;\n"
     "@%p1 bra L;",
     "livelock: every warp polls and nothing is in flight; cta 0,0,0 warp 0 at line 11 polls: line "
     "11 has an atomic operation on global memory 0x100000000004, which holds 0x0"},
    {"LivelockOfNothing", "L: bra L;",
     "livelock: every warp polls and nothing is in flight; cta 0,0,0 warp 0 at line 11 polls"},
    {"LivelockOfCountedPolls",
     "mov.u32 %r0, 0;\nL: nanosleep.u32 20; add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 200000;\n"
     "@%p1 bra L;",
     "livelock: every warp polls and nothing is in flight; cta 0,0,0 warp 0 at line 12 polls; "
     "given up after 100000 rounds without a change, though no warp came back to a state that it "
     "was in; --poll-limit raises it"},
    {"BarrierDeadlock", "bar.sync 1, 64;",
     "deadlock: no warp can run and nothing is in flight; cta 0,0,0 warp 0 at line 11 waits at "
     "barrier 1 (32 of 64 threads arrived)"},
    {"BarrierCount", "bar.sync 1, 33;",
     "bar_count: thread count of barrier 1 must be a multiple of 32, got 33"},
    {"OverArrival", "mbarrier.init.shared.b64 [bar], 8; mbarrier.arrive.shared.b64 _, [bar], 9;",
     "mbar_arrivals: arrivals must be at most the pending 8, got 9 at 0x1400"},
    {"TxOverflow",
     "mbarrier.init.shared.b64 [bar], 1; setp.eq.u32 %p0, %t, 0; mov.u32 %r0, 1048575; @%p0 "
     "mbarrier.expect_tx.shared.b64 [bar], %r0; @%p0 mbarrier.expect_tx.shared.b64 [bar], 1;",
     "mbar_tx: transaction bytes must stay within +-1048575, got 1048576 at 0x1400"},
    {"Uninitialised", "mbarrier.arrive.shared.b64 _, [bar];",
     "mbar_init: mbarrier must be initialised, got 0x1400"},
    {"InvalidatedBarrier",
     init + "@%p0 mbarrier.inval.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar];",
     "mbar_init: mbarrier must be initialised, got 0x1400"},
    {"ZeroCount", "mbarrier.init.shared.b64 [bar], 0;",
     "mbar_count: count must be 1..1048575, got 0"},
    {"AllocTooLarge", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], 544;",
     "tmem_c3"},
    {"AllocNotAPower", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], 96;",
     "tmem_c4"},
    // D42: also where the count comes from a register, which ptxas does not see.
    {"AllocOf48InARegister",
     "mov.u32 %r10, 48; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], %r10;",
     "tmem_c3"},
    {"AllocOf96InARegister",
     "mov.u32 %r10, 96; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], %r10;",
     "tmem_c4"},
    {"Leak", alloc("32"),
     "tmem_leak: tensor memory columns 0..31 must be freed before the CTA exits"},
    {"DoubleFree",
     alloc("32") + "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32; "
                   "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;",
     "tmem_dealloc: address must be the start of a live allocation, got column 0"},
    {"WrongColumns", alloc("64") + "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;",
     "tmem_dealloc: column count must be that of the allocation, 64, got 32"},
    {"AfterRelinquish", "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" + alloc("32"),
     "tmem_alloc: no allocation must follow relinquish_alloc_permit in a CTA"},
    {"Growing", alloc("32") + alloc("64"),
     "tmem_alloc: columns must not grow over a CTA's life, got 64 after 32"},
    {"AllocDeadlock", alloc("512") + alloc("512"),
     "deadlock: no warp can run and nothing is in flight; cta 0,0,0 warp 0 at line 11 waits for "
     "tensor memory (live: 0..511)"},
    {"UnwrittenTmem",
     alloc("32") +
         "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r10]; tcgen05.wait::ld.sync.aligned;",
     "tmem_unwritten: tcgen05.ld must read cells that were written, got lane 0 column 0"},
    {"TmemBounds", alloc("32") + "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0, %r1}, [%r10+31];",
     "tmem_bounds: columns of tcgen05.ld or st must lie in a live allocation (0..31), got 31..32"},
    {"TmemLanes",
     alloc("32") +
         "add.u32 %r10, %r10, 0x200000; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r10];",
     "tmem_lanes: warp 0 must address its lanes from 0, got lane 32"},
    {"FreedInFlight",
     alloc("32") + "mov.u32 %r0, 1; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r10], {%r0}; "
                   "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;",
     "tmem_dealloc: tcgen05.st at line 11 must be complete before its columns are freed"},
    {"ReservedDescriptor",
     alloc("32") + "mov.b64 %rd0, 0x8; tcgen05.cp.cta_group::1.32x128b.warpx4 [%r10], %rd0;",
     "smem_desc"},
    {"ReservedIDesc",
     alloc("512") + "mov.b64 %rd0, 0x4000404000010040; mov.u32 %r1, 0xFFFFFFFF; "
                    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r10], %rd0, "
                    "%rd0, %r1, [%r10+256], [%r10+264], 0;",
     "idesc"},
    {"BulkAlign",
     init + "mov.u32 %r0, buf; mov.u32 %r1, bar; @%p0 "
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0+8], [%in], 16, "
            "[%r1];",
     "tma_align: shared address must be a multiple of 16 bytes, got 0x408"},
    {"NotAMap",
     init + "mov.u32 %r0, buf; mov.u32 %r1, bar; @%p0 "
            "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r0], "
            "[%in, {0}], [%r1];",
     "tma_map: tensor map must be made by the encode call, got other bytes at 0x100000000000"},
    {"StoreInFlightAtExit",
     "setp.eq.u32 %p0, %t, 0; mov.u32 %r0, buf; @%p0 cp.async.bulk.global.shared::cta.bulk_group "
     "[%out], [%r0], 16;",
     "exit: cp.async.bulk store must be committed and have read its source before its CTA exits"},
    {"Trap", "setp.eq.u32 %p0, %t, 9; @%p0 trap;",
     "trap: kernel must not trap, cta 0,0,0 thread 9 did"},
    {"NonUniformAligned",
     "setp.lt.u32 %p0, %t, 4; @%p0 bra L; bar.sync 0; bra E; L: bar.sync 0; E:",
     "deadlock: no warp can run and nothing is in flight; cta 0,0,0 warp 0 at line 11, which is "
     ".aligned, waits for lanes 0xf of its warp; cta 0,0,0 warp 0 at line 11, which is .aligned, "
     "waits for lanes 0xfffffff0 of its warp"},
};

class Message : public ::testing::TestWithParam<Case> {};

TEST_P(Message, OneLocatedLine) {
  const Case &c = GetParam();
  Scene s;
  s.options.timing = Timing::latest;
  s.options.pollLimit = 100000;
  Ran r = run(kernel(c.body, c.target, kVars), s);
  std::string line = "t.ptx:" + std::to_string(kBodyLine) + ": ";
  ASSERT_NE(r.error, "");
  EXPECT_EQ(r.error.find('\n'), std::string::npos);
  size_t colon = r.error.find(": ");
  EXPECT_EQ(r.error.substr(0, 6), "t.ptx:");
  std::string text = r.error.substr(colon + 2);
  if (c.message.find(':') == std::string::npos) // rules of the facts tables: their label
    EXPECT_EQ(text.substr(0, c.message.size()), c.message) << r.error;
  else
    EXPECT_EQ(text, c.message) << r.error;
}

INSTANTIATE_TEST_SUITE_P(All, Message, ::testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

TEST(Launch, InstructionLimit) {
  Scene s;
  s.options.maxInstructions = 1000;
  EXPECT_EQ(run(kernel("\nL: bra L;"), s).error,
            "t.ptx:9: limit: kernel must end within 1000 thread instructions");
}

TEST(Launch, InstructionLimitIsOfAllClusters) {
  // 12 instructions a thread: 5 of the prologue, 6 here and the return.
  std::string ptx = kernel("mov.u32 %r0, 1; mov.u32 %r0, 2; mov.u32 %r0, 3; mov.u32 %r0, 4; "
                           "mov.u32 %r0, 5; mov.u32 %r0, 6;");
  for (unsigned threads : {1u, 2u, 5u}) {
    Scene s;
    s.options.threads = threads;
    s.block = {1, 1, 1};
    s.grid = {0x7FFFFFFF, 1, 1};
    s.options.maxInstructions = 1199;
    const std::string most = "t.ptx:4: limit: kernel must end within ";
    EXPECT_EQ(run(ptx, s).error, most + "1199 thread instructions, got more after 100 of "
                                        "2147483647 clusters");
    s.grid = {65535, 65535, 65535};
    s.options.maxInstructions = 1200;
    EXPECT_EQ(run(ptx, s).error, most + "1200 thread instructions, got more after 101 of "
                                        "281462092005375 clusters");
    s.grid = {100, 1, 1};
    Ran r = run(ptx, s);
    EXPECT_EQ(r.error, "");
    EXPECT_EQ(r.stats.threadInstructions, 1200u);
  }
}

TEST(Launch, WarpsThatHaveExitedCount) {
  // Warp 0 goes on alone; what the other 31 have done still counts.
  Scene s;
  s.block = {1024, 1, 1};
  s.options.maxInstructions = 1024 * 7;
  std::string body = "setp.gt.u32 %p0, %t, 31; @%p0 ret; mov.u32 %r0, 1;";
  EXPECT_EQ(
      run(kernel(body), s).error,
      "t.ptx:4: limit: kernel must end within 7168 thread instructions, got more after 1 of 1 "
      "clusters");
}

TEST(Launch, FailureOfTheFirstClusterWins) {
  std::string body = "mov.u32 %r1, %ctaid.x; setp.lt.u32 %p0, %r1, 3; @%p0 bra E;\n"
                     "cvt.u64.u32 %rd0, %r1; ld.global.u8 %r0, [%rd0]; E:";
  for (unsigned threads : {1u, 4u}) {
    Scene s;
    s.options.threads = threads;
    s.grid = {1000, 1, 1};
    EXPECT_EQ(run(kernel(body), s).error,
              "t.ptx:9: mem_global: global access of 1 bytes must lie in a live allocation, got "
              "0x3 (no allocation is near)");
  }
}

TEST(Launch, GridLimitsAreThoseOfTheDevice) {
  for (Dim3 grid : {Dim3{0x80000000u, 1, 1}, Dim3{1, 65536, 1}, Dim3{1, 1, 65536}}) {
    Scene s;
    s.grid = grid;
    EXPECT_EQ(run(kernel(""), s).error,
              "t.ptx:4: launch_grid: grid must be at most 2147483647x65535x65535, got " +
                  std::to_string(grid.x) + "x" + std::to_string(grid.y) + "x" +
                  std::to_string(grid.z));
  }
}

TEST(Launch, ApproximationsOfUnmeasuredChipsAreLabelled) {
  std::string text = kernel("ex2.approx.f32 %f0, %f1; rcp.rn.f32 %f2, %f0;");
  Ran r = run(text);
  ASSERT_EQ(r.error, "");
  ASSERT_EQ(r.stats.evidence.size(), 1u);
  EXPECT_EQ(r.stats.evidence[0], "ex2.approx: bits of an H200, this chip is not measured");
  text.replace(text.find("sm_100a"), 7, "sm_90a");
  r = run(text);
  ASSERT_EQ(r.error, "");
  EXPECT_TRUE(r.stats.evidence.empty());
}

TEST(Launch, LimitsAreChecked) {
  std::string ok = kernel("");
  Scene s;
  s.block = {1025, 1, 1};
  EXPECT_EQ(run(ok, s).error,
            "t.ptx:4: launch_block: block must have at most 1024 threads, got 1025x1x1");
  s = {};
  s.cluster = {2, 1, 1};
  EXPECT_EQ(run(ok, s).error,
            "t.ptx:4: launch_cluster: cluster must divide the grid 1x1x1, got 2x1x1");
  s = {};
  s.shared = 227 * 1024 + 1;
  EXPECT_EQ(
      run(ok, s).error,
      "t.ptx:4: launch_shared: shared memory of a block must be at most 232448 bytes, got 232449");
  s = {};
  s.grid = {0, 1, 1};
  EXPECT_EQ(
      run(ok, s).error,
      "t.ptx:4: launch_dims: grid, block and cluster must be positive, got 0x1x1, 32x1x1, 1x1x1");
}

/// Allocates, writes %t to one column and reads it back into out.
std::string touchColumn(const std::string &columns, int column) {
  std::string at = "[%r10+" + std::to_string(column) + "]";
  return alloc(columns.c_str(), ".exclusive") + "tcgen05.st.sync.aligned.32x32b.x1.b32 " + at +
         ", {%t}; tcgen05.wait::st.sync.aligned;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, " +
         at +
         "; tcgen05.wait::ld.sync.aligned; st.global.u32 [%po], %r3;\n"
         "tcgen05.dealloc.exclusive.cta_group::1.sync.aligned.b32 %r10, %r20;";
}

TEST(Launch, ExclusiveAllocationsAbove512Columns) {
  for (int columns : {544, 576}) {
    std::string count = std::to_string(columns), last = std::to_string(columns - 1);
    for (int column : {0, 512, columns - 1}) {
      Ran r = run(kernel(touchColumn(count, column), "sm_107a", kVars));
      ASSERT_EQ(r.error, "") << columns << " " << column;
      EXPECT_EQ(r.out[9], 9u) << columns << " " << column;
    }
    EXPECT_EQ(run(kernel(touchColumn(count, columns), "sm_107a", kVars)).error,
              "t.ptx:11: tmem_bounds: columns of tcgen05.ld or st must lie in a live allocation "
              "(0.." +
                  last + "), got " + count + ".." + count);
    EXPECT_EQ(run(kernel(touchColumn(count, 0), "sm_100a", kVars)).error,
              "t.ptx:11: tmem_c3: columns of an exclusive allocation on sm_100a must be a multiple "
              "of 32 from 32 to 512, got " +
                  count);
    EXPECT_EQ(run(kernel(alloc(count.c_str()), "sm_107a", kVars)).error,
              "t.ptx:11: tmem_c3: columns of an allocation on sm_107a must be a multiple of 32 "
              "from 32 to 512, got " +
                  count);
  }
  for (const char *columns : {"577", "608"})
    EXPECT_EQ(run(kernel(alloc(columns, ".exclusive"), "sm_107a", kVars)).error,
              std::string("t.ptx:11: tmem_c3: columns of an exclusive allocation on sm_107a must "
                          "be a multiple of 32 from 32 to 576, got ") +
                  columns);
}

/// Blocks that wait for a later one: they end when it is resident too.
TEST(Launch, BlocksThatWaitForEachOther) {
  const char *kPolls[] = {
      "atom.global.add.u32 %r1, [%out], 0;",                    // changes nothing
      "atom.global.cas.b32 %r1, [%out], 7, 8;",                 // never finds a 7
      "ld.volatile.global.u32 %r1, [%out];",                    // lets others run
      "ld.global.u32 %r1, [%out];",                             // does not
      "st.global.u32 [%out+64], 5; ld.global.u32 %r1, [%out];", // writes what is there
  };
  for (const char *poll : kPolls)
    for (unsigned threads : {1u, 2u})
      for (Timing timing : {Timing::earliest, Timing::latest, Timing::random}) {
        Scene s;
        s.grid = {3, 1, 1};
        s.options.threads = threads;
        s.options.timing = timing;
        // The last block releases the first.
        std::string ptx = kernel(std::string("mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 2; @%p1 "
                                             "st.global.u32 [%out], 1; @%p1 bra E;\nL: ") +
                                 poll + " setp.ne.u32 %p0, %r1, 1; @%p0 bra L;\nE:");
        Ran r = run(ptx, s);
        EXPECT_EQ(r.error, "") << poll;
        // Each kind of poll once, and one of them under each timing.
        const bool isFirst = poll == kPolls[0];
        if (blockscale::test::kIsSanitized ? !isFirst || timing != Timing::random
                                           : !isFirst && timing != Timing::earliest)
          continue;
        s.options.residentClusters = 2; // it never starts
        r = run(ptx, s);
        EXPECT_EQ(r.error.substr(r.error.find(": ") + 2, 8), "livelock") << poll << r.error;
        EXPECT_EQ(r.error.find('\n'), std::string::npos);
      }
}

/// Polls that end are no livelock: a block on another host thread computes for long,
/// and a timeout counts down.
TEST(Launch, PollsThatEnd) {
  Scene s;
  s.grid = {2, 1, 1};
  s.options.threads = 2;
  std::string wait = "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 1; @!%p1 bra L; mov.u32 %r3, 0;"
                     "\nC: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 3000000; @%p2 bra C; "
                     "st.global.u32 [%out+128], 1; bra E;"
                     "\nL: atom.global.add.u32 %r1, [%out+128], 0; setp.ne.u32 %p0, %r1, 1; @%p0 "
                     "bra L;\nE:";
  EXPECT_EQ(run(kernel(wait), s).error, "");
  std::string timeout = "mov.u32 %r3, 0;\nL: ld.volatile.global.u32 %r1, [%out]; add.u32 %r3, %r3, "
                        "1; setp.lt.u32 %p0, %r3, 20000; @%p0 bra L;";
  EXPECT_EQ(run(kernel(timeout)).error, "");
  // As a retry with pauses does: a million rounds.
  const std::string retry = "mov.u32 %r3, 0;\nL: nanosleep.u32 64; add.u32 %r3, %r3, 1; "
                            "setp.lt.u32 %p0, %r3, 1000000; @%p0 bra L;";
  if (!blockscale::test::kIsSanitized)
    EXPECT_EQ(run(kernel(retry)).error, "");
  Scene cut;
  cut.options.pollLimit = 5000;
  EXPECT_NE(run(kernel(retry), cut).error.find("given up after 5000 rounds"), std::string::npos);
}

} // namespace
