//===- blockscale-opt.cpp - drives passes and pipelines -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  blockscale::registerDialect(registry);
  blockscale::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "blockscale modular optimizer driver\n", registry));
}
