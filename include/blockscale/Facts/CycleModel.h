//===- CycleModel.h - how long one tcgen05.mma holds the tensor pipe ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initiation interval in a long chain: the larger of the pipe's cycles and the
// shared-memory cycles. Within 2.7 cycles of 264 rows measured on a B200
// (microbench-blackwell 9a068d85) and equal to five on a B300. K = 96 and the long K
// of sm_107 are extrapolated: `isExtrapolated` says so, and whoever prints a figure
// must too.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_CYCLEMODEL_H
#define BLOCKSCALE_FACTS_CYCLEMODEL_H

#include "blockscale/Facts/MmaMode.h"

namespace blockscale::facts {

/// Bytes of shared memory that one SM reads a clock.
inline constexpr int kSharedBytesPerClock = 128;
/// One CTA with M = 128 and A in shared memory never takes less.
inline constexpr int kMmaFloorCycles = 44;
/// A pair with M = 256 adds this to its shared-memory cycles.
inline constexpr int kPairSharedCycles = 3;
/// Shared-memory cycles of one 512-byte scale copy: a lower bound, derived.
inline constexpr int kScaleCopyCycles = 4;
/// Latency of a chain apart from its intervals (measured: 132..148 for one CTA, 116
/// with A in tensor memory, 182 for a pair).
inline constexpr int kMmaLatencyOne = 140, kMmaLatencyTmem = 116, kMmaLatencyPair = 182;

struct MmaCost {
  int ctaGroup; // 1 or 2
  int m, n;
  int rowBytes; // of K of one instruction: 32, 48 or 64
  bool aInTmem = false;
};

/// Cycles of the pipe alone: N / 2, for a pair with M = 128 N / 4.
constexpr double mmaPipeCycles(const MmaCost &c) {
  return c.ctaGroup == 2 && c.m == 128 ? c.n / 4.0 : c.n / 2.0;
}
/// Cycles that the operands' bytes take from shared memory.
constexpr double mmaSharedCycles(const MmaCost &c) {
  int rowsA = c.aInTmem ? 0 : c.m / c.ctaGroup;
  double cycles = double(rowsA + c.n / c.ctaGroup) * c.rowBytes / kSharedBytesPerClock;
  return cycles + (c.ctaGroup == 2 && c.m == 256 ? kPairSharedCycles : 0);
}
/// Cycles from one instruction to the next in steady state.
constexpr double mmaCycles(const MmaCost &c) {
  double pipe = mmaPipeCycles(c), shared = mmaSharedCycles(c);
  double cycles = pipe < shared ? shared : pipe;
  bool hasFloor = c.ctaGroup == 1 && c.m == 128 && !c.aInTmem;
  return hasFloor && cycles < kMmaFloorCycles ? kMmaFloorCycles : cycles;
}
/// Only 32-byte rows were measured.
constexpr bool isExtrapolated(const MmaCost &c) { return c.rowBytes != 32; }

/// Other rates, per SM and clock. 0: do not assume one.
struct Rate {
  std::string_view name, unit;
  double value;
  std::string_view source;
};
// clang-format off
inline constexpr std::array<Rate, 12> kRates{{
    {"shared memory",                "bytes", 128,  "measured, sm_90a to sm_103a; the same unit feeds MMA operands"},
    {"tensor memory ld/st",          "bytes", 256,  "bound 512 derived; plan with 128 to 256"},
    {"TMA from L2",                  "bytes", 125,  "measured on B300, peak"},
    {"L2",                           "bytes", 70,   "measured on B300, 70 to 77"},
    {"f32 FMA",                      "lanes", 128,  "published; sm_80: 64"},
    {"MUFU",                         "lanes", 16,   "published; ex2 on sm_103a: 32"},
    {"narrow to f16x2 or bf16x2",    "instructions", 64, "measured on B300"},
    {"f32 to narrow pair",           "instructions", 32, "measured on B300: up to 64, 14 to 21 with the usual merge"},
    {"f32 to f16 or bf16",           "lanes", 16,   "published (sm_90, 12x); B300 packed 32"},
    {"f16 to f32",                   "lanes", 64,   "published"},
    {"LOP3, shift, PRMT, min, max",  "lanes", 64,   "measured on B300"},
    {"shuffle",                      "lanes", 32,   "measured on B300"},
}};
// clang-format on
/// One TMA issue, cycles: alone and in a row (measured on B300).
inline constexpr int kTmaIssueCycles = 65, kTmaIssueCyclesAmortised = 48;
/// Latency in cycles on B300: shared, L1, L2, DRAM.
inline constexpr int kLatencyShared = 24, kLatencyL1 = 39, kLatencyL2 = 301, kLatencyDram = 789;

namespace detail {
constexpr bool ratesAreSound() {
  for (size_t i = 0; i < kRates.size(); ++i) {
    if (kRates[i].value < 0 || kRates[i].unit.empty() || kRates[i].source.empty())
      return false;
    for (size_t j = 0; j < i; ++j)
      if (kRates[j].name == kRates[i].name)
        return false;
  }
  return true;
}
static_assert(ratesAreSound());
// B300 (QuickRunCUDA 00025496): the floor, the shared-memory bound, the pipe bound.
static_assert(mmaCycles({1, 128, 32, 32}) == 44 && mmaCycles({1, 128, 64, 32}) == 48 &&
              mmaCycles({1, 128, 256, 32}) == 128);
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_CYCLEMODEL_H
