//===- BlockFormatTest.cpp - ggml's blocks and their fragments ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The map of nibbles is proved by itself, before any kernel uses it: what a lane masks
// out of the raw plane must be what ldmatrix gives it from the expanded one.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/BlockFormat.h"
#include "blockscale/Facts/LayoutsWarp.h"
#include "blockscale/Facts/PlaneLayout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

using namespace blockscale::facts;

namespace {

constexpr int kRows = 16; // of one warp: two instructions of 8
constexpr int kSubBlocks = kQ4KSubBlocks;

/// Nibble bytes of 16 blocks.
std::vector<uint8_t> randomRows(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(size_t(kRows) * kQ4KNibbleBytes);
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  return bytes;
}

uint8_t nibbleOf(const std::vector<uint8_t> &rows, int row, int k) {
  NibblePlace place = q4kNibble(k);
  return rows[size_t(row * kQ4KNibbleBytes + place.byte)] >> (place.high ? 4 : 0) & 15;
}

uint32_t wordAt(const std::vector<uint8_t> &plane, int offset) {
  uint32_t word;
  std::memcpy(&word, &plane[size_t(offset)], sizeof word);
  return word;
}

/// The raw plane: 16-byte pieces as they are, in the layout of the kernel.
std::vector<uint8_t> rawPlane(const std::vector<uint8_t> &rows, PlaneLayout layout) {
  std::vector<uint8_t> plane(rows.size());
  for (int row = 0; row < kRows; ++row)
    for (int piece = 0; piece < 8; ++piece)
      std::memcpy(&plane[size_t(planeOffset(layout, row, piece, kQ4KNibbleBytes))],
                  &rows[size_t(row * kQ4KNibbleBytes + piece * kPieceBytes)], kPieceBytes);
  return plane;
}

/// Register `reg` (two for each instruction of 8 rows) of sub-block `sub`.
uint32_t rawFragment(const std::vector<uint8_t> &plane, PlaneLayout layout, int sub, int lane,
                     int reg) {
  int row = reg / 2 * 8 + lane / 4, piece = sub / 2 * 2 + reg % 2;
  uint32_t word = wordAt(plane, planeOffset(layout, row, piece, kQ4KNibbleBytes) + lane % 4 * 4);
  return (sub % 2 ? word >> 4 : word) & 0x0F0F0F0F;
}

/// The expanded plane: a byte an element, rows of 32 bytes for each sub-block.
std::vector<uint8_t> expandedPlane(const std::vector<uint8_t> &rows) {
  std::vector<uint8_t> plane(size_t(kSubBlocks * kRows * kSlotBytes));
  for (int sub = 0; sub < kSubBlocks; ++sub)
    for (int row = 0; row < kRows; ++row)
      for (int k = 0; k < 32; ++k)
        plane[size_t(planeOffset(PlaneLayout::slot48, sub * kRows + row, k / kPieceBytes, 32) +
                     k % kPieceBytes)] = nibbleOf(rows, row, sub * 32 + k);
  return plane;
}

/// What ldmatrix.x4 of 16-bit elements gives: matrices are pieces 0 and 1 of each 8 rows.
uint32_t expandedFragment(const std::vector<uint8_t> &plane, int sub, int lane, int reg) {
  uint32_t value = 0;
  for (int half = 0; half < 2; ++half) {
    LdmatrixPlace place = ldmatrixPlace(lane, reg, half);
    int row = reg / 2 * 8 + place.thread % 8;
    int offset = planeOffset(PlaneLayout::slot48, sub * kRows + row, reg % 2, 32);
    uint16_t bits;
    std::memcpy(&bits, &plane[size_t(offset + 2 * place.element)], sizeof bits);
    value |= uint32_t(bits) << (16 * half);
  }
  return value;
}

int countMismatches(PlaneLayout written, PlaneLayout read, unsigned seed) {
  std::vector<uint8_t> rows = randomRows(seed);
  std::vector<uint8_t> raw = rawPlane(rows, written), expanded = expandedPlane(rows);
  int mismatches = 0;
  for (int sub = 0; sub < kSubBlocks; ++sub)
    for (int lane = 0; lane < 32; ++lane)
      for (int reg = 0; reg < 4; ++reg)
        mismatches +=
            rawFragment(raw, read, sub, lane, reg) != expandedFragment(expanded, sub, lane, reg);
  return mismatches;
}

TEST(NibbleFragments, AreThoseOfTheExpandedPlane) {
  int mismatches = 0;
  for (unsigned seed = 0; seed < 16; ++seed)
    mismatches += countMismatches(PlaneLayout::xor_row8, PlaneLayout::xor_row8, seed);
  EXPECT_EQ(mismatches, 0);
  RecordProperty("fragment_map_mismatches", mismatches); // tools/bench/q4k_resources.py
}

TEST(NibbleFragments, AWrongLayoutIsSeen) {
  // Rows 0 and 8 have the same bytes in both layouts, nearly all others do not.
  EXPECT_GT(countMismatches(PlaneLayout::xor_row8, PlaneLayout::linear, 1), 700);
}

TEST(NibbleFragments, AreFragmentBOfTheInstruction) {
  std::vector<uint8_t> rows = randomRows(7), raw = rawPlane(rows, PlaneLayout::xor_row8);
  for (int sub = 0; sub < kSubBlocks; ++sub)
    for (int lane = 0; lane < 32; ++lane)
      for (int reg = 0; reg < 4; ++reg)
        for (int byte = 0; byte < 4; ++byte) {
          FragmentPlace place = fragmentB(lane, reg % 2 * 4 + byte, /*bits=*/8);
          uint32_t word = rawFragment(raw, PlaneLayout::xor_row8, sub, lane, reg);
          EXPECT_EQ(word >> (8 * byte) & 255,
                    nibbleOf(rows, reg / 2 * 8 + place.row, sub * 32 + place.column));
        }
}

/// D22: the scales and minima of all eight sub-blocks.
TEST(BlockFormats, ScalesAndMinimaOfTheWorkedExample) {
  const uint8_t bytes[12] = {0x83, 0x12, 0x47, 0x8a, 0x3f, 0x91,
                             0x05, 0xc2, 0xb6, 0x7e, 0x2d, 0x59};
  const Q4KScale want[8] = {{3, 63},  {18, 17}, {7, 5},  {10, 2},
                            {38, 11}, {14, 39}, {29, 2}, {41, 53}};
  for (int j = 0; j < kSubBlocks; ++j)
    EXPECT_EQ(q4kScale(bytes, j), want[j]) << j;
}

TEST(BlockFormats, ElementsFillTheBytes) {
  std::vector<int> seen(kQ4KNibbleBytes);
  for (int k = 0; k < kQ4KElements; ++k)
    seen[size_t(q4kNibble(k).byte)] += q4kNibble(k).high ? 16 : 1;
  for (int count : seen)
    EXPECT_EQ(count, 17);
  EXPECT_EQ(q4kNibble(0), (NibblePlace{0, false}));
  EXPECT_EQ(q4kNibble(32), (NibblePlace{0, true}));
  EXPECT_EQ(q4kNibble(64 + 5), (NibblePlace{37, false}));
}

TEST(PlaneLayouts, BankModelSeesConflicts) {
  // Rows of nibbles 128 bytes apart: eight rows of a fragment in the same four banks.
  EXPECT_EQ(nibbleConflict(PlaneLayout::linear, 0, 0), 8);
  for (int piece = 0; piece < 8; ++piece)
    EXPECT_EQ(nibbleConflict(PlaneLayout::xor_row8, 0, piece), 1);
  EXPECT_EQ(ldmatrixConflict(PlaneLayout::linear, 0, 0), 2);
  for (int row = 0; row < 64; row += 8)
    for (int piece = 0; piece < 2; ++piece) {
      EXPECT_EQ(ldmatrixConflict(PlaneLayout::split_phase, row, piece), 1);
      EXPECT_EQ(ldmatrixConflict(PlaneLayout::slot48, row, piece), 1);
    }
}

TEST(PlaneLayouts, EveryPieceHasItsOwnPlace) {
  std::vector<int> split(64 * 2), nibbles(64 * 8);
  for (int row = 0; row < 64; ++row) {
    for (int piece = 0; piece < 2; ++piece)
      ++split[size_t(planeOffset(PlaneLayout::split_phase, row, piece, 32) / kPieceBytes)];
    for (int piece = 0; piece < 8; ++piece)
      ++nibbles[size_t(planeOffset(PlaneLayout::xor_row8, row, piece, 128) / kPieceBytes)];
  }
  for (int count : split)
    EXPECT_EQ(count, 1);
  for (int count : nibbles)
    EXPECT_EQ(count, 1);
}

TEST(PlaneLayouts, OctetsPutTokensOfALaneSideBySide) {
  EXPECT_EQ(octetEntry(0), 0);
  EXPECT_EQ(octetEntry(8), 1);
  EXPECT_EQ(octetEntry(1), 2);
  EXPECT_EQ(octetEntry(15), 15);
  EXPECT_EQ(octetEntry(16), 16);
}

} // namespace
