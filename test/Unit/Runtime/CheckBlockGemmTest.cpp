//===- CheckBlockGemmTest.cpp - references for ggml's blocks --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Convert.h"
#include "blockscale/Facts/BlockFormat.h"
#include "blockscale/Runtime/Host.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace blockscale;

namespace {

void putHalf(uint8_t *to, float value) {
  uint16_t bits = emu::encodeF16(value);
  std::memcpy(to, &bits, sizeof bits);
}

/// A block with d = 1, dmin = 1, all scales `scale`, all minima `min`, all nibbles `nibble`.
std::vector<uint8_t> plainBlock(int scale, int min, int nibble) {
  std::vector<uint8_t> block(144);
  putHalf(&block[0], 1);
  putHalf(&block[2], 1);
  for (int j = 0; j < 4; ++j) {
    block[size_t(4 + j)] = uint8_t(scale | (scale >> 4) << 6);
    block[size_t(8 + j)] = uint8_t(min | (min >> 4) << 6);
    block[size_t(12 + j)] = uint8_t((scale & 15) | (min & 15) << 4);
  }
  for (int i = 0; i < 128; ++i)
    block[size_t(16 + i)] = uint8_t(nibble | nibble << 4);
  return block;
}

std::vector<uint8_t> plainChunks(float d, int q) {
  std::vector<uint8_t> row;
  for (int i = 0; i < 8; ++i) {
    std::vector<uint8_t> chunk(40, uint8_t(int8_t(q)));
    std::memset(&chunk[0], 0, 4);
    putHalf(&chunk[0], d);
    int32_t sum = 32 * q;
    std::memcpy(&chunk[36], &sum, sizeof sum);
    row.insert(row.end(), chunk.begin(), chunk.end());
  }
  return row;
}

TEST(BlockGemm, EqualsAProductByHand) {
  // w = 41 * 9 - 53 = 316; a = 0.5 * 3; 256 * 316 * 1.5.
  std::vector<uint8_t> a = plainChunks(0.5f, 3), b = plainBlock(41, 53, 9);
  float d = 0;
  bsrt_block_check check{1, 1, 256, a.data(), b.data(), &d};
  ASSERT_EQ(bsrt_host_block_gemm(&check, &d), BSRT_OK);
  EXPECT_EQ(d, 256 * 316 * 1.5f);
  bsrt_check_result result;
  ASSERT_EQ(bsrt_host_check_block_gemm(&check, &result), BSRT_OK);
  EXPECT_EQ(result.wrong, 0);
  d = std::nextafter(d, 0.0f);
  for (int i = 0; i < 64; ++i)
    d = std::nextafter(d, 0.0f);
  ASSERT_EQ(bsrt_host_check_block_gemm(&check, &result), BSRT_OK);
  EXPECT_EQ(result.wrong, 1);
}

TEST(BlockGemm, AFoldedMinimumIsWrong) {
  // (nibble - min) scaled by d * sc is another product.
  std::vector<uint8_t> a = plainChunks(1, 1), b = plainBlock(2, 3, 5);
  float folded = 256.0f * 2 * (5 - 3);
  bsrt_block_check check{1, 1, 256, a.data(), b.data(), &folded};
  bsrt_check_result result;
  ASSERT_EQ(bsrt_host_check_block_gemm(&check, &result), BSRT_OK);
  EXPECT_EQ(result.wrong, 1);
  EXPECT_EQ(result.reference, 256.0 * (2 * 5 - 3));
}

TEST(BlockGemm, ContractStaysInsideItsBound) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> scale(0.001f, 0.1f);
  constexpr int64_t kM = 5, kN = 7, kK = 1024;
  std::vector<float> x(size_t(kM * kK));
  std::normal_distribution<float> normal;
  for (float &value : x)
    value = normal(random);
  std::vector<uint8_t> a(size_t(kM * kK / 32 * 40)), b(size_t(kN * kK / 256 * 144));
  ASSERT_EQ(bsrt_host_quantize_chunks(kM, kK, int32_t(facts::Format::f32), x.data(), a.data()),
            BSRT_OK);
  for (uint8_t &byte : b)
    byte = uint8_t(random());
  for (size_t block = 0; block < b.size(); block += 144) {
    putHalf(&b[block], scale(random));
    putHalf(&b[block + 2], scale(random));
  }
  std::vector<float> d(size_t(kM * kN));
  bsrt_block_check check{kM, kN, kK, a.data(), b.data(), d.data()};
  ASSERT_EQ(bsrt_host_block_gemm(&check, d.data()), BSRT_OK);
  bsrt_check_result result;
  ASSERT_EQ(bsrt_host_check_block_gemm(&check, &result), BSRT_OK);
  EXPECT_EQ(result.wrong, 0);
  EXPECT_GT(result.bound, 0);
  d[11] += float(100 * result.bound);
  ASSERT_EQ(bsrt_host_check_block_gemm(&check, &result), BSRT_OK);
  EXPECT_EQ(result.wrong, 1);
  EXPECT_EQ(result.row, 1);
  EXPECT_EQ(result.col, 4);
}

TEST(BlockGemm, RefusesPartsOfABlock) {
  bsrt_block_check check{1, 1, 128, nullptr, nullptr, nullptr};
  bsrt_check_result result;
  EXPECT_NE(bsrt_host_check_block_gemm(&check, &result), BSRT_OK);
  EXPECT_NE(std::string(bsrt_error_message()).find("multiple of 256, got 128"), std::string::npos);
}

TEST(QuantizeChunks, FollowsTheRule) {
  std::vector<float> x(96);
  x[0] = 127, x[1] = -63.5f, x[2] = 0.5f, x[3] = 1.5f; // d = 1: ties to even
  x[70] = std::numeric_limits<float>::infinity();
  std::vector<uint8_t> chunks(120, 0xEE);
  ASSERT_EQ(bsrt_host_quantize_chunks(1, 96, int32_t(facts::Format::f32), x.data(), chunks.data()),
            BSRT_OK);
  auto sum = [&](size_t chunk) {
    int32_t value;
    std::memcpy(&value, &chunks[40 * chunk + 36], sizeof value);
    return value;
  };
  EXPECT_EQ(chunks[0] | chunks[1] << 8, 0x3C00);
  EXPECT_EQ(int8_t(chunks[4]), 127);
  EXPECT_EQ(int8_t(chunks[5]), -64);
  EXPECT_EQ(chunks[6], 0);
  EXPECT_EQ(chunks[7], 2);
  EXPECT_EQ(sum(0), 65);
  // A chunk of zeroes is zero; one with an infinity is poisoned, and nothing else is.
  for (size_t i = 40; i < 80; ++i)
    EXPECT_EQ(chunks[i], 0) << i;
  EXPECT_TRUE(std::isnan(emu::decodeF16(uint16_t(chunks[80] | chunks[81] << 8))));
  EXPECT_EQ(sum(2), 0);
}

// 1 / d is beyond f32: d as f16 is 0, and so is what it would scale.
TEST(QuantizeChunks, ChunkTooSmallForAReciprocalIsZero) {
  std::vector<float> x(64, 0.0f);
  x[3] = 3e-37f;                  // 1 / d = inf
  x[4] = -3e-37f, x[40] = 4e-36f; // 1 / d is finite
  std::vector<uint8_t> chunks(80, 0xEE);
  ASSERT_EQ(bsrt_host_quantize_chunks(1, 64, int32_t(facts::Format::f32), x.data(), chunks.data()),
            BSRT_OK);
  for (size_t i = 0; i < 40; ++i)
    EXPECT_EQ(chunks[i], 0) << i;
  EXPECT_EQ(chunks[40] | chunks[41], 0);
  EXPECT_EQ(int8_t(chunks[40 + 4 + 8]), 127);
}

TEST(QuantizeChunks, RefusesPartsOfAChunk) {
  EXPECT_NE(bsrt_host_quantize_chunks(1, 40, int32_t(facts::Format::f32), nullptr, nullptr),
            BSRT_OK);
  EXPECT_NE(std::string(bsrt_error_message()).find("multiple of 32, got 40"), std::string::npos);
}

} // namespace
