//===- Safetensors.cpp - members of .safetensors files --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout: u64 length of the header, JSON header, data. Offsets count from the
// start of the data.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Safetensors.h"

#include "Echo.h"

#include "blockscale/Support/Json.h"

namespace blockscale::rt {

namespace {

/// Limit of the format's own reader.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

std::optional<DType> parseType(llvm::StringRef text) {
  if (text.starts_with("F8_"))
    return DType::u8;
  for (const DTypeInfo &row : kDTypes)
    if (text == llvm::StringRef(row.safetensors))
      return row.type;
  return std::nullopt;
}

std::optional<std::vector<int64_t>> parseIntegers(const llvm::json::Array *array) {
  if (!array)
    return std::nullopt;
  std::vector<int64_t> values;
  for (const llvm::json::Value &element : *array) {
    std::optional<int64_t> value = element.getAsInteger();
    if (!value || *value < 0)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

} // namespace

Result<Array> parseSafetensors(std::string_view bytes, std::string_view subject,
                               std::string_view member) {
  std::string prefix = "safetensors: '" + std::string(subject) + "' must ";
  if (bytes.size() < 8)
    return Refusal{prefix + "hold the 8 bytes of its header's length, got " +
                   std::to_string(bytes.size())};
  uint64_t headerBytes = 0;
  for (int i = 7; i >= 0; --i)
    headerBytes = headerBytes << 8 | uint8_t(bytes[i]);
  uint64_t most = std::min<uint64_t>(kMaxHeaderBytes, bytes.size() - 8);
  if (headerBytes > most)
    return Refusal{prefix + "have a header of at most " + std::to_string(most) + " bytes, got " +
                   std::to_string(headerBytes)};
  Result<llvm::json::Value> header =
      parseJson(bytes.substr(8, headerBytes), "safetensors", subject);
  if (!header)
    return header.takeRefusal();
  const llvm::json::Object *members = header->getAsObject();
  if (!members)
    return Refusal{prefix + "have an object as header"};

  llvm::StringRef key(member.data(), member.size());
  const llvm::json::Object *entry = members->getObject(key);
  if (!entry || key == "__metadata__") {
    std::vector<std::string> names;
    for (const auto &item : *members)
      if (item.first != "__metadata__")
        names.push_back(item.first.str());
    std::sort(names.begin(), names.end());
    std::string list;
    for (size_t i = 0; i < names.size() && i < 8; ++i)
      list += (i ? ", " : "") + names[i];
    if (names.size() > 8)
      list += ", …";
    return Refusal{prefix + "have a member '" + std::string(member) + "', got " + echo(list)};
  }

  prefix = "safetensors: '" + std::string(subject) + "' member '" + std::string(member) + "' must ";
  std::optional<llvm::StringRef> typeName = entry->getString("dtype");
  std::optional<DType> type = typeName ? parseType(*typeName) : std::nullopt;
  if (!type)
    return Refusal{prefix + "have a known dtype, got " +
                   (typeName ? echo(typeName->str(), 40) : std::string("none"))};
  std::optional<std::vector<int64_t>> shape = parseIntegers(entry->getArray("shape"));
  std::optional<uint64_t> size = shape ? byteSize(*type, *shape) : std::nullopt;
  if (!size)
    return Refusal{prefix + "have a shape of non-negative integers"};
  std::optional<std::vector<int64_t>> offsets = parseIntegers(entry->getArray("data_offsets"));
  std::string_view data = bytes.substr(8 + headerBytes);
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1] ||
      uint64_t((*offsets)[1]) > data.size())
    return Refusal{prefix + "have two data_offsets within the " + std::to_string(data.size()) +
                   " bytes of data"};
  uint64_t begin = (*offsets)[0], end = (*offsets)[1];
  if (end - begin != *size)
    return Refusal{prefix + "hold " + std::to_string(*size) + " bytes for " +
                   std::string(name(*type)) + " " + formatShape(*shape) + ", got " +
                   std::to_string(end - begin)};
  return Array{*type, std::move(*shape),
               std::vector<uint8_t>(data.begin() + begin, data.begin() + end)};
}

Result<Array> readSafetensors(const std::string &path, std::string_view member) {
  Result<std::string> bytes = readFile(path, "safetensors");
  if (!bytes)
    return bytes.takeRefusal();
  return parseSafetensors(*bytes, path, member);
}

} // namespace blockscale::rt
