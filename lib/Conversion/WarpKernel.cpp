//===- WarpKernel.cpp - builds the kernel of one product of blocks --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block computes one tile. Its chunks are unrolled, so that which nibble of a word
// is meant, and every offset inside a plane, is a constant.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/WarpKernel.h"

using namespace mlir;
using namespace blockscale;

namespace {

class WarpKernelBuilder {
public:
  WarpKernelBuilder(OpBuilder &b, Location loc, BlockProblemAttr problem, WarpScheduleAttr schedule)
      : b(b), loc(loc), problem(problem), schedule(schedule), shape(schedule) {}

  WarpKernelOp build(StringRef name);

private:
  enum Param { kA, kB, kD, kTokens };

  /// Values that the loop carries, behind the accumulators.
  struct Cursors {
    Value activations, nibbles, header;
  };

  void planPlanes();
  void fillActivations(Value cursor) { FillActivationsOp::create(b, loc, cursor, qa8, sda, parts); }
  void fillWeights(const Cursors &cursors, int64_t part = 0) {
    SmallVector<Value> planes;
    if (shape.splitMinima)
      planes = {minima, dmin};
    FillWeightsOp::create(b, loc, cursors.nibbles, cursors.header, qb, sds, part, planes);
  }
  /// Both read a stage that was filled before; the last turn stays at its own pass, since
  /// nobody reads what it fills.
  void buildTurn(Value turn, Cursors &cursors, MutableArrayRef<Value> accumulators);
  void buildRingTurn(Value turn, Cursors &cursors, MutableArrayRef<Value> accumulators);
  /// A fill, a barrier, the products and a barrier.
  void buildPlainTurn(Cursors &cursors, MutableArrayRef<Value> accumulators);
  void advanceWeights(Value turn, Cursors &cursors);
  /// Multiplies what the planes hold and adds it to the accumulators.
  void multiplyPass(MutableArrayRef<Value> accumulators);
  /// The minima of a pass, where they are a product of their own.
  void multiplyMinima(MutableArrayRef<Value> accumulators);
  int64_t blocksOfRow() const { return problem.getK() / facts::kQ4KElements; }
  VectorType fragment(int64_t length, Type element) { return VectorType::get({length}, element); }
  Value constant(int64_t value, unsigned width) {
    return arith::ConstantIntOp::create(b, loc, value, width);
  }
  Value advance(Value cursor, int64_t bytes) {
    return arith::AddIOp::create(b, loc, cursor, constant(bytes, /*width=*/64));
  }

  OpBuilder &b;
  Location loc;
  BlockProblemAttr problem;
  WarpScheduleAttr schedule;
  WarpShape shape;
  Value qa8, sda, parts, qb, sds, minima, dmin;
};

void WarpKernelBuilder::planPlanes() {
  for (PlaneAttr plane : blockscale::planPlanes(schedule)) {
    Value value = SharedPlaneOp::create(b, loc, plane);
    switch (plane.getContent()) {
    case PlaneContent::qa8:
      qa8 = value;
      break;
    case PlaneContent::sda:
      sda = value;
      break;
    case PlaneContent::qb_raw:
    case PlaneContent::qb8:
      qb = value;
      break;
    case PlaneContent::sds:
      sds = value;
      break;
    case PlaneContent::sum_parts:
      parts = value;
      break;
    case PlaneContent::minima:
      minima = value;
      break;
    case PlaneContent::dmin:
      dmin = value;
      break;
    }
  }
}

void WarpKernelBuilder::multiplyPass(MutableArrayRef<Value> accumulators) {
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  int64_t terms = shape.splitMinima ? 1 : 2;
  SmallVector<Value> packed(size_t(shape.strips)), rows(packed), rowScales(packed);
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
    for (int64_t strip = 0; strip < shape.strips; ++strip) {
      if (shape.raw) {
        if (chunk % 2 == 0)
          packed[strip] = LoadNibblesOp::create(b, loc, fragment(4, i32), qb, chunk / 2, strip);
        rows[strip] = UnpackNibblesOp::create(b, loc, fragment(4, i32), packed[strip], chunk % 2);
      } else {
        rows[strip] = LoadRowsOp::create(b, loc, fragment(4, i32), qb, chunk);
      }
      rowScales[strip] =
          LoadRowScalesOp::create(b, loc, fragment(4 * terms, f32), sds, chunk, strip);
    }
    for (int64_t group = 0; group < shape.groups; ++group) {
      // No load moves up across it.
      int64_t flight = schedule.getFlight();
      if (flight <= shape.groups && group % flight == 0 && (group || flight == shape.groups))
        BarWarpSyncOp::create(b, loc);
      Value a = LoadGroupOp::create(b, loc, fragment(4, i32), qa8, chunk, group);
      Value tokenScales =
          LoadTokenScalesOp::create(b, loc, fragment(2 * terms, f32), sda, chunk, group);
      for (int64_t strip = 0; strip < shape.strips; ++strip) {
        Value &accumulator = accumulators[size_t(group * shape.strips + strip)];
        Value sums = MmaS8Op::create(b, loc, fragment(8, i32), a, rows[strip]);
        accumulator = Rank1RescaleOp::create(b, loc, accumulator.getType(), accumulator, sums,
                                             tokenScales, rowScales[strip]);
      }
    }
  }
  if (shape.splitMinima)
    multiplyMinima(accumulators);
}

void WarpKernelBuilder::multiplyMinima(MutableArrayRef<Value> accumulators) {
  Type i32 = b.getI32Type();
  // ptxas may not begin with these loads while chunks are multiplied: it would spill.
  BarWarpSyncOp::create(b, loc);
  SmallVector<Value> factors, scales;
  for (int64_t strip = 0; strip < shape.strips; ++strip) {
    factors.push_back(LoadMinimaOp::create(b, loc, fragment(2, i32), minima, strip));
    scales.push_back(LoadMinimaScalesOp::create(b, loc, fragment(4, b.getF32Type()), dmin, strip));
  }
  for (int64_t group = 0; group < shape.groups; ++group) {
    Value sums = LoadSumPartsOp::create(b, loc, fragment(6, i32), parts, group);
    for (int64_t strip = 0; strip < shape.strips; ++strip) {
      Value &accumulator = accumulators[size_t(group * shape.strips + strip)];
      accumulator = MmaMinimaOp::create(b, loc, accumulator.getType(), accumulator, sums,
                                        factors[strip], scales[strip]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Turns of the loop
//===----------------------------------------------------------------------===//

void WarpKernelBuilder::advanceWeights(Value turn, Cursors &cursors) {
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, turn,
                                     constant(blocksOfRow() - 1, 32));
  Value step = arith::SelectOp::create(
      b, loc, more, constant(facts::info(problem.getB()).bytes, 64), constant(0, 64));
  cursors.nibbles = arith::AddIOp::create(b, loc, cursors.nibbles, step);
  cursors.header = arith::AddIOp::create(b, loc, cursors.header, step);
}

void WarpKernelBuilder::buildTurn(Value turn, Cursors &cursors,
                                  MutableArrayRef<Value> accumulators) {
  advanceWeights(turn, cursors);
  int64_t chunks = shape.chunks * facts::info(problem.getA()).bytes;
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, turn,
                                     constant(blocksOfRow() - 1, 32));
  Value step = arith::SelectOp::create(b, loc, more, constant(chunks, 64), constant(0, 64));
  cursors.activations = arith::AddIOp::create(b, loc, cursors.activations, step);
  fillWeights(cursors);
  fillActivations(cursors.activations);
  multiplyPass(accumulators);
  PlanesFilledOp::create(b, loc);
}

void WarpKernelBuilder::buildRingTurn(Value turn, Cursors &cursors,
                                      MutableArrayRef<Value> accumulators) {
  advanceWeights(turn, cursors);
  fillWeights(cursors);
  fillActivations(cursors.activations);
  cursors.activations = advance(cursors.activations, facts::info(problem.getA()).bytes);
  PlanesFilledOp::create(b, loc);
  multiplyPass(accumulators);
  PlanesReadOp::create(b, loc);
}

void WarpKernelBuilder::buildPlainTurn(Cursors &cursors, MutableArrayRef<Value> accumulators) {
  const facts::BlockFormatInfo &a = facts::info(problem.getA());
  for (int64_t part = 0; part < facts::kQ4KSubBlocks / shape.chunks; ++part) {
    fillWeights(cursors, part);
    fillActivations(cursors.activations);
    PlanesFilledOp::create(b, loc);
    multiplyPass(accumulators);
    PlanesReadOp::create(b, loc);
    cursors.activations =
        advance(cursors.activations, shape.transposed ? a.bytes : shape.chunks * a.bytes);
  }
  int64_t block = facts::info(problem.getB()).bytes;
  cursors.nibbles = advance(cursors.nibbles, block);
  cursors.header = advance(cursors.header, block);
}

WarpKernelOp WarpKernelBuilder::build(StringRef name) {
  Type buffer = BufferType::get(b.getContext());
  auto type = b.getFunctionType({buffer, buffer, buffer, b.getI32Type()}, {});
  auto kernel =
      WarpKernelOp::create(b, loc, name, type, /*arg_attrs=*/ArrayAttr(),
                           /*res_attrs=*/ArrayAttr(), problem, schedule, schedule.getThreads(),
                           planPlaneBytes(schedule), schedule.getBlocks());
  OpBuilder::InsertionGuard guard(b);
  Block *entry = b.createBlock(&kernel.getBody());
  for (Type input : type.getInputs())
    entry->addArgument(input, loc);
  planPlanes();
  if (shape.ring)
    TileRingOp::create(b, loc);
  auto tile = BlockTileOp::create(b, loc);
  Value tokens = entry->getArgument(kTokens);
  Cursors cursors;
  cursors.activations =
      ActivationCursorOp::create(b, loc, entry->getArgument(kA), tile.getTokens(), tokens);
  auto weights = WeightCursorOp::create(b, loc, entry->getArgument(kB), tile.getRows());
  cursors.nibbles = weights.getNibbles();
  cursors.header = weights.getHeader();

  int64_t blocks = blocksOfRow();
  if (shape.ring) {
    int64_t ahead = shape.stages - 1, bytes = facts::info(problem.getA()).bytes;
    for (int64_t i = 0; i < std::min(ahead, blocks); ++i)
      fillActivations(i ? advance(cursors.activations, i * bytes) : cursors.activations);
    cursors.activations = advance(cursors.activations, ahead * bytes);
    fillWeights(cursors);
  } else if (shape.stages == 2) {
    fillWeights(cursors);
    fillActivations(cursors.activations);
    PlanesFilledOp::create(b, loc);
  }
  auto accType = fragment(8, b.getF32Type());
  Value zero = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(accType, b.getF32FloatAttr(0).getValue()));
  int64_t sums = shape.groups * shape.strips;
  SmallVector<Value> carried(size_t(sums), zero);
  carried.append({cursors.activations, cursors.nibbles, cursors.header});
  auto loop =
      scf::ForOp::create(b, loc, constant(0, 32), constant(blocks, 32), constant(1, 32), carried);
  {
    OpBuilder::InsertionGuard inLoop(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next(loop.getRegionIterArgs());
    auto accumulators = MutableArrayRef<Value>(next).take_front(sums);
    Cursors own{next[sums], next[sums + 1], next[sums + 2]};
    Value turn = loop.getInductionVar();
    if (shape.ring)
      buildRingTurn(turn, own, accumulators);
    else if (shape.stages == 2)
      buildTurn(turn, own, accumulators);
    else
      buildPlainTurn(own, accumulators);
    next.truncate(size_t(sums));
    next.append({own.activations, own.nibbles, own.header});
    scf::YieldOp::create(b, loc, next);
  }
  for (int64_t index = 0; index < sums; ++index)
    StoreGroupOp::create(b, loc, loop.getResult(index), entry->getArgument(kD), tile.getTokens(),
                         tile.getRows(), tokens, index / shape.strips, index % shape.strips);
  blockscale::ReturnOp::create(b, loc);
  return kernel;
}

} // namespace

WarpKernelOp blockscale::buildWarpKernel(OpBuilder &builder, Location loc, StringRef name,
                                         BlockProblemAttr problem, WarpScheduleAttr schedule) {
  return WarpKernelBuilder(builder, loc, problem, schedule).build(name);
}
