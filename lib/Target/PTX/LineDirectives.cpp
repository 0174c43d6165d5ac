//===- LineDirectives.cpp - lines of PTX back to files and ops ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineDirectives.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

using llvm::DILocation;
using llvm::StringRef;

namespace blockscale {

/// Marks a number: LLVM's own directives (nothing known) have column 0.
static constexpr unsigned kNumberColumn = 1;

LineDirectives::LineDirectives(llvm::Module &module) {
  llvm::DenseMap<const DILocation *, DILocation *> numbered;
  for (llvm::Function &function : module) {
    llvm::DISubprogram *scope = function.getSubprogram();
    if (!scope)
      continue;
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block) {
        const DILocation *location = instruction.getDebugLoc();
        // Line 0: the optimiser has merged instructions of two places.
        if (!location || location->getLine() == 0) {
          instruction.setDebugLoc(llvm::DebugLoc());
          continue;
        }
        DILocation *&number = numbered[location];
        if (!number) {
          locations.push_back(location);
          number = DILocation::get(module.getContext(), unsigned(locations.size()), kNumberColumn,
                                   scope);
        }
        instruction.setDebugLoc(number);
      }
  }
}

static unsigned numberOf(llvm::MapVector<StringRef, unsigned> &numbers, StringRef name) {
  return numbers.insert({name, unsigned(numbers.size()) + 1}).first->second;
}

unsigned LineDirectives::fileNumber(StringRef name) { return numberOf(fileNumbers, name); }

unsigned LineDirectives::functionNumber(StringRef name) { return numberOf(functionNumbers, name); }

static std::string nameLabel(unsigned number) {
  // nvcc and later versions of LLVM call it so, too, counting from 0.
  return "$L__info_string" + std::to_string(number - 1);
}

std::string LineDirectives::placeOf(const DILocation &location) {
  return std::to_string(fileNumber(location.getFilename())) + " " +
         std::to_string(location.getLine()) + " " + std::to_string(location.getColumn());
}

void LineDirectives::write(const DILocation &location, std::string &out) {
  std::string place = placeOf(location);
  const DILocation *caller = location.getInlinedAt();
  if (!caller) {
    plain.insert(place);
    out += "\t.loc\t" + place + "\n";
    return;
  }
  // ptxas: a "source location used in inlined_at directive must be used in a
  // preceding .loc directive".
  std::string callPlace = placeOf(*caller);
  if (plain.insert(callPlace).second)
    out += "\t.loc\t" + callPlace + "\n";
  StringRef name = location.getScope()->getSubprogram()->getName();
  out += "\t.loc\t" + place + ", function_name " + nameLabel(functionNumber(name)) +
         ", inlined_at " + callPlace + "\n";
}

bool LineDirectives::rewrite(StringRef line, std::string &out) {
  StringRef text = line.trim();
  // Labels of the debug info that is not written, and an empty section.
  if (text.starts_with("$L__func_begin"))
    plain.clear();
  if (text.starts_with("$L__tmp") || text.starts_with("$L__func_"))
    return text.ends_with(":");
  if (text.starts_with(".file") || text.starts_with(".section\t.debug_macinfo"))
    return true;
  if (!text.consume_front(".loc"))
    return false;
  unsigned file, number, column;
  text = text.ltrim();
  if (text.consumeInteger(10, file) || (text = text.ltrim()).consumeInteger(10, number) ||
      (text = text.ltrim()).consumeInteger(10, column))
    return false;
  if (column != kNumberColumn || number == 0 || number > locations.size()) {
    // Nothing is known of what follows; a file must be named all the same.
    if (!locations.empty())
      out += "\t.loc\t" + std::to_string(fileNumber(locations.front()->getFilename())) + " 0 0\n";
    return true;
  }
  write(*locations[number - 1], out);
  return true;
}

std::string LineDirectives::files() const {
  std::string text;
  for (const auto &[name, number] : fileNumbers) {
    text += ".file\t" + std::to_string(number) + " \"";
    for (char c : name)
      text += c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' ? '?' : c;
    text += "\"\n";
  }
  return text;
}

std::string LineDirectives::names() const {
  if (functionNumbers.empty())
    return {};
  std::string text = ".section\t.debug_str\n{\n";
  for (const auto &[name, number] : functionNumbers) {
    text += nameLabel(number) + ":  // " + name.str() + "\n.b8 ";
    for (unsigned char c : name)
      text += std::to_string(c) + ",";
    text += "0\n";
  }
  return text + "}\n";
}

} // namespace blockscale
