//===- MatrixTest.cpp - ldmatrix, stmatrix --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element c of row r of matrix j is the number 256 j + 16 r + c in shared memory;
// expected values come from the PTX ISA's fragment rule: lane t's register has
// elements 2(t%4), 2(t%4)+1 of row t/4.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *kVars = ".shared .align 16 .b8 buf[512];\n";

/// Fills buf: lane 8j + r writes its row at byte 16 lane.
const char *kFill = R"(
mov.u32 %r0, buf; shl.b32 %r1, %t, 4; add.s32 %r1, %r0, %r1;
shr.u32 %r2, %t, 3; shl.b32 %r2, %r2, 8; and.b32 %r3, %t, 7; shl.b32 %r3, %r3, 4; add.s32 %r2, %r2, %r3;
shl.b32 %r3, %r2, 16; or.b32 %r3, %r3, %r2; add.s32 %r3, %r3, 0x00010000;
st.shared.b32 [%r1], %r3; add.s32 %r3, %r3, 0x00020002;
st.shared.b32 [%r1+4], %r3; add.s32 %r3, %r3, 0x00020002;
st.shared.b32 [%r1+8], %r3; add.s32 %r3, %r3, 0x00020002;
st.shared.b32 [%r1+12], %r3;
bar.sync 0;
)";

uint32_t element(unsigned j, unsigned row, unsigned column) { return 256 * j + 16 * row + column; }
uint32_t pair(unsigned j, unsigned t, bool transpose) {
  unsigned major = t / 4, minor = 2 * (t % 4);
  return transpose ? element(j, minor, major) | element(j, minor + 1, major) << 16
                   : element(j, major, minor) | element(j, major, minor + 1) << 16;
}

std::string storeAll() {
  return "mul.wide.u32 %rd0, %t, 12; add.s64 %rd0, %rd0, %po;\n" // out[4 t + j]
         "st.global.v4.b32 [%rd0], {%r4, %r5, %r6, %r7};";
}

TEST(Matrix, LoadFour) {
  Ran r = run(kernel(std::string(kFill) +
                         "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r1];" +
                         storeAll(),
                     "sm_100a", kVars));
  ASSERT_EQ(r.error, "");
  for (unsigned t = 0; t < 32; ++t)
    for (unsigned j = 0; j < 4; ++j)
      EXPECT_EQ(r.out[4 * t + j], pair(j, t, false)) << t << " " << j;
}

TEST(Matrix, LoadFourTransposed) {
  Ran r = run(
      kernel(std::string(kFill) +
                 "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r4, %r5, %r6, %r7}, [%r1+0];" +
                 storeAll(),
             "sm_100a", kVars));
  ASSERT_EQ(r.error, "");
  for (unsigned t = 0; t < 32; ++t)
    for (unsigned j = 0; j < 4; ++j)
      EXPECT_EQ(r.out[4 * t + j], pair(j, t, true)) << t << " " << j;
}

// Lanes from 8 (x1) or 16 (x2) on give no address: theirs may be nonsense.
TEST(Matrix, FewerUseTheFirstLanesOnly) {
  Ran r = run(
      kernel(std::string(kFill) +
                 "setp.ge.u32 %p0, %t, 16; @%p0 mov.u32 %r1, 3;\n"
                 "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r1];\n"
                 "setp.ge.u32 %p0, %t, 8; @%p0 mov.u32 %r1, 3;\n"
                 "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r6}, [%r1]; mov.b32 %r7, 0;\n" +
                 storeAll(),
             "sm_100a", kVars));
  ASSERT_EQ(r.error, "");
  for (unsigned t = 0; t < 32; ++t) {
    EXPECT_EQ(r.out[4 * t], pair(0, t, false));
    EXPECT_EQ(r.out[4 * t + 1], pair(1, t, false));
    EXPECT_EQ(r.out[4 * t + 2], pair(0, t, true));
  }
}

/// Stores registers that hold matrices by the fragment rule; buf must become
/// the picture that kFill makes (of the transposed matrices with .trans).
TEST(Matrix, StoreIsTheInverse) {
  for (bool transpose : {false, true}) {
    std::string trans = transpose ? ".trans" : "";
    Ran r =
        run(kernel(std::string(kFill) +
                       "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r1];\n" +
                       "bar.sync 0; stmatrix.sync.aligned.m8n8.x4" + trans +
                       ".shared.b16 [%r1], {%r4, %r5, %r6, %r7};\nbar.sync 0;\n"
                       "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r1];\n" +
                       storeAll(),
                   "sm_100a", kVars));
    ASSERT_EQ(r.error, "");
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned c = 0; c < 8; ++c) {
        unsigned j = lane / 8, row = lane % 8;
        uint32_t expected = transpose ? element(j, c, row) : element(j, row, c);
        EXPECT_EQ(r.out[4 * lane + c / 2] >> (16 * (c % 2)) & 0xFFFF, expected) << lane << " " << c;
      }
  }
}

TEST(Matrix, Refusals) {
  Ran r = run(kernel(
      std::string(kFill) +
          "setp.eq.u32 %p0, %t, 3; @!%p0 stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r4};",
      "sm_100a", kVars));
  EXPECT_NE(r.error.find("matrix_aligned"), std::string::npos) << r.error;
  r = run(kernel(std::string(kFill) + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r1+8];",
                 "sm_100a", kVars));
  EXPECT_NE(r.error.find("mem_align"), std::string::npos) << r.error;
  r = run(kernel("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4}, [%r1];"));
  EXPECT_NE(r.error.find("ptx_operand"), std::string::npos) << r.error;
}

/// Fills buf: byte i is 7 i + i / 16 (mod 256), and leaves the lane's row address in %r1.
const char *kFillBytes = R"(
mov.u32 %r0, buf; shl.b32 %r1, %t, 4; add.s32 %r1, %r0, %r1; mov.u32 %r2, 0;
FILL:
shl.b32 %r3, %t, 4; add.u32 %r3, %r3, %r2; mul.lo.u32 %r4, %r3, 7; add.u32 %r4, %r4, %t;
add.u32 %r5, %r1, %r2; st.shared.u8 [%r5], %r4;
add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 16; @%p0 bra FILL;
bar.sync 0;
)";
uint32_t byteAt(unsigned row, unsigned column) { return ((16 * row + column) * 7 + row) & 0xFF; }

TEST(Matrix, TransposesBytes) {
  Ran r = run(kernel(std::string(kFillBytes) +
                         "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r4, %r5, %r6, %r7}, "
                         "[%r1];\n" +
                         storeAll(),
                     "sm_100a", kVars));
  ASSERT_EQ(r.error, "");
  // Thread t has column t / 4 (and + 8) of rows 4 (t % 4) to 4 (t % 4) + 3.
  for (unsigned t = 0; t < 32; ++t)
    for (unsigned reg = 0; reg < 4; ++reg)
      for (unsigned e = 0; e < 4; ++e)
        EXPECT_EQ(r.out[4 * t + reg] >> (8 * e) & 0xFF,
                  byteAt(16 * (reg / 2) + 4 * (t % 4) + e, t / 4 + 8 * (reg % 2)))
            << t << " " << reg << " " << e;
}

TEST(Matrix, UnpacksNarrowCodes) {
  for (unsigned bits : {4u, 6u}) {
    std::string type = bits == 4 ? "b8x16.b4x16_p64" : "b8x16.b6x16_p32";
    auto code = [&](unsigned row, unsigned k) { // low bits first
      uint32_t code = 0;
      for (unsigned b = 0; b < bits; ++b)
        code |= (byteAt(row, (k * bits + b) / 8) >> ((k * bits + b) % 8) & 1) << b;
      return code;
    };
    Ran r = run(kernel(std::string(kFillBytes) + "ldmatrix.sync.aligned.m8n16.x4.shared." + type +
                           " {%r4, %r5, %r6, %r7}, [%r1];\n" + storeAll(),
                       "sm_120a", kVars));
    ASSERT_EQ(r.error, "");
    for (unsigned t = 0; t < 32; ++t)
      for (unsigned j = 0; j < 4; ++j)
        for (unsigned e = 0; e < 4; ++e)
          EXPECT_EQ(r.out[4 * t + j] >> (8 * e) & 0xFF, code(8 * j + t / 4, 4 * (t % 4) + e));
    r = run(kernel(std::string(kFillBytes) + "ldmatrix.sync.aligned.m16n16.x1.trans.shared." +
                       type + " {%r4, %r5}, [%r1]; mov.b32 %r6, 0; mov.b32 %r7, 0;\n" + storeAll(),
                   "sm_103a", kVars));
    ASSERT_EQ(r.error, "");
    for (unsigned t = 0; t < 32; ++t)
      for (unsigned reg = 0; reg < 2; ++reg)
        for (unsigned e = 0; e < 4; ++e)
          EXPECT_EQ(r.out[4 * t + reg] >> (8 * e) & 0xFF, code(4 * (t % 4) + e, t / 4 + 8 * reg));
  }
}

TEST(Matrix, StoresBytesTransposed) {
  Ran r = run(kernel(std::string(kFillBytes) +
                         "mad.lo.u32 %r4, %t, 0x04040404, 0x03020100; add.u32 %r5, %r4, "
                         "0x80808080;\nbar.sync 0;\n"
                         "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r1], {%r4, %r5};\n"
                         "bar.sync 0; ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r1];\n" +
                         storeAll(),
                     "sm_100a", kVars));
  ASSERT_EQ(r.error, "");
  // Byte e of thread t goes to row 2 (t % 4) + e % 2, byte t / 4 + 8 (e / 2).
  for (unsigned t = 0; t < 32; ++t)
    for (unsigned j = 0; j < 2; ++j)
      for (unsigned e = 0; e < 4; ++e) {
        unsigned row = 8 * j + 2 * (t % 4) + e % 2, column = t / 4 + 8 * (e / 2);
        EXPECT_EQ(r.out[4 * row + column / 4] >> (8 * (column % 4)) & 0xFF, 4 * t + e + 128 * j);
      }
  EXPECT_EQ(r.out[4 * 16] & 0xFF, byteAt(16, 0)); // rows of x4 stay
}

TEST(Matrix, Movmatrix) {
  Ran r = run(kernel("shl.b32 %r0, %t, 17; mad.lo.u32 %r0, %t, 2, %r0; add.u32 %r0, %r0, "
                     "0x10000;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0; "
                     "st.global.b32 [%po], %r1;"));
  ASSERT_EQ(r.error, "");
  // Element (row, column) of the source is 8 row + column.
  for (unsigned t = 0; t < 32; ++t)
    for (unsigned h = 0; h < 2; ++h)
      EXPECT_EQ(r.out[t] >> (16 * h) & 0xFFFF, 8 * (2 * (t % 4) + h) + t / 4);
}

TEST(Matrix, FormsThatAssemblersRefuse) {
  auto error = [](const std::string &text, const std::string &target) {
    return run(kernel(text, target)).error;
  };
  std::string form = "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r4, %r5}, [%r1];";
  EXPECT_NE(error(form, "sm_90a").find("ptx_target"), std::string::npos);
  EXPECT_NE(
      error("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r4};", "sm_89").find("ptx_target"),
      std::string::npos);
  for (const char *text : {"ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r4, %r5}, [%r1];",
                           "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r4, %r5}, [%r1];",
                           "ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r4}, [%r1];",
                           "stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r1], {%r4};"})
    EXPECT_NE(error(text, "sm_100a").find("ptx_modifier"), std::string::npos) << text;
}

} // namespace
