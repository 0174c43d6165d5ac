//===- Tcgen05.h - shared pieces of the tcgen05 family --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_TCGEN05_H
#define BLOCKSCALE_LIB_EMULATOR_TCGEN05_H

#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/SmemDesc.h"
#include "blockscale/Facts/Tmem.h"

#include "AsyncOps.h"

namespace blockscale::emu {

bool decodeTmemLoadStore(Decoder &d, bool isStore);
bool decodeTmemCopy(Decoder &d);
bool decodeTmemMma(Decoder &d);

/// Takes .cta_group::1 or ::2; one kernel uses one of them.
unsigned takeCtaGroup(Decoder &d);

/// Shared-memory byte offset of 16-byte chunk `chunk` of row `row` of a K-major
/// operand (layouts: PTX ISA 9.4, 9.7.18.4 and 5.5.6).
inline uint32_t operandChunk(const facts::SmemDesc &s, uint32_t row, uint32_t chunk) {
  if (s.swizzle == facts::Swizzle::none)
    return s.start + row % 8 * 16 + row / 8 * s.strideBytes + chunk * s.leadingBytes;
  if (s.absolute) { // K = 96: past the end of the line the operand goes on in another buffer
    uint32_t first = s.start / 16 % 8, c = first + chunk;
    uint32_t base = s.start - first * 16;
    if (c >= 8) {
      base = s.leadingBytes;
      c -= 8;
    }
    return facts::swizzleAddress(base + row % 8 * 128 + row / 8 * s.strideBytes + c * 16,
                                 s.swizzle);
  }
  uint32_t span = uint32_t(facts::info(s.swizzle).span);
  return facts::swizzleAddress(s.start + row % 8 * span + row / 8 * s.strideBytes + chunk * 16,
                               s.swizzle, s.baseOffset);
}

/// Sixteen bytes of a CTA's shared memory, or null outside of it.
inline const uint8_t *sharedChunk(const Cta &cta, uint32_t offset) {
  return offset >= kSharedBase && uint64_t(offset) + 16 <= cta.shared.size()
             ? cta.shared.data() + offset
             : nullptr;
}

/// Columns [column, column + count) must be allocated; reports and gives false else.
bool checkColumns(Warp &w, const Instruction &in, Cta &cta, unsigned column, unsigned count,
                  const char *what);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_TCGEN05_H
