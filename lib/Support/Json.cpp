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

/// What shows in the text alone.
struct TextCounts {
  int deepest = 0; // nesting of brackets
  size_t keys = 0; // of all objects, those given twice included
};

/// Brackets and colons outside strings.
TextCounts countText(std::string_view text) {
  TextCounts counts;
  int depth = 0;
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
      counts.deepest = std::max(counts.deepest, ++depth);
    else if (c == ']' || c == '}')
      --depth;
    else if (c == ':')
      ++counts.keys;
  }
  return counts;
}

size_t countKeys(const llvm::json::Value &value) {
  size_t keys = 0;
  if (const llvm::json::Object *object = value.getAsObject()) {
    keys = object->size();
    for (const auto &item : *object)
      keys += countKeys(item.second);
  } else if (const llvm::json::Array *array = value.getAsArray()) {
    for (const llvm::json::Value &element : *array)
      keys += countKeys(element);
  }
  return keys;
}
} // namespace

facts::Result<llvm::json::Value> parseJson(std::string_view text, std::string_view label,
                                           std::string_view subject) {
  std::string prefix = std::string(label) + ": '" + std::string(subject) + "' must ";
  TextCounts counts = countText(text);
  if (counts.deepest > kMaxDepth)
    return facts::Refusal{prefix + "nest at most " + std::to_string(kMaxDepth) + " deep"};
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(llvm::StringRef(text.data(), text.size()));
  if (!value)
    return facts::Refusal{prefix + "be valid JSON, got " + echo(llvm::toString(value.takeError()))};
  // LLVM's parser keeps the last of those with one key.
  if (countKeys(*value) != counts.keys)
    return facts::Refusal{prefix + "give each key of an object once, got one twice"};
  return std::move(*value);
}

} // namespace blockscale::rt
