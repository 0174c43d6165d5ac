//===- GlobalAccess.h - one access to global memory -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_GLOBALACCESS_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_GLOBALACCESS_H

#include "Shadow.h"

namespace blockscale::emu {

inline constexpr unsigned kCellOfGlobal = 256; // bytes
inline constexpr std::size_t kMostReads = 256; // of a cell, those that are surely kept

/// One access, or its part in a cell.
struct GlobalAccess {
  Record record;     // `bytes` is not used; `place` is the cluster's turn
  uint16_t from = 0; // bytes of the cell
  uint16_t to = 0;
  int16_t base = 0; // with a shift: the byte that belongs to lane `record.lanes`
  uint16_t warp = 0;
  uint8_t rank = 0;
  bool isWide = false;    // strong at gpu or sys scope
  bool isVisible = false; // to dependent grids from their start on
  uint32_t readBy = 0;    // of a bulk store: the component that has read its source
  uint32_t turn() const { return record.place; }
  /// Lanes that touched some of these bytes.
  uint32_t owners(unsigned first, unsigned end) const;
  bool isSameOperation(const GlobalAccess &o) const {
    return record.isSameOperation(o.record) && turn() == o.turn();
  }
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_GLOBALACCESS_H
