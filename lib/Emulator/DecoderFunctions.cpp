//===- DecoderFunctions.cpp - functions of a kernel -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that a kernel may call are decoded ahead of it, callees first. Those of a
// component that calls itself know each other before any body is read: callers put their
// arguments where no frame lies, and the function copies them into its own.
//
//===----------------------------------------------------------------------===//

#include "Addresses.h"
#include "Call.h"

#include "blockscale/Facts/ArchInfo.h"

#include <algorithm>

namespace blockscale::emu {

const Symbol *Decoder::localParam(const std::string &name) const {
  const Symbol *s = name.empty() ? nullptr : lookup(name);
  return s && s->kind == Symbol::Kind::local && s->isParam ? s : nullptr;
}

FunctionCode *Decoder::calledFunction(const std::string &name) {
  auto it = called.find(name);
  return it == called.end() ? nullptr : &it->second;
}

void Decoder::refuseCaller(const std::string &refusal) {
  std::string &mine = function ? function->refusal : kernel.refusal;
  if (mine.empty())
    mine = refusal;
}

bool Decoder::findCallTargets(const std::string &table, CallTargets &found) {
  const Symbol *s = lookup(table);
  std::vector<std::string> names;
  if (s && s->kind == Symbol::Kind::callPrototype) {
    const PtxStatement &prototype = *callStatements[s->value];
    found.returns = &prototype.returns;
    found.params = &prototype.params;
    found.signature = Signature(prototype.returns, prototype.params);
    found.functions = graph->candidates(found.signature);
    return true;
  }
  if (s && s->kind == Symbol::Kind::callTargets) {
    found.list = callStatements[s->value];
    names = callStatements[s->value]->targets;
  } else if (auto it = tables.find(table); s && s->kind == Symbol::Kind::global &&
                                           it != tables.end() && it->second->isArray &&
                                           it->second->references.size() == it->second->count) {
    found.list = it->second;
    for (const PtxReference &r : it->second->references)
      names.push_back(r.name);
  } else {
    return fail("ptx_call: call through a register must name a .callprototype, .calltargets or an "
                "array of functions alone, got " +
                table);
  }
  for (const std::string &name : names) {
    auto it = functions.find(name);
    if (it == functions.end())
      return fail("ptx_call: " + table + " must hold functions of the module, got " + name);
    const Signature signature(it->second->returns, it->second->params);
    if (found.functions.empty()) {
      found.returns = &it->second->returns;
      found.params = &it->second->params;
      found.signature = signature;
    } else if (signature != found.signature) {
      return fail("ptx_call: functions of " + table +
                  " must have the same results and parameters, "
                  "in bytes " +
                  found.signature.text() + ", got " + name + " with " + signature.text());
    }
    found.functions.push_back(it->second);
  }
  return true;
}

std::vector<FunctionCode::Formal>
Decoder::stage(const Signature &signature, const std::vector<PtxVariable> &formals, bool isResult) {
  auto [it, isNew] = staging.try_emplace(signature);
  auto place = [&](const std::vector<Signature::Formal> &from, std::vector<uint64_t> &to) {
    for (const Signature::Formal &f : from) {
      kernel.localBytes = (kernel.localBytes + f.align - 1) / f.align * f.align;
      to.push_back(kLocalBase + kernel.localBytes);
      kernel.localBytes += f.bytes;
    }
  };
  if (isNew) {
    place(signature.returns, it->second.first);
    place(signature.params, it->second.second);
    if (kernel.localBytes > uint64_t(facts::kLocalBytesPerThread))
      fail("ptx_variable: parameters of calls are too large");
  }
  const std::vector<uint64_t> &places = isResult ? it->second.first : it->second.second;
  std::vector<FunctionCode::Formal> out;
  for (size_t i = 0; i < formals.size(); ++i) {
    FunctionCode::Formal formal;
    formal.symbol.kind = Symbol::Kind::local;
    formal.symbol.value = places[i];
    formal.bytes = formals[i].bytes();
    formal.type = formals[i].isArray ? Type::none : formals[i].type;
    out.push_back(formal);
  }
  return out;
}

void Decoder::declareFunction(const PtxKernel &source) {
  FunctionCode &code = called[source.name];
  everCalled.insert(source.name);
  if (auto it = moduleSymbols.find(source.name); it != moduleSymbols.end())
    code.address = it->second.value;
  code.link = allocate(RegClass::r32);
  if (!graph->isRecursive(source))
    return;
  code.frame = std::make_shared<Frame>();
  code.frame->name = source.name;
  code.frame->keep(code.link, RegClass::r32);
  kernel.extras.push_back(code.frame);
  const Signature signature(source.returns, source.params);
  code.returns = stage(signature, source.returns, /*isResult=*/true);
  code.params = stage(signature, source.params, /*isResult=*/false);
}

bool Decoder::decodeFunction(const PtxKernel &source) {
  FunctionCode &code = called[source.name];
  code.entry = uint32_t(kernel.code.size());
  openBody(source);
  function = &code;
  auto formals = [&](const std::vector<PtxVariable> &from, std::vector<FunctionCode::Formal> &to) {
    for (const PtxVariable &p : from) {
      if (p.isRegister) {
        Symbol s;
        s.type = p.type;
        s.regClass = regClass(bits(p.type));
        s.slot = allocate(s.regClass);
        scopes[0][p.name] = s;
      } else if (!declareVariable(p, scopes[0])) {
        return false;
      }
      to.push_back({scopes[0][p.name], p.bytes(), p.type, p.isRegister});
    }
    return true;
  };
  const bool isRecursive = code.frame != nullptr;
  bool ok = formals(source.returns, isRecursive ? code.ownReturns : code.returns) &&
            formals(source.params, isRecursive ? code.ownParams : code.params);
  auto enter = [&](const Instruction &in) {
    kernel.code.push_back(in);
    kernel.code.back().line = source.line;
  };
  if (std::any_of(source.body.begin(), source.body.end(), [](const PtxStatement &s) {
        return s.kind == PtxStatement::Kind::instruction && findStack(s.instruction.opcode);
      })) {
    code.stackAt = allocate(RegClass::r32);
    enter(copyOfStack(code.stackAt, stackInUse()));
  }
  for (size_t i = 0; ok && i < code.ownParams.size(); ++i)
    enter(copyOfFormal(code.ownParams[i], code.params[i]));
  ok = ok && decodeBody(source);
  function = nullptr;
  return ok;
}

bool Decoder::decodeFunctions(const std::vector<const PtxKernel *> &sources) {
  for (size_t first = 0, last; first < sources.size(); first = last) {
    const uint32_t component = graph->componentOf(*sources[first]);
    for (last = first; last < sources.size() && graph->componentOf(*sources[last]) == component;)
      ++last;
    if (called.count(sources[first]->name))
      continue;
    for (size_t i = first; i < last; ++i)
      declareFunction(*sources[i]);
    for (size_t i = first; i < last; ++i)
      if (!decodeFunction(*sources[i]))
        return false;
    // Each of them may call the others.
    std::string refusal;
    for (size_t i = first; i < last && refusal.empty(); ++i)
      refusal = called[sources[i]->name].refusal;
    for (size_t i = first; i < last; ++i)
      called[sources[i]->name].refusal = refusal;
  }
  return true;
}

void Decoder::resolveCalls() {
  for (auto [index, code] : functionFixups)
    kernel.code[index].target = code->entry;
  for (auto &[name, code] : called) {
    if (!code.indirect)
      continue;
    CallEntry &entry = *code.indirect;
    entry.refusal = code.refusal;
    entry.entry = code.entry;
  }
}

bool Decoder::checkFunctions(const PtxModule &module) {
  PtxKernel none;
  if (!decodeKernel(none))
    return false;
  for (const PtxKernel &k : module.kernels) {
    if (k.isEntry || everCalled.count(k.name))
      continue;
    std::vector<const PtxKernel *> reached = graph->reachedFrom(k);
    if (std::find(reached.begin(), reached.end(), &k) == reached.end())
      reached.push_back(&k); // it calls them, so that it comes last
    if (!decodeFunctions(reached))
      return false;
    refuseCaller(called[k.name].refusal);
  }
  return true;
}

} // namespace blockscale::emu
