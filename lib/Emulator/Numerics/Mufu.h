//===- Mufu.h - the chip's approximate functions --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bit for bit what the multifunction unit of an H200 gives, from f32 bits to f32 bits.
// Subnormal arguments and results are zero. What PTX puts around an instruction of the
// unit (scaling of subnormals, the reduction to turns) is not part of it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_MUFU_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_MUFU_H

#include <cstdint>

namespace blockscale::emu::mufu {

uint32_t rcp(uint32_t x);
uint32_t rsqrt(uint32_t x);
uint32_t sqrt(uint32_t x);
uint32_t ex2(uint32_t x);
uint32_t lg2(uint32_t x);
uint32_t tanh(uint32_t x); // subnormals stay
/// Of an argument in turns.
uint32_t sin(uint32_t turns);
uint32_t cos(uint32_t turns);

} // namespace blockscale::emu::mufu

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_MUFU_H
