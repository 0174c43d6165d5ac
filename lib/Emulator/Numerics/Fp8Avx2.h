//===- Fp8Avx2.h - what the AVX2 code of mxf8f6f4 shares ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included by files compiled for AVX2 alone, and no function of it leaves them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8AVX2_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8AVX2_H

#include "Fp8Tile.h"

#include <immintrin.h>

namespace blockscale::emu::fp8 {

/// Decodes both operands of the tile.
void decodeAvx2(const Tile &tile, Workspace &work);

namespace {

constexpr int kHalf = 8; // lanes of a vector

inline __m256i load(const void *p) { return _mm256_load_si256((const __m256i *)p); }
inline void store(void *p, __m256i v) { _mm256_store_si256((__m256i *)p, v); }
inline __m256i splat(int32_t v) { return _mm256_set1_epi32(v); }
inline __m256i bitsOf(__m256 v) { return _mm256_castps_si256(v); }
inline __m256 floats(__m256i v) { return _mm256_castsi256_ps(v); }
inline __m128i lower(__m256i v) { return _mm256_castsi256_si128(v); }
inline __m128i upper(__m256i v) { return _mm256_extracti128_si256(v, 1); }
inline int minOf(int a, int b) { return a < b ? a : b; }
inline int maxOf(int a, int b) { return a > b ? a : b; }
inline __m256 power(__m256i exponent) { // 2^exponent of normal floats
  return floats(_mm256_slli_epi32(_mm256_add_epi32(exponent, splat(127)), 23));
}

} // namespace
} // namespace blockscale::emu::fp8

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8AVX2_H
