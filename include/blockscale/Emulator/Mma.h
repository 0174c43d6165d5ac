//===- Mma.h - what one tcgen05.mma computes ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of one block-scaled matrix product instruction, apart from
// where its operands lie: the machine resolves operand windows (swizzles, scale
// columns, lanes) into plain rows and hands them over. Bit-accurate where a
// published model exists (numerics: docs/Emulator.md).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_MMA_H
#define BLOCKSCALE_EMULATOR_MMA_H

#include "blockscale/Facts/Format.h"
#include "blockscale/Facts/MmaKind.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace blockscale::emu {

/// How the elements of an operand row are packed.
enum class Packing : uint8_t {
  dense,    // element k at bit k * bits, low bits first
  padded16, // 16 elements, then a gap up to 16 bytes (b4x16_p64, b6x16_p32)
};

/// One instruction: shape, formats and modifiers.
struct MmaInstruction {
  facts::MmaKind kind;
  facts::Format a, b;
  Packing aPacking = Packing::dense, bPacking = Packing::dense;
  facts::ScaleFormat scale = facts::ScaleFormat::ue8m0;
  int block = 32;               // elements of K that share a scale
  int m = 128, n = 128, k = 64; // rows of A, rows of B, elements of K
  bool accumulate = true;       // false: D is written, not read
  bool negateA = false, negateB = false;
};

/// Operands as plain rows. Pitches are in bytes for A, B and scales, in
/// elements for D. D is f32, [m][n].
struct MmaOperands {
  const uint8_t *a; // m rows of k packed elements
  size_t aPitch;
  const uint8_t *b; // n rows of k packed elements
  size_t bPitch;
  const uint8_t *sfa; // m rows of k / block scale bytes
  size_t sfaPitch;
  const uint8_t *sfb; // n rows of k / block scale bytes
  size_t sfbPitch;
  float *d;
  size_t dPitch;
};

/// Which implementation to run; all give the same bits.
enum class MmaPath : uint8_t {
  automatic, // the fastest one that is exact for this data on this host
  plain,     // the readable scalar model
  general,   // the vectorised model without data-dependent shortcuts
};

/// Which instruction set the vectorised paths use; `best` asks the CPU.
enum class MmaHost : uint8_t { best, avx512, avx2, scalar };

/// True if this CPU, and this build, can run `host`.
bool isAvailable(MmaHost host);

/// Computes D = A * B^T (+ D). All combinations of formats and blocks that the
/// facts tables allow are taken; anything else is a programming error of the
/// caller, who checked the instruction descriptor. An unavailable `host` runs
/// as scalar. The caller's MXCSR is left as it was and does not matter.
void mma(const MmaInstruction &instruction, const MmaOperands &operands,
         MmaPath path = MmaPath::automatic, MmaHost host = MmaHost::best);

/// The label of what has no published, checked model.
inline constexpr char kNoEvidence[] = "no public hardware evidence";

/// Empty when a published, checked model of this instruction exists; otherwise
/// kNoEvidence, which every printed result must carry. What models there are were
/// made of instructions of one CTA: nothing says how those of a pair sum.
std::string mmaEvidence(const MmaInstruction &instruction, unsigned ctaGroup = 1);

} // namespace blockscale::emu

#endif // BLOCKSCALE_EMULATOR_MMA_H
