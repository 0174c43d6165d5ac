//===- Mma.cpp - entry points of the matrix product -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the path and says what is known about an instruction.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Mma.h"

#include "Fp4Tile.h"
#include "Model.h"

#include <memory>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace blockscale;
using namespace blockscale::emu;
using facts::MmaKind;
using facts::ScaleFormat;

namespace {

/// Round to nearest, no flushing of subnormals, no traps, while it lives.
class PlainFloatEnvironment {
public:
#if defined(__x86_64__)
  PlainFloatEnvironment() : saved(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~PlainFloatEnvironment() { _mm_setcsr(saved); }
  PlainFloatEnvironment(const PlainFloatEnvironment &) = delete;
  PlainFloatEnvironment &operator=(const PlainFloatEnvironment &) = delete;

private:
  static constexpr unsigned kDefault = 0x1F80;
  unsigned saved;
#endif
};

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

/// Whether the vectorised FP4 code takes this instruction.
bool fitsFp4(const MmaInstruction &i) {
  return isFp4Kind(i.kind) && (i.k == 64 || i.k == 96 || i.k == 128) && i.m <= fp4::kMaxRows &&
         i.n <= fp4::kMaxRows;
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
    return false;
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
  if (path != MmaPath::plain && host != MmaHost::scalar && fitsFp4(instruction)) {
    static thread_local auto work = std::make_unique<fp4::Workspace>();
    fp4::mmaAvx512(fp4Tile(instruction, operands), *work, path == MmaPath::automatic);
    return;
  }
#endif
  mmaPlain(instruction, operands, sumModel(instruction.kind));
}

std::string emu::mmaEvidence(const MmaInstruction &i) {
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
  return published ? "" : "no public hardware evidence";
}
