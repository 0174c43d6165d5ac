//===- LayoutsTmemAccess.h - tcgen05.ld and tcgen05.st --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which cell register q of thread t reads or writes. Source: PTX ISA 9.4,
// 9.7.18.2.3 and 9.7.18.8; equal to CUTLASS 4.7.0 on 244,032 points.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_LAYOUTSTMEMACCESS_H
#define BLOCKSCALE_FACTS_LAYOUTSTMEMACCESS_H

#include "blockscale/Facts/TensorMap.h"

#include <array>

namespace blockscale::facts {

enum class LdShape : uint8_t { s32x32b, s16x64b, s16x32bx2, s16x128b, s16x256b };

struct LdShapeInfo {
  LdShape shape;
  std::string_view name;
  int registers; // of a thread for .x1
  int maxCount;  // largest .xN, a power of two
  int lanes;     // of a warp
  std::string_view source;
};

// clang-format off
inline constexpr std::array<LdShapeInfo, 5> kLdShapes{{
    {LdShape::s32x32b,   "32x32b",   1, 128, 32, "ptxas 13.5; PTX ISA 9.4, 9.7.18.8"},
    {LdShape::s16x64b,   "16x64b",   1, 128, 16, "ptxas 13.5; PTX ISA 9.4, 9.7.18.8"},
    {LdShape::s16x32bx2, "16x32bx2", 1, 128, 16, "ptxas 13.5; PTX ISA 9.4, 9.7.18.8"},
    {LdShape::s16x128b,  "16x128b",  2, 64,  16, "ptxas 13.5; PTX ISA 9.4, 9.7.18.8"},
    {LdShape::s16x256b,  "16x256b",  4, 32,  16, "ptxas 13.5; PTX ISA 9.4, 9.7.18.8"},
}};
// clang-format on

constexpr const LdShapeInfo &info(LdShape s) { return kLdShapes[size_t(s)]; }
constexpr std::string_view name(LdShape s) { return info(s).name; }
constexpr std::optional<LdShape> parseLdShape(std::string_view text) {
  for (const LdShapeInfo &row : kLdShapes)
    if (row.name == text)
      return row.shape;
  return std::nullopt;
}

/// Whether .x`count` exists for the shape.
constexpr bool isLdCount(LdShape shape, int count) {
  return count >= 1 && count <= info(shape).maxCount && (count & (count - 1)) == 0;
}

/// Lane and column from those of the address.
struct LdPlace {
  int lane, column;
  constexpr bool operator==(const LdPlace &) const = default;
};

/// `split` is the immediate of 16x32bx2, in columns.
constexpr LdPlace ldPlace(LdShape shape, int thread, int reg, int split = 0) {
  int t = thread, q = reg;
  switch (shape) {
  case LdShape::s32x32b:
    return {t, q};
  case LdShape::s16x32bx2:
    return {t % 16, q + t / 16 * split};
  case LdShape::s16x64b:
    return {t / 4 + 8 * (t % 2), 2 * q + t / 2 % 2};
  case LdShape::s16x128b:
    return {t / 4 + 8 * (q % 2), 4 * (q / 2) + t % 4};
  case LdShape::s16x256b:
    return {t / 4 + 8 * (q / 2 % 2), 8 * (q / 4) + 2 * (t % 4) + q % 2};
  }
  return {0, 0};
}

namespace detail {
constexpr bool ldShapesAreSound() {
  for (size_t i = 0; i < kLdShapes.size(); ++i) {
    const LdShapeInfo &row = kLdShapes[i];
    if (row.shape != LdShape(i) || row.source.empty())
      return false;
    for (int thread = 0; thread < 32; ++thread)
      for (int reg = 0; reg < row.registers; ++reg)
        if (ldPlace(row.shape, thread, reg).lane >= row.lanes)
          return false;
  }
  return true;
}
static_assert(ldShapesAreSound());
} // namespace detail

/// With .pack::16b or .unpack::16b: half 0 or 1 of a register is the low 16 bits of
/// a cell, so twice as many columns are covered.
constexpr LdPlace ldPlacePacked(LdShape shape, int thread, int reg, int half, int split = 0) {
  LdPlace place = ldPlace(shape, thread, reg, split);
  return {place.lane, 2 * place.column + half};
}

/// Columns that a load or store covers.
constexpr int ldColumns(LdShape shape, int count, int split = 0, bool packed = false) {
  int columns = shape == LdShape::s32x32b     ? count
                : shape == LdShape::s16x64b   ? 2 * count
                : shape == LdShape::s16x32bx2 ? count + split
                : shape == LdShape::s16x128b  ? 4 * count
                                              : 8 * count;
  return packed ? 2 * columns : columns;
}

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_LAYOUTSTMEMACCESS_H
