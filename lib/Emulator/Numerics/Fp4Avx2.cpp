//===- Fp4Avx2.cpp - mxf4 / mxf4nvf4 with AVX2 ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two ways of Fp4Avx512.cpp for eight columns at a time. Aligned terms are
// whole numbers in double, cut by rounding; results are cut by converting with
// the rounding mode toward zero, which holds while the sums run.
//
//===----------------------------------------------------------------------===//

#include "Fp4Tile.h"

#include <immintrin.h>

using namespace blockscale::emu::fp4;

namespace {

constexpr int kFraction = 35, kZeroExponent = -139; // the model: Model.h
constexpr int kCut = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
constexpr int kHalf = 8; // lanes of a vector

inline __m256i load(const void *p) { return _mm256_load_si256((const __m256i *)p); }
inline void store(void *p, __m256i v) { _mm256_store_si256((__m256i *)p, v); }
inline __m256i splat(int32_t v) { return _mm256_set1_epi32(v); }
inline int minOf(int a, int b) { return a < b ? a : b; }
inline int maxOf(int a, int b) { return a > b ? a : b; }

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// The low and the high nibbles of 32 bytes as doubled E2M1 values.
struct Values {
  __m256i low, high;
};
inline Values valuesOf(__m256i bytes) {
  const __m256i table = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12));
  const __m256i mask = _mm256_set1_epi8(15);
  return {_mm256_shuffle_epi8(table, _mm256_and_si256(bytes, mask)),
          _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask))};
}

/// The row with its negation, in 64 bytes, zero beyond its end.
inline void copyRow(uint8_t (&to)[64], const uint8_t *row, int k, uint8_t flip) {
  __builtin_memset(to, 0, 64);
  for (int i = 0; i < k / 2; i += 16) {
    __m128i part = _mm_loadu_si128((const __m128i *)(row + i));
    _mm_store_si128((__m128i *)(to + i), _mm_xor_si128(part, _mm_set1_epi8(char(flip))));
  }
}

/// Notes the nonzero elements of every group of row r; returns the fewest.
int noteNonzeros(RowBlock &block, int r, const uint8_t (&row)[64], int groups) {
  int fewest = 16;
  for (int g = 0; g < groups; ++g) {
    __m128i bytes = _mm_loadl_epi64((const __m128i *)(row + 8 * g));
    __m128i seven = _mm_set1_epi8(7), zero = _mm_setzero_si128();
    int low = ~_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(bytes, seven), zero)) & 0xFF;
    __m128i upper = _mm_and_si128(_mm_srli_epi16(bytes, 4), seven);
    int high = ~_mm_movemask_epi8(_mm_cmpeq_epi8(upper, zero)) & 0xFF;
    block.nonzero[g][r] = low << 8 | high;
    fewest = minOf(fewest, __builtin_popcount(unsigned(low << 8 | high)));
  }
  return fewest;
}

/// Splits the scales of one row and finds what the shortcut needs.
void decodeScales(RowBlock &block, int r, const uint8_t *scales, int count, Scale format) {
  const bool bare = format == Scale::ue8m0;
  const int mantissaBits = bare ? 0 : 3, bias = format == Scale::ue4m3 ? 7 : 15;
  int low = 1000, high = kNoExponent, significands[kMaxGroups];
  bool nan = false;
  for (int s = 0; s < count; ++s) {
    int byte = scales[s], exponent;
    significands[s] = 1;
    if (bare) {
      nan |= byte == 0xFF;
      exponent = byte - 127;
    } else {
      byte &= format == Scale::ue4m3 ? 0x7F : 0xFF;
      nan |= byte == (format == Scale::ue4m3 ? 0x7F : 0xFF);
      int field = byte >> 3;
      significands[s] = (byte & 7) | (field ? 8 : 0);
      exponent = maxOf(field, 1) - bias;
      int32_t power = (exponent + 127 - 3 - 1) << 23; // half of the significand's unit
      float unit;
      __builtin_memcpy(&unit, &power, 4);
      block.scale[s][r] = float(significands[s]) * unit;
      if (byte == 0)
        exponent = kNoExponent;
    }
    block.exponent[s][r] = exponent;
    if (exponent != kNoExponent) {
      low = minOf(low, exponent);
      high = maxOf(high, exponent);
    }
  }
  if (high == kNoExponent)
    low = 0;
  int bits = nan ? 1000 : high == kNoExponent ? 0 : high - low + mantissaBits + 1;
  for (int s = 0; s < count; ++s) {
    bool fits = block.exponent[s][r] != kNoExponent && bits <= kMaxFixedBits;
    block.fixed[s][r] = fits ? significands[s] << (block.exponent[s][r] - low) : 0;
  }
  block.minExponent[r] = low;
  block.maxExponent[r] = high;
  block.fixedBits[r] = bits;
  int64_t power = int64_t(low - mantissaBits - 1 + 1023) << 52;
  __builtin_memcpy(&block.unit[r], &power, 8);
  block.nanRows |= unsigned(nan) << r;
}

/// What sixteen rows have in common; then what each four have.
void summarise(RowBlock &block, int rows) {
  block.blockMinExponent = block.minExponent[0];
  block.blockMaxExponent = block.maxExponent[0];
  block.blockFixedBits = 0;
  block.blockMinNonzeros = 16;
  for (int r = 0; r < rows; ++r) {
    block.blockMinExponent = minOf(block.blockMinExponent, block.minExponent[r]);
    block.blockMaxExponent = maxOf(block.blockMaxExponent, block.maxExponent[r]);
    block.blockFixedBits = maxOf(block.blockFixedBits, block.fixedBits[r]);
    block.blockMinNonzeros = minOf(block.blockMinNonzeros, block.minNonzeros[r]);
  }
  for (int quad = 0; quad + 4 <= rows; quad += 4) {
    for (int r = quad + 1; r < quad + 4; ++r) {
      block.minExponent[quad] = minOf(block.minExponent[quad], block.minExponent[r]);
      block.maxExponent[quad] = maxOf(block.maxExponent[quad], block.maxExponent[r]);
      block.fixedBits[quad] = maxOf(block.fixedBits[quad], block.fixedBits[r]);
    }
  }
}

void decodeA(const Tile &t, Workspace &w, int row) {
  RowBlock &block = w.a[row / kLanes];
  int r = row % kLanes;
  alignas(64) uint8_t bytes[64];
  copyRow(bytes, t.a + size_t(row) * t.aPitch, t.k, t.flipA);
  block.minNonzeros[r] = noteNonzeros(block, r, bytes, t.k / 16);
  const __m256i ones = _mm256_set1_epi8(1), ones16 = _mm256_set1_epi16(1);
  alignas(32) int32_t sums[16];
  for (int half = 0; half < 2; ++half) {
    Values v = valuesOf(load(bytes + 32 * half));
    store(w.aValues[row] + 32 * half, v.low);
    store(w.aValues[row] + 64 + 32 * half, v.high);
    __m256i pairs =
        _mm256_add_epi16(_mm256_maddubs_epi16(ones, v.low), _mm256_maddubs_epi16(ones, v.high));
    store(sums + 8 * half, _mm256_madd_epi16(pairs, ones16));
  }
  for (int g = 0; g < t.k / 16; ++g)
    w.aBias[row][g] = -kBias * (sums[2 * g] + sums[2 * g + 1]);
}

void decodeB(const Tile &t, Workspace &w, int first, int rows) {
  RowBlock &block = w.b[first / kLanes];
  alignas(64) uint32_t words[kMaxK / 8][kLanes] = {};
  for (int r = 0; r < rows; ++r) {
    alignas(64) uint8_t bytes[64];
    copyRow(bytes, t.b + size_t(first + r) * t.bPitch, t.k, t.flipB);
    block.minNonzeros[r] = noteNonzeros(block, r, bytes, t.k / 16);
    for (int j = 0; j < t.k / 8; ++j)
      __builtin_memcpy(&words[j][r], bytes + 4 * j, 4);
  }
  const __m256i bias = _mm256_set1_epi8(kBias);
  for (int j = 0; j < t.k / 8; ++j)
    for (int half = 0; half < 2; ++half) {
      Values v = valuesOf(load(words[j] + kHalf * half));
      store(w.bValues[first / kLanes][j][0] + 32 * half, _mm256_add_epi8(v.low, bias));
      store(w.bValues[first / kLanes][j][1] + 32 * half, _mm256_add_epi8(v.high, bias));
    }
}

void decode(const Tile &t, Workspace &w) {
  int fewestA = 16, fewestB = 16, count = t.k / t.block;
  for (int first = 0; first < t.m; first += kLanes) {
    RowBlock &block = w.a[first / kLanes];
    int rows = minOf(kLanes, t.m - first);
    block.nanRows = 0;
    for (int r = 0; r < rows; ++r) {
      decodeA(t, w, first + r);
      decodeScales(block, r, t.sfa + (first + r) * t.sfaPitch, count, t.scale);
    }
    summarise(block, rows);
    fewestA = minOf(fewestA, block.blockMinNonzeros);
  }
  for (int first = 0; first < t.n; first += kLanes) {
    RowBlock &block = w.b[first / kLanes];
    int rows = minOf(kLanes, t.n - first);
    block.nanRows = 0;
    decodeB(t, w, first, rows);
    for (int r = 0; r < rows; ++r)
      decodeScales(block, r, t.sfb + (first + r) * t.sfbPitch, count, t.scale);
    summarise(block, rows);
    fewestB = minOf(fewestB, block.blockMinNonzeros);
  }
  w.mayHaveZeroGroups = fewestA + fewestB <= 16; // Fp4Avx512.cpp says why
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Products of `Groups` groups of a row of A with eight rows of B, in quarters,
/// without A's bias. Sums of up to 32 products fit int16.
template <int Groups>
inline __m256i dot(const int8_t *a, const uint8_t (*b)[2][kLanes * 4], int half, int g) {
  __m256i pairs = _mm256_setzero_si256();
#pragma GCC unroll 4
  for (int j = 2 * g; j < 2 * (g + Groups); ++j)
#pragma GCC unroll 2
    for (int part = 0; part < 2; ++part) {
      int32_t word;
      __builtin_memcpy(&word, a + 64 * part + 4 * j, 4);
      pairs =
          _mm256_add_epi16(pairs, _mm256_maddubs_epi16(load(b[j][part] + 32 * half), splat(word)));
    }
  return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

/// 2^exponent for four lanes, as doubles.
inline __m256d power(__m128i exponent) {
  __m256i wide = _mm256_cvtepi32_epi64(_mm_add_epi32(exponent, _mm_set1_epi32(1023)));
  return _mm256_castsi256_pd(_mm256_slli_epi64(wide, 52));
}
inline __m128i lower(__m256i v) { return _mm256_castsi256_si128(v); }
inline __m128i upper(__m256i v) { return _mm256_extracti128_si256(v, 1); }
inline __m256 join(__m128 low, __m128 high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}
/// Lanes too large for a float, and two such halves as one vector.
inline __m256 exceeds(__m256d v) {
  __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), v);
  return _mm256_castpd_ps(_mm256_cmp_pd(magnitude, _mm256_set1_pd(0x1p128), _CMP_GE_OQ));
}
inline __m256i narrow(__m256 low, __m256 high) {
  __m256 mixed = _mm256_shuffle_ps(low, high, 0x88);
  return _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), 0xD8);
}
inline void addCut(__m256d &sum, __m256d term) {
  sum = _mm256_add_pd(sum, _mm256_round_pd(term, kCut));
}

/// The model for one row and eight columns.
template <int S, int P, bool Bare>
void generalRow(const Tile &t, const Workspace &w, int row, int column) {
  const RowBlock &a = w.a[row / kLanes], &b = w.b[column / kLanes];
  const int lane = row % kLanes, base = column % kLanes, half = base / kHalf;
  float *d = t.d + size_t(row) * t.dPitch + column;
  __m256 c = t.accumulate ? _mm256_loadu_ps(d) : _mm256_setzero_ps();
  __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(c), splat(0x7FFFFFFF));
  __m256i field = _mm256_max_epi32(_mm256_srli_epi32(magnitude, 23), splat(1));
  __m256i largest = _mm256_blendv_epi8(_mm256_sub_epi32(field, splat(127)), splat(kZeroExponent),
                                       _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256()));
  __m256i exponents[S];
  for (int s = 0; s < S; ++s) {
    exponents[s] = _mm256_add_epi32(splat(a.exponent[s][lane]), load(b.exponent[s] + base));
    __m256i counted = exponents[s];
    if (w.mayHaveZeroGroups) {
      __m256i shared = _mm256_setzero_si256();
      for (int g = P * s; g < P * (s + 1); ++g)
        shared = _mm256_or_si256(
            shared, _mm256_and_si256(splat(a.nonzero[g][lane]), load(b.nonzero[g] + base)));
      counted = _mm256_blendv_epi8(counted, splat(kZeroExponent),
                                   _mm256_cmpeq_epi32(shared, _mm256_setzero_si256()));
    }
    largest = _mm256_max_epi32(largest, counted);
  }
  __m256i up = _mm256_sub_epi32(splat(kFraction), largest);
  __m256d upLow = power(lower(up)), upHigh = power(upper(up));
  __m256d sumLow = _mm256_setzero_pd(), sumHigh = sumLow;
  addCut(sumLow, _mm256_mul_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(c)), upLow));
  addCut(sumHigh, _mm256_mul_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(c, 1)), upHigh));
  for (int s = 0; s < S; ++s) {
    __m256d factorLow, factorHigh;
    if (Bare) {
      __m256i exponent = _mm256_add_epi32(exponents[s], _mm256_sub_epi32(up, splat(2)));
      factorLow = power(lower(exponent));
      factorHigh = power(upper(exponent));
    } else {
      __m256 factor =
          _mm256_mul_ps(_mm256_set1_ps(a.scale[s][lane]), _mm256_load_ps(b.scale[s] + base));
      factorLow = _mm256_mul_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(factor)), upLow);
      factorHigh = _mm256_mul_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(factor, 1)), upHigh);
    }
    for (int g = P * s; g < P * (s + 1); ++g) {
      __m256i quarters = _mm256_add_epi32(
          dot<1>(w.aValues[row], w.bValues[column / kLanes], half, g), splat(w.aBias[row][g]));
      addCut(sumLow, _mm256_mul_pd(_mm256_cvtepi32_pd(lower(quarters)), factorLow));
      addCut(sumHigh, _mm256_mul_pd(_mm256_cvtepi32_pd(upper(quarters)), factorHigh));
    }
  }
  __m256i down = _mm256_sub_epi32(_mm256_setzero_si256(), up);
  __m256d low = _mm256_mul_pd(sumLow, power(lower(down)));
  __m256d high = _mm256_mul_pd(sumHigh, power(upper(down)));
  __m256 result = join(_mm256_cvtpd_ps(low), _mm256_cvtpd_ps(high));
  result = _mm256_add_ps(result, _mm256_setzero_ps()); // no minus zero
  // Cutting leaves overflow at the largest finite value; infinity is next to it.
  __m256i overflow = narrow(exceeds(low), exceeds(high));
  result = _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_castps_si256(result), overflow));
  __m256i special = _mm256_cmpgt_epi32(magnitude, splat(0x7F7FFFFF));
  result = _mm256_blendv_ps(result, c, _mm256_castsi256_ps(special));
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  int nanColumns = (a.nanRows >> lane & 1) ? 0xFF : int(b.nanRows >> base);
  __m256i nan = _mm256_or_si256(_mm256_cmpgt_epi32(magnitude, splat(0x7F800000)),
                                _mm256_cmpeq_epi32(_mm256_and_si256(splat(nanColumns), bit), bit));
  result =
      _mm256_blendv_ps(result, _mm256_castsi256_ps(splat(0x7FFFFFFF)), _mm256_castsi256_ps(nan));
  _mm256_storeu_ps(d, result);
}

/// Four rows and eight columns as integers; false, with D untouched, if an
/// accumulator is out of the range in which that is exact (Fp4Avx512.cpp).
template <int S, int P, bool Bare>
bool shortcutRows(const Tile &t, const Workspace &w, int row, int column) {
  const RowBlock &a = w.a[row / kLanes], &b = w.b[column / kLanes];
  const int lane = row % kLanes, base = column % kLanes, half = base / kHalf;
  constexpr int kTermBits = (Bare ? 0 : 6) + 2;
  int bits = a.fixedBits[lane] + b.blockFixedBits;
  int top = a.maxExponent[lane] + b.blockMaxExponent;
  int last = a.minExponent[lane] + b.blockMinExponent - kTermBits;
  int lowest = maxOf(top, -90) - 12, highest = minOf(last + kFraction, 100);
  if (bits > kMaxFixedBits || last < -100 || top > 100 || lowest > highest)
    return false;
  float *d = t.d + size_t(row) * t.dPitch + column;
  __m256 c[4];
  __m256i bad = _mm256_setzero_si256();
  __m256i from = splat(((lowest + 127) << 23) - 1), to = splat((highest + 128) << 23);
  for (int r = 0; r < 4; ++r) {
    c[r] = t.accumulate ? _mm256_loadu_ps(d + r * t.dPitch) : _mm256_setzero_ps();
    __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(c[r]), splat(0x7FFFFFFF));
    __m256i good =
        _mm256_and_si256(_mm256_cmpgt_epi32(magnitude, from), _mm256_cmpgt_epi32(to, magnitude));
    good = _mm256_or_si256(good, _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256()));
    bad = _mm256_or_si256(bad, _mm256_xor_si256(good, splat(-1)));
  }
  if (!_mm256_testz_si256(bad, bad))
    return false;
  for (int r = 0; r < 4; ++r) {
    __m256i sum = _mm256_setzero_si256();
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) {
      int bias = w.aBias[row + r][P * s] + (P == 2 ? w.aBias[row + r][2 * s + 1] : 0);
      __m256i quarters = _mm256_add_epi32(
          dot<P>(w.aValues[row + r], w.bValues[column / kLanes], half, P * s), splat(bias));
      __m256i scale = _mm256_mullo_epi16(splat(a.fixed[s][lane + r]), load(b.fixed[s] + base));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(quarters, scale));
    }
    __m256d unit = _mm256_set1_pd(a.unit[lane + r]);
    __m256d low = _mm256_fmadd_pd(
        _mm256_mul_pd(_mm256_cvtepi32_pd(lower(sum)), _mm256_load_pd(b.unit + base)), unit,
        _mm256_cvtps_pd(_mm256_castps256_ps128(c[r])));
    __m256d high = _mm256_fmadd_pd(
        _mm256_mul_pd(_mm256_cvtepi32_pd(upper(sum)), _mm256_load_pd(b.unit + base + 4)), unit,
        _mm256_cvtps_pd(_mm256_extractf128_ps(c[r], 1)));
    _mm256_storeu_ps(d + r * t.dPitch, join(_mm256_cvtpd_ps(low), _mm256_cvtpd_ps(high)));
  }
  return true;
}

/// N is a multiple of 8, so no vector is partly outside. Columns in groups that the
/// first cache holds, as rows of D may lie so that they displace each other there.
template <int S, int P, bool Bare> void sumAll(const Tile &t, const Workspace &w, bool shortcuts) {
  constexpr int kGroup = 64;
  for (int first = 0; first < t.n; first += kGroup)
    for (int row = 0; row < t.m; row += 4)
      for (int column = first; column < minOf(first + kGroup, t.n); column += kHalf) {
        int rows = minOf(4, t.m - row);
        if (shortcuts && rows == 4 && shortcutRows<S, P, Bare>(t, w, row, column))
          continue;
        for (int r = row; r < row + rows; ++r)
          generalRow<S, P, Bare>(t, w, r, column);
      }
}

template <bool Bare>
[[gnu::noinline]] void sumByShape(const Tile &t, const Workspace &w, bool shortcuts) {
  byShape(t, [&]<int S, int P>() { sumAll<S, P, Bare>(t, w, shortcuts); });
}

} // namespace

void blockscale::emu::fp4::mmaAvx2(const Tile &tile, Workspace &work, bool shortcuts) {
  decode(tile, work);
  unsigned saved = _mm_getcsr();
  _mm_setcsr((saved & ~0x6000u) | 0x6000u); // toward zero
  if (tile.scale == Scale::ue8m0)
    sumByShape<true>(tile, work, shortcuts);
  else
    sumByShape<false>(tile, work, shortcuts);
  _mm_setcsr(saved);
}
