//===- Shadow.cpp - keeping the records of a cell -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shadow.h"

#include <algorithm>

namespace blockscale::emu {

using std::size_t;

namespace {
constexpr size_t kMaxRecords = 64;

/// `fresh` is a later read by the same lanes of the same component.
bool replaces(const Record &fresh, const Record &old) {
  return old.component == fresh.component && old.touch == fresh.touch && old.shift == fresh.shift &&
         old.lanes == fresh.lanes && (old.bytes & ~fresh.bytes) == 0 && old.place == fresh.place;
}
} // namespace

void Cell::push(const Record &r) {
  if (!more && count < kFew) {
    few[count++] = r;
    return;
  }
  if (!more)
    more = std::make_unique<std::vector<Record>>(few, few + count);
  more->push_back(r);
}

void Cell::shrink(size_t to) {
  if (more)
    more->resize(to);
  else
    count = uint32_t(to);
}

/// Joins a lane's part of one instruction with the parts of lanes before it.
bool Cell::merge(const Record &r) {
  if (isEmpty() || r.shift != kEveryLane)
    return false;
  Record &last = data()[size() - 1];
  if (!last.isSameOperation(r) || last.touch != r.touch || !r.lanes || (r.lanes & (r.lanes - 1)))
    return false;
  if (last.shift == kEveryLane && last.bytes == r.bytes) {
    last.lanes |= r.lanes;
    return true;
  }
  unsigned size = unsigned(__builtin_popcount(r.bytes)), offset = unsigned(__builtin_ctz(r.bytes)),
           lane = unsigned(__builtin_ctz(r.lanes));
  const uint32_t shift =
      (size & (size - 1)) || size > 16 ? kEveryLane : uint32_t(__builtin_ctz(size));
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
  Record *records = data();
  const size_t n = size();
  for (size_t i = 0; i < n; ++i)
    if (replaces(r, records[i])) {
      records[i] = r;
      return;
    }
  if (n >= kMaxRecords) // the oldest read goes
    for (size_t i = 0; i < n; ++i)
      if (!isWrite(records[i].touch)) {
        std::move(records + i + 1, records + n, records + i);
        shrink(n - 1);
        break;
      }
  push(r);
}

void Cell::addWrite(const Record &r) {
  Record *records = data();
  size_t kept = 0;
  for (size_t i = 0, n = size(); i < n; ++i) {
    // Another atomic excludes no race with the weak write that this one is behind.
    if (!records[i].isSameOperation(r) && !(isStrong(r.touch) && isWeakWrite(records[i].touch)))
      records[i].bytes &= ~r.bytes;
    if (records[i].bytes)
      records[kept++] = records[i];
  }
  shrink(kept);
  if (!merge(r))
    push(r);
}

} // namespace blockscale::emu
