//===- Mbarrier.h - state of an mbarrier ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// layout::v0 (PTX ISA 9.4, 9.7.15.16). The 64 bits in shared memory: phase parity
// in bit 63, minus the pending count in 62:43, minus the transaction bytes in
// 41:21 (as measured on sm_90), the expected count in 19:0.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_MBARRIER_H
#define BLOCKSCALE_LIB_EMULATOR_MBARRIER_H

#include "blockscale/Facts/LayoutsCluster.h"

#include <cstdint>
#include <string>

namespace blockscale::emu {

class Cta;
class Warp;
struct Instruction;

struct MbarrierState {
  static constexpr int32_t kMaxCount = int32_t(facts::kMbarrierMaxCount);
  static constexpr int32_t kMaxTx = facts::kMbarrierMaxTransaction;
  uint32_t phase = 0; // parity
  int32_t expected = 1, pending = 1, tx = 0;

  static MbarrierState unpack(uint64_t word);
  uint64_t pack() const;
  /// Ends the phase when nothing is outstanding.
  void complete() {
    if (pending == 0 && tx == 0) {
      phase ^= 1;
      pending = expected;
    }
  }
};

/// Is the phase of this parity over? True for what is no barrier: the wait then
/// executes again and reports it.
bool mbarrierPhaseDone(const Cta &cta, uint64_t address, bool parity);

/// Operations of asynchronous agents and instructions on a barrier at a cluster
/// address. Empty when done, else the reason.
std::string mbarrierCompleteTx(Cta &any, uint64_t address, uint32_t bytes);
std::string mbarrierArrive(Cta &any, uint64_t address, uint32_t count, int64_t expectTx,
                           bool drop = false);
std::string mbarrierAddPending(Cta &any, uint64_t address, uint32_t count);
std::string mbarrierDescribe(const Cta &cta, uint64_t address);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_MBARRIER_H
