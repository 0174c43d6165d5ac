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

/// The dimension of ? that reinterpret_c1 allows: rows of a matrix, or of each of a batch.
static std::optional<int64_t> dynamicRows(RankedTensorType type) {
  if (type.getNumDynamicDims() != 1)
    return std::nullopt;
  int64_t at = type.getRank() == 3 && type.isDynamicDim(1) ? 1 : 0;
  return type.isDynamicDim(at) ? std::optional(at) : std::nullopt;
}

/// Bytes of a type that reinterpret_c1 allows; of rows of ? those of one, in each batch.
static std::optional<int64_t> bytesOf(RankedTensorType type) {
  std::optional<int64_t> bits = getNarrowBits(type.getElementType());
  std::optional<int64_t> rows = dynamicRows(type);
  if (!bits || type.getRank() < 1 || (!rows && !type.hasStaticShape()))
    return std::nullopt;
  if (type.getEncoding() && !isa<ScalesAttr>(type.getEncoding()))
    return std::nullopt;
  if (isTiled(type) && !rows)
    return getScaleBytes(type);
  for (auto [i, extent] : llvm::enumerate(type.getShape()))
    if (int64_t(i) != rows && (extent < 1 || llvm::MulOverflow(*bits, extent, *bits)))
      return std::nullopt;
  return *bits % 8 ? std::nullopt : std::optional(*bits / 8);
}

/// Whether the last dimensions spell a tile of scales in one of the ways of frontends.
static bool endsWithTile(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  auto endsWith = [&](ArrayRef<int64_t> tile) {
    return shape.size() >= tile.size() && shape.take_back(tile.size()) == tile;
  };
  return endsWith({512}) || endsWith({2, 256}) || endsWith({32, 16}) || endsWith({32, 4, 4});
}

/// reinterpret_c3 and c4: where a byte of a tile lies, the shape decides.
static LogicalResult verifyTiles(ReinterpretOp op, RankedTensorType source,
                                 RankedTensorType result) {
  if (!isTiled(source) && !isTiled(result))
    return success();
  bool isPartOfBatch = op.getPart() && source.getRank() == 3 &&
                       source.getEncoding() == result.getEncoding() &&
                       source.getShape().drop_front() == result.getShape();
  bool isPlain = !op.getPart() && !source.getEncoding() && source.getElementType().isInteger(8) &&
                 source.hasStaticShape() && result.hasStaticShape();
  if (!isPartOfBatch && !isPlain)
    return op.emitOpError("reinterpret_c3: tiled scales must be one part of a batch of the same "
                          "matrices, or plain i8, got ")
           << source << " and " << result;
  if (isPlain && !endsWithTile(source))
    return op.emitOpError("reinterpret_c4: tiled scales of plain i8 must be tiles of 512, 2x256, "
                          "32x16 or 32x4x4, got ")
           << source;
  return success();
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
  std::optional<int64_t> rows = dynamicRows(source);
  bool isOfBatch = rows == 1 && source.getShape().drop_front() == result.getShape();
  if (rows.has_value() != dynamicRows(result).has_value() || (rows && getPart() && !isOfBatch) ||
      (rows && !getPart() && (isTiled(source) || isTiled(result))))
    return emitOpError(
               "reinterpret_c1: source and result must both be static, or both have rows of "
               "? and be whole, other than tiled, or a part of a batch of a known number, got ")
           << source << " and " << result;
  int64_t have = *bytesOf(source), want = *bytesOf(result);
  bool isMultiple = getPart() || rows;
  if (isMultiple ? have % want : have != want)
    return emitOpError("reinterpret_c2: source must have ")
           << (isMultiple ? "a multiple of " : "") << "the result's " << want << " bytes, got "
           << have;
  return verifyTiles(*this, source, result);
}
