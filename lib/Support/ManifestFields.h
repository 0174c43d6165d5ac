//===- ManifestFields.h - fields of one JSON object of a manifest --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the path of the field it is at, and the first field that is missing, unknown or out
// of range.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SUPPORT_MANIFESTFIELDS_H
#define BLOCKSCALE_LIB_SUPPORT_MANIFESTFIELDS_H

#include "SizeExprJson.h"

#include "blockscale/Support/Json.h"
#include "blockscale/Support/Manifest.h"

#include "llvm/ADT/STLExtras.h"

namespace blockscale::rt {

inline std::string quoted(llvm::StringRef text) { return "'" + text.str() + "'"; }

inline std::string show(const llvm::json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

template <size_t N> std::string listOf(const std::array<std::string_view, N> &names) {
  std::string text;
  for (std::string_view name : names)
    text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// Reads one object's fields; every one asked for must be there, and none that
/// was not asked for may be.
class Fields {
public:
  Fields(const llvm::json::Value &value, std::string path, std::string &error)
      : object(value.getAsObject()), path(std::move(path)), error(error) {
    if (!object)
      fail("", "be an object, got " + show(value));
  }

  bool ok() const { return error.empty(); }

  void fail(llvm::StringRef key, const std::string &rule) {
    if (error.empty())
      error = at(key) + " must " + rule;
  }

  std::string at(llvm::StringRef key) const {
    if (key.empty())
      return path.empty() ? "the whole" : path;
    return path.empty() ? key.str() : path + "." + key.str();
  }

  bool has(llvm::StringRef key) const { return object && object->get(key); }

  const llvm::json::Value *get(llvm::StringRef key) {
    if (!ok())
      return nullptr;
    used.push_back(key);
    const llvm::json::Value *value = object->get(key);
    if (!value)
      fail(key, "be given");
    return value;
  }

  uint64_t integer(llvm::StringRef key, uint64_t least, uint64_t most) {
    const llvm::json::Value *value = get(key);
    return value ? integer(*value, key.str(), least, most) : 0;
  }

  uint64_t integer(const llvm::json::Value &value, const std::string &key, uint64_t least,
                   uint64_t most) {
    std::optional<int64_t> number = value.getAsInteger();
    if (number && *number >= 0 && uint64_t(*number) >= least && uint64_t(*number) <= most)
      return uint64_t(*number);
    fail(key,
         "be " + std::to_string(least) + " to " + std::to_string(most) + ", got " + show(value));
    return 0;
  }

  /// The same, or `{"expr": …}` of the manifest's sizes: then the number is not known yet.
  uint64_t extent(const llvm::json::Value &value, const std::string &key, uint64_t least,
                  uint64_t most, const Manifest &manifest, Expr &expr) {
    const llvm::json::Object *object = value.getAsObject();
    const llvm::json::Value *text = object && object->size() == 1 ? object->get("expr") : nullptr;
    if (!text)
      return integer(value, key, least, most);
    Result<Expr> parsed =
        parseExpr(*text, [&](llvm::StringRef name) { return manifest.findSize(name); });
    if (parsed)
      expr = *parsed;
    else
      fail(key + ".expr", parsed.message());
    return least;
  }
  template <typename T>
  std::vector<T> extents(llvm::StringRef key, size_t leastCount, size_t mostCount, uint64_t least,
                         uint64_t most, const Manifest &manifest, std::vector<Expr> &exprs) {
    std::vector<T> values;
    if (const llvm::json::Array *elements = array(key, leastCount, mostCount)) {
      exprs.resize(elements->size());
      for (size_t i = 0; i < elements->size() && ok(); ++i)
        values.push_back(T(extent((*elements)[i], key.str() + "[" + std::to_string(i) + "]", least,
                                  most, manifest, exprs[i])));
    }
    if (llvm::none_of(exprs, [](const Expr &expr) { return bool(expr); }))
      exprs.clear();
    return values;
  }

  std::string string(llvm::StringRef key) {
    const llvm::json::Value *value = get(key);
    if (!value)
      return "";
    std::optional<llvm::StringRef> text = value->getAsString();
    if (!text || text->empty())
      fail(key, "be a string that is not empty, got " + show(*value));
    return text.value_or("").str();
  }

  bool boolean(llvm::StringRef key) {
    const llvm::json::Value *value = get(key);
    std::optional<bool> is = value ? value->getAsBoolean() : std::nullopt;
    if (value && !is)
      fail(key.str(), "be true or false, got " + show(*value));
    return is.value_or(false);
  }

  template <typename E, size_t N>
  E choice(llvm::StringRef key, const std::array<std::string_view, N> &names) {
    std::string text = string(key);
    for (size_t i = 0; i < N; ++i)
      if (names[i] == text)
        return E(i);
    fail(key, "be one of " + listOf(names) + ", got " + quoted(text));
    return E(0);
  }

  const llvm::json::Array *array(llvm::StringRef key, size_t least, size_t most) {
    const llvm::json::Value *value = get(key);
    if (!value)
      return nullptr;
    const llvm::json::Array *elements = value->getAsArray();
    if (elements && elements->size() >= least && elements->size() <= most)
      return elements;
    std::string count = least == most ? std::to_string(least)
                                      : std::to_string(least) + " to " + std::to_string(most);
    fail(key, "be a list of " + count + " elements, got " + show(*value));
    return nullptr;
  }

  template <typename T>
  std::vector<T> integers(llvm::StringRef key, size_t leastCount, size_t mostCount, uint64_t least,
                          uint64_t most) {
    std::vector<T> values;
    if (const llvm::json::Array *elements = array(key, leastCount, mostCount))
      for (size_t i = 0; i < elements->size() && ok(); ++i)
        values.push_back(
            T(integer((*elements)[i], key.str() + "[" + std::to_string(i) + "]", least, most)));
    return values;
  }

  std::array<uint32_t, 3> dim3(llvm::StringRef key, uint64_t mostX, uint64_t mostYZ) {
    std::array<uint32_t, 3> dims{1, 1, 1};
    if (const llvm::json::Array *elements = array(key, 3, 3))
      for (size_t i = 0; i < 3 && ok(); ++i)
        dims[i] = uint32_t(integer((*elements)[i], key.str() + "[" + std::to_string(i) + "]", 1,
                                   i == 0 ? mostX : mostYZ));
    return dims;
  }

  void finish() {
    if (!ok())
      return;
    for (const auto &item : *object)
      if (!llvm::is_contained(used, llvm::StringRef(item.first)))
        fail(item.first, "not be given, it is unknown here");
  }

private:
  const llvm::json::Object *object;
  std::string path;
  std::string &error;
  std::vector<llvm::StringRef> used;
};

} // namespace blockscale::rt

#endif // BLOCKSCALE_LIB_SUPPORT_MANIFESTFIELDS_H
