//===- Ptx.h - PTX text as statements -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parser makes of a module: directives, variables and instructions as
// written, with names unresolved. The decoder gives them meaning.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PTX_H
#define BLOCKSCALE_LIB_EMULATOR_PTX_H

#include "Types.h"

#include "blockscale/Facts/Result.h"

#include <map>
#include <string>
#include <vector>

namespace blockscale::emu {

struct PtxOperand {
  enum class Kind : uint8_t { name, integer, real, address, vector, list, sink };
  Kind kind = Kind::name;
  std::string name;              // name: register, variable, label
  std::string pair;              // name: second of `a|b`
  bool negated = false;          // !p
  bool negative = false;         // integer or real written with a minus sign
  uint64_t value = 0;            // integer value, or bits of a real as written
  unsigned realBits = 0;         // 32 or 64
  int64_t offset = 0;            // name + offset
  std::vector<PtxOperand> items; // address, vector, list
};

struct PtxInstruction {
  std::string opcode;                 // first word: "ld"
  std::vector<std::string> modifiers; // the rest, without dots
  std::string guard;                  // predicate register or empty
  bool guardNegated = false;
  std::vector<PtxOperand> operands;
};

/// An address in an initialiser: of a variable plus an offset, or of a function.
struct PtxReference {
  uint64_t at = 0; // byte in the variable
  std::string name;
  int64_t offset = 0;
  bool isGeneric = false; // written as generic(name)
};

/// The most that a variable may ask for.
inline constexpr uint64_t kMostVariableAlign = 1024;

struct PtxVariable {
  Space space = Space::global;
  Type type = Type::b8;
  std::string name;
  uint64_t align = 1, count = 1; // elements
  bool isExtern = false, isArray = false;
  bool isRegister = false;       // a parameter of a function, in a register
  std::vector<uint64_t> extents; // of an array, outermost first; 0: as initialised
  std::vector<uint8_t> init;
  std::vector<PtxReference> references;
  uint64_t bytes() const { return count * ((bits(type) + 7) / 8); }
};

struct PtxStatement {
  enum class Kind : uint8_t {
    instruction,
    label,
    scopeBegin,
    scopeEnd,
    registers,
    variable,
    branchTargets,
    callTargets,
    callPrototype
  };
  Kind kind = Kind::instruction;
  unsigned line = 0;
  PtxInstruction instruction;
  std::string name; // label; prefix or name of registers
  Type type = Type::b32;
  int64_t count = -1; // registers: -1 a single one, else %name0..%name<count-1>
  PtxVariable variable;
  std::vector<std::string> targets;         // .branchtargets, .calltargets
  std::vector<PtxVariable> returns, params; // .callprototype
};

struct PtxKernel {
  std::string name;
  unsigned line = 0;
  bool isEntry = true;
  std::vector<PtxVariable> params;
  std::vector<PtxVariable> returns;                        // of a function
  std::map<std::string, std::vector<uint64_t>> directives; // "maxntid" -> {x, y, z}
  std::vector<PtxStatement> body;
};

struct PtxModule {
  std::string version, target, fileName;
  std::vector<PtxVariable> variables;
  std::vector<unsigned> variableLines;
  std::vector<PtxKernel> kernels;
};

/// A number as a register of type `t` holds it.
uint64_t numberAs(const PtxOperand &o, Type t);

/// Parses a whole module; a refusal is "file:line: ptx_…: message".
facts::Result<PtxModule> parsePtx(std::string_view text, std::string_view fileName);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_PTX_H
