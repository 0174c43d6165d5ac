//===- GlobalMemory.h - allocations of a device ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device addresses are never host addresses. Allocations lie far apart, so that
// running over the end of one meets nothing. Pages cost memory when touched.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_GLOBALMEMORY_H
#define BLOCKSCALE_LIB_EMULATOR_GLOBALMEMORY_H

#include "Addresses.h"

#include "blockscale/Facts/Result.h"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace blockscale::emu {

/// A live allocation as an address range with its host bytes.
struct GlobalRange {
  uint64_t begin = 1, end = 0;
  uint8_t *host = nullptr;
  bool isConstant = false; // a kernel only reads it
  bool covers(uint64_t address, uint64_t bytes) const {
    return address >= begin && address < end && bytes <= end - address;
  }
  uint8_t *at(uint64_t address) const { return host + (address - begin); }
};

class GlobalMemory {
public:
  facts::Result<uint64_t> allocate(size_t bytes, bool isConstant = false);
  facts::Result<bool> release(uint64_t address);
  /// The allocation that holds the address, or an empty range.
  GlobalRange find(uint64_t address) const;
  /// The address of the first of so many functions, which no other module of the device has.
  facts::Result<uint64_t> placeFunctions(size_t count);
  /// "no allocation" or the nearest one, for messages.
  std::string describe(uint64_t address) const;

  /// Serialises read-modify-write operations of host threads.
  std::mutex atomics;
  /// Tensor maps that kernels have changed since the host wrote them, for the hazard checks.
  std::set<uint64_t> changedMaps;

private:
  struct Free {
    size_t mapped = 0; // bytes, where it is a mapping of its own
    void operator()(uint8_t *p) const;
  };
  struct Allocation {
    uint64_t bytes;
    std::unique_ptr<uint8_t, Free> host;
    bool isConstant = false;
  };
  std::map<uint64_t, Allocation> live;
  uint64_t next = kGlobalBase, nextFunction = kCodeBase;
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_GLOBALMEMORY_H
