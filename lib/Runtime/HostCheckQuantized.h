//===- HostCheckQuantized.h - a quantised result against a product --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_HOSTCHECKQUANTIZED_H
#define BLOCKSCALE_LIB_RUNTIME_HOSTCHECKQUANTIZED_H

#include "HostBlocks.h"
#include "HostCompare.h"

#include <span>

namespace blockscale::rt {

/// D as elements and scales.
class QuantizedRows {
public:
  static Result<QuantizedRows> check(const bsrt_check &check);

  /// Compares a row with the f32 values that were quantised: a scale must be that of some values
  /// within their bounds, and an element that of its own value within its bound, by the scale that
  /// is there.
  void compare(int64_t row, std::span<const Expected> values, bsrt_check_result &result) const;
  /// Bytes of tiles of scales that are no block's must be zero.
  void comparePadding(bsrt_check_result &result) const;

private:
  QuantizedRows(Blocks blocks, const bsrt_check &check)
      : blocks(blocks), elements(static_cast<const uint8_t *>(check.d)), scales(check.d_scales),
        global(blocks.scale == facts::ScaleFormat::ue4m3 ? check.global : 1) {}

  Blocks blocks;
  const uint8_t *elements, *scales;
  float global;
};

} // namespace blockscale::rt

#endif // BLOCKSCALE_LIB_RUNTIME_HOSTCHECKQUANTIZED_H
