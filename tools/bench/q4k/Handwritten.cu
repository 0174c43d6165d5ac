//===- Handwritten.cu - the raw-nibble Q4_K x Q8_1 product by hand --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The yardstick of generated kernels: 64 tokens x 128 rows a block, one super-block
// of 256 weights a step, eight warps of 16 rows each. Weights stay nibbles in shared
// memory and are masked when used, so that two blocks fit a multiprocessor. Both
// planes are XOR-swizzled in units of 16 bytes: no access has a bank conflict.
// Tokens and rows past the end are read from the last one and not stored.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

namespace blockscale::q4k {

namespace {

constexpr int kTokens = 64;
constexpr int kRows = 128;
constexpr int kThreads = 256;
constexpr int kWarpRows = 16;
constexpr int kUnit = 16;                          // bytes of a swizzled unit
constexpr int kTokenBytes = kChunk;                // of one token in one chunk
constexpr int kRowBytes = kSuperBlock / 2;         // nibbles of one row
constexpr int kChunkPlane = kTokens * kTokenBytes; // activations of one chunk
constexpr int kTokenGroups = kTokens / 16;         // fragments of A
constexpr int kRowGroups = kWarpRows / 8;          // fragments of B
constexpr unsigned kNibbles = 0x0F0F0F0Fu;

__host__ __device__ constexpr int termBytes(TokenTerms terms) {
  return terms == TokenTerms::packed ? 4 : 8;
}

struct SharedMap {
  int activations, weights, rowTerms, tokenTerms, bytes;
};
__host__ __device__ constexpr SharedMap sharedMap(TokenTerms terms) {
  SharedMap map{};
  map.weights = map.activations + kChunksPerBlock * kChunkPlane;
  map.rowTerms = map.weights + kRows * kRowBytes;
  map.tokenTerms = map.rowTerms + kChunksPerBlock * kRows * int(sizeof(float2));
  map.bytes = map.tokenTerms + kChunksPerBlock * kTokens * termBytes(terms);
  return map;
}
static_assert(sharedMap(TokenTerms::packed).bytes == 43008);
static_assert(sharedMap(TokenTerms::pairs).bytes == 45056);

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
__device__ inline unsigned activationOffset(int token, int half) {
  unsigned unit = ((token & 3) * 2 + half) ^ ((token >> 2) & 7);
  return (token & ~3) * kTokenBytes + unit * kUnit;
}

/// Where the terms of a token stand: the eight that one thread folds are neighbours.
__device__ inline int termSlot(int token) {
  int row = token & 7, upper = token >> 3 & 1, group = token >> 4;
  return row * 8 + group * 2 + upper;
}

/// The terms of four sub-blocks of one row: d * scale and -(dmin * min).
__device__ inline void stageRowTerms(unsigned address, uint4 header, bool isUpper) {
  float d = __half2float(__ushort_as_half(header.x & 0xFFFF));
  float dmin = __half2float(__ushort_as_half(header.x >> 16));
  PackedTerms terms = unpackFour(header.y, header.z, header.w, isUpper);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    storePair(address + i * kRows * sizeof(float2), d * float(terms.scales >> 8 * i & 0xFF),
              -(dmin * float(terms.mins >> 8 * i & 0xFF)));
}

template <TokenTerms terms>
__device__ inline void stageTokenTerms(unsigned address, unsigned short d, int sum) {
  if constexpr (terms == TokenTerms::packed) {
    storeWord(address, d | unsigned(sum) << 16);
  } else {
    float scale = __half2float(__ushort_as_half(d));
    storePair(address, scale, scale * float(sum));
  }
}

/// Sign-extended by a shift, so that the conversion is one of 32 bits: those of 16 bits
/// take a pipe of a quarter of the rate.
__device__ inline int upperHalf(unsigned word) {
  int value;
  asm("shr.s32 %0, %1, 16;" : "=r"(value) : "r"(word));
  return value;
}

/// d and d * sum of a thread's eight tokens.
template <TokenTerms terms>
__device__ inline void loadTokenTerms(float (&d)[8], float (&dSum)[8], unsigned address) {
  if constexpr (terms == TokenTerms::packed) {
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
      uint4 v = loadQuad(address + i * 4);
      unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        d[i + j] = __half2float(__ushort_as_half(words[j] & 0xFFFF));
        dSum[i + j] = d[i + j] * float(upperHalf(words[j]));
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      uint4 v = loadQuad(address + i * 8);
      d[i] = __uint_as_float(v.x), dSum[i] = __uint_as_float(v.y);
      d[i + 1] = __uint_as_float(v.z), dSum[i + 1] = __uint_as_float(v.w);
    }
  }
}

template <TokenTerms terms, Convert convert>
__global__ void __launch_bounds__(kThreads, 2)
    rawNibbles(const uint8_t *__restrict__ activations, const uint8_t *__restrict__ weights,
               float *__restrict__ out, int tokens, int rows, int depth) {
  extern __shared__ __align__(1024) uint8_t shared[];
  constexpr SharedMap kMap = sharedMap(terms);
  constexpr int kTerm = termBytes(terms);
  const unsigned base = unsigned(__cvta_generic_to_shared(shared));
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  const int firstToken = blockIdx.x * kTokens, firstRow = blockIdx.y * kRows;
  const int blocks = depth / kSuperBlock;
  const size_t tokenStride = size_t(blocks) * kChunksPerBlock * sizeof(ActivationChunk);
  const unsigned rowStride = unsigned(blocks) * sizeof(WeightBlock);

  // Staging: every address is a pointer that moves by one super-block a step, or a
  // constant distance from one.
  const int word = thread & 7, group = thread >> 3;
  const uint8_t *tokenSource[2];
#pragma unroll
  for (int i = 0; i < 2; ++i)
    tokenSource[i] = activations + min(firstToken + group + 32 * i, tokens - 1) * tokenStride +
                     offsetof(ActivationChunk, q) + word * 4;
  const unsigned tokenTarget =
      base + kMap.activations + activationOffset(group, word >> 2) + (word & 3) * 4;

  const int termToken = thread & 63, termChunk = thread >> 6;
  const uint8_t *termSource = activations + min(firstToken + termToken, tokens - 1) * tokenStride +
                              termChunk * sizeof(ActivationChunk);
  const unsigned termTarget =
      base + kMap.tokenTerms + (termChunk * kTokens + termSlot(termToken)) * kTerm;

  const uint8_t *blockSource = weights + size_t(firstRow) * rowStride;
  const int lastRow = rows - 1 - firstRow;
  unsigned rowSource[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    rowSource[i] =
        min(group + 32 * i, lastRow) * rowStride + offsetof(WeightBlock, nibbles) + word * kUnit;
  const unsigned rowTarget = base + kMap.weights + group * kRowBytes + (word ^ (group & 7)) * kUnit;

  const int headerRow = thread & (kRows - 1);
  const bool isUpper = thread >= kRows;
  const unsigned headerSource = min(headerRow, lastRow) * rowStride;
  const unsigned headerTarget = base + kMap.rowTerms + ((isUpper ? 4 : 0) * kRows + headerRow) * 8;

  // Fragments: lane / 4 is the token (A, C) or the row (B), lane % 4 the place in k.
  const int fragmentRow = lane >> 2, fragmentWord = lane & 3;
  unsigned matrixSource[2]; // of even and of odd groups of tokens
#pragma unroll
  for (int i = 0; i < 2; ++i)
    matrixSource[i] = base + kMap.activations + activationOffset((lane & 15) + 16 * i, lane >> 4);
  const unsigned nibbleSource = base + kMap.weights + (warp * kWarpRows + fragmentRow) * kRowBytes +
                                fragmentRow * kUnit + fragmentWord * 4;
  const unsigned rowTermSource =
      base + kMap.rowTerms + (warp * kWarpRows + fragmentWord * 2) * sizeof(float2);
  const unsigned tokenTermSource = base + kMap.tokenTerms + fragmentRow * 8 * kTerm;

  float sums[kTokenGroups][kRowGroups][4] = {};

  for (int step = 0; step < blocks; ++step) {
    unsigned q[kChunksPerBlock][2];
#pragma unroll
    for (int chunk = 0; chunk < kChunksPerBlock; ++chunk)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        q[chunk][i] = __ldg(
            reinterpret_cast<const unsigned *>(tokenSource[i] + chunk * sizeof(ActivationChunk)));
    unsigned short d[2];
    int sum[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const uint8_t *chunk = termSource + i * 4 * sizeof(ActivationChunk);
      d[i] = __ldg(reinterpret_cast<const unsigned short *>(chunk));
      sum[i] = __ldg(reinterpret_cast<const int *>(chunk + offsetof(ActivationChunk, sum)));
    }
    uint4 header = __ldg(reinterpret_cast<const uint4 *>(blockSource + headerSource));
    uint4 nibbles[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      nibbles[i] = __ldg(reinterpret_cast<const uint4 *>(blockSource + rowSource[i]));
    tokenSource[0] += kChunksPerBlock * sizeof(ActivationChunk);
    tokenSource[1] += kChunksPerBlock * sizeof(ActivationChunk);
    termSource += kChunksPerBlock * sizeof(ActivationChunk);
    blockSource += sizeof(WeightBlock);

    __syncthreads(); // the step before has been read
#pragma unroll
    for (int chunk = 0; chunk < kChunksPerBlock; ++chunk)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        storeWord(tokenTarget + chunk * kChunkPlane + i * 32 * kTokenBytes, q[chunk][i]);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      stageTokenTerms<terms>(termTarget + i * 4 * kTokens * kTerm, d[i], sum[i]);
    stageRowTerms(headerTarget, header, isUpper);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      storeQuad(rowTarget + i * 32 * kRowBytes, nibbles[i]);
    __syncthreads();

#pragma unroll
    for (int pair = 0; pair < kChunksPerBlock / 2; ++pair) {
      unsigned packed[kRowGroups][2]; // low nibbles: chunk 2 pair, high: the next
#pragma unroll
      for (int n = 0; n < kRowGroups; ++n)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          packed[n][half] =
              loadWord((nibbleSource ^ (2 * pair + half) * kUnit) + n * 8 * kRowBytes);
#pragma unroll
      for (int high = 0; high < 2; ++high) {
        const int chunk = 2 * pair + high;
        unsigned b[kRowGroups][2];
        float rowScale[kRowGroups][2], rowMin[kRowGroups][2];
#pragma unroll
        for (int n = 0; n < kRowGroups; ++n) {
#pragma unroll
          for (int half = 0; half < 2; ++half)
            b[n][half] = packed[n][half] >> 4 * high & kNibbles;
          uint4 v = loadQuad(rowTermSource + (chunk * kRows + n * 8) * sizeof(float2));
          rowScale[n][0] = __uint_as_float(v.x), rowMin[n][0] = __uint_as_float(v.y);
          rowScale[n][1] = __uint_as_float(v.z), rowMin[n][1] = __uint_as_float(v.w);
        }
        float scale[8], scaledSum[8];
        loadTokenTerms<terms>(scale, scaledSum, tokenTermSource + chunk * kTokens * kTerm);
#pragma unroll
        for (int g = 0; g < kTokenGroups; ++g) {
          unsigned a[4];
          loadMatrices(a, matrixSource[g & 1] + chunk * kChunkPlane + (g >> 1) * 32 * kTokenBytes);
#pragma unroll
          for (int n = 0; n < kRowGroups; ++n) {
            int c[4];
            multiply(c, a, b[n], convert == Convert::offset ? kOffsetBits : 0);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const int token = g * 2 + (i >> 1);
              float &total = sums[g][n][i];
              total = __fmaf_rn(scale[token] * rowScale[n][i & 1], toFloat<convert>(c[i]), total);
              total = __fmaf_rn(scaledSum[token], rowMin[n][i & 1], total);
            }
          }
        }
      }
    }
  }

#pragma unroll
  for (int g = 0; g < kTokenGroups; ++g)
#pragma unroll
    for (int n = 0; n < kRowGroups; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        int token = firstToken + g * 16 + (i >> 1) * 8 + fragmentRow;
        int row = firstRow + warp * kWarpRows + n * 8 + fragmentWord * 2 + (i & 1);
        if (token < tokens && row < rows)
          out[size_t(token) * rows + row] = sums[g][n][i];
      }
}

using Kernel = void (*)(const uint8_t *, const uint8_t *, float *, int, int, int);
Kernel kernelOf(const HandwrittenForm &form) {
  using enum TokenTerms;
  if (form.convert == Convert::instruction)
    return form.terms == packed ? rawNibbles<packed, Convert::instruction>
                                : rawNibbles<pairs, Convert::instruction>;
  return form.terms == packed ? rawNibbles<packed, Convert::offset>
                              : rawNibbles<pairs, Convert::offset>;
}

cudaError_t allowShared(Kernel kernel, int bytes) {
  return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                              cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

} // namespace

cudaError_t launchHandwritten(const HandwrittenForm &form, const ActivationChunk *activations,
                              const WeightBlock *weights, float *out, Shape shape,
                              cudaStream_t stream) {
  Kernel kernel = kernelOf(form);
  int bytes = sharedMap(form.terms).bytes;
  if (cudaError_t status = allowShared(kernel, bytes))
    return status;
  dim3 grid((shape.tokens + kTokens - 1) / kTokens, (shape.rows + kRows - 1) / kRows);
  kernel<<<grid, kThreads, bytes, stream>>>(reinterpret_cast<const uint8_t *>(activations),
                                            reinterpret_cast<const uint8_t *>(weights), out,
                                            shape.tokens, shape.rows, shape.depth);
  return cudaGetLastError();
}

cudaError_t queryHandwritten(const HandwrittenForm &form, KernelUse &use) {
  Kernel kernel = kernelOf(form);
  use.sharedBytes = sharedMap(form.terms).bytes;
  cudaFuncAttributes attributes;
  if (cudaError_t status = cudaFuncGetAttributes(&attributes, kernel))
    return status;
  use.registers = attributes.numRegs;
  use.localBytes = int(attributes.localSizeBytes);
  if (cudaError_t status = allowShared(kernel, use.sharedBytes))
    return status;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&use.blocksPerSm, kernel, kThreads,
                                                       use.sharedBytes);
}

} // namespace blockscale::q4k
