//===- ParserVariable.cpp - declarations of variables and registers --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every size is bounded before anything is allocated.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include <cstring>

namespace blockscale::emu {

namespace {
constexpr uint64_t kMaxVariableBytes = uint64_t(1) << 32;
constexpr uint64_t kMaxInitializerBytes = uint64_t(1) << 28; // of a module
constexpr int64_t kMaxRegisters = 1 << 20;
} // namespace

bool Parser::isSpaceWord(const std::string &w) {
  return w == "global" || w == "shared" || w == "const" || w == "local" || w == "param";
}

Space Parser::spaceOf(const std::string &w) {
  return w == "shared"  ? Space::shared
         : w == "const" ? Space::constant
         : w == "local" ? Space::local
         : w == "param" ? Space::param
                        : Space::global;
}

/// (.managed, .unified(19, 95)): where memory lies is the driver's business.
bool Parser::attributes() {
  if (!lex.accept('('))
    return fail("ptx_syntax: .attribute must have a list, got " + describeNext());
  do {
    const std::string word(lex.accept('.') ? lex.directive() : std::string_view());
    uint64_t id = 0;
    if (word == "unified") {
      if (!lex.accept('(') || !integer(id) || !lex.accept(',') || !integer(id) || !lex.accept(')'))
        return fail("ptx_syntax: .unified must have two numbers, got " + describeNext());
    } else if (word != "managed") {
      return fail("ptx_type: attribute must be .managed or .unified, got ." + word);
    }
  } while (lex.accept(','));
  return lex.accept(')') || fail("ptx_syntax: .attribute must end with ), got " + describeNext());
}

bool Parser::variable(const std::string &spaceWord, PtxVariable &v) {
  v.space = spaceOf(spaceWord);
  bool haveType = false;
  while (lex.accept('.')) {
    std::string word(lex.directive());
    if (word == "align") {
      if (!integer(v.align))
        return false;
      if (v.align == 0 || v.align > kMostVariableAlign || (v.align & (v.align - 1)))
        return fail("ptx_align: .align must be a power of two up to " +
                    std::to_string(kMostVariableAlign) + ", got " + std::to_string(v.align));
    } else if (auto t = parseType(word)) {
      v.type = *t;
      haveType = true;
    } else if (word == "v2" || word == "v4") {
      v.count *= word == "v2" ? 2 : 4;
    } else if (word == "attribute") {
      if (!attributes())
        return false;
    } else if (word != "ptr" && !isSpaceWord(word)) {
      // .ptr .global .align 1: facts for the assembler only
      return fail("ptx_type: unknown type or attribute ." + word);
    }
  }
  if (!haveType)
    return fail("ptx_type: variable must have a type");
  v.name = lex.identifier();
  if (v.name.empty())
    return fail("ptx_syntax: variable must have a name, got " + describeNext());
  const uint64_t natural = (bits(v.type) + 7) / 8;
  // An extent that is left out, or 0, must not hide how large the others are.
  for (uint64_t bytes = v.count * natural; lex.accept('[');) {
    v.isArray = true;
    uint64_t n = 0;
    if (lex.peek() != ']' && !integer(n))
      return false;
    if (n > kMaxVariableBytes / bytes)
      return fail("ptx_size: variable " + v.name + " must be at most 4 GiB");
    bytes *= n ? n : 1;
    v.count *= n;
    v.extents.push_back(n);
    if (!expect(']', "array size"))
      return false;
  }
  if (v.align < natural)
    v.align = natural;
  if (v.space == Space::param)
    return true;
  if (lex.accept('=') && !initializer(v))
    return false;
  if (lex.accept(','))
    return fail("ptx_syntax: one variable a declaration, got a list");
  return expect(';', "variable");
}

bool Parser::initializerElement(PtxVariable &v, uint64_t index) {
  unsigned size = (bits(v.type) + 7) / 8;
  PtxOperand o;
  if (!operand(o, 0))
    return false;
  const bool isGeneric = o.name == "generic" && lex.accept('('); // as global addresses are
  if (isGeneric && (!operand(o, 0) || !expect(')', "generic")))
    return false;
  uint64_t at = index * size;
  if (v.count && index >= v.count)
    return fail("ptx_initializer: more values than elements in " + v.name);
  if (v.init.size() < at + size) {
    initializerBytes += at + size - v.init.size();
    if (initializerBytes > kMaxInitializerBytes)
      return fail("ptx_size: initialisers of a module must reach at most " +
                  std::to_string(kMaxInitializerBytes) + " bytes together, " + v.name +
                  " goes beyond");
    v.init.resize(at + size);
  }
  if (o.kind == PtxOperand::Kind::name && !o.negated && o.pair.empty()) {
    v.references.push_back({at, o.name, o.offset, isGeneric});
    return true;
  }
  if (o.kind != PtxOperand::Kind::integer && o.kind != PtxOperand::Kind::real)
    return fail("ptx_initializer: element of " + v.name + " must be a number or an address");
  uint64_t value = numberAs(o, v.type);
  std::memcpy(v.init.data() + at, &value, size);
  return true;
}

bool Parser::initializerList(PtxVariable &v, size_t level, uint64_t first) {
  uint64_t stride = 1;
  for (size_t i = level + 1; i < v.extents.size(); ++i)
    stride *= v.extents[i];
  for (uint64_t index = first; !lex.accept('}');) {
    if (lex.atEnd())
      return fail("ptx_initializer: list must be closed");
    if (lex.accept('{')) {
      if (level + 1 >= v.extents.size())
        return fail("ptx_initializer: lists of " + v.name + " must nest as its extents do");
      if (!initializerList(v, level + 1, index))
        return false;
      index += stride;
    } else if (!initializerElement(v, index++)) {
      return false;
    }
    if (!lex.accept(',') && lex.peek() != '}')
      return fail("ptx_initializer: list must be closed");
  }
  return true;
}

bool Parser::initializer(PtxVariable &v) {
  unsigned size = (bits(v.type) + 7) / 8;
  if (!(lex.accept('{') ? initializerList(v, 0, 0) : initializerElement(v, 0)))
    return false;
  if (v.isArray && v.count == 0)
    v.count = v.init.size() / size;
  return true;
}

void Parser::registers(PtxKernel &k, PtxStatement &s) {
  s.kind = PtxStatement::Kind::registers;
  unsigned vector = 1;
  while (lex.accept('.')) {
    std::string word(lex.directive());
    if (word == "v2" || word == "v4") {
      vector = 2;
    } else if (auto t = parseType(word)) {
      s.type = *t;
    } else {
      fail("ptx_type: unknown register type ." + word);
      return;
    }
  }
  if (vector != 1) {
    fail("ptx_registers: vector registers are not executed");
    return;
  }
  do {
    PtxStatement one = s;
    one.name = lex.identifier();
    if (one.name.empty()) {
      fail("ptx_syntax: register must have a name, got " + describeNext());
      return;
    }
    if (lex.accept('<')) {
      uint64_t n = 0;
      if (!integer(n))
        return;
      if (n > uint64_t(kMaxRegisters)) {
        fail("ptx_registers: at most " + std::to_string(kMaxRegisters) +
             " registers a declaration, got " + std::to_string(n));
        return;
      }
      one.count = int64_t(n);
      if (!expect('>', "register range"))
        return;
    }
    k.body.push_back(std::move(one));
  } while (lex.accept(','));
  expect(';', ".reg");
}

} // namespace blockscale::emu
