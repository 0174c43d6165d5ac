//===- Dot.cpp - products without scales ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dot.h"

#include "DotHosts.h"
#include "FusedSum.h"
#include "PlainFloatEnvironment.h"

#include "blockscale/Emulator/Convert.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace blockscale::emu {

using facts::WarpFormat;

namespace {

uint32_t codeAt(const uint8_t *row, unsigned bits, int k) {
  if (bits == 4)
    return row[k / 2] >> (4 * (k % 2)) & 0xF;
  uint32_t code = 0;
  std::memcpy(&code, row + size_t(k) * bits / 8, bits / 8);
  return code;
}

/// `code` may have bits below the format's fraction (tf32): they do not count.
Factor splitCode(const facts::WarpFormatInfo &f, uint32_t code, bool negate) {
  unsigned spare = f.format == WarpFormat::tf32 ? 13 : 0;
  code >>= spare;
  int field = int(code >> f.mantissaBits & ((1u << f.exponentBits) - 1));
  uint32_t fraction = code & ((1u << f.mantissaBits) - 1);
  bool negative = (code >> (f.exponentBits + f.mantissaBits) & 1) != 0;
  bool largest = field == (1 << f.exponentBits) - 1;
  int sign = negative != negate ? -1 : 1;
  if (f.hasInfinity && largest)
    return fraction ? Factor{0, 0, TermClass::nan} : Factor{sign, 0, TermClass::infinity};
  if (f.hasNan && !f.hasInfinity && largest && fraction == (1u << f.mantissaBits) - 1)
    return {0, 0, TermClass::nan};
  int64_t significand = field ? fraction | (1u << f.mantissaBits) : fraction;
  int bias = (1 << (f.exponentBits - 1)) - 1;
  return {sign * significand, (field ? field : 1) - bias, TermClass::finite};
}

/// The factors of a row.
std::vector<Factor> splitRow(WarpFormat format, bool negate, int k, const uint8_t *row) {
  const facts::WarpFormatInfo &f = facts::info(format);
  std::vector<Factor> out;
  out.reserve(size_t(k));
  for (int j = 0; j < k; ++j)
    out.push_back(splitCode(f, codeAt(row, f.bits, j), negate));
  return out;
}

/// Where the loops want the factors of an operand: element (row, i) at row * rowStep +
/// i * kStep.
struct Planes {
  int32_t *significands, *exponents;
  size_t rowStep, kStep;
};

/// Fills the planes in the order of the chain and notes rows with NaN or infinity.
void fill(const Planes &planes, WarpFormat format, bool negate, int rows,
          const std::vector<int> &order, const uint8_t *data, size_t pitch,
          std::vector<char> &special) {
  const facts::WarpFormatInfo f = facts::info(format);
  special.assign(size_t(rows), 0);
  for (int r = 0; r < rows; ++r)
    for (size_t i = 0; i < order.size(); ++i) {
      Factor factor = splitCode(f, codeAt(data + size_t(r) * pitch, f.bits, order[i]), negate);
      size_t at = size_t(r) * planes.rowStep + i * planes.kStep;
      planes.significands[at] = int32_t(factor.significand);
      planes.exponents[at] = factor.significand ? factor.exponent : dotloop::kZeroFactor;
      special[size_t(r)] |= factor.cls != TermClass::finite;
    }
}

constexpr facts::WarpFormatInfo kFloat{WarpFormat::f16, "f32", 32, 8, 23, true, true};

/// One output: a chain of sums over the products `order` picks.
uint32_t plainOutput(const DotModel &model, const Factor *a, const Factor *b, const int *order,
                     int count, int fraction, uint32_t c) {
  bool half = model.rounding == DotRounding::f16;
  const facts::WarpFormatInfo &result = half ? facts::info(WarpFormat::f16) : kFloat;
  for (int k0 = 0; k0 < count; k0 += model.terms) {
    FusedSum sum(model.sum);
    for (int i = k0; i < std::min(k0 + model.terms, count); ++i) {
      Factor term = times(a[order[i]], b[order[i]]);
      sum.add(term, fraction, term.cls == TermClass::finite && term.significand == 0);
    }
    Factor term = splitCode(result, c, false);
    sum.add(term, int(result.mantissaBits), term.cls == TermClass::finite && term.significand == 0);
    c = half ? sum.halfBits() : sum.floatBits(model.rounding == DotRounding::f32Short ? 13 : 23);
  }
  return c;
}

uint32_t addResult(const DotModel &model, uint32_t a, uint32_t b) {
  if (model.rounding == DotRounding::f16)
    return addHalf(uint16_t(a), uint16_t(b));
  float sum = std::bit_cast<float>(a) + std::bit_cast<float>(b);
  return std::isnan(sum) ? kMmaNan : std::bit_cast<uint32_t>(sum);
}

/// The order in which products enter the chain: a split FP8 product takes the lower
/// pair of every four elements first.
std::vector<int> orderOf(const DotModel &model, int k) {
  std::vector<int> order;
  for (int part = 0; part < 2; ++part)
    for (int i = 0; i < k; ++i)
      if (model.splitFp8 ? i % 4 / 2 == part : part == 0)
        order.push_back(i);
  return order;
}

/// A split product is two sums over k / 2 products each.
DotModel chained(DotModel model, int k) {
  if (model.splitFp8)
    model.terms = k / 2;
  return model;
}

uint32_t output(const DotModel &model, const std::vector<int> &order, const Factor *a,
                const Factor *b, int fraction, uint32_t c) {
  if (!model.splitFp8)
    return plainOutput(model, a, b, order.data(), int(order.size()), fraction, c);
  uint32_t product = plainOutput(model, a, b, order.data(), int(order.size()), fraction, 0);
  return addResult(model, product, c);
}

/// The operands of a split product: ptxas unpacks FP8 to f16, so that the subnormals of
/// e4m3 are aligned as normal numbers.
struct HalfRows {
  std::vector<uint16_t> rows;
  DotShape shape;
  DotOperands operands;

  HalfRows(const DotShape &s, const DotOperands &o) : shape(s), operands(o) {
    rows.reserve(size_t(s.m + s.n) * size_t(s.k));
    append(s.a, s.m, o.a, o.aPitch);
    append(s.b, s.n, o.b, o.bPitch);
    shape.a = shape.b = WarpFormat::f16;
    operands.a = reinterpret_cast<const uint8_t *>(rows.data());
    operands.b = operands.a + size_t(s.m) * size_t(s.k) * 2;
    operands.aPitch = operands.bPitch = size_t(s.k) * 2;
  }

private:
  void append(WarpFormat format, int count, const uint8_t *data, size_t pitch) {
    facts::Format element = format == WarpFormat::e4m3 ? facts::Format::e4m3 : facts::Format::e5m2;
    for (int r = 0; r < count; ++r)
      for (int k = 0; k < shape.k; ++k)
        rows.push_back(encodeF16(decode(element, data[size_t(r) * pitch + size_t(k)])));
  }
};

int fractionOf(const DotShape &s) {
  return int(facts::info(s.a).mantissaBits + facts::info(s.b).mantissaBits);
}

void run(const dotloop::Tile &tile) {
#if defined(BLOCKSCALE_X86_KERNELS)
  static const bool avx512 = isAvailable(MmaHost::avx512);
  static const bool avx2 = isAvailable(MmaHost::avx2);
  if (avx512)
    return dotloop::runAvx512(tile);
  if (avx2)
    return dotloop::runAvx2(tile);
#endif
  dotloop::runTile(tile);
}

bool isSpecialResult(const DotModel &model, uint32_t bits) {
  return model.rounding == DotRounding::f16 ? (bits & 0x7C00) == 0x7C00
                                            : (bits & 0x7F800000) == 0x7F800000;
}

} // namespace

uint16_t addHalf(uint16_t a, uint16_t b) {
  double sum = double(decodeF16(a)) + double(decodeF16(b)); // exact
  if (std::isnan(sum))
    return 0x7FFF;
  if (std::isinf(sum) || sum == 0)
    return encodeF16(float(sum));
  return uint16_t(dotloop::roundHalf(sum));
}

void dotPlain(const DotShape &s, const DotModel &given, const DotOperands &o) {
  if (given.splitFp8 && s.a != WarpFormat::f16) {
    HalfRows half(s, o);
    return dotPlain(half.shape, given, half.operands);
  }
  PlainFloatEnvironment environment;
  DotModel model = chained(given, s.k);
  std::vector<int> order = orderOf(model, s.k);
  std::vector<std::vector<Factor>> columns;
  for (int n = 0; n < s.n; ++n)
    columns.push_back(splitRow(s.b, s.negateB, s.k, o.b + size_t(n) * o.bPitch));
  for (int m = 0; m < s.m; ++m) {
    std::vector<Factor> row = splitRow(s.a, s.negateA, s.k, o.a + size_t(m) * o.aPitch);
    for (int n = 0; n < s.n; ++n) {
      uint32_t &d = o.d[size_t(m) * o.dPitch + size_t(n)];
      d = output(model, order, row.data(), columns[size_t(n)].data(), fractionOf(s),
                 o.accumulate ? d : 0);
    }
  }
}

void dot(const DotShape &s, const DotModel &given, const DotOperands &o) {
  if (given.splitFp8 && s.a != WarpFormat::f16) {
    HalfRows half(s, o);
    return dot(half.shape, given, half.operands);
  }
  PlainFloatEnvironment environment;
  DotModel model = chained(given, s.k);
  std::vector<int> order = orderOf(model, s.k);
  size_t k = size_t(s.k);
  size_t columns = size_t(s.n + dotloop::kLanes - 1) / dotloop::kLanes * dotloop::kLanes;
  size_t sizeA = size_t(s.m) * k, sizeB = columns * k;

  thread_local std::vector<int32_t> work;
  thread_local std::vector<uint32_t> cells;
  thread_local std::vector<char> specialA, specialB;
  work.resize(2 * (sizeA + sizeB));
  Planes a{work.data(), work.data() + sizeA, k, 1};
  Planes b{a.exponents + sizeA, a.exponents + sizeA + sizeB, 1, columns};
  if (columns != size_t(s.n)) { // columns that only fill a vector are zero
    std::fill(b.significands, b.significands + sizeB, 0);
    std::fill(b.exponents, b.exponents + sizeB, dotloop::kZeroFactor);
  }
  fill(a, s.a, s.negateA, s.m, order, o.a, o.aPitch, specialA);
  fill(b, s.b, s.negateB, s.n, order, o.b, o.bPitch, specialB);
  cells.assign(size_t(s.m) * columns, 0);
  if (o.accumulate && !model.splitFp8)
    for (int m = 0; m < s.m; ++m)
      std::memcpy(&cells[size_t(m) * columns], o.d + size_t(m) * o.dPitch, size_t(s.n) * 4);

  dotloop::Tile tile{};
  tile.m = s.m;
  tile.n = int(columns);
  tile.k = s.k;
  tile.terms = model.terms;
  tile.fractionBits = model.sum.fractionBits;
  tile.zeroExponent = model.sum.zeroExponent;
  tile.productFraction = fractionOf(s);
  tile.keptBits = model.rounding == DotRounding::f32Short ? 13 : 23;
  tile.half = model.rounding == DotRounding::f16;
  tile.sigA = a.significands, tile.expA = a.exponents;
  tile.sigB = b.significands, tile.expB = b.exponents;
  tile.d = cells.data();
  run(tile);

  for (int m = 0; m < s.m; ++m)
    for (int n = 0; n < s.n; ++n) {
      uint32_t &d = o.d[size_t(m) * o.dPitch + size_t(n)];
      uint32_t c = o.accumulate ? d : 0, fast = cells[size_t(m) * columns + size_t(n)];
      bool special = isSpecialResult(model, c) && !model.splitFp8;
      if (specialA[size_t(m)] || specialB[size_t(n)] || special)
        d = output(model, order, splitRow(s.a, s.negateA, s.k, o.a + size_t(m) * o.aPitch).data(),
                   splitRow(s.b, s.negateB, s.k, o.b + size_t(n) * o.bPitch).data(), fractionOf(s),
                   c);
      else
        d = model.splitFp8 ? addResult(model, fast, c) : fast;
    }
}

void dotInteger(const DotShape &s, bool saturate, const DotOperands &o) {
  auto value = [](WarpFormat f, const uint8_t *row, int k) -> int32_t {
    uint32_t code = codeAt(row, facts::info(f).bits, k);
    switch (f) {
    case WarpFormat::s4:
      return int32_t(code ^ 8) - 8;
    case WarpFormat::s8:
      return int8_t(code);
    default:
      return int32_t(code);
    }
  };
  thread_local std::vector<int16_t> work;
  work.resize(size_t(s.m + s.n) * size_t(s.k));
  int16_t *a = work.data(), *b = a + size_t(s.m) * size_t(s.k);
  for (int m = 0; m < s.m; ++m)
    for (int k = 0; k < s.k; ++k)
      a[m * s.k + k] = int16_t(value(s.a, o.a + size_t(m) * o.aPitch, k));
  for (int n = 0; n < s.n; ++n)
    for (int k = 0; k < s.k; ++k)
      b[n * s.k + k] = int16_t(value(s.b, o.b + size_t(n) * o.bPitch, k));
  for (int m = 0; m < s.m; ++m)
    for (int n = 0; n < s.n; ++n) {
      int32_t sum = 0; // at most 64 products of 255 * 255
      for (int k = 0; k < s.k; ++k)
        sum += int32_t(a[m * s.k + k]) * b[n * s.k + k];
      uint32_t &d = o.d[size_t(m) * o.dPitch + size_t(n)];
      int64_t total = int64_t(sum) + (o.accumulate ? int32_t(d) : 0);
      if (saturate)
        total = std::clamp<int64_t>(total, INT32_MIN, INT32_MAX);
      d = uint32_t(total);
    }
}

} // namespace blockscale::emu
