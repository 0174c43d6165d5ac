//===- GlobalShadow.h - who touched which bytes of global memory ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For every 256 bytes the accesses as intervals, since most come by rows. What bulk
// copies read from an allocation that nobody has written yet is only listed by boxes;
// they are spread over the cells when the first write comes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_GLOBALSHADOW_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_GLOBALSHADOW_H

#include "Shadow.h"
#include "StoredBytes.h"

#include "../GlobalMemory.h"

#include <algorithm>
#include <map>

namespace blockscale::emu {

/// One access, or its part in a cell.
struct GlobalAccess {
  Record record;     // `bytes` is not used; `place` is the cluster's turn
  uint16_t from = 0; // bytes of the cell
  uint16_t to = 0;
  int16_t base = 0; // with a shift: the byte that belongs to lane `record.lanes`
  uint16_t warp = 0;
  uint8_t rank = 0;
  bool isWide = false;    // strong at gpu or sys scope
  bool isVisible = false; // to dependent grids from their start on
  uint32_t readBy = 0;    // of a bulk store: the component that has read its source
  uint32_t turn() const { return record.place; }
  /// Lanes that touched some of these bytes.
  uint32_t owners(unsigned first, unsigned end) const;
  bool isSameOperation(const GlobalAccess &o) const {
    return record.isSameOperation(o.record) && turn() == o.turn();
  }
};

/// Rows of bytes that one operation reads.
struct GlobalRows {
  uint64_t address = 0, bytes = 0, stride = 0, rows = 0;
  GlobalAccess access;
};

class GlobalShadow {
public:
  static constexpr unsigned kCell = 256;
  explicit GlobalShadow(const GlobalMemory &memory) : memory(memory) {}

  /// Calls check(this access in a cell, earlier access, address of the cell, first byte, end) for
  /// what overlaps and then keeps the access.
  template <class Check>
  void touch(const GlobalAccess &access, uint64_t address, uint64_t bytes, Check check) {
    if (isWrite(access.record.touch))
      written(address);
    GlobalAccess part = access;
    for (uint64_t at = address, end = address + bytes; at < end;) {
      uint64_t start = at / kCell * kCell, stop = std::min(end, start + kCell);
      part.from = uint16_t(at - start);
      part.to = uint16_t(stop - start);
      part.base = int16_t(int64_t(address) - int64_t(start));
      Cell &cell = cellAt(start);
      at = stop;
      if (GlobalAccess *before = hinted(cell, part, start + part.from)) {
        check(part, *before, start, part.from, part.to);
        *before = part;
        continue;
      }
      GlobalAccess *before = nullptr;
      size_t overlaps = 0, weak = 0;
      for (GlobalAccess &a : cell)
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
        keep(cell, part);
        ++last->changes;
      }
    }
  }
  /// Values of an ordinary store, for each byte what this cluster had stored there before.
  void store(uint64_t address, uint64_t bytes, const uint8_t *values, StoredBytes::Before *before);
  /// A bulk copy's read of a row; true when it is only listed.
  bool list(const GlobalAccess &access, uint64_t address, uint64_t bytes);

  /// Calls visit(access) for all that is kept.
  template <class Visit> void eachAccess(Visit visit) {
    for (auto &[begin, area] : areas)
      for (GlobalRows &rows : area.reads)
        visit(rows.access);
    for (auto &[page, cells] : pages)
      for (Cell &cell : cells->cell)
        for (GlobalAccess &a : cell)
          visit(a);
  }
  /// Calls check(access, first address, end) for what is kept of these bytes. Keeps nothing.
  template <class Check> void overlaps(uint64_t address, uint64_t bytes, Check check) const {
    const uint64_t end = address + bytes;
    if (auto area = areas.find(memory.find(address).begin); area != areas.end())
      for (const GlobalRows &rows : area->second.reads)
        for (uint64_t row = 0; row < rows.rows; ++row) {
          const uint64_t from = rows.address + row * rows.stride;
          if (from < end && address < from + rows.bytes)
            check(rows.access, std::max(from, address), std::min(from + rows.bytes, end));
        }
    for (uint64_t at = address / kCell * kCell; at < end; at += kCell) {
      auto page = pages.find(at / kPage);
      if (page == pages.end())
        continue;
      for (const GlobalAccess &a : page->second->cell[at % kPage / kCell])
        if (at + a.from < end && address < at + a.to)
          check(a, std::max(at + a.from, address), std::min(at + a.to, end));
    }
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
        spread(mine);
      if (!mine.isWritten) {
        for (const GlobalRows &rows : area.reads)
          listOnce(mine, rows);
        continue;
      }
      for (const GlobalRows &rows : area.reads)
        for (uint64_t row = 0; row < rows.rows; ++row)
          touch(rows.access, rows.address + row * rows.stride, rows.bytes, checkRead);
    }
    Cell joined;
    for (auto &[page, cells] : other.pages)
      for (size_t i = 0; i < kCells; ++i) {
        if (cells->cell[i].empty())
          continue;
        const uint64_t start = page * kPage + i * kCell;
        Cell &cell = cellAt(start);
        ++last->changes;
        joined.clear();
        for (const GlobalAccess &a : cells->cell[i])
          whateverItFound(joined, a);
        std::unique_ptr<StoredBytes> &theirs = cells->stored[i], &ours = last->stored[i];
        for (const GlobalAccess &a : joined)
          for (const GlobalAccess &earlier : cell) {
            const unsigned from = std::max(a.from, earlier.from), to = std::min(a.to, earlier.to);
            if (earlier.turn() != a.turn() && from < to)
              check(a, earlier, start, from, to,
                    a.record.touch == Touch::store && earlier.record.touch == Touch::store &&
                        theirs && ours && theirs->agree(*ours, from, to));
          }
        for (const GlobalAccess &a : joined)
          keepAny(cell, a);
        if (theirs && ours)
          ours->join(*theirs);
        else if (theirs)
          ours = std::move(theirs);
      }
  }

private:
  using Cell = std::vector<GlobalAccess>;
  static constexpr uint64_t kPage = 1 << 16;
  static constexpr size_t kCells = kPage / kCell;
  struct Page {
    Cell cell[kCells];
    std::unique_ptr<StoredBytes> stored[kCells]; // of clusters that nothing can order
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
    bool isWritten = false;
    std::vector<GlobalRows> reads;
  };
  const GlobalMemory &memory;
  std::map<uint64_t, std::unique_ptr<Page>> pages;
  std::map<uint64_t, Area> areas; // by start of the allocation
  uint64_t lastPage = ~uint64_t(0);
  Page *last = nullptr;
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
    GlobalAccess &before = cell[h.index];
    return isCountedAgain(a, before) ? &before : nullptr;
  }
  void hint(const Cell &cell, const GlobalAccess &a, uint64_t address) {
    if (hints.empty())
      hints.resize(kHints);
    hintOf(address) = {address, last, last->changes, uint32_t(&a - cell.data())};
  }
  Cell &cellAt(uint64_t start);
  Area &areaAt(uint64_t address);
  void written(uint64_t address);
  void spread(Area &area);
  static void keep(Cell &cell, const GlobalAccess &a);
  static void whateverItFound(Cell &cell, GlobalAccess a);
  static void keepAny(Cell &cell, const GlobalAccess &a);
  static void listOnce(Area &area, const GlobalRows &rows);
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_GLOBALSHADOW_H
