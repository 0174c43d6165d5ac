//===- ConvertBlockscaleHostToLLVM.cpp - host ops become runtime calls ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call for each op, or a short sequence where an op has a list (dimensions
// of a map, parameters of a launch), so that host code needs no structs.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/Host/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"
#include "blockscale/Facts/ScaleTile.h"

#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace blockscale {
#define GEN_PASS_DEF_CONVERTBLOCKSCALEHOSTTOLLVMPASS
#include "blockscale/Conversion/Host/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {

/// Makes runtime calls at one op: constants, pointers of memrefs, strings.
class Calls {
public:
  Calls(ConversionPatternRewriter &rewriter, Operation *op)
      : b(rewriter), loc(op->getLoc()), module(getHostModule(op)) {}

  /// The module that host functions are in, not one nested in it.
  static ModuleOp getHostModule(Operation *op) { return op->getParentOfType<ModuleOp>(); }

  Value i64(int64_t value) { return LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
  Value i32(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
  }
  template <typename E> Value code(E value) { return i32(int64_t(value)); }
  Value null() { return LLVM::ZeroOp::create(b, loc, pointerType()); }

  /// Address of the first element of a contiguous memref.
  Value pointer(Value memref) {
    Value index = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref);
    Value address = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    auto type = cast<MemRefType>(memref.getType());
    if (!type.getLayout().isIdentity()) {
      auto parts = memref::ExtractStridedMetadataOp::create(b, loc, memref);
      Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), parts.getOffset());
      offset = LLVM::MulOp::create(b, loc, offset, i64(type.getElementTypeBitWidth() / 8));
      address = LLVM::AddOp::create(b, loc, address, offset);
    }
    return LLVM::IntToPtrOp::create(b, loc, pointerType(), address);
  }
  Value pointerOrNull(Value memref) { return memref ? pointer(memref) : null(); }

  /// A scalar, given as a value or in a memref of rank 0; 1 when absent.
  Value f32(Value value) {
    if (!value)
      return LLVM::ConstantOp::create(b, loc, b.getF32FloatAttr(1.0f));
    if (isa<MemRefType>(value.getType()))
      return memref::LoadOp::create(b, loc, value, ValueRange{});
    return value;
  }

  Value reciprocal(Value value) {
    Value one = LLVM::ConstantOp::create(b, loc, b.getF32FloatAttr(1.0f));
    return LLVM::FDivOp::create(b, loc, one, value);
  }

  /// A size as the runtime takes it.
  Value size(Value index) { return arith::IndexCastOp::create(b, loc, b.getI64Type(), index); }
  Value extent(Value memref, int64_t dimension) {
    return size(memref::DimOp::create(b, loc, memref, dimension));
  }
  Value times(Value a, Value c) { return LLVM::MulOp::create(b, loc, a, c); }
  Value dividedBy(Value a, Value c) { return LLVM::UDivOp::create(b, loc, a, c); }

  /// Bytes of a memref; dimensions may be dynamic.
  Value bytes(Value memref) {
    auto type = cast<MemRefType>(memref.getType());
    int64_t bits = type.getElementTypeBitWidth();
    Value count;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i)) {
        bits *= type.getDimSize(i);
        continue;
      }
      Value dim = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                             memref::DimOp::create(b, loc, memref, i));
      count = count ? LLVM::MulOp::create(b, loc, count, dim).getResult() : dim;
    }
    Value whole = i64(bits / 8);
    return count ? LLVM::MulOp::create(b, loc, count, whole).getResult() : whole;
  }

  void copyBytes(Value source, Value target) {
    LLVM::MemcpyOp::create(b, loc, pointer(target), pointer(source), bytes(source),
                           /*isVolatile=*/false);
  }

  /// A string that ends with zero, one global for each text.
  Value string(StringRef text) {
    std::string name = "bsrt_string_" + text.str();
    auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
    if (!global) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      SmallString<32> value(text);
      value.push_back('\0');
      auto type = LLVM::LLVMArrayType::get(b.getI8Type(), value.size());
      global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                      name, b.getStringAttr(value));
    }
    return LLVM::AddressOfOp::create(b, loc, global);
  }

  Value call(StringRef name, ValueRange arguments, Type result = {}) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!function) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      Type returned = result ? result : LLVM::LLVMVoidType::get(b.getContext());
      auto type = LLVM::LLVMFunctionType::get(returned, llvm::to_vector(arguments.getTypes()));
      function = LLVM::LLVMFuncOp::create(b, loc, name, type);
    }
    auto made = LLVM::CallOp::create(b, loc, function, arguments);
    return result ? made.getResult() : Value();
  }
  Type i64Type() { return b.getI64Type(); }

private:
  LLVM::LLVMPointerType pointerType() { return LLVM::LLVMPointerType::get(b.getContext()); }

  ConversionPatternRewriter &b;
  Location loc;
  ModuleOp module;
};

/// A pattern made of one function that emits the calls and gives the value that
/// stands for the op's result, if it has one.
template <typename OpT> class CallPattern : public OpConversionPattern<OpT> {
public:
  using Adaptor = typename OpT::Adaptor;
  using Function = Value (*)(OpT, Adaptor, Calls &);
  CallPattern(const TypeConverter &converter, MLIRContext *context, Function function)
      : OpConversionPattern<OpT>(converter, context), function(function) {}

  LogicalResult matchAndRewrite(OpT op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    for (Value operand : op->getOperands()) {
      if (isa<TensorType>(operand.getType()))
        return rewriter.notifyMatchFailure(op, "operands must be memrefs, not tensors");
      if (auto type = dyn_cast<MemRefType>(operand.getType()))
        if (!isContiguous(type))
          return rewriter.notifyMatchFailure(op, "memrefs must be contiguous");
    }
    Calls calls(rewriter, op);
    if (Value result = function(op, adaptor, calls))
      rewriter.replaceOp(op, result);
    else
      rewriter.eraseOp(op);
    return success();
  }

private:
  Function function;
};

//===----------------------------------------------------------------------===//
// Host ops
//===----------------------------------------------------------------------===//

Value lowerAlloc(AllocOp op, AllocOp::Adaptor, Calls &calls) {
  Value bytes = calls.i64(op.getBytes());
  if (op.getCount())
    bytes = calls.times(calls.size(op.getCount()), bytes);
  return calls.call("bsrt_call_alloc", bytes, calls.i64Type());
}

Value lowerSize(SizeOp op, SizeOp::Adaptor, Calls &calls) {
  calls.call("bsrt_call_check_size", {calls.string(op.getName()), calls.size(op.getValue()),
                                      calls.i64(int64_t(op.getMost()))});
  return op.getValue();
}

Value lowerRequireBytes(RequireBytesOp op, RequireBytesOp::Adaptor, Calls &calls) {
  Value want = calls.times(calls.size(op.getCount()), calls.i64(int64_t(op.getBytes())));
  return calls.call("bsrt_call_require_bytes",
                    {calls.string(op.getName()), calls.bytes(op.getMemory()), want});
}

Value lowerFree(FreeOp, FreeOp::Adaptor adaptor, Calls &calls) {
  return calls.call("bsrt_call_free", adaptor.getBuffer());
}

Value lowerCopy(CopyOp op, CopyOp::Adaptor adaptor, Calls &calls) {
  if (isa<MemRefType>(op.getSource().getType()))
    return calls.call(
        "bsrt_call_copy_to_device",
        {calls.pointer(adaptor.getSource()), adaptor.getTarget(), calls.bytes(op.getSource())});
  return calls.call(
      "bsrt_call_copy_to_host",
      {adaptor.getSource(), calls.pointer(adaptor.getTarget()), calls.bytes(op.getTarget())});
}

/// Upstream knows copies of static shapes and of identity layouts, and asks its own runtime for
/// the rest: parts of a batch whose rows are ? are contiguous, too.
bool isUpstreams(memref::CopyOp op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return !memref || memref.hasStaticShape() || !isContiguous(memref);
  });
}

Value lowerHostCopy(memref::CopyOp op, memref::CopyOp::Adaptor, Calls &calls) {
  calls.copyBytes(op.getSource(), op.getTarget());
  return Value();
}

Value lowerTensorMap(TensorMapOp op, TensorMapOp::Adaptor adaptor, Calls &calls) {
  TmaMapAttr map = op.getMap();
  calls.call("bsrt_call_map_begin",
             {adaptor.getBuffer(), calls.code(map.getType()), calls.code(map.getSwizzle()),
              calls.code(map.getFill()), calls.code(map.getL2())});
  // Sizes of dimensions, then of strides.
  auto sizes = op.getSizes().begin(), strides = sizes + llvm::count(map.getDims(), kDynamicExtent);
  for (size_t i = 0; i < map.getDims().size(); ++i) {
    int64_t dim = map.getDims()[i];
    Value size = isDynamic(dim) ? calls.size(*sizes++) : calls.i64(dim);
    int64_t stride = i == 0 ? 0 : map.getStrides()[i - 1];
    Value step = isDynamic(stride) ? calls.size(*strides++) : calls.i64(stride);
    int64_t elementStride = map.getElementStrides().empty() ? 1 : map.getElementStrides()[i];
    calls.call("bsrt_call_map_dim",
               {size, step, calls.i32(map.getBox()[i]), calls.i32(elementStride)});
  }
  return calls.call("bsrt_call_map_end", {}, calls.i64Type());
}

StringRef paramCall(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case<TensorMapType>([](auto) { return "bsrt_call_param_map"; })
      .Case<BufferType>([](auto) { return "bsrt_call_param_buffer"; })
      .Case<Float32Type>([](auto) { return "bsrt_call_param_f32"; })
      .Default([](auto) { return "bsrt_call_param_i32"; });
}

Value lowerLaunch(LaunchOp op, LaunchOp::Adaptor adaptor, Calls &calls) {
  calls.call("bsrt_call_launch_begin", {calls.string(op.getKernel().getRootReference()),
                                        calls.string(op.getKernel().getLeafReference())});
  for (auto [param, value] : llvm::zip_equal(op.getParams(), adaptor.getParams()))
    calls.call(paramCall(param.getType()), value);
  SmallVector<Value> arguments;
  auto sizes = op.getGridSizes().begin();
  for (ArrayRef<int64_t> dims : {op.getGrid(), op.getBlock(), op.getCluster()})
    for (int64_t dim : dims)
      arguments.push_back(isDynamic(dim) ? calls.size(*sizes++) : calls.i64(dim));
  arguments.push_back(calls.i64(op.getSharedBytes()));
  arguments.push_back(calls.i32(op.getOversized()));
  return calls.call("bsrt_call_launch", arguments);
}

//===----------------------------------------------------------------------===//
// References on the host
//===----------------------------------------------------------------------===//

/// Arguments of a bsrt_blocks, in order; a launch says the rows of `wide`.
SmallVector<Value> blockArguments(BlockedAttr blocked, Value wide, Calls &calls) {
  Value rows = isDynamic(blocked.getRows()) ? calls.extent(wide, 0) : calls.i64(blocked.getRows());
  return {rows,
          calls.i64(blocked.getK()),
          calls.code(blocked.getElement()),
          calls.code(blocked.getScale()),
          calls.i32(blocked.getBlock()),
          calls.code(blocked.getLayout())};
}

facts::Format sourceFormat(Type elementType) {
  if (elementType.isF32())
    return facts::Format::f32;
  return elementType.isBF16() ? facts::Format::bf16 : facts::Format::f16;
}

Value lowerQuantize(QuantizeOp op, QuantizeOp::Adaptor, Calls &calls) {
  SmallVector<Value> arguments = blockArguments(op.getLogicalBlocked(), op.getX(), calls);
  Type elementType = cast<MemRefType>(op.getX().getType()).getElementType();
  arguments.push_back(calls.code(sourceFormat(elementType)));
  arguments.push_back(calls.pointer(op.getX()));
  arguments.push_back(calls.pointer(op.getElements()));
  arguments.push_back(calls.pointer(op.getScales()));
  arguments.push_back(calls.i32(bool(op.getGiven())));
  arguments.push_back(calls.pointerOrNull(op.getGiven() ? op.getGiven() : op.getGlobal()));
  return calls.call("bsrt_call_quantize", arguments);
}

Value lowerDequantize(DequantizeOp op, DequantizeOp::Adaptor, Calls &calls) {
  SmallVector<Value> arguments = blockArguments(op.getLogicalBlocked(), op.getOut(), calls);
  arguments.push_back(calls.pointer(op.getElements()));
  arguments.push_back(calls.pointer(op.getScales()));
  arguments.push_back(calls.f32(op.getGlobal()));
  arguments.push_back(calls.pointer(op.getOut()));
  return calls.call("bsrt_call_dequantize", arguments);
}

/// Rows of scales that are held as bytes; of tiled ones with those of the padding.
Value scaleRows(ScaleMatrixAttr matrix, Value memory, Calls &calls) {
  if (!isDynamic(matrix.getRows()))
    return calls.i64(matrix.getRows());
  int64_t bytes = matrix.withRows(1).getBytes();
  Value count = calls.dividedBy(calls.bytes(memory), calls.i64(bytes));
  return matrix.getLayout() == facts::ScaleLayout::tiled
             ? calls.times(count, calls.i64(facts::kScaleTileRows))
             : count;
}

Value lowerRelayoutScales(RelayoutScalesOp op, RelayoutScalesOp::Adaptor, Calls &calls) {
  ScaleMatrixAttr source = op.getLogicalSource(), target = op.getLogicalTarget();
  return calls.call("bsrt_call_relayout_scales",
                    {calls.code(source.getFormat()), calls.i64(source.getBatches()),
                     scaleRows(source, op.getScales(), calls), calls.i64(source.getCols()),
                     calls.code(source.getLayout()), calls.pointer(op.getScales()),
                     calls.code(target.getLayout()), calls.pointer(op.getOut())});
}

Value lowerZeroScaleTail(ZeroScaleTailOp op, ZeroScaleTailOp::Adaptor, Calls &calls) {
  ScaleMatrixAttr matrix = op.getLogicalMatrix();
  return calls.call("bsrt_call_zero_scale_tail",
                    {calls.i64(matrix.getBatches()), scaleRows(matrix, op.getScales(), calls),
                     calls.i64(matrix.getCols()), calls.pointer(op.getScales())});
}

Value lowerRepitch(RepitchOp op, RepitchOp::Adaptor, Calls &calls) {
  RowsAttr rows = op.getLogicalRows();
  Value count = isDynamic(rows.getCount())
                    ? calls.dividedBy(calls.bytes(op.getElements()), calls.i64(rows.getFrom()))
                    : calls.i64(rows.getCount());
  return calls.call("bsrt_call_repitch",
                    {count, calls.i64(rows.getBytes()), calls.i64(rows.getFrom()),
                     calls.pointer(op.getElements()), calls.i64(rows.getTo()),
                     calls.pointer(op.getOut())});
}

Value lowerSwapNibbles(SwapNibblesOp op, SwapNibblesOp::Adaptor, Calls &calls) {
  return calls.call(
      "bsrt_call_swap_nibbles",
      {calls.bytes(op.getElements()), calls.pointer(op.getElements()), calls.pointer(op.getOut())});
}

Value lowerCheckGemm(CheckGemmOp op, CheckGemmOp::Adaptor, Calls &calls) {
  ProblemAttr problem = op.getLogicalProblem();
  Value m = problem.hasDynamicM() ? calls.extent(op.getD(), problem.isBatch())
                                  : calls.i64(problem.getM());
  // A kernel that is given the reciprocal divides, too.
  Value global = op.getNormConst() ? calls.reciprocal(calls.f32(op.getNormConst()))
                                   : calls.f32(op.getGlobal());
  auto none = facts::Activation::none;
  QuantizedAttr quantized = problem.getQuantized();
  return calls.call("bsrt_call_check_gemm",
                    {calls.string(op.getName()),
                     m,
                     calls.i64(problem.getN()),
                     calls.i64(problem.getK()),
                     calls.code(problem.getA()),
                     calls.code(problem.getB()),
                     calls.code(problem.getScale()),
                     calls.i32(problem.getBlock()),
                     calls.code(problem.getSfa()),
                     calls.code(problem.getSfb()),
                     calls.code(problem.getOut()),
                     calls.i32(op.getSchedule().getInst().k),
                     calls.f32(op.getAlpha()),
                     calls.pointer(op.getA()),
                     calls.pointer(op.getSfa()),
                     calls.pointer(op.getB()),
                     calls.pointer(op.getSfb()),
                     calls.pointerOrNull(op.getBias()),
                     calls.pointer(op.getD()),
                     calls.code(op.getSchedule().getMma()),
                     calls.code(problem.getMajorA()),
                     calls.code(problem.getMajorB()),
                     calls.f32(op.getBeta()),
                     calls.pointerOrNull(op.getC()),
                     calls.code(op.getActivation() ? op.getActivation().getValue() : none),
                     calls.pointerOrNull(op.getAlphaRows()),
                     calls.pointerOrNull(op.getAlphaColumns()),
                     calls.code(problem.getGate() ? problem.getGate().getFunction() : none),
                     calls.pointerOrNull(op.getDScales()),
                     calls.code(quantized ? quantized.getScale() : facts::ScaleFormat::ue8m0),
                     calls.i32(quantized ? quantized.getBlock() : 0),
                     calls.code(quantized ? quantized.getLayout() : facts::ScaleLayout::linear),
                     global,
                     calls.i64(problem.getBatches()),
                     calls.i32(problem.getSharedB())});
}

Value lowerQuantizeChunks(QuantizeChunksOp op, QuantizeChunksOp::Adaptor, Calls &calls) {
  auto x = cast<MemRefType>(op.getX().getType());
  return calls.call("bsrt_call_quantize_chunks",
                    {calls.i64(x.getDimSize(0)), calls.i64(x.getDimSize(1)),
                     calls.code(sourceFormat(x.getElementType())), calls.pointer(op.getX()),
                     calls.pointer(op.getOut())});
}

Value lowerTransposeChunks(TransposeChunksOp op, TransposeChunksOp::Adaptor, Calls &calls) {
  ChunkMatrixAttr matrix = op.getLogicalMatrix();
  return calls.call("bsrt_call_transpose_chunks",
                    {calls.i64(matrix.getTokens()), calls.i64(matrix.getK()),
                     calls.code(matrix.getTo()), calls.pointer(op.getChunks()),
                     calls.pointer(op.getOut())});
}

Value lowerDecodeScales(DecodeScalesOp op, DecodeScalesOp::Adaptor, Calls &calls) {
  WeightMatrixAttr matrix = op.getLogicalMatrix();
  return calls.call("bsrt_call_decode_scales",
                    {calls.i64(matrix.getRows()), calls.i64(matrix.getK()),
                     calls.pointer(op.getWeights()), calls.pointer(op.getOut())});
}

Value lowerCheckBlockGemm(CheckBlockGemmOp op, CheckBlockGemmOp::Adaptor, Calls &calls) {
  BlockProblemAttr problem = op.getLogicalBlockProblem();
  return calls.call(problem.getA() == facts::BlockFormat::f16 ? "bsrt_call_check_half_block_gemm"
                                                              : "bsrt_call_check_block_gemm",
                    {calls.string(op.getName()), calls.i64(problem.getM()),
                     calls.i64(problem.getN()), calls.i64(problem.getK()), calls.pointer(op.getA()),
                     calls.pointer(op.getB()), calls.pointer(op.getD())});
}

struct ConvertBlockscaleHostToLLVM
    : blockscale::impl::ConvertBlockscaleHostToLLVMPassBase<ConvertBlockscaleHostToLLVM> {
  void runOnOperation() override {
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    populateBlockscaleHostTypeConversions(converter);
    if (failed(verifyInput()))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateBlockscaleHostToLLVMPatterns(converter, patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<AllocOp, SizeOp, RequireBytesOp, FreeOp, CopyOp, TensorMapOp, LaunchOp,
                        QuantizeOp, DequantizeOp, RelayoutScalesOp, ZeroScaleTailOp, RepitchOp,
                        SwapNibblesOp, CheckGemmOp, GemmOp, QuantizeChunksOp, TransposeChunksOp,
                        DecodeScalesOp, CheckBlockGemmOp>();
    target.addDynamicallyLegalOp<memref::CopyOp>(isUpstreams);
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }

private:
  LogicalResult verifyInput() {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      if (isa<GemmOp>(op))
        return op->emitOpError("host_to_llvm_c1: product must be a kernel and its launch, got one "
                               "that blockscale-lower-gemm-to-kernel has not lowered");
      bool isOnHost =
          isa<QuantizeOp, DequantizeOp, RelayoutScalesOp, ZeroScaleTailOp, RepitchOp, SwapNibblesOp,
              CheckGemmOp, QuantizeChunksOp, TransposeChunksOp, DecodeScalesOp, CheckBlockGemmOp>(
              op);
      if (isOnHost && llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>))
        return op->emitOpError("host_to_llvm_c2: operands must be in memory, got tensors; run "
                               "blockscale-pack-narrow and blockscale-bufferize");
      if (auto chunks = dyn_cast<QuantizeChunksOp>(op);
          chunks && facts::isTile(chunks.getLogicalFormat()))
        return op->emitOpError("host_to_llvm_c3: tiles must be made by a kernel, got an op "
                               "that blockscale-lower-gemm-to-kernel has not lowered");
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace

void blockscale::populateBlockscaleHostTypeConversions(TypeConverter &converter) {
  converter.addConversion(
      [](BufferType type) -> Type { return IntegerType::get(type.getContext(), 64); });
  converter.addConversion(
      [](TensorMapType type) -> Type { return IntegerType::get(type.getContext(), 64); });
}

void blockscale::populateBlockscaleHostToLLVMPatterns(const TypeConverter &converter,
                                                      RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<CallPattern<AllocOp>>(converter, context, lowerAlloc);
  patterns.add<CallPattern<SizeOp>>(converter, context, lowerSize);
  patterns.add<CallPattern<RequireBytesOp>>(converter, context, lowerRequireBytes);
  patterns.add<CallPattern<FreeOp>>(converter, context, lowerFree);
  patterns.add<CallPattern<CopyOp>>(converter, context, lowerCopy);
  patterns.add<CallPattern<memref::CopyOp>>(converter, context, lowerHostCopy);
  patterns.add<CallPattern<TensorMapOp>>(converter, context, lowerTensorMap);
  patterns.add<CallPattern<LaunchOp>>(converter, context, lowerLaunch);
  patterns.add<CallPattern<QuantizeOp>>(converter, context, lowerQuantize);
  patterns.add<CallPattern<DequantizeOp>>(converter, context, lowerDequantize);
  patterns.add<CallPattern<RelayoutScalesOp>>(converter, context, lowerRelayoutScales);
  patterns.add<CallPattern<ZeroScaleTailOp>>(converter, context, lowerZeroScaleTail);
  patterns.add<CallPattern<RepitchOp>>(converter, context, lowerRepitch);
  patterns.add<CallPattern<SwapNibblesOp>>(converter, context, lowerSwapNibbles);
  patterns.add<CallPattern<CheckGemmOp>>(converter, context, lowerCheckGemm);
  patterns.add<CallPattern<QuantizeChunksOp>>(converter, context, lowerQuantizeChunks);
  patterns.add<CallPattern<TransposeChunksOp>>(converter, context, lowerTransposeChunks);
  patterns.add<CallPattern<DecodeScalesOp>>(converter, context, lowerDecodeScales);
  patterns.add<CallPattern<CheckBlockGemmOp>>(converter, context, lowerCheckBlockGemm);
}
