//===- HostCheck.cpp - is D the product of its operands? ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference is f64 on dequantised operands, whose elements are exact there;
// its own rounding error is some 2^-29 of the bound. The bound is derived in
// docs/Quantization.md, "Error bound".
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "HostBlocks.h"
#include "HostCheckQuantized.h"
#include "HostCompare.h"

#include "blockscale/Facts/Activation.h"
#include "blockscale/Facts/MmaKind.h"
#include "blockscale/Facts/OperandTile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace blockscale::rt {

namespace {

using facts::Format;

constexpr double kF32Epsilon = 0x1p-23;
constexpr double kF32Least = 0x1p-149; // smallest subnormal
constexpr double kF32Overflow = 0x1p128;
/// Columns that are gates before as many that they gate follow.
constexpr int64_t kGateColumns = 64;

/// Exact values of an operand. A row of `transposed` holds one k of all rows, so
/// that the inner loop runs over consecutive numbers.
std::vector<double> dequantize(const Blocks &blocks, const uint8_t *elements, const uint8_t *scales,
                               bool transposed) {
  std::vector<double> values(size_t(blocks.rows * blocks.cols));
  for (int64_t row = 0; row < blocks.rows; ++row)
    for (int64_t col = 0; col < blocks.cols; ++col) {
      double scale = emu::decode(blocks.scale, scales[blocks.scaleOffset(row, col / blocks.block)]);
      values[transposed ? col * blocks.rows + row : row * blocks.cols + col] =
          emu::decode(blocks.element, blocks.loadElement(elements, row, col)) * scale;
    }
  return values;
}

/// sum a*b and sum |a*b| for a tile of D.
template <int Rows, int Cols> struct ProductTile {
  double sum[Rows][Cols] = {}, magnitude[Rows][Cols] = {};

  void run(const double *a, int64_t aPitch, const double *b, int64_t bPitch, int64_t k) {
    for (int64_t i = 0; i < k; ++i)
      for (int row = 0; row < Rows; ++row)
        for (int col = 0; col < Cols; ++col) {
          double product = a[row * aPitch + i] * b[i * bPitch + col];
          sum[row][col] += product;
          magnitude[row][col] += std::fabs(product);
        }
  }
};

/// Half a unit in the last place of `format` at `magnitude`.
double halfUlp(Format format, double magnitude) {
  const facts::FormatInfo &row = facts::info(format);
  int least = 1 - row.bias;
  int exponent = magnitude > 0 && std::isfinite(magnitude) ? std::ilogb(magnitude) : least;
  return std::ldexp(1.0, std::max(exponent, least) - int(row.mantissaBits) - 1);
}

double loadValue(Format format, const void *values, int64_t at) {
  if (format == Format::f32)
    return static_cast<const float *>(values)[at];
  return emu::decode(format, static_cast<const uint16_t *>(values)[at]);
}

class Bound {
public:
  /// `out` is f32 where D is quantised: what is quantised are f32 values.
  Bound(const bsrt_check &check, Format out)
      : check(check), out(out), activation(facts::info(facts::Activation(check.activation))),
        gate(facts::info(facts::Activation(check.gate))) {
    // Each instruction truncates once per aligned sum: FP4 kinds keep F = 35
    // bits, so that only the result's truncation counts; mxf8f6f4 keeps 25 and
    // truncates every product.
    bool isWide = facts::MmaKind(check.mma) == facts::MmaKind::mxf8f6f4;
    double perInstruction = isWide ? 1.0 + (check.inst_k + 1) / 4.0 : 1.0;
    instructions = double((check.k + check.inst_k - 1) / check.inst_k);
    factor = (instructions * perInstruction + 2) * kF32Epsilon;
  }

  Expected expected(double sum, double magnitude, int64_t row, int64_t col) const {
    double alpha = check.alpha;
    if (check.alpha_rows)
      alpha *= check.alpha_rows[row];
    if (check.alpha_columns)
      alpha *= check.alpha_columns[col];
    double value = alpha * sum;
    double bound = std::fabs(alpha) * (factor * magnitude + (instructions + 1) * kF32Least);
    for (bool isFactor : {check.alpha != 1.0f, bool(check.alpha_rows), bool(check.alpha_columns)})
      if (isFactor)
        bound += rounding(value, bound);
    if (check.bias) {
      value += check.bias[col];
      bound += rounding(value, bound);
    }
    if (check.c) {
      value += double(check.beta) * loadValue(out, check.c, row * check.n + col);
      bound += rounding(value, bound);
    }
    if (activation.activation != facts::Activation::none) {
      bound = activation.slope * bound + activation.error * std::fabs(value) + kF32Least;
      value = facts::activate(activation.activation, value);
      bound += rounding(value, bound);
    }
    if (!check.gate)
      bound += halfUlp(out, std::fabs(value) + bound);
    // A partial sum may have overflowed on the way.
    if (magnitude * (1 + factor) >= kF32Overflow)
      bound = std::numeric_limits<double>::infinity();
    return {value, bound};
  }

  /// Of a pair of columns.
  Expected gated(const Expected &gates, const Expected &values) const {
    double slack = gate.slope * gates.bound + gate.error * std::fabs(gates.value) + kF32Least;
    double f = facts::activate(gate.activation, gates.value);
    slack += rounding(f, slack);
    double value = f * values.value;
    double bound =
        std::fabs(f) * values.bound + std::fabs(values.value) * slack + slack * values.bound;
    bound += rounding(value, bound);
    bound += halfUlp(out, std::fabs(value) + bound);
    if (std::isinf(gates.bound) || std::isinf(values.bound))
      bound = std::numeric_limits<double>::infinity();
    return {value, bound};
  }

private:
  static double rounding(double value, double bound) {
    return (std::fabs(value) + bound) * (kF32Epsilon / 2) + kF32Least;
  }

  const bsrt_check &check;
  Format out;
  const facts::ActivationInfo &activation, &gate;
  double instructions, factor;
};

} // namespace
} // namespace blockscale::rt

using namespace blockscale;
using namespace blockscale::rt;

bsrt_status bsrt_host_check_gemm(const bsrt_check *check, bsrt_check_result *result) {
  Result<Blocks> a =
      Blocks::check({check->m, check->k, check->a, check->scale, check->block, check->sfa});
  if (!a)
    return refuse(a.message());
  Result<Blocks> b =
      Blocks::check({check->n, check->k, check->b, check->scale, check->block, check->sfb});
  if (!b)
    return refuse(b.message());
  for (auto [blocks, scales] : {std::pair(&*a, check->a_scales), {&*b, check->b_scales}})
    if (bsrt_status status = refuseSigned(blocks->scale, blocks->layout, blocks->rows,
                                          blocks->scalesPerRow(), scales))
      return status;
  Result<Format> out = checkCode<Format>(check->out, facts::kFormats, "results");
  if (!out)
    return refuse(out.message());
  std::optional<QuantizedRows> quantized;
  if (check->d_scales) {
    Result<QuantizedRows> rows = QuantizedRows::check(*check);
    if (!rows)
      return refuse(rows.message());
    quantized.emplace(*rows);
  }
  if (facts::info(*out).bits < 16 && !quantized)
    return refuse("host: results to check must be f16, bf16 or f32, got " +
                  std::string(name(*out)));
  if (check->activation < 0 || size_t(check->activation) >= std::size(facts::kActivations))
    return refuse("host: activation must be 0 .. " +
                  std::to_string(std::size(facts::kActivations) - 1) + ", got " +
                  std::to_string(check->activation));
  if (check->gate < 0 || size_t(check->gate) >= std::size(facts::kActivations))
    return refuse("host: gate must be 0 .. " + std::to_string(std::size(facts::kActivations) - 1) +
                  ", got " + std::to_string(check->gate));
  if (check->gate && check->n % (2 * kGateColumns))
    return refuse("host: n must be a multiple of " + std::to_string(2 * kGateColumns) +
                  " with gates, got " + std::to_string(check->n));
  if (check->inst_k < 1)
    return refuse("host: K of the instruction must be positive, got " +
                  std::to_string(check->inst_k));

  for (auto [major, blocks] : {std::pair(check->major_a, &*a), {check->major_b, &*b}}) {
    if (major != int32_t(facts::Major::k) && major != int32_t(facts::Major::mn))
      return refuse("host: major of an operand must be 0 or 1, got " + std::to_string(major));
    blocks->isMnMajor = major == int32_t(facts::Major::mn);
  }

  *result = {};
  result->row = result->col = -1;
  constexpr int kRows = 2, kCols = 8;
  // Rows and columns beyond the end are computed on copies of zeros and skipped.
  int64_t m = (a->rows + kRows - 1) / kRows * kRows, n = (b->rows + kCols - 1) / kCols * kCols;
  std::vector<double> left = dequantize(*a, check->a_bytes, check->a_scales, false);
  left.resize(size_t(m * a->cols));
  std::vector<double> narrow = dequantize(*b, check->b_bytes, check->b_scales, true);
  std::vector<double> right(size_t(n * b->cols));
  for (int64_t k = 0; k < b->cols; ++k)
    std::copy_n(narrow.begin() + k * b->rows, b->rows, right.begin() + k * n);

  Bound bound(*check, quantized ? Format::f32 : *out);
  auto expect = [&](int64_t row, int64_t col, auto sink) {
    ProductTile<kRows, kCols> tile;
    tile.run(&left[size_t(row * a->cols)], a->cols, &right[size_t(col)], n, a->cols);
    for (int64_t i = row; i < std::min(row + kRows, a->rows); ++i)
      for (int64_t j = col; j < std::min(col + kCols, b->rows); ++j)
        sink(i, j,
             bound.expected(tile.sum[i - row][j - col], tile.magnitude[i - row][j - col], i, j));
  };
  if (!quantized && !check->gate) {
    for (int64_t col = 0; col < n; col += kCols)
      for (int64_t row = 0; row < m; row += kRows)
        expect(row, col, [&](int64_t i, int64_t j, const Expected &expected) {
          compare(loadValue(*out, check->d, i * b->rows + j), expected, *out, i, j, *result);
        });
    return BSRT_OK;
  }
  // Gates and blocks want whole rows.
  int64_t columns = check->gate ? check->n / 2 : check->n;
  std::vector<Expected> rows(size_t(kRows * check->n));
  for (int64_t first = 0; first < m; first += kRows) {
    for (int64_t col = 0; col < n; col += kCols)
      expect(first, col, [&](int64_t i, int64_t j, const Expected &expected) {
        rows[size_t((i - first) * check->n + j)] = expected;
      });
    for (int64_t row = first; row < std::min(first + kRows, a->rows); ++row) {
      std::span<Expected> of(&rows[size_t((row - first) * check->n)], size_t(check->n));
      if (check->gate)
        for (int64_t col = 0; col < columns; ++col) {
          int64_t at = col / kGateColumns * 2 * kGateColumns + col % kGateColumns;
          of[size_t(col)] = bound.gated(of[size_t(at)], of[size_t(at + kGateColumns)]);
        }
      if (quantized)
        quantized->compare(row, of.first(size_t(columns)), *result);
      else
        for (int64_t col = 0; col < columns; ++col)
          compare(loadValue(*out, check->d, row * columns + col), of[size_t(col)], *out, row, col,
                  *result);
    }
  }
  if (quantized)
    quantized->comparePadding(*result);
  return BSRT_OK;
}
