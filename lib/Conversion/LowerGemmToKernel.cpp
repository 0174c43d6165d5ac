//===- LowerGemmToKernel.cpp - level 2 to 3 -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scheduled product on packed memrefs becomes a kernel and the host code that
// runs it. Grid, bytes and maps exist once, in the host ops; runtime calls and
// the manifest both come from them.
//
//===----------------------------------------------------------------------===//

#include "LowerBlockGemm.h"

#include "blockscale/Conversion/GemmKernel.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Conversion/QuantizeKernel.h"
#include "blockscale/Conversion/WarpKernel.h"
#include "blockscale/Conversion/WgmmaKernel.h"
#include "blockscale/Dialect/Blockscale/IR/ClusterPlan.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/ScaleTile.h"
#include "blockscale/Facts/TmaAllocation.h"

#include "llvm/ADT/TypeSwitch.h"

namespace blockscale {
#define GEN_PASS_DEF_BLOCKSCALELOWERGEMMTOKERNELPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

/// Attribute of an alloc: what the manifest calls the buffer.
static constexpr StringLiteral kNameAttr = "blockscale.name";
/// Attribute of an alloc whose rows a launch says: matrices of a batch in it.
static constexpr StringLiteral kBatchesAttr = "blockscale.batches";
/// Attribute of a launch: what the manifest calls its scalars, in order.
static constexpr StringLiteral kScalarNamesAttr = "blockscale.scalar_names";

namespace {

/// What follows from an m that a launch says.
struct DynamicRows {
  /// How many of something there are, and how many buffers and maps have: at least one.
  struct Part {
    Value real, held;
  };
  Part rows, scaleTiles;
};

/// The host side of one product.
class HostBuilder {
public:
  HostBuilder(GemmOp gemm, OpBuilder &b)
      : gemm(gemm), problem(gemm.getProblem()), schedule(gemm.getSchedule()),
        shape(problem, schedule), b(b), loc(gemm.getLoc()) {}

  void build(KernelOp kernel, SymbolRefAttr symbol);

private:
  /// `bytes` of a buffer; `count` times as many where a launch says it.
  Value allocate(StringRef name, int64_t bytes, Value count = {}) {
    auto op = AllocOp::create(b, loc, uint64_t(bytes), count);
    op->setAttr(kNameAttr, b.getStringAttr(name));
    if (count && problem.isBatch()) // all that has rows of A has as many matrices
      op->setAttr(kBatchesAttr, b.getI64IntegerAttr(problem.getBatches()));
    buffers.push_back(op);
    return op;
  }
  /// Of what has rows of A: `bytes` are those of one of `count`.
  Value uploadRows(StringRef name, int64_t bytes, Value source, const DynamicRows::Part &part,
                   bool isPitched = false) {
    RequireBytesOp::create(b, loc, name, source, bytes, part.real);
    Value held = part.held;
    if (isPitched)
      held = arith::MaxUIOp::create(b, loc, held,
                                    index(llvm::divideCeil(facts::kTmaPitchedBytes, bytes)));
    Value buffer = allocate(name, bytes, held);
    CopyOp::create(b, loc, source, buffer);
    return buffer;
  }
  /// Tiles of scales have whole rows of tiles: how many rows there are is what they were made of.
  void requireLinearRows(StringRef name, Value tiles, Value rows) {
    for (Operation *user : tiles.getUsers())
      if (auto relayout = dyn_cast<RelayoutScalesOp>(user); relayout && relayout.getOut() == tiles)
        RequireBytesOp::create(b, loc, name, relayout.getScales(),
                               relayout.getLogicalSource().withRows(1).getBytes(), rows);
  }
  Value upload(StringRef name, int64_t bytes, Value source, bool isPitched = false) {
    Value buffer = allocate(name, isPitched ? std::max(bytes, facts::kTmaPitchedBytes) : bytes);
    CopyOp::create(b, loc, source, buffer);
    return buffer;
  }
  /// A `?` of the map is `size`; from one matrix of a batch to the next are `size` times `bytes`.
  Value map(Value buffer, TmaMapAttr attr, Value size = {}, int64_t bytes = 0) {
    int64_t count = llvm::count(attr.getDims(), kDynamicExtent) +
                    llvm::count(attr.getStrides(), kDynamicExtent);
    SmallVector<Value> sizes(count, size);
    if (problem.isBatch() && isDynamic(attr.getStrides().back()))
      sizes.back() = arith::MulIOp::create(b, loc, size, index(bytes));
    return TensorMapOp::create(b, loc, buffer, attr, sizes);
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  DynamicRows readRows();
  Value stepOrRows(Value rows);
  Value gridOf(Value rows);

  GemmOp gemm;
  ProblemAttr problem;
  ScheduleAttr schedule;
  GemmShape shape;
  OpBuilder &b;
  Location loc;
  SmallVector<Value> buffers;
};

/// Rows that are the bytes from one k to the next, too: a map of none of them has a step that it
/// may have, and any other number stays as it is, so that a wrong one is refused. 1 / (m + 1) is
/// 1 for m = 0 alone; a manifest has no other choice.
Value HostBuilder::stepOrRows(Value rows) {
  Value one = index(1);
  Value isNone =
      arith::DivUIOp::create(b, loc, one, arith::AddIOp::create(b, loc, rows, one).getResult());
  Value step =
      arith::MulIOp::create(b, loc, isNone, index(facts::info(facts::TmaType::u8).alignment));
  return arith::AddIOp::create(b, loc, rows, step);
}

/// M of a product is the rows of its result. A buffer or a map of nothing is none, so that an
/// m of 0 has those of one row, and a grid of no CTA.
DynamicRows HostBuilder::readRows() {
  Value first = index(0), least = index(1), perTile = index(facts::kScaleTileRows);
  Value rows = memref::DimOp::create(b, loc, gemm.getOut(), problem.isBatch() ? least : first);
  DynamicRows dynamic;
  dynamic.rows.real = SizeOp::create(b, loc, "m", rows, mostRows(problem));
  dynamic.rows.held = problem.getMajorA() == facts::Major::mn
                          ? stepOrRows(dynamic.rows.real)
                          : arith::MaxUIOp::create(b, loc, dynamic.rows.real, least).getResult();
  dynamic.scaleTiles.real = arith::CeilDivUIOp::create(b, loc, dynamic.rows.real, perTile);
  dynamic.scaleTiles.held = arith::CeilDivUIOp::create(b, loc, dynamic.rows.held, perTile);
  return dynamic;
}

/// ClusterPlan::grid of a value.
Value HostBuilder::gridOf(Value rows) {
  ClusterPlan cluster(schedule);
  Value along = arith::CeilDivUIOp::create(b, loc, rows, index(cluster.rows(schedule)));
  Value ctas = arith::MulIOp::create(
      b, loc, along, index(cluster.clustersN(shape) * shape.batches * cluster.size()));
  return arith::MinUIOp::create(b, loc, ctas, index(schedule.getCtas()));
}

void HostBuilder::build(KernelOp kernel, SymbolRefAttr symbol) {
  bool isDynamic = problem.hasDynamicM();
  ProblemAttr one = isDynamic ? problem.withM(1) : problem;
  DynamicRows dynamic;
  Value a, sfa;
  if (isDynamic) {
    dynamic = readRows();
    a = uploadRows("a", one.getABytes(), gemm.getA(), dynamic.rows, problem.getPitchA() != 0);
    requireLinearRows("sfa", gemm.getSfa(), dynamic.rows.real);
    sfa = uploadRows("sfa", one.getSfaBytes(), gemm.getSfa(), dynamic.scaleTiles);
  } else {
    a = upload("a", problem.getABytes(), gemm.getA(), problem.getPitchA() != 0);
    sfa = upload("sfa", problem.getSfaBytes(), gemm.getSfa());
  }
  Value bOperand = upload("b", problem.getBBytes(), gemm.getB(), problem.getPitchB() != 0);
  Value sfb = upload("sfb", problem.getSfbBytes(), gemm.getSfb());
  Value bias, c, alphaRows, alphaColumns, dScales;
  if (gemm.getBias())
    bias = upload("bias", problem.getN() * 4, gemm.getBias());
  if (gemm.getC())
    c = isDynamic ? uploadRows("c", one.getOutBytes(), gemm.getC(), dynamic.rows)
                  : upload("c", problem.getOutBytes(), gemm.getC());
  if (gemm.getAlphaRows())
    alphaRows = upload("alpha_rows", problem.getM() * 4, gemm.getAlphaRows());
  if (gemm.getAlphaColumns())
    alphaColumns = upload("alpha_columns", problem.getN() * 4, gemm.getAlphaColumns());
  Value d = allocate("d", one.getOutBytes(), dynamic.rows.held);
  if (gemm.getOutScales())
    dScales = allocate("d_scales", problem.getOutBlocked().getScaleBytes());

  auto maps = operandMaps(problem, schedule);
  ProblemAttr row = one.ofOne(); // of one product where a launch says the rows
  SmallVector<Value> params{
      map(a, maps[0], dynamic.rows.held, row.getABytes()), map(bOperand, maps[1]),
      map(sfa, maps[2], dynamic.scaleTiles.held, row.getSfaBytes()), map(sfb, maps[3])};
  if (schedule.getEpilogue() == Epilogue::tma_store)
    params.push_back(map(d, outputMap(problem), dynamic.rows.held, row.getOutBytes()));
  else
    params.push_back(d);
  for (Value buffer : {dScales, bias, c, alphaRows, alphaColumns})
    if (buffer)
      params.push_back(buffer);
  SmallVector<StringRef> scalars;
  for (auto [name, scalar] : {std::pair("alpha", gemm.getAlpha()),
                              {"beta", gemm.getBeta()},
                              {"global", gemm.getGlobal()},
                              {"norm_const", gemm.getNormConst()}}) {
    if (!scalar)
      continue;
    scalars.push_back(name);
    params.push_back(isa<MemRefType>(scalar.getType())
                         ? memref::LoadOp::create(b, loc, scalar, ValueRange{}).getResult()
                         : scalar);
  }
  ClusterPlan cluster(schedule);
  SmallVector<int64_t> grid{isDynamic ? kDynamicExtent : cluster.grid(shape, schedule), 1, 1};
  SmallVector<Value> gridSizes;
  if (isDynamic) {
    gridSizes.push_back(gridOf(dynamic.rows.real));
    params.push_back(
        arith::IndexCastUIOp::create(b, loc, b.getI32Type(), dynamic.rows.real).getResult());
  }
  bool oversized =
      int64_t(kernel.getSharedBytes()) > facts::info(schedule.getArch()).sharedPerBlock;
  auto launch =
      LaunchOp::create(b, loc, symbol, grid, ArrayRef<int64_t>{int64_t(kernel.getThreads()), 1, 1},
                       ArrayRef<int64_t>{cluster.size(), 1, 1}, kernel.getSharedBytes(), oversized,
                       params, gridSizes);
  if (!scalars.empty())
    launch->setAttr(kScalarNamesAttr, b.getStrArrayAttr(scalars));
  CopyOp::create(b, loc, d, gemm.getOut());
  if (dScales)
    CopyOp::create(b, loc, dScales, gemm.getOutScales());
  for (Value buffer : llvm::reverse(buffers))
    FreeOp::create(b, loc, buffer);
}

struct LowerGemmToKernel
    : blockscale::impl::BlockscaleLowerGemmToKernelPassBase<LowerGemmToKernel> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<GemmOp, QuantizeChunksOp, QuantizeOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case([&](GemmOp op) { return lower(op); })
              .Case([&](QuantizeChunksOp op) {
                return lowerQuantizer(op, {op.getX(), op.getOut(), Value(), Value()});
              })
              .Case([&](QuantizeOp op) {
                return lowerQuantizer(op, {op.getX(), op.getElements(), op.getScales(),
                                           op.getGiven() ? op.getGiven() : op.getGlobal()});
              });
      if (failed(result))
        return signalPassFailure();
    }
  }

  LogicalResult lower(GemmOp gemm) {
    bool blocks = gemm.isBlockProduct();
    if (!isa<MemRefType>(gemm.getA().getType()) ||
        !(blocks ? bool(gemm.getBlockProblem()) : bool(gemm.getProblem())))
      return gemm.emitOpError("gemm_to_kernel_c1: operands must be packed bytes in memory, got ")
             << gemm.getA().getType();
    WgmmaScheduleAttr wgmma = gemm.getWgmmaSchedule();
    if (!(blocks ? wgmma || gemm.getWarpSchedule() : bool(gemm.getSchedule())))
      return gemm.emitOpError("gemm_to_kernel_c2: gemm must have a schedule, got none; run "
                              "blockscale-choose-schedule");
    facts::Arch arch = wgmma    ? wgmma.getArch()
                       : blocks ? gemm.getWarpSchedule().getArch()
                                : gemm.getSchedule().getArch();
    FailureOr<ModuleOp> kernels = kernelsFor(gemm, facts::name(arch));
    if (failed(kernels))
      return failure();
    OpBuilder b = OpBuilder::atBlockEnd(kernels->getBody());
    size_t count = llvm::range_size(kernels->getOps<KernelOp>()) +
                   llvm::range_size(kernels->getOps<WarpKernelOp>()) +
                   llvm::range_size(kernels->getOps<WgmmaKernelOp>());
    std::string name = freeName(*kernels, "gemm_", count);
    SymbolRefAttr symbol = symbolOf(*kernels, name);
    if (wgmma) {
      WgmmaKernelOp kernel =
          buildWgmmaKernel(b, gemm.getLoc(), name, gemm.getBlockProblem(), wgmma);
      b.setInsertionPoint(gemm);
      buildWgmmaLaunch(b, gemm, kernel, symbol);
    } else if (blocks) {
      WarpKernelOp kernel =
          buildWarpKernel(b, gemm.getLoc(), name, gemm.getBlockProblem(), gemm.getWarpSchedule());
      if (Attribute fallback = gemm->getAttr(kFallbackAttr))
        kernel->setAttr(kFallbackAttr, fallback);
      b.setInsertionPoint(gemm);
      buildBlockLaunch(b, gemm, kernel, symbol);
    } else {
      KernelOp kernel = buildGemmKernel(
          b, gemm.getLoc(), name, gemm.getProblem(), gemm.getSchedule(),
          {bool(gemm.getAlpha()), bool(gemm.getAlphaRows()), bool(gemm.getAlphaColumns()),
           bool(gemm.getBias()), bool(gemm.getBeta()), bool(gemm.getC()), bool(gemm.getGlobal()),
           bool(gemm.getNormConst()), gemm.getActivationAttr()});
      b.setInsertionPoint(gemm);
      HostBuilder(gemm, b).build(kernel, symbol);
    }
    gemm.erase();
    return success();
  }

  /// Without a schedule the host computes it.
  template <typename Op> LogicalResult lowerQuantizer(Op quantize, const QuantizeMemory &memory) {
    if (!quantize.getSchedule())
      return success();
    if (!isa<MemRefType>(quantize.getX().getType()))
      return quantize.emitOpError(
                 "gemm_to_kernel_c1: operands must be packed bytes in memory, got ")
             << quantize.getX().getType();
    FailureOr<ModuleOp> kernels =
        kernelsFor(quantize, facts::name(quantize.getSchedule().getArch()));
    if (failed(kernels))
      return failure();
    OpBuilder b = OpBuilder::atBlockEnd(kernels->getBody());
    auto build = [&](StringRef prefix, QuantizeProblemAttr problem, QuantizeScheduleAttr schedule) {
      auto isAmax = [&](QuantizeKernelOp other) {
        return isa<AmaxAttr>(other.getProblem().getTarget());
      };
      bool amax = isa<AmaxAttr>(problem.getTarget());
      size_t count = llvm::count_if(kernels->getOps<QuantizeKernelOp>(),
                                    [&](QuantizeKernelOp other) { return isAmax(other) == amax; });
      std::string name = freeName(*kernels, prefix, count);
      QuantizeKernelOp kernel = buildQuantizeKernel(b, quantize.getLoc(), name, problem, schedule);
      return QuantizeLaunch{kernel, symbolOf(*kernels, name)};
    };
    QuantizeProblemAttr problem = getQuantizeProblem(quantize);
    QuantizeLaunch amax;
    if (problem.getGlobal() == GlobalScale::computed) {
      QuantizeProblemAttr first = getAmaxProblem(problem);
      amax = build("amax_", first, chooseQuantizeSchedule(first, quantize.getSchedule().getArch()));
    }
    QuantizeLaunch launch = build("quantize_", problem, quantize.getSchedule());
    b.setInsertionPoint(quantize);
    buildQuantizeLaunch(b, quantize.getLoc(), memory, launch, amax);
    quantize.erase();
    return success();
  }

  static SymbolRefAttr symbolOf(ModuleOp kernels, StringRef name) {
    MLIRContext *context = kernels.getContext();
    return SymbolRefAttr::get(StringAttr::get(context, *kernels.getName()),
                              {FlatSymbolRefAttr::get(context, name)});
  }

  /// The first name from `index` on that the module does not use.
  static std::string freeName(ModuleOp module, StringRef prefix, size_t index) {
    while (module.lookupSymbol((prefix + Twine(index)).str()))
      ++index;
    return (prefix + Twine(index)).str();
  }

  /// The module of kernels for the schedule's chip; there is one for each root.
  FailureOr<ModuleOp> kernelsFor(Operation *op, StringRef arch) {
    ModuleOp root = getOperation();
    for (auto module : root.getOps<ModuleOp>()) {
      auto other = module->getAttrOfType<StringAttr>("blockscale.arch");
      if (!other)
        continue;
      if (!module.getName())
        return op->emitOpError("gemm_to_kernel_c4: module of kernels must have a name, got none"),
               failure();
      if (other.getValue() == arch)
        return module;
      return op->emitOpError("gemm_to_kernel_c3: kernels of one module must be for one chip, got ")
                 << arch << " after " << other.getValue(),
             failure();
    }
    OpBuilder b = OpBuilder::atBlockEnd(root.getBody());
    std::string name = root.lookupSymbol("kernels") ? freeName(root, "kernels_", 0) : "kernels";
    auto module = ModuleOp::create(b, op->getLoc(), name);
    module->setAttr("blockscale.arch", b.getStringAttr(arch));
    return module;
  }
};

} // namespace
