//===- Array.cpp - sizes, files, and which reader takes a file ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Array.h"

#include "blockscale/Support/Gguf.h"
#include "blockscale/Support/Npy.h"
#include "blockscale/Support/Safetensors.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include <unistd.h>

namespace blockscale::rt {

namespace {
struct FileCloser {
  void operator()(FILE *file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<FILE, FileCloser>;

/// No array of a test or a model layer comes near this.
constexpr uint64_t kMaxBytes = uint64_t(1) << 40;
} // namespace

std::optional<uint64_t> byteSize(DType type, const std::vector<int64_t> &shape) {
  bool isEmpty = false;
  uint64_t size = info(type).bytes;
  for (int64_t dim : shape) {
    if (dim < 0)
      return std::nullopt;
    if (dim == 0) {
      isEmpty = true;
      continue;
    }
    if (uint64_t(dim) > kMaxBytes / size)
      return std::nullopt;
    size *= uint64_t(dim);
  }
  return isEmpty ? 0 : size;
}

uint64_t memoryBudget() {
  static const uint64_t budget =
      uint64_t(::sysconf(_SC_PHYS_PAGES)) * uint64_t(::sysconf(_SC_PAGESIZE)) / 4;
  return budget;
}

std::string formatShape(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Result<bool> checkReadable(const std::string &path, std::string_view label) {
  std::string subject = std::string(label) + ": '" + path + "' must be a readable file, got ";
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    return Refusal{subject + "no such file"};
  if (std::filesystem::is_directory(status))
    return Refusal{subject + "a folder"};
  if (std::filesystem::is_character_file(status) || std::filesystem::is_block_file(status))
    return Refusal{subject + "a device"}; // may have no end
  return true;
}

Result<std::string> readFile(const std::string &path, std::string_view label) {
  std::string subject = std::string(label) + ": '" + path + "' must be a readable file, got ";
  if (Result<bool> status = checkReadable(path, label); !status)
    return status.takeRefusal();
  FilePtr file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return Refusal{subject + std::strerror(errno)};
  std::string text;
  char chunk[1 << 16];
  while (size_t count = std::fread(chunk, 1, sizeof chunk, file.get())) {
    if (text.size() + count > memoryBudget())
      return Refusal{subject + "more than " + std::to_string(memoryBudget()) + " bytes"};
    text.append(chunk, count);
  }
  if (std::ferror(file.get()))
    return Refusal{subject + "a read error"};
  return text;
}

Result<bool> writeFile(const std::string &path, std::string_view text, std::string_view label) {
  std::string subject = std::string(label) + ": '" + path + "' must be writable, got ";
  std::FILE *file = std::fopen(path.c_str(), "wb");
  if (!file)
    return Refusal{subject + std::strerror(errno)};
  bool isWritten = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !isWritten)
    return Refusal{subject + "a write error"};
  return true;
}

namespace {
/// Files whose members are asked for as "file.ext:member".
struct Container {
  std::string_view label, extension;
  Result<Array> (*read)(const std::string &path, std::string_view member);
};
constexpr Container kContainers[] = {{"safetensors", ".safetensors", readSafetensors},
                                     {"gguf", ".gguf", readGguf}};
} // namespace

bool isArrayFile(std::string_view spec) {
  for (const Container &row : kContainers)
    if (spec.find(row.extension) != std::string_view::npos)
      return true;
  return spec.ends_with(".npy");
}

Result<Array> loadArray(const std::string &spec) {
  for (const Container &row : kContainers) {
    size_t at = spec.find(std::string(row.extension) + ":");
    if (at != std::string::npos) {
      size_t end = at + row.extension.size();
      return row.read(spec.substr(0, end), std::string_view(spec).substr(end + 1));
    }
    if (spec.ends_with(row.extension))
      return Refusal{std::string(row.label) + ": '" + spec +
                     "' must be followed by ':' and the name of a member"};
  }
  return readNpy(spec);
}

} // namespace blockscale::rt
