//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header is a Python dict literal of three known keys; it is parsed by hand
// and strictly, because nothing else may stand there.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Npy.h"

#include "Echo.h"

namespace blockscale::rt {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxRank = 32; // NumPy's own limit was 32 until 2.0

/// A cursor over the dict literal.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;

  bool parse() {
    bool hasDescr = false, hasOrder = false, hasShape = false;
    if (!take('{'))
      return false;
    while (!take('}')) {
      std::string key;
      if (!parseString(key) || !take(':'))
        return false;
      if (key == "descr" && !hasDescr)
        hasDescr = parseString(descr);
      else if (key == "fortran_order" && !hasOrder)
        hasOrder = parseBool(fortranOrder);
      else if (key == "shape" && !hasShape)
        hasShape = parseShape();
      else
        return false;
      if (!take(',')) {
        if (!take('}'))
          return false;
        break;
      }
    }
    skipSpace();
    return text.empty() && hasDescr && hasOrder && hasShape;
  }

private:
  void skipSpace() {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n'))
      text.remove_prefix(1);
  }
  bool take(char c) {
    skipSpace();
    if (text.empty() || text.front() != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  bool takeWord(std::string_view word) {
    skipSpace();
    if (!text.starts_with(word))
      return false;
    text.remove_prefix(word.size());
    return true;
  }
  bool parseString(std::string &out) {
    skipSpace();
    if (text.empty() || (text.front() != '\'' && text.front() != '"'))
      return false;
    size_t end = text.find(text.front(), 1);
    if (end == std::string_view::npos)
      return false;
    out = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return true;
  }
  bool parseBool(bool &out) {
    out = takeWord("True");
    return out || takeWord("False");
  }
  bool parseInteger(int64_t &out) {
    skipSpace();
    size_t digits = 0;
    out = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
      if (digits == 15)
        return false;
      out = out * 10 + (text[digits] - '0');
    }
    text.remove_prefix(digits);
    return digits > 0;
  }
  bool parseShape() {
    if (!take('('))
      return false;
    while (!take(')')) {
      int64_t dim;
      if (shape.size() == kMaxRank || !parseInteger(dim))
        return false;
      shape.push_back(dim);
      if (!take(','))
        return take(')');
    }
    return true;
  }

  std::string_view text;
};

std::optional<DType> parseDescr(std::string_view descr) {
  if (descr == "|V2" || descr == "<V2") // bf16 as ml_dtypes saves it
    return DType::bf16;
  if (descr == "|V1" || descr == "<V1" || descr == "<f1" || descr == "|f1") // its narrow types
    return DType::u8;
  if (descr == "|b1") // a byte that is 0 or 1
    return DType::u8;
  for (const DTypeInfo &row : kDTypes)
    if (row.npy == descr)
      return row.type;
  return std::nullopt;
}

uint32_t loadLittle(std::string_view bytes, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value |= uint32_t(uint8_t(bytes[i])) << (8 * i);
  return value;
}

} // namespace

Result<Array> parseNpy(std::string_view bytes, std::string_view subject) {
  std::string prefix = "npy: '" + std::string(subject) + "' must ";
  if (!bytes.starts_with(kMagic) || bytes.size() < 10)
    return Refusal{prefix + "start with the magic of a .npy file, got " +
                   std::to_string(bytes.size()) + " other bytes"};
  unsigned major = uint8_t(bytes[6]);
  if (major < 1 || major > 3)
    return Refusal{prefix + "have format version 1 to 3, got " + std::to_string(major)};
  size_t lengthBytes = major == 1 ? 2 : 4;
  size_t headerStart = 8 + lengthBytes;
  if (bytes.size() < headerStart)
    return Refusal{prefix + "hold its header, got a truncated file"};
  size_t headerBytes = loadLittle(bytes.substr(8), lengthBytes);
  if (headerBytes > bytes.size() - headerStart)
    return Refusal{prefix + "hold a header of " + std::to_string(headerBytes) + " bytes, got " +
                   std::to_string(bytes.size() - headerStart)};

  HeaderParser header(bytes.substr(headerStart, headerBytes));
  if (!header.parse())
    return Refusal{prefix + "have a header with descr, fortran_order and shape, got another"};
  std::optional<DType> type = parseDescr(header.descr);
  if (!type) {
    std::string allowed;
    for (const DTypeInfo &row : kDTypes)
      if (row.type != DType::bf16)
        allowed += (allowed.empty() ? "" : ", ") + std::string(row.npy);
    return Refusal{prefix + "have a dtype among " + allowed + ", got " + echo(header.descr, 40)};
  }
  if (header.fortranOrder && header.shape.size() > 1)
    return Refusal{prefix + "be in C order, got Fortran order"};
  std::optional<uint64_t> size = byteSize(*type, header.shape);
  std::string_view data = bytes.substr(headerStart + headerBytes);
  if (!size || *size != data.size())
    return Refusal{prefix + "hold " + (size ? std::to_string(*size) : "a possible number of") +
                   " bytes of data for " + std::string(name(*type)) + " " +
                   formatShape(header.shape) + ", got " + std::to_string(data.size())};
  return Array{*type, std::move(header.shape), std::vector<uint8_t>(data.begin(), data.end())};
}

Result<Array> readNpy(const std::string &path) {
  Result<std::string> bytes = readFile(path, "npy");
  if (!bytes)
    return bytes.takeRefusal();
  return parseNpy(*bytes, path);
}

std::string formatNpy(const Array &array) {
  std::string shape = "(";
  for (int64_t dim : array.shape)
    shape += std::to_string(dim) + ", ";
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  else if (array.shape.size() == 1)
    shape.pop_back();
  shape += ")";
  std::string header = "{'descr': '" + std::string(info(array.type).npy) +
                       "', 'fortran_order': False, 'shape': " + shape + ", }";
  // The data starts at a multiple of 64 bytes.
  size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string text(kMagic);
  text += {'\x01', '\x00', char(header.size() & 0xFF), char(header.size() >> 8)};
  text += header;
  text.append(array.bytes.begin(), array.bytes.end());
  return text;
}

Result<bool> writeNpy(const std::string &path, const Array &array) {
  return writeFile(path, formatNpy(array), "npy");
}

} // namespace blockscale::rt
