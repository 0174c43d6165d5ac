//===- StoredBytes.h - what clusters have stored where --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the ordinary stores to global memory. Clusters that nothing can order run
// in parallel: whether two of them store the same is told by what they store, never by
// what happens to be in memory.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_STOREDBYTES_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_STOREDBYTES_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>

namespace blockscale::emu {

/// Of 32 neighbouring bytes.
class alignas(64) StoredBytes {
public:
  static constexpr unsigned kBytes = 32;

  /// Whether a byte had been stored, and with which value.
  enum class Before : uint8_t { nothing, same, other };
  void put(unsigned from, const uint8_t *values, unsigned count, Before *before) {
    for (unsigned i = 0; i < count; ++i) {
      uint8_t &is = value[from + i], &how = state[from + i];
      const Before b = how == kNone      ? Before::nothing
                       : is == values[i] ? Before::same
                                         : Before::other;
      how = b == Before::nothing ? kOne : b == Before::other ? kSeveral : how;
      is = values[i];
      before[i] = b;
    }
  }
  /// Both have stored one and the same value to each of these bytes.
  bool agrees(const StoredBytes &o, unsigned from, unsigned to) const {
    bool out = true;
    for (unsigned i = from; i < to; ++i)
      out &= state[i] == kOne && o.state[i] == kOne && value[i] == o.value[i];
    return out;
  }
  void join(const StoredBytes &o) {
    for (unsigned i = 0; i < kBytes; ++i) {
      const bool isOne = state[i] == kNone || (state[i] == kOne && value[i] == o.value[i]);
      state[i] = o.state[i] == kNone ? state[i] : isOne ? o.state[i] : uint8_t(kSeveral);
      value[i] = o.state[i] == kNone ? value[i] : o.value[i];
    }
  }

private:
  enum : uint8_t { kNone, kOne, kSeveral }; // values
  std::array<uint8_t, kBytes> value{}, state{};
};

class StoredMemory {
public:
  /// Says of each byte what it had held.
  void put(uint64_t address, const uint8_t *values, unsigned count, StoredBytes::Before *before) {
    while (count) {
      const auto in = unsigned(address % StoredBytes::kBytes),
                 part = std::min(count, StoredBytes::kBytes - in);
      bytesAt(address / StoredBytes::kBytes).put(in, values, part, before);
      address += part;
      values += part;
      before += part;
      count -= part;
    }
  }
  bool agrees(const StoredMemory &o, uint64_t from, uint64_t to) const {
    while (from < to) {
      const uint64_t at = from / StoredBytes::kBytes, start = at * StoredBytes::kBytes,
                     end = std::min(to, start + StoredBytes::kBytes);
      const StoredBytes *ours = find(at), *theirs = o.find(at);
      if (!ours || !theirs || !ours->agrees(*theirs, unsigned(from - start), unsigned(end - start)))
        return false;
      from = end;
    }
    return true;
  }
  void join(const StoredMemory &o) {
    for (const auto &[key, page] : o.pages)
      for (unsigned i = 0; i < kPage; ++i)
        if (page[i])
          bytesAt(key * kPage + i).join(o.bytes[page[i] - 1]);
  }

private:
  static constexpr unsigned kPage = 512; // StoredBytes; 16 KiB of memory
  using Page = std::array<uint32_t, kPage>;
  std::unordered_map<uint64_t, Page> pages; // index of the bytes and one, by address
  std::deque<StoredBytes> bytes;
  uint64_t lastKey = ~uint64_t(0);
  Page *last = nullptr;

  StoredBytes &bytesAt(uint64_t at) {
    if (at / kPage != lastKey) {
      lastKey = at / kPage;
      last = &pages[lastKey];
    }
    uint32_t &index = (*last)[at % kPage];
    if (!index) {
      bytes.emplace_back();
      index = uint32_t(bytes.size());
    }
    return bytes[index - 1];
  }
  const StoredBytes *find(uint64_t at) const {
    auto page = pages.find(at / kPage);
    const uint32_t index = page == pages.end() ? 0 : page->second[at % kPage];
    return index ? &bytes[index - 1] : nullptr;
  }
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_STOREDBYTES_H
