//===- WgmmaSums.cpp - how the sums of a tile reach D ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WgmmaSums.h"

#include "llvm/Support/MathExtras.h"

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

WgmmaSums::Values WgmmaSums::addFour(Value address) {
  Values sums;
  for (int64_t rank = 0; rank < split; ++rank)
    for (auto [i, word] : llvm::enumerate(e.loadCluster(address, rank, 4))) {
      Value part = e.asF32(word);
      if (rank == 0)
        sums.push_back(part);
      else
        sums[i] = e.addf(sums[i], part);
    }
  return sums;
}

void WgmmaSums::add(const Place &place, Value plane, Value rank, Value thread) {
  constexpr int64_t kMostAtOnce = 4; // loads of another CTA take their time
  struct Four {
    Value token, row;
    Values sums;
  };
  int64_t threads = shape.groups * 128, ofToken = shape.rows / 4;
  int64_t fours = shape.tokens * ofToken / split; // of this CTA's share, which is contiguous
  int64_t turns = std::max<int64_t>(1, fours / threads), atOnce = std::min(turns, kMostAtOnce);
  Value first = e.add(e.mul(rank, fours), thread);
  auto addSome = [&](int64_t turn) {
    SmallVector<Four> some;
    for (int64_t i = 0; i < atOnce; ++i) {
      Value index = e.add(first, (turn + i) * threads);
      Value token = e.shr(index, llvm::Log2_64(uint64_t(ofToken)));
      Value row = e.shl(e.andi(index, ofToken - 1), 2);
      Value address = e.add(e.add(plane, e.mul(token, shape.planePitch)), e.shl(row, 2));
      some.push_back({token, row, addFour(address)});
    }
    for (const Four &four : some)
      storeFour(place, four.token, four.row, four.sums);
  };
  // All are powers of two.
  for (int64_t turn = 0; turn < turns; turn += atOnce)
    guarded(fours < threads, thread, fours, [&] { addSome(turn); });
  BarWarpSyncOp::create(b, e.getLoc()); // barriers of the cluster are of all lanes
}

void WgmmaSums::storeFour(const Place &place, Value token, Value row, ArrayRef<Value> sums) {
  int64_t m = problem.getM(), n = problem.getN();
  token = e.add(e.mul(place.tokenTile, shape.tokens), token);
  row = e.add(e.mul(place.rowTile, shape.rows), row);
  Value target = BufferAddressOp::create(b, e.getLoc(), place.d);
  target = e.add(e.add(target, e.mulWide(token, n * 4)), e.mulWide(row, 4));
  Values words = llvm::map_to_vector(sums, [&](Value sum) { return e.asI32(sum); });
  guarded(isTokenRagged(), token, m, [&] {
    if (n % 4 == 0) // rows of D begin on 16 bytes
      return guarded(isRowRagged(), row, n, [&] { e.storeGlobal(target, words); });
    for (int64_t i = 0; i < 4; ++i)
      guarded(isRowRagged(), e.add(row, i), n,
              [&] { e.storeGlobal(e.add(target, i * 4), {words[size_t(i)]}); });
  });
}
