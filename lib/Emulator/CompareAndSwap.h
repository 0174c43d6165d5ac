//===- CompareAndSwap.h - loads that a compare-and-swap confirms ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_COMPAREANDSWAP_H
#define BLOCKSCALE_LIB_EMULATOR_COMPAREANDSWAP_H

#include "Program.h"

#include <algorithm>

namespace blockscale::emu {

/// Marks atom.cas, whose op[2] is the value that it expects.
struct CompareAndSwap final : Extra {};
inline const CompareAndSwap kCompareAndSwap;

/// The load fills the very register that a compare-and-swap of the kernel expects: a wrong value
/// only makes the swap fail.
inline bool isFirstGuess(const Kernel &kernel, const Instruction &load) {
  return std::any_of(kernel.code.begin(), kernel.code.end(), [&](const Instruction &swap) {
    if (swap.extra != &kCompareAndSwap)
      return false;
    for (uint32_t i = 0; i < load.touchedCount; ++i)
      if (kernel.touched[load.touched + i] == (swap.op[2] | kTouchedWrite))
        return true;
    return false;
  });
}

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_COMPAREANDSWAP_H
