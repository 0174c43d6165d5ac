//===- Planning.cpp - sizes that follow from a problem and a tile ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Planning.h"

using namespace mlir;
using namespace blockscale;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

GemmShape::GemmShape(ProblemAttr problem, ScheduleAttr schedule) {
  Shape3 tile = schedule.getTile(), inst = schedule.getInst();
  tilesM = ceilDiv(problem.getM(), tile.m);
  tilesN = ceilDiv(problem.getN(), tile.n);
  tilesK = ceilDiv(problem.getK(), tile.k);
  scalesPerRow = ceilDiv(problem.getK(), problem.getBlock());
  scaleTilesPerStage = facts::scaleTileKBlocks(ceilDiv(tile.k, problem.getBlock()));
  stepsPerStage = tile.k / inst.k;
  lastSteps = ceilDiv(problem.getK() - (tilesK - 1) * tile.k, inst.k);
  rowBytesA = facts::packedBytes(problem.getA(), problem.getK());
  rowBytesB = facts::packedBytes(problem.getB(), problem.getK());
  stageBytesA = tile.m * facts::packedBytes(problem.getA(), tile.k);
  stageBytesB = tile.n * facts::packedBytes(problem.getB(), tile.k);
  stageBytesScales = scaleTilesPerStage * facts::kScaleTileBytes;
  outBytes = facts::packedBytes(problem.getOut(), 1);
  outColumns = 128 / outBytes;
}

TmaMapAttr blockscale::operandMap(MLIRContext *context, int64_t rows, int64_t rowBytes,
                                  int64_t tileRows) {
  return TmaMapAttr::get(context, facts::TmaType::u8, {rowBytes, rows}, {rowBytes}, {128, tileRows},
                         {1, 1}, facts::TmaSwizzle::b128, facts::TmaFill::zero,
                         facts::TmaL2Promotion::b128);
}

TmaMapAttr blockscale::scaleMap(MLIRContext *context, int64_t rows, int64_t scalesPerRow,
                                int64_t tilesPerStage) {
  // A 512-byte tile is 256 elements of two bytes: a box has at most 256.
  int64_t alongK = facts::scaleTileKBlocks(scalesPerRow);
  return TmaMapAttr::get(context, facts::TmaType::u16,
                         {facts::kScaleTileBytes / 2, alongK, facts::scaleTileRowBlocks(rows)},
                         {facts::kScaleTileBytes, alongK * facts::kScaleTileBytes},
                         {facts::kScaleTileBytes / 2, tilesPerStage, 1}, {1, 1, 1},
                         facts::TmaSwizzle::none, facts::TmaFill::zero,
                         facts::TmaL2Promotion::b128);
}

TmaMapAttr blockscale::outputMap(MLIRContext *context, int64_t rows, int64_t columns,
                                 int64_t elementBytes) {
  facts::TmaType type = elementBytes == 4 ? facts::TmaType::u32 : facts::TmaType::u16;
  return TmaMapAttr::get(context, type, {columns, rows}, {columns * elementBytes},
                         {128 / elementBytes, 32}, {1, 1}, facts::TmaSwizzle::b128,
                         facts::TmaFill::zero, facts::TmaL2Promotion::none);
}

int64_t blockscale::planKernelBytes(ProblemAttr problem, ScheduleAttr schedule) {
  StageBytes stage = planStage(problem, schedule.getTile());
  int64_t barriers = 16 * (schedule.getStages() + schedule.getAccumulators()), slot = 8;
  int64_t bytes = schedule.getStages() * stage.total() + schedule.getStaging() * kStagingBytes +
                  barriers + slot;
  return ceilDiv(bytes, 128) * 128;
}
