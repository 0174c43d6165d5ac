//===- DecodeScalesOp.cpp - rules of decode_scales ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemOpRules.h"

#include "blockscale/Facts/WeightPlane.h"

using namespace mlir;
using namespace blockscale;
using facts::BlockFormat;

WeightMatrixAttr DecodeScalesOp::getLogicalMatrix() {
  if (getMatrix())
    return getMatrix();
  auto weights = cast<RankedTensorType>(getWeights().getType());
  const facts::BlockFormatInfo &row = facts::info(BlockFormat::q4_K);
  return WeightMatrixAttr::get(getContext(), weights.getDimSize(0),
                               weights.getDimSize(1) / row.bytes * row.elements);
}

LogicalResult DecodeScalesOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  FailureOr<Storage> storage =
      verifyDestinations("decode_scales_c1", *this, getOut() ? 1 : 0, /*count=*/1);
  if (failed(storage))
    return failure();
  auto from = cast<ShapedType>(getWeights().getType());
  Type to = *storage == Storage::tensors ? getResult().getType() : getOut().getType();
  BlocksAttr source = getBlocks(from), target = getBlocks(to);
  bool isWeights = source && source.getFormat() == BlockFormat::q4_K && from.hasStaticShape();
  if (!getMatrix() && !isWeights)
    return emitError() << "decode_scales_c2: weights must be a static matrix of q4_K, got " << from;
  WeightMatrixAttr matrix = getLogicalMatrix();
  auto legal = [](int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  if (!legal(matrix.getRows()) || !legal(matrix.getK()) || matrix.getK() % facts::kQ4KElements)
    return emitError() << "decode_scales_c2: rows and k must be 1 .. " << kMaxExtent
                       << ", k a multiple of " << facts::kQ4KElements << ", got "
                       << matrix.getRows() << " and " << matrix.getK();
  int64_t bytes = facts::matrixBytes(BlockFormat::q4_K_plane, matrix.getRows(), matrix.getK());
  if (getMatrix()) {
    int64_t sourceBytes = facts::matrixBytes(BlockFormat::q4_K, matrix.getRows(), matrix.getK());
    if (failed(verifyBytes("decode_scales_c4", "weights", from, sourceBytes, emitError)))
      return failure();
    return verifyBytes("decode_scales_c4", "result", to, bytes, emitError);
  }
  int64_t rows = (matrix.getRows() + facts::kPlaneRows - 1) / facts::kPlaneRows;
  auto planes = cast<RankedTensorType>(to);
  if (target && target.getFormat() == BlockFormat::q4_K_plane && planes.getDimSize(0) == rows &&
      planes.getDimSize(1) == bytes / rows)
    return success();
  return emitError() << "decode_scales_c3: result must be " << rows << "x" << bytes / rows
                     << " bytes of q4_K_plane, got " << to;
}

void DecodeScalesOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCopyEffects(*this, getOut() ? ValueRange(getOut()) : ValueRange(), effects);
}
