//===- SplitSums.cpp - the parts of a split k add up ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitSums.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

void SplitSums::guarded(bool isRagged, llvm::function_ref<Value()> isInside,
                        llvm::function_ref<void()> body) {
  if (isRagged)
    e.ifThen(isInside(), body);
  else
    body();
}

SplitSums::Values SplitSums::addFour(Value address) {
  Values sums;
  for (int64_t rank = 0; rank < shape.split; ++rank)
    for (auto [i, word] : llvm::enumerate(e.loadCluster(address, rank, 4))) {
      Value part = e.asF32(word);
      if (rank == 0)
        sums.push_back(part);
      else
        sums[i] = e.addf(sums[i], part);
    }
  return sums;
}

void SplitSums::add(const Place &place, Value plane, Value rank, Value thread) {
  constexpr int64_t kMostAtOnce = 4; // loads of another CTA take their time
  struct Four {
    Value token, row;
    Values sums;
  };
  int64_t ofToken = shape.rows / 4;
  int64_t fours = shape.tokens * ofToken / shape.split; // of this CTA's share: contiguous
  int64_t turns = std::max<int64_t>(1, fours / shape.threads);
  int64_t atOnce = std::min(turns, kMostAtOnce);
  Value first = e.add(e.mul(rank, fours), thread);
  auto addSome = [&](int64_t turn) {
    SmallVector<Four> some;
    for (int64_t i = 0; i < atOnce; ++i) {
      Value index = e.add(first, (turn + i) * shape.threads);
      Value token = e.shr(index, llvm::Log2_64(uint64_t(ofToken)));
      Value row = e.shl(e.andi(index, ofToken - 1), 2);
      Value address = e.add(e.add(plane, e.mul(token, shape.pitch)), e.shl(row, 2));
      some.push_back({token, row, addFour(address)});
    }
    for (const Four &four : some)
      storeFour(place, four.token, four.row, four.sums);
  };
  for (int64_t turn = 0; turn < turns; turn += atOnce)
    guarded(fours < shape.threads, [&] { return e.below(thread, fours); }, [&] { addSome(turn); });
  BarWarpSyncOp::create(b, e.getLoc()); // barriers of the cluster are of all lanes
}

void SplitSums::storeFour(const Place &place, Value token, Value row, ArrayRef<Value> sums) {
  int64_t m = problem.getM(), n = problem.getN();
  bool isTokenRagged = place.tokens || m % shape.tokens != 0, isRowRagged = n % shape.rows != 0;
  token = e.add(e.mul(place.tokenTile, shape.tokens), token);
  row = e.add(e.mul(place.rowTile, shape.rows), row);
  Value target = BufferAddressOp::create(b, e.getLoc(), place.d);
  target = e.add(e.add(target, e.mulWide(token, n * 4)), e.mulWide(row, 4));
  Values words = llvm::map_to_vector(sums, [&](Value sum) { return e.asI32(sum); });
  auto isToken = [&] { return place.tokens ? e.below(token, place.tokens) : e.below(token, m); };
  guarded(isTokenRagged, isToken, [&] {
    if (n % 4 == 0) // rows of D begin on 16 bytes
      return guarded(
          isRowRagged, [&] { return e.below(row, n); }, [&] { e.storeGlobal(target, words); });
    for (int64_t i = 0; i < 4; ++i)
      guarded(
          isRowRagged, [&] { return e.below(e.add(row, i), n); },
          [&] { e.storeGlobal(e.add(target, i * 4), {words[size_t(i)]}); });
  });
}
