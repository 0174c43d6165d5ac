//===- HostBlocks.h - elements and scales in host memory ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the host references share: checking a description of blocks, and the one
// place that knows where an element and a scale lie.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_HOSTBLOCKS_H
#define BLOCKSCALE_LIB_RUNTIME_HOSTBLOCKS_H

#include "blockscale/Emulator/Convert.h"
#include "blockscale/Facts/Format.h"
#include "blockscale/Facts/Result.h"
#include "blockscale/Facts/ScaleTile.h"
#include "blockscale/Runtime/Host.h"

namespace blockscale::rt {

using facts::Refusal;
using facts::Result;

/// A checked bsrt_blocks.
struct Blocks {
  int64_t rows, cols, block;
  facts::Format element;
  facts::ScaleFormat scale;
  facts::ScaleLayout layout;
  bool isMnMajor = false; // elements are [cols, rows]

  static Result<Blocks> check(const bsrt_blocks &blocks);

  int64_t scalesPerRow() const { return cols / block; }
  int64_t elementBytes() const { return rows * facts::packedBytes(element, cols); }
  int64_t scaleBytes() const;
  int64_t scaleOffset(int64_t row, int64_t index) const;

  uint32_t loadElement(const uint8_t *bytes, int64_t row, int64_t col) const {
    unsigned bits = facts::info(element).bits;
    int64_t bit = (isMnMajor ? col * rows + row : row * cols + col) * bits;
    unsigned shift = bit % 8, value = bytes[bit / 8] >> shift;
    if (shift + bits > 8) // 6 bits may straddle two bytes
      value |= unsigned(bytes[bit / 8 + 1]) << (8 - shift);
    return value & ((1u << bits) - 1);
  }
  /// In order: an element that starts a byte sets all of it.
  void storeElement(uint8_t *bytes, int64_t row, int64_t col, uint32_t bits) const {
    unsigned width = facts::info(element).bits;
    int64_t bit = (row * cols + col) * width;
    unsigned shift = bit % 8;
    bytes[bit / 8] = uint8_t((shift ? bytes[bit / 8] : 0) | bits << shift);
    if (shift + width > 8)
      bytes[bit / 8 + 1] = uint8_t(bits >> (8 - shift));
  }
};

/// What a block's values are divided by, and the byte that says so; `global` is that of ue4m3, 1
/// elsewhere.
struct BlockScale {
  uint8_t byte;
  float divisor;
};
BlockScale blockScale(const Blocks &blocks, float amax, float global);

/// Bytes of [rows, scalesPerRow] scales and the place of one of them.
int64_t scaleBytes(facts::ScaleLayout layout, int64_t rows, int64_t scalesPerRow);
int64_t scaleOffset(facts::ScaleLayout layout, int64_t row, int64_t index, int64_t scalesPerRow);

/// Refuses the first scale, of the real ones, with a bit that its format ignores: ue4m3 has no
/// sign.
bsrt_status refuseSigned(facts::ScaleFormat format, facts::ScaleLayout layout, int64_t rows,
                         int64_t scalesPerRow, const uint8_t *scales);

/// A code of an enum whose names fill `names`.
template <typename E, typename Table>
Result<E> checkCode(int32_t code, const Table &table, const char *what) {
  if (code >= 0 && size_t(code) < table.size())
    return E(code);
  return Refusal{std::string("host: code of ") + what + " must be below " +
                 std::to_string(table.size()) + ", got " + std::to_string(code)};
}
Result<facts::ScaleLayout> checkLayout(int32_t code);

} // namespace blockscale::rt

#endif // BLOCKSCALE_LIB_RUNTIME_HOSTBLOCKS_H
