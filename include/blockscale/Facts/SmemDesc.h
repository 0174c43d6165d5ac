//===- SmemDesc.h - the shared-memory descriptor of tcgen05 ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 64-bit descriptor says where an operand of tcgen05.mma or the source of
// tcgen05.cp lies in shared memory and how it is swizzled. Encoder and decoder
// read the same rows (SmemDescFields.h). Source: PTX ISA 9.4, 9.7.18.4.1.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_SMEMDESC_H
#define BLOCKSCALE_FACTS_SMEMDESC_H

#include "blockscale/Facts/Arch.h"
#include "blockscale/Facts/Result.h"
#include "blockscale/Facts/Swizzle.h"

namespace blockscale::facts {

/// A decoded descriptor; addresses and offsets in bytes.
struct SmemDesc {
  uint32_t start = 0;        // of the operand of this instruction, K steps included
  uint32_t leadingBytes = 0; // offset; with `absolute` the address of the next buffer
  uint32_t strideBytes = 0;
  Swizzle swizzle = Swizzle::none;
  int baseOffset = 0;    // lines of 128 bytes by which the pattern starts late
  bool absolute = false; // bit 52: `leadingBytes` is an address
  bool lutHalf = false;  // bit 53: which half of the 48-byte block of decompress::lut::b
  /// Where the tile starts, if the caller knows: the swizzle pattern of the tile must
  /// start there. Without it, `start` must lie in the first row of a pattern. Not in
  /// the word.
  std::optional<uint32_t> tileBase;

  bool operator==(const SmemDesc &) const = default;
};

/// Refuses what no instruction may use on the chip (smem_desc_c1 ... c7).
Result<bool> checkSmemDesc(Arch arch, const SmemDesc &desc);

/// The word; refuses what checkSmemDesc refuses.
Result<uint64_t> encodeSmemDesc(Arch arch, const SmemDesc &desc);

/// The fields of a word; refuses reserved bits, a wrong constant and swizzle codes
/// that mean nothing (smem_desc_c8 ... c10). Where the operand lies is not judged:
/// ask checkSmemDesc.
Result<SmemDesc> decodeSmemDesc(Arch arch, uint64_t word);

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_SMEMDESC_H
