//===- QuantizeOps.cpp - rules of quantize and dequantize -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemOpRules.h"

#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"

using namespace mlir;
using namespace blockscale;

namespace {
/// The types that quantize and dequantize have in common.
struct BlockedTypes {
  StringRef op; // label prefix
  Type wide, elements, scales;
  BlockedAttr packed;
};
} // namespace

/// What elements and scales of a row of k are; null where it is not built.
static const facts::QuantizedFormat *formatOf(facts::Format element, facts::ScaleFormat scale,
                                              int64_t k, Type scales) {
  ScaleMatrixAttr matrix = getScaleMatrix(scales);
  if (matrix && matrix.getCols() > 0 && k % matrix.getCols() == 0)
    if (const auto *format = findQuantized(element, scale, k / matrix.getCols()))
      return format;
  return findQuantized(element, scale);
}

static BlockedAttr blockedOf(const BlockedTypes &types) {
  if (types.packed)
    return types.packed;
  auto elements = cast<ShapedType>(types.elements);
  facts::Format element = *getFormat(elements.getElementType());
  ScalesAttr encoding = getScalesEncoding(types.scales);
  return BlockedAttr::get(
      types.wide.getContext(), elements.getDimSize(0), elements.getDimSize(1), element,
      encoding.getFormat(),
      formatOf(element, encoding.getFormat(), elements.getDimSize(1), types.scales)->block,
      encoding.getLayout());
}

/// Rules _c2 .. _c6 and _c8.
static LogicalResult verifyBlocked(const BlockedTypes &types, ErrorFn emitError) {
  auto label = [&](StringRef rule) { return (types.op + rule).str(); };
  auto wide = cast<ShapedType>(types.wide);
  auto legal = [](int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  if (!wide.hasRank() || wide.getRank() != 2 || !legal(wide.getDimSize(1)) ||
      (!wide.isDynamicDim(0) && !legal(wide.getDimSize(0))))
    return emitError() << label("_c2: x must be a matrix with extents 1 .. ") << kMaxExtent
                       << ", or rows of ?, got " << wide;
  int64_t rows = wide.getDimSize(0), k = wide.getDimSize(1);

  std::optional<facts::Format> element;
  std::optional<facts::ScaleFormat> scale;
  if (types.packed) {
    element = types.packed.getElement();
    scale = types.packed.getScale();
  } else {
    element = getElementFormat(types.elements);
    if (ScalesAttr encoding = getScalesEncoding(types.scales))
      scale = encoding.getFormat();
  }
  const facts::QuantizedFormat *format = nullptr;
  if (element && scale)
    format = types.packed ? findQuantized(*element, *scale, types.packed.getBlock())
                          : formatOf(*element, *scale, k, types.scales);
  if (!format) {
    InFlightDiagnostic error = emitError()
                               << label("_c3: formats must be a combination that is built: ")
                               << listQuantized() << ", got ";
    if (types.packed)
      return error << types.packed;
    return error << types.elements << " scaled " << types.scales;
  }
  int64_t block = format->block;
  auto elements = cast<ShapedType>(types.elements), scales = cast<ShapedType>(types.scales);
  if (types.packed ? types.packed.getRows() != rows || types.packed.getK() != k
                   : elements.getShape() != wide.getShape())
    return emitError() << label("_c4: elements must have the shape of x, ") << shapeOf(wide)
                       << ", got "
                       << (types.packed ? extentText(types.packed.getRows()) + "x" +
                                              std::to_string(types.packed.getK())
                                        : shapeOf(elements));
  if (k % block)
    return emitError() << label("_c5: k must be a whole number of scale blocks, got ") << k
                       << ", and " << k << " is not a multiple of " << block;
  if (types.packed) {
    std::string bytes = label("_c8");
    if (failed(verifyBytes(bytes, "elements", elements, types.packed.getElementBytes(), emitError)))
      return failure();
    return verifyBytes(bytes, "scales", scales, types.packed.getScaleBytes(), emitError);
  }
  ScaleMatrixAttr matrix = getScaleMatrix(scales);
  if (!matrix || matrix.getRows() != rows || matrix.getCols() != k / block)
    return emitError() << label("_c6: scales must be ") << extentText(rows) << "x" << k / block
                       << " (rows x k / block), got " << shapeOf(scales);
  return success();
}

//===----------------------------------------------------------------------===//
// quantize
//===----------------------------------------------------------------------===//

Value QuantizeOp::getTarget(unsigned index) {
  ValueRange targets = getNumResults() ? ValueRange(getResults()) : ValueRange(getOuts());
  return index < targets.size() ? targets[index] : Value();
}

static BlockedTypes typesOf(QuantizeOp op) {
  return {"quantize", op.getX().getType(), op.getElements().getType(), op.getScales().getType(),
          op.getBlocked()};
}

BlockedAttr QuantizeOp::getLogicalBlocked() { return blockedOf(typesOf(*this)); }

LogicalResult QuantizeOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  unsigned targets = std::max<unsigned>(getNumResults(), getOuts().size());
  if (targets < 2 || targets > 3)
    return emitError() << "quantize_c1: op must have 2 or 3 results or outs (elements, scales, "
                          "global scale), got "
                       << targets;
  FailureOr<Storage> storage = verifyDestinations("quantize_c1", *this, getOuts().size(), targets);
  if (failed(storage))
    return failure();
  if (*storage == Storage::memrefs && !getBlocked())
    return emitError() << "quantize_c8: memref operands must be packed bytes with the attribute "
                          "'blocked', got none";
  if (failed(verifyBlocked(typesOf(*this), emitError)))
    return failure();
  if (getSchedule() && isDynamic(getLogicalBlocked().getRows()))
    return emitError() << "quantize_c2: rows must be known where a kernel quantises them, got ?";
  if (getSchedule() && failed(verifyQuantizeSchedule(getSchedule(), emitError)))
    return failure();
  bool wantsGlobal = facts::hasGlobalScale(getLogicalBlocked().getScale());
  int have = bool(getGlobal()) + bool(getGiven());
  if (have != wantsGlobal)
    return emitError() << "quantize_c7: a global scale must be "
                       << (wantsGlobal ? "an operand, or the third result or out," : "absent")
                       << " for " << name(getLogicalBlocked().getScale()) << ", got "
                       << (have == 2   ? "both"
                           : have == 1 ? "one"
                                       : "none");
  if (!have)
    return success();
  auto global = cast<ShapedType>((getGiven() ? getGiven() : getGlobal()).getType());
  if (global.getRank() != 0 || !global.getElementType().isF32())
    return emitError() << "quantize_c7: global scale must be f32 of rank 0, got " << global;
  return verifyConstantGlobal(getGiven(), "quantize_c7", "global scale", /*isInverse=*/false,
                              emitError);
}

void QuantizeOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCopyEffects(*this, getOuts(), effects);
}

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

static BlockedTypes typesOf(DequantizeOp op) {
  return {"dequantize", (op.getX() ? op.getX() : op.getOut()).getType(), op.getElements().getType(),
          op.getScales().getType(), op.getBlocked()};
}

BlockedAttr DequantizeOp::getLogicalBlocked() { return blockedOf(typesOf(*this)); }

LogicalResult DequantizeOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  FailureOr<Storage> storage = verifyDestinations("dequantize_c1", *this, getOut() ? 1 : 0, 1);
  if (failed(storage))
    return failure();
  if (*storage == Storage::memrefs && !getBlocked())
    return emitError() << "dequantize_c8: memref operands must be packed bytes with the attribute "
                          "'blocked', got none";
  return verifyBlocked(typesOf(*this), emitError);
}

void DequantizeOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCopyEffects(*this, getOut() ? ValueRange(getOut()) : ValueRange(), effects);
}
