//===- DecoderOperands.cpp - operands to lane vectors ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers, variables, numbers and addresses as handlers want them.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include "Addresses.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace blockscale::emu {

namespace {
constexpr uint32_t kMaxRegisterBytes = 64u << 20;
const PtxOperand kMissing;
} // namespace

bool Decoder::expectOperands(size_t n) {
  return count() == n || fail("ptx_operands: " + raw->opcode + " must have " + std::to_string(n) +
                              " operands, got " + std::to_string(count()));
}

const PtxOperand &Decoder::operand(size_t i) const {
  return i < raw->operands.size() ? raw->operands[i] : kMissing;
}

const Symbol *Decoder::lookup(const std::string &name) const {
  for (size_t i = scopes.size(); i-- > 0;)
    if (const Symbol *s = scopes[i].find(name))
      return s;
  auto it = moduleSymbols.find(name);
  return it == moduleSymbols.end() ? nullptr : &it->second;
}

Operand Decoder::allocate(RegClass cls, bool isKept) {
  auto keep = [&](Operand slot) {
    if (isKept && function && function->frame)
      function->frame->keep(slot, cls);
    return slot;
  };
  if (cls == RegClass::pred)
    return keep(kernel.predicates++);
  uint32_t size = 32 * laneBytes(cls);
  if (kernel.registerBytes + size > kMaxRegisterBytes) {
    fail("ptx_registers: kernel must use at most 64 MiB of lane registers");
    return 0;
  }
  Operand slot = kernel.registerBytes;
  kernel.registerBytes += size;
  return keep(slot);
}

Operand Decoder::slotOf(const Symbol &s) {
  if (s.slot == kNone)
    s.slot = allocate(s.regClass);
  return s.slot;
}

Operand Decoder::scratch(RegClass cls) { return allocate(cls); }

Operand Decoder::carryFlag() {
  if (carry == kNone)
    carry = allocate(RegClass::pred, /*isKept=*/false);
  return carry;
}

Operand Decoder::constant(uint64_t value, RegClass cls) {
  auto &pool = cls == RegClass::r64 ? constants64 : constants32;
  if (cls != RegClass::r64)
    value = uint32_t(value);
  if (auto it = pool.find(value); it != pool.end())
    return it->second;
  size_t size = laneBytes(cls), lines = kernel.constants.size();
  Operand slot = Operand(lines * sizeof(LaneLine)) | kConstantBit;
  kernel.constants.resize(lines + 32 * size / sizeof(LaneLine));
  for (size_t lane = 0; lane < 32; ++lane)
    std::memcpy(kernel.constants[lines].bytes + lane * size, &value, std::min(size, sizeof value));
  pool[value] = slot;
  return slot;
}

bool Decoder::isRegister(const PtxOperand &o) const {
  if (o.kind != PtxOperand::Kind::name)
    return false;
  const Symbol *s = lookup(o.name);
  return s && s->kind == Symbol::Kind::reg;
}

RegClass Decoder::registerClass(const PtxOperand &o) const {
  const Symbol *s = lookup(o.name);
  return s ? s->regClass : RegClass::r32;
}

Type Decoder::declaredType(const PtxOperand &o) const {
  return isRegister(o) ? lookup(o.name)->type : Type::none;
}

uint64_t numberAs(const PtxOperand &o, Type t) {
  if (o.kind == PtxOperand::Kind::integer) {
    if (t == Type::f32 || t == Type::tf32)
      return std::bit_cast<uint32_t>(o.negative ? float(int64_t(o.value)) : float(o.value));
    if (t == Type::f64)
      return std::bit_cast<uint64_t>(o.negative ? double(int64_t(o.value)) : double(o.value));
    return o.value;
  }
  if (o.realBits == 32)
    return t == Type::f64 ? std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(o.value))))
                          : o.value;
  if (t == Type::f32 || t == Type::tf32 || t == Type::b32)
    return std::bit_cast<uint32_t>(float(std::bit_cast<double>(o.value)));
  return o.value;
}

/// Empty when the number has a meaning as a `t`, else what must hold. An integer may
/// be written as a value or as the bits of one: -1 and 0xFFFFFFFF are the same .s32.
static std::string immediateProblem(const PtxOperand &o, Type t) {
  const std::string type = std::string(".").append(name(t));
  const unsigned width = bits(t);
  const bool isReal = t == Type::f32 || t == Type::tf32 || t == Type::f64;
  if (o.kind == PtxOperand::Kind::integer) {
    if (isReal || width >= 64 || width == 0)
      return {};
    bool fits =
        o.negative ? int64_t(o.value) >= -(int64_t(1) << (width - 1)) : o.value >> width == 0;
    return fits
               ? ""
               : "immediate must fit the " + std::to_string(width) + " bits of " + type + ", got " +
                     (o.negative ? std::to_string(int64_t(o.value)) : std::to_string(o.value));
  }
  if (!isReal && !(t == Type::b32 && o.realBits == 32) && t != Type::b64)
    return "immediate of " + type + " must be an integer, got a real";
  double value = std::bit_cast<double>(o.value);
  if (o.realBits == 64 && width == 32 && std::isfinite(value) && std::isinf(float(value)))
    return "immediate must fit " + type + ", got " + std::to_string(value);
  return {};
}

Operand Decoder::wideSource(const PtxOperand &o, Type t, RegClass &cls) {
  cls = regClass(bits(t));
  switch (o.kind) {
  case PtxOperand::Kind::integer:
  case PtxOperand::Kind::real:
    if (bits(t) == 128) {
      fail("ptx_operand: a 128-bit operand must be a register");
      return 0;
    }
    if (std::string problem = immediateProblem(o, t); !problem.empty()) {
      fail("ptx_immediate: " + problem);
      return 0;
    }
    return constant(bits(t) < 64 ? numberAs(o, t) & ((uint64_t(1) << bits(t)) - 1) : numberAs(o, t),
                    cls);
  case PtxOperand::Kind::name:
    break;
  default:
    fail("ptx_operand: " + raw->opcode + " must have a register or a number here");
    return 0;
  }
  const Symbol *s = lookup(o.name);
  if (!s) {
    if (!o.name.empty() && (o.name[0] == '%' || o.name == "WARP_SZ"))
      return specialRegister(o.name, t);
    fail("ptx_name: " + (o.name.empty() ? "operand is missing" : "unknown name " + o.name));
    return 0;
  }
  switch (s->kind) {
  case Symbol::Kind::reg:
    if (o.offset) {
      fail("ptx_operand: register " + o.name + " must stand in brackets to take an offset");
      return 0;
    }
    if (s->regClass == RegClass::pred) {
      fail("ptx_operand: " + o.name + " is a predicate, " + std::string(name(t)) + " expected");
      return 0;
    }
    cls = s->regClass;
    touch(slotOf(*s));
    return s->slot;
  case Symbol::Kind::shared:
    return preset(Preset::Kind::sharedAddress, cls == RegClass::r64, s->value + uint64_t(o.offset));
  case Symbol::Kind::function:
    if (o.offset) {
      fail("ptx_operand: address of function " + o.name + " must have no offset");
      return 0;
    }
    if (bits(t) < 32) {
      fail("ptx_operand: address of function " + o.name + " must have 32 or 64 bits, got ." +
           std::string(name(t)));
      return 0;
    }
    return constant(s->value, cls);
  case Symbol::Kind::entry:
    unexecuted("kernel " + o.name + " has no address, since no kernel launches another here");
    return 0;
  case Symbol::Kind::local:
    if (s->inFrame) {
      const Operand slot = allocate(cls, /*isKept=*/false);
      kernel.code.push_back(
          addressInFrame(slot, s->value + uint64_t(o.offset), cls == RegClass::r64));
      kernel.code.back().line = line;
      return slot;
    }
    [[fallthrough]];
  case Symbol::Kind::global:
  case Symbol::Kind::param:
    return constant(s->value + uint64_t(o.offset), cls);
  default:
    fail("ptx_operand: " + o.name + " is a label");
    return 0;
  }
}

Operand Decoder::source(const PtxOperand &o, Type t) {
  RegClass cls;
  Operand out = wideSource(o, t, cls);
  if (error.empty() && cls != regClass(bits(t)))
    fail("ptx_operand: register " + o.name + " must have the width of ." + std::string(name(t)));
  return out;
}

Operand Decoder::wideDest(const PtxOperand &o, Type t, RegClass &cls) {
  const Symbol *s = o.kind == PtxOperand::Kind::name ? lookup(o.name) : nullptr;
  cls = regClass(bits(t));
  if (!s || s->kind != Symbol::Kind::reg || s->regClass == RegClass::pred) {
    fail("ptx_operand: destination of " + raw->opcode + " must be a register of type ." +
         std::string(name(t)) + (o.name.empty() ? "" : ", got " + o.name));
    return 0;
  }
  cls = s->regClass;
  touch(slotOf(*s) | kTouchedWrite);
  return s->slot;
}

Operand Decoder::dest(const PtxOperand &o, Type t) {
  RegClass cls;
  Operand out = wideDest(o, t, cls);
  if (error.empty() && cls != regClass(bits(t)))
    fail("ptx_operand: register " + o.name + " must have the width of ." + std::string(name(t)));
  return out;
}

Operand Decoder::predicateNamed(const std::string &n) {
  const Symbol *s = lookup(n);
  if (!s || s->kind != Symbol::Kind::reg || s->regClass != RegClass::pred) {
    fail("ptx_operand: " +
         (n.empty() ? std::string("a predicate is missing") : n + " must be a predicate"));
    return 0;
  }
  return slotOf(*s);
}

Operand Decoder::readPredicate(const std::string &name) {
  const Operand p = predicateNamed(name);
  if (kernel.readPredicates.size() <= p)
    kernel.readPredicates.resize(p + 1);
  kernel.readPredicates[p] = true;
  return p;
}

Operand Decoder::predicate(const PtxOperand &o, bool isDest, bool *negated) {
  if (negated)
    *negated = o.negated;
  if (isDest && o.kind == PtxOperand::Kind::sink)
    return kNone;
  if (!isDest && o.kind == PtxOperand::Kind::integer)
    return o.value ? kPredTrue : kPredFalse;
  if (o.negated && !negated)
    fail("ptx_operand: predicate " + o.name + " must not be negated here");
  return isDest ? predicateNamed(o.name) : readPredicate(o.name);
}

AddressOperand Decoder::address(const PtxOperand &o) {
  AddressOperand a;
  const PtxOperand *base = &o;
  if (o.kind == PtxOperand::Kind::address) {
    if (o.items.size() != 1) {
      fail("ptx_address: one address expected");
      return a;
    }
    base = &o.items[0];
  }
  if (base->kind == PtxOperand::Kind::integer) {
    a.base = constant(0, RegClass::r64);
    a.offset = int64_t(base->value);
    return a;
  }
  PtxOperand plain = *base;
  plain.offset = 0;
  a.offset = base->offset;
  if (base->kind != PtxOperand::Kind::name) {
    fail("ptx_address: address must be a register, a variable or a number");
    return a;
  }
  if (const Symbol *s = lookup(plain.name); s && s->kind == Symbol::Kind::function) {
    fail("ptx_address: address must be of memory, got function " + plain.name);
    return a;
  }
  RegClass cls = RegClass::r64;
  if (isRegister(plain)) {
    cls = registerClass(plain);
    if (cls != RegClass::r32 && cls != RegClass::r64) {
      fail("ptx_address: base " + plain.name + " must be a 32- or 64-bit register");
      return a;
    }
  }
  a.wide = cls == RegClass::r64;
  a.base = source(plain, a.wide ? Type::b64 : Type::b32);
  return a;
}

std::optional<int64_t> Decoder::immediate(const PtxOperand &o) const {
  if (o.kind == PtxOperand::Kind::integer)
    return int64_t(o.value);
  return std::nullopt;
}

} // namespace blockscale::emu
