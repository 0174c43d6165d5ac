//===- DotLoop.h - the vectorised sum of products -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included by one source file for each instruction set; the compiler vectorises
// the loops over kLanes columns. Finite factors only: outputs with NaN or
// infinity are redone by the plain form. No library calls, so that no function
// compiled here is shared with files for other instruction sets.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_DOTLOOP_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_DOTLOOP_H

#include <cstddef>
#include <cstdint>

namespace blockscale::emu::dotloop {

inline constexpr int kLanes = 16;
inline constexpr int kExact = 16;             // products whose int32 sum cannot overflow
inline constexpr int32_t kZeroFactor = -1000; // exponent of a zero

struct Tile {
  int m, n, k; // n: a multiple of kLanes
  int terms, fractionBits, zeroExponent;
  int productFraction; // fraction bits of a product of significands
  int keptBits;        // fraction bits of the result: 23, 13; 10 for f16
  bool half;
  const int32_t *sigA, *expA; // [m][k]
  const int32_t *sigB, *expB; // [k][n]
  uint32_t *d;                // [m][n]: bits of C, then of D
};

namespace {

/// Bits of `value` as a float cut to `keptBits` fraction bits.
inline uint32_t cutFloat(double value, int keptBits) {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, 8);
  uint32_t sign = uint32_t(bits >> 32) & 0x80000000u;
  int32_t exponent = int32_t(bits >> 52 & 0x7FF) - 1023;
  uint64_t fraction = (bits & 0xFFFFFFFFFFFFFull) | 0x10000000000000ull;
  int32_t below = exponent < -126 ? -126 - exponent : 0;
  int32_t drop = 29 + below;
  uint32_t kept = drop > 60 ? 0 : uint32_t(fraction >> (drop > 60 ? 60 : drop));
  kept &= ~0u << (23 - keptBits);
  int32_t biased = exponent < -126 ? 0 : exponent + 126;
  uint32_t result = (uint32_t(biased) << 23) + kept;
  result = exponent > 127 ? 0x7F800000u : result;
  return result ? sign | result : 0;
}

/// Bits of `value` as an f16, to nearest even.
inline uint32_t roundHalf(double value) {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, 8);
  uint32_t sign = uint32_t(bits >> 48) & 0x8000u;
  int32_t exponent = int32_t(bits >> 52 & 0x7FF) - 1023;
  uint64_t fraction = (bits & 0xFFFFFFFFFFFFFull) | 0x10000000000000ull;
  int32_t below = exponent < -14 ? -14 - exponent : 0;
  int32_t drop = 42 + below;
  drop = drop > 60 ? 60 : drop;
  uint64_t rest = fraction & ((1ull << drop) - 1), middle = 1ull << (drop - 1);
  uint64_t kept = fraction >> drop;
  kept += rest > middle || (rest == middle && (kept & 1));
  int32_t biased = exponent < -14 ? 0 : exponent + 14;
  uint64_t result = (uint64_t(biased) << 10) + kept;
  result = exponent > 15 || result > 0x7C00 ? 0x7C00u : result;
  return result ? sign | uint32_t(result) : 0;
}

void runTile(const Tile &t) {
  const int32_t scaleBias = 1023 - t.fractionBits;
  for (int m = 0; m < t.m; ++m)
    for (int n = 0; n < t.n; n += kLanes) {
      uint32_t *d = t.d + size_t(m) * size_t(t.n) + n;
      for (int k0 = 0; k0 < t.k; k0 += t.terms) {
        int32_t sigC[kLanes], expC[kLanes], top[kLanes];
        uint32_t infinite[kLanes]; // an earlier sum of the chain overflowed
        double sum[kLanes];
        for (int j = 0; j < kLanes; ++j) {
          uint32_t c = d[j];
          int32_t field = t.half ? int32_t(c >> 10 & 0x1F) : int32_t(c >> 23 & 0xFF);
          int32_t s = t.half ? int32_t(c & 0x3FF) << 13 : int32_t(c & 0x7FFFFF);
          s = field ? s | 0x800000 : s;
          int32_t e = (field ? field : 1) - (t.half ? 15 : 127);
          uint32_t negative = t.half ? c & 0x8000 : c & 0x80000000u;
          infinite[j] = field == (t.half ? 0x1F : 0xFF) ? c : 0;
          expC[j] = s ? e : t.zeroExponent;
          sigC[j] = negative ? -s : s;
          top[j] = expC[j];
        }
        const int end = k0 + t.terms < t.k ? k0 + t.terms : t.k;
        for (int k = k0; k < end; ++k) {
          const int32_t ea = t.expA[size_t(m) * size_t(t.k) + size_t(k)];
          const int32_t *eb = t.expB + size_t(k) * size_t(t.n) + n;
          for (int j = 0; j < kLanes; ++j) {
            int32_t e = ea + eb[j];
            e = e < kZeroFactor / 2 ? t.zeroExponent : e;
            top[j] = top[j] > e ? top[j] : e;
          }
        }
        for (int j = 0; j < kLanes; ++j) {
          int32_t shift = expC[j] - 23 + t.fractionBits - top[j];
          int32_t sign = sigC[j] >> 31, magnitude = (sigC[j] ^ sign) - sign;
          int32_t left = shift > 0 ? shift : 0, right = -shift;
          right = right < 0 ? 0 : right > 31 ? 31 : right;
          magnitude = (magnitude << left) >> right;
          sum[j] = double((magnitude ^ sign) - sign);
        }
        for (int k1 = k0; k1 < end; k1 += kExact) {
          int32_t partial[kLanes] = {};
          const int stop = k1 + kExact < end ? k1 + kExact : end;
          for (int k = k1; k < stop; ++k) {
            const int32_t ea =
                t.expA[size_t(m) * size_t(t.k) + size_t(k)] - t.productFraction + t.fractionBits;
            const int32_t sa = t.sigA[size_t(m) * size_t(t.k) + size_t(k)];
            const int32_t *eb = t.expB + size_t(k) * size_t(t.n) + n;
            const int32_t *sb = t.sigB + size_t(k) * size_t(t.n) + n;
            for (int j = 0; j < kLanes; ++j) {
              int32_t product = sa * sb[j], shift = ea + eb[j] - top[j];
              int32_t sign = product >> 31, magnitude = (product ^ sign) - sign;
              int32_t left = shift > 0 ? shift : 0, right = -shift;
              right = right < 0 ? 0 : right > 31 ? 31 : right;
              magnitude = (magnitude << left) >> right;
              partial[j] += (magnitude ^ sign) - sign;
            }
          }
          for (int j = 0; j < kLanes; ++j)
            sum[j] += double(partial[j]);
        }
        for (int j = 0; j < kLanes; ++j) {
          uint64_t scaleBits = uint64_t(int64_t(scaleBias + top[j])) << 52;
          double scale;
          __builtin_memcpy(&scale, &scaleBits, 8);
          sum[j] *= scale;
        }
        if (t.half)
          for (int j = 0; j < kLanes; ++j)
            d[j] = infinite[j] ? infinite[j] : roundHalf(sum[j]);
        else
          for (int j = 0; j < kLanes; ++j)
            d[j] = infinite[j] ? infinite[j] : cutFloat(sum[j], t.keptBits);
      }
    }
}

} // namespace

} // namespace blockscale::emu::dotloop

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_DOTLOOP_H
