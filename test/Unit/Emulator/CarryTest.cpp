//===- CarryTest.cpp - add.cc, addc, sub.cc, subc, mad.cc, madc -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums and products of several words against the compiler's wide integers. Lane t
// works on values that make carries in some lanes only.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

__extension__ typedef unsigned __int128 Wide;

/// %r0 (low), %r1 and %r2, %r3: two 64-bit numbers of the lane.
const char *kOperands = "mul.lo.u32 %r0, %t, 0x9E3779B9; mul.lo.u32 %r1, %t, 0x85EBCA6B;\n"
                        "not.b32 %r2, %r1; mul.lo.u32 %r3, %t, 0xC2B2AE35;\n";
uint64_t first(uint32_t t) { return t * 0x9E3779B9u | uint64_t(t * 0x85EBCA6Bu) << 32; }
uint64_t second(uint32_t t) { return ~(t * 0x85EBCA6Bu) | uint64_t(t * 0xC2B2AE35u) << 32; }

Ran store(const std::string &body, const std::string &high, const std::string &low) {
  return run(kernel(kOperands + body + "mul.wide.u32 %rd9, %t, 8; add.s64 %rd9, %rd9, %out;\n" +
                    "st.global.v2.b32 [%rd9], {" + low + ", " + high + "};"));
}

void expect(const Ran &r, uint64_t (*value)(uint64_t, uint64_t)) {
  ASSERT_EQ(r.error, "");
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(r.out[2 * t] | uint64_t(r.out[2 * t + 1]) << 32, value(first(t), second(t))) << t;
}

TEST(Carry, AddAndSubtract) {
  expect(store("add.cc.u32 %r4, %r0, %r2; addc.u32 %r5, %r1, %r3;", "%r5", "%r4"),
         [](uint64_t a, uint64_t b) { return a + b; });
  expect(store("sub.cc.u32 %r4, %r0, %r2; subc.u32 %r5, %r1, %r3;", "%r5", "%r4"),
         [](uint64_t a, uint64_t b) { return a - b; });
  // The carry goes through a word of ones: out of it comes bit 64.
  expect(store("add.cc.u32 %r4, %r0, %r2; addc.cc.u32 %r5, %r1, %r3; addc.u32 %r6, 0, 0;", "%r6",
               "%r5"),
         [](uint64_t a, uint64_t b) { return uint64_t((Wide(a) + b) >> 32); });
  // A borrow leaves the top word at -1.
  expect(store("sub.cc.u32 %r4, %r0, %r2; subc.cc.u32 %r5, %r1, %r3; subc.u32 %r6, 0, 0;", "%r6",
               "%r5"),
         [](uint64_t a, uint64_t b) { return uint64_t((Wide(a) - b) >> 32); });
}

TEST(Carry, Multiply) {
  // Words 1 and 2 of a * b by the school's method.
  std::string product = "mul.lo.u32 %r4, %r0, %r2; mul.hi.u32 %r5, %r0, %r2;\n"
                        "mad.lo.cc.u32 %r5, %r0, %r3, %r5; madc.hi.u32 %r6, %r0, %r3, 0;\n"
                        "mad.lo.cc.u32 %r5, %r1, %r2, %r5; madc.hi.cc.u32 %r6, %r1, %r2, %r6;\n"
                        "addc.u32 %r7, 0, 0; mad.lo.cc.u32 %r6, %r1, %r3, %r6;\n";
  expect(store(product, "%r6", "%r5"),
         [](uint64_t a, uint64_t b) { return uint64_t((Wide(a) * b) >> 32); });
}

TEST(Carry, OnlyTheLanesThatExecute) {
  // Odd lanes leave the carry of the first addition alone.
  Ran r = run(kernel("and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0; add.cc.u32 %r0, 0xFFFFFFFF, 1;\n"
                     "@%p0 add.cc.u32 %r0, 1, 1; addc.u32 %r0, %t, 0; st.global.b32 [%po], %r0;"));
  ASSERT_EQ(r.error, "");
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(r.out[t], t + t % 2) << t;
}

TEST(Carry, WideAndSigned) {
  Ran r = run(kernel("mov.b64 %rd0, -1; add.cc.u64 %rd1, %rd0, 1; addc.u64 %rd2, %rd0, 5;\n"
                     "mad.hi.cc.s32 %r1, -2, 3, 1; addc.u32 %r2, 0, 0; cvt.u32.u64 %r0, %rd2;\n"
                     "shl.b32 %r2, %r2, 8; or.b32 %r0, %r0, %r2; st.global.b32 [%po], %r0;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 0x105u); // -1 + 5 + 1; the high word of -6 is -1, and -1 + 1 carries
  r = run(kernel("add.cc.u16 %h0, %h1, %h2;"));
  EXPECT_NE(r.error.find("ptx_modifier"), std::string::npos) << r.error;
}

} // namespace
