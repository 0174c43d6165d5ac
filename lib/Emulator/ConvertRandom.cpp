//===- ConvertRandom.cpp - cvt.rs: rounding by random bits ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.24: random bits are added to the mantissa bits that go, below
// their top, and a carry rounds away from zero. f16x2 and bf16x2: the halves of the
// random register belong to the two sources. Four values: each pair shares 16 bits,
// which its second value reads as they are and its first one in reverse. FP8 and FP6
// take halves of the register; FP4 takes a byte of each half, the upper bytes for the
// first pair. How pairs share their bits is from two public emulators that were held
// against a B200, FlashInfer's mamba/conversion.cuh (e4m3, the upper 8 of the bits)
// and TIRx's numsim (all formats, 16 bits); kNote says where they differ.
//
//===----------------------------------------------------------------------===//

#include "ConvertOps.h"

#include "WarpFragments.h"

namespace blockscale::emu {
namespace {

using facts::Format;

constexpr char kNote[] =
    "cvt.rs to four values: public measurements of a B200 differ in the low 8 of 16 random bits";

/// Random bits of each source, the first source first.
struct RandomBits {
  uint16_t of[4] = {};
};

uint16_t reversed(uint32_t bits) {
  uint16_t out = 0;
  for (int i = 0; i < 16; ++i)
    out |= uint16_t((bits >> i & 1) << (15 - i));
  return out;
}

RandomBits randomBits(Type to, uint32_t r) {
  if (to == Type::f16x2)
    return {{uint16_t(r >> 16 & 0x1FFF), uint16_t(r & 0x1FFF)}};
  if (to == Type::bf16x2)
    return {{uint16_t(r >> 16), uint16_t(r)}};
  const bool isFp4 = to == Type::e2m1x4;
  const uint32_t first = isFp4 ? (r >> 16 & 0xFF00) | (r >> 8 & 0xFF) : r >> 16;
  const uint32_t second = isFp4 ? (r >> 8 & 0xFF00) | (r & 0xFF) : r & 0xFFFF;
  return {{reversed(first), uint16_t(first), reversed(second), uint16_t(second)}};
}

Format elementOf(Type to) {
  switch (to) {
  case Type::f16x2:
    return Format::f16;
  case Type::bf16x2:
    return Format::bf16;
  case Type::e4m3x4:
    return Format::e4m3;
  case Type::e5m2x4:
    return Format::e5m2;
  case Type::e2m3x4:
    return Format::e2m3;
  case Type::e3m2x4:
    return Format::e3m2;
  default:
    return Format::e2m1;
  }
}

/// Sources are lists[0..], the random register behind them.
Outcome convertRandom(Warp &w, const Instruction &in) {
  const Type to = Type(in.imm);
  const Format format = elementOf(to);
  const unsigned count = in.listCount - 1, width = bits(to) / count;
  const Overflow overflow = in.flags & kSatfinite ? Overflow::satfinite : Overflow::natural;
  const Operand *regs = w.kernel->lists.data() + in.list;
  const uint32_t *random = w.reg<uint32_t>(regs[count]);
  uint32_t *out = w.reg<uint32_t>(in.op[0]);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const RandomBits r = randomBits(to, random[l]);
    uint32_t packed = 0;
    for (unsigned i = 0; i < count; ++i) {
      float x = w.reg<float>(regs[i])[l];
      if (in.flags & kRelu)
        x = x != x ? x : x > 0 ? x : 0.0f;
      packed =
          packed << width | encodeRandom(format, x, r.of[i], to == Type::f16x2 ? 13 : 16, overflow);
    }
    out[l] = packed;
  }
  return Outcome::next;
}

} // namespace

bool decodeRandom(Decoder &d, Type dst, Type src, uint32_t flags) {
  const bool isFour = dst >= Type::e4m3x4 && dst <= Type::e2m1x4;
  if (src != Type::f32 || (!isFour && dst != Type::f16x2 && dst != Type::bf16x2) ||
      !d.expectOperands(isFour ? 3 : 4))
    return false;
  Instruction in;
  in.run = convertRandom;
  in.flags = flags;
  in.imm = int64_t(dst);
  in.op[0] = d.dest(0, dst);
  in.list = uint32_t(d.kernel.lists.size());
  if (isFour) {
    if (!takeRegisters(d, 1, 4, Type::f32, /*isDest=*/false, "sources"))
      return false;
    noteEvidence(d.kernel, kNote);
  } else {
    d.kernel.lists.push_back(d.source(1, Type::f32));
    d.kernel.lists.push_back(d.source(2, Type::f32));
  }
  d.kernel.lists.push_back(d.source(isFour ? 2 : 3, Type::b32));
  in.listCount = uint32_t(d.kernel.lists.size()) - in.list;
  d.emit(in);
  return d.error.empty();
}

} // namespace blockscale::emu
