//===- WgmmaDesc.h - the shared-memory descriptor of sm_90 ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an operand of wgmma lies and how it is swizzled; addresses follow
// LayoutsSmem.h, as an H200 confirmed. Source: PTX ISA 9.4, 9.7.16.5.1.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_WGMMADESC_H
#define BLOCKSCALE_FACTS_WGMMADESC_H

#include "blockscale/Facts/SmemDesc.h"

#include <optional>

namespace blockscale::facts {

struct WgmmaDescField {
  std::string_view name;
  int low, bits;
  int unit; // bytes of one step; 1 for codes
};

inline constexpr WgmmaDescField kWgmmaStart{"start address", 0, 14, 16};
inline constexpr WgmmaDescField kWgmmaLeading{"leading offset", 16, 14, 16};
inline constexpr WgmmaDescField kWgmmaStride{"stride offset", 32, 14, 16};
inline constexpr WgmmaDescField kWgmmaBase{"base offset", 49, 3, 1};
inline constexpr WgmmaDescField kWgmmaSwizzle{"swizzle", 62, 2, 1};

constexpr uint64_t wgmmaMask(const WgmmaDescField &f) {
  return ((uint64_t(1) << f.bits) - 1) << f.low;
}
inline constexpr uint64_t kWgmmaDescBits = wgmmaMask(kWgmmaStart) | wgmmaMask(kWgmmaLeading) |
                                           wgmmaMask(kWgmmaStride) | wgmmaMask(kWgmmaBase) |
                                           wgmmaMask(kWgmmaSwizzle);

/// Swizzles by their code.
inline constexpr std::array<Swizzle, 4> kWgmmaSwizzles{Swizzle::none, Swizzle::b128, Swizzle::b64,
                                                       Swizzle::b32};

constexpr uint32_t get(const WgmmaDescField &f, uint64_t word) {
  return uint32_t((word & wgmmaMask(f)) >> f.low) * uint32_t(f.unit);
}

/// The fields of a word; nothing where reserved bits are set.
constexpr std::optional<SmemDesc> decodeWgmmaDesc(uint64_t word) {
  if (word & ~kWgmmaDescBits)
    return std::nullopt;
  SmemDesc desc;
  desc.start = get(kWgmmaStart, word);
  desc.leadingBytes = get(kWgmmaLeading, word);
  desc.strideBytes = get(kWgmmaStride, word);
  desc.baseOffset = int(get(kWgmmaBase, word));
  desc.swizzle = kWgmmaSwizzles[get(kWgmmaSwizzle, word)];
  return desc;
}

/// The word of a matrix at address 0; an address is added to its field.
constexpr uint64_t encodeWgmmaDesc(uint32_t leadingBytes, uint32_t strideBytes, Swizzle swizzle) {
  uint64_t code = 0;
  while (kWgmmaSwizzles[code] != swizzle)
    ++code;
  return uint64_t(leadingBytes / kWgmmaLeading.unit) << kWgmmaLeading.low |
         uint64_t(strideBytes / kWgmmaStride.unit) << kWgmmaStride.low | code << kWgmmaSwizzle.low;
}
static_assert(decodeWgmmaDesc(encodeWgmmaDesc(16, 1024, Swizzle::b128))->strideBytes == 1024);

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_WGMMADESC_H
