//===- QuantizedFormat.h - what matrices are quantised to -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements with scales that some chip multiplies, and whose rule docs/Quantization.md
// states.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_QUANTIZEDFORMAT_H
#define BLOCKSCALE_FACTS_QUANTIZEDFORMAT_H

#include "blockscale/Facts/ProductKind.h"

namespace blockscale::facts {

struct QuantizedFormat {
  std::string_view name;
  Format element;
  ScaleFormat scale;
  int64_t block;
};

inline constexpr std::array<QuantizedFormat, 8> kQuantizedFormats{{
    {"nvfp4", Format::e2m1, ScaleFormat::ue4m3, 16},
    {"mxfp4", Format::e2m1, ScaleFormat::ue8m0, 32},
    {"mxfp8", Format::e4m3, ScaleFormat::ue8m0, 32},
    {"mxfp8", Format::e5m2, ScaleFormat::ue8m0, 32},
    {"mxfp6", Format::e2m3, ScaleFormat::ue8m0, 32},
    {"mxfp6", Format::e3m2, ScaleFormat::ue8m0, 32},
    {"fp4", Format::e2m1, ScaleFormat::ue5m3, 16},
    {"fp4", Format::e2m1, ScaleFormat::ue5m3, 32},
}};

/// Only UE4M3, whose range is short, has a scale of the whole matrix beside those of blocks.
constexpr bool hasGlobalScale(ScaleFormat scale) { return scale == ScaleFormat::ue4m3; }

namespace detail {
constexpr bool quantizedFormatsAreSound() {
  for (const QuantizedFormat &row : kQuantizedFormats)
    if (!productKind({row.element, row.element, row.scale, row.block}))
      return false;
  return true;
}
static_assert(quantizedFormatsAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_QUANTIZEDFORMAT_H
