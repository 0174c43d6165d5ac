//===- Kernels.h - launchers of the kernels that are compared -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All pointers are device memory. `depth` is a multiple of 256; tokens and rows are
// any positive numbers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_Q4K_KERNELS_H
#define BLOCKSCALE_TOOLS_BENCH_Q4K_KERNELS_H

#include "Formats.h"

#include <cuda_runtime.h>

#include <array>
#include <string_view>

namespace blockscale::q4k {

/// What shared memory holds of a token's chunk: (f16 d | i16 sum) in 4 bytes, or
/// (d, d * sum) as two f32, or d as f32 beside fragments of d * sum: then the min term
/// is a product of its own.
enum class TokenTerms : uint8_t { packed, pairs, scales };

/// How an integer sum becomes f32: by a conversion, or by an accumulator that starts at
/// the bits of 1.5 * 2^23, which leaves a subtraction. Both are exact.
enum class Convert : uint8_t { instruction, offset };

struct HandwrittenForm {
  std::string_view name;
  TokenTerms terms;
  Convert convert;
};
inline constexpr std::array<HandwrittenForm, 4> kHandwrittenForms{{
    {"handwritten-packed", TokenTerms::packed, Convert::instruction},
    {"handwritten-pairs", TokenTerms::pairs, Convert::instruction},
    {"handwritten-packed-offset", TokenTerms::packed, Convert::offset},
    {"handwritten-pairs-offset", TokenTerms::pairs, Convert::offset},
}};

struct KernelUse {
  int registers, localBytes, sharedBytes, blocksPerSm;
};

cudaError_t launchHandwritten(const HandwrittenForm &form, const ActivationChunk *activations,
                              const WeightBlock *weights, float *out, Shape shape,
                              cudaStream_t stream);
cudaError_t queryHandwritten(const HandwrittenForm &form, KernelUse &use);

/// The kernel whose staging runs ahead, by the rows of a warp and how the min term is had.
enum class PipelinedForm : uint8_t { rows16, rows32, rows16Minima, rows32Minima };
inline constexpr std::array<std::string_view, 4> kPipelinedNames{
    "pipelined-16", "pipelined-32", "pipelined-16-minima", "pipelined-32-minima"};
/// With the min term apart the order of sums is another: not the contract's bits.
inline constexpr bool hasMinima(PipelinedForm form) { return form >= PipelinedForm::rows16Minima; }

/// Activations in tiles as the pipelined kernel copies them.
size_t transposedBytes(Shape shape, bool hasMinima);
cudaError_t launchTranspose(const ActivationChunk *in, uint8_t *out, Shape shape, bool hasMinima,
                            cudaStream_t stream);
cudaError_t launchPipelined(PipelinedForm form, const uint8_t *transposed,
                            const WeightBlock *weights, float *out, Shape shape,
                            cudaStream_t stream);
cudaError_t queryPipelined(PipelinedForm form, KernelUse &use);

/// Activations in tiles as the compiler's kernels take them: q8_1_tile, or with the scaled
/// sums in parts q8_1_tile_parts.
size_t tileBytes(Shape shape, bool hasParts);
cudaError_t launchTiles(const ActivationChunk *in, uint8_t *out, Shape shape, bool hasParts,
                        cudaStream_t stream);

/// Weights made f16 in registers and multiplied by wgmma with f16 activations: rows x
/// tokens of a tile, and the blocks that share the depth of one.
enum class WgmmaForm : uint8_t {
  rows256,
  rows256Split2,
  rows128,
  small16,
  small16Split4,
  small64,
  small128,
  small128Split4
};
inline constexpr std::array<std::string_view, 8> kWgmmaNames{
    "wgmma-256x128",      "wgmma-256x128-split2", "wgmma-128x256", "wgmma-64x16",
    "wgmma-64x16-split4", "wgmma-64x64",          "wgmma-64x128",  "wgmma-128x128-split4"};
/// A tensor map as a parameter.
struct alignas(64) EncodedMap {
  uint64_t words[16];
};
/// Boxes of `columns` tokens x 64 of the depth, and of one block of `rows` rows.
cudaError_t encodeTokens(EncodedMap &map, const __half *activations, Shape shape, int columns);
cudaError_t encodeBlocks(EncodedMap &map, const WeightBlock *weights, Shape shape, int rows);
cudaError_t launchWgmma(WgmmaForm form, const __half *activations, const WeightBlock *weights,
                        float *out, Shape shape, cudaStream_t stream);
cudaError_t queryWgmma(WgmmaForm form, KernelUse &use);

/// d = amax / 127 in f32, q = rint(x / d), then d is rounded to f16; a chunk of zeros
/// has d = 0. Activations are [tokens, depth].
cudaError_t launchQuantize(const float *in, ActivationChunk *out, Shape shape, cudaStream_t stream);
cudaError_t launchQuantize(const __half *in, ActivationChunk *out, Shape shape,
                           cudaStream_t stream);

/// [rows, depth] in f16, each weight rounded once from f32.
cudaError_t launchDequantize(const WeightBlock *in, __half *out, Shape shape, cudaStream_t stream);

} // namespace blockscale::q4k

#endif // BLOCKSCALE_TOOLS_BENCH_Q4K_KERNELS_H
