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
  /// The passes over k that this CTA takes: the first, and how many.
  struct Depth {
    Value first, count;
  };
  Depth depth(Value part);
  /// Sums go to D, or with a split k by way of the cluster's planes. Nobody may leave whose
  /// plane is still read.
  void finish(ValueRange sums, BlockTileOp tile, Value part, Block &entry);
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
  int64_t blocksOfPass() const { return std::max<int64_t>(1, shape.chunks / facts::kQ4KSubBlocks); }
  int64_t blocksOfRow() const { return problem.getK() / facts::kQ4KElements; }
  VectorType fragment(int64_t length, Type element) { return VectorType::get({length}, element); }
  Value constant(int64_t value, unsigned width) {
    return arith::ConstantIntOp::create(b, loc, value, width);
  }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(b, loc, x, constant(y, x.getType().getIntOrFloatBitWidth()));
  }
  /// `blocks` blocks of `bytes` further.
  Value advance(Value cursor, Value blocks, int64_t bytes) {
    Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), blocks);
    return arith::AddIOp::create(b, loc, cursor, mul(wide, bytes));
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
  Value lastTurn; // of the loop
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
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, turn, lastTurn);
  Value step = arith::SelectOp::create(
      b, loc, more, constant(facts::info(problem.getB()).bytes, 64), constant(0, 64));
  cursors.nibbles = arith::AddIOp::create(b, loc, cursors.nibbles, step);
  cursors.header = arith::AddIOp::create(b, loc, cursors.header, step);
}

void WarpKernelBuilder::buildTurn(Value turn, Cursors &cursors,
                                  MutableArrayRef<Value> accumulators) {
  advanceWeights(turn, cursors);
  int64_t chunks = shape.chunks * facts::info(problem.getA()).bytes;
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, turn, lastTurn);
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
  int64_t blocks = blocksOfPass();
  for (int64_t part = 0; part < blocks * facts::kQ4KSubBlocks / shape.chunks; ++part) {
    for (int64_t block = 0; block < blocks; ++block)
      fillWeights(cursors, part + block);
    fillActivations(cursors.activations);
    PlanesFilledOp::create(b, loc);
    multiplyPass(accumulators);
    PlanesReadOp::create(b, loc);
    cursors.activations =
        advance(cursors.activations, shape.transposed ? a.bytes : shape.chunks * a.bytes);
  }
  int64_t bytes = blocks * facts::info(problem.getB()).bytes;
  cursors.nibbles = advance(cursors.nibbles, bytes);
  cursors.header = advance(cursors.header, bytes);
}

WarpKernelBuilder::Depth WarpKernelBuilder::depth(Value part) {
  if (!part)
    return {Value(), constant(blocksOfRow() / blocksOfPass(), 32)};
  // What the parts in front have, rounded down.
  auto share = [&](Value parts) {
    return arith::DivUIOp::create(b, loc, mul(parts, blocksOfRow()), constant(shape.split, 32));
  };
  Value first = share(part);
  Value end = share(arith::AddIOp::create(b, loc, part, constant(1, 32)));
  return {first, arith::SubIOp::create(b, loc, end, first)};
}

void WarpKernelBuilder::finish(ValueRange sums, BlockTileOp tile, Value part, Block &entry) {
  Value d = entry.getArgument(kD), tokens = entry.getArgument(kTokens);
  for (auto [index, sum] : llvm::enumerate(sums)) {
    int64_t group = int64_t(index) / shape.strips, strip = int64_t(index) % shape.strips;
    if (part)
      ShareGroupOp::create(b, loc, sum, group, strip);
    else
      StoreGroupOp::create(b, loc, sum, d, tile.getTokens(), tile.getRows(), tokens, group, strip);
  }
  if (!part)
    return;
  ClusterBarrierOp::create(b, loc);
  AddPartsOp::create(b, loc, d, tile.getTokens(), tile.getRows(), tokens, part);
  ClusterBarrierOp::create(b, loc);
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

  Value part = schedule.isSplit() ? KPartOp::create(b, loc).getResult() : Value();
  Depth own = depth(part);
  if (part) {
    int64_t bytesOfA = facts::info(problem.getA()).bytes,
            bytesOfB = facts::info(problem.getB()).bytes;
    cursors.activations = advance(cursors.activations, own.first,
                                  shape.transposed ? bytesOfA : shape.chunks * bytesOfA);
    cursors.nibbles = advance(cursors.nibbles, own.first, bytesOfB);
    cursors.header = advance(cursors.header, own.first, bytesOfB);
  }
  lastTurn = part ? arith::SubIOp::create(b, loc, own.count, constant(1, 32)).getResult()
                  : constant(blocksOfRow() - 1, 32);
  int64_t blocks = blocksOfRow() / shape.split; // of a part at least
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
  auto loop = scf::ForOp::create(b, loc, constant(0, 32), own.count, constant(1, 32), carried);
  {
    OpBuilder::InsertionGuard inLoop(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next(loop.getRegionIterArgs());
    auto accumulators = MutableArrayRef<Value>(next).take_front(sums);
    Cursors at{next[sums], next[sums + 1], next[sums + 2]};
    Value turn = loop.getInductionVar();
    if (shape.ring)
      buildRingTurn(turn, at, accumulators);
    else if (shape.stages == 2)
      buildTurn(turn, at, accumulators);
    else
      buildPlainTurn(at, accumulators);
    next.truncate(size_t(sums));
    next.append({at.activations, at.nibbles, at.header});
    scf::YieldOp::create(b, loc, next);
  }
  finish(loop.getResults().take_front(sums), tile, part, *entry);
  blockscale::ReturnOp::create(b, loc);
  return kernel;
}

} // namespace

WarpKernelOp blockscale::buildWarpKernel(OpBuilder &builder, Location loc, StringRef name,
                                         BlockProblemAttr problem, WarpScheduleAttr schedule) {
  return WarpKernelBuilder(builder, loc, problem, schedule).build(name);
}
