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

  /// Groups whose loads ptxas 13.5 may have in flight together; with more it spills
  /// addresses of the next fill. Two keep the tensor core busy; in code for the chips
  /// of the 120 family it finds room for one.
  size_t groupsInFlight() const {
    return facts::covers(schedule.getArch(), facts::Arch::sm_120f) ? 1 : 2;
  }

  void planPlanes();
  /// Multiplies what the planes hold and adds it to the accumulators.
  void multiplyPass(MutableArrayRef<Value> accumulators);
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
  Value qa8, sda, qb, sds;
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
    }
  }
}

void WarpKernelBuilder::multiplyPass(MutableArrayRef<Value> accumulators) {
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  Value packed;
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
    Value rows;
    if (shape.raw) {
      if (chunk % 2 == 0)
        packed = LoadNibblesOp::create(b, loc, fragment(4, i32), qb, chunk / 2);
      rows = UnpackNibblesOp::create(b, loc, fragment(4, i32), packed, chunk % 2);
    } else {
      rows = LoadRowsOp::create(b, loc, fragment(4, i32), qb, chunk);
    }
    Value rowScales = LoadRowScalesOp::create(b, loc, fragment(8, f32), sds, chunk);
    for (auto [group, accumulator] : llvm::enumerate(accumulators)) {
      // No load moves up across it.
      if (group % groupsInFlight() == 0 && (group || accumulators.size() <= groupsInFlight()))
        BarWarpSyncOp::create(b, loc);
      Value a = LoadGroupOp::create(b, loc, fragment(4, i32), qa8, chunk, group);
      Value tokenScales = LoadTokenScalesOp::create(b, loc, fragment(4, f32), sda, chunk, group);
      Value sums = MmaS8Op::create(b, loc, fragment(8, i32), a, rows);
      accumulator = Rank1RescaleOp::create(b, loc, accumulator.getType(), accumulator, sums,
                                           tokenScales, rowScales);
    }
  }
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
  auto tile = BlockTileOp::create(b, loc);
  Value tokens = entry->getArgument(kTokens);
  Value activations =
      ActivationCursorOp::create(b, loc, entry->getArgument(kA), tile.getTokens(), tokens);
  auto weights = WeightCursorOp::create(b, loc, entry->getArgument(kB), tile.getRows());

  auto accType = fragment(8, b.getF32Type());
  Value zero = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(accType, b.getF32FloatAttr(0).getValue()));
  SmallVector<Value> carried(size_t(shape.groups), zero);
  carried.append({activations, weights.getNibbles(), weights.getHeader()});
  int64_t blocks = problem.getK() / facts::kQ4KElements;
  if (shape.stages == 2) {
    FillWeightsOp::create(b, loc, weights.getNibbles(), weights.getHeader(), qb, sds, 0);
    FillActivationsOp::create(b, loc, activations, qa8, sda);
    PlanesFilledOp::create(b, loc);
  }
  auto loop =
      scf::ForOp::create(b, loc, constant(0, 32), constant(blocks, 32), constant(1, 32), carried);
  {
    OpBuilder::InsertionGuard inLoop(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next(loop.getRegionIterArgs());
    Value &a = next[shape.groups], &nibbles = next[shape.groups + 1],
          &header = next[shape.groups + 2];
    const facts::BlockFormatInfo &chunk = facts::info(problem.getA());
    if (shape.stages == 2) {
      // The last turn stays at its own pass: what it fills is never read.
      Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, loop.getInductionVar(),
                                         constant(blocks - 1, 32));
      Value blockStep = arith::SelectOp::create(
          b, loc, more, constant(facts::info(problem.getB()).bytes, 64), constant(0, 64));
      Value chunkStep = arith::SelectOp::create(
          b, loc, more, constant(shape.chunks * chunk.bytes, 64), constant(0, 64));
      a = arith::AddIOp::create(b, loc, a, chunkStep);
      nibbles = arith::AddIOp::create(b, loc, nibbles, blockStep);
      header = arith::AddIOp::create(b, loc, header, blockStep);
      FillWeightsOp::create(b, loc, nibbles, header, qb, sds, 0);
      FillActivationsOp::create(b, loc, a, qa8, sda);
      multiplyPass(MutableArrayRef<Value>(next).take_front(shape.groups));
      PlanesFilledOp::create(b, loc);
    }
    for (int64_t part = 0; shape.stages == 1 && part < facts::kQ4KSubBlocks / shape.chunks;
         ++part) {
      FillWeightsOp::create(b, loc, nibbles, header, qb, sds, part);
      FillActivationsOp::create(b, loc, a, qa8, sda);
      PlanesFilledOp::create(b, loc);
      multiplyPass(MutableArrayRef<Value>(next).take_front(shape.groups));
      PlanesReadOp::create(b, loc);
      a = advance(a, shape.chunks * chunk.bytes);
    }
    int64_t block = facts::info(problem.getB()).bytes;
    if (shape.stages == 1) {
      nibbles = advance(nibbles, block);
      header = advance(header, block);
    }
    scf::YieldOp::create(b, loc, next);
  }
  for (int64_t group = 0; group < shape.groups; ++group)
    StoreGroupOp::create(b, loc, loop.getResult(group), entry->getArgument(kD), tile.getTokens(),
                         tile.getRows(), tokens, group);
  blockscale::ReturnOp::create(b, loc);
  return kernel;
}

} // namespace

WarpKernelOp blockscale::buildWarpKernel(OpBuilder &builder, Location loc, StringRef name,
                                         BlockProblemAttr problem, WarpScheduleAttr schedule) {
  return WarpKernelBuilder(builder, loc, problem, schedule).build(name);
}
