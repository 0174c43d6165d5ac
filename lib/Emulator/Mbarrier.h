//===- Mbarrier.h - state of an mbarrier ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.15.16. The 64 bits in shared memory of layout v0: phase parity in
// bit 63, minus the pending count in 62:43, minus the transaction bytes in 41:21 (as
// measured on sm_90), the expected count in 19:0. How v1 lies is not published; it is
// kept alike, with its smaller counts. No operation here reports failures to it, so
// its conditional phase goes with the primary one.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_MBARRIER_H
#define BLOCKSCALE_LIB_EMULATOR_MBARRIER_H

#include "blockscale/Facts/LayoutsCluster.h"

#include "Fault.h"

#include <cstdint>
#include <string>

namespace blockscale::emu {

class Cta;
class Warp;
struct Instruction;

/// What Cta::barrierLive holds.
enum class MbarrierLayout : uint8_t { none, v0, v1 };
constexpr int32_t maxCount(MbarrierLayout layout) {
  return int32_t(layout == MbarrierLayout::v1 ? facts::kMbarrierMaxCountV1
                                              : facts::kMbarrierMaxCount);
}

struct MbarrierState {
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

/// What an arrival returns is opaque to PTX. Its upper half is the barrier's, as on a chip; under
/// the hazard checks the lower one tells the barrier and the phase, wherever the program keeps it.
namespace mbarrier_state {
inline constexpr uint64_t kLower = 0xFFFFFFFF;
inline constexpr unsigned kPhaseShift = 22;
inline constexpr uint64_t kPhaseMask = 0x3FF;           // number of the phase, cut
inline constexpr uint64_t kCounted = uint64_t(1) << 20; // mbarrier.pending_count may read it
inline constexpr uint64_t kStamped = uint64_t(1) << 21; // phase and place hold
inline constexpr unsigned kRankShift = 16;              // rank of the CTA, above offset / 8
inline constexpr uint64_t kPlaceMask = kCounted - 1;
} // namespace mbarrier_state

/// Is the phase of this parity over? True for what is no barrier: the wait then
/// executes again and reports it.
bool mbarrierPhaseDone(const Cta &cta, uint64_t address, bool parity);

/// Operations of asynchronous agents and instructions on a barrier at a cluster
/// address. Empty when done, else the reason.
Fault mbarrierCompleteTx(Cta &any, uint64_t address, uint32_t bytes);
enum class Arrival : uint8_t { plain, drop, noComplete, dropNoComplete };
constexpr bool isDrop(Arrival a) { return a == Arrival::drop || a == Arrival::dropNoComplete; }
constexpr bool isNoComplete(Arrival a) { return a >= Arrival::noComplete; }
Fault mbarrierArrive(Cta &any, uint64_t address, uint32_t count, int64_t expectTx,
                     Arrival arrival = Arrival::plain);
Fault mbarrierAddPending(Cta &any, uint64_t address, uint32_t count);
std::string mbarrierDescribe(const Cta &cta, uint64_t address);
/// Of a phase that lacks no arrival and yet is not over: the bytes that do not add up. Else empty.
std::string mbarrierWrongBytes(const Cta &cta, uint64_t address);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_MBARRIER_H
