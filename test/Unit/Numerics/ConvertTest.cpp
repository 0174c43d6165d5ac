//===- ConvertTest.cpp - conversions against exact arithmetic -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoding: every code against ml_dtypes. Encoding: the reference searches the
// ascending table of values and compares with exact midpoints in double, for
// every value, every midpoint, their float neighbours, all exponents and the
// special values, in every rounding mode.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <vector>

using namespace blockscale;
using namespace blockscale::emu;
using facts::Format;
using facts::ScaleFormat;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Round kRounds[] = {Round::nearestEven, Round::towardZero, Round::down, Round::up};

uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

/// format -> value by code, as ml_dtypes has them.
const std::map<std::string, std::vector<float>> &tables() {
  static const auto all = [] {
    std::map<std::string, std::vector<float>> result;
    std::ifstream file(std::string(BLOCKSCALE_TEST_DIR) + "/data/convert/values.txt");
    std::string name, code, bits;
    while (file >> name >> code >> bits) {
      EXPECT_EQ(std::stoul(code, nullptr, 16), result[name].size());
      result[name].push_back(
          bits == "nan" ? kNan : std::bit_cast<float>(uint32_t(std::stoul(bits, nullptr, 16))));
    }
    return result;
  }();
  return all;
}

void expectSame(float got, float want, const std::string &what) {
  if (std::isnan(want))
    EXPECT_TRUE(std::isnan(got)) << what;
  else
    EXPECT_EQ(bitsOf(got), bitsOf(want)) << what;
}

TEST(Decode, EveryNarrowCode) {
  size_t codes = 0;
  for (Format f : {Format::e2m1, Format::e2m3, Format::e3m2, Format::e4m3, Format::e5m2})
    for (const auto &[code, want] : [&] {
           std::vector<std::pair<uint32_t, float>> rows;
           for (float v : tables().at(std::string(facts::name(f))))
             rows.push_back({uint32_t(rows.size()), v});
           return rows;
         }()) {
      expectSame(decode(f, code), want, std::string(facts::name(f)) + std::to_string(code));
      ++codes;
    }
  for (ScaleFormat f : {ScaleFormat::ue8m0, ScaleFormat::ue4m3, ScaleFormat::ue5m3}) {
    const std::vector<float> &table = tables().at(std::string(facts::name(f)));
    for (size_t code = 0; code < 256; ++code, ++codes)
      expectSame(decode(f, uint8_t(code)), table[code % table.size()],
                 std::string(facts::name(f)) + std::to_string(code));
  }
  EXPECT_EQ(codes, 16u + 64 + 64 + 256 + 256 + 3 * 256);
}

TEST(Decode, EveryHalfAndBfloatCode) {
  for (uint32_t code = 0; code < 65536; ++code) {
    expectSame(decodeBf16(uint16_t(code)), std::bit_cast<float>(code << 16), "bf16");
    int e = int(code >> 10 & 31), m = int(code & 1023);
    double magnitude = e == 31 ? (m ? NAN : INFINITY)
                       : e     ? std::ldexp(1024 + m, e - 25)
                               : std::ldexp(m, -24);
    expectSame(decodeF16(uint16_t(code)), float(code >> 15 ? -magnitude : magnitude), "f16");
  }
}

/// How a format ends: what the reference needs beyond the table of its values.
struct Ending {
  std::vector<double> magnitudes; // ascending finite values, by magnitude code
  uint32_t sign;                  // 0: unsigned
  uint32_t infinity;              // code, or the NaN code where there is none
  uint32_t nan;
  bool hasInfinity, hasNan;
};

uint32_t magnitudeReference(const Ending &f, double x, bool negative, Round round,
                            Overflow overflow) {
  const std::vector<double> &values = f.magnitudes;
  size_t last = values.size() - 1;
  double beyond = values[last] + (values[last] - values[last - 1]);
  size_t below = size_t(std::upper_bound(values.begin(), values.end(), x) - values.begin()) - 1;
  double low = values[below], high = below == last ? beyond : values[below + 1];
  size_t code = below;
  if (x != low) {
    double middle = low + (high - low) / 2;
    switch (round) {
    case Round::nearestEven:
      code += x > middle || (x == middle && below % 2 == 1);
      break;
    case Round::towardZero:
      break;
    case Round::down:
      code += negative;
      break;
    case Round::up:
      code += !negative;
      break;
    }
  }
  if (code <= last)
    return uint32_t(code);
  return overflow == Overflow::satfinite || !(f.hasInfinity || f.hasNan) ? uint32_t(last)
                                                                         : f.infinity;
}

uint32_t reference(const Ending &f, double x, Round round, Overflow overflow) {
  uint32_t last = uint32_t(f.magnitudes.size() - 1);
  if (std::isnan(x))
    return f.hasNan ? f.nan : last;
  bool negative = f.sign && std::signbit(x);
  uint32_t sign = negative ? f.sign : 0;
  if (std::isinf(x))
    return sign |
           (overflow == Overflow::satfinite || !(f.hasInfinity || f.hasNan) ? last : f.infinity);
  return sign | magnitudeReference(f, std::fabs(x), negative, round, overflow);
}

Ending ending(const std::string &name) {
  const std::vector<float> &table = tables().at(name);
  Ending f;
  f.sign = name[0] == 'u' ? 0 : uint32_t(table.size() / 2);
  size_t count = f.sign ? f.sign : table.size();
  for (size_t i = 0; i < count && std::isfinite(table[i]); ++i)
    f.magnitudes.push_back(table[i]);
  f.hasInfinity = name == "e5m2";
  f.hasNan = f.magnitudes.size() != count;
  f.nan = uint32_t(count - 1);
  f.infinity = f.hasInfinity ? 0x7C : f.nan;
  return f;
}

Ending halfEnding() {
  Ending f{{}, 0x8000, 0x7C00, 0x7FFF, true, true};
  for (uint32_t code = 0; code < 0x7C00; ++code)
    f.magnitudes.push_back(decodeF16(uint16_t(code)));
  return f;
}

Ending bfloatEnding() {
  Ending f{{}, 0x8000, 0x7F80, 0x7FFF, true, true};
  for (uint32_t code = 0; code < 0x7F80; ++code)
    f.magnitudes.push_back(std::bit_cast<float>(code << 16));
  return f;
}

/// Every value and midpoint with its float neighbours, all exponents, specials.
std::vector<float> sources(const Ending &f) {
  std::vector<float> all{0.0f, kInf, kNan, std::numeric_limits<float>::max()};
  auto around = [&](double v) {
    float x = float(v);
    all.insert(all.end(), {x, std::nextafter(x, kInf), std::nextafter(x, 0.0f)});
  };
  for (size_t i = 0; i < f.magnitudes.size(); ++i) {
    around(f.magnitudes[i]);
    double next = i + 1 < f.magnitudes.size() ? f.magnitudes[i + 1]
                                              : 2 * f.magnitudes[i] - f.magnitudes[i - 1];
    around((f.magnitudes[i] + next) / 2);
    around(next);
  }
  for (uint32_t exponent = 0; exponent < 255; ++exponent)
    for (uint32_t mantissa : {0u, 1u, 0x3FFFFFu, 0x400000u, 0x400001u, 0x7FFFFFu})
      all.push_back(std::bit_cast<float>(exponent << 23 | mantissa));
  for (size_t i = 0, count = all.size(); i < count; ++i)
    all.push_back(-all[i]);
  return all;
}

template <typename Encode>
void checkEncode(const std::string &name, const Ending &f, const Encode &encodeOne) {
  size_t wrong = 0, checked = 0;
  for (float x : sources(f))
    for (Round round : kRounds)
      for (Overflow overflow : {Overflow::natural, Overflow::satfinite}) {
        bool truncates = round == Round::towardZero ||
                         (f.sign && round == (std::signbit(x) ? Round::up : Round::down)) ||
                         (!f.sign && round == Round::down);
        double source = f.sign ? double(x) : std::fabs(double(x));
        uint32_t want = reference(f, source, round, overflow);
        // Rounding towards zero never overflows.
        if (truncates && std::isfinite(x))
          want = reference(f, source, round, Overflow::satfinite);
        uint32_t got = encodeOne(x, round, overflow);
        ++checked;
        if (got != want && ++wrong < 5)
          ADD_FAILURE() << name << " " << std::hexfloat << x << " round " << int(round) << " "
                        << int(overflow) << ": got " << got << ", want " << want;
      }
  EXPECT_EQ(wrong, 0u) << name << " of " << checked;
  EXPECT_GT(checked, 10000u);
}

TEST(Encode, ElementsAtEveryBoundary) {
  for (Format format : {Format::e2m1, Format::e2m3, Format::e3m2, Format::e4m3, Format::e5m2})
    checkEncode(std::string(facts::name(format)), ending(std::string(facts::name(format))),
                [&](float x, Round r, Overflow o) { return encode(format, x, r, o); });
}

TEST(Encode, HalfAndBfloatAtEveryBoundary) {
  checkEncode("f16", halfEnding(),
              [](float x, Round r, Overflow o) { return encode(Format::f16, x, r, o); });
  checkEncode("bf16", bfloatEnding(),
              [](float x, Round r, Overflow o) { return encode(Format::bf16, x, r, o); });
}

TEST(Encode, ScalesAtEveryBoundary) {
  for (ScaleFormat format : {ScaleFormat::ue4m3, ScaleFormat::ue5m3})
    checkEncode(std::string(facts::name(format)), ending(std::string(facts::name(format))),
                [&](float x, Round r, Overflow o) { return encode(format, x, r, o); });
}

TEST(Encode, PowerOfTwoScales) {
  auto up = [](float x) { return int(encode(ScaleFormat::ue8m0, x, Round::up)); };
  auto down = [](float x) { return int(encode(ScaleFormat::ue8m0, x, Round::towardZero)); };
  for (int byte = 1; byte <= 254; ++byte) {
    float power = std::ldexp(1.0f, byte - 127);
    EXPECT_EQ(up(power), byte);
    EXPECT_EQ(down(power), byte);
    EXPECT_EQ(up(std::nextafter(power, kInf)), std::min(byte + 1, 254));
    EXPECT_EQ(down(std::nextafter(power, kInf)), byte);
    EXPECT_EQ(up(std::nextafter(power, 0.0f)), byte);
    EXPECT_EQ(down(std::nextafter(power, 0.0f)), byte - 1);
    EXPECT_EQ(up(-1.5f * power), std::min(byte + 1, 254)); // the sign is ignored
  }
  EXPECT_EQ(up(0.0f), 0); // no zero: 2^-127
  EXPECT_EQ(up(0x1p-149f), 0);
  EXPECT_EQ(up(0x1p-127f), 0);
  EXPECT_EQ(up(0x1.000004p-127f), 1);
  EXPECT_EQ(down(0x1.fffffcp-127f), 0);
  EXPECT_EQ(up(kInf), 0xFE);
  EXPECT_EQ(encode(ScaleFormat::ue8m0, kInf, Round::up, Overflow::natural), 0xFF);
  EXPECT_EQ(encode(ScaleFormat::ue8m0, 0x1.8p127f, Round::up, Overflow::natural), 0xFF);
  EXPECT_EQ(up(kNan), 0xFF);
}

/// Between every two codes: places around each carry of random bits, exact in double.
TEST(EncodeRandom, CarriesAtEveryBoundary) {
  std::mt19937 random(7);
  size_t checked = 0;
  struct Row {
    Format format;
    uint32_t largest;
    unsigned bits;
  };
  for (const Row &row :
       {Row{Format::e4m3, 0x7E, 16}, Row{Format::e5m2, 0x7B, 16}, Row{Format::e2m3, 0x1F, 16},
        Row{Format::e3m2, 0x1F, 16}, Row{Format::e2m1, 0x7, 16}, Row{Format::f16, 0x7BFF, 13},
        Row{Format::bf16, 0x7F7F, 16}}) {
    const uint32_t step = row.largest > 0x1000 ? 37 : 1;
    const uint32_t sign = 1u << (facts::info(row.format).bits - 1);
    for (uint32_t code = 0; code < row.largest; code += step)
      for (int i = 0; i < 8; ++i) {
        const uint32_t draw = random() & ((1u << row.bits) - 1);
        const double low = decode(row.format, code), unit = decode(row.format, code + 1) - low;
        const double carry =
            low + std::ldexp(unit * double((1u << row.bits) - draw), -int(row.bits));
        for (double place : {low, carry, std::nextafter(float(carry), 0.0f) + 0.0,
                             std::nextafter(float(carry), kInf) + 0.0}) {
          const float x = float(place);
          if (x < low || x >= low + unit)
            continue;
          const uint32_t want = code + (double(x) >= carry);
          EXPECT_EQ(encodeRandom(row.format, x, draw, row.bits, Overflow::satfinite), want)
              << facts::name(row.format) << " " << code << " " << draw << " " << x;
          EXPECT_EQ(encodeRandom(row.format, -x, draw, row.bits, Overflow::satfinite), want | sign);
          checked += 2;
        }
      }
    EXPECT_EQ(encodeRandom(row.format, kInf, 0, row.bits, Overflow::satfinite), row.largest);
    EXPECT_EQ(encodeRandom(row.format, std::numeric_limits<float>::max(), ~0u >> (32 - row.bits),
                           row.bits, Overflow::satfinite),
              row.largest);
  }
  EXPECT_GT(checked, 40000u);
  EXPECT_EQ(encodeRandom(Format::f16, 65519.0f, 0x1FFF, 13, Overflow::natural), 0x7C00u);
  EXPECT_EQ(encodeRandom(Format::f16, 65504.0f, 0x1FFF, 13, Overflow::natural), 0x7BFFu);
}

TEST(EncodeS2f6, EveryBoundaryUnderEveryScale) {
  for (int scale = 0; scale < 255; ++scale)
    for (int units = -300; units <= 300; ++units)
      for (double offset : {-0.5, -0.25, 0.0, 0.25}) {
        const double value = std::ldexp((units + offset) / 64, scale - 127);
        const float x = float(value);
        if (double(x) != value)
          continue; // below the floats
        const double exact = units + offset;
        const double nearest = std::clamp(std::nearbyint(exact), -128.0, 127.0);
        const double toZero = std::clamp(std::trunc(exact), -128.0, 127.0);
        EXPECT_EQ(int8_t(encodeS2f6(x, uint8_t(scale), Round::nearestEven)), int(nearest)) << exact;
        EXPECT_EQ(int8_t(encodeS2f6(x, uint8_t(scale), Round::towardZero)), int(toZero)) << exact;
      }
  EXPECT_EQ(encodeS2f6(kNan, 127, Round::nearestEven), 127);
  EXPECT_EQ(encodeS2f6(1.0f, 255, Round::nearestEven), 127);
  EXPECT_EQ(encodeS2f6(-kInf, 127, Round::nearestEven), 0x80);
}

TEST(EncodeScaled, DividesOnceByTheScale) {
  std::mt19937 random(3);
  for (Format format : {Format::e4m3, Format::e5m2, Format::e2m1}) {
    Ending f = ending(std::string(facts::name(format)));
    std::vector<float> xs = sources(f);
    for (int n = 0; n < 20000; ++n)
      xs.push_back(std::bit_cast<float>(uint32_t(random())));
    size_t wrong = 0;
    for (int scale = 0; scale < 255; ++scale)
      for (size_t n = size_t(scale) % 7; n < xs.size(); n += 7)
        for (Round round : {Round::nearestEven, Round::towardZero}) {
          float x = xs[n];
          double flushed = std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : double(x);
          uint32_t want =
              reference(f, std::ldexp(flushed, 127 - scale), round, Overflow::satfinite);
          wrong += encodeScaled(format, x, uint8_t(scale), round) != want;
        }
    EXPECT_EQ(wrong, 0u) << facts::name(format);
  }
}

/// cvt takes f16x2 and bf16x2 sources as well: every one of them, every target.
TEST(Encode, EverySixteenBitSource) {
  for (Format format : {Format::e2m1, Format::e2m3, Format::e3m2, Format::e4m3, Format::e5m2}) {
    Ending f = ending(std::string(facts::name(format)));
    size_t wrong = 0;
    for (uint32_t code = 0; code < 0x10000; ++code)
      for (float x : {decodeF16(uint16_t(code)), std::bit_cast<float>(code << 16)})
        for (Round round : {Round::nearestEven, Round::towardZero})
          wrong += encode(format, x, round, Overflow::satfinite) !=
                   reference(f, double(x), round, Overflow::satfinite);
    EXPECT_EQ(wrong, 0u) << facts::name(format);
  }
}

/// Every rounding boundary of the quotient, with the source's neighbours, under every scale.
TEST(EncodeScaled, EveryBoundaryUnderEveryScale) {
  for (Format format : {Format::e4m3, Format::e5m2, Format::e2m1, Format::e2m3, Format::e3m2}) {
    Ending f = ending(std::string(facts::name(format)));
    const std::vector<double> &v = f.magnitudes;
    size_t wrong = 0, checked = 0;
    for (int scale = 0; scale < 255; ++scale)
      for (size_t i = 0; i < v.size(); ++i) {
        double next = i + 1 < v.size() ? v[i + 1] : 2 * v[i] - v[i - 1];
        for (double boundary : {v[i], (v[i] + next) / 2, next}) {
          float x = float(std::ldexp(boundary, scale - 127)); // exact, or out of range
          for (float near : {x, std::nextafter(x, kInf), std::nextafter(x, 0.0f)})
            for (float source : {near, -near})
              for (Round round : {Round::nearestEven, Round::towardZero}) {
                double flushed = std::fpclassify(source) == FP_SUBNORMAL
                                     ? std::copysign(0.0, source)
                                     : double(source);
                uint32_t want =
                    reference(f, std::ldexp(flushed, 127 - scale), round, Overflow::satfinite);
                wrong += encodeScaled(format, source, uint8_t(scale), round) != want;
                ++checked;
              }
        }
      }
    EXPECT_EQ(wrong, 0u) << facts::name(format) << " of " << checked;
  }
}

/// A scale of NaN gives NaN, or +max where there is none, whatever the value.
TEST(EncodeScaled, NanScaleOfEveryExponent) {
  for (Format format : {Format::e4m3, Format::e5m2, Format::e2m1, Format::e2m3, Format::e3m2}) {
    Ending f = ending(std::string(facts::name(format)));
    uint32_t want = f.hasNan ? f.nan : uint32_t(f.magnitudes.size() - 1);
    size_t wrong = 0;
    for (float x : sources(f))
      for (Round round : {Round::nearestEven, Round::towardZero})
        wrong += encodeScaled(format, x, 0xFF, round) != want;
    EXPECT_EQ(wrong, 0u) << facts::name(format);
  }
}

TEST(EncodeScaled, SpecialCasesMeasuredOnHardware) {
  for (float x : {0.0f, -3.0f, kInf, kNan}) // scale NaN
    EXPECT_EQ(encodeScaled(Format::e4m3, x, 0xFF), 0x7Fu);
  EXPECT_EQ(encodeScaled(Format::e4m3, kInf, 127), 0x7Eu);
  EXPECT_EQ(encodeScaled(Format::e4m3, -kInf, 127), 0xFEu);
  EXPECT_EQ(encodeScaled(Format::e5m2, kInf, 3), 0x7Bu);
  EXPECT_EQ(encodeScaled(Format::e5m2, -kInf, 3), 0xFBu);
  EXPECT_EQ(encodeScaled(Format::e4m3, kNan, 127), 0x7Fu);
  EXPECT_EQ(encodeScaled(Format::e4m3, -0.0f, 127), 0x80u);
  EXPECT_EQ(encodeScaled(Format::e4m3, -0x1p-127f, 0), 0x80u); // flushed, though 1.0 if it were not
  EXPECT_EQ(encodeScaled(Format::e4m3, 0x1p-126f, 0), 0x40u);  // 2.0: scale 0 multiplies by 2^127
}

} // namespace
