//===- LowerKernelMainLoop.cpp - tiles, pipelines, loads and products ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tile is whose, the mbarrier instructions of pipeline steps, TMA loads, copies of scale
// factors, and products with their descriptors.
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"

#include "blockscale/Facts/LayoutsScales.h"
#include "blockscale/Facts/Tmem.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

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
  op.replaceAllUsesWith(mul(clustersM(), cluster.plan.clustersN(shape) * shape.batches));
}

void KernelLowering::lowerOp(TileBatchOp op) {
  Value tiles = mul(clustersM(), cluster.plan.clustersN(shape));
  op.replaceAllUsesWith(arith::DivUIOp::create(b, loc, op.getTile(), tiles).getResult());
}

void KernelLowering::lowerOp(TileCoordinatesOp op) {
  // In a cluster these are the places of the cluster, and the CTA's in it is added.
  Value tiles = clustersM();
  Value row = arith::RemUIOp::create(b, loc, op.getTile(), tiles);
  Value column = arith::DivUIOp::create(b, loc, op.getTile(), tiles);
  if (problem.isBatch())
    column = arith::RemUIOp::create(b, loc, column, constant(cluster.plan.clustersN(shape)));
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
    Tcgen05CommitOp::create(b, loc, barrier, cluster.readersMask, cluster.hasPairs());
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
  int64_t boxBytes = target.getContent() == SharedContent::a ? shape.a.boxBytes
                     : target.getContent() == SharedContent::b
                         ? shape.b.boxBytes
                         : target.getBytes() / shape.boxesOfSfa;
  int64_t offset = target.getOffset() + op.getPart().value_or(0) * boxBytes;
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
