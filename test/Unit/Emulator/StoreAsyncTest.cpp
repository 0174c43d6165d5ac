//===- StoreAsyncTest.cpp - st.async and red.async ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CTA 0 of a pair writes into CTA 1, which waits for the bytes. Expected values are
// worked out by hand from PTX ISA 9.4, 9.7.10.12 and 9.7.15.7.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

constexpr unsigned kLanes = 32;
constexpr uint32_t kBefore = 0x77777777;

/// Each thread of CTA 1 has 16 bytes at buf + 16 t: `before`, and then what CTA 0 sends.
/// %r4 and %r5 are the addresses of its own 16 bytes and of the mbarrier in CTA 1, %rd4 and
/// %rd5 the same generically; the thread's operand lies in %r10 to %r13, %rd10 and %rd11,
/// %f10 to %f13, %d10 and %d11, and %x.
std::string scene(const std::string &send, unsigned bytes, const std::string &before) {
  const char *vars = ".shared .align 16 .b8 buf[512];\n.shared .align 8 .b8 bar[8];\n";
  return kernel(
      ".reg .b128 %x; .reg .f64 %d10, %d11; .reg .b8 %q10;\n"
      "mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %r0, 0;\n"
      "shl.b32 %r1, %t, 4; mov.u32 %r2, buf; add.u32 %r2, %r2, %r1; mov.u32 %r3, bar;\n"
      "mad.wide.u32 %rd0, %t, 16, %in; mad.wide.u32 %rd1, %t, 16, %out;\n"
      "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd0];\n"
      "mov.b64 %rd10, {%r10, %r11}; mov.b64 %rd11, {%r12, %r13}; mov.b128 %x, {%rd10, %rd11};\n"
      "mov.b64 %d10, %rd10; mov.b64 %d11, %rd11; mov.b32 %f10, %r10; mov.b32 %f11, %r11;\n"
      "mov.b32 %f12, %r12; mov.b32 %f13, %r13;\n" +
          before +
          "@%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n"
          "fence.mbarrier_init.release.cluster;\n"
          "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
          "mapa.shared::cluster.u32 %r4, %r2, 1; mapa.shared::cluster.u32 %r5, %r3, 1;\n"
          "cvt.u64.u32 %rd2, %r2; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd4, %rd2, 1;\n"
          "cvt.u64.u32 %rd3, %r3; cvta.shared.u64 %rd3, %rd3; mapa.u64 %rd5, %rd3, 1;\n"
          "@!%p1 bra R;\n" +
          send +
          "\nbra Z;\n"
          "R: @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " +
          std::to_string(bytes * kLanes) +
          ";\n"
          "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0; @!%p2 bra "
          "W;\n"
          "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r2];\n"
          "st.global.v4.u32 [%rd1], {%r20, %r21, %r22, %r23};\nZ:",
      "sm_107a", vars);
}

Scene pairScene() {
  Scene s;
  s.options = {};
  s.grid = s.cluster = {2, 1, 1};
  s.outWords = 4 * kLanes;
  s.in.resize(4 * kLanes);
  for (uint32_t i = 0; i < s.in.size(); ++i)
    s.in[i] = 0x01000193u * i + 0x10u;
  return s;
}

struct StoreForm {
  const char *text;
  unsigned bytes;
};
void PrintTo(const StoreForm &f, std::ostream *out) { *out << f.text; }

#define SHARED "shared::cluster.mbarrier::complete_tx::bytes."
const StoreForm kStores[] = {
    {"st.async." SHARED "b32 [%r4], %r10, [%r5];", 4},
    {"st.async.weak." SHARED "b32 [%r4], %r10, [%r5];", 4},
    {"st.async.cluster." SHARED "b32 [%r4], %r10, [%r5];", 4},
    {"st.async.weak." SHARED "u32 [%r4], %r10, [%r5];", 4},
    {"st.async.weak." SHARED "s32 [%r4], %r10, [%r5];", 4},
    {"st.async.weak." SHARED "f32 [%r4], %f10, [%r5];", 4},
    {"st.async.weak." SHARED "b64 [%r4], %rd10, [%r5];", 8},
    {"st.async.weak." SHARED "u64 [%r4], %rd10, [%r5];", 8},
    {"st.async.weak." SHARED "s64 [%r4], %rd10, [%r5];", 8},
    {"st.async.weak." SHARED "f64 [%r4], %d10, [%r5];", 8},
    {"st.async.weak." SHARED "b128 [%r4], %x, [%r5];", 16},
    {"st.async.weak." SHARED "v2.b32 [%r4], {%r10, %r11}, [%r5];", 8},
    {"st.async.weak." SHARED "v2.u32 [%r4], {%r10, %r11}, [%r5];", 8},
    {"st.async.weak." SHARED "v2.s32 [%r4], {%r10, %r11}, [%r5];", 8},
    {"st.async.weak." SHARED "v2.f32 [%r4], {%f10, %f11}, [%r5];", 8},
    {"st.async.weak." SHARED "v2.b64 [%r4], {%rd10, %rd11}, [%r5];", 16},
    {"st.async.weak." SHARED "v2.u64 [%r4], {%rd10, %rd11}, [%r5];", 16},
    {"st.async.weak." SHARED "v2.s64 [%r4], {%rd10, %rd11}, [%r5];", 16},
    {"st.async.weak." SHARED "v2.f64 [%r4], {%d10, %d11}, [%r5];", 16},
    {"st.async.cluster." SHARED "v2.b32 [%r4], {%r10, %r11}, [%r5];", 8},
    {"st.async.weak." SHARED "v4.b32 [%r4], {%r10, %r11, %r12, %r13}, [%r5];", 16},
    {"st.async.cluster." SHARED "v4.u32 [%r4], {%r10, %r11, %r12, %r13}, [%r5];", 16},
    {"st.async.weak." SHARED "v4.s32 [%r4], {%r10, %r11, %r12, %r13}, [%r5];", 16},
    {"st.async.weak." SHARED "v4.f32 [%r4], {%f10, %f11, %f12, %f13}, [%r5];", 16},
    {"st.async.mbarrier::complete_tx::bytes.b32 [%rd4], %r10, [%rd5];", 4},
    {"st.async.weak.mbarrier::complete_tx::bytes.v2.b64 [%rd4], {%rd10, %rd11}, [%rd5];", 16},
    // The names of the nearer windows are taken too, of an address in the cluster.
    {"st.async.weak.shared.mbarrier::complete_tx::bytes.b32 [%r4], %r10, [%r5];", 4},
    {"st.async.weak.shared::cta.mbarrier::complete_tx::bytes.b32 [%r4], %r10, [%r5];", 4},
    {"st.async.weak.shared.mbarrier::complete_tx::bytes.v2.b32 [%r4], {%r10, %r11}, [%r5];", 8},
    {"st.async.weak.shared::cta.mbarrier::complete_tx::bytes.v2.b32 [%r4], {%r10, %r11}, [%r5];",
     8},
    {"st.async.shared.mbarrier::complete_tx::bytes.v4.b32 [%r4], {%r10, %r11, %r12, %r13}, "
     "[%r5];",
     16},
    {"st.async.shared::cta.mbarrier::complete_tx::bytes.v4.b32 [%r4], {%r10, %r11, %r12, %r13}, "
     "[%r5];",
     16},
};

class StoreAsyncForms : public ::testing::TestWithParam<StoreForm> {};

TEST_P(StoreAsyncForms, BytesAreThereOnceThePhaseIsOver) {
  const StoreForm &f = GetParam();
  const std::string fill = "mov.u32 %r9, 0x77777777; st.shared.v4.u32 [%r2], {%r9,%r9,%r9,%r9};\n";
  for (const Options &timing : allTimings()) {
    Scene s = pairScene();
    s.options.timing = timing.timing;
    s.options.seed = timing.seed;
    Ran r = run(scene(f.text, f.bytes, fill), s);
    ASSERT_EQ(r.error, "");
    for (unsigned i = 0; i < 4 * kLanes; ++i)
      EXPECT_EQ(r.out[i], i % 4 < f.bytes / 4 ? s.in[i] : kBefore) << "word " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, StoreAsyncForms, ::testing::ValuesIn(kStores));

struct ReduceForm {
  const char *op; // with its type
  unsigned bytes;
  uint64_t rows[3][3]; // before, operand, after
};
void PrintTo(const ReduceForm &f, std::ostream *out) { *out << f.op; }

const ReduceForm kReductions[] = {
    {"add.u32", 4, {{0xFFFFFFFF, 2, 1}, {5, 7, 12}, {0, 0, 0}}},
    {"add.s32", 4, {{0x7FFFFFFF, 1, 0x80000000}, {5, 0xFFFFFFFE, 3}, {1, 2, 3}}},
    {"add.u64", 8, {{0xFFFFFFFF, 1, 0x100000000}, {~0ull, 2, 1}, {3, 4, 7}}},
    {"add.s64", 8, {{0x1FFFFFFFF, 1, 0x200000000}, {5, ~1ull, 3}, {3, 4, 7}}},
    {"min.u32", 4, {{0x80000000, 1, 1}, {3, 9, 3}, {9, 3, 3}}},
    {"min.s32", 4, {{0x80000000, 1, 0x80000000}, {3, 0xFFFFFFFF, 0xFFFFFFFF}, {9, 3, 3}}},
    {"max.u32", 4, {{0x80000000, 1, 0x80000000}, {3, 9, 9}, {9, 3, 9}}},
    {"max.s32", 4, {{0x80000000, 1, 1}, {3, 0xFFFFFFFF, 3}, {9, 12, 12}}},
    {"inc.u32", 4, {{3, 3, 0}, {2, 3, 3}, {9, 3, 0}}},
    {"dec.u32", 4, {{0, 3, 3}, {9, 3, 3}, {2, 3, 1}}},
    {"and.b32", 4, {{0xFF00FF00, 0x0FF00FF0, 0x0F000F00}, {7, 1, 1}, {1, 2, 0}}},
    {"or.b32", 4, {{0xF0, 0x0F, 0xFF}, {1, 2, 3}, {0x80000000, 1, 0x80000001}}},
    {"xor.b32", 4, {{0xFF, 0x0F, 0xF0}, {5, 5, 0}, {0x80000000, 1, 0x80000001}}},
};

class ReduceAsyncForms : public ::testing::TestWithParam<ReduceForm> {};

TEST_P(ReduceAsyncForms, GivesTheOperationsResultOnceThePhaseIsOver) {
  const ReduceForm &f = GetParam();
  for (bool generic : {false, true})
    for (const Options &timing : allTimings()) {
      Scene s = pairScene();
      s.options.timing = timing.timing;
      s.options.seed = timing.seed;
      // Words 0 and 1 of a thread: before; 2 and 3: the operand.
      for (unsigned t = 0; t < kLanes; ++t)
        std::memcpy(&s.in[4 * t], f.rows[t % 3], 16);
      std::string send =
          "red.async.relaxed.cluster" + std::string(generic ? "" : ".shared::cluster") +
          ".mbarrier::complete_tx::bytes." + f.op + (generic ? " [%rd4], " : " [%r4], ") +
          (f.bytes == 4 ? "%r12" : "%rd11") + (generic ? ", [%rd5];" : ", [%r5];");
      Ran r = run(scene(send, f.bytes,
                        "st.shared.v2.u32 [%r2], {%r10, %r11};\n"
                        "st.shared.v2.u32 [%r2+8], {%r12, %r13};\n"),
                  s);
      ASSERT_EQ(r.error, "");
      for (unsigned t = 0; t < kLanes; ++t) {
        uint64_t got = r.out[4 * t] | uint64_t(r.out[4 * t + 1]) << 32;
        EXPECT_EQ(got, f.rows[t % 3][2]) << "thread " << t;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, ReduceAsyncForms, ::testing::ValuesIn(kReductions));

TEST(ReduceAsync, ThreadsThatReduceOneWordAreNoHazard) {
  // All 32 threads add their number to one word: 0 + 1 + … + 31 = 496.
  Scene s = pairScene();
  std::string send = "and.b32 %r6, %r4, 0xfffffe0f; red.async.relaxed.cluster.shared::cluster."
                     "mbarrier::complete_tx::bytes.add.u32 [%r6], %t, [%r5];";
  Ran r = run(scene(send, 4, "mov.u32 %r9, 0; st.shared.u32 [%r2], %r9;\n"), s);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 496u);
}

struct GlobalForm {
  const char *text;
  uint64_t after; // of 8 bytes that were 0x1111111122222222
};
void PrintTo(const GlobalForm &f, std::ostream *out) { *out << f.text; }

// %rd9 = 0x0102030405060708, %r9 its lower, %h9 its lowest half, %q9 its lowest byte.
const GlobalForm kGlobals[] = {
    {"st.async.release.gpu.global.b8 [%rd8], %q9;", 0x1111111122222208},
    {"st.async.release.sys.global.b16 [%rd8], %h9;", 0x1111111122220708},
    {"st.async.release.gpu.global.u16 [%rd8], %h9;", 0x1111111122220708},
    {"st.async.release.gpu.global.s16 [%rd8], %h9;", 0x1111111122220708},
    {"st.async.release.gpu.global.b32 [%rd8], %r9;", 0x1111111105060708},
    {"st.async.release.gpu.global.u32 [%rd8], %r9;", 0x1111111105060708},
    {"st.async.release.gpu.global.s32 [%rd8], %r9;", 0x1111111105060708},
    {"st.async.release.gpu.global.f32 [%rd8], %f9;", 0x1111111105060708},
    {"st.async.release.gpu.global.b64 [%rd8], %rd9;", 0x0102030405060708},
    {"st.async.release.sys.global.u64 [%rd8], %rd9;", 0x0102030405060708},
    {"st.async.release.gpu.global.s64 [%rd8], %rd9;", 0x0102030405060708},
    {"st.async.release.gpu.global.f64 [%rd8], %d9;", 0x0102030405060708},
    {"st.async.release.gpu.u32 [%rd8], %r9;", 0x1111111105060708},
    {"st.async.mmio.release.sys.global.b8 [%rd8], %q9;", 0x1111111122222208},
    {"st.async.mmio.release.sys.global.b16 [%rd8], %h9;", 0x1111111122220708},
    {"st.async.mmio.release.sys.global.u16 [%rd8], %h9;", 0x1111111122220708},
    {"st.async.mmio.release.sys.s16 [%rd8], %h9;", 0x1111111122220708},
    {"st.async.mmio.release.sys.global.b32 [%rd8], %r9;", 0x1111111105060708},
    {"st.async.mmio.release.sys.global.u32 [%rd8], %r9;", 0x1111111105060708},
    {"st.async.mmio.release.sys.global.s32 [%rd8], %r9;", 0x1111111105060708},
    {"st.async.mmio.release.sys.global.f32 [%rd8], %f9;", 0x1111111105060708},
    {"st.async.mmio.release.sys.global.b64 [%rd8], %rd9;", 0x0102030405060708},
    {"st.async.mmio.release.sys.global.u64 [%rd8], %rd9;", 0x0102030405060708},
    {"st.async.mmio.release.sys.global.s64 [%rd8], %rd9;", 0x0102030405060708},
    {"st.async.mmio.release.sys.global.f64 [%rd8], %d9;", 0x0102030405060708},
    {"red.async.release.gpu.global.add.u32 [%rd8], %r9;", 0x111111112728292A},
    {"red.async.release.sys.global.add.s32 [%rd8], %r9;", 0x111111112728292A},
    {"red.async.release.gpu.global.add.u64 [%rd8], %rd9;", 0x121314152728292A},
    {"red.async.release.gpu.add.s64 [%rd8], %rd9;", 0x121314152728292A},
    {"red.async.relaxed.gpu.global.add.u32 [%rd8], %r9;", 0x111111112728292A},
    {"red.async.mmio.release.sys.global.add.u32 [%rd8], %r9;", 0x111111112728292A},
    {"red.async.mmio.release.sys.add.s32 [%rd8], %r9;", 0x111111112728292A},
    {"red.async.mmio.release.sys.global.add.u64 [%rd8], %rd9;", 0x121314152728292A},
    {"red.async.mmio.release.sys.global.add.s64 [%rd8], %rd9;", 0x121314152728292A},
    {"red.async.release.gpu.global.min.u32 [%rd8], %r9;", 0x1111111105060708},
    {"red.async.relaxed.sys.global.min.s32 [%rd8], %r9;", 0x1111111105060708},
    {"red.async.release.sys.global.max.u32 [%rd8+4], %r10;", 0xFFFFFFFF22222222},
    {"red.async.relaxed.gpu.max.s32 [%rd8], %r8;", 0x1111111172222222},
    {"red.async.release.gpu.global.and.b32 [%rd8], %r9;", 0x1111111100020200},
    {"red.async.relaxed.sys.global.or.b32 [%rd8], %r9;", 0x111111112726272A},
    {"red.async.release.sys.xor.b32 [%rd8], %r9;", 0x111111112724252A},
    {"red.async.relaxed.gpu.global.xor.b32 [%rd8], %r9;", 0x111111112724252A},
    {"red.async.release.gpu.global.inc.u32 [%rd8], %r8;", 0x1111111122222223},
    {"red.async.relaxed.sys.global.inc.u32 [%rd8], %r9;", 0x1111111100000000},
    {"red.async.release.sys.dec.u32 [%rd8], %r8;", 0x1111111122222221},
    {"red.async.relaxed.gpu.global.dec.u32 [%rd8], %r9;", 0x1111111105060708},
};

class GlobalAsyncForms : public ::testing::TestWithParam<GlobalForm> {};

const char *kGlobalSetup =
    ".reg .b8 %q9; .reg .f32 %f9; .reg .f64 %d9;\n"
    "setp.eq.u32 %p0, %t, 0; mov.u64 %rd9, 0x0102030405060708; cvt.u32.u64 %r9, %rd9;\n"
    "cvt.u16.u32 %h9, %r9; cvt.u8.u32 %q9, %r9; mov.b32 %f9, %r9; mov.b64 %d9, %rd9;\n"
    "mov.u32 %r8, 0x72222222; mov.u32 %r10, 0xFFFFFFFF; mov.u64 %rd8, %out;\n";

Scene globalScene() {
  Scene s;
  s.options = {};
  s.outWords = 8;
  s.outFill = [](uint8_t *out) {
    const uint64_t word = 0x1111111122222222;
    std::memcpy(out, &word, 8);
  };
  return s;
}

TEST_P(GlobalAsyncForms, BytesAreThereWhenTheKernelIsOver) {
  for (const Options &timing : allTimings()) {
    Scene s = globalScene();
    s.options.timing = timing.timing;
    s.options.seed = timing.seed;
    Ran r = run(kernel(std::string(kGlobalSetup) + "@%p0 " + GetParam().text, "sm_107a"), s);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(r.out[0] | uint64_t(r.out[1]) << 32, GetParam().after);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GlobalAsyncForms, ::testing::ValuesIn(kGlobals));

TEST(GlobalAsync, LandsAfterTheInstructionsBehindIt) {
  const std::string body = std::string(kGlobalSetup) +
                           "@!%p0 bra Z; st.async.release.gpu.global.u32 [%rd8], %r9;\n"
                           "ld.global.u32 %r7, [%rd8]; st.global.u32 [%rd8+16], %r7; Z:";
  Scene s = globalScene();
  s.options.timing = Timing::latest;
  Ran r = run(kernel(body, "sm_107a"), s);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[4], 0x22222222u);
  EXPECT_EQ(r.out[0], 0x05060708u);
}

TEST(GlobalAsync, WhoPollsSeesIt) {
  const std::string body =
      std::string(kGlobalSetup) +
      "setp.eq.u32 %p1, %t, 32; @!%p0 bra A; st.global.u32 [%out+16], %r9;\n"
      "st.async.release.gpu.global.u32 [%rd8], %r9; A: @!%p1 bra Z;\n"
      "P: ld.acquire.gpu.global.u32 %r7, [%rd8]; setp.ne.u32 %p2, %r7, %r9; @%p2 bra P;\n"
      "ld.global.u32 %r7, [%out+16]; st.global.u32 [%out+20], %r7; Z:";
  for (const Options &timing : allTimings()) {
    Scene s = globalScene();
    s.block = {64, 1, 1};
    s.options.timing = timing.timing;
    s.options.seed = timing.seed;
    Ran r = run(kernel(body, "sm_107a"), s);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(r.out[5], 0x05060708u);
  }
}

struct Refusal {
  const char *name, *send, *message;
};
void PrintTo(const Refusal &c, std::ostream *out) { *out << c.name; }

const Refusal kRefusals[] = {
    {"TwoCtas", "st.async." SHARED "b32 [%r4], %r10, [%r3];",
     "async_cta: destination and mbarrier of st.async must lie in one CTA, got 0x1000400 and "
     "0x600"},
    {"OwnCta", "red.async.relaxed.cluster." SHARED "add.u32 [%r2], %r10, [%r3];",
     "async_cta: destination of red.async must lie in another CTA, got 0x400"},
    {"Misaligned", "add.u32 %r4, %r4, 4; st.async." SHARED "b64 [%r4], %rd10, [%r5];",
     "mem_align: address must be a multiple of 8 bytes, got 0x1000404"},
    {"GenericGlobal", "st.async.mbarrier::complete_tx::bytes.b32 [%in], %r10, [%rd5];",
     "async_space: destination must lie in shared memory, got 0x100000000000"},
    {"GenericShared", "st.async.release.gpu.b32 [%rd4], %r10;",
     "async_space: destination must lie in global memory, got 0x700001000400"},
    {"GenericBarrier", "st.async.mbarrier::complete_tx::bytes.b32 [%rd4], %r10, [%in];",
     "mbar_address: mbarrier must lie in shared memory, got generic address 0x100000000000"},
    {"NoBarrier", "st.async." SHARED "b32 [%r4], %r10, [%r4];",
     "mbar_init: mbarrier must be initialised, got 0x1000400"},
    {"Byte", "st.async." SHARED "b8 [%r4], %r10, [%r5];",
     "ptx_modifier: st must have .b32, .b64, .b128, .u32, .u64, .s32, .s64, .f32, .f64, got "
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.b8"},
    {"TooLong", "st.async." SHARED "v4.b64 [%r4], {%rd10, %rd11, %rd10, %rd11}, [%r5];",
     "ptx_modifier: st must not have .v4 here, got "
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b64"},
    {"NoOrder", "red.async." SHARED "add.u32 [%r4], %r10, [%r5];",
     "ptx_modifier: red must have .relaxed, got "
     "red.async.shared::cluster.mbarrier::complete_tx::bytes.add.u32"},
    {"MinOf64Bits", "red.async.relaxed.cluster." SHARED "min.u64 [%r4], %rd10, [%r5];",
     "ptx_modifier: red must have .u32, .s32, got "
     "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.u64"},
    {"Width", "st.async." SHARED "b64 [%r4], %r10, [%r5];",
     "ptx_operand: register of st.async must hold .b64"},
};

class StoreAsyncRefusals : public ::testing::TestWithParam<Refusal> {};

TEST_P(StoreAsyncRefusals, SayWhy) {
  Scene s = pairScene();
  s.options = unchecked();
  std::string error = run(scene(GetParam().send, 4, ""), s).error;
  EXPECT_EQ(error.substr(error.find(": ") + 2), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(All, StoreAsyncRefusals, ::testing::ValuesIn(kRefusals),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(StoreAsyncTargets, AreThoseOfTheManual) {
  auto message = [](const char *target, const std::string &text) {
    std::string error = run(kernel(text, target, ".shared .b64 s[4];\n")).error;
    return error.substr(error.find(": ") + 2);
  };
  const std::string shared = "mov.u32 %r4, s; st.async." SHARED "b32 [%r4], %r10, [%r4];",
                    global = "st.async.release.gpu.global.b32 [%rd4], %r10;";
  EXPECT_EQ(message("sm_80", shared),
            "ptx_target: .async must have a target with clusters, got sm_80");
  EXPECT_EQ(message("sm_90a", global),
            "ptx_target: st.async.release.gpu.global.b32 must have a target with async_global, got "
            "sm_90a");
  EXPECT_EQ(message("sm_90a", shared), "async_cluster: st.async must be used in a cluster of at "
                                       "least two CTAs, got one");
}

} // namespace
