//===- ReadLog.cpp - reads of memory that nobody has written --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReadLog.h"

#include <bit>

namespace blockscale::emu {

void ReadLog::thinOut() {
  const size_t n = reads.size();
  const size_t slots = 2 * std::bit_ceil(n);
  std::vector<uint32_t> table(slots); // places of reads that stay, and one
  std::vector<uint16_t> counts(reads.empty() ? 0 : size_t(1) << 16); // by cells, some together
  std::vector<bool> stays(n);
  for (size_t i = n; i-- > 0;) {
    const Read &r = reads[i];
    const GlobalAccess &by = operations[r.operation];
    uint64_t hash = (uint64_t(by.record.component) << 32 | r.lanes) * 0x9E3779B97F4A7C15;
    hash = (hash ^ (uint64_t(by.turn()) << 32 | r.offset)) * 0x9E3779B97F4A7C15;
    size_t slot = hash >> 24 & (slots - 1);
    bool isAgain = false;
    for (; table[slot] && !isAgain; slot = (slot + 1) & (slots - 1)) {
      const Read &later = reads[table[slot] - 1];
      const GlobalAccess &laterBy = operations[later.operation];
      isAgain = later.offset == r.offset && later.bytes == r.bytes && later.lanes == r.lanes &&
                later.shift == r.shift && laterBy.turn() == by.turn() &&
                laterBy.record.component == by.record.component &&
                laterBy.record.touch == by.record.touch && laterBy.isWide == by.isWide;
    }
    if (isAgain)
      continue;
    uint16_t &count = counts[r.offset / kCellOfGlobal % counts.size()];
    if (count >= kMostReads)
      continue;
    ++count;
    stays[i] = true;
    table[slot] = uint32_t(i + 1);
  }
  size_t kept = 0, keptOperations = 0;
  uint32_t last = ~0u;
  for (size_t i = 0; i < n; ++i) {
    if (!stays[i])
      continue;
    Read r = reads[i];
    if (r.operation != last) {
      last = r.operation;
      operations[keptOperations++] = operations[last];
    }
    r.operation = uint32_t(keptOperations - 1);
    reads[kept++] = r;
  }
  reads.resize(kept);
  operations.resize(keptOperations);
  room = std::max(kRoom, 2 * kept);
}

ReadBytes::Bits &ReadBytes::Site::bits(uint64_t page) {
  if (page != lastPage) {
    std::unique_ptr<Bits> &b = pages[page];
    if (!b)
      b = std::make_unique<Bits>();
    last = b.get();
    lastPage = page;
  }
  return *last;
}

ReadBytes::Site &ReadBytes::siteOf(const GlobalAccess &a) {
  for (Site &s : sites)
    if (s.access.record.site == a.record.site && s.access.record.touch == a.record.touch &&
        s.access.isVisible == a.isVisible)
      return s;
  sites.emplace_back();
  sites.back().access = a;
  return sites.back();
}

void ReadBytes::add(const GlobalAccess &access, uint64_t offset, uint64_t bytes) {
  Site &site = siteOf(access);
  for (uint64_t at = offset, end = offset + bytes; at < end;) {
    const uint64_t stop = std::min(end, (at / 64 + 1) * 64);
    site.bits(at / kPage)[at % kPage / 64] |= (~uint64_t(0) >> (64 - (stop - at))) << at % 64;
    at = stop;
  }
}

void ReadBytes::join(const ReadBytes &o) {
  for (const Site &from : o.sites) {
    Site &into = siteOf(from.access);
    for (const auto &[page, bits] : from.pages) {
      Bits &mine = into.bits(page);
      for (size_t i = 0; i < mine.size(); ++i)
        mine[i] |= (*bits)[i];
    }
  }
}

unsigned ReadBytes::find(const Bits &bits, bool value, unsigned from, unsigned end) {
  while (from < end) {
    const uint64_t word = (value ? bits[from / 64] : ~bits[from / 64]) >> from % 64;
    if (word)
      return std::min(end, from + unsigned(std::countr_zero(word)));
    from = (from / 64 + 1) * 64;
  }
  return end;
}

} // namespace blockscale::emu
