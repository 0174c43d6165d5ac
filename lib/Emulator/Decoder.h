//===- Decoder.h - statements to instructions -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decoder resolves names, allocates lane vectors and hands each instruction
// to the family that knows its opcode. A family consumes modifiers one by one;
// what is left over at the end is refused by name.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_DECODER_H
#define BLOCKSCALE_LIB_EMULATOR_DECODER_H

#include "CallGraph.h"
#include "CallStack.h"
#include "Program.h"
#include "Ptx.h"

#include "blockscale/Facts/PtxModifiers.h"

#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace blockscale::emu {

class GlobalMemory;
struct CallEntry;
struct CallTable;
struct Form;

/// What a name stands for.
struct Symbol {
  enum class Kind : uint8_t {
    reg,
    shared,
    global,
    local,
    param,
    label,
    targets,
    function,
    entry,
    callTargets,
    callPrototype
  };
  Kind kind = Kind::reg;
  RegClass regClass = RegClass::r32;
  mutable Operand slot = kNone; // of a register, once an instruction names it
  uint64_t value = 0;           // address or offset
  uint64_t bytes = 0;           // of a variable
  bool isParam = false;         // local: a parameter of a function or call
  bool inFrame = false;         // local: the value counts from the frame of the call
  Type type = Type::none;       // of a register, as declared
};

/// The names of a scope. `.reg .b32 %r<n>` is kept as it stands: a register costs nothing
/// before an instruction names it.
struct SymbolScope {
  struct Range {
    Type type = Type::none;
    uint64_t count = 0;
  };
  std::unordered_map<std::string, Symbol> names;
  std::unordered_map<std::string, Range> ranges; // by the text ahead of the number
  Symbol &operator[](const std::string &name) { return names[name]; }
  const Symbol *find(const std::string &name);
};

/// A device function: its code in the current kernel.
struct FunctionCode {
  struct Formal {
    Symbol symbol;
    uint64_t bytes = 0;
    Type type = Type::b32;
    bool inRegister = false;
  };
  uint32_t entry = 0;
  uint64_t address = 0;
  std::string refusal;                 // of its calls: what it holds or calls is not executed
  Operand link = kNone;                // return address of each lane
  Operand stackAt = kNone;             // stack in use when it was called, if it allocates some
  std::vector<Formal> params, returns; // where callers put and find them
  std::vector<Formal> ownParams, ownReturns; // where its body does, if that is in a frame
  std::shared_ptr<Frame> frame;              // of a function that can come back to itself
  std::shared_ptr<CallEntry> indirect;       // of calls through registers, if there are any
};

/// What a call through a register may reach.
struct CallTargets {
  const std::vector<PtxVariable> *returns = nullptr, *params = nullptr; // of each of them
  Signature signature;
  std::vector<const PtxKernel *> functions;
  const void *list = nullptr; // .calltargets or a table; null: a prototype
};

/// An address operand: base vector (or none) plus offset.
struct AddressOperand {
  Operand base = kNone;
  bool wide = true; // 64-bit base
  int64_t offset = 0;
};

class Decoder {
public:
  Decoder(facts::Arch arch, std::string file) : arch(arch), file(std::move(file)) {}

  facts::Arch arch;
  facts::PtxRelease version;
  std::string file;
  const char *disabledForm = nullptr;            // Options::disabledForm
  std::vector<std::string> *usedForms = nullptr; // Options::usedForms
  Kernel kernel;
  const PtxInstruction *raw = nullptr;
  std::string error;

  std::unordered_map<std::string, Symbol> moduleSymbols;
  uint64_t moduleShared = 0, moduleDynamicAlign = 16;

  std::unordered_map<std::string, const PtxKernel *> functions; // of the module, by name
  std::unordered_map<std::string, const PtxVariable *> tables;  // of addresses, by name
  const CallGraph *graph = nullptr;                             // of the module
  FunctionCode *function = nullptr;                             // whose body is decoded

  bool decodeKernel(const PtxKernel &source);
  /// Decodes the functions that no kernel so far has called, for their refusals.
  bool checkFunctions(const PtxModule &module);

  // Errors: the first one stays.
  bool fail(const std::string &message);
  /// Refuses the current instruction, which is PTX, because nothing here executes it; what
  /// follows is decoded all the same, and the launch of the kernel refused.
  bool unexecuted(const std::string &why);
  /// The current instruction as written, without operands.
  std::string spelling() const;

  // Modifiers of the current instruction.
  bool take(std::string_view modifier);
  /// Takes the first of the given modifiers that is present; -1 if none.
  int takeOneOf(std::initializer_list<std::string_view> modifiers);
  /// Takes the next modifier, which must be a type.
  Type takeType();
  std::optional<Type> tryType();
  std::string peekModifier(size_t i = 0) const { return i < mods.size() ? mods[i] : std::string(); }
  /// Takes and ignores hints: caches, evictions, prefetch sizes.
  void takeHints();

  // Operands of the current instruction.
  size_t count() const { return raw->operands.size(); }
  bool expectOperands(size_t n);
  const PtxOperand &operand(size_t i) const;
  Operand source(const PtxOperand &o, Type t);
  Operand source(size_t i, Type t) { return source(operand(i), t); }
  /// A source whose register may be wider than the type (st, cvt); reports its class.
  Operand wideSource(const PtxOperand &o, Type t, RegClass &cls);
  Operand dest(const PtxOperand &o, Type t);
  Operand dest(size_t i, Type t) { return dest(operand(i), t); }
  Operand wideDest(const PtxOperand &o, Type t, RegClass &cls);
  Operand predicate(const PtxOperand &o, bool isDest, bool *negated = nullptr);
  Operand predicateNamed(const std::string &name);
  /// Of a source or guard.
  Operand readPredicate(const std::string &name);
  Operand sinkOr(const PtxOperand &o, Type t) {
    return o.kind == PtxOperand::Kind::sink ? kNone : dest(o, t);
  }
  AddressOperand address(const PtxOperand &o);
  std::optional<int64_t> immediate(const PtxOperand &o) const;
  Operand constant(uint64_t bits, RegClass cls);
  Operand scratch(RegClass cls);
  /// The predicate that holds the carry flag of extended-precision arithmetic.
  Operand carryFlag();
  /// Lane vectors of %is_explicit_cluster, and of the bytes of stack in use (Stack.cpp).
  Operand explicitCluster() { return preset(Preset::Kind::isExplicitCluster, /*wide=*/false); }
  Operand stackInUse();
  bool isRegister(const PtxOperand &o) const;
  RegClass registerClass(const PtxOperand &o) const;
  /// The type that a register is declared with; none for anything else.
  Type declaredType(const PtxOperand &o) const;
  unsigned declaredBits(const PtxOperand &o) const { return bits(declaredType(o)); }
  /// The .param variable of a function or call that a name stands for, or null.
  const Symbol *localParam(const std::string &name) const;
  /// Null when it is not defined in the module.
  FunctionCode *calledFunction(const std::string &name);
  /// What `table` of a call through a register names; false: it was refused.
  bool findCallTargets(const std::string &table, CallTargets &found);
  /// Where arguments of such calls lie between the caller and the function: the same for all
  /// with a signature.
  std::vector<FunctionCode::Formal> stage(const Signature &signature,
                                          const std::vector<PtxVariable> &formals, bool isResult);
  /// Tables of such calls in this kernel.
  std::map<Signature, std::shared_ptr<CallTable>> prototypeTables;
  std::unordered_map<const void *, std::shared_ptr<CallTable>> listTables;
  /// The current instruction goes to a function, whose code may be still to come.
  void useFunction(const FunctionCode &code, size_t instructionIndex) {
    functionFixups.emplace_back(instructionIndex, &code);
  }
  /// A function that is refused refuses its caller.
  void refuseCaller(const std::string &refusal);

  /// Appends the instruction with line, guard and touched registers.
  Instruction &emit(Instruction in);
  /// Calls back with the code index once `label` is known.
  void useLabel(const std::string &label, size_t instructionIndex);
  /// Appends the code indices of a .branchtargets table to Kernel::lists once they are known;
  /// false when there is no such table.
  bool useTargets(const std::string &table, Instruction &in);

private:
  std::vector<std::string> mods;
  unsigned line = 0;
  bool isUnexecuted = false;               // the error that is set
  mutable std::vector<SymbolScope> scopes; // looking a name up may enter one of a range
  std::unordered_map<uint64_t, Operand> constants32, constants64;
  std::map<std::pair<int, uint64_t>, Operand> presetSlots;
  struct Fixup {
    size_t instruction;
    std::string label;
    unsigned line;
    int scope;
    std::optional<size_t> listEntry; // the index goes to Kernel::lists, not to the instruction
  };
  std::vector<Fixup> fixups;
  std::vector<std::vector<std::string>> targetTables;
  std::unordered_map<std::string, FunctionCode> called; // decoded into the kernel
  std::vector<std::pair<size_t, const FunctionCode *>> functionFixups;
  std::map<Signature, std::pair<std::vector<uint64_t>, std::vector<uint64_t>>> staging;
  std::vector<const PtxStatement *> callStatements; // .calltargets and .callprototype of the body
  std::unordered_set<std::string> everCalled;       // and into any
  Operand carry = kNone;
  std::vector<int> scopePath;                                    // ids of the open scopes
  std::vector<int> scopeParent;                                  // by id
  std::vector<std::unordered_map<std::string, uint32_t>> labels; // by scope id
  std::vector<Operand> touchedNow;
  bool raises = false;                   // some code of the kernel executes setmaxnreg.inc
  std::unordered_set<std::string> unset; // names of the current body: UnsetRegisters.h

  const Symbol *lookup(const std::string &name) const;
  /// The place of a register.
  Operand slotOf(const Symbol &s);
  static constexpr std::pair<int, uint64_t> kStackKey{int(Preset::Kind::zero) * 2, 1};
  Operand preset(Preset::Kind kind, bool wide, uint64_t value = 0);
  Operand specialRegister(const std::string &name, Type t);
  /// `isKept`: across calls of the function that it belongs to.
  Operand allocate(RegClass cls, bool isKept = true);
  void declare(const PtxStatement &s);
  bool declareVariable(const PtxVariable &v, SymbolScope &into);
  bool isDisabled(const Form *form);
  bool decodeInstruction(const PtxInstruction &in);
  bool decodeForm(const PtxInstruction &in);
  /// Turns an error about what is not executed into the refusal of the kernel's launch.
  bool keepAsRefusal();
  /// Scopes and labels of a kernel or function.
  void openBody(const PtxKernel &source);
  bool decodeBody(const PtxKernel &source);
  /// Decodes functions that are not yet, those of a component together.
  bool decodeFunctions(const std::vector<const PtxKernel *> &sources);
  void declareFunction(const PtxKernel &source);
  bool decodeFunction(const PtxKernel &source);
  void resolveCalls();
  void touch(Operand slot) { touchedNow.push_back(slot); }
  friend class ModuleLoader;
};

using DecodeFn = bool (*)(Decoder &);

/// Families: each returns the decoder of an opcode or null.
DecodeFn findArithmetic(std::string_view opcode);
DecodeFn findCarry(std::string_view opcode);
DecodeFn findLogic(std::string_view opcode);
DecodeFn findFloat(std::string_view opcode);
DecodeFn findCompare(std::string_view opcode);
DecodeFn findConvert(std::string_view opcode);
DecodeFn findMove(std::string_view opcode);
DecodeFn findLoadStore(std::string_view opcode);
DecodeFn findAtomic(std::string_view opcode);
DecodeFn findCall(std::string_view opcode);
DecodeFn findStack(std::string_view opcode);
DecodeFn findControl(std::string_view opcode);
DecodeFn findBranchTable(std::string_view opcode);
DecodeFn findBarrier(std::string_view opcode);
DecodeFn findWarpOps(std::string_view opcode);
DecodeFn findMatrix(std::string_view opcode);
DecodeFn findMma(std::string_view opcode);
DecodeFn findWgmma(std::string_view opcode);
DecodeFn findMbarrier(std::string_view opcode);
DecodeFn findCopy(std::string_view opcode);
DecodeFn findTcgen05(std::string_view opcode);
DecodeFn findLaunchControl(std::string_view opcode);
DecodeFn findTensorMap(std::string_view opcode);

/// Lane vector `to` becomes `from`, for the stack of a function.
Instruction copyOfStack(Operand to, Operand from);

/// add, sub and mad with .cc, addc, subc, madc.
bool decodeCarry(Decoder &d);

/// Reads and executes a handler's constant modifiers: shared by families.
facts::Result<std::shared_ptr<LoadedModule>> loadModule(std::string_view text,
                                                        std::string_view fileName,
                                                        GlobalMemory &memory,
                                                        const Options &options);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_DECODER_H
