//===- Registers.h - how an SM gives out its registers --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp takes whole units, so that a thread holds a multiple of eight.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_REGISTERS_H
#define BLOCKSCALE_FACTS_REGISTERS_H

#include "blockscale/Facts/ArchInfo.h"

#include <cstdint>

namespace blockscale::facts {

inline constexpr int kMaxRegistersPerThread =
    255; // CUDA C++ programming guide, compute capabilities
inline constexpr int kRegistersPerWarpUnit = 256; // cuda_occupancy.h 13.5, from sm_20 on

/// Registers of a block whose threads hold `perThread` each.
constexpr uint64_t blockRegisters(uint64_t warps, uint64_t perThread) {
  constexpr uint64_t kUnit = uint64_t(kRegistersPerWarpUnit);
  return warps * ((32 * perThread + kUnit - 1) / kUnit * kUnit);
}
static_assert(blockRegisters(4, 100) == 4 * 32 * 104);
static_assert(blockRegisters(16, 128) == uint64_t(kRegistersPerSm));

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_REGISTERS_H
