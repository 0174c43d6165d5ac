//===- Lexer.cpp - scanning PTX text --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"

#include <algorithm>

namespace blockscale::emu {

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool isName(char c) { return isAlpha(c) || isDigit(c) || c == '_' || c == '$'; }

void Lexer::skip() {
  while (pos < text.size()) {
    char c = text[pos];
    if (c == '\n') {
      ++lineNumber;
      ++pos;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++pos;
    } else if (c == '/' && pos + 1 < text.size() && text[pos + 1] == '/') {
      while (pos < text.size() && text[pos] != '\n')
        ++pos;
    } else if (c == '/' && pos + 1 < text.size() && text[pos + 1] == '*') {
      blockComment();
    } else {
      return;
    }
  }
}

void Lexer::blockComment() {
  unsigned first = lineNumber;
  size_t end = text.find("*/", pos + 2);
  if (end == std::string_view::npos) {
    broken("comment must end with '*/', got end of file", first);
    end = text.size();
  }
  for (; pos < end; ++pos)
    lineNumber += text[pos] == '\n';
  pos = end == text.size() ? end : end + 2;
}

std::string_view Lexer::quoted() {
  size_t start = ++pos;
  while (pos < text.size() && text[pos] != '"' && text[pos] != '\n')
    pos += text[pos] == '\\' && pos + 1 < text.size() && text[pos + 1] != '\n' ? 2 : 1;
  std::string_view out = text.substr(start, pos - start);
  if (pos < text.size() && text[pos] == '"')
    ++pos;
  else
    broken("string must end with '\"' on its line", lineNumber);
  return out;
}

std::string_view Lexer::identifier() {
  size_t start = pos;
  char c = peek();
  if (!(isAlpha(c) || c == '_' || c == '$' || c == '%'))
    return {};
  bool dots = c == '%';
  for (++pos; pos < text.size(); ++pos)
    if (!isName(text[pos]) && !(dots && text[pos] == '.'))
      break;
  std::string_view out = text.substr(start, pos - start);
  skip();
  return out;
}

std::string_view Lexer::opcodeWord() {
  size_t start = pos;
  while (pos < text.size() && (isName(text[pos]) || text[pos] == '.' || text[pos] == ':'))
    ++pos;
  std::string_view out = text.substr(start, pos - start);
  skip();
  return out;
}

std::string_view Lexer::directive() {
  size_t start = pos;
  while (pos < text.size() && isName(text[pos]))
    ++pos;
  std::string_view out = text.substr(start, pos - start);
  skip();
  return out;
}

std::string_view Lexer::number() {
  size_t start = pos;
  if (!isDigit(peek()))
    return {};
  while (pos < text.size()) {
    char c = text[pos];
    bool exponentSign = (c == '+' || c == '-') && pos > start &&
                        (text[pos - 1] == 'e' || text[pos - 1] == 'E') &&
                        text.substr(start, 2) != "0x" && text.substr(start, 2) != "0f" &&
                        text.substr(start, 2) != "0F" && text.substr(start, 2) != "0d" &&
                        text.substr(start, 2) != "0D";
    if (!isDigit(c) && !isAlpha(c) && c != '.' && !exponentSign)
      break;
    ++pos;
  }
  std::string_view out = text.substr(start, pos - start);
  skip();
  return out;
}

std::string_view Lexer::string() {
  if (peek() != '"')
    return {};
  std::string_view out = quoted();
  skip();
  return out;
}

void Lexer::skipLine() {
  while (pos < text.size() && text[pos] != '\n') {
    if (text[pos] == '"')
      quoted();
    else if (text.substr(pos, 2) == "//")
      pos = std::min(text.find('\n', pos), text.size());
    else if (text.substr(pos, 2) == "/*")
      blockComment();
    else
      ++pos;
  }
  skip();
}

void Lexer::skipBlock() {
  int depth = 0;
  do {
    if (peek() == '{')
      ++depth;
    if (peek() == '}')
      --depth;
    ++pos;
    skip();
  } while (depth > 0 && !atEnd());
}

} // namespace blockscale::emu
