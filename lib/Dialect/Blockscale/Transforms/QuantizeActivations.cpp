//===- QuantizeActivations.cpp - chunks in front of a product of blocks ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizeActivations.h"

using namespace mlir;
using namespace blockscale;

RankedTensorType blockscale::chunksTypeOf(Value activations) {
  auto type = cast<RankedTensorType>(activations.getType());
  const facts::BlockFormatInfo &chunk = facts::info(facts::BlockFormat::q8_1_chunk);
  MLIRContext *context = activations.getContext();
  return RankedTensorType::get(
      {type.getDimSize(0), type.getDimSize(1) / chunk.elements * chunk.bytes},
      IntegerType::get(context, 8), BlocksAttr::get(context, chunk.format));
}

void blockscale::quantizeActivations(GemmOp gemm) {
  Value x = gemm.getA();
  RankedTensorType chunks = chunksTypeOf(x);
  for (Operation *user : x.getUsers())
    if (auto quantize = dyn_cast<QuantizeChunksOp>(user);
        quantize && quantize->getBlock() == gemm->getBlock() && quantize->isBeforeInBlock(gemm) &&
        quantize.getResult() && quantize.getResult().getType() == chunks) {
      gemm.getAMutable().set(quantize.getResult());
      return;
    }
  OpBuilder builder(gemm);
  auto quantize = QuantizeChunksOp::create(builder, gemm.getLoc(), chunks, x, Value(),
                                           QuantizeScheduleAttr(), BlocksAttr());
  gemm.getAMutable().set(quantize.getResult());
}
