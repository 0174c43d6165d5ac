//===- KernelOps.cpp - syntax and rules of the kernel level ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules kernel_c1 … kernel_c21 relate the plans of one kernel to each other
// and to what its ops do, so that a changed column, offset, stage or count is
// refused instead of run. KernelOps.td states them.
//
//===----------------------------------------------------------------------===//

#include "KernelSyntax.h"
#include "SpanRules.h"

#include "blockscale/Dialect/Blockscale/IR/ClusterPlan.h"
#include "blockscale/Dialect/Blockscale/IR/Planning.h"
#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/MmaMode.h"
#include "blockscale/Facts/QuantizedFormat.h"
#include "blockscale/Facts/ScaleTile.h"
#include "blockscale/Facts/Tmem.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseKernel<KernelOp>(parser, result);
}
void KernelOp::print(OpAsmPrinter &printer) { printKernel(printer, *this); }

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError("kernel_c0: a kernel must return nothing, got ")
           << getFunctionType().getNumResults() << " results";
  ArrayRef<Type> inputs = getFunctionType().getInputs();
  bool takesM = !inputs.empty() && inputs.back().isInteger(32);
  for (Type type : takesM ? inputs.drop_back() : inputs)
    if (!isa<TensorMapType, BufferType, Float32Type>(type))
      return emitOpError("kernel_c0: a parameter must be a tensor map, a buffer or f32, got ")
             << type;
  if (takesM != getProblem().hasDynamicM())
    return emitOpError("kernel_c0: last parameter must ")
           << (takesM ? "not be m" : "be m, an i32") << " where m of the problem is "
           << extentText(getProblem().getM()) << ", got " << getFunctionType();
  // At the machine level these are all that is left of the plans.
  auto emitError = [&] { return this->emitOpError(); };
  if (failed(verifyProblem(getProblem(), emitError)) ||
      failed(verifySchedule(getProblem(), getSchedule(), emitError)) ||
      failed(verifyFetchable(getProblem(), getSchedule(), emitError)))
    return failure();
  return verifyTiledScales(getProblem(), "use blockscale.relayout_scales before the kernel",
                           emitError);
}

LogicalResult TileCountOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (kernel && kernel.getProblem().hasDynamicM())
    return success();
  return emitOpError("tile_count_c1: m of the kernel's problem must be ?, got ")
         << (kernel ? extentText(kernel.getProblem().getM()) : "no kernel");
}

LogicalResult ApplyEpilogueOp::verify() {
  if (getValues().size() != getResults().size())
    return emitOpError("apply_epilogue_c1: results must be as many as values, got ")
           << getResults().size() << " for " << getValues().size();
  if (!getC().empty() && getC().size() != getValues().size())
    return emitOpError("apply_epilogue_c1: values of c must be as many as values, got ")
           << getC().size() << " for " << getValues().size();
  if (getBeta() && getC().empty())
    return emitOpError("apply_epilogue_c1: beta must be given with c, got none");
  return success();
}

LogicalResult ApplyGateOp::verify() {
  if (getGates().size() == getResults().size())
    return success();
  return emitOpError("apply_gate_c1: results must be as many as gates, got ")
         << getResults().size() << " for " << getGates().size();
}

LogicalResult QuantizeColumnsOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  QuantizedAttr quantized = kernel ? kernel.getProblem().getQuantized() : QuantizedAttr();
  if (!quantized)
    return emitOpError("quantize_columns_c1: D of the kernel must be quantised, got ")
           << (kernel ? "wide values" : "no kernel");
  int64_t count = getValues().size(), block = quantized.getBlock();
  int64_t words = facts::packedBytes(kernel.getProblem().getOut(), count) / 4;
  if (count == 0 || count % block)
    return emitOpError("quantize_columns_c1: values must be whole blocks of ")
           << block << ", got " << count;
  if (int64_t(getWords().size()) != words || int64_t(getScales().size()) != count / block)
    return emitOpError("quantize_columns_c1: words and scales must be ")
           << words << " and " << count / block << ", got " << getWords().size() << " and "
           << getScales().size();
  if (bool(getGlobal()) != facts::hasGlobalScale(quantized.getScale()))
    return emitOpError("quantize_columns_c1: global must be given for ue4m3 only, got ")
           << (getGlobal() ? "one" : "none") << " for "
           << StringRef(facts::name(quantized.getScale()));
  if (getSequence() != kernel.getSchedule().getQuantizer())
    return emitOpError("quantize_columns_c1: sequence must be the schedule's, ")
           << kernel.getSchedule().getQuantizer() << ", got " << getSequence();
  return success();
}

LogicalResult StoreColumnScalesOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  QuantizedAttr quantized = kernel ? kernel.getProblem().getQuantized() : QuantizedAttr();
  int64_t count = getScales().size();
  bool isCount = count == 1 || count == 2 || count == 4;
  if (quantized && isCount && int64_t(getColumn()) % (count * quantized.getBlock()) == 0)
    return success();
  InFlightDiagnostic error = emitOpError("store_column_scales_c1: ");
  if (!quantized)
    return error << "D of the kernel must be quantised, got " << (kernel ? "wide values" : "none");
  return error << "scales must be 1, 2 or 4, the first at a multiple of as many, got " << count
               << " at column " << getColumn();
}

//===----------------------------------------------------------------------===//
// The plan of one kernel
//===----------------------------------------------------------------------===//

namespace {

/// A named half-open range of bytes or columns.
struct Range {
  Operation *owner;
  StringRef what;
  int64_t begin, size;
};

/// Checks one kernel; each rule is one method, called in the order of the labels.
class PlanVerifier {
public:
  explicit PlanVerifier(KernelOp kernel)
      : kernel(kernel), problem(kernel.getProblem()), schedule(kernel.getSchedule()),
        shape(problem, schedule), cluster(schedule) {
    kernel.getBody().walk([&](Operation *op) {
      if (auto buffer = dyn_cast<SharedBufferOp>(op))
        buffers.push_back(buffer);
      else if (auto tmem = dyn_cast<TmemPlanOp>(op))
        tmems.push_back(tmem);
      else if (auto pipeline = dyn_cast<PipelineOp>(op))
        pipelines.push_back(pipeline);
      else if (auto role = dyn_cast<WarpRoleOp>(op))
        roles.push_back(role);
    });
  }

  LogicalResult run() {
    return success(
        succeeded(checkArch()) && succeeded(checkSharedRanges()) && succeeded(checkAlignment()) &&
        succeeded(checkTmem()) && succeeded(checkDepths()) && succeeded(checkTransactions()) &&
        succeeded(checkArrivals()) && succeeded(checkRoles()) && succeeded(checkScaleCopies()) &&
        succeeded(checkMmas()) && succeeded(checkAccumulatorLoads()) && succeeded(checkWarps()) &&
        succeeded(checkLoads()) && succeeded(checkStaging()) && succeeded(checkTurns()) &&
        succeeded(verifySpans(kernel)) && succeeded(checkShares()));
  }

private:
  LogicalResult checkArch();
  LogicalResult checkSharedRanges();
  LogicalResult checkAlignment();
  LogicalResult checkTmem();
  LogicalResult checkDepths();
  LogicalResult checkTransactions();
  LogicalResult checkArrivals();
  LogicalResult checkRoles();
  LogicalResult checkScaleCopies();
  LogicalResult checkMmaOperands(Operation *op, Value a, Value b, Value shift);
  LogicalResult checkMmas();
  LogicalResult checkAccumulatorLoads();
  LogicalResult checkWarps();
  LogicalResult checkLoads();
  LogicalResult checkStaging();
  LogicalResult checkTurns();
  LogicalResult checkShares();

  LogicalResult checkDisjoint(MutableArrayRef<Range> ranges, StringRef label, StringRef unit);
  /// The tile of an operand's buffer; null for others.
  const facts::OperandTile *tileOf(SharedPlanAttr plan) const {
    return plan.getContent() == SharedContent::a   ? &shape.a
           : plan.getContent() == SharedContent::b ? &shape.b
                                                   : nullptr;
  }
  /// Bytes that one load adds to its barrier: gaps of a padded type do not arrive.
  int64_t arrivingBytes(SharedPlanAttr plan) const {
    const facts::OperandTile *tile = tileOf(plan);
    return tile ? tile->arriving : plan.getBytes();
  }
  static WarpRole roleOf(Operation *op) {
    return op->getParentOfType<WarpRoleOp>().getRole().getValue();
  }
  static bool isEpilogues(ConsumerReleaseOp op) {
    auto pipeline = op.getPipeline().getDefiningOp<PipelineOp>();
    return pipeline && pipeline.getPlan().getConsumer() == WarpRole::epilogue;
  }
  /// Columns of an accumulator stage that the next tile may write once it is released.
  int64_t sharedColumns(TmemPlanAttr plan) const {
    ArrayRef<int64_t> bases = plan.getAccumulators();
    return isOverlapped() ? columnsUntilRead(shape, schedule, bases[0] + plan.getWidth() - bases[1])
                          : plan.getWidth();
  }
  bool isOverlapped() const {
    return schedule.getAccumulatorColumns() == AccumulatorColumns::overlapped;
  }
  int64_t scalesPerStep() const { return schedule.getInst().k / problem.getBlock(); }
  int64_t maxSteps() const { return schedule.getTile().k / schedule.getInst().k; }

  KernelOp kernel;
  ProblemAttr problem;
  ScheduleAttr schedule;
  GemmShape shape;
  ClusterPlan cluster;
  SmallVector<SharedBufferOp> buffers;
  SmallVector<TmemPlanOp> tmems;
  SmallVector<PipelineOp> pipelines;
  SmallVector<WarpRoleOp> roles;
};

LogicalResult PlanVerifier::checkArch() {
  auto module = kernel->getParentOfType<ModuleOp>();
  auto arch = module->getAttrOfType<StringAttr>("blockscale.arch");
  if (!arch || arch.getValue() != StringRef(facts::name(kernel.getArch())))
    return kernel.emitOpError(
               "kernel_c1: the schedule's chip must be the module's blockscale.arch, got ")
           << StringRef(facts::name(kernel.getArch())) << " in a module for "
           << (arch ? arch.getValue() : StringRef("no chip"));
  if (int64_t limit = facts::maxSharedPerBlock(kernel.getArch());
      int64_t(kernel.getSharedBytes()) > limit)
    return kernel.emitOpError("kernel_c2: shared memory must be at most ")
           << limit << " bytes on " << StringRef(facts::name(kernel.getArch())) << ", got "
           << kernel.getSharedBytes();
  return success();
}

LogicalResult PlanVerifier::checkDisjoint(MutableArrayRef<Range> ranges, StringRef label,
                                          StringRef unit) {
  llvm::stable_sort(ranges, [](const Range &a, const Range &b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i) {
    const Range &low = ranges[i - 1], &high = ranges[i];
    if (low.begin + low.size > high.begin) {
      InFlightDiagnostic diag = high.owner->emitOpError()
                                << label << ": " << unit << " of " << low.what << " and "
                                << high.what << " must not overlap, got " << low.begin << ".."
                                << low.begin + low.size - 1 << " and " << high.begin << ".."
                                << high.begin + high.size - 1;
      diag.attachNote(low.owner->getLoc()) << low.what << " is planned here";
      return diag;
    }
  }
  return success();
}

LogicalResult PlanVerifier::checkSharedRanges() {
  SmallVector<Range> ranges;
  for (SharedBufferOp op : buffers) {
    SharedPlanAttr plan = op.getPlan();
    if (plan.getStages() < 1 || plan.getBytes() < 1)
      return op.emitOpError("kernel_c3: stages and bytes must be at least 1, got ")
             << plan.getStages() << " and " << plan.getBytes();
    ranges.push_back({op, StringRef(name(plan.getContent())), plan.getOffset(),
                      plan.getBytes() * plan.getStages()});
  }
  for (PipelineOp op : pipelines) {
    PipelinePlanAttr plan = op.getPlan();
    if (plan.getStages() < 1)
      return op.emitOpError("kernel_c3: stages must be at least 1, got ") << plan.getStages();
    ranges.push_back({op, "full barriers", plan.getFull(), 8 * plan.getStages()});
    ranges.push_back({op, "empty barriers", plan.getEmpty(), 8 * plan.getStages()});
  }
  for (TmemPlanOp op : tmems)
    ranges.push_back({op, "the slot of the tensor-memory address", op.getPlan().getSlot(), 4});
  int64_t end = 0;
  for (const Range &range : ranges)
    end = std::max(end, range.begin + range.size);
  if (int64_t want = (end + 127) / 128 * 128; !ranges.empty() &&
                                              end <= int64_t(kernel.getSharedBytes()) &&
                                              int64_t(kernel.getSharedBytes()) != want)
    return kernel.emitOpError("kernel_c3: shared_bytes must be ")
           << want << ", the end of the plan, got " << kernel.getSharedBytes();
  for (const Range &range : ranges)
    if (range.begin < 0 || range.begin + range.size > int64_t(kernel.getSharedBytes()))
      return range.owner->emitOpError("kernel_c3: bytes of ")
             << range.what << " must lie inside 0.." << int64_t(kernel.getSharedBytes()) - 1
             << ", got " << range.begin << ".." << range.begin + range.size - 1;
  return checkDisjoint(ranges, "kernel_c4", "bytes");
}

LogicalResult PlanVerifier::checkAlignment() {
  auto check = [](Operation *op, StringRef what, int64_t offset, int64_t alignment) {
    if (offset % alignment == 0)
      return success();
    return LogicalResult(op->emitOpError("kernel_c5: ") << what << " must start on a multiple of "
                                                        << alignment << " bytes, got " << offset);
  };
  for (SharedBufferOp op : buffers) {
    SharedPlanAttr plan = op.getPlan();
    // TMA wants 128 bytes whatever the swizzle (PTX ISA 9.4, 5.5).
    int64_t alignment = std::max<int64_t>(128, facts::info(plan.getSwizzle()).period);
    StringRef what(name(plan.getContent()));
    if (failed(check(op, what, plan.getOffset(), alignment)) ||
        failed(check(op, "every stage", plan.getBytes(), alignment)))
      return failure();
  }
  for (PipelineOp op : pipelines)
    if (failed(check(op, "a barrier", op.getPlan().getFull(), 8)) ||
        failed(check(op, "a barrier", op.getPlan().getEmpty(), 8)))
      return failure();
  for (TmemPlanOp op : tmems) {
    if (failed(check(op, "the slot", op.getPlan().getSlot(), 4)))
      return failure();
    for (int64_t column : {op.getPlan().getSfa(), op.getPlan().getSfb()})
      if (column % facts::kScaleTileScales)
        return op.emitOpError("kernel_c5: scales must start on a multiple of 4 columns, got ")
               << column;
  }
  return success();
}

LogicalResult PlanVerifier::checkTmem() {
  for (TmemPlanOp op : tmems) {
    TmemPlanAttr plan = op.getPlan();
    SmallVector<Range> ranges;
    ArrayRef<int64_t> bases = plan.getAccumulators();
    if (isOverlapped() && bases.size() == 2) {
      if (int64_t step = accumulatorStep(schedule.getArch(), shape.stage, schedule.getTile(),
                                         schedule.getAccumulatorColumns());
          bases[1] - bases[0] != step)
        return op.emitOpError("kernel_c8: overlapped accumulators must start ")
               << step << " columns apart, got " << bases[0] << " and " << bases[1];
      ranges.push_back({op, "accumulators", bases[0], bases[1] - bases[0] + plan.getWidth()});
    } else {
      for (int64_t base : bases)
        ranges.push_back({op, "accumulator", base, plan.getWidth()});
    }
    ranges.push_back({op, "sfa", plan.getSfa(), plan.getSfaColumns()});
    ranges.push_back({op, "sfb", plan.getSfb(), plan.getSfbColumns()});
    int64_t used = 0;
    for (const Range &range : ranges)
      used = std::max(used, range.begin + range.size);
    if (used < 1 || used > facts::kTmemSharedColumns * 4)
      return op.emitOpError("kernel_c7: columns must lie inside the allocation, got ") << used;
    auto rounded = facts::roundTmemColumns(kernel.getArch(), int(used));
    if (!rounded)
      return op.emitOpError("kernel_c6: ") << rounded.message();
    if (plan.getColumns() != *rounded)
      return op.emitOpError("kernel_c6: columns must be ")
             << *rounded << " for " << used << " used, got " << plan.getColumns();
    for (const Range &range : ranges)
      if (range.begin < 0 || range.size < 1 || range.begin + range.size > plan.getColumns())
        return op.emitOpError("kernel_c7: columns of ")
               << range.what << " must lie inside 0.." << plan.getColumns() - 1 << ", got "
               << range.begin << ".." << range.begin + range.size - 1;
    if (failed(checkDisjoint(ranges, "kernel_c8", "columns")))
      return failure();
    int64_t width = shape.scaleTilesOfA * schedule.getInst().n; // of all products
    if (plan.getWidth() != width)
      return op.emitOpError("kernel_c7: an accumulator stage must be n = ")
             << width << " columns, got " << plan.getWidth();
  }
  return success();
}

LogicalResult PlanVerifier::checkDepths() {
  for (PipelineOp op : pipelines) {
    WarpRole producer = op.getPlan().getProducer();
    int64_t want = producer == WarpRole::tma          ? schedule.getStages()
                   : producer == WarpRole::tma_scales ? schedule.getScaleStages()
                                                      : accumulatorRing(schedule);
    if (op.getPlan().getStages() != want)
      return op.emitOpError("kernel_c9: stages must be the schedule's ")
             << want << ", got " << op.getPlan().getStages();
  }
  for (TmemPlanOp op : tmems)
    if (int64_t(op.getPlan().getAccumulators().size()) != schedule.getAccumulators())
      return op.emitOpError("kernel_c9: accumulator stages must be the schedule's ")
             << schedule.getAccumulators() << ", got " << op.getPlan().getAccumulators().size();
  for (SharedBufferOp op : buffers) {
    SharedPlanAttr plan = op.getPlan();
    bool isScales = plan.getContent() == SharedContent::scales_tiled;
    int64_t want = plan.getContent() == SharedContent::staging ? schedule.getStaging()
                   : isScales && isSpan(schedule)              ? schedule.getScaleStages()
                                                               : schedule.getStages();
    if (plan.getStages() != want)
      return op.emitOpError("kernel_c9: stages must be the schedule's ")
             << want << ", got " << plan.getStages();
  }
  return success();
}

LogicalResult PlanVerifier::checkTransactions() {
  for (PipelineOp op : pipelines) {
    PipelinePlanAttr plan = op.getPlan();
    // Loads between an acquire and its commit belong to one stage.
    for (Operation *user : op->getUsers()) {
      auto commit = dyn_cast<ProducerCommitOp>(user);
      if (!commit)
        continue;
      int64_t bytes = 0;
      for (Operation &other : *commit->getBlock())
        if (auto load = dyn_cast<TmaLoadOp>(other); load && load.getPipeline() == op.getResult())
          if (auto target = load.getTarget().getDefiningOp<SharedBufferOp>())
            bytes += schedule.getCtaGroup() * arrivingBytes(target.getPlan());
      if (bytes != plan.getBytes()) {
        InFlightDiagnostic diag = op.emitOpError("kernel_c10: transaction bytes must be what the "
                                                 "loads of one stage bring, ")
                                  << bytes << ", got " << plan.getBytes();
        diag.attachNote(commit.getLoc()) << "the stage is committed here";
        return diag;
      }
    }
  }
  return success();
}

LogicalResult PlanVerifier::checkArrivals() {
  auto arrivals = [&](WarpRole role) -> int64_t {
    if (role != WarpRole::epilogue)
      return 1;
    for (WarpRoleOp op : roles)
      if (op.getRole().getValue() == role)
        return schedule.getCtaGroup() * (int64_t(op.getLast()) - int64_t(op.getFirst()) + 1);
    return 1;
  };
  auto consumers = [&](PipelinePlanAttr plan) {
    if (plan.getConsumer() != WarpRole::mma)
      return arrivals(plan.getConsumer());
    return plan.getProducer() == WarpRole::tma_scales ? cluster.scaleReaders() : cluster.readers();
  };
  for (PipelineOp op : pipelines) {
    PipelinePlanAttr plan = op.getPlan();
    if (plan.getProducers() != arrivals(plan.getProducer()))
      return op.emitOpError("kernel_c11: producers must be ")
             << arrivals(plan.getProducer()) << " for role " << StringRef(name(plan.getProducer()))
             << ", got " << plan.getProducers();
    if (plan.getConsumers() != consumers(plan))
      return op.emitOpError("kernel_c11: consumers must be ")
             << consumers(plan) << " for role " << StringRef(name(plan.getConsumer())) << ", got "
             << plan.getConsumers();
  }
  return success();
}

LogicalResult PlanVerifier::checkRoles() {
  for (PipelineOp op : pipelines) {
    PipelinePlanAttr plan = op.getPlan();
    unsigned acquires = 0, commits = 0, waits = 0, releases = 0;
    for (Operation *user : op->getUsers()) {
      if (isa<PipelineAdvanceOp>(user))
        continue;
      bool producer = isa<ProducerAcquireOp, ProducerCommitOp, PipelineDrainOp, TmaLoadOp>(user);
      WarpRole want = producer ? plan.getProducer() : plan.getConsumer();
      if (!user->getParentOfType<WarpRoleOp>() || roleOf(user) != want)
        return user->emitOpError("kernel_c12: op must stand in role ")
               << StringRef(name(want)) << ", got another";
      acquires += isa<ProducerAcquireOp>(user);
      commits += isa<ProducerCommitOp>(user);
      waits += isa<ConsumerWaitOp>(user);
      releases += isa<ConsumerReleaseOp>(user);
    }
    if (!acquires || !waits || acquires != commits || waits != releases)
      return op.emitOpError("kernel_c12: acquires and commits, waits and releases must pair, got ")
             << acquires << ", " << commits << ", " << waits << ", " << releases;
  }
  return success();
}

LogicalResult PlanVerifier::checkScaleCopies() {
  WalkResult result = kernel.getBody().walk([&](CopyScalesOp op) {
    auto source = op.getSource().getDefiningOp<SharedBufferOp>();
    auto tmem = op.getTmem().getDefiningOp<TmemPlanOp>();
    if (!source || !tmem)
      return op.emitOpError(
                 "kernel_c13: operands must be plans of this kernel, got a block argument"),
             WalkResult::interrupt();
    SharedPlanAttr plan = source.getPlan();
    if (plan.getContent() != SharedContent::scales_tiled)
      return op.emitOpError("kernel_c13: tcgen05.cp reads scales in 128x4 tiles only, got ")
                 << StringRef(name(plan.getContent()))
                 << "; use blockscale.relayout_scales before the kernel",
             WalkResult::interrupt();
    bool isA = op.getOperand().getValue() == ScaleOperand::sfa;
    int64_t tiles = op.getTiles(), along = shape.scaleTilesPerStage;
    int64_t stageBytes = isA ? shape.stage.sfa : shape.stage.sfb;
    int64_t from = op.getFrom().value_or(0), product = op.getProduct().value_or(0);
    if (tiles < 1 || tiles > along)
      return op.emitOpError("kernel_c13: tiles must be 1..")
                 << along << " of a stage, got " << tiles,
             WalkResult::interrupt();
    if (from < 0 || from + tiles > along)
      return op.emitOpError("kernel_c13: tiles must lie inside the ")
                 << along << " of a stage, got " << tiles << " from " << from,
             WalkResult::interrupt();
    if (op.getProduct() && (!isA || product < 0 || product >= shape.scaleTilesOfA))
      return op.emitOpError("kernel_c13: product must be one of the ")
                 << (isA ? shape.scaleTilesOfA : 0) << " that share B, of sfa, got " << product,
             WalkResult::interrupt();
    if (plan.getBytes() != stageBytes)
      return source.emitOpError("kernel_c13: a stage of scales must be ")
                 << stageBytes << " bytes, got " << plan.getBytes(),
             WalkResult::interrupt();
    int64_t columns = isA ? tmem.getPlan().getSfaColumns() : tmem.getPlan().getSfbColumns();
    int64_t want = plan.getBytes() / facts::kScaleTileBytes * facts::kScaleTileScales;
    if (columns != want)
      return tmem.emitOpError("kernel_c13: ")
                 << StringRef(name(op.getOperand().getValue())) << "_columns must be " << want
                 << ", four for each tile of a stage, got " << columns,
             WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult PlanVerifier::checkMmaOperands(Operation *op, Value ofA, Value ofB, Value shift) {
  auto fail = [&](auto emit) {
    emit(op->emitOpError("kernel_c14: "));
    return failure();
  };
  auto a = ofA.getDefiningOp<SharedBufferOp>();
  auto b = ofB.getDefiningOp<SharedBufferOp>();
  if (!a || a.getPlan().getContent() != SharedContent::a || !b ||
      b.getPlan().getContent() != SharedContent::b)
    return fail([](auto &&d) { d << "operands must be an a and a b buffer, got others"; });
  for (SharedBufferOp buffer : {a, b}) {
    const facts::OperandTile &tile = *tileOf(buffer.getPlan());
    if (buffer.getPlan().getBytes() != tile.bytes())
      return fail([&](auto &&d) {
        d << "a stage must hold the tile's " << tile.bytes() << " bytes, got "
          << buffer.getPlan().getBytes();
      });
    if (buffer.getPlan().getSwizzle() != tile.swizzle)
      return fail([&](auto &&d) {
        d << "operands must lie in the " << StringRef(facts::name(tile.swizzle)) << " swizzle, got "
          << StringRef(facts::name(buffer.getPlan().getSwizzle()));
      });
  }
  if (cutsScaleTiles(schedule.getTile()) != bool(shift))
    return fail([&](auto &&d) {
      d << "scales of B must " << (shift ? "not " : "") << "be shifted for tiles of "
        << schedule.getTile().n << " columns, got " << (shift ? "a shift" : "none");
    });
  if (shift && !shift.getDefiningOp<ScaleTilesOfBOp>())
    return fail([](auto &&d) { d << "shift must come from scale_tiles_of_b, got another"; });
  return success();
}

LogicalResult PlanVerifier::checkMmas() {
  WalkResult result = kernel.getBody().walk([&](MmaOp op) {
    auto fail = [&](auto emit) {
      emit(op.emitOpError("kernel_c14: "));
      return WalkResult::interrupt();
    };
    if (failed(checkMmaOperands(op, op.getA(), op.getB(), op.getShift())))
      return WalkResult::interrupt();
    int64_t steps = op.getSteps(), from = op.getFrom().value_or(0);
    if (steps < 1 || from + steps > maxSteps())
      return fail(
          [&](auto &&d) { d << "steps must be 1.." << maxSteps() - from << ", got " << steps; });
    // A stage begins with step 0; what an mma leaves is the next one's.
    Operation *before = op->getPrevNode();
    while (before && !isa<MmaOp>(before))
      before = before->getPrevNode();
    auto last = dyn_cast_or_null<MmaOp>(before);
    int64_t end = last ? last.getFrom().value_or(0) + int64_t(last.getSteps()) : 0;
    if (from && from != end)
      return fail([&](auto &&d) { d << "first step must be 0 or " << end << ", got " << from; });
    // Scales of every step must have been copied in this block since the mma before
    // it: an inlined loop puts several K tiles into one block.
    int64_t first = from * scalesPerStep() / 4;
    int64_t words = ((from + steps) * scalesPerStep() + 3) / 4 - first;
    for (ScaleOperand operand : {ScaleOperand::sfa, ScaleOperand::sfb}) {
      int64_t products = operand == ScaleOperand::sfa ? shape.scaleTilesOfA : 1;
      int64_t copied = 0;
      bool isRight = true;
      for (Operation *other = op->getPrevNode(); other && !isa<MmaOp>(other);
           other = other->getPrevNode())
        if (auto copy = dyn_cast<CopyScalesOp>(other);
            copy && copy.getOperand().getValue() == operand) {
          copied += copy.getTiles() * (copy.getProduct() ? 1 : products);
          isRight &= int64_t(copy.getFrom().value_or(0)) == first;
          for (Operation *twin = copy->getPrevNode(); twin && !isa<MmaOp>(twin);
               twin = twin->getPrevNode())
            if (auto same = dyn_cast<CopyScalesOp>(twin))
              isRight &=
                  same.getOperand() != copy.getOperand() || same.getProduct() != copy.getProduct();
        }
      if (copied != words * products)
        return fail([&](auto &&d) {
          d << "scale tiles copied for " << StringRef(name(operand)) << " must be "
            << words * products << " for " << steps << " steps, got " << copied;
        });
      if (!isRight)
        return fail([&](auto &&d) {
          d << "scale tiles copied for " << StringRef(name(operand)) << " must be from " << first
            << ", once for each product, got others";
        });
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  result = kernel.getBody().walk([&](MmaSpanOp op) {
    return failed(checkMmaOperands(op, op.getA(), op.getB(), op.getShift()))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult PlanVerifier::checkAccumulatorLoads() {
  // Columns of one stage are read in one block, up to the width of the stage.
  llvm::MapVector<Block *, int64_t> next;
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadAccumulatorOp>(op)) {
      int64_t &column = next[op->getBlock()], count = load.getValues().size();
      std::optional<int64_t> stage = getConstantIntValue(load.getAccumulator());
      if (isOverlapped() && (!stage || *stage < 0 || *stage > 1))
        return op->emitOpError("kernel_c15: accumulator must be a constant 0 or 1 where they are "
                               "overlapped, got ")
                   << (stage ? std::to_string(*stage) : "a value"),
               WalkResult::interrupt();
      // The first of two overlapped stages is read from its end, which the second writes.
      bool isBackward = isOverlapped() && *stage == 0;
      int64_t want = count ? epilogueColumn(shape, schedule, column / count, count) : column;
      if (isBackward)
        want = schedule.getInst().n - want - count;
      if (int64_t(load.getColumn()) != want)
        return op->emitOpError("kernel_c15: column must be ")
                   << want << ", the next one of the stage, got " << load.getColumn(),
               WalkResult::interrupt();
      column += count;
    } else if (auto apply = dyn_cast<ApplyEpilogueOp>(op)) {
      auto load = apply.getValues().empty()
                      ? LoadAccumulatorOp()
                      : apply.getValues().front().getDefiningOp<LoadAccumulatorOp>();
      int64_t column = load ? int64_t(load.getColumn()) % schedule.getInst().n : 0;
      if (load && column != int64_t(apply.getColumn()))
        return op->emitOpError("kernel_c15: column must be ")
                   << column << ", that of its values, got " << apply.getColumn(),
               WalkResult::interrupt();
    } else if (auto release = dyn_cast<ConsumerReleaseOp>(op); release && isEpilogues(release)) {
      for (TmemPlanOp plan : tmems)
        if (int64_t read = next[op->getBlock()], want = sharedColumns(plan.getPlan()); read < want)
          return op->emitOpError("kernel_c15: the ")
                     << want << " columns that the next tile may write must be read before the "
                     << "stage is released, got " << read,
                 WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (auto [block, column] : next)
    for (TmemPlanOp op : tmems)
      if (column != op.getPlan().getWidth())
        return op.emitOpError("kernel_c15: all ")
               << op.getPlan().getWidth() << " columns of a stage must be read, got " << column;
  return success();
}

LogicalResult PlanVerifier::checkTurns() {
  if (!isOverlapped())
    return success();
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    Value accumulator;
    if (auto mma = dyn_cast<MmaOp>(op))
      accumulator = mma.getAccumulator();
    else if (auto span = dyn_cast<MmaSpanOp>(op))
      accumulator = span.getAccumulator();
    else
      return WalkResult::advance();
    bool isTurn = llvm::any_of(accumulator.getUsers(), [&](Operation *user) {
      auto acquire = dyn_cast<ProducerAcquireOp>(user);
      auto ring = acquire ? acquire.getPipeline().getDefiningOp<PipelineOp>() : PipelineOp();
      return ring && acquire.getPhase() == accumulator &&
             ring.getPlan().getConsumer() == WarpRole::epilogue;
    });
    if (isTurn)
      return WalkResult::advance();
    op->emitOpError("kernel_c19: overlapped accumulator must be the phase in which the ring was "
                    "acquired, got another value");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult PlanVerifier::checkWarps() {
  SmallVector<Range> ranges;
  for (WarpRoleOp op : roles) {
    int64_t first = op.getFirst(), last = op.getLast();
    if (first < 0 || last < first || (last + 1) * 32 > int64_t(kernel.getThreads()))
      return op.emitOpError("kernel_c16: warps must lie inside 0..")
             << kernel.getThreads() / 32 - 1 << ", got " << first << ".." << last;
    if (op.getRole().getValue() == WarpRole::epilogue && (first != 0 || last != 3))
      return op.emitOpError(
                 "kernel_c16: epilogue warps must be 0..3, which reach lanes 0..127, got ")
             << first << ".." << last;
    if (op.getRole().getValue() != WarpRole::epilogue && first != last)
      return op.emitOpError("kernel_c16: role must have one warp, got ") << last - first + 1;
    ranges.push_back({op, StringRef(name(op.getRole().getValue())), first, last - first + 1});
  }
  for (TmemPlanOp op : tmems)
    if (int64_t warp = op.getPlan().getAllocWarp();
        warp < 0 || (warp + 1) * 32 > int64_t(kernel.getThreads()))
      return op.emitOpError("kernel_c16: alloc_warp must lie inside the block, got ") << warp;
  if (failed(checkDisjoint(ranges, "kernel_c16", "warps")))
    return failure();
  int64_t warps = 0;
  for (const Range &range : ranges)
    warps += range.size;
  if (warps && int64_t(kernel.getThreads()) != 32 * warps)
    return kernel.emitOpError("kernel_c16: threads must be ")
           << 32 * warps << ", those of the roles, got " << kernel.getThreads();
  return success();
}

LogicalResult PlanVerifier::checkLoads() {
  WalkResult result = kernel.getBody().walk([&](TmaLoadOp op) {
    auto fail = [&](auto emit) {
      emit(op.emitOpError("kernel_c17: "));
      return WalkResult::interrupt();
    };
    auto target = op.getTarget().getDefiningOp<SharedBufferOp>();
    auto pipeline = op.getPipeline().getDefiningOp<PipelineOp>();
    if (!target || !pipeline)
      return fail(
          [](auto &&d) { d << "operands must be plans of this kernel, got a block argument"; });
    if (target.getPlan().getStages() != pipeline.getPlan().getStages())
      return fail([&](auto &&d) {
        d << "buffer must be as deep as its pipeline, " << pipeline.getPlan().getStages()
          << " stages, got " << target.getPlan().getStages();
      });
    const facts::OperandTile *tile = tileOf(target.getPlan());
    int64_t parts = tile ? tile->boxes : 1, part = op.getPart().value_or(0);
    if (part < 0 || part >= parts || op.getPart().has_value() != (parts > 1))
      return fail([&](auto &&d) {
        d << "part must be " << (parts > 1 ? "0.." + std::to_string(parts - 1) : "absent")
          << " for a stage of " << parts << " boxes, got "
          << (op.getPart() ? std::to_string(part) : "none");
      });
    bool twice = llvm::any_of(*op->getBlock(), [&](Operation &other) {
      auto load = dyn_cast<TmaLoadOp>(other);
      return load && load != op && load.getTarget() == op.getTarget() &&
             load.getStage() == op.getStage() && load.getPart() == op.getPart();
    });
    if (twice)
      return fail([&](auto &&d) { d << "a part of a stage must be loaded once, got more"; });
    bool acquired = llvm::any_of(*op->getBlock(), [&](Operation &other) {
      auto acquire = dyn_cast<ProducerAcquireOp>(other);
      return acquire && acquire.getPipeline() == op.getPipeline() &&
             acquire.getStage() == op.getStage() && acquire->isBeforeInBlock(op);
    });
    if (!acquired)
      return fail([](auto &&d) { d << "stage must be acquired before it is loaded, got none"; });
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult PlanVerifier::checkStaging() {
  for (SharedBufferOp op : buffers) {
    SharedPlanAttr plan = op.getPlan();
    if (plan.getContent() != SharedContent::staging)
      continue;
    // One warp's 32 rows of 128 bytes are one TMA store.
    int64_t want = kStagingBytes;
    if (plan.getBytes() != want || plan.getSwizzle() != facts::Swizzle::b128)
      return op.emitOpError("kernel_c18: staging must be ")
             << want << " bytes in the b128 swizzle, got " << plan.getBytes() << " in "
             << StringRef(facts::name(plan.getSwizzle()));
  }
  int64_t acquired = -1; // the buffer that the epilogue holds
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    int64_t buffer = -1, byte = 0, bytes = 0, column = 0;
    Value staging;
    if (auto store = dyn_cast<StoreStagingOp>(op)) {
      buffer = store.getBuffer(), byte = store.getByte(), staging = store.getStaging();
      bytes = facts::packedBytes(problem.getOut(), store.getValues().size());
    } else if (auto acquire = dyn_cast<StagingAcquireOp>(op)) {
      acquired = buffer = acquire.getBuffer(), staging = acquire.getStaging();
    } else if (auto send = dyn_cast<TmaStoreOp>(op)) {
      buffer = send.getBuffer(), staging = send.getStaging(), column = send.getColumn();
    } else {
      return WalkResult::advance();
    }
    auto plan = staging.getDefiningOp<SharedBufferOp>();
    if (!plan || plan.getPlan().getContent() != SharedContent::staging || buffer < 0 ||
        buffer >= plan.getPlan().getStages())
      return op->emitOpError("kernel_c18: buffer must be one of the staging plan, got ") << buffer,
             WalkResult::interrupt();
    if (buffer != acquired)
      return op->emitOpError("kernel_c18: buffer must be the one acquired, ")
                 << acquired << ", got " << buffer,
             WalkResult::interrupt();
    if (int64_t columns = 128 / facts::packedBytes(problem.getOut(), 1);
        column % columns || column < 0 || column >= schedule.getTile().n)
      return op->emitOpError("kernel_c18: column must be a multiple of ")
                 << columns << " inside the tile, got " << column,
             WalkResult::interrupt();
    if (byte < 0 || byte % 16 || bytes % 16 || byte + bytes > 128)
      return op->emitOpError("kernel_c18: a row takes 16-byte pieces inside 0..127, got ")
                 << byte << ".." << byte + bytes - 1,
             WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult PlanVerifier::checkShares() {
  WalkResult result = kernel.getBody().walk([&](TmaLoadOp op) {
    auto target = op.getTarget().getDefiningOp<SharedBufferOp>();
    SharedContent content = target.getPlan().getContent();
    ProblemOperand want = content == SharedContent::b ? ProblemOperand::b : ProblemOperand::a;
    if (content == SharedContent::scales_tiled)
      for (Operation *user : target->getUsers())
        if (auto copy = dyn_cast<CopyScalesOp>(user))
          want = copy.getOperand().getValue() == ScaleOperand::sfa ? ProblemOperand::sfa
                                                                   : ProblemOperand::sfb;
    int64_t sharers = cluster.sharers(want);
    ProblemOperandAttr share = op.getShare().value_or(ProblemOperandAttr());
    if (sharers > 1 ? share && share.getValue() == want : !share)
      return WalkResult::advance();
    InFlightDiagnostic diag = op.emitOpError("kernel_c21: ");
    if (sharers > 1)
      diag << "box must be loaded as a share of " << StringRef(name(want)) << ", which " << sharers
           << " CTAs need, got ";
    else
      diag << "box must be loaded whole, since no other CTA needs it, got ";
    if (share)
      diag << "a share of " << StringRef(name(share.getValue()));
    else
      diag << "the whole box";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace

LogicalResult KernelOp::verifyRegions() { return PlanVerifier(*this).run(); }
