//===- Swizzle.h - XOR patterns of shared memory --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A swizzle XORs some bits of an absolute shared-memory address with higher
// ones, so that TMA, ldmatrix and the tensor core agree on where a byte lies.
// Sources: PTX ISA 9.4, 9.7.18.4.1 (descriptors) and 5.5 (TMA).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_SWIZZLE_H
#define BLOCKSCALE_FACTS_SWIZZLE_H

#include "blockscale/Facts/TensorMap.h"

namespace blockscale::facts {

enum class Swizzle : uint8_t { none, b32, b64, b128, b128Atom32, b128Atom64, b128Atom32Flip8, b96 };

struct SwizzleInfo {
  Swizzle swizzle;
  std::string_view name;
  int span;           // bytes of one swizzled row
  int period;         // bytes after which the pattern repeats
  uint32_t target;    // address bits that change
  int distance;       // source bit = target bit + distance
  int descriptorCode; // bits 61..63 of a shared-memory descriptor; -1: TMA only
  int tmaCode;        // of cuTensorMapEncodeTiled; -1: tensormap.replace only
  std::string_view source;
};

// clang-format off
inline constexpr std::array<SwizzleInfo, 8> kSwizzles{{
    {Swizzle::none,            "none",              16,  16,   0x00, 3, 0,  0,  "PTX ISA 9.4, table 49"},
    {Swizzle::b32,             "b32",               32,  256,  0x10, 3, 6,  1,  "PTX ISA 9.4, table 49 and 5.5.6"},
    {Swizzle::b64,             "b64",               64,  512,  0x30, 3, 4,  2,  "PTX ISA 9.4, table 49 and 5.5.6"},
    {Swizzle::b128,            "b128",              128, 1024, 0x70, 3, 2,  3,  "PTX ISA 9.4, table 49 and 5.5.6"},
    {Swizzle::b128Atom32,      "b128_atom32",       128, 512,  0x60, 2, 1,  4,  "PTX ISA 9.4, table 49 and 5.5.6"},
    {Swizzle::b128Atom64,      "b128_atom64",       128, 256,  0x40, 1, -1, 6,  "PTX ISA 9.4, 5.5.6"},
    {Swizzle::b128Atom32Flip8, "b128_atom32_flip8", 128, 512,  0x60, 2, -1, 5,  "PTX ISA 9.4, 5.5.6, words only"},
    {Swizzle::b96,             "b96",               96,  256,  0x10, 3, -1, -1, "PTX ISA 9.4, 5.5.6"},
}};
// clang-format on

constexpr const SwizzleInfo &info(Swizzle s) { return kSwizzles[size_t(s)]; }
constexpr std::string_view name(Swizzle s) { return info(s).name; }
constexpr std::optional<Swizzle> parseSwizzle(std::string_view text) {
  for (const SwizzleInfo &row : kSwizzles)
    if (row.name == text)
      return row.swizzle;
  return std::nullopt;
}

/// The swizzle that a code in bits 61..63 of a descriptor names; 3, 5 and 7 name none.
constexpr std::optional<Swizzle> swizzleOfDescriptorCode(int code) {
  for (const SwizzleInfo &row : kSwizzles)
    if (row.descriptorCode == code && code >= 0)
      return row.swizzle;
  return std::nullopt;
}
/// The XOR pattern of a tensor map's swizzle.
constexpr Swizzle swizzleOf(TmaSwizzle s) {
  for (const SwizzleInfo &row : kSwizzles)
    if (row.tmaCode == int(s))
      return row.swizzle;
  return Swizzle::none;
}

/// Where the byte that would lie at `address` lies. `address` is absolute in the
/// CTA's shared memory. `baseOffset` (bits 49..51 of a descriptor) says by how many
/// lines of 128 bytes the pattern starts late.
constexpr uint32_t swizzleAddress(uint32_t address, Swizzle swizzle, int baseOffset = 0) {
  const SwizzleInfo &row = info(swizzle);
  uint32_t phase = address - (uint32_t(baseOffset) << 7);
  uint32_t result = address ^ (phase >> row.distance & row.target);
  if (swizzle == Swizzle::b128Atom32Flip8)
    result ^= (result >> 7 & 1) << 3;
  return result;
}

namespace detail {
constexpr bool swizzlesAreSound() {
  for (size_t i = 0; i < kSwizzles.size(); ++i) {
    const SwizzleInfo &row = kSwizzles[i];
    if (row.swizzle != Swizzle(i) || row.source.empty())
      return false;
    // The highest source bit decides the period; source and target do not meet.
    if (row.target && (row.target << row.distance & row.target))
      return false;
    uint32_t source = row.target << row.distance;
    if (row.target && (source >= uint32_t(row.period) || source * 2 < uint32_t(row.period)))
      return false;
    for (size_t j = 0; j < i; ++j) {
      if (row.descriptorCode >= 0 && row.descriptorCode == kSwizzles[j].descriptorCode)
        return false;
      if (row.tmaCode >= 0 && row.tmaCode == kSwizzles[j].tmaCode)
        return false;
    }
  }
  for (size_t code = 0; code < kTmaSwizzleNames.size(); ++code)
    if (name(swizzleOf(TmaSwizzle(code))) != kTmaSwizzleNames[code])
      return false;
  return true;
}
static_assert(swizzlesAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_SWIZZLE_H
