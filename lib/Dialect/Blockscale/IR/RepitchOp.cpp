//===- RepitchOp.cpp - rules of pitched rows and of their copy ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemOpRules.h"

using namespace mlir;
using namespace blockscale;

/// Bytes of a row of a matrix of narrow floats whose rows may be ?; nullopt of other types.
static std::optional<int64_t> rowBytesOf(ArrayRef<int64_t> shape, Type elementType) {
  std::optional<facts::Format> format = getFormat(elementType);
  if (!format || facts::info(*format).bits > 8 || shape.size() != 2)
    return std::nullopt;
  auto isExtent = [](int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  if ((!isDynamic(shape[0]) && !isExtent(shape[0])) || !isExtent(shape[1]))
    return std::nullopt;
  int64_t bits = shape[1] * facts::info(*format).bits;
  return bits % 8 ? std::nullopt : std::optional(bits / 8);
}

LogicalResult PitchedAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                          function_ref<InFlightDiagnostic()> emitError) const {
  std::optional<int64_t> row = rowBytesOf(shape, elementType);
  if (!row)
    return emitError() << "pitched_c1: pitched tensor must be a matrix of floats of 4, 6 or 8 bits "
                          "in rows of whole bytes, static but for rows, got rank "
                       << shape.size() << " of " << elementType;
  int64_t rows = isDynamic(shape[0]) ? 1 : shape[0];
  if (getBytes() < *row || getBytes() > kMaxBufferBytes / rows)
    return emitError() << "pitched_c2: pitch must be at least the " << *row
                       << " bytes of a row, and rows at most 2^40 bytes together, got "
                       << getBytes();
  return success();
}

RowsAttr RepitchOp::getLogicalRows() {
  if (getRows())
    return getRows();
  auto source = cast<ShapedType>(getElements().getType());
  auto target = cast<ShapedType>((getResult() ? getResult() : getOut()).getType());
  std::optional<int64_t> row = rowBytesOf(source.getShape(), source.getElementType());
  if (!row)
    return nullptr;
  auto pitchOf = [&](Type type) {
    PitchedAttr pitched = getPitched(type);
    return pitched ? pitched.getBytes() : *row;
  };
  return RowsAttr::get(getContext(), source.getDimSize(0), *row, pitchOf(source), pitchOf(target));
}

/// repitch_c4.
static LogicalResult verifyPacked(RepitchOp op, ErrorFn emitError) {
  RowsAttr rows = op.getRows();
  bool isKnown = !isDynamic(rows.getCount());
  int64_t count = isKnown ? rows.getCount() : 1;
  auto legal = [&](int64_t pitch) {
    return pitch >= rows.getBytes() && pitch <= kMaxBufferBytes / count;
  };
  auto bytes = [&](int64_t pitch) { return isKnown ? count * pitch : kDynamicExtent; };
  if (count < 1 || count > kMaxExtent || rows.getBytes() < 1 || !legal(rows.getFrom()) ||
      !legal(rows.getTo()))
    return emitError() << "repitch_c4: rows must fit both pitches, and 2^40 bytes, got " << rows;
  Type target = (op.getResult() ? op.getResult() : op.getOut()).getType();
  if (failed(verifyBytes("repitch_c4", "source", op.getElements().getType(), bytes(rows.getFrom()),
                         emitError)))
    return failure();
  return verifyBytes("repitch_c4", "target", target, bytes(rows.getTo()), emitError);
}

LogicalResult RepitchOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  if (failed(verifyDestinations("repitch_c1", *this, getOut() ? 1 : 0, 1)))
    return failure();
  if (getRows())
    return verifyPacked(*this, emitError);
  auto source = cast<ShapedType>(getElements().getType());
  auto target = cast<ShapedType>((getResult() ? getResult() : getOut()).getType());
  RowsAttr rows = getLogicalRows();
  if (!rows || source.getShape() != target.getShape() ||
      source.getElementType() != target.getElementType() || source == target)
    return emitError() << "repitch_c2: target must be the matrix of the source with another pitch, "
                       << source << ", got " << target;
  if (PitchedAttr pitched = getPitched(target); pitched && !pitched.getZeroTail())
    return emitError() << "repitch_c3: target must say zero_tail, got " << pitched;
  return success();
}

void RepitchOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCopyEffects(*this, getOut() ? ValueRange(getOut()) : ValueRange(), effects);
}
