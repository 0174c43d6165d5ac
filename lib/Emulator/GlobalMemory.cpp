//===- GlobalMemory.cpp - allocations of a device -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalMemory.h"

#include "Text.h"

#include <cstdlib>
#include <sys/mman.h>

namespace blockscale::emu {

using facts::Refusal;
using facts::Result;

namespace {
constexpr uint64_t kGranule = 512;
constexpr uint64_t kGap = 1u << 20;
constexpr uint64_t kMaxBytes = uint64_t(1) << 38;
/// From here on mapped by ourselves: an allocator that watches itself would touch
/// something for each of its pages.
constexpr uint64_t kMappedFrom = uint64_t(1) << 26;
} // namespace

void GlobalMemory::Free::operator()(uint8_t *p) const {
  if (mapped)
    munmap(p, mapped);
  else
    std::free(p);
}

Result<uint64_t> GlobalMemory::allocate(size_t bytes, bool isConstant) {
  if (bytes == 0 || bytes > kMaxBytes)
    return Refusal{"mem_size: allocation must take 1 byte to 256 GiB, got " +
                   std::to_string(bytes)};
  const bool isMapped = bytes >= kMappedFrom;
  void *host = isMapped ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                        : std::calloc(bytes, 1);
  if (!host || host == MAP_FAILED)
    return Refusal{"mem_host: host has no memory for an allocation of " + std::to_string(bytes) +
                   " bytes"};
  uint64_t address = next;
  next += (bytes + kGap + kGranule - 1) / kGranule * kGranule;
  live.emplace(address, Allocation{bytes,
                                   std::unique_ptr<uint8_t, Free>(static_cast<uint8_t *>(host),
                                                                  Free{isMapped ? bytes : 0}),
                                   isConstant});
  return address;
}

Result<bool> GlobalMemory::release(uint64_t address) {
  if (!live.erase(address))
    return Refusal{"mem_release: address must be the start of a live allocation, got " +
                   hex(address)};
  return true;
}

Result<uint64_t> GlobalMemory::placeFunctions(size_t count) {
  if (count > (kCodeEnd - nextFunction) / kCodeStep)
    return Refusal{"mem_size: functions of all modules that a device loads must be at most " +
                   std::to_string((kCodeEnd - kCodeBase) / kCodeStep)};
  const uint64_t first = nextFunction;
  nextFunction += count * kCodeStep;
  return first;
}

GlobalRange GlobalMemory::find(uint64_t address) const {
  auto it = live.upper_bound(address);
  if (it == live.begin())
    return {};
  --it;
  if (address - it->first >= it->second.bytes)
    return {};
  return {it->first, it->first + it->second.bytes, it->second.host.get(), it->second.isConstant};
}

std::string GlobalMemory::describe(uint64_t address) const {
  auto it = live.upper_bound(address);
  if (it == live.begin())
    return "no allocation is near";
  --it;
  return std::to_string(address - it->first) + " bytes into an allocation of " +
         std::to_string(it->second.bytes);
}

} // namespace blockscale::emu
