//===- Wgmma.cu - Q4_K weights times f16 activations by wgmma -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights are the product's A and come from registers: TMA brings the blocks as they
// are, and each thread of a multiplying warpgroup makes its part of a fragment from
// nibbles, so that no weight in f16 is ever stored. Activations are B, by TMA. One
// warp copies activations, one blocks, and two turn headers into pairs (scale, -min).
//
// A weight is fma(nibble, f16(d * scale), -f16(dmin * min)) in f16, rounded once.
//
// Tiles are taken from the grid's rest on, all token tiles of some rows first; a
// cluster shares the depth of one tile and adds up in the order of its blocks.
//
//===----------------------------------------------------------------------===//

#include "Hopper.cuh"
#include "Kernels.h"

#include <algorithm>

namespace blockscale::q4k {

namespace {

constexpr int kPart = 64; // of the depth: two chunks, a row of the swizzle
constexpr int kParts = kSuperBlock / kPart;
constexpr int kProducers = 128;
constexpr int kConverters = 64;
constexpr int kGroupRows = 64;
constexpr int kBarrierBytes = 8;

/// `groups` warpgroups of `fragments` x 64 rows each and `columns` tokens.
template <int columns, int fragments, int groups, int weightStages, int tokenStages> struct Tile {
  static constexpr int kGroup = fragments * kGroupRows;
  static constexpr int kRows = groups * kGroup;
  static constexpr int kThreads = kProducers + groups * 128;
  static constexpr int kBlockBytes = kRows * int(sizeof(WeightBlock));
  static constexpr int kTermBytes = kRows * kChunksPerBlock * 4;
  static constexpr int kTokenBytes = columns * kPart * 2;
  static constexpr int kTokens = weightStages * kBlockBytes;
  static constexpr int kTerms = kTokens + tokenStages * kTokenBytes;
  static constexpr int kFullBlocks = kTerms + weightStages * kTermBytes;
  static constexpr int kReady = kFullBlocks + weightStages * kBarrierBytes;
  static constexpr int kFreeBlocks = kReady + weightStages * kBarrierBytes;
  static constexpr int kFullTokens = kFreeBlocks + weightStages * kBarrierBytes;
  static constexpr int kFreeTokens = kFullTokens + tokenStages * kBarrierBytes;
  static constexpr int kBytes = kFreeTokens + tokenStages * kBarrierBytes + 1024;
  static_assert(kBlockBytes % 1024 == 0 && kTokenBytes % 1024 == 0);
};

constexpr int kProducerRegisters = 32;
/// Registers of a thread that multiplies: what the block has is shared anew.
__host__ __device__ constexpr int registersOf(int threads, int groups, int blocksPerSm) {
  int launched = 65536 / blocksPerSm / threads / 8 * 8;
  return (launched * threads - kProducers * kProducerRegisters) / (groups * 128) / 8 * 8;
}

/// A place in a ring of `count` stages and the parity that its next wait has.
template <int count> struct Ring {
  int stage = 0;
  unsigned parity = 0;

  __device__ void advance() {
    if (++stage == count)
      stage = 0, parity ^= 1;
  }
};

__device__ inline __half2 asHalves(unsigned word) { return *reinterpret_cast<__half2 *>(&word); }
__device__ inline unsigned asWord(__half2 v) { return *reinterpret_cast<unsigned *>(&v); }

/// (word & mask) | bits, in one instruction.
__device__ inline unsigned select(unsigned word, unsigned mask, unsigned bits) {
  unsigned value;
  asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(value) : "r"(word), "r"(mask), "r"(bits));
  return value;
}

/// Two weights of nibbles at bits 0 and 16 (or 4 and 20). 0x6400 is 1024 in f16, whose
/// last place is 1, so that the sum of both is a bitwise or.
template <bool isHigh> __device__ inline unsigned weights(unsigned word, __half2 terms) {
  __half2 biased = asHalves(select(word, isHigh ? 0x00F000F0u : 0x000F000Fu, 0x64006400u));
  __half2 nibbles = isHigh ? __hfma2(biased, asHalves(0x2C002C00u), asHalves(0xD400D400u))
                           : __hsub2(biased, asHalves(0x64006400u));
  return asWord(__hfma2(nibbles, __low2half2(terms), __high2half2(terms)));
}

template <int columns, int fragments, int groups, int weightStages, int tokenStages, int cluster,
          int blocksPerSm>
__global__ void __cluster_dims__(cluster, 1, 1)
    __launch_bounds__(Tile<columns, fragments, groups, weightStages, tokenStages>::kThreads,
                      blocksPerSm)
        multiplyWeights(const __grid_constant__ CUtensorMap blockMap,
                        const __grid_constant__ CUtensorMap tokenMap, float *__restrict__ out,
                        int tokens, int rows, int depth) {
  using Tile = Tile<columns, fragments, groups, weightStages, tokenStages>;
  constexpr int kRows = Tile::kRows, kGroup = Tile::kGroup;
  constexpr int kRegisters = registersOf(Tile::kThreads, groups, blocksPerSm);
  extern __shared__ uint8_t shared[];
  const unsigned base = (unsigned(__cvta_generic_to_shared(shared)) + 1023) & ~1023u;
  const int thread = threadIdx.x, lane = thread & 31;
  const int warp = __shfl_sync(~0u, thread >> 5, 0);
  const int blocks = depth / kSuperBlock;
  const int rank = blockIdx.x % cluster;
  const int firstBlock = blocks * rank / cluster, lastBlock = blocks * (rank + 1) / cluster;
  const int tokenTiles = (tokens + columns - 1) / columns;
  const int tiles = tokenTiles * ((rows + kRows - 1) / kRows);
  const int tileStride = gridDim.x / cluster;

  if (thread == 0) {
    for (int i = 0; i < weightStages; ++i) {
      initBarrier(base + Tile::kFullBlocks + i * kBarrierBytes, 1);
      initBarrier(base + Tile::kReady + i * kBarrierBytes, kConverters);
      initBarrier(base + Tile::kFreeBlocks + i * kBarrierBytes, groups * 4);
    }
    for (int i = 0; i < tokenStages; ++i) {
      initBarrier(base + Tile::kFullTokens + i * kBarrierBytes, 1);
      initBarrier(base + Tile::kFreeTokens + i * kBarrierBytes, groups * 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  if (warp < kProducers / 32) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kProducerRegisters));
    if (warp == 0 && lane == 0) {
      Ring<tokenStages> at;
      for (int tile = blockIdx.x / cluster; tile < tiles; tile += tileStride)
        for (int part = firstBlock * kParts; part < lastBlock * kParts; ++part) {
          wait(base + Tile::kFreeTokens + at.stage * kBarrierBytes, at.parity ^ 1);
          unsigned full = base + Tile::kFullTokens + at.stage * kBarrierBytes;
          arriveExpecting(full, Tile::kTokenBytes);
          copyBox(base + Tile::kTokens + at.stage * Tile::kTokenBytes, tokenMap, part * kPart,
                  tile % tokenTiles * columns, full);
          at.advance();
        }
    } else if (warp == 1 && lane == 0) {
      Ring<weightStages> at;
      for (int tile = blockIdx.x / cluster; tile < tiles; tile += tileStride)
        for (int block = firstBlock; block < lastBlock; ++block) {
          wait(base + Tile::kFreeBlocks + at.stage * kBarrierBytes, at.parity ^ 1);
          unsigned full = base + Tile::kFullBlocks + at.stage * kBarrierBytes;
          arriveExpecting(full, Tile::kBlockBytes);
          copyBox(base + at.stage * Tile::kBlockBytes, blockMap, block * int(sizeof(WeightBlock)),
                  tile / tokenTiles * kRows, full);
          at.advance();
        }
    } else if (warp >= 2) {
      Ring<weightStages> at;
      for (int tile = blockIdx.x / cluster; tile < tiles; tile += tileStride)
        for (int block = firstBlock; block < lastBlock; ++block) {
          wait(base + Tile::kFullBlocks + at.stage * kBarrierBytes, at.parity);
          for (int row = thread - 64; row < kRows; row += kConverters) {
            uint4 header =
                loadQuad(base + at.stage * Tile::kBlockBytes + row * sizeof(WeightBlock));
            float d = __half2float(__ushort_as_half(header.x & 0xFFFF));
            float dmin = -__half2float(__ushort_as_half(header.x >> 16));
            unsigned target = base + Tile::kTerms + at.stage * Tile::kTermBytes + row * 8;
#pragma unroll
            for (int part = 0; part < kParts; ++part) {
              PackedTerms terms = unpackFour(header.y, header.z, header.w, part >= kParts / 2);
              unsigned pairs[2];
#pragma unroll
              for (int i = 0; i < 2; ++i) {
                int shift = 8 * (part % 2 * 2 + i);
                pairs[i] = asWord(__floats2half2_rn(d * float(terms.scales >> shift & 0xFF),
                                                    dmin * float(terms.mins >> shift & 0xFF)));
              }
              asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(target + part * kRows * 8),
                           "r"(pairs[0]), "r"(pairs[1])
                           : "memory");
            }
          }
          arrive(base + Tile::kReady + at.stage * kBarrierBytes);
          at.advance();
        }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
    const int group = (thread - kProducers) / 128;
    const int groupWarp = warp & 3;
    const int place = lane >> 2, quad = lane & 3;
    // The lane's first row, and its words there: bytes 2 quad and 2 quad + 1 of eight.
    const int laneRow = group * kGroup + groupWarp * 16 + place;
    const unsigned laneWord =
        base + laneRow * sizeof(WeightBlock) + offsetof(WeightBlock, nibbles) + (quad >> 1) * 4;
    const unsigned byteOrder = quad & 1 ? 0x3322 : 0x1100;
    const unsigned laneTerms = base + Tile::kTerms + laneRow * 8;
    Ring<weightStages> atBlock;
    Ring<tokenStages> atTokens;

    for (int tile = blockIdx.x / cluster; tile < tiles; tile += tileStride) {
      float sums[fragments][columns / 2];
#pragma unroll
      for (int f = 0; f < fragments; ++f)
#pragma unroll
        for (int i = 0; i < columns / 2; ++i)
          sums[f][i] = 0;
      unsigned freed = 0; // barrier of the last stage of activations, once it is read
      for (int block = firstBlock; block < lastBlock; ++block) {
        wait(base + Tile::kFullBlocks + atBlock.stage * kBarrierBytes, atBlock.parity);
        wait(base + Tile::kReady + atBlock.stage * kBarrierBytes, atBlock.parity);
        const unsigned words = laneWord + atBlock.stage * Tile::kBlockBytes;
        const unsigned terms = laneTerms + atBlock.stage * Tile::kTermBytes;
        unsigned a[2][fragments][2][4];
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
          uint2 pairs[fragments][2];
#pragma unroll
          for (int f = 0; f < fragments; ++f)
#pragma unroll
            for (int half = 0; half < 2; ++half)
              asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                           : "=r"(pairs[f][half].x), "=r"(pairs[f][half].y)
                           : "r"(terms + (part * kRows + f * kGroupRows + half * 8) * 8));
          const unsigned operand = base + Tile::kTokens + atTokens.stage * Tile::kTokenBytes;
          const unsigned full = base + Tile::kFullTokens + atTokens.stage * kBarrierBytes;
#pragma unroll
          for (int run = 0; run < 2; ++run) { // of 16 bytes
#pragma unroll
            for (int f = 0; f < fragments; ++f)
#pragma unroll
              for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                  unsigned word =
                      loadWord(words + (f * kGroupRows + half * 8) * sizeof(WeightBlock) +
                               part * 32 + run * 16 + k * 8);
                  unsigned bytes = __byte_perm(word, 0, byteOrder);
                  a[run][f][0][k * 2 + half] = weights<false>(bytes, asHalves(pairs[f][half].x));
                  a[run][f][1][k * 2 + half] = weights<true>(bytes, asHalves(pairs[f][half].y));
                }
            if (part == kParts - 1 && run == 1) {
              asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
              __syncwarp();
              if (lane == 0)
                arrive(base + Tile::kFreeBlocks + atBlock.stage * kBarrierBytes);
            }
            if (run == 0)
              wait(full, atTokens.parity);
            fenceProduct();
#pragma unroll
            for (int high = 0; high < 2; ++high)
#pragma unroll
              for (int f = 0; f < fragments; ++f)
                multiply<columns>(sums[f], a[run][f][high],
                                  operandOf(operand + high * 64 + run * 32));
            commitProducts();
            waitProducts<1>();
            if (run == 0 && freed && lane == 0)
              arrive(freed);
          }
          freed = base + Tile::kFreeTokens + atTokens.stage * kBarrierBytes;
          atTokens.advance();
        }
        atBlock.advance();
      }
      waitProducts<0>();
#pragma unroll
      for (int f = 0; f < fragments; ++f)
#pragma unroll
        for (int i = 0; i < columns / 2; ++i) // nothing of them is read in front of the wait
          asm volatile("" : "+f"(sums[f][i])::"memory");
      if (freed && lane == 0)
        arrive(freed);

      const int firstRow = tile / tokenTiles * kRows, firstToken = tile % tokenTiles * columns;
      if constexpr (cluster == 1) {
#pragma unroll
        for (int f = 0; f < fragments; ++f) {
          const int row = firstRow + laneRow + f * kGroupRows;
          float *target = out + int64_t(firstToken + quad * 2) * rows + row;
#pragma unroll
          for (int i = 0; i < columns / 8; ++i) {
            const int token = firstToken + quad * 2 + i * 8;
#pragma unroll
            for (int j = 0; j < 2; ++j) {
              if (token + j < tokens && row < rows)
                target[j * int64_t(rows)] = sums[f][4 * i + j];
              if (token + j < tokens && row + 8 < rows)
                target[j * int64_t(rows) + 8] = sums[f][4 * i + 2 + j];
            }
            target += 8 * int64_t(rows);
          }
        }
      } else {
        // Stages are read by all groups, so that the plane of sums may lie over them.
        asm volatile("bar.sync 1, %0;" ::"n"(groups * 128) : "memory");
#pragma unroll
        for (int f = 0; f < fragments; ++f)
#pragma unroll
          for (int i = 0; i < columns / 8; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j) {
              int row = laneRow + f * kGroupRows + j / 2 * 8, token = i * 8 + quad * 2 + j % 2;
              storeWord(base + (token * kRows + row) * 4, __float_as_uint(sums[f][4 * i + j]));
            }
      }
    }
  }

  if constexpr (cluster > 1) {
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
    const int tile = blockIdx.x / cluster;
    const int firstRow = tile / tokenTiles * kRows, firstToken = tile % tokenTiles * columns;
    for (int i = rank * Tile::kThreads + thread; i < columns * kRows;
         i += cluster * Tile::kThreads) {
      float sum = 0;
#pragma unroll
      for (int other = 0; other < cluster; ++other) {
        float value;
        asm volatile("{\n"
                     ".reg .b32 remote;\n"
                     "mapa.shared::cluster.u32 remote, %1, %2;\n"
                     "ld.shared::cluster.f32 %0, [remote];\n"
                     "}\n"
                     : "=f"(value)
                     : "r"(base + i * 4), "r"(other)
                     : "memory");
        sum += value;
      }
      int row = firstRow + i % kRows, token = firstToken + i / kRows;
      if (row < rows && token < tokens)
        out[int64_t(token) * rows + row] = sum;
    }
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
  }
}

struct Launcher {
  void (*kernel)(const CUtensorMap, const CUtensorMap, float *, int, int, int);
  int columns, rows, threads, sharedBytes, cluster, blocksPerSm;
};
template <int columns, int fragments, int groups, int weightStages, int tokenStages, int cluster,
          int blocksPerSm>
constexpr Launcher launcher() {
  using Tile = Tile<columns, fragments, groups, weightStages, tokenStages>;
  static_assert(Tile::kBytes <= 227 * 1024 / blocksPerSm);
  return {
      multiplyWeights<columns, fragments, groups, weightStages, tokenStages, cluster, blocksPerSm>,
      columns,
      Tile::kRows,
      Tile::kThreads,
      Tile::kBytes,
      cluster,
      blocksPerSm};
}

Launcher launcherOf(WgmmaForm form) {
  switch (form) {
  case WgmmaForm::rows256:
    return launcher<128, 2, 2, 2, 8, 1, 1>();
  case WgmmaForm::rows256Split2:
    return launcher<128, 2, 2, 2, 8, 2, 1>();
  case WgmmaForm::rows128:
    return launcher<256, 1, 2, 2, 5, 1, 1>();
  case WgmmaForm::small16:
    return launcher<16, 1, 1, 4, 8, 1, 3>();
  case WgmmaForm::small16Split4:
    return launcher<16, 1, 1, 3, 8, 4, 3>();
  case WgmmaForm::small64:
    return launcher<64, 1, 1, 3, 4, 1, 3>();
  case WgmmaForm::small128:
    return launcher<128, 1, 1, 3, 4, 1, 2>();
  case WgmmaForm::small128Split4:
    return launcher<128, 1, 2, 3, 6, 4, 1>();
  }
  return {};
}

cudaError_t allowShared(const Launcher &launcher) {
  return cudaFuncSetAttribute(reinterpret_cast<const void *>(launcher.kernel),
                              cudaFuncAttributeMaxDynamicSharedMemorySize, launcher.sharedBytes);
}

} // namespace

cudaError_t launchWgmma(WgmmaForm form, const __half *activations, const WeightBlock *weights,
                        float *out, Shape shape, cudaStream_t stream) {
  Launcher launcher = launcherOf(form);
  if (cudaError_t status = allowShared(launcher))
    return status;
  EncodedMap blocks, tokens;
  if (cudaError_t status = encodeBlocks(blocks, weights, shape, launcher.rows))
    return status;
  if (cudaError_t status = encodeTokens(tokens, activations, shape, launcher.columns))
    return status;
  int multiprocessors = 0;
  if (cudaError_t status =
          cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0))
    return status;
  int tiles = (shape.tokens + launcher.columns - 1) / launcher.columns *
              ((shape.rows + launcher.rows - 1) / launcher.rows);
  // Blocks of a cluster take one tile, others all that are left.
  int grid = launcher.cluster > 1 ? tiles * launcher.cluster
                                  : std::min(tiles, multiprocessors * launcher.blocksPerSm);
  launcher.kernel<<<grid, launcher.threads, launcher.sharedBytes, stream>>>(
      reinterpret_cast<const CUtensorMap &>(blocks), reinterpret_cast<const CUtensorMap &>(tokens),
      out, shape.tokens, shape.rows, shape.depth);
  return cudaGetLastError();
}

cudaError_t queryWgmma(WgmmaForm form, KernelUse &use) {
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
