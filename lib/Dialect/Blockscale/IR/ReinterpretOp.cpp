//===- ReinterpretOp.cpp - rules of the bytes of a tensor as another type -===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemOpRules.h"

using namespace mlir;
using namespace blockscale;

/// Bytes of a type that reinterpret_c1 allows.
static std::optional<int64_t> bytesOf(RankedTensorType type) {
  std::optional<int64_t> bits = getNarrowBits(type.getElementType());
  if (!bits || type.getRank() < 1 || !type.hasStaticShape())
    return std::nullopt;
  if (Attribute encoding = type.getEncoding()) {
    auto scales = dyn_cast<ScalesAttr>(encoding);
    if (!scales || scales.getLayout() != facts::ScaleLayout::linear)
      return std::nullopt;
  }
  for (int64_t extent : type.getShape())
    if (extent < 1 || llvm::MulOverflow(*bits, extent, *bits))
      return std::nullopt;
  return *bits % 8 ? std::nullopt : std::optional(*bits / 8);
}

LogicalResult ReinterpretOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  for (auto [what, type] : {std::pair("source", source), std::pair("result", result)})
    if (!bytesOf(type))
      return emitOpError("reinterpret_c1: ")
             << what
             << " must be whole bytes of i8 or of floats of 4, 6 or 8 bits, static, without an "
                "encoding or of linear scales, got "
             << type;
  int64_t have = *bytesOf(source), want = *bytesOf(result);
  if (getPart() ? have % want : have != want)
    return emitOpError("reinterpret_c2: source must have ")
           << (getPart() ? "a multiple of " : "") << "the result's " << want << " bytes, got "
           << have;
  return success();
}
