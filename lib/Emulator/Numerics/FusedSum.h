//===- FusedSum.h - one sum of a tensor core, in integers -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The readable form that every faster path must equal: terms are aligned to the
// largest exponent, cut towards zero, and the sum is rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_FUSEDSUM_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_FUSEDSUM_H

#include "Model.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace blockscale::emu {

enum class TermClass : uint8_t { finite, infinity, nan };

/// A factor split as the hardware sees it: significand * 2^(exponent - fraction),
/// where 2^exponent is the binade that the code's exponent field names.
struct Factor {
  int64_t significand = 0; // signed
  int exponent = 0;
  TermClass cls = TermClass::finite;
};

inline Factor times(const Factor &a, const Factor &b) {
  Factor product{a.significand * b.significand, a.exponent + b.exponent, TermClass::finite};
  if (a.cls == TermClass::nan || b.cls == TermClass::nan)
    product.cls = TermClass::nan;
  else if (a.cls == TermClass::infinity || b.cls == TermClass::infinity)
    product.cls = product.significand == 0 ? TermClass::nan : TermClass::infinity;
  return product;
}

/// Adds terms the way one instruction does.
class FusedSum {
public:
  explicit FusedSum(SumModel model) : model(model), maxExponent(std::numeric_limits<int>::min()) {}

  /// A term of value significand * 2^(exponent - fraction).
  void add(Factor term, int fraction, bool isZero) {
    if (isZero)
      term.exponent = model.zeroExponent;
    if (term.cls == TermClass::nan)
      isNan = true;
    else if (term.cls == TermClass::infinity)
      (term.significand < 0 ? hasMinusInfinity : hasPlusInfinity) = true;
    else
      terms.push_back({term.significand, term.exponent, fraction});
    maxExponent = std::max(maxExponent, term.exponent);
  }

  /// Bits of a float of which `keptBits` fraction bits stay: cut towards zero,
  /// subnormals kept, overflow to infinity, zero always positive.
  uint32_t floatBits(int keptBits = 23) const {
    constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7F800000;
    if (isNan || (hasMinusInfinity && hasPlusInfinity))
      return kMmaNan;
    if (hasMinusInfinity || hasPlusInfinity)
      return hasPlusInfinity ? kInfinity : kSign | kInfinity;
    int64_t total = sum();
    uint64_t magnitude = uint64_t(total < 0 ? -total : total);
    uint32_t sign = total < 0 ? kSign : 0;
    int exponent = maxExponent - model.fractionBits; // of the last bit
    if (magnitude == 0)
      return 0;
    int leading = exponent + std::bit_width(magnitude) - 1;
    if (leading > 127)
      return sign | kInfinity;
    int unit = std::max(leading, -126) - keptBits; // exponent of the last bit kept
    if (unit > exponent)
      magnitude = unit - exponent < 64 ? magnitude >> (unit - exponent) : 0;
    else
      magnitude <<= exponent - unit;
    if (magnitude == 0)
      return 0;
    uint32_t bits = uint32_t(magnitude) << (23 - keptBits); // with the leading one, if any
    return sign | ((uint32_t(std::max(leading, -126) + 126) << 23) + bits);
  }

  /// Bits of an f16, rounded to nearest even.
  uint16_t halfBits() const {
    constexpr uint16_t kNan = 0x7FFF, kSign = 0x8000, kInfinity = 0x7C00;
    if (isNan || (hasMinusInfinity && hasPlusInfinity))
      return kNan;
    if (hasMinusInfinity || hasPlusInfinity)
      return hasPlusInfinity ? kInfinity : kSign | kInfinity;
    int64_t total = sum();
    uint64_t magnitude = uint64_t(total < 0 ? -total : total);
    uint16_t sign = total < 0 ? kSign : 0;
    int exponent = maxExponent - model.fractionBits;
    if (magnitude == 0)
      return 0;
    int leading = exponent + std::bit_width(magnitude) - 1;
    int unit = std::max(leading, -14) - 10;
    uint64_t kept;
    if (unit <= exponent) {
      kept = exponent - unit < 32 ? magnitude << (exponent - unit) : 0;
    } else if (unit - exponent >= 64) {
      kept = 0;
    } else {
      int drop = unit - exponent;
      uint64_t rest = magnitude & ((uint64_t(1) << drop) - 1), half = uint64_t(1) << (drop - 1);
      kept = magnitude >> drop;
      kept += rest > half || (rest == half && (kept & 1));
    }
    if (kept == 0)
      return 0;
    // A carry out of the fraction goes into the exponent, and out of that to infinity.
    uint64_t bits = (uint64_t(std::max(leading, -14) + 14) << 10) + kept;
    return sign | uint16_t(leading > 15 ? kInfinity : std::min<uint64_t>(bits, kInfinity));
  }

private:
  struct Term {
    int64_t significand;
    int exponent, fraction;
  };

  /// In units of 2^(maxExponent - fractionBits).
  int64_t sum() const {
    int64_t total = 0;
    for (const Term &term : terms)
      total += aligned(term);
    return total;
  }
  int64_t aligned(const Term &term) const {
    int shift = term.exponent - term.fraction - (maxExponent - model.fractionBits);
    uint64_t magnitude = uint64_t(term.significand < 0 ? -term.significand : term.significand);
    magnitude = shift >= 0 ? magnitude << shift : shift > -64 ? magnitude >> -shift : 0;
    return term.significand < 0 ? -int64_t(magnitude) : int64_t(magnitude);
  }

  SumModel model;
  int maxExponent;
  bool isNan = false, hasPlusInfinity = false, hasMinusInfinity = false;
  std::vector<Term> terms;
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_FUSEDSUM_H
