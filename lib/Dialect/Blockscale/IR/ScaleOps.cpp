//===- ScaleOps.cpp - rules of relayout, zero tail and nibble swap --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemOpRules.h"

using namespace mlir;
using namespace blockscale;
using facts::ScaleLayout;

/// Whether the sizes of a matrix can be computed with, by a run where rows are ?.
static bool hasLegalExtents(ScaleMatrixAttr matrix) {
  auto legal = [](int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  return (isDynamic(matrix.getRows()) || legal(matrix.getRows())) && legal(matrix.getCols()) &&
         legal(matrix.getBatches());
}

//===----------------------------------------------------------------------===//
// relayout_scales
//===----------------------------------------------------------------------===//

static Value targetOf(RelayoutScalesOp op) { return op.getResult() ? op.getResult() : op.getOut(); }

ScaleMatrixAttr RelayoutScalesOp::getLogicalSource() {
  return getSource() ? getSource() : getScaleMatrices(getScales().getType());
}
ScaleMatrixAttr RelayoutScalesOp::getLogicalTarget() {
  return getTarget() ? getTarget() : getScaleMatrices(targetOf(*this).getType());
}

LogicalResult RelayoutScalesOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  if (failed(verifyDestinations("relayout_scales_c1", *this, getOut() ? 1 : 0, 1)))
    return failure();
  if (bool(getSource()) != bool(getTarget()))
    return emitError() << "relayout_scales_c4: 'source' and 'target' must be given together, got "
                       << (getSource() ? "source" : "target") << " only";
  ScaleMatrixAttr source = getLogicalSource(), target = getLogicalTarget();
  if (!source || !target)
    return emitError() << "relayout_scales_c4: scales must be encoded tensors, or bytes with "
                          "'source' and 'target', got "
                       << getScales().getType() << " and " << targetOf(*this).getType();
  if (source.getRows() != target.getRows() || source.getCols() != target.getCols() ||
      source.getBatches() != target.getBatches() || source.getFormat() != target.getFormat())
    return emitError() << "relayout_scales_c2: target must have the shape and format of source, "
                       << source << ", got " << target;
  if (source.getLayout() == target.getLayout())
    return emitError() << "relayout_scales_c3: source and target must differ in layout, got "
                       << name(source.getLayout()) << " twice";
  if (!hasLegalExtents(source))
    return emitError() << "relayout_scales_c2: rows, columns and batches must be 1 .. "
                       << kMaxExtent << ", got " << source;
  // Tiles do not say how many of their rows are real.
  if (isDynamic(source.getRows()) && source.getLayout() != ScaleLayout::linear)
    return emitError() << "relayout_scales_c2: rows must be known where the source is tiled, got "
                       << source;
  if (!getSource())
    return success();
  if (failed(verifyBytes("relayout_scales_c4", "source", getScales().getType(), source.getBytes(),
                         emitError)))
    return failure();
  return verifyBytes("relayout_scales_c4", "target", targetOf(*this).getType(), target.getBytes(),
                     emitError);
}

void RelayoutScalesOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCopyEffects(*this, getOut() ? ValueRange(getOut()) : ValueRange(), effects);
}

//===----------------------------------------------------------------------===//
// zero_scale_tail
//===----------------------------------------------------------------------===//

ScaleMatrixAttr ZeroScaleTailOp::getLogicalMatrix() {
  return getMatrix() ? getMatrix() : getScaleMatrices(getScales().getType());
}

LogicalResult ZeroScaleTailOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  Type type = getScales().getType();
  if (failed(verifyStorage("zero_scale_tail_c1", type, emitError)))
    return failure();
  bool isTensor = isa<TensorType>(type);
  if (isTensor != bool(getResult()) || (isTensor && getResult().getType() != type))
    return emitError() << "zero_scale_tail_c1: a tensor must give a result of its type, a memref "
                          "none, got "
                       << type << " -> "
                       << (getResult() ? getResult().getType() : Type(NoneType::get(getContext())));
  ScaleMatrixAttr matrix = getLogicalMatrix();
  if (!matrix || matrix.getLayout() != ScaleLayout::tiled)
    return emitError() << "zero_scale_tail_c2: scales must be tiled, got "
                       << (matrix ? Attribute(matrix) : TypeAttr::get(type));
  if (!hasLegalExtents(matrix))
    return emitError() << "zero_scale_tail_c2: rows, columns and batches must be 1 .. "
                       << kMaxExtent << ", got " << matrix;
  if (!getMatrix())
    return success();
  return verifyBytes("zero_scale_tail_c3", "scales", type, matrix.getBytes(), emitError);
}

void ZeroScaleTailOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addMemrefEffect(getScalesMutable(), MemoryEffects::Write::get(), effects);
}

//===----------------------------------------------------------------------===//
// swap_nibbles
//===----------------------------------------------------------------------===//

LogicalResult SwapNibblesOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  if (failed(verifyDestinations("swap_nibbles_c1", *this, getOut() ? 1 : 0, 1)))
    return failure();
  auto source = cast<ShapedType>(getElements().getType());
  Type target = (getResult() ? getResult() : getOut()).getType();
  if (source != target)
    return emitError() << "swap_nibbles_c2: target must have the source's type " << source
                       << ", got " << target;
  std::optional<facts::Format> format = getFormat(source.getElementType());
  bool wholeBytes = format && facts::info(*format).bits == 4 && source.hasRank() &&
                    source.getRank() >= 1 && !ShapedType::isDynamic(source.getShape().back()) &&
                    source.getShape().back() % 2 == 0;
  if (!wholeBytes && !isPackedBytes(source))
    return emitError()
           << "swap_nibbles_c2: elements must be 4 bits wide in rows of an even number, "
              "or bytes, got "
           << source;
  return success();
}

void SwapNibblesOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCopyEffects(*this, getOut() ? ValueRange(getOut()) : ValueRange(), effects);
}
