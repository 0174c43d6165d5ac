//===- Gguf.cpp - tensors of .gguf files ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout: magic, version, counts, metadata, infos of tensors, padding, data. Metadata
// is stepped over; only the alignment is looked at. No count is believed: a loop ends
// when the bytes do.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Gguf.h"

#include "Echo.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <bit>
#include <cstring>
#include <filesystem>

namespace blockscale::rt {

namespace {

using facts::GgufFp4;
using facts::GgufType;
using facts::GgufUse;
using facts::GgufValue;

constexpr std::string_view kScalesPart = ":scales";
constexpr std::string_view kAlignmentKey = "general.alignment";
/// Arrays in arrays; no writer makes any.
constexpr int kMaxNesting = 4;
constexpr uint32_t kMaxAlignment = 1u << 30;

/// Reads forward; says false, and stays there, when the bytes have ended.
class Cursor {
public:
  explicit Cursor(std::string_view bytes) : bytes(bytes) {}

  size_t at = 0;

  bool skip(uint64_t count) {
    if (count > bytes.size() - at)
      return false;
    at += count;
    return true;
  }
  template <typename T> bool read(T &value) {
    static_assert(std::endian::native == std::endian::little);
    if (bytes.size() - at < sizeof value)
      return false;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return true;
  }
  bool readString(std::string_view &text) {
    uint64_t length;
    if (!read(length) || length > bytes.size() - at)
      return false;
    text = bytes.substr(at, length);
    at += length;
    return true;
  }

private:
  std::string_view bytes;
};

/// Steps over a value; false when it has no known type or the bytes end in it.
bool skipValue(Cursor &cursor, uint32_t type, int nesting = 0) {
  if (type >= facts::kGgufValueBytes.size())
    return false;
  if (unsigned size = facts::kGgufValueBytes[type])
    return cursor.skip(size);
  std::string_view text;
  if (GgufValue(type) == GgufValue::string)
    return cursor.readString(text);
  uint32_t element;
  uint64_t count;
  if (nesting == kMaxNesting || !cursor.read(element) || !cursor.read(count) ||
      element >= facts::kGgufValueBytes.size())
    return false;
  if (unsigned size = facts::kGgufValueBytes[element])
    return count <= UINT64_MAX / size && cursor.skip(count * size);
  for (uint64_t i = 0; i < count; ++i) // each takes bytes
    if (!skipValue(cursor, element, nesting + 1))
      return false;
  return true;
}

/// Where a tensor says that it lies.
struct Info {
  GgufTensor tensor;
  uint64_t offset;
  uint64_t size;
};

class Parser {
public:
  Parser(std::string_view bytes, std::string_view subject)
      : bytes(bytes), cursor(bytes), prefix("gguf: '" + std::string(subject) + "' ") {}

  Result<std::vector<GgufTensor>> parse() {
    if (Result<bool> status = parseHeader(); !status)
      return status.takeRefusal();
    if (Result<bool> status = skipMetadata(); !status)
      return status.takeRefusal();
    std::vector<Info> infos;
    for (uint64_t i = 0; i < tensorCount; ++i) {
      Result<Info> info = parseInfo(i);
      if (!info)
        return info.takeRefusal();
      infos.push_back(std::move(*info));
    }
    return place(infos);
  }

private:
  Refusal refuse(const std::string &text) const { return Refusal{prefix + text}; }
  Refusal refuseEnd(const std::string &what) const {
    return refuse("must hold " + what + ", got its end at byte " + std::to_string(bytes.size()));
  }

  Result<bool> parseHeader() {
    uint32_t version = 0;
    if (!bytes.starts_with(facts::kGgufMagic) || !cursor.skip(facts::kGgufMagic.size()))
      return refuse("must start with the magic of a .gguf file, got " +
                    std::to_string(bytes.size()) + " other bytes");
    if (!cursor.read(version))
      return refuseEnd("its version");
    if (version && !(version & 0xFFFF))
      return refuse("must be little-endian, got big-endian");
    if (version < facts::kGgufOldest || version > facts::kGgufNewest)
      return refuse("must have version 2 or 3, got " + std::to_string(version));
    if (!cursor.read(tensorCount) || !cursor.read(valueCount))
      return refuseEnd("its counts");
    return true;
  }

  Result<bool> skipMetadata() {
    bool hasAlignment = false;
    for (uint64_t i = 0; i < valueCount; ++i) {
      std::string number = "value " + std::to_string(i) + " of " + std::to_string(valueCount);
      std::string_view key;
      uint32_t type;
      if (!cursor.readString(key) || !cursor.read(type))
        return refuseEnd("the key of " + number);
      if (key.size() > facts::kGgufMaxName)
        return refuse("must have keys of at most " + std::to_string(facts::kGgufMaxName) +
                      " bytes, got " + std::to_string(key.size()));
      if (key == kAlignmentKey) {
        if (hasAlignment || GgufValue(type) != GgufValue::u32 || !cursor.read(alignment) ||
            !std::has_single_bit(alignment) || alignment > kMaxAlignment)
          return refuse("must have one power of two as u32 in " + std::string(kAlignmentKey) +
                        ", got another");
        hasAlignment = true;
        continue;
      }
      if (type >= facts::kGgufValueBytes.size())
        return refuse("must have values of types 0 to 12, got " + std::to_string(type) + " for '" +
                      echo(key, 80) + "'");
      if (!skipValue(cursor, type))
        return refuse("must hold all of " + number + ", '" + echo(key, 80) +
                      "', got its end or no value");
    }
    return true;
  }

  Result<Info> parseInfo(uint64_t index) {
    std::string number = "tensor " + std::to_string(index) + " of " + std::to_string(tensorCount);
    Info info{};
    uint32_t rank, code;
    if (!cursor.readString(info.tensor.name) || !cursor.read(rank))
      return refuseEnd("the name of " + number);
    if (info.tensor.name.size() > facts::kGgufMaxName)
      return refuse("must have names of at most " + std::to_string(facts::kGgufMaxName) +
                    " bytes, got " + std::to_string(info.tensor.name.size()));
    std::string tensor = "tensor '" + echo(info.tensor.name, 80) + "' must ";
    if (rank > facts::kGgufMaxRank)
      return refuse(tensor + "have at most " + std::to_string(facts::kGgufMaxRank) +
                    " dimensions, got " + std::to_string(rank));
    for (uint32_t i = 0; i < rank; ++i) {
      uint64_t dim;
      if (!cursor.read(dim))
        return refuseEnd("the shape of " + number);
      if (dim > uint64_t(INT64_MAX))
        return refuse(tensor + "have dimensions below 2^63, got " + std::to_string(dim));
      info.tensor.shape.insert(info.tensor.shape.begin(), int64_t(dim));
    }
    if (!cursor.read(code) || !cursor.read(info.offset))
      return refuseEnd("the type and offset of " + number);
    const GgufType *type = info.tensor.type = facts::findGgufType(code);
    if (!type)
      return refuse(tensor + "have a known type, got " + std::to_string(code));
    // In whole blocks, of bytes: the product is checked as that of an array's shape.
    std::vector<int64_t> blocks = info.tensor.shape;
    int64_t run = blocks.empty() ? 1 : blocks.back();
    if (run % type->elements)
      return refuse(tensor + "have rows of whole blocks of " + std::to_string(type->elements) +
                    " for " + std::string(type->name) + ", got " + std::to_string(run));
    if (!blocks.empty())
      blocks.back() /= type->elements;
    blocks.push_back(type->bytes);
    std::optional<uint64_t> size = byteSize(DType::u8, blocks);
    if (!size)
      return refuse(tensor + "have a shape that fits memory, got " +
                    formatShape(info.tensor.shape));
    info.size = *size;
    return info;
  }

  /// The data starts at the next multiple of the alignment.
  Result<std::vector<GgufTensor>> place(std::vector<Info> &infos) {
    uint64_t start = (cursor.at + alignment - 1) / alignment * alignment;
    uint64_t room = start < bytes.size() ? bytes.size() - start : 0;
    std::vector<GgufTensor> tensors;
    for (Info &info : infos) {
      std::string tensor = "tensor '" + echo(info.tensor.name, 80) + "' must ";
      if (info.offset % alignment)
        return refuse(tensor + "start at a multiple of " + std::to_string(alignment) + ", got " +
                      std::to_string(info.offset));
      if (info.offset > room || info.size > room - info.offset)
        return refuse(tensor + "lie within the " + std::to_string(room) + " bytes of data, got " +
                      std::to_string(info.size) + " bytes at " + std::to_string(info.offset));
      if (info.size)
        info.tensor.bytes = bytes.substr(start + info.offset, info.size);
      tensors.push_back(std::move(info.tensor));
    }
    return tensors;
  }

  std::string_view bytes;
  Cursor cursor;
  std::string prefix;
  uint64_t tensorCount = 0, valueCount = 0;
  uint32_t alignment = facts::kGgufAlignment;
};

std::optional<DType> plainType(std::string_view name) {
  for (const DTypeInfo &row : kDTypes)
    if (row.safetensors == name) // both say F32, BF16, I8, …
      return row.type;
  return std::nullopt;
}

/// Nibbles in order, or scales; false when a scale has a sign, which no writer makes.
bool takeApart(const GgufTensor &tensor, const GgufFp4 &fp4, bool isScales,
               std::vector<uint8_t> &out) {
  unsigned half = fp4.group / 2;
  bool isNvfp4 = tensor.type->use == GgufUse::nvfp4;
  for (size_t at = 0; at < tensor.bytes.size(); at += tensor.type->bytes) {
    std::string_view block = tensor.bytes.substr(at, tensor.type->bytes);
    for (unsigned g = 0; g < fp4.scaleBytes; ++g) {
      uint8_t scale = uint8_t(block[g]);
      if (isNvfp4 && scale >= 0x80)
        return false;
      if (isScales) {
        out.push_back(isNvfp4 && scale == facts::kGgufNvfp4Zero ? 0 : scale);
        continue;
      }
      std::string_view nibbles = block.substr(fp4.scaleBytes + g * half, half);
      for (unsigned i = 0; i < fp4.group; i += 2) {
        unsigned shift = i < half ? 0 : 4; // a pair lies in one half
        uint8_t low = uint8_t(nibbles[i % half]) >> shift & 15;
        uint8_t high = uint8_t(nibbles[i % half + 1]) >> shift & 15;
        out.push_back(uint8_t(low | high << 4));
      }
    }
  }
  return true;
}

Result<Array> convert(const GgufTensor &tensor, bool isScales, const std::string &prefix) {
  std::vector<int64_t> shape = tensor.shape;
  switch (tensor.type->use) {
  case GgufUse::plain:
    return Array{*plainType(tensor.type->name), std::move(shape),
                 std::vector<uint8_t>(tensor.bytes.begin(), tensor.bytes.end())};
  case GgufUse::blocks:
    if (shape.empty())
      break;
    shape.back() = shape.back() / tensor.type->elements * tensor.type->bytes;
    return Array{DType::u8, std::move(shape),
                 std::vector<uint8_t>(tensor.bytes.begin(), tensor.bytes.end())};
  case GgufUse::mxfp4:
  case GgufUse::nvfp4: {
    const GgufFp4 &fp4 = tensor.type->use == GgufUse::mxfp4 ? facts::kGgufMxfp4 : facts::kGgufNvfp4;
    if (shape.empty())
      break;
    shape.back() /= isScales ? fp4.group : 2;
    Array array{DType::u8, std::move(shape), {}};
    array.bytes.reserve(tensor.bytes.size());
    if (!takeApart(tensor, fp4, isScales, array.bytes))
      return Refusal{prefix + "have scales without a sign, got a byte above 0x7F"};
    return array;
  }
  case GgufUse::refused:
    break;
  }
  std::string readable;
  for (const GgufType &row : facts::kGgufTypes)
    if (row.use != GgufUse::refused)
      readable += (readable.empty() ? "" : ", ") + std::string(row.name);
  return Refusal{prefix + "have one of the types " + readable + ", got " +
                 std::string(tensor.type->name)};
}

} // namespace

Result<std::vector<GgufTensor>> indexGguf(std::string_view bytes, std::string_view subject) {
  return Parser(bytes, subject).parse();
}

Result<Array> parseGguf(std::string_view bytes, std::string_view subject, std::string_view member) {
  Result<std::vector<GgufTensor>> tensors = indexGguf(bytes, subject);
  if (!tensors)
    return tensors.takeRefusal();
  std::string prefix = "gguf: '" + std::string(subject) + "' ";
  auto find = [&](std::string_view name) {
    std::vector<const GgufTensor *> found;
    for (const GgufTensor &tensor : *tensors)
      if (tensor.name == name)
        found.push_back(&tensor);
    return found;
  };
  std::vector<const GgufTensor *> found = find(member);
  bool isScales = found.empty() && member.ends_with(kScalesPart);
  if (isScales)
    found = find(member.substr(0, member.size() - kScalesPart.size()));
  if (found.empty()) {
    std::string list;
    for (size_t i = 0; i < tensors->size() && i < 8; ++i)
      list += (i ? ", " : "") + std::string((*tensors)[i].name.substr(0, 80));
    if (tensors->size() > 8)
      list += ", …";
    return Refusal{prefix + "must have a tensor '" + echo(member, 80) + "', got " +
                   (list.empty() ? "none" : echo(list))};
  }
  if (found.size() > 1)
    return Refusal{prefix + "must have one tensor '" + echo(member, 80) + "', got " +
                   std::to_string(found.size())};
  const GgufTensor &tensor = *found.front();
  prefix += "tensor '" + echo(tensor.name, 80) + "' must ";
  bool isFp4 = tensor.type->use == GgufUse::mxfp4 || tensor.type->use == GgufUse::nvfp4;
  if (isScales && !isFp4)
    return Refusal{prefix + "be of MXFP4 or NVFP4 to have scales apart, got " +
                   std::string(tensor.type->name)};
  if (tensor.bytes.size() > memoryBudget())
    return Refusal{prefix + "have at most " + std::to_string(memoryBudget()) + " bytes, got " +
                   std::to_string(tensor.bytes.size())};
  return convert(tensor, isScales, prefix);
}

Result<bool> visitGguf(const std::string &path,
                       const std::function<void(std::string_view)> &visit) {
  if (Result<bool> status = checkReadable(path, "gguf"); !status)
    return status;
  if (!std::filesystem::is_regular_file(path))
    return Refusal{"gguf: '" + path + "' must be a readable file, got a pipe"};
  // Mapped: a model is larger than the tensor that is asked for.
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return Refusal{"gguf: '" + path + "' must be a readable file, got " +
                   file.getError().message()};
  llvm::StringRef bytes = (*file)->getBuffer();
  visit({bytes.data(), bytes.size()});
  return true;
}

Result<Array> readGguf(const std::string &path, std::string_view member) {
  Result<Array> array = Array();
  Result<bool> status =
      visitGguf(path, [&](std::string_view bytes) { array = parseGguf(bytes, path, member); });
  if (!status)
    return status.takeRefusal();
  return array;
}

std::string formatGguf(const std::vector<GgufOutput> &tensors, std::string_view architecture) {
  std::string text(facts::kGgufMagic);
  auto put = [&](auto value) { text.append(reinterpret_cast<const char *>(&value), sizeof value); };
  auto putString = [&](std::string_view value) {
    put(uint64_t(value.size()));
    text += value;
  };
  auto pad = [&] {
    text.append((facts::kGgufAlignment - text.size() % facts::kGgufAlignment) %
                    facts::kGgufAlignment,
                '\0');
  };
  put(facts::kGgufNewest);
  put(uint64_t(tensors.size()));
  put(uint64_t(1));
  putString("general.architecture");
  put(uint32_t(GgufValue::string));
  putString(architecture);
  uint64_t offset = 0;
  for (const GgufOutput &tensor : tensors) {
    putString(tensor.name);
    put(uint32_t(tensor.shape.size()));
    for (size_t i = tensor.shape.size(); i-- > 0;)
      put(uint64_t(tensor.shape[i]));
    uint32_t code = 0;
    for (const GgufType &row : facts::kGgufTypes)
      if (row.name == tensor.type)
        code = row.code;
    put(code);
    put(offset);
    offset += (tensor.bytes.size() + facts::kGgufAlignment - 1) / facts::kGgufAlignment *
              facts::kGgufAlignment;
  }
  pad();
  for (const GgufOutput &tensor : tensors) {
    text.append(tensor.bytes.begin(), tensor.bytes.end());
    pad();
  }
  return text;
}

} // namespace blockscale::rt
