//===- LowerKernelEpilogue.cpp - accumulators become elements of D -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accumulators are loaded, scaled, biased, activated, gated, quantised, and stored by staging
// buffers and TMA or lane by lane.
//
//===----------------------------------------------------------------------===//

#include "Activations.h"
#include "KernelLowering.h"
#include "QuantizedColumns.h"

using namespace mlir;
using namespace blockscale;

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

Value KernelLowering::startOfRow(Value batch, Value row) {
  int64_t pitch = problem.getOutColumns() * shape.outBytes;
  auto times = [&](Value value, Value other) -> Value {
    return arith::MulIOp::create(b, loc, value, other);
  };
  auto wide = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, /*width=*/64);
  };
  Value start = times(widen(row), wide(pitch));
  if (!batch)
    return start;
  Value before = problem.hasDynamicM() ? times(times(widen(batch), widen(rows())), wide(pitch))
                                       : times(widen(batch), wide(problem.getM() * pitch));
  return arith::AddIOp::create(b, loc, start, before);
}

void KernelLowering::lowerOp(LoadCOp op) {
  // Rows and columns beyond the last ones are read from in front of them.
  int64_t n = problem.getN(), bytes = shape.outBytes;
  Type type = getElementType(b.getContext(), problem.getOut());
  int64_t group = n % 4 == 0 ? 4 : 1;
  Value row = ownRowInside(op.getTileRow());
  Value start = startOfRow(op.getBatch(), row);
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
    SmallVector<Value, 3> coordinates{column, row};
    if (op.getBatch())
      coordinates.push_back(op.getBatch());
    CpAsyncBulkTensorStoreOp::create(b, loc, op.getMap(), coordinates, source);
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
  Value start =
      arith::AddIOp::create(b, loc, startOfRow(op.getBatch(), row), widen(mul(column, bytes)));
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
