//===- ReadOnlyTest.cpp - memory that a kernel only reads -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes of every kind to .const variables and to parameters of a kernel, by generic or
// global addresses; reads of them stay right.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *const kVariables = ".const .align 128 .b32 c[64] = {7, 8, 9};\n"
                               ".shared .align 128 .b8 box[256];\n";

std::string errorOf(const std::string &body, const char *target = "sm_100a") {
  return run(kernel("mov.u64 %rd1, c; cvta.const.u64 %rd2, %rd1; mov.u64 %rd3, 0;\n" + body, target,
                    kVariables))
      .error;
}

TEST(ReadOnly, ConstantVariables) {
  for (const char *write : {
           "st.u32 [%rd2], 7;",
           "st.global.u32 [%rd1+4], 7;",
           "st.u8 [%rd2+255], 1;",
           "st.v2.b32 [%rd2], {%r0, %r1};",
           "st.release.gpu.global.b64 [%rd1], %rd3;",
           "atom.global.add.u32 %r0, [%rd1], 0;",
           "atom.cas.b32 %r0, [%rd2], 3, 4;",
           "atom.global.exch.b128 %x0, [%rd1], %x0;",
           "red.global.or.b32 [%rd1+8], 1;",
           "red.global.add.v2.f32 [%rd1], {%f0, %f1};",
           "red.global.add.noftz.f16x2 [%rd1], %r0;",
           "red.async.relaxed.gpu.global.add.u32 [%rd1], %r0;",
           "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [box], 16;",
           "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [box], 16;",
           "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd3;",
           // The last access was right, and to the same allocation.
           "ld.global.u32 %r0, [%rd1]; st.u32 [%rd2], %r0;",
           "mul.wide.u32 %rd4, %t, 4; add.u64 %rd4, %rd4, %rd1; ld.global.u32 %r0, [%rd4]; "
           "st.global.u32 [%rd4], %r0;",
       }) {
    const std::string error = errorOf(".reg .b128 %x<1>;" + std::string(write));
    EXPECT_EQ(error.rfind("t.ptx:11: mem_const: write of ", 0), 0u) << write << "\n" << error;
    EXPECT_NE(error.find(" bytes must not go to a .const variable, got 0x"), std::string::npos)
        << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST(ReadOnly, ParametersOfAKernel) {
  EXPECT_EQ(
      errorOf("mov.u64 %rd4, in; cvta.param.u64 %rd4, %rd4; st.u64 [%rd4], %rd3;")
          .rfind("t.ptx:11: mem_param: parameters of a kernel must not be written, got 0x", 0),
      0u);
}

TEST(ReadOnly, AreRead) {
  Ran r = run(kernel("mov.u64 %rd1, c; cvta.const.u64 %rd2, %rd1; ld.u32 %r0, [%rd2+4];\n"
                     "ld.global.u32 %r1, [%rd1+8]; ld.const.u32 %r2, [c]; mad.lo.u32 %r0, %r0, 10, "
                     "%r1; mad.lo.u32 %r0, %r0, 10, %r2; st.global.u32 [%po], %r0;",
                     "sm_100a", kVariables));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[5], 897u);
}

} // namespace
