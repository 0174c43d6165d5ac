//===- Fold.cuh - what the hand-written kernels share ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared-memory accesses, the layout of fragments and terms, and one chunk of the
// product with its fold.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_Q4K_FOLD_CUH
#define BLOCKSCALE_TOOLS_BENCH_Q4K_FOLD_CUH

#include "Kernels.h"

namespace blockscale::q4k {

constexpr int kTokens = 64; // of a block's tile
constexpr int kRows = 128;
constexpr int kUnit = 16;                          // bytes of a swizzled unit
constexpr int kTokenBytes = kChunk;                // of one token in one chunk
constexpr int kRowBytes = kSuperBlock / 2;         // nibbles of one row
constexpr int kChunkPlane = kTokens * kTokenBytes; // activations of one chunk
constexpr int kTokenGroups = kTokens / 16;         // fragments of A
constexpr unsigned kNibbles = 0x0F0F0F0Fu;

__host__ __device__ constexpr int termBytes(TokenTerms terms) {
  return terms == TokenTerms::pairs ? 8 : 4;
}

/// 1.5 * 2^23: adding an integer of up to 22 bits to its bits adds it to its value.
constexpr int kOffsetBits = 0x4B400000;
constexpr float kOffset = 12582912.0f;

__device__ inline void multiply(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                                int start) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(start));
}

template <Convert convert> __device__ inline float toFloat(int sum) {
  return convert == Convert::instruction ? float(sum) : __fadd_rn(__int_as_float(sum), -kOffset);
}

__device__ inline void loadMatrices(unsigned (&a)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address));
}
__device__ inline unsigned loadWord(unsigned address) {
  unsigned value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address));
  return value;
}
__device__ inline uint4 loadQuad(unsigned address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address));
  return v;
}
__device__ inline float2 loadPair(unsigned address) {
  float2 v;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(address));
  return v;
}
__device__ inline void storeWord(unsigned address, unsigned value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value));
}
__device__ inline void storePair(unsigned address, float x, float y) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(x), "f"(y));
}
__device__ inline void storeQuad(unsigned address, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w));
}

/// Four tokens share 128 bytes; the units of each such line are permuted by its number.
__host__ __device__ inline unsigned activationOffset(int token, int half) {
  unsigned unit = ((token & 3) * 2 + half) ^ ((token >> 2) & 7);
  return (token & ~3) * kTokenBytes + unit * kUnit;
}

/// Where the terms of a token stand, before the chunk's number is XORed into the unit's.
/// What one thread loads at once is a unit, and the units of a warp's eight rows of
/// fragments are neighbours.
template <TokenTerms terms> __host__ __device__ inline int termSlot(int token) {
  int row = token & 7, upper = token >> 3 & 1, group = token >> 4;
  if constexpr (terms == TokenTerms::pairs)
    return (group * 8 + row) * 2 + upper;
  return ((group >> 1) * 8 + row) * 4 + (group & 1) * 2 + upper;
}

/// The terms of four sub-blocks of one row, `stride` bytes apart: d * scale and
/// -(dmin * min), which stand `toMin` bytes after it.
__device__ inline void stageRowTerms(unsigned address, unsigned stride, unsigned toMin,
                                     uint4 header, bool isUpper) {
  float d = __half2float(__ushort_as_half(header.x & 0xFFFF));
  float dmin = __half2float(__ushort_as_half(header.x >> 16));
  PackedTerms terms = unpackFour(header.y, header.z, header.w, isUpper);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float scale = d * float(terms.scales >> 8 * i & 0xFF);
    float min = -(dmin * float(terms.mins >> 8 * i & 0xFF));
    if (toMin == sizeof(float)) {
      storePair(address + i * stride, scale, min);
    } else {
      storeWord(address + i * stride, __float_as_uint(scale));
      storeWord(address + i * stride + toMin, __float_as_uint(min));
    }
  }
}

/// Sign-extended by a shift, so that the conversion is one of 32 bits: those of 16 bits
/// take a pipe of a quarter of the rate.
__device__ inline int upperHalf(unsigned word) {
  int value;
  asm("shr.s32 %0, %1, 16;" : "=r"(value) : "r"(word));
  return value;
}

/// d and d * sum of a thread's eight tokens: groups of 16, low and high row of each.
template <TokenTerms terms>
__device__ inline void loadTokenTerms(float (&d)[8], float (&dSum)[8], unsigned address) {
  if constexpr (terms == TokenTerms::packed) {
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
      uint4 v = loadQuad(address + i / 4 * 8 * kUnit);
      unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        d[i + j] = __half2float(__ushort_as_half(words[j] & 0xFFFF));
        dSum[i + j] = d[i + j] * float(upperHalf(words[j]));
      }
    }
  } else if constexpr (terms == TokenTerms::scales) {
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
      uint4 v = loadQuad(address + i / 4 * 8 * kUnit);
      d[i] = __uint_as_float(v.x), d[i + 1] = __uint_as_float(v.y);
      d[i + 2] = __uint_as_float(v.z), d[i + 3] = __uint_as_float(v.w);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      uint4 v = loadQuad(address + i / 2 * 8 * kUnit);
      d[i] = __uint_as_float(v.x), dSum[i] = __uint_as_float(v.y);
      d[i + 1] = __uint_as_float(v.z), dSum[i + 1] = __uint_as_float(v.w);
    }
  }
}

/// Where a thread of a warp reads its fragments and terms.
struct Sources {
  unsigned matrices[2]; // of even and of odd groups of tokens
  unsigned nibbles, rowTerms, tokenTerms;
};

/// One super-block: fragments, products and the fold, chunk by chunk in ascending order.
/// `rowStride` is between the row terms of two chunks.
template <TokenTerms terms, Convert convert, int rowGroups>
__device__ inline void multiplyBlock(float (&sums)[kTokenGroups][rowGroups][4], const Sources &from,
                                     unsigned rowStride) {
#pragma unroll
  for (int pair = 0; pair < kChunksPerBlock / 2; ++pair) {
    unsigned packed[rowGroups][2]; // low nibbles: chunk 2 pair, high: the next
#pragma unroll
    for (int n = 0; n < rowGroups; ++n)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        packed[n][half] = loadWord((from.nibbles ^ (2 * pair + half) * kUnit) + n * 8 * kRowBytes);
#pragma unroll
    for (int high = 0; high < 2; ++high) {
      const int chunk = 2 * pair + high;
      unsigned b[rowGroups][2];
      float rowScale[rowGroups][2], rowMin[rowGroups][2];
#pragma unroll
      for (int n = 0; n < rowGroups; ++n) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
          b[n][half] = packed[n][half] >> 4 * high & kNibbles;
        if constexpr (terms == TokenTerms::scales) {
          float2 v = loadPair(from.rowTerms + chunk * rowStride + n * 8 * sizeof(float));
          rowScale[n][0] = v.x, rowScale[n][1] = v.y;
        } else {
          uint4 v = loadQuad(from.rowTerms + chunk * rowStride + n * 8 * sizeof(float2));
          rowScale[n][0] = __uint_as_float(v.x), rowMin[n][0] = __uint_as_float(v.y);
          rowScale[n][1] = __uint_as_float(v.z), rowMin[n][1] = __uint_as_float(v.w);
        }
      }
      float scale[8], scaledSum[8];
      loadTokenTerms<terms>(scale, scaledSum,
                            (from.tokenTerms ^ chunk * kUnit) + chunk * kTokens * termBytes(terms));
#pragma unroll
      for (int g = 0; g < kTokenGroups; ++g) {
        unsigned a[4];
        loadMatrices(a, from.matrices[g & 1] + chunk * kChunkPlane + (g >> 1) * 32 * kTokenBytes);
#pragma unroll
        for (int n = 0; n < rowGroups; ++n) {
          int c[4];
          multiply(c, a, b[n], convert == Convert::offset ? kOffsetBits : 0);
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int token = g * 2 + (i >> 1);
            float &total = sums[g][n][i];
            total = __fmaf_rn(scale[token] * rowScale[n][i & 1], toFloat<convert>(c[i]), total);
            if constexpr (terms != TokenTerms::scales)
              total = __fmaf_rn(scaledSum[token], rowMin[n][i & 1], total);
          }
        }
      }
    }
  }
}

/// What TF32 keeps of a number, and what it leaves.
__host__ __device__ inline void split(float x, float &high, float &low) {
  union {
    float value;
    unsigned bits;
  } upper{x};
  upper.bits &= 0xFFFFE000u;
  high = upper.value;
  low = x - upper.value;
}

__device__ inline void multiplyTf32(float (&d)[4], const uint4 &a, const float (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(__float_as_uint(b[0])),
        "r"(__float_as_uint(b[1])));
}

/// The min terms of a super-block: [tokens, 8 chunks] times [8 chunks, rows], each factor
/// as the sum of two TF32 numbers. What is dropped is below 2^-22 of a term.
/// `fragments` is this lane's, `minima` that of its row and chunk; `stride` is between
/// two chunks.
template <int rowGroups>
__device__ inline void multiplyMinima(float (&sums)[kTokenGroups][rowGroups][4], unsigned fragments,
                                      unsigned minima, unsigned stride) {
  float high[rowGroups][2], low[rowGroups][2];
#pragma unroll
  for (int n = 0; n < rowGroups; ++n)
#pragma unroll
    for (int i = 0; i < 2; ++i)
      split(__uint_as_float(loadWord(minima + i * 4 * stride + n * 8 * sizeof(float))), high[n][i],
            low[n][i]);
#pragma unroll
  for (int g = 0; g < kTokenGroups; ++g) {
    uint4 a = loadQuad(fragments + g * 2 * 32 * kUnit);
    uint4 rest = loadQuad(fragments + (g * 2 + 1) * 32 * kUnit);
#pragma unroll
    for (int n = 0; n < rowGroups; ++n) {
      // Apart from the totals: the tensor core truncates where it adds.
      float terms[4] = {};
      multiplyTf32(terms, rest, high[n]);
      multiplyTf32(terms, a, low[n]);
      multiplyTf32(terms, a, high[n]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[g][n][i] += terms[i];
    }
  }
}

template <int rowGroups>
__device__ inline void storeSums(float *out, const float (&sums)[kTokenGroups][rowGroups][4],
                                 int firstToken, int firstRow, int tokens, int rows) {
#pragma unroll
  for (int g = 0; g < kTokenGroups; ++g)
#pragma unroll
    for (int n = 0; n < rowGroups; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        int token = firstToken + g * 16 + (i >> 1) * 8;
        int row = firstRow + n * 8 + (i & 1);
        if (token < tokens && row < rows)
          out[size_t(token) * rows + row] = sums[g][n][i];
      }
}

} // namespace blockscale::q4k

#endif // BLOCKSCALE_TOOLS_BENCH_Q4K_FOLD_CUH
