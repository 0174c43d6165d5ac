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

#include "blockscale/Facts/Arch.h"
#include "blockscale/Facts/Result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace blockscale::facts {

/// Numeric values are the driver's codes.
enum class TmaType : uint8_t {
  u8 = 0,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32ftz,
  tf32,
  tf32ftz,
  u4Align8,
  u4Align16,
  u6Align16
};
enum class TmaSwizzle : uint8_t {
  none = 0,
  b32,
  b64,
  b128,
  b128Atom32,
  b128Atom32Flip8,
  b128Atom64
};
enum class TmaFill : uint8_t { zero = 0, nan };
enum class TmaL2Promotion : uint8_t { none = 0, b64, b128, b256 };

inline constexpr std::array<std::string_view, 16> kTmaTypeNames{
    "u8",  "u16",  "u32",    "s32",  "u64",     "s64",       "f16",        "f32",
    "f64", "bf16", "f32ftz", "tf32", "tf32ftz", "u4_align8", "u4_align16", "u6_align16"};
inline constexpr std::array<std::string_view, 7> kTmaSwizzleNames{
    "none", "b32", "b64", "b128", "b128_atom32", "b128_atom32_flip8", "b128_atom64"};
inline constexpr std::array<std::string_view, 2> kTmaFillNames{"zero", "nan"};
inline constexpr std::array<std::string_view, 4> kTmaL2PromotionNames{"none", "b64", "b128",
                                                                      "b256"};

namespace detail {
template <typename E, size_t N>
constexpr std::optional<E> parseName(std::string_view text,
                                     const std::array<std::string_view, N> &names) {
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
constexpr std::optional<TmaType> parseTmaType(std::string_view t) {
  return detail::parseName<TmaType>(t, kTmaTypeNames);
}
constexpr std::optional<TmaSwizzle> parseTmaSwizzle(std::string_view t) {
  return detail::parseName<TmaSwizzle>(t, kTmaSwizzleNames);
}
constexpr std::optional<TmaFill> parseTmaFill(std::string_view t) {
  return detail::parseName<TmaFill>(t, kTmaFillNames);
}
constexpr std::optional<TmaL2Promotion> parseTmaL2Promotion(std::string_view t) {
  return detail::parseName<TmaL2Promotion>(t, kTmaL2PromotionNames);
}

/// What the driver's data types are. `packed` types hold 16 elements in
/// `globalBytes16` bytes of the tensor and `sharedBytes16` bytes of shared memory.
struct TmaTypeInfo {
  TmaType type;
  int bits;
  bool isFloat;
  int globalBytes16, sharedBytes16;
  int alignment; // of base and strides, bytes
  int boxStep;   // box[0] must be a multiple of it, elements
  int dimStep;   // size[0] must be a multiple of it, elements
  std::string_view source;
};

// clang-format off
inline constexpr std::array<TmaTypeInfo, 16> kTmaTypes{{
    {TmaType::u8,        8,  false, 16,  16,  16, 1,   1,   "cuda.h 13.5"},
    {TmaType::u16,       16, false, 32,  32,  16, 1,   1,   "cuda.h 13.5"},
    {TmaType::u32,       32, false, 64,  64,  16, 1,   1,   "cuda.h 13.5"},
    {TmaType::s32,       32, false, 64,  64,  16, 1,   1,   "cuda.h 13.5"},
    {TmaType::u64,       64, false, 128, 128, 16, 1,   1,   "cuda.h 13.5"},
    {TmaType::s64,       64, false, 128, 128, 16, 1,   1,   "cuda.h 13.5"},
    {TmaType::f16,       16, true,  32,  32,  16, 1,   1,   "cuda.h 13.5"},
    {TmaType::f32,       32, true,  64,  64,  16, 1,   1,   "cuda.h 13.5"},
    {TmaType::f64,       64, true,  128, 128, 16, 1,   1,   "cuda.h 13.5"},
    {TmaType::bf16,      16, true,  32,  32,  16, 1,   1,   "cuda.h 13.5"},
    {TmaType::f32ftz,    32, true,  64,  64,  16, 1,   1,   "cuda.h 13.5"},
    {TmaType::tf32,      32, true,  64,  64,  16, 1,   1,   "cuda.h 13.5"},
    {TmaType::tf32ftz,   32, true,  64,  64,  16, 1,   1,   "cuda.h 13.5"},
    {TmaType::u4Align8,  4,  false, 8,   8,   16, 32,  2,   "cuda.h 13.5; PTX ISA 9.4, 5.5"},
    {TmaType::u4Align16, 4,  false, 8,   16,  32, 128, 128, "cuda.h 13.5; PTX ISA 9.4, 5.5"},
    {TmaType::u6Align16, 6,  false, 12,  16,  32, 128, 128, "cuda.h 13.5; PTX ISA 9.4, 5.5"},
}};
// clang-format on

constexpr const TmaTypeInfo &info(TmaType t) { return kTmaTypes[size_t(t)]; }
constexpr bool isSubByte(TmaType t) { return info(t).bits < 8; }

/// Limits of a tiled map (cuda.h 13.5, cuTensorMapEncodeTiled).
inline constexpr int kTmaMaxRank = 5;
inline constexpr uint64_t kTmaMaxDim = uint64_t(1) << 31;
inline constexpr uint64_t kTmaStrideLimit = uint64_t(1) << 40;
inline constexpr uint32_t kTmaMaxBox = 256;
inline constexpr uint32_t kTmaMaxElementStride = 8;
inline constexpr uint32_t kTmaRowStep = 16;          // box[0] bytes, and coordinate 0 in bytes
inline constexpr uint32_t kTmaPaddedBox = 128;       // box[0] of the ALIGN16B types, exactly
inline constexpr uint32_t kTmaSharedAlignment = 128; // of every destination and source
inline constexpr uint32_t kTmaMapAlignment = 64;     // of the map object
inline constexpr uint32_t kTmaMapBytes = 128;

/// Fields of tensormap.replace whose value is a code, and the last one (ptxas 13.5). The
/// last swizzle is the one of 96 bytes.
struct TmaReplaceCode {
  std::string_view field;
  int last;
};
inline constexpr TmaReplaceCode kTmaReplaceCodes[] = {{"elemtype", 15},
                                                      {"interleave_layout", 2},
                                                      {"swizzle_mode", 4},
                                                      {"swizzle_atomicity", 3},
                                                      {"fill_mode", 1}};
inline constexpr int kTmaStoreGranule = 16; // a store writes whole granules (H200)
/// Chips that store 6-bit types (b6p2x16); the padded 4-bit type is loaded only (cuda.h
/// 13.5; PTX ISA 9.4, 9.7.10.28).
inline constexpr ArchSet kTmaPaddedStores{Arch::sm_103a, Arch::sm_107f};
/// A copy through a map with a pitch may fault in an allocation smaller than this
/// (release notes of the driver, 595.71).
inline constexpr uint64_t kTmaWindow = 128 * 1024;

namespace detail {
constexpr bool tmaTypesAreSound() {
  for (size_t i = 0; i < kTmaTypes.size(); ++i) {
    const TmaTypeInfo &row = kTmaTypes[i];
    if (row.type != TmaType(i) || row.globalBytes16 != row.bits * 2 || row.source.empty())
      return false;
    if (row.sharedBytes16 < row.globalBytes16)
      return false;
  }
  return true;
}
static_assert(tmaTypesAreSound());
} // namespace detail

/// Bytes of one box row of `box0` elements, in the tensor and in shared memory.
constexpr int64_t tmaGlobalRowBytes(TmaType t, int64_t box0) {
  return box0 * info(t).globalBytes16 / 16;
}
constexpr int64_t tmaSharedRowBytes(TmaType t, int64_t box0) {
  return box0 * info(t).sharedBytes16 / 16;
}

/// The smallest pitch that a map takes for rows of `rowBytes`; a tensor whose pitch is
/// no multiple of the alignment must be copied to this one first.
constexpr int64_t tmaTensorPitch(TmaType t, int64_t rowBytes) {
  int64_t step = info(t).alignment;
  return (rowBytes + step - 1) / step * step;
}
constexpr bool isTmaPitch(TmaType t, int64_t pitch) { return pitch % info(t).alignment == 0; }
/// Whether a store through a map writes nothing beyond rows of `rowBytes`: stores
/// write whole granules, so a ragged row needs plain stores.
constexpr bool tmaStoreIsExact(int64_t rowBytes) { return rowBytes % kTmaStoreGranule == 0; }

/// One tensor map, dimension 0 innermost.
struct TensorMap {
  TmaType type = TmaType::u8;
  uint64_t address = 0;                 // of the tensor, on the device
  std::vector<uint64_t> dims;           // elements, rank 1..5
  std::vector<uint64_t> strides;        // bytes, of dimensions 1.. (rank - 1 of them)
  std::vector<uint32_t> box;            // elements
  std::vector<uint32_t> elementStrides; // empty: all 1
  TmaSwizzle swizzle = TmaSwizzle::none;
  TmaFill fill = TmaFill::zero;
  TmaL2Promotion l2 = TmaL2Promotion::none;
};

/// Refuses what the driver would refuse to encode for the chip (tensor_map_c1 ...).
Result<bool> checkTensorMap(Arch arch, const TensorMap &map);

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_TENSORMAP_H
