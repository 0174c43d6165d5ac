//===- LowerWarpTiles.cpp - tiles of activations, a ring of them ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a ring one thread starts bulk copies some turns ahead; an mbarrier of each stage
// says that its tile is there, another that all warps have read it. Each warp copies
// the weights that it multiplies, so that no barrier stops all warps (PTX ISA 9.4,
// 9.7.10.28 and 9.7.15.16). Parities are those of a pipeline that starts empty.
//
//===----------------------------------------------------------------------===//

#include "WarpKernelLowering.h"

using namespace mlir;
using namespace blockscale;

/// Each stage has a barrier that it is full, and behind those of all stages one that it
/// is empty.
static constexpr int64_t kBarrierBytes = 8;
static_assert(2 * kBarrierBytes == kRingBarrierBytes);

void WarpKernelLowering::lowerRing(TileRingOp op) {
  Location loc = op.getLoc();
  e.ifThen(e.below(thread, 1), [&] {
    for (int64_t i = 0; i < shape.stages; ++i) {
      Value full = e.add(shared, shape.barriers() + i * kBarrierBytes);
      MbarrierInitOp::create(builder, loc, full, 1);
      MbarrierInitOp::create(builder, loc, e.add(full, shape.stages * kBarrierBytes),
                             uint32_t(shape.threads / 32));
    }
  });
  BarWarpSyncOp::create(builder, loc);
  BarSyncOp::create(builder, loc, 0);
}

/// The barrier at `offset` from the first one, of a stage.
Value WarpKernelLowering::barrier(int64_t offset, Value stage) {
  return e.add(e.add(shared, shape.barriers() + offset), stage);
}

/// All threads copy pieces of a tile, one after the other.
void WarpKernelLowering::copyTile(Value cursor, const PlaneAttr &plane) {
  constexpr int64_t kAtOnce = kWarpKernelThreads * facts::kPieceBytes;
  Value to = e.add(startOf(plane), e.shl(thread, 4));
  int64_t at = 0;
  for (; at + kAtOnce <= shape.tileBytes; at += kAtOnce)
    e.copyAsync(e.add(to, at), e.add(cursor, at));
  if (int64_t rest = (shape.tileBytes - at) / facts::kPieceBytes)
    e.ifThen(e.below(thread, rest), [&] { e.copyAsync(e.add(to, at), e.add(cursor, at)); });
}

/// One thread starts the copy of a tile: before the loop into the next free stage, in it
/// into the stage that was read in the last turn.
void WarpKernelLowering::startTile(Value cursor, const PlaneAttr &plane) {
  Value isFirst = e.below(thread, 1), start = e.add(shared, plane.getOffset());
  auto copy = [&](Value stage, Value target) {
    Value full = barrier(0, stage);
    MbarrierArriveExpectTxOp::create(builder, e.getLoc(), full, uint32_t(shape.tileBytes));
    e.copyBulk(target, cursor, shape.tileBytes, full);
  };
  if (!turn) {
    int64_t index = firstTiles++;
    e.ifThen(isFirst,
             [&] { copy(e.i32(index * kBarrierBytes), e.add(start, index * shape.tileBytes)); });
    return;
  }
  int64_t last = shape.stages - 1;
  Value wraps = e.below(ringBarrier, 1);
  Value stage =
      e.select(wraps, e.i32(last * kBarrierBytes), e.sub(ringBarrier, e.i32(kBarrierBytes)));
  Value tile =
      e.select(wraps, e.i32(last * shape.tileBytes), e.sub(ringTile, e.i32(shape.tileBytes)));
  // The tile's own phase is that of this turn, or the next one where it wraps round; a
  // fresh barrier lets the parity before it pass.
  Value parity = e.select(wraps, e.xori(ringPhase, 1), ringPhase);
  e.ifThen(e.both(isFirst, e.below(e.add(turn, last), turns)), [&] {
    e.waitBarrier(barrier(shape.stages * kBarrierBytes, stage), parity);
    copy(stage, e.add(start, tile));
  });
}

void WarpKernelLowering::waitForStage() {
  e.waitBarrier(barrier(0, ringBarrier), ringPhase);
  // Rows of this turn; those of the next may be on their way.
  e.waitCopies(/*pending=*/1);
  BarWarpSyncOp::create(builder, e.getLoc());
}

void WarpKernelLowering::releaseStage() {
  // Read by ordinary loads, written next by a bulk copy.
  FenceProxyAsyncOp::create(builder, e.getLoc());
  BarWarpSyncOp::create(builder, e.getLoc());
  e.ifThen(e.below(lane, 1), [&] {
    MbarrierArriveOp::create(builder, e.getLoc(),
                             barrier(shape.stages * kBarrierBytes, ringBarrier));
  });
  flushPending();
  Value wraps = e.below(e.i32((shape.stages - 1) * kBarrierBytes - 1), ringBarrier);
  ringTile = e.select(wraps, e.i32(0), e.add(ringTile, shape.tileBytes));
  ringBarrier = e.select(wraps, e.i32(0), e.add(ringBarrier, kBarrierBytes));
  ringPhase = e.select(wraps, e.xori(ringPhase, 1), ringPhase);
  readStage = fillStage;
}
