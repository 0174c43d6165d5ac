//===- MmaPlain.cpp - the readable model of tcgen05.mma -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference that every faster path must equal. All in integers: a term is
// significand * 2^(exponent - fraction) with the exponent the hardware aligns
// by, which is that of the format's fields, not of a normalised product.
//
//===----------------------------------------------------------------------===//

#include "FusedSum.h"

#include "blockscale/Emulator/Convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace blockscale;
using namespace blockscale::emu;
using facts::Format;
using facts::MmaKind;
using facts::ScaleFormat;

namespace {

/// Splits a float of a format with `fraction` mantissa bits and smallest
/// normal exponent `minExponent`.
Factor split(float value, int fraction, int minExponent) {
  if (std::isnan(value))
    return {0, 0, TermClass::nan};
  if (std::isinf(value))
    return {value < 0 ? -1 : 1, 0, TermClass::infinity};
  if (value == 0)
    return {0, minExponent, TermClass::finite};
  int exponent = std::max(std::ilogb(value), minExponent);
  return {int64_t(std::ldexp(double(value), fraction - exponent)), exponent, TermClass::finite};
}

Factor splitElement(Format format, uint32_t code, bool negate) {
  const facts::FormatInfo &f = facts::info(format);
  Factor factor = split(decode(format, code), int(f.mantissaBits), 1 - f.bias);
  if (negate)
    factor.significand = -factor.significand;
  return factor;
}

constexpr int kScaleFraction = 3; // mantissa bits of UE4M3 and UE5M3

Factor splitScale(ScaleFormat format, uint8_t byte) {
  if (format == ScaleFormat::ue8m0) // a bare exponent; 2^-127 is no subnormal
    return byte == 0xFF ? Factor{0, 0, TermClass::nan}
                        : Factor{1 << kScaleFraction, int(byte) - 127, TermClass::finite};
  return split(decode(format, byte), kScaleFraction, format == ScaleFormat::ue4m3 ? -6 : -14);
}

/// The rows of one operand, split.
struct SplitOperand {
  std::vector<Factor> elements; // [rows][k]
  std::vector<Factor> scales;   // [rows][k / block]
};

SplitOperand splitOperand(const MmaInstruction &i, Format format, Packing packing, bool negate,
                          int rows, const uint8_t *data, size_t pitch, const uint8_t *scales,
                          size_t scalePitch) {
  SplitOperand operand;
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < i.k; ++k)
      operand.elements.push_back(
          splitElement(format, elementCode(format, packing, data + r * pitch, k), negate));
    for (int s = 0; s < i.k / i.block; ++s)
      operand.scales.push_back(splitScale(i.scale, scales[r * scalePitch + s]));
  }
  return operand;
}

} // namespace

void emu::mmaPlain(const MmaInstruction &i, const MmaOperands &o, SumModel model) {
  SplitOperand a =
      splitOperand(i, i.a, i.aPacking, i.negateA, i.m, o.a, o.aPitch, o.sfa, o.sfaPitch);
  SplitOperand b =
      splitOperand(i, i.b, i.bPacking, i.negateB, i.n, o.b, o.bPitch, o.sfb, o.sfbPitch);
  int productFraction = int(facts::info(i.a).mantissaBits) + int(facts::info(i.b).mantissaBits);
  int scales = i.k / i.block;

  for (int m = 0; m < i.m; ++m)
    for (int n = 0; n < i.n; ++n) {
      const Factor *rowA = &a.elements[size_t(m) * i.k], *rowB = &b.elements[size_t(n) * i.k];
      auto scaleAt = [&](int k) {
        size_t s = size_t(k / i.block);
        return times(a.scales[size_t(m) * scales + s], b.scales[size_t(n) * scales + s]);
      };
      FusedSum sum(model);
      if (isFp4Kind(i.kind)) {
        for (int k = 0; k < i.k; k += kMxf4Group) {
          Factor group; // exact; its exponent is the scales' alone
          bool allZero = true;
          for (int j = k; j < k + kMxf4Group; ++j) {
            Factor product = times(rowA[j], rowB[j]);
            allZero &= product.significand == 0;
            int up = product.exponent; // E2M1's exponents are 0, 1, 2
            group.significand += product.significand << up;
          }
          Factor scale = scaleAt(k);
          bool isZero = allZero || (scale.cls == TermClass::finite && scale.significand == 0);
          sum.add(times(group, scale), productFraction + 2 * kScaleFraction, isZero);
        }
      } else {
        for (int k = 0; k < i.k; ++k) {
          Factor term = times(times(rowA[k], rowB[k]), scaleAt(k));
          bool isZero = term.cls == TermClass::finite && term.significand == 0;
          sum.add(term, productFraction + 2 * kScaleFraction, isZero);
        }
      }
      float &d = o.d[m * o.dPitch + n];
      float c = i.accumulate ? d : 0.0f;
      sum.add(split(c, 23, -126), 23, c == 0);
      d = std::bit_cast<float>(sum.floatBits());
    }
}
