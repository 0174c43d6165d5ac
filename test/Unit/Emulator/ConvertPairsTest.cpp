//===- ConvertPairsTest.cpp - cvt between pairs, every code ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every code of every narrow type to bf16x2 and f16x2, alone and under every scale of
// `.scaled::n2`, and every 16-bit code to scales and to narrow types towards zero.
// Expected values search tables of the formats' values in double, where values,
// midpoints and products with powers of two are exact.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <algorithm>
#include <cmath>

using namespace blockscale::emu::test;

namespace {

/// Magnitudes by code, ascending; the codes behind them are infinity, then NaN.
struct Table {
  std::string name;
  unsigned bits = 8, sign = 0; // of a code; 0: no sign
  std::vector<double> values;
  bool hasInfinity = false;
};

Table makeTable(const std::string &name, unsigned bits, bool isSigned, int e, int m, int finite,
                bool hasInfinity = false) {
  Table t{name, bits, isSigned ? 1u << (e + m) : 0, {}, hasInfinity};
  const int bias = (1 << (e - 1)) - 1;
  for (int code = 0; code < finite; ++code) {
    int field = code >> m, fraction = code & ((1 << m) - 1);
    t.values.push_back(m == 0  ? std::ldexp(1, code - bias) // no zero, no subnormals
                       : field ? std::ldexp((1 << m) + fraction, field - bias - m)
                               : std::ldexp(fraction, 1 - bias - m));
  }
  return t;
}

const Table kE4m3 = makeTable("e4m3", 8, true, 4, 3, 127);
const Table kE5m2 = makeTable("e5m2", 8, true, 5, 2, 124, true);
const Table kE2m3 = makeTable("e2m3", 8, true, 2, 3, 32);
const Table kE3m2 = makeTable("e3m2", 8, true, 3, 2, 32);
const Table kE2m1 = makeTable("e2m1", 4, true, 2, 1, 8);
const Table kUe5m3 = makeTable("ue5m3", 8, false, 5, 3, 255);
const Table kUe8m0 = makeTable("ue8m0", 8, false, 8, 0, 255);
const Table kF16 = makeTable("f16", 16, true, 5, 10, 0x7C00, true);
const Table kBf16 = makeTable("bf16", 16, true, 8, 7, 0x7F80, true);

double valueOf(const Table &t, uint32_t code) {
  size_t magnitude = t.sign ? code & (t.sign - 1) : code;
  double value = magnitude < t.values.size()                     ? t.values[magnitude]
                 : t.hasInfinity && magnitude == t.values.size() ? INFINITY
                                                                 : NAN;
  return code & t.sign ? -value : value;
}

enum class To { nearest, zero, up };

/// The code of x; `finite`: the largest number where it does not fit. An unsigned type takes
/// the magnitude.
uint32_t codeOf(const Table &t, double x, To to, bool finite) {
  const size_t last = t.values.size() - 1;
  const uint32_t infinity = uint32_t(last + 1), nan = t.bits == 16       ? t.sign - 1
                                                      : t.name == "e5m2" ? 0x7F
                                                                         : uint32_t(last + 1);
  if (std::isnan(x))
    return t.name[1] == '2' || t.name == "e3m2" ? uint32_t(last) : nan;
  const uint32_t sign = std::signbit(x) ? t.sign : 0;
  const double magnitude = std::fabs(x);
  const double beyond = 2 * t.values[last] - t.values[last - 1];
  if (std::isinf(x))
    return sign | (finite ? uint32_t(last) : infinity);
  size_t code =
      size_t(std::upper_bound(t.values.begin(), t.values.end(), magnitude) - t.values.begin());
  if (code == 0) // below the least scale
    return 0;
  --code;
  const double low = t.values[code], high = code == last ? beyond : t.values[code + 1];
  if (magnitude != low) {
    const double middle = low + (high - low) / 2;
    code += to == To::up ||
            (to == To::nearest && (magnitude > middle || (magnitude == middle && code % 2)));
  }
  return sign | (code <= last               ? uint32_t(code)
                 : finite || to == To::zero ? uint32_t(last)
                                            : infinity);
}

/// Runs `convert %r2, pair` for every code as both elements; 16 bits of each result.
std::vector<uint32_t> convertAll(const std::string &convert, const Table &from, unsigned resultBits,
                                 const std::string &scale = "") {
  const bool isWide = from.bits == 16;
  Scene s;
  s.grid = {isWide ? 64u : 1u, scale.empty() ? 1u : 256u, 1};
  s.block = {isWide ? 1024u : 256u, 1, 1};
  const size_t codes = isWide ? 65536 : 256;
  s.outWords = codes * s.grid.y;
  std::string source = "%r1", result = "%r2", before, after;
  if (from.bits == 8) {
    before = "cvt.u16.u32 %h0, %r1;";
    source = "%h0";
  } else if (from.bits == 4) {
    before = "cvt.u8.u32 %b, %r1;";
    source = "%b";
  }
  if (resultBits == 8) {
    result = "%h1";
    after = "cvt.u32.u16 %r2, %h1;";
  } else if (resultBits == 4) {
    result = "%c";
    after = "cvt.u32.u8 %r2, %c;";
  }
  // Both elements are the thread's code; the byte of two FP4 is the thread's own.
  const std::string twice = from.bits == 16  ? "mul.lo.u32 %r1, %r0, 0x10001;"
                            : from.bits == 8 ? "mul.lo.u32 %r1, %r0, 0x101;"
                                             : "mov.u32 %r1, %r0;";
  const std::string scales =
      scale.empty() ? ""
                    : "mov.u32 %r4, %ctaid.y; mul.lo.u32 %r4, %r4, 0x101; cvt.u16.u32 %h2, %r4;";
  Ran r = run(kernel(".reg .b8 %b, %c;\nmov.u32 %r3, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.u32 "
                     "%r0, %r3, %r5, %t;\n" +
                         twice + before + scales + "\n" + convert + " " + result + ", " + source +
                         scale + ";\n" + after + "mov.u32 %r6, %ctaid.y; mov.u32 %r7, " +
                         std::to_string(codes) +
                         "; mad.lo.u32 %r0, %r6, %r7, %r0; mad.wide.u32 %rd0, %r0, 4, %out; "
                         "st.global.b32 [%rd0], %r2;",
                     "sm_107a"),
              s);
  EXPECT_EQ(r.error, "") << convert;
  return r.out;
}

/// Is `got` the 16-bit code of `want`? Every NaN is one.
bool isCode(const Table &to, uint32_t got, double want, bool finite) {
  if (std::isnan(want))
    return std::isnan(valueOf(to, got));
  return got == codeOf(to, want, To::nearest, finite);
}

TEST(ConvertPairs, EveryNarrowCodeToHalves) {
  for (const Table *from : {&kE4m3, &kE5m2, &kE2m3, &kE3m2, &kE2m1, &kUe5m3, &kUe8m0})
    for (const Table *to : {&kF16, &kBf16}) {
      if (from == &kUe8m0 && to == &kF16)
        continue; // no such form
      const std::string convert = "cvt.rn." + to->name + "x2." + from->name + "x2";
      const std::vector<uint32_t> out = convertAll(convert, *from, 16);
      size_t wrong = 0, checked = 0;
      for (uint32_t byte = 0; byte < 256; ++byte)
        for (unsigned half = 0; half < 2; ++half) {
          const uint32_t code = from->bits == 4 ? byte >> (4 * half) & 15 : byte;
          if (from->sign && code & ~(2 * from->sign - 1))
            continue; // FP6: bits above the code are not defined
          wrong += !isCode(*to, out[byte] >> (16 * half) & 0xFFFF, valueOf(*from, code), false);
          ++checked;
        }
      EXPECT_EQ(wrong, 0u) << convert << " of " << checked;
    }
}

TEST(ConvertPairs, EveryNarrowCodeUnderEveryScale) {
  for (const Table *from : {&kE4m3, &kE5m2, &kE2m3, &kE3m2, &kE2m1, &kUe5m3})
    for (bool finite : {false, true}) {
      const std::string convert = std::string("cvt.rn") + (finite ? ".satfinite" : "") +
                                  ".scaled::n2::ue8m0.bf16x2." + from->name + "x2";
      const std::vector<uint32_t> out = convertAll(convert, *from, 16, ", %h2");
      size_t wrong = 0;
      for (uint32_t scale = 0; scale < 256; ++scale)
        for (uint32_t byte = 0; byte < 256; ++byte)
          for (unsigned half = 0; half < 2; ++half) {
            const uint32_t code = from->bits == 4 ? byte >> (4 * half) & 15 : byte;
            if (from->sign && code & ~(2 * from->sign - 1))
              continue;
            wrong += !isCode(kBf16, out[256 * scale + byte] >> (16 * half) & 0xFFFF,
                             valueOf(*from, code) * valueOf(kUe8m0, scale), finite);
          }
      EXPECT_EQ(wrong, 0u) << convert;
    }
}

TEST(ConvertPairs, EverySixteenBitCodeToScales) {
  struct Way {
    std::string round;
    To to;
    const Table *target;
  };
  for (const Way &way :
       {Way{"rz", To::zero, &kUe8m0}, Way{"rp", To::up, &kUe8m0}, Way{"rn", To::nearest, &kUe5m3},
        Way{"rz", To::zero, &kUe5m3}, Way{"rp", To::up, &kUe5m3}})
    for (const Table *from : {&kBf16, &kF16})
      for (bool finite : {false, true}) {
        if (from == &kF16 && way.target == &kUe8m0)
          continue; // no such form
        const std::string convert = "cvt." + way.round + (finite ? ".satfinite." : ".") +
                                    way.target->name + "x2." + from->name + "x2";
        const std::vector<uint32_t> out = convertAll(convert, *from, 8);
        size_t wrong = 0;
        for (uint32_t code = 0; code < 65536; ++code) {
          const uint32_t want =
              codeOf(*way.target, std::fabs(valueOf(*from, code)), way.to, finite);
          wrong += out[code] != want * 0x101;
        }
        EXPECT_EQ(wrong, 0u) << convert;
      }
}

TEST(ConvertPairs, EverySixteenBitCodeTowardsZero) {
  for (const Table *to : {&kE4m3, &kE5m2, &kE2m3, &kE3m2, &kE2m1})
    for (const Table *from : {&kBf16, &kF16}) {
      const std::string convert = "cvt.rz.satfinite." + to->name + "x2." + from->name + "x2";
      const std::vector<uint32_t> out = convertAll(convert, *from, to->bits);
      size_t wrong = 0;
      for (uint32_t code = 0; code < 65536; ++code) {
        const uint32_t want = codeOf(*to, valueOf(*from, code), To::zero, true);
        wrong += out[code] != (want | want << to->bits);
      }
      EXPECT_EQ(wrong, 0u) << convert;
    }
}

TEST(ConvertPairs, EveryFixedPointCodeUnderEveryScale) {
  Table units{"s2f6", 8, 0, {}, false};
  for (int code = 0; code < 256; ++code)
    units.values.push_back(int8_t(code) / 64.0);
  const std::vector<uint32_t> out =
      convertAll("cvt.rn.scaled::n2::ue8m0.bf16x2.s2f6x2", units, 16, ", %h2");
  for (uint32_t scale = 0; scale < 256; ++scale)
    for (uint32_t code = 0; code < 256; ++code)
      EXPECT_TRUE(isCode(kBf16, out[256 * scale + code] & 0xFFFF,
                         units.values[code] * valueOf(kUe8m0, scale), false) &&
                  out[256 * scale + code] >> 16 == (out[256 * scale + code] & 0xFFFF))
          << code << " scale " << scale;
}

TEST(ConvertPairs, EveryBfloatToFixedPoint) {
  for (bool toZero : {false, true}) {
    const std::vector<uint32_t> out = convertAll(
        std::string("cvt.") + (toZero ? "rz" : "rn") + ".satfinite.s2f6x2.bf16x2", kBf16, 8);
    for (uint32_t code = 0; code < 65536; ++code) {
      const double units = valueOf(kBf16, code) * 64;
      const double whole = toZero ? std::trunc(units) : std::nearbyint(units);
      const int want = std::isnan(units) ? 127 : int(std::clamp(whole, -128.0, 127.0));
      EXPECT_EQ(out[code], (uint32_t(want) & 0xFF) * 0x101) << code;
    }
  }
}

} // namespace
