//===- GlobalShadow.cpp - keeping intervals of global memory --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalShadow.h"

#include <array>
#include <bit>
#include <bitset>

namespace blockscale::emu {

namespace {
constexpr std::size_t kFewReads = 8;              // room of a cell at first
constexpr std::size_t kMostRoom = 2 * kMostReads; // and at most
constexpr std::size_t kListedBefore = 8;          // entries that may go on in the next one
constexpr std::size_t kReadBefore = 4;            // reads that the next one may repeat

/// The lane that would own byte 0 of the cell, times the bytes of a lane; lanes of one instruction
/// that stand alone own like those in a row.
bool isSamePattern(const GlobalAccess &a, const GlobalAccess &b) {
  if (a.record.shift != b.record.shift) {
    const GlobalAccess &alone = a.record.shift == kEveryLane ? a : b, &row = &alone == &a ? b : a;
    return row.owners(std::max(a.from, b.from), std::min(a.to, b.to)) == alone.record.lanes;
  }
  if (a.record.shift == kEveryLane)
    return a.record.lanes == b.record.lanes;
  auto origin = [](const GlobalAccess &o) {
    return int32_t(o.base) - int32_t(o.record.lanes << o.record.shift);
  };
  return origin(a) == origin(b);
}

/// The same threads read these bytes again.
bool isReadAgain(const GlobalAccess &now, const GlobalAccess &e) {
  return e.record.component == now.record.component && e.from >= now.from && e.to <= now.to &&
         e.turn() == now.turn() && e.record.touch == now.record.touch && e.isWide == now.isWide &&
         e.record.shift == now.record.shift && isSamePattern(e, now);
}
} // namespace

uint32_t GlobalAccess::owners(unsigned first, unsigned end) const {
  if (record.shift == kEveryLane)
    return record.lanes;
  uint32_t out = 0;
  for (int b = int(std::max<unsigned>(first, from)), e = int(std::min<unsigned>(end, to)); b < e;
       b += 1 << record.shift)
    out |= 1u << ((record.lanes + (uint32_t(b - base) >> record.shift)) & 31);
  return out;
}

GlobalShadow::Cell &GlobalShadow::cellAt(uint64_t start) {
  const uint64_t page = start / kPage;
  Recent &r = recent[page % kRecent];
  if (r.number != page) {
    std::unique_ptr<Page> &p = pages[page];
    if (!p)
      p = std::make_unique<Page>();
    r = {page, p.get()};
  }
  last = r.page;
  return last->cell[start % kPage / kCell];
}

GlobalShadow::Area &GlobalShadow::areaAt(uint64_t address) {
  if (!lastRange.covers(address, 1)) {
    lastRange = memory.find(address);
    lastArea = &areas[lastRange.begin];
  }
  return *lastArea;
}

void GlobalShadow::written(uint64_t address) {
  Area &area = areaAt(address);
  if (!area.isWritten)
    spread(lastRange.begin, area);
}

void GlobalShadow::keepReads(const GlobalAccess &access, uint64_t address, uint64_t bytes) {
  eachPart(access, address, bytes,
           [](Cell &cell, const GlobalAccess &part, uint64_t) { keepRead(cell.reads, part); });
}

void GlobalShadow::spreadLog(uint64_t begin, Area &area) {
  area.log.each([&](const GlobalAccess &a, uint32_t offset, uint16_t bytes) {
    keepReads(a, begin + offset, bytes);
  });
  area.log.clear();
}

void GlobalShadow::spread(uint64_t begin, Area &area) {
  area.isWritten = true;
  spreadLog(begin, area);
  for (const GlobalRows &rows : area.reads)
    for (uint64_t row = 0; row < rows.rows; ++row)
      keepReads(rows.access, rows.address + row * rows.stride, rows.bytes);
  area.reads.clear();
  area.reads.shrink_to_fit();
  area.bytes.each([&](const GlobalAccess &a, uint64_t offset, uint64_t bytes) {
    mergeRow(a, begin + offset, bytes, [](const auto &...) {});
  });
  area.bytes = {};
}

bool GlobalShadow::list(const GlobalAccess &access, uint64_t address, uint64_t bytes) {
  Area &area = areaAt(address);
  if (area.isWritten)
    return false;
  if (!area.reads.empty()) {
    GlobalRows &before = area.reads.back();
    if (before.access.isSameOperation(access) && before.bytes == bytes) {
      if (before.rows == 1)
        before.stride = address - before.address;
      if (address == before.address + before.stride * before.rows) {
        ++before.rows;
        return true;
      }
    }
  }
  area.reads.push_back({address, bytes, 0, 1, access});
  return true;
}

/// Without its time, joined with what it continues.
void GlobalShadow::listOnce(Area &area, const GlobalRows &rows) {
  std::size_t n = area.reads.size();
  for (std::size_t i = n; i-- > 0;) {
    GlobalRows &r = area.reads[i];
    if (r.access.record.site != rows.access.record.site || r.rows != rows.rows ||
        r.stride != rows.stride || r.access.isVisible != rows.access.isVisible)
      continue;
    if (rows.address >= r.address && rows.address + rows.bytes <= r.address + r.bytes)
      return;
    if (n - i <= kListedBefore && rows.address == r.address + r.bytes &&
        rows.access.turn() == r.access.turn()) {
      r.bytes += rows.bytes;
      return;
    }
  }
  area.reads.push_back(rows);
}

/// A write takes the place of what it overwrites.
void GlobalShadow::keepWrite(Cell &cell, const GlobalAccess &a) {
  for (Accesses *kept : {&cell.writes, &cell.reads}) {
    std::size_t count = 0, n = kept->size();
    Accesses rests;
    for (std::size_t i = 0; i < n; ++i) {
      GlobalAccess &e = (*kept)[i];
      // Another atomic excludes no race with the weak write that this one is behind. Lanes of one
      // instruction stand beside each other, its lanes the next time in the place of themselves.
      if (e.from < a.to && a.from < e.to &&
          !(isStrong(a.record.touch) && isWeakWrite(e.record.touch)) &&
          (!e.isSameOperation(a) || isSamePattern(e, a))) {
        if (a.to < e.to) {
          rests.push_back(e);
          rests.back().from = a.to;
        }
        e.to = a.from;
        if (e.to <= e.from)
          continue;
      }
      if (count != i)
        (*kept)[count] = e;
      ++count;
    }
    kept->resize(count);
    kept->insert(kept->end(), rests.begin(), rests.end());
  }
  cell.writes.push_back(a);
}

void GlobalShadow::keepRead(Accesses &reads, const GlobalAccess &a) {
  const std::size_t n = reads.size();
  for (std::size_t i = n; i-- > 0 && n - i <= kReadBefore;)
    if (isReadAgain(a, reads[i])) {
      reads[i] = a;
      return;
    }
  if (n == reads.capacity())
    thinOut(reads);
  reads.push_back(a);
}

/// Of reads of the same bytes by the same threads the last one stays.
void GlobalShadow::thinOut(Accesses &reads) {
  const std::size_t n = reads.size();
  if (n < kFewReads) {
    reads.reserve(kFewReads);
    return;
  }
  // Places of kept reads and one, by a hash of who reads what.
  std::array<uint16_t, 2 * kMostRoom> table{};
  const std::size_t slots = std::min(2 * std::bit_ceil(n), table.size());
  std::size_t first = n;
  for (std::size_t i = n; i-- > 0;) {
    const GlobalAccess &a = reads[i];
    uint64_t hash = (uint64_t(a.record.component) << 32 | a.record.lanes) * 0x9E3779B97F4A7C15;
    hash = (hash ^ (uint64_t(a.from) << 16 | a.to) ^ a.turn()) * 0x9E3779B97F4A7C15;
    std::size_t slot = hash >> 40 & (slots - 1);
    bool isOld = false;
    while (table[slot] && !isOld) {
      const GlobalAccess &later = reads[table[slot] - 1];
      isOld = isReadAgain(later, a) && later.from == a.from && later.to == a.to;
      slot = (slot + 1) & (slots - 1);
    }
    if (isOld)
      continue;
    // From behind: what is kept moves up, in its order.
    reads[--first] = a;
    table[slot] = uint16_t(first + 1);
  }
  const std::size_t room = reads.capacity();
  if (room >= kMostRoom && n > kMostReads)
    first = std::max(first, n - kMostReads);
  reads.erase(reads.begin(), reads.begin() + std::ptrdiff_t(first));
  if (reads.size() > room / 2)
    reads.reserve(2 * room);
}

/// Reads of a cluster, those of an instruction together.
void GlobalShadow::joinReads(const Accesses &reads, Accesses &out) {
  struct Site {
    GlobalAccess access;
    std::bitset<kCell> bytes;
  };
  std::vector<Site> sites;
  for (const GlobalAccess &a : reads) {
    if (isStrong(a.record.touch)) { // the size matters
      out.push_back(a);
      continue;
    }
    auto site = std::find_if(sites.begin(), sites.end(), [&](const Site &s) {
      return s.access.record.site == a.record.site && s.access.record.touch == a.record.touch &&
             s.access.isWide == a.isWide && s.access.isVisible == a.isVisible;
    });
    if (site == sites.end())
      site = sites.insert(site, {a, {}});
    site->bytes |= (~std::bitset<kCell>() >> (kCell - (a.to - a.from))) << a.from;
  }
  for (Site &s : sites)
    for (unsigned at = 0; at < kCell; ++at) {
      if (!s.bytes[at])
        continue;
      s.access.from = uint16_t(at);
      while (at < kCell && s.bytes[at])
        ++at;
      s.access.to = uint16_t(at);
      out.push_back(s.access);
    }
}

/// Whether a store found its value in memory, which parted its lanes, may have been another
/// cluster's doing.
void GlobalShadow::whateverItFound(Accesses &writes, std::size_t from, GlobalAccess a) {
  if (a.record.touch == Touch::storeSame)
    a.record.touch = Touch::store;
  if (a.record.touch == Touch::store)
    for (std::size_t i = from; i < writes.size(); ++i) {
      GlobalAccess &e = writes[i];
      if (e.record.touch == Touch::store && e.record.site == a.record.site && e.warp == a.warp &&
          e.rank == a.rank && e.isVisible == a.isVisible && e.from <= a.to && a.from <= e.to) {
        e.from = std::min(e.from, a.from);
        e.to = std::max(e.to, a.to);
        return;
      }
    }
  writes.push_back(a);
}

/// Without order and time, whatever the cluster: one interval for a site that goes on.
void GlobalShadow::keepAny(Accesses &kept, const GlobalAccess &a) {
  auto isAlike = [&](const GlobalAccess &e) {
    return e.record.site == a.record.site && e.record.touch == a.record.touch &&
           e.isWide == a.isWide && e.isVisible == a.isVisible;
  };
  for (const GlobalAccess &e : kept)
    if (e.from <= a.from && a.to <= e.to && isAlike(e))
      return;
  if (!isStrong(a.record.touch)) // of which the size matters
    for (GlobalAccess &e : kept)
      if (e.from <= a.to && a.from <= e.to && isAlike(e)) {
        e.from = std::min(e.from, a.from);
        e.to = std::max(e.to, a.to);
        return;
      }
  kept.push_back(a);
}

} // namespace blockscale::emu
