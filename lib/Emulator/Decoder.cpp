//===- Decoder.cpp - statements to instructions ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include "Addresses.h"
#include "Echo.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace blockscale::emu {

namespace {
constexpr uint32_t kMaxRegisterBytes = 64u << 20;
const PtxOperand kMissing;
} // namespace

bool Decoder::fail(const std::string &message) {
  if (error.empty())
    error = file + ":" + std::to_string(line) + ": " + echo(message);
  return false;
}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

bool Decoder::take(std::string_view modifier) {
  auto it = std::find(mods.begin(), mods.end(), modifier);
  if (it == mods.end())
    return false;
  mods.erase(it);
  return true;
}

int Decoder::takeOneOf(std::initializer_list<std::string_view> modifiers) {
  int i = 0;
  for (std::string_view m : modifiers) {
    if (take(m))
      return i;
    ++i;
  }
  return -1;
}

std::optional<Type> Decoder::tryType() {
  if (mods.empty())
    return std::nullopt;
  auto t = parseType(mods.front());
  if (t)
    mods.erase(mods.begin());
  return t;
}

Type Decoder::takeType() {
  if (auto t = tryType())
    return *t;
  fail("ptx_type: " + raw->opcode + " must have a type, got " +
       (mods.empty() ? "none" : "." + mods.front()));
  return Type::none;
}

void Decoder::takeHints() {
  static constexpr std::string_view kPrefixes[] = {"L1::", "L2::"};
  for (size_t i = 0; i < mods.size();) {
    bool hint = std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](std::string_view p) {
      return mods[i].rfind(p, 0) == 0 && mods[i] != "L2::cache_hint";
    });
    if (hint)
      mods.erase(mods.begin() + long(i));
    else
      ++i;
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool Decoder::expectOperands(size_t n) {
  return count() == n || fail("ptx_operands: " + raw->opcode + " must have " + std::to_string(n) +
                              " operands, got " + std::to_string(count()));
}

const PtxOperand &Decoder::operand(size_t i) const {
  return i < raw->operands.size() ? raw->operands[i] : kMissing;
}

const Symbol *Decoder::lookup(const std::string &name) const {
  for (size_t i = scopes.size(); i-- > 0;)
    if (auto it = scopes[i].find(name); it != scopes[i].end())
      return &it->second;
  auto it = moduleSymbols.find(name);
  return it == moduleSymbols.end() ? nullptr : &it->second;
}

Operand Decoder::allocate(RegClass cls) {
  if (cls == RegClass::pred)
    return kernel.predicates++;
  uint32_t size = 32 * laneBytes(cls);
  if (kernel.registerBytes + size > kMaxRegisterBytes) {
    fail("ptx_registers: kernel must declare at most 64 MiB of lane registers");
    return 0;
  }
  Operand slot = kernel.registerBytes;
  kernel.registerBytes += size;
  return slot;
}

Operand Decoder::scratch(RegClass cls) { return allocate(cls); }

Operand Decoder::carryFlag() {
  if (carry == kNone)
    carry = allocate(RegClass::pred);
  return carry;
}

Operand Decoder::constant(uint64_t value, RegClass cls) {
  auto &pool = cls == RegClass::r64 ? constants64 : constants32;
  if (cls != RegClass::r64)
    value = uint32_t(value);
  if (auto it = pool.find(value); it != pool.end())
    return it->second;
  unsigned size = laneBytes(cls);
  Operand slot = Operand(kernel.constants.size()) | kConstantBit;
  for (int lane = 0; lane < 32; ++lane)
    for (unsigned b = 0; b < size; ++b)
      kernel.constants.push_back(b < 8 ? uint8_t(value >> (8 * b)) : 0);
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

static uint64_t realAs(const PtxOperand &o, Type t) {
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
  const std::string type = "." + std::string(name(t));
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
    return constant(bits(t) < 64 ? realAs(o, t) & ((uint64_t(1) << bits(t)) - 1) : realAs(o, t),
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
    touch(s->slot);
    return s->slot;
  case Symbol::Kind::shared:
    return preset(Preset::Kind::sharedAddress, cls == RegClass::r64, s->value + uint64_t(o.offset));
  case Symbol::Kind::global:
  case Symbol::Kind::local:
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
  touch(s->slot);
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
  return s->slot;
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
  return predicateNamed(o.name);
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

Operand Decoder::preset(Preset::Kind kind, bool wide, uint64_t value) {
  auto key = std::make_pair(int(kind) * 2 + wide, value);
  if (auto it = presetSlots.find(key); it != presetSlots.end())
    return it->second;
  Operand slot = allocate(wide ? RegClass::r64 : RegClass::r32);
  presetSlots[key] = slot;
  kernel.presets.push_back({kind, wide, slot, value});
  return slot;
}

Operand Decoder::specialRegister(const std::string &n, Type t) {
  using K = Preset::Kind;
  static const std::unordered_map<std::string_view, K> kNames{
      {"%tid.x", K::tidX},
      {"%tid.y", K::tidY},
      {"%tid.z", K::tidZ},
      {"%ntid.x", K::ntidX},
      {"%ntid.y", K::ntidY},
      {"%ntid.z", K::ntidZ},
      {"%ctaid.x", K::ctaidX},
      {"%ctaid.y", K::ctaidY},
      {"%ctaid.z", K::ctaidZ},
      {"%nctaid.x", K::nctaidX},
      {"%nctaid.y", K::nctaidY},
      {"%nctaid.z", K::nctaidZ},
      {"%laneid", K::laneid},
      {"%warpid", K::warpid},
      {"%nwarpid", K::nwarpid},
      {"%smid", K::smid},
      {"%nsmid", K::nsmid},
      {"%gridid", K::gridid},
      {"%clusterid.x", K::clusteridX},
      {"%clusterid.y", K::clusteridY},
      {"%clusterid.z", K::clusteridZ},
      {"%nclusterid.x", K::nclusteridX},
      {"%nclusterid.y", K::nclusteridY},
      {"%nclusterid.z", K::nclusteridZ},
      {"%cluster_ctaid.x", K::clusterCtaidX},
      {"%cluster_ctaid.y", K::clusterCtaidY},
      {"%cluster_ctaid.z", K::clusterCtaidZ},
      {"%cluster_nctaid.x", K::clusterNctaidX},
      {"%cluster_nctaid.y", K::clusterNctaidY},
      {"%cluster_nctaid.z", K::clusterNctaidZ},
      {"%cluster_ctarank", K::clusterCtarank},
      {"%cluster_nctarank", K::clusterNctarank},
      {"%dynamic_smem_size", K::dynamicSmem},
      {"%total_smem_size", K::totalSmem},
      {"%lanemask_eq", K::lanemaskEq},
      {"%lanemask_lt", K::lanemaskLt},
      {"%lanemask_le", K::lanemaskLe},
      {"%lanemask_gt", K::lanemaskGt},
      {"%lanemask_ge", K::lanemaskGe}};
  if (n == "WARP_SZ")
    return constant(32, regClass(bits(t)));
  auto it = kNames.find(n);
  if (it == kNames.end() || bits(t) == 128) {
    fail("ptx_name: unknown register " + n);
    return 0;
  }
  return preset(it->second, regClass(bits(t)) == RegClass::r64);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Instruction &Decoder::emit(Instruction in) {
  in.line = line;
  if (!raw->guard.empty()) {
    in.guard = predicateNamed(raw->guard);
    in.guardNegated = raw->guardNegated;
  }
  in.touched = uint32_t(kernel.touched.size());
  in.touchedCount = uint32_t(touchedNow.size());
  kernel.touched.insert(kernel.touched.end(), touchedNow.begin(), touchedNow.end());
  kernel.code.push_back(in);
  return kernel.code.back();
}

void Decoder::useLabel(const std::string &label, size_t instructionIndex) {
  fixups.push_back({instructionIndex, label, line, scopePath.back(), std::nullopt});
}

bool Decoder::useTargets(const std::string &table, Instruction &in) {
  const Symbol *symbol = lookup(table);
  if (!symbol || symbol->kind != Symbol::Kind::targets)
    return false;
  in.list = uint32_t(kernel.lists.size());
  for (const std::string &label : targetTables[symbol->value]) {
    fixups.push_back({kernel.code.size(), label, line, scopePath.back(), kernel.lists.size()});
    kernel.lists.push_back(kNone);
  }
  in.listCount = uint32_t(kernel.lists.size()) - in.list;
  return true;
}

bool Decoder::declareVariable(const PtxVariable &v, std::unordered_map<std::string, Symbol> &into) {
  Symbol s;
  auto place = [&](uint64_t &end) {
    uint64_t at = (end + v.align - 1) / v.align * v.align;
    end = at + v.bytes();
    return at;
  };
  switch (v.space) {
  case Space::shared:
    s.kind = Symbol::Kind::shared;
    if (v.isExtern) {
      // The dynamic part starts after all static variables: see finish below.
      s.value = kDynamicSharedMark;
      kernel.dynamicAlign = std::max<uint64_t>(kernel.dynamicAlign, v.align);
    } else {
      s.value = kSharedBase + place(kernel.staticShared);
    }
    break;
  case Space::local:
    s.kind = Symbol::Kind::local;
    s.value = kLocalBase + place(kernel.localBytes);
    break;
  default:
    return fail("ptx_variable: state space of " + v.name + " is not taken in a kernel");
  }
  if (kernel.staticShared > (1u << 24) || kernel.localBytes > (1u << 24))
    return fail("ptx_variable: variable " + v.name + " is too large");
  into[v.name] = s;
  return true;
}

bool Decoder::declare(const PtxStatement &s) {
  auto one = [&](const std::string &n) {
    Symbol sym;
    sym.kind = Symbol::Kind::reg;
    sym.regClass = regClass(bits(s.type));
    sym.slot = allocate(sym.regClass);
    scopes.back()[n] = sym;
  };
  if (s.count < 0)
    one(s.name);
  else
    for (int64_t i = 0; i < s.count && error.empty(); ++i)
      one(s.name + std::to_string(i));
  return error.empty();
}

static DecodeFn findFamily(std::string_view opcode) {
  for (auto find : {findArithmetic, findCarry, findLogic, findFloat, findCompare, findConvert,
                    findMove, findLoadStore, findAtomic, findControl, findBranchTable, findBarrier,
                    findWarpOps, findMatrix, findMbarrier, findCopy, findTcgen05})
    if (DecodeFn fn = find(opcode))
      return fn;
  return nullptr;
}

bool Decoder::decodeInstruction(const PtxInstruction &in) {
  raw = &in;
  mods = in.modifiers;
  touchedNow.clear();
  DecodeFn fn = findFamily(in.opcode);
  std::string full = in.opcode;
  for (const std::string &m : in.modifiers)
    full += "." + m;
  if (!fn)
    return fail("ptx_instruction: unknown instruction " + full);
  size_t first = kernel.code.size();
  if (!fn(*this))
    return error.empty() ? fail("ptx_instruction: form is not executed: " + full) : false;
  if (error.empty() && !mods.empty())
    return fail("ptx_modifier: unknown modifier ." + mods.front() + " of " + full);
  for (size_t i = first; i < kernel.code.size(); ++i)
    if (!kernel.code[i].run)
      return fail("ptx_instruction: form is not executed: " + full);
  return error.empty();
}

bool Decoder::decodeKernel(const PtxKernel &source) {
  kernel = Kernel();
  kernel.name = source.name;
  kernel.line = line = source.line;
  kernel.directives = source.directives;
  scopes.assign(1, {});
  scopePath.assign(1, 0);
  scopeParent.assign(1, -1);
  labels.assign(1, {});
  fixups.clear();
  targetTables.clear();
  carry = kNone;
  constants32.clear();
  constants64.clear();
  presetSlots.clear();

  for (const PtxVariable &p : source.params) {
    Param param{p.name, 0, p.bytes(), p.align};
    param.offset = (kernel.paramBytes + p.align - 1) / p.align * p.align;
    kernel.paramBytes = param.offset + param.bytes;
    Symbol s;
    s.kind = Symbol::Kind::param;
    s.value = kParamBase + param.offset;
    scopes[0][p.name] = s;
    kernel.params.push_back(param);
  }
  if (kernel.paramBytes > 32764)
    return fail("ptx_param: parameters must take at most 32764 bytes, got " +
                std::to_string(kernel.paramBytes));
  // Module-level shared variables belong to every kernel that could name them.
  kernel.staticShared = moduleShared;
  kernel.dynamicAlign = moduleDynamicAlign;

  for (const PtxStatement &s : source.body) {
    line = s.line;
    switch (s.kind) {
    case PtxStatement::Kind::instruction:
      if (!decodeInstruction(s.instruction))
        return false;
      break;
    case PtxStatement::Kind::label: {
      auto [it, fresh] =
          labels[size_t(scopePath.back())].emplace(s.name, uint32_t(kernel.code.size()));
      if (!fresh)
        return fail("ptx_label: label " + s.name + " must be defined once in a scope");
      break;
    }
    case PtxStatement::Kind::scopeBegin:
      scopes.emplace_back();
      scopeParent.push_back(scopePath.back());
      scopePath.push_back(int(labels.size()));
      labels.emplace_back();
      break;
    case PtxStatement::Kind::scopeEnd:
      scopes.pop_back();
      scopePath.pop_back();
      break;
    case PtxStatement::Kind::registers:
      if (!declare(s))
        return false;
      break;
    case PtxStatement::Kind::variable:
      if (!declareVariable(s.variable, scopes.back()))
        return false;
      break;
    case PtxStatement::Kind::branchTargets:
      scopes.back()[s.name] = {Symbol::Kind::targets, RegClass::r32, kNone, targetTables.size()};
      targetTables.push_back(s.targets);
      break;
    }
  }
  PtxInstruction ret;
  ret.opcode = "ret";
  if (!decodeInstruction(ret))
    return false;
  raw = nullptr;

  for (const Fixup &f : fixups) {
    int scope = f.scope;
    for (; scope >= 0; scope = scopeParent[size_t(scope)])
      if (auto it = labels[size_t(scope)].find(f.label); it != labels[size_t(scope)].end()) {
        (f.listEntry ? kernel.lists[*f.listEntry] : kernel.code[f.instruction].target) = it->second;
        break;
      }
    if (scope < 0) {
      line = f.line;
      return fail("ptx_label: unknown label " + f.label);
    }
  }
  // The dynamic shared memory follows the static one.
  uint64_t dynamicStart = kSharedBase + kernel.staticShared;
  dynamicStart =
      (dynamicStart + kernel.dynamicAlign - 1) / kernel.dynamicAlign * kernel.dynamicAlign;
  for (Preset &p : kernel.presets)
    if (p.kind == Preset::Kind::sharedAddress && p.value >= kDynamicSharedMark / 2)
      p.value = p.value - kDynamicSharedMark + dynamicStart;
  kernel.staticShared = dynamicStart - kSharedBase;
  return error.empty();
}

} // namespace blockscale::emu
