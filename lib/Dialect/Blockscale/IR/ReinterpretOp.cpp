//===- ReinterpretOp.cpp - rules of the bytes of a tensor as another type -===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemOpRules.h"

#include "blockscale/Dialect/Blockscale/IR/Batches.h"

using namespace mlir;
using namespace blockscale;

static bool isTiled(RankedTensorType type) {
  auto scales = dyn_cast_or_null<ScalesAttr>(type.getEncoding());
  return scales && scales.getLayout() == facts::ScaleLayout::tiled;
}

/// Bytes of a type that reinterpret_c1 allows.
static std::optional<int64_t> bytesOf(RankedTensorType type) {
  std::optional<int64_t> bits = getNarrowBits(type.getElementType());
  bool hasRows = type.getRank() >= 1 && type.isDynamicDim(0); // the bytes are those of one
  if (!bits || type.getRank() < 1 || type.getNumDynamicDims() > hasRows ||
      (hasRows && isTiled(type)))
    return std::nullopt;
  if (type.getEncoding() && !isa<ScalesAttr>(type.getEncoding()))
    return std::nullopt;
  if (isTiled(type))
    return getScaleBytes(type);
  for (int64_t extent : type.getShape().drop_front(hasRows))
    if (extent < 1 || llvm::MulOverflow(*bits, extent, *bits))
      return std::nullopt;
  return *bits % 8 ? std::nullopt : std::optional(*bits / 8);
}

LogicalResult ReinterpretOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  for (auto [what, type] : {std::pair("source", source), std::pair("result", result)})
    if (!bytesOf(type))
      return emitOpError("reinterpret_c1: ") << what
                                             << " must be whole bytes of i8 or of floats of 4, 6 "
                                                "or 8 bits, static but for rows, without an "
                                                "encoding or of scales, got "
                                             << type;
  if (source.isDynamicDim(0) != result.isDynamicDim(0) || (source.isDynamicDim(0) && getPart()))
    return emitOpError(
               "reinterpret_c1: source and result must both be static, or both have rows of "
               "? and be whole, got ")
           << source << " and " << result;
  int64_t have = *bytesOf(source), want = *bytesOf(result);
  if (getPart() ? have % want : have != want)
    return emitOpError("reinterpret_c2: source must have ")
           << (getPart() ? "a multiple of " : "") << "the result's " << want << " bytes, got "
           << have;
  // Where a byte of a tile lies, the shape decides.
  bool isPartOfBatch = getPart() && source.getRank() == 3 &&
                       source.getEncoding() == result.getEncoding() &&
                       source.getShape().drop_front() == result.getShape();
  if ((isTiled(source) || isTiled(result)) && !isPartOfBatch)
    return emitOpError("reinterpret_c3: tiled scales must be one part of a batch of the same "
                       "matrices, got ")
           << source << " and " << result;
  return success();
}
