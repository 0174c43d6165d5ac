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
constexpr int kZeroPower = -64;                     // a sum of products times 2^this is cut to zero
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

/// One in every byte that is not zero.
inline __m512i nonzeroBytes(__m512i codes) {
  __mmask64 nonzero = _mm512_test_epi8_mask(codes, _mm512_set1_epi8(7));
  return _mm512_maskz_mov_epi8(nonzero, _mm512_set1_epi8(1));
}

/// Nonzero elements of every group of a row, one number in each 64 bits.
inline __m512i countNonzeros(const Nibbles &codes) {
  __m512i both = _mm512_add_epi8(nonzeroBytes(codes.low), nonzeroBytes(codes.high));
  return _mm512_sad_epu8(both, _mm512_setzero_si512());
}

/// For sixteen rows: which elements of every group are not zero.
void placeNonzeros(RowBlock &block, const uint8_t *rows, size_t pitch, int count, int k) {
  for (int r = 0; r < count; ++r) {
    Nibbles codes = nibbles(loadRow(rows + r * pitch, k, 0));
    __mmask64 low = _mm512_test_epi8_mask(codes.low, _mm512_set1_epi8(7));
    __mmask64 high = _mm512_test_epi8_mask(codes.high, _mm512_set1_epi8(7));
    for (int g = 0; g < k / 16; ++g)
      block.nonzero[g][r] = int32_t((low >> 8 * g & 0xFF) << 8 | (high >> 8 * g & 0xFF));
  }
}

/// Scale bytes of sixteen rows: one vector a scale column.
struct ScaleBytes {
  alignas(64) int32_t byte[kMaxGroups][kLanes];
};
inline void gatherScales(ScaleBytes &out, const uint8_t *scales, size_t pitch, int rows,
                         int count) {
  alignas(64) uint64_t words[kLanes] = {};
  for (int r = 0; r < rows; ++r) {
    const uint8_t *from = scales + r * pitch;
    switch (count) { // constant sizes, so that no call is made
    case 2:
      __builtin_memcpy(&words[r], from, 2);
      break;
    case 3:
      __builtin_memcpy(&words[r], from, 3);
      break;
    case 4:
      __builtin_memcpy(&words[r], from, 4);
      break;
    case 6:
      __builtin_memcpy(&words[r], from, 6);
      break;
    case 8:
      __builtin_memcpy(&words[r], from, 8);
      break;
    }
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

/// The smallest, and the largest, of every four lanes, in all four.
inline __m512i quadMin(__m512i v) {
  v = _mm512_min_epi32(v, _mm512_shuffle_epi32(v, _MM_PERM_CDAB));
  return _mm512_min_epi32(v, _mm512_shuffle_epi32(v, _MM_PERM_BADC));
}
inline __m512i quadMax(__m512i v) {
  v = _mm512_max_epi32(v, _mm512_shuffle_epi32(v, _MM_PERM_CDAB));
  return _mm512_max_epi32(v, _mm512_shuffle_epi32(v, _MM_PERM_BADC));
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
  _mm512_store_si512(block.minExponent, quadMin(low));
  _mm512_store_si512(block.maxExponent, quadMax(high));
  _mm512_store_si512(block.fixedBits, quadMax(bits));
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
void decodeA(const Tile &t, Workspace &w, int first, int rows) {
  RowBlock &block = w.a[first / kLanes];
  __m512i table = valueTable(), ones = _mm512_set1_epi8(1);
  __mmask8 used = __mmask8((1u << (t.k / 16)) - 1);
  block.blockMinNonzeros = 16;
  for (int quad = 0; quad < kLanes; quad += 4) {
    __m512i fewest = _mm512_set1_epi64(16);
    for (int r = quad; r < quad + 4; ++r) {
      __m512i bytes = r < rows ? loadRow(t.a + size_t(first + r) * t.aPitch, t.k, t.flipA)
                               : _mm512_setzero_si512();
      Nibbles codes = nibbles(bytes);
      if (r < rows)
        fewest = _mm512_min_epi64(fewest, countNonzeros(codes));
      __m512i low = _mm512_shuffle_epi8(table, codes.low);
      __m512i high = _mm512_shuffle_epi8(table, codes.high);
      int8_t *values = w.aValues[first + r];
      _mm512_store_si512(values, low);
      _mm512_store_si512(values + 64, high);
      __m512i sums =
          _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(_mm512_setzero_si512(), ones, low), ones, high);
      sums = _mm512_add_epi32(sums, _mm512_srli_epi64(sums, 32)); // low half of 64 bits: a group
      __m256i groups = _mm256_mullo_epi32(_mm512_cvtepi64_epi32(sums), _mm256_set1_epi32(-kBias));
      _mm256_storeu_si256((__m256i *)w.aBias[first + r], groups);
    }
    int number = int(_mm512_mask_reduce_min_epi64(used, fewest));
    for (int r = quad; r < quad + 4; ++r)
      block.minNonzeros[r] = number;
    block.blockMinNonzeros = minOf(block.blockMinNonzeros, number);
  }
}

/// Four 32-bit words of sixteen rows, transposed: a vector for each word.
inline void transposeWords(const uint8_t *rows, size_t pitch, int count, __m512i (&words)[4]) {
  __m512i z[4];
  for (int i = 0; i < 4; ++i) {
    __m128i x[4];
    for (int l = 0; l < 4; ++l)
      x[l] = 4 * l + i < count ? _mm_loadu_si128((const __m128i *)(rows + (4 * l + i) * pitch))
                               : _mm_setzero_si128();
    z[i] = _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_inserti128_si256(_mm256_castsi128_si256(x[0]), x[1], 1)),
        _mm256_inserti128_si256(_mm256_castsi128_si256(x[2]), x[3], 1), 1);
  }
  __m512i a = _mm512_unpacklo_epi32(z[0], z[1]), b = _mm512_unpackhi_epi32(z[0], z[1]);
  __m512i c = _mm512_unpacklo_epi32(z[2], z[3]), d = _mm512_unpackhi_epi32(z[2], z[3]);
  words[0] = _mm512_unpacklo_epi64(a, c);
  words[1] = _mm512_unpackhi_epi64(a, c);
  words[2] = _mm512_unpacklo_epi64(b, d);
  words[3] = _mm512_unpackhi_epi64(b, d);
}

/// Values of sixteen rows of B, four elements of sixteen rows a vector.
void decodeB(const Tile &t, Workspace &w, int first, int rows) {
  RowBlock &block = w.b[first / kLanes];
  __m512i table = _mm512_add_epi8(valueTable(), _mm512_set1_epi8(kBias));
  __m512i flip = _mm512_set1_epi8(char(t.flipB)), ones = _mm512_set1_epi8(1);
  __mmask16 inside = __mmask16((1u << rows) - 1);
  __m512i fewest = splat(16);
  for (int j = 0; j < t.k / 8; j += 4) {
    __m512i words[4];
    transposeWords(t.b + size_t(first) * t.bPitch + 4 * j, t.bPitch, rows, words);
    for (int g = 0; g < 4; g += 2) { // two words a group
      __m512i count = _mm512_setzero_si512();
      for (int i = g; i < g + 2; ++i) {
        Nibbles codes = nibbles(_mm512_xor_si512(words[i], flip));
        uint8_t (&to)[2][kLanes * 4] = w.bValues[first / kLanes][j + i];
        _mm512_store_si512(to[0], _mm512_shuffle_epi8(table, codes.low));
        _mm512_store_si512(to[1], _mm512_shuffle_epi8(table, codes.high));
        count = _mm512_dpbusd_epi32(
            count, _mm512_add_epi8(nonzeroBytes(codes.low), nonzeroBytes(codes.high)), ones);
      }
      fewest = _mm512_min_epi32(fewest, count);
    }
  }
  block.blockMinNonzeros = _mm512_mask_reduce_min_epi32(inside, fewest);
}

void decode(const Tile &t, Workspace &w) {
  int fewestA = 16, fewestB = 16;
  for (int first = 0; first < t.m; first += kLanes) {
    int rows = minOf(kLanes, t.m - first);
    RowBlock &block = w.a[first / kLanes];
    decodeA(t, w, first, rows);
    decodeScales(block, t.sfa + first * t.sfaPitch, t.sfaPitch, rows, t.k / t.block, t.scale);
    fewestA = minOf(fewestA, block.blockMinNonzeros);
  }
  for (int first = 0; first < t.n; first += kLanes) {
    int rows = minOf(kLanes, t.n - first);
    RowBlock &block = w.b[first / kLanes];
    decodeB(t, w, first, rows);
    decodeScales(block, t.sfb + first * t.sfbPitch, t.sfbPitch, rows, t.k / t.block, t.scale);
    fewestB = minOf(fewestB, block.blockMinNonzeros);
  }
  // Two groups of 16 with more than 16 nonzeros between them share one.
  w.mayHaveZeroGroups = fewestA + fewestB <= 16;
  if (!w.mayHaveZeroGroups)
    return;
  for (int i = 0; i < t.m; i += kLanes)
    placeNonzeros(w.a[i / kLanes], t.a + i * t.aPitch, t.aPitch, minOf(kLanes, t.m - i), t.k);
  for (int i = 0; i < t.n; i += kLanes)
    placeNonzeros(w.b[i / kLanes], t.b + i * t.bPitch, t.bPitch, minOf(kLanes, t.n - i), t.k);
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
  // What is cut to zero is not scaled: subnormal results take microcode on Intel.
  addCut(sum, _mm512_maskz_scalef_ps(
                  _mm512_cmpge_epi32_mask(_mm512_add_epi32(field, up), splat(127)), c, upPs));
#pragma GCC unroll 8
  for (int s = 0; s < S; ++s) {
    __m512 factor = _mm512_setzero_ps(), power = factor;
    if (Bare)
      power = _mm512_cvtepi32_ps(_mm512_max_epi32(
          _mm512_add_epi32(exponents[s], _mm512_sub_epi32(up, splat(2))), splat(kZeroPower)));
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
[[gnu::always_inline]] inline bool shortcutRows(const Tile &t, const Workspace &w, int row,
                                                int column) {
  const RowBlock &a = w.a[row / kLanes], &b = w.b[column / kLanes];
  const int lane = row % kLanes;
  // Exponent of the last bit of a term: scale significands and quarters.
  constexpr int kTermBits = (Bare ? 0 : 6) + 2;
  float *d = t.d + size_t(row) * t.dPitch + column;
  const __mmask16 inside = t.n - column >= kLanes ? 0xFFFF : __mmask16((1u << (t.n - column)) - 1);

  int bits = a.fixedBits[lane] + b.blockFixedBits;
  int top = a.maxExponent[lane] + b.blockMaxExponent;
  int last = a.minExponent[lane] + b.blockMinExponent - kTermBits;
  // The accumulator's exponent must lie in [lowest, highest].
  int lowest = maxOf(top, -90) - 12, highest = minOf(last + kFraction, 100);
  if (bits > kMaxFixedBits || last < -100 || top > 100 || lowest > highest)
    return false;
  __m512 c[kRowsAtOnce];
  __mmask16 wrong = 0;
  __m512i from = splat((lowest + 127) << 23), size = splat((highest - lowest + 1) << 23);
#pragma GCC unroll 4
  for (int r = 0; r < kRowsAtOnce; ++r) {
    c[r] = t.accumulate ? _mm512_maskz_loadu_ps(inside, d + r * t.dPitch) : _mm512_setzero_ps();
    __m512i magnitude = _mm512_and_si512(_mm512_castps_si512(c[r]), splat(0x7FFFFFFF));
    __mmask16 out = _mm512_cmpge_epu32_mask(_mm512_sub_epi32(magnitude, from), size);
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

template <int S, int P, bool Bare>
[[gnu::noinline]] void generalSome(const Tile &t, const Workspace &w, int row, int rows,
                                   int column) {
  bool zeroGroups =
      w.mayHaveZeroGroups &&
      w.a[row / kLanes].minNonzeros[row % kLanes] + w.b[column / kLanes].blockMinNonzeros <= 16;
  for (int r = row; r < row + rows; ++r)
    if (zeroGroups)
      generalRow<S, P, Bare, true>(t, w, r, column);
    else
      generalRow<S, P, Bare, false>(t, w, r, column);
}

template <int S, int P, bool Bare> void sumAll(const Tile &t, const Workspace &w, bool shortcuts) {
  for (int column = 0; column < t.n; column += kLanes)
    for (int row = 0; row < t.m; row += kRowsAtOnce) {
      int rows = minOf(kRowsAtOnce, t.m - row);
      if (!shortcuts || rows != kRowsAtOnce || !shortcutRows<S, P, Bare>(t, w, row, column))
        generalSome<S, P, Bare>(t, w, row, rows, column);
    }
}

template <bool Bare> void sumByShape(const Tile &t, const Workspace &w, bool shortcuts) {
  byShape(t, [&]<int S, int P>() { sumAll<S, P, Bare>(t, w, shortcuts); });
}

} // namespace

void blockscale::emu::fp4::mmaAvx512(const Tile &tile, Workspace &work, bool shortcuts) {
  decode(tile, work);
  if (tile.scale == Scale::ue8m0)
    sumByShape<true>(tile, work, shortcuts);
  else
    sumByShape<false>(tile, work, shortcuts);
}
