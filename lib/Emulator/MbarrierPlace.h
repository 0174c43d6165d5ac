//===- MbarrierPlace.h - an mbarrier in memory ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_MBARRIERPLACE_H
#define BLOCKSCALE_LIB_EMULATOR_MBARRIERPLACE_H

#include "Mbarrier.h"

#include "Hazards/Hazards.h"
#include "Machine.h"

#include <cstring>

namespace blockscale::emu::mbarrier {

inline constexpr unsigned kBytes = 8; // of an mbarrier

struct Place {
  Cta *cta = nullptr;
  uint64_t offset = 0;
  MbarrierLayout layout() const { return MbarrierLayout(cta->barrierLive[offset / 8]); }
  MbarrierState state;
  void save() {
    uint64_t word = state.pack(), before;
    std::memcpy(&before, cta->shared.data() + offset, 8);
    if ((word ^ before) >> 63) {
      cta->transactions.erase(offset);
      if (cta->cluster->hazards)
        cta->cluster->hazards->barrierPhaseEnded(uint64_t(cta->rank) << kClusterShift | offset);
    }
    std::memcpy(cta->shared.data() + offset, &word, 8);
    ++cta->cluster->progress;
  }
};

/// A failure of what lies there, naming who made it.
Fault on(const Cta &any, uint64_t address, std::string text);
/// The barrier at a cluster address; empty when there is one, else the reason.
Fault find(const Cta &any, uint64_t address, Place &place);
Fault addTx(Place &p, uint64_t address, int64_t bytes);

} // namespace blockscale::emu::mbarrier

#endif // BLOCKSCALE_LIB_EMULATOR_MBARRIERPLACE_H
