//===- ScalarTest.cpp - scalar instructions against hand-computed values --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

struct Case {
  const char *name;
  const char *body;  // leaves the result in %r0
  uint32_t expected; // of thread 5
};

std::string vars() {
  return ".const .align 4 .u32 table[2] = {11, 22};\n.global .align 4 .u32 counter = 41;\n.shared "
         ".align 4 .b8 buf[64];\n";
}

class Scalar : public ::testing::TestWithParam<Case> {};

TEST_P(Scalar, Value) {
  Ran r =
      run(kernel(std::string(GetParam().body) + "\nst.global.b32 [%po], %r0;", "sm_100a", vars()));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[5], GetParam().expected);
}

const Case kCases[] = {
    {"AddWraps", "add.s32 %r0, %t, -6;", 0xFFFFFFFF},
    {"AddSat", "add.sat.s32 %r0, 0x7FFFFFFF, %t;", 0x7FFFFFFF},
    {"Sub16", "cvt.u16.u32 %h0, %t; sub.s16 %h1, 3, %h0; cvt.u32.u16 %r0, %h1;", 0xFFFE},
    {"MulLo", "mul.lo.s32 %r0, 0x10001, 0x10001;", 0x20001},
    {"MulHiSigned", "mul.hi.s32 %r0, -2, 3;", 0xFFFFFFFF},
    {"MulHiUnsigned", "mul.hi.u32 %r0, 0xFFFFFFFE, 3;", 2},
    {"MulWide", "mul.wide.s32 %rd0, -2, %t; shr.u64 %rd0, %rd0, 32; cvt.u32.u64 %r0, %rd0;",
     0xFFFFFFFF},
    {"MadWide",
     "mad.wide.u32 %rd0, 0x80000000, 4, 7; shr.u64 %rd0, %rd0, 1; cvt.u32.u64 %r0, %rd0;", 3},
    {"MadHi64",
     "mov.b64 %rd0, 0x8000000000000000; mul.hi.u64 %rd1, %rd0, 6; cvt.u32.u64 %r0, %rd1;", 3},
    {"DivSigned", "div.s32 %r0, -17, %t;", uint32_t(-3)},
    {"RemSigned", "rem.s32 %r0, -17, %t;", uint32_t(-2)},
    {"DivUnsigned", "div.u32 %r0, 0xFFFFFFFF, %t;", 0x33333333},
    {"MinMax", "min.s32 %r1, -1, %t; max.u32 %r0, %r1, %t;", 0xFFFFFFFF},
    {"AbsNeg", "neg.s32 %r1, %t; abs.s32 %r0, %r1;", 5},
    {"ShlClamp", "shl.b32 %r0, 1, 32;", 0},
    {"ShrSignedClamp", "shr.s32 %r0, 0x80000000, 99;", 0xFFFFFFFF},
    {"Shr64", "mov.b64 %rd0, 0x123456789ABCDEF0; shr.u64 %rd0, %rd0, 36; cvt.u32.u64 %r0, %rd0;",
     0x1234567},
    {"BfeUnsigned", "bfe.u32 %r0, 0xABCD1234, 8, 12;", 0xD12},
    {"BfeSigned", "bfe.s32 %r0, 0x00000F00, 8, 4;", 0xFFFFFFFF},
    {"Bfi", "bfi.b32 %r0, 0xF, 0, 8, 4;", 0xF00},
    {"Prmt", "prmt.b32 %r0, 0x33221100, 0x77665544, 0x7531;", 0x77553311},
    {"PrmtSign", "prmt.b32 %r0, 0x80, 0, 0x8888;", 0xFFFFFFFF},
    {"Lop3", "lop3.b32 %r0, 0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA, 0x96;",
     0xF0F0F0F0 ^ 0xCCCCCCCC ^ 0xAAAAAAAA},
    {"ShfLeft", "shf.l.wrap.b32 %r0, 0x80000001, 0x2, 33;", 5},
    {"Popc", "popc.b32 %r0, 0xF0F1;", 9},
    {"Clz64", "mov.b64 %rd0, 1; clz.b64 %r0, %rd0;", 63},
    {"Brev", "brev.b32 %r0, 1;", 0x80000000},
    {"Bfind", "bfind.u32 %r0, 0x100;", 8},
    {"Fns", "fns.b32 %r0, 0x88, 0, 2;", 7},
    {"SetpAnd",
     "setp.gt.s32 %p0, %t, 3; setp.lt.and.s32 %p1, %t, 10, %p0; selp.b32 %r0, 7, 9, %p1;", 7},
    {"SetpPair", "setp.eq.s32 %p0|%p1, %t, 5; selp.b32 %r0, 1, 0, %p1;", 0},
    {"SetpUnordered",
     "mov.b32 %f0, 0f7FC00000; setp.ltu.f32 %p0, %f0, 0f3F800000; selp.b32 %r0, 1, 0, %p0;", 1},
    {"SetpOrdered",
     "mov.b32 %f0, 0f7FC00000; setp.ne.f32 %p0, %f0, 0f3F800000; selp.b32 %r0, 1, 0, %p0;", 0},
    {"SelpNegated", "setp.eq.s32 %p0, %t, 5; selp.b32 %r0, 1, 2, !%p0;", 2},
    {"PredLogic",
     "setp.eq.s32 %p0, %t, 5; not.pred %p1, %p0; xor.pred %p2, %p0, %p1; selp.b32 %r0, 1, 2, %p2;",
     1},
    {"AddF32", "add.f32 %f0, 0f3F800000, 0f40000000; mov.b32 %r0, %f0;", 0x40400000},
    {"NanIsCanonical", "mov.b32 %f0, 0fFFC12345; add.f32 %f0, %f0, %f0; mov.b32 %r0, %f0;",
     0x7FFFFFFF},
    {"FtzFlushes", "mul.ftz.f32 %f0, 0f00800000, 0f3F000000; mov.b32 %r0, %f0;", 0},
    {"NoFtzKeeps", "mul.f32 %f0, 0f00800000, 0f3F000000; mov.b32 %r0, %f0;", 0x00400000},
    {"Saturate", "add.sat.f32 %f0, 0f40000000, 0f40000000; mov.b32 %r0, %f0;", 0x3F800000},
    {"FmaIsFused", "fma.rn.f32 %f0, 0f3F800001, 0f3F800001, 0fBF800002; mov.b32 %r0, %f0;",
     0x28800000},
    {"MinNanPropagates",
     "mov.b32 %f0, 0f7FC00000; min.NaN.f32 %f1, %f0, 0f3F800000; mov.b32 %r0, %f1;", 0x7FFFFFFF},
    {"MinIgnoresNan", "mov.b32 %f0, 0f7FC00000; min.f32 %f1, %f0, 0f3F800000; mov.b32 %r0, %f1;",
     0x3F800000},
    {"MinZeros", "min.f32 %f1, 0f00000000, 0f80000000; mov.b32 %r0, %f1;", 0x80000000},
    {"XorsignAbs", "max.xorsign.abs.f32 %f1, 0fC0000000, 0f3F800000; mov.b32 %r0, %f1;",
     0xC0000000},
    {"Rcp", "rcp.approx.ftz.f32 %f1, 0f40800000; mov.b32 %r0, %f1;", 0x3E800000},
    {"Ex2", "ex2.approx.ftz.f32 %f1, 0f40400000; mov.b32 %r0, %f1;", 0x41000000},
    {"F32x2",
     "mov.b64 %rd0, {0f3F800000, 0f40000000}; fma.rn.f32x2 %rd1, %rd0, %rd0, %rd0; mov.b64 {%r1, "
     "%r0}, %rd1;",
     0x40C00000},
    // 16-bit sources beside one of f32: 1 + 2^-25, 1 - 2^-26, 1 * 1 + 2^-25 by each rounding.
    {"AddMixed", "mov.b16 %h0, 0x3C00; add.f32.f16 %f0, %h0, 0f40000000; mov.b32 %r0, %f0;",
     0x40400000},
    {"AddMixedRn", "mov.b16 %h0, 0x3C00; add.rn.f32.f16 %f0, %h0, 0f33000000; mov.b32 %r0, %f0;",
     0x3F800000},
    {"AddMixedRz", "mov.b16 %h0, 0xBF80; add.rz.f32.bf16 %f0, %h0, 0f33000000; mov.b32 %r0, %f0;",
     0xBF7FFFFF},
    {"AddMixedRm", "mov.b16 %h0, 0xBF80; add.rm.f32.bf16 %f0, %h0, 0fB3000000; mov.b32 %r0, %f0;",
     0xBF800001},
    {"AddMixedRp", "mov.b16 %h0, 0x3C00; add.rp.f32.f16 %f0, %h0, 0f33000000; mov.b32 %r0, %f0;",
     0x3F800001},
    {"AddMixedSat", "mov.b16 %h0, 0x3C00; add.sat.f32.f16 %f0, %h0, 0f40000000; mov.b32 %r0, %f0;",
     0x3F800000},
    {"SubMixed", "mov.b16 %h0, 0x4000; sub.f32.bf16 %f0, %h0, 0f40400000; mov.b32 %r0, %f0;",
     0xBF800000},
    {"SubMixedRn", "mov.b16 %h0, 0x3F80; sub.rn.f32.bf16 %f0, %h0, 0f32800000; mov.b32 %r0, %f0;",
     0x3F800000},
    {"SubMixedRz", "mov.b16 %h0, 0x3C00; sub.rz.f32.f16 %f0, %h0, 0f32800000; mov.b32 %r0, %f0;",
     0x3F7FFFFF},
    {"SubMixedRm", "mov.b16 %h0, 0x3F80; sub.rm.f32.bf16 %f0, %h0, 0f32800000; mov.b32 %r0, %f0;",
     0x3F7FFFFF},
    {"SubMixedRp", "mov.b16 %h0, 0xBC00; sub.rp.f32.f16 %f0, %h0, 0f33000000; mov.b32 %r0, %f0;",
     0xBF800000},
    {"SubMixedSat", "mov.b16 %h0, 0x4200; sub.sat.f32.f16 %f0, %h0, 0f3F800000; mov.b32 %r0, %f0;",
     0x3F800000},
    {"FmaMixedRn",
     "mov.b16 %h0, 0x4000; mov.b16 %h1, 0x4040; fma.rn.f32.bf16 %f0, %h0, %h1, 0f3F800000; mov.b32 "
     "%r0, %f0;",
     0x40E00000},
    {"FmaMixedRz",
     "mov.b16 %h0, 0x3C00; fma.rz.f32.f16 %f0, %h0, %h0, 0fB2800000; mov.b32 %r0, %f0;",
     0x3F7FFFFF},
    {"FmaMixedRm",
     "mov.b16 %h0, 0x3C00; fma.rm.f32.f16 %f0, %h0, %h0, 0fB2800000; mov.b32 %r0, %f0;",
     0x3F7FFFFF},
    {"FmaMixedRp",
     "mov.b16 %h0, 0x3F80; fma.rp.f32.bf16 %f0, %h0, %h0, 0f33000000; mov.b32 %r0, %f0;",
     0x3F800001},
    {"FmaMixedSat",
     "mov.b16 %h0, 0x4000; fma.rn.sat.f32.f16 %f0, %h0, %h0, 0f3F800000; mov.b32 %r0, %f0;",
     0x3F800000},
    {"CvtRni", "cvt.rni.s32.f32 %r0, 0f40200000;", 2},
    {"CvtRzi", "cvt.rzi.s32.f32 %r0, 0fC0200000;", 0xFFFFFFFE},
    {"CvtSaturates", "cvt.rzi.u32.f32 %r0, 0fC0200000;", 0},
    {"CvtNan", "cvt.rzi.s32.f32 %r0, 0f7FC00000;", 0},
    {"CvtS8", "cvt.s32.s8 %r0, 0x80;", 0xFFFFFF80},
    {"CvtS8FromRegister", "mov.b32 %r1, 0x1FF; cvt.s32.s8 %r0, %r1;", 0xFFFFFFFF},
    {"CvtFromU64", "mov.b64 %rd0, 0xFFFFFFFFFFFFFFFF; cvt.rn.f32.u64 %f0, %rd0; mov.b32 %r0, %f0;",
     0x5F800000},
    {"CvtBf16x2", "cvt.rn.bf16x2.f32 %r0, 0f3F800000, 0fC0000000;", 0x3F80C000},
    {"CvtBf16TiesToEven",
     "mov.b32 %f0, 0f3F808000; cvt.rn.bf16.f32 %h0, %f0; cvt.u32.u16 %r0, %h0;", 0x3F80},
    {"CvtF16", "mov.b32 %f0, 0f477FF000; cvt.rn.f16.f32 %h0, %f0; cvt.u32.u16 %r0, %h0;", 0x7C00},
    {"CvtF16Up", "mov.b16 %h0, 0x3C00; cvt.f32.f16 %f0, %h0; mov.b32 %r0, %f0;", 0x3F800000},
    {"CvtE4m3", "cvt.rn.satfinite.e4m3x2.f32 %h0, 0f43E00000, 0f3F800000; cvt.u32.u16 %r0, %h0;",
     0x7E38},
    {"CvtUe8m0", "cvt.rp.satfinite.ue8m0x2.f32 %h0, 0f3F800001, 0f3F800000; cvt.u32.u16 %r0, %h0;",
     0x807F},
    {"BfMul", "mul.bf16x2 %r0, 0x40003F80, 0x40403F80;", 0x40C03F80},
    {"HalfFmaRoundsOnce",
     "mov.b16 %h0, 0x3C01; fma.rn.f16 %h1, %h0, %h0, 0x0001; cvt.u32.u16 %r0, %h1;", 0x3C02},
    {"Isspacep", "cvta.shared.u64 %rd0, 1024; isspacep.shared %p0, %rd0; selp.b32 %r0, 1, 0, %p0;",
     1},
    // A constant is not global: its window lies in the global one, and only isspacep.const says so.
    {"IsspacepOfAConstant",
     "{ .reg .b64 %c; mov.u64 %c, table; cvta.const.u64 %c, %c; isspacep.global %p0, %c;\n"
     "isspacep.const %p1, %c; isspacep.const %p2, %in; add.u64 %c, %c, 8; isspacep.const %p3, %c;\n"
     "selp.b32 %r0, 1, 0, %p0; selp.b32 %r1, 2, 0, %p1; selp.b32 %r2, 4, 0, %p2;\n"
     "selp.b32 %r3, 8, 0, %p3; or.b32 %r0, %r0, %r1; or.b32 %r0, %r0, %r2; or.b32 %r0, %r0, %r3; }",
     2},
    {"MovUnpack16", "mov.b32 %r1, 0x12345678; mov.b32 {%h0, %h1}, %r1; cvt.u32.u16 %r0, %h1;",
     0x1234},
    {"Local",
     "{ .local .align 8 .b8 depot[64]; .reg .b64 %sp; mov.u64 %sp, depot; cvta.local.u64 %sp, %sp; "
     "st.u32 [%sp+8], %t; ld.u32 %r0, [%sp+8]; }",
     5},
    {"ScopeShadows", "mov.u32 %r0, 3; { .reg .b32 %r0; mov.u32 %r0, 9; } add.u32 %r0, %r0, %t;", 8},
    {"ShflIdx", "shfl.sync.idx.b32 %r0, %t, 31, 31, -1;", 31},
    {"ShflUp", "shfl.sync.up.b32 %r0|%p0, %t, 2, 0, -1;", 3},
    {"ShflBfly", "shfl.sync.bfly.b32 %r0, %t, 1, 31, -1;", 4},
    {"Ballot", "setp.lt.u32 %p0, %t, 6; vote.sync.ballot.b32 %r0, %p0, -1;", 0x3F},
    {"VoteAny",
     "setp.eq.u32 %p0, %t, 30; vote.sync.any.pred %p1, %p0, -1; selp.b32 %r0, 1, 0, %p1;", 1},
    {"Redux", "redux.sync.add.s32 %r0, %t, -1;", 496},
    {"Elect", "elect.sync %r1|%p0, -1; selp.b32 %r2, 1, 0, %p0; redux.sync.add.s32 %r0, %r2, -1;",
     1},
    {"AtomShared",
     "mov.u32 %r1, 1024; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [buf], 0; bar.sync 0; "
     "atom.shared.add.u32 %r2, [buf], 2; bar.sync 0; ld.shared.u32 %r0, [buf];",
     64},
    {"AtomCas",
     "bar.sync 0; atom.global.cas.b32 %r1, [%po], 0xAAAAAAAA, 77; ld.global.u32 %r0, [%po];", 77},
    {"RedF32",
     "st.global.f32 [%po], 0f3F800000; red.global.add.f32 [%po], 0f40000000; ld.global.u32 %r0, "
     "[%po];",
     0x40400000},
    {"LaneMask", "mov.u32 %r0, %lanemask_lt;", 0x1F},
    {"Const", "ld.const.u32 %r0, [table+4];", 22},
    {"GlobalVariable", "mov.u64 %rd0, counter; ld.global.u32 %r0, [%rd0];", 41},
};

INSTANTIATE_TEST_SUITE_P(All, Scalar, ::testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

/// The cases that need no other lane.
std::vector<Case> casesOfOneLane() {
  std::vector<Case> list;
  for (const Case &c : kCases)
    if (std::string(c.body).find("sync") == std::string::npos)
      list.push_back(c);
  return list;
}

class LoneLane : public Scalar {};

TEST_P(LoneLane, Value) {
  // Thread 5 alone: every masked loop.
  Ran r = run(kernel(std::string("setp.ne.u32 %p7, %t, 5; @%p7 bra END;\n") + GetParam().body +
                         "\nst.global.b32 [%po], %r0;\nEND:",
                     "sm_100a", vars()));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[5], GetParam().expected);
  EXPECT_EQ(r.out[4], 0xAAAAAAAA);
}

INSTANTIATE_TEST_SUITE_P(All, LoneLane, ::testing::ValuesIn(casesOfOneLane()),
                         [](const auto &info) { return info.param.name; });

/// True where the launch or the kernel asks for clusters.
TEST(SpecialRegister, IsExplicitCluster) {
  const std::string body = "mov.pred %p1, %is_explicit_cluster; selp.b32 %r0, 1, 2, %p1;\n"
                           "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 32, %t;\n"
                           "mad.wide.u32 %po, %r1, 4, %out; st.global.b32 [%po], %r0;";
  auto first = [&](Dim3 cluster, const std::string &directive) {
    Scene s;
    s.grid = {2, 1, 1};
    s.cluster = cluster;
    std::string text = kernel(body);
    text.insert(text.find("{\n"), directive);
    Ran r = run(text, s);
    EXPECT_EQ(r.error, "");
    EXPECT_EQ(r.out[0], r.out[63]);
    return r.out[0];
  };
  EXPECT_EQ(first({1, 1, 1}, ""), 2u);
  EXPECT_EQ(first({2, 1, 1}, ""), 1u);
  EXPECT_EQ(first({1, 1, 1}, ".reqnctapercluster 1, 1, 1\n"), 1u);
}

} // namespace
