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
  mlir::Value amax, global;         // where QuantizeProblemAttr::getBuffers() has them
};
/// Level 3: from the values of a lane to the store of their blocks.
void encodeBlocks(mlir::OpBuilder &builder, mlir::Location loc, QuantizeKernelOp kernel,
                  const EncodeOperands &operands);

/// A power of two whose product with a global scale is about 1: 2^(127 - exponent), at least
/// the smallest normal number.
mlir::Value prescaleOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value global);

// Level 4.

/// encode_s8: one word of four values.
mlir::Value encodeS8(WarpEmitter &emitter, mlir::ArrayRef<mlir::Value> values, mlir::Value factor);
/// The bits of facts::splitSum, each in a word.
std::array<mlir::Value, facts::kSumParts> splitSum(WarpEmitter &emitter, mlir::Value sum);
/// encode_scale: the byte of one block; `global` is null where there is none.
mlir::Value encodeScale(WarpEmitter &emitter, QuantizeSequence sequence, BlockedAttr blocked,
                        mlir::Value amax, mlir::Value global);
/// scale_factor of one byte.
mlir::Value scaleFactor(WarpEmitter &emitter, QuantizeSequence sequence, mlir::Value byte);
/// scale_divisor of one byte.
mlir::Value scaleDivisor(WarpEmitter &emitter, facts::ScaleFormat scale, mlir::Value byte,
                         mlir::Value global, mlir::Value prescale);
/// divide_blocks of one value; `prescale` is null where there is none.
mlir::Value divideByBlock(WarpEmitter &emitter, mlir::Value value, mlir::Value divisor,
                          mlir::Value negated, mlir::Value prescale);
/// encode_elements of four values, in the low bits of a word; an i32 scale is the byte
/// itself, none a null.
mlir::Value encodeElements(WarpEmitter &emitter, facts::Arch arch, facts::Format element,
                           mlir::ArrayRef<mlir::Value> values, mlir::Value scale);
/// Bits of a lane, in as few words as hold them; the rest of the last is zeroes.
struct PackedBits {
  mlir::SmallVector<mlir::Value> words;
  int64_t bits = 0;
};
PackedBits concat(WarpEmitter &emitter, const PackedBits &low, const PackedBits &high);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_QUANTIZEENCODE_H
