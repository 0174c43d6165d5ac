//===- Fp8Avx2Decode.cpp - operands of mxf8f6f4 with AVX2 -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements as floats, as exponents and, those near their block's largest one, as
// integers: everything that the sums read many times.
//
//===----------------------------------------------------------------------===//

#include "Fp8Avx2.h"
#include "Fp8Exceptions.h"

using namespace blockscale::emu::fp8;

namespace {

inline __m128i bytes(int v) { return _mm_set1_epi8(char(v)); }

/// Sixteen elements as floats: through half, whose exponent field holds all.
struct Values {
  __m256 half[2];
};
inline Values valuesOf(const Element &e, __m128i codes) {
  __m256i wide = _mm256_cvtepu8_epi16(codes);
  __m256i magnitude = _mm256_sll_epi16(_mm256_and_si256(wide, _mm256_set1_epi16(0x7F)),
                                       _mm_cvtsi32_si128(10 - e.mantissaBits));
  __m256i sign = _mm256_slli_epi16(_mm256_and_si256(wide, _mm256_set1_epi16(0x80)), 8);
  __m256i half = _mm256_or_si256(magnitude, sign);
  __m256 unit = power(splat(15 - e.bias));
  return {{_mm256_mul_ps(_mm256_cvtph_ps(lower(half)), unit),
           _mm256_mul_ps(_mm256_cvtph_ps(upper(half)), unit)}};
}

/// Exponents that the fields name; kZeroElement for zero.
inline __m128i exponentsOf(const Element &e, __m128i codes) {
  __m128i magnitude = _mm_and_si128(codes, bytes(0x7F));
  __m128i field = _mm_and_si128(_mm_srl_epi16(magnitude, _mm_cvtsi32_si128(e.mantissaBits)),
                                bytes(0x7F >> e.mantissaBits));
  __m128i exponent = _mm_sub_epi8(_mm_max_epi8(field, bytes(1)), bytes(e.bias));
  return _mm_blendv_epi8(exponent, bytes(kZeroElement),
                         _mm_cmpeq_epi8(magnitude, _mm_setzero_si128()));
}

inline __m128i nansOf(const Element &e, __m128i codes) { // a magnitude is below firstNan or none is
  return _mm_cmpgt_epi8(_mm_and_si128(codes, bytes(0x7F)), bytes(e.firstNan - 1));
}
inline __m128i infinitiesOf(const Element &e, __m128i codes) {
  return _mm_cmpeq_epi8(_mm_and_si128(codes, bytes(0x7F)), bytes(e.infinity));
}
inline __m128i isZero(__m128i exponent) { return _mm_cmpeq_epi8(exponent, bytes(kZeroElement)); }

/// Minus the exponent, or kZeroElement for a zero element.
inline __m128i negated(__m128i exponent) {
  return _mm_blendv_epi8(_mm_sub_epi8(_mm_setzero_si128(), exponent), exponent, isZero(exponent));
}

/// Elements that are not zero but too small to be kept as integers.
inline __m128i oddOnes(__m128i exponent, __m128i lowest) {
  return _mm_andnot_si128(isZero(exponent), _mm_cmpgt_epi8(lowest, exponent));
}

/// The exponent of the last bit set of regular elements; else kNoBit.
inline __m128i lastBitsOf(const Element &e, __m128i codes, __m128i exponent, __m128i odd) {
  const int m = e.mantissaBits;
  const __m128i trailingZeros = _mm_setr_epi8(char(m), 0, 1, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  __m128i zeros = _mm_shuffle_epi8(trailingZeros, _mm_and_si128(codes, bytes((1 << m) - 1)));
  __m128i last = _mm_add_epi8(_mm_sub_epi8(exponent, bytes(m)), zeros);
  return _mm_blendv_epi8(last, bytes(kNoBit), _mm_or_si128(odd, isZero(exponent)));
}

/// Half of sixteen signed bytes as int32.
inline __m256i widen(__m128i v, int half) {
  return _mm256_cvtepi8_epi32(half ? _mm_srli_si128(v, 8) : v);
}

inline int highest(__m128i v) {
  v = _mm_max_epi8(v, _mm_srli_si128(v, 8));
  v = _mm_max_epi8(v, _mm_srli_si128(v, 4));
  v = _mm_max_epi8(v, _mm_srli_si128(v, 2));
  v = _mm_max_epi8(v, _mm_srli_si128(v, 1));
  return int(int8_t(_mm_cvtsi128_si32(v)));
}

inline __m128i loadCodes(const uint8_t *codes, uint8_t flip) {
  return _mm_xor_si128(_mm_loadu_si128((const __m128i *)codes), bytes(flip));
}

/// Stores every byte in all four places of an int32.
inline void storeSpread(int32_t *to, __m128i v) {
  const __m256i first = _mm256_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4,
                                         5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7);
  __m256i both = _mm256_broadcastsi128_si256(v);
  store(to, _mm256_shuffle_epi8(both, first));
  store(to + 8, _mm256_shuffle_epi8(both, _mm256_add_epi8(first, _mm256_set1_epi8(8))));
}

void decodeA(const Tile &t, RowA &row, const uint8_t *codes, const uint8_t *scales) {
  row.shortcut = true;
  row.isNan = row.hasInfinity = false;
  for (int block = 0; block < t.k / kBlock; ++block) {
    __m128i code[2], exponent[2];
    Values value[2];
    for (int h = 0; h < 2; ++h) {
      int k = block * kBlock + h * kLanes;
      code[h] = loadCodes(codes + k, t.flipA);
      exponent[h] = exponentsOf(t.elementA, code[h]);
      value[h] = valuesOf(t.elementA, code[h]);
      storeSpread(row.exponent + k, exponent[h]);
      for (int part = 0; part < 2; ++part)
        _mm256_store_ps(row.value + k + 8 * part, value[h].half[part]);
      row.isNan |= _mm_movemask_epi8(nansOf(t.elementA, code[h])) != 0;
      row.hasInfinity |= _mm_movemask_epi8(infinitiesOf(t.elementA, code[h])) != 0;
    }
    uint8_t scale = scales[block];
    row.isNan |= scale == 0xFF;
    row.scale[block] = int(scale) - 127;
    int top = highest(_mm_max_epi8(exponent[0], exponent[1]));
    int least = -highest(_mm_max_epi8(negated(exponent[0]), negated(exponent[1])));
    int lowest = maxOf(top - kFixedBinades, least);
    row.unit[block] = lowest - t.elementA.mantissaBits + row.scale[block];
    uint32_t odd = 0;
    __m256 toUnits = power(splat(t.elementA.mantissaBits - lowest));
    for (int h = 0; h < 2; ++h) {
      int k = block * kBlock + h * kLanes;
      __m128i oddHere = oddOnes(exponent[h], bytes(lowest));
      odd |= uint32_t(_mm_movemask_epi8(oddHere)) << (16 * h);
      storeSpread(row.lastBit + k, lastBitsOf(t.elementA, code[h], exponent[h], oddHere));
      __m256i fixed[2];
      for (int part = 0; part < 2; ++part) {
        __m256 kept = _mm256_andnot_ps(floats(widen(oddHere, part)), value[h].half[part]);
        _mm256_store_ps(row.regular + k + 8 * part, kept);
        fixed[part] = _mm256_cvttps_epi32(_mm256_mul_ps(kept, toUnits));
      }
      store(row.fixed + k, _mm256_permute4x64_epi64(_mm256_packs_epi32(fixed[0], fixed[1]), 0xD8));
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
    __m128i code[kBlock], exponent[kBlock], top = bytes(kZeroElement), bottom = top;
    __m128i infinities = _mm_setzero_si128(), nans = infinities;
    for (int h = 0; h < 2; ++h) {
      __m128i x[16];
      for (int r = 0; r < kLanes; ++r)
        x[r] = r < rows
                   ? loadCodes(t.b + (first + r) * t.bPitch + block * kBlock + h * kLanes, t.flipB)
                   : _mm_setzero_si128();
      transpose(x);
      for (int j = 0; j < kLanes; ++j) {
        int k = block * kBlock + h * kLanes + j;
        __m128i e = exponentsOf(t.elementB, x[j]);
        code[h * kLanes + j] = x[j];
        exponent[h * kLanes + j] = e;
        top = _mm_max_epi8(top, e);
        bottom = _mm_max_epi8(bottom, negated(e));
        nans = _mm_or_si128(nans, nansOf(t.elementB, x[j]));
        infinities = _mm_or_si128(infinities, infinitiesOf(t.elementB, x[j]));
        Values value = valuesOf(t.elementB, x[j]);
        _mm256_store_ps(b.value[k], value.half[0]);
        _mm256_store_ps(b.value[k] + kHalf, value.half[1]);
        _mm_store_si128((__m128i *)(w.exponentB[first / 64][k] + first % 64), e);
      }
    }
    unsigned nanColumns = unsigned(_mm_movemask_epi8(nans));
    for (int r = 0; r < kLanes; ++r) {
      int scale = r < rows ? t.sfb[(first + r) * t.sfbPitch + block] : 127;
      b.scale[block][r] = scale - 127;
      nanColumns |= unsigned(scale == 0xFF) << r;
    }
    b.nanColumns = uint16_t(b.nanColumns | nanColumns);
    b.hasInfinity |= _mm_movemask_epi8(infinities) != 0;

    __m128i lowest = _mm_max_epi8(_mm_sub_epi8(top, bytes(kFixedBinades)),
                                  _mm_sub_epi8(_mm_setzero_si128(), bottom));
    __m256 toUnits[2];
    for (int h = 0; h < 2; ++h) {
      __m256i unit = _mm256_sub_epi32(widen(lowest, h), splat(t.elementB.mantissaBits));
      store(b.unit[block] + h * kHalf, _mm256_add_epi32(unit, load(b.scale[block] + h * kHalf)));
      toUnits[h] = power(_mm256_sub_epi32(_mm256_setzero_si256(), unit));
    }
    b.exceptions[block] = 0;
    __m256i previous[2] = {};
    for (int j = 0; j < kBlock; ++j) {
      int k = block * kBlock + j;
      __m128i odd = oddOnes(exponent[j], lowest);
      _mm_store_si128((__m128i *)(w.lastBitB[first / 64][k] + first % 64),
                      lastBitsOf(t.elementB, code[j], exponent[j], odd));
      for (int h = 0; h < 2; ++h) {
        __m256 kept =
            _mm256_andnot_ps(floats(widen(odd, h)), _mm256_load_ps(b.value[k] + h * kHalf));
        __m256i fixed = _mm256_cvttps_epi32(_mm256_mul_ps(kept, toUnits[h]));
        if (j % 2)
          store(b.fixed[k / 2][h * kHalf],
                _mm256_blend_epi16(previous[h], _mm256_slli_epi32(fixed, 16), 0xAA));
        previous[h] = fixed;
      }
      if (_mm_testz_si128(odd, odd))
        continue;
      if (float *to = placeOfException(b, block, k))
        for (int h = 0; h < 2; ++h)
          _mm256_store_ps(to + h * kHalf, _mm256_and_ps(floats(widen(odd, h)),
                                                        _mm256_load_ps(b.value[k] + h * kHalf)));
    }
  }
  b.shortcut &= b.nanColumns == 0 && !b.hasInfinity;
}

} // namespace

void blockscale::emu::fp8::decodeAvx2(const Tile &tile, Workspace &work) {
  for (int row = 0; row < tile.m; ++row)
    decodeA(tile, work.a[row], tile.a + row * tile.aPitch, tile.sfa + row * tile.sfaPitch);
  for (int column = 0; column < tile.n; column += kLanes)
    decodeB(tile, work, column);
}
