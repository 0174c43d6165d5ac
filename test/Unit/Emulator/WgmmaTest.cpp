//===- WgmmaTest.cpp - wgmma ------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warpgroup copies an image into shared memory and multiplies. The image is laid
// out by formulas written here (an H200's operand fetches confirmed them); values
// are small integers, so sums are exact.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <algorithm>
#include <optional>

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

constexpr int kM = 64;
constexpr size_t kBytesB = 16384, kImage = 49152; // where B starts, and the end
enum class Layout { none, swizzle128, mnMajor128 };

/// Byte of element (row, k) of `bytes` bytes in a tile.
size_t place(Layout layout, int row, int k, int bytes) {
  int kb = k * bytes;
  switch (layout) {
  case Layout::none: // 8x16-byte core matrices: K steps 1024 (LBO), rows step 128 (SBO)
    return size_t(kb / 16 * 1024 + row / 8 * 128 + row % 8 * 16 + kb % 16);
  case Layout::swizzle128:
    return size_t(row / 8 * 1024 + row % 8 * 128 + ((kb / 16) ^ (row % 8)) * 16 + kb % 16);
  case Layout::mnMajor128: // 64 elements of a k side by side; k / 8 steps 2048 (SBO)
    return size_t(k / 8 * 2048 + row / 64 * 1024 + k % 8 * 128 +
                  ((row % 64 * 2 / 16) ^ (k % 8)) * 16 + row * 2 % 16);
  }
  return 0;
}

uint64_t descriptor(Layout layout) {
  auto make = [](uint64_t lbo, uint64_t sbo, uint64_t swizzle) {
    return lbo / 16 << 16 | sbo / 16 << 32 | swizzle << 62;
  };
  return layout == Layout::none         ? make(1024, 128, 0)
         : layout == Layout::swizzle128 ? make(16, 1024, 1)
                                        : make(1024, 2048, 1);
}

int valueA(int row, int k) { return (row * 7 + k * 3 + row * k) % 9 - 4; }
int valueB(int n, int k) { return (n * 5 + k * 2 + n * k * 3 + 1) % 9 - 4; }

struct Type {
  std::string name, d;
  int bytes, k;
  std::function<uint32_t(int)> code;
  std::function<int(int)> value = [](int v) { return v; }; // that the code stands for
};

uint32_t floatBits(int v) {
  float f = float(v);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}
uint32_t brain(int v) { return floatBits(v) >> 16; }
uint32_t half(int v) {
  return v ? (floatBits(v) >> 16 & 0x8000) | ((floatBits(v) & 0x7FFFFFFF) - 0x38000000) >> 13 : 0;
}
uint32_t e4m3(int v) {
  static const uint32_t codes[] = {0, 0x38, 0x40, 0x44, 0x48};
  return codes[std::abs(v)] | (v < 0 ? 0x80 : 0);
}

uint32_t e5m2(int v) {
  static const uint32_t codes[] = {0, 0x3C, 0x40, 0x42, 0x44};
  return codes[std::abs(v)] | (v < 0 ? 0x80 : 0);
}

const Type kBf16{"bf16", "f32", 2, 16, brain}, kF16{"f16", "f32", 2, 16, half},
    kTf32{"tf32", "f32", 4, 8, floatBits}, kE4m3{"e4m3", "f32", 1, 32, e4m3},
    kS8{"s8", "s32", 1, 32, [](int v) { return uint32_t(v) & 0xFF; }},
    kHalfD{"f16", "f16", 2, 16, half}, kE5m2{"e5m2", "f32", 1, 32, e5m2},
    kE4m3HalfD{"e4m3", "f16", 1, 32, e4m3}, kU8{"u8",
                                                "s32",
                                                1,
                                                32,
                                                [](int v) { return uint32_t(v) & 0xFF; },
                                                [](int v) { return v & 0xFF; }};

struct Plan {
  Type type;
  Layout a = Layout::swizzle128, b = Layout::swizzle128;
  bool registers = false; // A
  int signA = 1, signB = 1;
  int n = 32;
  int steps = 2;                           // of K, the second accumulates
  std::optional<int> start = std::nullopt; // D, which the first adds to then
  bool saturate = false;
  std::string between = ""; // after the products are committed
  std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
};

std::string list(const char *prefix, int first, int count) {
  std::string out = "{";
  for (int i = 0; i < count; ++i)
    out += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
  return out + "}";
}

/// in: two descriptors without addresses, registers of A (4 of each step and thread), image.
Ran multiply(const Plan &p, const Options &options = {}) {
  const Type &t = p.type;
  int dRegs = p.n / (t.d == "f16" ? 4 : 2);
  Scene s;
  s.options = options;
  s.block = {128, 1, 1};
  const size_t words = size_t(p.n) / 2; // of a thread
  s.outWords = 128 * words;
  s.in.assign(4 + 128 * 8 + kImage / 4, 0);
  uint64_t descs[2] = {descriptor(p.a), descriptor(p.b)};
  std::memcpy(s.in.data(), descs, 16);
  auto *image = reinterpret_cast<uint8_t *>(s.in.data() + 4 + 128 * 8);
  for (int k = 0; k < p.steps * t.k; ++k) {
    for (int m = 0; m < kM; ++m) {
      uint32_t code = t.code(valueA(m, k));
      std::memcpy(image + place(p.a, m, k, t.bytes), &code, size_t(t.bytes));
    }
    for (int n = 0; n < p.n; ++n) {
      uint32_t code = t.code(valueB(n, k));
      std::memcpy(image + kBytesB + place(p.b, n, k, t.bytes), &code, size_t(t.bytes));
    }
  }
  int per = 4 / t.bytes; // A in registers: as for mma.sync, 16 rows a warp
  for (int thread = 0; thread < 128; ++thread)
    for (int step = 0; step < p.steps; ++step)
      for (int j = 0; j < 4; ++j)
        for (int e = 0; e < per; ++e) {
          int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (j % 2);
          int k = step * t.k + thread % 4 * per + e + 4 * per * (j / 2);
          s.in[size_t(4 + thread * 8 + step * 4 + j)] |= t.code(valueA(row, k))
                                                         << (8 * t.bytes * e % 32);
        }
  const char *dPrefix = t.d == "f32" ? "%w" : "%r";
  std::string body = R"(
.reg .f32 %w<128>;
mul.lo.u32 %r40, %t, 4; mov.u32 %r41, buf;
COPY:
cvt.u64.u32 %rd1, %r40; add.s64 %rd1, %rd1, %in; ld.global.b32 %r42, [%rd1+4112];
add.u32 %r43, %r41, %r40; st.shared.b32 [%r43], %r42;
add.u32 %r40, %r40, 512; setp.lt.u32 %p1, %r40, 49152; @%p1 bra COPY;
fence.proxy.async; bar.sync 0;
ld.global.b64 %rd2, [%in]; ld.global.b64 %rd3, [%in+8];
and.b32 %r44, %r41, 0x3FFFF; shr.u32 %r44, %r44, 4; cvt.u64.u32 %rd4, %r44;
or.b64 %rd2, %rd2, %rd4; add.s64 %rd4, %rd4, 1024; or.b64 %rd3, %rd3, %rd4;
mul.wide.u32 %rd5, %t, 32; add.s64 %rd5, %rd5, %in;
)";
  for (int i = 0; i < 8; ++i)
    body += "ld.global.b32 %r" + std::to_string(48 + i) + ", [%rd5+" + std::to_string(16 + 4 * i) +
            "];\n";
  for (int i = 0; i < dRegs; ++i)
    body += std::string("mov.b32 ") + dPrefix + std::to_string(i) + ", " +
            (t.d == "f32" ? "0f3F800000" : std::to_string(p.start.value_or(77))) + ";\n";
  body += "wgmma.fence.sync.aligned;\n";
  bool floating = t.d != "s32";
  for (int step = 0; step < p.steps; ++step) {
    body += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(p.n) + "k" + std::to_string(t.k) +
            (p.saturate ? ".satfinite." : ".") + t.d + "." + t.name + "." + t.name + " " +
            list(dPrefix, 0, dRegs) + ", " + (p.registers ? list("%r", 48 + 4 * step, 4) : "%rd2") +
            ", %rd3, " + (step || p.start ? "1" : "0");
    if (floating)
      body += ", " + std::to_string(p.signA) + ", " + std::to_string(p.signB);
    if (t.bytes == 2) {
      if (!p.registers)
        body += p.a == Layout::mnMajor128 ? ", 1" : ", 0";
      body += p.b == Layout::mnMajor128 ? ", 1" : ", 0";
    }
    body += ";\n";
    auto advance = [](Layout l) { // units of 16 bytes of one K step
      return l == Layout::none ? "128" : l == Layout::swizzle128 ? "2" : "256";
    };
    body += std::string("add.s64 %rd2, %rd2, ") + advance(p.a) + "; add.s64 %rd3, %rd3, " +
            advance(p.b) + ";\n";
  }
  body += "wgmma.commit_group.sync.aligned;\n" + p.between + p.wait;
  body += "mul.wide.u32 %rd1, %t, " + std::to_string(4 * words) + "; add.s64 %rd1, %rd1, %out;\n";
  for (int i = 0; i < dRegs; ++i)
    body += "st.global.b32 [%rd1+" + std::to_string(4 * i) + "], " + dPrefix + std::to_string(i) +
            ";\n";
  body += "wgmma.wait_group.sync.aligned 0;\n";
  return run(kernel(body, "sm_90a", ".shared .align 1024 .b8 buf[49152];\n"), s);
}

void expectProduct(const Plan &p, const Ran &r, const char *what) {
  ASSERT_EQ(r.error, "") << what;
  bool halfD = p.type.d == "f16";
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < p.n / 2; ++i) {
      int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i % 4 / 2);
      int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      int64_t sum = p.start.value_or(0);
      for (int k = 0; k < p.steps * p.type.k; ++k)
        sum += p.type.value(valueA(row, k)) * p.type.value(valueB(column, k));
      sum *= p.signA * p.signB;
      if (p.saturate)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      uint32_t word = r.out[size_t(p.n / 2 * thread + (halfD ? i / 2 : i))];
      uint32_t expected = halfD               ? half(int(sum))
                          : p.type.d == "s32" ? uint32_t(sum)
                                              : floatBits(int(sum));
      ASSERT_EQ(halfD ? word >> (16 * (i % 2)) & 0xFFFF : word, expected)
          << what << " row " << row << " column " << column;
    }
}

TEST(Wgmma, TypesAndLayouts) {
  for (const Type &t : {kBf16, kF16, kTf32, kE4m3, kE5m2, kS8, kU8, kHalfD, kE4m3HalfD}) {
    for (Layout l : {Layout::none, Layout::swizzle128}) {
      Plan p{t, l, l};
      expectProduct(p, multiply(p), t.name.c_str());
      p.registers = true;
      expectProduct(p, multiply(p), (t.name + " a in registers").c_str());
    }
    if (t.d == "s32")
      continue;
    Plan p{t};
    p.signA = -1;
    expectProduct(p, multiply(p), "minus a");
    p.signB = -1;
    expectProduct(p, multiply(p), "minus both");
  }
}

TEST(Wgmma, IntegersWrapOrSaturate) {
  for (int start : {0x7FFFFFF0, -0x7FFFFFF0})
    for (bool saturate : {false, true}) {
      Plan p{kS8};
      p.steps = 1; // so that a sum stays where it was cut
      p.start = start;
      p.saturate = saturate;
      expectProduct(p, multiply(p), saturate ? "satfinite" : "wraps");
    }
}

TEST(Wgmma, WidestN) {
  Plan p{kBf16};
  p.n = 256;
  expectProduct(p, multiply(p), "n = 256");
}

TEST(Wgmma, Transposes) {
  for (Layout a : {Layout::swizzle128, Layout::mnMajor128})
    for (Layout b : {Layout::swizzle128, Layout::mnMajor128}) {
      Plan p{kBf16, a, b};
      expectProduct(p, multiply(p), "transposes");
    }
}

TEST(Wgmma, SameUnderEveryTiming) {
  for (const Options &o : allTimings()) {
    Plan p{kBf16};
    expectProduct(p, multiply(p, o), "timing");
  }
}

/// Whoever does not wait reads what was there before.
TEST(Wgmma, ResultsComeWhenTheyLand) {
  Options latest = unchecked();
  latest.timing = Timing::latest;
  Plan p{kBf16};
  p.wait = "";
  Ran r = multiply(p, latest);
  ASSERT_EQ(r.error, "");
  for (int i = 0; i < 128 * 16; ++i)
    ASSERT_EQ(r.out[size_t(i)], 0x3F800000u) << i;
  // One group may stay in flight: the same.
  p.wait = "wgmma.wait_group.sync.aligned 1;\n";
  EXPECT_EQ(multiply(p, latest).out[0], 0x3F800000u);
  // A group committed later does not hold up an earlier one.
  p.between = "wgmma.commit_group.sync.aligned;\n";
  latest.hazards = {};
  expectProduct(p, multiply(p, latest), "second group");
}

/// All lanes must execute it together, so those that come early wait for the others.
TEST(Wgmma, TheFenceBringsLanesTogether) {
  for (const char *early : {"lt", "ge"}) {
    Scene s;
    s.block = {128, 1, 1};
    s.outWords = 128;
    const std::string body = std::string("and.b32 %r1, %t, 31; setp.") + early +
                             ".u32 %p1, %r1, 16; mov.u32 %r2, 0; @!%p1 bra COUNT;\n"
                             "FENCE:\nwgmma.fence.sync.aligned; activemask.b32 %r3;\n"
                             "mul.wide.u32 %rd1, %t, 4; add.s64 %rd1, %rd1, %out;\n"
                             "st.global.b32 [%rd1], %r3; exit;\n"
                             "COUNT:\nadd.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 100;\n"
                             "@%p2 bra COUNT; bra FENCE;";
    Ran r = run(kernel(body, "sm_90a"), s);
    ASSERT_EQ(r.error, "");
    for (uint32_t word : r.out)
      EXPECT_EQ(word, 0xFFFFFFFFu) << early;
  }
}

TEST(Wgmma, Refusals) {
  auto error = [](const std::string &body, const std::string &target = "sm_90a",
                  unsigned threads = 128) {
    Scene s;
    s.options.timing = Timing::latest;
    s.block = {threads, 1, 1};
    return run(kernel(body, target), s).error;
  };
  std::string mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %rd0, "
                    "%rd1, 0, 1, 1, 0, 0;";
  EXPECT_NE(error(mma, "sm_100a")
                .find("ptx_target: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 must have a "
                      "target with wgmma, got sm_100a"),
            std::string::npos);
  auto refusal = [&](const std::string &form) { return error("wgmma." + form + " {%r0}, 0;"); };
  EXPECT_NE(refusal("mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16").find("ptx_unexecuted"),
            std::string::npos);
  EXPECT_NE(refusal("mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc").find("ptx_unexecuted"),
            std::string::npos);
  for (const char *shape : {"m64nk16", "m64nxk16", "m64n8k", "m32n8k16"})
    EXPECT_NE(refusal("mma_async.sync.aligned." + std::string(shape) + ".f32.bf16.bf16")
                  .find("ptx_modifier"),
              std::string::npos)
        << shape;
  EXPECT_NE(error(mma).find("exit: wgmma.mma_async must be complete"), std::string::npos);
  EXPECT_NE(error("mov.b64 %rd0, 0x3FFF; " + mma +
                  "wgmma.commit_group.sync.aligned; "
                  "wgmma.wait_group.sync.aligned 0;")
                .find("wgmma_bounds"),
            std::string::npos);
  EXPECT_NE(error("mov.b64 %rd0, 0x0001000000000000; " + mma).find("wgmma_desc"),
            std::string::npos);
  EXPECT_NE(error("cvt.u64.u32 %rd0, %t; " + mma).find("wgmma_uniform"), std::string::npos);
  EXPECT_NE(error(mma, "sm_90a", 32).find("wgmma_group"), std::string::npos);
  EXPECT_NE(error("wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r0}, %rd0, %rd1, 0;")
                .find("wgmma_form"),
            std::string::npos);
}

} // namespace
