//===- ClusterPlan.cpp - what the CTAs of a cluster share -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/ClusterPlan.h"

#include <numeric>

using namespace mlir;
using namespace blockscale;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t BoxPart::count() const {
  int64_t count = 1;
  for (int64_t along : parts)
    count *= along;
  return count;
}

int64_t ClusterPlan::clustersM(const GemmShape &gemm) const {
  assert(!isDynamic(gemm.tilesM) && "m must be known");
  return ceilDiv(gemm.tilesM, rowTiles());
}
int64_t ClusterPlan::clustersN(const GemmShape &gemm) const {
  return ceilDiv(gemm.tilesN, columnTiles());
}
int64_t ClusterPlan::grid(const GemmShape &gemm, ScheduleAttr schedule) const {
  return std::min(clusters(gemm) * size(), schedule.getCtas());
}

int64_t ClusterPlan::sharers(ProblemOperand operand) const {
  switch (operand) {
  case ProblemOperand::a:
  case ProblemOperand::sfa:
    return shape.n;
  case ProblemOperand::b: // the other half is the other CTA's of the pair
    return rowTiles();
  case ProblemOperand::sfb:
    return shape.m;
  }
  return 1;
}

/// `count` parts of scale tiles that lie one after another: of whole row tiles while there
/// are as many, then of tiles along K, then of bytes of one tile. Three tiles along K have no two
/// equal parts: each is as many pieces as there are parts, and a part is three pieces.
static BoxPart partOfScales(int64_t count, int64_t rowTiles, int64_t alongK) {
  int64_t ofRows = std::min(count, rowTiles), ofK = std::gcd(count / ofRows, alongK);
  int64_t ofTile = count / ofRows / ofK;
  BoxPart part;
  part.box = {facts::kScaleTileBytes / 2 / ofTile, alongK / ofK, rowTiles / ofRows};
  part.bytes = facts::kScaleTileBytes * alongK * rowTiles / count;
  if (part.box[1] > 1)
    part.pieces = ofTile, ofK *= ofTile, ofTile = 1;
  part.parts = {ofTile, ofK, ofRows};
  return part;
}

/// `count` parts along the dimension that is not innermost.
static BoxPart partOfOperand(int64_t count, const facts::OperandTile &tile) {
  return {{tile.box0, tile.box1 / count}, {1, count}, tile.boxBytes / count};
}

BoxPart ClusterPlan::part(ProblemOperand operand, const GemmShape &gemm) const {
  int64_t count = sharers(operand);
  switch (operand) {
  case ProblemOperand::a:
    return partOfOperand(count, gemm.a);
  case ProblemOperand::b:
    return partOfOperand(count, gemm.b);
  case ProblemOperand::sfa:
    return partOfScales(count, gemm.scaleTilesOfA / gemm.boxesOfSfa, gemm.scaleTilesPerStage);
  case ProblemOperand::sfb:
    break;
  }
  return partOfScales(count, gemm.scaleTilesOfB, gemm.scaleTilesPerStage);
}

uint32_t ClusterPlan::sharerMask(ProblemOperand operand) const {
  uint32_t mask = 0;
  switch (operand) {
  case ProblemOperand::a:
  case ProblemOperand::sfa:
    for (int64_t j = 0; j < shape.n; ++j)
      mask |= uint32_t(1) << shape.m * j;
    return mask;
  case ProblemOperand::b:
    for (int64_t i = 0; i < shape.m; i += pair)
      mask |= uint32_t(1) << i;
    return mask;
  case ProblemOperand::sfb:
    break;
  }
  return columnMask();
}

uint32_t ClusterPlan::rowMask() const {
  uint32_t mask = 0;
  for (int64_t j = 0; j < shape.n; ++j)
    mask |= pairMask() << shape.m * j;
  return mask;
}
