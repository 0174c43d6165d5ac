//===- Scalar.cpp - numbers that a kernel takes by value ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Scalar.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace blockscale::rt {

uint64_t scalarBits(float value) { return std::bit_cast<uint32_t>(value); }

/// The whole text as a number, or nothing.
template <typename T, typename... Base>
static std::optional<T> whole(std::string_view text, Base... base) {
  T value{};
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, base...);
  if (error != std::errc() || stop != end || text.empty())
    return std::nullopt;
  return value;
}

template <typename T> static std::optional<uint64_t> integerBits(std::string_view text) {
  std::optional<T> value = whole<T>(text);
  if (!value)
    return std::nullopt;
  return uint64_t(std::make_unsigned_t<T>(*value));
}

std::optional<uint64_t> parseScalar(std::string_view text, ScalarType type) {
  if (text.starts_with("0x")) {
    std::optional<uint64_t> bits = whole<uint64_t>(text.substr(2), 16);
    bool fits = bits && (kScalarTypeBytes[size_t(type)] == 8 ||
                         *bits <= std::numeric_limits<uint32_t>::max());
    return fits ? bits : std::nullopt;
  }
  switch (type) {
  case ScalarType::f32:
  case ScalarType::f64: {
    std::optional<double> value = whole<double>(text);
    if (!value || !std::isfinite(*value))
      return std::nullopt;
    if (type == ScalarType::f64)
      return std::bit_cast<uint64_t>(*value);
    if (!std::isfinite(float(*value)))
      return std::nullopt;
    return scalarBits(float(*value));
  }
  case ScalarType::i32:
    return integerBits<int32_t>(text);
  case ScalarType::u32:
    return integerBits<uint32_t>(text);
  case ScalarType::i64:
    return integerBits<int64_t>(text);
  case ScalarType::u64:
    return integerBits<uint64_t>(text);
  }
  return std::nullopt;
}

} // namespace blockscale::rt
