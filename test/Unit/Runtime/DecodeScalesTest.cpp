//===- DecodeScalesTest.cpp - weights with their terms as f32 -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes are held against offsets that were worked out by hand from the layout's
// description, not by its functions.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Convert.h"
#include "blockscale/Facts/BlockFormat.h"
#include "blockscale/Runtime/Host.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

using namespace blockscale;

namespace {

constexpr int64_t kRows = 18, kK = 512; // two strips of rows, two blocks of k
constexpr size_t kPlane = 3072;

std::vector<uint8_t> makeBlocks() {
  std::vector<uint8_t> blocks(size_t(kRows * kK / 256 * 144));
  // The worked example of Facts/BlockFormat.h.
  constexpr std::array<uint8_t, 12> scales{0x83, 0x12, 0x47, 0x8a, 0x3f, 0x91,
                                           0x05, 0xc2, 0xb6, 0x7e, 0x2d, 0x59};
  for (size_t i = 0; i < blocks.size() / 144; ++i) {
    uint8_t *block = &blocks[i * 144];
    uint16_t d = emu::encodeF16(0.5f + float(i) / 64), dmin = emu::encodeF16(2.0f + float(i));
    std::memcpy(block, &d, 2);
    std::memcpy(block + 2, &dmin, 2);
    std::memcpy(block + 4, scales.data(), scales.size());
    for (size_t byte = 0; byte < 128; ++byte)
      block[16 + byte] = uint8_t(i * 31 + byte * 7);
  }
  return blocks;
}

float floatAt(const std::vector<uint8_t> &bytes, size_t offset) {
  float value;
  std::memcpy(&value, &bytes[offset], sizeof value);
  return value;
}

TEST(DecodeScales, BytesAreWhereTheLayoutSays) {
  std::vector<uint8_t> blocks = makeBlocks(), planes(4 * kPlane, 0xEE);
  ASSERT_EQ(facts::matrixBytes(facts::BlockFormat::q4_K_plane, kRows, kK), int64_t(planes.size()));
  ASSERT_EQ(bsrt_host_decode_scales(kRows, kK, blocks.data(), planes.data()), BSRT_OK);
  // Row 5, block 1: plane 1; piece 3 lies at 3 ^ 5 = 6.
  size_t index = 5 * 2 + 1;
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(planes[kPlane + 5 * 128 + 6 * 16 + i], blocks[index * 144 + 16 + 3 * 16 + i]);
  // Sub-block 4 has the pair (38, 11).
  size_t term = kPlane + 2048 + 4 * 128 + 5 * 8;
  EXPECT_EQ(floatAt(planes, term), (0.5f + float(index) / 64) * 38);
  EXPECT_EQ(floatAt(planes, term + 4), -(2.0f + float(index)) * 11);
  // Row 17 is the second of the second strip; behind it there are zeroes.
  EXPECT_EQ(floatAt(planes, 2 * kPlane + 2048 + 1 * 8), (0.5f + 34.0f / 64) * 3);
  for (size_t i = 2 * 128; i < 2048; ++i)
    EXPECT_EQ(planes[2 * kPlane + i], 0) << i;
  EXPECT_EQ(floatAt(planes, 2 * kPlane + 2048 + 2 * 8), 0);
}

TEST(DecodeScales, RefusesPartsOfABlock) {
  EXPECT_NE(bsrt_host_decode_scales(1, 128, nullptr, nullptr), BSRT_OK);
  EXPECT_NE(std::string(bsrt_error_message()).find("multiple of 256, got 128"), std::string::npos);
}

} // namespace
