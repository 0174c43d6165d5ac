//===- Format.h - element and scale formats -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The narrow formats that tensor cores multiply and the formats of their block
// scales. Source of every row: PTX ISA 9.4, 5.2.3; OCP MX 1.0.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_FORMAT_H
#define BLOCKSCALE_FACTS_FORMAT_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::facts {

/// Element formats of operands and results.
enum class Format : uint8_t { e2m1, e2m3, e3m2, e4m3, e5m2, f16, bf16, f32 };

/// Formats of block scales; each takes one byte in memory.
enum class ScaleFormat : uint8_t { ue8m0, ue4m3, ue5m3 };

/// Where the bytes of a scale tensor lie. `linear` is row-major [rows, k / block];
/// `tiled` is 512-byte tiles of 128 rows x 4 scales, padded to whole tiles.
enum class ScaleLayout : uint8_t { linear, tiled };

struct FormatInfo {
  Format format;
  std::string_view name; // as in PTX: e2m1
  std::string_view mlir; // as in MLIR: f4E2M1FN
  unsigned bits;         // storage bits of one element when packed
  unsigned exponentBits;
  unsigned mantissaBits;
  int bias;
  double max; // largest finite value
};

inline constexpr std::array<FormatInfo, 8> kFormats{{
    {Format::e2m1, "e2m1", "f4E2M1FN", 4, 2, 1, 1, 6.0},
    {Format::e2m3, "e2m3", "f6E2M3FN", 6, 2, 3, 1, 7.5},
    {Format::e3m2, "e3m2", "f6E3M2FN", 6, 3, 2, 3, 28.0},
    {Format::e4m3, "e4m3", "f8E4M3FN", 8, 4, 3, 7, 448.0},
    {Format::e5m2, "e5m2", "f8E5M2", 8, 5, 2, 15, 57344.0},
    {Format::f16, "f16", "f16", 16, 5, 10, 15, 65504.0},
    {Format::bf16, "bf16", "bf16", 16, 8, 7, 127, 0x1.fep127},
    {Format::f32, "f32", "f32", 32, 8, 23, 127, 0x1.fffffep127},
}};

struct ScaleFormatInfo {
  ScaleFormat format;
  std::string_view name; // as in PTX: ue8m0
  double max;            // largest finite value
  uint8_t nan;           // the NaN byte
  uint8_t one;           // the byte that means 1.0
};

inline constexpr std::array<ScaleFormatInfo, 3> kScaleFormats{{
    {ScaleFormat::ue8m0, "ue8m0", 0x1p127, 0xFF, 0x7F},
    {ScaleFormat::ue4m3, "ue4m3", 448.0, 0x7F, 0x38},
    {ScaleFormat::ue5m3, "ue5m3", 114688.0, 0xFF, 0x78},
}};

constexpr const FormatInfo &info(Format f) { return kFormats[size_t(f)]; }
constexpr const ScaleFormatInfo &info(ScaleFormat f) { return kScaleFormats[size_t(f)]; }
constexpr std::string_view name(Format f) { return info(f).name; }
constexpr std::string_view name(ScaleFormat f) { return info(f).name; }
constexpr std::string_view name(ScaleLayout l) {
  return l == ScaleLayout::linear ? "linear" : "tiled";
}

constexpr std::optional<Format> parseFormat(std::string_view text) {
  for (const FormatInfo &row : kFormats)
    if (row.name == text)
      return row.format;
  return std::nullopt;
}
constexpr std::optional<ScaleFormat> parseScaleFormat(std::string_view text) {
  for (const ScaleFormatInfo &row : kScaleFormats)
    if (row.name == text)
      return row.format;
  return std::nullopt;
}
constexpr std::optional<ScaleLayout> parseScaleLayout(std::string_view text) {
  if (text == "linear")
    return ScaleLayout::linear;
  if (text == "tiled")
    return ScaleLayout::tiled;
  return std::nullopt;
}

namespace detail {
constexpr bool formatsAreSound() {
  for (size_t i = 0; i < kFormats.size(); ++i) {
    const FormatInfo &row = kFormats[i];
    // Every format has a sign, and the bias of IEEE 754.
    if (row.format != Format(i) || row.bits != 1 + row.exponentBits + row.mantissaBits ||
        row.bias != (1 << (row.exponentBits - 1)) - 1 || row.max <= 0)
      return false;
    for (size_t j = 0; j < i; ++j)
      if (row.name == kFormats[j].name || row.mlir == kFormats[j].mlir)
        return false;
  }
  for (size_t i = 0; i < kScaleFormats.size(); ++i) {
    const ScaleFormatInfo &row = kScaleFormats[i];
    if (row.format != ScaleFormat(i) || row.nan == row.one || row.max <= 1)
      return false;
    for (size_t j = 0; j < i; ++j)
      if (row.name == kScaleFormats[j].name)
        return false;
  }
  return true;
}
static_assert(formatsAreSound());
} // namespace detail

/// Whole bytes of `count` packed elements; sizes are computed in bits and divided once.
constexpr int64_t packedBytes(Format f, int64_t count) {
  return (count * int64_t(info(f).bits) + 7) / 8;
}
static_assert(packedBytes(Format::e2m1, 3) == 2 && packedBytes(Format::e3m2, 4) == 3);

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_FORMAT_H
