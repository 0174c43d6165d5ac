//===- Fp8Exceptions.h - which elements the mxf8f6f4 shortcut adds singly -===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same for every instruction set. Each file that includes it has functions of its own,
// compiled for its instruction set, which no other file may call.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8EXCEPTIONS_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8EXCEPTIONS_H

#include "Fp8Tile.h"

namespace blockscale::emu::fp8 {
namespace {

/// Bit j of `odd`: element j of the block is an exception. Where there are too many the row
/// takes no shortcut.
inline void keepExceptions(RowA &row, int block, uint32_t odd) {
  row.exceptions[block] = 0;
  for (; odd != 0; odd &= odd - 1) {
    if (row.exceptions[block] == kMaxRowExceptions) {
      row.shortcut = false;
      break;
    }
    row.exceptionAt[block][row.exceptions[block]++] = uint8_t(block * kBlock + __builtin_ctz(odd));
  }
}

/// Element k is an exception in some of the columns: where its values go, zero in the others.
/// Null: the columns take no shortcut.
inline float *placeOfException(ColumnsB &b, int block, int k) {
  if (!b.shortcut)
    return nullptr;
  int &count = b.exceptions[block];
  if (count == kMaxColumnExceptions) {
    b.shortcut = false;
    return nullptr;
  }
  b.exceptionAt[block][count] = uint8_t(k);
  return b.exceptionValue[block][count++];
}

} // namespace
} // namespace blockscale::emu::fp8

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_FP8EXCEPTIONS_H
