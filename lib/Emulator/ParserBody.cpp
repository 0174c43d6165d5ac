//===- ParserBody.cpp - statements of a kernel -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nesting is bounded so that bad input cannot exhaust the stack.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include "blockscale/Facts/PtxVersion.h"

namespace blockscale::emu {

namespace {
constexpr int kMaxNesting = 64;
} // namespace

void Parser::body(PtxKernel &k) {
  int depth = 1;
  while (depth > 0 && error.empty()) {
    if (lex.atEnd()) {
      fail("ptx_syntax: kernel " + k.name + " must be closed by '}'");
      return;
    }
    PtxStatement s;
    s.line = lex.line();
    if (lex.accept('{')) {
      if (++depth > kMaxNesting) {
        fail("ptx_syntax: scopes must nest at most " + std::to_string(kMaxNesting) + " deep");
        return;
      }
      s.kind = PtxStatement::Kind::scopeBegin;
      k.body.push_back(std::move(s));
    } else if (lex.accept('}')) {
      if (--depth > 0) {
        s.kind = PtxStatement::Kind::scopeEnd;
        k.body.push_back(std::move(s));
      }
    } else if (lex.accept(';')) {
    } else if (lex.accept('.')) {
      bodyDirective(k, s);
    } else {
      labelOrInstruction(k, s);
    }
  }
}

void Parser::bodyDirective(PtxKernel &k, PtxStatement &s) {
  std::string word(lex.directive());
  if (word == "loc" || word == "file") {
    lex.skipLine();
  } else if (word == "pragma") {
    std::string pragma(lex.string());
    if (auto known = facts::checkPtxPragma(*facts::parsePtxVersion(module.version), pragma); !known)
      fail(known.message());
    expect(';', ".pragma");
  } else if (word == "reg") {
    registers(k, s);
  } else if (isSpaceWord(word)) {
    s.kind = PtxStatement::Kind::variable;
    if (variable(word, s.variable)) {
      if (s.variable.space == Space::param)
        expect(';', "variable");
      k.body.push_back(std::move(s));
    }
  } else {
    fail("ptx_directive: unknown directive ." + word + " in a kernel");
  }
}

bool Parser::callPrototype(PtxStatement &s) {
  if (lex.accept('(') && !formals(s.returns))
    return false;
  if (std::string name(lex.identifier()); name != "_")
    return fail("ptx_syntax: .callprototype must have '_' for the function, got " +
                (name.empty() ? describeNext() : name));
  if (lex.accept('(') && !formals(s.params))
    return false;
  while (lex.accept('.')) {
    // What the callee leaves alone or never comes back from: for the assembler.
    const std::string word(lex.directive());
    uint64_t count = 0;
    if (word != "noreturn" && word != "abi_preserve" && word != "abi_preserve_control")
      return fail("ptx_directive: unknown directive ." + word + " of .callprototype");
    if (word != "noreturn" && !integer(count))
      return false;
  }
  return expect(';', ".callprototype");
}

bool Parser::labelDirective(const std::string &word, PtxStatement &s) {
  if (word == "callprototype") {
    s.kind = PtxStatement::Kind::callPrototype;
    callPrototype(s);
    return true;
  }
  if (word != "branchtargets" && word != "calltargets")
    return false;
  s.kind =
      word == "calltargets" ? PtxStatement::Kind::callTargets : PtxStatement::Kind::branchTargets;
  do
    s.targets.emplace_back(lex.identifier());
  while (lex.accept(','));
  expect(';', ("." + word).c_str());
  return true;
}

void Parser::labelOrInstruction(PtxKernel &k, PtxStatement &s) {
  Lexer saved = lex;
  std::string id(lex.identifier());
  if (!id.empty() && lex.peek() == ':') {
    lex.accept(':');
    if (lex.peek() == '.') {
      Lexer probe = lex;
      probe.accept('.');
      const std::string word(probe.directive());
      std::swap(lex, probe);
      s.name = id;
      if (labelDirective(word, s)) {
        k.body.push_back(std::move(s));
        return;
      }
      std::swap(lex, probe);
    }
    s.kind = PtxStatement::Kind::label;
    s.name = id;
    k.body.push_back(std::move(s));
    return;
  }
  lex = saved;
  PtxInstruction &in = s.instruction;
  if (lex.accept('@')) {
    in.guardNegated = lex.accept('!');
    in.guard = lex.identifier();
    if (in.guard.empty()) {
      fail("ptx_syntax: guard must be a predicate, got " + describeNext());
      return;
    }
  }
  s.line = lex.line();
  std::string_view word = lex.opcodeWord();
  if (word.empty()) {
    fail("ptx_syntax: instruction expected, got " + describeNext());
    return;
  }
  size_t start = 0;
  bool first = true;
  while (start <= word.size()) {
    size_t dot = word.find('.', start);
    if (dot == std::string_view::npos)
      dot = word.size();
    std::string part(word.substr(start, dot - start));
    if (first)
      in.opcode = part;
    else
      in.modifiers.push_back(part);
    first = false;
    start = dot + 1;
  }
  while (!lex.accept(';')) {
    PtxOperand o;
    if (lex.atEnd()) {
      fail("ptx_syntax: instruction must end with ';'");
      return;
    }
    if (!operand(o, 0))
      return;
    in.operands.push_back(std::move(o));
    if (!lex.accept(',') && lex.peek() != ';') {
      fail("ptx_syntax: operands must be separated by ',', got " + describeNext());
      return;
    }
  }
  k.body.push_back(std::move(s));
}

} // namespace blockscale::emu
