//===- Pipelined.cu - the product with staging that runs ahead ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beyond the raw-nibble kernel: a pass before it writes the activations as shared
// memory wants them, so that a tile is one bulk copy, some steps ahead. Each warp stages
// the weights of its own rows, one step ahead, and no barrier stops all warps.
//
//===----------------------------------------------------------------------===//

#include "Fold.cuh"
#include "Hopper.cuh"

namespace blockscale::q4k {

namespace {

constexpr int kPlaneBytes = kChunksPerBlock * kChunkPlane;
constexpr int kFragmentBytes = kTokenGroups * 2 * 32 * kUnit; // of d * sum, in two parts
constexpr int kWeightBytes = kRows * kRowBytes;
constexpr int kRowTermBytes = kChunksPerBlock * kRows * int(sizeof(float2));

/// A tile: activations, terms of tokens, and fragments where the min term is apart.
__host__ __device__ constexpr int termPlaneBytes(TokenTerms terms) {
  return kChunksPerBlock * kTokens * termBytes(terms);
}
__host__ __device__ constexpr int tileBytes(TokenTerms terms) {
  return kPlaneBytes + termPlaneBytes(terms) + (terms == TokenTerms::scales ? kFragmentBytes : 0);
}

//===----------------------------------------------------------------------===//
// The pass before: [token tile][super-block] of tiles
//===----------------------------------------------------------------------===//

constexpr int kTransposeThreads = 256;

template <TokenTerms terms>
__device__ inline void storeTerms(uint8_t *tile, int token, int chunk, float d, float dSum) {
  int at = (chunk * kTokens + termSlot<terms>(token)) * termBytes(terms) ^ chunk * kUnit;
  if constexpr (terms == TokenTerms::pairs) {
    *reinterpret_cast<float2 *>(tile + kPlaneBytes + at) = make_float2(d, dSum);
  } else {
    *reinterpret_cast<float *>(tile + kPlaneBytes + at) = d;
    // Lane and register of a fragment of m16n8k8: rows are tokens, k is the chunk.
    int lane = (token & 7) * 4 + (chunk & 3), word = (token >> 3 & 1) + (chunk >> 2) * 2;
    float parts[2];
    split(dSum, parts[0], parts[1]);
    for (int part = 0; part < 2; ++part)
      *reinterpret_cast<float *>(tile + kPlaneBytes + termPlaneBytes(terms) +
                                 (((token >> 4) * 2 + part) * 32 + lane) * kUnit + word * 4) =
          parts[part];
  }
}

/// Eight threads a chunk; tokens past the end are zeros.
template <TokenTerms terms>
__global__ void __launch_bounds__(kTransposeThreads)
    transpose(const ActivationChunk *in, uint8_t *out, int tokens, int blocks) {
  int index = threadIdx.x, word = index & 7, chunk = index >> 3 & 7, part = index >> 6;
  uint8_t *tile = out + (size_t(blockIdx.y) * blocks + blockIdx.x) * tileBytes(terms);
  for (int token = part; token < kTokens; token += kTransposeThreads / 64) {
    int row = blockIdx.y * kTokens + token;
    unsigned q = 0;
    float d = 0;
    int sum = 0;
    if (row < tokens) {
      const ActivationChunk &from =
          in[(size_t(row) * blocks + blockIdx.x) * kChunksPerBlock + chunk];
      q = reinterpret_cast<const unsigned *>(from.q)[word];
      d = __half2float(from.d);
      sum = from.sum;
    }
    *reinterpret_cast<unsigned *>(tile + chunk * kChunkPlane + activationOffset(token, word >> 2) +
                                  (word & 3) * 4) = q;
    if (word == 0)
      storeTerms<terms>(tile, token, chunk, d, d * float(sum));
  }
}

//===----------------------------------------------------------------------===//
// Barriers and copies
//===----------------------------------------------------------------------===//

__device__ inline void copyBulk(unsigned target, const uint8_t *source, unsigned bytes,
                                unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(target),
               "l"(source), "r"(bytes), "r"(barrier)
               : "memory");
}
__device__ inline void copyUnit(unsigned target, const uint8_t *source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
}
__device__ inline void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending> __device__ inline void waitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// `rowGroups` fragments of B are a warp's; `stages` tiles of activations are held.
template <int rowGroups, int stages, TokenTerms terms> struct Map {
  static constexpr int kWarpRows = rowGroups * 8;
  static constexpr int kWarps = kRows / kWarpRows;
  static constexpr int kThreads = kWarps * 32;
  static constexpr int kTileBytes = tileBytes(terms);
  static constexpr int kWeights = stages * kTileBytes;
  static constexpr int kRowTerms = kWeights + 2 * kWeightBytes;
  static constexpr int kBarriers = kRowTerms + 2 * kRowTermBytes;
  static constexpr int kBytes = kBarriers + 2 * stages * 8;
};

template <int rowGroups, int stages, int blocksPerSm, TokenTerms terms>
__global__ void __launch_bounds__(Map<rowGroups, stages, terms>::kThreads, blocksPerSm)
    pipelined(const uint8_t *__restrict__ tiles, const uint8_t *__restrict__ weights,
              float *__restrict__ out, int tokens, int rows, int depth) {
  using Map = Map<rowGroups, stages, terms>;
  constexpr int kWarpRows = Map::kWarpRows, kTileBytes = Map::kTileBytes;
  constexpr bool hasMinima = terms == TokenTerms::scales;
  constexpr int kUnits = kWarpRows * kRowBytes / kUnit / 32; // of a lane, and super-block
  extern __shared__ __align__(1024) uint8_t shared[];
  const unsigned base = unsigned(__cvta_generic_to_shared(shared));
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  const int blocks = depth / kSuperBlock;
  const int firstToken = blockIdx.x * kTokens;
  const int firstRow = blockIdx.y * kRows + warp * kWarpRows;
  const unsigned rowStride = unsigned(blocks) * sizeof(WeightBlock);
  const unsigned full = base + Map::kBarriers, empty = full + stages * 8;

  const uint8_t *tile = tiles + size_t(blockIdx.x) * blocks * kTileBytes;
  auto startTile = [&](int step) {
    unsigned stage = step % stages;
    arriveExpecting(full + stage * 8, kTileBytes);
    copyBulk(base + stage * kTileBytes, tile + size_t(step) * kTileBytes, kTileBytes,
             full + stage * 8);
  };
  if (thread == 0) {
    for (int i = 0; i < stages; ++i) {
      initBarrier(full + i * 8, 1);
      initBarrier(empty + i * 8, Map::kWarps);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int step = 0; step < stages - 1 && step < blocks; ++step)
      startTile(step);
  }

  const uint8_t *blockSource = weights + size_t(firstRow) * rowStride;
  const int lastRow = rows - 1 - firstRow; // may be before this warp's first
  unsigned rowSource[kUnits];
#pragma unroll
  for (int i = 0; i < kUnits; ++i)
    rowSource[i] = min((lane >> 3) + 4 * i, lastRow) * int(rowStride) +
                   offsetof(WeightBlock, nibbles) + (lane & 7) * kUnit;
  const int headerRow = lane & (kWarpRows - 1);
  const int headerSource = min(headerRow, lastRow) * int(rowStride);
  const unsigned rowTarget = base + Map::kWeights + (warp * kWarpRows + (lane >> 3)) * kRowBytes +
                             ((lane & 7) ^ (lane >> 3)) * kUnit;
  const unsigned headerTarget =
      base + Map::kRowTerms + warp * kWarpRows * kChunksPerBlock * sizeof(float2);
  // Pairs, or a plane of scales and then one of minima.
  constexpr unsigned kTermSize = hasMinima ? sizeof(float) : sizeof(float2);
  constexpr unsigned kTermStride = kWarpRows * kTermSize;
  constexpr unsigned kToMin = hasMinima ? kChunksPerBlock * kTermStride : sizeof(float);

  auto startWeights = [&](unsigned buffer) {
#pragma unroll
    for (int i = 0; i < kUnits; ++i)
      copyUnit((rowTarget ^ (i & 1) * 4 * kUnit) + i * 4 * kRowBytes + buffer * kWeightBytes,
               blockSource + int(rowSource[i]));
    commitCopies();
  };
  auto stageTerms = [&](uint4 header, unsigned buffer) {
    unsigned target = headerTarget + buffer * kRowTermBytes + headerRow * kTermSize;
    if constexpr (kWarpRows == 32) {
      stageRowTerms(target, kTermStride, kToMin, header, false);
      stageRowTerms(target + 4 * kTermStride, kTermStride, kToMin, header, true);
    } else {
      bool isUpper = lane >= kWarpRows;
      stageRowTerms(target + (isUpper ? 4 * kTermStride : 0), kTermStride, kToMin, header, isUpper);
    }
  };
  auto loadHeader = [&] {
    return __ldg(reinterpret_cast<const uint4 *>(blockSource + headerSource));
  };

  const int fragmentRow = lane >> 2, fragmentWord = lane & 3;
  startWeights(0);
  stageTerms(loadHeader(), 0);
  __syncthreads(); // barriers are there
  float sums[kTokenGroups][rowGroups][4] = {};

  for (int step = 0; step < blocks; ++step) {
    const unsigned stage = step % stages, buffer = step & 1;
    uint4 header;
    blockSource += sizeof(WeightBlock);
    if (step + 1 < blocks) {
      header = loadHeader();
      startWeights(buffer ^ 1);
    } else {
      commitCopies();
    }
    if (thread == 0 && step + stages - 1 < blocks) {
      int next = step + stages - 1;
      if (next >= stages)
        wait(empty + next % stages * 8, (next / stages - 1) & 1);
      startTile(next);
    }
    wait(full + stage * 8, step / stages & 1);
    waitCopies<1>();
    __syncwarp();

    const unsigned activations = base + stage * kTileBytes;
    Sources from;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      from.matrices[i] = activations + activationOffset((lane & 15) + 16 * i, lane >> 4);
    from.nibbles = base + Map::kWeights + buffer * kWeightBytes +
                   (warp * kWarpRows + fragmentRow) * kRowBytes + fragmentRow * kUnit +
                   fragmentWord * 4;
    from.rowTerms = headerTarget + buffer * kRowTermBytes + fragmentWord * 2 * kTermSize;
    from.tokenTerms = activations + kPlaneBytes + fragmentRow * kUnit;
    multiplyBlock<terms, Convert::instruction>(sums, from, kTermStride);
    if constexpr (hasMinima)
      multiplyMinima(sums, activations + kPlaneBytes + termPlaneBytes(terms) + lane * kUnit,
                     headerTarget + buffer * kRowTermBytes + kToMin + fragmentWord * kTermStride +
                         fragmentRow * kTermSize,
                     kTermStride);

    // Read by ordinary loads, written next by a bulk copy.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (lane == 0)
      arrive(empty + stage * 8);
    if (step + 1 < blocks)
      stageTerms(header, buffer ^ 1);
  }
  storeSums(out, sums, firstToken + fragmentRow, firstRow + fragmentWord * 2, tokens, rows);
}

struct Launcher {
  void (*kernel)(const uint8_t *, const uint8_t *, float *, int, int, int);
  int threads, sharedBytes;
};
template <int rowGroups, int stages, TokenTerms terms> constexpr Launcher launcher() {
  using Map = Map<rowGroups, stages, terms>;
  return {pipelined<rowGroups, stages, /*blocksPerSm=*/2, terms>, Map::kThreads, Map::kBytes};
}

Launcher launcherOf(PipelinedForm form) {
  switch (form) {
  case PipelinedForm::rows16:
    return launcher<2, 3, TokenTerms::pairs>();
  case PipelinedForm::rows32:
    return launcher<4, 3, TokenTerms::pairs>();
  case PipelinedForm::rows16Minima:
    return launcher<2, 2, TokenTerms::scales>();
  case PipelinedForm::rows32Minima:
    return launcher<4, 2, TokenTerms::scales>();
  }
  return {};
}

cudaError_t allowShared(const Launcher &launcher) {
  return cudaFuncSetAttribute(reinterpret_cast<const void *>(launcher.kernel),
                              cudaFuncAttributeMaxDynamicSharedMemorySize, launcher.sharedBytes);
}

} // namespace

size_t transposedBytes(Shape shape, bool hasMinima) {
  return size_t((shape.tokens + kTokens - 1) / kTokens) * shape.blocksPerRow() *
         tileBytes(hasMinima ? TokenTerms::scales : TokenTerms::pairs);
}

cudaError_t launchTranspose(const ActivationChunk *in, uint8_t *out, Shape shape, bool hasMinima,
                            cudaStream_t stream) {
  dim3 grid(shape.blocksPerRow(), (shape.tokens + kTokens - 1) / kTokens);
  auto kernel = hasMinima ? transpose<TokenTerms::scales> : transpose<TokenTerms::pairs>;
  kernel<<<grid, kTransposeThreads, 0, stream>>>(in, out, shape.tokens, int(shape.blocksPerRow()));
  return cudaGetLastError();
}

cudaError_t launchPipelined(PipelinedForm form, const uint8_t *transposed,
                            const WeightBlock *weights, float *out, Shape shape,
                            cudaStream_t stream) {
  Launcher launcher = launcherOf(form);
  if (cudaError_t status = allowShared(launcher))
    return status;
  dim3 grid((shape.tokens + kTokens - 1) / kTokens, (shape.rows + kRows - 1) / kRows);
  launcher.kernel<<<grid, launcher.threads, launcher.sharedBytes, stream>>>(
      transposed, reinterpret_cast<const uint8_t *>(weights), out, shape.tokens, shape.rows,
      shape.depth);
  return cudaGetLastError();
}

cudaError_t queryPipelined(PipelinedForm form, KernelUse &use) {
  Launcher launcher = launcherOf(form);
  cudaFuncAttributes attributes;
  if (cudaError_t status = cudaFuncGetAttributes(&attributes, launcher.kernel))
    return status;
  use = {attributes.numRegs, int(attributes.localSizeBytes), launcher.sharedBytes, 0};
  if (cudaError_t status = allowShared(launcher))
    return status;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&use.blocksPerSm, launcher.kernel,
                                                       launcher.threads, launcher.sharedBytes);
}

} // namespace blockscale::q4k
