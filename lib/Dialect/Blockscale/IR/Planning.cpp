//===- Planning.cpp - sizes that follow from a problem and a tile ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Planning.h"

#include "blockscale/Dialect/Blockscale/IR/ClusterPlan.h"

using namespace mlir;
using namespace blockscale;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Elements of K of one stage of A and B.
static int64_t stageK(const TileChoice &choice) {
  return choice.inst.k == kSpanK ? kSpanBufferK : choice.tile.k;
}

facts::OperandTile blockscale::planA(ProblemAttr problem, const TileChoice &choice) {
  return facts::operandTile(choice.mma, problem.getA(), problem.getMajorA(),
                            choice.tile.m / choice.ctas, stageK(choice), choice.inst.k);
}
facts::OperandTile blockscale::planB(ProblemAttr problem, const TileChoice &choice) {
  return facts::operandTile(choice.mma, problem.getB(), problem.getMajorB(),
                            choice.tile.n / choice.ctas, stageK(choice), choice.inst.k);
}

StageBytes blockscale::planStage(ProblemAttr problem, const TileChoice &choice) {
  // Each CTA of a pair has all scales of B.
  int64_t scales = choice.inst.k == kSpanK ? kSpanScales : choice.tile.k / problem.getBlock();
  return {planA(problem, choice).bytes(), planB(problem, choice).bytes(),
          facts::scaleTileBytes(choice.tile.m / choice.ctas, scales),
          facts::scaleTileBytes(choice.tile.n, scales)};
}

int64_t blockscale::accumulatorStep(facts::Arch arch, StageBytes stage, Shape3 tile,
                                    AccumulatorColumns columns) {
  if (columns == AccumulatorColumns::disjoint)
    return tile.n;
  TmemColumns one = planTmem(stage, tile, /*accumulators=*/1);
  int64_t room = facts::info(arch).tmemColumns - one.used();
  return room / kOverlapStep * kOverlapStep;
}

TmemColumns blockscale::planTmem(StageBytes stage, ScheduleAttr schedule) {
  if (int64_t products = productsOfTile(schedule); products > 1)
    return planTmem(stage, schedule.getTile(), products * schedule.getAccumulators());
  TmemColumns columns = planTmem(stage, schedule.getTile(), /*accumulators=*/1);
  columns.accumulators += (schedule.getAccumulators() - 1) *
                          accumulatorStep(schedule.getArch(), stage, schedule.getTile(),
                                          schedule.getAccumulatorColumns());
  return columns;
}

GemmShape::GemmShape(ProblemAttr problem, ScheduleAttr schedule) {
  Shape3 tile = schedule.getTile(), inst = schedule.getInst();
  tilesM = problem.hasDynamicM() ? kDynamicExtent : ceilDiv(problem.getM(), tile.m);
  tilesN = ceilDiv(problem.getN(), tile.n);
  batches = problem.getBatches();
  tilesK = ceilDiv(problem.getK(), tile.k);
  scalesPerRow = ceilDiv(problem.getK(), problem.getBlock());
  scaleTilesPerStage =
      facts::scaleTileKBlocks(isSpan(schedule) ? kSpanScales : ceilDiv(tile.k, problem.getBlock()));
  scaleTilesOfA = productsOfTile(schedule);
  scaleTilesOfB = facts::scaleTileRowBlocks(tile.n);
  stepsPerStage = tile.k / inst.k;
  lastSteps = ceilDiv(problem.getK() - (tilesK - 1) * tile.k, inst.k);
  a = planA(problem, choiceOf(schedule));
  b = planB(problem, choiceOf(schedule));
  stage = planStage(problem, choiceOf(schedule));
  ctasOfTile = schedule.getCtaGroup();
  boxesOfSfa = ctasOfTile > 1 ? scaleTilesOfA : 1;
  if (boxesOfSfa > 1 && a.boxes == 1) {
    // Rows of a product of the other CTA lie between those of its own.
    a.boxes = boxesOfSfa;
    a.box1 /= a.boxes;
    a.boxBytes /= a.boxes;
    a.arriving /= a.boxes;
  }
  outBytes = facts::packedBytes(problem.getOut(), 1);
  outColumns = 128 / outBytes;
  tileColumns = problem.getGate() ? tile.n / 2 : tile.n;
}

int64_t blockscale::epilogueColumn(const GemmShape &shape, ScheduleAttr schedule, int64_t i,
                                   int64_t count) {
  int64_t products = productsOfTile(schedule);
  bool staged = schedule.getEpilogue() == Epilogue::tma_store;
  bool hasGates = shape.tileColumns != schedule.getTile().n;
  int64_t perStore = staged ? std::max<int64_t>(1, shape.outColumns / count) : 1;
  if (hasGates)
    perStore *= 2;
  int64_t product = i / perStore % products;
  int64_t at = i / (perStore * products) * perStore + i % perStore;
  if (int64_t half = kGateInterleave / count; hasGates) {
    // The gates of some pairs, then their values.
    int64_t group = at / (2 * half), inGroup = at % (2 * half);
    at = group * 2 * half + inGroup % 2 * half + inGroup / 2;
  }
  return product * schedule.getTile().n + at * count;
}

int64_t blockscale::columnsUntilRead(const GemmShape &shape, ScheduleAttr schedule,
                                     int64_t columns) {
  bool hasGates = shape.tileColumns != schedule.getTile().n;
  constexpr int64_t group = 2 * kGateInterleave;
  return hasGates ? ceilDiv(columns, group) * group : columns;
}

int64_t blockscale::scalesPerStore(const GemmShape &shape, ProblemAttr problem) {
  int64_t scales = shape.tileColumns / problem.getQuantized().getBlock();
  return scales % facts::kScaleTileScales == 0 ? facts::kScaleTileScales : 2;
}

TmaMapAttr blockscale::operandMap(MLIRContext *context, const facts::OperandTile &tile,
                                  facts::Format format, facts::Major major, int64_t rows, int64_t k,
                                  int64_t pitch, ArrayRef<int64_t> box) {
  bool kMajor = major == facts::Major::k;
  // A padded type counts elements, whole steps of them, u8 bytes.
  int64_t inner = tile.type != facts::TmaType::u8
                      ? int64_t(llvm::alignTo(k, facts::info(tile.type).dimStep))
                  : !kMajor && isDynamic(rows) ? kDynamicExtent
                                               : facts::operandPitch(format, major, rows, k);
  return TmaMapAttr::get(context, tile.type, {inner, kMajor ? rows : k}, {pitch}, box, {1, 1},
                         facts::TmaSwizzle(facts::info(tile.swizzle).tmaCode), facts::TmaFill::zero,
                         facts::TmaL2Promotion::b128);
}

TmaMapAttr blockscale::scaleMap(MLIRContext *context, int64_t rows, int64_t scalesPerRow,
                                ArrayRef<int64_t> box, int64_t pieces) {
  // A 512-byte tile is 256 elements of two bytes: a box has at most 256.
  int64_t alongK = facts::scaleTileKBlocks(scalesPerRow), bytes = facts::kScaleTileBytes / pieces;
  int64_t rowTiles = isDynamic(rows) ? kDynamicExtent : facts::scaleTileRowBlocks(rows);
  return TmaMapAttr::get(context, facts::TmaType::u16, {bytes / 2, alongK * pieces, rowTiles},
                         {bytes, alongK * facts::kScaleTileBytes}, box, {1, 1, 1},
                         facts::TmaSwizzle::none, facts::TmaFill::zero,
                         facts::TmaL2Promotion::b128);
}

bool blockscale::hasBatches(ProblemAttr problem, ProblemOperand operand) {
  bool isOfB = operand == ProblemOperand::b || operand == ProblemOperand::sfb;
  return problem.isBatch() && !(isOfB && problem.getSharedB());
}

/// The map of as many matrices as a batch has, `bytes` apart. These are whole rows or tiles, so
/// that what TMA can fetch of one it can fetch of all.
static TmaMapAttr withBatches(TmaMapAttr map, int64_t batches, int64_t bytes) {
  auto with = [](ArrayRef<int64_t> values, int64_t value) {
    SmallVector<int64_t> all(values);
    all.push_back(value);
    return all;
  };
  return TmaMapAttr::get(map.getContext(), map.getType(), with(map.getDims(), batches),
                         with(map.getStrides(), bytes), with(map.getBox(), 1),
                         with(map.getElementStrides(), 1), map.getSwizzle(), map.getFill(),
                         map.getL2());
}

std::array<TmaMapAttr, 4> blockscale::operandMaps(ProblemAttr problem, ScheduleAttr schedule) {
  MLIRContext *context = problem.getContext();
  GemmShape shape(problem, schedule);
  int64_t m = problem.getM(), n = problem.getN(), k = problem.getK();
  ClusterPlan cluster(schedule);
  auto box = [&](ProblemOperand operand) { return cluster.part(operand, shape).box; };
  auto scales = [&](ProblemOperand operand, int64_t rows) {
    BoxPart part = cluster.part(operand, shape);
    return scaleMap(context, rows, shape.scalesPerRow, part.box, part.pieces);
  };
  std::array<TmaMapAttr, 4> maps{operandMap(context, shape.a, problem.getA(), problem.getMajorA(),
                                            m, k, problem.getRowPitchA(), box(ProblemOperand::a)),
                                 operandMap(context, shape.b, problem.getB(), problem.getMajorB(),
                                            n, k, problem.getRowPitchB(), box(ProblemOperand::b)),
                                 scales(ProblemOperand::sfa, m), scales(ProblemOperand::sfb, n)};
  ProblemAttr one = problem.ofOne();
  int64_t bytes[]{one.getABytes(), one.getBBytes(), one.getSfaBytes(), one.getSfbBytes()};
  for (auto operand :
       {ProblemOperand::a, ProblemOperand::b, ProblemOperand::sfa, ProblemOperand::sfb})
    if (auto i = size_t(operand); hasBatches(problem, operand))
      maps[i] = withBatches(maps[i], problem.getBatches(), bytes[i]);
  return maps;
}

TmaMapAttr blockscale::outputMap(ProblemAttr problem) {
  int64_t elementBytes = facts::packedBytes(problem.getOut(), 1), columns = problem.getOutColumns();
  facts::TmaType type = elementBytes == 4 ? facts::TmaType::u32 : facts::TmaType::u16;
  auto map =
      TmaMapAttr::get(problem.getContext(), type, {columns, problem.getM()},
                      {columns * elementBytes}, {128 / elementBytes, 32}, {1, 1},
                      facts::TmaSwizzle::b128, facts::TmaFill::zero, facts::TmaL2Promotion::none);
  return problem.isBatch() ? withBatches(map, problem.getBatches(), problem.ofOne().getOutBytes())
                           : map;
}

int64_t blockscale::planKernelBytes(ProblemAttr problem, ScheduleAttr schedule) {
  StageBytes stage = planStage(problem, choiceOf(schedule));
  int64_t barriers =
      16 * (schedule.getStages() + schedule.getScaleStages() + accumulatorRing(schedule));
  int64_t slot = 8;
  int64_t bytes = planRingBytes(stage, schedule.getStages(), schedule.getScaleStages()) +
                  schedule.getStaging() * kStagingBytes + barriers + slot;
  return ceilDiv(bytes, 128) * 128;
}
