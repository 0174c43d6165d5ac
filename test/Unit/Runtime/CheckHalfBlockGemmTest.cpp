//===- CheckHalfBlockGemmTest.cpp - reference of the contract of halves ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Convert.h"
#include "blockscale/Runtime/Host.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

using namespace blockscale;

namespace {

constexpr int64_t kK = 256;
constexpr float kActivation = 1.5f;

void putHalf(uint8_t *to, float value) {
  uint16_t bits = emu::encodeF16(value);
  std::memcpy(to, &bits, sizeof bits);
}

/// d = 1 + 2^-10, dmin = 1; sub-blocks 0 to 3 have scale 41 and minimum 53, the others 0;
/// all nibbles are 9.
std::vector<uint8_t> blockOfNines() {
  std::vector<uint8_t> block(144);
  putHalf(&block[0], 1 + 0x1p-10f);
  putHalf(&block[2], 1);
  for (size_t j = 0; j < 4; ++j) {
    block[4 + j] = 41;
    block[8 + j] = 53;
  }
  for (size_t i = 0; i < 128; ++i)
    block[16 + i] = 0x99;
  return block;
}

bsrt_check_result check(float d, const std::vector<uint8_t> &block) {
  std::vector<uint16_t> a(kK, emu::encodeF16(kActivation));
  bsrt_half_block_check check{1, 1, kK, a.data(), block.data(), &d};
  bsrt_check_result result;
  EXPECT_EQ(bsrt_host_check_half_block_gemm(&check, &result), BSRT_OK);
  return result;
}

// d * sc is 41.040… and rounds to 41.03125; 9 times that less 53 is 316.28125, in f16
// 316.25. Half of the weights are so, the others 0.
constexpr float kProduct = kK / 2 * kActivation * 316.25f;

TEST(HalfBlockGemm, RoundsScaleAndWeight) {
  bsrt_check_result result = check(kProduct, blockOfNines());
  EXPECT_EQ(result.wrong, 0);
  EXPECT_EQ(result.error, 0);
  EXPECT_GT(result.bound, 0);
}

TEST(HalfBlockGemm, WeightsInF32AreWrong) {
  float exact = kK / 2 * kActivation * (9 * 41 * (1 + 0x1p-10f) - 53);
  EXPECT_EQ(check(exact, blockOfNines()).wrong, 1);
  // As if only the scale were rounded.
  EXPECT_EQ(check(kK / 2 * kActivation * 316.28125f, blockOfNines()).wrong, 1);
}

TEST(HalfBlockGemm, EachNibbleHasItsPlace) {
  std::vector<uint8_t> block = blockOfNines();
  block[16 + 5] = 0x39; // element 37, which is of sub-block 1
  EXPECT_EQ(check(kProduct, block).wrong, 1);
  block[16 + 5] = 0x99;
  block[16 + 69] = 0x39; // of sub-block 5, whose scale is 0
  EXPECT_EQ(check(kProduct, block).wrong, 0);
}

TEST(HalfBlockGemm, RefusesPartsOfABlock) {
  bsrt_half_block_check part{1, 1, 128, nullptr, nullptr, nullptr};
  bsrt_check_result result;
  EXPECT_NE(bsrt_host_check_half_block_gemm(&part, &result), BSRT_OK);
  EXPECT_NE(std::string(bsrt_error_message()).find("multiple of 256, got 128"), std::string::npos);
}

} // namespace
