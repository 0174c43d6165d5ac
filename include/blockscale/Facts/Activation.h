//===- Activation.h - functions that an epilogue applies --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each is in exact arithmetic, and how far a kernel may be from it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_ACTIVATION_H
#define BLOCKSCALE_FACTS_ACTIVATION_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace blockscale::facts {

enum class Activation : uint8_t { none, relu, gelu, gelu_tanh, silu };

struct ActivationInfo {
  Activation activation;
  std::string_view name;
  double slope; // the largest, so what an error of the argument becomes at most
  double error; // of a kernel, for each unit of the argument's magnitude
};

/// gelu is x Phi(x), by erf; gelu_tanh the usual approximation of it by tanh; silu x / (1 + e^-x).
/// Kernels compute e^y and reciprocals in f32 by the approximate instructions.
inline constexpr ActivationInfo kActivations[] = {
    {Activation::none, "none", 1.0, 0.0},      {Activation::relu, "relu", 1.0, 0.0},
    {Activation::gelu, "gelu", 1.13, 0x1p-21}, {Activation::gelu_tanh, "gelu_tanh", 1.13, 0x1p-21},
    {Activation::silu, "silu", 1.1, 0x1p-21},
};
constexpr bool activationsAreSound() {
  for (size_t i = 0; i < std::size(kActivations); ++i)
    if (size_t(kActivations[i].activation) != i)
      return false;
  return true;
}
static_assert(activationsAreSound());

constexpr const ActivationInfo &info(Activation a) { return kActivations[size_t(a)]; }
constexpr std::string_view name(Activation a) { return info(a).name; }
constexpr std::optional<Activation> parseActivation(std::string_view text) {
  for (const ActivationInfo &row : kActivations)
    if (row.name == text)
      return row.activation;
  return std::nullopt;
}

/// In f64; of infinities what the formula gives: gelu and silu of -inf are NaN.
inline double activate(Activation a, double x) {
  switch (a) {
  case Activation::none:
    return x;
  case Activation::relu:
    return std::isnan(x) ? x : std::max(x, 0.0);
  case Activation::gelu:
    return 0.5 * x * std::erfc(-x * 0.70710678118654752440);
  case Activation::gelu_tanh:
    return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
  case Activation::silu:
    return x / (1 + std::exp(-x));
  }
  return x;
}

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_ACTIVATION_H
