//===- BarrierReduce.h - bar.red and barrier.red --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_BARRIERREDUCE_H
#define BLOCKSCALE_LIB_EMULATOR_BARRIERREDUCE_H

#include "Decoder.h"

namespace blockscale::emu {

/// After `.red` is taken; `wait` is the handler of barrier.sync.
bool decodeBarrierReduce(Decoder &d, Handler wait);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_BARRIERREDUCE_H
