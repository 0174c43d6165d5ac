//===- UnsetRegisters.h - registers that nothing writes -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of PTX are virtual: which of them setmaxnreg.inc brings is not to be
// seen. One that no instruction writes may be any, and what it holds behind
// setmaxnreg.inc is undefined (rule RG1).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNSETREGISTERS_H
#define BLOCKSCALE_LIB_EMULATOR_UNSETREGISTERS_H

#include "Program.h"
#include "Ptx.h"

#include <string>
#include <string_view>
#include <unordered_set>

namespace blockscale::emu {

/// Executes setmaxnreg.inc.
bool raisesRegisters(const PtxKernel &source);
/// Names that a body reads, if registers, where it must have written them: as addresses, guards
/// and descriptors. Never one that it may write, in whatever scope.
std::unordered_set<std::string> unsetNames(const PtxKernel &source);
/// Calls visit(name, "address") for each such operand of an instruction.
template <class Visit> void eachVitalOperand(const PtxInstruction &in, Visit visit) {
  if (!in.guard.empty())
    visit(in.guard, "guard");
  const bool hasDescriptors =
      in.opcode == "wgmma" || (in.opcode == "tcgen05" && !in.modifiers.empty() &&
                               (in.modifiers[0] == "mma" || in.modifiers[0] == "cp"));
  for (size_t i = 0; i < in.operands.size(); ++i) {
    const PtxOperand &o = in.operands[i];
    if (o.kind == PtxOperand::Kind::address) {
      if (o.items.size() == 1 && o.items[0].kind == PtxOperand::Kind::name)
        visit(o.items[0].name, "address");
    } else if (i && hasDescriptors && o.kind == PtxOperand::Kind::name && !o.name.empty()) {
      visit(o.name, "descriptor");
    }
  }
}
/// An instruction ahead of the one that uses an unset register.
Instruction unsetRegisterCheck(Kernel &kernel, const std::string &name, const char *use);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_UNSETREGISTERS_H
