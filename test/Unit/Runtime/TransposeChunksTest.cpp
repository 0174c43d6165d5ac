//===- TransposeChunksTest.cpp - chunks of activations as tiles -----------===//
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

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

using namespace blockscale;
using facts::BlockFormat;

namespace {

constexpr int64_t kTokens = 65, kK = 512; // two tiles of tokens, two of k

std::vector<uint8_t> makeChunks() {
  std::vector<uint8_t> chunks(size_t(kTokens * kK / 32 * 40));
  for (int64_t token = 0; token < kTokens; ++token)
    for (int64_t chunk = 0; chunk < kK / 32; ++chunk) {
      uint8_t *to = &chunks[size_t((token * (kK / 32) + chunk) * 40)];
      uint16_t d = emu::encodeF16(0.25f + float(token) / 64 + float(chunk));
      int32_t sum = 0;
      for (int i = 0; i < 32; ++i) {
        int8_t q = int8_t((token * 7 + chunk * 5 + i * 3) % 255 - 127);
        to[4 + i] = uint8_t(q);
        sum += q;
      }
      std::memcpy(to, &d, 2);
      std::memcpy(to + 36, &sum, 4);
    }
  return chunks;
}

std::vector<uint8_t> transpose(BlockFormat format, const std::vector<uint8_t> &chunks) {
  std::vector<uint8_t> tiles(size_t(facts::matrixBytes(format, kTokens, kK)), 0xEE);
  EXPECT_EQ(bsrt_host_transpose_chunks(kTokens, kK, int32_t(format), chunks.data(), tiles.data()),
            BSRT_OK);
  return tiles;
}

float floatAt(const std::vector<uint8_t> &bytes, size_t offset) {
  float value;
  std::memcpy(&value, &bytes[offset], sizeof value);
  return value;
}
float bf16At(const std::vector<uint8_t> &bytes, size_t offset) {
  uint32_t bits = uint32_t(bytes[offset] | bytes[offset + 1] << 8) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

TEST(TransposeChunks, BytesAreWhereTheLayoutSays) {
  std::vector<uint8_t> chunks = makeChunks(), tiles = transpose(BlockFormat::q8_1_tile, chunks);
  ASSERT_EQ(tiles.size(), size_t(4 * 20480));
  auto chunk = [&](int64_t token, int64_t index) {
    return &chunks[size_t((token * (kK / 32) + index) * 40)];
  };
  // Token 5, chunk 11: tile 1, chunk 3 of it; line 1, piece 2 + half, XORed with 1.
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(tiles[20480 + 3 * 2048 + 128 + 3 * 16 + i], chunk(5, 11)[4 + i]);
    EXPECT_EQ(tiles[20480 + 3 * 2048 + 128 + 2 * 16 + i], chunk(5, 11)[20 + i]);
  }
  // Token 9: entry (0 * 8 + 1) * 4 + 1.
  float d = emu::decodeF16(uint16_t(chunk(9, 11)[0] | chunk(9, 11)[1] << 8));
  int32_t sum;
  std::memcpy(&sum, chunk(9, 11) + 36, 4);
  EXPECT_EQ(floatAt(tiles, 20480 + 16384 + 3 * 256 + 5 * 4), d);
  EXPECT_EQ(floatAt(tiles, 20480 + 18432 + 3 * 256 + 5 * 4), d * float(sum));
  // Token 64 is the first of the second row of tiles; behind it there are zeroes.
  EXPECT_EQ(tiles[2 * 20480], chunk(64, 0)[4]);
  for (size_t i = 32; i < 128; ++i)
    EXPECT_EQ(tiles[2 * 20480 + i], 0) << i;
  EXPECT_EQ(floatAt(tiles, 2 * 20480 + 16384 + 4), 0);
}

TEST(TransposeChunks, PartsAddUp) {
  std::vector<uint8_t> chunks = makeChunks();
  std::vector<uint8_t> sums = transpose(BlockFormat::q8_1_tile, chunks),
                       parts = transpose(BlockFormat::q8_1_tile_parts, chunks);
  ASSERT_EQ(parts.size(), size_t(4 * 21504));
  for (size_t chunk = 0; chunk < 8; ++chunk) {
    size_t at = 21504 + 18432 + 9 * 16 + chunk * 2; // token 9 of tile 1
    EXPECT_EQ(double(bf16At(parts, at)) + bf16At(parts, at + 1024) + bf16At(parts, at + 2048),
              floatAt(sums, 20480 + 18432 + chunk * 256 + 5 * 4));
  }
  // All before the sums is the same.
  EXPECT_TRUE(
      std::equal(sums.begin() + 20480, sums.begin() + 20480 + 18432, parts.begin() + 21504));
}

TEST(TransposeChunks, ANanPoisonsItsChunkAlone) {
  std::vector<uint8_t> chunks = makeChunks();
  chunks[0] = 0x01, chunks[1] = 0x7C; // token 0, chunk 0: a NaN whose payload bf16 lacks
  std::vector<uint8_t> parts = transpose(BlockFormat::q8_1_tile_parts, chunks);
  EXPECT_TRUE(std::isnan(floatAt(parts, 16384)));
  EXPECT_TRUE(std::isnan(bf16At(parts, 18432)));
  EXPECT_EQ(bf16At(parts, 18432 + 1024), 0);
  EXPECT_FALSE(std::isnan(bf16At(parts, 18432 + 2)));
  EXPECT_FALSE(std::isnan(bf16At(parts, 18432 + 16)));
}

TEST(TransposeChunks, BlocksOfGgmlGetExactSums) {
  std::vector<uint8_t> chunks = makeChunks(), blocks, made(chunks.size(), 0xEE);
  for (size_t at = 0; at < chunks.size(); at += 40) {
    blocks.insert(blocks.end(), {chunks[at], chunks[at + 1], 0xFF, 0x7F}); // s is a NaN
    blocks.insert(blocks.end(), &chunks[at + 4], &chunks[at + 36]);
  }
  EXPECT_EQ(bsrt_host_transpose_chunks(kTokens, kK, int32_t(BlockFormat::q8_1_chunk), blocks.data(),
                                       made.data()),
            BSRT_OK);
  EXPECT_EQ(made, chunks);
}

TEST(TransposeChunks, RefusesOtherFormatsAndPartsOfATile) {
  EXPECT_NE(bsrt_host_transpose_chunks(1, 256, int32_t(BlockFormat::q8_1), nullptr, nullptr),
            BSRT_OK);
  EXPECT_NE(std::string(bsrt_error_message()).find("q8_1_tile_parts, got q8_1"), std::string::npos);
  EXPECT_NE(bsrt_host_transpose_chunks(1, 128, int32_t(BlockFormat::q8_1_tile), nullptr, nullptr),
            BSRT_OK);
  EXPECT_NE(std::string(bsrt_error_message()).find("multiple of 256, got 128"), std::string::npos);
}

} // namespace
