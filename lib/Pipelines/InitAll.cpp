//===- InitAll.cpp - registers everything that is ours --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/InitAll.h"

#include "blockscale/Conversion/Host/Passes.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Pipelines/Pipelines.h"

namespace blockscale {

void registerDialect(mlir::DialectRegistry &registry) {
  registry.insert<BlockscaleDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}

void registerPasses() {
  registerBlockscaleTransformsPasses();
  registerBlockscaleConversionPasses();
  registerBlockscaleHostConversionPasses();
  registerPipelines();
}

} // namespace blockscale
