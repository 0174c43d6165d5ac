//===- KernelPlanRules.cpp - memory, pipelines and roles agree -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel_c1 to those of roles: what lies where, how deep, with which bytes and arrivals.
//
//===----------------------------------------------------------------------===//

#include "KernelPlanRules.h"
#include "SpanRules.h"

#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/MmaMode.h"
#include "blockscale/Facts/QuantizedFormat.h"
#include "blockscale/Facts/ScaleTile.h"
#include "blockscale/Facts/Tmem.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace blockscale;

KernelPlanRules::KernelPlanRules(KernelOp kernel)
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

LogicalResult KernelPlanRules::run() {
  return success(
      succeeded(checkArch()) && succeeded(checkSharedRanges()) && succeeded(checkAlignment()) &&
      succeeded(checkTmem()) && succeeded(checkDepths()) && succeeded(checkTransactions()) &&
      succeeded(checkArrivals()) && succeeded(checkRoles()) && succeeded(checkScaleCopies()) &&
      succeeded(checkMmas()) && succeeded(checkAccumulatorLoads()) && succeeded(checkWarps()) &&
      succeeded(checkLoads()) && succeeded(checkStaging()) && succeeded(checkTurns()) &&
      succeeded(verifySpans(kernel)) && succeeded(checkShares()) && succeeded(checkBatches()));
}

LogicalResult KernelPlanRules::checkArch() {
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

LogicalResult KernelPlanRules::checkDisjoint(MutableArrayRef<PlanRange> ranges, StringRef label,
                                             StringRef unit) {
  llvm::stable_sort(ranges,
                    [](const PlanRange &a, const PlanRange &b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i) {
    const PlanRange &low = ranges[i - 1], &high = ranges[i];
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

LogicalResult KernelPlanRules::checkSharedRanges() {
  SmallVector<PlanRange> ranges;
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
  for (const PlanRange &range : ranges)
    end = std::max(end, range.begin + range.size);
  if (int64_t want = (end + 127) / 128 * 128; !ranges.empty() &&
                                              end <= int64_t(kernel.getSharedBytes()) &&
                                              int64_t(kernel.getSharedBytes()) != want)
    return kernel.emitOpError("kernel_c3: shared_bytes must be ")
           << want << ", the end of the plan, got " << kernel.getSharedBytes();
  for (const PlanRange &range : ranges)
    if (range.begin < 0 || range.begin + range.size > int64_t(kernel.getSharedBytes()))
      return range.owner->emitOpError("kernel_c3: bytes of ")
             << range.what << " must lie inside 0.." << int64_t(kernel.getSharedBytes()) - 1
             << ", got " << range.begin << ".." << range.begin + range.size - 1;
  return checkDisjoint(ranges, "kernel_c4", "bytes");
}

LogicalResult KernelPlanRules::checkAlignment() {
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

LogicalResult KernelPlanRules::checkTmem() {
  for (TmemPlanOp op : tmems) {
    TmemPlanAttr plan = op.getPlan();
    SmallVector<PlanRange> ranges;
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
    for (const PlanRange &range : ranges)
      used = std::max(used, range.begin + range.size);
    if (used < 1 || used > facts::kTmemSharedColumns * 4)
      return op.emitOpError("kernel_c7: columns must lie inside the allocation, got ") << used;
    auto rounded = facts::roundTmemColumns(kernel.getArch(), int(used));
    if (!rounded)
      return op.emitOpError("kernel_c6: ") << rounded.message();
    if (plan.getColumns() != *rounded)
      return op.emitOpError("kernel_c6: columns must be ")
             << *rounded << " for " << used << " used, got " << plan.getColumns();
    for (const PlanRange &range : ranges)
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

LogicalResult KernelPlanRules::checkDepths() {
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

LogicalResult KernelPlanRules::checkTransactions() {
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
          if (load.getTarget().getDefiningOp<SharedBufferOp>())
            bytes += schedule.getCtaGroup() * arrivingBytes(load);
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

LogicalResult KernelPlanRules::checkArrivals() {
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
    return cluster.readers();
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

LogicalResult KernelPlanRules::checkRoles() {
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
