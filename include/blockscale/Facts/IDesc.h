//===- IDesc.h - the instruction descriptor of tcgen05.mma ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 32-bit descriptor says types, shape and scale ids of one instruction.
// ptxas never checks it, so everything that is refused is refused here. The
// encoder and the decoder read the same rows (IDescFields.h). Source: PTX ISA
// 9.4, 9.7.18.4.2.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_IDESC_H
#define BLOCKSCALE_FACTS_IDESC_H

#include "blockscale/Facts/MmaMode.h"
#include "blockscale/Facts/Result.h"

namespace blockscale::facts {

/// Where the scales of A lie in tensor memory: 32 lanes replicated four times, or
/// one lane a row (sm_107 family).
enum class SfaLayout : uint8_t { lanes32 = 0, lanes128 = 1 };
constexpr std::string_view name(SfaLayout l) {
  return l == SfaLayout::lanes32 ? "lanes32" : "lanes128";
}
constexpr std::optional<SfaLayout> parseSfaLayout(std::string_view text) {
  if (text == "lanes32")
    return SfaLayout::lanes32;
  if (text == "lanes128")
    return SfaLayout::lanes128;
  return std::nullopt;
}

/// A decoded instruction descriptor. `block` comes from the instruction's
/// qualifier, not from the word, and is 0 for unscaled kinds; `scale` means nothing
/// there. `d` is f32, or f16 for unscaled kinds.
struct IDesc {
  MmaKind kind;
  Format a, b;
  ScaleFormat scale = ScaleFormat::ue8m0;
  int block = 0;
  int m, n, k;
  int sfaId = 0, sfbId = 0; // first byte of the scale word
  bool negateA = false, negateB = false;
  bool transposeA = false, transposeB = false; // true: MN-major
  bool sparse = false;
  int sparseSelector = 0; // unscaled sparse kinds, 0..3
  int maxShift = 0;       // unscaled kinds with .ws, code 0..3
  SfaLayout sfaLayout = SfaLayout::lanes32;
  Format d = Format::f32;
  /// 1 or 2 where it is known; 0 takes what is legal with either. Not in the word.
  int ctaGroup = 0;

  bool operator==(const IDesc &) const = default;
};

/// Refuses a block size that the kind does not have (idesc_c4).
Result<bool> checkIDescBlock(MmaKind kind, int block);

/// Refuses what is not legal on the chip, first rule first (idesc_c1 ... c12).
Result<bool> checkIDesc(Arch arch, const IDesc &desc);

/// The word; refuses what checkIDesc refuses.
Result<uint32_t> encodeIDesc(Arch arch, const IDesc &desc);

/// The fields of a word; refuses reserved bits (idesc_c13), codes that mean
/// nothing (idesc_c14) and what checkIDesc refuses.
Result<IDesc> decodeIDesc(Arch arch, MmaKind kind, int block, uint32_t word);

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_IDESC_H
