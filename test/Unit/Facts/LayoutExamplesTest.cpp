//===- LayoutExamplesTest.cpp - layouts by hand ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Points and byte tables worked out by hand from the manual's words, and the
// public case D05. They share nothing with the Python reference.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/LayoutsAccumulator.h"
#include "blockscale/Facts/LayoutsScales.h"
#include "blockscale/Facts/LayoutsSmem.h"
#include "blockscale/Facts/LayoutsTma.h"
#include "blockscale/Facts/LayoutsTmemAccess.h"
#include "blockscale/Facts/ScaleTile.h"

#include <gtest/gtest.h>

#include <set>

using namespace blockscale::facts;

namespace {

TEST(LayoutExamples, Accumulator) {
  // cg2, M = 128, N = 256: (70, 200) is in the odd CTA, lane 6 + 64, column 72.
  EXPECT_TRUE(accumulatorCell(70, 200, 128, 256, 2) == (TmemCell{1, 70, 72}));
  // cg1, M = 64: row 17 is lane 33.
  EXPECT_TRUE(accumulatorCell(17, 5, 64, 128, 1) == (TmemCell{0, 33, 5}));
  EXPECT_FALSE(accumulatorCell(0, 0, 96, 128, 1));
  EXPECT_FALSE(accumulatorCell(0, 0, 128, 128, 3));
  EXPECT_EQ(accumulatorColumns(128, 256, 2), 128);
}

TEST(LayoutExamples, KMajorSwizzle128) {
  // Start 0x4020, stride 1024, row 9, byte 5: line 0x44A5, bits 9:7 = 001, XOR 0x10.
  SmemDesc desc;
  desc.start = 0x4020;
  desc.strideBytes = 1024;
  desc.swizzle = Swizzle::b128;
  EXPECT_EQ(kMajorAddress(9, 5, desc), 0x44B5u);
  // The eight chunks of rows 0, 1 and 7 of a tile at 0, as the pattern is drawn.
  desc.start = 0;
  const uint32_t chunks[3][9] = {
      {0, 0, 1, 2, 3, 4, 5, 6, 7}, {1, 1, 0, 3, 2, 5, 4, 7, 6}, {7, 7, 6, 5, 4, 3, 2, 1, 0}};
  for (const auto &row : chunks)
    for (uint32_t c = 0; c < 8; ++c)
      EXPECT_EQ(kMajorAddress(int(row[0]), int(16 * c), desc), row[0] * 128 + row[c + 1] * 16);
}

TEST(LayoutExamples, Swizzles64And32) {
  // 64B: bits 5:4 ^= bits 8:7; 32B: bit 4 ^= bit 7.
  EXPECT_EQ(swizzleAddress(0x1B0, Swizzle::b64), 0x180u);
  EXPECT_EQ(swizzleAddress(0x080, Swizzle::b64), 0x090u);
  EXPECT_EQ(swizzleAddress(0x080, Swizzle::b32), 0x090u);
  EXPECT_EQ(swizzleAddress(0x100, Swizzle::b32), 0x100u);
  EXPECT_EQ(swizzleAddress(0x080, Swizzle::b128Atom32), 0x0A0u);
  EXPECT_EQ(swizzleAddress(0x080, Swizzle::b128Atom64), 0x0C0u);
}

TEST(LayoutExamples, K96Walk) {
  // Starts in units of 16 bytes: +0 +3 +6 of stage 0, +1 +4 +7 of stage 1, +2 +5 of stage 2.
  const int walk[8][2] = {{0, 0}, {0, 3}, {0, 6}, {1, 1}, {1, 4}, {1, 7}, {2, 2}, {2, 5}};
  for (int i = 0; i < kK96Steps; ++i) {
    EXPECT_EQ(k96Step(i).stage, walk[i][0]);
    EXPECT_EQ(k96Step(i).unit, walk[i][1]);
    EXPECT_EQ(k96Step(i).crosses(), i == 2 || i == 5);
  }
}

TEST(LayoutExamples, PaddedFp4Row) {
  // 16 elements in 8 bytes, then 8 bytes of gap: element 16 is byte 16, element 31 byte 23 high.
  EXPECT_EQ(elementBit(0, 4, RowPacking::padded16), 0);
  EXPECT_EQ(elementBit(15, 4, RowPacking::padded16), 60);
  EXPECT_EQ(elementBit(16, 4, RowPacking::padded16), 128);
  EXPECT_EQ(elementBit(31, 4, RowPacking::padded16), 23 * 8 + 4);
  EXPECT_EQ(elementBit(31, 6, RowPacking::padded16), 128 + 90);
  EXPECT_EQ(operandRowBytes(32, 4, RowPacking::padded16), 32);
  // One instruction of each K mode reads 32, 48 or 64 bytes of a row.
  EXPECT_EQ(operandRowBytes(64, 4, RowPacking::dense), 32);
  EXPECT_EQ(operandRowBytes(96, 4, RowPacking::dense), 48);
  EXPECT_EQ(operandRowBytes(128, 4, RowPacking::dense), 64);
  EXPECT_EQ(operandRowBytes(64, 8, RowPacking::dense), 64);
  EXPECT_EQ(operandRowBytes(64, 6, RowPacking::dense), 48);
  EXPECT_EQ(operandPacking(/*isF4Kind=*/false, 4, 32), RowPacking::padded16);
  EXPECT_EQ(operandPacking(/*isF4Kind=*/false, 4, 64), RowPacking::dense);
  EXPECT_EQ(operandPacking(/*isF4Kind=*/true, 4, 64), RowPacking::dense);
  EXPECT_EQ(operandPacking(/*isF4Kind=*/false, 8, 32), RowPacking::dense);
}

TEST(LayoutExamples, ScalesInTensorMemory) {
  // NVFP4 K = 64, row 77, scale 3: lane 13, column 2, byte 3.
  EXPECT_TRUE(scalePlace(77, 3, 128) == (ScalePlace{13, 2, 3}));
  // K = 128 block 16, N = 256, n = 200, scale 5: lane 8, column 6 + 8, byte 1.
  EXPECT_TRUE(scalePlace(200, 5, 256) == (ScalePlace{8, 14, 1}));
  // Columns of a K step on sm_107: 8 for A and 8 for each 128 of N at block 16.
  EXPECT_EQ(scaleColumns(128, 8), 8);
  EXPECT_EQ(scaleColumns(256, 8), 16);
  EXPECT_EQ(scaleColumns(128, 4), 4);
  // N = 192 is padded to 256 rows.
  EXPECT_EQ(scaleGroupColumns(192), 8);
  // K = 96 block 32 walks ids 0, 3, 2, 1 at words 0, 0, 1, 2.
  const int walk[4][2] = {{0, 0}, {3, 0}, {2, 1}, {1, 2}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(scaleStep(i, 3).id, walk[i][0]);
    EXPECT_EQ(scaleStep(i, 3).word, walk[i][1]);
  }
  // K = 96 block 16: id 0, then id 2 one word on.
  EXPECT_EQ(scaleStep(1, 6).id, 2);
  EXPECT_EQ(scaleStep(1, 6).word, 1);
}

TEST(LayoutExamples, OneCopyMovesATileOntoFourColumns) {
  // Byte (r % 32) * 16 + (r / 32) * 4 + k of the tile lands where the MMA looks for it.
  for (int row = 0; row < 128; ++row)
    for (int scale = 0; scale < 4; ++scale) {
      int64_t offset = scaleTileOffset(row, scale, 4);
      ScalePlace place = scalePlace(row, scale, 128);
      EXPECT_EQ(offset / 16, place.lane);
      EXPECT_EQ(offset % 16 / 4, place.column);
      EXPECT_EQ(offset % 4, place.byte);
    }
}

TEST(LayoutExamples, TilesOfB) {
  // Shipped kernels: N = 64 takes tile t/2 shifted by 2 (t % 2) columns, N = 192 two tiles.
  for (int t = 0; t < 6; ++t) {
    ScaleTilesOfB narrow = scaleTilesOfB(64 * t, 64);
    EXPECT_EQ(narrow.first, t / 2);
    EXPECT_EQ(narrow.count, 1);
    EXPECT_EQ(narrow.columnShift, 2 * (t % 2));
    ScaleTilesOfB wide = scaleTilesOfB(192 * t, 192);
    EXPECT_EQ(wide.first, 3 * (t / 2) + t % 2);
    EXPECT_EQ(wide.count, 2);
    EXPECT_EQ(wide.columnShift, 2 * (t % 2));
  }
}

TEST(LayoutExamples, D05ScaleTiles) {
  // 130 rows of 5 scales.
  EXPECT_EQ(scaleTileOffset(1, 0, 5), 16);
  EXPECT_EQ(scaleTileOffset(32, 0, 5), 4);
  EXPECT_EQ(scaleTileOffset(33, 1, 5), 21);
  EXPECT_EQ(scaleTileOffset(127, 3, 5), 511);
  EXPECT_EQ(scaleTileOffset(0, 4, 5), 512);
  EXPECT_EQ(scaleTileOffset(128, 0, 5), 1024);
  EXPECT_EQ(scaleTileOffset(129, 4, 5), 1552);
  EXPECT_EQ(scaleTileBytes(130, 5), 2048);
  const int64_t shapes[3][2] = {{128, 4}, {256, 12}, {130, 5}};
  for (const auto &[rows, scales] : shapes) {
    std::set<int64_t> offsets;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t scale = 0; scale < scales; ++scale) {
        int64_t offset = scaleTileOffset(row, scale, scales);
        EXPECT_TRUE(offset >= 0 && offset < scaleTileBytes(rows, scales));
        offsets.insert(offset);
      }
    EXPECT_EQ(int64_t(offsets.size()), rows * scales);
  }
}

TEST(LayoutExamples, LoadPlaces) {
  // 16x256b.x2, thread 6, register 7: lane 9, column 13.
  EXPECT_TRUE(ldPlace(LdShape::s16x256b, 6, 7) == (LdPlace{9, 13}));
  // 16x64b pairs thread bit 0 with lane + 8 and bit 1 with the column.
  EXPECT_TRUE(ldPlace(LdShape::s16x64b, 1, 0) == (LdPlace{8, 0}));
  EXPECT_TRUE(ldPlace(LdShape::s16x64b, 2, 0) == (LdPlace{0, 1}));
  EXPECT_FALSE(isLdCount(LdShape::s16x128b, 128));
  EXPECT_FALSE(isLdCount(LdShape::s16x256b, 64));
  EXPECT_TRUE(isLdCount(LdShape::s32x32b, 128));
  EXPECT_FALSE(isLdCount(LdShape::s32x32b, 3));
  // A load covers what its registers name, once each.
  for (const LdShapeInfo &shape : kLdShapes)
    for (int count = 1; count <= shape.maxCount; count *= 2) {
      std::set<std::pair<int, int>> cells;
      int registers = shape.registers * count;
      for (int t = 0; t < 32; ++t)
        for (int q = 0; q < registers; ++q) {
          LdPlace p = ldPlace(shape.shape, t, q, count);
          EXPECT_LT(p.column, ldColumns(shape.shape, count, count));
          EXPECT_LT(p.lane, shape.lanes);
          cells.insert({p.lane, p.column});
        }
      EXPECT_EQ(int(cells.size()), 32 * registers);
      EXPECT_EQ(shape.lanes * ldColumns(shape.shape, count, count), 32 * registers);
    }
}

TEST(LayoutExamples, TmaBytes) {
  // Whole boxes count: a 64x8 u8 box completes at 512 whatever lies outside.
  EXPECT_EQ(tmaTransactionBytes(TmaType::u8, 64, 8), 512);
  // Padded types count the payload: 128 FP4 are 64 bytes though 128 are spanned.
  EXPECT_EQ(tmaTransactionBytes(TmaType::u4Align16, 128, 1), 64);
  EXPECT_EQ(tmaSharedRowBytes(TmaType::u4Align16, 128), 128);
  EXPECT_EQ(tmaTransactionBytes(TmaType::u6Align16, 128, 1), 96);
  // A short swizzled row still takes the whole span.
  EXPECT_EQ(tmaRowPitch(48, Swizzle::b128), 128);
  EXPECT_EQ(tmaRowPitch(48, Swizzle::none), 48);
  // Start coordinates that made an H200 fault, and some that did not.
  EXPECT_FALSE(tmaStartIsAligned(TmaType::u16, -3));
  EXPECT_FALSE(tmaStartIsAligned(TmaType::u16, 108));
  EXPECT_FALSE(tmaStartIsAligned(TmaType::u8, 8));
  EXPECT_TRUE(tmaStartIsAligned(TmaType::u8, -16));
  EXPECT_TRUE(tmaStartIsAligned(TmaType::u4Align8, 32));
}

} // namespace
