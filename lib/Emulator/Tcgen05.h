//===- Tcgen05.h - shared pieces of the tcgen05 family --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_TCGEN05_H
#define BLOCKSCALE_LIB_EMULATOR_TCGEN05_H

#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/LayoutsSmem.h"
#include "blockscale/Facts/Tmem.h"

#include "AsyncOps.h"

namespace blockscale::emu {

bool decodeTmemAlloc(Decoder &d, bool isAlloc);
bool decodeTmemRelinquish(Decoder &d);
bool decodeTmemLoadStore(Decoder &d, bool isStore);
bool decodeTmemCopy(Decoder &d);
bool decodeTmemMma(Decoder &d);

/// The other CTA of the pair; null when refused, as when it has exited.
Cta *pairPeer(Warp &w, const Instruction &in);

/// Takes .cta_group::1 or ::2; one kernel uses one of them.
unsigned takeCtaGroup(Decoder &d);

/// Shared-memory byte offset of 16-byte chunk `chunk` of row `row` of a K-major operand.
inline uint32_t operandChunk(const facts::SmemDesc &s, uint32_t row, uint32_t chunk) {
  return s.absolute ? facts::kMajorAddressAbsolute(int(row), int(chunk * 16), s)
                    : facts::kMajorAddress(int(row), int(chunk * 16), s);
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
