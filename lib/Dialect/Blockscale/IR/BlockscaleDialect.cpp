//===- BlockscaleDialect.cpp - registration of ops, types, attributes -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockRules.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;

#include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleOps.cpp.inc"

void BlockscaleDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "blockscale/Dialect/Blockscale/IR/BlockscaleOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.cpp.inc"
      >();
}
