//===- FmaLanes.cpp - fma of f32 on hosts that have it --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library is built for any x86-64, where std::fma is a call. One function here is
// compiled for FMA and entered only after asking the CPU; it works on plain arrays, so
// that no shared inline function is compiled for it.
//
//===----------------------------------------------------------------------===//

#include "FmaLanes.h"

#include "Lanes.h"

#include <cstring>

namespace blockscale::emu {

#if defined(__x86_64__)

namespace {

__attribute__((target("avx2,fma"))) void fmaArray(float *d, const float *a, const float *b,
                                                  const float *c, int count) {
  constexpr uint32_t kNan = 0x7FFFFFFF;
  float nan;
  __builtin_memcpy(&nan, &kNan, 4);
  for (int i = 0; i < count; ++i) {
    float r = __builtin_fmaf(a[i], b[i], c[i]);
    d[i] = r != r ? nan : r;
  }
}

/// T holds one float, or a pair.
template <typename T> Outcome fmaLanes(Warp &w, const Instruction &in) {
  constexpr int kFloats = 32 * sizeof(T) / sizeof(float);
  alignas(64) float out[kFloats];
  T *d = w.reg<T>(in.op[0]);
  fmaArray(out, w.reg<float>(in.op[1]), w.reg<float>(in.op[2]), w.reg<float>(in.op[3]), kFloats);
  if (w.mask == ~0u) {
    std::memcpy(d, out, sizeof out);
    return Outcome::next;
  }
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    std::memcpy(d + l, reinterpret_cast<const char *>(out) + size_t(l) * sizeof(T), sizeof(T));
  }
  return Outcome::next;
}

bool hasFma() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

} // namespace

Handler fastFma() { return hasFma() ? fmaLanes<uint32_t> : nullptr; }
Handler fastFmaPairs() { return hasFma() ? fmaLanes<uint64_t> : nullptr; }

#else

Handler fastFma() { return nullptr; }
Handler fastFmaPairs() { return nullptr; }

#endif

} // namespace blockscale::emu
