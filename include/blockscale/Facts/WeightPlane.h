//===- WeightPlane.h - q4_K weights with their terms as f32 ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of q4_K_plane is 16 rows of 256 weights, the rows that one warp multiplies, as
// they lie in a kernel's shared memory: nibbles in the layout xor_row8, then for each
// sub-block the pairs d * sc and -(dmin * min) of the rows, both exact in f32. So a fill is
// copies of 16 bytes, and nothing is decoded. 192 bytes for 256 weights instead of 144.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_WEIGHTPLANE_H
#define BLOCKSCALE_FACTS_WEIGHTPLANE_H

#include "blockscale/Facts/BlockFormat.h"
#include "blockscale/Facts/PlaneLayout.h"

namespace blockscale::facts {

inline constexpr int kPlaneRows = 16;
/// Bytes of the nibbles, then of the terms: 8 bytes a row, rows of a sub-block together.
inline constexpr int kPlaneNibbleBytes = kPlaneRows * kQ4KNibbleBytes;
inline constexpr int kPlaneSubBlockBytes = kPlaneRows * 8;
inline constexpr int kPlaneTermBytes = kQ4KSubBlocks * kPlaneSubBlockBytes;

/// Where byte `byte` (0..127) of a row's nibbles lies in a block.
constexpr int planeNibbleOffset(int row, int byte) {
  return planeOffset(PlaneLayout::xor_row8, row, byte / kPieceBytes, kQ4KNibbleBytes) +
         byte % kPieceBytes;
}
/// Where d * sc of a sub-block lies; -(dmin * min) is behind it.
constexpr int planeTermOffset(int row, int subBlock) {
  return kPlaneNibbleBytes + subBlock * kPlaneSubBlockBytes + row * 8;
}

static_assert(info(BlockFormat::q4_K_plane).bytes == kPlaneNibbleBytes + kPlaneTermBytes);
static_assert(info(BlockFormat::q4_K_plane).rows == kPlaneRows);
static_assert(chooseNibbleLayout() == PlaneLayout::xor_row8);

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_WEIGHTPLANE_H
