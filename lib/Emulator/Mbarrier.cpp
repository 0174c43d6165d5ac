//===- Mbarrier.cpp - state of mbarriers ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MbarrierPlace.h"

#include "Hazards/Hazards.h"

#include <cstring>

namespace blockscale::emu {

MbarrierState MbarrierState::unpack(uint64_t word) {
  MbarrierState s;
  s.phase = uint32_t(word >> 63);
  s.pending = int32_t((0 - (word >> 43)) & 0xFFFFF);
  int32_t tx = int32_t((0 - (word >> 21)) & 0x1FFFFF);
  s.tx = tx >= 1 << 20 ? tx - (1 << 21) : tx;
  s.expected = int32_t(word & 0xFFFFF);
  return s;
}

uint64_t MbarrierState::pack() const {
  return uint64_t(phase) << 63 | (uint64_t(0u - uint32_t(pending)) & 0xFFFFF) << 43 |
         (uint64_t(0u - uint32_t(tx)) & 0x1FFFFF) << 21 | (uint64_t(uint32_t(expected)) & 0xFFFFF);
}

namespace mbarrier {

Fault on(const Cta &any, uint64_t address, std::string text) {
  Fault f = Fault(std::move(text)).at(sharedBytes(address, kBytes));
  return any.cluster->hazards ? any.cluster->hazards->namingBarrier(std::move(f), address) : f;
}

Fault find(const Cta &any, uint64_t address, Place &place) {
  place.cta = any.cluster->ctaOf(address);
  place.offset = address & kSharedOffsetMask;
  if (!place.cta || place.offset < kSharedBase || place.offset + 8 > place.cta->shared.size())
    return Fault("mbar_address: mbarrier must lie in shared memory, got " + hex(address))
        .at(sharedBytes(address, kBytes));
  if (!place.cta->liveThreads && place.cta != &any)
    return Fault("cluster_exited: CTA of an mbarrier must not have exited, got " + hex(address))
        .at(sharedBytes(address, kBytes))
        .against("exit of that CTA", place.cta->exitLine);
  if (place.offset % kBytes)
    return Fault("mbar_align: mbarrier must lie at a multiple of 8 bytes, got " + hex(address))
        .at(sharedBytes(address, kBytes));
  if (!place.cta->isBarrier(place.offset))
    return on(any, address, "mbar_init: mbarrier must be initialised, got " + hex(address));
  uint64_t word;
  std::memcpy(&word, place.cta->shared.data() + place.offset, 8);
  place.state = MbarrierState::unpack(word);
  return {};
}

Fault addTx(Place &p, uint64_t address, int64_t bytes) {
  int64_t tx = p.state.tx + bytes;
  if (tx > MbarrierState::kMaxTx || tx < -MbarrierState::kMaxTx)
    return on(*p.cta, address,
              "mbar_tx: transaction bytes must stay within +-" + dec(MbarrierState::kMaxTx) +
                  ", got " + dec(tx) + " at " + hex(address));
  p.state.tx = int32_t(tx);
  Cta::TransactionBytes &sums = p.cta->transactions[p.offset];
  (bytes > 0 ? sums.expected : sums.came) += uint64_t(bytes > 0 ? bytes : -bytes);
  return {};
}

} // namespace mbarrier

using namespace mbarrier;

bool mbarrierPhaseDone(const Cta &cta, uint64_t address, bool parity) {
  uint64_t offset = address & kSharedOffsetMask;
  const Cta *owner = cta.cluster->ctaOf(address);
  if (!owner || !owner->isBarrier(offset))
    return true;
  uint64_t word;
  std::memcpy(&word, owner->shared.data() + offset, 8);
  return (word >> 63) != uint64_t(parity);
}

Fault mbarrierCompleteTx(Cta &any, uint64_t address, uint32_t bytes) {
  Place p;
  if (Fault e = find(any, address, p); !e.empty())
    return e;
  if (Fault e = addTx(p, address, -int64_t(bytes)); !e.empty())
    return e;
  if (any.cluster->hazards)
    any.cluster->hazards->barrierSignalled(address);
  p.state.complete();
  p.save();
  return {};
}

Fault mbarrierArrive(Cta &any, uint64_t address, uint32_t count, int64_t expectTx,
                     Arrival arrival) {
  Place p;
  if (Fault e = find(any, address, p); !e.empty())
    return e;
  if (expectTx)
    if (Fault e = addTx(p, address, expectTx); !e.empty())
      return e;
  if (int64_t(count) > p.state.pending)
    return on(any, address,
              "mbar_arrivals: arrivals must be at most the pending " + dec(p.state.pending) +
                  ", got " + dec(count) + " at " + hex(address));
  if (isDrop(arrival) && int32_t(count) >= p.state.expected)
    return on(any, address,
              "mbar_drop: arrive_drop must leave an expected count of at least 1, got " +
                  dec(p.state.expected) + " less " + dec(count) + " at " + hex(address));
  if (isNoComplete(arrival) && int32_t(count) == p.state.pending && p.state.tx == 0)
    return on(any, address,
              "mbar_nocomplete: arrival with .noComplete must not end the phase, got the last " +
                  dec(count) + " at " + hex(address));
  if (isDrop(arrival))
    p.state.expected -= int32_t(count);
  p.state.pending -= int32_t(count);
  if (any.cluster->hazards)
    any.cluster->hazards->barrierSignalled(address);
  p.state.complete();
  p.save();
  return {};
}

Fault mbarrierAddPending(Cta &any, uint64_t address, uint32_t count) {
  Place p;
  if (Fault e = find(any, address, p); !e.empty())
    return e;
  if (p.state.pending + int64_t(count) > maxCount(p.layout()))
    return on(any, address,
              "mbar_count: pending count must be at most " + dec(maxCount(p.layout())));
  p.state.pending += int32_t(count);
  p.save();
  return {};
}

std::string mbarrierDescribe(const Cta &cta, uint64_t address) {
  Place p;
  if (!find(cta, address, p).empty())
    return "mbarrier " + hex(address);
  return "mbarrier " + hex(address) + " (phase parity " + dec(p.state.phase) + ", pending " +
         dec(p.state.pending) + " of " + dec(p.state.expected) + ", " + dec(p.state.tx) + " bytes)";
}

std::string mbarrierWrongBytes(const Cta &cta, uint64_t address) {
  Place p;
  if (!find(cta, address, p).empty() || p.state.pending || !p.state.tx)
    return {};
  auto sums = p.cta->transactions.find(p.offset);
  if (sums == p.cta->transactions.end())
    return {};
  return "mbarrier " + hex(p.offset) +
         (cta.cluster->ctas.size() > 1 ? " of cta rank " + dec(cta.rank) : std::string()) +
         " lacks no arrival, but " + dec(int64_t(sums->second.expected)) +
         " bytes are expected and " + dec(int64_t(sums->second.came)) + " came";
}

} // namespace blockscale::emu
