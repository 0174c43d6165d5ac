//===- KernelSyntax.h - how functions that are kernels are written --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELSYNTAX_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELSYNTAX_H

#include "mlir/Interfaces/FunctionImplementation.h"

namespace blockscale {

template <typename Op>
mlir::ParseResult parseKernel(mlir::OpAsmParser &parser, mlir::OperationState &result) {
  namespace impl = mlir::function_interface_impl;
  auto type = [](mlir::Builder &builder, llvm::ArrayRef<mlir::Type> inputs,
                 llvm::ArrayRef<mlir::Type> results, impl::VariadicFlag,
                 std::string &) { return builder.getFunctionType(inputs, results); };
  return impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, Op::getFunctionTypeAttrName(result.name), type,
      Op::getArgAttrsAttrName(result.name), Op::getResAttrsAttrName(result.name));
}

template <typename Op> void printKernel(mlir::OpAsmPrinter &printer, Op op) {
  mlir::function_interface_impl::printFunctionOp(
      printer, op, /*isVariadic=*/false, op.getFunctionTypeAttrName(), op.getArgAttrsAttrName(),
      op.getResAttrsAttrName());
}

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELSYNTAX_H
