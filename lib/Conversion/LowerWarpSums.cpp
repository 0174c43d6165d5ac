//===- LowerWarpSums.cpp - how the sums of a tile reach D -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Straight from registers, or with a split k by planes of partial sums (SplitSums.h).
//
//===----------------------------------------------------------------------===//

#include "SplitSums.h"
#include "WarpKernelLowering.h"

using namespace mlir;
using namespace blockscale;

/// A lane has tokens r and r + 8 of a group, and of each half of a strip two neighbouring rows.
WarpKernelLowering::TilePlace WarpKernelLowering::placeOfSums(int64_t strip) {
  Value token = e.add(e.mul(tokenWarp, shape.groups * kGroupTokens), e.shr(lane, 2));
  Value row = e.add(e.add(firstRow(), e.shl(e.andi(lane, 3), 1)), strip * kStripRows);
  return {token, row};
}

void WarpKernelLowering::lowerStore(StoreGroupOp op) {
  int64_t n = problem.getN();
  bool ragged = n % shape.rows != 0, pairs = n % 2 == 0;
  Values acc = values.lookup(op.getValues());
  TilePlace own = placeOfSums(op.getStrip());
  Value firstToken = e.add(e.mul(one(op.getTokenTile()), shape.tokens), own.token);
  Value first = e.add(e.mul(one(op.getRowTile()), shape.rows), own.row);
  Value address = BufferAddressOp::create(builder, op.getLoc(), one(op.getBuffer()));
  address = e.add(address, e.mulWide(firstToken, n * 4));
  address = e.add(address, e.mulWide(first, 4));
  for (int64_t tokenAt = 0; tokenAt < 2; ++tokenAt) {
    int64_t down = int64_t(op.getGroup()) * kGroupTokens + 8 * tokenAt;
    Value inside = e.below(e.add(firstToken, down), one(op.getCount()));
    for (int64_t half = 0; half < 2; ++half) {
      for (int64_t column = 0; column < 2; column += pairs ? 2 : 1) {
        Value legal = inside;
        if (ragged)
          legal = e.both(inside, e.below(e.add(first, 8 * half + column), e.i32(n)));
        ArrayRef<Value> stored =
            ArrayRef<Value>(acc).slice(4 * half + 2 * tokenAt + column, pairs ? 2 : 1);
        Value at = e.add(address, down * n * 4 + (8 * half + column) * 4);
        e.ifThen(legal, [&] { e.storeGlobal(at, stored); });
      }
    }
  }
}

void WarpKernelLowering::lowerShare(ShareGroupOp op) {
  assert(shape.tokens * shape.sumsPitch() <= planPlaneBytes(kernel.getSchedule()) &&
         "the plane of sums lies over the stages");
  if (!isShared) {  // whose planes other warps still read
    if (shape.ring) // one lane has given its stage back
      BarWarpSyncOp::create(builder, op.getLoc());
    BarSyncOp::create(builder, op.getLoc(), 0);
    isShared = true;
  }
  Values sums = values.lookup(op.getValues());
  TilePlace own = placeOfSums(op.getStrip());
  Value start = e.add(e.add(shared, e.mul(own.token, shape.sumsPitch())), e.shl(own.row, 2));
  for (int64_t tokenAt = 0; tokenAt < 2; ++tokenAt)
    for (int64_t half = 0; half < 2; ++half) {
      size_t first = size_t(4 * half + 2 * tokenAt);
      int64_t down = (int64_t(op.getGroup()) * kGroupTokens + 8 * tokenAt) * shape.sumsPitch();
      e.storeShared(e.add(start, down + 8 * half * 4),
                    {e.asI32(sums[first]), e.asI32(sums[first + 1])});
    }
}

void WarpKernelLowering::lowerAdd(AddPartsOp op) {
  SplitSums::Shape parts{shape.tokens, shape.rows, shape.sumsPitch(), shape.threads, shape.split};
  SplitSums(builder, e, parts, problem)
      .add({one(op.getBuffer()), one(op.getTokenTile()), one(op.getRowTile()), one(op.getCount())},
           /*plane=*/shared, one(op.getPart()), thread);
}
