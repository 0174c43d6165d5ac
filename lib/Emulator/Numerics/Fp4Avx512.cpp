//===- Fp4Avx512.cpp - mxf4 / mxf4nvf4 with AVX-512 VNNI ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two ways to the same bits. The general one finds the largest exponent first
// (it needs no products), scales every group's exact sum to the unit of the
// aligned sum and cuts it by a conversion to int64. The shortcut applies where
// no term and no accumulator can lose a bit: then scales are integers relative
// to their row's smallest one, the whole sum is an int32, and one fused
// multiply-add and one cut give the result.
//
//===----------------------------------------------------------------------===//

#include "Fp4Tile.h"

#include <immintrin.h>

using namespace blockscale::emu::fp4;

namespace {

constexpr int kRz = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
constexpr int kFraction = 35, kZeroExponent = -139; // the model: Model.h
constexpr int kNanBits = 0x7FFFFFFF;

inline __m512i load(const void *p) { return _mm512_load_si512(p); }
inline __m512i splat(int32_t v) { return _mm512_set1_epi32(v); }
inline int minOf(int a, int b) { return a < b ? a : b; }
inline int maxOf(int a, int b) { return a > b ? a : b; }

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Doubled E2M1 values by code.
inline __m512i valueTable() {
  return _mm512_broadcast_i32x4(
      _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12));
}

/// The packed row as 64 bytes, zero beyond its end.
inline __m512i loadRow(const uint8_t *row, int k, uint8_t flip) {
  __mmask64 inside = k == kMaxK ? ~__mmask64(0) : (__mmask64(1) << (k / 2)) - 1;
  __m512i bytes = _mm512_maskz_loadu_epi8(inside, row);
  return _mm512_mask_xor_epi32(bytes, 0xFFFF, bytes, _mm512_set1_epi8(char(flip)));
}

struct Nibbles {
  __m512i low, high; // codes, one a byte
};
inline Nibbles nibbles(__m512i bytes) {
  __m512i mask = _mm512_set1_epi8(15);
  return {_mm512_and_si512(bytes, mask), _mm512_and_si512(_mm512_srli_epi16(bytes, 4), mask)};
}

/// Nonzero elements of every group of a row: their number and their places.
/// Returns the smallest number.
inline int noteNonzeros(const Nibbles &codes, int groups, uint16_t (&places)[kMaxGroups]) {
  __m512i magnitude = _mm512_set1_epi8(7), one = _mm512_set1_epi8(1);
  __mmask64 low = _mm512_test_epi8_mask(codes.low, magnitude);
  __mmask64 high = _mm512_test_epi8_mask(codes.high, magnitude);
  __m512i counts =
      _mm512_add_epi8(_mm512_maskz_mov_epi8(low, one), _mm512_maskz_mov_epi8(high, one));
  counts = _mm512_sad_epu8(counts, _mm512_setzero_si512());
  __m128i lowBytes = _mm_cvtsi64_si128((long long)low),
          highBytes = _mm_cvtsi64_si128((long long)high);
  _mm_storeu_si128((__m128i *)places, _mm_unpacklo_epi8(lowBytes, highBytes));
  __mmask8 used = __mmask8((1u << groups) - 1);
  return int(_mm512_mask_reduce_min_epi64(used, counts));
}

/// Scale bytes of sixteen rows: one vector a scale column.
struct ScaleBytes {
  alignas(64) int32_t byte[kMaxGroups][kLanes];
};
inline void gatherScales(ScaleBytes &out, const uint8_t *scales, size_t pitch, int rows,
                         int count) {
  alignas(64) uint64_t words[kLanes] = {};
  for (int r = 0; r < rows; ++r) {
    uint64_t word = 0;
    if (count == 4) {
      uint32_t four;
      __builtin_memcpy(&four, scales + r * pitch, 4);
      word = four;
    } else {
      __builtin_memcpy(&word, scales + r * pitch, size_t(count));
    }
    words[r] = word;
  }
  __m512i low = load(words), high = load(words + 8);
  for (int s = 0; s < count; ++s) {
    __m512i l = _mm512_and_si512(_mm512_srli_epi64(low, unsigned(8 * s)), _mm512_set1_epi64(255));
    __m512i h = _mm512_and_si512(_mm512_srli_epi64(high, unsigned(8 * s)), _mm512_set1_epi64(255));
    __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(l)),
                                      _mm512_cvtepi64_epi32(h), 1);
    _mm512_store_si512(out.byte[s], both);
  }
}

/// Splits the scales of sixteen rows and finds what the shortcut needs.
void decodeScales(RowBlock &block, const uint8_t *scales, size_t pitch, int rows, int count,
                  Scale format) {
  ScaleBytes bytes;
  gatherScales(bytes, scales, pitch, rows, count);
  const bool bare = format == Scale::ue8m0;
  const int mantissaBits = bare ? 0 : 3;
  __mmask16 inside = __mmask16((1u << rows) - 1), nan = 0;
  __m512i low = splat(1000), high = splat(kNoExponent);
  alignas(64) int32_t significands[kMaxGroups][kLanes];
  for (int s = 0; s < count; ++s) {
    __m512i byte = load(bytes.byte[s]), exponent, significand = splat(1);
    __mmask16 nonzero = inside;
    if (bare) {
      nan |= _mm512_mask_cmpeq_epi32_mask(inside, byte, splat(0xFF));
      exponent = _mm512_sub_epi32(byte, splat(127));
    } else {
      int bias = format == Scale::ue4m3 ? 7 : 15;
      if (format == Scale::ue4m3)
        byte = _mm512_and_si512(byte, splat(0x7F));
      nan |=
          _mm512_mask_cmpeq_epi32_mask(inside, byte, splat(format == Scale::ue4m3 ? 0x7F : 0xFF));
      __m512i field = _mm512_srli_epi32(byte, 3);
      significand = _mm512_and_si512(byte, splat(7));
      significand = _mm512_mask_or_epi32(significand, _mm512_test_epi32_mask(field, field),
                                         significand, splat(8));
      exponent = _mm512_sub_epi32(_mm512_max_epi32(field, splat(1)), splat(bias));
      nonzero = _mm512_mask_test_epi32_mask(inside, byte, byte);
      __m512 power = _mm512_castsi512_ps( // half of the unit of the significand
          _mm512_slli_epi32(_mm512_add_epi32(exponent, splat(127 - 3 - 1)), 23));
      _mm512_store_ps(block.scale[s], _mm512_mul_ps(_mm512_cvtepi32_ps(significand), power));
    }
    _mm512_store_si512(significands[s], significand);
    low = _mm512_mask_min_epi32(low, nonzero, low, exponent);
    high = _mm512_mask_max_epi32(high, nonzero, high, exponent);
    _mm512_store_si512(block.exponent[s],
                       _mm512_mask_mov_epi32(splat(kNoExponent), nonzero, exponent));
  }
  __mmask16 some = _mm512_cmp_epi32_mask(high, splat(kNoExponent), _MM_CMPINT_NE);
  low = _mm512_maskz_mov_epi32(some, low);
  __m512i bits = _mm512_maskz_add_epi32(some, _mm512_sub_epi32(high, low), splat(mantissaBits + 1));
  bits = _mm512_mask_mov_epi32(bits, nan, splat(1000)); // never by the shortcut
  for (int s = 0; s < count; ++s) {
    __m512i exponent = load(block.exponent[s]);
    __mmask16 nonzero = _mm512_cmp_epi32_mask(exponent, splat(kNoExponent), _MM_CMPINT_NE);
    _mm512_store_si512(block.fixed[s], _mm512_maskz_sllv_epi32(nonzero, load(significands[s]),
                                                               _mm512_sub_epi32(exponent, low)));
  }
  _mm512_store_si512(block.minExponent, low);
  _mm512_store_si512(block.maxExponent, high);
  _mm512_store_si512(block.fixedBits, bits);
  __m512i unit = _mm512_add_epi32(low, splat(1023 - mantissaBits - 1));
  for (int half = 0; half < 2; ++half) {
    __m256i part = half ? _mm512_extracti64x4_epi64(unit, 1) : _mm512_castsi512_si256(unit);
    _mm512_store_si512(block.unit + 8 * half, _mm512_slli_epi64(_mm512_cvtepi32_epi64(part), 52));
  }
  block.nanRows = nan;
  block.blockMinExponent = _mm512_mask_reduce_min_epi32(inside, low);
  block.blockMaxExponent = _mm512_mask_reduce_max_epi32(inside, high);
  block.blockFixedBits = _mm512_mask_reduce_max_epi32(inside, bits);
}

/// Values of sixteen rows of A and the bias that B's offset asks for.
void decodeA(const Tile &t, Workspace &w, int first, int rows,
             uint16_t (&places)[kLanes][kMaxGroups]) {
  RowBlock &block = w.a[first / kLanes];
  __m512i table = valueTable(), ones = _mm512_set1_epi8(1);
  block.blockMinNonzeros = 16;
  for (int r = 0; r < kLanes; ++r) {
    __m512i bytes = r < rows ? loadRow(t.a + size_t(first + r) * t.aPitch, t.k, t.flipA)
                             : _mm512_setzero_si512();
    Nibbles codes = nibbles(bytes);
    block.minNonzeros[r] = noteNonzeros(codes, t.k / 16, places[r]);
    if (r < rows)
      block.blockMinNonzeros = minOf(block.blockMinNonzeros, block.minNonzeros[r]);
    __m512i low = _mm512_shuffle_epi8(table, codes.low);
    __m512i high = _mm512_shuffle_epi8(table, codes.high);
    int8_t *values = w.aValues[first + r];
    _mm512_store_si512(values, low);
    _mm512_store_si512(values + 64, high);
    __m512i sums =
        _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(_mm512_setzero_si512(), ones, low), ones, high);
    sums = _mm512_add_epi32(sums, _mm512_srli_epi64(sums, 32)); // low half of each 64: the group
    __m256i groups = _mm512_cvtepi64_epi32(sums);
    groups = _mm256_mullo_epi32(groups, _mm256_set1_epi32(-kBias));
    _mm256_storeu_si256((__m256i *)w.aBias[first + r], groups);
  }
}

/// Values of sixteen rows of B, four elements of sixteen rows a vector.
void decodeB(const Tile &t, Workspace &w, int first, int rows,
             uint16_t (&places)[kLanes][kMaxGroups]) {
  RowBlock &block = w.b[first / kLanes];
  __m512i bias = _mm512_set1_epi8(kBias);
  __m512i table = _mm512_add_epi8(valueTable(), bias);
  alignas(64) uint32_t words[kMaxK / 8][kLanes] = {};
  block.blockMinNonzeros = 16;
  for (int r = 0; r < rows; ++r) {
    __m512i bytes = loadRow(t.b + size_t(first + r) * t.bPitch, t.k, t.flipB);
    block.minNonzeros[r] = noteNonzeros(nibbles(bytes), t.k / 16, places[r]);
    block.blockMinNonzeros = minOf(block.blockMinNonzeros, block.minNonzeros[r]);
    alignas(64) uint32_t row[16];
    _mm512_store_si512(row, bytes);
    for (int j = 0; j < t.k / 8; ++j)
      words[j][r] = row[j];
  }
  for (int j = 0; j < t.k / 8; ++j) {
    Nibbles codes = nibbles(load(words[j]));
    _mm512_store_si512(w.bValues[first / kLanes][j][0], _mm512_shuffle_epi8(table, codes.low));
    _mm512_store_si512(w.bValues[first / kLanes][j][1], _mm512_shuffle_epi8(table, codes.high));
  }
}

void placeNonzeros(RowBlock &block, const uint16_t (&places)[kLanes][kMaxGroups], int groups) {
  for (int g = 0; g < groups; ++g)
    for (int r = 0; r < kLanes; ++r)
      block.nonzero[g][r] = places[r][g];
}

void decode(const Tile &t, Workspace &w) {
  static thread_local uint16_t places[2][kMaxRows / kLanes][kLanes][kMaxGroups];
  int groups = t.k / 16, fewest[2] = {16, 16};
  for (int first = 0; first < t.m; first += kLanes) {
    int rows = minOf(kLanes, t.m - first);
    RowBlock &block = w.a[first / kLanes];
    decodeA(t, w, first, rows, places[0][first / kLanes]);
    decodeScales(block, t.sfa + first * t.sfaPitch, t.sfaPitch, rows, t.k / t.block, t.scale);
    fewest[0] = minOf(fewest[0], block.blockMinNonzeros);
  }
  for (int first = 0; first < t.n; first += kLanes) {
    int rows = minOf(kLanes, t.n - first);
    RowBlock &block = w.b[first / kLanes];
    decodeB(t, w, first, rows, places[1][first / kLanes]);
    decodeScales(block, t.sfb + first * t.sfbPitch, t.sfbPitch, rows, t.k / t.block, t.scale);
    fewest[1] = minOf(fewest[1], block.blockMinNonzeros);
  }
  // Two groups of 16 with more than 16 nonzeros between them share one.
  w.mayHaveZeroGroups = fewest[0] + fewest[1] <= 16;
  if (!w.mayHaveZeroGroups)
    return;
  for (int i = 0; i * kLanes < t.m; ++i)
    placeNonzeros(w.a[i], places[0][i], groups);
  for (int i = 0; i * kLanes < t.n; ++i)
    placeNonzeros(w.b[i], places[1][i], groups);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// sum += values * the four signed bytes at `word`, which are broadcast. By hand,
/// because GCC loads several words at once and takes them apart again.
inline void addProducts(__m512i &sum, __m512i values, const int8_t *word) {
  asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(values), "m"(*(const int8_t (*)[4])word));
}

/// Adds the products of group g of one row of A and sixteen rows of B, in quarters.
inline __m512i dot(__m512i sum, const int8_t *a, const uint8_t (*b)[2][kLanes * 4], int g) {
  for (int j = 2 * g; j < 2 * g + 2; ++j) {
    addProducts(sum, load(b[j][0]), a + 4 * j);
    addProducts(sum, load(b[j][1]), a + 64 + 4 * j);
  }
  return sum;
}

/// Adds cut (toward zero) values to two halves of int64 sums.
inline void addCut(__m512i (&sum)[2], __m512 value) {
  sum[0] = _mm512_add_epi64(sum[0], _mm512_cvttps_epi64(_mm512_castps512_ps256(value)));
  sum[1] = _mm512_add_epi64(sum[1], _mm512_cvttps_epi64(_mm512_extractf32x8_ps(value, 1)));
}

inline __m512 join(__m256 low, __m256 high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

/// The model for one row and sixteen columns. S scales, P groups a scale.
template <int S, int P, bool Bare, bool ZeroGroups>
inline void generalRow(const Tile &t, const Workspace &w, int row, int column) {
  const RowBlock &a = w.a[row / kLanes], &b = w.b[column / kLanes];
  const int lane = row % kLanes;
  const int8_t *values = w.aValues[row];
  float *d = t.d + size_t(row) * t.dPitch + column;
  __mmask16 inside = t.n - column >= kLanes ? 0xFFFF : __mmask16((1u << (t.n - column)) - 1);
  __m512 c = t.accumulate ? _mm512_maskz_loadu_ps(inside, d) : _mm512_setzero_ps();

  __m512i magnitude = _mm512_and_si512(_mm512_castps_si512(c), splat(0x7FFFFFFF));
  __m512i field = _mm512_max_epi32(_mm512_srli_epi32(magnitude, 23), splat(1));
  __m512i largest = _mm512_mask_sub_epi32(
      splat(kZeroExponent), _mm512_test_epi32_mask(magnitude, magnitude), field, splat(127));
  __m512i exponents[S];
#pragma GCC unroll 8
  for (int s = 0; s < S; ++s) {
    exponents[s] = _mm512_add_epi32(splat(a.exponent[s][lane]), load(b.exponent[s]));
    if (ZeroGroups) {
      __mmask16 some = 0;
      for (int g = P * s; g < P * (s + 1); ++g)
        some |= _mm512_test_epi32_mask(splat(a.nonzero[g][lane]), load(b.nonzero[g]));
      largest = _mm512_mask_max_epi32(largest, some, largest, exponents[s]);
    } else {
      largest = _mm512_max_epi32(largest, exponents[s]);
    }
  }

  __m512i up = _mm512_sub_epi32(splat(kFraction), largest);
  __m512 upPs = _mm512_cvtepi32_ps(up);
  __m512i sum[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  addCut(sum, _mm512_scalef_ps(c, upPs));
#pragma GCC unroll 8
  for (int s = 0; s < S; ++s) {
    __m512 factor = _mm512_setzero_ps(), power = factor;
    if (Bare)
      power = _mm512_cvtepi32_ps(_mm512_add_epi32(exponents[s], _mm512_sub_epi32(up, splat(2))));
    else
      factor = _mm512_mul_ps(_mm512_set1_ps(a.scale[s][lane]), _mm512_load_ps(b.scale[s]));
    for (int g = P * s; g < P * (s + 1); ++g) {
      __m512i quarters = dot(splat(w.aBias[row][g]), values, w.bValues[column / kLanes], g);
      __m512 term = _mm512_cvtepi32_ps(quarters);
      addCut(sum, Bare ? _mm512_scalef_ps(term, power)
                       : _mm512_scalef_ps(_mm512_mul_ps(term, factor), upPs));
    }
  }

  // Cut to 24 bits, then scale: exact, but for subnormals, which are cut again,
  // and overflow, which cutting would leave at the largest finite value.
  __m512 cut = join(_mm512_cvt_roundepi64_ps(sum[0], kRz), _mm512_cvt_roundepi64_ps(sum[1], kRz));
  __m512 down = _mm512_sub_ps(_mm512_setzero_ps(), upPs);
  __m512 result = _mm512_scalef_round_ps(cut, down, kRz);
  __m512i resultBits = _mm512_and_si512(_mm512_castps_si512(result), splat(0x7FFFFFFF));
  result = _mm512_mask_scalef_ps(result, _mm512_cmpeq_epi32_mask(resultBits, splat(0x7F7FFFFF)),
                                 cut, down);
  result = _mm512_add_ps(result, _mm512_setzero_ps()); // no minus zero

  __mmask16 special = _mm512_cmpge_epi32_mask(magnitude, splat(0x7F800000));
  result = _mm512_mask_mov_ps(result, special, c);
  __mmask16 nan = _mm512_cmpgt_epi32_mask(magnitude, splat(0x7F800000)) | __mmask16(b.nanRows);
  if (a.nanRows >> lane & 1)
    nan = 0xFFFF;
  result = _mm512_mask_mov_ps(result, nan, _mm512_castsi512_ps(splat(kNanBits)));
  _mm512_mask_storeu_ps(d, inside, result);
}

constexpr int kRowsAtOnce = 4;

/// Sums kRowsAtOnce rows and sixteen columns as integers; false, with D
/// untouched, if an accumulator is out of the range in which that is exact.
template <int S, int P, bool Bare>
inline bool shortcutRows(const Tile &t, const Workspace &w, int row, int column) {
  const RowBlock &a = w.a[row / kLanes], &b = w.b[column / kLanes];
  const int lane = row % kLanes;
  // Exponent of the last bit of a term: scale significands and quarters.
  constexpr int kTermBits = (Bare ? 0 : 6) + 2;
  float *d = t.d + size_t(row) * t.dPitch + column;
  const __mmask16 inside = t.n - column >= kLanes ? 0xFFFF : __mmask16((1u << (t.n - column)) - 1);

  __m512 c[kRowsAtOnce];
  __mmask16 wrong = 0;
  for (int r = 0; r < kRowsAtOnce; ++r) {
    int bits = a.fixedBits[lane + r] + b.blockFixedBits;
    int top = a.maxExponent[lane + r] + b.blockMaxExponent;
    int last = a.minExponent[lane + r] + b.blockMinExponent - kTermBits;
    // The accumulator's exponent must lie in [lowest, highest].
    int lowest = maxOf(top, -90) - 12, highest = minOf(last + kFraction, 100);
    if (bits > kMaxFixedBits || last < -100 || top > 100 || lowest > highest)
      return false;
    if (!t.accumulate) {
      c[r] = _mm512_setzero_ps();
      continue;
    }
    c[r] = _mm512_maskz_loadu_ps(inside, d + r * t.dPitch);
    __m512i magnitude = _mm512_and_si512(_mm512_castps_si512(c[r]), splat(0x7FFFFFFF));
    __m512i above = _mm512_sub_epi32(magnitude, splat((lowest + 127) << 23));
    __mmask16 out = _mm512_cmpge_epu32_mask(above, splat((highest - lowest + 1) << 23));
    wrong |= _mm512_mask_test_epi32_mask(out, magnitude, magnitude);
  }
  if (wrong)
    return false;

  __m512i sum[kRowsAtOnce];
#pragma GCC unroll 4
  for (int r = 0; r < kRowsAtOnce; ++r)
    sum[r] = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (int s = 0; s < S; ++s) {
    __m512i quarters[kRowsAtOnce];
#pragma GCC unroll 4
    for (int r = 0; r < kRowsAtOnce; ++r) {
      int bias = w.aBias[row + r][P * s];
      if (P == 2)
        bias += w.aBias[row + r][2 * s + 1];
      quarters[r] = splat(bias);
    }
#pragma GCC unroll 4
    for (int j = 2 * P * s; j < 2 * P * (s + 1); ++j)
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        __m512i values = load(w.bValues[column / kLanes][j][half]);
#pragma GCC unroll 4
        for (int r = 0; r < kRowsAtOnce; ++r)
          addProducts(quarters[r], values, w.aValues[row + r] + 64 * half + 4 * j);
      }
    __m512i fixedB = load(b.fixed[s]);
#pragma GCC unroll 4
    for (int r = 0; r < kRowsAtOnce; ++r)
      sum[r] = _mm512_dpwssd_epi32(sum[r], quarters[r],
                                   _mm512_mullo_epi16(splat(a.fixed[s][lane + r]), fixedB));
  }
  __m512d unitB[2] = {_mm512_load_pd(b.unit), _mm512_load_pd(b.unit + 8)};
#pragma GCC unroll 4
  for (int r = 0; r < kRowsAtOnce; ++r) {
    __m512d unitA = _mm512_set1_pd(a.unit[lane + r]);
    __m512d low = _mm512_fmadd_round_pd(
        _mm512_mul_pd(_mm512_cvtepi32_pd(_mm512_castsi512_si256(sum[r])), unitB[0]), unitA,
        _mm512_cvtps_pd(_mm512_castps512_ps256(c[r])), kRz);
    __m512d high = _mm512_fmadd_round_pd(
        _mm512_mul_pd(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(sum[r], 1)), unitB[1]), unitA,
        _mm512_cvtps_pd(_mm512_extractf32x8_ps(c[r], 1)), kRz);
    __m512 result = join(_mm512_cvt_roundpd_ps(low, kRz), _mm512_cvt_roundpd_ps(high, kRz));
    _mm512_mask_storeu_ps(d + r * t.dPitch, inside, result);
  }
  return true;
}

template <int S, int P, bool Bare> void sumAll(const Tile &t, const Workspace &w, bool shortcuts) {
  for (int column = 0; column < t.n; column += kLanes)
    for (int row = 0; row < t.m; row += kRowsAtOnce) {
      int rows = minOf(kRowsAtOnce, t.m - row);
      if (shortcuts && rows == kRowsAtOnce && shortcutRows<S, P, Bare>(t, w, row, column))
        continue;
      for (int r = row; r < row + rows; ++r) {
        bool zeroGroups =
            w.mayHaveZeroGroups &&
            w.a[r / kLanes].minNonzeros[r % kLanes] + w.b[column / kLanes].blockMinNonzeros <= 16;
        if (zeroGroups)
          generalRow<S, P, Bare, true>(t, w, r, column);
        else
          generalRow<S, P, Bare, false>(t, w, r, column);
      }
    }
}

template <bool Bare> void sumByShape(const Tile &t, const Workspace &w, bool shortcuts) {
  switch (t.k / 32 * 100 + t.block) {
  case 216:
    return sumAll<4, 1, Bare>(t, w, shortcuts);
  case 316:
    return sumAll<6, 1, Bare>(t, w, shortcuts);
  case 416:
    return sumAll<8, 1, Bare>(t, w, shortcuts);
  case 232:
    return sumAll<2, 2, Bare>(t, w, shortcuts);
  case 332:
    return sumAll<3, 2, Bare>(t, w, shortcuts);
  case 432:
    return sumAll<4, 2, Bare>(t, w, shortcuts);
  }
}

} // namespace

void blockscale::emu::fp4::mmaAvx512(const Tile &tile, Workspace &work, bool shortcuts) {
  decode(tile, work);
  if (tile.scale == Scale::ue8m0)
    sumByShape<true>(tile, work, shortcuts);
  else
    sumByShape<false>(tile, work, shortcuts);
}
