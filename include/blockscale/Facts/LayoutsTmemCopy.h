//===- LayoutsTmemCopy.h - tcgen05.cp -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a K-major matrix in shared memory to lanes and columns of tensor memory.
// Source: PTX ISA 9.4, 9.7.18.9; equal to CUTLASS 4.7.0 on 99,328 points (4x256b
// has one source).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_LAYOUTSTMEMCOPY_H
#define BLOCKSCALE_FACTS_LAYOUTSTMEMCOPY_H

#include "blockscale/Facts/LayoutsSmem.h"

#include <array>

namespace blockscale::facts {

enum class CpShape : uint8_t {
  s128x256b,
  s4x256b,
  s128x128b,
  s64x128bWarpx2_02_13,
  s64x128bWarpx2_01_23,
  s32x128bWarpx4
};

struct CpShapeInfo {
  CpShape shape;
  std::string_view name; // as in PTX
  int rows, rowBytes;
  int copies; // lanes that each source row goes to
  std::string_view source;
};

// clang-format off
inline constexpr std::array<CpShapeInfo, 6> kCpShapes{{
    {CpShape::s128x256b,            "128x256b",               128, 32, 1, "PTX ISA 9.4, 9.7.18.9"},
    {CpShape::s4x256b,              "4x256b",                 4,   32, 1, "PTX ISA 9.4, 9.7.18.9"},
    {CpShape::s128x128b,            "128x128b",               128, 16, 1, "PTX ISA 9.4, 9.7.18.9"},
    {CpShape::s64x128bWarpx2_02_13, "64x128b.warpx2::02_13",  64,  16, 2, "PTX ISA 9.4, 9.7.18.9"},
    {CpShape::s64x128bWarpx2_01_23, "64x128b.warpx2::01_23",  64,  16, 2, "PTX ISA 9.4, 9.7.18.9"},
    {CpShape::s32x128bWarpx4,       "32x128b.warpx4",         32,  16, 4, "PTX ISA 9.4, 9.7.18.9"},
}};
// clang-format on

constexpr const CpShapeInfo &info(CpShape s) { return kCpShapes[size_t(s)]; }
constexpr std::string_view name(CpShape s) { return info(s).name; }
constexpr std::optional<CpShape> parseCpShape(std::string_view text) {
  for (const CpShapeInfo &row : kCpShapes)
    if (row.name == text)
      return row.shape;
  return std::nullopt;
}

/// Lane of copy `copy` of source row `row`, from the lane of the address.
constexpr int cpLane(CpShape shape, int row, int copy) {
  switch (shape) {
  case CpShape::s128x256b:
  case CpShape::s128x128b:
    return row;
  case CpShape::s4x256b:
    return 32 * row;
  case CpShape::s64x128bWarpx2_02_13:
    return row + 64 * copy;
  case CpShape::s64x128bWarpx2_01_23:
    return row % 32 + 64 * (row / 32) + 32 * copy;
  case CpShape::s32x128bWarpx4:
    return row + 32 * copy;
  }
  return 0;
}

namespace detail {
/// Each shape's copies put every source row in a lane of its own.
constexpr bool cpShapesAreSound() {
  for (size_t i = 0; i < kCpShapes.size(); ++i) {
    const CpShapeInfo &row = kCpShapes[i];
    bool used[128] = {};
    if (row.shape != CpShape(i) || row.source.empty())
      return false;
    for (int r = 0; r < row.rows; ++r)
      for (int copy = 0; copy < row.copies; ++copy) {
        int lane = cpLane(row.shape, r, copy);
        if (lane < 0 || lane > 127 || used[lane])
          return false;
        used[lane] = true;
      }
  }
  return true;
}
static_assert(cpShapesAreSound());
} // namespace detail

/// Column and byte within its cell of byte `byte` of a source row. Decompression
/// keeps the byte count, so it changes neither.
constexpr int cpColumn(int byte) { return byte / 4; }
constexpr int cpByteInCell(int byte) { return byte % 4; }

/// Address of a source byte: the matrix is read like a K-major operand.
constexpr uint32_t cpSourceAddress(int row, int byte, const SmemDesc &desc) {
  return kMajorAddress(row, byte, desc);
}

/// Formats that tcgen05.cp can widen to bytes on the way.
enum class CpDecompression : uint8_t { none, b4x16_p64, b6x16_p32 };
inline constexpr std::array<std::string_view, 3> kCpDecompressionNames{"none", "b8x16.b4x16_p64",
                                                                       "b8x16.b6x16_p32"};
constexpr std::string_view name(CpDecompression d) { return kCpDecompressionNames[size_t(d)]; }
constexpr std::optional<CpDecompression> parseCpDecompression(std::string_view t) {
  return detail::parseName<CpDecompression>(t, kCpDecompressionNames);
}

/// Element `i` of a 16-byte unit of a padded format, right-justified.
constexpr uint8_t decompressElement(const std::array<uint8_t, 16> &unit, int i, int bits) {
  int bit = i * bits;
  uint32_t pair = uint32_t(unit[size_t(bit / 8)]) | uint32_t(unit[size_t(bit / 8 + 1)]) << 8;
  return uint8_t(pair >> (bit % 8) & ((1u << bits) - 1));
}

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_LAYOUTSTMEMCOPY_H
