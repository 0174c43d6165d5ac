//===- StoredBytes.h - what clusters have stored where --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the ordinary stores to a cell of global memory. Clusters that nothing can
// order run in parallel: whether two of them store the same is told by what they store,
// never by what happens to be in memory.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_STOREDBYTES_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_STOREDBYTES_H

#include <array>
#include <cstdint>

namespace blockscale::emu {

class StoredBytes {
public:
  static constexpr unsigned kBytes = 256;

  /// Bytes from..from+count-1 are stored; says of each whether it had been, and with which value.
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
  bool agree(const StoredBytes &o, unsigned from, unsigned to) const {
    bool out = true;
    for (unsigned i = from; i < to; ++i)
      out &= state[i] == kOne && o.state[i] == kOne && value[i] == o.value[i];
    return out;
  }
  void join(const StoredBytes &o) {
    for (unsigned i = 0; i < kBytes; ++i) {
      if (o.state[i] == kNone)
        continue;
      const bool isOne = state[i] == kNone || (state[i] == kOne && value[i] == o.value[i]);
      state[i] = isOne ? o.state[i] : kSeveral;
      value[i] = o.value[i];
    }
  }

private:
  enum : uint8_t { kNone, kOne, kSeveral }; // values
  std::array<uint8_t, kBytes> value{}, state{};
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_STOREDBYTES_H
