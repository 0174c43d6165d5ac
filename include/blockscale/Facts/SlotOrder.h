//===- SlotOrder.h - the order of expanded rows in shared memory ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An expanded plane has a slot of 48 bytes for each row of each chunk. A warp stores all
// chunks of a row side by side, and chunks are whole lines apart: so rows are XORed with
// the pair of chunks, by a factor that the model of the banks chooses. Eight rows of one
// chunk, which ldmatrix reads, stay eight rows.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_SLOTORDER_H
#define BLOCKSCALE_FACTS_SLOTORDER_H

#include "blockscale/Facts/PlaneLayout.h"

namespace blockscale::facts {

/// The slot of a row in chunks 2 `pair` and 2 `pair` + 1 of a block.
constexpr int slotOfRow(int row, int pair, int factor) { return row ^ (pair * factor); }

/// Cycles of the banks for the store of a warp whose lanes have pieces of 16 bytes, `pieces`
/// (as many as chunks) of a row: half of it in each of two chunks.
constexpr int slotStoreCycles(int pieces, int factor) {
  constexpr int kRows = 64;
  std::array<int, 32> address{};
  for (int lane = 0; lane < 32; ++lane) {
    int piece = lane % pieces, pair = piece / 2;
    address[size_t(lane)] =
        2 * pair * kRows * kSlotBytes +
        planeOffset(PlaneLayout::slot48, slotOfRow(lane / pieces, pair, factor), piece % 2, 32);
  }
  return bankCycles(address, kPieceBytes);
}

/// Cycles of an ldmatrix of 32 rows of one chunk.
constexpr int slotLoadCycles(int pair, int factor) {
  std::array<int, 32> address{};
  for (int lane = 0; lane < 32; ++lane)
    address[size_t(lane)] =
        planeOffset(PlaneLayout::slot48, slotOfRow(lane, pair, factor), /*piece=*/0, 32);
  return bankCycles(address, kPieceBytes);
}

/// The factor of the fewest cycles; the least of several. Factors keep a row in its eight.
constexpr int chooseSlotFactor(int pieces) {
  int best = 0;
  for (int factor = 1; (pieces / 2 - 1) * factor < 8; ++factor)
    if (slotStoreCycles(pieces, factor) < slotStoreCycles(pieces, best))
      best = factor;
  return best;
}

namespace detail {
static_assert(slotStoreCycles(8, 0) == 16 && slotStoreCycles(8, chooseSlotFactor(8)) == 4);
static_assert(chooseSlotFactor(8) == 2);
static_assert(slotLoadCycles(3, chooseSlotFactor(8)) == 4);
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_SLOTORDER_H
