//===- ParserAlias.cpp - other names of functions -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `.alias other, function;` stands behind both, from PTX ISA 6.3 on. Whoever uses the other name
// means the function, so the text is read as if it had named that.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

using Names = std::unordered_map<std::string, std::string>;

void rename(std::string &name, const Names &aliases) {
  if (auto it = aliases.find(name); it != aliases.end())
    name = it->second;
}

void rename(PtxOperand &o, const Names &aliases) {
  rename(o.name, aliases);
  for (PtxOperand &item : o.items)
    rename(item, aliases);
}

} // namespace

void Parser::aliasDirective() {
  const std::string other(lex.identifier());
  if (other.empty() || !expect(',', ".alias"))
    return void(fail("ptx_syntax: .alias must have two names, got " + describeNext()));
  const std::string function(lex.identifier());
  if (function.empty() || !expect(';', ".alias"))
    return void(fail("ptx_syntax: .alias must have two names, got " + describeNext()));
  if (std::none_of(module.kernels.begin(), module.kernels.end(),
                   [&](const PtxKernel &k) { return !k.isEntry && k.name == function; }))
    return void(fail("ptx_alias: function must be defined ahead of its alias, got " + function));
  if (!aliases.emplace(other, function).second)
    fail("ptx_alias: name must be one function's, got " + other + " again");
}

void Parser::resolveAliases() {
  if (aliases.empty())
    return;
  for (PtxVariable &v : module.variables)
    for (PtxReference &r : v.references)
      rename(r.name, aliases);
  for (PtxKernel &k : module.kernels)
    for (PtxStatement &s : k.body) {
      for (PtxOperand &o : s.instruction.operands)
        rename(o, aliases);
      for (PtxReference &r : s.variable.references)
        rename(r.name, aliases);
      for (std::string &target : s.targets)
        rename(target, aliases);
    }
}

} // namespace blockscale::emu
