//===- ParserOperand.cpp - numbers and operands of PTX text ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a number means depends on the instruction, so operands keep it as written.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace blockscale::emu {

bool Parser::digits(std::string text, uint64_t &value, bool negative) {
  const std::string got = (negative ? "-" : "") + text;
  while (!text.empty() && (text.back() == 'U' || text.back() == 'u'))
    text.pop_back();
  int base = 10;
  const char *begin = text.c_str();
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
    base = 2, begin += 2;
  else if (text.size() > 1 && text[0] == '0')
    base = 0;
  char *end = nullptr;
  errno = 0;
  value = std::strtoull(begin, &end, base);
  if (*end)
    return fail("ptx_syntax: number is malformed: " + text);
  if (errno == ERANGE || (negative && value > uint64_t(1) << 63))
    return fail("ptx_immediate: integer must fit 64 bits, got " + got);
  return true;
}

bool Parser::integer(uint64_t &value) {
  bool negative = lex.accept('-');
  std::string text(lex.number());
  if (text.empty())
    return fail("ptx_syntax: integer expected, got " + describeNext());
  if (negative)
    return fail("ptx_syntax: number must not be negative here, got -" + text);
  return digits(text, value, /*negative=*/false);
}

bool Parser::offsetTerm(int64_t &offset, bool negative) {
  negative ^= lex.accept('-');
  std::string text(lex.number());
  uint64_t value = 0;
  if (text.empty())
    return fail("ptx_syntax: offset expected, got " + describeNext());
  if (!digits(text, value, negative))
    return false;
  bool fits = value <= uint64_t(1) << 31;
  if (fits)
    offset += negative ? -int64_t(value) : int64_t(value);
  if (!fits || offset < INT32_MIN || offset > INT32_MAX)
    return fail("ptx_immediate: address offset must fit 32 bits with a sign, got " +
                (fits ? std::to_string(offset) : (negative ? "-" : "") + text));
  return true;
}

bool Parser::items(PtxOperand &o, char close, int depth) {
  while (!lex.accept(close)) {
    PtxOperand item;
    if (lex.atEnd() || !operand(item, depth + 1))
      return fail("ptx_syntax: operand list must be closed");
    o.items.push_back(std::move(item));
    if (!lex.accept(',') && lex.peek() != close)
      return fail("ptx_syntax: operand list must be closed, got " + describeNext());
  }
  return true;
}

bool Parser::operand(PtxOperand &o, int depth) {
  if (depth > 4)
    return fail("ptx_syntax: operands nest too deeply");
  if (lex.accept('[')) {
    o.kind = PtxOperand::Kind::address;
    return items(o, ']', depth);
  }
  if (lex.accept('{')) {
    o.kind = PtxOperand::Kind::vector;
    return items(o, '}', depth);
  }
  if (lex.accept('(')) {
    o.kind = PtxOperand::Kind::list;
    return items(o, ')', depth);
  }
  o.negated = lex.accept('!');
  bool minus = lex.accept('-');
  char c = lex.peek();
  if (c >= '0' && c <= '9') {
    if (!literal(o, minus))
      return false;
    return true;
  }
  if (minus)
    return fail("ptx_syntax: '-' must precede a number");
  o.name = lex.identifier();
  if (o.name.empty())
    return fail("ptx_syntax: operand expected, got " + describeNext());
  if (o.name == "_")
    o.kind = PtxOperand::Kind::sink;
  if (lex.accept('|')) {
    o.pair = lex.identifier();
    if (o.pair.empty())
      return fail("ptx_syntax: second destination expected after '|'");
  }
  for (int sign = 0; (sign = lex.accept('+') ? 1 : lex.peek() == '-' ? -1 : 0) != 0;) {
    if (sign < 0)
      lex.accept('-');
    if (!offsetTerm(o.offset, sign < 0))
      return false;
  }
  return true;
}

bool Parser::literal(PtxOperand &o, bool minus) {
  std::string text(lex.number());
  o.negative = minus;
  bool hexReal = text.size() > 2 && text[0] == '0' && std::strchr("fFdD", text[1]);
  if (hexReal) {
    o.kind = PtxOperand::Kind::real;
    o.realBits = text[1] == 'f' || text[1] == 'F' ? 32 : 64;
    char *end = nullptr;
    o.value = std::strtoull(text.c_str() + 2, &end, 16);
    if (*end || text.size() != 2 + o.realBits / 4)
      return fail("ptx_syntax: real is malformed: " + text);
    if (minus)
      o.value ^= uint64_t(1) << (o.realBits - 1);
    return true;
  }
  bool hex = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (!hex && text.find_first_of(".eE") != std::string::npos) {
    char *end = nullptr;
    double d = std::strtod(text.c_str(), &end);
    if (*end)
      return fail("ptx_syntax: real is malformed: " + text);
    if (std::isinf(d))
      return fail("ptx_immediate: real must fit .f64, got " + text);
    if (minus)
      d = -d;
    o.kind = PtxOperand::Kind::real;
    o.realBits = 64;
    std::memcpy(&o.value, &d, 8);
    return true;
  }
  o.kind = PtxOperand::Kind::integer;
  if (!digits(text, o.value, minus))
    return false;
  if (minus)
    o.value = 0 - o.value;
  return true;
}

} // namespace blockscale::emu
