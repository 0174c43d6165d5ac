//===- LowerKernelToMachine.cpp - level 3 to 4 ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans become addresses, pipeline steps become mbarrier instructions, roles
// become branches. The order of barriers and fences follows PTX ISA 9.4,
// 9.7.18.6 (tcgen05), 9.7.10.28 (bulk copies) and 9.7.15.16 (mbarrier).
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "SourceLocations.h"
#include "blockscale/Conversion/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include "llvm/ADT/TypeSwitch.h"

namespace blockscale {
#define GEN_PASS_DEF_BLOCKSCALELOWERKERNELTOMACHINEPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Values and control
//===----------------------------------------------------------------------===//

Value KernelLowering::constant(int64_t value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    known = arith::ConstantIntOp::create(b, kernel.getLoc(), value, /*width=*/32);
  }
  return known;
}

void KernelLowering::ifTrue(Value condition, llvm::function_ref<void()> body) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

void KernelLowering::waitParity(Value barrier, Value parity, bool relaxed) {
  Value yes = arith::ConstantIntOp::create(b, loc, 1, /*width=*/1);
  scf::WhileOp::create(
      b, loc, TypeRange{}, ValueRange{},
      [&](OpBuilder &builder, Location loc, ValueRange) {
        Value done = MbarrierTryWaitParityOp::create(builder, loc, barrier, parity, relaxed,
                                                     /*cluster=*/!cluster.plan.isAlone());
        Value again = arith::XOrIOp::create(builder, loc, done, yes);
        scf::ConditionOp::create(builder, loc, again, ValueRange{});
      },
      [&](OpBuilder &builder, Location loc, ValueRange) { scf::YieldOp::create(builder, loc); });
}

void KernelLowering::waitUntilEmpty(Value pipeline, Value stage, Value phase, bool relaxed) {
  // A fresh barrier lets parity 1 pass: the first round finds every stage empty.
  Value parity = arith::XOrIOp::create(b, loc, phase, constant(1));
  waitParity(shared(pipelineOf(pipeline).getEmpty(), stage, 8), parity, relaxed);
}

Value KernelLowering::accumulator(TmemPlanAttr plan, Value stage) {
  ArrayRef<int64_t> bases = plan.getAccumulators();
  bool even = true;
  int64_t step = bases.size() > 1 ? bases[1] - bases[0] : 0;
  for (size_t i = 1; i < bases.size(); ++i)
    even &= bases[i] - bases[i - 1] == step;
  if (even)
    return add(add(tmemBase, bases[0]), mul(stage, step));
  Value column = constant(bases[0]);
  for (size_t i = 1; i < bases.size(); ++i)
    column = arith::SelectOp::create(b, loc, equals(stage, int64_t(i)), constant(bases[i]), column);
  return add(tmemBase, column);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

void KernelLowering::syncAll() {
  if (cluster.plan.isAlone()) {
    BarSyncOp::create(b, loc, 0);
    return;
  }
  BarrierClusterArriveOp::create(b, loc);
  BarrierClusterWaitOp::create(b, loc);
}

void KernelLowering::setUp() {
  sharedBase = SharedBaseOp::create(b, loc);
  warp = arith::ShRUIOp::create(b, loc, TidXOp::create(b, loc), constant(5));
  lane = LaneIdOp::create(b, loc);
  if (int64_t each = cluster.plan.rows(schedule); problem.hasDynamicM())
    rowClusters = arith::DivUIOp::create(b, loc, add(rows(), each - 1), constant(each));
  cluster.create(b, loc);
  ifTrue(equals(warp, 0), [&] {
    ifElected([&] {
      for (auto op : entry->getOps<PipelineOp>()) {
        PipelinePlanAttr plan = op.getPlan();
        for (int64_t i = 0; i < plan.getStages(); ++i) {
          MbarrierInitOp::create(b, op.getLoc(), shared(plan.getFull() + 8 * i),
                                 uint32_t(plan.getProducers()));
          MbarrierInitOp::create(b, op.getLoc(), shared(plan.getEmpty() + 8 * i),
                                 uint32_t(plan.getConsumers()));
        }
      }
    });
  });
  for (auto op : entry->getOps<TmemPlanOp>()) {
    TmemPlanAttr plan = op.getPlan();
    ifTrue(equals(warp, plan.getAllocWarp()), [&] {
      Tcgen05AllocOp::create(b, op.getLoc(), shared(plan.getSlot()), uint32_t(plan.getColumns()),
                             cluster.hasPairs());
      Tcgen05RelinquishAllocPermitOp::create(b, op.getLoc(), cluster.hasPairs());
    });
  }
  // The barrier publishes the mbarriers and the address of the allocation.
  syncAll();
  for (auto op : entry->getOps<TmemPlanOp>())
    tmemBase = LdSharedOp::create(b, op.getLoc(), shared(op.getPlan().getSlot()));
}

void KernelLowering::tearDown() {
  // No access may be in flight when the columns are given back; consumer_release and commit
  // have what belongs in front of the barrier. Nor may a CTA leave while another writes its
  // memory or arrives at its barriers: mma has waited for what others send, and pipeline_drain
  // for their commits; but the peer's warps arrive at accumulators that nobody waits for.
  if (cluster.hasPairs())
    syncAll();
  else
    BarSyncOp::create(b, loc, 0);
  Tcgen05FenceAfterOp::create(b, loc);
  for (auto op : entry->getOps<TmemPlanOp>()) {
    TmemPlanAttr plan = op.getPlan();
    ifTrue(equals(warp, plan.getAllocWarp()), [&] {
      Tcgen05DeallocOp::create(b, op.getLoc(), tmemBase, uint32_t(plan.getColumns()),
                               cluster.hasPairs());
    });
  }
}

void KernelLowering::lowerRole(WarpRoleOp op) {
  b.setInsertionPoint(op);
  loc = op.getLoc();
  WarpRole role = op.getRole().getValue();
  Value mine;
  if (op.getFirst() == op.getLast()) {
    mine = equals(warp, op.getFirst());
  } else {
    Value relative = arith::SubIOp::create(b, loc, warp, constant(op.getFirst()));
    mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, relative,
                                 constant(op.getLast() - op.getFirst() + 1));
  }
  if (role == WarpRole::mma && cluster.hasPairs())
    mine = arith::AndIOp::create(b, loc, mine, cluster.isLeader);
  Block *body = &op.getBody().front();
  auto moveBody = [&] {
    Block *target = b.getInsertionBlock();
    target->getOperations().splice(b.getInsertionPoint(), body->getOperations());
  };
  ifTrue(mine, [&] {
    if (role == WarpRole::epilogue) {
      warpLane = arith::ShLIOp::create(b, loc, warp, constant(21));
      // Row `lane` of the warp's 32 rows of 128 bytes; the swizzle XORs bits 9:7
      // of the address, which are the row's low bits, into bits 6:4.
      Value rows = add(mul(warp, 32), lane);
      laneOffset = mul(rows, 128);
      laneSwizzle = mul(arith::AndIOp::create(b, loc, lane, constant(7)),
                        facts::info(facts::Swizzle::b128).span / 8);
      moveBody();
      if (schedule.getAccumulatorColumns() == AccumulatorColumns::overlapped) {
        // The last columns were read behind the last release.
        Tcgen05WaitLdOp::create(b, loc);
        Tcgen05FenceBeforeOp::create(b, loc);
      }
    } else {
      ifElected(moveBody);
    }
  });
  op.erase();
}

void KernelLowering::run() {
  nameLocations(kernel);
  loc = kernel.getLoc();
  b.setInsertionPointToStart(entry);
  // Constants are gathered in front of everything else.
  Operation *first = &entry->front();
  b.setInsertionPoint(first);
  setUp();
  b.setInsertionPoint(entry->getTerminator());
  tearDown();
  for (WarpRoleOp op : llvm::make_early_inc_range(entry->getOps<WarpRoleOp>()))
    lowerRole(op);
  SmallVector<Operation *> work;
  kernel.getBody().walk([&](Operation *op) { work.push_back(op); });
  for (Operation *op : work)
    lower(op);
  // Plans have no uses left, in reverse order of definition.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*entry)))
    if (isa<SharedBufferOp, TmemPlanOp, PipelineOp>(op))
      op.erase();
}

void KernelLowering::lower(Operation *op) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  llvm::TypeSwitch<Operation *>(op)
      .Case<TileCountOp, TileCoordinatesOp, TileBatchOp, CtaIndexOp, CtaCountOp, PairRankOp,
            ScaleTilesOfBOp, ProducerAcquireOp, ProducerCommitOp, ConsumerWaitOp, ConsumerReleaseOp,
            PipelineAdvanceOp, PipelineDrainOp, TmaLoadOp, CopyScalesOp, MmaOp, MmaSpanOp,
            LoadAccumulatorOp, LoadCOp, LoadRowAlphaOp, ApplyEpilogueOp, ApplyGateOp,
            QuantizeColumnsOp, StoreColumnsOp, StoreColumnScalesOp, StagingAcquireOp,
            StoreStagingOp, TmaStoreOp, StagingDrainOp, PlainStoreOp>([&](auto op) {
        lowerOp(op);
        op.erase();
      });
}

namespace {
struct LowerKernelToMachine
    : blockscale::impl::BlockscaleLowerKernelToMachinePassBase<LowerKernelToMachine> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>(); // of conversions and functions
    BlockscaleLowerKernelToMachinePassBase::getDependentDialects(registry);
  }

  void runOnOperation() override {
    getOperation().walk([&](KernelOp kernel) {
      if (!kernel.getBody().front().getOps<WarpRoleOp>().empty())
        KernelLowering(kernel).run();
    });
  }
};

} // namespace
