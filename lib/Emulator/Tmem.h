//===- Tmem.h - tensor memory of a CTA ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 128 lanes of 32-bit cells, lane-major, with a flag per cell that says whether
// it was ever written, and the allocations of columns (PTX ISA 9.4, 9.7.18.7.1).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_TMEM_H
#define BLOCKSCALE_LIB_EMULATOR_TMEM_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace blockscale::emu {

inline constexpr unsigned kTmemLanes = 128;

class Tmem {
public:
  struct Allocation {
    unsigned column, columns;
    bool exclusive;
    uint32_t line;
  };

  explicit Tmem(unsigned columns) : columnCount(columns) {}
  unsigned columns() const { return columnCount; }

  /// First column of a free range, or -1 when the caller has to wait.
  int allocate(unsigned columns, bool exclusive, uint32_t line);
  /// Empty when done, else the reason.
  std::string release(unsigned column, unsigned columns, bool exclusive);
  const std::vector<Allocation> &live() const { return allocations; }
  /// Are columns [column, column + count) inside one live allocation?
  bool covers(unsigned column, unsigned count) const;
  std::string describe() const;
  /// Of the live allocation that holds a column; 0: none.
  uint32_t lineOf(unsigned column) const;

  uint32_t *cell(unsigned lane, unsigned column) {
    return &cells[size_t(lane) * columnCount + column];
  }
  uint8_t *writtenFlag(unsigned lane, unsigned column) {
    return &written[size_t(lane) * columnCount + column];
  }
  void mark(unsigned lane, unsigned column, unsigned count) {
    std::memset(writtenFlag(lane, column), 1, count);
  }
  bool isWritten(unsigned lane, unsigned column, unsigned count) {
    return std::memchr(writtenFlag(lane, column), 0, count) == nullptr;
  }

  bool relinquished = false;
  uint32_t relinquishedLine = 0;
  unsigned lastAllocated = 0; // sizes may not grow
  uint32_t allocatedLine = 0; // of the last

private:
  unsigned columnCount;
  std::vector<uint32_t> cells; // made at the first allocation
  std::vector<uint8_t> written;
  std::vector<Allocation> allocations;
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_TMEM_H
