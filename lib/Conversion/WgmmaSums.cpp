//===- WgmmaSums.cpp - how the sums of a tile reach D ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WgmmaSums.h"

using namespace mlir;
using namespace blockscale;

static constexpr int64_t kAllMultipliers = 1; // the barrier of the warps that multiply

void WgmmaSums::guarded(bool isRagged, Value index, int64_t limit,
                        llvm::function_ref<void()> body) {
  if (isRagged)
    e.ifThen(e.below(index, limit), body);
  else
    body();
}

void WgmmaSums::store(ArrayRef<Value> sums, const Place &place) {
  int64_t m = problem.getM(), n = problem.getN();
  Value token = e.add(e.mul(place.tokenTile, shape.tokens), e.shl(e.andi(place.lane, 3), 1));
  Value row = e.add(e.mul(place.rowTile, shape.rows), place.groupRow);
  Value start = BufferAddressOp::create(b, e.getLoc(), place.d);
  start = e.add(e.add(start, e.mulWide(token, n * 4)), e.mulWide(row, 4));
  for (int64_t right = 0; right < shape.tokens; right += 8)
    for (int64_t column = 0; column < 2; ++column)
      guarded(isTokenRagged(), e.add(token, right + column), m, [&] {
        for (int64_t fragment = 0; fragment < shape.fragments; ++fragment)
          for (int64_t below = 0; below < 2; ++below) {
            int64_t down = fragment * WgmmaShape::kFragmentRows + 8 * below;
            Value sum = sums[indexOf(fragment, right, column, below)];
            guarded(isRowRagged(), e.add(row, down), n, [&] {
              e.storeGlobal(e.add(start, (right + column) * n * 4 + down * 4), {e.asI32(sum)});
            });
          }
      });
  BarWarpSyncOp::create(b, e.getLoc()); // the next tile's wgmma are of all lanes
}

void WgmmaSums::share(ArrayRef<Value> sums, Value lane, Value groupRow, Value plane) {
  NVVM::BarrierOp::create(b, e.getLoc(), TypeRange(), e.i32(kAllMultipliers),
                          e.i32(shape.groups * 128), {}, Value());
  Value start = e.add(plane, e.mul(e.shl(e.andi(lane, 3), 1), shape.planePitch));
  start = e.add(start, e.shl(groupRow, 2));
  for (int64_t right = 0; right < shape.tokens; right += 8)
    for (int64_t column = 0; column < 2; ++column)
      for (int64_t fragment = 0; fragment < shape.fragments; ++fragment)
        for (int64_t below = 0; below < 2; ++below) {
          int64_t down = fragment * WgmmaShape::kFragmentRows + 8 * below;
          e.storeShared(e.add(start, (right + column) * shape.planePitch + down * 4),
                        {e.asI32(sums[indexOf(fragment, right, column, below)])});
        }
}
