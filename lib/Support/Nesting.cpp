//===- Nesting.cpp - how deep the text of an MLIR file nests --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pass over the characters. '<' is a bracket of types and also a comparison, so
// an open bracket may stay without its partner; a closing one takes all down to its
// own kind with it.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Nesting.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace blockscale::rt {

namespace {

constexpr std::string_view kOpening = "([{<", kClosing = ")]}>";
constexpr size_t kRegion = 2; // '{' holds operations, not one expression

class Scan {
public:
  explicit Scan(std::string_view text) : text(text) {}

  std::optional<DeepPlace> run() {
    while (at < text.size()) {
      within = 0;
      if (text[at] == '"')
        skipString();
      else if (text.substr(at, 2) == "//")
        at = std::min(text.find('\n', at), text.size());
      else if (text.substr(at, 2) == "->" || text.substr(at, 2) == ">=" ||
               text.substr(at, 2) == "<=")
        at += 2;
      else if (isAlias())
        takeAlias();
      else if (isWordStart())
        takeWord();
      else
        takeCharacter();
      if (open.size() + within > kMaxMlirNesting)
        return place("brackets within one another", kMaxMlirNesting);
      if (!open.empty() && open.back().operators > kMaxMlirOperators)
        return place("operators in one expression", kMaxMlirOperators);
    }
    return std::nullopt;
  }

private:
  struct Bracket {
    size_t kind;
    size_t operators = 0; // since the last comma
  };

  bool isAlias() const {
    return (text[at] == '#' || text[at] == '!') && at + 1 < text.size() && isLetter(text[at + 1]);
  }

  /// An alias nests as deep as what it stands for: its definition is a line of its own
  /// outside all brackets, "#name = ...", and its uses count so much more.
  void takeAlias() {
    size_t end = at + 1;
    while (end < text.size() && isLetter(text[end]))
      ++end;
    std::string_view name = text.substr(at, end - at);
    size_t next = text.find_first_not_of(' ', end);
    at = end;
    if (open.empty() && next != std::string_view::npos && text[next] == '=') {
      defined = name;
      depth = 0;
    } else if (auto known = aliases.find(name); known != aliases.end()) {
      within = known->second;
      depth = std::max(depth, open.size() + within);
    }
  }

  static bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  bool isWordStart() const { return isLetter(text[at]); }

  void skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\')
        ++at;
    at = std::min(at + 1, text.size());
  }

  /// A word at a time, so that 1.0e+3 has no operator.
  void takeWord() {
    size_t end = at;
    bool isFraction = false;
    for (; end < text.size(); ++end) {
      char c = text[end];
      bool isSign =
          isFraction && (c == '+' || c == '-') && (text[end - 1] == 'e' || text[end - 1] == 'E');
      if (!isLetter(c) && c != '.' && !isSign)
        break;
      isFraction |= c == '.' && text[at] >= '0' && text[at] <= '9';
    }
    std::string_view word = text.substr(at, end - at);
    if (word == "mod" || word == "floordiv" || word == "ceildiv")
      countOperator();
    at = end;
  }

  void takeCharacter() {
    char c = text[at++];
    if (c == '\n' && open.empty() && !defined.empty()) {
      aliases[defined] = depth;
      defined = {};
    }
    if (size_t kind = kOpening.find(c); kind != std::string_view::npos) {
      open.push_back({kind});
      ++count[kind];
      depth = std::max(depth, open.size());
    } else if (kind = kClosing.find(c); kind != std::string_view::npos && count[kind]) {
      while (open.back().kind != kind)
        pop();
      pop();
    } else if (c == ',' && !open.empty()) {
      open.back().operators = 0;
    } else if (c == '+' || c == '-' || c == '*') {
      countOperator();
    }
  }

  void countOperator() {
    if (!open.empty() && open.back().kind != kRegion)
      ++open.back().operators;
  }

  void pop() {
    --count[open.back().kind];
    open.pop_back();
  }

  DeepPlace place(std::string_view what, size_t most) const {
    std::string_view before = text.substr(0, at - 1);
    size_t newline = before.rfind('\n');
    return {size_t(std::count(before.begin(), before.end(), '\n')) + 1,
            newline == std::string_view::npos ? at : at - 1 - newline, what, most};
  }

  std::string_view text;
  size_t at = 0;
  std::vector<Bracket> open;
  std::array<uint32_t, 4> count{};
  size_t within = 0; // depth of the alias that was just read
  std::unordered_map<std::string_view, size_t> aliases;
  std::string_view defined; // the alias whose definition is being read
  size_t depth = 0;         // of it
};

} // namespace

std::optional<DeepPlace> findDeepNesting(std::string_view text) { return Scan(text).run(); }

} // namespace blockscale::rt
