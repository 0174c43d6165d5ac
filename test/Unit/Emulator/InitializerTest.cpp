//===- InitializerTest.cpp - variables with initial values ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

Ran load(const std::string &variables, const std::string &body) {
  return run(kernel(body + "st.global.b32 [%po], %r0;", "sm_100a", variables));
}

TEST(Initializer, RealsTakeTheTypeOfTheVariable) {
  Ran r = load(".global .f32 x[2] = {1.5, 0f40000000};\n.global .f64 y = 2.5;\n",
               "ld.global.f32 %f0, [x]; ld.global.f32 %f1, [x+4]; ld.global.f64 %d0, [y]; "
               "cvt.rn.f32.f64 %f2, %d0; add.f32 %f0, %f0, %f1; add.f32 %f0, %f0, %f2; "
               "cvt.rzi.u32.f32 %r0, %f0;");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 6u);
}

TEST(Initializer, NestedListsLeaveZeros) {
  Ran r = load(".global .u32 m[3][2] = {{1}, {2, 3}};\n",
               "ld.global.u32 %r1, [m]; ld.global.u32 %r2, [m+4]; ld.global.u32 %r3, [m+8]; "
               "ld.global.u32 %r4, [m+12]; ld.global.u32 %r5, [m+20]; mad.lo.u32 %r0, %r1, 1000, "
               "%r2; mad.lo.u32 %r0, %r3, 100, %r0; mad.lo.u32 %r0, %r4, 10, %r0; add.u32 %r0, "
               "%r0, %r5;");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 1230u);
}

TEST(Initializer, ExtentFollowsTheList) {
  Ran r = load(".const .u8 t[] = {7, 8, 9};\n.const .u8 u = 5;\n",
               "ld.const.u8 %r1, [t+2]; ld.const.u8 %r2, [u]; mad.lo.u32 %r0, %r1, 10, %r2;");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 95u);
}

TEST(Initializer, AddressesOfVariables) {
  Ran r = load(".global .u32 a[4] = {1, 2, 3, 4};\n.global .u64 p[2] = {a+8, generic(a)};\n",
               "ld.global.u64 %rd1, [p]; ld.global.u64 %rd2, [p+8]; ld.global.u32 %r1, [%rd1]; "
               "ld.u32 %r2, [%rd2+4]; mad.lo.u32 %r0, %r1, 10, %r2;");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 32u);
}

TEST(Initializer, AttributesOfVariables) {
  auto errorOf = [](const std::string &attribute) {
    return run(kernel("ld.global.b32 %r0, [m]; st.global.b32 [%po], %r0;", "sm_100a",
                      ".global .attribute" + attribute + " .align 4 .b32 m = 7;"))
        .error;
  };
  for (const char *legal : {"(.managed)", "(.unified(19,95))", "(.managed, .unified(1, 2))"})
    EXPECT_EQ(errorOf(legal), "") << legal;
  for (const char *wrong : {"(19)", "(.unified(19))", "(.unified(19,95)", "(.unified(19,95",
                            "(.shared)", "()", "", "(.managed", "(.unified(a,b))"})
    EXPECT_NE(errorOf(wrong).find("ptx_"), std::string::npos) << wrong;
}

TEST(Initializer, Refusals) {
  auto error = [](const std::string &variables) { return load(variables, "").error; };
  EXPECT_EQ(error(".global .u32 a[2] = {1, 2, 3};\n"),
            "t.ptx:4: ptx_initializer: more values than elements in a");
  EXPECT_EQ(error(".global .u32 a[2] = {{1}, 2};\n"),
            "t.ptx:4: ptx_initializer: lists of a must nest as its extents do");
  EXPECT_EQ(
      error(".global .u64 a = b;\n.global .u32 b;\n"),
      "t.ptx:4: ptx_initializer: b must be a function or a variable of .global or .const above "
      "a");
  EXPECT_EQ(error(".global .u32 b;\n.global .u32 a = b;\n"),
            "t.ptx:5: ptx_initializer: address of b must be in a 64-bit element");
  EXPECT_EQ(error(".global .u32 a[2] = {1, 2;\n"), "t.ptx:4: ptx_initializer: list must be closed");
}

} // namespace
