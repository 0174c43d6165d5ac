//===- MemberMask.h - instructions with a member mask ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes that name the same members work together (PTX ISA 9.4, 9.7.10.6, 9.7.15.6
// to 9.7.15.15). A lane outside its own mask, or a member that has not exited and
// does not execute the instruction, has no defined result and is refused.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_MEMBERMASK_H
#define BLOCKSCALE_LIB_EMULATOR_MEMBERMASK_H

#include "Decoder.h"
#include "Machine.h"

namespace blockscale::emu {

/// Runs `Handler` once for the lanes of each member mask.
template <Outcome (*Handler)(Warp &, const Instruction &)>
Outcome perMemberMask(Warp &w, const Instruction &in) {
  const uint32_t *masks = w.reg<uint32_t>(in.op[in.memberOp]);
  const uint32_t executing = w.mask;
  for (uint32_t rest = executing; rest;) {
    unsigned first = unsigned(__builtin_ctz(rest));
    uint32_t members = masks[first], same = 0;
    for (uint32_t m = rest; m; m &= m - 1)
      if (masks[__builtin_ctz(m)] == members)
        same |= m & -m;
    if (uint32_t outside = same & ~members)
      return w.fail(in, "warp_members: member mask must name the executing lane " +
                            dec(__builtin_ctz(outside)) + ", got " + hex(members));
    if (uint32_t absent = members & w.live & ~same)
      return w.fail(in, "warp_members: lanes of member mask " + hex(members) +
                            " must execute the instruction, got lanes " + hex(absent) +
                            " that do not");
    w.mask = same;
    if (Outcome out = Handler(w, in); out != Outcome::next)
      return out;
    rest &= ~same;
  }
  w.mask = executing;
  return Outcome::next;
}

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_MEMBERMASK_H
