//===- WgmmaSums.h - how the sums of a tile reach D -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Straight from registers, or with a split k to a plane of partial sums in each CTA of the
// cluster (SplitSums.h).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_WGMMASUMS_H
#define BLOCKSCALE_LIB_CONVERSION_WGMMASUMS_H

#include "WarpEmitter.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"

namespace blockscale {

class WgmmaSums {
public:
  using Value = mlir::Value;
  using Values = mlir::SmallVector<Value>;

  WgmmaSums(mlir::OpBuilder &builder, WarpEmitter &e, const WgmmaShape &shape,
            BlockProblemAttr problem)
      : b(builder), e(e), shape(shape), problem(problem) {}

  /// Where a lane stands (`groupRow` is its first row in the tile), D and the tile.
  struct Place {
    Value lane, groupRow, d, tokenTile, rowTile;
  };
  /// A thread's sums to what of D lies inside.
  void store(mlir::ArrayRef<Value> sums, const Place &place);
  /// A thread's sums to the plane at `plane`; all warps have read the stages when it is written.
  void share(mlir::ArrayRef<Value> sums, Value lane, Value groupRow, Value plane);

private:
  bool isTokenRagged() const { return problem.getM() % shape.tokens != 0; }
  bool isRowRagged() const { return problem.getN() % shape.rows != 0; }
  void guarded(bool isRagged, Value index, int64_t limit, llvm::function_ref<void()> body);
  /// The sum of a fragment in column `right` + `column` of the lane's, rows apart by 8.
  size_t indexOf(int64_t fragment, int64_t right, int64_t column, int64_t below) const {
    return size_t(fragment * shape.tokens / 2 + right / 2 + 2 * below + column);
  }

  mlir::OpBuilder &b;
  WarpEmitter &e;
  const WgmmaShape &shape;
  BlockProblemAttr problem;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_WGMMASUMS_H
