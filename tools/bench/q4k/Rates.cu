//===- Rates.cu - what the parts of the fold cost on the chip -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Throughput of single instructions, of shared memory's access patterns and of the
// whole fold with nothing around it, with as many warps as the product's kernel has.
// Says which pipe a kernel waits for.
//
//===----------------------------------------------------------------------===//

#include "Entries.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace blockscale::q4k {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 2;
constexpr int kWarpsPerScheduler = kThreads / 32 * kBlocksPerSm / 4;
constexpr int kChains = 8;
constexpr int kTimes = 512;

enum class Kind : uint8_t {
  ffma,
  fmul,
  convert,
  logic,
  shift,
  half,
  imma,
  fold,
  foldOffset,
  foldNoScale,
  loadMatrix,
  loadRows,
  loadTokens,
  loadWords,
};
struct Row {
  Kind kind;
  const char *name;
  int perRound; // what is counted, of one warp and round
};
constexpr Row kRows[] = {
    {Kind::ffma, "ffma", kChains},
    {Kind::fmul, "fmul", kChains},
    {Kind::convert, "cvt.f32.s32", kChains},
    {Kind::logic, "lop3", kChains},
    {Kind::shift, "shr", kChains},
    {Kind::half, "cvt.f32.f16", kChains},
    {Kind::imma, "mma.m16n8k32.s8", kChains},
    {Kind::fold, "mma + 4 (cvt, mul, 2 fma)", kChains},
    {Kind::foldOffset, "mma + 4 (add, mul, 2 fma)", kChains},
    {Kind::foldNoScale, "mma + 4 (cvt, 2 fma)", kChains},
    {Kind::loadMatrix, "ldmatrix.x4", kChains},
    {Kind::loadRows, "ld.v4, 4 addresses", kChains},
    {Kind::loadTokens, "ld.v4, 8 addresses", kChains},
    {Kind::loadWords, "ld.u32, 32 banks", kChains},
};

__device__ inline void multiply(int (&d)[4], const unsigned (&a)[4], unsigned b, unsigned other) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(other), "r"(0));
}

__device__ inline uint4 load(unsigned address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address));
  return v;
}

__device__ inline unsigned mix(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }

template <Kind kind>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    rate(float *out, float x, float y, int zero) {
  extern __shared__ __align__(1024) uint8_t shared[];
  const unsigned base = unsigned(__cvta_generic_to_shared(shared));
  const int lane = threadIdx.x & 31;
  float f[kChains], g[kChains], sums[kChains][4] = {};
  unsigned u[kChains], a[4];
  for (int i = 0; i < 4; ++i)
    a[i] = __float_as_uint(x) * (lane + i);
  for (int i = 0; i < kChains; ++i)
    f[i] = x + float(i), g[i] = f[i] * y + float(lane), u[i] = __float_as_uint(f[i]) + lane;
  unsigned total = 0;
  unsigned moving = base; // or what a round does would be done once for all
#pragma unroll 4
  for (int round = 0; round < kTimes; ++round) {
    moving += zero;
#pragma unroll
    for (int i = 0; i < kChains; ++i) {
      if constexpr (kind == Kind::ffma)
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(f[i]) : "f"(x), "f"(y));
      if constexpr (kind == Kind::fmul)
        asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(f[i]) : "f"(x));
      if constexpr (kind == Kind::convert)
        asm volatile("{ .reg .f32 t; cvt.rn.f32.s32 t, %0; mov.b32 %0, t; }" : "+r"(u[i]));
      if constexpr (kind == Kind::logic)
        asm volatile("lop3.b32 %0, %0, %1, %2, 0x6A;" : "+r"(u[i]) : "r"(zero), "r"(lane));
      if constexpr (kind == Kind::shift)
        asm volatile("shf.r.wrap.b32 %0, %0, %1, %2;" : "+r"(u[i]) : "r"(lane), "r"(zero));
      if constexpr (kind == Kind::half)
        asm volatile("{ .reg .b16 l, h; .reg .f32 t; mov.b32 {l, h}, %0; cvt.f32.f16 t, l; "
                     "mov.b32 %0, t; }"
                     : "+r"(u[i]));
      if constexpr (kind == Kind::imma) {
        int c[4];
        multiply(c, a, moving, u[i]);
        total ^= c[0];
      }
      if constexpr (kind == Kind::fold || kind == Kind::foldOffset || kind == Kind::foldNoScale) {
        int c[4];
        multiply(c, a, moving, u[i]);
        f[i] += y;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          float value = kind == Kind::foldOffset ? __int_as_float(c[j]) - x : float(c[j]);
          float scale = kind == Kind::foldNoScale ? g[j] : f[i] * g[j];
          sums[i][j] = __fmaf_rn(scale, value, sums[i][j]);
          sums[i][j] = __fmaf_rn(f[i], g[j + 4], sums[i][j]);
        }
      }
      if constexpr (kind == Kind::loadMatrix) {
        unsigned line = lane & 15, unit = ((line & 3) * 2 + (lane >> 4)) ^ (line >> 2 & 7);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                     : "r"(moving + (line & ~3) * 32 + unit * 16 + i * 1024));
        total ^= a[0] ^ a[1] ^ a[2] ^ a[3];
      }
      if constexpr (kind == Kind::loadRows)
        total ^= mix(load(moving + (lane & 3) * 16 + i * 1024));
      if constexpr (kind == Kind::loadTokens)
        total ^= mix(load(moving + (lane >> 2) * 32 + i * 1024));
      if constexpr (kind == Kind::loadWords) {
        unsigned word;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(moving + lane * 4 + i * 1024));
        total ^= word;
      }
    }
  }
  float sum = __uint_as_float(total);
  for (int i = 0; i < kChains; ++i) {
    sum += f[i] + __uint_as_float(u[i]);
    for (int j = 0; j < 4; ++j)
      sum += sums[i][j];
  }
  if (sum == 12345.678f)
    out[threadIdx.x] = sum;
}

template <Kind kind> void launch(float *out, int blocks) {
  rate<kind><<<blocks, kThreads, kChains * 1024>>>(out, 1.0f, 0.0f, 0);
}

constexpr void (*kLaunchers[])(float *, int) = {
    launch<Kind::ffma>,        launch<Kind::fmul>,       launch<Kind::convert>,
    launch<Kind::logic>,       launch<Kind::shift>,      launch<Kind::half>,
    launch<Kind::imma>,        launch<Kind::fold>,       launch<Kind::foldOffset>,
    launch<Kind::foldNoScale>, launch<Kind::loadMatrix>, launch<Kind::loadRows>,
    launch<Kind::loadTokens>,  launch<Kind::loadWords>,
};

} // namespace

void printRates() {
  cudaDeviceProp chip;
  require(cudaGetDeviceProperties(&chip, 0), "device");
  int clock = 0;
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  float *out = nullptr;
  require(cudaMalloc(&out, kThreads * sizeof(float)), "device memory");
  cudaEvent_t start, stop;
  require(cudaEventCreate(&start), "event");
  require(cudaEventCreate(&stop), "event");
  constexpr int kWaves = 16;
  int blocks = chip.multiProcessorCount * kBlocksPerSm * kWaves;
  std::printf("cycles of a scheduler for each, at %d MHz, %d warps a scheduler\n", clock / 1000,
              kWarpsPerScheduler);
  for (const Row &row : kRows) {
    std::vector<float> samples;
    for (int i = 0; i < 7; ++i) {
      require(cudaEventRecord(start), "event");
      kLaunchers[int(row.kind)](out, blocks);
      require(cudaEventRecord(stop), "event");
      require(cudaEventSynchronize(stop), row.name);
      float ms = 0;
      cudaEventElapsedTime(&ms, start, stop);
      samples.push_back(ms);
    }
    std::sort(samples.begin(), samples.end());
    double cycles = samples[3] * 1e-3 * clock * 1e3;
    double count = double(kWaves) * kWarpsPerScheduler * kTimes * row.perRound;
    std::printf("  %-28s %7.2f\n", row.name, cycles / count);
  }
  cudaFree(out);
}

} // namespace blockscale::q4k
