//===- SplitSums.h - the parts of a split k add up --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each CTA of a cluster has a plane of partial sums of the whole tile in its shared memory, a
// row a token, and adds and stores its share of the tile. Extents are powers of two.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_SPLITSUMS_H
#define BLOCKSCALE_LIB_CONVERSION_SPLITSUMS_H

#include "WarpEmitter.h"

namespace blockscale {

class SplitSums {
public:
  using Value = mlir::Value;
  using Values = mlir::SmallVector<Value>;

  struct Shape {
    int64_t tokens, rows; // of the tile
    int64_t pitch;        // bytes from a token's sums to those of the next
    int64_t threads;      // that add, in each CTA
    int64_t split;        // CTAs of the cluster
  };
  SplitSums(mlir::OpBuilder &builder, WarpEmitter &e, Shape shape, BlockProblemAttr problem)
      : b(builder), e(e), shape(shape), problem(problem) {}

  /// D, a tile of it, and how many tokens there are (absent: all of the problem's).
  struct Place {
    Value d, tokenTile, rowTile, tokens;
  };
  /// The cluster's planes at `plane`, in the order of ranks, to this CTA's share of D; `thread`
  /// counts those that add.
  void add(const Place &place, Value plane, Value rank, Value thread);

private:
  void guarded(bool isRagged, llvm::function_ref<Value()> isInside,
               llvm::function_ref<void()> body);
  /// What the planes have at four places from `address` on.
  Values addFour(Value address);
  /// Four sums of neighbouring rows of a token of the tile.
  void storeFour(const Place &place, Value token, Value row, mlir::ArrayRef<Value> sums);

  mlir::OpBuilder &b;
  WarpEmitter &e;
  Shape shape;
  BlockProblemAttr problem;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_SPLITSUMS_H
