//===- Mufu.cpp - the chip's approximate functions ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One interpolator serves all functions: the upper bits of an argument choose a row of
// coefficients, the 17 bits below are multiplied out to a second-degree polynomial, and
// 24 bits of the sum stay. Three cuts make its bits: the square lacks all partial
// products below 2^19, each function adds a constant of its own, and results are cut,
// never rounded. Negative arguments and results are complemented, not negated.
//
//===----------------------------------------------------------------------===//

#include "Mufu.h"

#include "MufuTables.h"

#include <bit>
#include <cstddef>
#include <iterator>
#include <vector>

namespace blockscale::emu::mufu {
namespace {

constexpr unsigned kWidth = 17;     // bits of an argument within a segment
constexpr unsigned kSquareCut = 19; // of 34 bits of its square
constexpr int kUnitBits = 18;       // fraction of a sum below the function's unit
constexpr uint32_t kNan = 0x7FFFFFFF, kInfinity = 0x7F800000, kOne = 0x3F800000;
constexpr uint32_t kFraction = 0x7FFFFF, kHidden = 0x800000, kSign = 0x80000000;

// What is added to each sum, in 2^-18 of the unit. (Cut results tell no more of it.)
constexpr int64_t kRcpBias = 16188, kRootBias = 65534, kEx2Bias = 48916, kLg2Bias = 6700;

uint16_t cutSquare(uint32_t x) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < kWidth; ++i)
    for (unsigned j = 0; j <= i; ++j) {
      unsigned weight = i == j ? 2 * i : i + j + 1;
      if (weight >= kSquareCut)
        sum += uint64_t(x >> i & x >> j & 1) << weight;
    }
  return uint16_t(sum >> kSquareCut);
}
std::vector<uint16_t> cutSquares() {
  std::vector<uint16_t> table(std::size_t(1) << kWidth);
  for (uint32_t x = 0; x < table.size(); ++x)
    table[x] = cutSquare(x);
  return table;
}

/// The polynomial of a row at x of 17 bits, in 2^-18 of the unit.
int64_t interpolate(const Row &row, uint32_t x, int64_t bias) {
  static const std::vector<uint16_t> squares = cutSquares();
  return (int64_t(row.c0) << (kUnitBits - 3)) + bias + int64_t(row.c1) * x * 2 +
         int64_t(row.c2) * squares[x] * 4;
}
int64_t at(const Row *rows, uint32_t fraction, int64_t bias) {
  return interpolate(rows[fraction >> kWidth], fraction & ((1u << kWidth) - 1), bias);
}

/// sum * 2^exponent, sum not negative, cut to 24 bits; subnormal results are zero.
uint32_t cut(int64_t sum, int exponent, uint32_t sign) {
  if (sum == 0)
    return sign;
  int width = 64 - std::countl_zero(uint64_t(sum));
  int field = width - 1 + exponent + 127;
  if (field < 1)
    return sign;
  if (field > 254)
    return sign | kInfinity;
  uint64_t significand = width > 24 ? uint64_t(sum) >> (width - 24) : uint64_t(sum) << (24 - width);
  return sign | uint32_t(field) << 23 | (uint32_t(significand) & kFraction);
}

struct Parts {
  uint32_t sign, fraction;
  int field;
  explicit Parts(uint32_t x)
      : sign(x & kSign), fraction(x & kFraction), field(int(x >> 23 & 0xFF)) {}
  bool isZero() const { return field == 0; } // or subnormal
  bool isNan() const { return field == 255 && fraction; }
  bool isInfinite() const { return field == 255 && !fraction; }
  int exponent() const { return field - 127; }
};

/// A quarter turn's fraction, 23 bits; odd quarters run backwards.
uint32_t sinOfQuarters(uint32_t turns, unsigned quarters, bool isOdd) {
  constexpr int kQuarterBits = 25; // bits of a turn behind the point
  Parts p(turns);
  if (p.field == 255)
    return kNan;
  uint64_t fixed = 0;
  int shift = p.exponent() - 23 + kQuarterBits;
  if (!p.isZero() && shift < kQuarterBits && shift > -24)
    fixed = shift >= 0 ? uint64_t(p.fraction | kHidden) << shift : (p.fraction | kHidden) >> -shift;
  quarters += unsigned(fixed >> 23);
  uint32_t fraction = uint32_t(fixed) & kFraction;
  uint32_t sign = (quarters & 2 ? kSign : 0) ^ (isOdd ? p.sign : 0);
  return cut(at(kSin, quarters & 1 ? kFraction - fraction : fraction, 0), -24 - kUnitBits, sign);
}

/// Binades of tanh: the last bit that counts, and how many segments come before.
struct TanhBinade {
  int last, first;
};
constexpr int kTanhFirst = 119; // below, tanh(x) is x
constexpr TanhBinade kTanhBinades[] = {{-25, 0},  {-24, 1},  {-23, 2},  {-23, 3},
                                       {-22, 5},  {-22, 7},  {-21, 11}, {-20, 15},
                                       {-20, 19}, {-20, 27}, {-18, 43}};

} // namespace

uint32_t rcp(uint32_t x) {
  Parts p(x);
  if (p.isNan())
    return kNan;
  if (p.isZero() || p.isInfinite())
    return p.sign | (p.isZero() ? kInfinity : 0);
  // 128 segments: 16 bits, which stand at the top of the multiplier.
  const Row &row = kRcp[p.fraction >> 16];
  return cut(interpolate(row, (p.fraction & 0xFFFF) << 1, kRcpBias), -24 - kUnitBits - p.exponent(),
             p.sign);
}

uint32_t rsqrt(uint32_t x) {
  Parts p(x);
  if (p.isZero())
    return p.sign | kInfinity;
  if (p.isNan() || p.sign)
    return kNan;
  if (p.isInfinite())
    return 0;
  int odd = p.exponent() & 1, half = (p.exponent() - odd) / 2;
  if (!odd && !p.fraction)
    return cut(1, -half, 0);
  return cut(at(kRsqrt + 64 * odd, p.fraction, kRootBias), -24 - kUnitBits - half, 0);
}

uint32_t sqrt(uint32_t x) {
  Parts p(x);
  if (p.isZero())
    return p.sign;
  if (p.isNan() || p.sign)
    return kNan;
  if (p.isInfinite())
    return kInfinity;
  int odd = p.exponent() & 1, half = (p.exponent() - odd) / 2;
  return cut(at(kSqrt + 64 * odd, p.fraction, kRootBias), -23 - kUnitBits + half, 0);
}

uint32_t ex2(uint32_t x) {
  Parts p(x);
  if (p.isNan())
    return kNan;
  int shift = p.exponent();
  if (shift >= 8)
    return p.sign ? 0 : kInfinity;
  // Fixed point with 23 bits behind the point; a negative fraction is complemented.
  uint32_t fixed = 0, significand = p.fraction | kHidden;
  if (!p.isZero() && shift > -24)
    fixed = shift >= 0 ? significand << shift : significand >> -shift;
  int whole = int(fixed >> 23);
  uint32_t fraction = fixed & kFraction;
  if (p.sign) {
    whole = fraction ? -whole - 1 : -whole;
    fraction = fraction ? kFraction - fraction : 0;
  }
  return cut(at(kEx2, fraction, kEx2Bias), -23 - kUnitBits + whole, 0);
}

uint32_t lg2(uint32_t x) {
  Parts p(x);
  if (p.isZero())
    return kSign | kInfinity;
  if (p.isNan() || p.sign)
    return kNan;
  if (p.isInfinite())
    return kInfinity;
  if (x == kOne)
    return 0;
  // 36 bits behind the point: the table holds 1 + log2.
  constexpr int kBits = 36;
  int64_t sum = (at(kLg2, p.fraction, kLg2Bias) >> (23 + kUnitBits - kBits)) -
                (int64_t(1) << kBits) + int64_t(p.exponent()) * (int64_t(1) << kBits);
  return p.exponent() < 0 ? cut(~sum, -kBits, kSign) : cut(sum, -kBits, 0);
}

uint32_t tanh(uint32_t x) {
  Parts p(x);
  if (p.isNan())
    return kNan;
  if (p.field < kTanhFirst)
    return x;
  unsigned binade = unsigned(p.field - kTanhFirst);
  if (binade >= std::size(kTanhBinades))
    return p.sign | kOne;
  const TanhBinade &b = kTanhBinades[binade];
  int shift = b.last - (p.exponent() - 23);
  uint32_t fixed = p.fraction | kHidden;
  fixed = shift >= 0 ? fixed >> shift : fixed << -shift;
  unsigned segments = 1u << (p.exponent() - b.last - int(kWidth)); // of the binade
  const Row &row = kTanh[unsigned(b.first) + (fixed >> kWidth) - segments];
  return cut(interpolate(row, fixed & ((1u << kWidth) - 1), 0), -24 - kUnitBits, p.sign);
}

uint32_t sin(uint32_t turns) { return sinOfQuarters(turns, 0, /*isOdd=*/true); }
uint32_t cos(uint32_t turns) { return sinOfQuarters(turns, 1, /*isOdd=*/false); }

} // namespace blockscale::emu::mufu
