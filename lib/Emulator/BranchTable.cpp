//===- BranchTable.cpp - brx.idx ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, control flow: a branch to an entry of a .branchtargets table. Lanes
// with different indices become fragments of their own.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

namespace blockscale::emu {
namespace {

Outcome branchIndexed(Warp &w, const Instruction &in) {
  const uint32_t *index = w.reg<uint32_t>(in.op[0]);
  const Operand *targets = w.kernel->lists.data() + in.list;
  for (uint32_t rest = w.mask; rest;) {
    uint32_t value = index[__builtin_ctz(rest)];
    if (value >= in.listCount)
      return w.fail(in, "brx_index: index must be below the table's " + dec(in.listCount) +
                            " labels, got " + dec(value));
    uint32_t same = 0;
    for (uint32_t m = rest; m; m &= m - 1)
      same |= uint32_t(index[__builtin_ctz(m)] == value) << __builtin_ctz(m);
    uint32_t pc = w.fragment().pc;
    w.branch(same, targets[value]);
    rest &= ~same;
    if (rest) // the others are still at this instruction
      w.fragment().pc = pc;
  }
  return Outcome::jumped;
}

bool decodeBranchIndexed(Decoder &d) {
  if (!d.take("idx"))
    return false;
  d.take("uni");
  if (!d.expectOperands(2))
    return false;
  Instruction in;
  in.run = branchIndexed;
  in.op[0] = d.source(0, Type::u32);
  const std::string &table = d.operand(1).name;
  if (!d.useTargets(table, in))
    return d.fail("ptx_operand: brx.idx must name a .branchtargets table, got " + table);
  d.emit(in);
  return d.error.empty();
}

} // namespace

DecodeFn findBranchTable(std::string_view opcode) {
  return opcode == "brx" ? decodeBranchIndexed : nullptr;
}

} // namespace blockscale::emu
