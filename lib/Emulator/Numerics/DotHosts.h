//===- DotHosts.h - DotLoop.h for each instruction set --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_DOTHOSTS_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_DOTHOSTS_H

#include "DotLoop.h"

namespace blockscale::emu::dotloop {

void runAvx2(const Tile &tile);
void runAvx512(const Tile &tile);

} // namespace blockscale::emu::dotloop

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_DOTHOSTS_H
