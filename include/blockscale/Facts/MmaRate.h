//===- MmaRate.h - peak rates of the tensor cores -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiply-adds per clock and SM, dense. 0 means the chip has no such unit, or
// nobody knows. Derived from products' figures unless the source says measured.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_MMARATE_H
#define BLOCKSCALE_FACTS_MMARATE_H

#include "blockscale/Facts/Arch.h"

namespace blockscale::facts {

struct MmaRate {
  Arch arch;
  int fp4, fp8, int8, bf16;
  std::string_view source;
};

// clang-format off
inline constexpr std::array<MmaRate, 10> kMmaRates{{
    {Arch::sm_80,   0,     0,     2048, 1024, "derived from TFLOP/s"},
    {Arch::sm_86,   0,     0,     1024, 512,  "derived from TFLOP/s; bf16 256 on GeForce"},
    {Arch::sm_89,   0,     1024,  1024, 512,  "derived from TFLOP/s; fp8 512 with f32 accumulate on GeForce"},
    {Arch::sm_90a,  0,     4096,  4096, 2048, "published (OpenXLA cuda_core_info_table), derived"},
    {Arch::sm_100a, 16384, 8192,  8192, 4096, "measured on B200, 99.5 % or more of each (microbench-blackwell 9a068d85)"},
    {Arch::sm_103a, 16384, 8192,  250,  4096, "measured on B300, fp4 at K = 64; 24576 at K = 96 is derived and one audit saw no gain"},
    {Arch::sm_107a, 32768, 16384, 230,  4096, "derived: fp4 and fp8 agree on one clock, 2.384 GHz"},
    {Arch::sm_110a, 16384, 8192,  0,    4096, "derived"},
    {Arch::sm_120a, 2048,  1024,  1024, 512,  "derived; GeForce 512 (fp8 with f32) and 256 (bf16)"},
    {Arch::sm_121a, 2048,  1024,  1024, 512,  "derived from sm_120a"},
}};
// clang-format on

/// The rates of a chip; null where there is no row (family targets: ask the exact one).
constexpr const MmaRate *findMmaRate(Arch arch) {
  for (const MmaRate &row : kMmaRates)
    if (row.arch == arch)
      return &row;
  return nullptr;
}

namespace detail {
constexpr bool mmaRatesAreSound() {
  for (size_t i = 0; i < kMmaRates.size(); ++i) {
    if (kMmaRates[i].source.empty())
      return false;
    for (size_t j = 0; j < i; ++j)
      if (kMmaRates[j].arch == kMmaRates[i].arch)
        return false;
  }
  return true;
}
static_assert(mmaRatesAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_MMARATE_H
