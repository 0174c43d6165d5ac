//===- HostScalesTest.cpp - layouts and encodings of scales ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expected offsets and bytes are written by hand from public reports (D05, D09,
// D17 of the case list).
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/Format.h"
#include "blockscale/Runtime/Host.h"

#include <gtest/gtest.h>

#include <random>

using namespace blockscale;

namespace {

constexpr int32_t kLinear = int32_t(facts::ScaleLayout::linear);
constexpr int32_t kUe8m0 = int32_t(facts::ScaleFormat::ue8m0);
constexpr int32_t kUe4m3 = int32_t(facts::ScaleFormat::ue4m3);
constexpr int32_t kTiled = int32_t(facts::ScaleLayout::tiled);

std::vector<uint8_t> randomBytes(size_t count) {
  std::mt19937 random(5);
  std::vector<uint8_t> bytes(count);
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  return bytes;
}

TEST(HostScales, D05TileOffsets) {
  struct Place {
    int64_t row, index, offset;
  };
  // M = 130, 5 blocks: 2048 bytes.
  std::vector<uint8_t> linear = randomBytes(130 * 5), tiled(2048, 0xEE);
  ASSERT_EQ(bsrt_host_relayout_scales(kUe8m0, 130, 5, kLinear, linear.data(), kTiled, tiled.data()),
            BSRT_OK);
  for (const Place &p : {Place{1, 0, 16}, Place{32, 0, 4}, Place{33, 1, 21}, Place{127, 3, 511},
                         Place{0, 4, 512}, Place{128, 0, 1024}, Place{129, 4, 1552}})
    EXPECT_EQ(tiled[p.offset], linear[p.row * 5 + p.index]) << p.row << ", " << p.index;
}

TEST(HostScales, RefusesTheSignOfUe4m3) {
  std::vector<uint8_t> linear(130 * 5, 0x38), tiled(2048, 0xB8);
  ASSERT_EQ(bsrt_host_relayout_scales(kUe4m3, 130, 5, kLinear, linear.data(), kTiled, tiled.data()),
            BSRT_OK);
  linear[129 * 5 + 3] = 0xB8;
  EXPECT_EQ(bsrt_host_relayout_scales(kUe8m0, 130, 5, kLinear, linear.data(), kTiled, tiled.data()),
            BSRT_OK);
  EXPECT_EQ(bsrt_host_relayout_scales(kUe4m3, 130, 5, kLinear, linear.data(), kTiled, tiled.data()),
            BSRT_ERROR);
  EXPECT_STREQ(bsrt_error_message(),
               "host: ue4m3 scale [129, 3] must have a zero top bit, got 0xb8");
}

TEST(HostScales, D05RoundTripKeepsBytesAndZeroesPadding) {
  for (auto [rows, scales] : {std::pair<int64_t, int64_t>{128, 4}, {256, 12}, {130, 5}, {1, 1}}) {
    std::vector<uint8_t> linear = randomBytes(rows * scales);
    for (uint8_t &byte : linear)
      byte |= 1; // so that zeros can only be padding
    size_t size = (rows + 127) / 128 * ((scales + 3) / 4) * 512;
    std::vector<uint8_t> tiled(size, 0xEE), back(linear.size());
    ASSERT_EQ(bsrt_host_relayout_scales(kUe8m0, rows, scales, kLinear, linear.data(), kTiled,
                                        tiled.data()),
              BSRT_OK);
    EXPECT_EQ(size_t(std::count(tiled.begin(), tiled.end(), 0)), size - linear.size());
    ASSERT_EQ(
        bsrt_host_relayout_scales(kUe8m0, rows, scales, kTiled, tiled.data(), kLinear, back.data()),
        BSRT_OK);
    EXPECT_EQ(back, linear);
  }
}

TEST(HostScales, tailOfKIsZeroedAndNothingElse) {
  // K = 96 with a block of 32: 3 scales, the fourth of each row is padding.
  std::vector<uint8_t> tiled(1024, 0x7F);
  ASSERT_EQ(bsrt_host_zero_scale_tail(130, 3, tiled.data()), BSRT_OK);
  for (size_t i = 0; i < tiled.size(); ++i)
    EXPECT_EQ(tiled[i], i % 4 == 3 ? 0 : 0x7F) << i;
  std::vector<uint8_t> whole(512, 0x7F);
  ASSERT_EQ(bsrt_host_zero_scale_tail(128, 4, whole.data()), BSRT_OK);
  EXPECT_EQ(whole, std::vector<uint8_t>(512, 0x7F));
}

TEST(HostScales, RowsOfAnotherPitchHaveZeroTails) {
  // Three rows of two bytes, three and five bytes apart.
  std::vector<uint8_t> rows{1, 2, 0xFF, 3, 4, 0xFF, 5, 6, 0xFF};
  std::vector<uint8_t> apart(15, 0xEE), dense(6);
  ASSERT_EQ(bsrt_host_repitch(3, 2, 3, rows.data(), 5, apart.data()), BSRT_OK);
  EXPECT_EQ(apart, (std::vector<uint8_t>{1, 2, 0, 0, 0, 3, 4, 0, 0, 0, 5, 6, 0, 0, 0}));
  ASSERT_EQ(bsrt_host_repitch(3, 2, 5, apart.data(), 2, dense.data()), BSRT_OK);
  EXPECT_EQ(dense, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(HostScales, D09SwapNibbles) {
  std::vector<uint8_t> bytes{0x21, 0x00, 0xF7};
  ASSERT_EQ(bsrt_host_swap_nibbles(3, bytes.data(), bytes.data()), BSRT_OK);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0x12, 0x00, 0x7F}));
}

TEST(HostScales, D09ElementZeroIsInTheLowNibble) {
  bsrt_blocks blocks{1,  32,     int32_t(facts::Format::e2m1), int32_t(facts::ScaleFormat::ue8m0),
                     32, kLinear};
  std::vector<uint8_t> elements(16, 0), scales{0x7F};
  elements[0] = 0x21;
  float values[32];
  ASSERT_EQ(bsrt_host_dequantize(&blocks, elements.data(), scales.data(), 1.0f, values), BSRT_OK);
  EXPECT_EQ(values[0], 0.5f);
  EXPECT_EQ(values[1], 1.0f);
  EXPECT_EQ(values[2], 0.0f);
}

TEST(HostScales, D17RoundingIsExplicit) {
  const float scales[] = {1.0f, 1.5f, 2.0f, 1.3f}; // two columns of a pitch of two
  uint8_t bytes[2];
  EXPECT_EQ(bsrt_host_encode_scales(1, 2, 2, scales, BSRT_SCALE_EXACT, bytes), BSRT_ERROR);
  EXPECT_STREQ(bsrt_error_message(),
               "host: scale [0, 1] must be a power of two or be given a rounding, got 1.5");
  ASSERT_EQ(bsrt_host_encode_scales(1, 2, 2, scales, BSRT_SCALE_TOWARD_ZERO, bytes), BSRT_OK);
  EXPECT_EQ(bytes[1], 0x7F);
  ASSERT_EQ(bsrt_host_encode_scales(1, 2, 2, scales, BSRT_SCALE_UP, bytes), BSRT_OK);
  EXPECT_EQ(bytes[1], 0x80);
  // What lies beyond the real columns (here 1.5 and 1.3) is never looked at.
  EXPECT_EQ(bsrt_host_encode_scales(2, 1, 2, scales, BSRT_SCALE_EXACT, bytes), BSRT_OK);
  EXPECT_EQ(bytes[0], 0x7F);
  EXPECT_EQ(bytes[1], 0x80);
}

TEST(HostScales, refusesWhatIsNotABlockFormat) {
  int64_t elements, scales;
  auto message = [&](bsrt_blocks blocks) -> std::string {
    return bsrt_host_block_sizes(&blocks, &elements, &scales) == BSRT_OK ? ""
                                                                         : bsrt_error_message();
  };
  EXPECT_EQ(message({2, 64, 0, 0, 32, 0}), "");
  EXPECT_EQ(elements, 64);
  EXPECT_EQ(scales, 4);
  EXPECT_EQ(message({2, 64, 0, 0, 32, 1}), "");
  EXPECT_EQ(scales, 512);
  EXPECT_EQ(message({2, 40, 0, 1, 16, 0}),
            "host: columns must be a multiple of the block of 16, got 40");
  EXPECT_EQ(message({2, 40, 0, 1, 8, 0}), "host: block must be 16 or 32, got 8");
  EXPECT_EQ(message({2, 64, 5, 0, 32, 0}), "host: elements must have at most 8 bits, got f16");
  EXPECT_EQ(message({2, 64, 99, 0, 32, 0}), "host: code of elements must be below 8, got 99");
  EXPECT_EQ(message({2, 64, 0, 7, 32, 0}), "host: code of scales must be below 3, got 7");
  EXPECT_EQ(message({2, 64, 0, 0, 32, 2}), "host: layout of scales must be 0 or 1, got 2");
}

} // namespace
