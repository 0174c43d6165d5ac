//===- IDescRoundTripTest.cpp - all legal descriptors, all words ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every legal combination of fields goes to a word and back, on every chip; and
// whatever word decodes, encodes to itself. A change of any one bit is seen.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/DescriptorView.h"
#include "blockscale/Facts/IDescFields.h"

#include "../Sanitized.h"

#include <gtest/gtest.h>

#include <random>

using namespace blockscale::facts;
namespace test = blockscale::test;

namespace {

/// Calls `body` with every descriptor that the loops make, legal or not.
template <typename Body> void forEachDescriptor(MmaKind kind, const Body &body) {
  // Kinds of many format pairs are thinned where each call is slow.
  const bool hasManyPairs = kind == MmaKind::mxf8f6f4 || kind == MmaKind::f8f6f4;
  const int step = test::kIsSanitized && hasManyPairs ? 5 : 1; // of scale ids, and of flags
  for (const MmaMode &mode : kMmaModes) {
    if (mode.kind != kind)
      continue;
    for (const FormatInfo &a : kFormats)
      for (const FormatInfo &b : kFormats) {
        if (!mode.formats.contains(a.format) || !mode.formats.contains(b.format))
          continue;
        for (const ScaleFormatInfo &scale : kScaleFormats)
          for (int m : {64, 128, 256})
            for (int n : {8, 24, 128, 256})
              for (int ids = 0; ids < 16; ids += step)
                for (int flags = 0; flags < 16; flags += step) {
                  if (ids && flags) // each with the other at rest
                    continue;
                  IDesc d{.kind = kind,
                          .a = a.format,
                          .b = b.format,
                          .scale = scale.format,
                          .block = mode.block,
                          .m = m,
                          .n = n,
                          .k = mode.k,
                          .sfaId = ids & 3,
                          .sfbId = ids >> 2};
                  d.sparse = mode.sparse;
                  d.negateA = flags & 1;
                  d.negateB = flags & 2;
                  d.transposeA = flags & 4;
                  d.transposeB = flags & 8;
                  body(d);
                }
      }
  }
}

TEST(IDescRoundTrip, EveryLegalDescriptor) {
  for (MmaKind kind : {MmaKind::mxf8f6f4, MmaKind::mxf4, MmaKind::mxf4nvf4, MmaKind::f8f6f4})
    for (Arch arch : {Arch::sm_100a, Arch::sm_103a, Arch::sm_107a, Arch::sm_107f}) {
      int legal = 0, lost = 0;
      forEachDescriptor(kind, [&](const IDesc &desc) {
        Result<uint32_t> word = encodeIDesc(arch, desc);
        if (!word)
          return;
        ++legal;
        Result<IDesc> back = decodeIDesc(arch, kind, desc.block, *word);
        IDesc expected = desc;
        if (!isBlockScaled(kind))
          expected.scale = ScaleFormat::ue8m0;
        lost += !back || !(*back == expected);
      });
      EXPECT_GT(legal, 50) << name(kind) << " on " << name(arch);
      EXPECT_EQ(lost, 0) << name(kind) << " on " << name(arch);
    }
}

TEST(IDescRoundTrip, WhatDecodesEncodesToItself) {
  std::mt19937 rng(7);
  int decoded = 0;
  constexpr int kWords = test::thinned(10000);
  for (int i = 0; i < kWords; ++i) {
    // Legal words with a few random bits flipped, so that many decode and many do not.
    const uint32_t seeds[] = {0x08a00000, 0x08200488, 0x88200480, 0x88a01400};
    uint32_t word = seeds[rng() % 4] ^ (1u << rng() % 32) ^ (1u << rng() % 32);
    for (MmaKind kind : {MmaKind::mxf8f6f4, MmaKind::mxf4nvf4, MmaKind::f8f6f4, MmaKind::f16})
      for (int block : {0, 16, 32}) {
        Result<IDesc> desc = decodeIDesc(Arch::sm_107a, kind, block, word);
        if (!desc)
          continue;
        ++decoded;
        Result<uint32_t> again = encodeIDesc(Arch::sm_107a, *desc);
        ASSERT_TRUE(again) << again.message();
        ASSERT_EQ(*again, word);
      }
  }
  EXPECT_GT(decoded, kWords / 10);
}

TEST(IDescRoundTrip, NoWordCrashesAnyDecoder) {
  std::mt19937 rng(11);
  for (int i = 0; i < test::thinned(300); ++i) {
    uint32_t word = uint32_t(rng());
    for (const ArchInfo &arch : kArchInfos)
      for (const MmaKindName &kind : kMmaKindNames) {
        int block = int(rng() % 5) * 16 - 16;
        DescriptorView view = viewIDesc(arch.arch, kind.kind, block, word);
        Result<IDesc> desc = decodeIDesc(arch.arch, kind.kind, block, word);
        ASSERT_EQ(bool(desc), view.problems.empty());
      }
  }
}

TEST(IDescRoundTrip, NegativeAndHugeNumbersAreRefused) {
  IDesc d{.kind = MmaKind::mxf8f6f4,
          .a = Format::e4m3,
          .b = Format::e4m3,
          .block = 32,
          .m = 128,
          .n = 128,
          .k = 32};
  for (int value : {-2147483647 - 1, -1, 2147483647}) {
    for (int IDesc::*field :
         {&IDesc::m, &IDesc::n, &IDesc::k, &IDesc::block, &IDesc::sfaId, &IDesc::sfbId,
          &IDesc::ctaGroup, &IDesc::sparseSelector, &IDesc::maxShift}) {
      IDesc bad = d;
      bad.*field = value;
      EXPECT_FALSE(encodeIDesc(Arch::sm_100a, bad));
    }
  }
}

} // namespace
