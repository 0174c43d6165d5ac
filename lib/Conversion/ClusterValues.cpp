//===- ClusterValues.cpp - a CTA's place in its cluster, as values --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClusterValues.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

void ClusterValues::create(OpBuilder &b, Location loc) {
  if (plan.isAlone())
    return;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, /*width=*/32);
  };
  auto modulo = [&](Value value, int64_t power) -> Value {
    return power == 1 ? constant(0)
                      : arith::AndIOp::create(b, loc, value, constant(power - 1)).getResult();
  };
  auto divided = [&](Value value, int64_t power) -> Value {
    int64_t bits = llvm::Log2_64(power);
    return bits ? arith::ShRUIOp::create(b, loc, value, constant(bits)).getResult() : value;
  };
  auto times = [&](Value value, int64_t power) -> Value {
    int64_t bits = llvm::Log2_64(power);
    return bits ? arith::ShLIOp::create(b, loc, value, constant(bits)).getResult() : value;
  };
  auto shifted = [&](uint32_t mask, Value by) -> Value {
    return arith::ShLIOp::create(b, loc, constant(mask), by);
  };

  int64_t m = plan.shape.m;
  Value rank = ClusterCtaRankOp::create(b, loc);
  row = modulo(rank, m);
  column = divided(rank, m);
  Value ofPair = row; // the row of its even CTA
  if (hasPairs()) {
    pairRank = modulo(rank, plan.pair);
    isLeader = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, pairRank, constant(0));
    ofPair = arith::SubIOp::create(b, loc, row, pairRank);
  }
  // Rank of the first CTA of the column.
  Value first = times(column, m);
  Value ofRow = shifted(plan.rowMask(), ofPair), ofColumn = shifted(plan.columnMask(), first);
  readersMask = arith::OrIOp::create(b, loc, ofRow, ofColumn);
  if (hasPairs())
    pairMask = shifted(plan.pairMask(), arith::AddIOp::create(b, loc, ofPair, first));

  for (auto operand :
       {ProblemOperand::a, ProblemOperand::b, ProblemOperand::sfa, ProblemOperand::sfb}) {
    if (plan.sharers(operand) == 1)
      continue;
    Value by = row, share = column; // the same row
    if (operand == ProblemOperand::sfb) {
      by = first, share = row;
    } else if (operand == ProblemOperand::b) {
      by = hasPairs() ? arith::AddIOp::create(b, loc, first, pairRank).getResult() : first;
      share = divided(row, plan.pair);
    }
    shareMasks[size_t(operand)] = shifted(plan.sharerMask(operand), by);
    shares[size_t(operand)] = share;
  }
}
