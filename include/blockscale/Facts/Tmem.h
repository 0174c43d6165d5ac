//===- Tmem.h - tensor memory: addresses and allocation -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor memory has 128 lanes of 32-bit columns. An address holds the lane in
// bits 31:16 and the column in bits 15:0; scale operands may carry the scale id
// in bits 31:30, so a lane is 7 bits. Source: PTX ISA 9.4, 9.7.18.1 and 9.7.18.7.1.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_TMEM_H
#define BLOCKSCALE_FACTS_TMEM_H

#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/Result.h"

namespace blockscale::facts {

inline constexpr int kTmemLanes = 128;
/// Lanes that one warp of a warpgroup reaches: 32 * (warp % 4) onwards.
inline constexpr int kTmemLanesPerWarp = 32;
inline constexpr int kTmemColumnBits = 32;
/// Smallest allocation, and the step above `kTmemSharedColumns`.
inline constexpr int kTmemAllocStep = 32;
/// Largest allocation of the non-exclusive form, which takes powers of two only.
inline constexpr int kTmemSharedColumns = 512;

constexpr uint32_t tmemAddress(int lane, int column) {
  return uint32_t(lane) << 16 | uint32_t(column);
}
constexpr int tmemLane(uint32_t address) { return int(address >> 16 & 0x7F); }
constexpr int tmemColumn(uint32_t address) { return int(address & 0xFFFF); }
/// First lane that a warp of the CTA may touch.
constexpr int tmemWarpLane(int warpInCta) { return kTmemLanesPerWarp * (warpInCta % 4); }

/// Columns to allocate for `used` columns: a power of two from 32 up to 512, above
/// that a multiple of 32 up to what the chip has; 0 where the chip has not that many.
constexpr int roundedTmemColumns(Arch arch, int used) {
  if (used < 1 || used > info(arch).tmemColumns)
    return 0;
  if (used > kTmemSharedColumns)
    return (used + kTmemAllocStep - 1) / kTmemAllocStep * kTmemAllocStep;
  int columns = kTmemAllocStep;
  while (columns < used)
    columns *= 2;
  return columns;
}
static_assert(roundedTmemColumns(Arch::sm_107a, 288) == 512);
static_assert(roundedTmemColumns(Arch::sm_107a, 536) == 544);
static_assert(roundedTmemColumns(Arch::sm_107a, 560) == 576);
static_assert(roundedTmemColumns(Arch::sm_107a, 577) == 0);
static_assert(roundedTmemColumns(Arch::sm_100a, 513) == 0);

/// The same with a message (tmem_c1, tmem_c2).
Result<int> roundTmemColumns(Arch arch, int used);

/// Whether an allocation needs `.exclusive`, the only form that takes what is not
/// a power of two up to 512.
constexpr bool needsExclusiveAlloc(int columns) {
  return columns > kTmemSharedColumns || (columns & (columns - 1)) != 0;
}

/// Whether tcgen05.alloc takes `columns` on the chip, with or without `.exclusive`.
/// ptxas checks neither the range of the exclusive form nor a register operand.
Result<bool> checkTmemAlloc(Arch arch, int columns, bool exclusive);

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_TMEM_H
