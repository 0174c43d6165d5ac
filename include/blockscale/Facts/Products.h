//===- Products.h - chips that one can buy --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Public figures of products, for cost models and reports, never for legality: SM
// counts differ by unit and MIG, so a runtime asks the device. 0 means unknown. Each
// row says whether it is published, measured or derived.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_PRODUCTS_H
#define BLOCKSCALE_FACTS_PRODUCTS_H

#include "blockscale/Facts/Arch.h"

namespace blockscale::facts {

struct Product {
  std::string_view name;
  Arch arch;
  int sms;
  int gpcs;
  int clockMHz; // of the SM, highest sustained
  int l2MiB;
  int memoryGBs; // GB/s
  // Dense TFLOP/s (TOP/s for int8).
  int fp4, fp8, bf16, int8;
  std::string_view source;
};

// clang-format off
inline constexpr std::array<Product, 12> kProducts{{
    // name           arch           SMs  GPCs clock L2   GB/s   fp4    fp8    bf16  int8
    {"A100 SXM",      Arch::sm_80,   108, 7,   1410, 40,  2040,  0,     0,     312,  624,  "published; the 40 GB unit has 1560 GB/s"},
    {"RTX 4090",      Arch::sm_89,   128, 0,   2520, 72,  1010,  0,     330,   165,  661,  "published; fp8 with f32 accumulate, 661 with f16"},
    {"H100 SXM",      Arch::sm_90a,  132, 8,   1830, 50,  3350,  0,     1979,  989,  1979, "published; 1980 MHz without tensor load"},
    {"H200",          Arch::sm_90a,  132, 8,   1980, 50,  4800,  0,     1979,  989,  1979, "published; clock read from a device"},
    {"B200",          Arch::sm_100a, 148, 8,   1965, 126, 8000,  9000,  4500,  2250, 4500, "published; 7.26 TB/s measured (microbench-blackwell 9a068d85)"},
    {"B300",          Arch::sm_103a, 148, 8,   1920, 126, 8000,  13500, 4500,  2250, 150,  "published; SMs and L2 measured (QuickRunCUDA 00025496)"},
    {"GB300",         Arch::sm_103a, 152, 8,   0,    0,   8000,  15000, 5000,  2500, 165,  "published; SMs measured, full chip 160"},
    {"Rubin",         Arch::sm_107a, 224, 0,   2384, 0,   22000, 35000, 17500, 4000, 250,  "published, last three second hand; clock derived"},
    {"Thor T5000",    Arch::sm_110a, 20,  3,   0,    32,  270,   1035,  0,     0,    0,    "published; fp4 half of the sparse figure"},
    {"RTX 5090",      Arch::sm_120a, 170, 0,   2407, 96,  1790,  1676,  419,   209,  838,  "RTX Blackwell whitepaper, second hand; fp8 with f32 accumulate"},
    {"RTX PRO 6000",  Arch::sm_120a, 188, 0,   2617, 128, 1790,  2000,  0,     504,  0,    "published"},
    {"GB10",          Arch::sm_121a, 48,  0,   0,    0,   270,   500,   0,     0,    0,    "published; fp4 half of the sparse figure"},
}};
// clang-format on

/// The product whose figures stand for an exact target in models; null where none
/// is listed.
constexpr const Product *modelProduct(Arch arch) {
  for (const Product &row : kProducts)
    if (row.arch == arch)
      return &row;
  // A family target is modelled by the first product that runs its code.
  for (const Product &row : kProducts)
    if (covers(row.arch, arch))
      return &row;
  return nullptr;
}

namespace detail {
constexpr bool modelProductsAreSound() {
  for (size_t i = 0; i < kProducts.size(); ++i) {
    const Product &row = kProducts[i];
    if (size_t(row.arch) >= kArchNames.size() || row.name.empty() || row.source.empty())
      return false;
    if (row.sms <= 0 || row.memoryGBs <= 0)
      return false;
    // 0 means unknown.
    for (int figure : {row.gpcs, row.clockMHz, row.l2MiB, row.fp4, row.fp8, row.bf16, row.int8})
      if (figure < 0)
        return false;
    for (size_t j = 0; j < i; ++j)
      if (row.name == kProducts[j].name)
        return false;
  }
  // Each target has a product to take its number of SMs from.
  for (size_t i = 0; i < kArchNames.size(); ++i)
    if (!modelProduct(Arch(i)))
      return false;
  return true;
}
static_assert(modelProductsAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_PRODUCTS_H
