//===- Access.h - how memory is touched -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An asynchronous operation describes what it will touch when it is issued, so that
// the hazard checks see it independently of when it lands.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_ACCESS_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_ACCESS_H

#include <cstdint>

namespace blockscale::emu {

class Cta;

enum class Touch : uint8_t {
  // Shared memory, generic proxy.
  load,
  store,
  storeSame, // of the value that was there
  atomic,    // and strong stores
  strongLoad,
  allocResult,   // by tcgen05.alloc, for its warp
  copyAsync,     // written by cp.async
  copyAsyncRead, // its source in global memory
  storeAsync,    // written by st.async; the wait on its mbarrier tells
  reduceAsync,   // the same by red.async
  // Shared memory, async proxy.
  bulkWrite,
  bulkRead,   // the source of a store
  bulkSource, // of a copy to shared memory; the wait on its mbarrier tells
  // Global memory, async proxy.
  globalRead,   // the source of a load
  globalWrite,  // by a bulk store
  globalReduce, // by cp.reduce
  mmaShared,
  mmaSharedA, // A, which a restricted commit frees
  cpShared,
  // Tensor memory.
  mmaA,
  mmaScale,
  mmaMeta,
  mmaD, // the accumulator, which it may also read
  cpWrite,
  cp4x256Write,
  shift,
  tmemLoad,
  tmemStore,
  dealloc,
  mapRead, // of a tensor map in global memory
};

constexpr bool isWrite(Touch t) {
  switch (t) {
  case Touch::load:
  case Touch::strongLoad:
  case Touch::bulkRead:
  case Touch::bulkSource:
  case Touch::copyAsyncRead:
  case Touch::globalRead:
  case Touch::mapRead:
  case Touch::mmaShared:
  case Touch::mmaSharedA:
  case Touch::cpShared:
  case Touch::mmaA:
  case Touch::mmaScale:
  case Touch::mmaMeta:
  case Touch::tmemLoad:
    return false;
  default:
    return true;
  }
}
constexpr bool isAsyncProxy(Touch t) { return t >= Touch::bulkWrite && t <= Touch::cpShared; }
constexpr bool isGenericProxy(Touch t) { return t < Touch::bulkWrite; }
constexpr bool isStrong(Touch t) {
  return t == Touch::atomic || t == Touch::strongLoad || t == Touch::reduceAsync ||
         t == Touch::globalReduce;
}
constexpr bool isWeakWrite(Touch t) { return isWrite(t) && !isStrong(t); }
/// Known once the phase of an mbarrier that it signals is over.
constexpr bool isKnownByBarrier(Touch t) {
  return t == Touch::bulkWrite || t == Touch::bulkSource || t == Touch::storeAsync ||
         t == Touch::reduceAsync;
}
constexpr bool isTensorPipe(Touch t) { return t >= Touch::mmaA && t <= Touch::shift; }

/// What an operation does, as far as ordering goes.
enum class OpKind : uint8_t {
  other,
  mma,
  cp,
  shift,
  wgmma,
  tmemLoad,
  tmemStore,
  commit,
  bulkLoad,
  bulkStore,
  copyAsync,
  copyAsyncCg,
  copyArrive,
  storeAsync,
};
/// Tells an mbarrier of bytes that it wrote.
constexpr bool completesBytes(OpKind k) { return k == OpKind::bulkLoad || k == OpKind::storeAsync; }

/// The bit of a place of Touch::mmaD where the kind of the tcgen05.mma starts.
inline constexpr unsigned kKindOfPlace = 29;

/// Receives what an operation touches.
class AccessSink {
public:
  virtual ~AccessSink() = default;
  /// Bytes of a CTA's shared memory; what `isKnownByBarrier` names the mbarrier (a cluster
  /// address) that it signals, a copyAsync the lane.
  virtual void shared(Touch touch, Cta &cta, uint32_t offset, uint32_t bytes,
                      uint64_t barrierOrLane = 0) = 0;
  /// Columns of 32-lane quarters (bit mask) of a CTA's tensor memory. `place` tells
  /// accumulators (their kind from kKindOfPlace on), or addresses of scales, apart.
  virtual void tensor(Touch touch, Cta &cta, unsigned quarters, unsigned column, unsigned columns,
                      uint32_t place = 0) = 0;
  /// Bytes of global memory; a globalRead names the mbarrier that its copy signals, a
  /// copyAsyncRead the lane.
  virtual void global(Touch touch, uint64_t address, uint64_t bytes,
                      uint64_t barrierOrLane = 0) = 0;
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_ACCESS_H
