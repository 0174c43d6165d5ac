//===- CheckEncodings.cpp - no foreign op consumes a scale layout ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Signatures.h"

#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"

using namespace mlir;
using namespace blockscale;

namespace blockscale {
#define GEN_PASS_DEF_CHECKENCODINGS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

/// The first encoded scale type among operands and results.
static RankedTensorType findEncoded(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        if (isa_and_nonnull<ScalesAttr, BlocksAttr, PitchedAttr>(tensor.getEncoding()))
          return tensor;
  return nullptr;
}

namespace {
struct CheckEncodingsPass : blockscale::impl::CheckEncodingsBase<CheckEncodingsPass> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      RankedTensorType encoded = findEncoded(op);
      if (!encoded || isOurs(op) || passesOnWhole(op) || isa<tensor::DimOp>(op))
        return;
      op->emitError() << "check_encodings_c1: op on scales must be one of the blockscale dialect, "
                         "such as blockscale.relayout_scales, got "
                      << op->getName() << ", which would lose " << encoded.getEncoding();
      signalPassFailure();
    });
  }
};
} // namespace
