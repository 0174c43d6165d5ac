//===- ProblemOpRules.cpp - rules that several problem-level ops share ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemOpRules.h"

#include "mlir/IR/Matchers.h"

#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

FailureOr<Storage> blockscale::verifyStorage(StringRef label, TypeRange types, ErrorFn emitError) {
  bool anyTensor = false, anyMemref = false;
  for (Type type : types) {
    anyTensor |= isa<TensorType>(type);
    auto memref = dyn_cast<MemRefType>(type);
    anyMemref |= bool(memref);
    if (memref && !isContiguous(memref)) {
      emitError() << label << ": memrefs must be contiguous, got " << memref;
      return failure();
    }
  }
  if (anyTensor && anyMemref) {
    emitError() << label << ": operands must be all tensors or all memrefs, got both";
    return failure();
  }
  return anyMemref ? Storage::memrefs : Storage::tensors;
}

FailureOr<Storage> blockscale::verifyDestinations(StringRef label, Operation *op, unsigned outs,
                                                  unsigned count) {
  auto emitError = [&] { return op->emitOpError(); };
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  FailureOr<Storage> storage = verifyStorage(label, types, emitError);
  if (failed(storage))
    return failure();
  bool tensors = *storage == Storage::tensors;
  unsigned results = op->getNumResults();
  if (results == (tensors ? count : 0) && outs == (tensors ? 0 : count))
    return storage;
  emitError() << label << ": op on " << (tensors ? "tensors" : "memrefs") << " must have "
              << (tensors ? count : 0) << " results and " << (tensors ? 0 : count) << " outs, got "
              << results << " and " << outs;
  return failure();
}

LogicalResult blockscale::verifyStatic(StringRef label, TypeRange types, ErrorFn emitError) {
  for (Type type : types)
    if (auto shaped = dyn_cast<ShapedType>(type); shaped && !shaped.hasStaticShape())
      return emitError() << label
                         << ": shapes must be static (dynamic ones are not built yet), got "
                         << type;
  return success();
}

LogicalResult blockscale::verifyBytes(StringRef label, StringRef what, Type type, int64_t bytes,
                                      ErrorFn emitError) {
  if (isPackedBytes(type) && cast<ShapedType>(type).getDimSize(0) == bytes)
    return success();
  return emitError() << label << ": packed " << what << " must be " << extentText(bytes)
                     << "xi8, got " << type;
}

std::optional<facts::Format> blockscale::getElementFormat(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.getEncoding())
    return std::nullopt;
  return getFormat(cast<ShapedType>(type).getElementType());
}

std::string blockscale::shapeOf(ShapedType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (type.getRank() == 0)
    os << "a single element of rank 0";
  llvm::interleave(type.getShape(), os, [&](int64_t extent) { os << extentText(extent); }, "x");
  return text;
}

void blockscale::addMemrefEffect(OpOperand &operand, MemoryEffects::Effect *effect,
                                 SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (isa<MemRefType>(operand.get().getType()))
    effects.emplace_back(effect, &operand, SideEffects::DefaultResource::get());
}

void blockscale::addCopyEffects(Operation *op, ValueRange outs,
                                SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands())
    addMemrefEffect(operand,
                    llvm::is_contained(outs, operand.get())
                        ? static_cast<MemoryEffects::Effect *>(MemoryEffects::Write::get())
                        : MemoryEffects::Read::get(),
                    effects);
}

LogicalResult blockscale::verifyConstantGlobal(Value global, StringRef label, StringRef what,
                                               bool isInverse, ErrorFn emitError) {
  // The largest element times it is finite.
  const double element = facts::info(facts::Format::e2m1).max;
  const double largest = std::numeric_limits<float>::max() / element;
  Attribute constant;
  if (!global || !matchPattern(global, m_Constant(&constant)))
    return success();
  if (auto elements = dyn_cast<DenseElementsAttr>(constant); elements && elements.isSplat())
    constant = elements.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(constant);
  if (!number)
    return success();
  double value = number.getValueAsDouble(), scale = isInverse ? 1 / value : value;
  if (value > 0 && scale > 0 && scale <= largest)
    return success();
  return emitError() << label << ": " << what << " must be above 0 and " << int64_t(element)
                     << " times " << (isInverse ? "1 / it" : "it") << " finite in f32, got "
                     << value;
}
