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

#include "Fold.cuh"

namespace blockscale::q4k {

namespace {

constexpr int kThreads = 256;
constexpr int kWarpRows = 16;
constexpr int kRowGroups = kWarpRows / 8; // fragments of B

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

template <TokenTerms terms>
__device__ inline void stageTokenTerms(unsigned address, unsigned short d, int sum) {
  if constexpr (terms == TokenTerms::packed) {
    storeWord(address, d | unsigned(sum) << 16);
  } else {
    float scale = __half2float(__ushort_as_half(d));
    storePair(address, scale, scale * float(sum));
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

  // Staging: every address is a block's pointer that moves by one super-block a step, a
  // thread's constant distance from it, and a number in the instruction.
  const int word = thread & 7, group = thread >> 3;
  const uint8_t *tokenBase = activations + firstToken * tokenStride;
  const int lastToken = tokens - 1 - firstToken;
  unsigned tokenSource[2];
#pragma unroll
  for (int i = 0; i < 2; ++i)
    tokenSource[i] = min(group + 32 * i, lastToken) * unsigned(tokenStride) +
                     offsetof(ActivationChunk, q) + word * 4;
  const unsigned tokenTarget =
      base + kMap.activations + activationOffset(group, word >> 2) + (word & 3) * 4;

  // A thread takes the terms of chunk `word` of its two tokens; which unit they go to
  // depends on the chunk, so that the eight chunks of a token differ in their banks.
  const unsigned termDistance = word * (sizeof(ActivationChunk) - 4) - offsetof(ActivationChunk, q);
  unsigned termTarget[2];
#pragma unroll
  for (int i = 0; i < 2; ++i)
    termTarget[i] = base + kMap.tokenTerms +
                    ((word * kTokens + termSlot<terms>(group + 32 * i)) * kTerm ^ word * kUnit);

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
  Sources from;
#pragma unroll
  for (int i = 0; i < 2; ++i)
    from.matrices[i] = base + kMap.activations + activationOffset((lane & 15) + 16 * i, lane >> 4);
  from.nibbles = base + kMap.weights + (warp * kWarpRows + fragmentRow) * kRowBytes +
                 fragmentRow * kUnit + fragmentWord * 4;
  from.rowTerms = base + kMap.rowTerms + (warp * kWarpRows + fragmentWord * 2) * sizeof(float2);
  from.tokenTerms = base + kMap.tokenTerms + fragmentRow * kUnit;

  float sums[kTokenGroups][kRowGroups][4] = {};

  for (int step = 0; step < blocks; ++step) {
    unsigned q[kChunksPerBlock][2];
#pragma unroll
    for (int chunk = 0; chunk < kChunksPerBlock; ++chunk)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        q[chunk][i] = __ldg(reinterpret_cast<const unsigned *>(tokenBase + tokenSource[i] +
                                                               chunk * sizeof(ActivationChunk)));
    unsigned short d[2];
    int sum[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const uint8_t *chunk = tokenBase + (tokenSource[i] + termDistance);
      d[i] = __ldg(reinterpret_cast<const unsigned short *>(chunk));
      sum[i] = __ldg(reinterpret_cast<const int *>(chunk + offsetof(ActivationChunk, sum)));
    }
    uint4 header = __ldg(reinterpret_cast<const uint4 *>(blockSource + headerSource));
    uint4 nibbles[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      nibbles[i] = __ldg(reinterpret_cast<const uint4 *>(blockSource + rowSource[i]));
    tokenBase += kChunksPerBlock * sizeof(ActivationChunk);
    blockSource += sizeof(WeightBlock);

    __syncthreads(); // the step before has been read
#pragma unroll
    for (int chunk = 0; chunk < kChunksPerBlock; ++chunk)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        storeWord(tokenTarget + chunk * kChunkPlane + i * 32 * kTokenBytes, q[chunk][i]);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      stageTokenTerms<terms>(termTarget[i], d[i], sum[i]);
    stageRowTerms(headerTarget, kRows * sizeof(float2), sizeof(float), header, isUpper);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      storeQuad(rowTarget + i * 32 * kRowBytes, nibbles[i]);
    __syncthreads();

    multiplyBlock<terms, convert>(sums, from, kRows * sizeof(float2));
  }
  storeSums(out, sums, firstToken + fragmentRow, firstRow + warp * kWarpRows + fragmentWord * 2,
            tokens, rows);
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
