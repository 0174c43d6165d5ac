//===- Clock.cpp - joining of clocks --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clock.h"

#include <algorithm>

namespace blockscale::emu {

std::array<uint32_t, 32> Known::spread() const {
  std::array<uint32_t, 32> values;
  for (unsigned l = 0; l < 32; ++l)
    values[l] = of(l);
  return values;
}

void Known::compress(const std::array<uint32_t, 32> &values) {
  uint32_t least = *std::min_element(values.begin(), values.end()), further = 0, mask = 0;
  bool fits = true;
  for (unsigned l = 0; l < 32; ++l) {
    if (values[l] == least)
      continue;
    fits &= !further || values[l] == further;
    further = values[l];
    mask |= 1u << l;
  }
  base = least;
  ahead = fits ? mask : 0;
  aheadTo = fits ? further : 0;
  each = fits ? nullptr : std::make_shared<const std::array<uint32_t, 32>>(values);
}

void Known::raise(uint32_t lanes, uint32_t to) {
  if (to <= base)
    return;
  if (!each && lanes == kAllLanes) {
    base = to;
    if (aheadTo <= base)
      ahead = aheadTo = 0;
    return;
  }
  if (!each && (ahead & ~lanes) == 0 && (to >= aheadTo || !ahead)) {
    ahead = lanes;
    aheadTo = to;
    return;
  }
  std::array<uint32_t, 32> values = spread();
  for (uint32_t m = lanes; m; m &= m - 1) {
    uint32_t &v = values[size_t(__builtin_ctz(m))];
    v = std::max(v, to);
  }
  compress(values);
}

void Known::join(const Known &other) {
  if (other.each || each) {
    if (each == other.each)
      return;
    std::array<uint32_t, 32> a = spread();
    for (unsigned l = 0; l < 32; ++l)
      a[l] = std::max(a[l], other.of(l));
    compress(a);
    return;
  }
  if (other.base > base)
    raise(kAllLanes, other.base);
  if (other.ahead)
    raise(other.ahead, other.aheadTo);
}

bool Known::includes(const Known &other) const {
  if (!other.each && base >= std::max(other.base, other.aheadTo))
    return true;
  for (unsigned l = 0; l < 32; ++l)
    if (of(l) < other.of(l))
      return false;
  return true;
}

bool Clock::includes(const Clock &other) const {
  for (size_t i = 0; i < other.entries.size(); ++i)
    if (!(i < entries.size() ? entries[i] : Known()).includes(other.entries[i]))
      return false;
  return true;
}

bool Clock::covers(uint32_t component, uint32_t lanes, uint32_t count) const {
  if (component >= entries.size())
    return count == 0;
  const Known &known = entries[component];
  if (known.ofAll() >= count)
    return true;
  for (uint32_t m = lanes; m; m &= m - 1)
    if (known.of(unsigned(__builtin_ctz(m))) < count)
      return false;
  return true;
}

uint32_t Clock::unknown(uint32_t component, uint32_t lanes, uint32_t count) const {
  if (count == 0)
    return 0;
  if (component >= entries.size())
    return lanes;
  const Known &known = entries[component];
  if (known.ofAll() >= count)
    return 0;
  uint32_t out = 0;
  for (uint32_t m = lanes; m; m &= m - 1)
    if (known.of(unsigned(__builtin_ctz(m))) < count)
      out |= m & -m;
  return out;
}

bool Clock::coversAny(uint32_t component, uint32_t lanes, uint32_t count) const {
  for (uint32_t m = lanes; m; m &= m - 1)
    if (of(component, unsigned(__builtin_ctz(m))) >= count)
      return true;
  return false;
}

void Clock::raise(uint32_t component, uint32_t lanes, uint32_t to) {
  if (component >= entries.size())
    entries.resize(component + 1);
  entries[component].raise(lanes, to);
}

void Clock::join(const Clock &other) {
  if (entries.size() < other.entries.size())
    entries.resize(other.entries.size());
  for (size_t i = 0; i < other.entries.size(); ++i)
    entries[i].join(other.entries[i]);
}

void Clock::joinOne(const Clock &other, uint32_t component) {
  if (component >= other.entries.size())
    return;
  if (component >= entries.size())
    entries.resize(component + 1);
  entries[component].join(other.entries[component]);
}

} // namespace blockscale::emu
