//===- LanesTest.cpp - all lanes at once against lane by lane -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions of each template of Lanes.h, and the handlers beside them that are
// vectors over whole warps: executed by all lanes they must give what each lane gives
// when only some of them execute.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <random>

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

/// Instructions; results are in %rd0, or in %r0 or %p0 where they begin so.
const char *const kInstructions[] = {
    "not.b32 %r0, %r1;",
    "abs.s32 %r0, %r1;",
    "neg.s64 %rd0, %rd1;",
    "popc.b64 %r0, %rd1;",
    "clz.b32 %r0, %r1;",
    "add.s32 %r0, %r1, %r2;",
    "sub.s64 %rd0, %rd1, %rd2;",
    "add.sat.s32 %r0, %r1, %r2;",
    "mul.hi.s32 %r0, %r1, %r2;",
    "mul.wide.u32 %rd0, %r1, %r2;",
    "div.s32 %r0, %r1, %r4;",
    "rem.u64 %rd0, %rd1, %rd2;",
    "min.s64 %rd0, %rd1, %rd2;",
    "max.s16x2 %r0, %r1, %r2;",
    "xor.b64 %rd0, %rd1, %rd2;",
    "mad.lo.s32 %r0, %r1, %r2, %r3;",
    "mad.wide.s32 %rd0, %r1, %r2, %rd1;",
    "sad.u32 %r0, %r1, %r2, %r3;",
    "prmt.b32 %r0, %r1, %r2, %r3;",
    "shf.l.wrap.b32 %r0, %r1, %r2, %r3;",
    "shl.b32 %r0, %r1, 3;",
    "shl.b64 %rd0, %rd1, %r4;",
    "shr.s32 %r0, %r1, %r4;",
    "shr.u32 %r0, %r1, 77;",
    "add.f32 %r0, %r1, %r2;",
    "mul.ftz.f32 %r0, %r1, %r2;",
    "min.NaN.f32 %r0, %r1, %r2;",
    "fma.rn.f32 %r0, %r1, %r2, %r3;",
    "fma.rn.ftz.sat.f32 %r0, %r1, %r2, %r3;",
    "add.rn.f32x2 %rd0, %rd1, %rd2;",
    "fma.rn.f32x2 %rd0, %rd1, %rd2, %rd3;",
    "add.f64 %rd0, %rd1, %rd2;",
    "fma.rn.f64 %rd0, %rd1, %rd2, %rd3;",
    "add.f16x2 %r0, %r1, %r2;",
    "fma.rn.f16x2 %r0, %r1, %r2, %r3;",
    "fma.rn.bf16x2 %r0, %r1, %r2, %r3;",
    "sqrt.rn.f32 %r0, %r1;",
    "rcp.approx.ftz.f32 %r0, %r1;",
    "ex2.approx.f32 %r0, %r1;",
    "tanh.approx.f32 %r0, %r1;",
    "div.approx.f32 %r0, %r1, %r2;",
    "cvt.s64.s32 %rd0, %r1;",
    "cvt.u32.u64 %r0, %rd1;",
    "mov.b64 %rd0, {%r1, %r2};",
    "cvt.rn.bf16x2.f32 %r0, %r1, %r2;",
    "selp.b32 %r0, %r1, %r2, %p2;",
    "selp.b64 %rd0, %rd1, %rd2, %p2;",
    "setp.lt.s32 %p0, %r1, %r2;",
    "setp.gtu.f32 %p0, %r1, %r2;",
    "setp.ge.u64 %p0, %rd1, %rd2;",
    "set.ne.u32.u32 %r0, %r1, %r2;",
};

/// `instruction` by lanes that `guards` name, one guard after the other.
std::string body(const std::string &instruction, std::initializer_list<const char *> guards) {
  std::string text = "ld.global.b32 %r1, [%pi]; ld.global.b32 %r2, [%pi+128];\n"
                     "xor.b32 %r3, %r1, %r2; and.b32 %r4, %r2, 63;\n"
                     "mov.b64 %rd1, {%r1, %r2}; mov.b64 %rd2, {%r3, %r1};\n"
                     "mov.b64 %rd3, {%r2, %r3};\n"
                     "mul.lo.u32 %r5, %t, 0x9E3779B9; setp.lt.s32 %p1, %r5, 0;\n"
                     "setp.gt.s32 %p2, %r3, 0; setp.ne.u32 %p0, %t, %t;\n"
                     "mov.b64 %rd0, 0; mov.b32 %r0, 0;\n";
  for (const char *guard : guards)
    text += std::string(guard) + " " + instruction + "\n";
  return text + "selp.b32 %r6, 1, 0, %p0; add.u32 %r0, %r0, %r6;\n"
                "mov.b64 {%r7, %r8}, %rd0;\n"
                "st.global.b32 [%po], %r0; st.global.b32 [%po+128], %r7;\n"
                "st.global.b32 [%po+256], %r8;\n";
}

/// Random bits with what arithmetic treats apart among them.
std::vector<uint32_t> words(unsigned seed) {
  std::mt19937 random(seed);
  const uint32_t special[] = {0,          0x80000000, 0x7F800000, 0xFF800000, 0x7FC00001,
                              0x00000001, 0x807FFFFF, 0x00800000, 0x3F800000, 0xFFFFFFFF};
  std::vector<uint32_t> out(64);
  for (uint32_t &w : out)
    w = random() % 4 == 0 ? special[random() % std::size(special)] : uint32_t(random());
  return out;
}

class Lanes : public ::testing::TestWithParam<const char *> {};

TEST_P(Lanes, TogetherAsApart) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    Scene s;
    s.in = words(seed);
    Ran together = run(kernel(body(GetParam(), {""})), s);
    Ran apart = run(kernel(body(GetParam(), {"@%p1", "@!%p1"})), s);
    ASSERT_EQ(together.error, "");
    ASSERT_EQ(apart.error, "");
    EXPECT_EQ(together.out, apart.out);
  }
}

INSTANTIATE_TEST_SUITE_P(Instructions, Lanes, ::testing::ValuesIn(kInstructions));

} // namespace
