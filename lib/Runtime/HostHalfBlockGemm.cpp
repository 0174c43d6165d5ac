//===- HostHalfBlockGemm.cpp - reference of the contract of halves --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/Q4K.md, "Contract of halves": weights are rounded to f16 as kernels round them,
// products and sums are in f64.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "HostBlocks.h"
#include "HostCompare.h"

#include "blockscale/Facts/BlockFormat.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace blockscale::rt {
namespace {

using facts::BlockFormat;
using facts::Format;

float loadHalf(const uint8_t *from) {
  uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return float(emu::decode(Format::f16, bits));
}
float roundToHalf(float value) { return float(emu::decode(Format::f16, emu::encodeF16(value))); }

/// The nearest f16, ties to even, of a value that has at most 53 bits: rounding to f32
/// first would round twice.
double roundToHalf(double value) {
  constexpr int kBits = 10, kLeastExponent = -14;
  constexpr double kTooLarge = 65520;
  if (!std::isfinite(value) || value == 0)
    return value;
  double unit = std::ldexp(1.0, std::max(std::ilogb(value), kLeastExponent) - kBits);
  double rounded = std::nearbyint(value / unit) * unit;
  return std::fabs(rounded) >= kTooLarge ? std::copysign(HUGE_VAL, value) : rounded;
}

/// Weights of one row.
void dequantizeRow(const uint8_t *row, std::vector<double> &weights) {
  const facts::BlockFormatInfo &format = facts::info(BlockFormat::q4_K);
  for (size_t k = 0; k < weights.size(); ++k) {
    const uint8_t *block = row + int64_t(k) / format.elements * format.bytes;
    int element = int(int64_t(k) % format.elements);
    facts::Q4KScale pair =
        facts::q4kScale(block + facts::kQ4KScalesOffset, element / facts::kChunkElements);
    double scale = roundToHalf(loadHalf(block) * float(pair.scale));
    double min = roundToHalf(loadHalf(block + facts::kQ4KMinOffset) * float(pair.min));
    facts::NibblePlace place = facts::q4kNibble(element);
    int nibble = block[format.elementOffset + place.byte] >> (place.high ? 4 : 0) & 15;
    weights[k] = roundToHalf(nibble * scale - min);
  }
}

} // namespace
} // namespace blockscale::rt

using namespace blockscale;
using namespace blockscale::rt;

bsrt_status bsrt_host_check_half_block_gemm(const bsrt_half_block_check *check,
                                            bsrt_check_result *result) {
  if (check->m < 0 || check->n < 0 || check->k < 0 || check->k % facts::kQ4KElements)
    return refuse("host: k of a product of blocks must be a multiple of " +
                  std::to_string(facts::kQ4KElements) + ", got " + std::to_string(check->k));
  *result = {};
  result->row = result->col = -1;
  const facts::BlockFormatInfo &format = facts::info(BlockFormat::q4_K);
  int64_t pitch = check->k / format.elements * format.bytes;
  // One instruction adds 16 products to a sum; each is cut below 2^-24 of the largest.
  constexpr int64_t kPerInstruction = 16;
  double units = 6.0 * double(check->k / kPerInstruction) + 1;
  std::vector<double> weights(static_cast<size_t>(check->k));
  for (int64_t col = 0; col < check->n; ++col) {
    dequantizeRow(check->b + col * pitch, weights);
    for (int64_t row = 0; row < check->m; ++row) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < check->k; ++k) {
        double product =
            emu::decode(Format::f16, check->a[row * check->k + k]) * weights[size_t(k)];
        sum += product;
        magnitude += std::fabs(product);
      }
      double bound = units * 0x1p-23 * magnitude * (1 + 0x1p-20);
      compare(check->d[row * check->n + col], {sum, bound}, Format::f32, row, col, *result);
    }
  }
  return BSRT_OK;
}
