//===- GlobalShadow.cpp - keeping intervals of global memory --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalShadow.h"

namespace blockscale::emu {

namespace {
constexpr std::size_t kMaxIntervals = 256; // of a cell; beyond it the oldest read goes
constexpr std::size_t kListedBefore = 8;   // entries that may go on in the next one

bool isSamePattern(const GlobalAccess &a, const GlobalAccess &b) {
  return a.record.lanes == b.record.lanes && a.record.shift == b.record.shift &&
         (a.record.shift == kEveryLane || a.base == b.base);
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
  if (page != lastPage) {
    std::unique_ptr<Page> &p = pages[page];
    if (!p)
      p = std::make_unique<Page>();
    last = p.get();
    lastPage = page;
  }
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
    spread(area);
}

void GlobalShadow::spread(Area &area) {
  area.isWritten = true;
  for (const GlobalRows &rows : area.reads)
    for (uint64_t row = 0; row < rows.rows; ++row)
      touch(rows.access, rows.address + row * rows.stride, rows.bytes,
            [](const GlobalAccess &, const GlobalAccess &, uint64_t, unsigned, unsigned) {});
  area.reads.clear();
  area.reads.shrink_to_fit();
}

void GlobalShadow::store(uint64_t address, uint64_t bytes, const uint8_t *values,
                         StoredBytes::Before *before) {
  static_assert(StoredBytes::kBytes == kCell);
  while (bytes) {
    const uint64_t in = address % kCell, count = std::min(bytes, kCell - in);
    cellAt(address - in);
    std::unique_ptr<StoredBytes> &stored = last->stored[address % kPage / kCell];
    if (!stored)
      stored = std::make_unique<StoredBytes>();
    stored->put(unsigned(in), values, unsigned(count), before);
    address += count;
    bytes -= count;
    values += count;
    before += count;
  }
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

/// A write takes the place of what it overwrites, a read that of the same read.
void GlobalShadow::keep(Cell &cell, const GlobalAccess &a) {
  if (isWrite(a.record.touch)) {
    std::size_t kept = 0, n = cell.size();
    Cell rests;
    for (std::size_t i = 0; i < n; ++i) {
      GlobalAccess &e = cell[i];
      // Another atomic excludes no race with the weak write that this one is behind.
      if (e.from < a.to && a.from < e.to && !e.isSameOperation(a) &&
          !(isStrong(a.record.touch) && isWeakWrite(e.record.touch))) {
        if (a.to < e.to) {
          rests.push_back(e);
          rests.back().from = a.to;
        }
        e.to = a.from;
        if (e.to <= e.from)
          continue;
      }
      if (kept != i)
        cell[kept] = e;
      ++kept;
    }
    cell.resize(kept);
    cell.insert(cell.end(), rests.begin(), rests.end());
  } else {
    for (GlobalAccess &e : cell)
      if (e.record.component == a.record.component && e.turn() == a.turn() &&
          e.record.touch == a.record.touch && e.isWide == a.isWide && isSamePattern(e, a) &&
          a.from <= e.from && e.to <= a.to) {
        e = a;
        return;
      }
    if (cell.size() >= kMaxIntervals) {
      auto oldest = std::find_if(cell.begin(), cell.end(),
                                 [](const GlobalAccess &e) { return !isWrite(e.record.touch); });
      if (oldest != cell.end())
        cell.erase(oldest);
    }
  }
  cell.push_back(a);
}

/// Whether a store found its value in memory, which parted its lanes, may have been another
/// cluster's doing.
void GlobalShadow::whateverItFound(Cell &cell, GlobalAccess a) {
  if (a.record.touch == Touch::storeSame)
    a.record.touch = Touch::store;
  if (a.record.touch == Touch::store)
    for (GlobalAccess &e : cell)
      if (e.record.touch == Touch::store && e.record.site == a.record.site && e.warp == a.warp &&
          e.rank == a.rank && e.isVisible == a.isVisible && e.from <= a.to && a.from <= e.to) {
        e.from = std::min(e.from, a.from);
        e.to = std::max(e.to, a.to);
        return;
      }
  cell.push_back(a);
}

/// Without order and time: one interval for a site that goes on.
void GlobalShadow::keepAny(Cell &cell, const GlobalAccess &a) {
  for (GlobalAccess &e : cell)
    if (e.record.site == a.record.site && e.record.touch == a.record.touch &&
        e.isWide == a.isWide && e.isVisible == a.isVisible && e.from <= a.from && a.to <= e.to)
      return;
  // Of strong accesses the size matters.
  for (GlobalAccess &e : cell)
    if (!isStrong(a.record.touch) && e.record.site == a.record.site &&
        e.record.touch == a.record.touch && e.isWide == a.isWide && e.isVisible == a.isVisible &&
        e.turn() == a.turn() && e.from <= a.to && a.from <= e.to) {
      e.from = std::min(e.from, a.from);
      e.to = std::max(e.to, a.to);
      return;
    }
  cell.push_back(a);
}

} // namespace blockscale::emu
