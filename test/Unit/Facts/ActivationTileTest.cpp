//===- ActivationTileTest.cpp - bytes of transposed activations -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets are held against ones that were worked out by hand from the layout's
// description; that the planes are what fragments read is tested against the maps of
// LayoutsWarp.h.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/ActivationTile.h"
#include "blockscale/Facts/LayoutsWarp.h"

#include <gtest/gtest.h>

#include <set>

using namespace blockscale::facts;

namespace {

TEST(ActivationTile, HandWorkedOffsets) {
  // Chunk 0: token 0 at the start; token 5 is the second of line 1, whose piece 2 goes to
  // 2 ^ 1 = 3; its second half to 3 ^ 1 = 2.
  EXPECT_EQ(tileValueOffset(0, 0), 0);
  EXPECT_EQ(tileValueOffset(0, 17), 17);
  EXPECT_EQ(tileValueOffset(5, 0), 128 + 3 * 16);
  EXPECT_EQ(tileValueOffset(5, 31), 128 + 2 * 16 + 15);
  // Token 63: line 15, which permutes as line 7: piece 6 goes to 1.
  EXPECT_EQ(tileValueOffset(63, 255), 7 * 2048 + 15 * 128 + 0 * 16 + 15);
  EXPECT_EQ(tileValueOffset(63, 224), 7 * 2048 + 15 * 128 + 1 * 16);
  EXPECT_EQ(tileScaleOffset(0, 0), 16384);
  EXPECT_EQ(tileScaleOffset(9, 3), 16384 + 3 * 256 + (1 * 4 + 1) * 4);
  EXPECT_EQ(tileScaleOffset(50, 7), 16384 + 7 * 256 + ((8 + 2) * 4 + 2) * 4);
  EXPECT_EQ(tileSumOffset(50, 7), 18432 + 7 * 256 + ((8 + 2) * 4 + 2) * 4);
  EXPECT_EQ(tilePartOffset(50, 7, 0), 18432 + 50 * 16 + 14);
  EXPECT_EQ(tilePartOffset(1, 2, 2), 18432 + 2048 + 16 + 4);
}

TEST(ActivationTile, EveryByteHasOneOwner) {
  for (BlockFormat format : {BlockFormat::q8_1_tile, BlockFormat::q8_1_tile_parts}) {
    std::set<int> bytes;
    auto own = [&](int offset, int count) {
      for (int i = 0; i < count; ++i)
        EXPECT_TRUE(bytes.insert(offset + i).second) << offset + i;
    };
    for (int token = 0; token < kTileTokens; ++token) {
      for (int element = 0; element < kTileElements; ++element)
        own(tileValueOffset(token, element), 1);
      for (int chunk = 0; chunk < kTileChunks; ++chunk) {
        own(tileScaleOffset(token, chunk), 4);
        if (format == BlockFormat::q8_1_tile)
          own(tileSumOffset(token, chunk), 4);
        else
          for (int part = 0; part < kSumParts; ++part)
            own(tilePartOffset(token, chunk, part), 2);
      }
    }
    EXPECT_EQ(int(bytes.size()), info(format).bytes);
    EXPECT_EQ(*bytes.rbegin(), info(format).bytes - 1);
  }
}

TEST(ActivationTile, SizesOfMatrices) {
  EXPECT_EQ(matrixBytes(BlockFormat::q8_1_chunk, 65, 512), 65 * 640);
  EXPECT_EQ(matrixBytes(BlockFormat::q8_1_tile, 65, 512), 2 * 2 * 20480);
  EXPECT_EQ(matrixBytes(BlockFormat::q8_1_tile_parts, 64, 256), 21504);
}

float partsOf(float sum) {
  double total = 0;
  for (uint16_t part : splitSum(sum))
    total += double(std::bit_cast<float>(uint32_t(part) << 16));
  return float(total);
}

TEST(ActivationTile, PartsAddUpToTheScaledSum) {
  // Every sum of a chunk with scales of 11 bits, the smallest included.
  for (float d : {0x1p-24f, 0x1.FFCp15f, 0x1.554p-3f, 0x1.234p-9f})
    for (int sum = -32 * 127; sum <= 32 * 127; ++sum)
      ASSERT_EQ(partsOf(d * float(sum)), d * float(sum));
  EXPECT_EQ(splitSum(0x1.23456p3f), (std::array<uint16_t, 3>{0x4111, 0x3D22, 0x3930}));
  EXPECT_EQ(splitSum(-0.0f)[0], 0x8000);
  EXPECT_EQ(splitSum(std::bit_cast<float>(0x7F800001u)), (std::array<uint16_t, 3>{0x7FFF, 0, 0}));
  EXPECT_EQ(splitSum(std::bit_cast<float>(0xFF800000u)), (std::array<uint16_t, 3>{0xFF80, 0, 0}));
}

/// Four 8x8 matrices of ldmatrix, two parts of 16 tokens, are A of m16n8k16.
TEST(ActivationTile, RowsOfPartsAreFragmentA) {
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 8; ++i) {
      int reg = i / 2; // and matrix: tokens 0..7 and 8..15 of part 0, then of part 1
      LdmatrixPlace place = ldmatrixPlace(lane, reg, i % 2);
      int byte = tilePartOffset(place.thread % 16, 0, place.thread / 16) + place.element * 2;
      FragmentPlace want = fragmentA(lane, i, /*bits=*/16);
      EXPECT_EQ(byte, tilePartOffset(want.row, want.column % 8, want.column / 8));
    }
}

/// A lane's 16 bytes of terms are those of its rows in fragments C of two groups of 16.
TEST(ActivationTile, TermsOfALaneAreNeighbours) {
  for (int lane = 0; lane < 32; ++lane)
    for (int half = 0; half < 2; ++half)
      for (int word = 0; word < 4; ++word) {
        int token = half * 32 + word / 2 * 16 + fragmentC(lane, word % 2 * 2).row;
        EXPECT_EQ(tileTermSlot(token), half * 32 + lane / 4 * 4 + word);
      }
}

} // namespace
