//===- Parser.cpp - PTX text to statements --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recursive descent over whole modules. Syntax only: names, types and modifiers
// get their meaning in the decoder. Nesting is bounded so that bad input cannot
// exhaust the stack.
//
//===----------------------------------------------------------------------===//

#include "Echo.h"
#include "Lexer.h"
#include "Ptx.h"

#include "blockscale/Facts/PtxVersion.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace blockscale::emu {
namespace {

using facts::Refusal;
using facts::Result;

constexpr int kMaxNesting = 64;
constexpr uint64_t kMaxVariableBytes = uint64_t(1) << 32;
constexpr int64_t kMaxRegisters = 1 << 20;

class Parser {
public:
  Parser(std::string_view text, std::string_view file) : lex(text) { module.fileName = file; }

  Result<PtxModule> run() {
    while (!lex.atEnd() && error.empty())
      topLevel();
    if (error.empty())
      header("end of file");
    if (lex.problem())
      fail({});
    if (!error.empty())
      return Refusal{error};
    return std::move(module);
  }

private:
  Lexer lex;
  PtxModule module;
  std::string error;

  bool fail(const std::string &message) {
    // What an unclosed comment or string swallowed is not worth a message of its own.
    if (const char *problem = lex.problem())
      error =
          module.fileName + ":" + std::to_string(lex.problemLine()) + ": ptx_syntax: " + problem;
    else if (error.empty())
      error = module.fileName + ":" + std::to_string(lex.line()) + ": " + echo(message);
    return false;
  }
  /// Every module begins with .version and .target (PTX ISA 9.4, 5.1, 11.1).
  bool header(const std::string &next) {
    if (module.version.empty())
      return fail("ptx_version: module must begin with .version, got " + next);
    if (module.target.empty())
      return fail("ptx_target: .target must follow .version, got " + next);
    return true;
  }
  void versionDirective() {
    std::string text(lex.number());
    if (auto version = facts::parsePtxVersion(text); !version)
      fail(version.message());
    else if (!module.version.empty() && module.version != text)
      fail("ptx_version: .version must be " + module.version + " as above, got " + text);
    module.version = text;
  }
  void targetDirective() {
    std::string text(lex.identifier());
    if (module.version.empty()) {
      header(".target");
      return;
    }
    if (auto arch = facts::findArch(text); !arch)
      fail(arch.message());
    else if (auto known = facts::checkPtxTarget(*facts::parsePtxVersion(module.version), *arch);
             !known)
      fail(known.message());
    else if (!module.target.empty() && module.target != text)
      fail("ptx_target: .target must be " + module.target + " as above, got " + text);
    module.target = text;
    while (lex.accept(','))
      lex.identifier();
  }
  bool expect(char c, const char *where) {
    return lex.accept(c) || fail(std::string("ptx_syntax: ") + where + " must have '" + c +
                                 "', got " + describeNext());
  }
  std::string describeNext() const {
    if (lex.atEnd())
      return "end of file";
    unsigned char c = lex.peek();
    return c >= 32 && c < 127 ? std::string("'") + lex.peek() + "'" : "byte " + std::to_string(c);
  }

  /// The digits of an integer without its sign: decimal, 0x, 0b or octal, with U or not.
  bool digits(std::string text, uint64_t &value, bool negative) {
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
  /// A count or size.
  bool integer(uint64_t &value) {
    bool negative = lex.accept('-');
    std::string text(lex.number());
    if (text.empty())
      return fail("ptx_syntax: integer expected, got " + describeNext());
    if (negative)
      return fail("ptx_syntax: number must not be negative here, got -" + text);
    return digits(text, value, /*negative=*/false);
  }
  /// Adds a term of `name + offset`; a further sign may stand before the number.
  bool offsetTerm(int64_t &offset, bool negative) {
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

  void topLevel() {
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
      } else if (word == "alias" || word == "noreturn") {
        while (!lex.atEnd() && !lex.accept(';'))
          lex.skipLine();
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

  bool nextExtern = false;

  static bool isSpaceWord(const std::string &w) {
    return w == "global" || w == "shared" || w == "const" || w == "local" || w == "param";
  }
  static Space spaceOf(const std::string &w) {
    return w == "shared"  ? Space::shared
           : w == "const" ? Space::constant
           : w == "local" ? Space::local
           : w == "param" ? Space::param
                          : Space::global;
  }

  /// After the state space word: `.align 8 .b8 name[16] = {…}`; eats the `;`
  /// unless it is a parameter.
  bool variable(const std::string &spaceWord, PtxVariable &v) {
    v.space = spaceOf(spaceWord);
    bool haveType = false;
    while (lex.accept('.')) {
      std::string word(lex.directive());
      if (word == "align") {
        if (!integer(v.align))
          return false;
        if (v.align == 0 || v.align > 1024 || (v.align & (v.align - 1)))
          return fail("ptx_align: .align must be a power of two up to 1024, got " +
                      std::to_string(v.align));
      } else if (auto t = parseType(word)) {
        v.type = *t;
        haveType = true;
      } else if (word == "v2" || word == "v4") {
        v.count *= word == "v2" ? 2 : 4;
      } else if (word == "ptr" || isSpaceWord(word) || word == "attribute") {
        // .ptr .global .align 1: facts for the assembler only
        if (word == "attribute" && lex.accept('('))
          while (!lex.atEnd() && !lex.accept(')'))
            lex.accept('.') ? lex.directive()
                            : (lex.accept(',') ? lex.identifier() : lex.identifier());
      } else {
        return fail("ptx_type: unknown type or attribute ." + word);
      }
    }
    if (!haveType)
      return fail("ptx_type: variable must have a type");
    v.name = lex.identifier();
    if (v.name.empty())
      return fail("ptx_syntax: variable must have a name, got " + describeNext());
    while (lex.accept('[')) {
      v.isArray = true;
      uint64_t n = 0;
      if (lex.peek() != ']' && !integer(n))
        return false;
      if (n > kMaxVariableBytes || v.count * n > kMaxVariableBytes)
        return fail("ptx_size: variable " + v.name + " must be at most 4 GiB");
      v.count *= n;
      if (!expect(']', "array size"))
        return false;
    }
    uint64_t natural = (bits(v.type) + 7) / 8;
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

  bool initializer(PtxVariable &v) {
    unsigned size = (bits(v.type) + 7) / 8;
    auto one = [&] {
      PtxOperand o;
      if (!operand(o, 0))
        return false;
      if (o.kind != PtxOperand::Kind::integer && o.kind != PtxOperand::Kind::real)
        return fail("ptx_initializer: only numbers are taken");
      const auto *raw = reinterpret_cast<const uint8_t *>(&o.value);
      v.init.insert(v.init.end(), raw, raw + size);
      return true;
    };
    if (!lex.accept('{')) {
      if (!one())
        return false;
    } else {
      while (lex.accept('{')) {
      }
      while (!lex.accept('}')) {
        if (lex.atEnd() || !one())
          return fail("ptx_initializer: list must be closed");
        lex.accept(',');
      }
      while (lex.accept('}') || lex.accept(',')) {
      }
    }
    if (v.isArray && v.count == 0)
      v.count = v.init.size() / size;
    return v.init.size() <= v.bytes() ||
           fail("ptx_initializer: more values than elements in " + v.name);
  }

  void kernel(bool isEntry) {
    PtxKernel k;
    k.line = lex.line();
    k.isEntry = isEntry;
    nextExtern = false;
    auto params = [&](bool toKernel) {
      while (!lex.accept(')')) {
        if (!expect('.', "parameter"))
          return false;
        std::string word(lex.directive());
        PtxVariable v;
        if (word != "param" && word != "reg")
          return fail("ptx_param: parameter must be .param, got ." + word);
        if (!variable("param", v))
          return false;
        if (toKernel)
          k.params.push_back(std::move(v));
        lex.accept(',');
      }
      return true;
    };
    if (!isEntry && lex.accept('(') && !params(false))
      return;
    k.name = lex.identifier();
    if (k.name.empty()) {
      fail("ptx_syntax: kernel must have a name");
      return;
    }
    if (lex.accept('(') && !params(true))
      return;
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
          word != "noreturn" && word != "blocksareclusters") {
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

  void body(PtxKernel &k) {
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

  void bodyDirective(PtxKernel &k, PtxStatement &s) {
    std::string word(lex.directive());
    if (word == "loc" || word == "file") {
      lex.skipLine();
    } else if (word == "pragma") {
      lex.string();
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

  void registers(PtxKernel &k, PtxStatement &s) {
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

  void labelOrInstruction(PtxKernel &k, PtxStatement &s) {
    Lexer saved = lex;
    std::string id(lex.identifier());
    if (!id.empty() && lex.peek() == ':') {
      lex.accept(':');
      if (lex.peek() == '.') {
        Lexer probe = lex;
        probe.accept('.');
        if (std::string(probe.directive()) == "branchtargets") {
          lex = probe;
          s.kind = PtxStatement::Kind::branchTargets;
          s.name = id;
          do
            s.targets.emplace_back(lex.identifier());
          while (lex.accept(','));
          expect(';', ".branchtargets");
          k.body.push_back(std::move(s));
          return;
        }
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

  bool items(PtxOperand &o, char close, int depth) {
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

  bool operand(PtxOperand &o, int depth) {
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

  bool literal(PtxOperand &o, bool minus) {
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
};

} // namespace

Result<PtxModule> parsePtx(std::string_view text, std::string_view fileName) {
  return Parser(text, fileName).run();
}

} // namespace blockscale::emu
