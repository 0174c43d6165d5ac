//===- Quantize.cu - f32 and f16 activations to 40-byte chunks ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eight threads a chunk, four elements each; the maximum and the sum go round by
// shuffles.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

namespace blockscale::q4k {

namespace {

constexpr int kThreads = 256;
constexpr int kElements = 4; // of one thread
constexpr int kLanes = kChunk / kElements;

__device__ inline void load(float (&x)[kElements], const float *in) {
  float4 v = *reinterpret_cast<const float4 *>(in);
  x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
}
__device__ inline void load(float (&x)[kElements], const __half *in) {
  uint2 v = *reinterpret_cast<const uint2 *>(in);
  const __half *halves = reinterpret_cast<const __half *>(&v);
#pragma unroll
  for (int i = 0; i < kElements; ++i)
    x[i] = __half2float(halves[i]);
}

/// A group of eight lanes is wholly inside or wholly outside, so all lanes of it shuffle.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    quantize(const T *in, ActivationChunk *out, int64_t chunks) {
  int64_t index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  int64_t chunk = index / kLanes;
  int lane = int(index % kLanes);
  bool isInside = chunk < chunks;
  float x[kElements] = {};
  if (isInside)
    load(x, in + chunk * kChunk + lane * kElements);
  float most = 0;
#pragma unroll
  for (int i = 0; i < kElements; ++i)
    most = fmaxf(most, fabsf(x[i]));
#pragma unroll
  for (int step = 1; step < kLanes; step *= 2)
    most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
  float d = __fdiv_rn(most, 127.0f);
  unsigned word = 0;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    int q = d == 0 ? 0 : __float2int_rn(__fdiv_rn(x[i], d));
    word |= unsigned(q & 0xFF) << 8 * i;
    sum += q;
  }
#pragma unroll
  for (int step = 1; step < kLanes; step *= 2)
    sum += __shfl_xor_sync(~0u, sum, step);
  if (!isInside)
    return;
  reinterpret_cast<unsigned *>(out[chunk].q)[lane] = word;
  if (lane == 0) {
    *reinterpret_cast<unsigned *>(&out[chunk].d) = __half_as_ushort(__float2half_rn(d));
    out[chunk].sum = sum;
  }
}

template <typename T>
cudaError_t launch(const T *in, ActivationChunk *out, Shape shape, cudaStream_t stream) {
  int64_t chunks = int64_t(shape.tokens) * shape.chunksPerToken();
  unsigned grid = unsigned((chunks * kLanes + kThreads - 1) / kThreads);
  quantize<<<grid, kThreads, 0, stream>>>(in, out, chunks);
  return cudaGetLastError();
}

} // namespace

cudaError_t launchQuantize(const float *in, ActivationChunk *out, Shape shape,
                           cudaStream_t stream) {
  return launch(in, out, shape, stream);
}
cudaError_t launchQuantize(const __half *in, ActivationChunk *out, Shape shape,
                           cudaStream_t stream) {
  return launch(in, out, shape, stream);
}

} // namespace blockscale::q4k
