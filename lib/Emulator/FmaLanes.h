//===- FmaLanes.h - fma of f32 on hosts that have it ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_FMALANES_H
#define BLOCKSCALE_LIB_EMULATOR_FMALANES_H

#include "Program.h"

namespace blockscale::emu {

/// Handlers of fma.rn.f32 and fma.rn.f32x2 without .ftz and .sat; null where the host
/// has no such instruction and the general form, a library call a lane, must do.
Handler fastFma();
Handler fastFmaPairs();

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_FMALANES_H
