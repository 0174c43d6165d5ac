//===- Polls.h - what a polling instruction looks at ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the report of a livelock: of an instruction that a fragment is about to execute.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_POLLS_H
#define BLOCKSCALE_LIB_EMULATOR_POLLS_H

#include "Machine.h"

namespace blockscale::emu {

struct Polled {
  unsigned weight = 0; // 0: it is no poll; else the higher, the more likely the one meant
  std::string text;    // goes on behind the line
};

/// A wait for a phase that is not over.
Polled polledBarrier(Warp &w, const Instruction &in, uint32_t lanes);
/// A load of global or shared memory; a strong one outweighs others.
Polled polledByLoad(Warp &w, const Instruction &in, uint32_t lanes);
/// An atomic operation that gives the old value back.
Polled polledByAtomic(Warp &w, const Instruction &in, uint32_t lanes);

/// Where it reads and what is there; empty for other memory than global and shared.
std::string describeWord(Warp &w, const Instruction &in, uint64_t address, unsigned bytes,
                         unsigned lane);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_POLLS_H
