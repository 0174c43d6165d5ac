//===- ImportLinalg.cpp - products written as linalg.generic --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A generic is matched by what it computes, its maps and its body, never by names. Loops
// are (batch,) m, n, k / block and block; frontends write the two reductions in either
// order, the factors too, and elements or scales as bytes that are cast.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Operands.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;

namespace blockscale {
#define GEN_PASS_DEF_IMPORTLINALG
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

static bool isZero(Value value) {
  return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_NegZeroFloat());
}

/// Whether every element of what the sums start from is zero.
static bool startsFromZero(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return isZero(fill.getInputs().front());
  return isZero(init);
}

/// A tensor of bytes, or of narrow elements without an encoding.
static bool isBytesOrNarrow(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding() &&
         (tensor.getElementType().isInteger(8) || isNarrow(tensor));
}

/// The value that holds the same bytes before casts and reshapes, which no pass of ours knows.
static Value peel(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::BitcastOp, tensor::BitcastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
            op) ||
        !isBytesOrNarrow(op->getOperand(0).getType()))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Erases those of the ops that are casts and fills that nothing uses any more, and what
/// they alone used. One op may define several operands, and be behind another.
static void eraseUnused(SetVector<Operation *> ops) {
  while (!ops.empty()) {
    Operation *op = ops.pop_back_val();
    if (!op->use_empty() ||
        !isa<arith::BitcastOp, tensor::BitcastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::EmptyOp, linalg::FillOp, arith::ConstantOp>(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp())
        ops.insert(source);
    op->erase();
  }
}

namespace {

/// One factor of the product: an operand of the generic and its scales.
struct Factor {
  OpOperand *elements = nullptr, *scales = nullptr;
  Type elementType, scaleType; // as the body reads them
  bool isBatched = false;
  facts::Major major = facts::Major::k;
};

class Importer {
public:
  Importer(linalg::GenericOp generic, bool strict)
      : generic(generic), strict(strict), b(generic), loc(generic.getLoc()) {}

  LogicalResult run() {
    if (failed(readLoops()) || failed(readBody()) || failed(readOperands()) ||
        failed(readProblem()))
      return failure();
    rewrite();
    return success();
  }

private:
  LogicalResult readLoops();
  LogicalResult checkExtents();
  LogicalResult readBody();
  LogicalResult readOperands();
  LogicalResult readOperand(StringRef what, Factor &factor, unsigned rows);
  LogicalResult readProblem();
  void rewrite();

  InFlightDiagnostic decline(StringRef label) {
    InFlightDiagnostic diag = strict ? generic.emitError() : generic.emitRemark();
    diag << label << ": ";
    return diag;
  }
  SmallVector<unsigned> dimsOf(OpOperand *operand) {
    SmallVector<unsigned> dims;
    AffineMap map = generic.getMatchingIndexingMap(operand);
    if (map.isProjectedPermutation())
      for (AffineExpr expr : map.getResults())
        dims.push_back(cast<AffineDimExpr>(expr).getPosition());
    return dims;
  }
  int64_t extent(unsigned loop) { return generic.getStaticLoopRanges()[loop]; }
  bool hasBatch() { return generic.getNumLoops() == 5; }

  std::optional<Factor> matchFactor(Value value);
  /// The value before `Op`, which is a part of the matched body.
  template <typename Op> Value before(Value value) {
    auto op = value.getDefiningOp<Op>();
    if (!op)
      return value;
    matched.insert(op);
    return op->getOperand(0);
  }
  OpOperand *operandOf(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == generic.getBody()
               ? &generic->getOpOperand(argument.getArgNumber())
               : nullptr;
  }

  /// The matrix that an operand holds, or the batch of them.
  Value matrix(const Factor &factor, OpOperand *operand, SmallVector<int64_t> shape, Type element,
               Attribute encoding) {
    if (factor.isBatched)
      shape.insert(shape.begin(), extent(parallel.front()));
    auto type = RankedTensorType::get(shape, element, encoding);
    Value source = peel(operand->get());
    return source.getType() == type ? source : ReinterpretOp::create(b, loc, type, source, Value());
  }
  Value gemm(Value addend, Value out);
  Value rowsOf(Value init);

  linalg::GenericOp generic;
  bool strict;
  OpBuilder b;
  Location loc;
  llvm::SmallPtrSet<Operation *, 8> matched; // ops of the body
  SmallVector<unsigned> parallel, reduction;
  unsigned outer = 0, inner = 0; // loops over blocks and in a block
  Factor lhs, rhs;
  ProblemAttr problem;
};

} // namespace

LogicalResult Importer::readLoops() {
  if (!generic.hasPureTensorSemantics() || generic.getNumResults() != 1 ||
      generic.getNumDpsInputs() != 4)
    return decline("import_linalg_c1")
           << "a product must have four tensors as inputs and one as "
              "result, got "
           << generic.getNumDpsInputs() << " inputs and " << generic.getNumResults() << " results";
  for (Type type : generic->getOperandTypes())
    if (!isa<RankedTensorType>(type))
      return decline("import_linalg_c1") << "operands must be tensors, got " << type;
  generic.getParallelDims(parallel);
  generic.getReductionDims(reduction);
  if ((parallel.size() != 2 && parallel.size() != 3) || reduction.size() != 2)
    return decline("import_linalg_c2") << "loops must be two or three parallel ones and two "
                                          "reductions, got "
                                       << parallel.size() << " and " << reduction.size();
  if (dimsOf(generic.getDpsInitOperand(0)) != parallel)
    return decline("import_linalg_c2")
           << "result must be indexed by the parallel loops in order, got "
           << AffineMapAttr::get(generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)));
  return checkExtents();
}

/// Of all loops that over rows may end where a launch says; then it does so for every operand.
LogicalResult Importer::checkExtents() {
  unsigned m = parallel[parallel.size() - 2];
  for (OpOperand &operand : generic->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    for (auto [i, extentOf] : llvm::enumerate(type.getShape())) {
      auto loop = dyn_cast<AffineDimExpr>(map.getResult(i));
      bool isRows = loop && loop.getPosition() == m && !hasBatch();
      if (isRows ? extentOf != extent(m) : ShapedType::isDynamic(extentOf))
        return decline("import_linalg_c1")
               << "shapes must be static but for the rows of the left side and the result, which "
                  "are so together and of no batch, got "
               << type;
    }
  }
  return success();
}

std::optional<Factor> Importer::matchFactor(Value value) {
  auto scaled = before<arith::ExtFOp>(value).getDefiningOp<arith::ScalingExtFOp>();
  if (!scaled)
    return std::nullopt;
  matched.insert(scaled);
  Factor factor;
  factor.elementType = scaled.getIn().getType();
  factor.scaleType = scaled.getScale().getType();
  factor.elements = operandOf(before<arith::BitcastOp>(scaled.getIn()));
  factor.scales = operandOf(before<arith::BitcastOp>(scaled.getScale()));
  if (!factor.elements || !factor.scales)
    return std::nullopt;
  return factor;
}

LogicalResult Importer::readBody() {
  auto refuse = [&] {
    return decline("import_linalg_c3")
           << "body must be out + scaling_extf(a, sa) * scaling_extf(b, sb) and nothing else, got "
              "another";
  };
  Value yielded = cast<linalg::YieldOp>(generic.getBody()->getTerminator()).getValues()[0];
  auto sum = yielded.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return refuse();
  OpOperand *out = generic.getDpsInitOperand(0);
  bool isFirst = operandOf(sum.getLhs()) == out;
  if (!isFirst && operandOf(sum.getRhs()) != out)
    return refuse();
  auto product =
      before<arith::ExtFOp>(isFirst ? sum.getRhs() : sum.getLhs()).getDefiningOp<arith::MulFOp>();
  if (!product)
    return refuse();
  matched.insert(sum);
  matched.insert(product);
  std::optional<Factor> first = matchFactor(product.getLhs());
  std::optional<Factor> second = matchFactor(product.getRhs());
  if (!first || !second ||
      matched.size() + 1 != llvm::range_size(generic.getBody()->getOperations()))
    return refuse();
  lhs = *first;
  rhs = *second;
  return success();
}

LogicalResult Importer::readOperand(StringRef what, Factor &factor, unsigned rows) {
  auto refuse = [&](StringRef part, OpOperand *operand) {
    return decline("import_linalg_c4")
           << "map of the " << part << " of " << what << " must be ("
           << (hasBatch() ? "batch, " : "")
           << (part == "scales" ? "rows, k / block)"
                                : "rows, k / block, block) or (k / block, block, rows)")
           << ", got " << AffineMapAttr::get(generic.getMatchingIndexingMap(operand));
  };
  SmallVector<unsigned> elements = dimsOf(factor.elements), scales = dimsOf(factor.scales);
  auto takeBatch = [&](SmallVector<unsigned> &dims) {
    bool isBatched = hasBatch() && !dims.empty() && dims.front() == parallel.front();
    if (isBatched)
      dims.erase(dims.begin());
    return isBatched;
  };
  factor.isBatched = takeBatch(elements);
  if (takeBatch(scales) != factor.isBatched || scales != SmallVector<unsigned>{rows, outer})
    return refuse("scales", factor.scales);
  if (elements == SmallVector<unsigned>{rows, outer, inner})
    factor.major = facts::Major::k;
  else if (elements == SmallVector<unsigned>{outer, inner, rows})
    factor.major = facts::Major::mn;
  else
    return refuse("elements", factor.elements);
  std::optional<facts::Format> format = getFormat(factor.elementType);
  if (!format || facts::info(*format).bits > 8)
    return decline("import_linalg_c5")
           << "elements of " << what << " must be floats of 4, 6 or 8 bits, got "
           << factor.elementType;
  if (!isa<Float8E8M0FNUType, Float8E4M3FNType>(factor.scaleType))
    return decline("import_linalg_c5")
           << "scales of " << what
           << " must be f8E8M0FNU or f8E4M3FN, since others would be rounded, got "
           << factor.scaleType;
  for (OpOperand *operand : {factor.elements, factor.scales})
    if (!isBytesOrNarrow(operand->get().getType()))
      return decline("import_linalg_c5") << "operands must be tensors of these types or of i8, got "
                                         << operand->get().getType();
  return success();
}

LogicalResult Importer::readOperands() {
  unsigned m = parallel[parallel.size() - 2], n = parallel.back();
  if (!llvm::is_contained(dimsOf(lhs.elements), m))
    std::swap(lhs, rhs);
  // The loop over blocks is the one that scales know.
  outer = llvm::is_contained(dimsOf(lhs.scales), reduction[0]) ? reduction[0] : reduction[1];
  inner = outer == reduction[0] ? reduction[1] : reduction[0];
  if (failed(readOperand("the left side", lhs, m)) || failed(readOperand("the right side", rhs, n)))
    return failure();
  if (hasBatch() && !lhs.isBatched)
    return decline("import_linalg_c4")
           << "the left side must have the batch, got "
           << AffineMapAttr::get(generic.getMatchingIndexingMap(lhs.elements));
  return success();
}

LogicalResult Importer::readProblem() {
  MLIRContext *context = generic.getContext();
  auto scaleFormat = [](Type type) {
    return isa<Float8E8M0FNUType>(type) ? facts::ScaleFormat::ue8m0 : facts::ScaleFormat::ue4m3;
  };
  Type out = cast<ShapedType>(generic.getResult(0).getType()).getElementType();
  std::optional<facts::Format> outFormat = getFormat(out);
  if (!outFormat || cast<RankedTensorType>(generic.getResult(0).getType()).getEncoding())
    return decline("import_linalg_c6") << "result must be f32, f16 or bf16, got " << out;
  if (lhs.scaleType != rhs.scaleType)
    return decline("import_linalg_c6") << "scales of both sides must have one format, got "
                                       << lhs.scaleType << " and " << rhs.scaleType;
  int64_t m = extent(parallel[parallel.size() - 2]), n = extent(parallel.back());
  problem = ProblemAttr::get(context, m, n, extent(outer) * extent(inner),
                             *getFormat(lhs.elementType), *getFormat(rhs.elementType),
                             scaleFormat(lhs.scaleType), extent(inner), facts::ScaleLayout::linear,
                             facts::ScaleLayout::linear, *outFormat, lhs.major, rhs.major,
                             /*pitch_a=*/0, /*pitch_b=*/0, QuantizedAttr(), GateAttr(),
                             /*batches=*/1, /*shared_b=*/false);
  return verifyProblem(problem, [&] {
    InFlightDiagnostic diag = decline("import_linalg_c6");
    diag << "product must be one that blockscale.gemm takes: ";
    return diag;
  });
}

Value Importer::gemm(Value addend, Value out) {
  MLIRContext *context = generic.getContext();
  int64_t m = problem.getM(), n = problem.getN(), k = problem.getK();
  int64_t perRow = problem.getScalesPerRow();
  Type byte = IntegerType::get(context, 8);
  auto linear = ScalesAttr::get(context, problem.getScale(), facts::ScaleLayout::linear);
  auto shape = [&](facts::Major major, int64_t rows) {
    return major == facts::Major::k ? SmallVector<int64_t>{rows, k} : SmallVector<int64_t>{k, rows};
  };
  auto majorAttr = [&](facts::Major major) {
    return major == facts::Major::k ? MajorAttr() : MajorAttr::get(context, major);
  };
  Value a = matrix(lhs, lhs.elements, shape(lhs.major, m), lhs.elementType, {});
  Value sfa = matrix(lhs, lhs.scales, {m, perRow}, byte, linear);
  Value bOperand = matrix(rhs, rhs.elements, shape(rhs.major, n), rhs.elementType, {});
  Value sfb = matrix(rhs, rhs.scales, {n, perRow}, byte, linear);
  auto product = GemmOp::create(b, loc, out.getType(), a, sfa, bOperand, sfb, /*alpha=*/Value(),
                                /*alpha_rows=*/Value(), /*alpha_columns=*/Value(), /*bias=*/Value(),
                                /*beta=*/Value(), addend, /*global=*/Value(),
                                /*norm_const=*/Value(), out, ProblemAttr(), ScheduleAttr(),
                                NibblesAttr(), NibblesAttr(), majorAttr(lhs.major),
                                majorAttr(rhs.major), BlockProblemAttr(), WarpScheduleAttr(),
                                ContractAttr(), WgmmaScheduleAttr(), ActivationAttr(), GateAttr());
  return product.getResult();
}

/// The number of rows, not by way of what is erased.
Value Importer::rowsOf(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getOutputs().front();
  if (auto empty = init.getDefiningOp<tensor::EmptyOp>())
    return empty.getDynamicSizes().front();
  return tensor::DimOp::create(b, loc, init, 0);
}

void Importer::rewrite() {
  SetVector<Operation *> sources;
  for (Value operand : generic->getOperands())
    if (Operation *source = operand.getDefiningOp())
      sources.insert(source);
  Value init = generic.getDpsInitOperand(0)->get();
  Value addend = startsFromZero(init) ? Value() : init;
  auto type = cast<RankedTensorType>(generic.getResult(0).getType());
  SmallVector<Value> sizes;
  if (!type.hasStaticShape())
    sizes.push_back(rowsOf(init));
  Value out = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType(), sizes);
  generic.getResult(0).replaceAllUsesWith(gemm(addend, out));
  generic.erase();
  eraseUnused(std::move(sources));
}

namespace {
struct ImportLinalgPass : blockscale::impl::ImportLinalgBase<ImportLinalgPass> {
  using ImportLinalgBase::ImportLinalgBase;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> candidates;
    getOperation()->walk([&](linalg::GenericOp generic) {
      if (!generic.getBody()->getOps<arith::ScalingExtFOp>().empty())
        candidates.push_back(generic);
    });
    for (linalg::GenericOp generic : candidates)
      if (failed(Importer(generic, strict).run()) && strict)
        return signalPassFailure();
  }
};
} // namespace
