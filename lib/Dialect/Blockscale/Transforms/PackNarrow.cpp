//===- PackNarrow.cpp - narrow tensors become tensors of bytes ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream bufferization gives every FP4 element a byte of its own and knows
// nothing of scale padding, so the change of representation is made here, once,
// for a whole module: signatures and all values at the same time.
//
//===----------------------------------------------------------------------===//

#include "Signatures.h"

#include "blockscale/Dialect/Blockscale/IR/Batches.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Facts/ScaleTile.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;
using facts::ScaleLayout;

namespace blockscale {
#define GEN_PASS_DEF_PACKNARROW
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

/// The dimension of ?: the rows of a matrix or of each of a batch, also of transposed ones of
/// bytes; nullopt where another one is.
static std::optional<int64_t> dynamicRows(RankedTensorType type) {
  bool isBatch = type.getRank() == 3 &&
                 (type.isDynamicDim(1) || isa_and_nonnull<ScalesAttr>(type.getEncoding()));
  int64_t last = type.getRank() - 1;
  bool isTransposed = (last == 1 || last == 2) && type.isDynamicDim(last) && !type.getEncoding() &&
                      getNarrowBits(type.getElementType()) == 8;
  int64_t rows = isTransposed ? last : isBatch ? 1 : 0;
  if (type.getNumDynamicDims() != 1 || !type.isDynamicDim(rows) || getBlocks(type))
    return std::nullopt;
  return rows;
}

/// Whether all extents are known but for the rows.
static bool hasPackableShape(RankedTensorType type) {
  return type.hasStaticShape() || dynamicRows(type);
}

/// Bytes that hold a narrow tensor; ? where its rows are.
static int64_t bytesOf(RankedTensorType type) {
  if (!type.hasStaticShape())
    return kDynamicExtent;
  if (isa_and_nonnull<ScalesAttr>(type.getEncoding()))
    return getScaleBytes(type);
  if (getBlocks(type))
    return type.getNumElements();
  if (PitchedAttr pitched = getPitched(type))
    return type.getDimSize(0) * pitched.getBytes();
  return *getNarrowBits(type.getElementType()) * type.getNumElements() / 8;
}

static Type packed(Type type) {
  if (!isNarrow(type))
    return type;
  return RankedTensorType::get({bytesOf(cast<RankedTensorType>(type))},
                               IntegerType::get(type.getContext(), 8));
}

static SmallVector<Type> packed(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) { return packed(type); });
}

/// The bytes of a constant: elements low bits first, scales where their layout
/// puts them, padding zero.
static DenseElementsAttr packConstant(DenseElementsAttr constant) {
  auto type = cast<RankedTensorType>(constant.getType());
  ArrayRef<char> raw = constant.getRawData(); // one byte an element, or one for a splat
  auto element = [&](int64_t i) { return uint8_t(raw[constant.isSplat() ? 0 : i]); };
  std::vector<uint8_t> bytes(bytesOf(type));
  if (auto scales = dyn_cast_or_null<ScalesAttr>(type.getEncoding());
      scales && scales.getLayout() == ScaleLayout::tiled) {
    ArrayRef<int64_t> shape = type.getShape();
    int64_t rows = shape[shape.size() - 2], cols = shape.back();
    int64_t batchBytes = facts::scaleTileBytes(rows, cols);
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      bytes[i / (rows * cols) * batchBytes +
            facts::scaleTileOffset(i / cols % rows, i % cols, cols)] = element(i);
  } else {
    std::optional<facts::Format> format = getFormat(type.getElementType());
    unsigned bits = format ? facts::info(*format).bits : 8;
    PitchedAttr pitched = getPitched(type);
    for (int64_t i = 0, bit = 0; i < type.getNumElements(); ++i, bit += bits) {
      if (pitched && i % type.getDimSize(1) == 0)
        bit = i / type.getDimSize(1) * pitched.getBytes() * 8;
      // An element of 6 bits may straddle two bytes.
      unsigned value = element(i) << (bit % 8);
      bytes[bit / 8] |= uint8_t(value);
      if (value > 0xFF)
        bytes[bit / 8 + 1] |= uint8_t(value >> 8);
    }
  }
  auto packedType = cast<RankedTensorType>(packed(type));
  return DenseElementsAttr::get(packedType, ArrayRef<uint8_t>(bytes));
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// pack_narrow_c3: scales of our ops are encoded i8.
static LogicalResult verifyScales(Operation *op) {
  auto isEncoded = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || isPackedBytes(type) ||
           (tensor.getElementType().isInteger(8) &&
            isa_and_nonnull<ScalesAttr>(tensor.getEncoding()));
  };
  SmallVector<Type> scales;
  for (OpOperand &operand : op->getOpOperands())
    if (isScaleOperand(operand))
      scales.push_back(operand.get().getType());
  if (auto quantize = dyn_cast<QuantizeOp>(op))
    scales.push_back(quantize.getScales().getType());
  if (isa<RelayoutScalesOp, ZeroScaleTailOp>(op))
    llvm::append_range(scales, op->getResultTypes());
  for (Type type : scales)
    if (!isEncoded(type))
      return op->emitOpError("pack_narrow_c3: scales must be i8 with an encoding, got ")
             << type << "; run blockscale-normalize-scales first";
  return success();
}

/// pack_narrow_c6: bytes say how many rows there are, but tiles not how many are real.
static LogicalResult verifyDim(tensor::DimOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  if (!type || !isNarrow(type))
    return success();
  auto scales = dyn_cast_or_null<ScalesAttr>(type.getEncoding());
  bool isTiled = scales && scales.getLayout() == ScaleLayout::tiled;
  std::optional<int64_t> index = op.getConstantIndex();
  if (hasPackableShape(type) && index && *index >= 0 && *index < type.getRank() &&
      (!isTiled || !type.isDynamicDim(*index)))
    return success();
  return op.emitError() << "pack_narrow_c6: extent of a narrow tensor must be a known one, or the "
                           "rows of elements or linear scales, got one of "
                        << type;
}

static LogicalResult verifyPackable(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return verifyDim(dim);
  auto isNarrowValue = [](Value value) { return isNarrow(value.getType()); };
  SmallVector<Value> narrow =
      llvm::to_vector(llvm::make_filter_range(op->getOperands(), isNarrowValue));
  llvm::append_range(narrow, llvm::make_filter_range(op->getResults(), isNarrowValue));
  if (!isOurs(op) && !passesOnWhole(op) && !narrow.empty())
    return op->emitError() << "pack_narrow_c1: op on a narrow tensor must be one of the blockscale "
                              "dialect, got "
                           << op->getName() << " on " << narrow.front().getType();
  SmallVector<Type> types = llvm::map_to_vector(narrow, [](Value v) { return v.getType(); });
  if (auto func = dyn_cast<func::FuncOp>(op)) {
    llvm::append_range(types, func.getArgumentTypes());
    llvm::append_range(types, func.getResultTypes());
  }
  for (Type type : types)
    if (isNarrow(type) && !hasPackableShape(cast<RankedTensorType>(type)))
      return op->emitError() << "pack_narrow_c2: narrow tensor must have a static shape but for "
                                "rows, got "
                             << type;
  if (isOurs(op) && failed(verifyScales(op)))
    return failure();
  if (auto gemm = dyn_cast<GemmOp>(op); gemm && (gemm.getNibblesA() || gemm.getNibblesB()))
    return gemm.emitOpError(
        "pack_narrow_c4: nibble order must be a blockscale.swap_nibbles by now, "
        "got an attribute; run blockscale-insert-relayouts first");
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (constant && !narrow.empty() && !isa<DenseElementsAttr>(constant.getValue()))
    return constant.emitError() << "pack_narrow_c5: narrow constant must be a dense literal, got "
                                << constant.getValue().getAbstractAttribute().getName();
  return success();
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// The problem says which dimension is innermost and what is a gate, too.
template <typename Op> static void setProblem(Op op) {
  op.setProblemAttr(op.getLogicalProblem());
  op.removeMajorAAttr();
  op.removeMajorBAttr();
  op.removeGateAttr();
}

/// Puts what the types still say into attributes.
static void addPackedAttributes(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([](GemmOp op) {
        if (op.isBlockProduct())
          op.setBlockProblemAttr(op.getLogicalBlockProblem());
        else
          setProblem(op);
      })
      .Case([](CheckGemmOp op) { setProblem(op); })
      .Case([](CheckBlockGemmOp op) { op.setBlockProblemAttr(op.getLogicalBlockProblem()); })
      .Case([](TransposeChunksOp op) { op.setMatrixAttr(op.getLogicalMatrix()); })
      .Case([](DecodeScalesOp op) { op.setMatrixAttr(op.getLogicalMatrix()); })
      .Case([](QuantizeChunksOp op) {
        if (facts::isTile(op.getLogicalFormat()))
          op.setFormatAttr(BlocksAttr::get(op.getContext(), op.getLogicalFormat()));
      })
      .Case<QuantizeOp, DequantizeOp>([](auto op) { op.setBlockedAttr(op.getLogicalBlocked()); })
      .Case([](RelayoutScalesOp op) {
        ScaleMatrixAttr source = op.getLogicalSource(), target = op.getLogicalTarget();
        op.setSourceAttr(source);
        op.setTargetAttr(target);
      })
      .Case([](RepitchOp op) { op.setRowsAttr(op.getLogicalRows()); })
      .Case([](ZeroScaleTailOp op) { op.setMatrixAttr(op.getLogicalMatrix()); });
}

static void packSignature(func::FuncOp func) {
  FunctionType type = func.getFunctionType();
  for (auto [index, input] : llvm::enumerate(type.getInputs()))
    if (isNarrow(input))
      rememberArgType(func, index, input);
  for (auto [index, result] : llvm::enumerate(type.getResults()))
    if (isNarrow(result))
      rememberResultType(func, index, result);
  func.setType(
      FunctionType::get(func.getContext(), packed(type.getInputs()), packed(type.getResults())));
}

static void packTypes(Operation *op) {
  if (auto func = dyn_cast<func::FuncOp>(op))
    packSignature(func);
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (constant && isNarrow(constant.getType()))
    constant.setValueAttr(packConstant(cast<DenseElementsAttr>(constant.getValue())));
  for (Value result : op->getResults())
    result.setType(packed(result.getType()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setType(packed(argument.getType()));
}

/// The extent of a narrow tensor as a known one, or as its bytes over those of a row.
static void packDim(tensor::DimOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  OpBuilder b(op);
  Location loc = op.getLoc();
  int64_t index = *op.getConstantIndex();
  Value extent;
  if (!type.isDynamicDim(index)) {
    extent = arith::ConstantIndexOp::create(b, loc, type.getDimSize(index));
  } else {
    SmallVector<int64_t> shape(type.getShape());
    shape[index] = 1;
    auto row = RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
    Value first = arith::ConstantIndexOp::create(b, loc, 0);
    Value bytes = tensor::DimOp::create(b, loc, op.getSource(), first);
    extent =
        arith::DivUIOp::create(b, loc, bytes, arith::ConstantIndexOp::create(b, loc, bytesOf(row)));
  }
  op.replaceAllUsesWith(extent);
  op.erase();
}

/// Bytes need no other name than upstream's: those of i8 may have more dimensions. Of rows of
/// ? a part is one of `batches`.
static void packReinterpret(ReinterpretOp op, int64_t batches) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto groups = [](RankedTensorType type) {
    return SmallVector<ReassociationIndices>{
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))};
  };
  auto bytes = [](RankedTensorType type) {
    int64_t size = type.hasStaticShape() ? type.getNumElements() : kDynamicExtent;
    return RankedTensorType::get({size}, type.getElementType());
  };
  Value value = op.getSource();
  auto source = cast<RankedTensorType>(value.getType());
  auto result = cast<RankedTensorType>(op.getResult().getType());
  if (source.getRank() > 1)
    value = tensor::CollapseShapeOp::create(b, loc, bytes(source), value, groups(source));
  if (Value part = op.getPart()) {
    auto constant = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(b, loc, number);
    };
    // Rows of ? are as many in each part of a batch.
    bool isKnown = result.hasStaticShape();
    Value step =
        isKnown ? constant(result.getNumElements())
                : arith::DivUIOp::create(b, loc, tensor::DimOp::create(b, loc, value, constant(0)),
                                         constant(batches))
                      .getResult();
    OpFoldResult size = isKnown ? OpFoldResult(b.getIndexAttr(result.getNumElements())) : step;
    OpFoldResult offset = arith::MulIOp::create(b, loc, part, step).getResult();
    value = tensor::ExtractSliceOp::create(b, loc, bytes(result), value, offset, size,
                                           OpFoldResult(b.getIndexAttr(1)));
  }
  if (result.getRank() > 1)
    value = tensor::ExpandShapeOp::create(b, loc, result, value, groups(result));
  op.replaceAllUsesWith(value);
  op.erase();
}

namespace {
struct PackNarrowPass : blockscale::impl::PackNarrowBase<PackNarrowPass> {
  void runOnOperation() override {
    WalkResult checked = getOperation()->walk([](Operation *op) {
      return failed(verifyPackable(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk([](tensor::DimOp op) {
      if (isNarrow(op.getSource().getType()))
        packDim(op);
    });
    SmallVector<std::pair<ReinterpretOp, int64_t>> reinterprets;
    getOperation()->walk([&](ReinterpretOp op) {
      reinterprets.emplace_back(op, cast<ShapedType>(op.getSource().getType()).getDimSize(0));
    });
    getOperation()->walk([](Operation *op) { addPackedAttributes(op); });
    getOperation()->walk([](Operation *op) { packTypes(op); });
    for (auto [op, batches] : reinterprets)
      packReinterpret(op, batches);
  }
};
} // namespace
