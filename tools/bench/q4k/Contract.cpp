//===- Contract.cpp - what every kernel must give, on the CPU -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contract.h"

#include <cmath>
#include <cstring>

namespace blockscale::q4k {

namespace {

/// SplitMix64.
struct Random {
  uint64_t state;

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  double unit() { return double(next() >> 11) * 0x1p-53; }
  /// Sum of four uniform numbers, scaled to variance 1.
  float normal() {
    uint64_t bits = next();
    int64_t sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += int64_t(bits >> 16 * i & 0xFFFF);
    return float(double(sum - 2 * 0xFFFF) / 0xFFFF * std::sqrt(3.0));
  }
};

WeightBlock makeBlock(Random &random) {
  WeightBlock block;
  for (uint8_t &byte : block.scales)
    byte = uint8_t(random.next());
  for (size_t i = 0; i < sizeof block.nibbles; i += 8) {
    uint64_t bits = random.next();
    std::memcpy(block.nibbles + i, &bits, 8);
  }
  // The mean weight is near zero: nibbles have a mean of 7.5.
  double d = 1e-3 * (1 + 2 * random.unit()), dmin = 7.5 * d * (0.8 + 0.4 * random.unit());
  switch (random.next() % 64) {
  case 0:
    d = 0;
    break;
  case 1:
    dmin = 0;
    break;
  case 2:
    std::memset(block.scales, 0xFF, sizeof block.scales);
    break;
  case 3:
    std::memset(block.nibbles, 0xFF, sizeof block.nibbles);
    break;
  case 4:
    d = -d, dmin = -dmin;
    break;
  }
  block.d = __float2half_rn(float(d));
  block.dmin = __float2half_rn(float(dmin));
  return block;
}

float fold(const ActivationChunk *chunks, const WeightBlock *blocks, int64_t count) {
  float total = 0;
  for (int64_t b = 0; b < count; ++b) {
    const WeightBlock &block = blocks[b];
    float d = __half2float(block.d), dmin = __half2float(block.dmin);
    for (int sub = 0; sub < kChunksPerBlock; ++sub) {
      const ActivationChunk &chunk = chunks[b * kChunksPerBlock + sub];
      ScaleMin terms = unpackScaleMin(block.scales, sub);
      int sum = 0;
      for (int i = 0; i < kChunk; ++i)
        sum += unpackNibble(block, sub * kChunk + i) * chunk.q[i];
      float scale = __half2float(chunk.d);
      total = std::fmaf(scale * (d * float(terms.scale)), float(sum), total);
      total = std::fmaf(scale * float(chunk.sum), -(dmin * float(terms.min)), total);
    }
  }
  return total;
}

double product(const float *activations, const WeightBlock *blocks, int64_t count, bool isHalf) {
  double total = 0;
  auto round = [&](float x) { return isHalf ? __half2float(__float2half_rn(x)) : x; };
  for (int64_t b = 0; b < count; ++b)
    for (int i = 0; i < kSuperBlock; ++i)
      total += double(round(activations[b * kSuperBlock + i])) *
               double(round(dequantizeWeight(blocks[b], i)));
  return total;
}

} // namespace

Problem makeProblem(Shape shape, uint64_t seed) {
  Problem problem{shape, {}, {}, {}};
  Random random{seed};
  problem.weights.reserve(shape.rows * shape.blocksPerRow());
  for (int64_t i = 0; i < shape.rows * shape.blocksPerRow(); ++i)
    problem.weights.push_back(makeBlock(random));
  problem.activations.reserve(int64_t(shape.tokens) * shape.depth);
  for (int64_t i = 0; i < shape.tokens * shape.chunksPerToken(); ++i) {
    float scale = random.next() % 64 ? float(0.25 + 1.5 * random.unit()) : 0;
    for (int j = 0; j < kChunk; ++j)
      problem.activations.push_back(scale * random.normal());
  }
  problem.chunks = quantizeActivations(problem.activations);
  return problem;
}

std::vector<ActivationChunk> quantizeActivations(const std::vector<float> &activations) {
  std::vector<ActivationChunk> chunks(activations.size() / kChunk);
  for (size_t c = 0; c < chunks.size(); ++c) {
    const float *x = activations.data() + c * kChunk;
    float most = 0;
    for (int i = 0; i < kChunk; ++i)
      most = std::fmax(most, std::fabs(x[i]));
    float d = most / 127.0f;
    ActivationChunk &chunk = chunks[c];
    chunk.d = __float2half_rn(d);
    chunk.unused = 0;
    chunk.sum = 0;
    for (int i = 0; i < kChunk; ++i) {
      chunk.q[i] = d == 0 ? 0 : int8_t(std::nearbyint(x[i] / d));
      chunk.sum += chunk.q[i];
    }
  }
  return chunks;
}

std::vector<WeightPlane> makePlanes(const Problem &problem) {
  int64_t perRow = problem.shape.blocksPerRow();
  constexpr int kRows = WeightPlane::kRows;
  std::vector<WeightPlane> planes(size_t((problem.shape.rows + kRows - 1) / kRows * perRow));
  for (int64_t row = 0; row < problem.shape.rows; ++row)
    for (int64_t i = 0; i < perRow; ++i) {
      const WeightBlock &block = problem.weights[size_t(row * perRow + i)];
      WeightPlane &plane = planes[size_t(row / kRows * perRow + i)];
      int own = int(row % kRows);
      for (int byte = 0; byte < 128; ++byte)
        plane.nibbles[own][byte ^ (own % 8 * 16)] = block.nibbles[byte];
      for (int sub = 0; sub < kChunksPerBlock; ++sub) {
        ScaleMin terms = unpackScaleMin(block.scales, sub);
        plane.terms[sub][own][0] = __half2float(block.d) * float(terms.scale);
        plane.terms[sub][own][1] = -(__half2float(block.dmin) * float(terms.min));
      }
    }
  return planes;
}

float dequantizeWeight(const WeightBlock &block, int weight) {
  ScaleMin terms = unpackScaleMin(block.scales, weight / kChunk);
  float scale = __half2float(block.d) * float(terms.scale);
  float min = __half2float(block.dmin) * float(terms.min);
  float product = scale * float(unpackNibble(block, weight));
  return product - min;
}

Comparison compare(const Problem &problem, const std::vector<float> &got, Reference reference,
                   int64_t most) {
  const Shape &shape = problem.shape;
  int64_t count = std::min(shape.outputs(), most);
  Random random{1};
  Comparison result;
  double difference = 0, exactDifference = 0, norm = 0, exactNorm = 0, worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = i;
    if (count < shape.outputs()) {
      const int64_t corners[4] = {0, shape.rows - 1, shape.outputs() - shape.rows,
                                  shape.outputs() - 1};
      at = i < 4 ? corners[i] : int64_t(random.next() % uint64_t(shape.outputs()));
    }
    int64_t token = at / shape.rows, row = at % shape.rows;
    const WeightBlock *blocks = problem.weights.data() + row * shape.blocksPerRow();
    const float *activations = problem.activations.data() + token * shape.depth;
    double expected;
    if (reference == Reference::contract) {
      float folded = fold(problem.chunks.data() + token * shape.chunksPerToken(), blocks,
                          shape.blocksPerRow());
      result.differentBits += std::memcmp(&folded, &got[at], 4) != 0;
      expected = folded;
    } else {
      expected = product(activations, blocks, shape.blocksPerRow(), /*isHalf=*/true);
    }
    double exact = product(activations, blocks, shape.blocksPerRow(), /*isHalf=*/false);
    double off = std::fabs(double(got[at]) - expected);
    worst = off <= worst ? worst : off; // a NaN stays
    difference += off * off;
    norm += expected * expected;
    exactDifference += (got[at] - exact) * (got[at] - exact);
    exactNorm += exact * exact;
  }
  result.compared = count;
  double least = 1e-30; // a sum of zeros has no scale
  result.error = std::sqrt(difference / std::max(norm, least));
  result.worst = worst / std::sqrt(std::max(norm / double(count), least));
  result.toExact = std::sqrt(exactDifference / std::max(exactNorm, least));
  return result;
}

} // namespace blockscale::q4k
