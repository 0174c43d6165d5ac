//===- HostCheckQuantized.cpp - a quantised result against a product ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantisation is monotonic: what becomes of a value is between what becomes of the ends of its
// bound. docs/Quantization.md, "Error bound", says what sequences of instructions may do beside.
//
//===----------------------------------------------------------------------===//

#include "HostCheckQuantized.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace blockscale;
using namespace blockscale::rt;
using facts::ScaleFormat;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

Result<QuantizedRows> QuantizedRows::check(const bsrt_check &check) {
  int64_t columns = check.gate ? check.n / 2 : check.n;
  Result<Blocks> blocks = Blocks::check(
      {check.m, columns, check.out, check.out_scale, check.out_block, check.out_layout});
  if (!blocks)
    return Refusal{blocks.message()};
  if (!(check.global > 0) || std::isinf(check.global))
    return Refusal{"host: global scale must be positive and finite, got " +
                   std::to_string(check.global)};
  return QuantizedRows(*blocks, check);
}

/// Where some sequence makes less of elements than the rules do, down to zero.
static bool mayBeZero(ScaleFormat scale, uint8_t byte) {
  constexpr uint8_t kMasked = 27, kFlushed = 254;
  return scale == ScaleFormat::ue8m0 && (byte <= kMasked || byte == kFlushed);
}

void QuantizedRows::compare(int64_t row, std::span<const Expected> values,
                            bsrt_check_result &result) const {
  for (int64_t index = 0; index < blocks.scalesPerRow(); ++index) {
    int64_t begin = index * blocks.block;
    std::span<const Expected> block = values.subspan(size_t(begin), size_t(blocks.block));
    uint8_t byte = scales[blocks.scaleOffset(row, index)];
    float scale = emu::decode(blocks.scale, byte);
    if (std::ranges::any_of(block, [](const Expected &e) { return std::isinf(e.bound); }))
      continue; // whatever it is
    if (std::ranges::any_of(block, [](const Expected &e) { return std::isnan(e.value); })) {
      if (std::isnan(scale))
        result.nans += blocks.block;
      else
        record(kInfinity, scale, {std::numeric_limits<double>::quiet_NaN(), 0}, row, begin, result);
      continue;
    }
    double least = 0, most = 0; // that the largest magnitude may be
    for (const Expected &e : block) {
      least = std::max(least, std::fabs(e.value) - e.bound);
      most = std::max(most, std::fabs(e.value) + e.bound);
    }
    uint8_t low = blockScale(blocks, float(least), global).byte,
            high = blockScale(blocks, float(most), global).byte;
    if (std::isnan(scale) || byte < low || byte > high) {
      record(kInfinity, scale, {emu::decode(blocks.scale, high), 0}, row, begin, result);
      continue;
    }
    float divisor = scale * global;
    auto quantized = [&](double value) -> double {
      if (divisor == 0)
        return 0;
      return emu::decode(blocks.element, emu::encode(blocks.element, float(value) / divisor));
    };
    for (int64_t i = 0; i < blocks.block; ++i) {
      const Expected &e = block[size_t(i)];
      double element = emu::decode(blocks.element, blocks.loadElement(elements, row, begin + i));
      double lower = quantized(e.value - e.bound), upper = quantized(e.value + e.bound);
      if (mayBeZero(blocks.scale, byte)) {
        lower = std::min(lower, 0.0);
        upper = std::max(upper, 0.0);
      }
      double unit = double(scale) * global, value = element * unit;
      double bound = std::max(std::fabs(lower * unit - e.value), std::fabs(upper * unit - e.value));
      bool isRight = lower <= element && element <= upper;
      record(isRight ? std::fabs(value - e.value) : kInfinity, value, {e.value, bound}, row,
             begin + i, result);
    }
  }
}

void QuantizedRows::comparePadding(bsrt_check_result &result) const {
  if (blocks.layout != facts::ScaleLayout::tiled)
    return;
  int64_t rows = facts::scaleTileRowBlocks(blocks.rows) * facts::kScaleTileRows;
  int64_t columns = facts::scaleTileKBlocks(blocks.scalesPerRow()) * facts::kScaleTileScales;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t index = 0; index < columns; ++index) {
      bool isPadding = row >= blocks.rows || index >= blocks.scalesPerRow();
      uint8_t byte = scales[facts::scaleTileOffset(row, index, blocks.scalesPerRow())];
      if (isPadding && byte)
        record(kInfinity, byte, {0, 0}, row, index * blocks.block, result);
    }
}
