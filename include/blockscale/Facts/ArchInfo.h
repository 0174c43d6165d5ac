//===- ArchInfo.h - limits of the architectures ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one SM of each target holds. A family target (sm_100f) has the limits of
// the chip that it is named after. A value that nobody has published is 0 and
// means "unknown": ask the device.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_ARCHINFO_H
#define BLOCKSCALE_FACTS_ARCHINFO_H

#include "blockscale/Facts/Arch.h"

namespace blockscale::facts {

/// A version of the PTX language.
struct PtxVersion {
  int major, minor;
  constexpr bool operator==(const PtxVersion &) const = default;
};

/// Limits of one SM, and the encodings that depend on the chip.
struct ArchInfo {
  Arch arch;
  int sharedPerSm;             // bytes
  int sharedPerBlock;          // bytes a block gets by opting in, without the oversized mode
  int sharedPerSmOversized;    // bytes; 0: there is no oversized mode
  int sharedPerBlockOversized; // bytes; 0: there is no oversized mode
  int threadsPerSm;            // 0: unknown
  int blocksPerSm;
  int tmemColumns;     // columns of 128 lanes x 32 bits; 0: no tensor memory
  int smemAddressBits; // address bits of a shared-memory descriptor; 0: no such descriptor
  PtxVersion ptx;      // the lowest .version that takes the target
  std::string_view source;
};

inline constexpr int kKiB = 1024;
inline constexpr std::string_view kLimitsSource =
    "cuda_occupancy.h 13.5; libcu++ arch_traits.h (cccl 004ad198); PTX ISA 9.4";

// clang-format off
inline constexpr std::array<ArchInfo, kArchNames.size()> kArchInfos{{
    // arch         SM           block        oversized SM, block      threads blocks tmem addr  ptx
    {Arch::sm_80,   164 * kKiB,  163 * kKiB,  0,          0,           2048,   32,    0,   0,   {7, 0}, kLimitsSource},
    {Arch::sm_86,   100 * kKiB,   99 * kKiB,  0,          0,           1536,   16,    0,   0,   {7, 1}, kLimitsSource},
    {Arch::sm_89,   100 * kKiB,   99 * kKiB,  0,          0,           1536,   24,    0,   0,   {7, 8}, kLimitsSource},
    {Arch::sm_90a,  228 * kKiB,  227 * kKiB,  0,          0,           2048,   32,    0,   0,   {8, 0}, kLimitsSource},
    {Arch::sm_100,  228 * kKiB,  227 * kKiB,  0,          0,           2048,   32,    0,   0,   {8, 6}, kLimitsSource},
    {Arch::sm_100a, 228 * kKiB,  227 * kKiB,  0,          0,           2048,   32,    512, 14,  {8, 6}, kLimitsSource},
    {Arch::sm_100f, 228 * kKiB,  227 * kKiB,  0,          0,           2048,   32,    512, 14,  {8, 8}, kLimitsSource},
    {Arch::sm_103a, 228 * kKiB,  227 * kKiB,  0,          0,           2048,   32,    512, 14,  {8, 8}, kLimitsSource},
    {Arch::sm_103f, 228 * kKiB,  227 * kKiB,  0,          0,           2048,   32,    512, 14,  {8, 8}, kLimitsSource},
    {Arch::sm_107,  228 * kKiB,  227 * kKiB,  328 * kKiB, 327 * kKiB,  0,      16,    0,   0,   {9, 4}, kLimitsSource},
    {Arch::sm_107a, 228 * kKiB,  227 * kKiB,  328 * kKiB, 327 * kKiB,  0,      16,    576, 15,  {9, 4}, kLimitsSource},
    {Arch::sm_107f, 228 * kKiB,  227 * kKiB,  328 * kKiB, 327 * kKiB,  0,      16,    576, 15,  {9, 4}, kLimitsSource},
    {Arch::sm_110a, 228 * kKiB,  227 * kKiB,  0,          0,           1536,   24,    512, 14,  {9, 0}, kLimitsSource},
    {Arch::sm_110f, 228 * kKiB,  227 * kKiB,  0,          0,           1536,   24,    512, 14,  {9, 0}, kLimitsSource},
    {Arch::sm_120a, 100 * kKiB,   99 * kKiB,  0,          0,           1536,   24,    0,   0,   {8, 7}, kLimitsSource},
    {Arch::sm_120f, 100 * kKiB,   99 * kKiB,  0,          0,           1536,   24,    0,   0,   {8, 8}, kLimitsSource},
    {Arch::sm_121a, 100 * kKiB,   99 * kKiB,  0,          0,           1536,   24,    0,   0,   {8, 8}, kLimitsSource},
}};
// clang-format on

constexpr const ArchInfo &info(Arch arch) { return kArchInfos[size_t(arch)]; }

/// The same on every chip (libcu++ arch_traits.h).
inline constexpr int kRegistersPerSm = 65536;
inline constexpr int kRegistersPerThread = 255;
inline constexpr int kThreadsPerBlock = 1024;
inline constexpr int kLocalBytesPerThread = 512 * kKiB; // CUDA Programming Guide, table 30
inline constexpr int kSharedReservedPerBlock = 1 * kKiB;
inline constexpr int kSharedWithoutOptIn = 48 * kKiB;
/// Above it cp.async.cg may not write on sm_107a: from a code comment, unmeasured.
inline constexpr int kDoubtfulCopyAsyncDestination = 0x3E000;

/// The .version that we emit; ptxas 13.5 takes 9.4 and 9.5 for every target above.
inline constexpr PtxVersion kEmittedPtx{9, 4};

/// The most shared memory that one block can have, in any mode.
constexpr int maxSharedPerBlock(Arch arch) {
  const ArchInfo &row = info(arch);
  return row.sharedPerBlockOversized ? row.sharedPerBlockOversized : row.sharedPerBlock;
}

namespace detail {
constexpr bool archInfosAreSound() {
  for (size_t i = 0; i < kArchInfos.size(); ++i) {
    const ArchInfo &row = kArchInfos[i];
    if (row.arch != Arch(i) || row.source.empty())
      return false;
    if (row.sharedPerSm - row.sharedPerBlock != kSharedReservedPerBlock)
      return false;
    if (row.sharedPerSmOversized &&
        row.sharedPerSmOversized - row.sharedPerBlockOversized != kSharedReservedPerBlock)
      return false;
    // Tensor memory and its descriptors come together, and columns in steps of 32.
    if ((row.tmemColumns == 0) != (row.smemAddressBits == 0) || row.tmemColumns % 32)
      return false;
    // Every shared address of the chip fits the descriptor's address field.
    if (row.smemAddressBits && maxSharedPerBlock(row.arch) > (16 << row.smemAddressBits))
      return false;
  }
  return true;
}
static_assert(archInfosAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_ARCHINFO_H
