//===- Fp8Avx512Decode.cpp - operands of mxf8f6f4 with AVX-512 ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements as floats, as exponents and, those near their block's largest one, as
// integers: everything that the sums read many times.
//
//===----------------------------------------------------------------------===//

#include "Fp8Avx512.h"
#include "Fp8Exceptions.h"

using namespace blockscale::emu::fp8;

namespace {

inline int minOf(int a, int b) { return a < b ? a : b; }
inline int maxOf(int a, int b) { return a > b ? a : b; }

/// Sixteen elements as floats: through half, whose exponent field holds all.
inline __m512 valuesOf(const Element &e, __m128i codes) {
  __m256i wide = _mm256_cvtepu8_epi16(codes);
  __m256i magnitude =
      _mm256_slli_epi16(_mm256_and_si256(wide, _mm256_set1_epi16(0x7F)), 10 - e.mantissaBits);
  __m256i sign = _mm256_slli_epi16(_mm256_and_si256(wide, _mm256_set1_epi16(0x80)), 8);
  __m512 half = _mm512_cvtph_ps(_mm256_or_si256(magnitude, sign));
  return _mm512_mul_ps(half, power(splat(15 - e.bias)));
}

/// Exponents that the fields name; kZeroElement for zero.
inline __m128i exponentsOf(const Element &e, __m128i codes) {
  __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi8(0x7F));
  __m128i field = _mm_and_si128(_mm_srli_epi16(magnitude, e.mantissaBits),
                                _mm_set1_epi8(char(0x7F >> e.mantissaBits)));
  __m128i exponent =
      _mm_sub_epi8(_mm_max_epi8(field, _mm_set1_epi8(1)), _mm_set1_epi8(char(e.bias)));
  return _mm_mask_mov_epi8(_mm_set1_epi8(kZeroElement), _mm_test_epi8_mask(magnitude, magnitude),
                           exponent);
}

inline __mmask16 nansOf(const Element &e, __m128i codes) {
  __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi8(0x7F));
  return e.firstNan > 0x7F ? 0 : _mm_cmpge_epu8_mask(magnitude, _mm_set1_epi8(char(e.firstNan)));
}
inline __mmask16 infinitiesOf(const Element &e, __m128i codes) {
  __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi8(0x7F));
  return e.infinity < 0 ? 0 : _mm_cmpeq_epi8_mask(magnitude, _mm_set1_epi8(char(e.infinity)));
}

/// Minus the exponent, or kZeroElement for a zero element.
inline __m128i negated(__m128i exponent) {
  __mmask16 nonzero = _mm_cmpneq_epi8_mask(exponent, _mm_set1_epi8(kZeroElement));
  return _mm_mask_sub_epi8(exponent, nonzero, _mm_setzero_si128(), exponent);
}

inline int highest(__m128i bytes) {
  bytes = _mm_max_epi8(bytes, _mm_srli_si128(bytes, 8));
  bytes = _mm_max_epi8(bytes, _mm_srli_si128(bytes, 4));
  bytes = _mm_max_epi8(bytes, _mm_srli_si128(bytes, 2));
  bytes = _mm_max_epi8(bytes, _mm_srli_si128(bytes, 1));
  return int(int8_t(_mm_cvtsi128_si32(bytes)));
}

void decodeA(const Tile &t, RowA &row, const uint8_t *codes, const uint8_t *scales) {
  row.shortcut = true;
  row.isNan = row.hasInfinity = false;
  for (int block = 0; block < t.k / kBlock; ++block) {
    __m128i code[2], exponent[2];
    __m512 value[2];
    for (int h = 0; h < 2; ++h) {
      int k = block * kBlock + h * kLanes;
      code[h] = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(codes + k)),
                              _mm_set1_epi8(char(t.flipA)));
      exponent[h] = exponentsOf(t.elementA, code[h]);
      value[h] = valuesOf(t.elementA, code[h]);
      // The byte in all four places.
      __m512i spread = _mm512_mullo_epi32(_mm512_cvtepu8_epi32(exponent[h]), splat(0x01010101));
      _mm512_store_si512(row.exponent + k, spread);
      _mm512_store_ps(row.value + k, value[h]);
      row.isNan |= nansOf(t.elementA, code[h]) != 0;
      row.hasInfinity |= infinitiesOf(t.elementA, code[h]) != 0;
    }
    uint8_t scale = scales[block];
    row.isNan |= scale == 0xFF;
    row.scale[block] = int(scale) - 127;
    int top = highest(_mm_max_epi8(exponent[0], exponent[1]));
    int least = -highest(_mm_max_epi8(negated(exponent[0]), negated(exponent[1])));
    int lowest = maxOf(top - kFixedBinades, least);
    row.unit[block] = lowest - t.elementA.mantissaBits + row.scale[block];
    uint32_t odd = 0;
    __m512 toUnits = power(splat(t.elementA.mantissaBits - lowest));
    for (int h = 0; h < 2; ++h) {
      int k = block * kBlock + h * kLanes;
      __mmask16 nonzero = _mm_cmpneq_epi8_mask(exponent[h], _mm_set1_epi8(kZeroElement));
      __mmask16 regular =
          _mm_mask_cmpge_epi8_mask(nonzero, exponent[h], _mm_set1_epi8(char(lowest)));
      odd |= uint32_t(nonzero & ~regular) << (16 * h);
      __m512 kept = _mm512_maskz_mov_ps(regular, value[h]);
      _mm512_store_ps(row.regular + k, kept);
      _mm256_store_si256((__m256i *)(row.fixed + k),
                         _mm512_cvtepi32_epi16(_mm512_cvttps_epi32(_mm512_mul_ps(kept, toUnits))));
    }
    keepExceptions(row, block, odd);
  }
  row.shortcut &= !row.isNan && !row.hasInfinity;
}

/// Sixteen rows of sixteen bytes, transposed in place.
inline void transpose(__m128i (&x)[16]) {
  for (int round = 0; round < 4; ++round) {
    __m128i y[16];
    for (int i = 0; i < 8; ++i) {
      y[2 * i] = _mm_unpacklo_epi8(x[i], x[i + 8]);
      y[2 * i + 1] = _mm_unpackhi_epi8(x[i], x[i + 8]);
    }
    for (int i = 0; i < 16; ++i)
      x[i] = y[i];
  }
}

void decodeB(const Tile &t, Workspace &w, int first) {
  ColumnsB &b = w.b[first / kLanes];
  int rows = minOf(kLanes, t.n - first);
  b.shortcut = true;
  b.nanColumns = 0;
  b.hasInfinity = false;
  for (int block = 0; block < t.k / kBlock; ++block) {
    __m128i exponent[kBlock], top = _mm_set1_epi8(kZeroElement), bottom = top;
    __mmask16 infinities = 0, nans = 0;
    for (int h = 0; h < 2; ++h) {
      __m128i x[16];
      for (int r = 0; r < kLanes; ++r)
        x[r] = r < rows
                   ? _mm_xor_si128(_mm_loadu_si128((const __m128i *)(t.b + (first + r) * t.bPitch +
                                                                     block * kBlock + h * kLanes)),
                                   _mm_set1_epi8(char(t.flipB)))
                   : _mm_setzero_si128();
      transpose(x);
      for (int j = 0; j < kLanes; ++j) {
        int k = block * kBlock + h * kLanes + j;
        __m128i e = exponentsOf(t.elementB, x[j]);
        exponent[h * kLanes + j] = e;
        top = _mm_max_epi8(top, e);
        bottom = _mm_max_epi8(bottom, negated(e));
        nans |= nansOf(t.elementB, x[j]);
        infinities |= infinitiesOf(t.elementB, x[j]);
        _mm512_store_ps(b.value[k], valuesOf(t.elementB, x[j]));
        _mm_store_si128((__m128i *)(w.exponentB[first / 64][k] + first % 64), e);
      }
    }
    for (int r = 0; r < kLanes; ++r) {
      int scale = r < rows ? t.sfb[(first + r) * t.sfbPitch + block] : 127;
      b.scale[block][r] = scale - 127;
      nans |= __mmask16((scale == 0xFF) << r);
    }
    b.nanColumns |= nans;
    b.hasInfinity |= infinities != 0;

    __m128i lowest = _mm_max_epi8(_mm_sub_epi8(top, _mm_set1_epi8(kFixedBinades)),
                                  _mm_sub_epi8(_mm_setzero_si128(), bottom));
    __m512i unit = _mm512_sub_epi32(widen(lowest), splat(t.elementB.mantissaBits));
    _mm512_store_si512(b.unit[block], _mm512_add_epi32(unit, load(b.scale[block])));
    __m512 toUnits = power(_mm512_sub_epi32(_mm512_setzero_si512(), unit));
    b.exceptions[block] = 0;
    __m512i previous = _mm512_setzero_si512();
    for (int j = 0; j < kBlock; ++j) {
      int k = block * kBlock + j;
      __m512 value = _mm512_load_ps(b.value[k]);
      __mmask16 nonzero = _mm_cmpneq_epi8_mask(exponent[j], _mm_set1_epi8(kZeroElement));
      __mmask16 regular = _mm_mask_cmpge_epi8_mask(nonzero, exponent[j], lowest);
      __m512i fixed = _mm512_cvttps_epi32(_mm512_maskz_mul_ps(regular, value, toUnits));
      if (j % 2)
        _mm512_store_si512(b.fixed[k / 2], _mm512_mask_blend_epi16(0xAAAAAAAA, previous,
                                                                   _mm512_slli_epi32(fixed, 16)));
      previous = fixed;
      __mmask16 odd = nonzero & __mmask16(~regular);
      if (odd == 0)
        continue;
      if (float *to = placeOfException(b, block, k))
        _mm512_store_ps(to, _mm512_maskz_mov_ps(odd, value));
    }
  }
  b.shortcut &= b.nanColumns == 0 && !b.hasInfinity;
}

} // namespace

void blockscale::emu::fp8::decodeAvx512(const Tile &tile, Workspace &work) {
  for (int row = 0; row < tile.m; ++row)
    decodeA(tile, work.a[row], tile.a + row * tile.aPitch, tile.sfa + row * tile.sfaPitch);
  for (int column = 0; column < tile.n; column += kLanes)
    decodeB(tile, work, column);
}
