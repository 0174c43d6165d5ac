//===- SpanRules.h - rules of products whose K crosses stages ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_SPANRULES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_SPANRULES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Rule kernel_c20.
llvm::LogicalResult verifySpans(KernelOp kernel);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_SPANRULES_H
