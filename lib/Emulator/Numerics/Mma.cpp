//===- Mma.cpp - entry points of the matrix product -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the path and says what is known about an instruction.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Mma.h"

#include "Fp4Tile.h"
#include "Fp8Tile.h"
#include "Model.h"
#include "PlainFloatEnvironment.h"

#include <memory>

using namespace blockscale;
using namespace blockscale::emu;
using facts::MmaKind;
using facts::ScaleFormat;

namespace {

MmaHost resolve(MmaHost host) {
  if (host != MmaHost::best)
    return isAvailable(host) ? host : MmaHost::scalar;
  static const MmaHost best = isAvailable(MmaHost::avx512) ? MmaHost::avx512
                              : isAvailable(MmaHost::avx2) ? MmaHost::avx2
                                                           : MmaHost::scalar;
  return best;
}

fp4::Tile fp4Tile(const MmaInstruction &i, const MmaOperands &o) {
  fp4::Tile t;
  t.m = i.m;
  t.n = i.n;
  t.k = i.k;
  t.block = i.block;
  t.scale = i.scale == ScaleFormat::ue8m0   ? fp4::Scale::ue8m0
            : i.scale == ScaleFormat::ue4m3 ? fp4::Scale::ue4m3
                                            : fp4::Scale::ue5m3;
  t.accumulate = i.accumulate;
  t.flipA = i.negateA ? 0x88 : 0;
  t.flipB = i.negateB ? 0x88 : 0;
  t.a = o.a, t.b = o.b, t.sfa = o.sfa, t.sfb = o.sfb;
  t.aPitch = o.aPitch, t.bPitch = o.bPitch, t.sfaPitch = o.sfaPitch, t.sfbPitch = o.sfbPitch;
  t.d = o.d;
  t.dPitch = o.dPitch;
  return t;
}

fp8::Element fp8Element(facts::Format format) {
  const facts::FormatInfo &f = facts::info(format);
  fp8::Element e{int(f.mantissaBits), f.bias, 0x80, -1};
  if (format == facts::Format::e4m3)
    e.firstNan = 0x7F;
  if (format == facts::Format::e5m2) {
    e.infinity = 0x7C;
    e.firstNan = 0x7D;
  }
  return e;
}

/// Sixteen codes of fewer than eight bits, packed without gaps, one a byte with the
/// sign in bit 7.
template <unsigned Bits> void unpackSixteen(uint8_t *to, const uint8_t *from) {
  constexpr uint32_t kSign = 1u << (Bits - 1);
  for (int quad = 0; quad < 4; ++quad) { // four codes are Bits / 2 bytes
    uint32_t word = 0;
    for (unsigned i = 0; i < Bits / 2; ++i)
      word |= uint32_t(from[quad * Bits / 2 + i]) << 8 * i;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t code = word >> Bits * i;
      to[4 * quad + i] = uint8_t((code & (kSign - 1)) | (code & kSign) << (8 - Bits));
    }
  }
}

/// Rows with one element a byte and the sign in bit 7; unpacks where they are not.
const uint8_t *byteRows(facts::Format format, Packing packing, const uint8_t *rows, size_t &pitch,
                        int count, int k, uint8_t (&unpacked)[fp8::kMaxRows][fp8::kMaxK]) {
  unsigned bits = facts::info(format).bits;
  if (bits == 8)
    return rows;
  size_t sixteen = packing == Packing::dense ? 2 * bits : 16; // bytes
  for (int r = 0; r < count; ++r)
    for (int group = 0; group < k / 16; ++group)
      (bits == 4 ? unpackSixteen<4> : unpackSixteen<6>)(unpacked[r] + 16 * group,
                                                        rows + r * pitch + group * sixteen);
  pitch = fp8::kMaxK;
  return unpacked[0];
}

fp8::Tile fp8Tile(const MmaInstruction &i, const MmaOperands &o, fp8::Workspace &work) {
  fp8::Tile t;
  t.m = i.m;
  t.n = i.n;
  t.k = i.k;
  t.accumulate = i.accumulate;
  t.elementA = fp8Element(i.a);
  t.elementB = fp8Element(i.b);
  t.flipA = i.negateA ? 0x80 : 0;
  t.flipB = i.negateB ? 0x80 : 0;
  t.aPitch = o.aPitch, t.bPitch = o.bPitch, t.sfaPitch = o.sfaPitch, t.sfbPitch = o.sfbPitch;
  t.a = byteRows(i.a, i.aPacking, o.a, t.aPitch, i.m, i.k, work.unpackedA);
  t.b = byteRows(i.b, i.bPacking, o.b, t.bPitch, i.n, i.k, work.unpackedB);
  t.sfa = o.sfa, t.sfb = o.sfb;
  t.d = o.d;
  t.dPitch = o.dPitch;
  return t;
}

/// Whether the vectorised mxf8f6f4 code takes this instruction.
bool fitsFp8(const MmaInstruction &i) {
  return i.kind == MmaKind::mxf8f6f4 && i.block == fp8::kBlock && i.scale == ScaleFormat::ue8m0 &&
         (i.k == 32 || i.k == 64) && i.m <= fp8::kMaxRows && i.n <= fp8::kMaxRows;
}

/// Whether the vectorised FP4 code takes this instruction.
bool fitsFp4(const MmaInstruction &i) {
  return isFp4Kind(i.kind) && (i.k == 64 || i.k == 96 || i.k == 128) && i.m <= fp4::kMaxRows &&
         i.n <= fp4::kMaxRows && i.n % 8 == 0;
}

} // namespace

bool emu::isAvailable(MmaHost host) {
  switch (host) {
  case MmaHost::avx512:
#if defined(BLOCKSCALE_X86_KERNELS)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
  case MmaHost::avx2:
#if defined(BLOCKSCALE_X86_KERNELS)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c");
#else
    return false;
#endif
  case MmaHost::best:
  case MmaHost::scalar:
    return true;
  }
  return false;
}

void emu::mma(const MmaInstruction &instruction, const MmaOperands &operands, MmaPath path,
              MmaHost host) {
  PlainFloatEnvironment environment;
  host = resolve(host);
#if defined(BLOCKSCALE_X86_KERNELS)
  bool wide = host == MmaHost::avx512;
  bool vectors = path != MmaPath::plain && (wide || host == MmaHost::avx2);
  if (vectors && fitsFp4(instruction)) {
    static thread_local auto work = std::make_unique<fp4::Workspace>();
    (wide ? fp4::mmaAvx512 : fp4::mmaAvx2)(fp4Tile(instruction, operands), *work,
                                           path == MmaPath::automatic);
    return;
  }
  if (vectors && fitsFp8(instruction)) {
    static thread_local auto work = std::make_unique<fp8::Workspace>();
    (wide ? fp8::mmaAvx512 : fp8::mmaAvx2)(fp8Tile(instruction, operands, *work), *work,
                                           path == MmaPath::automatic);
    return;
  }
#endif
  mmaPlain(instruction, operands, sumModel(instruction.kind));
}

std::string emu::mmaEvidence(const MmaInstruction &i, unsigned ctaGroup) {
  if (ctaGroup != 1)
    return kNoEvidence;
  bool published = false;
  switch (i.kind) {
  case MmaKind::mxf8f6f4:
    published = i.k == 32 && i.block == 32 && i.scale == ScaleFormat::ue8m0;
    break;
  case MmaKind::mxf4:
    published = i.k == 64 && i.block == 32 && i.scale == ScaleFormat::ue8m0;
    break;
  case MmaKind::mxf4nvf4:
    published = i.k == 64 &&
                (i.scale == ScaleFormat::ue8m0 || (i.scale == ScaleFormat::ue4m3 && i.block == 16));
    break;
  default:
    break;
  }
  return published ? "" : kNoEvidence;
}
