//===- TermOrder.h - the order of A's terms in shared memory --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plane of `octets` has an entry (scale and sum) for each token of each chunk. Lanes that
// store terms of several chunks hit the same banks, since a chunk's entries take whole lines;
// so bits of the entry are XORed with bits of the chunk, as the model of the banks says.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_TERMORDER_H
#define BLOCKSCALE_FACTS_TERMORDER_H

#include "blockscale/Facts/PlaneLayout.h"

namespace blockscale::facts {

/// The bit of the chunk that is XORed into each bit of an entry, -1 where none is. Bit 0 swaps
/// rows r and r + 8, bits 1 to 3 permute pairs of them, bit 4 swaps neighbouring groups of 16.
struct TermOrder {
  static constexpr int kBits = 5, kGroupBit = 4;
  std::array<int, kBits> chunkBit{-1, -1, -1, -1, -1};

  constexpr int swizzle(int chunk) const {
    int bits = 0;
    for (int i = 0; i < kBits; ++i)
      bits |= chunkBit[size_t(i)] < 0 ? 0 : (chunk >> chunkBit[size_t(i)] & 1) << i;
    return bits;
  }
  constexpr bool operator==(const TermOrder &) const = default;
};

/// Which terms a warp stores at once: of two chunks of eight tokens for each octet of lanes,
/// `octetPairs` of them side by side in k; or of eight chunks of four tokens.
enum class TermFill : uint8_t { pairs, words };
struct TermAccess {
  TermFill fill;
  int entryBytes;     // 4 or 8
  int octetPairs = 4; // of `pairs`: 2 where a pass has four chunks
};

/// Byte of a token's terms of a chunk.
constexpr int termOffset(TermOrder order, TermAccess access, int chunk, int token, int tokens) {
  return (chunk * tokens + (octetEntry(token) ^ order.swizzle(chunk))) * access.entryBytes;
}

/// Cycles of the banks for the stores of a warp: its first terms, of the first 32 tokens.
constexpr int termStoreCycles(TermOrder order, TermAccess access, int chunkOfLane, int tokens) {
  std::array<int, 32> address{};
  for (int lane = 0; lane < 32; ++lane) {
    int octet = lane / 8, chunk = lane % 8, token = octet;
    if (access.fill == TermFill::pairs) {
      chunk = 2 * (octet % access.octetPairs) + chunkOfLane;
      token = octet / access.octetPairs * 8 + lane % 8;
    }
    address[size_t(lane)] = termOffset(order, access, chunk, token, tokens);
  }
  return bankCycles(address, access.entryBytes);
}

/// Cycles of the loads of a fragment's terms: rows l / 4 and l / 4 + 8 of a group, which are
/// side by side in every order, for lane l.
constexpr int termLoadCycles(TermOrder order, TermAccess access, int chunk, int group, int tokens) {
  std::array<int, 32> address{};
  for (int lane = 0; lane < 32; ++lane)
    address[size_t(lane)] = termOffset(order, access, chunk, 16 * group + lane / 4, tokens) /
                            (2 * access.entryBytes) * 2 * access.entryBytes;
  return bankCycles(address, 2 * access.entryBytes);
}

/// Cycles that stores and loads of a warp take at least: 128 bytes each.
constexpr int leastTermCycles(TermAccess access) { return 32 * access.entryBytes / 128; }

/// The first order in which neither stores nor loads have conflicts; the one of the fewest
/// cycles if there is none.
constexpr TermOrder chooseTermOrder(TermAccess access) {
  constexpr int kTokens = 64;
  constexpr std::array<TermOrder, 7> kOrders{{{},
                                              {{1, -1, -1, -1, -1}},
                                              {{-1, -1, -1, -1, 1}},
                                              {{1, -1, -1, -1, 2}},
                                              {{-1, 0, 1, 2, -1}},
                                              {{0, 0, 1, 2, -1}},
                                              {{0, 0, 1, 2, 1}}}};
  TermOrder best;
  int least = 1 << 20;
  for (TermOrder order : kOrders) {
    int cycles = 0;
    for (int chunk = 0; chunk < 2; ++chunk)
      cycles += termStoreCycles(order, access, chunk, kTokens);
    for (int chunk = 0; chunk < 8; ++chunk)
      cycles += termLoadCycles(order, access, chunk, /*group=*/0, kTokens);
    if (cycles < least) {
      least = cycles;
      best = order;
    }
  }
  return best;
}

namespace detail {
constexpr bool isTermFillFree(TermAccess access) {
  TermOrder order = chooseTermOrder(access);
  return termStoreCycles(order, access, 0, 64) == leastTermCycles(access) &&
         termStoreCycles(order, access, 1, 64) == leastTermCycles(access);
}
static_assert(termStoreCycles({}, {TermFill::pairs, 8}, 0, 64) == 4 &&
              leastTermCycles({TermFill::pairs, 8}) == 2);
static_assert(termStoreCycles({}, {TermFill::words, 8}, 0, 64) == 16);
static_assert(isTermFillFree({TermFill::pairs, 8}) && isTermFillFree({TermFill::pairs, 4}));
static_assert(isTermFillFree({TermFill::pairs, 8, 2}) && isTermFillFree({TermFill::pairs, 4, 2}));
static_assert(isTermFillFree({TermFill::words, 8}) && isTermFillFree({TermFill::words, 4}));
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_TERMORDER_H
