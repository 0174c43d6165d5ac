//===- GlobalShadow.h - who touched which bytes of global memory ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For every 256 bytes the accesses as intervals, since most come by rows; reads are only
// appended, and thinned out when their room is full. What bulk copies read from an
// allocation that nobody has written yet is only listed by boxes; they are spread over
// the cells when the first write comes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_GLOBALSHADOW_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_GLOBALSHADOW_H

#include "ReadLog.h"
#include "StoredBytes.h"

#include "../GlobalMemory.h"

#include <algorithm>
#include <map>

namespace blockscale::emu {

/// Rows of bytes that one operation reads.
struct GlobalRows {
  uint64_t address = 0, bytes = 0, stride = 0, rows = 0;
  GlobalAccess access;
};

class GlobalShadow {
public:
  static constexpr unsigned kCell = kCellOfGlobal;
  explicit GlobalShadow(const GlobalMemory &memory) : memory(memory) {}

  /// Calls check(this access in a cell, earlier access, address of the cell, first byte, end) for
  /// what overlaps and then keeps the access.
  template <class Check>
  void touch(const GlobalAccess &access, uint64_t address, uint64_t bytes, Check check) {
    if (isWrite(access.record.touch))
      written(address);
    else if (note(access, address, bytes))
      return;
    GlobalAccess part = access;
    for (uint64_t at = address, end = address + bytes; at < end;) {
      uint64_t start = at / kCell * kCell, stop = std::min(end, start + kCell);
      part.from = uint16_t(at - start);
      part.to = uint16_t(stop - start);
      part.base = int16_t(int64_t(address) - int64_t(start));
      Cell &cell = cellAt(start);
      at = stop;
      if (!isWrite(part.record.touch)) {
        checkReads(cell, part, start, check);
        keepRead(cell.reads, part);
        ++last->changes;
        continue;
      }
      if (GlobalAccess *before = hinted(cell, part, start + part.from)) {
        check(part, *before, start, part.from, part.to);
        *before = part;
        continue;
      }
      GlobalAccess *before = nullptr;
      size_t overlaps = 0, weak = 0;
      for (Accesses *kept : {&cell.writes, &cell.reads})
        for (GlobalAccess &a : *kept)
          if (a.from < part.to && part.from < a.to) {
            check(part, a, start, std::max(a.from, part.from), std::min(a.to, part.to));
            if (isWeakWrite(a.record.touch)) {
              ++weak;
              continue;
            }
            before = &a;
            ++overlaps;
          }
      if (overlaps == 1 && isCountedAgain(part, *before)) {
        *before = part;
        if (!weak) // which a hint would pass by
          hint(cell, *before, start + part.from);
      } else {
        keepWrite(cell, part);
        ++last->changes;
      }
    }
  }
  /// Values of an ordinary store, for each byte what this cluster had stored there before.
  void store(uint64_t address, unsigned bytes, const uint8_t *values, StoredBytes::Before *before) {
    stored.put(address, values, bytes, before);
  }
  /// A read of what nobody has written yet; false: it must be checked.
  bool note(const GlobalAccess &access, uint64_t address, uint64_t bytes) {
    if (isStrong(access.record.touch) || access.record.touch == Touch::mapRead)
      return false;
    Area &area = areaAt(address);
    const uint64_t offset = address - lastRange.begin;
    if (area.isWritten || offset > UINT32_MAX || bytes > UINT16_MAX)
      return false;
    area.log.add(access, uint32_t(offset), uint16_t(bytes));
    return true;
  }
  /// A bulk copy's read of a row; true when it is only listed.
  bool list(const GlobalAccess &access, uint64_t address, uint64_t bytes);

  /// Calls visit(access) for all that is kept.
  template <class Visit> void eachAccess(Visit visit) {
    for (auto &[begin, area] : areas) {
      spreadLog(begin, area);
      for (GlobalRows &rows : area.reads)
        visit(rows.access);
    }
    for (auto &[page, cells] : pages)
      for (Cell &cell : cells->cell)
        for (Accesses *kept : {&cell.writes, &cell.reads})
          for (GlobalAccess &a : *kept)
            visit(a);
  }
  /// Calls check(access, first address, end) for what is kept of these bytes. Keeps nothing.
  template <class Check> void overlaps(uint64_t address, uint64_t bytes, Check check) const {
    const uint64_t end = address + bytes;
    if (auto area = areas.find(memory.find(address).begin); area != areas.end()) {
      const uint64_t begin = area->first;
      area->second.bytes.each(address - begin, end - begin,
                              [&](const GlobalAccess &a, uint64_t offset, uint64_t count) {
                                check(a, begin + offset, begin + offset + count);
                              });
      for (const GlobalRows &rows : area->second.reads)
        for (uint64_t row = 0; row < rows.rows; ++row) {
          const uint64_t from = rows.address + row * rows.stride;
          if (from < end && address < from + rows.bytes)
            check(rows.access, std::max(from, address), std::min(from + rows.bytes, end));
        }
    }
    for (uint64_t at = address / kCell * kCell; at < end; at += kCell) {
      auto page = pages.find(at / kPage);
      if (page == pages.end())
        continue;
      const Cell &cell = page->second->cell[at % kPage / kCell];
      for (const Accesses *kept : {&cell.writes, &cell.reads})
        for (const GlobalAccess &a : *kept)
          if (at + a.from < end && address < at + a.to)
            check(a, std::max(at + a.from, address), std::min(at + a.to, end));
    }
  }

  /// Nobody of the launch will write any more.
  void settle() {
    for (auto &[begin, area] : areas)
      area.settle();
  }
  /// Takes over what a cluster without any order towards the others has done. Calls
  /// check(access of it, earlier access, address of the cell, first byte, end, whether both have
  /// stored the same).
  template <class Check> void merge(GlobalShadow &other, Check check) {
    auto checkRead = [&](const GlobalAccess &a, const GlobalAccess &earlier, uint64_t cell,
                         unsigned from, unsigned to) { check(a, earlier, cell, from, to, false); };
    for (auto &[begin, area] : other.areas) {
      Area &mine = areas[begin];
      if (area.isWritten && !mine.isWritten)
        spread(begin, mine);
      area.settle();
      if (!mine.isWritten) {
        for (const GlobalRows &rows : area.reads)
          listOnce(mine, rows);
        mine.bytes.join(area.bytes);
        continue;
      }
      area.bytes.each([&, start = begin](const GlobalAccess &a, uint64_t offset, uint64_t count) {
        mergeRow(a, start + offset, count, checkRead);
      });
      for (const GlobalRows &rows : area.reads)
        for (uint64_t row = 0; row < rows.rows; ++row)
          mergeRow(rows.access, rows.address + row * rows.stride, rows.bytes, checkRead);
    }
    Accesses joined;
    for (auto &[page, cells] : other.pages)
      for (size_t i = 0; i < kCells; ++i) {
        const Cell &theirs = cells->cell[i];
        if (theirs.writes.empty() && theirs.reads.empty())
          continue;
        const uint64_t start = page * kPage + i * kCell;
        Cell &ours = cellAt(start);
        ++last->changes;
        joined.clear();
        joinReads(theirs.reads, joined);
        for (const GlobalAccess &a : joined)
          checkReads(ours, a, start, checkRead);
        if (theirs.writes.empty()) {
          for (const GlobalAccess &a : joined)
            keepAny(ours.reads, a);
          continue;
        }
        const size_t reads = joined.size();
        for (const GlobalAccess &a : theirs.writes)
          whateverItFound(joined, reads, a);
        for (size_t k = reads; k < joined.size(); ++k)
          for (const Accesses *kept : {&ours.writes, &ours.reads})
            for (const GlobalAccess &earlier : *kept) {
              const GlobalAccess &a = joined[k];
              const unsigned from = std::max(a.from, earlier.from), to = std::min(a.to, earlier.to);
              if (from < to)
                check(a, earlier, start, from, to,
                      a.record.touch == Touch::store && earlier.record.touch == Touch::store &&
                          other.stored.agrees(stored, start + from, start + to));
            }
        for (size_t k = 0; k < joined.size(); ++k)
          keepAny(k < reads ? ours.reads : ours.writes, joined[k]);
      }
    stored.join(other.stored);
  }

private:
  using Accesses = std::vector<GlobalAccess>;
  struct Cell {
    Accesses writes, reads;
  };
  static constexpr uint64_t kPage = 1 << 16;
  static constexpr size_t kCells = kPage / kCell;
  struct Page {
    Cell cell[kCells];
    uint32_t changes = 0; // of its cells, other than an atomic that takes another's place
  };
  /// Where the atomic on an address was found that alone overlaps it: where many threads count,
  /// most accesses only take its place.
  struct Hint {
    uint64_t address = 0;
    const Page *page = nullptr;
    uint32_t changes = 0, index = 0;
  };
  static constexpr size_t kHints = 4096;
  struct Area {
    bool isWritten = false; // nothing of the following any more
    std::vector<GlobalRows> reads;
    ReadLog log;
    ReadBytes bytes; // of clusters that have ended
    void settle() {
      log.each([this](const GlobalAccess &a, uint32_t offset, uint16_t count) {
        bytes.add(a, offset, count);
      });
      log.clear();
    }
  };
  const GlobalMemory &memory;
  std::map<uint64_t, std::unique_ptr<Page>> pages;
  std::map<uint64_t, Area> areas; // by start of the allocation
  // Pages that were touched lately.
  struct Recent {
    uint64_t number = ~uint64_t(0);
    Page *page = nullptr;
  };
  static constexpr size_t kRecent = 256;
  std::vector<Recent> recent = std::vector<Recent>(kRecent);
  Page *last = nullptr;
  StoredMemory stored; // of clusters that nothing can order
  GlobalRange lastRange;
  Area *lastArea = nullptr;
  std::vector<Hint> hints;

  Hint &hintOf(uint64_t address) { return hints[address / 4 % kHints]; }
  static bool isCountedAgain(const GlobalAccess &a, const GlobalAccess &before) {
    return a.record.touch == Touch::atomic && before.record.touch == Touch::atomic &&
           a.from == before.from && a.to == before.to && !a.isSameOperation(before);
  }
  GlobalAccess *hinted(Cell &cell, const GlobalAccess &a, uint64_t address) {
    if (a.record.touch != Touch::atomic || hints.empty())
      return nullptr;
    const Hint &h = hintOf(address);
    if (h.address != address || h.page != last || h.changes != last->changes)
      return nullptr;
    GlobalAccess &before = cell.writes[h.index];
    return isCountedAgain(a, before) ? &before : nullptr;
  }
  void hint(const Cell &cell, const GlobalAccess &a, uint64_t address) {
    if (hints.empty())
      hints.resize(kHints);
    hintOf(address) = {address, last, last->changes, uint32_t(&a - cell.writes.data())};
  }
  Cell &cellAt(uint64_t start);
  Area &areaAt(uint64_t address);
  void written(uint64_t address);
  void spread(uint64_t begin, Area &area);
  void spreadLog(uint64_t begin, Area &area);
  void keepReads(const GlobalAccess &access, uint64_t address, uint64_t bytes);
  /// Calls visit(cell, the access in it, its address).
  template <class Visit>
  void eachPart(const GlobalAccess &access, uint64_t address, uint64_t bytes, Visit visit) {
    GlobalAccess part = access;
    for (uint64_t at = address, end = address + bytes; at < end;) {
      const uint64_t start = at / kCell * kCell, stop = std::min(end, start + kCell);
      part.from = uint16_t(at - start);
      part.to = uint16_t(stop - start);
      part.base = int16_t(int64_t(address) - int64_t(start));
      Cell &cell = cellAt(start);
      visit(cell, part, start);
      ++last->changes;
      at = stop;
    }
  }
  /// A read against what was written.
  template <class Check>
  static void checkReads(Cell &cell, const GlobalAccess &a, uint64_t start, Check check) {
    for (GlobalAccess &e : cell.writes)
      if (e.from < a.to && a.from < e.to)
        check(a, e, start, std::max(e.from, a.from), std::min(e.to, a.to));
  }
  /// A row that another cluster has read.
  template <class Check>
  void mergeRow(const GlobalAccess &access, uint64_t address, uint64_t bytes, Check check) {
    eachPart(access, address, bytes, [&](Cell &cell, const GlobalAccess &part, uint64_t start) {
      checkReads(cell, part, start, check);
      keepAny(cell.reads, part);
    });
  }
  static void keepWrite(Cell &cell, const GlobalAccess &a);
  static void keepRead(Accesses &reads, const GlobalAccess &a);
  static void thinOut(Accesses &reads);
  static void joinReads(const Accesses &reads, Accesses &out);
  static void whateverItFound(Accesses &writes, size_t from, GlobalAccess a);
  static void keepAny(Accesses &kept, const GlobalAccess &a);
  static void listOnce(Area &area, const GlobalRows &rows);
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_GLOBALSHADOW_H
