//===- ReadLog.h - reads of memory that nobody has written ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most loads, scattered ones above all, are from allocations that a launch only reads:
// they are noted in a row, and looked at when somebody writes there. What a cluster has
// read is all that the others need to know of it once it has ended: bytes by instruction.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_READLOG_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_READLOG_H

#include "GlobalAccess.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

namespace blockscale::emu {

/// Reads of one allocation, in their order. Of repeated ones the last stays, and the last
/// kMostReads or more of a cell.
class ReadLog {
public:
  bool isEmpty() const { return reads.empty(); }
  void add(const GlobalAccess &access, uint32_t offset, uint16_t bytes) {
    if (operations.empty() || !operations.back().isSameOperation(access) ||
        operations.back().record.touch != access.record.touch)
      operations.push_back(access);
    reads.push_back({offset, uint32_t(operations.size() - 1), access.record.lanes, bytes,
                     uint16_t(access.record.shift)});
    if (reads.size() >= room)
      thinOut();
  }
  /// Calls visit(access, offset, bytes).
  template <class Visit> void each(Visit visit) const {
    for (const Read &r : reads) {
      GlobalAccess a = operations[r.operation];
      a.record.lanes = r.lanes;
      a.record.shift = r.shift;
      visit(a, r.offset, r.bytes);
    }
  }
  void clear() { *this = {}; }

private:
  struct Read {
    uint32_t offset, operation, lanes;
    uint16_t bytes, shift;
  };
  static constexpr size_t kRoom = 1 << 17;
  std::vector<GlobalAccess> operations; // without their lanes
  std::vector<Read> reads;
  size_t room = kRoom;
  void thinOut();
};

/// Bytes of one allocation that instructions have read, whoever executed them.
class ReadBytes {
public:
  bool isEmpty() const { return sites.empty(); }
  void add(const GlobalAccess &access, uint64_t offset, uint64_t bytes);
  void join(const ReadBytes &o);
  /// Calls visit(access, offset, bytes) for what is read in [from, to).
  template <class Visit> void each(uint64_t from, uint64_t to, Visit visit) const {
    for (const Site &s : sites)
      for (auto it = s.pages.lower_bound(from / kPage); it != s.pages.end(); ++it) {
        const uint64_t start = it->first * kPage;
        if (start >= to)
          break;
        const Bits &bits = *it->second;
        const auto end = unsigned(std::min(to - start, kPage));
        unsigned at = find(bits, true, from > start ? unsigned(from - start) : 0, end);
        while (at < end) {
          const unsigned stop = find(bits, false, at, end);
          visit(s.access, start + at, uint64_t(stop - at));
          at = find(bits, true, stop, end);
        }
      }
  }
  template <class Visit> void each(Visit visit) const { each(0, ~uint64_t(0), visit); }

private:
  static constexpr uint64_t kPage = 1 << 14;
  using Bits = std::array<uint64_t, kPage / 64>;
  struct Site {
    GlobalAccess access;
    std::map<uint64_t, std::unique_ptr<Bits>> pages;
    uint64_t lastPage = ~uint64_t(0);
    Bits *last = nullptr;
    Bits &bits(uint64_t page);
  };
  std::vector<Site> sites;
  Site &siteOf(const GlobalAccess &access);
  static unsigned find(const Bits &bits, bool value, unsigned from, unsigned end);
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_READLOG_H
