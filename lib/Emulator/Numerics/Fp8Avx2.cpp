//===- Fp8Avx2.cpp - mxf8f6f4 with AVX2 -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two ways of Fp8Avx512.cpp for eight columns at a time. Everything rounds
// to nearest: what must be cut toward zero is converted by truncation, or has
// its half bit cleared before it is rounded. The shortcut reaches further: where
// the accumulator is so large that products could lose bits, the last bits that
// are set say whether any does.
//
//===----------------------------------------------------------------------===//

#include "Fp8Avx2.h"

using namespace blockscale::emu::fp8;

namespace {

constexpr int kCut = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
constexpr int kFraction = 25, kZeroExponent = -133; // the model: Model.h
constexpr int kNanBits = 0x7FFFFFFF;
constexpr int kRowsAtOnce = 4;
constexpr int kZeroPower = -64; // a product times 2^this is cut to zero
constexpr int kNoProduct = -45; // largest[] below this: all products are zero

/// Keeps a vector that several rows use in a register: loads limit these loops.
inline void pin(__m256i &v) { asm("" : "+x"(v)); }
inline void pin(__m256 &v) { asm("" : "+x"(v)); }
inline __m256d powerOfDouble(__m128i exponent) {
  __m256i wide = _mm256_cvtepi32_epi64(_mm_add_epi32(exponent, _mm_set1_epi32(1023)));
  return _mm256_castsi256_pd(_mm256_slli_epi64(wide, 52));
}

//===----------------------------------------------------------------------===//
// Exponents
//===----------------------------------------------------------------------===//

/// to[r][column % 64]: the largest (or least) sum over a block of a byte of row r
/// and one of each of 64 columns.
template <bool Least>
inline void extremes(int8_t (*to)[64], const RowA *rows, const int32_t (RowA::*ofRow)[kMaxK],
                     const int8_t (*columns)[64], int k0) {
  __m256i extreme[kRowsAtOnce][2];
#pragma GCC unroll 4
  for (int r = 0; r < kRowsAtOnce; ++r)
    extreme[r][0] = extreme[r][1] = _mm256_set1_epi8(Least ? 127 : -128);
#pragma GCC unroll 2
  for (int k = k0; k < k0 + kBlock; ++k) {
    __m256i column[2] = {load(columns[k]), load(columns[k] + 32)};
    pin(column[0]);
    pin(column[1]);
#pragma GCC unroll 4
    for (int r = 0; r < kRowsAtOnce; ++r) {
      __m256i row = splat((rows[r].*ofRow)[k]);
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        __m256i sum = _mm256_add_epi8(column[h], row);
        extreme[r][h] =
            Least ? _mm256_min_epi8(extreme[r][h], sum) : _mm256_max_epi8(extreme[r][h], sum);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRowsAtOnce; ++r) {
    store(to[r], extreme[r][0]);
    store(to[r] + 32, extreme[r][1]);
  }
}

/// largest[block][row][column % 64] for kRowsAtOnce rows and 64 columns.
[[gnu::noinline]] void findLargest(const Tile &t, Workspace &w, int row, int column) {
  for (int block = 0; block < t.k / kBlock; ++block)
    extremes<false>(w.largest[block] + row, w.a + row, &RowA::exponent, w.exponentB[column / 64],
                    block * kBlock);
}

/// As findLargest, for lastBit.
[[gnu::noinline]] void findLastBits(const Tile &t, Workspace &w, int row, int column) {
  for (int block = 0; block < t.k / kBlock; ++block)
    extremes<true>(w.lastBit[block] + row, w.a + row, &RowA::lastBit, w.lastBitB[column / 64],
                   block * kBlock);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Sixteen columns of D in two vectors; those beyond N are not touched.
struct Columns {
  const ColumnsB &b;
  size_t column; // the first one
  int count;     // of those within N
  __m256i inside[2];

  Columns(const Tile &t, const Workspace &w, int column)
      : b(w.b[column / kLanes]), column(size_t(column)), count(minOf(kLanes, t.n - column)) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    inside[0] = _mm256_cmpgt_epi32(splat(count), lane);
    inside[1] = _mm256_cmpgt_epi32(splat(count - kHalf), lane);
  }
  __m256 read(const float *row, int half) const {
    if (count >= kHalf * (half + 1))
      return _mm256_loadu_ps(row + column + kHalf * half);
    if (count <= kHalf * half)
      return _mm256_setzero_ps();
    return _mm256_maskload_ps(row + column + kHalf * half, inside[half]);
  }
  void write(float *row, int half, __m256 v) const {
    if (count >= kHalf * (half + 1))
      _mm256_storeu_ps(row + column + kHalf * half, v);
    else if (count > kHalf * half)
      _mm256_maskstore_ps(row + column + kHalf * half, inside[half], v);
  }
  /// Bytes kept for 64 columns as int32.
  __m256i widen(const int8_t (&group)[64], int half) const {
    return _mm256_cvtepi8_epi32(
        _mm_loadl_epi64((const __m128i *)(group + column % 64 + size_t(kHalf * half))));
  }
};

/// What both ways need to know of eight outputs.
template <int Blocks> struct Alignment {
  __m256 c;              // the accumulators
  __m256i magnitude;     // their bits without sign
  __m256i field;         // their exponent fields as the model reads them
  __m256i largest;       // the exponent that terms are aligned to
  __m256i scale[Blocks]; // sum of the scales' exponents
};

template <int Blocks>
inline Alignment<Blocks> align(const Tile &t, const Workspace &w, int row, const Columns &cols,
                               int half) {
  Alignment<Blocks> x;
  x.c = t.accumulate ? cols.read(t.d + size_t(row) * t.dPitch, half) : _mm256_setzero_ps();
  x.magnitude = _mm256_and_si256(bitsOf(x.c), splat(0x7FFFFFFF));
  x.field = _mm256_max_epi32(_mm256_srli_epi32(x.magnitude, 23), splat(1));
  x.largest = _mm256_blendv_epi8(_mm256_sub_epi32(x.field, splat(127)), splat(kZeroExponent),
                                 _mm256_cmpeq_epi32(x.magnitude, _mm256_setzero_si256()));
#pragma GCC unroll 2
  for (int block = 0; block < Blocks; ++block) {
    x.scale[block] =
        _mm256_add_epi32(splat(w.a[row].scale[block]), load(cols.b.scale[block] + kHalf * half));
    __m256i product = cols.widen(w.largest[block][row], half);
    __m256i some = _mm256_cmpgt_epi32(product, splat(kNoProduct));
    x.largest = _mm256_max_epi32(
        x.largest,
        _mm256_blendv_epi8(splat(kZeroExponent), _mm256_add_epi32(product, x.scale[block]), some));
  }
  return x;
}

/// A product of a block, cut to the unit of the aligned sum.
inline __m256i cut(__m256 a, __m256 b, __m256 factor) {
  return _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_mul_ps(a, b), factor));
}

/// 2^(exponent of a block's products in units of the aligned sum); far too small
/// ones still cut to zero (a product is below 2^32); all-zero blocks may have any.
inline __m256 blockFactor(__m256i largest, __m256i scale) {
  __m256i exponent = _mm256_add_epi32(_mm256_sub_epi32(splat(kFraction), largest), scale);
  return power(_mm256_min_epi32(_mm256_max_epi32(exponent, splat(kZeroPower)), splat(60)));
}

/// The accumulator in units of the aligned sum: its significand, shifted.
template <int Blocks> inline __m256i cutAccumulator(const Alignment<Blocks> &x) {
  __m256i implied = _mm256_slli_epi32(_mm256_sub_epi32(x.field, splat(1)), 23);
  __m256i significand = _mm256_sub_epi32(x.magnitude, implied); // in units of its last bit
  __m256i below = _mm256_sub_epi32(_mm256_add_epi32(x.largest, splat(127)), x.field);
  return _mm256_sign_epi32(_mm256_srlv_epi32(_mm256_slli_epi32(significand, kFraction - 23), below),
                           bitsOf(x.c));
}

inline void addWide(__m256d (&sum)[2], __m256i part) {
  sum[0] = _mm256_add_pd(sum[0], _mm256_cvtepi32_pd(lower(part)));
  sum[1] = _mm256_add_pd(sum[1], _mm256_cvtepi32_pd(upper(part)));
}

/// Cuts doubles to floats; overflow is infinity, zero is plus zero.
inline __m128 cutToFloats(__m256d v) {
  const __m256d halfBit = _mm256_castsi256_pd(_mm256_set1_epi64x(int64_t(1) << 28));
  const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), v);
  __m256d subnormal = _mm256_cmp_pd(magnitude, _mm256_set1_pd(0x1p-126), _CMP_LT_OQ);
  if (_mm256_movemask_pd(subnormal)) {
    __m256d units = _mm256_round_pd(_mm256_mul_pd(v, _mm256_set1_pd(0x1p149)), kCut);
    __m256d whole =
        _mm256_mul_pd(_mm256_add_pd(units, _mm256_setzero_pd()), _mm256_set1_pd(0x1p-149));
    v = _mm256_blendv_pd(v, whole, subnormal);
  }
  return _mm256_cvtpd_ps(_mm256_andnot_pd(halfBit, v));
}

inline __m256 select(__m256 otherwise, __m256i mask, __m256 v) {
  return _mm256_blendv_ps(otherwise, v, floats(mask));
}

/// Where an operand holds an infinity, IEEE arithmetic gives the special results:
/// in any order, as finite products are below 2^32 and overflow no sum.
inline __m256 withInfinities(const Tile &t, const RowA &a, const ColumnsB &b, int half, __m256 c,
                             __m256 result) {
  __m256 sums[4] = {c, _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
  for (int k0 = 0; k0 < t.k; k0 += 4)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      sums[j] = _mm256_fmadd_ps(_mm256_set1_ps(a.value[k0 + j]),
                                _mm256_load_ps(b.value[k0 + j] + kHalf * half), sums[j]);
  __m256 sum = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
  __m256i magnitude = _mm256_and_si256(bitsOf(sum), splat(0x7FFFFFFF));
  result = select(result, _mm256_cmpgt_epi32(magnitude, splat(0x7F7FFFFF)), sum);
  return select(result, _mm256_cmpgt_epi32(magnitude, splat(0x7F800000)), floats(splat(kNanBits)));
}

/// A whole number of units of the aligned sum as floats, cut: without the bit below
/// the last one kept, a number rounds down. For sums that notQuick() does not refuse.
inline __m256 quickResult(__m256i sum, __m256i largest) {
  __m256i magnitude = _mm256_abs_epi32(sum);
  magnitude = _mm256_andnot_si256(_mm256_srli_epi32(magnitude, 24), magnitude);
  __m256 result = _mm256_cvtepi32_ps(_mm256_sign_epi32(magnitude, sum));
  return _mm256_mul_ps(result, power(_mm256_sub_epi32(largest, splat(kFraction))));
}
/// In sign bits: a result may be subnormal, or the accumulator is special. (Overflow
/// rounds to infinity, as it must.) Sign bits, because compilers pack and unpack masks
/// that are compared.
inline __m256i notQuick(__m256i largest) {
  return _mm256_or_si256(_mm256_add_epi32(largest, splat(100)),
                         _mm256_sub_epi32(splat(127), largest));
}

/// The end of the general way where a result may be anything.
template <int Blocks>
[[gnu::noinline]] __m256 anyResult(const Tile &t, const RowA &a, const ColumnsB &b, int half,
                                   const Alignment<Blocks> &x, const __m256i (&part)[2 * Blocks]) {
  const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  __m256d sum[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  for (int i = 0; i < 2 * Blocks; ++i)
    addWide(sum, part[i]);
  __m256i down = _mm256_sub_epi32(x.largest, splat(kFraction));
  __m128 low = cutToFloats(_mm256_mul_pd(sum[0], powerOfDouble(lower(down))));
  __m128 high = cutToFloats(_mm256_mul_pd(sum[1], powerOfDouble(upper(down))));
  __m256 result = _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
  result = select(result, _mm256_cmpgt_epi32(x.magnitude, splat(0x7F7FFFFF)), x.c);
  if (!a.isNan && (a.hasInfinity || b.hasInfinity))
    result = withInfinities(t, a, b, half, x.c, result);
  __m256i nan = _mm256_cmpgt_epi32(x.magnitude, splat(0x7F800000));
  int columns = a.isNan ? 0xFF : b.nanColumns >> (kHalf * half);
  nan = _mm256_or_si256(nan, _mm256_cmpeq_epi32(_mm256_and_si256(splat(columns), lane), lane));
  return select(result, nan, floats(splat(kNanBits)));
}

/// The model for `Rows` rows and eight columns.
template <int Blocks, int Rows>
[[gnu::always_inline]] inline void generalRows(const Tile &t, const Workspace &w, int row,
                                               const Columns &cols, int half) {
  const ColumnsB &b = cols.b;
  Alignment<Blocks> x[Rows];
  __m256i part[Rows][2 * Blocks]; // the accumulator and sixteen cut products stay below 2^31
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
    x[r] = align<Blocks>(t, w, row + r, cols, half);
#pragma GCC unroll 2
  for (int block = 0; block < Blocks; ++block) {
    __m256 factor[Rows];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
      factor[r] = blockFactor(x[r].largest, x[r].scale[block]);
    for (int k0 = block * kBlock; k0 < (block + 1) * kBlock; k0 += 16) {
      __m256i sum[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r)
        sum[r] = k0 == 0 ? cutAccumulator(x[r]) : _mm256_setzero_si256();
#pragma GCC unroll 4
      for (int k = k0; k < k0 + 16; ++k) {
        __m256 values = _mm256_load_ps(b.value[k] + kHalf * half);
        pin(values);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r)
          sum[r] = _mm256_add_epi32(sum[r],
                                    cut(_mm256_set1_ps(w.a[row + r].value[k]), values, factor[r]));
      }
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r)
        part[r][k0 / 16] = sum[r];
    }
  }
  const bool plainColumns = b.nanColumns == 0 && !b.hasInfinity;
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    const RowA &a = w.a[row + r];
    __m256i sum = part[r][0], overflow = _mm256_setzero_si256(); // in sign bits
#pragma GCC unroll 3
    for (int i = 1; i < 2 * Blocks; ++i) {
      __m256i next = _mm256_add_epi32(sum, part[r][i]);
      overflow = _mm256_or_si256(overflow, _mm256_and_si256(_mm256_xor_si256(sum, next),
                                                            _mm256_xor_si256(part[r][i], next)));
      sum = next;
    }
    __m256i bad = _mm256_or_si256(overflow, notQuick(x[r].largest));
    __m256 result =
        plainColumns && !a.isNan && !a.hasInfinity && _mm256_movemask_ps(floats(bad)) == 0
            ? quickResult(sum, x[r].largest)
            : anyResult<Blocks>(t, a, b, half, x[r], part[r]);
    cols.write(t.d + size_t(row + r) * t.dPitch, half, result);
  }
}

/// The general way for some rows: bit r of `rows` is row + r.
template <int Blocks>
[[gnu::noinline]] void generalSome(const Tile &t, const Workspace &w, int row, unsigned rows,
                                   const Columns &cols, int half) {
  for (; rows != 0; rows &= rows - 1)
    generalRows<Blocks, 1>(t, w, row + __builtin_ctz(rows), cols, half);
}

template <int Blocks>
[[gnu::noinline]] void generalFour(const Tile &t, const Workspace &w, int row, const Columns &cols,
                                   int half) {
  generalRows<Blocks, kRowsAtOnce>(t, w, row, cols, half);
}

/// Dot products of four rows' and sixteen columns' regular elements, by block.
template <int Blocks> struct Dots {
  __m256i sum[Blocks][kRowsAtOnce][2];
};
constexpr int kMaxShift = 20;

/// Row + r and sixteen columns from the integer dot products of the regular elements.
/// Returns a bit for each half that was not possible for, with its D untouched.
/// `lastBits` says whether those of the four rows are known for these columns.
template <int Blocks>
[[gnu::always_inline]] inline unsigned shortcutRow(const Tile &t, Workspace &w, int row, int r,
                                                   const Columns &cols, const Dots<Blocks> &dots,
                                                   bool &lastBits) {
  const RowA &a = w.a[row + r];
  const ColumnsB &b = cols.b;
  int exceptions = 0; // so few that their cut values fit beside the dot products
  for (int block = 0; block < Blocks; ++block)
    exceptions += a.exceptions[block] + b.exceptions[block];
  if (!a.shortcut || exceptions > kMaxRowExceptions + kMaxColumnExceptions)
    return 3;
  Alignment<Blocks> x[2];
  __m256i bad[2], up[2], single[2], sum[2];
  __m256 estimate[2];
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) {
    x[h] = align<Blocks>(t, w, row + r, cols, h);
    bad[h] = notQuick(x[h].largest); // in sign bits
    up[h] = _mm256_sub_epi32(splat(kFraction), x[h].largest);
    single[h] = cutAccumulator(x[h]); // cut one by one; so few that they cannot overflow
    sum[h] = _mm256_setzero_si256();  // modulo 2^32
    estimate[h] = _mm256_setzero_ps();
  }
#pragma GCC unroll 2
  for (int block = 0; block < Blocks; ++block) {
    // Units of the dot product in units of the sum. If that is a whole number, no
    // product loses a bit; else none does if the last bits of all are high enough
    // (and the dot product is zero where power() has no such exponent).
    __m256i shift[2], part[2];
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      __m256i unit = _mm256_add_epi32(splat(a.unit[block]), load(b.unit[block] + kHalf * h));
      shift[h] = _mm256_add_epi32(unit, up[h]);
      part[h] = _mm256_sllv_epi32(dots.sum[block][r][h], shift[h]);
      bad[h] = _mm256_or_si256(bad[h], _mm256_sub_epi32(splat(kMaxShift), shift[h]));
    }
    if (_mm256_movemask_ps(floats(_mm256_or_si256(shift[0], shift[1]))) != 0) {
      if (!lastBits)
        findLastBits(t, w, row, int(cols.column) & -64);
      lastBits = true;
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        __m256i last = _mm256_add_epi32(cols.widen(w.lastBit[block][row + r], h),
                                        _mm256_add_epi32(x[h].scale[block], up[h]));
        bad[h] = _mm256_or_si256(bad[h], _mm256_and_si256(shift[h], last));
        __m256i down = _mm256_sub_epi32(_mm256_setzero_si256(), shift[h]);
        part[h] = bitsOf(select(floats(part[h]), shift[h],
                                floats(_mm256_srav_epi32(dots.sum[block][r][h], down))));
      }
    }
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      sum[h] = _mm256_add_epi32(sum[h], part[h]);
      estimate[h] =
          _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots.sum[block][r][h]), power(shift[h]), estimate[h]);
    }
    if (a.exceptions[block] + b.exceptions[block] == 0)
      continue;
    __m256 factor[2] = {blockFactor(x[0].largest, x[0].scale[block]),
                        blockFactor(x[1].largest, x[1].scale[block])};
    auto add = [&](float ofRow, const float *ofColumns) {
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h)
        single[h] =
            _mm256_add_epi32(single[h], cut(_mm256_set1_ps(ofRow),
                                            _mm256_load_ps(ofColumns + kHalf * h), factor[h]));
    };
    for (int e = 0; e < a.exceptions[block]; ++e)
      add(a.value[a.exceptionAt[block][e]], b.value[a.exceptionAt[block][e]]);
    for (int e = 0; e < b.exceptions[block]; ++e)
      add(a.regular[b.exceptionAt[block][e]], b.exceptionValue[block][e]);
  }
  unsigned failed = 0;
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) {
    // The sum is right if it fits an int32; the estimate is off by less than 2^28.
    sum[h] = _mm256_add_epi32(sum[h], single[h]);
    estimate[h] = _mm256_add_ps(estimate[h], _mm256_cvtepi32_ps(single[h]));
    __m256i magnitude = _mm256_and_si256(bitsOf(estimate[h]), splat(0x7FFFFFFF));
    bad[h] =
        _mm256_or_si256(bad[h], _mm256_sub_epi32(bitsOf(_mm256_set1_ps(0x1.Cp30f)), magnitude));
    if (!_mm256_testz_ps(floats(bad[h]), floats(cols.inside[h])))
      failed |= 1u << h;
    else
      cols.write(t.d + size_t(row + r) * t.dPitch, h, quickResult(sum[h], x[h].largest));
  }
  return failed;
}

template <int Blocks>
inline void dotProducts(Dots<Blocks> &dots, const RowA *rows, const ColumnsB &b) {
#pragma GCC unroll 2
  for (int block = 0; block < Blocks; ++block) {
    __m256i sum[kRowsAtOnce][2] = {};
#pragma GCC unroll 4
    for (int j = block * kBlock / 2; j < (block + 1) * kBlock / 2; ++j) {
      __m256i values[2] = {load(b.fixed[j]), load(b.fixed[j][kHalf])};
#pragma GCC unroll 4
      for (int r = 0; r < kRowsAtOnce; ++r) {
        int32_t pair;
        __builtin_memcpy(&pair, rows[r].fixed + 2 * j, 4);
#pragma GCC unroll 2
        for (int h = 0; h < 2; ++h) {
          sum[r][h] = _mm256_add_epi32(sum[r][h], _mm256_madd_epi16(values[h], splat(pair)));
          pin(sum[r][h]);
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRowsAtOnce; ++r)
      for (int h = 0; h < 2; ++h)
        store(&dots.sum[block][r][h], sum[r][h]);
  }
}

/// kRowsAtOnce rows and sixteen columns.
template <int Blocks>
void sumFourRows(const Tile &t, Workspace &w, int row, const Columns &cols, bool shortcut,
                 bool &lastBits) {
  constexpr unsigned kAll = (1u << kRowsAtOnce) - 1;
  unsigned failed[2] = {kAll, kAll};
  if (shortcut) {
    Dots<Blocks> dots;
    dotProducts<Blocks>(dots, w.a + row, cols.b);
    failed[0] = failed[1] = 0;
#pragma GCC unroll 1
    for (int r = 0; r < kRowsAtOnce; ++r)
      if (unsigned halves = shortcutRow<Blocks>(t, w, row, r, cols, dots, lastBits)) {
        failed[0] |= (halves & 1) << r;
        failed[1] |= (halves >> 1) << r;
      }
  }
  for (int h = 0; h < 2 && kHalf * h < cols.count; ++h)
    if (failed[h] == kAll)
      generalFour<Blocks>(t, w, row, cols, h);
    else if (failed[h])
      generalSome<Blocks>(t, w, row, failed[h], cols, h);
}

/// All rows of up to 64 columns: rows outside, as they are what the first cache
/// does not hold.
template <int Blocks>
[[gnu::noinline]] void sumColumns(const Tile &t, Workspace &w, int first, bool shortcuts) {
  for (int row = 0; row < t.m; row += kRowsAtOnce) {
    findLargest(t, w, row, first);
    bool lastBits = false; // found when they are first needed
    const int rows = minOf(kRowsAtOnce, t.m - row);
    for (int column = first; column < minOf(first + 64, t.n); column += kLanes) {
      const Columns cols(t, w, column);
      if (rows == kRowsAtOnce)
        sumFourRows<Blocks>(t, w, row, cols, shortcuts && cols.b.shortcut, lastBits);
      else
        for (int h = 0; h < 2 && kHalf * h < cols.count; ++h)
          generalSome<Blocks>(t, w, row, (1u << rows) - 1, cols, h);
    }
  }
}

template <int Blocks> void sumAll(const Tile &t, Workspace &w, bool shortcuts) {
  int quickRows = 0; // the shortcut must be worth trying
  for (int row = 0; row < t.m; ++row)
    quickRows += w.a[row].shortcut;
  for (int column = 0; column < t.n; column += 64)
    sumColumns<Blocks>(t, w, column, shortcuts && 2 * quickRows > t.m);
}

} // namespace

void blockscale::emu::fp8::mmaAvx2(const Tile &tile, Workspace &work, bool shortcuts) {
  decodeAvx2(tile, work);
  if (tile.k == kBlock)
    sumAll<1>(tile, work, shortcuts);
  else
    sumAll<2>(tile, work, shortcuts);
}
