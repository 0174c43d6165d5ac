//===- Dequantize.cu - Q4_K weights to f16 --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands before a product of f16 weights when they are kept as Q4_K. A thread
// takes 16 bytes of nibbles and writes two runs of 16 weights.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

namespace blockscale::q4k {

namespace {

constexpr int kThreads = 256;
constexpr int kUnit = 16;
constexpr int kUnits = kSuperBlock / 2 / kUnit;

/// Rounded as the contract has it: no fused multiply-add.
__device__ inline __half weight(float scale, float min, unsigned nibble) {
  return __float2half_rn(__fsub_rn(__fmul_rn(scale, float(nibble)), min));
}

__global__ void __launch_bounds__(kThreads)
    dequantize(const WeightBlock *in, __half *out, int64_t units) {
  int64_t index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= units)
    return;
  int64_t number = index / kUnits;
  int unit = int(index % kUnits);
  const WeightBlock &block = in[number];
  uint4 header = __ldg(reinterpret_cast<const uint4 *>(&block));
  uint4 packed = __ldg(reinterpret_cast<const uint4 *>(block.nibbles) + unit);
  const unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
  float d = __half2float(__ushort_as_half(header.x & 0xFFFF));
  float dmin = __half2float(__ushort_as_half(header.x >> 16));
  PackedTerms terms = unpackFour(header.y, header.z, header.w, unit >= kUnits / 2);
  __half *target = out + number * kSuperBlock + unit / 2 * 64 + unit % 2 * kUnit;
#pragma unroll
  for (int high = 0; high < 2; ++high) {
    int shift = 8 * (unit / 2 % 2 * 2 + high);
    float scale = d * float(terms.scales >> shift & 0xFF);
    float min = dmin * float(terms.mins >> shift & 0xFF);
    __align__(16) __half run[kUnit];
#pragma unroll
    for (int i = 0; i < kUnit; ++i)
      run[i] = weight(scale, min, words[i / 4] >> (8 * (i % 4) + 4 * high) & 15);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      reinterpret_cast<uint4 *>(target + high * kChunk)[i] =
          reinterpret_cast<const uint4 *>(run)[i];
  }
}

} // namespace

cudaError_t launchDequantize(const WeightBlock *in, __half *out, Shape shape, cudaStream_t stream) {
  int64_t units = int64_t(shape.rows) * shape.blocksPerRow() * kUnits;
  dequantize<<<unsigned((units + kThreads - 1) / kThreads), kThreads, 0, stream>>>(in, out, units);
  return cudaGetLastError();
}

} // namespace blockscale::q4k
