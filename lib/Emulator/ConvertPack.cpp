//===- ConvertPack.cpp - cvt.pack -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.25: two saturated integers, shifted in from below.
//
//===----------------------------------------------------------------------===//

#include "ConvertOps.h"

#include "Lanes.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

// sub: bits of a part; flags: 1 signed; op: 0 result, 1 and 2 parts, 3 what is shifted
Outcome pack(Warp &w, const Instruction &in) {
  uint32_t *d = w.reg<uint32_t>(in.op[0]);
  const int32_t *a = w.reg<int32_t>(in.op[1]), *b = w.reg<int32_t>(in.op[2]);
  bool isSigned = in.flags & 1;
  int64_t low = isSigned ? -(int64_t(1) << (in.sub - 1)) : 0;
  int64_t high = (int64_t(1) << (isSigned ? in.sub - 1 : in.sub)) - 1;
  uint32_t mask = (1u << in.sub) - 1;
  auto part = [&](int32_t v) { return uint32_t(std::clamp<int64_t>(v, low, high)) & mask; };
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint32_t c = in.op[3] == kNone ? 0 : w.reg<uint32_t>(in.op[3])[l];
    d[l] = uint32_t(uint64_t(c) << (2 * in.sub)) | part(a[l]) << in.sub | part(b[l]);
  }
  return Outcome::next;
}

} // namespace

bool decodePack(Decoder &d) {
  static constexpr std::string_view kParts[] = {"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"};
  bool sat = d.take("sat");
  int part = d.takeOneOf({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  if (!sat || part < 0 || d.takeType() != Type::s32)
    return false;
  bool shifted = part >= 2;
  if ((shifted && d.takeType() != Type::b32) || !d.expectOperands(shifted ? 4 : 3))
    return false;
  Instruction in;
  in.run = pack;
  in.flags = kParts[part][0] == 's';
  in.sub = uint8_t(16 >> (part / 2));
  in.op[0] = d.dest(0, Type::b32);
  in.op[1] = d.source(1, Type::s32);
  in.op[2] = d.source(2, Type::s32);
  if (shifted)
    in.op[3] = d.source(3, Type::b32);
  d.emit(in);
  return d.error.empty();
}

} // namespace blockscale::emu
