//===- Shadow.h - who touched which bytes last ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For every 32 bytes of shared memory, and every column of tensor memory with its four
// 32-lane quarters: the last writes and the reads since, each as {component, count}.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_SHADOW_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_SHADOW_H

#include "Access.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace blockscale::emu {

inline constexpr uint8_t kEveryLane = 0xFF; // every lane of `lanes` touched all bytes
inline constexpr unsigned kCellBytes = 32;

/// Two of them and what else a cell holds fill a cache line of the host.
struct Record {
  uint32_t component : 24 = 0;     // who
  uint32_t shift : 8 = kEveryLane; // else byte b belongs to lane `lanes` + (b >> shift)
  uint32_t count = 0;
  uint32_t site : 24 = 0; // index of the instruction
  Touch touch : 8 = Touch::load;
  uint32_t lanes = 0; // a mask; with a shift the lane that owns byte 0
  uint32_t place = 0; // accumulators: which and of what shape; scales: their address
  uint32_t bytes = 0; // of the cell, or quarters

  bool isSameOperation(const Record &o) const {
    return component == o.component && count == o.count && site == o.site;
  }
  /// Lanes that touched some of these bytes.
  uint32_t owners(uint32_t of) const {
    if (shift == kEveryLane)
      return lanes;
    uint32_t out = 0;
    for (uint32_t m = of & bytes; m; m &= m - 1)
      out |= 1u << ((lanes + (uint32_t(__builtin_ctz(m)) >> shift)) & 31);
    return out;
  }
};

/// The accesses that a later one may conflict with.
class alignas(64) Cell {
public:
  const Record *begin() const { return more ? more->data() : few; }
  const Record *end() const { return begin() + size(); }
  bool isEmpty() const { return size() == 0; }
  /// Keeps the room that it has grown to.
  void clear() { shrink(0); }
  void addRead(const Record &r);
  void addWrite(const Record &r);
  /// An atomic takes the place of another of the same bytes, where it overlaps nothing else but
  /// weak writes that it knows: the two exclude each other's races, and nothing else is to be
  /// checked. False elsewhere.
  template <class Knows> bool countAgain(const Record &r, Knows knows) {
    Record *before = nullptr;
    Record *records = data();
    for (std::size_t i = 0, n = size(); i < n; ++i) {
      Record &o = records[i];
      if (!(o.bytes & r.bytes))
        continue;
      if (isWeakWrite(o.touch) && knows(o))
        continue;
      if (before || o.touch != Touch::atomic || o.bytes != r.bytes || o.shift != kEveryLane ||
          o.isSameOperation(r))
        return false;
      before = &o;
    }
    if (before)
      *before = r;
    return before;
  }

private:
  static constexpr uint32_t kFew = 2;
  Record few[kFew];
  uint32_t count = 0; // of the few
  std::unique_ptr<std::vector<Record>> more;

  std::size_t size() const { return more ? more->size() : count; }
  Record *data() { return more ? more->data() : few; }
  void push(const Record &r);
  void shrink(std::size_t to);
  bool merge(const Record &r);
};

/// Those of a memory.
using Cells = std::vector<Cell>;

static_assert(sizeof(Record) == 24 && sizeof(Cell) == 64);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_SHADOW_H
