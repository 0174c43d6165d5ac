//===- Q4K.cpp - Q4_K blocks from weights, and back -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each sub-block of 32 gets the line scale * n - min of least squared error: several
// spacings are tried, each refined by least squares. Then the block's two f16 factors
// round the scales and minima to 6 bits, and the pair of each sub-block is chosen among
// its neighbours by the error that it really gives.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Q4K.h"

#include "blockscale/Emulator/Convert.h"
#include "blockscale/Facts/BlockFormat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace blockscale::rt {

namespace {

using facts::BlockFormat;
using facts::kChunkElements;
using facts::kQ4KElements;
using facts::kQ4KSubBlocks;

constexpr int kMaxNibble = 15;
constexpr int kMaxScale = 63; // 6 bits
constexpr int kSpacings = 21; // that are tried, from kMaxNibble - 1 to kMaxNibble + 1 steps
constexpr const facts::BlockFormatInfo &kInfo = facts::info(BlockFormat::q4_K);

/// w = scale * n - min, neither negative.
struct Line {
  double scale = 0, min = 0;

  int nibble(double x) const {
    if (scale == 0)
      return 0;
    return int(std::clamp(std::nearbyint((x + min) / scale), 0.0, double(kMaxNibble)));
  }
  double error(const float *x) const {
    double sum = 0;
    for (int i = 0; i < kChunkElements; ++i) {
      double off = scale * nibble(x[i]) - min - x[i];
      sum += off * off;
    }
    return sum;
  }
};

/// The line of least squares through the nibbles that `line` gives.
Line refine(const Line &line, const float *x) {
  double n1 = 0, n2 = 0, nx = 0, x1 = 0;
  for (int i = 0; i < kChunkElements; ++i) {
    double n = line.nibble(x[i]);
    n1 += n, n2 += n * n, nx += n * x[i], x1 += x[i];
  }
  double determinant = kChunkElements * n2 - n1 * n1;
  if (determinant <= 0)
    return line;
  Line refined{(kChunkElements * nx - n1 * x1) / determinant, (n1 * nx - n2 * x1) / determinant};
  if (refined.min < 0)
    refined = {nx / n2, 0};
  return refined.scale > 0 ? refined : line;
}

Line fit(const float *x) {
  double low = std::min(0.0f, *std::min_element(x, x + kChunkElements));
  double high = *std::max_element(x, x + kChunkElements);
  Line best{0, -low};
  if (high <= low)
    return best;
  double least = best.error(x);
  for (int i = 0; i < kSpacings; ++i) {
    double steps = kMaxNibble - 1 + 2.0 * i / (kSpacings - 1);
    Line line = refine({(high - low) / steps, -low}, x);
    if (double error = line.error(x); error < least)
      least = error, best = line;
  }
  return best;
}

/// The f16 factor by which `largest` is at most 63 steps, and the steps of `value`.
uint16_t factorBits(double largest) { return emu::encodeF16(float(largest / kMaxScale)); }
int stepsOf(double value, float factor) {
  return factor == 0 ? 0 : int(std::clamp(std::nearbyint(value / factor), 0.0, double(kMaxScale)));
}

struct Terms {
  int scale, min;
};

/// As a reader computes it.
Line lineOf(Terms terms, float d, float dmin) {
  return {double(d * float(terms.scale)), double(dmin * float(terms.min))};
}

Terms chooseTerms(const Line &line, float d, float dmin, const float *x) {
  Terms nearest{stepsOf(line.scale, d), stepsOf(line.min, dmin)}, best = nearest;
  double least = lineOf(best, d, dmin).error(x);
  for (int s = -1; s <= 1; ++s)
    for (int m = -1; m <= 1; ++m) {
      Terms terms{std::clamp(nearest.scale + s, 0, kMaxScale),
                  std::clamp(nearest.min + m, 0, kMaxScale)};
      if (double error = lineOf(terms, d, dmin).error(x); error < least)
        least = error, best = terms;
    }
  return best;
}

void storeTerms(uint8_t *bytes, int sub, Terms terms) {
  if (sub < 4) {
    bytes[sub] |= uint8_t(terms.scale);
    bytes[sub + 4] |= uint8_t(terms.min);
    return;
  }
  bytes[sub + 4] = uint8_t((terms.scale & 15) | (terms.min & 15) << 4);
  bytes[sub - 4] |= uint8_t(terms.scale >> 4 << 6);
  bytes[sub] |= uint8_t(terms.min >> 4 << 6);
}

void store16(uint8_t *bytes, uint16_t bits) {
  bytes[0] = uint8_t(bits);
  bytes[1] = uint8_t(bits >> 8);
}
float load16(const uint8_t *bytes) { return emu::decodeF16(uint16_t(bytes[0] | bytes[1] << 8)); }

/// False when a factor is beyond f16.
bool quantizeBlock(const float *x, uint8_t *block) {
  std::array<Line, kQ4KSubBlocks> lines;
  double scale = 0, min = 0;
  for (int sub = 0; sub < kQ4KSubBlocks; ++sub) {
    lines[sub] = fit(x + sub * kChunkElements);
    scale = std::max(scale, lines[sub].scale);
    min = std::max(min, lines[sub].min);
  }
  store16(block, factorBits(scale));
  store16(block + facts::kQ4KMinOffset, factorBits(min));
  float d = load16(block), dmin = load16(block + facts::kQ4KMinOffset);
  if (std::isinf(d) || std::isinf(dmin))
    return false;
  for (int sub = 0; sub < kQ4KSubBlocks; ++sub) {
    const float *values = x + sub * kChunkElements;
    Terms terms = chooseTerms(lines[sub], d, dmin, values);
    storeTerms(block + facts::kQ4KScalesOffset, sub, terms);
    Line line = lineOf(terms, d, dmin);
    for (int i = 0; i < kChunkElements; ++i) {
      facts::NibblePlace place = facts::q4kNibble(sub * kChunkElements + i);
      block[kInfo.elementOffset + place.byte] |=
          uint8_t(line.nibble(values[i]) << (place.high ? 4 : 0));
    }
  }
  return true;
}

} // namespace

Result<std::vector<uint8_t>> quantizeQ4K(const std::vector<float> &weights) {
  if (weights.size() % kQ4KElements)
    return Refusal{"q4_K: weights must be whole blocks of " + std::to_string(kQ4KElements) +
                   ", got " + std::to_string(weights.size())};
  std::vector<uint8_t> blocks(weights.size() / kQ4KElements * kInfo.bytes);
  for (size_t i = 0; i < weights.size() / kQ4KElements; ++i) {
    const float *x = weights.data() + i * kQ4KElements;
    for (int j = 0; j < kQ4KElements; ++j)
      if (!std::isfinite(x[j]))
        return Refusal{"q4_K: weight " + std::to_string(i * kQ4KElements + j) +
                       " must be finite, got " + std::to_string(x[j])};
    if (!quantizeBlock(x, blocks.data() + i * kInfo.bytes))
      return Refusal{"q4_K: weights of block " + std::to_string(i) +
                     " must have scales within f16, got larger ones"};
  }
  return blocks;
}

std::vector<float> dequantizeQ4K(const std::vector<uint8_t> &blocks) {
  std::vector<float> weights;
  weights.reserve(blocks.size() / kInfo.bytes * kQ4KElements);
  for (size_t at = 0; at + kInfo.bytes <= blocks.size(); at += kInfo.bytes) {
    const uint8_t *block = blocks.data() + at;
    float d = load16(block), dmin = load16(block + facts::kQ4KMinOffset);
    for (int k = 0; k < kQ4KElements; ++k) {
      facts::Q4KScale terms = facts::q4kScale(block + facts::kQ4KScalesOffset, k / kChunkElements);
      facts::NibblePlace place = facts::q4kNibble(k);
      uint8_t byte = block[kInfo.elementOffset + place.byte];
      float scaled = d * float(terms.scale) * float(place.high ? byte >> 4 : byte & 15);
      float min = dmin * float(terms.min);
      weights.push_back(scaled - min);
    }
  }
  return weights;
}

} // namespace blockscale::rt
