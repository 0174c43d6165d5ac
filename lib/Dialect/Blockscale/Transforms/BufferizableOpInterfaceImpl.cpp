//===- BufferizableOpInterfaceImpl.cpp - problem ops on buffers -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gemm writes into its destination, zero_scale_tail into its operand; quantize,
// dequantize, relayout_scales, repitch and swap_nibbles make new buffers.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Facts/ScaleTile.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace blockscale;

/// The operand as a buffer; scalars and absent operands stay what they are.
static FailureOr<Value> bufferOf(RewriterBase &rewriter, Value value,
                                 const BufferizationOptions &options, BufferizationState &state) {
  if (!value || !isa<TensorType>(value.getType()))
    return value;
  return getBuffer(rewriter, value, options, state);
}

static FailureOr<SmallVector<Value>> buffersOf(RewriterBase &rewriter, ValueRange values,
                                               const BufferizationOptions &options,
                                               BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value value : values) {
    FailureOr<Value> buffer = bufferOf(rewriter, value, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return buffers;
}

static MemRefType contiguous(Type tensor) {
  auto shaped = cast<RankedTensorType>(tensor);
  return MemRefType::get(shaped.getShape(), shaped.getElementType());
}

namespace {

struct GemmModel : DstBufferizableOpInterfaceExternalModel<GemmModel, GemmOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<GemmOp>(op).isDpsInit(&operand); // what out held is overwritten
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto gemm = cast<GemmOp>(op);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> buffers =
        buffersOf(rewriter,
                  {gemm.getA(), gemm.getSfa(), gemm.getB(), gemm.getSfb(), gemm.getAlpha(),
                   gemm.getAlphaRows(), gemm.getAlphaColumns(), gemm.getBias(), gemm.getBeta(),
                   gemm.getC(), gemm.getGlobal(), gemm.getNormConst()},
                  options, state);
    FailureOr<SmallVector<Value>> outs = buffersOf(rewriter, gemm.getOuts(), options, state);
    if (failed(buffers) || failed(outs))
      return failure();
    ArrayRef<Value> v = *buffers;
    GemmOp::create(rewriter, op->getLoc(), /*results=*/TypeRange(), v[0], v[1], v[2], v[3], v[4],
                   v[5], v[6], v[7], v[8], v[9], v[10], v[11], *outs, gemm.getProblem(),
                   gemm.getSchedule(), gemm.getNibblesA(), gemm.getNibblesB(), gemm.getMajorA(),
                   gemm.getMajorB(), gemm.getBlockProblem(), gemm.getWarpSchedule(),
                   gemm.getContract(), gemm.getWgmmaSchedule(), gemm.getActivationAttr(),
                   gemm.getGateAttr())
        ->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replaceOpWithBufferizedValues(rewriter, op,
                                  gemm.getResult() ? ValueRange(*outs) : ValueRange());
    return success();
  }
};

/// An op that reads its operands, writes none of them and aliases none.
template <typename Model, typename Op>
struct ReadingModel : BufferizableOpInterface::ExternalModel<Model, Op> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &, const AnalysisState &) const {
    return {};
  }
};

struct CheckGemmModel : ReadingModel<CheckGemmModel, CheckGemmOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto check = cast<CheckGemmOp>(op);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> buffers = buffersOf(
        rewriter,
        {check.getA(), check.getSfa(), check.getB(), check.getSfb(), check.getAlpha(),
         check.getAlphaRows(), check.getAlphaColumns(), check.getBias(), check.getBeta(),
         check.getC(), check.getGlobal(), check.getNormConst(), check.getD(), check.getDScales()},
        options, state);
    if (failed(buffers))
      return failure();
    ArrayRef<Value> v = *buffers;
    CheckGemmOp::create(rewriter, op->getLoc(), v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7],
                        v[8], v[9], v[10], v[11], v[12], v[13], check.getNameAttr(),
                        check.getSchedule(), check.getProblem(), check.getMajorA(),
                        check.getMajorB(), check.getActivationAttr(), check.getGateAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

struct CheckBlockGemmModel : ReadingModel<CheckBlockGemmModel, CheckBlockGemmOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto check = cast<CheckBlockGemmOp>(op);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> buffers =
        buffersOf(rewriter, {check.getA(), check.getB(), check.getD()}, options, state);
    if (failed(buffers))
      return failure();
    ArrayRef<Value> v = *buffers;
    CheckBlockGemmOp::create(rewriter, op->getLoc(), v[0], v[1], v[2], check.getNameAttr(),
                             check.getBlockProblem());
    rewriter.eraseOp(op);
    return success();
  }
};

void createOnBuffers(QuantizeChunksOp op, RewriterBase &rewriter, ValueRange in, ValueRange out) {
  QuantizeChunksOp::create(rewriter, op.getLoc(), Type(), in[0], out[0], op.getSchedule(),
                           op.getFormat());
}
void createOnBuffers(TransposeChunksOp op, RewriterBase &rewriter, ValueRange in, ValueRange out) {
  TransposeChunksOp::create(rewriter, op.getLoc(), Type(), in[0], out[0], op.getMatrix());
}
void createOnBuffers(DecodeScalesOp op, RewriterBase &rewriter, ValueRange in, ValueRange out) {
  DecodeScalesOp::create(rewriter, op.getLoc(), Type(), in[0], out[0], op.getMatrix());
}
void createOnBuffers(QuantizeOp op, RewriterBase &rewriter, ValueRange in, ValueRange out) {
  QuantizeOp::create(rewriter, op.getLoc(), TypeRange(), in[0], op.getGiven() ? in[1] : Value(),
                     out, op.getBlocked(), op.getSchedule());
}
void createOnBuffers(DequantizeOp op, RewriterBase &rewriter, ValueRange in, ValueRange out) {
  DequantizeOp::create(rewriter, op.getLoc(), Type(), in[0], in[1],
                       op.getGlobal() ? in[2] : Value(), out[0], op.getBlocked());
}
void createOnBuffers(RelayoutScalesOp op, RewriterBase &rewriter, ValueRange in, ValueRange out) {
  RelayoutScalesOp::create(rewriter, op.getLoc(), Type(), in[0], out[0], op.getSource(),
                           op.getTarget());
}
void createOnBuffers(RepitchOp op, RewriterBase &rewriter, ValueRange in, ValueRange out) {
  RepitchOp::create(rewriter, op.getLoc(), Type(), in[0], out[0], op.getRows());
}
void createOnBuffers(SwapNibblesOp op, RewriterBase &rewriter, ValueRange in, ValueRange out) {
  SwapNibblesOp::create(rewriter, op.getLoc(), Type(), in[0], out[0]);
}

/// The extent of a result that a launch says, from that of the source, by result.
class DynamicExtents {
public:
  DynamicExtents(RewriterBase &b, Location loc, Value source) : b(b), loc(loc), source(source) {}

  Value of(Operation *, unsigned) { return extent(); } // as many bytes
  Value of(RelayoutScalesOp op, unsigned) {
    Value rows = over(extent(), op.getSource().withRows(1).getBytes());
    return bytes(rows, op.getTarget().getLayout(), op.getTarget().withRows(1).getBytes());
  }
  Value of(RepitchOp op, unsigned) {
    Value rows = over(extent(), op.getRows().getFrom());
    return bytes(rows, facts::ScaleLayout::linear, op.getRows().getTo());
  }
  Value of(QuantizeOp op, unsigned result) {
    BlockedAttr one = op.getBlocked().withRows(1);
    return result == 0 ? bytes(extent(), facts::ScaleLayout::linear, one.getElementBytes())
                       : bytes(extent(), one.getLayout(), one.getScaleBytes());
  }
  Value of(DequantizeOp op, unsigned) {
    return over(extent(), op.getBlocked().withRows(1).getElementBytes());
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value extent() { return memref::DimOp::create(b, loc, source, 0); }
  Value over(Value value, int64_t divisor) {
    return arith::DivUIOp::create(b, loc, value, constant(divisor));
  }
  /// Of rows, or of the tiles that hold them.
  Value bytes(Value rows, facts::ScaleLayout layout, int64_t each) {
    if (layout == facts::ScaleLayout::tiled)
      rows = arith::CeilDivUIOp::create(b, loc, rows, constant(facts::kScaleTileRows));
    return arith::MulIOp::create(b, loc, rows, constant(each));
  }

  RewriterBase &b;
  Location loc;
  Value source;
};

/// Ops that read all operands and put every result into a new buffer.
template <typename OpTy> struct CopyModel : ReadingModel<CopyModel<OpTy>, OpTy> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  bool resultBufferizesToMemoryWrite(Operation *, OpResult, const AnalysisState &) const {
    return true;
  }

  FailureOr<BufferLikeType> getBufferType(Operation *, Value value, const BufferizationOptions &,
                                          const BufferizationState &, SmallVector<Value> &) const {
    return cast<BufferLikeType>(contiguous(value.getType()));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> inputs = buffersOf(rewriter, op->getOperands(), options, state);
    if (failed(inputs))
      return failure();
    SmallVector<Value> outs;
    DynamicExtents extents(rewriter, op->getLoc(), inputs->front());
    for (auto [index, type] : llvm::enumerate(op->getResultTypes())) {
      SmallVector<Value> sizes;
      if (!cast<ShapedType>(type).hasStaticShape())
        sizes.push_back(extents.of(cast<OpTy>(op), unsigned(index)));
      FailureOr<Value> out = options.createAlloc(rewriter, op->getLoc(), contiguous(type), sizes);
      if (failed(out))
        return failure();
      outs.push_back(*out);
    }
    createOnBuffers(cast<OpTy>(op), rewriter, *inputs, outs);
    replaceOpWithBufferizedValues(rewriter, op, outs);
    return success();
  }
};

struct ZeroScaleTailModel
    : BufferizableOpInterface::ExternalModel<ZeroScaleTailModel, ZeroScaleTailOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const {
    return true; // the real columns stay
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const {
    return true;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &, const AnalysisState &) const {
    return {{op->getResult(0), BufferRelation::Equivalent}};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto zero = cast<ZeroScaleTailOp>(op);
    rewriter.setInsertionPoint(op);
    FailureOr<Value> buffer = bufferOf(rewriter, zero.getScales(), options, state);
    if (failed(buffer))
      return failure();
    ZeroScaleTailOp::create(rewriter, op->getLoc(), Type(), *buffer, zero.getMatrix());
    replaceOpWithBufferizedValues(rewriter, op, *buffer);
    return success();
  }
};

} // namespace

void blockscale::registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, BlockscaleDialect *) {
    GemmOp::attachInterface<GemmModel>(*context);
    CheckGemmOp::attachInterface<CheckGemmModel>(*context);
    CheckBlockGemmOp::attachInterface<CheckBlockGemmModel>(*context);
    QuantizeChunksOp::attachInterface<CopyModel<QuantizeChunksOp>>(*context);
    TransposeChunksOp::attachInterface<CopyModel<TransposeChunksOp>>(*context);
    DecodeScalesOp::attachInterface<CopyModel<DecodeScalesOp>>(*context);
    QuantizeOp::attachInterface<CopyModel<QuantizeOp>>(*context);
    DequantizeOp::attachInterface<CopyModel<DequantizeOp>>(*context);
    RelayoutScalesOp::attachInterface<CopyModel<RelayoutScalesOp>>(*context);
    RepitchOp::attachInterface<CopyModel<RepitchOp>>(*context);
    SwapNibblesOp::attachInterface<CopyModel<SwapNibblesOp>>(*context);
    ZeroScaleTailOp::attachInterface<ZeroScaleTailModel>(*context);
  });
}
