//===- plugin.cpp - the dialect and its passes for stock mlir-opt ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt --load-dialect-plugin=BlockscalePlugin.so
//          --pass-pipeline='builtin.module(blockscale-...)'
// The dialect entry point registers the passes too, so that one flag suffices.
//
//===----------------------------------------------------------------------===//

#include "blockscale/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Blockscale", "0.1", [](mlir::DialectRegistry *registry) {
            blockscale::registerDialect(*registry);
            blockscale::registerPasses();
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Blockscale", "0.1", [] { blockscale::registerPasses(); }};
}
