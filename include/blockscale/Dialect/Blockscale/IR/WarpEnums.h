//===- WarpEnums.h - vocabulary of the mma.sync kernels -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WARPENUMS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WARPENUMS_H

#include "blockscale/Facts/PlaneLayout.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale {

/// Kernels in the order in which one falls back to the next.
enum class WarpKernel : uint8_t { raw_nibble, wide, narrow };
inline constexpr std::array<std::string_view, 3> kWarpKernelNames{"raw_nibble", "wide", "narrow"};
constexpr std::string_view name(WarpKernel k) { return kWarpKernelNames[size_t(k)]; }
constexpr std::optional<WarpKernel> parseWarpKernel(std::string_view text) {
  for (size_t i = 0; i < kWarpKernelNames.size(); ++i)
    if (kWarpKernelNames[i] == text)
      return WarpKernel(i);
  return std::nullopt;
}

/// How the scale and the sum of a chunk of A lie in shared memory: f32 d and f32
/// d * sum, or f16 d and i16 sum.
enum class ChunkSums : uint8_t { two_word, packed };
constexpr std::string_view name(ChunkSums s) {
  return s == ChunkSums::two_word ? "two_word" : "packed";
}
constexpr std::optional<ChunkSums> parseChunkSums(std::string_view text) {
  if (text == "two_word")
    return ChunkSums::two_word;
  if (text == "packed")
    return ChunkSums::packed;
  return std::nullopt;
}

/// What a plane of shared memory holds: bytes of A; scale and sum of its chunks;
/// nibbles of B as in the file; bytes of B; scale and minimum of B's sub-blocks.
enum class PlaneContent : uint8_t { qa8, sda, qb_raw, qb8, sds };
inline constexpr std::array<std::string_view, 5> kPlaneContentNames{"qa8", "sda", "qb_raw", "qb8",
                                                                    "sds"};
constexpr std::string_view name(PlaneContent c) { return kPlaneContentNames[size_t(c)]; }
constexpr std::optional<PlaneContent> parsePlaneContent(std::string_view text) {
  for (size_t i = 0; i < kPlaneContentNames.size(); ++i)
    if (kPlaneContentNames[i] == text)
      return PlaneContent(i);
  return std::nullopt;
}

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WARPENUMS_H
