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

/// How A lies in memory: chunks as rows of a matrix have them, or tiles in the order of
/// shared memory (Facts/ActivationTile.h).
enum class Activations : uint8_t { chunks, transposed };
constexpr std::string_view name(Activations a) {
  return a == Activations::chunks ? "chunks" : "transposed";
}
constexpr std::optional<Activations> parseActivations(std::string_view text) {
  if (text == "chunks")
    return Activations::chunks;
  if (text == "transposed")
    return Activations::transposed;
  return std::nullopt;
}

/// How the minima are subtracted: an fma behind each chunk's first term, or a product of
/// their own of the eight chunks of a pass.
enum class Minima : uint8_t { fold, mma };
constexpr std::string_view name(Minima m) { return m == Minima::fold ? "fold" : "mma"; }
constexpr std::optional<Minima> parseMinima(std::string_view text) {
  if (text == "fold")
    return Minima::fold;
  if (text == "mma")
    return Minima::mma;
  return std::nullopt;
}

/// How an s32 sum becomes f32: an offset that the mma starts from and a subtraction takes
/// away, or cvt.rn.f32.s32. Both are exact.
enum class SumConversion : uint8_t { offset, cvt };
constexpr std::string_view name(SumConversion c) {
  return c == SumConversion::offset ? "offset" : "cvt";
}
constexpr std::optional<SumConversion> parseSumConversion(std::string_view text) {
  if (text == "offset")
    return SumConversion::offset;
  if (text == "cvt")
    return SumConversion::cvt;
  return std::nullopt;
}

/// How B lies in memory: blocks as files have them, or with decoded scales in the order of shared
/// memory (Facts/WeightPlane.h).
enum class Weights : uint8_t { blocks, plane };
constexpr std::string_view name(Weights w) { return w == Weights::blocks ? "blocks" : "plane"; }
constexpr std::optional<Weights> parseWeights(std::string_view text) {
  if (text == "blocks")
    return Weights::blocks;
  if (text == "plane")
    return Weights::plane;
  return std::nullopt;
}

/// What ptxas is told about a kernel in a `.pragma`.
enum class Pragma : uint8_t { none, mma_throughput };
constexpr std::string_view name(Pragma p) { return p == Pragma::none ? "none" : "mma_throughput"; }
constexpr std::optional<Pragma> parsePragma(std::string_view text) {
  if (text == "none")
    return Pragma::none;
  if (text == "mma_throughput")
    return Pragma::mma_throughput;
  return std::nullopt;
}

/// What a product of blocks may round: each term in the order that is written, so that the
/// bits are specified; any order whose error stays inside the bound of check_block_gemm;
/// f16 activations with weights rounded to f16; or any of the last two.
enum class BlockContract : uint8_t { ordered, bounded, halves, any };
inline constexpr std::array<std::string_view, 4> kBlockContractNames{"ordered", "bounded", "halves",
                                                                     "any"};
constexpr std::string_view name(BlockContract c) { return kBlockContractNames[size_t(c)]; }
constexpr std::optional<BlockContract> parseBlockContract(std::string_view text) {
  for (size_t i = 0; i < kBlockContractNames.size(); ++i)
    if (kBlockContractNames[i] == text)
      return BlockContract(i);
  return std::nullopt;
}
constexpr bool mayReorder(BlockContract c) {
  return c == BlockContract::bounded || c == BlockContract::any;
}
constexpr bool mayBeHalves(BlockContract c) {
  return c == BlockContract::halves || c == BlockContract::any;
}

/// How a kernel that quantises makes factors of scales.
enum class QuantizeSequence : uint8_t { divide, integer, reciprocal, scaled, remainder };
inline constexpr std::array<std::string_view, 5> kQuantizeSequenceNames{
    "divide", "integer", "reciprocal", "scaled", "remainder"};
constexpr std::string_view name(QuantizeSequence s) { return kQuantizeSequenceNames[size_t(s)]; }
constexpr std::optional<QuantizeSequence> parseQuantizeSequence(std::string_view text) {
  for (size_t i = 0; i < kQuantizeSequenceNames.size(); ++i)
    if (kQuantizeSequenceNames[i] == text)
      return QuantizeSequence(i);
  return std::nullopt;
}

/// Where a kernel that quantises has the scale of the whole matrix from.
enum class GlobalScale : uint8_t { none, given, computed };
inline constexpr std::array<std::string_view, 3> kGlobalScaleNames{"none", "given", "computed"};
constexpr std::string_view name(GlobalScale s) { return kGlobalScaleNames[size_t(s)]; }
constexpr std::optional<GlobalScale> parseGlobalScale(std::string_view text) {
  for (size_t i = 0; i < kGlobalScaleNames.size(); ++i)
    if (kGlobalScaleNames[i] == text)
      return GlobalScale(i);
  return std::nullopt;
}

/// What a plane of shared memory holds: bytes of A; scale and sum of its chunks;
/// nibbles of B as in the file; bytes of B; scale and minimum of B's sub-blocks. Where the
/// minima are a product of their own, `sda` and `sds` are scales alone, and there are the
/// parts of A's scaled sums, the minima themselves as bf16, and -dmin of each row.
enum class PlaneContent : uint8_t { qa8, sda, sum_parts, qb_raw, qb8, sds, minima, dmin };
inline constexpr std::array<std::string_view, 8> kPlaneContentNames{
    "qa8", "sda", "sum_parts", "qb_raw", "qb8", "sds", "minima", "dmin"};
constexpr std::string_view name(PlaneContent c) { return kPlaneContentNames[size_t(c)]; }
constexpr std::optional<PlaneContent> parsePlaneContent(std::string_view text) {
  for (size_t i = 0; i < kPlaneContentNames.size(); ++i)
    if (kPlaneContentNames[i] == text)
      return PlaneContent(i);
  return std::nullopt;
}

/// What the stages of a ring hold: blocks of q4_K; pairs (scale, -min) in f16; activations.
enum class RingContent : uint8_t { blocks, terms, tokens };
inline constexpr std::array<std::string_view, 3> kRingContentNames{"blocks", "terms", "tokens"};
constexpr std::string_view name(RingContent c) { return kRingContentNames[size_t(c)]; }
constexpr std::optional<RingContent> parseRingContent(std::string_view text) {
  for (size_t i = 0; i < kRingContentNames.size(); ++i)
    if (kRingContentNames[i] == text)
      return RingContent(i);
  return std::nullopt;
}

/// What the warps of a wgmma kernel do.
enum class WgmmaRole : uint8_t { copy_tokens, copy_blocks, convert, multiply };
inline constexpr std::array<std::string_view, 4> kWgmmaRoleNames{"copy_tokens", "copy_blocks",
                                                                 "convert", "multiply"};
constexpr std::string_view name(WgmmaRole r) { return kWgmmaRoleNames[size_t(r)]; }
constexpr std::optional<WgmmaRole> parseWgmmaRole(std::string_view text) {
  for (size_t i = 0; i < kWgmmaRoleNames.size(); ++i)
    if (kWgmmaRoleNames[i] == text)
      return WgmmaRole(i);
  return std::nullopt;
}

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WARPENUMS_H
