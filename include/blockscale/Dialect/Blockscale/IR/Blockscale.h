//===- Blockscale.h - the dialect's C++ interface -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALE_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALE_H

#include "blockscale/Dialect/Blockscale/IR/FactsParameters.h"
#include "blockscale/Dialect/Blockscale/IR/KnownAttributes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.h.inc"

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleOps.h.inc"

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALE_H
