//===- Array.h - a typed array in host memory -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What files give and take: element type, shape, and the bytes in C order,
// little-endian. Narrow formats (FP4, FP8, scales) travel as u8.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_ARRAY_H
#define BLOCKSCALE_SUPPORT_ARRAY_H

#include "blockscale/Facts/Result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::rt {

using facts::Refusal;
using facts::Result;

enum class DType : uint8_t { u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64 };

struct DTypeInfo {
  DType type;
  std::string_view name;        // in manifests and messages
  std::string_view npy;         // descr of a .npy file
  std::string_view safetensors; // dtype of a .safetensors member
  unsigned bytes;
};

/// NumPy has no bf16: its bits are written as uint16.
inline constexpr std::array<DTypeInfo, 12> kDTypes{{
    {DType::u8, "u8", "|u1", "U8", 1},
    {DType::i8, "i8", "|i1", "I8", 1},
    {DType::u16, "u16", "<u2", "U16", 2},
    {DType::i16, "i16", "<i2", "I16", 2},
    {DType::u32, "u32", "<u4", "U32", 4},
    {DType::i32, "i32", "<i4", "I32", 4},
    {DType::u64, "u64", "<u8", "U64", 8},
    {DType::i64, "i64", "<i8", "I64", 8},
    {DType::f16, "f16", "<f2", "F16", 2},
    {DType::bf16, "bf16", "<u2", "BF16", 2},
    {DType::f32, "f32", "<f4", "F32", 4},
    {DType::f64, "f64", "<f8", "F64", 8},
}};

constexpr const DTypeInfo &info(DType type) { return kDTypes[size_t(type)]; }
constexpr std::string_view name(DType type) { return info(type).name; }
/// The integer type of the same width without or with a sign, or the type itself.
constexpr DType otherSign(DType type) {
  constexpr std::array<std::pair<DType, DType>, 4> kPairs{{{DType::u8, DType::i8},
                                                           {DType::u16, DType::i16},
                                                           {DType::u32, DType::i32},
                                                           {DType::u64, DType::i64}}};
  for (auto [plain, withSign] : kPairs)
    if (type == plain || type == withSign)
      return type == plain ? withSign : plain;
  return type;
}

constexpr std::optional<DType> parseDType(std::string_view text) {
  for (const DTypeInfo &row : kDTypes)
    if (row.name == text)
      return row.type;
  return std::nullopt;
}

struct Array {
  DType type = DType::u8;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

/// Product of the dimensions times the element size; nothing when a dimension
/// is negative or the product does not fit.
std::optional<uint64_t> byteSize(DType type, const std::vector<int64_t> &shape);

/// Bytes that one input may take: a quarter of the machine's memory, since an array is
/// held as file, as argument, on the device and as result.
uint64_t memoryBudget();

/// "[178, 384]".
std::string formatShape(const std::vector<int64_t> &shape);

/// Whole contents of a file or a pipe; refuses folders, devices and more than
/// `memoryBudget`.
Result<std::string> readFile(const std::string &path, std::string_view label);
Result<bool> writeFile(const std::string &path, std::string_view text, std::string_view label);

/// Refuses what cannot be read to an end: nothing there, a folder, a device.
Result<bool> checkReadable(const std::string &path, std::string_view label);

/// True for text that names a file which `loadArray` reads.
bool isArrayFile(std::string_view spec);

/// Reads `file.npy`, `file.safetensors:member` or `file.gguf:tensor`.
Result<Array> loadArray(const std::string &spec);

} // namespace blockscale::rt

#endif // BLOCKSCALE_SUPPORT_ARRAY_H
