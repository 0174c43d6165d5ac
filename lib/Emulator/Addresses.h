//===- Addresses.h - the emulated address spaces --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generic addresses are 64 bits; shared, local and parameter memory have windows
// far away from global memory. A shared address is rank << 24 | offset (measured
// on an H200: a CTA's own address carries its rank).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ADDRESSES_H
#define BLOCKSCALE_LIB_EMULATOR_ADDRESSES_H

#include <cstdint>

namespace blockscale::emu {

inline constexpr uint64_t kWindowShift = 40;
inline constexpr uint64_t kSharedWindow = uint64_t(0x70) << kWindowShift;
inline constexpr uint64_t kLocalWindow = uint64_t(0x71) << kWindowShift;
inline constexpr uint64_t kParamWindow = uint64_t(0x72) << kWindowShift;
inline constexpr uint64_t kGlobalBase = uint64_t(0x10) << kWindowShift;
/// Functions have addresses of 32 bits, as `mov.u32` gives them, where no memory is.
inline constexpr uint64_t kCodeBase = uint64_t(1) << 20;
inline constexpr uint64_t kCodeStep = 16;
inline constexpr uint64_t kCodeEnd = uint64_t(1) << 32;

inline constexpr unsigned kClusterShift = 24;
inline constexpr uint32_t kSharedOffsetMask = (1u << kClusterShift) - 1;

/// The system keeps the first KiB of a CTA's shared memory.
inline constexpr uint64_t kSharedBase = 1024;
inline constexpr uint64_t kDynamicSharedMark = uint64_t(1) << 40; // until the kernel is complete
inline constexpr uint64_t kLocalBase = 0;
/// Of a thread, for alloca: behind the local variables, from the top down. Drivers give
/// 1 KiB where nobody asks for more.
inline constexpr uint64_t kStackBytes = 8192;
/// Parameter addresses are the same in the .param space and generically.
inline constexpr uint64_t kParamBase = kParamWindow;

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_ADDRESSES_H
