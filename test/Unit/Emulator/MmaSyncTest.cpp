//===- MmaSyncTest.cpp - mma.sync ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread takes its registers from memory; expected values are products of
// matrices that are spread over the registers by the PTX ISA's fragment rules,
// written out here. Values are small integers, so every sum is exact.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <cmath>

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

/// One product: types as in PTX, how many bits an element takes, how a small integer is
/// written as a code.
struct Case {
  std::string target, shape, qualifier, d, a, b;
  int m, n, k, bits;
  std::function<uint32_t(int)> codeA, codeB;
};

uint32_t half(int v) {
  if (v == 0)
    return 0;
  int e = std::ilogb(double(std::abs(v)));
  return uint32_t(v < 0) << 15 | uint32_t(e + 15) << 10 |
         (uint32_t(std::abs(v)) << (10 - e) & 0x3FF);
}
uint32_t brain(int v) {
  float f = float(v);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits >> 16;
}
uint32_t tensorFloat(int v) {
  float f = float(v);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits | 0x1ABC; // bits that must not count
}
/// -4 .. 4
uint32_t e4m3(int v) {
  static const uint32_t codes[] = {0, 0x38, 0x40, 0x44, 0x48};
  return codes[std::abs(v)] | (v < 0 ? 0x80 : 0);
}
uint32_t e5m2(int v) {
  static const uint32_t codes[] = {0, 0x3C, 0x40, 0x42, 0x44};
  return codes[std::abs(v)] | (v < 0 ? 0x80 : 0);
}
uint32_t e2m1(int v) { // in bits 5:2 of a byte
  static const uint32_t codes[] = {0, 2, 4, 5, 6};
  return (codes[std::abs(v)] | (v < 0 ? 8 : 0)) << 2;
}
uint32_t e3m2(int v) {
  static const uint32_t codes[] = {0, 0x0C, 0x10, 0x12, 0x14};
  return codes[std::abs(v)] | (v < 0 ? 0x20 : 0);
}
uint32_t e2m3(int v) {
  static const uint32_t codes[] = {0, 0x08, 0x10, 0x14, 0x18};
  return codes[std::abs(v)] | (v < 0 ? 0x20 : 0);
}
uint32_t plain(int v) { return uint32_t(v); }

int valueA(int row, int k, bool isUnsigned) {
  int v = (row * 7 + k * 3 + row * k) % 9;
  return isUnsigned ? v % 5 : v - 4;
}
int valueB(int n, int k, bool isUnsigned) {
  int v = (n * 5 + k * 2 + n * k * 3 + 1) % 9;
  return isUnsigned ? v % 5 : v - 4;
}
int valueC(int row, int n) { return (row * 8 + n) * 3 - 100; }

float asFloat(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

/// Runs `d += a * b` and compares all of D with integers. Compilers write shape, layouts and
/// qualifier in more than one order.
void check(const Case &c, bool shapeLast = false) {
  bool integer = c.d == "s32", halfResult = c.d == "f16";
  int per = 32 / c.bits, aRegs = c.m * c.k / per / 32, bRegs = c.n * c.k / per / 32,
      dRegs = c.m * c.n / (halfResult ? 64 : 32);
  Scene s;
  s.in.assign(32 * 16, 0);
  s.outWords = 32 * 4;
  bool ua = c.a[0] == 'u', ub = c.b[0] == 'u';
  for (int t = 0; t < 32; ++t) {
    for (int j = 0; j < aRegs; ++j)
      for (int e = 0; e < per; ++e) {
        int row = t / 4 + (c.m == 16 ? 8 * (j % 2) : 0);
        int k = (t % 4) * per + e + 4 * per * (c.m == 16 ? j / 2 : j);
        uint32_t mask = c.bits == 32 ? ~0u : (1u << c.bits) - 1;
        s.in[size_t(t * 16 + j)] |= (c.codeA(valueA(row, k, ua)) & mask) << (c.bits * e % 32);
      }
    for (int j = 0; j < bRegs; ++j)
      for (int e = 0; e < per; ++e) {
        int n = t / 4, k = (t % 4) * per + e + 4 * per * j;
        uint32_t mask = c.bits == 32 ? ~0u : (1u << c.bits) - 1;
        s.in[size_t(t * 16 + 4 + j)] |= (c.codeB(valueB(n, k, ub)) & mask) << (c.bits * e % 32);
      }
    for (int i = 0; i < c.m * c.n / 32; ++i) {
      int v = valueC(t / 4 + 8 * (i / 2), 2 * (t % 4) + i % 2);
      float f = float(v);
      uint32_t bits = uint32_t(v);
      if (halfResult)
        s.in[size_t(t * 16 + 8 + i / 2)] |= half(v) << (16 * (i % 2));
      else if (integer)
        s.in[size_t(t * 16 + 8 + i)] = bits;
      else
        std::memcpy(&s.in[size_t(t * 16 + 8 + i)], &f, 4);
    }
  }
  auto list = [](const char *prefix, int first, int count) {
    std::string out = "{";
    for (int i = 0; i < count; ++i)
      out += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
    return out + "}";
  };
  const char *dPrefix = c.d == "f32" ? "%f" : "%r";
  std::string body = "mul.wide.u32 %rd0, %t, 64; add.s64 %rd0, %rd0, %in;\n";
  for (int i = 0; i < 8; ++i)
    body += "ld.global.b32 %r" + std::to_string(i) + ", [%rd0+" + std::to_string(4 * i) + "];\n";
  for (int i = 0; i < dRegs; ++i)
    body += "ld.global.b32 " + std::string(dPrefix) + std::to_string(8 + i) + ", [%rd0+" +
            std::to_string(32 + 4 * i) + "];\n";
  const std::string shape = "." + c.shape, rest = c.qualifier + ".row.col";
  body += "mma.sync.aligned" + (shapeLast ? rest + shape : shape + rest) + "." + c.d + "." + c.a +
          "." + c.b + "." + c.d + " " + list(dPrefix, 8, dRegs) + ", " + list("%r", 0, aRegs) +
          ", " + list("%r", 4, bRegs) + ", " + list(dPrefix, 8, dRegs) + ";\n";
  body += "mul.wide.u32 %rd1, %t, 16; add.s64 %rd1, %rd1, %out;\n";
  for (int i = 0; i < dRegs; ++i)
    body += "st.global.b32 [%rd1+" + std::to_string(4 * i) + "], " + dPrefix +
            std::to_string(8 + i) + ";\n";
  Ran r = run(kernel(body, c.target), s);
  ASSERT_EQ(r.error, "") << c.shape << c.a << c.b;
  for (int t = 0; t < 32; ++t)
    for (int i = 0; i < c.m * c.n / 32; ++i) {
      int row = t / 4 + 8 * (i / 2), n = 2 * (t % 4) + i % 2, sum = valueC(row, n);
      for (int k = 0; k < c.k; ++k)
        sum += valueA(row, k, ua) * valueB(n, k, ub);
      uint32_t word = r.out[size_t(4 * t + (halfResult ? i / 2 : i))];
      if (halfResult) {
        EXPECT_EQ(word >> (16 * (i % 2)) & 0xFFFF, half(sum)) << c.a << " " << row << "," << n;
      } else if (integer) {
        EXPECT_EQ(int32_t(word), sum) << c.shape << c.a << c.b << " " << row << "," << n;
      } else {
        EXPECT_EQ(asFloat(word), float(sum)) << c.shape << c.a << c.b << " " << row << "," << n;
      }
    }
}

TEST(MmaSync, EveryShapeAndType) {
  std::vector<Case> cases;
  for (std::string a : {"s8", "u8"})
    for (std::string b : {"s8", "u8"}) {
      cases.push_back({"sm_80", "m8n8k16", "", "s32", a, b, 8, 8, 16, 8, plain, plain});
      cases.push_back({"sm_80", "m16n8k16", "", "s32", a, b, 16, 8, 16, 8, plain, plain});
      cases.push_back({"sm_90a", "m16n8k32", "", "s32", a, b, 16, 8, 32, 8, plain, plain});
      cases.push_back(
          {"sm_100a", "m16n8k32", ".satfinite", "s32", a, b, 16, 8, 32, 8, plain, plain});
    }
  for (std::string a : {"s4", "u4"}) {
    cases.push_back({"sm_80", "m8n8k32", "", "s32", a, "s4", 8, 8, 32, 4, plain, plain});
    cases.push_back({"sm_80", "m16n8k32", "", "s32", a, "u4", 16, 8, 32, 4, plain, plain});
    cases.push_back({"sm_80", "m16n8k64", "", "s32", a, "s4", 16, 8, 64, 4, plain, plain});
  }
  for (std::string d : {"f32", "f16"})
    for (int k : {8, 16})
      cases.push_back(
          {"sm_80", "m16n8k" + std::to_string(k), "", d, "f16", "f16", 16, 8, k, 16, half, half});
  for (int k : {8, 16})
    cases.push_back({"sm_90a", "m16n8k" + std::to_string(k), "", "f32", "bf16", "bf16", 16, 8, k,
                     16, brain, brain});
  for (int k : {4, 8})
    cases.push_back({"sm_90a", "m16n8k" + std::to_string(k), "", "f32", "tf32", "tf32", 16, 8, k,
                     32, tensorFloat, tensorFloat});
  for (std::string target : {"sm_89", "sm_90a", "sm_100a", "sm_120a"})
    for (std::string d : {"f32", "f16"})
      for (int k : {16, 32}) {
        std::string shape = "m16n8k" + std::to_string(k);
        cases.push_back({target, shape, "", d, "e4m3", "e5m2", 16, 8, k, 8, e4m3, e5m2});
        cases.push_back({target, shape, "", d, "e5m2", "e5m2", 16, 8, k, 8, e5m2, e5m2});
      }
  cases.push_back(
      {"sm_80", "m16n8k32", ".satfinite", "s32", "s4", "u4", 16, 8, 32, 4, plain, plain});
  for (std::string d : {"f32", "f16"}) {
    cases.push_back(
        {"sm_120a", "m16n8k32", ".kind::f8f6f4", d, "e5m2", "e2m3", 16, 8, 32, 8, e5m2, e2m3});
    cases.push_back(
        {"sm_100a", "m16n8k32", ".kind::f8f6f4", d, "e4m3", "e4m3", 16, 8, 32, 8, e4m3, e4m3});
    cases.push_back(
        {"sm_120a", "m16n8k32", ".kind::f8f6f4", d, "e3m2", "e2m1", 16, 8, 32, 8, e3m2, e2m1});
  }
  for (const Case &c : cases) {
    check(c);
    check(c, /*shapeLast=*/true);
  }
}

/// d = c + 32 a b, from immediate registers, in lane 0 element 0.
std::string oneInteger(const std::string &qualifier, const std::string &c) {
  return "mov.b32 %r0, 0x7F7F7F7F; mov.b32 %r1, " + c + ";\nmma.sync.aligned.m16n8k32.row.col" +
         qualifier +
         ".s32.s8.s8.s32 {%r2,%r3,%r4,%r5}, {%r0,%r0,%r0,%r0}, {%r0,%r0}, {%r1,%r1,%r1,%r1};\n"
         "st.global.b32 [%po], %r2;";
}

TEST(MmaSync, IntegersWrapOrSaturate) {
  uint32_t product = 32 * 127 * 127, most = 0x7FFFFFFF;
  EXPECT_EQ(run(kernel(oneInteger("", "0x7FFFFFF0"), "sm_90a")).out[5], 0x7FFFFFF0u + product);
  EXPECT_EQ(run(kernel(oneInteger(".satfinite", "0x7FFFFFF0"), "sm_90a")).out[5], most);
  EXPECT_EQ(run(kernel(oneInteger(".satfinite", "5"), "sm_90a")).out[5], product + 5);
}

/// All elements are 1; the scales of row r and column n are 2^(r - 4 + ...) by place.
TEST(MmaSync, BlockScales) {
  // 2X: two scales a row, bytes id and id + 1, of the pair of lanes that thread-id names.
  // The second spelling is CUTLASS's: kind and layouts ahead of the shape, scales in braces.
  const std::string spellings[] = {
      "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X", "%r6",   "%r7",
      "kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col", "{%r6}", "{%r7}"};
  for (int byteId : {0, 2})
    for (int tidA : {0, 1})
      for (int tidB : {0, 3}) {
        const std::string *spelled = spellings + (byteId ? 3 : 0);
        std::string set =
            "mov.b32 %r0, 0x22222222; mov.b32 %r1, %r0; mov.b32 %r2, %r0; mov.b32 %r3, %r0; "
            "mov.b32 "
            "%r4, %r0; mov.b32 %r5, %r0;\n"
            "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"
            // byte i of lane t: 120 + t % 8 + 2 i (A), 127 + (t / 4) % 3 + i + (t % 4) (B)
            "and.b32 %r10, %t, 7; add.u32 %r10, %r10, 120; mad.lo.u32 %r6, %r10, 0x01010101, "
            "0x06040200;\n"
            "shr.u32 %r11, %t, 2; rem.u32 %r11, %r11, 3; and.b32 %r12, %t, 3; add.u32 %r11, %r11, "
            "%r12; add.u32 %r11, %r11, 127; mad.lo.u32 %r7, %r11, 0x01010101, 0x03020100;\n"
            "mov.u16 %h0, " +
            std::to_string(byteId) + "; mov.u16 %h1, " + std::to_string(tidA) + "; mov.u16 %h2, " +
            std::to_string(byteId) + "; mov.u16 %h3, " + std::to_string(tidB) + ";\n";
        Ran r = run(kernel(
            set + "mma.sync.aligned." + spelled[0] +
                ".f32.e2m1.e2m1.f32.ue8m0 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
                "{%f0,%f1,%f2,%f3}, " +
                spelled[1] + ", {%h0, %h1}, " + spelled[2] +
                ", {%h2, %h3};\n"
                "mul.wide.u32 %rd1, %t, 16; add.s64 %rd1, %rd1, %out; st.global.v4.f32 [%rd1], "
                "{%f0,%f1,%f2,%f3};",
            "sm_120a"));
        ASSERT_EQ(r.error, "");
        for (int t = 0; t < 32; ++t)
          for (int i = 0; i < 4; ++i) {
            int row = t / 4 + 8 * (i / 2), n = 2 * (t % 4) + i % 2;
            int laneA = 4 * (row % 8) + 2 * tidA + (row >= 8), laneB = 4 * n + tidB;
            double expected = 0;
            for (int s = 0; s < 2; ++s)
              expected += 32 * std::ldexp(1.0, laneA % 8 - 7 + 2 * (byteId + s) + laneB / 4 % 3 +
                                                   laneB % 4 + byteId + s);
            EXPECT_EQ(double(asFloat(r.out[size_t(4 * t + i)])), expected)
                << row << "," << n << " byte " << byteId << " threads " << tidA << tidB;
          }
      }
}

TEST(MmaSync, Refusals) {
  auto error = [](const std::string &body, const std::string &target) {
    return run(kernel(body, target)).error;
  };
  std::string fp8 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3}, "
                    "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};";
  EXPECT_NE(error(fp8, "sm_80").find("ptx_target"), std::string::npos);
  EXPECT_EQ(error(fp8, "sm_89"), "");
  EXPECT_NE(error("mma.sync.aligned.m16n8k32.row.col.f32.s8.s8.f32 {%f0,%f1,%f2,%f3}, "
                  "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};",
                  "sm_80")
                .find("ptx_modifier"),
            std::string::npos);
  EXPECT_NE(error("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, "
                  "{%r0,%r1,%r2}, {%r4,%r5}, {%f0,%f1,%f2,%f3};",
                  "sm_80")
                .find("ptx_operand: a of mma must have 4 registers"),
            std::string::npos);
  EXPECT_NE(error("setp.eq.u32 %p0, %t, 3; @%p0 " + fp8, "sm_89").find("matrix_aligned"),
            std::string::npos);
  std::string scaledForm =
      "mov.u16 %h0, 0; mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::"
      "4X.f32.e2m1.e2m1.f32.ue4m3 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
      "{%f0,%f1,%f2,%f3}, %r6, {%h0, %h0}, %r7, {%h1, %h0};";
  EXPECT_EQ(error("mov.u16 %h1, 0;" + scaledForm, "sm_121a"), "");
  EXPECT_NE(error("mov.u16 %h1, 1;" + scaledForm, "sm_120a").find("mma_scale_id"),
            std::string::npos);
  EXPECT_NE(error("mov.u16 %h1, 0;" + scaledForm, "sm_107a").find("ptx_target"), std::string::npos);
}

/// A chip whose sums no public model covers: labelled, or refused on request.
TEST(MmaSync, ProductsWithoutAModel) {
  std::string body = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, "
                     "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};";
  Scene refuse;
  refuse.options.unmodelled = Unmodelled::refuse;
  Ran r = run(kernel(body, "sm_107a"));
  EXPECT_EQ(r.error, "");
  ASSERT_EQ(r.stats.evidence.size(), 1u);
  EXPECT_EQ(r.stats.evidence[0], "no public hardware evidence");
  EXPECT_NE(run(kernel(body, "sm_107a"), refuse).error.find("mma_unmodelled"), std::string::npos);
  r = run(kernel(body, "sm_90a"), refuse);
  EXPECT_EQ(r.error, "");
  EXPECT_TRUE(r.stats.evidence.empty());
}

} // namespace
