//===- Call.cpp - device functions: call and ret --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 7.1 and 9.7.14.5 to 9.7.14.7. A function is decoded into every
// kernel that calls it, callees first, so that lanes inside a call run before the
// others and meet them behind it. Its registers and parameters exist once a lane;
// that is enough because recursion is refused. Parameters of .param live in local
// memory; a call copies them in, and results out.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {
namespace {

// op[0]: return addresses of the callee
Outcome call(Warp &w, const Instruction &in) {
  uint32_t *link = w.reg<uint32_t>(in.op[0]);
  for (uint32_t m = w.mask; m; m &= m - 1)
    link[__builtin_ctz(m)] = w.fragment().pc + 1;
  w.branch(w.mask, in.target);
  return Outcome::jumped;
}

Outcome giveBack(Warp &w, const Instruction &in) {
  const uint32_t *link = w.reg<uint32_t>(in.op[0]);
  for (uint32_t rest = w.mask; rest;) {
    uint32_t to = link[__builtin_ctz(rest)], same = 0;
    for (uint32_t m = rest; m; m &= m - 1)
      same |= uint32_t(link[__builtin_ctz(m)] == to) << __builtin_ctz(m);
    uint32_t pc = w.fragment().pc;
    w.branch(same, to);
    rest &= ~same;
    if (rest) // the others are still at this instruction
      w.fragment().pc = pc;
  }
  return Outcome::jumped;
}

/// Bytes of local memory to others: imm from, imm2 to, flags of them.
Outcome copyLocal(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    uint8_t *lane = w.local.data() + uint64_t(__builtin_ctz(m)) * w.localStride;
    std::memmove(lane + in.imm2, lane + in.imm, in.flags);
  }
  return Outcome::next;
}

/// A register (op[0]) of sub bytes to local memory at imm, or back.
template <bool toLocal> Outcome moveLocal(Warp &w, const Instruction &in) {
  unsigned stored = std::max(4u, unsigned(in.sub));
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint8_t *memory = w.local.data() + l * w.localStride + in.imm;
    uint8_t *reg = w.reg<uint8_t>(in.op[0]) + l * stored;
    if (toLocal) {
      std::memcpy(memory, reg, in.sub);
    } else {
      std::memset(reg, 0, stored);
      std::memcpy(reg, memory, in.sub);
    }
  }
  return Outcome::next;
}

struct Copy {
  template <typename T> static T run(T a) { return a; }
};

Outcome assertFailed(Warp &w, const Instruction &in) {
  return w.fail(in, "trap: kernel must not fail an assertion, cta " + dec(w.cta->index.x) + "," +
                        dec(w.cta->index.y) + "," + dec(w.cta->index.z) + " thread " +
                        dec(w.id * 32 + w.leader()) + " did");
}

/// Between what the caller names and what the callee declares.
bool copyArgument(Decoder &d, const PtxOperand &actual, const FunctionCode::Formal &formal,
                  bool toCallee) {
  Instruction in;
  uint64_t at = formal.symbol.value;
  const Symbol *caller = d.localParam(actual.name);
  if (formal.inRegister || !caller) {
    if (formal.type > Type::f64 || formal.type == Type::pred || formal.type == Type::b128)
      return d.fail("ptx_call: parameter in a register must be of 8 to 64 bits");
    Operand other = toCallee ? d.source(actual, formal.type) : d.sinkOr(actual, formal.type);
    if (other == kNone)
      return true;
    if (formal.inRegister) {
      in.run = bits(formal.type) == 64 ? unaryLanes<Copy, uint64_t> : unaryLanes<Copy, uint32_t>;
      in.op[0] = toCallee ? formal.symbol.slot : other;
      in.op[1] = toCallee ? other : formal.symbol.slot;
    } else {
      if (formal.bytes != bits(formal.type) / 8)
        return d.fail("ptx_call: parameter of " + dec(int64_t(formal.bytes)) +
                      " bytes must be passed from .param memory");
      in.run = toCallee ? moveLocal<true> : moveLocal<false>;
      in.op[0] = other;
      in.imm = int64_t(at);
      in.sub = uint8_t(formal.bytes);
    }
  } else {
    if (caller->bytes != formal.bytes)
      return d.fail("ptx_call: parameter " + actual.name + " must have the callee's " +
                    dec(int64_t(formal.bytes)) + " bytes, got " + dec(int64_t(caller->bytes)));
    in.run = copyLocal;
    in.imm = int64_t(toCallee ? caller->value : at);
    in.imm2 = int64_t(toCallee ? at : caller->value);
    in.flags = uint32_t(formal.bytes);
  }
  if (d.error.empty())
    d.emit(in);
  return d.error.empty();
}

bool decodeCall(Decoder &d) {
  d.take("uni");
  size_t next = 0;
  std::vector<PtxOperand> results, arguments;
  if (d.operand(0).kind == PtxOperand::Kind::list)
    results = d.operand(next++).items;
  const std::string callee = d.operand(next++).name;
  if (d.operand(next).kind == PtxOperand::Kind::list)
    arguments = d.operand(next++).items;
  if (callee.empty() || next > d.count())
    return d.fail("ptx_call: call must name a function");
  if (callee == "__assertfail") {
    Instruction in;
    in.run = assertFailed;
    d.emit(in);
    return true;
  }
  if (next != d.count() || callee[0] == '%')
    return d.unexecuted("the function is not named: no call through a register, since a function "
                        "has no address here");
  const FunctionCode *code = d.calledFunction(callee);
  if (!code && callee == "vprintf")
    return d.unexecuted("vprintf prints through a buffer of the driver, and no driver launches "
                        "here; store the values and read them after the launch");
  if (!code)
    return d.unexecuted("function " + callee + " is not defined in the module");
  if (arguments.size() != code->params.size() || results.size() != code->returns.size())
    return d.fail("ptx_call: " + callee + " must have " + dec(int64_t(code->params.size())) +
                  " parameters and " + dec(int64_t(code->returns.size())) + " results, got " +
                  dec(int64_t(arguments.size())) + " and " + dec(int64_t(results.size())));
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!copyArgument(d, arguments[i], code->params[i], /*toCallee=*/true))
      return false;
  Instruction in;
  in.run = call;
  in.op[0] = code->link;
  in.target = code->entry;
  d.emit(in);
  for (size_t i = 0; i < results.size(); ++i)
    if (!copyArgument(d, results[i], code->returns[i], /*toCallee=*/false))
      return false;
  return d.error.empty();
}

Outcome leave(Warp &w, const Instruction &) {
  w.exitLanes(w.mask);
  return Outcome::jumped;
}
bool decodeRet(Decoder &d) {
  d.take("uni");
  Instruction in;
  in.run = leave;
  if (d.function && d.function->stackAt != kNone && d.raw->opcode == "ret")
    d.emit(copyOfStack(d.stackInUse(), d.function->stackAt));
  if (d.function && d.raw->opcode == "ret") {
    in.run = giveBack;
    in.op[0] = d.function->link;
  }
  d.emit(in);
  return d.expectOperands(0);
}

/// The functions that a body calls, by name and line.
std::vector<std::pair<std::string, unsigned>> callees(const PtxKernel &source) {
  std::vector<std::pair<std::string, unsigned>> out;
  for (const PtxStatement &s : source.body) {
    if (s.kind != PtxStatement::Kind::instruction || s.instruction.opcode != "call")
      continue;
    for (const PtxOperand &o : s.instruction.operands)
      if (o.kind == PtxOperand::Kind::name) {
        out.emplace_back(o.name, s.line);
        break;
      }
  }
  return out;
}

} // namespace

const Symbol *Decoder::localParam(const std::string &name) const {
  const Symbol *s = name.empty() ? nullptr : lookup(name);
  return s && s->kind == Symbol::Kind::local && s->isParam ? s : nullptr;
}

const FunctionCode *Decoder::calledFunction(const std::string &name) const {
  auto it = called.find(name);
  return it == called.end() ? nullptr : &it->second;
}

bool Decoder::decodeFunction(const PtxKernel &source) {
  FunctionCode code;
  code.entry = uint32_t(kernel.code.size());
  code.link = allocate(RegClass::r32);
  openBody(source);
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
  if (!formals(source.returns, code.returns) || !formals(source.params, code.params))
    return false;
  if (std::any_of(source.body.begin(), source.body.end(), [](const PtxStatement &s) {
        return s.kind == PtxStatement::Kind::instruction && findStack(s.instruction.opcode);
      })) {
    code.stackAt = allocate(RegClass::r32);
    kernel.code.push_back(copyOfStack(code.stackAt, stackInUse()));
    kernel.code.back().line = source.line;
  }
  function = &(called[source.name] = code);
  everCalled.insert(source.name);
  bool ok = decodeBody(source);
  function = nullptr;
  return ok;
}

bool Decoder::decodeCallees(const PtxKernel &source) {
  // Depth first without recursion: bad input may nest calls as deeply as it likes.
  struct Open {
    const PtxKernel *source;
    std::vector<std::pair<std::string, unsigned>> calls;
    size_t next = 0;
  };
  std::vector<Open> path{{&source, callees(source)}};
  while (!path.empty()) {
    Open &top = path.back();
    if (top.next == top.calls.size()) {
      const PtxKernel *done = top.source;
      path.pop_back();
      if (done != &source && !decodeFunction(*done))
        return false;
      continue;
    }
    auto [name, at] = top.calls[top.next++];
    auto it = functions.find(name);
    if (it == functions.end() || called.count(name))
      continue;
    line = at;
    if (std::any_of(path.begin(), path.end(),
                    [&, found = it->second](const Open &o) { return o.source == found; })) {
      isUnexecuted = true;
      fail("ptx_unexecuted: call parses but is not executed: " + name + " calls itself");
      keepAsRefusal();
      continue;
    }
    path.push_back({it->second, callees(*it->second)});
  }
  return true;
}

bool Decoder::checkFunctions(const PtxModule &module) {
  PtxKernel none;
  if (!decodeKernel(none))
    return false;
  for (const PtxKernel &k : module.kernels)
    if (!k.isEntry && !everCalled.count(k.name) && !called.count(k.name) &&
        (!decodeCallees(k) || !decodeFunction(k)))
      return false;
  return true;
}

DecodeFn findCall(std::string_view opcode) {
  return opcode == "call" ? decodeCall : opcode == "ret" || opcode == "exit" ? decodeRet : nullptr;
}

} // namespace blockscale::emu
