//===- NormalizeScales.cpp - scales of edge types become encoded i8 -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f8E4M3FN is an element type as well as a scale type, so the type alone does not
// say what a tensor is: the pass starts from the scale operands and results of our
// ops and follows values through functions.
//
//===----------------------------------------------------------------------===//

#include "Signatures.h"

#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace blockscale;

namespace blockscale {
#define GEN_PASS_DEF_NORMALIZESCALES
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

namespace {

/// Finds every value that holds the same scales as a scale operand or result.
class ScaleValues {
public:
  explicit ScaleValues(ModuleOp module) : symbols(module), module(module) {}

  LogicalResult collect();
  /// Gives all values, signatures and constants their new type.
  void retype();

private:
  using Signature = std::pair<func::FuncOp, unsigned>;

  static bool isEdge(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.getElementType().isInteger(8);
  }
  void add(Value value) {
    if (isEdge(value.getType()) && values.insert(value))
      worklist.push_back(value);
  }
  void addArgument(func::FuncOp func, unsigned index);
  void addResult(func::FuncOp func, unsigned index);
  LogicalResult followDefinition(Value value);
  LogicalResult followUses(Value value);
  func::FuncOp calleeOf(func::CallOp call) {
    return symbols.lookup<func::FuncOp>(call.getCallee());
  }

  SymbolTable symbols;
  ModuleOp module;
  llvm::SetVector<Value> values;
  SmallVector<Value> worklist;
  llvm::SetVector<Signature> arguments, results;
};

} // namespace

void ScaleValues::addArgument(func::FuncOp func, unsigned index) {
  if (!func || !arguments.insert({func, index}))
    return;
  if (!func.isExternal())
    add(func.getArgument(index));
  module.walk([&](func::CallOp call) {
    if (calleeOf(call) == func)
      add(call.getOperand(index));
  });
}

void ScaleValues::addResult(func::FuncOp func, unsigned index) {
  if (!func || !results.insert({func, index}))
    return;
  func.walk([&](func::ReturnOp op) { add(op.getOperand(index)); });
  module.walk([&](func::CallOp call) {
    if (calleeOf(call) == func)
      add(call.getResult(index));
  });
}

LogicalResult ScaleValues::followDefinition(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      return addArgument(func, argument.getArgNumber()), success();
  } else if (auto call = value.getDefiningOp<func::CallOp>()) {
    return addResult(calleeOf(call), cast<OpResult>(value).getResultNumber()), success();
  } else if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    if (isa<DenseElementsAttr>(constant.getValue()))
      return success();
  } else if (Operation *op = value.getDefiningOp(); op && isOurs(op)) {
    return success();
  }
  return emitError(value.getLoc()) << "normalize_scales_c1: scales must come from a function "
                                      "argument, a dense constant, a call or a blockscale op, got "
                                   << value;
}

LogicalResult ScaleValues::followUses(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isScaleOperand(use) || isa<ReinterpretOp, tensor::DimOp>(user))
      continue;
    if (isa<func::ReturnOp>(user)) {
      addResult(user->getParentOfType<func::FuncOp>(), use.getOperandNumber());
      continue;
    }
    if (auto call = dyn_cast<func::CallOp>(user)) {
      addArgument(calleeOf(call), use.getOperandNumber());
      continue;
    }
    return user->emitError()
           << "normalize_scales_c2: scales must be used as scales only, got operand "
           << use.getOperandNumber() << " of " << user->getName() << ", a " << value.getType();
  }
  return success();
}

LogicalResult ScaleValues::collect() {
  module.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isScaleOperand(operand))
        add(operand.get());
    if (auto quantize = dyn_cast<QuantizeOp>(op))
      add(quantize.getScales());
    if (isa<RelayoutScalesOp, ZeroScaleTailOp>(op) && op->getNumResults())
      add(op->getResult(0));
  });
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (failed(followDefinition(value)) || failed(followUses(value)))
      return failure();
  }
  return success();
}

static RankedTensorType normalized(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), IntegerType::get(type.getContext(), 8),
                               getScalesEncoding(type));
}

void ScaleValues::retype() {
  for (auto [func, index] : arguments) {
    rememberArgType(func, index, func.getArgumentTypes()[index]);
    SmallVector<Type> types(func.getArgumentTypes());
    types[index] = normalized(types[index]);
    func.setType(FunctionType::get(func.getContext(), types, func.getResultTypes()));
  }
  for (auto [func, index] : results) {
    rememberResultType(func, index, func.getResultTypes()[index]);
    SmallVector<Type> types(func.getResultTypes());
    types[index] = normalized(types[index]);
    func.setType(FunctionType::get(func.getContext(), func.getArgumentTypes(), types));
  }
  for (Value value : values) {
    auto type = normalized(value.getType());
    // The bytes stay as they are: no conversion may look at them (E8M0 NaN).
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
        constant.setValueAttr(DenseElementsAttr::getFromRawBuffer(type, dense.getRawData()));
    value.setType(type);
  }
}

/// normalize_scales_c3 on one constant.
static LogicalResult verifyPositive(arith::ConstantOp constant) {
  auto tensor = dyn_cast<RankedTensorType>(constant.getType());
  auto encoding = tensor ? dyn_cast_or_null<ScalesAttr>(tensor.getEncoding()) : nullptr;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!encoding || !dense || encoding.getFormat() != facts::ScaleFormat::ue4m3)
    return success();
  for (auto [index, byte] : llvm::enumerate(dense.getRawData()))
    if (uint8_t(byte) & 0x80)
      return constant.emitError()
             << "normalize_scales_c3: ue4m3 scale must have a zero top bit, got "
             << llvm::formatv("{0:x}", uint8_t(byte)).str() << " at row "
             << int64_t(index) / tensor.getShape().back() << ", column "
             << int64_t(index) % tensor.getShape().back();
  return success();
}

namespace {
struct NormalizeScalesPass : blockscale::impl::NormalizeScalesBase<NormalizeScalesPass> {
  void runOnOperation() override {
    ScaleValues scales(getOperation());
    if (failed(scales.collect()))
      return signalPassFailure();
    scales.retype();
    getOperation()->walk([&](arith::ConstantOp constant) {
      if (failed(verifyPositive(constant)))
        signalPassFailure();
    });
  }
};
} // namespace
