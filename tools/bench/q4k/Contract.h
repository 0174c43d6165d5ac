//===- Contract.h - what every kernel must give, on the CPU ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract of Q4_K x Q8_1: per chunk of 32, ascending, in f32
//   total = fma(d_a * (d * scale), sum(n * q), total)
//   total = fma(d_a * sum(q), -(dmin * min), total)
// so that a kernel which keeps the order has the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_Q4K_CONTRACT_H
#define BLOCKSCALE_TOOLS_BENCH_Q4K_CONTRACT_H

#include "Formats.h"

#include <string>
#include <vector>

namespace blockscale::q4k {

struct Problem {
  Shape shape;
  std::vector<float> activations; // [tokens, depth]
  std::vector<ActivationChunk> chunks;
  std::vector<WeightBlock> weights; // [rows, depth / 256]
};

/// Blocks as a quantiser may write them, some with zero or extreme scales; activations
/// about normal, some chunks zero. The same seed gives the same problem.
Problem makeProblem(Shape shape, uint64_t seed);

/// As launchQuantize does it.
std::vector<ActivationChunk> quantizeActivations(const std::vector<float> &activations);

/// [ceil(rows / 16), depth / 256]; rows past the last one are zeroes.
std::vector<WeightPlane> makePlanes(const Problem &problem);

/// A weight in f32, rounded once a step.
float dequantizeWeight(const WeightBlock &block, int weight);

/// What is compared with what.
enum class Reference : uint8_t {
  contract, // the fold above
  halves,   // f64 product of weights and activations, both rounded to f16
};

struct Comparison {
  int64_t compared = 0;
  int64_t differentBits = 0; // against the contract
  double error = 0;          // |got - reference| over |reference|, both Euclidean norms
  double worst = 0;          // largest difference over the reference's root mean square
  double toExact = 0;        // error against f32 weights and unquantised activations, in f64
};

/// Compares all outputs up to `most`, else the corners and a fixed random choice.
Comparison compare(const Problem &problem, const std::vector<float> &got, Reference reference,
                   int64_t most);

/// The largest `worst` that counts as right: rounding is far below, a wrong layout above.
constexpr double allowed(Reference reference) {
  return reference == Reference::contract ? 1e-5 : 2e-2;
}

} // namespace blockscale::q4k

#endif // BLOCKSCALE_TOOLS_BENCH_Q4K_CONTRACT_H
