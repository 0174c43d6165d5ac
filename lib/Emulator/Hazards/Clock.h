//===- Clock.h - what somebody knows of the progress of others ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A component is something with an increasing count: the accesses of a warp's
// threads, a tensor pipe, the bulk copies of a warp, an mbarrier. A clock says up to
// which count each is known, for each lane of a warp, compressed for the two cases
// that occur: all lanes alike, and a few lanes (an elected one) ahead of the others.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_CLOCK_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_CLOCK_H

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace blockscale::emu {

inline constexpr uint32_t kAllLanes = ~0u;

/// What is known of one component.
class Known {
public:
  uint32_t of(unsigned lane) const {
    return each ? (*each)[lane] : ahead >> lane & 1 ? aheadTo : base;
  }
  /// All lanes are known up to it.
  uint32_t ofAll() const { return base; }
  void raise(uint32_t lanes, uint32_t to);
  void join(const Known &other);
  /// Joining the other would change nothing.
  bool includes(const Known &other) const;

private:
  uint32_t base = 0;
  uint32_t ahead = 0, aheadTo = 0; // these lanes are known further
  std::shared_ptr<const std::array<uint32_t, 32>> each;

  std::array<uint32_t, 32> spread() const;
  void compress(const std::array<uint32_t, 32> &values);
};

class Clock {
public:
  uint32_t of(uint32_t component, unsigned lane) const {
    return component < entries.size() ? entries[component].of(lane) : 0;
  }
  uint32_t ofAll(uint32_t component) const {
    return component < entries.size() ? entries[component].ofAll() : 0;
  }
  /// Lanes in `lanes` are known up to `count`.
  bool covers(uint32_t component, uint32_t lanes, uint32_t count) const;
  /// Those of `lanes` that are not known up to `count`.
  uint32_t unknown(uint32_t component, uint32_t lanes, uint32_t count) const;
  bool coversAny(uint32_t component, uint32_t lanes, uint32_t count) const;
  void raise(uint32_t component, uint32_t lanes, uint32_t to);
  void join(const Clock &other);
  /// Joins one component only.
  void joinOne(const Clock &other, uint32_t component);
  bool includes(const Clock &other) const;
  bool isEmpty() const { return entries.empty(); }
  size_t size() const { return entries.size(); }

private:
  std::vector<Known> entries; // by component; what is absent is known up to 0
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_CLOCK_H
