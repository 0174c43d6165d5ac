//===- KernelEnums.h - roles of warps and contents of shared memory -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vocabulary of the kernel level. Plain enums like those of Facts, so that
// attributes print and parse them by the names in these tables.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_KERNELENUMS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_KERNELENUMS_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale {

/// Columns of a product that are gates before as many that they gate follow.
inline constexpr int64_t kGateInterleave = 64;

/// What a group of warps does.
enum class WarpRole : uint8_t { tma, mma, epilogue, tma_scales };
inline constexpr std::array<std::string_view, 4> kWarpRoleNames{"tma", "mma", "epilogue",
                                                                "tma_scales"};
constexpr std::string_view name(WarpRole r) { return kWarpRoleNames[size_t(r)]; }
constexpr std::optional<WarpRole> parseWarpRole(std::string_view text) {
  for (size_t i = 0; i < kWarpRoleNames.size(); ++i)
    if (kWarpRoleNames[i] == text)
      return WarpRole(i);
  return std::nullopt;
}

/// What a shared-memory buffer holds. `scales_tiled` is 512-byte tiles of 128
/// rows x 4 scales, which tcgen05.cp reads; `scales_linear` is row-major.
enum class SharedContent : uint8_t { a, b, scales_tiled, scales_linear, staging };
inline constexpr std::array<std::string_view, 5> kSharedContentNames{"a", "b", "scales_tiled",
                                                                     "scales_linear", "staging"};
constexpr std::string_view name(SharedContent c) { return kSharedContentNames[size_t(c)]; }
constexpr std::optional<SharedContent> parseSharedContent(std::string_view text) {
  for (size_t i = 0; i < kSharedContentNames.size(); ++i)
    if (kSharedContentNames[i] == text)
      return SharedContent(i);
  return std::nullopt;
}

/// Which scale columns of a tensor-memory plan.
enum class ScaleOperand : uint8_t { sfa, sfb };
constexpr std::string_view name(ScaleOperand s) { return s == ScaleOperand::sfa ? "sfa" : "sfb"; }
constexpr std::optional<ScaleOperand> parseScaleOperand(std::string_view text) {
  if (text == "sfa")
    return ScaleOperand::sfa;
  if (text == "sfb")
    return ScaleOperand::sfb;
  return std::nullopt;
}

/// What a kernel loads.
enum class ProblemOperand : uint8_t { a, b, sfa, sfb };
inline constexpr std::array<std::string_view, 4> kProblemOperandNames{"a", "b", "sfa", "sfb"};
constexpr std::string_view name(ProblemOperand o) { return kProblemOperandNames[size_t(o)]; }
constexpr std::optional<ProblemOperand> parseProblemOperand(std::string_view text) {
  for (size_t i = 0; i < kProblemOperandNames.size(); ++i)
    if (kProblemOperandNames[i] == text)
      return ProblemOperand(i);
  return std::nullopt;
}

/// What a product does with an operand's collector buffer.
enum class CollectorUse : uint8_t { fill, lastuse };
constexpr std::string_view name(CollectorUse u) {
  return u == CollectorUse::fill ? "fill" : "lastuse";
}
constexpr std::optional<CollectorUse> parseCollectorUse(std::string_view text) {
  if (text == "fill")
    return CollectorUse::fill;
  if (text == "lastuse")
    return CollectorUse::lastuse;
  return std::nullopt;
}

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_KERNELENUMS_H
