//===- CallStack.h - open calls of functions that call themselves ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers and memory of a function exist once a lane. That is enough until it is called
// again before it has returned: then what its registers held goes to the lane's stack, and
// its variables in memory get a frame of their own, so that addresses of those of earlier
// calls stay good. A function that cannot come back to itself has no frame and pays nothing.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_CALLSTACK_H
#define BLOCKSCALE_LIB_EMULATOR_CALLSTACK_H

#include "Program.h"

namespace blockscale::emu {

/// What the open calls of a thread may take: variables in memory and saved registers. Drivers
/// give 1 KiB where nobody asks for more.
inline constexpr uint64_t kCallStackBytes = 65536;

/// What a function keeps for each call.
struct Frame : Extra {
  struct Register {
    Operand slot;
    uint8_t bytes; // of a lane
  };
  Frame();
  std::string name;                // of the function
  std::vector<Register> registers; // its return address among them
  std::vector<Operand> predicates;
  uint64_t savedBytes; // of a lane: registers, predicates, and where the frame before lies
  uint64_t localBytes = 0, align = 16; // variables and parameters in memory
  void keep(Operand slot, RegClass cls);
};

struct CallStack {
  struct Lane {
    std::vector<uint8_t> saved;  // by open calls, the oldest first
    std::vector<uint8_t> memory; // frames
    uint32_t frame = 0;          // where the current one begins
    uint32_t depth = 0;          // open calls
    bool operator==(const Lane &) const = default;
  };
  Lane lanes[32];
  bool operator==(const CallStack &) const = default;
};

/// The local address of a lane's first frame.
uint64_t firstFrame(const Kernel &kernel);

/// Opens a call for the executing lanes, and closes it. False: the launch has failed.
bool pushFrames(Warp &w, const Instruction &in, const Frame &frame);
bool popFrames(Warp &w, const Instruction &in, const Frame &frame);

/// An instruction that gives `to` the local address of what lies at `offset` in the frame.
Instruction addressInFrame(Operand to, uint64_t offset, bool wide);

/// Registers that asynchronous operations of the warp still write: a call that saves or
/// restores some must wait. True: they are all written.
bool registersAreWritten(const Warp &w);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_CALLSTACK_H
