//===- BlockRules.h - rules and syntax of products of blocks --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_BLOCKRULES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_BLOCKRULES_H

#include "blockscale/Dialect/Blockscale/IR/Operands.h"

namespace blockscale {

/// Types of a product of blocks; `packed` is the attribute of the packed form or null.
/// `halves`: activations in f16 are multiplied as they are.
struct BlockProductTypes {
  mlir::Type a, b, out;
  BlockProblemAttr packed;
  ContractAttr contract; // null: ordered
  bool halves = false;   // activations stay f16
};
/// The rules of gemm on blocks: gemm_c1 to gemm_c5, gemm_c15 to gemm_c18, gemm_c21.
mlir::LogicalResult verifyBlockProduct(const BlockProductTypes &types, ErrorFn emitError);
/// What the types of a verified product say.
BlockProblemAttr getBlockProblemOf(const BlockProductTypes &types);

/// All rules of a gemm that lacks scales of an operand.
mlir::LogicalResult verifyBlockGemm(GemmOp op);

using Unresolved = mlir::OpAsmParser::UnresolvedOperand;
/// `%a scaled %sfa, %b scaled %sfb : types`, or without scales.
mlir::ParseResult parseGemmOperands(mlir::OpAsmParser &parser, Unresolved &a,
                                    std::optional<Unresolved> &sfa, Unresolved &b,
                                    std::optional<Unresolved> &sfb, mlir::Type &aType,
                                    mlir::Type &sfaType, mlir::Type &bType, mlir::Type &sfbType);
void printGemmOperands(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value a,
                       mlir::Value sfa, mlir::Value b, mlir::Value sfb, mlir::Type aType,
                       mlir::Type sfaType, mlir::Type bType, mlir::Type sfbType);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_BLOCKRULES_H
