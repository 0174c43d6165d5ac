//===- Parser.h - PTX text to statements -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recursive descent over whole modules. Syntax only: names, types and modifiers
// get their meaning in the decoder. The members live in one file for each subject.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PARSER_H
#define BLOCKSCALE_LIB_EMULATOR_PARSER_H

#include "Echo.h"
#include "Lexer.h"
#include "Ptx.h"

#include <unordered_map>
#include <utility>

namespace blockscale::emu {

class Parser {
public:
  Parser(std::string_view text, std::string_view file) : lex(text) { module.fileName = file; }
  facts::Result<PtxModule> run();

private:
  Lexer lex;
  PtxModule module;
  std::string error;
  bool nextExtern = false;       // .extern stands before the directive that follows
  uint64_t initializerBytes = 0; // of all variables so far
  std::unordered_map<std::string, std::string> aliases; // of functions

  bool fail(const std::string &message);
  /// Every module begins with .version and .target (PTX ISA 9.4, 5.1, 11.1).
  bool header(const std::string &next);
  bool expect(char c, const char *where);
  std::string describeNext() const;

  void versionDirective();
  void targetDirective();
  void topLevel();
  void kernel(bool isEntry);
  /// Results or parameters of a function or prototype, after their '('.
  bool formals(std::vector<PtxVariable> &to);

  void aliasDirective();
  /// Behind all of the text.
  void resolveAliases();

  static bool isSpaceWord(const std::string &w);
  static Space spaceOf(const std::string &w);
  bool attributes();
  /// After the state space word: `.align 8 .b8 name[16] = {…}`; eats the `;`
  /// unless it is a parameter.
  bool variable(const std::string &spaceWord, PtxVariable &v);
  bool initializer(PtxVariable &v);
  /// One level of a braced list, after its '{': fills elements from `first` on.
  bool initializerList(PtxVariable &v, size_t level, uint64_t first);
  bool initializerElement(PtxVariable &v, uint64_t index);
  void registers(PtxKernel &k, PtxStatement &s);

  void body(PtxKernel &k);
  void bodyDirective(PtxKernel &k, PtxStatement &s);
  void labelOrInstruction(PtxKernel &k, PtxStatement &s);
  /// `label: .branchtargets` and its like; false where another directive stands.
  bool labelDirective(const std::string &word, PtxStatement &s);
  bool callPrototype(PtxStatement &s);

  /// The digits of an integer without its sign: decimal, 0x, 0b or octal, with U or not.
  bool digits(std::string text, uint64_t &value, bool negative);
  /// A count or size.
  bool integer(uint64_t &value);
  /// Adds a term of `name + offset`; a further sign may stand before the number.
  bool offsetTerm(int64_t &offset, bool negative);
  bool items(PtxOperand &o, char close, int depth);
  bool operand(PtxOperand &o, int depth);
  bool literal(PtxOperand &o, bool minus);
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_PARSER_H
