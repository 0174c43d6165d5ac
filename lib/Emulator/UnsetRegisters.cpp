//===- UnsetRegisters.cpp - registers that nothing writes -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnsetRegisters.h"

#include "Hazards/Rules.h"
#include "Machine.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

struct UnsetRegister : Extra {
  std::string name;
  const char *use = "";
};

void addNames(const PtxOperand &o, std::unordered_set<std::string> &into) {
  for (const std::string &name : {o.name, o.pair})
    if (!name.empty())
      into.insert(name);
  for (const PtxOperand &item : o.items)
    addNames(item, into);
}

/// Compilers leave undefined values in moves, packs and stores, which are harmless.
Outcome unsetRegister(Warp &w, const Instruction &in) {
  if (!w.hazards || !w.raisedAt)
    return Outcome::next;
  const auto &what = *static_cast<const UnsetRegister *>(in.extra);
  Fault fault(std::string("register_unset: register of ") + (what.use[0] == 'a' ? "an " : "a ") +
              what.use + " must have been written, got " + what.name +
              ", which no instruction writes");
  fault.breaks = info(Rule::RG1).label;
  return w.fail(in, std::move(fault).against("setmaxnreg.inc", w.raisedAt));
}

} // namespace

bool raisesRegisters(const PtxKernel &source) {
  return std::any_of(source.body.begin(), source.body.end(), [](const PtxStatement &s) {
    return s.kind == PtxStatement::Kind::instruction && s.instruction.opcode == "setmaxnreg" &&
           !s.instruction.modifiers.empty() && s.instruction.modifiers[0] == "inc";
  });
}

std::unordered_set<std::string> unsetNames(const PtxKernel &source) {
  std::unordered_set<std::string> vital, written;
  for (const std::vector<PtxVariable> *of : {&source.params, &source.returns})
    for (const PtxVariable &v : *of)
      written.insert(v.name);
  for (const PtxStatement &s : source.body) {
    if (s.kind != PtxStatement::Kind::instruction)
      continue;
    const PtxInstruction &in = s.instruction;
    eachVitalOperand(in, [&](const std::string &name, const char *) { vital.insert(name); });
    // Destinations come first; the second one of some reports a value.
    const bool mayWriteSecond = in.opcode == "mbarrier" || in.opcode == "tcgen05";
    for (size_t i = 0; i < in.operands.size(); ++i)
      if (in.operands[i].kind != PtxOperand::Kind::address &&
          (i == 0 || in.opcode == "call" ||
           (i == 1 && mayWriteSecond && in.modifiers[0] != "mma" && in.modifiers[0] != "cp")))
        addNames(in.operands[i], written);
  }
  std::erase_if(vital, [&](const std::string &name) { return written.count(name) != 0; });
  return vital;
}

Instruction unsetRegisterCheck(Kernel &kernel, const std::string &name, const char *use) {
  auto extra = std::make_shared<UnsetRegister>();
  extra->name = name;
  extra->use = use;
  Instruction check;
  check.run = unsetRegister;
  check.extra = extra.get();
  kernel.extras.push_back(std::move(extra));
  return check;
}

} // namespace blockscale::emu
