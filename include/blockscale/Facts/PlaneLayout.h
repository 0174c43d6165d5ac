//===- PlaneLayout.h - bytes of mma.sync operands in shared memory --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a 16-byte piece of a row lies, in layouts without and with bank conflicts,
// and a model of the banks that tells them apart. Rows have 32 bytes (one chunk of
// one row of A or B) or 128 (the nibbles of one block).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_PLANELAYOUT_H
#define BLOCKSCALE_FACTS_PLANELAYOUT_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::facts {

/// `split_phase`: four rows of 32 bytes fill a line of 128, whose piece index is
/// XORed with the line's number. `xor_row8`: the piece index of a 128-byte row is
/// XORed with the row's number. `slot48`: rows of 32 bytes, 48 apart. `octets`:
/// entries of rows r and r + 8 side by side, as one lane of a fragment needs them; `quads`
/// and `row_quads`: the four words side by side that a lane reads of A's terms, rows r,
/// r + 8, r + 16, r + 24, and of B's, rows 2 c, 2 c + 1, 2 c + 8, 2 c + 9.
enum class PlaneLayout : uint8_t {
  linear,
  split_phase,
  xor_row8,
  slot48,
  octets,
  quads,
  row_quads
};
inline constexpr std::array<std::string_view, 7> kPlaneLayoutNames{
    "linear", "split_phase", "xor_row8", "slot48", "octets", "quads", "row_quads"};
constexpr std::string_view name(PlaneLayout l) { return kPlaneLayoutNames[size_t(l)]; }
constexpr std::optional<PlaneLayout> parsePlaneLayout(std::string_view text) {
  for (size_t i = 0; i < kPlaneLayoutNames.size(); ++i)
    if (kPlaneLayoutNames[i] == text)
      return PlaneLayout(i);
  return std::nullopt;
}

inline constexpr int kPieceBytes = 16;
inline constexpr int kSlotBytes = 48;
inline constexpr int kBanks = 32;

/// Byte of piece `piece` of row `row`; rows have `rowBytes` bytes.
constexpr int planeOffset(PlaneLayout layout, int row, int piece, int rowBytes) {
  switch (layout) {
  case PlaneLayout::split_phase:
    return row / 4 * 128 + (((row % 4 * 2 + piece) ^ (row / 4 % 8)) * kPieceBytes);
  case PlaneLayout::xor_row8:
    return row * 128 + ((piece ^ (row % 8)) * kPieceBytes);
  case PlaneLayout::slot48:
    return row * kSlotBytes + piece * kPieceBytes;
  case PlaneLayout::linear:
  case PlaneLayout::octets:
  case PlaneLayout::quads:
  case PlaneLayout::row_quads:
    return row * rowBytes + piece * kPieceBytes;
  }
  return 0;
}

/// Entry of row `row` in the octet order: rows 0, 8, 1, 9, ... of each sixteen.
constexpr int octetEntry(int row) { return row / 16 * 16 + row % 8 * 2 + row / 8 % 2; }
/// Word of row `row` in the order of quads of A, and of B.
constexpr int quadEntry(int row) {
  return (row / 32 * 8 + row % 8) * 4 + row / 16 % 2 * 2 + row / 8 % 2;
}
constexpr int rowQuadEntry(int row) {
  return (row / 16 * 4 + row / 2 % 4) * 4 + row / 8 % 2 * 2 + row % 2;
}

/// Cycles that the banks take for one access of a warp: lanes of one phase (all 32
/// for 4 bytes, 16 for 8, 8 for 16) that want different words of one bank queue up.
/// `matrix` accesses are phases of 8 rows of 16 bytes, as ldmatrix reads them.
constexpr int bankCycles(const std::array<int, 32> &address, int bytes) {
  int lanesPerPhase = 128 / bytes, cycles = 0;
  for (int first = 0; first < 32; first += lanesPerPhase) {
    std::array<std::array<int, 32>, kBanks> words{};
    std::array<int, kBanks> count{};
    int worst = 0;
    for (int lane = first; lane < first + lanesPerPhase; ++lane)
      for (int word = address[size_t(lane)] / 4; word < (address[size_t(lane)] + bytes) / 4;
           ++word) {
        int bank = word % kBanks;
        bool known = false;
        for (int i = 0; i < count[size_t(bank)]; ++i)
          known |= words[size_t(bank)][size_t(i)] == word;
        if (!known && count[size_t(bank)] < 32)
          words[size_t(bank)][size_t(count[size_t(bank)]++)] = word;
        worst = count[size_t(bank)] > worst ? count[size_t(bank)] : worst;
      }
    cycles += worst;
  }
  return cycles;
}

/// How many times longer than without conflicts an ldmatrix of rows `row` .. `row + 7`
/// takes (rows of 32 bytes).
constexpr int ldmatrixConflict(PlaneLayout layout, int row, int piece) {
  std::array<int, 32> address{};
  for (int lane = 0; lane < 32; ++lane)
    address[size_t(lane)] = planeOffset(layout, row + lane % 8, piece, /*rowBytes=*/32);
  return bankCycles(address, kPieceBytes) / 4;
}

/// The same for the 32-bit loads of nibbles: lane l reads word l % 4 of piece `piece`
/// of row `row` + l / 4 (rows of 128 bytes).
constexpr int nibbleConflict(PlaneLayout layout, int row, int piece) {
  std::array<int, 32> address{};
  for (int lane = 0; lane < 32; ++lane)
    address[size_t(lane)] =
        planeOffset(layout, row + lane / 4, piece, /*rowBytes=*/128) + lane % 4 * 4;
  return bankCycles(address, 4);
}

/// The first layout without conflicts of those that keep a row's bytes together.
constexpr PlaneLayout chooseMatrixLayout(bool padded) {
  PlaneLayout swizzled = padded ? PlaneLayout::slot48 : PlaneLayout::split_phase;
  for (PlaneLayout layout : {PlaneLayout::linear, swizzled}) {
    bool free = true;
    for (int row = 0; row < 64; row += 8)
      for (int piece = 0; piece < 2; ++piece)
        free &= ldmatrixConflict(layout, row, piece) == 1;
    if (free)
      return layout;
  }
  return swizzled;
}
constexpr PlaneLayout chooseNibbleLayout() {
  for (PlaneLayout layout : {PlaneLayout::linear, PlaneLayout::xor_row8}) {
    bool free = true;
    for (int piece = 0; piece < 8; ++piece)
      free &= nibbleConflict(layout, /*row=*/0, piece) == 1;
    if (free)
      return layout;
  }
  return PlaneLayout::xor_row8;
}

namespace detail {
static_assert(ldmatrixConflict(PlaneLayout::linear, 0, 0) == 2);
static_assert(ldmatrixConflict(PlaneLayout::split_phase, 8, 1) == 1);
static_assert(ldmatrixConflict(PlaneLayout::slot48, 24, 1) == 1);
static_assert(nibbleConflict(PlaneLayout::linear, 0, 3) == 8);
static_assert(nibbleConflict(PlaneLayout::xor_row8, 16, 3) == 1);
static_assert(chooseMatrixLayout(/*padded=*/false) == PlaneLayout::split_phase);
static_assert(chooseMatrixLayout(/*padded=*/true) == PlaneLayout::slot48);
static_assert(chooseNibbleLayout() == PlaneLayout::xor_row8);
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_PLANELAYOUT_H
