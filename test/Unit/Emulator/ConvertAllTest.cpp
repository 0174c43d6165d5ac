//===- ConvertAllTest.cpp - cvt of every 16-bit source --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole kernels convert all 65,536 codes, as f16 and as bf16, to every narrow format,
// and all narrow codes back. Expected values search a table of the format's values in
// double, where every midpoint is exact.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

struct Narrow {
  std::string name;
  int e, m;
  int codes; // finite magnitudes
  uint32_t sign, nan;
};
const Narrow kNarrow[] = {{"e4m3", 4, 3, 127, 0x80, 0x7F},
                          {"e5m2", 5, 2, 124, 0x80, 0x7F},
                          {"e2m3", 2, 3, 32, 0x20, 31},
                          {"e3m2", 3, 2, 32, 0x20, 31},
                          {"e2m1", 2, 1, 8, 0x8, 7}};

double valueOf(const Narrow &f, int magnitude) {
  int field = magnitude >> f.m, fraction = magnitude & ((1 << f.m) - 1);
  int bias = (1 << (f.e - 1)) - 1;
  return field ? std::ldexp((1 << f.m) + fraction, field - bias - f.m)
               : std::ldexp(fraction, 1 - bias - f.m);
}

double sourceOf(bool brain, uint32_t code) {
  int e = brain ? 8 : 5, m = brain ? 7 : 10, bias = (1 << (e - 1)) - 1;
  int field = int(code >> m) & ((1 << e) - 1), fraction = int(code) & ((1 << m) - 1);
  double magnitude = field == (1 << e) - 1 ? (fraction ? NAN : INFINITY)
                     : field               ? std::ldexp((1 << m) + fraction, field - bias - m)
                                           : std::ldexp(fraction, 1 - bias - m);
  return code >> 15 ? -magnitude : magnitude;
}

/// Nearest, ties to the even code, and the largest beyond; NaN without its sign.
uint32_t expected(const Narrow &f, double x) {
  if (std::isnan(x))
    return f.nan;
  double magnitude = std::fabs(x);
  int code = 0;
  while (code + 1 < f.codes && valueOf(f, code + 1) <= magnitude)
    ++code;
  if (code + 1 < f.codes) {
    double middle = (valueOf(f, code) + valueOf(f, code + 1)) / 2;
    code += magnitude > middle || (magnitude == middle && code % 2);
  }
  return uint32_t(code) | (std::signbit(x) ? f.sign : 0);
}

TEST(ConvertAll, SixteenBitSources) {
  for (const Narrow &f : kNarrow)
    for (bool brain : {false, true}) {
      bool nibbles = f.name == "e2m1";
      Scene s;
      s.grid = {32, 1, 1};
      s.block = {1024, 1, 1};
      s.outWords = 32768;
      // Thread i converts codes 2i (first source, the low half) and 2i + 1.
      std::string convert = "cvt.rn.satfinite." + f.name + "x2." + (brain ? "bf16x2" : "f16x2");
      std::string body =
          "mov.u32 %r0, %ctaid.x; mad.lo.u32 %r0, %r0, 1024, %t; shl.b32 %r1, %r0, "
          "1; mad.lo.u32 %r1, %r1, 0x10001, 0x10000;\n" +
          (nibbles ? "{ .reg .b8 %b; " + convert + " %b, %r1; cvt.u32.u8 %r2, %b; }\n"
                   : convert + " %h0, %r1; cvt.u32.u16 %r2, %h0;\n") +
          "mad.wide.u32 %rd0, %r0, 4, %out; st.global.b32 [%rd0], %r2;";
      Ran r = run(kernel(body), s);
      ASSERT_EQ(r.error, "") << convert;
      unsigned bits = nibbles ? 4 : 8;
      size_t wrong = 0;
      for (uint32_t code = 0; code < 65536; ++code)
        wrong += (r.out[code / 2] >> (bits * (code % 2)) & ((1u << bits) - 1)) !=
                 expected(f, sourceOf(brain, code));
      EXPECT_EQ(wrong, 0u) << convert;
    }
}

TEST(ConvertAll, NarrowSources) {
  for (const Narrow &f : kNarrow) {
    bool nibbles = f.name == "e2m1";
    Scene s;
    s.block = {256, 1, 1};
    s.outWords = 256;
    std::string convert = "cvt.rn.f16x2." + f.name + "x2 %r1, ";
    std::string body = nibbles
                           ? "{ .reg .b8 %b; cvt.u8.u32 %b, %t; " + convert + "%b; }\n"
                           : "mul.lo.u32 %r0, %t, 257; cvt.u16.u32 %h0, %r0; " + convert + "%h0;\n";
    Ran r = run(kernel(body + "st.global.b32 [%po], %r1;"), s);
    ASSERT_EQ(r.error, "") << convert;
    for (uint32_t byte = 0; byte < 256; ++byte)
      for (unsigned h = 0; h < 2; ++h) {
        uint32_t code = nibbles ? byte >> (4 * h) & 15 : byte;
        if (!nibbles && (code & ~(2 * f.sign - 1)))
          continue; // FP6: bits above the code are not defined
        double got = sourceOf(false, r.out[byte] >> (16 * h) & 0xFFFF);
        int magnitude = int(code & (f.sign - 1));
        if (f.name == "e5m2" && magnitude == 0x7C)
          EXPECT_TRUE(std::isinf(got));
        else if (magnitude >= f.codes)
          EXPECT_TRUE(std::isnan(got)) << f.name << " " << code;
        else
          EXPECT_EQ(got, (code & f.sign ? -1 : 1) * valueOf(f, magnitude)) << f.name << " " << code;
      }
  }
}

/// Every rounding boundary of the quotient, with the source's neighbours, under every scale. A
/// source, its quotient by a power of two and the midpoints are binary rationals of at most 25
/// bits between 2^-400 and 2^400: doubles hold them exactly.
TEST(ConvertAll, ScaledUe5m3AtEveryBoundary) {
  const Narrow f{"ue5m3", 5, 3, 255, 0, 0xFF};
  constexpr unsigned kScales = 256, kBlocks = 3, kSources = 2 * 1024 * kBlocks; // of a scale
  Scene s;
  s.grid = {kBlocks, kScales, 1};
  s.block = {1024, 1, 1};
  s.outWords = size_t(kScales) * kSources / 2;
  std::vector<float> sources;
  for (int scale = 0; scale < int(kScales); ++scale) {
    for (int i = 0; i < f.codes; ++i) {
      double value = valueOf(f, i), next = valueOf(f, i + 1);
      for (double boundary : {value, (value + next) / 2, next}) {
        float x = float(std::ldexp(boundary, scale - 127)); // exact, or out of range
        for (float near : {x, std::nextafter(x, INFINITY), std::nextafter(x, 0.0f)})
          sources.insert(sources.end(), {near, -near});
      }
    }
    ASSERT_LE(sources.size(), size_t(scale + 1) * kSources);
    sources.resize(size_t(scale + 1) * kSources, 1.0f);
  }
  s.in.resize(sources.size());
  std::memcpy(s.in.data(), sources.data(), 4 * sources.size());
  std::vector<double> values; // of the codes
  for (int i = 0; i < f.codes; ++i)
    values.push_back(valueOf(f, i));
  for (bool nearest : {true, false}) {
    std::string convert =
        std::string("cvt.") + (nearest ? "rn" : "rz") + ".satfinite.scaled::n1::ue8m0.ue5m3x2.f32";
    Ran r = run(kernel(".reg .b8 %b;\nmov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; "
                       "cvt.u8.u32 %b, %r1; mad.lo.u32 %r1, %r1, 3, %r0; "
                       "mad.lo.u32 %r1, %r1, 1024, %t; mad.wide.u32 %rd0, %r1, 8, %in; "
                       "ld.global.v2.f32 {%f0, %f1}, [%rd0];\n" +
                           convert +
                           " %h0, %f1, %f0, %b; cvt.u32.u16 %r2, %h0; "
                           "mad.wide.u32 %rd1, %r1, 4, %out; st.global.b32 [%rd1], %r2;",
                       "sm_107a"),
                s);
    ASSERT_EQ(r.error, "") << convert;
    size_t wrong = 0;
    for (size_t i = 0; i < sources.size(); ++i) {
      const int scale = int(i / kSources);
      const float x = std::fpclassify(sources[i]) == FP_SUBNORMAL ? 0.0f : sources[i];
      const double quotient = std::fabs(std::ldexp(double(x), 127 - scale)); // no sign bit
      uint32_t want = 0;
      if (scale == 0xFF)
        want = f.nan;
      else if (quotient > 0) {
        want =
            uint32_t(std::upper_bound(values.begin(), values.end(), quotient) - values.begin()) - 1;
        const double middle = (values[want] + valueOf(f, int(want) + 1)) / 2;
        if (nearest && int(want) + 1 < f.codes)
          want += quotient > middle || (quotient == middle && want % 2);
      }
      wrong += (r.out[i / 2] >> (8 * (i % 2)) & 0xFF) != want;
    }
    EXPECT_EQ(wrong, 0u) << convert;
  }
}

} // namespace
