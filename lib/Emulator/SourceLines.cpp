//===- SourceLines.cpp - where a line of PTX comes from -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 11.5. The directives stand on lines of their own in what compilers
// write; what does not is left out, since it only makes messages better.
//
//===----------------------------------------------------------------------===//

#include "SourceLines.h"

#include "Echo.h"

#include <algorithm>
#include <charconv>

namespace blockscale::emu {
namespace {

constexpr size_t kMaxStrings = 1u << 20; // bytes of one label

std::string_view trimmed(std::string_view text) {
  size_t from = text.find_first_not_of(" \t\r");
  return from == std::string_view::npos ? std::string_view() : text.substr(from);
}

/// Takes a number, and blanks and a comma before it.
bool takeNumber(std::string_view &text, uint64_t &value) {
  size_t from = text.find_first_not_of(" \t,");
  if (from == std::string_view::npos)
    return false;
  auto [end, error] = std::from_chars(text.data() + from, text.data() + text.size(), value);
  if (error != std::errc())
    return false;
  text.remove_prefix(size_t(end - text.data()));
  return true;
}

bool takeWord(std::string_view &text, std::string_view word) {
  size_t from = text.find_first_not_of(" \t,");
  if (from == std::string_view::npos || !text.substr(from).starts_with(word))
    return false;
  text.remove_prefix(from + word.size());
  return true;
}

} // namespace

void SourceLines::location(uint32_t line, std::string_view text) {
  Place p;
  p.line = line;
  if (!takeNumber(text, p.file) || !takeNumber(text, p.sourceLine) || !takeNumber(text, p.column))
    return;
  if (takeWord(text, "function_name")) {
    text = trimmed(text);
    size_t end = std::min(text.find_first_of(" \t,+"), text.size());
    p.label = text.substr(0, end);
    text.remove_prefix(end);
    if (takeWord(text, "+"))
      takeNumber(text, p.offset);
  }
  places.push_back(std::move(p));
}

SourceLines::SourceLines(std::string_view ptx) {
  std::string *bytes = nullptr; // of the label that was last seen in .debug_str
  bool names = false;
  uint32_t number = 0;
  while (!ptx.empty()) {
    size_t end = std::min(ptx.find('\n'), ptx.size());
    std::string_view line = trimmed(ptx.substr(0, end));
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
    ++number;
    if (line.starts_with(".loc")) {
      location(number, line.substr(4));
    } else if (line.starts_with(".file")) {
      line.remove_prefix(5);
      uint64_t file;
      size_t from = line.find('"'), to = line.rfind('"');
      if (takeNumber(line, file) && from != std::string_view::npos && to > from) {
        from = line.find('"');
        to = line.rfind('"');
        files[file] = line.substr(from + 1, to - from - 1);
      }
    } else if (line.find(".entry") != std::string_view::npos ||
               line.find(".func") != std::string_view::npos) {
      if (!places.empty() && places.back().file)
        places.push_back({number, 0, 0, 0, {}, 0});
    } else if (line.starts_with(".section")) {
      names = line.find(".debug_str") != std::string_view::npos;
      bytes = nullptr;
    } else if (names && line.starts_with("$") && line.find(':') != std::string_view::npos) {
      bytes = &strings[std::string(line.substr(0, line.find(':')))];
    } else if (bytes && line.starts_with(".b8")) {
      line.remove_prefix(3);
      for (uint64_t value; bytes->size() < kMaxStrings && takeNumber(line, value);)
        bytes->push_back(char(value));
    }
  }
}

std::string SourceLines::at(uint32_t line) const {
  auto it = std::upper_bound(places.begin(), places.end(), line,
                             [](uint32_t l, const Place &p) { return l < p.line; });
  if (it == places.begin())
    return {};
  const Place &p = *--it;
  auto file = files.find(p.file);
  if (file == files.end() || p.sourceLine == 0)
    return {};
  std::string out =
      file->second + ":" + std::to_string(p.sourceLine) + ":" + std::to_string(p.column);
  if (auto name = strings.find(p.label);
      name != strings.end() && p.offset < name->second.size() && name->second[p.offset])
    out.append(1, ' ').append(name->second.c_str() + p.offset);
  return echo(out);
}

} // namespace blockscale::emu
