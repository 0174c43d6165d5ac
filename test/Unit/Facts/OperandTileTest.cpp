//===- OperandTileTest.cpp - bytes of a stage, written down by hand -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TMA and an MMA that share a wrong reading agree with each other, so what a stage
// spans, what arrives, and where an element lies stands here in numbers.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/OperandTile.h"
#include "blockscale/Facts/ProductKind.h"

#include <gtest/gtest.h>

using namespace blockscale::facts;

namespace {

/// 128 rows of one stage: K of the instruction, then bytes in shared memory, bytes that
/// arrive, and bytes from one instruction to the next.
struct Row {
  MmaKind kind;
  Format format;
  int instK;
  TmaType type;
  Swizzle swizzle;
  int64_t box0, bytes, arriving, step;
};

// clang-format off
constexpr Row kTable[] = {
    // FP4 kinds: 256 elements, two a byte.
    {MmaKind::mxf4nvf4, Format::e2m1, 64,  TmaType::u8,        Swizzle::b128, 128, 16384, 16384, 32},
    {MmaKind::mxf4nvf4, Format::e2m1, 128, TmaType::u8,        Swizzle::b128, 128, 16384, 16384, 64},
    {MmaKind::mxf4,     Format::e2m1, 64,  TmaType::u8,        Swizzle::b128, 128, 16384, 16384, 32},
    // mxf8f6f4, 128 elements. K = 32: a byte each, of FP6 and FP4 16 elements in the first 12
    // or 8 of 16 bytes.
    {MmaKind::mxf8f6f4, Format::e4m3, 32,  TmaType::u8,        Swizzle::b128, 128, 16384, 16384, 32},
    {MmaKind::mxf8f6f4, Format::e5m2, 32,  TmaType::u8,        Swizzle::b128, 128, 16384, 16384, 32},
    {MmaKind::mxf8f6f4, Format::e2m3, 32,  TmaType::u6Align16, Swizzle::b128, 128, 16384, 12288, 32},
    {MmaKind::mxf8f6f4, Format::e3m2, 32,  TmaType::u6Align16, Swizzle::b128, 128, 16384, 12288, 32},
    {MmaKind::mxf8f6f4, Format::e2m1, 32,  TmaType::u4Align16, Swizzle::b128, 128, 16384, 8192,  32},
    // K = 64 of sm_107a: packed tight.
    {MmaKind::mxf8f6f4, Format::e4m3, 64,  TmaType::u8,        Swizzle::b128, 128, 16384, 16384, 64},
    {MmaKind::mxf8f6f4, Format::e2m1, 64,  TmaType::u8,        Swizzle::b64,  64,  8192,  8192,  32},
};
// clang-format on

TEST(OperandTile, BytesOfTheTable) {
  for (const Row &row : kTable) {
    SCOPED_TRACE(std::string(name(row.kind)) + " " + std::string(name(row.format)) + " " +
                 std::to_string(row.instK));
    OperandTile t =
        operandTile(row.kind, row.format, Major::k, /*rows=*/128, tileK(row.kind), row.instK);
    EXPECT_EQ(t.type, row.type);
    EXPECT_EQ(t.swizzle, row.swizzle);
    EXPECT_EQ(t.box0, row.box0);
    EXPECT_EQ(t.box1, 128);
    EXPECT_EQ(t.boxes, 1);
    EXPECT_EQ(t.bytes(), row.bytes);
    EXPECT_EQ(t.arrivingBytes(), row.arriving);
    EXPECT_EQ(t.stepBytes, row.step);
    EXPECT_EQ(t.stride, row.bytes / 16); // eight rows
  }
}

/// Element k of a row: byte and first bit in it, before the swizzle.
TEST(OperandTile, PlaceOfElementsInARow) {
  struct Place {
    Format format;
    int instK, k, byte, bit;
  };
  // clang-format off
  constexpr Place kPlaces[] = {
      {Format::e2m1, 32, 0, 0, 0},   {Format::e2m1, 32, 15, 7, 4},  {Format::e2m1, 32, 16, 16, 0},
      {Format::e2m1, 32, 33, 32, 4}, {Format::e2m1, 64, 16, 8, 0},  {Format::e2m1, 64, 33, 16, 4},
      {Format::e3m2, 32, 1, 0, 6},   {Format::e3m2, 32, 15, 11, 2}, {Format::e3m2, 32, 16, 16, 0},
      {Format::e4m3, 32, 17, 17, 0}, {Format::e4m3, 64, 17, 17, 0},
  };
  // clang-format on
  for (const Place &p : kPlaces) {
    RowPacking packing = packingOf(MmaKind::mxf8f6f4, p.format, p.instK);
    EXPECT_EQ(elementBit(p.k, int(info(p.format).bits), packing), p.byte * 8 + p.bit)
        << name(p.format) << " k = " << p.k;
  }
  EXPECT_EQ(packingOf(MmaKind::mxf4, Format::e2m1, 64), RowPacking::dense);
}

TEST(OperandTile, MnMajorIsOneBoxForEachLine) {
  struct Case {
    int64_t rows;
    Swizzle swizzle;
    int64_t box0, boxes, leading, stride, step;
  };
  constexpr Case kCases[] = {{64, Swizzle::b64, 64, 1, 8192, 512, 2048},
                             {128, Swizzle::b128, 128, 1, 16384, 1024, 4096},
                             {192, Swizzle::b64, 64, 3, 8192, 512, 2048},
                             {256, Swizzle::b128, 128, 2, 16384, 1024, 4096}};
  for (const Case &c : kCases) {
    OperandTile t = operandTile(MmaKind::mxf8f6f4, Format::e5m2, Major::mn, c.rows, 128, 32);
    EXPECT_EQ(t.swizzle, c.swizzle) << c.rows;
    EXPECT_EQ(t.box0, c.box0);
    EXPECT_EQ(t.box1, 128);
    EXPECT_EQ(t.boxes, c.boxes);
    EXPECT_EQ(t.bytes(), c.rows * 128);
    EXPECT_EQ(t.arrivingBytes(), c.rows * 128);
    EXPECT_EQ(t.leading, c.leading);
    EXPECT_EQ(t.stride, c.stride);
    EXPECT_EQ(t.stepBytes, c.step);
  }
}

TEST(OperandTile, SixBitsStayAtTheShortK) {
  EXPECT_EQ(longestFetchedK(MmaKind::mxf8f6f4, Format::e2m3), 32);
  EXPECT_EQ(longestFetchedK(MmaKind::mxf8f6f4, Format::e3m2), 32);
  EXPECT_GE(longestFetchedK(MmaKind::mxf8f6f4, Format::e2m1), 64);
  EXPECT_GE(longestFetchedK(MmaKind::mxf4nvf4, Format::e2m1), 128);
}

TEST(ProductKind, EveryPairHasAKind) {
  int pairs = 0;
  for (const FormatInfo &a : kFormats)
    for (const FormatInfo &b : kFormats) {
      bool narrow = a.bits <= 8 && b.bits <= 8;
      pairs += narrow;
      EXPECT_EQ(multiplies(MmaKind::mxf8f6f4, {a.format, b.format, ScaleFormat::ue8m0, 32}),
                narrow);
    }
  EXPECT_EQ(pairs, 25);
  for (ScaleFormat scale : {ScaleFormat::ue8m0, ScaleFormat::ue4m3, ScaleFormat::ue5m3})
    for (int64_t block : {16, 32})
      EXPECT_TRUE(multiplies(MmaKind::mxf4nvf4, {Format::e2m1, Format::e2m1, scale, block}));
  EXPECT_FALSE(multiplies(MmaKind::mxf4, {Format::e2m1, Format::e2m1, ScaleFormat::ue8m0, 16}));
  EXPECT_FALSE(multiplies(MmaKind::mxf4nvf4, {Format::e2m1, Format::e4m3, ScaleFormat::ue8m0, 32}));
}

TEST(ProductKind, BlockThatScalesUsuallyHave) {
  EXPECT_EQ(productBlock(Format::e2m1, Format::e2m1, ScaleFormat::ue8m0), 32);
  EXPECT_EQ(productBlock(Format::e2m1, Format::e2m1, ScaleFormat::ue4m3), 16);
  EXPECT_EQ(productBlock(Format::e2m1, Format::e2m1, ScaleFormat::ue5m3), 16);
  EXPECT_EQ(productBlock(Format::e2m1, Format::e5m2, ScaleFormat::ue8m0), 32);
  EXPECT_EQ(productBlock(Format::e4m3, Format::e4m3, ScaleFormat::ue4m3), 0);
}

} // namespace
