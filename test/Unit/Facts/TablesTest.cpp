//===- TablesTest.cpp - chips, modes, tensor memory, rates ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hand-written rows against the tables: targets, limits, allocation of tensor
// memory, spellings of block sizes, measured cycles. What ptxas can judge of the
// feature table is in test/Facts.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/CycleModel.h"
#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/IDesc.h"
#include "blockscale/Facts/LayoutsAccumulator.h"
#include "blockscale/Facts/LayoutsSmem.h"
#include "blockscale/Facts/LayoutsTmemAccess.h"
#include "blockscale/Facts/LayoutsTmemCopy.h"
#include "blockscale/Facts/MmaRate.h"
#include "blockscale/Facts/Products.h"
#include "blockscale/Facts/Tmem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace blockscale::facts;

namespace {

TEST(Targets, CoversIsAPartialOrderAndNotByNumber) {
  EXPECT_TRUE(covers(Arch::sm_100a, Arch::sm_100f));
  EXPECT_FALSE(covers(Arch::sm_100f, Arch::sm_100a));
  EXPECT_TRUE(covers(Arch::sm_103a, Arch::sm_100f));
  EXPECT_TRUE(covers(Arch::sm_107f, Arch::sm_103f));
  EXPECT_FALSE(covers(Arch::sm_103a, Arch::sm_100a));
  EXPECT_FALSE(covers(Arch::sm_107a, Arch::sm_103a));
  // 110 and 120 are higher numbers, not later members of the 100 family.
  EXPECT_FALSE(covers(Arch::sm_110a, Arch::sm_100f));
  EXPECT_FALSE(covers(Arch::sm_120a, Arch::sm_100f));
  EXPECT_FALSE(covers(Arch::sm_100a, Arch::sm_90a));
  EXPECT_TRUE(covers(Arch::sm_120a, Arch::sm_80));
  EXPECT_FALSE(supports(Arch::sm_103a, Feature::kindI8));
  EXPECT_TRUE(supports(Arch::sm_110a, Feature::kindI8));
  EXPECT_FALSE(supports(Arch::sm_120a, Feature::tcgen05));
}

TEST(Targets, NamesWithoutASuffix) {
  EXPECT_EQ(*findArch("sm_107a"), Arch::sm_107a);
  EXPECT_EQ(findArch("sm_100").message(), "arch_c1: target needs sm_100a or sm_100f, got sm_100");
  EXPECT_EQ(findArch("sm_120").message(), "arch_c1: target needs sm_120a or sm_120f, got sm_120");
  EXPECT_EQ(
      findArch("sm_99").message(),
      "arch_c1: target must be one of sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_100f, sm_103a, "
      "sm_103f, sm_107a, sm_107f, sm_110a, sm_110f, sm_120a, sm_120f, sm_121a, got 'sm_99'");
  EXPECT_FALSE(findArch(""));
}

TEST(Targets, SharedMemory) {
  // ptxas's limits of static shared memory, and the oversized pool of sm_107.
  EXPECT_EQ(info(Arch::sm_100a).sharedPerBlock, 0x38c00);
  EXPECT_EQ(info(Arch::sm_90a).sharedPerBlock, 0x38c00);
  EXPECT_EQ(info(Arch::sm_107a).sharedPerBlock, 0x38c00);
  EXPECT_EQ(info(Arch::sm_120a).sharedPerBlock, 0x18c00);
  EXPECT_EQ(maxSharedPerBlock(Arch::sm_107a), 334848);
  EXPECT_EQ(maxSharedPerBlock(Arch::sm_103a), 232448);
}

TEST(Tmem, RoundingRule) {
  const struct {
    int used, columns;
  } kRows[] = {{1, 32},    {32, 32},   {33, 64},   {288, 512}, {512, 512},
               {513, 544}, {536, 544}, {545, 576}, {560, 576}, {576, 576}};
  for (const auto &row : kRows)
    EXPECT_EQ(*roundTmemColumns(Arch::sm_107a, row.used), row.columns) << row.used;
  EXPECT_EQ(roundTmemColumns(Arch::sm_107a, 577).message(),
            "tmem_c2: columns on sm_107a must be from 1 to 576, got 577");
  EXPECT_EQ(roundTmemColumns(Arch::sm_100a, 513).message(),
            "tmem_c2: columns on sm_100a must be from 1 to 512, got 513");
  for (int used : {0, -1, 2147483647, -2147483647})
    EXPECT_FALSE(roundTmemColumns(Arch::sm_107a, used));
  EXPECT_EQ(roundTmemColumns(Arch::sm_90a, 32).message(),
            "tmem_c1: target must have tensor memory, got sm_90a");
}

TEST(Tmem, Allocation) {
  EXPECT_FALSE(needsExclusiveAlloc(512));
  EXPECT_TRUE(needsExclusiveAlloc(544));
  EXPECT_TRUE(needsExclusiveAlloc(96));
  EXPECT_TRUE(checkTmemAlloc(Arch::sm_100a, 512, /*exclusive=*/false));
  EXPECT_TRUE(checkTmemAlloc(Arch::sm_100a, 96, /*exclusive=*/true));
  EXPECT_TRUE(checkTmemAlloc(Arch::sm_107a, 576, /*exclusive=*/true));
  // ptxas lets 608 columns through; no chip has them.
  EXPECT_EQ(checkTmemAlloc(Arch::sm_100a, 608, /*exclusive=*/true).message(),
            "tmem_c3: columns of an exclusive allocation on sm_100a must be a multiple of 32 from "
            "32 to 512, got 608");
  EXPECT_EQ(checkTmemAlloc(Arch::sm_107a, 544, /*exclusive=*/false).message(),
            "tmem_c3: columns of an allocation on sm_107a must be a multiple of 32 from 32 to 512, "
            "got 544");
  EXPECT_EQ(
      checkTmemAlloc(Arch::sm_107a, 96, /*exclusive=*/false).message(),
      "tmem_c4: columns of an allocation that is not exclusive must be a power of two, got 96");
  EXPECT_FALSE(checkTmemAlloc(Arch::sm_80, 32, false));
}

TEST(Tmem, Addresses) {
  EXPECT_EQ(tmemAddress(32, 300), 0x20012cu);
  EXPECT_EQ(tmemLane(0x20012c), 32);
  EXPECT_EQ(tmemColumn(0x20012c), 300);
  // Scale operands carry the id in bits 31:30; it is no part of the lane.
  EXPECT_EQ(tmemLane(0xc0000010), 0);
  EXPECT_EQ(tmemWarpLane(5), 32);
}

TEST(Modes, SpellingsOfBlocks) {
  // What ptxas takes after .block_scale for each kind.
  const struct {
    MmaKind kind;
    const char *qualifier;
    int block;
  } kRows[] = {
      {MmaKind::mxf8f6f4, "", 32},
      {MmaKind::mxf8f6f4, ".scale_vec::1X", 32},
      {MmaKind::mxf8f6f4, ".scale_vec::2X", 0},
      {MmaKind::mxf8f6f4, ".block16", 0},
      {MmaKind::mxf4, "", 32},
      {MmaKind::mxf4, ".scale_vec::2X", 32},
      {MmaKind::mxf4, ".scale_vec::4X", 0},
      {MmaKind::mxf4, ".block32", 32},
      {MmaKind::mxf4nvf4, "", 0},
      {MmaKind::mxf4nvf4, ".scale_vec::1X", 0},
      {MmaKind::mxf4nvf4, ".scale_vec::2X", 32},
      {MmaKind::mxf4nvf4, ".scale_vec::4X", 16},
      {MmaKind::mxf4nvf4, ".block16", 16},
      {MmaKind::mxf4nvf4, ".block32", 32},
  };
  for (const auto &row : kRows)
    EXPECT_EQ(blockOfSpelling(row.kind, row.qualifier), row.block)
        << name(row.kind) << row.qualifier;
}

TEST(Modes, ScalesOfOneInstruction) {
  // PTX ISA 9.4, table 68, and 2 for mxf8f6f4 at K = 64 as vendor kernels have it.
  const struct {
    MmaKind kind;
    int block, k, scales;
  } kRows[] = {{MmaKind::mxf8f6f4, 32, 32, 1},  {MmaKind::mxf8f6f4, 32, 64, 2},
               {MmaKind::mxf4, 32, 64, 2},      {MmaKind::mxf4nvf4, 32, 96, 3},
               {MmaKind::mxf4nvf4, 16, 64, 4},  {MmaKind::mxf4nvf4, 16, 96, 6},
               {MmaKind::mxf4nvf4, 16, 128, 8}, {MmaKind::mxf4nvf4, 32, 128, 4}};
  for (const auto &row : kRows)
    EXPECT_EQ(scalesPerRow(*findMmaMode(row.kind, row.block, row.k)), row.scales);
  EXPECT_EQ(scalesPerRow(*findMmaMode(MmaKind::mxf8f6f4, 32, 64, /*sparse=*/true)), 1);
  EXPECT_EQ(findMmaMode(MmaKind::mxf8f6f4, 32, 96), nullptr);
}

TEST(Modes, KOfEachChip) {
  auto has = [](Arch arch, int k) {
    return hasMmaMode(arch, MmaKind::mxf4nvf4, 16, ScaleFormat::ue4m3, k);
  };
  for (Arch arch : {Arch::sm_100a, Arch::sm_100f, Arch::sm_103f, Arch::sm_110a})
    EXPECT_TRUE(has(arch, 64) && !has(arch, 96) && !has(arch, 128)) << name(arch);
  EXPECT_TRUE(has(Arch::sm_103a, 96) && !has(Arch::sm_103a, 128));
  EXPECT_TRUE(has(Arch::sm_107a, 96) && has(Arch::sm_107a, 128));
  EXPECT_TRUE(!has(Arch::sm_107f, 96) && has(Arch::sm_107f, 128));
  EXPECT_FALSE(has(Arch::sm_120a, 64));
  EXPECT_FALSE(hasMmaMode(Arch::sm_100a, MmaKind::mxf4nvf4, 16, ScaleFormat::ue5m3, 64));
}

TEST(Cycles, FitTheMeasurements) {
  // microbench-blackwell 9a068d85, B200, 32 bytes a row; N = 64, 80, 96, 112, 128, 256.
  const int kN[] = {64, 80, 96, 112, 128, 256};
  const struct {
    MmaCost cost;
    double cycles[6];
  } kRows[] = {
      {{1, 128, 0, 32}, {48.2, 52.2, 56.2, 60.2, 64.2, 128.2}},
      {{1, 128, 0, 32, true}, {32.2, 40.2, 48.2, 56.2, 64.2, 128.2}},
      {{1, 64, 0, 32}, {32.2, 40.2, 48.2, 56.2, 64.2, 128.2}},
      {{2, 256, 0, 32}, {43.4, 46.0, 49.5, 56.2, 64.2, 128.2}},
      {{2, 128, 0, 32}, {25.2, 27.2, 29.2, 30.2, 32.2, 64.2}},
  };
  for (const auto &row : kRows)
    for (int i = 0; i < 6; ++i) {
      MmaCost cost = row.cost;
      cost.n = kN[i];
      EXPECT_NEAR(mmaCycles(cost), row.cycles[i], 2.7) << "M " << cost.m << " N " << cost.n;
      EXPECT_FALSE(isExtrapolated(cost));
    }
  // QuickRunCUDA 00025496, B300, M = 128: 44 up to N = 32, then 48, 64, 128.
  const int kB300[][2] = {{8, 44}, {32, 44}, {64, 48}, {128, 64}, {256, 128}};
  for (const auto &[n, cycles] : kB300)
    EXPECT_EQ(mmaCycles({1, 128, n, 32}), cycles);
  // Extrapolations that the docs print: K = 96 and the long K of sm_107.
  EXPECT_EQ(mmaCycles({1, 128, 256, 48}), 144);
  EXPECT_EQ(mmaCycles({1, 128, 256, 64}), 192);
  EXPECT_TRUE(isExtrapolated({1, 128, 256, 64}));
}

TEST(Products, RatesTimesClockGiveTheirTflops) {
  // FP4 of B200 and Rubin: MAC/clk/SM x SMs x clock x 2 within 6 % of the published figure.
  for (const char *product : {"B200", "Rubin"}) {
    const Product *row = nullptr;
    for (const Product &candidate : kProducts)
      if (candidate.name == product)
        row = &candidate;
    ASSERT_TRUE(row);
    double tflops = 2.0 * findMmaRate(row->arch)->fp4 * row->sms * row->clockMHz * 1e-6;
    EXPECT_NEAR(tflops / row->fp4, 1.0, 0.06) << product;
  }
  EXPECT_EQ(modelProduct(Arch::sm_107a)->sms, 224);
  EXPECT_EQ(modelProduct(Arch::sm_107f)->sms, 224);
  EXPECT_EQ(modelProduct(Arch::sm_100a)->name, "B200");
}

/// Each case of an enum has a name that parses back to it, and no other name does.
template <typename E, std::optional<E> (*Parse)(std::string_view)> void expectNames(size_t cases) {
  std::vector<std::string_view> seen;
  for (size_t i = 0; i < cases; ++i) {
    std::string_view text = name(E(i));
    EXPECT_EQ(std::count(seen.begin(), seen.end(), text), 0) << text;
    seen.push_back(text);
    EXPECT_EQ(Parse(text), E(i)) << text;
  }
  EXPECT_FALSE(Parse(""));
  EXPECT_FALSE(Parse("no such name"));
}

TEST(Names, ParseBack) {
  expectNames<Arch, parseArch>(kArchNames.size());
  expectNames<Format, parseFormat>(kFormats.size());
  expectNames<ScaleFormat, parseScaleFormat>(kScaleFormats.size());
  expectNames<ScaleLayout, parseScaleLayout>(2);
  expectNames<MmaKind, parseMmaKind>(kMmaKindNames.size());
  expectNames<Swizzle, parseSwizzle>(kSwizzles.size());
  expectNames<SfaLayout, parseSfaLayout>(2);
  expectNames<TmaType, parseTmaType>(kTmaTypes.size());
  expectNames<TmaSwizzle, parseTmaSwizzle>(kTmaSwizzleNames.size());
  expectNames<TmaFill, parseTmaFill>(kTmaFillNames.size());
  expectNames<TmaL2Promotion, parseTmaL2Promotion>(kTmaL2PromotionNames.size());
  expectNames<Feature, parseFeature>(kFeatures.size());
  expectNames<CpShape, parseCpShape>(kCpShapes.size());
  expectNames<CpDecompression, parseCpDecompression>(kCpDecompressionNames.size());
  expectNames<LdShape, parseLdShape>(kLdShapes.size());
  expectNames<RowPacking, parseRowPacking>(2);
  expectNames<AccumulatorForm, parseAccumulatorForm>(kAccumulatorFormNames.size());
}

} // namespace
