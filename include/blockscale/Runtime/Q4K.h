//===- Q4K.h - Q4_K blocks from weights, and back -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a block is in Facts/BlockFormat.h. A weight is
// (d * scale) * nibble - dmin * min, each step rounded to f32.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_Q4K_H
#define BLOCKSCALE_RUNTIME_Q4K_H

#include "blockscale/Facts/Result.h"

#include <cstdint>
#include <vector>

namespace blockscale::rt {

using facts::Refusal;
using facts::Result;

/// Blocks of `weights`, whole blocks of 256. Refuses other counts, what is not finite,
/// and weights so large that a block's scale is beyond f16.
Result<std::vector<uint8_t>> quantizeQ4K(const std::vector<float> &weights);

/// The weights of whole blocks.
std::vector<float> dequantizeQ4K(const std::vector<uint8_t> &blocks);

} // namespace blockscale::rt

#endif // BLOCKSCALE_RUNTIME_Q4K_H
