//===- WgmmaKernel.cpp - builds the wgmma kernel of a product of blocks ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of the grid take tiles in turn, all token tiles of some rows first, so that
// what runs at a time reads few weights. Parts and runs of a block are unrolled: which
// bytes and nibbles are meant is a constant. With a split k a cluster takes one tile, each
// of its CTAs a run of blocks.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/WgmmaKernel.h"

using namespace mlir;
using namespace blockscale;

namespace {

class WgmmaKernelBuilder {
public:
  WgmmaKernelBuilder(OpBuilder &b, Location loc, BlockProblemAttr problem,
                     WgmmaScheduleAttr schedule)
      : b(b), loc(loc), problem(problem), schedule(schedule), shape(schedule),
        blocks(problem.getK() / facts::kQ4KElements) {}

  WgmmaKernelOp build(StringRef name);

private:
  enum Param { kTokenMap, kBlockMap, kD };
  using Body = llvm::function_ref<SmallVector<Value>(Value, ValueRange)>;

  Value constant(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 32); }
  Value mul(Value x, int64_t y) { return arith::MulIOp::create(b, loc, x, constant(y)); }
  /// `for i = from to end by step` over carried values; what `body` returns goes on.
  SmallVector<Value> loop(Value from, Value end, Value step, ValueRange carried, Body body);
  /// The same over the tiles of this block of the grid; of a split k there is one.
  void
  forTiles(ValueRange carried,
           llvm::function_ref<SmallVector<Value>(Value tokenTile, Value rowTile, ValueRange)> body);
  /// The blocks of k that this CTA takes, `first` .. `end` - 1.
  struct Depth {
    Value first, end;
  };
  Depth depth();
  Value rank() {
    Value cta = CtaIndexOp::create(b, loc);
    return arith::RemUIOp::create(b, loc, cta, constant(schedule.getSplit()));
  }
  Value bySplit(Value x) {
    return arith::DivUIOp::create(b, loc, x, constant(schedule.getSplit()));
  }
  void role(WgmmaRole kind, llvm::function_ref<void()> body);
  /// The stage and phase after those of `carried[0]` and `carried[1]`.
  SmallVector<Value> next(Value ring, ValueRange carried) {
    return RingNextOp::create(b, loc, ring, carried[0], carried[1]).getResults();
  }

  void copyTokens(Value map);
  void copyBlocks(Value map);
  void convert();
  void multiply(Value d);
  SmallVector<Value> multiplyBlock(Value block, Value first, ValueRange carried);
  void finish(Value sums, Value d, Value tokenTile, Value rowTile);

  OpBuilder &b;
  Location loc;
  BlockProblemAttr problem;
  WgmmaScheduleAttr schedule;
  WgmmaShape shape;
  int64_t blocks;
  Value blockRing, termRing, tokenRing;
};

SmallVector<Value> WgmmaKernelBuilder::loop(Value from, Value end, Value step, ValueRange carried,
                                            Body body) {
  auto op = scf::ForOp::create(b, loc, from, end, step, carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    scf::YieldOp::create(b, loc, body(op.getInductionVar(), op.getRegionIterArgs()));
  }
  return op.getResults();
}

void WgmmaKernelBuilder::forTiles(
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value tokenTile, Value rowTile, ValueRange)> body) {
  WgmmaGrid grid = planWgmmaGrid(problem, schedule);
  Value tokenTiles = constant(grid.tokenTiles);
  auto ofTile = [&](Value tile, ValueRange values) {
    return body(arith::RemUIOp::create(b, loc, tile, tokenTiles),
                arith::DivUIOp::create(b, loc, tile, tokenTiles), values);
  };
  if (schedule.isSplit()) {
    ofTile(bySplit(CtaIndexOp::create(b, loc)), carried);
    return;
  }
  loop(CtaIndexOp::create(b, loc), constant(grid.tiles()), CtaCountOp::create(b, loc), carried,
       ofTile);
}

WgmmaKernelBuilder::Depth WgmmaKernelBuilder::depth() {
  if (!schedule.isSplit())
    return {constant(0), constant(blocks)};
  // What the parts in front have, rounded down.
  Value own = rank(), first = bySplit(mul(own, blocks));
  return {first, bySplit(mul(arith::AddIOp::create(b, loc, own, constant(1)), blocks))};
}

void WgmmaKernelBuilder::role(WgmmaRole kind, llvm::function_ref<void()> body) {
  auto op = WgmmaRoleOp::create(b, loc, WgmmaRoleAttr::get(b.getContext(), kind));
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&op.getBody());
  body();
}

void WgmmaKernelBuilder::copyTokens(Value map) {
  Value zero = constant(0);
  forTiles({zero, zero}, [&](Value tokenTile, Value, ValueRange carried) {
    Value token = mul(tokenTile, shape.tokens);
    Depth own = depth();
    Value first = mul(own.first, WgmmaShape::kParts), end = mul(own.end, WgmmaShape::kParts);
    return loop(first, end, constant(1), carried, [&](Value part, ValueRange at) {
      RingFillOp::create(b, loc, tokenRing, at[0], at[1], map, mul(part, WgmmaShape::kPartElements),
                         token);
      return next(tokenRing, at);
    });
  });
}

void WgmmaKernelBuilder::copyBlocks(Value map) {
  Value zero = constant(0);
  forTiles({zero, zero}, [&](Value, Value rowTile, ValueRange carried) {
    Value row = mul(rowTile, shape.rows);
    Depth own = depth();
    return loop(own.first, own.end, constant(1), carried, [&](Value block, ValueRange at) {
      RingFillOp::create(b, loc, blockRing, at[0], at[1], map,
                         mul(block, facts::info(problem.getB()).bytes), row);
      return next(blockRing, at);
    });
  });
}

void WgmmaKernelBuilder::convert() {
  Value zero = constant(0);
  forTiles({zero, zero}, [&](Value, Value, ValueRange carried) {
    Depth own = depth();
    return loop(own.first, own.end, constant(1), carried, [&](Value, ValueRange at) {
      RingWaitOp::create(b, loc, blockRing, at[0], at[1]);
      ConvertTermsOp::create(b, loc, blockRing, termRing, at[0]);
      return next(blockRing, at);
    });
  });
}

/// Carried: stage and phase of blocks, of tokens; the stage of tokens that was read last;
/// the sums.
SmallVector<Value> WgmmaKernelBuilder::multiplyBlock(Value block, Value first, ValueRange carried) {
  SmallVector<Value> atBlock(carried.take_front(2)), atTokens(carried.slice(2, 2));
  Value last = carried[4], sums = carried[5];
  auto words = VectorType::get({shape.words}, b.getI32Type());
  // Who made the terms waited for the blocks.
  RingWaitOp::create(b, loc, termRing, atBlock[0], atBlock[1]);
  for (int64_t part = 0; part < WgmmaShape::kParts; ++part) {
    for (int64_t run = 0; run < WgmmaShape::kRuns; ++run) {
      Value weights =
          LoadHalvesOp::create(b, loc, words, blockRing, termRing, atBlock[0], part, run);
      if (part == WgmmaShape::kParts - 1 && run == WgmmaShape::kRuns - 1)
        RingFreeOp::create(b, loc, blockRing, atBlock[0]);
      if (run == 0)
        RingWaitOp::create(b, loc, tokenRing, atTokens[0], atTokens[1]);
      sums = MultiplyHalvesOp::create(b, loc, sums.getType(), sums, weights, tokenRing, atTokens[0],
                                      run);
      // The products of the run before are done, and so is their stage after its second.
      sums = WaitProductsOp::create(b, loc, sums.getType(), sums, /*pending=*/1);
      if (run == 0 && part == 0) {
        Value isLater = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, block, first);
        auto branch = scf::IfOp::create(b, loc, isLater, /*withElseRegion=*/false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        RingFreeOp::create(b, loc, tokenRing, last);
      } else if (run == 0) {
        RingFreeOp::create(b, loc, tokenRing, last);
      }
    }
    last = atTokens[0];
    atTokens = next(tokenRing, atTokens);
  }
  atBlock = next(blockRing, atBlock);
  return {atBlock[0], atBlock[1], atTokens[0], atTokens[1], last, sums};
}

/// A CTA's sums go to D, or with a split k by way of the cluster's planes. Nobody may leave
/// whose plane is still read.
void WgmmaKernelBuilder::finish(Value sums, Value d, Value tokenTile, Value rowTile) {
  if (!schedule.isSplit()) {
    StoreSumsOp::create(b, loc, sums, d, tokenTile, rowTile);
    return;
  }
  ShareSumsOp::create(b, loc, sums);
  ClusterBarrierOp::create(b, loc);
  AddSumsOp::create(b, loc, d, tokenTile, rowTile, rank());
  ClusterBarrierOp::create(b, loc);
}

void WgmmaKernelBuilder::multiply(Value d) {
  auto type = VectorType::get({shape.sums}, b.getF32Type());
  Value zero = constant(0);
  Value nothing = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, b.getF32FloatAttr(0).getValue()));
  forTiles({zero, zero, zero, zero}, [&](Value tokenTile, Value rowTile, ValueRange carried) {
    SmallVector<Value> inits(carried);
    inits.append({zero, nothing});
    Depth own = depth();
    SmallVector<Value> end =
        loop(own.first, own.end, constant(1), inits,
             [&](Value block, ValueRange at) { return multiplyBlock(block, own.first, at); });
    Value sums = WaitProductsOp::create(b, loc, type, end[5], /*pending=*/0);
    if (!schedule.isSplit()) // else nothing fills it again
      RingFreeOp::create(b, loc, tokenRing, end[4]);
    finish(sums, d, tokenTile, rowTile);
    end.truncate(4);
    return end;
  });
}

WgmmaKernelOp WgmmaKernelBuilder::build(StringRef name) {
  MLIRContext *context = b.getContext();
  Type map = TensorMapType::get(context);
  auto type = b.getFunctionType({map, map, BufferType::get(context)}, {});
  auto kernel = WgmmaKernelOp::create(b, loc, name, type, /*arg_attrs=*/ArrayAttr(),
                                      /*res_attrs=*/ArrayAttr(), problem, schedule,
                                      schedule.getThreads(), planRingBytes(schedule));
  OpBuilder::InsertionGuard guard(b);
  Block *entry = b.createBlock(&kernel.getBody());
  for (Type input : type.getInputs())
    entry->addArgument(input, loc);
  for (RingAttr ring : planRings(schedule)) {
    Value value = RingOp::create(b, loc, ring);
    (ring.getContent() == RingContent::blocks  ? blockRing
     : ring.getContent() == RingContent::terms ? termRing
                                               : tokenRing) = value;
  }
  role(WgmmaRole::copy_tokens, [&] { copyTokens(entry->getArgument(kTokenMap)); });
  role(WgmmaRole::copy_blocks, [&] { copyBlocks(entry->getArgument(kBlockMap)); });
  role(WgmmaRole::convert, [&] { convert(); });
  role(WgmmaRole::multiply, [&] { multiply(entry->getArgument(kD)); });
  blockscale::ReturnOp::create(b, loc);
  return kernel;
}

} // namespace

WgmmaKernelOp blockscale::buildWgmmaKernel(OpBuilder &builder, Location loc, StringRef name,
                                           BlockProblemAttr problem, WgmmaScheduleAttr schedule) {
  return WgmmaKernelBuilder(builder, loc, problem, schedule).build(name);
}
