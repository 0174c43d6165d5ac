//===- Json.cpp - JSON from files that are not trusted --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Json.h"

#include "Echo.h"

namespace blockscale::rt {

namespace {
constexpr int kMaxDepth = 64;

/// Deepest nesting of brackets outside strings.
int nestingDepth(std::string_view text) {
  int depth = 0, deepest = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        isString = false;
      continue;
    }
    if (c == '"')
      isString = true;
    else if (c == '[' || c == '{')
      deepest = std::max(deepest, ++depth);
    else if (c == ']' || c == '}')
      --depth;
  }
  return deepest;
}
} // namespace

facts::Result<llvm::json::Value> parseJson(std::string_view text, std::string_view label,
                                           std::string_view subject) {
  std::string prefix = std::string(label) + ": '" + std::string(subject) + "' must ";
  if (nestingDepth(text) > kMaxDepth)
    return facts::Refusal{prefix + "nest at most " + std::to_string(kMaxDepth) + " deep"};
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(llvm::StringRef(text.data(), text.size()));
  if (!value)
    return facts::Refusal{prefix + "be valid JSON, got " + echo(llvm::toString(value.takeError()))};
  return std::move(*value);
}

} // namespace blockscale::rt
