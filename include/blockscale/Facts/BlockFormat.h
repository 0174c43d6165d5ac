//===- BlockFormat.h - ggml's blocks: scales inside the data --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block holds its elements and everything that scales them, so a matrix is rows
// of whole blocks. Offsets are bytes of a block; how an element is found, and what
// it is worth, is said here once, for the verifier, kernels and references.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_BLOCKFORMAT_H
#define BLOCKSCALE_FACTS_BLOCKFORMAT_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::facts {

/// `q8_1_chunk` is q8_1 with the sum of the elements as an i32 in place of their
/// scaled sum as an f16: what kernels multiply with. `q8_1_tile` is 8 chunks of each of
/// 64 rows in the order of a kernel's shared memory (ActivationTile.h), with scaled sums
/// as f32; `q8_1_tile_parts` has them as three bf16. `f16` is a block of one element
/// without scales. `q4_K_plane` is the q4_K blocks of 16 rows with scales and minima as f32, in the
/// order of a kernel's shared memory (WeightPlane.h).
enum class BlockFormat : uint8_t {
  q4_K,
  q8_1,
  q8_1_chunk,
  q8_1_tile,
  q8_1_tile_parts,
  f16,
  q4_K_plane
};

struct BlockFormatInfo {
  BlockFormat format;
  std::string_view name; // as in ggml
  int bytes;             // of one block
  int elements;          // of one row of a block
  int elementOffset;     // bytes before the elements
  int rows;              // of one block
  std::string_view source;
};

inline constexpr std::array<BlockFormatInfo, 7> kBlockFormats{{
    {BlockFormat::q4_K, "q4_K", 144, 256, 16, 1, "ggml-common.h, block_q4_K; gguf 0.19.0"},
    {BlockFormat::q8_1, "q8_1", 36, 32, 4, 1, "ggml-common.h, block_q8_1"},
    {BlockFormat::q8_1_chunk, "q8_1_chunk", 40, 32, 4, 1, "minfer's prefill kernels"},
    {BlockFormat::q8_1_tile, "q8_1_tile", 20480, 256, 0, 64, "ActivationTile.h"},
    {BlockFormat::q8_1_tile_parts, "q8_1_tile_parts", 21504, 256, 0, 64, "ActivationTile.h"},
    {BlockFormat::f16, "f16", 2, 1, 0, 1, "IEEE 754 binary16; GGML_TYPE_F16"},
    {BlockFormat::q4_K_plane, "q4_K_plane", 3072, 256, 0, 16, "WeightPlane.h"},
}};
inline constexpr int kTileTokens = 64;
inline constexpr int kTileElements = 256; // of a token

constexpr const BlockFormatInfo &info(BlockFormat f) { return kBlockFormats[size_t(f)]; }
constexpr std::string_view name(BlockFormat f) { return info(f).name; }
constexpr bool isQ4K(BlockFormat f) {
  return f == BlockFormat::q4_K || f == BlockFormat::q4_K_plane;
}
constexpr bool isTile(BlockFormat f) { return info(f).rows == kTileTokens; }
/// Bytes of a matrix of [rows, k] elements: whole blocks in both directions.
constexpr int64_t matrixBytes(BlockFormat f, int64_t rows, int64_t k) {
  const BlockFormatInfo &row = info(f);
  return (rows + row.rows - 1) / row.rows * (k / row.elements * row.bytes);
}
constexpr std::optional<BlockFormat> parseBlockFormat(std::string_view text) {
  for (const BlockFormatInfo &row : kBlockFormats)
    if (row.name == text)
      return row.format;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// q4_K: f16 d, f16 dmin, 12 bytes of scales and minima, 128 bytes of nibbles
//===----------------------------------------------------------------------===//

inline constexpr int kQ4KElements = 256;
inline constexpr int kQ4KMinOffset = 2;     // f16 dmin
inline constexpr int kQ4KScalesOffset = 4;  // 8 pairs of 6 bits
inline constexpr int kQ4KSubBlocks = 8;     // of 32 elements
inline constexpr int kQ4KNibbleBytes = 128; // byte 32 p + i: elements 64 p + i and 64 p + 32 + i

/// Scale and minimum of a sub-block, both below 64.
struct Q4KScale {
  int scale, min;
  constexpr bool operator==(const Q4KScale &) const = default;
};
/// Pair `j` of the 12 bytes: element = d * scale * nibble - dmin * min.
template <typename Bytes> constexpr Q4KScale q4kScale(const Bytes &b, int j) {
  if (j < 4)
    return {b[j] & 63, b[j + 4] & 63};
  return {(b[j + 4] & 15) | (b[j - 4] >> 6) << 4, (b[j + 4] >> 4) | (b[j] >> 6) << 4};
}

/// Where element `k` (0..255) of a block lies: byte of the nibbles, and which half.
struct NibblePlace {
  int byte;
  bool high;
  constexpr bool operator==(const NibblePlace &) const = default;
};
constexpr NibblePlace q4kNibble(int k) { return {k / 64 * 32 + k % 32, k % 64 >= 32}; }

//===----------------------------------------------------------------------===//
// q8_1 and its chunk: f16 d, then 32 signed bytes
//===----------------------------------------------------------------------===//

inline constexpr int kChunkElements = 32;
inline constexpr int kQ8MaxElement = 127;  // d = amax / 127
inline constexpr int kChunkSumOffset = 36; // i32 sum of the elements

namespace detail {
constexpr bool blockFormatsAreSound() {
  for (size_t i = 0; i < kBlockFormats.size(); ++i)
    if (kBlockFormats[i].format != BlockFormat(i) || kBlockFormats[i].source.empty())
      return false;
  const BlockFormatInfo &q4 = info(BlockFormat::q4_K), &chunk = info(BlockFormat::q8_1_chunk);
  if (q4.bytes != q4.elementOffset + kQ4KNibbleBytes || q4.elements != 2 * kQ4KNibbleBytes)
    return false;
  if (chunk.bytes != kChunkSumOffset + 4 || chunk.elements != kChunkElements)
    return false;
  // A worked example (gguf 0.19.0).
  constexpr std::array<int, 12> bytes{0x83, 0x12, 0x47, 0x8a, 0x3f, 0x91,
                                      0x05, 0xc2, 0xb6, 0x7e, 0x2d, 0x59};
  constexpr std::array<Q4KScale, 8> want{
      {{3, 63}, {18, 17}, {7, 5}, {10, 2}, {38, 11}, {14, 39}, {29, 2}, {41, 53}}};
  for (int j = 0; j < kQ4KSubBlocks; ++j)
    if (q4kScale(bytes, j) != want[size_t(j)])
      return false;
  return true;
}
static_assert(blockFormatsAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_BLOCKFORMAT_H
