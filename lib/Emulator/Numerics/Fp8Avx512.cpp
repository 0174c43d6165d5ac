//===- Fp8Avx512.cpp - mxf8f6f4 with AVX-512 VNNI -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exponent that terms are aligned to is a (max, +) product over K of the
// elements' exponents, in bytes. Then, the general way: every product is scaled
// to the unit of the aligned sum and cut by a conversion to int32. The shortcut:
// where no regular product can lose a bit, the regular ones are an int16 dot
// product, shifted; exceptions and the accumulator are cut one by one.
//
//===----------------------------------------------------------------------===//

#include "Fp8Avx512.h"

#include <cstring>

using namespace blockscale::emu::fp8;

namespace {

constexpr int kRz = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
constexpr int kFraction = 25, kZeroExponent = -133; // the model: Model.h
constexpr int kNanBits = 0x7FFFFFFF;
constexpr int kRowsAtOnce = 4;
constexpr int kZeroPower = -64; // a product times 2^this is cut to zero
constexpr int kNoProduct = -45; // largest[] below this: all products are zero

/// Keeps a vector that several rows use in a register: GCC would load it again
/// for each use, and loads are what limits these loops.
inline void pin(__m512i &v) { asm("" : "+v"(v)); }
inline void pin(__m512 &v) { asm("" : "+v"(v)); }
/// sum += values * the pair at `pair`, which is broadcast. By hand, because GCC
/// loads several pairs at once and takes them apart again.
inline void addPairs(__m512i &sum, __m512i values, const int16_t *pair) {
  asm("vpdpwssd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(values), "m"(*(const int16_t (*)[2])pair));
}

/// largest[block][row][column % 64] for 64 columns from `column`.
void findLargest(const Tile &t, Workspace &w, int column) {
  for (int block = 0; block < t.k / kBlock; ++block)
    for (int row = 0; row < t.m; row += kRowsAtOnce) {
      __m512i largest[kRowsAtOnce];
#pragma GCC unroll 4
      for (int r = 0; r < kRowsAtOnce; ++r)
        largest[r] = _mm512_set1_epi8(-128);
      for (int k = block * kBlock; k < (block + 1) * kBlock; ++k) {
        __m512i exponent = load(w.exponentB[column / 64][k]);
        pin(exponent);
#pragma GCC unroll 4
        for (int r = 0; r < kRowsAtOnce; ++r)
          largest[r] = _mm512_max_epi8(largest[r],
                                       _mm512_add_epi8(exponent, splat(w.a[row + r].exponent[k])));
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRowsAtOnce; ++r)
        _mm512_store_si512(w.largest[block][row + r], largest[r]);
    }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// What both ways need to know of sixteen outputs.
template <int Blocks> struct Alignment {
  __m512 c;              // the accumulators
  __m512i magnitude;     // their bits without sign
  __m512i largest;       // the exponent that terms are aligned to
  __m512i scale[Blocks]; // sum of the scales' exponents
};

template <int Blocks>
inline Alignment<Blocks> align(const Tile &t, const Workspace &w, int row, int column,
                               __mmask16 inside) {
  Alignment<Blocks> x;
  const float *d = t.d + size_t(row) * t.dPitch + column;
  x.c = t.accumulate ? _mm512_maskz_loadu_ps(inside, d) : _mm512_setzero_ps();
  x.magnitude = _mm512_and_si512(_mm512_castps_si512(x.c), splat(0x7FFFFFFF));
  __m512i field = _mm512_max_epi32(_mm512_srli_epi32(x.magnitude, 23), splat(1));
  x.largest = _mm512_mask_sub_epi32(
      splat(kZeroExponent), _mm512_test_epi32_mask(x.magnitude, x.magnitude), field, splat(127));
  for (int block = 0; block < Blocks; ++block) {
    x.scale[block] =
        _mm512_add_epi32(splat(w.a[row].scale[block]), load(w.b[column / kLanes].scale[block]));
    __m512i product = widen(_mm_load_si128((const __m128i *)(w.largest[block][row] + column % 64)));
    x.largest =
        _mm512_mask_max_epi32(x.largest, _mm512_cmpgt_epi32_mask(product, splat(kNoProduct)),
                              x.largest, _mm512_add_epi32(product, x.scale[block]));
  }
  return x;
}

inline __m512 join(__m256 low, __m256 high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

/// A product of a block, cut to the unit of the aligned sum.
inline __m512i cut(__m512 a, __m512 b, __m512 factor) {
  return _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_mul_ps(a, b), factor));
}

/// 2^(exponent of a block's products in units of the aligned sum); far too small
/// ones still cut to zero (a product is below 2^32), by way of normal numbers, as
/// subnormal results take microcode on Intel; all-zero blocks may have any.
inline __m512 blockFactor(__m512i largest, __m512i scale) {
  __m512i exponent = _mm512_add_epi32(_mm512_sub_epi32(splat(kFraction), largest), scale);
  return power(_mm512_min_epi32(_mm512_max_epi32(exponent, splat(kZeroPower)), splat(60)));
}

/// The accumulator in units of the aligned sum. What is cut to zero is not scaled.
template <int Blocks> inline __m512i cutAccumulator(const Alignment<Blocks> &x) {
  __m512i up = _mm512_sub_epi32(splat(kFraction), x.largest);
  __m512i field = _mm512_max_epi32(_mm512_srli_epi32(x.magnitude, 23), splat(1));
  __mmask16 some = _mm512_cmpge_epi32_mask(_mm512_add_epi32(field, up), splat(127));
  return _mm512_cvttps_epi32(_mm512_maskz_scalef_ps(some, x.c, _mm512_cvtepi32_ps(up)));
}

/// Where an operand holds an infinity, IEEE arithmetic gives the special results:
/// in any order, as finite products are below 2^32 and overflow no sum.
inline __m512 withInfinities(const Tile &t, const RowA &a, const ColumnsB &b, __m512 c,
                             __m512 result) {
  __m512 sums[4] = {c, _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
  for (int k0 = 0; k0 < t.k; k0 += 4)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      sums[j] = _mm512_fmadd_ps(_mm512_set1_ps(a.value[k0 + j]), _mm512_load_ps(b.value[k0 + j]),
                                sums[j]);
  __m512 sum = _mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3]));
  __mmask16 special = _mm512_cmpge_epi32_mask(
      _mm512_and_si512(_mm512_castps_si512(sum), splat(0x7FFFFFFF)), splat(0x7F800000));
  result = _mm512_mask_mov_ps(result, special, sum);
  return _mm512_mask_mov_ps(result, _mm512_cmp_ps_mask(sum, sum, _CMP_UNORD_Q),
                            _mm512_castsi512_ps(splat(kNanBits)));
}

/// Lanes whose result is the sum in units, rounded to 24 bits and scaled: neither
/// overflow nor a subnormal result, and no special accumulator.
inline __mmask16 scalesPlainly(__m512i largest) {
  return _mm512_cmple_epu32_mask(_mm512_add_epi32(largest, splat(100)), splat(220));
}
inline __m512 scaledPlainly(__m512i sum, __m512i largest) {
  __m512 down = _mm512_cvtepi32_ps(_mm512_sub_epi32(largest, splat(kFraction)));
  return _mm512_scalef_ps(_mm512_cvt_roundepi32_ps(sum, kRz), down);
}

constexpr int kPart = 16; // so many cut products and the accumulator stay below 2^31

/// What the general way knows of sixteen outputs before it rounds.
template <int Blocks> struct Sums {
  Alignment<Blocks> x;
  __m512i part[Blocks * kBlock / kPart];
};

/// The results for sums or results that may be out of the ordinary.
template <int Blocks>
[[gnu::noinline]] __m512 roundCarefully(const Tile &t, const RowA &a, const ColumnsB &b,
                                        const Sums<Blocks> &s) {
  __m512d sum[2] = {_mm512_setzero_pd(), _mm512_setzero_pd()};
  for (__m512i part : s.part) {
    sum[0] = _mm512_add_pd(sum[0], _mm512_cvtepi32_pd(_mm512_castsi512_si256(part)));
    sum[1] = _mm512_add_pd(sum[1], _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(part, 1)));
  }
  // As in Fp4Avx512.cpp: cut to 24 bits, then scale.
  __m512 bits = join(_mm512_cvt_roundpd_ps(sum[0], kRz), _mm512_cvt_roundpd_ps(sum[1], kRz));
  __m512 down = _mm512_cvtepi32_ps(_mm512_sub_epi32(s.x.largest, splat(kFraction)));
  __m512 result = _mm512_scalef_round_ps(bits, down, kRz);
  __m512i resultBits = _mm512_and_si512(_mm512_castps_si512(result), splat(0x7FFFFFFF));
  result = _mm512_mask_scalef_ps(result, _mm512_cmpeq_epi32_mask(resultBits, splat(0x7F7FFFFF)),
                                 bits, down);
  result = _mm512_add_ps(result, _mm512_setzero_ps()); // no minus zero
  __mmask16 special = _mm512_cmpge_epi32_mask(s.x.magnitude, splat(0x7F800000));
  result = _mm512_mask_mov_ps(result, special, s.x.c);
  if (!a.isNan && (a.hasInfinity || b.hasInfinity))
    result = withInfinities(t, a, b, s.x.c, result);
  __mmask16 nan =
      _mm512_cmpgt_epi32_mask(s.x.magnitude, splat(0x7F800000)) | __mmask16(b.nanColumns);
  if (a.isNan)
    nan = 0xFFFF;
  return _mm512_mask_mov_ps(result, nan, _mm512_castsi512_ps(splat(kNanBits)));
}

/// The model for some rows and sixteen columns.
template <int Blocks, int Rows>
[[gnu::always_inline]] inline void generalRows(const Tile &t, const Workspace &w,
                                               const int (&rows)[Rows], int column) {
  const ColumnsB &b = w.b[column / kLanes];
  const __mmask16 inside = t.n - column >= kLanes ? 0xFFFF : __mmask16((1u << (t.n - column)) - 1);
  Sums<Blocks> sums[Rows];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
    sums[r].x = align<Blocks>(t, w, rows[r], column, inside);
#pragma GCC unroll 2
  for (int block = 0; block < Blocks; ++block) {
    __m512 factor[Rows];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
      factor[r] = blockFactor(sums[r].x.largest, sums[r].x.scale[block]);
#pragma GCC unroll 2
    for (int k0 = block * kBlock; k0 < (block + 1) * kBlock; k0 += kPart) {
      __m512i part[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r)
        part[r] = k0 == 0 ? cutAccumulator(sums[r].x) : _mm512_setzero_si512();
#pragma GCC unroll 4
      for (int k = k0; k < k0 + kPart; ++k) {
        __m512 values = _mm512_load_ps(b.value[k]);
        pin(values);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r)
          part[r] = _mm512_add_epi32(part[r],
                                     cut(_mm512_set1_ps(w.a[rows[r]].value[k]), values, factor[r]));
      }
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r)
        sums[r].part[k0 / kPart] = part[r];
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    const RowA &a = w.a[rows[r]];
    __m512i sum = sums[r].part[0], overflow = _mm512_setzero_si512();
#pragma GCC unroll 3
    for (int p = 1; p < Blocks * kBlock / kPart; ++p) {
      __m512i part = sums[r].part[p], next = _mm512_add_epi32(sum, part);
      // The sign of (sum ^ next) & (part ^ next).
      overflow = _mm512_or_si512(overflow, _mm512_ternarylogic_epi32(sum, part, next, 0x42));
      sum = next;
    }
    __mmask16 plain = __mmask16(scalesPlainly(sums[r].x.largest) & ~_mm512_movepi32_mask(overflow));
    bool isPlain = (plain | __mmask16(~inside)) == 0xFFFF && b.nanColumns == 0 && !b.hasInfinity &&
                   !a.isNan && !a.hasInfinity;
    __m512 result =
        isPlain ? scaledPlainly(sum, sums[r].x.largest) : roundCarefully<Blocks>(t, a, b, sums[r]);
    _mm512_mask_storeu_ps(t.d + size_t(rows[r]) * t.dPitch + column, inside, result);
  }
}

constexpr int kMaxShift = 20;
constexpr int kMaxDropped = 15; // low bits of a product that are looked at

/// Lanes in which every product of a block has zeros in its last `dropped` bits.
inline __mmask16 dropOnlyZeros(const RowA &a, const ColumnsB &b, int block, __m512i dropped) {
  __m512i bits = _mm512_sub_epi32(_mm512_sllv_epi32(splat(1), dropped), splat(1));
  bits = _mm512_or_si512(bits, _mm512_slli_epi32(bits, 16)); // of both products of a pair
  __m512i lost[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
#pragma GCC unroll 16
  for (int j = block * kBlock / 2; j < (block + 1) * kBlock / 2; ++j) {
    int32_t pair;
    std::memcpy(&pair, a.fixed + 2 * j, sizeof pair);
    lost[j % 2] = _mm512_or_si512(lost[j % 2], _mm512_mullo_epi16(splat(pair), load(b.fixed[j])));
  }
  return _mm512_testn_epi32_mask(_mm512_or_si512(lost[0], lost[1]), bits);
}

/// Sums kRowsAtOnce rows and sixteen columns with int16 dot products. Returns a
/// bit for each row that was not possible for, with its D untouched.
template <int Blocks>
[[gnu::always_inline]] inline unsigned shortcutRows(const Tile &t, const Workspace &w, int row,
                                                    int column) {
  const ColumnsB &b = w.b[column / kLanes];
  const __mmask16 inside = t.n - column >= kLanes ? 0xFFFF : __mmask16((1u << (t.n - column)) - 1);
  __m512i dot[Blocks][kRowsAtOnce];
#pragma GCC unroll 2
  for (int block = 0; block < Blocks; ++block) {
#pragma GCC unroll 4
    for (int r = 0; r < kRowsAtOnce; ++r)
      dot[block][r] = _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int j = block * kBlock / 2; j < (block + 1) * kBlock / 2; ++j) {
      __m512i values = load(b.fixed[j]);
      pin(values);
#pragma GCC unroll 4
      for (int r = 0; r < kRowsAtOnce; ++r)
        addPairs(dot[block][r], values, w.a[row + r].fixed + 2 * j);
    }
  }
  unsigned failed = 0;
#pragma GCC unroll 4
  for (int r = 0; r < kRowsAtOnce; ++r) {
    const RowA &a = w.a[row + r];
    int exceptions = 0; // so few that their cut values fit beside the dot products
    for (int block = 0; block < Blocks; ++block)
      exceptions += a.exceptions[block] + b.exceptions[block];
    if (!a.shortcut || exceptions > kMaxRowExceptions + kMaxColumnExceptions) {
      failed |= 1u << r;
      continue;
    }
    Alignment<Blocks> x = align<Blocks>(t, w, row + r, column, inside);
    __mmask16 good = scalesPlainly(x.largest);
    __m512i up = _mm512_sub_epi32(splat(kFraction), x.largest);
    // Cut one by one; so few that they cannot overflow.
    __m512i single = cutAccumulator(x);
    __m512i sum = _mm512_setzero_si512(); // modulo 2^32
    __m512 estimate = _mm512_setzero_ps();
#pragma GCC unroll 2
    for (int block = 0; block < Blocks; ++block) {
      // Units of the dot product in units of the sum. Where that is no whole number,
      // a product may lose bits, though most often it has zeros there.
      __m512i shift =
          _mm512_add_epi32(_mm512_add_epi32(splat(a.unit[block]), load(b.unit[block])), up);
      good = _mm512_mask_cmple_epu32_mask(good, _mm512_add_epi32(shift, splat(kMaxDropped)),
                                          splat(kMaxDropped + kMaxShift));
      __m512i whole = dot[block][r];
      if (_mm512_movepi32_mask(shift) & inside) {
        __m512i dropped =
            _mm512_max_epi32(_mm512_sub_epi32(_mm512_setzero_si512(), shift), splat(0));
        good &= dropOnlyZeros(a, b, block, dropped);
        whole = _mm512_srav_epi32(whole, dropped);
        shift = _mm512_max_epi32(shift, splat(0));
      }
      sum = _mm512_add_epi32(sum, _mm512_sllv_epi32(whole, shift));
      estimate = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), power(shift), estimate);
      if (a.exceptions[block] + b.exceptions[block] == 0)
        continue;
      __m512 factor = blockFactor(x.largest, x.scale[block]);
      for (int e = 0; e < a.exceptions[block]; ++e) {
        int k = a.exceptionAt[block][e];
        single = _mm512_add_epi32(
            single, cut(_mm512_set1_ps(a.value[k]), _mm512_load_ps(b.value[k]), factor));
      }
      for (int e = 0; e < b.exceptions[block]; ++e)
        single = _mm512_add_epi32(single, cut(_mm512_set1_ps(a.regular[b.exceptionAt[block][e]]),
                                              _mm512_load_ps(b.exceptionValue[block][e]), factor));
    }
    // The sum is right if it fits an int32; the estimate is off by less than 2^28.
    sum = _mm512_add_epi32(sum, single);
    estimate = _mm512_add_ps(estimate, _mm512_cvtepi32_ps(single));
    good = _mm512_mask_cmp_ps_mask(good, _mm512_abs_ps(estimate), _mm512_set1_ps(0x1.Cp30f),
                                   _CMP_LT_OQ);
    if ((good | __mmask16(~inside)) != 0xFFFF) {
      failed |= 1u << r;
      continue;
    }
    _mm512_mask_storeu_ps(t.d + size_t(row + r) * t.dPitch + column, inside,
                          scaledPlainly(sum, x.largest));
  }
  return failed;
}

/// The general way for some rows of sixteen columns.
template <int Blocks>
[[gnu::noinline]] void generalSome(const Tile &t, const Workspace &w, const uint8_t *rows,
                                   int count, int column) {
  for (; count >= kRowsAtOnce; count -= kRowsAtOnce, rows += kRowsAtOnce)
    generalRows<Blocks, kRowsAtOnce>(t, w, {rows[0], rows[1], rows[2], rows[3]}, column);
  for (; count > 0; --count, ++rows)
    generalRows<Blocks, 1>(t, w, {rows[0]}, column);
}

template <int Blocks>
[[gnu::noinline]] void generalColumn(const Tile &t, const Workspace &w, int column) {
  int row = 0;
  for (; row + kRowsAtOnce <= t.m; row += kRowsAtOnce)
    generalRows<Blocks, kRowsAtOnce>(t, w, {row, row + 1, row + 2, row + 3}, column);
  for (; row < t.m; ++row)
    generalRows<Blocks, 1>(t, w, {row}, column);
}

template <int Blocks>
[[gnu::noinline]] void shortcutColumn(const Tile &t, const Workspace &w, int column) {
  static_assert(kMaxRows <= 256 && kRowsAtOnce == 4);
  uint8_t left[kMaxRows];
  int count = 0, row = 0;
  for (; row + kRowsAtOnce <= t.m; row += kRowsAtOnce)
    for (unsigned failed = shortcutRows<Blocks>(t, w, row, column); failed != 0;
         failed &= failed - 1)
      left[count++] = uint8_t(row + __builtin_ctz(failed));
  for (; row < t.m; ++row)
    left[count++] = uint8_t(row);
  generalSome<Blocks>(t, w, left, count, column);
}

template <int Blocks> void sumAll(const Tile &t, Workspace &w, bool shortcuts) {
  int quickRows = 0; // the shortcut must be worth trying
  for (int row = 0; row < t.m; ++row)
    quickRows += w.a[row].shortcut;
  for (int column = 0; column < t.n; column += kLanes) {
    if (column % 64 == 0)
      findLargest(t, w, column);
    if (shortcuts && w.b[column / kLanes].shortcut && 2 * quickRows > t.m)
      shortcutColumn<Blocks>(t, w, column);
    else
      generalColumn<Blocks>(t, w, column);
  }
}

} // namespace

void blockscale::emu::fp8::mmaAvx512(const Tile &tile, Workspace &work, bool shortcuts) {
  decodeAvx512(tile, work);
  if (tile.k == kBlock)
    sumAll<1>(tile, work, shortcuts);
  else
    sumAll<2>(tile, work, shortcuts);
}
