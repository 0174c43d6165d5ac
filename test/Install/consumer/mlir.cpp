//===- mlir.cpp - uses the installed dialect ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include "mlir/IR/MLIRContext.h"

#include <cstdio>

int main() {
  mlir::MLIRContext context;
  mlir::Dialect *dialect = context.getOrLoadDialect<blockscale::BlockscaleDialect>();
  std::printf("dialect %s\n", dialect->getNamespace().str().c_str());
  return 0;
}
