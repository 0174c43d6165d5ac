//===- BlockPins.h - which kernels of blocks pinned fields are of ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_BLOCKPINS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_BLOCKPINS_H

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"

namespace blockscale {

/// Names of the pinned fields that kernels of chunks have and dequantise_wgmma, which quantises
/// nothing, does not: where a contract allows both kernels, such a field chooses chunks.
inline llvm::SmallVector<llvm::StringRef> pinnedOfChunks(const WarpPins &pins,
                                                         llvm::StringRef quantizer) {
  llvm::SmallVector<llvm::StringRef> names;
  for (auto [name, isPinned] :
       {std::pair("kd", pins.chunks.has_value()), std::pair("sums", pins.sums.has_value()),
        std::pair("activations", pins.activations.has_value()),
        std::pair("minima", pins.minima.has_value()),
        std::pair("convert", pins.convert.has_value()),
        std::pair("weights", pins.weights.has_value()),
        std::pair("pragma", pins.pragma.value_or(Pragma::none) != Pragma::none),
        std::pair("stages", pins.stages.has_value()), std::pair("flight", pins.flight.has_value()),
        std::pair("warp-rows", pins.warpRows.has_value()),
        std::pair("quantizer", quantizer == "host")})
    if (isPinned)
      names.push_back(name);
  return names;
}

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_BLOCKPINS_H
