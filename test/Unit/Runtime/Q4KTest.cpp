//===- Q4KTest.cpp - Q4_K blocks and FP4 blocks of GGUF files -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values are compared with what PyPI gguf gives for the same bytes, bit for bit.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Q4K.h"
#include "blockscale/Emulator/Convert.h"
#include "blockscale/Facts/BlockFormat.h"
#include "blockscale/Support/Gguf.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

using namespace blockscale;
using namespace blockscale::rt;

namespace {

const std::string kFile = BLOCKSCALE_TEST_DIR "/data/gguf/types.gguf:";

/// In the order of make_gguf.py: q4_K [3, 512], mxfp4 [3, 64], nvfp4 [2, 128].
std::vector<float> readExpected(size_t begin, size_t count) {
  std::ifstream file(BLOCKSCALE_TEST_DIR "/data/gguf/expected.bin", std::ios::binary);
  std::vector<float> values(count);
  file.seekg(std::streamoff(begin * sizeof(float)));
  file.read(reinterpret_cast<char *>(values.data()), std::streamsize(count * sizeof(float)));
  EXPECT_TRUE(file);
  return values;
}

void expectSameBits(const std::vector<float> &got, const std::vector<float> &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(expected[i])) << i;
}

/// Elements times scales, as blocks of `group`.
std::vector<float> decodeFp4(const std::string &member, facts::ScaleFormat format, size_t group) {
  Result<Array> elements = loadArray(kFile + member);
  Result<Array> scales = loadArray(kFile + member + ":scales");
  EXPECT_TRUE(elements && scales);
  std::vector<float> values;
  for (size_t i = 0; i < 2 * elements->bytes.size(); ++i)
    values.push_back(emu::decode(facts::Format::e2m1, elements->bytes[i / 2] >> 4 * (i % 2) & 15) *
                     emu::decode(format, scales->bytes[i / group]));
  return values;
}

/// Euclidean norm of what quantising changes, over that of the weights.
double relativeError(const std::vector<float> &weights) {
  Result<std::vector<uint8_t>> blocks = quantizeQ4K(weights);
  EXPECT_TRUE(blocks) << blocks.message();
  std::vector<float> back = dequantizeQ4K(*blocks);
  double off = 0, norm = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    off += std::pow(double(back[i]) - weights[i], 2);
    norm += std::pow(double(weights[i]), 2);
  }
  return std::sqrt(off / norm);
}

TEST(Q4K, scalesAndMinimaOfAllSubBlocks) {
  // aprender#2141 was right for sub-block 0 only.
  const uint8_t bytes[12] = {0x83, 0x12, 0x47, 0x8a, 0x3f, 0x91,
                             0x05, 0xc2, 0xb6, 0x7e, 0x2d, 0x59};
  const facts::Q4KScale expected[8] = {{3, 63},  {18, 17}, {7, 5},  {10, 2},
                                       {38, 11}, {14, 39}, {29, 2}, {41, 53}};
  for (int j = 0; j < 8; ++j)
    EXPECT_EQ(facts::q4kScale(bytes, j), expected[j]) << j;
}

TEST(Q4K, valuesAreThoseOfPyPiGguf) {
  Result<Array> blocks = loadArray(kFile + "q4_K");
  ASSERT_TRUE(blocks) << blocks.message();
  expectSameBits(dequantizeQ4K(blocks->bytes), readExpected(0, 3 * 512));
}

TEST(Gguf, fp4ValuesAreThoseOfPyPiGguf) {
  expectSameBits(decodeFp4("mxfp4", facts::ScaleFormat::ue8m0, 32), readExpected(3 * 512, 3 * 64));
  // The package has no negative zero where a scale or an element is zero.
  std::vector<float> got = decodeFp4("nvfp4", facts::ScaleFormat::ue4m3, 16);
  std::vector<float> expected = readExpected(3 * 512 + 3 * 64, 2 * 128);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], expected[i]) << i;
}

TEST(Q4K, quantisesNormalWeightsWell) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 0.03f);
  std::vector<float> weights(64 * 256);
  for (float &x : weights)
    x = normal(random);
  // 16 levels over about four standard deviations a side: 0.08 by rounding to the range.
  EXPECT_LT(relativeError(weights), 0.075);
  for (float &x : weights) // all above zero: the minimum is of no use
    x = std::fabs(x) + 0.1f;
  EXPECT_LT(relativeError(weights), 0.06);
}

TEST(Q4K, quantisesWhatIsExact) {
  // 63 and 1 steps of scale, all nibbles, minima of 0 and 63 steps.
  std::vector<float> weights;
  for (int k = 0; k < 256; ++k) {
    int scale = k / 32 % 2 ? 63 : 1, min = k / 64 ? 63 : 0;
    weights.push_back(0.5f * float(scale) * float(k % 16) - 0.25f * float(min));
  }
  EXPECT_EQ(relativeError(weights), 0);
  EXPECT_EQ(relativeError(std::vector<float>(256, -63 * 0.125f)), 0); // a minimum alone
}

TEST(Q4K, quantisesTheLeastAndTheLargest) {
  Result<std::vector<uint8_t>> zeros = quantizeQ4K(std::vector<float>(256));
  ASSERT_TRUE(zeros);
  EXPECT_EQ(*zeros, std::vector<uint8_t>(144));
  EXPECT_TRUE(quantizeQ4K(std::vector<float>(256, 1e-20f))); // no scale in f16: zeros
  EXPECT_TRUE(quantizeQ4K(std::vector<float>(512, 5.5e7f)));
  EXPECT_TRUE(quantizeQ4K(std::vector<float>(256, -4.1e6f)));
  for (float large : {7e7f, -4.2e6f, std::numeric_limits<float>::max()}) {
    Result<std::vector<uint8_t>> refused = quantizeQ4K(std::vector<float>(256, large));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.message().find("block 0 must have scales within f16"), std::string::npos);
  }
}

TEST(Q4K, refusesWhatIsNoWeight) {
  EXPECT_NE(quantizeQ4K(std::vector<float>(255)).message().find("whole blocks of 256, got 255"),
            std::string::npos);
  for (float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> weights(512, 1.0f);
    weights[300] = bad;
    Result<std::vector<uint8_t>> refused = quantizeQ4K(weights);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.message().find("weight 300 must be finite"), std::string::npos);
  }
}

} // namespace
