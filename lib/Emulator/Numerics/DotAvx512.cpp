//===- DotAvx512.cpp - sums of products for AVX-512 ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DotLoop.h compiled for AVX-512; entered only after asking the CPU.
//
//===----------------------------------------------------------------------===//

#include "DotHosts.h"

void blockscale::emu::dotloop::runAvx512(const Tile &tile) { runTile(tile); }
