//===- OperandTile.h - one stage of A or B in shared memory ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How TMA brings a tile of an operand, and how the MMA finds it there: packing,
// swizzle, the box, bytes that the stage spans and bytes that arrive. Sources: PTX
// ISA 9.4, 9.7.18.10.4 (packing) and 5.5 (padded types); cuda.h 13.5.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_OPERANDTILE_H
#define BLOCKSCALE_FACTS_OPERANDTILE_H

#include "blockscale/Facts/LayoutsSmem.h"
#include "blockscale/Facts/MmaMode.h"
#include "blockscale/Facts/TensorMap.h"

namespace blockscale::facts {

/// The dimension of an operand whose elements follow each other in memory.
enum class Major : uint8_t { k, mn };
constexpr std::string_view name(Major m) { return m == Major::k ? "k" : "mn"; }
constexpr std::optional<Major> parseMajor(std::string_view text) {
  if (text == "k")
    return Major::k;
  if (text == "mn")
    return Major::mn;
  return std::nullopt;
}

/// Bytes of K in a row of a tile, containers and gaps counted: the 128-byte swizzle.
inline constexpr int64_t kTileRowBytes = 128;

/// Elements of K of one stage: 256 of the kinds of FP4, 128 of mxf8f6f4, whose widest
/// operand fills the row.
constexpr int64_t tileK(MmaKind kind) { return kind == MmaKind::mxf8f6f4 ? 128 : 256; }

/// Whether the kind reads the format packed tight or 16 elements to 16 bytes.
constexpr RowPacking packingOf(MmaKind kind, Format format, int64_t instK) {
  return operandPacking(kind != MmaKind::mxf8f6f4, int(info(format).bits), int(instK));
}

/// The longest K of an instruction for which TMA can bring the format: it has no packed
/// type of 6 bits.
constexpr int64_t longestFetchedK(MmaKind kind, Format format) {
  return kind == MmaKind::mxf8f6f4 && info(format).bits == 6 ? 32 : 256;
}

/// One stage of one operand. `boxes` boxes of `box0` x `box1` elements of `type` lie one
/// after another; each spans `boxBytes` of shared memory and adds `arriving` bytes to the
/// barrier.
struct OperandTile {
  RowPacking packing;
  TmaType type;
  Swizzle swizzle;
  int64_t box0, box1, boxes;
  int64_t boxBytes, arriving;
  int64_t leading, stride; // of the MMA's descriptor, bytes
  int64_t stepBytes;       // from one instruction along K to the next

  constexpr int64_t bytes() const { return boxes * boxBytes; }
  constexpr int64_t arrivingBytes() const { return boxes * arriving; }
};

/// The swizzle whose span is that many bytes.
constexpr Swizzle swizzleOfSpan(int64_t bytes) {
  return bytes == 128 ? Swizzle::b128 : bytes == 64 ? Swizzle::b64 : Swizzle::b32;
}

/// `rows` of M or N and `k` elements of K for instructions of `instK`. MN-major operands
/// have elements of one byte.
constexpr OperandTile operandTile(MmaKind kind, Format format, Major major, int64_t rows, int64_t k,
                                  int64_t instK) {
  OperandTile t{};
  t.packing = packingOf(kind, format, instK);
  if (major == Major::mn) {
    // A line holds as many rows as divide the tile; a box has every k of one line.
    int64_t span = rows % kTileRowBytes == 0 ? 128 : rows % 64 == 0 ? 64 : 32;
    t.type = TmaType::u8;
    t.swizzle = swizzleOfSpan(span);
    t.box0 = span;
    t.box1 = k;
    t.boxes = rows / span;
    t.boxBytes = t.arriving = span * k;
    t.leading = t.boxBytes;
    t.stride = 8 * span;
    t.stepBytes = instK * span;
    return t;
  }
  int64_t bits = info(format).bits;
  bool padded = t.packing == RowPacking::padded16;
  int64_t rowBytes = operandRowBytes(int(k), int(bits), t.packing);
  t.type = !padded ? TmaType::u8 : bits == 4 ? TmaType::u4Align16 : TmaType::u6Align16;
  t.swizzle = swizzleOfSpan(rowBytes);
  t.box0 = padded ? k : rowBytes;
  t.box1 = rows;
  t.boxes = 1;
  t.boxBytes = rows * rowBytes;
  t.arriving = rows * tmaGlobalRowBytes(t.type, t.box0);
  t.leading = 16; // not read under a swizzle; by convention one chunk
  t.stride = 8 * rowBytes;
  t.stepBytes = operandRowBytes(int(instK), int(bits), t.packing);
  return t;
}

/// Bytes from one line of a dense operand in memory to the next.
constexpr int64_t operandPitch(Format format, Major major, int64_t rows, int64_t k) {
  return packedBytes(format, major == Major::mn ? rows : k);
}

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_OPERANDTILE_H
