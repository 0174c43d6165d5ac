//===- Repitch.h - copies of operands that TMA cannot fetch ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_REPITCH_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_REPITCH_H

#include "blockscale/Dialect/Blockscale/IR/Operands.h"

#include <array>

namespace blockscale {

/// Puts a repitch in front of A and B where a pitch is wanted, which is not 0 there. A value
/// that several products of one block use is copied once.
void repitchOperands(GemmOp gemm, std::array<int64_t, 2> pitches);

/// The value before the copy to another pitch; a copy to dense rows of what a caller pitched.
mlir::Value denseRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value elements);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_REPITCH_H
