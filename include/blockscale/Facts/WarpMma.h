//===- WarpMma.h - mma.sync and wgmma without scales ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes and types that ptxas 13.5 takes, by probing each on each target. Dense
// row.col forms only; m8n8k4, f64, single-bit and sparse products are not listed.
// Block-scaled forms are in MmaSync.h, fragments in LayoutsWarp.h.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_WARPMMA_H
#define BLOCKSCALE_FACTS_WARPMMA_H

#include "blockscale/Facts/Arch.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::facts {

/// Types of A and B; tf32 is a 32-bit register whose low 13 bits do not count.
enum class WarpFormat : uint8_t { s4, u4, s8, u8, f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1 };

struct WarpFormatInfo {
  WarpFormat format;
  std::string_view name;
  unsigned bits; // of its container in a register: FP4 and FP6 take a byte
  unsigned exponentBits, mantissaBits;
  bool hasInfinity; // the largest exponent means infinity and NaN
  bool hasNan;      // else: all ones mean NaN
};

inline constexpr std::array<WarpFormatInfo, 12> kWarpFormats{{
    {WarpFormat::s4, "s4", 4, 0, 0, false, false},
    {WarpFormat::u4, "u4", 4, 0, 0, false, false},
    {WarpFormat::s8, "s8", 8, 0, 0, false, false},
    {WarpFormat::u8, "u8", 8, 0, 0, false, false},
    {WarpFormat::f16, "f16", 16, 5, 10, true, true},
    {WarpFormat::bf16, "bf16", 16, 8, 7, true, true},
    {WarpFormat::tf32, "tf32", 32, 8, 10, true, true},
    {WarpFormat::e4m3, "e4m3", 8, 4, 3, false, true},
    {WarpFormat::e5m2, "e5m2", 8, 5, 2, true, true},
    {WarpFormat::e2m3, "e2m3", 8, 2, 3, false, false},
    {WarpFormat::e3m2, "e3m2", 8, 3, 2, false, false},
    {WarpFormat::e2m1, "e2m1", 8, 2, 1, false, false},
}};

constexpr const WarpFormatInfo &info(WarpFormat f) { return kWarpFormats[size_t(f)]; }
constexpr std::string_view name(WarpFormat f) { return info(f).name; }
constexpr std::optional<WarpFormat> parseWarpFormat(std::string_view text) {
  for (const WarpFormatInfo &row : kWarpFormats)
    if (row.name == text)
      return row.format;
  return std::nullopt;
}
constexpr bool isInteger(WarpFormat f) { return f <= WarpFormat::u8; }

/// Low bit of a narrow code in its byte container: FP6 in bits 5:0, FP4 in bits 5:2.
constexpr unsigned containerShift(WarpFormat f) { return f == WarpFormat::e2m1 ? 2 : 0; }

/// Types of C and D.
enum class WarpResult : uint8_t { s32, f32, f16 };
constexpr std::string_view name(WarpResult r) {
  return r == WarpResult::s32 ? "s32" : r == WarpResult::f32 ? "f32" : "f16";
}

/// A set of formats.
struct WarpFormatSet {
  uint32_t bits = 0;
  constexpr WarpFormatSet(std::initializer_list<WarpFormat> formats) {
    for (WarpFormat f : formats)
      bits |= uint32_t(1) << unsigned(f);
  }
  constexpr bool contains(WarpFormat f) const { return bits >> unsigned(f) & 1; }
};

/// A and B are any two of `formats`, or one of them twice.
struct WarpMmaMode {
  int m, n, k; // n = 0: see wgmmaColumns
  WarpFormatSet formats;
  bool mixed;
  bool f16Result;  // D may be f16 as well as f32
  bool transposes; // wgmma: operands in shared memory may be MN-major
  bool kind;       // written with .kind::f8f6f4
  ArchSet needs;
  std::string_view source;
};

inline constexpr WarpFormatSet kInt8{WarpFormat::s8, WarpFormat::u8};
inline constexpr WarpFormatSet kInt4{WarpFormat::s4, WarpFormat::u4};
inline constexpr WarpFormatSet kWarpF8{WarpFormat::e4m3, WarpFormat::e5m2};
inline constexpr WarpFormatSet kWarpF8F6F4{WarpFormat::e4m3, WarpFormat::e5m2, WarpFormat::e2m3,
                                           WarpFormat::e3m2, WarpFormat::e2m1};
inline constexpr ArchSet kWarpKind{Arch::sm_100f, Arch::sm_110f, Arch::sm_120f};
inline constexpr std::string_view kWarpSource = "ptxas 13.5";

// clang-format off
inline constexpr std::array<WarpMmaMode, 17> kWarpMmaModes{{
    // m  n  k   formats              mixed  f16    trans  kind   needs
    {8,  8, 16, kInt8,               true,  false, false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 16, kInt8,               true,  false, false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 32, kInt8,               true,  false, false, false, {Arch::sm_80}, kWarpSource},
    {8,  8, 32, kInt4,               true,  false, false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 32, kInt4,               true,  false, false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 64, kInt4,               true,  false, false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 8,  {WarpFormat::f16},   false, true,  false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 16, {WarpFormat::f16},   false, true,  false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 8,  {WarpFormat::bf16},  false, false, false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 16, {WarpFormat::bf16},  false, false, false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 4,  {WarpFormat::tf32},  false, false, false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 8,  {WarpFormat::tf32},  false, false, false, false, {Arch::sm_80}, kWarpSource},
    {16, 8, 16, kWarpF8,             true,  true,  false, false, {Arch::sm_89}, kWarpSource},
    {16, 8, 32, kWarpF8,             true,  true,  false, false, {Arch::sm_89}, kWarpSource},
    {16, 8, 16, kWarpF8,             true,  true,  false, true,  kWarpKind, kWarpSource},
    {16, 8, 32, kWarpF8,             true,  true,  false, true,  kWarpKind, kWarpSource},
    {16, 8, 32, kWarpF8F6F4,         true,  true,  false, true,  {Arch::sm_120f}, kWarpSource},
}};

inline constexpr std::array<WarpMmaMode, 5> kWgmmaModes{{
    {64, 0, 16, {WarpFormat::f16},   false, true,  true,  false, {Arch::sm_90a}, kWarpSource},
    {64, 0, 16, {WarpFormat::bf16},  false, false, true,  false, {Arch::sm_90a}, kWarpSource},
    {64, 0, 8,  {WarpFormat::tf32},  false, false, false, false, {Arch::sm_90a}, kWarpSource},
    {64, 0, 32, kWarpF8,             true,  true,  false, false, {Arch::sm_90a}, kWarpSource},
    {64, 0, 32, kInt8,               true,  false, false, false, {Arch::sm_90a}, kWarpSource},
}};
// clang-format on

constexpr bool takes(const WarpMmaMode &mode, WarpFormat a, WarpFormat b, WarpResult d) {
  bool types = mode.formats.contains(a) && mode.formats.contains(b) && (mode.mixed || a == b);
  bool result = isInteger(a) ? d == WarpResult::s32
                             : d == WarpResult::f32 || (d == WarpResult::f16 && mode.f16Result);
  return types && result;
}

/// Columns of wgmma: every multiple of 8 up to 256; integers only 8, 24 and the
/// multiples of 16.
inline constexpr int kWgmmaMaxN = 256;
constexpr bool wgmmaColumns(int n, bool integer) {
  if (n < 8 || n > kWgmmaMaxN || n % 8)
    return false;
  return !integer || n == 8 || n == 24 || n % 16 == 0;
}

/// Element `i` of a thread's D of wgmma: row within the warp's 16 rows, and column. Warp w
/// of the warpgroup has rows 16 w to 16 w + 15; A in registers is fragmentA.
struct WgmmaPlace {
  int row, column;
};
constexpr WgmmaPlace wgmmaD(int thread, int i) {
  return {thread / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + thread % 4 * 2 + i % 2};
}

namespace detail {
constexpr bool warpMmaIsSound() {
  for (size_t i = 0; i < kWarpFormats.size(); ++i)
    if (kWarpFormats[i].format != WarpFormat(i) ||
        (kWarpFormats[i].hasInfinity && !kWarpFormats[i].hasNan))
      return false;
  // The rows of A fill whole registers.
  for (const WarpMmaMode &row : kWarpMmaModes)
    for (const WarpFormatInfo &f : kWarpFormats)
      if (row.formats.contains(f.format) && row.m * row.k * int(f.bits) % 1024)
        return false;
  // Every K of wgmma is 32 bytes.
  for (const WarpMmaMode &row : kWgmmaModes)
    for (const WarpFormatInfo &f : kWarpFormats)
      if (row.formats.contains(f.format) && row.k * int(f.bits) != 256)
        return false;
  return true;
}
static_assert(warpMmaIsSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_WARPMMA_H
