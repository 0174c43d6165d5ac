//===- Safetensors.cpp - members of .safetensors files --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout: u64 length of the header, JSON header, data. Offsets count from the
// start of the data, which the tensors together must cover once each byte (the
// format's README: no holes, no overlap, nothing after the last). The global scale of an
// NVFP4 layer has another name with each producer, and one stores its reciprocal.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Safetensors.h"

#include "Echo.h"

#include "blockscale/Support/Json.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

namespace blockscale::rt {

namespace {

/// Limit of the format's own reader.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

std::optional<DType> parseType(llvm::StringRef text) {
  if (text.starts_with("F8_") || text == "BOOL")
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

/// The global scale of a layer, whoever wrote it: `LAYER:global`.
constexpr std::string_view kGlobalPart = ":global";
struct Producer {
  std::string_view member; // of the layer
  bool isReciprocal;
};
constexpr Producer kProducers[] = {
    {".weight_scale_2", false},     // ModelOpt: amax / (448 * 6)
    {".weight_global_scale", true}, // compressed-tensors: (448 * 6) / amax
};

struct Member {
  std::string name;
  std::string_view typeName;
  std::optional<DType> type; // absent: one that is not read here
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0; // of the data
};

std::string subjectOf(std::string_view file, std::string_view member) {
  return "safetensors: '" + std::string(file) + "' member '" + echo(member, 80) + "' must ";
}

Result<Member> parseMember(llvm::StringRef name, const llvm::json::Value &value,
                           std::string_view file, uint64_t dataBytes) {
  std::string prefix = subjectOf(file, {name.data(), name.size()});
  const llvm::json::Object *entry = value.getAsObject();
  if (!entry)
    return Refusal{prefix + "be an object"};
  Member member{name.str(), {}, {}, {}};
  std::optional<llvm::StringRef> typeName = entry->getString("dtype");
  if (!typeName)
    return Refusal{prefix + "have a known dtype, got none"};
  member.typeName = {typeName->data(), typeName->size()};
  member.type = parseType(*typeName);
  std::optional<std::vector<int64_t>> shape = parseIntegers(entry->getArray("shape"));
  std::optional<uint64_t> size =
      shape ? byteSize(member.type.value_or(DType::u8), *shape) : std::nullopt;
  if (!size)
    return Refusal{prefix + "have a shape of non-negative integers"};
  std::optional<std::vector<int64_t>> offsets = parseIntegers(entry->getArray("data_offsets"));
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1] ||
      uint64_t((*offsets)[1]) > dataBytes)
    return Refusal{prefix + "have two data_offsets within the " + std::to_string(dataBytes) +
                   " bytes of data"};
  member.shape = std::move(*shape);
  member.begin = uint64_t((*offsets)[0]);
  member.end = uint64_t((*offsets)[1]);
  if (member.type && member.end - member.begin != *size)
    return Refusal{prefix + "hold " + std::to_string(*size) + " bytes for " +
                   std::string(rt::name(*member.type)) + " " + formatShape(member.shape) +
                   ", got " + std::to_string(member.end - member.begin)};
  return member;
}

/// Text to text, and nothing else.
bool isMetadata(const llvm::json::Value &value) {
  const llvm::json::Object *object = value.getAsObject();
  return object && std::all_of(object->begin(), object->end(), [](const auto &item) {
           return item.second.getAsString().has_value();
         });
}

/// All members in the order of their bytes, which must follow one another.
Result<std::vector<Member>> indexMembers(const llvm::json::Object &header, std::string_view file,
                                         uint64_t dataBytes) {
  std::string prefix = "safetensors: '" + std::string(file) + "' must ";
  std::vector<Member> members;
  for (const auto &item : header) {
    llvm::StringRef name = item.first;
    if (name == "__metadata__") {
      if (!isMetadata(item.second))
        return Refusal{prefix + "have an object of strings as __metadata__"};
      continue;
    }
    Result<Member> member = parseMember(name, item.second, file, dataBytes);
    if (!member)
      return member.takeRefusal();
    members.push_back(std::move(*member));
  }
  std::sort(members.begin(), members.end(), [](const Member &a, const Member &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0;
  for (const Member &member : members) {
    if (member.begin != at)
      return Refusal{subjectOf(file, member.name) + "start at byte " + std::to_string(at) +
                     ", where the one before ends, got " + std::to_string(member.begin)};
    at = member.end;
  }
  if (at != dataBytes)
    return Refusal{prefix + "end with its last member at byte " + std::to_string(at) +
                   " of the data, got " + std::to_string(dataBytes) + " bytes"};
  return members;
}

/// What the values of a layer are multiplied with, as one f32.
Result<Array> globalScale(const std::vector<Member> &members, std::string_view data,
                          std::string_view file, std::string_view layer) {
  const Member *found = nullptr;
  bool isReciprocal = false;
  for (const Producer &producer : kProducers)
    for (const Member &member : members) {
      if (member.name != std::string(layer) + std::string(producer.member))
        continue;
      if (found)
        return Refusal{subjectOf(file, layer) + "have weight_scale_2 or weight_global_scale, whose "
                                                "meanings are opposite, got both"};
      found = &member;
      isReciprocal = producer.isReciprocal;
    }
  if (!found)
    return Refusal{subjectOf(file, layer) +
                   "have weight_scale_2 or weight_global_scale, got neither"};
  float value = 0;
  if (found->type != DType::f32 || found->end - found->begin != sizeof value)
    return Refusal{subjectOf(file, found->name) + "be one f32, got " + echo(found->typeName, 40) +
                   " " + formatShape(found->shape)};
  std::memcpy(&value, data.data() + found->begin, sizeof value);
  float scale = isReciprocal ? 1 / value : value;
  if (!(scale > 0) || !std::isfinite(scale) || !std::isfinite(value))
    return Refusal{subjectOf(file, found->name) + "be positive and finite, got " +
                   std::to_string(value)};
  Array array{DType::f32, {}, std::vector<uint8_t>(sizeof scale)};
  std::memcpy(array.bytes.data(), &scale, sizeof scale);
  return array;
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

  if (bytes[8] != '{')
    return Refusal{prefix + "have a header that starts with '{'"};
  std::string_view data = bytes.substr(8 + headerBytes);
  Result<std::vector<Member>> index = indexMembers(*members, subject, data.size());
  if (!index)
    return index.takeRefusal();

  auto found = std::find_if(index->begin(), index->end(),
                            [&](const Member &row) { return row.name == member; });
  if (found == index->end() && member.ends_with(kGlobalPart))
    return globalScale(*index, data, subject, member.substr(0, member.size() - kGlobalPart.size()));
  if (found == index->end()) {
    std::vector<std::string> names;
    for (const Member &row : *index)
      names.push_back(row.name);
    std::sort(names.begin(), names.end());
    std::string list;
    for (size_t i = 0; i < names.size() && i < 8; ++i)
      list += (i ? ", " : "") + names[i];
    if (names.size() > 8)
      list += ", …";
    return Refusal{prefix + "have a member '" + std::string(member) + "', got " + echo(list)};
  }
  if (!found->type)
    return Refusal{subjectOf(subject, member) + "have a known dtype, got " +
                   echo(found->typeName, 40)};
  return Array{*found->type, std::move(found->shape),
               std::vector<uint8_t>(data.begin() + found->begin, data.begin() + found->end)};
}

Result<Array> readSafetensors(const std::string &path, std::string_view member) {
  Result<std::string> bytes = readFile(path, "safetensors");
  if (!bytes)
    return bytes.takeRefusal();
  return parseSafetensors(*bytes, path, member);
}

} // namespace blockscale::rt
