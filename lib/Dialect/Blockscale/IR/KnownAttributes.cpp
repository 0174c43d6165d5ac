//===- KnownAttributes.cpp - no attribute is ignored ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/KnownAttributes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

LogicalResult blockscale::verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name.contains('.'))
      continue;
    auto known = llvm::map_range(op->getName().getAttributeNames(),
                                 [](StringAttr each) { return each.getValue(); });
    InFlightDiagnostic error = op->emitOpError() << "attributes_c1: attributes must be ";
    if (!known.empty())
      error << "among " << llvm::join(known, ", ") << ", or ";
    return error << "have a dialect's prefix, got '" << name << "'";
  }
  return success();
}
