//===- QuantizedColumns.h - columns of D as elements and scales -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_QUANTIZEDCOLUMNS_H
#define BLOCKSCALE_LIB_CONVERSION_QUANTIZEDCOLUMNS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

struct QuantizedColumns {
  mlir::SmallVector<mlir::Value> words, scales;
};
/// quantize_columns: whole blocks of values of one row; `global` is null where there is none.
QuantizedColumns quantizeColumns(mlir::OpBuilder &builder, mlir::Location loc,
                                 ScheduleAttr schedule, BlockedAttr d, mlir::ValueRange values,
                                 mlir::Value global);

/// Where a lane is in D; either may lie beyond it.
struct PlaceInD {
  mlir::Value row, column;
};
/// store_columns.
void storeColumns(mlir::OpBuilder &builder, mlir::Location loc, BlockedAttr d, mlir::Value buffer,
                  PlaceInD at, mlir::ValueRange words);

/// What tiles of D cover along N, and whether the scales are the last of it; null where they
/// cannot be.
struct CoveredColumns {
  mlir::Value isLast;
  int64_t count;
};
/// store_column_scales.
void storeColumnScales(mlir::OpBuilder &builder, mlir::Location loc, BlockedAttr d,
                       mlir::Value buffer, PlaceInD at, mlir::ValueRange scales,
                       CoveredColumns covered);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_QUANTIZEDCOLUMNS_H
