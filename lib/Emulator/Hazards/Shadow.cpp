//===- Shadow.cpp - keeping the records of a cell -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shadow.h"

namespace blockscale::emu {

namespace {
constexpr std::size_t kMaxRecords = 64;

/// `fresh` is a later read by the same lanes of the same component.
bool replaces(const Record &fresh, const Record &old) {
  return old.component == fresh.component && old.touch == fresh.touch && old.shift == fresh.shift &&
         old.lanes == fresh.lanes && (old.bytes & ~fresh.bytes) == 0 && old.place == fresh.place;
}
} // namespace

/// Joins a lane's part of one instruction with the parts of lanes before it.
bool Cell::merge(const Record &r) {
  if (records.empty() || r.shift != kEveryLane)
    return false;
  Record &last = records.back();
  if (!last.isSameOperation(r) || last.touch != r.touch || !r.lanes || (r.lanes & (r.lanes - 1)))
    return false;
  if (last.shift == kEveryLane && last.bytes == r.bytes) {
    last.lanes |= r.lanes;
    return true;
  }
  unsigned size = unsigned(__builtin_popcount(r.bytes)), offset = unsigned(__builtin_ctz(r.bytes)),
           lane = unsigned(__builtin_ctz(r.lanes));
  uint8_t shift = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : kEveryLane;
  if (shift == kEveryLane || offset % size || lane < offset >> shift)
    return false;
  uint32_t first = lane - (offset >> shift);
  if (last.shift == kEveryLane) {
    // The first lane's part decides whether the pattern holds.
    if (unsigned(__builtin_popcount(last.bytes)) != size || (last.lanes & (last.lanes - 1)))
      return false;
    unsigned at = unsigned(__builtin_ctz(last.bytes));
    if (at % size || unsigned(__builtin_ctz(last.lanes)) != first + (at >> shift))
      return false;
    last.shift = shift;
    last.lanes = first;
  } else if (last.shift != shift || last.lanes != first) {
    return false;
  }
  last.bytes |= r.bytes;
  return true;
}

void Cell::addRead(const Record &r) {
  if (merge(r))
    return;
  for (Record &old : records)
    if (replaces(r, old)) {
      old = r;
      return;
    }
  if (records.size() >= kMaxRecords) // the oldest read goes
    for (std::size_t i = 0; i < records.size(); ++i)
      if (!isWrite(records[i].touch)) {
        records.erase(records.begin() + long(i));
        break;
      }
  records.push_back(r);
}

void Cell::addWrite(const Record &r) {
  std::size_t kept = 0;
  for (Record &old : records) {
    if (!old.isSameOperation(r))
      old.bytes &= uint16_t(~r.bytes);
    if (old.bytes)
      records[kept++] = old;
  }
  records.resize(kept);
  if (!merge(r))
    records.push_back(r);
}

} // namespace blockscale::emu
