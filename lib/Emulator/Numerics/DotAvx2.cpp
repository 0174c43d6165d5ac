//===- DotAvx2.cpp - sums of products for AVX2 --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DotLoop.h compiled for AVX2; entered only after asking the CPU.
//
//===----------------------------------------------------------------------===//

#include "DotHosts.h"

void blockscale::emu::dotloop::runAvx2(const Tile &tile) { runTile(tile); }
