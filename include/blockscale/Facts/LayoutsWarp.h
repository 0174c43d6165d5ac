//===- LayoutsWarp.h - fragments of mma.sync and ldmatrix -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which element each register of a thread holds, for m16n8k32 (8 bit), m16n8k16
// (16 bit) and m16n8k64 (FP4), and where the sm_120 block-scaled form takes its
// scales from. Source: PTX ISA 9.4, 9.7.15; equal to CUTLASS 4.7.0 on 7,168 points
// and to an H200.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_LAYOUTSWARP_H
#define BLOCKSCALE_FACTS_LAYOUTSWARP_H

#include "blockscale/Facts/Arch.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace blockscale::facts {

/// Row and column of an element; (row, k) for A, (n, k) for B.
struct FragmentPlace {
  int row, column;
  constexpr bool operator==(const FragmentPlace &) const = default;
};

/// Element `i` of thread `thread` of A, 16 rows x 256 / bits; low bits come first.
constexpr FragmentPlace fragmentA(int thread, int i, int bits) {
  int per = 32 / bits, reg = i / per, e = i % per;
  return {thread / 4 + 8 * (reg % 2), thread % 4 * per + e + 4 * per * (reg / 2)};
}
/// Element `i` of B, 8 columns x 256 / bits.
constexpr FragmentPlace fragmentB(int thread, int i, int bits) {
  int per = 32 / bits, reg = i / per, e = i % per;
  return {thread / 4, thread % 4 * per + e + 4 * per * reg};
}
/// Element `i` (0..3) of C and D, 16x8.
constexpr FragmentPlace fragmentC(int thread, int i) {
  return {thread / 4 + 8 * (i / 2), thread % 4 * 2 + i % 2};
}

/// Thread and byte that supply a scale of the sm_120 block-scaled mma.sync.
struct WarpScaleSource {
  int thread, byte;
  constexpr bool operator==(const WarpScaleSource &) const = default;
};
/// Scale `scale` of A row `row`; `perRow` is 1, 2 or 4 (scale_vec), `threadId` 0 or 1.
constexpr WarpScaleSource warpScaleA(int row, int scale, int perRow, int byteId, int threadId) {
  return {4 * (row % 8) + 2 * threadId + row / 8, (perRow < 4 ? byteId : 0) + scale};
}
/// Scale `scale` of B column `n`; `threadId` 0..3.
constexpr WarpScaleSource warpScaleB(int n, int scale, int perRow, int byteId, int threadId) {
  return {4 * n + threadId, (perRow < 4 ? byteId : 0) + scale};
}

/// Half `half` of register `reg` of ldmatrix (8x8, b16): the thread whose address is
/// used, and the element of that row. stmatrix is the inverse.
struct LdmatrixPlace {
  int thread, element;
  constexpr bool operator==(const LdmatrixPlace &) const = default;
};
constexpr LdmatrixPlace ldmatrixPlace(int thread, int reg, int half, bool transposed = false) {
  int row = thread / 4, column = 2 * (thread % 4) + half;
  return transposed ? LdmatrixPlace{8 * reg + column, row} : LdmatrixPlace{8 * reg + row, column};
}

/// Moves of matrices of bytes: each matrix has rows of 16 bytes in shared memory.
struct NarrowMatrix {
  std::string_view shape;
  bool isStore, transposed; // .trans must, or must not, be written
  bool raw;                 // .b8
  bool unpacks;             // .b8x16.b6x16_p32 and .b8x16.b4x16_p64
  int rows;                 // of a matrix, one address each
  int registers;            // of a matrix
  int most;                 // matrices: x1, x2, x4
  std::string_view source;
};

// clang-format off
inline constexpr std::array<NarrowMatrix, 3> kNarrowMatrices{{
    // shape    store  trans  raw    unpacks rows registers most
    {"m8n16",  false, false, false, true,   8,   1,        4, "ptxas 13.5"},
    {"m16n16", false, true,  true,  true,   16,  2,        2, "ptxas 13.5"},
    {"m16n8",  true,  true,  true,  false,  8,   1,        4, "ptxas 13.5"},
}};
// clang-format on
inline constexpr ArchSet kNarrowMatrixNeeds{Arch::sm_100f, Arch::sm_110f, Arch::sm_120a,
                                            Arch::sm_121a};
inline constexpr ArchSet kStmatrixNeeds{Arch::sm_90a, Arch::sm_100f, Arch::sm_110f, Arch::sm_120a,
                                        Arch::sm_121a};

/// Row (address) and byte of that row that byte `byte` of register `reg` of a matrix holds.
/// Source: CUTLASS 4.7.0, copy_sm100.hpp and copy_traits_sm100.hpp, the byte permutation
/// after its ldmatrix undone; unpacked codes end up in the low bits of their bytes.
constexpr FragmentPlace narrowMatrixPlace(const NarrowMatrix &m, int thread, int reg, int byte) {
  if (m.isStore)
    return {2 * (thread % 4) + byte % 2, thread / 4 + 8 * (byte / 2)};
  if (m.transposed)
    return {4 * (thread % 4) + byte, thread / 4 + 8 * reg};
  return {thread / 4, 4 * (thread % 4) + byte};
}

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_LAYOUTSWARP_H
