//===- TensorMap.h - fields and limits of TMA tensor maps -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of cuTensorMapEncodeTiled with their codes, and the limits that
// the driver enforces. Source: cuda.h of CUDA 13.5; PTX ISA 9.4, 9.7.10.28.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_TENSORMAP_H
#define BLOCKSCALE_FACTS_TENSORMAP_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace blockscale::facts {

/// Numeric values are the driver's codes.
enum class TmaType : uint8_t {
  u8 = 0, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32ftz, tf32, tf32ftz,
  u4Align8, u4Align16, u6Align16
};
enum class TmaSwizzle : uint8_t {
  none = 0, b32, b64, b128, b128Atom32, b128Atom32Flip8, b128Atom64
};
enum class TmaFill : uint8_t { zero = 0, nan };
enum class TmaL2Promotion : uint8_t { none = 0, b64, b128, b256 };

inline constexpr std::array<std::string_view, 16> kTmaTypeNames{
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16",
    "f32ftz", "tf32", "tf32ftz", "u4_align8", "u4_align16", "u6_align16"};
inline constexpr std::array<std::string_view, 7> kTmaSwizzleNames{
    "none", "b32", "b64", "b128", "b128_atom32", "b128_atom32_flip8", "b128_atom64"};
inline constexpr std::array<std::string_view, 2> kTmaFillNames{"zero", "nan"};
inline constexpr std::array<std::string_view, 4> kTmaL2PromotionNames{"none", "b64", "b128", "b256"};

namespace detail {
template <typename E, size_t N>
constexpr std::optional<E> parseName(std::string_view text, const std::array<std::string_view, N> &names) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == text)
      return E(i);
  return std::nullopt;
}
} // namespace detail

constexpr std::string_view name(TmaType v) { return kTmaTypeNames[size_t(v)]; }
constexpr std::string_view name(TmaSwizzle v) { return kTmaSwizzleNames[size_t(v)]; }
constexpr std::string_view name(TmaFill v) { return kTmaFillNames[size_t(v)]; }
constexpr std::string_view name(TmaL2Promotion v) { return kTmaL2PromotionNames[size_t(v)]; }
constexpr std::optional<TmaType> parseTmaType(std::string_view t) { return detail::parseName<TmaType>(t, kTmaTypeNames); }
constexpr std::optional<TmaSwizzle> parseTmaSwizzle(std::string_view t) { return detail::parseName<TmaSwizzle>(t, kTmaSwizzleNames); }
constexpr std::optional<TmaFill> parseTmaFill(std::string_view t) { return detail::parseName<TmaFill>(t, kTmaFillNames); }
constexpr std::optional<TmaL2Promotion> parseTmaL2Promotion(std::string_view t) { return detail::parseName<TmaL2Promotion>(t, kTmaL2PromotionNames); }

/// One tensor map, dimension 0 innermost.
struct TensorMap {
  TmaType type = TmaType::u8;
  uint64_t address = 0;           // of the tensor, on the device
  std::vector<uint64_t> dims;     // elements, rank 1..5
  std::vector<uint64_t> strides;  // bytes, of dimensions 1.. (rank - 1 of them)
  std::vector<uint32_t> box;      // elements
  std::vector<uint32_t> elementStrides; // empty: all 1
  TmaSwizzle swizzle = TmaSwizzle::none;
  TmaFill fill = TmaFill::zero;
  TmaL2Promotion l2 = TmaL2Promotion::none;
};

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_TENSORMAP_H
