//===- IDescRefusalTest.cpp - what is one step off legal ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One test for each rule idesc_c1 ... idesc_c14, with the whole message: verifiers
// and the emulator show it as it is. Words are written by hand.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/DescriptorView.h"
#include "blockscale/Facts/IDesc.h"

#include <gtest/gtest.h>

using namespace blockscale::facts;

namespace {

IDesc mxf8(int m, int n, int k) {
  return {.kind = MmaKind::mxf8f6f4,
          .a = Format::e4m3,
          .b = Format::e4m3,
          .scale = ScaleFormat::ue8m0,
          .block = 32,
          .m = m,
          .n = n,
          .k = k};
}
IDesc nvfp4(int m, int n, int k) {
  return {.kind = MmaKind::mxf4nvf4,
          .a = Format::e2m1,
          .b = Format::e2m1,
          .scale = ScaleFormat::ue4m3,
          .block = 16,
          .m = m,
          .n = n,
          .k = k};
}
IDesc f8f6f4(int m, int n, int k) {
  return {.kind = MmaKind::f8f6f4, .a = Format::e4m3, .b = Format::e4m3, .m = m, .n = n, .k = k};
}
template <typename Change> IDesc with(IDesc desc, Change change) {
  change(desc);
  return desc;
}

std::string encodeError(Arch arch, const IDesc &desc) { return encodeIDesc(arch, desc).message(); }
std::string decodeError(Arch arch, MmaKind kind, int block, uint32_t word) {
  return decodeIDesc(arch, kind, block, word).message();
}

TEST(IDescRefusal, C1Target) {
  EXPECT_EQ(encodeError(Arch::sm_90a, nvfp4(128, 128, 64)),
            "idesc_c1: target of kind mxf4nvf4 must be one of sm_100a, sm_100f, sm_103a, sm_103f, "
            "sm_107a, sm_107f, sm_110a, sm_110f, got sm_90a");
  EXPECT_NE(encodeError(Arch::sm_120a, nvfp4(128, 128, 64)), "");
  EXPECT_EQ(encodeError(Arch::sm_100a,
                        with(nvfp4(128, 128, 64), [](IDesc &d) { d.kind = MmaKind::tf32; })),
            "idesc_c1: kind must be one of mxf8f6f4, mxf4, mxf4nvf4, f8f6f4, f16, got tf32");
}

TEST(IDescRefusal, C2C3Types) {
  EXPECT_EQ(
      encodeError(Arch::sm_100a, with(nvfp4(128, 128, 64), [](IDesc &d) { d.a = Format::e4m3; })),
      "idesc_c2: type of A in mxf4nvf4 must be e2m1, got e4m3");
  EXPECT_EQ(
      encodeError(Arch::sm_100a, with(mxf8(128, 128, 32), [](IDesc &d) { d.b = Format::bf16; })),
      "idesc_c3: type of B in mxf8f6f4 must be one of e4m3, e5m2, e2m3, e3m2, e2m1, got bf16");
}

TEST(IDescRefusal, C4Block) {
  EXPECT_EQ(encodeError(Arch::sm_100a, with(nvfp4(128, 128, 64), [](IDesc &d) { d.block = 64; })),
            "idesc_c4: block of mxf4nvf4 must be one of 16, 32, got 64");
  EXPECT_EQ(encodeError(Arch::sm_100a, with(mxf8(128, 128, 32), [](IDesc &d) { d.block = 16; })),
            "idesc_c4: block of mxf8f6f4 must be 32, got 16");
}

TEST(IDescRefusal, C5Scale) {
  auto ue5m3 = [](IDesc &d) { d.scale = ScaleFormat::ue5m3; };
  EXPECT_EQ(encodeError(Arch::sm_100a, with(nvfp4(128, 128, 64), ue5m3)),
            "idesc_c5: scale type of mxf4nvf4 with block 16 on sm_100a must be one of ue8m0, "
            "ue4m3, got ue5m3");
  EXPECT_NE(encodeError(Arch::sm_103a, with(nvfp4(128, 128, 64), ue5m3)), "");
  EXPECT_EQ(encodeError(Arch::sm_107f, with(nvfp4(128, 128, 64), ue5m3)), "");
  EXPECT_EQ(encodeError(Arch::sm_107a, with(nvfp4(128, 128, 64), ue5m3)), "");
  auto block32 = [](IDesc &d) { d.block = 32; };
  EXPECT_EQ(encodeError(Arch::sm_100a, with(nvfp4(128, 128, 64), block32)),
            "idesc_c5: scale type of mxf4nvf4 with block 32 on sm_100a must be ue8m0, got ue4m3");
  EXPECT_EQ(encodeError(Arch::sm_107f, with(nvfp4(128, 128, 64), block32)), "");
  EXPECT_EQ(encodeError(Arch::sm_107a,
                        with(mxf8(128, 128, 64), [](IDesc &d) { d.scale = ScaleFormat::ue4m3; })),
            "idesc_c5: scale type of mxf8f6f4 with block 32 on sm_107a must be ue8m0, got ue4m3");
}

TEST(IDescRefusal, C6K) {
  // K = 96 exists on the exact targets of 103 and 107 only.
  EXPECT_EQ(encodeError(Arch::sm_100a, nvfp4(128, 128, 96)),
            "idesc_c6: k of mxf4nvf4 with block 16 on sm_100a must be 64, got 96");
  EXPECT_EQ(encodeError(Arch::sm_103f, nvfp4(128, 128, 96)),
            "idesc_c6: k of mxf4nvf4 with block 16 on sm_103f must be 64, got 96");
  EXPECT_EQ(encodeError(Arch::sm_107f, nvfp4(128, 128, 96)),
            "idesc_c6: k of mxf4nvf4 with block 16 on sm_107f must be one of 64, 128, got 96");
  EXPECT_EQ(encodeError(Arch::sm_103a, nvfp4(128, 128, 96)), "");
  EXPECT_EQ(encodeError(Arch::sm_107a, nvfp4(128, 128, 96)), "");
  // K = 128 on the 107 family only, K = 64 of FP8 likewise.
  for (Arch arch : {Arch::sm_100a, Arch::sm_103a, Arch::sm_110a, Arch::sm_100f, Arch::sm_103f}) {
    EXPECT_NE(encodeError(arch, nvfp4(128, 128, 128)), "") << name(arch);
    EXPECT_NE(encodeError(arch, mxf8(128, 128, 64)), "") << name(arch);
  }
  EXPECT_EQ(encodeError(Arch::sm_107f, nvfp4(128, 128, 128)), "");
  EXPECT_EQ(encodeError(Arch::sm_107f, mxf8(128, 128, 64)), "");
  EXPECT_EQ(encodeError(Arch::sm_103a, mxf8(128, 128, 64)),
            "idesc_c6: k of mxf8f6f4 with block 32 on sm_103a must be 32, got 64");
  // Unscaled f8f6f4 takes only 8-bit types at K = 64.
  EXPECT_EQ(
      encodeError(Arch::sm_107a, with(f8f6f4(128, 128, 64), [](IDesc &d) { d.a = Format::e2m1; })),
      "idesc_c6: k of f8f6f4 on sm_107a must be 32, got 64");
}

TEST(IDescRefusal, C7M64HasTwoMessages) {
  // Block-scaled kinds have no M = 64 on any chip.
  EXPECT_EQ(encodeError(Arch::sm_100a, mxf8(64, 128, 32)),
            "idesc_c7: m of mxf8f6f4 with block 32 must be 128 with cta_group 1 or 128 or 256 with "
            "cta_group 2 (no block-scaled kind has m = 64 on any chip), got 64");
  EXPECT_EQ(encodeError(Arch::sm_107a, nvfp4(64, 128, 128)),
            "idesc_c7: m of mxf4nvf4 with block 16 must be 128 with cta_group 1 or 256 with "
            "cta_group 2 (no block-scaled kind has m = 64 on any chip), got 64");
  // The unscaled kind has it, at K = 32.
  EXPECT_EQ(encodeError(Arch::sm_107a, f8f6f4(64, 128, 32)), "");
  EXPECT_EQ(encodeError(Arch::sm_107a, f8f6f4(64, 128, 64)),
            "idesc_c7: m of f8f6f4 at k = 64 must be 128 with cta_group 1 or 256 with cta_group 2 "
            "(m = 64 exists at k = 32 only), got 64");
}

TEST(IDescRefusal, C7CtaGroup) {
  auto group = [](int g) { return [g](IDesc &d) { d.ctaGroup = g; }; };
  // At K = 64, 128 rows belong to one CTA and 256 to a pair.
  EXPECT_EQ(encodeError(Arch::sm_107a, with(mxf8(128, 128, 64), group(1))), "");
  EXPECT_EQ(encodeError(Arch::sm_107a, with(mxf8(256, 128, 64), group(2))), "");
  EXPECT_EQ(encodeError(Arch::sm_107a, with(mxf8(128, 128, 64), group(2))),
            "idesc_c7: m of mxf8f6f4 with block 32 at k = 64 must be 128 with cta_group 1 or 256 "
            "with cta_group 2, got 128 with cta_group 2");
  EXPECT_NE(encodeError(Arch::sm_107a, with(mxf8(256, 128, 64), group(1))), "");
  EXPECT_EQ(encodeError(Arch::sm_107a, with(mxf8(128, 128, 32), group(2))), "");
  EXPECT_EQ(encodeError(Arch::sm_107a, with(mxf8(128, 128, 32), group(3))),
            "idesc_c7: cta_group must be one of 1, 2, got 3");
  EXPECT_EQ(encodeError(Arch::sm_100a, mxf8(192, 128, 32)),
            "idesc_c7: m of mxf8f6f4 with block 32 at k = 32 must be 128 with cta_group 1 or 128 "
            "or 256 with cta_group 2, got 192");
}

TEST(IDescRefusal, C8N) {
  EXPECT_EQ(encodeError(Arch::sm_100a, nvfp4(128, 12, 64)),
            "idesc_c8: n of mxf4nvf4 with block 16, cta_group 1 must be a multiple of 8 from 8 "
            "to 256, got 12");
  for (int n : {-8, 0, 4, 264, 512, 1 << 30})
    EXPECT_NE(encodeError(Arch::sm_100a, nvfp4(128, n, 64)), "") << n;
  EXPECT_EQ(encodeError(Arch::sm_100a, nvfp4(128, 8, 64)), "");
  EXPECT_EQ(encodeError(Arch::sm_100a, nvfp4(128, 256, 64)), "");
  EXPECT_EQ(encodeError(Arch::sm_100a, nvfp4(256, 8, 64)),
            "idesc_c8: n of mxf4nvf4 with block 16, cta_group 2 must be a multiple of 16 from "
            "16 to 256, got 8");
  EXPECT_EQ(
      encodeError(Arch::sm_100a, with(mxf8(128, 24, 32), [](IDesc &d) { d.transposeB = true; })),
      "idesc_c8: n of mxf8f6f4 with block 32, cta_group 1 and a transposed 8-bit B must "
      "be a multiple of 16 from 16 to 256, got 24");
}

TEST(IDescRefusal, C9ScaleIds) {
  auto ids = [](int a, int b) {
    return [a, b](IDesc &d) {
      d.sfaId = a;
      d.sfbId = b;
    };
  };
  EXPECT_EQ(encodeError(Arch::sm_100a, with(nvfp4(128, 128, 64), ids(2, 0))),
            "idesc_c9: sfa_id of mxf4nvf4 with block 16 at k = 64 must be 0, got 2");
  EXPECT_EQ(encodeError(Arch::sm_107a, with(mxf8(128, 128, 64), ids(0, 1))),
            "idesc_c9: sfb_id of mxf8f6f4 with block 32 at k = 64 must be one of 0, 2, got 1");
  EXPECT_EQ(encodeError(Arch::sm_107a, with(mxf8(128, 128, 64), ids(2, 2))), "");
  EXPECT_EQ(encodeError(Arch::sm_100a, with(mxf8(128, 128, 32), ids(3, 3))), "");
  // Public case D25: an id is a byte of a word, so 4 does not exist.
  EXPECT_EQ(encodeError(Arch::sm_100a, with(mxf8(128, 128, 32), ids(4, 4))),
            "idesc_c9: sfa_id of mxf8f6f4 with block 32 at k = 32 must be one of 0, 1, 2, 3, got "
            "4");
  // The decoder applies the same rule: NVFP4 at K = 64 with SFB id 2.
  EXPECT_EQ(decodeError(Arch::sm_100a, MmaKind::mxf4nvf4, 16, 0x082004a0),
            "idesc_c9: sfb_id of mxf4nvf4 with block 16 at k = 64 must be 0, got 2");
}

TEST(IDescRefusal, C10Transpose) {
  EXPECT_EQ(
      encodeError(Arch::sm_100a, with(nvfp4(128, 128, 64), [](IDesc &d) { d.transposeA = true; })),
      "idesc_c10: A of mxf4nvf4 must be K-major, got transposed");
  auto narrow = [](IDesc &d) {
    d.b = Format::e3m2;
    d.transposeB = true;
  };
  EXPECT_EQ(encodeError(Arch::sm_107a, with(mxf8(128, 128, 64), narrow)),
            "idesc_c10: B of type e3m2 in mxf8f6f4 at k = 64 must be K-major, got transposed");
  EXPECT_EQ(encodeError(Arch::sm_107a, with(mxf8(128, 128, 32), narrow)), "");
}

TEST(IDescRefusal, C11SparseFields) {
  EXPECT_EQ(
      encodeError(Arch::sm_100a, with(mxf8(128, 128, 32), [](IDesc &d) { d.sparseSelector = 1; })),
      "idesc_c11: sparse_selector of mxf8f6f4 with block 32 must be from 0 to 0, got 1");
  EXPECT_EQ(
      encodeError(Arch::sm_100a, with(f8f6f4(128, 128, 32), [](IDesc &d) { d.maxShift = 4; })),
      "idesc_c11: max_shift of f8f6f4 must be from 0 to 3, got 4");
}

TEST(IDescRefusal, C12Layouts) {
  EXPECT_EQ(
      encodeError(Arch::sm_100a, with(nvfp4(128, 128, 64), [](IDesc &d) { d.d = Format::f16; })),
      "idesc_c12: type of D in mxf4nvf4 must be f32, got f16");
  auto wide = [](IDesc &d) { d.sfaLayout = SfaLayout::lanes128; };
  EXPECT_EQ(encodeError(Arch::sm_100a, with(nvfp4(128, 128, 64), wide)),
            "idesc_c12: sfa_layout of mxf4nvf4 on sm_100a must be lanes32, got lanes128");
  Result<uint32_t> word = encodeIDesc(Arch::sm_107a, with(nvfp4(128, 128, 128), wide));
  ASSERT_TRUE(word);
  EXPECT_EQ(*word, 0x0c200488u);
}

TEST(IDescRefusal, C13ReservedBits) {
  // Public case D27: CUTLASS's packing of M = 64 sets bit 26.
  EXPECT_EQ(
      decodeError(Arch::sm_100a, MmaKind::mxf8f6f4, 32, 0x04a00000),
      "idesc_c13: bit 26 reserved in mxf8f6f4 on sm_100a (sfa_layout elsewhere) must be 0, got 1");
  DescriptorView on107 = viewIDesc(Arch::sm_107a, MmaKind::mxf8f6f4, 32, 0x04a00000);
  bool named = false;
  for (const FieldView &field : on107.fields)
    named |= field.low == 26 && field.meaning == "SFA layout: 128 lanes";
  EXPECT_TRUE(named);
  EXPECT_EQ(on107.problems.size(), 1u); // M = 0
  // Every reserved bit of each form is refused.
  const struct {
    MmaKind kind;
    int block;
    uint32_t word;
    std::vector<int> bits;
  } kForms[] = {
      {MmaKind::mxf8f6f4, 32, 0x08a00000, {0, 1, 3, 6, 24, 25, 26, 31}},
      {MmaKind::mxf4nvf4, 16, 0x08200480, {0, 1, 3, 6, 12, 15, 16, 25, 26}},
      {MmaKind::f8f6f4, 0, 0x08200010, {3, 6, 23, 29}},
  };
  for (const auto &form : kForms) {
    ASSERT_EQ(decodeError(Arch::sm_100a, form.kind, form.block, form.word), "");
    for (int bit : form.bits)
      EXPECT_EQ(
          decodeError(Arch::sm_100a, form.kind, form.block, form.word | 1u << bit).substr(0, 10),
          "idesc_c13:")
          << name(form.kind) << " bit " << bit;
  }
}

TEST(IDescRefusal, C14Codes) {
  // Codes 2, 6 and 7 of mxf8f6f4 mean nothing; bits 7..9 are A's, 10..12 B's.
  for (uint32_t code : {2u, 6u, 7u}) {
    EXPECT_EQ(decodeError(Arch::sm_100a, MmaKind::mxf8f6f4, 32, 0x08a00000 | code << 7),
              "idesc_c14: a_type code of mxf8f6f4 must be one of 0 (e4m3), 1 (e5m2), 3 (e2m3), "
              "4 (e3m2), 5 (e2m1), got " +
                  std::to_string(code));
    EXPECT_NE(decodeError(Arch::sm_100a, MmaKind::mxf8f6f4, 32, 0x08a00000 | code << 10), "");
  }
  // Only code 1 exists in mxf4*.
  for (MmaKind kind : {MmaKind::mxf4, MmaKind::mxf4nvf4})
    for (uint32_t code : {0u, 2u, 3u, 4u, 5u, 6u, 7u})
      EXPECT_EQ(decodeError(Arch::sm_100a, kind, 32, 0x08a00400 | code << 7),
                "idesc_c14: a_type code of " + std::string(name(kind)) + " must be 1 (e2m1), got " +
                    std::to_string(code));
  // The trap: E2M1 is code 5 in mxf8f6f4, and code 1 there is E5M2.
  IDesc mixed = with(mxf8(128, 128, 64), [](IDesc &d) { d.a = Format::e2m1; });
  EXPECT_EQ(*encodeIDesc(Arch::sm_107a, mixed), 0x88a00000u | 5u << 7);
  Result<IDesc> trap = decodeIDesc(Arch::sm_107a, MmaKind::mxf8f6f4, 32, 0x88a00000u | 1u << 7);
  ASSERT_TRUE(trap);
  EXPECT_EQ(trap->a, Format::e5m2);
  // K code 3, scale type codes 0 of mxf8f6f4 and 3 of mxf4*.
  EXPECT_EQ(decodeError(Arch::sm_107a, MmaKind::mxf4nvf4, 16, 0x88200488),
            "idesc_c14: k code of mxf4nvf4 with block 16 must be one of 0 (k = 64), 1 (k = 96), 2 "
            "(k = 128), "
            "got 3");
  EXPECT_EQ(decodeError(Arch::sm_100a, MmaKind::mxf8f6f4, 32, 0x08200000),
            "idesc_c14: scale_type code of mxf8f6f4 must be 1 (ue8m0), got 0");
  EXPECT_EQ(decodeError(Arch::sm_107a, MmaKind::mxf4nvf4, 16, 0x09a00488),
            "idesc_c14: scale_type code of mxf4nvf4 must be one of 0 (ue4m3), 1 (ue8m0), "
            "2 (ue5m3), got 3");
  // Sparse mxf4* on sm_107a has metadata version 1, dense has 0.
  EXPECT_EQ(decodeError(Arch::sm_107a, MmaKind::mxf4nvf4, 16, 0x08201488),
            "idesc_c14: sparse_version of dense mxf4nvf4 on sm_107a must be 0, got 1");
  EXPECT_EQ(decodeError(Arch::sm_107a, MmaKind::mxf4nvf4, 16, 0x08200484),
            "idesc_c14: sparse_version of sparse mxf4nvf4 on sm_107a must be 1, got 0");
  EXPECT_EQ(decodeError(Arch::sm_107a, MmaKind::mxf4nvf4, 16, 0x08201484), "");
  EXPECT_EQ(decodeError(Arch::sm_100a, MmaKind::mxf4nvf4, 16, 0x08200484), "");
}

TEST(IDescRefusal, D28OnEachChip) {
  // The words of K = 96 and K = 128 are illegal off their chips.
  EXPECT_EQ(decodeError(Arch::sm_100a, MmaKind::mxf4nvf4, 16, 0x88400480),
            "idesc_c6: k of mxf4nvf4 with block 16 on sm_100a must be 64, got 96");
  EXPECT_EQ(decodeError(Arch::sm_103a, MmaKind::mxf4nvf4, 16, 0x88400480), "");
  EXPECT_EQ(
      decodeError(Arch::sm_100a, MmaKind::mxf4nvf4, 16, 0x08400488),
      "idesc_c13: bit 3 reserved in mxf4nvf4 on sm_100a (k_upper elsewhere) must be 0, got 1");
  EXPECT_EQ(decodeError(Arch::sm_107a, MmaKind::mxf4nvf4, 16, 0x08400488), "");
}

TEST(IDescRefusal, C4OfAWord) {
  // The K code 2 is in order; a kind has no codes at a block size that it lacks.
  EXPECT_EQ(decodeIDesc(Arch::sm_107a, MmaKind::mxf4, 16, 0x08200488).message(),
            "idesc_c4: block of mxf4 must be 32, got 16");
  EXPECT_EQ(decodeIDesc(Arch::sm_107a, MmaKind::mxf4nvf4, 7, 0x08200488).message(),
            "idesc_c4: block of mxf4nvf4 must be one of 16, 32, got 7");
  EXPECT_EQ(checkIDescBlock(MmaKind::f16, 16).message(),
            "idesc_c4: block of f16 must be 0, got 16");
  EXPECT_TRUE(checkIDescBlock(MmaKind::mxf4nvf4, 16));
}

} // namespace
