//===- Result.h - a value or a refusal ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts, emulator and runtime link neither LLVM nor MLIR where they need not,
// and they throw no exceptions. A refusal is one line in the form
// "label: subject must rule, got value" and is passed up until somebody can
// attach a location to it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_RESULT_H
#define BLOCKSCALE_FACTS_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace blockscale::facts {

/// Why something was refused: one line, lower case, no full stop.
struct Refusal {
  std::string message;
};

namespace detail {
template <typename T> void appendText(std::string &out, const T &value) {
  if constexpr (std::is_convertible_v<T, std::string_view>)
    out += std::string_view(value);
  else if constexpr (std::is_same_v<T, char>)
    out += value;
  else
    out += std::to_string(value);
}
} // namespace detail

/// Joins strings and numbers.
template <typename... T> std::string joinText(const T &...parts) {
  std::string out;
  (detail::appendText(out, parts), ...);
  return out;
}

/// A refusal whose message is the parts joined.
template <typename... T> Refusal refuse(const T &...parts) { return Refusal{joinText(parts...)}; }

/// Either a T or a Refusal. Test with `if (result)` before `*result`.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Refusal refusal) : refusal(std::move(refusal)) {}

  explicit operator bool() const { return value.has_value(); }
  T &operator*() {
    assert(value && "dereferenced a refusal");
    return *value;
  }
  const T &operator*() const {
    assert(value && "dereferenced a refusal");
    return *value;
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  /// The reason; empty when there is a value.
  const std::string &message() const { return refusal.message; }
  Refusal takeRefusal() const { return refusal; }

private:
  std::optional<T> value;
  Refusal refusal;
};

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_RESULT_H
