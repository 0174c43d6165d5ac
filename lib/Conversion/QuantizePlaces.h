//===- QuantizePlaces.h - where the blocks of a lane lie ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_QUANTIZEPLACES_H
#define BLOCKSCALE_LIB_CONVERSION_QUANTIZEPLACES_H

#include "WarpEmitter.h"

#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"

namespace blockscale {

/// Thread numbers and addresses of a kernel that quantises, for each BlockOrder. Step and
/// own block are those of QuantizeKernelOps.td. The number of rows is a value, since it
/// may be less than the problem's.
class QuantizePlaces {
public:
  using Value = mlir::Value;

  /// Emits the numbers of the thread at the builder's insertion point.
  QuantizePlaces(mlir::OpBuilder &builder, WarpEmitter &emitter, QuantizeProblemAttr problem);

  const QuantizeShape shape;
  Value lane, warp;               // of the block of threads
  Value laneInBlock, blockInStep; // of a lane

  Value hasBlocks(Value rows);
  /// i64: where the lane loads in each step; inside the matrix, whatever the block is.
  mlir::SmallVector<Value> sources(Value source, Value rows);
  /// i32: the block of the lane in a step, among those of the warp.
  Value stepBlock(int64_t step);
  Value stepBlock(Value step);
  /// Whether a block of the warp, or the n-th own block, lies in the matrix.
  Value isBlockInside(Value block, Value rows);
  Value isOwnInside(int64_t own, Value rows);

  // BlockOrder::rows
  /// i32: blocks of the warp that lie in the matrix, from the first on.
  Value blocksLeft(Value rows);
  /// i64: number of the first block of this warp.
  Value firstBlock;

  // BlockOrder::tiles
  /// i64: start of the tile that this warp is in.
  Value tileStart(Value target);
  /// i32: token of the lane in its tile; chunk of own block 0.
  Value token, ownChunk;
  /// i32: byte of the lane's first element in step 0 of its tile; a step adds chunks.
  Value tileValueOffset();
  int64_t chunksOfStep() const { return kLanes / shape.lanes / kTileTokensOfWarp; }

  // Elements and scales of their own buffers
  /// i64: where the elements of a block of the warp go that the lane of a number has.
  Value elementAt(Value target, Value block, Value lane);
  /// i64: where the scale of the n-th own block goes, and whether it goes anywhere.
  std::pair<Value, Value> scaleAt(Value target, int64_t own, Value rows);

private:
  struct RowCol {
    Value row, col;
  };
  RowCol paddedPlace(Value block);
  Value ownBlock(int64_t own);

  mlir::OpBuilder &builder;
  WarpEmitter &e;
  QuantizeProblemAttr problem;
  Value tileRow, tileCol, tile;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_QUANTIZEPLACES_H
