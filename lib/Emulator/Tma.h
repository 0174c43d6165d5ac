//===- Tma.h - shared pieces of bulk copies -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A box of a tensor map and the walk over its rows. Where its bytes lie in shared
// memory is said by the layouts of the facts (LayoutsTma.h).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_TMA_H
#define BLOCKSCALE_LIB_EMULATOR_TMA_H

#include "blockscale/Facts/LayoutsCluster.h"
#include "blockscale/Facts/LayoutsTma.h"

#include "AsyncOps.h"
#include "TensorMapCode.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {

/// Plain copies come in units of it, and stores through maps write whole ones.
inline constexpr unsigned kBulkUnit = unsigned(facts::kTmaStoreGranule);

/// A tensor map with the place of a box.
struct Box {
  TensorMapImage map;
  uint64_t mapAddress = 0; // of a map in global memory
  facts::TmaTypeInfo element;
  facts::Swizzle swizzle;
  int32_t start[facts::kTmaMaxRank] = {};
  int32_t gatherRows[facts::kTmaGather4Rows] = {};
  bool gather = false;
  uint32_t counts[facts::kTmaMaxRank] = {1, 1, 1, 1, 1};
  unsigned globalRow = 0, sharedRow = 0, pitch = 0; // bytes
  unsigned rows = 1;
  bool isPadded() const { return element.globalBytes16 != element.sharedBytes16; }
  /// Where byte `byte` of row `row` lies in shared memory.
  uint32_t place(uint32_t dst, unsigned row, unsigned byte) const {
    return facts::swizzleAddress(dst + row * pitch + byte, swizzle);
  }
  uint64_t sharedBytes() const { return uint64_t(rows) * pitch; }
  uint64_t payload() const { return uint64_t(rows) * globalRow; }

  /// Calls fn(row, global address of the row's first element or 0 if outside,
  /// bytes of it inside and not before the tensor, first byte inside).
  template <class Fn> bool eachRow(Fn fn) const {
    for (unsigned row = 0; row < rows; ++row) {
      unsigned rest = row;
      uint64_t address = map.address;
      bool inside = true;
      for (unsigned dim = 1; dim < map.rank; ++dim) {
        int64_t c;
        if (gather) {
          c = gatherRows[row];
        } else {
          unsigned i = rest % counts[dim];
          rest /= counts[dim];
          c = facts::tmaCoordinate(int(dim), start[dim], i, map.elementStrides[dim]);
        }
        inside &= !facts::tmaIsOutside(c, int64_t(map.dims[dim]) + 1);
        address += uint64_t(c) * map.strides[dim - 1];
      }
      // Dimension 0 in bytes; starts are multiples of 16 bytes.
      int64_t first = int64_t(start[0]) * element.bits / 8;
      int64_t end = (int64_t(map.dims[0]) + 1) * element.bits / 8;
      int64_t from = std::max<int64_t>(0, -first), to = std::min<int64_t>(globalRow, end - first);
      if (!inside || to <= from)
        from = to = 0;
      if (!fn(row, address + uint64_t(first), unsigned(from), unsigned(to)))
        return false;
    }
    return true;
  }
};

/// Copies one row between a flat row and swizzled shared memory.
template <bool toShared>
void moveRow(const Box &b, uint8_t *shared, uint32_t dst, unsigned row, uint8_t *flat) {
  // Copies of the box's fields: what is written could be the box, as far as a compiler knows.
  const facts::Swizzle swizzle = b.swizzle;
  const unsigned unit = swizzle == facts::Swizzle::b128Atom32Flip8 ? 8 : kBulkUnit;
  const unsigned bytes = b.sharedRow;
  const uint32_t linear = dst + row * b.pitch;
  for (unsigned byte = 0; byte < bytes; byte += unit) {
    uint8_t *s = shared + facts::swizzleAddress(linear + byte, swizzle);
    if constexpr (toShared)
      std::memcpy(s, flat + byte, unit);
    else
      std::memcpy(flat + byte, s, unit);
  }
}

/// Reads and checks map and coordinates; false when refused.
bool readBox(Warp &w, const Instruction &in, const CopyForm &form, uint64_t mapAddress, int lane,
             Box &b);

/// Shared memory of a copy must be aligned and lie in a CTA; false when refused.
bool checkBulkShared(Warp &w, const Instruction &in, uint64_t address, uint64_t bytes,
                     bool isTensor);

Outcome issueBulkLoad(Warp &w, const Instruction &in, const CopyForm &form, int lane);
/// Stores and reductions.
Outcome issueBulkStore(Warp &w, const Instruction &in, const CopyForm &form, int lane);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_TMA_H
