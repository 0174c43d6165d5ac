//===- ParamAddressTest.cpp - addresses of parameters ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compilers with short pointers keep the address of a parameter in 32 bits, read
// through it, and widen it for cvta.param.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

/// Stores the address in %in, read in the way of `read`, in two words.
Ran readBack(const std::string &read) {
  return run(kernel("mov.b64 %rd9, 0;" + read +
                    "xor.b64 %rd9, %rd9, %in; cvt.u32.u64 %r0, %rd9; shr.u64 %rd9, %rd9, 32;\n"
                    "cvt.u32.u64 %r1, %rd9; or.b32 %r0, %r0, %r1; st.global.b32 [%po], %r0;"));
}

TEST(ParamAddress, ThirtyTwoBits) {
  Ran r = readBack("mov.b32 %r0, in; ld.param.b64 %rd9, [%r0];");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[3], 0u);
  r = readBack("mov.b32 %r0, out; ld.param.b64 %rd9, [%r0+-8];");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[3], 0u);
}

TEST(ParamAddress, WidenedAndGeneric) {
  Ran r = readBack(
      "mov.b32 %r0, in; cvt.u64.u32 %rd0, %r0; cvta.param.u64 %rd1, %rd0; ld.b64 %rd9, [%rd1];");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[3], 0u);
  r = readBack("mov.b64 %rd0, in; cvta.param.u64 %rd1, %rd0; ld.b64 %rd9, [%rd1];");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[3], 0u);
}

TEST(ParamAddress, BeyondTheLast) {
  Ran r = readBack("mov.b32 %r0, out; ld.param.b64 %rd9, [%r0+8];");
  EXPECT_NE(r.error.find("mem_param"), std::string::npos) << r.error;
}

} // namespace
