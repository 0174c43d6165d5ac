//===- ExpandBatches.cpp - a batch of products becomes products -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch multiplies a batch whose rows TMA can fetch where they are; other rows are copied for
// one product after another. Scales of each batch are padded by themselves, so that a part of any
// operand is what one product takes, without a copy.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Batches.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Facts/TensorMap.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace blockscale;

namespace blockscale {
#define GEN_PASS_DEF_EXPANDBATCHES
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

static RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

/// The product on other matrices; what all batches share stays.
static Value createProduct(OpBuilder &b, GemmOp gemm, Value a, Value sfa, Value bOperand, Value sfb,
                           Value c, Value out) {
  return GemmOp::create(b, gemm.getLoc(), out.getType(), a, sfa, bOperand, sfb, gemm.getAlpha(),
                        /*alpha_rows=*/Value(), gemm.getAlphaColumns(), gemm.getBias(),
                        gemm.getBeta(), c, /*global=*/Value(), /*norm_const=*/Value(), out,
                        ProblemAttr(), ScheduleAttr(), gemm.getNibblesA(), gemm.getNibblesB(),
                        gemm.getMajorA(), gemm.getMajorB(), BlockProblemAttr(), WarpScheduleAttr(),
                        ContractAttr(), WgmmaScheduleAttr(), gemm.getActivationAttr(),
                        gemm.getGateAttr())
      .getResult();
}

/// Whether all rows of A are those of one product: B is shared, and rows of all batches lie
/// one after the other.
static bool isOneProduct(GemmOp gemm) {
  auto scales = getScalesEncoding(gemm.getSfa().getType());
  bool isKMajor = !gemm.getMajorA() || gemm.getMajorA().getValue() == facts::Major::k;
  return isKMajor && scales.getLayout() == facts::ScaleLayout::linear &&
         cast<ShapedType>(gemm.getB().getType()).getRank() == 2;
}

/// Whether TMA can fetch the rows of both operands where they are, whatever the chip; an m that a
/// launch says is checked there.
static bool isFetched(GemmOp gemm) {
  ProblemAttr problem = gemm.getLogicalProblem();
  constexpr facts::TmaTypeInfo plain = facts::info(facts::TmaType::u8),
                               padded = facts::info(facts::TmaType::u4Align16);
  bool mayBePadded = facts::productKind(problem.getFormats()) == facts::MmaKind::mxf8f6f4;
  auto isPlain = [&](facts::Format format, int64_t pitch) {
    return (isDynamic(pitch) || pitch % plain.alignment == 0) &&
           (!mayBePadded || facts::info(format).bits == 8 || problem.getK() % padded.dimStep == 0);
  };
  return isPlain(problem.getA(), problem.getRowPitchA()) &&
         isPlain(problem.getB(), problem.getRowPitchB());
}

static Value foldBatch(OpBuilder &b, GemmOp gemm) {
  SmallVector<ReassociationIndices> groups{{0, 1}, {2}};
  Location loc = gemm.getLoc();
  auto flatten = [&](Value value) -> RankedTensorType {
    ArrayRef<int64_t> shape = cast<ShapedType>(value.getType()).getShape();
    int64_t rows = isDynamic(shape[1]) ? kDynamicExtent : shape[0] * shape[1];
    return withShape(value, {rows, shape[2]});
  };
  auto bytes = [&](Value value) -> Value {
    return ReinterpretOp::create(b, loc, flatten(value), value, Value());
  };
  auto rows = [&](Value value) -> Value {
    return tensor::CollapseShapeOp::create(b, loc, flatten(value), value, groups);
  };
  Value c = gemm.getC() ? rows(gemm.getC()) : Value();
  Value d = createProduct(b, gemm, bytes(gemm.getA()), bytes(gemm.getSfa()), gemm.getB(),
                          gemm.getSfb(), c, rows(gemm.getOut()));
  return tensor::ExpandShapeOp::create(b, loc, gemm.getOut().getType(), d, groups,
                                       tensor::getMixedSizes(b, loc, gemm.getOut()));
}

static Value loopOverBatch(OpBuilder &b, GemmOp gemm) {
  Location loc = gemm.getLoc();
  ArrayRef<int64_t> shape = cast<ShapedType>(gemm.getOut().getType()).getShape();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, gemm.getOut());
  sizes[0] = b.getIndexAttr(1);
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(shape[0]), constant(1),
                                 ValueRange{gemm.getOut()});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value batch = loop.getInductionVar(), whole = loop.getRegionIterArg(0);
  SmallVector<OpFoldResult> offsets{batch, b.getIndexAttr(0), b.getIndexAttr(0)};
  SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
  auto slice = [&](Value of) -> Value {
    return tensor::ExtractSliceOp::create(b, loc, withShape(of, shape.drop_front()), of, offsets,
                                          sizes, strides);
  };
  auto part = [&](Value of) -> Value {
    auto type = cast<RankedTensorType>(of.getType());
    if (type.getRank() == 2)
      return of;
    return ReinterpretOp::create(b, loc, withShape(of, type.getShape().drop_front()), of, batch);
  };
  Value out = slice(whole);
  Value c = gemm.getC() ? slice(gemm.getC()) : Value();
  Value d = createProduct(b, gemm, part(gemm.getA()), part(gemm.getSfa()), part(gemm.getB()),
                          part(gemm.getSfb()), c, out);
  Value next = tensor::InsertSliceOp::create(b, loc, d, whole, offsets, sizes, strides);
  scf::YieldOp::create(b, loc, next);
  return loop.getResult(0);
}

static bool isOneLaunch(GemmOp gemm) {
  return gemm.getLogicalProblem().isBatch() && isFetched(gemm);
}

/// Whether the result has no elements, so that out is one as good as any.
static bool isEmpty(GemmOp gemm) {
  auto out = dyn_cast<RankedTensorType>(gemm.getOut().getType());
  return out && !gemm.isBlockProduct() && llvm::is_contained(out.getShape(), 0);
}

namespace {
struct ExpandBatchesPass : blockscale::impl::ExpandBatchesBase<ExpandBatchesPass> {
  void runOnOperation() override {
    SmallVector<GemmOp> products;
    getOperation()->walk([&](GemmOp gemm) {
      if (isEmpty(gemm) || (hasBatch(gemm) && (isOneProduct(gemm) || !isOneLaunch(gemm))))
        products.push_back(gemm);
    });
    for (GemmOp gemm : products) {
      OpBuilder b(gemm);
      if (isEmpty(gemm))
        gemm.replaceAllUsesWith(gemm.getOuts());
      else
        gemm.getResult().replaceAllUsesWith(isOneProduct(gemm) ? foldBatch(b, gemm)
                                                               : loopOverBatch(b, gemm));
      gemm.erase();
    }
  }
};
} // namespace
