//===- CallIndirect.cpp - calls through a register ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.14.5. Lanes may go to different functions, which keep their arguments in
// different places: the caller puts them where all calls of that signature do, and lanes that
// go to one function copy them from there when they enter it, results in turn when they are
// back.
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "Echo.h"
#include "Lanes.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {
namespace {

std::string problemOf(const Warp &w, const CallTable &table, uint64_t address) {
  const auto &functions = w.launch->module.functions;
  auto it = functions.find(address);
  if (it == functions.end())
    return "call through a register must go to a function of the module, got " + hex(address);
  const auto &[name, signature] = it->second;
  if (signature != table.expected)
    return "called function must have the results and parameters of the call, in bytes " +
           table.expected + ", got " + name + " with " + signature;
  return table.isList ? "called function must be one of the call's targets, got " + name
                      : "called function must have its address taken in the module, got " + name;
}

/// The function at an address; null: the launch has failed.
const CallEntry *entryAt(Warp &w, const Instruction &in, uint64_t address, unsigned lane) {
  const auto &table = *static_cast<const CallTable *>(in.extra);
  auto it = std::lower_bound(table.entries.begin(), table.entries.end(), address,
                             [](const auto &e, uint64_t a) { return e->address < a; });
  if (it == table.entries.end() || (*it)->address != address) {
    w.fail(in, "call_target: " + echo(problemOf(w, table, address)) + " in thread " +
                   dec(w.id * 32 + lane));
    return nullptr;
  }
  if (!(*it)->refusal.empty()) {
    w.fail(in, "call_unexecuted: called function must be executed here, got " + echo((*it)->name) +
                   ", refused as " + (*it)->refusal);
    return nullptr;
  }
  return it->get();
}

template <typename T> void addressesOf(const Warp &w, Operand o, uint64_t (&out)[32]) {
  const T *from = w.reg<T>(o);
  std::copy(from, from + 32, out);
}

// op: 0 addresses; sub: 64 or 32, their bits; extra: the table
void addressesOf(const Warp &w, const Instruction &in, uint64_t (&out)[32]) {
  if (in.sub == 64)
    addressesOf<uint64_t>(w, in.op[0], out);
  else
    addressesOf<uint32_t>(w, in.op[0], out);
}

Outcome copyAll(Warp &w, const std::vector<Instruction> &copies, uint32_t lanes) {
  w.mask = lanes;
  for (const Instruction &copy : copies)
    if (Outcome o = copy.run(w, copy); o != Outcome::next)
      return o;
  return Outcome::next;
}

Outcome callIndirect(Warp &w, const Instruction &in) {
  if (static_cast<const CallTable *>(in.extra)->hasFrames && !registersAreWritten(w))
    return w.block(Wait::Kind::registers);
  uint64_t addresses[32];
  addressesOf(w, in, addresses);
  const uint32_t pc = w.fragment().pc;
  for (uint32_t rest = w.mask; rest;) {
    const unsigned lane = unsigned(__builtin_ctz(rest));
    const uint32_t same = sameLanes(addresses, rest);
    const CallEntry *to = entryAt(w, in, addresses[lane], lane);
    if (!to || copyAll(w, to->arguments, same) != Outcome::next ||
        (to->frame && !pushFrames(w, in, *to->frame)))
      return Outcome::error;
    enterFunction(w, to->link, to->entry, same, pc + 1);
    rest &= ~same;
    if (rest) // the others are still at this instruction
      w.fragment().pc = pc;
  }
  return Outcome::jumped;
}

/// Behind the call: results to where the caller looks for them.
Outcome takeResults(Warp &w, const Instruction &in) {
  uint64_t addresses[32];
  addressesOf(w, in, addresses);
  for (uint32_t rest = w.mask; rest;) {
    const unsigned lane = unsigned(__builtin_ctz(rest));
    const uint32_t same = sameLanes(addresses, rest);
    const CallEntry *from = entryAt(w, in, addresses[lane], lane);
    if (!from || copyAll(w, from->results, same) != Outcome::next)
      return Outcome::error;
    rest &= ~same;
  }
  return Outcome::next;
}

std::shared_ptr<CallEntry> entryOf(Decoder &d, const PtxKernel &source,
                                   const Signature &signature) {
  FunctionCode *code = d.calledFunction(source.name);
  if (!code)
    return nullptr;
  if (code->indirect)
    return code->indirect;
  auto entry = std::make_shared<CallEntry>();
  entry->name = source.name;
  entry->address = code->address;
  entry->link = code->link;
  entry->frame = code->frame;
  const auto params = d.stage(signature, source.params, /*isResult=*/false),
             returns = d.stage(signature, source.returns, /*isResult=*/true);
  // A function with a frame is given its arguments there already.
  for (size_t i = 0; !code->frame && i < params.size(); ++i)
    entry->arguments.push_back(copyOfFormal(code->params[i], params[i]));
  for (size_t i = 0; !code->frame && i < returns.size(); ++i)
    entry->results.push_back(copyOfFormal(returns[i], code->returns[i]));
  return code->indirect = entry;
}

std::shared_ptr<CallTable> tableOf(Decoder &d, const CallTargets &targets) {
  std::shared_ptr<CallTable> &table =
      targets.list ? d.listTables[targets.list] : d.prototypeTables[targets.signature];
  if (table)
    return table;
  table = std::make_shared<CallTable>();
  table->expected = targets.signature.text();
  table->isList = targets.list;
  for (const PtxKernel *f : targets.functions)
    if (auto entry = entryOf(d, *f, targets.signature))
      table->entries.push_back(std::move(entry));
  auto byAddress = [](const auto &a, const auto &b) { return a->address < b->address; };
  std::sort(table->entries.begin(), table->entries.end(), byAddress);
  table->entries.erase(std::unique(table->entries.begin(), table->entries.end()),
                       table->entries.end());
  table->hasFrames = std::any_of(table->entries.begin(), table->entries.end(),
                                 [](const auto &e) { return e->frame != nullptr; });
  d.kernel.extras.push_back(table);
  return table;
}

} // namespace

bool decodeIndirectCall(Decoder &d, const PtxOperand &callee, const std::string &table,
                        const std::vector<PtxOperand> &arguments,
                        const std::vector<PtxOperand> &results) {
  const unsigned width = d.declaredBits(callee);
  if (width != 32 && width != 64)
    return d.fail("ptx_call: what a call with " + table +
                  " goes to must be a register of 32 or 64 bits, got " + callee.name);
  CallTargets targets;
  if (!d.findCallTargets(table, targets))
    return false;
  if (arguments.size() != targets.params->size() || results.size() != targets.returns->size())
    return d.fail("ptx_call: call with " + table + " must have " +
                  dec(int64_t(targets.params->size())) + " parameters and " +
                  dec(int64_t(targets.returns->size())) + " results, got " +
                  dec(int64_t(arguments.size())) + " and " + dec(int64_t(results.size())));
  const auto params = d.stage(targets.signature, *targets.params, /*isResult=*/false),
             returns = d.stage(targets.signature, *targets.returns, /*isResult=*/true);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!copyArgument(d, arguments[i], params[i], /*toCallee=*/true))
      return false;
  Instruction in;
  in.run = callIndirect;
  in.op[0] = d.source(callee, width == 64 ? Type::b64 : Type::b32);
  in.sub = uint8_t(width);
  in.extra = tableOf(d, targets).get();
  d.emit(in);
  if (!results.empty()) {
    in.run = takeResults;
    d.emit(in);
  }
  for (size_t i = 0; i < results.size(); ++i)
    if (!copyArgument(d, results[i], returns[i], /*toCallee=*/false))
      return false;
  return d.error.empty();
}

} // namespace blockscale::emu
