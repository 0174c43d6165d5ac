//===- GgufTypes.h - types of tensors and metadata in GGUF files ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Codes and block sizes: PyPI gguf 0.19.0 (GGMLQuantizationType, GGML_QUANT_SIZES,
// GGUFValueType) and ggml's docs/gguf.md. Every code has a name, so that a type that
// is not read is refused by it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_GGUFTYPES_H
#define BLOCKSCALE_FACTS_GGUFTYPES_H

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace blockscale::facts {

/// What becomes of a tensor's bytes.
enum class GgufUse : uint8_t {
  plain,   // numbers, as they are
  blocks,  // blocks, as they are
  mxfp4,   // elements and scales are taken apart
  nvfp4,   // likewise
  refused, // by name
};

struct GgufType {
  uint32_t code;
  std::string_view name;
  unsigned elements, bytes; // of a block
  GgufUse use;
};

inline constexpr std::array<GgufType, 34> kGgufTypes{{
    {0, "F32", 1, 4, GgufUse::plain},
    {1, "F16", 1, 2, GgufUse::plain},
    {2, "Q4_0", 32, 18, GgufUse::refused},
    {3, "Q4_1", 32, 20, GgufUse::refused},
    {6, "Q5_0", 32, 22, GgufUse::refused},
    {7, "Q5_1", 32, 24, GgufUse::refused},
    {8, "Q8_0", 32, 34, GgufUse::refused},
    {9, "Q8_1", 32, 36, GgufUse::refused}, // the package's 40 is stale
    {10, "Q2_K", 256, 84, GgufUse::refused},
    {11, "Q3_K", 256, 110, GgufUse::refused},
    {12, "Q4_K", 256, 144, GgufUse::blocks},
    {13, "Q5_K", 256, 176, GgufUse::refused},
    {14, "Q6_K", 256, 210, GgufUse::refused},
    {15, "Q8_K", 256, 292, GgufUse::refused},
    {16, "IQ2_XXS", 256, 66, GgufUse::refused},
    {17, "IQ2_XS", 256, 74, GgufUse::refused},
    {18, "IQ3_XXS", 256, 98, GgufUse::refused},
    {19, "IQ1_S", 256, 50, GgufUse::refused},
    {20, "IQ4_NL", 32, 18, GgufUse::refused},
    {21, "IQ3_S", 256, 110, GgufUse::refused},
    {22, "IQ2_S", 256, 82, GgufUse::refused},
    {23, "IQ4_XS", 256, 136, GgufUse::refused},
    {24, "I8", 1, 1, GgufUse::plain},
    {25, "I16", 1, 2, GgufUse::refused},
    {26, "I32", 1, 4, GgufUse::plain},
    {27, "I64", 1, 8, GgufUse::plain},
    {28, "F64", 1, 8, GgufUse::plain},
    {29, "IQ1_M", 256, 56, GgufUse::refused},
    {30, "BF16", 1, 2, GgufUse::plain},
    {34, "TQ1_0", 256, 54, GgufUse::refused},
    {35, "TQ2_0", 256, 66, GgufUse::refused},
    {39, "MXFP4", 32, 17, GgufUse::mxfp4},
    {40, "NVFP4", 64, 36, GgufUse::nvfp4},
    {41, "Q1_0", 128, 18, GgufUse::refused},
}};

/// Null for a code that no type has.
constexpr const GgufType *findGgufType(uint32_t code) {
  for (const GgufType &row : kGgufTypes)
    if (row.code == code)
      return &row;
  return nullptr;
}

/// Types of metadata values; those of a fixed size have it as their number of bytes.
enum class GgufValue : uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64
};
inline constexpr std::array<unsigned, 13> kGgufValueBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

inline constexpr std::string_view kGgufMagic = "GGUF";
inline constexpr uint32_t kGgufOldest = 2, kGgufNewest = 3; // versions
inline constexpr uint32_t kGgufAlignment = 32;              // unless general.alignment says another
inline constexpr uint32_t kGgufMaxRank = 4;
inline constexpr uint64_t kGgufMaxName = 65535; // of a key or a tensor

//===----------------------------------------------------------------------===//
// FP4 blocks: nibbles of a group are in split halves, low ones first
//===----------------------------------------------------------------------===//

struct GgufFp4 {
  unsigned scaleBytes; // before the nibbles, one for each group
  unsigned group;      // elements; byte i of it holds elements i (low) and group / 2 + i
};
inline constexpr GgufFp4 kGgufMxfp4{1, 32}, kGgufNvfp4{4, 16};

/// ggml reads this byte of UE4M3 as zero, where the format has its NaN.
inline constexpr uint8_t kGgufNvfp4Zero = 0x7F;

namespace detail {
constexpr bool ggufTypesAreSound() {
  for (size_t i = 0; i < kGgufTypes.size(); ++i) {
    const GgufType &row = kGgufTypes[i];
    if (i && row.code <= kGgufTypes[i - 1].code)
      return false;
    bool isPlain = row.elements == 1;
    if (row.use == GgufUse::plain && !isPlain)
      return false;
  }
  for (auto [code, fp4] : {std::pair(39u, kGgufMxfp4), std::pair(40u, kGgufNvfp4)}) {
    const GgufType *row = findGgufType(code);
    if (row->bytes != fp4.scaleBytes + row->elements / 2 ||
        row->elements != fp4.scaleBytes * fp4.group)
      return false;
  }
  return !findGgufType(4) && findGgufType(12)->bytes == 144;
}
static_assert(ggufTypesAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_GGUFTYPES_H
