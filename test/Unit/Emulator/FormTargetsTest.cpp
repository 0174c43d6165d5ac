//===- FormTargetsTest.cpp - scalar forms that a target or PTX lacks ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ptxas 13.5 says of each: refused for the first target, taken for the second. Forms
// of tensor memory and copies are compared in test/data/ptx-forms.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

struct Case {
  const char *instruction;
  const char *without, *label; // a target that refuses it, if any, and how the message begins
  const char *with = nullptr;  // one that takes it, where there is one
};

const Case kCases[] = {
    {"add.rn.f32x2 %rd0, %rd1, %rd2;", "sm_90a", "ptx_target", "sm_100a"},
    {"fma.rn.f32x2 %rd0, %rd1, %rd2, %rd3;", "sm_90a", "ptx_target", "sm_100a"},
    {"add.u16x2 %r0, %r1, %r2;", "sm_89", "ptx_target", "sm_90a"},
    {"min.relu.s32 %r0, %r1, %r2;", "sm_89", "ptx_target", "sm_90a"},
    {"add.sat.s32 %r0, %r1, %r2;", nullptr, "", "sm_80"},
    {"add.sat.u32 %r0, %r1, %r2;", "sm_90a", "ptx_target", "sm_107a"},
    {"add.sat.u32 %r0, %r1, %r2;", "sm_100a", "ptx_target", "sm_120a"},
    {"add.sat.u32 %r0, %r1, %r2;", "sm_103a", "ptx_target", "sm_121a"},
    {"add.sat.u32 %r0, %r1, %r2;", "sm_107", "ptx_target", "sm_107f"},
    {"add.sat.u16x2 %r0, %r1, %r2;", "sm_110a", "ptx_target", "sm_107a"},
    {"add.sat.s8x4 %r0, %r1, %r2;", "sm_100a", "ptx_target", "sm_107a"},
    {"add.u8x4 %r0, %r1, %r2;", "sm_100a", "ptx_target", "sm_120a"},
    {"sub.s8x4 %r0, %r1, %r2;", "sm_100a", "ptx_target", "sm_120a"},
    {"min.relu.s8x4 %r0, %r1, %r2;", "sm_100a", "ptx_target", "sm_107a"},
    {"neg.s8x4 %r0, %r1;", "sm_100a", "ptx_target", "sm_107a"},
    {"sub.sat.u32 %r0, %r1, %r2;", "sm_107a", "ptx_modifier"},
    {"sub.sat.s16x2 %r0, %r1, %r2;", "sm_107a", "ptx_modifier"},
    {"add.sat.u16 %h0, %h1, %h2;", "sm_107a", "ptx_modifier"},
    {"add.sat.u64 %rd0, %rd1, %rd2;", "sm_107a", "ptx_modifier"},
    {"abs.s8x4 %r0, %r1;", "sm_107a", "ptx_modifier"},
    {"min.relu.u8x4 %r0, %r1, %r2;", "sm_107a", "ptx_modifier"},
    {"mul.bf16 %h0, %h1, %h2;", "sm_89", "ptx_target", "sm_90a"},
    {"tanh.approx.bf16 %h0, %h1;", "sm_89", "ptx_target", "sm_90a"},
    {"max.xorsign.abs.f32 %f0, %f1, %f2;", "sm_80", "ptx_target", "sm_86"},
    {"max.abs.f32 %f0, %f1, %f2;", "sm_100a", "ptx_modifier"},
    {"max.abs.f32 %f0, %f1, %f2, %f3;", "sm_90a", "ptx_", "sm_100a"},
    {"cvt.f32.u32 %f0, %r1;", "sm_100a", "ptx_modifier"},
    {"cvt.f16.f32 %h0, %f1;", "sm_100a", "ptx_modifier"},
    {"cvt.rn.f32.f16 %f0, %h1;", "sm_100a", "ptx_modifier"},
    {"cvt.rzi.u32.u32 %r0, %r1;", "sm_100a", "ptx_modifier"},
    {"cvt.rn.bf16.u32 %h0, %r1;", "sm_89", "ptx_target", "sm_90a"},
    {"cvt.rn.tf32.f32 %r0, %f1;", "sm_89", "ptx_target", "sm_90a"},
    {"cvt.rn.satfinite.tf32.f32 %r0, %f1;", "sm_90a", "ptx_target", "sm_100a"},
    {"cvt.rn.satfinite.e4m3x2.bf16x2 %h0, %r1;", "sm_90a", "ptx_target", "sm_100a"},
    {"ld.global.v4.b64 {%rd0, %rd1, %rd2, %rd3}, [%in];", "sm_90a", "ptx_target", "sm_100a"},
    {"ld.local.v4.b64 {%rd0, %rd1, %rd2, %rd3}, [%r0];", "sm_100a", "ptx_vector"},
    {"ld.global.L2::evict_first.u32 %r0, [%in];", "sm_100a", "ptx_modifier"},
    {"ld.global.L1::no_allocate.L2::evict_last.v4.b64 {%rd0, %rd1, %rd2, %rd3}, [%in];", "sm_90a",
     "ptx_target", "sm_100a"},
    {"atom.global.inc.u64 %rd0, [%in], %rd1;", "sm_100a", "ptx_modifier"},
    {"atom.global.min.f32 %f0, [%in], %f1;", "sm_100a", "ptx_modifier"},
    {"atom.global.add.b32 %r0, [%in], %r1;", "sm_100a", "ptx_modifier"},
    {"atom.global.and.u32 %r0, [%in], %r1;", "sm_100a", "ptx_modifier"},
    {"atom.global.exch.u32 %r0, [%in], %r1;", "sm_100a", "ptx_modifier"},
    {"red.global.add.s64 [%in], %rd1;", "sm_100a", "ptx_modifier"},
    {"red.global.add.v2.f32 [%in], {%f0, %f1};", "sm_89", "ptx_target", "sm_90a"},
    {"atom.global.add.noftz.bf16 %h0, [%in], %h1;", "sm_89", "ptx_target", "sm_90a"},
    {"ld.relaxed.cluster.global.u32 %r0, [%in];", "sm_89", "ptx_target", "sm_90a"},
    {"ld.shared::cluster.u32 %r0, [1024];", "sm_89", "ptx_target", "sm_90a"},
    {"mapa.shared::cluster.u32 %r0, %r1, %r2;", "sm_89", "ptx_target", "sm_90a"},
    {"elect.sync %r0|%p0, -1;", "sm_89", "ptx_target", "sm_90a"},
    {"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;", "sm_89", "ptx_target",
     "sm_90a"},
    {"fence.acquire.gpu;", "sm_89", "ptx_target", "sm_90a"},
    {"fence.proxy.async;", "sm_89", "ptx_target", "sm_90a"},
    {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%in], [1024], 16, %h0;", "sm_90a",
     "ptx_target", "sm_100a"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%in], [1024], 16;", "sm_100a",
     "ptx_modifier"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%in], [1024], 16;", "sm_100a",
     "ptx_modifier"},
    {"cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
     "[%in, {%r0, %r0, %r0, %r0, %r0}], [1024];",
     "sm_120a", "ptx_target", "sm_100f"},
    {"cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
     "[1024], [%in, {%r0, %r0, %r0, %r0, %r0}], [0];",
     "sm_90a", "ptx_target", "sm_120f"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes "
     "[1024], [%in, {%r0, %r0, %r0, %r0, %r0}], [0];",
     "sm_120a", "ptx_target", "sm_100f"},
    {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%in, {%r0, %r0, %r0, %r0, %r0}];",
     "sm_100", "ptx_target", "sm_100a"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
     ".cta_group::2 [1024], [%in, {%r0, %r0}], [0];",
     "sm_120a", "ptx_target", "sm_110f"},
    {"tensormap.replace.tile.global_address.global.b1024.b64 [%in], %rd0;", "sm_100", "ptx_target",
     "sm_90a"},
    {"mov.u32 %r0, %cluster_ctarank;", "sm_89", "ptx_target", "sm_90a"},
    {"mov.pred %p0, %is_explicit_cluster;", "sm_89", "ptx_target", "sm_90a"},
    {"lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x3f, %p1;", "sm_100a", "ptx_unexecuted"},
    {"mov.u32 %r0, %pm0;", "sm_100a", "ptx_unexecuted"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
     "[%in];",
     "sm_100a", "ptx_unexecuted"},
    {"multimem.ld_reduce.relaxed.sys.global.add.u32 %r0, [%in];", "sm_100a", "ptx_unexecuted"},
    {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%in, {%f4, %f5}];", "sm_100a", "ptx_unexecuted"},
    {"vadd.s32.u32.s32.sat %r0, %r1.b0, %r2.h1;", "sm_100a", "ptx_unexecuted"},
    {"vadd4.s32.u32.s32 %r0.b3210, %r1, %r2, %r3;", "sm_100a", "ptx_unexecuted"},
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.instruction; }

class FormTargets : public ::testing::TestWithParam<Case> {};

std::string loaded(const Case &c, const char *target) {
  auto device = makeDevice(unchecked());
  auto module = load(*device, kernel(c.instruction, target), "t.ptx");
  return module ? std::string() : module.message();
}

TEST_P(FormTargets, AreRefusedByThoseThatLackThem) {
  const Case &c = GetParam();
  if (c.without) {
    const std::string refusal = loaded(c, c.without);
    EXPECT_EQ(refusal.find(std::string("t.ptx:8: ") + c.label), 0u) << refusal;
    EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
  }
  if (c.with)
    EXPECT_EQ(loaded(c, c.with), "");
}
INSTANTIATE_TEST_SUITE_P(All, FormTargets, ::testing::ValuesIn(kCases));

} // namespace
