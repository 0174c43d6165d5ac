//===- Lexer.h - scanning PTX text ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scanner on demand: what a character run means in PTX depends on where it
// stands (`.2d` in an opcode, `2` in an operand), so the parser asks for what it
// expects.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_LEXER_H
#define BLOCKSCALE_LIB_EMULATOR_LEXER_H

#include <cstdint>
#include <string_view>

namespace blockscale::emu {

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) { skip(); }

  bool atEnd() const { return pos >= text.size(); }
  unsigned line() const { return lineNumber; }
  /// Null, or what is wrong with a comment or string that was scanned, and its line.
  const char *problem() const { return problemText; }
  unsigned problemLine() const { return problemAt; }
  char peek() const { return pos < text.size() ? text[pos] : '\0'; }

  bool accept(char c) {
    if (peek() != c)
      return false;
    ++pos;
    skip();
    return true;
  }

  /// [A-Za-z_$%][A-Za-z0-9_$]*, plus dots after a leading '%' (%tid.x). Empty if none.
  std::string_view identifier();
  /// An instruction word: letters, digits, '_', '.' and ':' up to anything else.
  std::string_view opcodeWord();
  /// A directive word after '.': letters, digits, '_' (".reg" gives "reg").
  std::string_view directive();
  /// A run of digits, letters and dots that starts with a digit.
  std::string_view number();
  /// The text of a string literal; empty if none.
  std::string_view string();
  /// Skips to the end of the line (".loc", ".file").
  void skipLine();
  /// Skips a balanced { … } block whose '{' is next.
  void skipBlock();

private:
  void skip();               // blanks and both kinds of comments
  void blockComment();       // at its start
  std::string_view quoted(); // at its opening quote; blanks after it stay
  void broken(const char *what, unsigned line) {
    if (!problemText)
      problemText = what, problemAt = line;
  }
  std::string_view text;
  size_t pos = 0;
  unsigned lineNumber = 1;
  const char *problemText = nullptr;
  unsigned problemAt = 0;
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_LEXER_H
