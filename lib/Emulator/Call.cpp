//===- Call.cpp - device functions: call and ret --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 7.1 and 9.7.14.5 to 9.7.14.7. A function is decoded into every
// kernel that calls it, callees first, so that lanes inside a call run before the
// others and meet them behind it. Its registers and parameters exist once a lane;
// where it can come back to itself each call has a frame (CallStack.h). Parameters
// of .param live in local memory; a call copies them in, and results out.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include "Lanes.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {
namespace {

// op[0]: return addresses of the callee
Outcome call(Warp &w, const Instruction &in) {
  enterFunction(w, in.op[0], in.target, w.mask, w.fragment().pc + 1);
  return Outcome::jumped;
}

// op[0]: return addresses of the callee; extra: its frame
Outcome callRecursive(Warp &w, const Instruction &in) {
  if (!registersAreWritten(w))
    return w.block(Wait::Kind::registers);
  if (!pushFrames(w, in, *static_cast<const Frame *>(in.extra)))
    return Outcome::error;
  return call(w, in);
}

Outcome goBack(Warp &w, const uint32_t *link) {
  for (uint32_t rest = w.mask; rest;) {
    uint32_t to = link[__builtin_ctz(rest)], same = sameLanes(link, rest);
    uint32_t pc = w.fragment().pc;
    w.branch(same, to);
    rest &= ~same;
    if (rest) // the others are still at this instruction
      w.fragment().pc = pc;
  }
  return Outcome::jumped;
}

// op[0]: return addresses
Outcome giveBack(Warp &w, const Instruction &in) { return goBack(w, w.reg<uint32_t>(in.op[0])); }

// op[0]: return addresses; extra: the frame
Outcome giveBackRecursive(Warp &w, const Instruction &in) {
  if (!registersAreWritten(w))
    return w.block(Wait::Kind::registers);
  uint32_t link[32];
  std::memcpy(link, w.reg<uint32_t>(in.op[0]), sizeof link);
  return popFrames(w, in, *static_cast<const Frame *>(in.extra)) ? goBack(w, link) : Outcome::error;
}

// flags of copies
enum : uint8_t { kFromFrame = 1, kToFrame = 2 };

/// Local memory at an address, or at an offset in the frame; null where no frame is open.
inline uint8_t *placeOf(Warp &w, unsigned lane, int64_t at, unsigned bytes, bool inFrame) {
  if (!inFrame)
    return w.local.data() + uint64_t(lane) * w.localStride + at;
  if (!w.calls)
    return nullptr;
  CallStack::Lane &stack = w.calls->lanes[lane];
  const uint64_t begin = stack.frame + uint64_t(at);
  return begin + bytes <= stack.memory.size() ? stack.memory.data() + begin : nullptr;
}

Outcome noFrame(Warp &w, const Instruction &in) {
  return w.fail(in, "call_depth: function must have been called before it returns, got no call");
}

/// Bytes of local memory to others: imm from, imm2 to, flags of them; sub: which are in the frame.
template <bool frames> Outcome copyLocal(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const unsigned l = unsigned(__builtin_ctz(m));
    const uint8_t *from = placeOf(w, l, in.imm, in.flags, frames && in.sub & kFromFrame);
    uint8_t *to = placeOf(w, l, in.imm2, in.flags, frames && in.sub & kToFrame);
    if (frames && (!from || !to))
      return noFrame(w, in);
    std::memmove(to, from, in.flags);
  }
  return Outcome::next;
}

/// A register (op[0]) of sub bytes to local memory at imm, or back.
template <bool toLocal, bool frames> Outcome moveLocal(Warp &w, const Instruction &in) {
  unsigned stored = std::max(4u, unsigned(in.sub));
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint8_t *memory = placeOf(w, l, in.imm, in.sub, frames);
    if (frames && !memory)
      return noFrame(w, in);
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

/// Where the arguments of __assertfail lie: the text, the file, the line, the function.
struct AssertArguments : Extra {
  struct Place {
    int64_t at = 0;
    bool isKnown = false, inFrame = false;
  };
  Place text, file, line;
};

/// The text that starts at a global address, as far as it can be printed.
std::string textAt(Warp &w, uint64_t address) {
  constexpr unsigned kMost = 240;
  std::string out;
  for (GlobalRange r = w.launch->memory.find(address); r.covers(address, 1); ++address) {
    const char c = char(*r.at(address));
    if (c < ' ' || c > '~')
      break;
    if (out.size() == kMost)
      return out + "...";
    out += c;
  }
  return out;
}

Outcome assertFailed(Warp &w, const Instruction &in) {
  const auto &arguments = *static_cast<const AssertArguments *>(in.extra);
  auto value = [&](const AssertArguments::Place &p, unsigned bytes) {
    uint64_t v = 0;
    const uint8_t *from = p.isKnown ? placeOf(w, w.leader(), p.at, bytes, p.inFrame) : nullptr;
    if (from)
      std::memcpy(&v, from, bytes);
    return v;
  };
  std::string text = textAt(w, value(arguments.text, 8)),
              file = textAt(w, value(arguments.file, 8));
  if (!file.empty())
    file.append(":").append(std::to_string(value(arguments.line, 4)));
  std::string what = "trap: kernel must not fail an assertion, cta " + dec(w.cta->index.x) + "," +
                     dec(w.cta->index.y) + "," + dec(w.cta->index.z) + " thread " +
                     dec(w.id * 32 + w.leader()) + " did";
  what += text.empty() && file.empty() ? "" : ": ";
  return w.fail(in, what + file + (text.empty() || file.empty() ? "" : ": ") + text);
}

bool decodeAssert(Decoder &d, const std::vector<PtxOperand> &arguments) {
  auto where = std::make_shared<AssertArguments>();
  AssertArguments::Place *places[] = {&where->text, &where->file, &where->line};
  for (size_t i = 0; i < std::size(places) && i < arguments.size(); ++i)
    if (const Symbol *s = d.localParam(arguments[i].name); s && s->bytes >= (i == 2 ? 4u : 8u))
      *places[i] = {int64_t(s->value), true, s->inFrame};
  Instruction in;
  in.run = assertFailed;
  in.extra = where.get();
  d.kernel.extras.push_back(where);
  d.emit(in);
  return true;
}

bool decodeCall(Decoder &d) {
  d.take("uni");
  size_t next = 0;
  std::vector<PtxOperand> results, arguments;
  if (d.operand(0).kind == PtxOperand::Kind::list)
    results = d.operand(next++).items;
  const PtxOperand &target = d.operand(next++);
  const std::string &callee = target.name;
  if (d.operand(next).kind == PtxOperand::Kind::list)
    arguments = d.operand(next++).items;
  if (callee.empty() || next > d.count())
    return d.fail("ptx_call: call must name a function");
  if (callee == "__assertfail")
    return decodeAssert(d, arguments);
  if (const std::string &table = tableOfCall(*d.raw); !table.empty() && next + 1 == d.count())
    return decodeIndirectCall(d, target, table, arguments, results);
  if (next != d.count())
    return d.fail("ptx_call: call must end with its arguments, or with the prototype or targets "
                  "of a call through a register");
  FunctionCode *code = d.calledFunction(callee);
  if (!code && d.isRegister(target))
    return d.fail("ptx_call: call through register " + callee +
                  " must name a .callprototype, .calltargets or a table behind its arguments");
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
  in.run = code->frame ? callRecursive : call;
  in.extra = code->frame.get();
  in.op[0] = code->link;
  d.emit(in);
  d.useFunction(*code, d.kernel.code.size() - 1);
  for (size_t i = 0; i < results.size(); ++i)
    if (!copyArgument(d, results[i], code->returns[i], /*toCallee=*/false))
      return false;
  if (!code->refusal.empty())
    d.refuseCaller(code->refusal);
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
  if (d.function && d.raw->opcode == "ret") {
    if (d.function->stackAt != kNone)
      d.emit(copyOfStack(d.stackInUse(), d.function->stackAt));
    for (size_t i = 0; i < d.function->ownReturns.size(); ++i)
      d.emit(copyOfFormal(d.function->returns[i], d.function->ownReturns[i]));
    in.run = d.function->frame ? giveBackRecursive : giveBack;
    in.op[0] = d.function->link;
    in.extra = d.function->frame.get();
  }
  d.emit(in);
  return d.expectOperands(0);
}

} // namespace

void enterFunction(Warp &w, Operand link, uint32_t entry, uint32_t lanes, uint32_t back) {
  uint32_t *links = w.reg<uint32_t>(link);
  for (uint32_t m = lanes; m; m &= m - 1)
    links[__builtin_ctz(m)] = back;
  w.branch(lanes, entry);
}

Instruction copyOfFormal(const FunctionCode::Formal &to, const FunctionCode::Formal &from) {
  Instruction in;
  if (!to.inRegister && !from.inRegister) {
    in.run = from.symbol.inFrame || to.symbol.inFrame ? copyLocal<true> : copyLocal<false>;
    in.imm = int64_t(from.symbol.value);
    in.imm2 = int64_t(to.symbol.value);
    in.flags = uint32_t(to.bytes);
    in.sub = uint8_t((from.symbol.inFrame ? kFromFrame : 0) | (to.symbol.inFrame ? kToFrame : 0));
  } else if (to.inRegister && from.inRegister) {
    in.run = bits(to.type) == 64 ? unaryLanes<Copy, uint64_t> : unaryLanes<Copy, uint32_t>;
    in.op[0] = to.symbol.slot;
    in.op[1] = from.symbol.slot;
  } else {
    const FunctionCode::Formal &reg = to.inRegister ? to : from,
                               &memory = to.inRegister ? from : to;
    const bool frames = memory.symbol.inFrame;
    in.run = to.inRegister ? frames ? moveLocal<false, true> : moveLocal<false, false>
             : frames      ? moveLocal<true, true>
                           : moveLocal<true, false>;
    in.op[0] = reg.symbol.slot;
    in.imm = int64_t(memory.symbol.value);
    in.sub = uint8_t(reg.bytes);
  }
  return in;
}

bool copyArgument(Decoder &d, const PtxOperand &actual, const FunctionCode::Formal &formal,
                  bool toCallee) {
  FunctionCode::Formal mine;
  const Symbol *caller = d.localParam(actual.name);
  if (formal.inRegister || !caller)
    if (formal.type > Type::f64 || formal.type == Type::pred || formal.type == Type::b128)
      return d.fail("ptx_call: parameter in a register must be of 8 to 64 bits");
  if (caller) {
    if (caller->bytes != formal.bytes)
      return d.fail("ptx_call: parameter " + actual.name + " must have the callee's " +
                    dec(int64_t(formal.bytes)) + " bytes, got " + dec(int64_t(caller->bytes)));
    mine.symbol = *caller;
  } else {
    mine.inRegister = true;
    mine.symbol.slot = toCallee ? d.source(actual, formal.type) : d.sinkOr(actual, formal.type);
    if (mine.symbol.slot == kNone)
      return true;
    if (!formal.inRegister && formal.bytes != bits(formal.type) / 8)
      return d.fail("ptx_call: parameter of " + dec(int64_t(formal.bytes)) +
                    " bytes must be passed from .param memory");
  }
  mine.bytes = formal.bytes;
  mine.type = formal.type;
  if (d.error.empty())
    d.emit(toCallee ? copyOfFormal(formal, mine) : copyOfFormal(mine, formal));
  return d.error.empty();
}

DecodeFn findCall(std::string_view opcode) {
  return opcode == "call" ? decodeCall : opcode == "ret" || opcode == "exit" ? decodeRet : nullptr;
}

} // namespace blockscale::emu
