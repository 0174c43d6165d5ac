//===- Fp8Avx512.h - what the AVX-512 code of mxf8f6f4 shares -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included by files compiled for AVX-512 alone, and no function of it leaves them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8AVX512_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8AVX512_H

#include "Fp8Tile.h"

#include <immintrin.h>

namespace blockscale::emu::fp8 {

/// Decodes both operands of the tile.
void decodeAvx512(const Tile &tile, Workspace &work);

namespace {

inline __m512i load(const void *p) { return _mm512_load_si512(p); }
inline __m512i splat(int32_t v) { return _mm512_set1_epi32(v); }
inline __m512i widen(__m128i bytes) { return _mm512_cvtepi8_epi32(bytes); }
inline __m512 power(__m512i exponent) { // 2^exponent of normal floats
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(exponent, splat(127)), 23));
}

} // namespace
} // namespace blockscale::emu::fp8

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8AVX512_H
