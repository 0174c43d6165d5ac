//===- Tmem.cpp - tensor memory of a CTA ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tmem.h"

namespace blockscale::emu {

int Tmem::allocate(unsigned count, bool exclusive, uint32_t line) {
  if (exclusive && !allocations.empty())
    return -1;
  for (const Allocation &a : allocations)
    if (a.exclusive)
      return -1;
  // Ranges are aligned to their size rounded up to a power of two, from the left.
  unsigned step = 32;
  while (step < count)
    step *= 2;
  for (unsigned at = 0; at + count <= columnCount; at += step) {
    bool free = true;
    for (const Allocation &a : allocations)
      free &= at + count <= a.column || a.column + a.columns <= at;
    if (!free)
      continue;
    if (cells.empty()) {
      cells.assign(size_t(kTmemLanes) * columnCount, 0xCDCDCDCD);
      written.assign(cells.size(), 0);
    }
    for (unsigned lane = 0; lane < kTmemLanes; ++lane)
      std::memset(writtenFlag(lane, at), 0, count);
    allocations.push_back({at, count, exclusive, line});
    return int(at);
  }
  return -1;
}

std::string Tmem::release(unsigned column, unsigned count, bool exclusive) {
  for (size_t i = 0; i < allocations.size(); ++i) {
    const Allocation &a = allocations[i];
    if (a.column != column)
      continue;
    if (a.columns != count)
      return "column count must be that of the allocation, " + std::to_string(a.columns) +
             ", got " + std::to_string(count);
    if (a.exclusive != exclusive)
      return std::string(".exclusive must be ") +
             (a.exclusive ? "given as it was" : "absent as it was") + " at the allocation";
    allocations.erase(allocations.begin() + long(i));
    return {};
  }
  return "address must be the start of a live allocation, got column " + std::to_string(column);
}

bool Tmem::covers(unsigned column, unsigned count) const {
  for (const Allocation &a : allocations)
    if (column >= a.column && column + count <= a.column + a.columns)
      return true;
  return false;
}

uint32_t Tmem::lineOf(unsigned column) const {
  for (const Allocation &a : allocations)
    if (column >= a.column && column < a.column + a.columns)
      return a.line;
  return 0;
}

std::string Tmem::describe() const {
  if (allocations.empty())
    return "none";
  std::string out;
  for (const Allocation &a : allocations)
    out += (out.empty() ? "" : ", ") + std::to_string(a.column) + ".." +
           std::to_string(a.column + a.columns - 1);
  return out;
}

} // namespace blockscale::emu
