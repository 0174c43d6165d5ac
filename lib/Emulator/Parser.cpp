//===- Parser.cpp - PTX text to statements ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Directives of a module and the heads of its kernels and functions.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include "blockscale/Facts/PtxVersion.h"

namespace blockscale::emu {

using facts::Refusal;
using facts::Result;

bool Parser::fail(const std::string &message) {
  // What an unclosed comment or string swallowed is not worth a message of its own.
  if (const char *problem = lex.problem())
    error = module.fileName + ":" + std::to_string(lex.problemLine()) + ": ptx_syntax: " + problem;
  else if (error.empty())
    error = module.fileName + ":" + std::to_string(lex.line()) + ": " + echo(message);
  return false;
}

bool Parser::header(const std::string &next) {
  if (module.version.empty())
    return fail("ptx_version: module must begin with .version, got " + next);
  if (module.target.empty())
    return fail("ptx_target: .target must follow .version, got " + next);
  return true;
}

void Parser::versionDirective() {
  std::string text(lex.number());
  if (auto version = facts::parsePtxVersion(text); !version)
    fail(version.message());
  else if (!module.version.empty() && module.version != text)
    fail("ptx_version: .version must be " + module.version + " as above, got " + text);
  module.version = text;
}

void Parser::targetDirective() {
  std::string text(lex.identifier());
  if (module.version.empty()) {
    header(".target");
    return;
  }
  // PTX for a target without a suffix is PTX, even where a suffix would add much.
  std::optional<facts::Arch> arch = facts::parseArch(text);
  if (!arch)
    fail(facts::findArch(text).message());
  else if (auto known = facts::checkPtxTarget(*facts::parsePtxVersion(module.version), *arch);
           !known)
    fail(known.message());
  else if (!module.target.empty() && module.target != text)
    fail("ptx_target: .target must be " + module.target + " as above, got " + text);
  module.target = text;
  while (lex.accept(','))
    lex.identifier();
}

bool Parser::expect(char c, const char *where) {
  return lex.accept(c) || fail(std::string("ptx_syntax: ") + where + " must have '" + c +
                               "', got " + describeNext());
}

std::string Parser::describeNext() const {
  if (lex.atEnd())
    return "end of file";
  unsigned char c = lex.peek();
  return c >= 32 && c < 127 ? std::string("'") + lex.peek() + "'" : "byte " + std::to_string(c);
}

void Parser::topLevel() {
  if (lex.accept('.')) {
    std::string word(lex.directive());
    if (word == "version") {
      versionDirective();
    } else if (word == "target") {
      targetDirective();
    } else if (!header("." + word)) {
      return;
    } else if (word == "address_size") {
      uint64_t bits = 0;
      if (integer(bits) && bits != 64)
        fail("ptx_address_size: .address_size must be 64, got " + std::to_string(bits));
    } else if (word == "file" || word == "loc") {
      lex.skipLine();
    } else if (word == "section") {
      lex.accept('.');
      lex.directive();
      if (lex.peek() == '{')
        lex.skipBlock();
      else
        fail("ptx_section: .section must have a block");
    } else if (word == "pragma") {
      lex.string();
      expect(';', ".pragma");
    } else if (word == "visible" || word == "weak" || word == "common") {
    } else if (word == "extern") {
      nextExtern = true;
    } else if (word == "entry" || word == "func") {
      kernel(word == "entry");
    } else if (word == "alias") {
      aliasDirective();
    } else if (isSpaceWord(word)) {
      PtxVariable v;
      unsigned line = lex.line();
      v.isExtern = std::exchange(nextExtern, false);
      if (variable(word, v)) {
        module.variables.push_back(std::move(v));
        module.variableLines.push_back(line);
      }
    } else {
      fail("ptx_directive: unknown directive ." + word);
    }
    return;
  }
  if (lex.accept(';'))
    return;
  if (header(describeNext()))
    fail("ptx_syntax: directive expected, got " + describeNext());
}

bool Parser::formals(std::vector<PtxVariable> &to) {
  while (!lex.accept(')')) {
    if (!expect('.', "parameter"))
      return false;
    std::string word(lex.directive());
    PtxVariable v;
    if (word != "param" && word != "reg")
      return fail("ptx_param: parameter must be .param, got ." + word);
    v.isRegister = word == "reg";
    if (!variable("param", v))
      return false;
    to.push_back(std::move(v));
    lex.accept(',');
  }
  return true;
}

void Parser::kernel(bool isEntry) {
  PtxKernel k;
  k.line = lex.line();
  k.isEntry = isEntry;
  nextExtern = false;
  if (!isEntry && lex.accept('(') && !formals(k.returns))
    return;
  k.name = lex.identifier();
  if (k.name.empty()) {
    fail("ptx_syntax: kernel must have a name");
    return;
  }
  if (lex.accept('(') && !formals(k.params))
    return;
  lex.accept(','); // .func f, .noreturn
  while (lex.accept('.')) {
    std::string word(lex.directive());
    std::vector<uint64_t> values;
    while (!lex.atEnd() && (lex.peek() >= '0' && lex.peek() <= '9')) {
      uint64_t v;
      if (!integer(v))
        return;
      values.push_back(v);
      if (!lex.accept(','))
        break;
    }
    if (word == "pragma") {
      lex.string();
      lex.accept(';');
      continue;
    }
    if (word != "maxntid" && word != "reqntid" && word != "minnctapersm" && word != "maxnreg" &&
        word != "reqnctapercluster" && word != "explicitcluster" && word != "maxclusterrank" &&
        word != "noreturn" && word != "blocksareclusters" && word != "abi_preserve" &&
        word != "abi_preserve_control") {
      fail("ptx_directive: unknown kernel directive ." + word);
      return;
    }
    k.directives[word] = values;
  }
  if (lex.accept(';'))
    return; // a declaration
  if (!expect('{', "kernel body"))
    return;
  body(k);
  if (error.empty())
    module.kernels.push_back(std::move(k));
}

Result<PtxModule> Parser::run() {
  while (!lex.atEnd() && error.empty())
    topLevel();
  if (error.empty())
    header("end of file");
  resolveAliases();
  if (lex.problem())
    fail({});
  if (!error.empty())
    return Refusal{error};
  return std::move(module);
}

Result<PtxModule> parsePtx(std::string_view text, std::string_view fileName) {
  return Parser(text, fileName).run();
}

} // namespace blockscale::emu
