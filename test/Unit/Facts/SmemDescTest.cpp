//===- SmemDescTest.cpp - words and rules of shared-memory descriptors ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// High words are those of PTX that cutlass-dsl 4.8.1 makes; the public case D23;
// each rule smem_desc_c1 ... smem_desc_c10 with its whole message.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/SmemDesc.h"
#include "blockscale/Facts/DescriptorView.h"

#include <gtest/gtest.h>

#include <random>

using namespace blockscale::facts;

namespace {

SmemDesc make(uint32_t start, uint32_t leading, uint32_t stride, Swizzle swizzle) {
  SmemDesc d;
  d.start = start;
  d.leadingBytes = leading;
  d.strideBytes = stride;
  d.swizzle = swizzle;
  return d;
}
template <typename Change> SmemDesc with(SmemDesc desc, Change change) {
  change(desc);
  return desc;
}
/// A 128-byte-swizzled K-major tile, as every operand of a block-scaled GEMM is.
SmemDesc tile(uint32_t start) { return make(start, 16, 1024, Swizzle::b128); }

std::string encodeError(Arch arch, const SmemDesc &desc) {
  return encodeSmemDesc(arch, desc).message();
}

TEST(SmemDesc, HighWordsOfVendorKernels) {
  const struct {
    Arch arch;
    SmemDesc desc;
    uint32_t high;
  } kRows[] = {
      {Arch::sm_100a, make(0, 16, 1024, Swizzle::b128), 0x40004040},
      {Arch::sm_107a, make(0, 16, 1024, Swizzle::b128), 0x40004040},
      {Arch::sm_107a, make(0, 16, 512, Swizzle::b64), 0x80004020},
      {Arch::sm_100a, make(0, 16, 128, Swizzle::none), 0x00004008},
      {Arch::sm_103a, make(0, 16, 128, Swizzle::none), 0x00004008},
      {Arch::sm_107a, make(0, 16, 128, Swizzle::none), 0x00004008},
      {Arch::sm_103a,
       with(make(0, 0x8000, 1024, Swizzle::b128), [](SmemDesc &d) { d.absolute = true; }),
       0x40104040},
      {Arch::sm_107a,
       with(make(0, 0x8000, 1024, Swizzle::b128), [](SmemDesc &d) { d.absolute = true; }),
       0x40104040},
  };
  for (const auto &row : kRows) {
    Result<uint64_t> word = encodeSmemDesc(row.arch, row.desc);
    ASSERT_TRUE(word) << word.message();
    EXPECT_EQ(uint32_t(*word >> 32), row.high);
    Result<SmemDesc> back = decodeSmemDesc(row.arch, *word);
    ASSERT_TRUE(back) << back.message();
    EXPECT_TRUE(*back == row.desc);
  }
}

TEST(SmemDesc, D23AlignmentAndKStep) {
  SmemDesc at2000 = with(tile(0x2000), [](SmemDesc &d) { d.tileBase = 0x2000; });
  EXPECT_EQ(*encodeSmemDesc(Arch::sm_100a, at2000), 0x4000404000010200u);
  // A K step of 32 bytes inside the atom only moves the start.
  at2000.start = 0x2020;
  EXPECT_EQ(*encodeSmemDesc(Arch::sm_100a, at2000), 0x4000404000010202u);
  // The same tile 128 bytes later, with and without a word from the caller.
  SmemDesc at2080 = with(tile(0x2080), [](SmemDesc &d) { d.tileBase = 0x2080; });
  const char *message = "smem_desc_c6: start of a tile with swizzle b128 and base_offset 0 must be "
                        "aligned to 1024 bytes, got 0x2080";
  EXPECT_EQ(encodeError(Arch::sm_100a, at2080), message);
  EXPECT_EQ(encodeError(Arch::sm_100a, tile(0x2080)), message);
  EXPECT_EQ(encodeError(Arch::sm_100a, tile(0x2020)), "");
  // With the base offset that the manual's formula gives, 0x2080 is a legal start.
  EXPECT_EQ(encodeError(Arch::sm_100a, with(at2080, [](SmemDesc &d) { d.baseOffset = 1; })), "");
}

TEST(SmemDesc, AddressBits) {
  // 15 bits on the 107 family, 14 elsewhere: 0x40000 is the first address off 14 bits.
  EXPECT_EQ(encodeError(Arch::sm_100a, tile(0x40000)),
            "smem_desc_c3: start on sm_100a must be below 0x40000, got 0x40000");
  EXPECT_EQ(encodeError(Arch::sm_107a, tile(0x80000)),
            "smem_desc_c3: start on sm_107a must be below 0x80000, got 0x80000");
  Result<uint64_t> word = encodeSmemDesc(Arch::sm_107a, tile(0x51c00));
  ASSERT_TRUE(word);
  EXPECT_EQ(*word & 0x7fff, 0x51c0u);
  EXPECT_EQ(decodeSmemDesc(Arch::sm_107a, *word)->start, 0x51c00u);
  EXPECT_EQ(decodeSmemDesc(Arch::sm_100a, *word).message(),
            "smem_desc_c8: bit 14 reserved on sm_100a (start_upper elsewhere) must be 0, got 1");
  EXPECT_EQ(encodeError(Arch::sm_103a, make(0, 0x40000, 1024, Swizzle::b128)),
            "smem_desc_c3: leading offset on sm_103a must be below 0x40000, got 0x40000");
  // The stride field has 14 bits everywhere.
  EXPECT_EQ(encodeError(Arch::sm_107a, make(0, 16, 0x40000, Swizzle::b128)),
            "smem_desc_c3: stride offset on sm_107a must be below 0x40000, got 0x40000");
}

TEST(SmemDesc, Rules) {
  EXPECT_EQ(encodeError(Arch::sm_90a, tile(0)),
            "smem_desc_c1: target of a tcgen05 shared-memory descriptor must have tcgen05, got "
            "sm_90a");
  EXPECT_EQ(encodeError(Arch::sm_100a, tile(0x2008)),
            "smem_desc_c2: start must be a multiple of 16 bytes, got 0x2008");
  EXPECT_EQ(encodeError(Arch::sm_100a, make(0, 8, 1024, Swizzle::b128)),
            "smem_desc_c2: leading offset must be a multiple of 16 bytes, got 0x8");
  EXPECT_EQ(encodeError(Arch::sm_100a, make(0, 16, 1024, Swizzle::b96)),
            "smem_desc_c4: swizzle must be one of none, b32, b64, b128, b128_atom32, got b96");
  EXPECT_EQ(encodeError(Arch::sm_100a, with(tile(0), [](SmemDesc &d) { d.baseOffset = 8; })),
            "smem_desc_c5: base_offset with swizzle b128 must be from 0 to 7, got 8");
  EXPECT_EQ(encodeError(Arch::sm_100a, with(make(0, 16, 128, Swizzle::none),
                                            [](SmemDesc &d) { d.baseOffset = 1; })),
            "smem_desc_c5: base_offset with swizzle none must be from 0 to 0, got 1");
  // Each swizzle names its own period.
  EXPECT_EQ(encodeError(Arch::sm_100a, make(0x100, 16, 512, Swizzle::b64)),
            "smem_desc_c6: start of a tile with swizzle b64 and base_offset 0 must be aligned to "
            "512 bytes, got 0x100");
  EXPECT_EQ(encodeError(Arch::sm_100a, make(0x80, 16, 256, Swizzle::b32)),
            "smem_desc_c6: start of a tile with swizzle b32 and base_offset 0 must be aligned to "
            "256 bytes, got 0x80");
  auto absolute = [](SmemDesc &d) { d.absolute = true; };
  EXPECT_EQ(encodeError(Arch::sm_100a, with(tile(0), absolute)),
            "smem_desc_c7: absolute leading address must run on one of sm_103a, sm_107a, got "
            "sm_100a");
  EXPECT_NE(encodeError(Arch::sm_103f, with(tile(0), absolute)), "");
  EXPECT_EQ(encodeError(Arch::sm_103a, with(make(0, 0, 512, Swizzle::b64), absolute)),
            "smem_desc_c7: absolute leading address must have swizzle b128 and base_offset 0, got "
            "b64 and 0");
  EXPECT_EQ(encodeError(Arch::sm_103a, with(tile(0), [](SmemDesc &d) { d.lutHalf = true; })),
            "smem_desc_c7: lut_half must run on one of sm_107a, sm_107f, got sm_103a");
}

TEST(SmemDesc, DecoderRules) {
  const uint64_t good = 0x4000404000010200;
  auto error = [](Arch arch, uint64_t word) { return decodeSmemDesc(arch, word).message(); };
  EXPECT_EQ(error(Arch::sm_100a, good), "");
  for (int bit : {14, 15, 30, 31, 52, 53, 54, 60})
    EXPECT_EQ(error(Arch::sm_100a, good | uint64_t(1) << bit).substr(0, 13), "smem_desc_c8:")
        << bit;
  for (int bit : {14, 30, 52, 53})
    EXPECT_EQ(error(Arch::sm_107a, good | uint64_t(1) << bit), "") << bit;
  EXPECT_EQ(error(Arch::sm_100a, good | uint64_t(1) << 52),
            "smem_desc_c8: bit 52 reserved on sm_100a (absolute elsewhere) must be 0, got 1");
  EXPECT_EQ(error(Arch::sm_100a, good & ~(uint64_t(7) << 46)),
            "smem_desc_c9: version (bits 46..48) must be 1, got 0");
  for (uint64_t code : {3, 5, 7})
    EXPECT_EQ(error(Arch::sm_100a, (good & ~(uint64_t(7) << 61)) | code << 61),
              "smem_desc_c10: swizzle code must be one of 0 (none), 1 (b128_atom32), 2 (b128), "
              "4 (b64), 6 (b32), got " +
                  std::to_string(code));
  // The place is judged apart: a start off the pattern decodes, and the view says so.
  EXPECT_EQ(error(Arch::sm_100a, 0x4000404000010208), "");
  EXPECT_EQ(viewSmemDesc(Arch::sm_100a, 0x4000404000010208).problems.size(), 1u);
  EXPECT_TRUE(viewSmemDesc(Arch::sm_100a, 0x4000404000010208, false).problems.empty());
}

TEST(SmemDesc, RoundTripOfFields) {
  for (Arch arch : {Arch::sm_100a, Arch::sm_103a, Arch::sm_107a})
    for (Swizzle swizzle :
         {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128, Swizzle::b128Atom32})
      for (int base = 0; base < (swizzle == Swizzle::none ? 1 : 8); ++base)
        for (uint32_t start = 0; start < 1u << 18; start += 0x1c00)
          for (uint32_t offset : {0u, 16u, 0x3fff0u}) {
            SmemDesc d = make(start + uint32_t(base) * 128, offset, 0x3fff0 - offset, swizzle);
            d.baseOffset = base;
            Result<uint64_t> word = encodeSmemDesc(arch, d);
            ASSERT_TRUE(word) << word.message();
            Result<SmemDesc> back = decodeSmemDesc(arch, *word);
            ASSERT_TRUE(back && *back == d);
          }
}

TEST(SmemDesc, WhatDecodesEncodesToItself) {
  std::mt19937_64 rng(5);
  int decoded = 0;
  for (int i = 0; i < 60000; ++i) {
    uint64_t word = (rng() & 0xE0103FFF3FFF3FFF) | uint64_t(1) << 46;
    for (Arch arch : {Arch::sm_100a, Arch::sm_107a, Arch::sm_90a}) {
      Result<SmemDesc> desc = decodeSmemDesc(arch, word);
      if (!desc || !checkSmemDesc(arch, *desc))
        continue;
      ++decoded;
      ASSERT_EQ(*encodeSmemDesc(arch, *desc), word);
    }
  }
  EXPECT_GT(decoded, 1000);
}

} // namespace
