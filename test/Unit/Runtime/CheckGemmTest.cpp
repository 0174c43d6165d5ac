//===- CheckGemmTest.cpp - does the check of a product catch what is wrong? ===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small products whose values are known by hand, then damaged. A harness that
// could not fail would be worth nothing (D21: D times 0.05 must be caught).
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/Activation.h"
#include "blockscale/Facts/Format.h"
#include "blockscale/Facts/MmaKind.h"
#include "blockscale/Facts/OperandTile.h"
#include "blockscale/Runtime/Host.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

using namespace blockscale;
using facts::Format;
using facts::ScaleFormat;
using facts::ScaleLayout;

namespace {

/// NVFP4 of ones with linear scales of one, D in f32: D = K everywhere.
struct Ones {
  int64_t m, n, k;
  std::vector<uint8_t> a, b, sfa, sfb;
  std::vector<float> d;
  bsrt_check check{};

  Ones(int64_t m, int64_t n, int64_t k)
      : m(m), n(n), k(k), a(m * k / 2, 0x22), b(n * k / 2, 0x22), sfa(m * k / 16, 0x38),
        sfb(n * k / 16, 0x38), d(m * n, float(k)) {
    check = {m,
             n,
             k,
             int32_t(Format::e2m1),
             int32_t(Format::e2m1),
             int32_t(ScaleFormat::ue4m3),
             16,
             int32_t(ScaleLayout::linear),
             int32_t(ScaleLayout::linear),
             int32_t(Format::f32),
             64,
             1.0f,
             a.data(),
             sfa.data(),
             b.data(),
             sfb.data(),
             nullptr,
             d.data(),
             int32_t(facts::MmaKind::mxf4nvf4),
             int32_t(facts::Major::k),
             int32_t(facts::Major::k),
             1.0f,
             nullptr,
             int32_t(facts::Activation::none),
             /*alpha_rows=*/nullptr,
             /*alpha_columns=*/nullptr,
             /*gate=*/0,
             /*d_scales=*/nullptr,
             /*out_scale=*/0,
             /*out_block=*/0,
             /*out_layout=*/0,
             /*global=*/1.0f};
  }

  bsrt_check_result run() {
    bsrt_check_result result;
    EXPECT_EQ(bsrt_host_check_gemm(&check, &result), BSRT_OK) << bsrt_error_message();
    return result;
  }
};

TEST(CheckGemm, activationsAreApplied) {
  // 96 under each function, which for gelu and silu is 96 but for less than f32 holds.
  for (const facts::ActivationInfo &row : facts::kActivations) {
    Ones ones(5, 13, 96);
    ones.check.activation = int32_t(row.activation);
    EXPECT_EQ(ones.run().wrong, 0) << row.name;
    ones.check.alpha = -0.01f;
    float value = float(facts::activate(row.activation, -0.01f * 96.0));
    std::fill(ones.d.begin(), ones.d.end(), value);
    EXPECT_EQ(ones.run().wrong, 0) << row.name;
    std::fill(ones.d.begin(), ones.d.end(), value + 2e-6f);
    EXPECT_EQ(ones.run().wrong, 5 * 13) << row.name;
  }
  Ones ones(5, 13, 96);
  ones.check.activation = int32_t(std::size(facts::kActivations));
  bsrt_check_result result;
  EXPECT_NE(bsrt_host_check_gemm(&ones.check, &result), BSRT_OK);
  EXPECT_NE(std::string(bsrt_error_message()).find("activation must be 0 .. 4, got 5"),
            std::string::npos);
}

// 64 is 256 times 2^-2, the power of two above 64 / 448.
TEST(CheckGemm, quantisedResultsAreComparedByteByByte) {
  Ones ones(5, 32, 64);
  constexpr uint8_t kElement = 0x78, kScale = 125;
  std::vector<uint8_t> elements(5 * 32, kElement), scales(512, 0);
  for (size_t row = 0; row < 5; ++row)
    scales[row * 16] = kScale;
  ones.check.out = int32_t(Format::e4m3);
  ones.check.d = elements.data();
  ones.check.d_scales = scales.data();
  ones.check.out_scale = int32_t(ScaleFormat::ue8m0);
  ones.check.out_block = 32;
  ones.check.out_layout = int32_t(ScaleLayout::tiled);
  EXPECT_EQ(ones.run().wrong, 0);
  EXPECT_EQ(ones.run().error, 0);
  auto wrongWith = [&](uint8_t &byte, uint8_t value) {
    std::swap(byte, value);
    bsrt_check_result result = ones.run();
    std::swap(byte, value);
    return std::tuple(result.wrong, result.row, result.col);
  };
  for (int step : {-1, 1}) {
    EXPECT_EQ(wrongWith(elements[3 * 32 + 7], uint8_t(kElement + step)), std::tuple(1, 3, 7));
    EXPECT_EQ(wrongWith(scales[2 * 16], uint8_t(kScale + step)), std::tuple(1, 2, 0));
  }
  EXPECT_EQ(wrongWith(scales[2 * 16], 0xFF), std::tuple(1, 2, 0));
  // Of a block that is none, and of a row that is none.
  EXPECT_EQ(wrongWith(scales[2 * 16 + 1], 1), std::tuple(1, 2, 32));
  EXPECT_EQ(wrongWith(scales[5 * 16], 1), std::tuple(1, 5, 0));
  // A NaN of an operand is in the scales of its row.
  ones.sfa[4 * 4] = 0x7F;
  EXPECT_EQ(ones.run().wrong, 1);
  EXPECT_EQ(wrongWith(scales[4 * 16], 0xFF), std::tuple(0, 0, 0));
  ones.check.out_block = 16;
  bsrt_check_result result;
  ones.check.global = 0;
  EXPECT_NE(bsrt_host_check_gemm(&ones.check, &result), BSRT_OK);
  EXPECT_STREQ(bsrt_error_message(),
               "host: global scale must be positive and finite, got 0.000000");
}

TEST(CheckGemm, gatesAndFactorsAreApplied) {
  Ones ones(3, 256, 64);
  std::vector<float> rows{1, -2, 0.5f}, columns(256, 1.0f);
  columns[64] = 3;   // what column 0 gates
  columns[128] = -1; // gates column 192
  ones.check.alpha_rows = rows.data();
  ones.check.alpha_columns = columns.data();
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t col = 0; col < 256; ++col)
      ones.d[size_t(row * 256 + col)] = 64 * rows[size_t(row)] * columns[size_t(col)];
  EXPECT_EQ(ones.run().wrong, 0);
  EXPECT_EQ(ones.run().error, 0);
  ones.d[256 + 64] = 64 * 3;
  EXPECT_EQ(ones.run().wrong, 1);

  ones.check.gate = int32_t(facts::Activation::relu);
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t col = 0; col < 128; ++col) {
      float x = 64 * rows[size_t(row)], gate = col == 64 ? -x : x, value = col == 0 ? 3 * x : x;
      ones.d[size_t(row * 128 + col)] = std::max(gate, 0.0f) * value;
    }
  EXPECT_EQ(ones.run().wrong, 0);
  ones.d[128 + 64] *= 2; // -2 x 64 gated by 2 x 64
  EXPECT_EQ(ones.run().wrong, 1);
  ones.check.gate = int32_t(std::size(facts::kActivations));
  bsrt_check_result result;
  EXPECT_NE(bsrt_host_check_gemm(&ones.check, &result), BSRT_OK);
  EXPECT_STREQ(bsrt_error_message(), "host: gate must be 0 .. 4, got 5");
}

TEST(CheckGemm, rightProductHasNoError) {
  Ones ones(5, 13, 96);
  bsrt_check_result result = ones.run();
  EXPECT_EQ(result.wrong, 0);
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.reference, 96);
  EXPECT_EQ(result.nans, 0);
}

TEST(CheckGemm, boundFollowsTheFormula) {
  Ones ones(1, 1, 96);
  // ceil(96 / 64) * 1 + 2 = 4 units of 2^-23 of sum |ab| = 96, half an ulp of
  // f32 at 96 (2^-18), and some subnormals that do not show.
  EXPECT_NEAR(ones.run().bound, 4 * 0x1p-23 * 96 + 0x1p-18, 1e-12);
  ones.check.inst_k = 128;
  EXPECT_NEAR(ones.run().bound, 3 * 0x1p-23 * 96 + 0x1p-18, 1e-12);

  // mxf8f6f4 at K = 32: c = 9.25.
  std::vector<uint8_t> a(64, 0x38), scales(2, 0x7F);
  ones.check.k = 64;
  ones.check.a = ones.check.b = int32_t(Format::e4m3);
  ones.check.scale = int32_t(ScaleFormat::ue8m0);
  ones.check.block = ones.check.inst_k = 32;
  ones.check.mma = int32_t(facts::MmaKind::mxf8f6f4);
  ones.check.a_bytes = ones.check.b_bytes = a.data();
  ones.check.a_scales = ones.check.b_scales = scales.data();
  ones.d[0] = 64;
  bsrt_check_result result = ones.run();
  EXPECT_EQ(result.wrong, 0);
  // 64 + bound stays below 128: half an ulp is 2^-18.
  EXPECT_NEAR(result.bound, (2 * 9.25 + 2) * 0x1p-23 * 64 + 0x1p-18, 1e-12);
}

TEST(CheckGemm, D21ScaledResultIsCaught) {
  Ones ones(4, 4, 64);
  for (float &value : ones.d)
    value *= 0.05f;
  EXPECT_EQ(ones.run().wrong, 16);
}

TEST(CheckGemm, oneWrongElementIsFoundWithItsPlace) {
  Ones ones(7, 17, 64);
  ones.d[3 * 17 + 16] = 64.001f;
  bsrt_check_result result = ones.run();
  EXPECT_EQ(result.wrong, 1);
  EXPECT_EQ(result.row, 3);
  EXPECT_EQ(result.col, 16);
  EXPECT_NEAR(result.error, 0.001, 1e-5);
  EXPECT_GT(result.error, result.bound);
}

TEST(CheckGemm, nanMustMatchNan) {
  Ones ones(2, 2, 32);
  ones.d[1] = std::nanf("");
  EXPECT_EQ(ones.run().wrong, 1);
  // A NaN scale in row 1 of A: that row of D must be NaN.
  ones.d[1] = 32;
  ones.sfa[2] = 0x7F;
  EXPECT_EQ(ones.run().wrong, 2);
  ones.d[2] = ones.d[3] = std::nanf("");
  bsrt_check_result result = ones.run();
  EXPECT_EQ(result.wrong, 0);
  EXPECT_EQ(result.nans, 2);
}

TEST(CheckGemm, alphaAndBias) {
  Ones ones(2, 3, 32);
  const float bias[] = {1, -2, 0.5f};
  ones.check.alpha = 0.25f;
  ones.check.bias = bias;
  ones.d = {9, 6, 8.5f, 9, 6, 8.5f};
  EXPECT_EQ(ones.run().wrong, 0);
  EXPECT_EQ(ones.run().error, 0);
  std::swap(ones.d[0], ones.d[1]);
  EXPECT_EQ(ones.run().wrong, 2);
}

TEST(CheckGemm, betaTimesC) {
  Ones ones(2, 2, 32);
  const float c[] = {1, 2, 3, 4};
  ones.check.c = c;
  ones.check.beta = -2;
  ones.d = {30, 28, 26, 24};
  EXPECT_EQ(ones.run().wrong, 0);
  EXPECT_EQ(ones.run().error, 0);
  std::swap(ones.d[1], ones.d[2]); // C is [m, n], not [n, m]
  EXPECT_EQ(ones.run().wrong, 2);
}

// E2M1 multiplied as one of the kinds of mxf8f6f4 has that kind's bound.
TEST(CheckGemm, boundFollowsTheKind) {
  Ones ones(1, 1, 64);
  double narrow = ones.run().bound;
  ones.check.mma = int32_t(facts::MmaKind::mxf8f6f4);
  ones.check.inst_k = 32;
  EXPECT_GT(ones.run().bound, 4 * narrow);
}

// FP6: 16 elements are 12 bytes, and an element may straddle two of them.
TEST(CheckGemm, sixBitElements) {
  // 1.0 of E2M3 is 0x08, of E3M2 0x0C; four of them fill three bytes.
  std::vector<uint8_t> a, b, scales(4, 0x7F);
  for (int i = 0; i < 2 * 32 / 4; ++i) {
    a.insert(a.end(), {0x08, 0x82, 0x20});
    b.insert(b.end(), {0x0C, 0xC3, 0x30});
  }
  float d[] = {32, 32, 32, 32};
  bsrt_check check{2,
                   2,
                   32,
                   int32_t(Format::e2m3),
                   int32_t(Format::e3m2),
                   int32_t(ScaleFormat::ue8m0),
                   32,
                   0,
                   0,
                   int32_t(Format::f32),
                   32,
                   1.0f,
                   a.data(),
                   scales.data(),
                   b.data(),
                   scales.data(),
                   nullptr,
                   d,
                   int32_t(facts::MmaKind::mxf8f6f4),
                   0,
                   0,
                   1.0f,
                   nullptr,
                   int32_t(facts::Activation::none),
                   /*alpha_rows=*/nullptr,
                   /*alpha_columns=*/nullptr,
                   /*gate=*/0,
                   /*d_scales=*/nullptr,
                   /*out_scale=*/0,
                   /*out_block=*/0,
                   /*out_layout=*/0,
                   /*global=*/1.0f};
  bsrt_check_result result;
  ASSERT_EQ(bsrt_host_check_gemm(&check, &result), BSRT_OK) << bsrt_error_message();
  EXPECT_EQ(result.wrong, 0);
  EXPECT_EQ(result.error, 0);
  b[23] ^= 0x80; // the sign of the last element of row 0 of B
  ASSERT_EQ(bsrt_host_check_gemm(&check, &result), BSRT_OK);
  EXPECT_EQ(result.wrong, 2);
  EXPECT_EQ(result.col, 0);
}

TEST(CheckGemm, mnMajorOperandsAreRead) {
  // A is [k, m] with A[k, m] = m + 1, B is [n, k] of ones.
  constexpr int kK = 32;
  const uint8_t codes[] = {0x38, 0x40, 0x44}; // 1, 2, 3 in E4M3
  std::vector<uint8_t> a, b(2 * kK, 0x38), scales(3, 0x7F);
  for (int k = 0; k < kK; ++k)
    a.insert(a.end(), codes, codes + 3);
  float d[] = {32, 32, 64, 64, 96, 96};
  bsrt_check check{3,
                   2,
                   kK,
                   int32_t(Format::e4m3),
                   int32_t(Format::e4m3),
                   int32_t(ScaleFormat::ue8m0),
                   32,
                   0,
                   0,
                   int32_t(Format::f32),
                   32,
                   1.0f,
                   a.data(),
                   scales.data(),
                   b.data(),
                   scales.data(),
                   nullptr,
                   d,
                   int32_t(facts::MmaKind::mxf8f6f4),
                   int32_t(facts::Major::mn),
                   0,
                   1.0f,
                   nullptr,
                   int32_t(facts::Activation::none),
                   /*alpha_rows=*/nullptr,
                   /*alpha_columns=*/nullptr,
                   /*gate=*/0,
                   /*d_scales=*/nullptr,
                   /*out_scale=*/0,
                   /*out_block=*/0,
                   /*out_layout=*/0,
                   /*global=*/1.0f};
  bsrt_check_result result;
  ASSERT_EQ(bsrt_host_check_gemm(&check, &result), BSRT_OK) << bsrt_error_message();
  EXPECT_EQ(result.wrong, 0);
  check.major_a = int32_t(facts::Major::k);
  ASSERT_EQ(bsrt_host_check_gemm(&check, &result), BSRT_OK);
  EXPECT_GT(result.wrong, 0);
  check.major_b = 2;
  EXPECT_NE(bsrt_host_check_gemm(&check, &result), BSRT_OK);
  EXPECT_STREQ(bsrt_error_message(), "host: major of an operand must be 0 or 1, got 2");
}

TEST(CheckGemm, bf16ResultIsWithinHalfAnUlp) {
  Ones ones(1, 2, 272); // 272 = 0x1.1p8
  ones.check.out = int32_t(Format::bf16);
  uint16_t d[] = {0x4388, 0x4388}; // 272
  ones.check.d = d;
  EXPECT_EQ(ones.run().wrong, 0);
  d[1] = 0x4389; // 274, a whole ulp off
  EXPECT_EQ(ones.run().wrong, 1);
}

TEST(CheckGemm, infinityOnlyWhereItMayOverflow) {
  Ones ones(1, 2, 32);
  ones.d[0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(ones.run().wrong, 1);
  ones.check.alpha = 3e38f;
  ones.d[1] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(ones.run().wrong, 0);
  ones.d[1] = -ones.d[1];
  EXPECT_EQ(ones.run().wrong, 1);
}

TEST(CheckGemm, paddingOfTiledScalesIsNotRead) {
  Ones ones(5, 5, 64);
  std::vector<uint8_t> tiled(512, 0x7F), linear(5 * 4, 0x38);
  for (int row = 0; row < 5; ++row)
    for (int k = 0; k < 4; ++k)
      tiled[row * 16 + k] = 0x38;
  ones.check.sfa = int32_t(ScaleLayout::tiled);
  ones.check.a_scales = tiled.data();
  EXPECT_EQ(ones.run().wrong, 0);
}

TEST(CheckGemm, realLayerTakesWellUnderASecond) {
  Ones ones(178, 1536, 384);
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(ones.run().wrong, 0);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("seconds", std::to_string(seconds));
  std::printf("check of 178 x 1536 x 384: %.3f s\n", seconds);
}

} // namespace
