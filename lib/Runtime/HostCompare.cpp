//===- HostCompare.cpp - one element against what it should be ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCompare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace blockscale::rt {

using facts::Format;

namespace {

/// Error of `value`; infinite when it is wrong whatever the bound.
double errorOf(double value, const Expected &expected, Format out) {
  if (std::isnan(value))
    return std::isinf(expected.bound) ? 0 : std::numeric_limits<double>::infinity();
  if (std::isinf(value)) {
    // Right iff the true value may round beyond the largest finite one.
    double most = facts::info(out).max;
    bool mayOverflow =
        std::fabs(expected.value) + expected.bound > most &&
        (std::signbit(value) == std::signbit(expected.value) || std::isinf(expected.bound));
    return mayOverflow ? 0 : std::numeric_limits<double>::infinity();
  }
  if (std::isinf(expected.value) && std::isfinite(expected.bound))
    return std::numeric_limits<double>::infinity();
  return std::isinf(expected.value) ? 0 : std::fabs(value - expected.value);
}

} // namespace

void compare(double value, const Expected &expected, Format out, int64_t row, int64_t col,
             bsrt_check_result &result) {
  if (std::isnan(expected.value)) {
    if (std::isnan(value)) {
      ++result.nans;
      return;
    }
  }
  record(std::isnan(expected.value) ? std::numeric_limits<double>::infinity()
                                    : errorOf(value, expected, out),
         value, expected, row, col, result);
}

void record(double error, double value, const Expected &expected, int64_t row, int64_t col,
            bsrt_check_result &result) {
  bool isWrong = !(error <= expected.bound) || std::isinf(error);
  result.wrong += isWrong;
  result.largest_error = std::max(result.largest_error, error);
  auto ratio = [](double error, double bound) {
    return std::isinf(error) ? error : std::isinf(bound) || error == 0 ? 0 : error / bound;
  };
  if (result.row < 0 || ratio(error, expected.bound) > ratio(result.error, result.bound)) {
    result.error = error;
    result.bound = expected.bound;
    result.reference = expected.value;
    result.value = value;
    result.row = row;
    result.col = col;
  }
}

} // namespace blockscale::rt
