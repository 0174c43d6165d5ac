//===- PathsTest.cpp - all paths of mma() give the same bits --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Paths.h"
#include "RandomTiles.h"

#include "../Sanitized.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace blockscale;
using namespace blockscale::emu;
using facts::Format;
using facts::MmaKind;
using facts::ScaleFormat;
using test::Data;

namespace {

struct Mode {
  const char *name;
  MmaKind kind;
  Format a, b;
  ScaleFormat scale;
  int block, k;
  Packing aPacking = Packing::dense, bPacking = Packing::dense;
};

const Mode kModes[] = {
    {"nvfp4_k64", MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, ScaleFormat::ue4m3, 16, 64},
    {"nvfp4_k96", MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, ScaleFormat::ue4m3, 16, 96},
    {"nvfp4_k128", MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, ScaleFormat::ue4m3, 16, 128},
    {"ue5m3_k128", MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, ScaleFormat::ue5m3, 16, 128},
    {"ue4m3_block32_k128", MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, ScaleFormat::ue4m3, 32,
     128},
    {"ue8m0_block16_k64", MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, ScaleFormat::ue8m0, 16,
     64},
    {"mxfp4_k64", MmaKind::mxf4, Format::e2m1, Format::e2m1, ScaleFormat::ue8m0, 32, 64},
    {"mxfp4_k96", MmaKind::mxf4, Format::e2m1, Format::e2m1, ScaleFormat::ue8m0, 32, 96},
    {"mxfp4_k128", MmaKind::mxf4, Format::e2m1, Format::e2m1, ScaleFormat::ue8m0, 32, 128},
    {"e4m3_k32", MmaKind::mxf8f6f4, Format::e4m3, Format::e4m3, ScaleFormat::ue8m0, 32, 32},
    {"e5m2_k32", MmaKind::mxf8f6f4, Format::e5m2, Format::e5m2, ScaleFormat::ue8m0, 32, 32},
    {"e4m3_e5m2_k64", MmaKind::mxf8f6f4, Format::e4m3, Format::e5m2, ScaleFormat::ue8m0, 32, 64},
    {"e4m3_k64", MmaKind::mxf8f6f4, Format::e4m3, Format::e4m3, ScaleFormat::ue8m0, 32, 64},
    {"e2m1_e4m3_k32", MmaKind::mxf8f6f4, Format::e2m1, Format::e4m3, ScaleFormat::ue8m0, 32, 32,
     Packing::padded16, Packing::dense},
    {"e2m3_e3m2_k32", MmaKind::mxf8f6f4, Format::e2m3, Format::e3m2, ScaleFormat::ue8m0, 32, 32,
     Packing::padded16, Packing::padded16},
    {"e3m2_e2m1_k64", MmaKind::mxf8f6f4, Format::e3m2, Format::e2m1, ScaleFormat::ue8m0, 32, 64},
};

class Paths : public testing::TestWithParam<Mode> {};

/// Runs every path on the tile and expects the bits of the plain model, around D too.
void expectAgreement(const test::RandomTile &tile, const std::vector<test::NamedPath> &paths,
                     const std::string &what) {
  const MmaInstruction &i = tile.instruction;
  std::vector<float> expected = tile.d;
  mma(i, tile.operands(expected.data()), MmaPath::plain);
  for (const test::NamedPath &path : paths) {
    std::vector<float> d = tile.d;
    path.run(i, tile.operands(d.data()));
    size_t different = 0;
    for (size_t j = 0; j < d.size(); ++j)
      different += std::memcmp(&d[j], &expected[j], 4) != 0;
    EXPECT_EQ(different, 0u) << path.name << " " << what << " m " << i.m << " n " << i.n << " k "
                             << i.k << " accumulate " << i.accumulate;
  }
}

TEST_P(Paths, AgreeOnRandomTiles) {
  const Mode &mode = GetParam();
  test::TileMaker maker(mode.k * 1000 + int(mode.a) * 10 + int(mode.b));
  std::vector<test::NamedPath> paths = test::paths();
  const int widths[] = {8, 256, 24, 128, 16, 96, 40};
  int number = 0;
  for (Data data : test::kAllData)
    for (int repeat = 0; repeat < test::thinned(3); ++repeat, ++number) {
      MmaInstruction i{};
      i.kind = mode.kind, i.a = mode.a, i.b = mode.b, i.scale = mode.scale;
      i.aPacking = mode.aPacking, i.bPacking = mode.bPacking;
      i.block = mode.block, i.k = mode.k;
      i.m = number % 5 == 4 ? 64 : 128;
      i.n = widths[number % 7];
      i.accumulate = repeat != 1;
      i.negateA = number % 3 == 1, i.negateB = number % 4 == 1;
      expectAgreement(maker.make(i, data), paths, "data " + std::to_string(int(data)));
    }
}

INSTANTIATE_TEST_SUITE_P(Modes, Paths, testing::ValuesIn(kModes),
                         [](const auto &info) { return std::string(info.param.name); });

/// Every pair of formats of mxf8f6f4 in shapes that fill no vector. FP6 and FP4 lie
/// padded or dense, which is how instructions of a register and of memory have them.
TEST(BytePaths, AgreeOnEveryPairOfBytesInAnyShape) {
  const Format formats[] = {Format::e4m3, Format::e5m2, Format::e2m3, Format::e3m2, Format::e2m1};
  const int widths[] = {8, 33, 1, 24, 71, 16, 5}, heights[] = {7, 4, 1, 18, 11};
  std::vector<test::NamedPath> paths = test::paths();
  test::TileMaker maker(86);
  int number = 0;
  for (Format a : formats)
    for (Format b : formats)
      for (int k : {32, 64})
        for (Data data : test::kAllData) {
          MmaInstruction i{};
          i.kind = MmaKind::mxf8f6f4, i.a = a, i.b = b, i.scale = ScaleFormat::ue8m0;
          i.block = 32, i.k = k;
          ++number;
          if (facts::info(a).bits < 8 && number % 2)
            i.aPacking = Packing::padded16;
          if (facts::info(b).bits < 8 && number % 3)
            i.bPacking = Packing::padded16;
          i.m = heights[number % 5], i.n = widths[number % 7];
          i.accumulate = number % 8 != 3;
          i.negateA = number % 3 == 1, i.negateB = number % 4 == 1;
          expectAgreement(maker.make(i, data), paths,
                          std::to_string(int(a)) + " by " + std::to_string(int(b)) + " data " +
                              std::to_string(int(data)));
        }
}

/// Elements far below the largest of their block, each against a large one, so that
/// all products are equal: what a path adds one by one then leaves int32.
TEST(BytePaths, AgreeOnManyExceptions) {
  MmaInstruction i{};
  i.kind = MmaKind::mxf8f6f4, i.a = i.b = Format::e4m3, i.scale = ScaleFormat::ue8m0;
  i.block = 32, i.k = 64, i.m = 8, i.n = 24;
  test::RandomTile tile = test::TileMaker(4).make(i, Data::quantised);
  constexpr uint8_t kLarge = 0x7E, kSmall = 0x0E; // 1.75 * 2^8, 1.75 * 2^-6
  for (int k = 0; k < i.k; ++k) {
    int at = k % i.block;
    for (int r = 0; r < i.m; ++r)
      tile.a[size_t(r) * tile.aPitch + size_t(k)] = at < 8 ? kLarge : at < 12 ? kSmall : 0;
    for (int r = 0; r < i.n; ++r)
      tile.b[size_t(r) * tile.bPitch + size_t(k)] = at < 8 ? kSmall : at < 12 ? kLarge : 0;
  }
  std::fill(tile.sfa.begin(), tile.sfa.end(), uint8_t(127));
  std::fill(tile.sfb.begin(), tile.sfb.end(), uint8_t(127));
  std::fill(tile.d.begin(), tile.d.end(), 1.0f);
  expectAgreement(tile, test::paths(), "");
}

#if defined(__x86_64__)
TEST(MmaEnvironment, ResultsAndStateDoNotDependOnTheCallersMode) {
  MmaInstruction i{};
  i.kind = MmaKind::mxf4nvf4, i.a = i.b = Format::e2m1, i.scale = ScaleFormat::ue8m0;
  i.block = 16, i.k = 64, i.n = 32;
  test::TileMaker maker(5);
  test::RandomTile tile = maker.make(i, Data::sparse);
  for (const test::NamedPath &path : test::paths()) {
    std::vector<float> normal = tile.d, odd = tile.d;
    path.run(i, tile.operands(normal.data()));
    unsigned saved = _mm_getcsr(), mode = 0x1F80 | 0x8040 | 0x6000; // FTZ, DAZ, toward zero
    _mm_setcsr(mode);
    path.run(i, tile.operands(odd.data()));
    unsigned after = _mm_getcsr();
    _mm_setcsr(saved);
    EXPECT_EQ(after, mode) << path.name;
    EXPECT_EQ(std::memcmp(normal.data(), odd.data(), normal.size() * 4), 0) << path.name;
  }
}
#endif

} // namespace
