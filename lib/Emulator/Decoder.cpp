//===- Decoder.cpp - statements to instructions ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements and modifiers; operands are in DecoderOperands.cpp.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include "Addresses.h"
#include "Echo.h"
#include "Forms.h"
#include "Machine.h"
#include "UnsetRegisters.h"

#include "blockscale/Facts/ArchInfo.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace blockscale::emu {

namespace {
constexpr uint64_t kMaxStaticShared = 1 << 24;
constexpr size_t kMaxTargets = 1 << 20; // of the branch tables that a kernel uses
} // namespace

bool Decoder::fail(const std::string &message) {
  if (error.empty())
    error = file + ":" + std::to_string(line) + ": " + echo(message);
  return false;
}

static Outcome doNothing(Warp &, const Instruction &) { return Outcome::next; }

std::string Decoder::spelling() const {
  std::string full = raw->opcode;
  for (const std::string &m : raw->modifiers)
    full += "." + m;
  return full;
}

bool Decoder::unexecuted(const std::string &why) {
  isUnexecuted |= error.empty();
  return fail("ptx_unexecuted: " + spelling() + " parses but is not executed: " + why);
}

bool Decoder::keepAsRefusal() {
  if (!std::exchange(isUnexecuted, false))
    return false;
  refuseCaller(error);
  error.clear();
  return true;
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
// Statements
//===----------------------------------------------------------------------===//

/// `any` where it is not sure.
static Effect effectOf(const PtxInstruction &in) {
  static const std::unordered_set<std::string_view> kComputes{
      "add", "sub", "mul", "mad", "and", "or",  "xor",  "not",
      "shl", "shr", "min", "max", "mov", "cvt", "setp", "selp"};
  if (in.opcode == "bra")
    return Effect::branches;
  if (in.opcode == "ret" || in.opcode == "exit")
    return Effect::exits;
  const bool isParameter =
      in.opcode == "ld" && !in.modifiers.empty() && in.modifiers[0].starts_with("param");
  return isParameter || kComputes.count(in.opcode) ? Effect::computes : Effect::any;
}

Instruction &Decoder::emit(Instruction in) {
  in.line = line;
  if (!raw->guard.empty()) {
    in.guard = readPredicate(raw->guard);
    in.guardNegated = raw->guardNegated;
  }
  in.touched = uint32_t(kernel.touched.size());
  in.touchedCount = uint32_t(touchedNow.size());
  kernel.touched.insert(kernel.touched.end(), touchedNow.begin(), touchedNow.end());
  kernel.effects.resize(kernel.code.size());
  kernel.effects.push_back(function ? Effect::any : effectOf(*raw));
  kernel.code.push_back(in);
  return kernel.code.back();
}

void Decoder::useLabel(const std::string &label, size_t instructionIndex) {
  fixups.push_back({instructionIndex, label, line, scopePath.back(), std::nullopt});
}

bool Decoder::useTargets(const std::string &name, Instruction &in) {
  const Symbol *symbol = lookup(name);
  if (!symbol || symbol->kind != Symbol::Kind::targets)
    return false;
  in.list = uint32_t(kernel.lists.size());
  const std::vector<std::string> &table = targetTables[symbol->value];
  if (kernel.lists.size() + table.size() > kMaxTargets)
    return fail("ptx_targets: branch tables of a kernel must have at most " +
                std::to_string(kMaxTargets) + " labels, counted at each brx.idx");
  for (const std::string &label : table) {
    fixups.push_back({kernel.code.size(), label, line, scopePath.back(), kernel.lists.size()});
    kernel.lists.push_back(kNone);
  }
  in.listCount = uint32_t(kernel.lists.size()) - in.list;
  return true;
}

bool Decoder::declareVariable(const PtxVariable &v, SymbolScope &into) {
  Symbol s;
  auto place = [&](uint64_t &end) {
    uint64_t at = (end + v.align - 1) / v.align * v.align;
    end = at + v.bytes();
    return at;
  };
  auto placeLocal = [&] {
    s.kind = Symbol::Kind::local;
    Frame *frame = function ? function->frame.get() : nullptr;
    s.inFrame = frame;
    s.value = frame ? place(frame->localBytes) : kLocalBase + place(kernel.localBytes);
    if (frame)
      frame->align = std::max(frame->align, v.align);
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
    placeLocal();
    break;
  case Space::param:
    placeLocal();
    s.isParam = true;
    break;
  default:
    return fail("ptx_variable: state space of " + v.name + " is not taken in a kernel");
  }
  s.bytes = v.bytes();
  if (kernel.staticShared > kMaxStaticShared ||
      kernel.localBytes > uint64_t(facts::kLocalBytesPerThread) ||
      (s.inFrame && function->frame->localBytes > uint64_t(facts::kLocalBytesPerThread)))
    return fail("ptx_variable: variable " + v.name + " is too large");
  into[v.name] = s;
  return true;
}

static Symbol registerOf(Type type) {
  Symbol s;
  s.kind = Symbol::Kind::reg;
  s.type = type;
  s.regClass = regClass(bits(type));
  return s;
}

void Decoder::declare(const PtxStatement &s) {
  if (s.count < 0)
    scopes.back()[s.name] = registerOf(s.type);
  else
    scopes.back().ranges[s.name] = {s.type, uint64_t(s.count)};
}

const Symbol *SymbolScope::find(const std::string &name) {
  if (auto it = names.find(name); it != names.end())
    return &it->second;
  if (ranges.empty())
    return nullptr;
  // The text ahead of the number may end with digits itself.
  for (size_t at = name.size(); at-- > 1 && name[at] >= '0' && name[at] <= '9';) {
    if (name[at] == '0' && at + 1 < name.size())
      continue;
    uint64_t number = 0;
    const char *end = name.data() + name.size();
    if (std::from_chars(name.data() + at, end, number).ec != std::errc())
      break;
    if (auto it = ranges.find(name.substr(0, at)); it != ranges.end() && number < it->second.count)
      return &(names[name] = registerOf(it->second.type));
  }
  return nullptr;
}

static DecodeFn findFamily(std::string_view opcode) {
  for (auto find :
       {findArithmetic,  findCarry,     findLogic,   findFloat,         findCompare,  findConvert,
        findMove,        findLoadStore, findAtomic,  findCall,          findStack,    findControl,
        findBranchTable, findBarrier,   findWarpOps, findMatrix,        findMma,      findWgmma,
        findMbarrier,    findCopy,      findTcgen05, findLaunchControl, findTensorMap})
    if (DecodeFn fn = find(opcode))
      return fn;
  return nullptr;
}

/// Tells whether tests have disabled the current instruction, and them that it is used.
bool Decoder::isDisabled(const Form *form) {
  bool disabled = disabledForm && spelling() == disabledForm;
  if (!form && usedForms)
    usedForms->push_back("rowless " + spelling());
  if (!form || (!disabledForm && !usedForms))
    return disabled;
  auto use = [&](std::string_view modifier) {
    std::string key = formKey(*form, modifier);
    disabled |= disabledForm && key == disabledForm;
    if (usedForms)
      usedForms->push_back(std::move(key));
  };
  for (const std::string &modifier : raw->modifiers)
    use(modifier);
  if (raw->modifiers.empty())
    use({});
  if (usedForms)
    usedForms->push_back((form->status == FormStatus::hint ? "hint " : "") + spelling());
  return disabled;
}

/// Executed by all lanes of a warp or by none. Matrix instructions say so themselves.
static bool isAligned(const PtxInstruction &in) {
  if (in.opcode == "bar")
    return in.modifiers.empty() || in.modifiers[0] != "warp";
  return std::find(in.modifiers.begin(), in.modifiers.end(), "aligned") != in.modifiers.end() &&
         in.opcode != "mma" && in.opcode != "wgmma" &&
         in.opcode.find("matrix") == std::string::npos;
}

// op: 0 the guard of an aligned instruction, which comes next
static Outcome guardedAlike(Warp &w, const Instruction &in) {
  const uint32_t lanes = w.preds[in.op[0]] & w.mask;
  if (lanes == 0 || lanes == w.mask)
    return Outcome::next;
  return w.fail(in, "warp_aligned: guard of an .aligned instruction must be the same in all lanes, "
                    "got lanes " +
                        hex(lanes) + " of " + hex(w.mask));
}

bool Decoder::decodeInstruction(const PtxInstruction &in) {
  return decodeForm(in) || keepAsRefusal();
}

bool Decoder::decodeForm(const PtxInstruction &in) {
  raw = &in;
  mods = in.modifiers;
  touchedNow.clear();
  std::string refusal;
  const Form *form = findForm(in, refusal);
  if (form && refusal.empty() && form->check)
    refusal = form->check(*this);
  if (form && refusal.empty())
    refusal = targetProblem(*form, in, arch, version);
  if (!refusal.empty())
    return fail(refusal);
  if (form && form->status == FormStatus::unexecuted)
    return unexecuted(std::string(form->why));
  DecodeFn fn = findFamily(in.opcode);
  if (!fn)
    return form ? unexecuted("no handler is written for it")
                : fail("ptx_instruction: unknown instruction " + spelling());
  if (!in.guard.empty() && isAligned(in)) {
    Instruction check;
    check.run = guardedAlike;
    check.converge = Converge::allLive;
    check.op[0] = readPredicate(in.guard);
    check.line = line;
    kernel.code.push_back(check);
  }
  if (!unset.empty())
    eachVitalOperand(in, [&](const std::string &name, const char *use) {
      const Symbol *s = unset.count(name) ? lookup(name) : nullptr;
      if (!s || s->kind != Symbol::Kind::reg)
        return;
      Instruction check = unsetRegisterCheck(kernel, name, use);
      check.line = line;
      if (!in.guard.empty() && name != in.guard) {
        check.guard = readPredicate(in.guard);
        check.guardNegated = in.guardNegated;
      }
      kernel.code.push_back(check);
    });
  size_t first = kernel.code.size();
  bool decoded = fn(*this);
  for (size_t i = first; i < kernel.code.size(); ++i)
    decoded &= kernel.code[i].run != nullptr;
  if (!error.empty())
    return false;
  if (!decoded)
    return form ? unexecuted("no handler is written for it")
                : fail("ptx_instruction: form is not executed: " + spelling());
  if (isDisabled(form))
    for (size_t i = first; i < kernel.code.size(); ++i) {
      kernel.code[i].run = doNothing;
      kernel.code[i].converge = Converge::no;
    }
  return mods.empty() ||
         fail("ptx_modifier: unknown modifier ." + mods.front() + " of " + spelling());
}

void Decoder::openBody(const PtxKernel &source) {
  line = source.line;
  scopes.assign(1, {});
  scopePath.assign(1, 0);
  scopeParent.assign(1, -1);
  labels.assign(1, {});
  fixups.clear();
  targetTables.clear();
  callStatements.clear();
  unset = raises ? unsetNames(source) : std::unordered_set<std::string>();
}

bool Decoder::decodeKernel(const PtxKernel &source) {
  kernel = Kernel();
  kernel.name = source.name;
  kernel.line = line = source.line;
  kernel.directives = source.directives;
  carry = kNone;
  constants32.clear();
  constants64.clear();
  presetSlots.clear();
  called.clear();
  functionFixups.clear();
  staging.clear();
  prototypeTables.clear();
  listTables.clear();
  // Module-level shared variables belong to every kernel that could name them.
  kernel.staticShared = moduleShared;
  kernel.dynamicAlign = moduleDynamicAlign;
  raises = raisesRegisters(source) ||
           std::any_of(functions.begin(), functions.end(),
                       [](const auto &f) { return raisesRegisters(*f.second); });
  if (graph && !source.name.empty() && !decodeFunctions(graph->reachedFrom(source)))
    return false;
  openBody(source);

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
  kernel.entry = uint32_t(kernel.code.size());
  if (!decodeBody(source))
    return false;
  resolveCalls();
  if (presetSlots.count(kStackKey))
    kernel.localBytes = (kernel.localBytes + 15) / 16 * 16 + kStackBytes;
  if (uint64_t most = uint64_t(facts::info(arch).sharedPerBlock); kernel.staticShared > most)
    return fail("ptx_shared: static shared memory of " + kernel.name + " on " +
                std::string(facts::name(arch)) + " must be at most " + std::to_string(most) +
                " bytes, got " + std::to_string(kernel.staticShared));
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

bool Decoder::decodeBody(const PtxKernel &source) {
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
      declare(s);
      break;
    case PtxStatement::Kind::variable:
      if (!declareVariable(s.variable, scopes.back()))
        return false;
      break;
    case PtxStatement::Kind::branchTargets:
      scopes.back()[s.name] = {Symbol::Kind::targets, RegClass::r32, kNone, targetTables.size()};
      targetTables.push_back(s.targets);
      break;
    case PtxStatement::Kind::callTargets:
    case PtxStatement::Kind::callPrototype: {
      Symbol &symbol = scopes.back()[s.name];
      if (symbol.kind == Symbol::Kind::callTargets || symbol.kind == Symbol::Kind::callPrototype)
        return fail("ptx_label: label " + s.name + " must be defined once in a scope");
      symbol.kind = s.kind == PtxStatement::Kind::callTargets ? Symbol::Kind::callTargets
                                                              : Symbol::Kind::callPrototype;
      symbol.value = callStatements.size();
      callStatements.push_back(&s);
      break;
    }
    }
  }
  PtxInstruction ret;
  ret.opcode = "ret";
  // The end of a body is no instruction of the text that could be disabled.
  const char *disabled = std::exchange(disabledForm, nullptr);
  std::vector<std::string> *used = std::exchange(usedForms, nullptr);
  bool closed = decodeInstruction(ret);
  disabledForm = disabled;
  usedForms = used;
  if (!closed)
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
  return error.empty();
}

} // namespace blockscale::emu
