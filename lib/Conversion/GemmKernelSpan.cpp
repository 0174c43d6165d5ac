//===- GemmKernelSpan.cpp - products whose K crosses stages ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// K = 96 of sm_103a: an instruction reads 48 bytes of a row, so that every third one
// runs on from one 128-byte stage into the next. A stage is given back as soon as the
// last instruction that reads it is issued, in the middle of a K tile. Scales advance in
// steps of their own, so a warp of its own brings them.
//
//===----------------------------------------------------------------------===//

#include "GemmKernelBuilder.h"

using namespace mlir;
using namespace blockscale;

void KernelBuilder::buildScaleLoads() {
  OpBuilder::InsertionGuard guard(b);
  role(WarpRole::tma_scales, 6, 6);
  int64_t whole = problem.getK() / kSpanTileK, words = kSpanScales / facts::kScaleTileScales;
  int64_t regular = whole * int64_t(planSpan(kSpanTileK, problem.getBlock()).size());
  SmallVector<SpanGroup, 5> tail = planSpan(problem.getK() % kSpanTileK, problem.getBlock());
  // Groups are as many words apart as a buffer has, but for one behind a short first one.
  int64_t start = regular * words, rest = 0;
  if (tail.size() > 1 && tail[1].word != words)
    regular += 1, rest = int64_t(tail.size()) - 1, start += tail[1].word;
  else
    regular += int64_t(tail.size());
  int64_t piecesOfA = cluster.part(ProblemOperand::sfa, shape).pieces,
          piecesOfB = cluster.part(ProblemOperand::sfb, shape).pieces;
  Carried end = forEachTile([&](Value row, Value column, Value stage, Value phase) -> Carried {
    Value rowsOfA = row, rowsOfB = firstScaleTileOfB(column), zero = constant(0);
    if (int64_t pair = schedule.getCtaGroup(); pair > 1)
      rowsOfA = arith::AddIOp::create(b, loc, times(row, pair), PairRankOp::create(b, loc));
    auto loadGroups = [&](int64_t first, int64_t count, Carried at) -> Carried {
      auto loop = scf::ForOp::create(b, loc, zero, constant(count), constant(1),
                                     ValueRange{at.first, at.second});
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value s = loop.getRegionIterArg(0);
      // Words along K, in pieces where shares are parts of words.
      auto along = [&](int64_t pieces) -> Value {
        Value word = times(loop.getInductionVar(), words * pieces);
        return first ? arith::AddIOp::create(b, loc, word, constant(first * pieces)) : word;
      };
      Value wordOfA = along(piecesOfA),
            wordOfB = piecesOfB == piecesOfA ? wordOfA : along(piecesOfB);
      ProducerAcquireOp::create(b, loc, scaleRing, s, loop.getRegionIterArg(1));
      load(kSfa, {zero, wordOfA, rowsOfA}, bufferSfa, IntegerAttr(), scaleRing, s);
      load(kSfb, {zero, wordOfB, rowsOfB}, bufferSfb, IntegerAttr(), scaleRing, s);
      ProducerCommitOp::create(b, loc, scaleRing, s);
      Carried next = advance(scaleRing, s, loop.getRegionIterArg(1));
      scf::YieldOp::create(b, loc, ValueRange{next.first, next.second});
      return {loop.getResult(0), loop.getResult(1)};
    };
    Carried at = loadGroups(0, regular, {stage, phase});
    return rest ? loadGroups(start, rest, at) : at;
  });
  PipelineDrainOp::create(b, loc, scaleRing, end.first, end.second);
}

KernelBuilder::SpanRings KernelBuilder::multiplySpan(int64_t k, SpanRings at, Value target,
                                                     Value accumulate, Value shift) {
  constexpr int64_t rowBytes = facts::kTileRowBytes;
  // Stages of this K tile that were waited for, and the one that follows them.
  SmallVector<Carried, 4> stages{{at.stage, at.phase}};
  auto stageOf = [&](int64_t buffer) {
    while (int64_t(stages.size()) <= buffer)
      stages.push_back(advance(ring, stages.back().first, stages.back().second));
    return stages[buffer];
  };
  SmallVector<SpanGroup, 5> groups = planSpan(k, problem.getBlock());
  SmallVector<int64_t> firsts; // the stage that each instruction starts in
  for (const SpanGroup &group : groups)
    for (const SpanStep &step : group.steps)
      firsts.push_back(step.byte / rowBytes);
  int64_t waited = 0, released = 0;
  size_t done = 0;
  for (const SpanGroup &group : groups) {
    ConsumerWaitOp::create(b, loc, scaleRing, at.scaleStage, at.scalePhase);
    for (auto [source, operand] :
         {std::pair(bufferSfa, ScaleOperand::sfa), {bufferSfb, ScaleOperand::sfb}})
      CopyScalesOp::create(b, loc, source, at.scaleStage, tmem,
                           ScaleOperandAttr::get(b.getContext(), operand), group.words,
                           /*from=*/IntegerAttr(), /*product=*/IntegerAttr());
    ConsumerReleaseOp::create(b, loc, scaleRing, at.scaleStage);
    std::tie(at.scaleStage, at.scalePhase) = advance(scaleRing, at.scaleStage, at.scalePhase);
    for (const SpanStep &step : group.steps) {
      int64_t first = step.byte / rowBytes, last = (step.byte + step.k / 2 - 1) / rowBytes;
      for (; waited <= last; ++waited)
        ConsumerWaitOp::create(b, loc, ring, stageOf(waited).first, stageOf(waited).second);
      Value next = step.k == kSpanK ? stageOf(first + 1).first : Value();
      MmaSpanOp::create(b, loc, bufferA, bufferB, stageOf(first).first, next, step.byte % rowBytes,
                        tmem, target, accumulate, step.k, step.scale, shift);
      accumulate = arith::ConstantIntOp::create(b, loc, 1, /*width=*/1);
      // Stages that no later instruction of the tile reads.
      for (int64_t until = ++done < firsts.size() ? firsts[done] : waited; released < until;
           ++released)
        ConsumerReleaseOp::create(b, loc, ring, stageOf(released).first);
    }
  }
  std::tie(at.stage, at.phase) = stageOf(waited);
  return at;
}

void KernelBuilder::buildSpanMultiplies() {
  OpBuilder::InsertionGuard guard(b);
  role(WarpRole::mma, 4, 4);
  Value first = CtaIndexOp::create(b, loc), step = CtaCountOp::create(b, loc);
  Value zero = constant(0);
  auto tiles = scf::ForOp::create(b, loc, first, tileCount(), step,
                                  ValueRange{zero, zero, zero, zero, zero, zero});
  b.setInsertionPointToStart(tiles.getBody());
  Value accumulator = tiles.getRegionIterArg(4), accumulatorPhase = tiles.getRegionIterArg(5);
  ProducerAcquireOp::create(b, loc, accumulators, accumulator, accumulatorPhase);
  Value target = isOverlapped() ? accumulatorPhase : accumulator, shift;
  if (cutsScaleTiles(schedule.getTile())) {
    auto tile = TileCoordinatesOp::create(b, loc, tiles.getInductionVar());
    shift = ScaleTilesOfBOp::create(b, loc, tile.getColumn()).getShift();
  }
  auto ringsOf = [](auto loop) {
    return SpanRings{loop.getRegionIterArg(0), loop.getRegionIterArg(1), loop.getRegionIterArg(2),
                     loop.getRegionIterArg(3)};
  };
  auto valuesOf = [](const SpanRings &at) {
    return SmallVector<Value>{at.stage, at.phase, at.scaleStage, at.scalePhase};
  };
  SpanRings at = ringsOf(tiles);
  int64_t whole = problem.getK() / kSpanTileK, tail = problem.getK() % kSpanTileK;
  if (whole > 0) {
    auto loop = scf::ForOp::create(b, loc, zero, constant(whole), constant(1), valuesOf(at));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value accumulate =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), zero);
    scf::YieldOp::create(
        b, loc, valuesOf(multiplySpan(kSpanTileK, ringsOf(loop), target, accumulate, shift)));
    at = {loop.getResult(0), loop.getResult(1), loop.getResult(2), loop.getResult(3)};
  }
  if (tail > 0) {
    Value accumulate = arith::ConstantIntOp::create(b, loc, whole > 0, /*width=*/1);
    at = multiplySpan(tail, at, target, accumulate, shift);
  }
  ProducerCommitOp::create(b, loc, accumulators, accumulator);
  Carried next = advance(accumulators, accumulator, accumulatorPhase);
  SmallVector<Value> yielded = valuesOf(at);
  yielded.append({next.first, next.second});
  scf::YieldOp::create(b, loc, yielded);
}
