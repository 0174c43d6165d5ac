//===- QuantizeEncode.h - blocks of each format, from values --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_QUANTIZEENCODE_H
#define BLOCKSCALE_LIB_CONVERSION_QUANTIZEENCODE_H

#include "WarpEmitter.h"

#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"
#include "blockscale/Facts/ActivationTile.h"

namespace blockscale {

struct EncodeOperands {
  mlir::Value values;               // steps x elements of the lane
  mlir::Value target, scales, rows; // no scales where blocks hold them inside
};
/// Level 3: from the values of a lane to the store of their blocks.
void encodeBlocks(mlir::OpBuilder &builder, mlir::Location loc, QuantizeKernelOp kernel,
                  const EncodeOperands &operands);

// Level 4.

/// encode_s8: one word of four values.
mlir::Value encodeS8(WarpEmitter &emitter, mlir::ArrayRef<mlir::Value> values, mlir::Value factor);
/// The bits of facts::splitSum, each in a word.
std::array<mlir::Value, facts::kSumParts> splitSum(WarpEmitter &emitter, mlir::Value sum);
/// encode_scale: the byte of one block.
mlir::Value encodeScale(WarpEmitter &emitter, QuantizeSequence sequence, facts::Format element,
                        mlir::Value amax);
/// scale_factor of one byte.
mlir::Value scaleFactor(WarpEmitter &emitter, QuantizeSequence sequence, mlir::Value byte);
/// encode_f8: one word of four values; an i32 scale is the byte itself.
mlir::Value encodeF8(WarpEmitter &emitter, facts::Format element,
                     mlir::ArrayRef<mlir::Value> values, mlir::Value scale);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_QUANTIZEENCODE_H
