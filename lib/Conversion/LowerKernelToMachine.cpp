//===- LowerKernelToMachine.cpp - level 3 to 4 ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans become addresses, pipeline steps become mbarrier instructions, roles
// become branches. The order of barriers and fences follows PTX ISA 9.4,
// 9.7.18.6 (tcgen05), 9.7.10.28 (bulk copies) and 9.7.15.16 (mbarrier).
//
//===----------------------------------------------------------------------===//

#include "Activations.h"
#include "ClusterValues.h"
#include "QuantizedColumns.h"
#include "SourceLocations.h"
#include "blockscale/Conversion/GemmKernel.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"
#include "blockscale/Facts/LayoutsCluster.h"
#include "blockscale/Facts/LayoutsScales.h"
#include "blockscale/Facts/Tmem.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include "llvm/ADT/TypeSwitch.h"

namespace blockscale {
#define GEN_PASS_DEF_BLOCKSCALELOWERKERNELTOMACHINEPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {

class KernelLowering {
public:
  explicit KernelLowering(KernelOp kernel)
      : kernel(kernel), problem(kernel.getProblem()), schedule(kernel.getSchedule()),
        shape(problem, schedule), cluster(schedule), b(kernel.getContext()) {}

  void run();

private:
  // Values.
  Value constant(int64_t value);
  Value add(Value a, Value c) { return arith::AddIOp::create(b, loc, a, c); }
  Value add(Value a, int64_t c) { return c == 0 ? a : add(a, constant(c)); }
  Value mul(Value a, int64_t c) {
    return c == 1 ? a : arith::MulIOp::create(b, loc, a, constant(c)).getResult();
  }
  Value equals(Value a, int64_t c) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, a, constant(c));
  }
  Value less(Value a, Value c) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, a, c);
  }
  Value widen(Value a) { return arith::ExtUIOp::create(b, loc, b.getI64Type(), a); }
  /// Address of a stage in shared memory.
  Value shared(int64_t offset) { return add(sharedBase, offset); }
  Value shared(int64_t offset, Value stage, int64_t bytes) {
    return add(shared(offset), mul(stage, bytes));
  }
  Value accumulator(TmemPlanAttr plan, Value stage);
  /// The same barrier of the even CTA, where a pair shares it.
  Value ofLeader(Value barrier) {
    if (!cluster.hasPairs())
      return barrier;
    return arith::AndIOp::create(b, loc, barrier,
                                 constant(int32_t(facts::evenCtaAddress(~uint32_t(0)))));
  }
  /// Whether some tile of a cluster reaches beyond the matrix.
  bool overhangsM() const {
    return problem.hasDynamicM() ||
           problem.getM() % (schedule.getTile().m * cluster.plan.rowTiles()) != 0;
  }
  bool overhangsN() const {
    return problem.getN() % (schedule.getTile().n * cluster.plan.columnTiles()) != 0;
  }
  /// Rows of the matrix; the last parameter where a launch says them.
  Value rows() {
    return problem.hasDynamicM() ? entry->getArguments().back() : constant(problem.getM());
  }
  /// What clusters compute along M.
  Value clustersM() { return rowClusters ? rowClusters : constant(cluster.plan.clustersM(shape)); }
  /// The first row of those that a warpgroup drains at a time.
  Value firstRow(Value tileRow) { return mul(tileRow, rowsOfProduct(schedule)); }
  /// The row of D that is the lane's.
  Value ownRow(Value tileRow) { return add(add(firstRow(tileRow), mul(warp, 32)), lane); }
  /// The same, or the last row where it lies beyond.
  Value ownRowInside(Value tileRow) {
    Value row = ownRow(tileRow);
    if (!overhangsM())
      return row;
    return arith::MinSIOp::create(
        b, loc, row, problem.hasDynamicM() ? add(rows(), -1) : constant(problem.getM() - 1));
  }
  /// A column of D in a tile as one of the matrix.
  Value columnOfD(Value tileColumn, int64_t column) {
    return add(mul(tileColumn, shape.tileColumns), column);
  }
  /// f32s of as many columns of the product, from `column` of the tile on. Those behind the last
  /// one are read from in front of it and never stored.
  SmallVector<Value> loadColumns(Value buffer, Value tileColumn, int64_t column, int64_t count);

  // Control.
  void ifTrue(Value condition, llvm::function_ref<void()> body);
  /// In one lane; the others wait for it, so that .aligned instructions may follow.
  void ifElected(llvm::function_ref<void()> body) {
    ifTrue(ElectSyncOp::create(b, loc), body);
    BarWarpSyncOp::create(b, loc);
  }
  void waitParity(Value barrier, Value parity, bool relaxed = false);
  void waitUntilEmpty(Value pipeline, Value stage, Value phase, bool relaxed = false);

  // Structure of the kernel.
  /// A barrier of all threads, of the whole cluster.
  void syncAll();
  void setUp();
  void tearDown();
  void lowerRole(WarpRoleOp op);

  // Ops. Each stands at the builder's insertion point and replaces its op.
  void lower(Operation *op);
  void lowerOp(TileCountOp op);
  void lowerOp(TileCoordinatesOp op);
  void lowerOp(CtaIndexOp op);
  void lowerOp(CtaCountOp op);
  void lowerOp(PairRankOp op);
  void lowerOp(ScaleTilesOfBOp op);
  void lowerOp(ProducerAcquireOp op);
  void lowerOp(ProducerCommitOp op);
  void lowerOp(ConsumerWaitOp op);
  void lowerOp(ConsumerReleaseOp op);
  void lowerOp(PipelineAdvanceOp op);
  void lowerOp(PipelineDrainOp op);
  void lowerOp(TmaLoadOp op);
  void lowerOp(CopyScalesOp op);
  void lowerOp(MmaOp op);
  void lowerOp(MmaSpanOp op);
  bool holdsBack(LoadAccumulatorOp op);
  void lowerOp(LoadAccumulatorOp op);
  void lowerOp(LoadCOp op);
  void lowerOp(LoadRowAlphaOp op);
  void lowerOp(ApplyEpilogueOp op);
  void lowerOp(ApplyGateOp op);
  void lowerOp(QuantizeColumnsOp op);
  void lowerOp(StoreColumnsOp op);
  void lowerOp(StoreColumnScalesOp op);
  void lowerOp(StagingAcquireOp op);
  void lowerOp(StoreStagingOp op);
  void lowerOp(TmaStoreOp op);
  void lowerOp(StagingDrainOp op);
  void lowerOp(PlainStoreOp op);

  static SharedPlanAttr planOf(Value shared) {
    return shared.getDefiningOp<SharedBufferOp>().getPlan();
  }
  static PipelinePlanAttr pipelineOf(Value pipeline) {
    return pipeline.getDefiningOp<PipelineOp>().getPlan();
  }
  static TmemPlanAttr tmemOf(Value tmem) { return tmem.getDefiningOp<TmemPlanOp>().getPlan(); }
  /// Two values of D as one word, to the nearest even.
  Value pack(Value high, Value low) {
    if (problem.getOut() == facts::Format::f16)
      return CvtRnF16x2Op::create(b, loc, high, low);
    return CvtRnBf16x2Op::create(b, loc, high, low);
  }
  Value bits(Value f32) { return arith::BitcastOp::create(b, loc, b.getI32Type(), f32); }

  KernelOp kernel;
  ProblemAttr problem;
  ScheduleAttr schedule;
  GemmShape shape;
  ClusterValues cluster;
  OpBuilder b;
  Location loc = kernel.getLoc();
  Block *entry = &kernel.getBody().front();
  DenseMap<int64_t, Value> constants;
  Value sharedBase, warp, tmemBase;
  Value rowClusters;             // where m is known at launch only
  Value laneOffset, laneSwizzle; // of the lane's row in a staging buffer
  Value lane, warpLane;          // lane in the warp; lane part of a tensor-memory address
};

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
      .Case<TileCountOp, TileCoordinatesOp, CtaIndexOp, CtaCountOp, PairRankOp, ScaleTilesOfBOp,
            ProducerAcquireOp, ProducerCommitOp, ConsumerWaitOp, ConsumerReleaseOp,
            PipelineAdvanceOp, PipelineDrainOp, TmaLoadOp, CopyScalesOp, MmaOp, MmaSpanOp,
            LoadAccumulatorOp, LoadCOp, LoadRowAlphaOp, ApplyEpilogueOp, ApplyGateOp,
            QuantizeColumnsOp, StoreColumnsOp, StoreColumnScalesOp, StagingAcquireOp,
            StoreStagingOp, TmaStoreOp, StagingDrainOp, PlainStoreOp>([&](auto op) {
        lowerOp(op);
        op.erase();
      });
}

void KernelLowering::lowerOp(CtaIndexOp op) {
  Value index = CtaIdXOp::create(b, loc);
  if (int64_t size = cluster.plan.size(); size > 1)
    index = arith::DivUIOp::create(b, loc, index, constant(size));
  op.replaceAllUsesWith(index);
}

void KernelLowering::lowerOp(CtaCountOp op) {
  Value count = NctaIdXOp::create(b, loc);
  if (int64_t size = cluster.plan.size(); size > 1)
    count = arith::DivUIOp::create(b, loc, count, constant(size));
  op.replaceAllUsesWith(count);
}

void KernelLowering::lowerOp(PairRankOp op) {
  op.replaceAllUsesWith(cluster.hasPairs() ? cluster.pairRank : constant(0));
}

void KernelLowering::lowerOp(TileCountOp op) {
  op.replaceAllUsesWith(mul(clustersM(), cluster.plan.clustersN(shape)));
}

void KernelLowering::lowerOp(TileCoordinatesOp op) {
  // In a cluster these are the places of the cluster, and the CTA's in it is added.
  Value tiles = clustersM();
  Value row = arith::RemUIOp::create(b, loc, op.getTile(), tiles);
  Value column = arith::DivUIOp::create(b, loc, op.getTile(), tiles);
  if (int64_t rows = cluster.plan.rowTiles(); rows > 1) {
    Value inside = cluster.row;
    if (cluster.hasPairs())
      inside = arith::DivUIOp::create(b, loc, inside, constant(cluster.plan.pair));
    row = add(mul(row, rows), inside);
  }
  if (int64_t columns = cluster.plan.columnTiles(); columns > 1)
    column = add(mul(column, columns), cluster.column);
  op.getRow().replaceAllUsesWith(row);
  op.getColumn().replaceAllUsesWith(column);
}

void KernelLowering::lowerOp(ScaleTilesOfBOp op) {
  // facts::scaleTilesOfB of a value.
  Value start = mul(op.getTileColumn(), schedule.getTile().n);
  Value first = arith::DivUIOp::create(b, loc, start, constant(facts::kScaleTileRows));
  Value inside = arith::RemUIOp::create(b, loc, start, constant(facts::kScaleTileRows));
  op.getFirst().replaceAllUsesWith(first);
  op.getShift().replaceAllUsesWith(
      arith::DivUIOp::create(b, loc, inside, constant(facts::kTmemLanesPerWarp)).getResult());
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

void KernelLowering::lowerOp(ProducerAcquireOp op) {
  // Where mma produces, the fence behind its next consumer_wait orders tensor memory, too; of
  // several in a K tile only the first would be needed.
  waitUntilEmpty(op.getPipeline(), op.getStage(), op.getPhase());
  if (isSpan(schedule) && pipelineOf(op.getPipeline()).getProducer() == WarpRole::mma)
    Tcgen05FenceAfterOp::create(b, loc);
}

void KernelLowering::lowerOp(ProducerCommitOp op) {
  PipelinePlanAttr plan = pipelineOf(op.getPipeline());
  Value barrier = shared(plan.getFull(), op.getStage(), 8);
  if (plan.getProducer() == WarpRole::mma) {
    Tcgen05CommitOp::create(b, loc, barrier, cluster.pairMask, cluster.hasPairs());
    return;
  }
  auto expect = [&] {
    MbarrierArriveExpectTxOp::create(b, loc, barrier, uint32_t(plan.getBytes()));
  };
  if (cluster.hasPairs())
    ifTrue(cluster.isLeader, expect);
  else
    expect();
}

void KernelLowering::lowerOp(ConsumerWaitOp op) {
  PipelinePlanAttr plan = pipelineOf(op.getPipeline());
  waitParity(shared(plan.getFull(), op.getStage(), 8), op.getPhase());
  if (!isSpan(schedule) || plan.getConsumer() != WarpRole::mma)
    Tcgen05FenceAfterOp::create(b, loc);
}

void KernelLowering::lowerOp(ConsumerReleaseOp op) {
  PipelinePlanAttr plan = pipelineOf(op.getPipeline());
  Value barrier = shared(plan.getEmpty(), op.getStage(), 8);
  if (plan.getConsumer() == WarpRole::mma) {
    // Scales with a ring of their own are no other product's.
    bool isOwn = plan.getProducer() == WarpRole::tma_scales;
    Tcgen05CommitOp::create(b, loc, barrier, isOwn ? cluster.pairMask : cluster.readersMask,
                            cluster.hasPairs());
    return;
  }
  barrier = ofLeader(barrier);
  Tcgen05WaitLdOp::create(b, loc);
  Tcgen05FenceBeforeOp::create(b, loc);
  BarWarpSyncOp::create(b, loc);
  // What stores the values has its lanes wait for each other.
  ifTrue(ElectSyncOp::create(b, loc),
         [&] { MbarrierArriveOp::create(b, loc, barrier, /*cluster=*/cluster.hasPairs()); });
}

void KernelLowering::lowerOp(PipelineAdvanceOp op) {
  Value next = add(op.getStage(), 1);
  Value wraps = equals(next, pipelineOf(op.getPipeline()).getStages());
  Value flip = arith::ExtUIOp::create(b, loc, b.getI32Type(), wraps);
  op.getNextStage().replaceAllUsesWith(
      arith::SelectOp::create(b, loc, wraps, constant(0), next).getResult());
  op.getNextPhase().replaceAllUsesWith(
      arith::XOrIOp::create(b, loc, op.getPhase(), flip).getResult());
}

void KernelLowering::lowerOp(PipelineDrainOp op) {
  PipelinePlanAttr plan = pipelineOf(op.getPipeline());
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(plan.getStages()), constant(1),
                                 ValueRange{op.getStage(), op.getPhase()});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value stage = loop.getRegionIterArg(0), phase = loop.getRegionIterArg(1);
  waitUntilEmpty(op.getPipeline(), stage, phase, /*relaxed=*/true); // no access follows
  auto advance = PipelineAdvanceOp::create(b, loc, op.getPipeline(), stage, phase);
  auto yield = scf::YieldOp::create(b, loc, advance.getResults());
  b.setInsertionPoint(yield);
  lowerOp(advance);
  advance.erase();
}

//===----------------------------------------------------------------------===//
// Loads and multiplies
//===----------------------------------------------------------------------===//

void KernelLowering::lowerOp(TmaLoadOp op) {
  SharedPlanAttr target = planOf(op.getTarget());
  const facts::OperandTile &tile = target.getContent() == SharedContent::a ? shape.a : shape.b;
  int64_t offset = target.getOffset() + op.getPart().value_or(0) * tile.boxBytes;
  Value to = shared(offset, op.getStage(), target.getBytes()), mask;
  SmallVector<Value> coordinates(op.getCoordinates());
  if (ProblemOperandAttr operand = op.getShare().value_or(ProblemOperandAttr())) {
    size_t index = size_t(operand.getValue());
    mask = cluster.shareMasks[index];
    BoxPart part = cluster.plan.part(operand.getValue(), shape);
    to = add(to, mul(cluster.shares[index], part.bytes));
    int64_t before = 1; // parts of the dimensions before
    for (auto [i, parts] : llvm::enumerate(part.parts)) {
      if (parts == 1)
        continue;
      Value along = cluster.shares[index];
      if (before > 1)
        along = arith::DivUIOp::create(b, loc, along, constant(before));
      if (before * parts < part.count())
        along = arith::RemUIOp::create(b, loc, along, constant(parts));
      coordinates[i] = add(coordinates[i], mul(along, part.box[i]));
      before *= parts;
    }
  }
  Value barrier = shared(pipelineOf(op.getPipeline()).getFull(), op.getStage(), 8);
  CpAsyncBulkTensorLoadOp::create(b, loc, to, op.getMap(), coordinates, ofLeader(barrier), mask,
                                  cluster.hasPairs());
}

void KernelLowering::lowerOp(CopyScalesOp op) {
  SharedPlanAttr source = planOf(op.getSource());
  TmemPlanAttr plan = tmemOf(op.getTmem());
  bool isA = op.getOperand().getValue() == ScaleOperand::sfa;
  int64_t column = isA ? plan.getSfa() : plan.getSfb();
  int64_t along = shape.scaleTilesPerStage, from = op.getFrom().value_or(0);
  int64_t rowTiles = isA ? shape.scaleTilesOfA : shape.scaleTilesOfB;
  int64_t firstRows = op.getProduct().value_or(0),
          rowsEnd = op.getProduct() ? firstRows + 1 : rowTiles;
  // Eight rows of 16 bytes are 128 bytes apart in a scale tile; no swizzle.
  auto attr =
      SmemDescAttr::get(b.getContext(), /*leading=*/16, /*stride=*/128, source.getSwizzle());
  Value desc = SmemDescOp::create(
      b, loc, shared(source.getOffset(), op.getStage(), source.getBytes()), /*next=*/Value(), attr);
  // Shared memory holds all tiles along K of 128 rows, then those of the next 128; so does
  // tensor memory of A, whose products have 128 rows each; of B every row of one word, then the
  // next word.
  for (int64_t word = from; word < from + int64_t(op.getTiles()); ++word)
    for (int64_t rows = firstRows; rows < rowsEnd; ++rows) {
      int64_t tile = rows * along + word, to = isA ? tile : word * rowTiles + rows;
      Value at = tile ? DescAdvanceOp::create(b, loc, desc, uint32_t(facts::kScaleTileBytes * tile))
                            .getResult()
                      : desc;
      Tcgen05CpOp::create(b, loc, add(tmemBase, column + facts::kScaleTileColumns * to), at,
                          cluster.hasPairs());
    }
}

void KernelLowering::lowerOp(MmaOp op) {
  TmemPlanAttr plan = tmemOf(op.getTmem());
  Shape3 inst = schedule.getInst();
  auto operand = [&](Value buffer, const facts::OperandTile &tile) {
    SharedPlanAttr source = planOf(buffer);
    auto attr = SmemDescAttr::get(b.getContext(), tile.leading, tile.stride, source.getSwizzle());
    return SmemDescOp::create(b, loc, shared(source.getOffset(), op.getStage(), source.getBytes()),
                              /*next=*/Value(), attr)
        .getResult();
  };
  Value a = operand(op.getA(), shape.a), bOperand = operand(op.getB(), shape.b);
  Value d = accumulator(plan, op.getAccumulator());
  int64_t scales = inst.k / problem.getBlock(), products = productsOfTile(schedule);
  int64_t from = op.getFrom().value_or(0);
  Value yes;
  for (int64_t j = 0; j < int64_t(op.getSteps()) * products; ++j) {
    int64_t i = from + j / products, product = j % products;
    auto advance = [&](Value desc, int64_t bytes) {
      return bytes ? DescAdvanceOp::create(b, loc, desc, uint32_t(bytes)).getResult() : desc;
    };
    auto [id, word] = facts::scaleStep(int(i), int(scales));
    auto idesc = IDescAttr::get(b.getContext(), schedule.getMma(), problem.getA(), problem.getB(),
                                problem.getScale(), problem.getBlock(), inst.m, inst.n, inst.k, id,
                                id, problem.getMajorA(), problem.getMajorB());
    Value accumulate = op.getAccumulate();
    if (i) {
      if (!yes)
        yes = arith::ConstantIntOp::create(b, loc, 1, /*width=*/1);
      accumulate = yes;
    }
    Value stepA = advance(a, product * (shape.a.bytes() / products) + i * shape.a.stepBytes);
    Value stepB = advance(bOperand, i * shape.b.stepBytes);
    int64_t columnsOfA = facts::scaleGroupColumns(int(rowsOfProduct(schedule)));
    Value sfa =
        add(tmemBase, plan.getSfa() + columnsOfA * (product * shape.scaleTilesPerStage + word));
    Value sfb = add(tmemBase, plan.getSfb() + facts::scaleGroupColumns(int(inst.n)) * word);
    if (op.getShift())
      sfb = add(sfb, op.getShift());
    CollectorUseAttr ofB;
    if (products > 1)
      ofB = CollectorUseAttr::get(b.getContext(),
                                  product ? CollectorUse::lastuse : CollectorUse::fill);
    Tcgen05MmaOp::create(b, loc, add(d, product * inst.n), stepA, stepB, idesc, sfa, sfb,
                         accumulate, cluster.hasPairs(), ofB);
  }
}

void KernelLowering::lowerOp(MmaSpanOp op) {
  TmemPlanAttr plan = tmemOf(op.getTmem());
  Shape3 inst = schedule.getInst();
  auto operand = [&](Value buffer, const facts::OperandTile &tile) -> Value {
    SharedPlanAttr source = planOf(buffer);
    auto at = [&](Value stage) { return shared(source.getOffset(), stage, source.getBytes()); };
    auto attr = SmemDescAttr::get(b.getContext(), tile.leading, tile.stride, source.getSwizzle());
    Value desc = SmemDescOp::create(b, loc, at(op.getStage()),
                                    op.getNext() ? at(op.getNext()) : Value(), attr);
    return op.getByte() ? DescAdvanceOp::create(b, loc, desc, uint32_t(op.getByte())).getResult()
                        : desc;
  };
  Value a = operand(op.getA(), shape.a), bOperand = operand(op.getB(), shape.b);
  auto [id, word] = facts::scaleStep(int(op.getScale()), /*perInstruction=*/1);
  auto idesc = IDescAttr::get(b.getContext(), schedule.getMma(), problem.getA(), problem.getB(),
                              problem.getScale(), problem.getBlock(), inst.m, inst.n, op.getK(), id,
                              id, problem.getMajorA(), problem.getMajorB());
  Value sfa =
      add(tmemBase, plan.getSfa() + facts::scaleGroupColumns(int(rowsOfProduct(schedule))) * word);
  Value sfb = add(tmemBase, plan.getSfb() + facts::scaleGroupColumns(int(inst.n)) * word);
  if (op.getShift())
    sfb = add(sfb, op.getShift());
  Tcgen05MmaOp::create(b, loc, accumulator(plan, op.getAccumulator()), a, bOperand, idesc, sfa, sfb,
                       op.getAccumulate(), cluster.hasPairs(), /*collector_b=*/CollectorUseAttr());
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

/// Gates and their values take so many registers that ptxas spills where it loads those of other
/// pairs early. What is quantised has a barrier behind each pair already.
bool KernelLowering::holdsBack(LoadAccumulatorOp op) {
  if (!problem.getGate() || isa_and_nonnull<BarWarpSyncOp>(op->getPrevNode()))
    return false;
  int64_t n = schedule.getTile().n, column = op.getColumn(),
          inGroup = column % (2 * kGateInterleave);
  // Of overlapped accumulators the first is read from its end.
  bool isBackward = schedule.getAccumulatorColumns() == AccumulatorColumns::overlapped &&
                    getConstantIntValue(op.getAccumulator()) == 0;
  bool isFirst = column == (isBackward ? n - int64_t(op.getValues().size()) : 0);
  bool isSecondOfPair = (inGroup >= kGateInterleave) != isBackward;
  return !isFirst && (isSecondOfPair || !problem.getQuantized());
}

void KernelLowering::lowerOp(LoadAccumulatorOp op) {
  if (holdsBack(op))
    BarWarpSyncOp::create(b, loc);
  Value address = add(accumulator(tmemOf(op.getTmem()), op.getAccumulator()), op.getColumn());
  SmallVector<Type> types(op.getValues().size(), b.getI32Type());
  auto load = Tcgen05LdOp::create(b, loc, types, arith::OrIOp::create(b, loc, address, warpLane));
  for (auto [to, from] : llvm::zip(op.getValues(), load.getValues()))
    to.replaceAllUsesWith(arith::BitcastOp::create(b, loc, b.getF32Type(), from).getResult());
}

void KernelLowering::lowerOp(LoadCOp op) {
  // Rows and columns beyond the last ones are read from in front of them.
  int64_t n = problem.getN(), bytes = shape.outBytes;
  Type type = getElementType(b.getContext(), problem.getOut());
  int64_t group = n % 4 == 0 ? 4 : 1;
  Value row = ownRowInside(op.getTileRow());
  Value start = arith::MulIOp::create(
      b, loc, widen(row), arith::ConstantIntOp::create(b, loc, n * bytes, /*width=*/64));
  Value first = add(mul(op.getTileColumn(), schedule.getTile().n), op.getColumn());
  SmallVector<Type> types(group, type);
  for (int64_t i = 0; i < int64_t(op.getValues().size()); i += group) {
    Value column = add(first, i);
    if (overhangsN())
      column = arith::MinSIOp::create(b, loc, column, constant(n - group));
    Value offset = arith::AddIOp::create(b, loc, start, widen(mul(column, bytes)));
    auto load = LdGlobalOp::create(b, loc, types, op.getBuffer(), offset);
    for (int64_t j = 0; j < group; ++j) {
      Value value = load.getValues()[j];
      if (!type.isF32())
        value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
      op.getValues()[i + j].replaceAllUsesWith(value);
    }
  }
}

SmallVector<Value> KernelLowering::loadColumns(Value buffer, Value tileColumn, int64_t column,
                                               int64_t count) {
  SmallVector<Value> values;
  if (!buffer)
    return values;
  constexpr int64_t kBytes = sizeof(float);
  int64_t n = problem.getN(), group = n % 4 == 0 ? 4 : 1;
  Value first = add(mul(tileColumn, schedule.getTile().n), column);
  // Where all of them are inside or none is, one address and constants behind it are enough: many
  // addresses that several products share would be many registers.
  bool isTogether = !overhangsN() || n % count == 0;
  if (isTogether && overhangsN())
    first = arith::MinSIOp::create(b, loc, first, constant(n - count));
  Value start = isTogether ? widen(mul(first, kBytes)) : Value();
  SmallVector<Type> types(group, b.getF32Type());
  for (int64_t i = 0; i < count; i += group) {
    Value offset = start;
    if (!isTogether)
      offset =
          widen(mul(arith::MinSIOp::create(b, loc, add(first, i), constant(n - group)), kBytes));
    else if (i)
      offset = arith::AddIOp::create(
          b, loc, start, arith::ConstantIntOp::create(b, loc, i * kBytes, /*width=*/64));
    llvm::append_range(values, LdGlobalOp::create(b, loc, types, buffer, offset).getValues());
  }
  return values;
}

void KernelLowering::lowerOp(LoadRowAlphaOp op) {
  Value offset = widen(mul(ownRowInside(op.getTileRow()), 4));
  op.replaceAllUsesWith(
      LdGlobalOp::create(b, loc, b.getF32Type(), op.getBuffer(), offset).getValues().front());
}

void KernelLowering::lowerOp(ApplyEpilogueOp op) {
  int64_t count = op.getValues().size();
  SmallVector<Value> bias = loadColumns(op.getBias(), op.getTileColumn(), op.getColumn(), count),
                     factors = loadColumns(op.getAlphaColumns(), op.getTileColumn(), op.getColumn(),
                                           count);
  for (int64_t i = 0; i < count; ++i) {
    Value value = op.getValues()[i], alpha = op.getAlpha();
    if (!factors.empty()) {
      if (alpha)
        value = arith::MulFOp::create(b, loc, value, alpha);
      alpha = factors[size_t(i)];
    }
    if (alpha && op.getBias())
      value = FmaRnOp::create(b, loc, value, alpha, bias[i]);
    else if (alpha)
      value = arith::MulFOp::create(b, loc, value, alpha);
    else if (op.getBias())
      value = arith::AddFOp::create(b, loc, value, bias[i]);
    if (op.getBeta())
      value = FmaRnOp::create(b, loc, op.getC()[i], op.getBeta(), value);
    else if (!op.getC().empty())
      value = arith::AddFOp::create(b, loc, value, op.getC()[i]);
    if (op.getActivation())
      value = emitActivation(b, loc, op.getActivation()->getValue(), value);
    op.getResults()[i].replaceAllUsesWith(value);
  }
}

void KernelLowering::lowerOp(ApplyGateOp op) {
  for (auto [result, gate, value] : llvm::zip_equal(op.getResults(), op.getGates(), op.getValues()))
    result.replaceAllUsesWith(
        arith::MulFOp::create(b, loc, emitActivation(b, loc, op.getFunction().getValue(), gate),
                              value)
            .getResult());
}

void KernelLowering::lowerOp(QuantizeColumnsOp op) {
  QuantizedColumns quantized =
      quantizeColumns(b, loc, schedule, problem.getOutBlocked(), op.getValues(), op.getGlobal());
  op.getWords().replaceAllUsesWith(ValueRange(quantized.words));
  op.getScales().replaceAllUsesWith(ValueRange(quantized.scales));
}

void KernelLowering::lowerOp(StoreColumnsOp op) {
  Value column = columnOfD(op.getTileColumn(), op.getColumn());
  storeColumns(b, loc, problem.getOutBlocked(), op.getBuffer(), {ownRow(op.getTileRow()), column},
               op.getWords());
  if (!isa<StoreColumnScalesOp>(op->getNextNode())) // which waits for the lanes, too
    BarWarpSyncOp::create(b, loc);                  // some lanes have no row
}

void KernelLowering::lowerOp(StoreColumnScalesOp op) {
  Value column = columnOfD(op.getTileColumn(), op.getColumn());
  // Behind the last columns of the last tile rows of tiles of scales may go on.
  int64_t tiles = cluster.plan.clustersN(shape) * cluster.plan.columnTiles();
  int64_t end = op.getColumn() + int64_t(op.getScales().size()) * problem.getQuantized().getBlock();
  Value isLast;
  if (end == shape.tileColumns)
    isLast = equals(op.getTileColumn(), tiles - 1);
  storeColumnScales(b, loc, problem.getOutBlocked(), op.getBuffer(),
                    {ownRow(op.getTileRow()), column}, op.getScales(),
                    {isLast, tiles * shape.tileColumns});
  BarWarpSyncOp::create(b, loc);
}

void KernelLowering::lowerOp(StagingAcquireOp op) {
  ifElected([&] {
    CpAsyncBulkWaitGroupOp::create(b, loc, uint32_t(planOf(op.getStaging()).getStages() - 1),
                                   /*read=*/true);
  });
}

void KernelLowering::lowerOp(StoreStagingOp op) {
  SharedPlanAttr plan = planOf(op.getStaging());
  SmallVector<Value> words;
  ValueRange values = op.getValues();
  if (problem.getOut() == facts::Format::f32) {
    for (Value value : values)
      words.push_back(bits(value));
  } else {
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      words.push_back(pack(values[i + 1], values[i]));
  }
  Value row = add(shared(plan.getOffset() + int64_t(op.getBuffer()) * plan.getBytes()), laneOffset);
  for (size_t i = 0; i < words.size(); i += 4) {
    Value piece = arith::XOrIOp::create(b, loc, laneSwizzle, constant(op.getByte() + 4 * i));
    StSharedOp::create(b, loc, add(row, piece), ValueRange(words).slice(i, 4));
  }
}

void KernelLowering::lowerOp(TmaStoreOp op) {
  SharedPlanAttr plan = planOf(op.getStaging());
  FenceProxyAsyncOp::create(b, loc);
  BarWarpSyncOp::create(b, loc);
  Value row = add(firstRow(op.getTileRow()), mul(warp, 32));
  Value column = columnOfD(op.getTileColumn(), op.getColumn());
  Value source = add(shared(plan.getOffset() + int64_t(op.getBuffer()) * plan.getBytes()),
                     mul(warp, 32 * 128));
  ifElected([&] {
    CpAsyncBulkTensorStoreOp::create(b, loc, op.getMap(), ValueRange{column, row}, source);
    CpAsyncBulkCommitGroupOp::create(b, loc);
  });
}

void KernelLowering::lowerOp(StagingDrainOp op) {
  ifElected([&] { CpAsyncBulkWaitGroupOp::create(b, loc, 0u, /*read=*/true); });
}

void KernelLowering::lowerOp(PlainStoreOp op) {
  int64_t n = problem.getOutColumns(), bytes = shape.outBytes;
  Value row = ownRow(op.getTileRow());
  Value column = columnOfD(op.getTileColumn(), op.getColumn());
  Value limit = arith::SubIOp::create(b, loc, constant(n), column);
  Value start = arith::AddIOp::create(
      b, loc,
      arith::MulIOp::create(b, loc, widen(row),
                            arith::ConstantIntOp::create(b, loc, n * bytes, /*width=*/64)),
      widen(mul(column, bytes)));
  // Pairs of 16-bit columns share a word where every row starts on a word.
  bool f32 = problem.getOut() == facts::Format::f32;
  int64_t step = !f32 && n % 2 == 0 ? 2 : 1;
  ifTrue(less(row, rows()), [&] {
    ValueRange values = op.getValues();
    for (size_t i = 0; i < values.size(); i += step) {
      ifTrue(less(constant(i), limit), [&] {
        Value word;
        if (f32)
          word = bits(values[i]);
        else
          word = pack(values[i + step - 1], values[i]);
        if (!f32 && step == 1)
          word = arith::TruncIOp::create(b, loc, b.getI16Type(), word);
        Value offset = arith::AddIOp::create(
            b, loc, start, arith::ConstantIntOp::create(b, loc, i * bytes, /*width=*/64));
        StGlobalOp::create(b, loc, op.getBuffer(), offset, word);
      });
    }
  });
  BarWarpSyncOp::create(b, loc); // some lanes have no row
}

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
