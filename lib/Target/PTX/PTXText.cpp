//===- PTXText.cpp - header and descriptor comments -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips of the tcgen05 families take PTX 9.4, and sm_107 needs it (ptxas 13.5: "PTX
// .version 9.3 does not support .target sm_107a"), so their modules say 9.4. The others'
// say 9.0, which LLVM writes the text for: a driver of CUDA 13.0 compiles it, and
// ptxas 13.0 does. A pragma that came later asks for its own version.
//
//===----------------------------------------------------------------------===//

#include "PTXText.h"

#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/PtxPragma.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace blockscale {

static std::string versionFor(facts::Arch arch, StringRef text) {
  return facts::leastPtxVersion(facts::info(arch).tmemColumns ? "9.4" : "9.0", text);
}

/// The noted constant that stands as an operand in this line, if any.
static StringRef findNote(StringRef line, const std::map<uint64_t, StringRef> &notes) {
  while (!line.empty()) {
    line = line.drop_until(
        [](char c) { return llvm::isDigit(c) || c == '-' || llvm::isAlpha(c) || c == '%'; });
    // Skip identifiers and registers, which may contain digits.
    if (!line.empty() && (llvm::isAlpha(line.front()) || line.front() == '%')) {
      line = line.drop_while([](char c) {
        return llvm::isAlnum(c) || c == '_' || c == '.' || c == ':' || c == '%' || c == '$';
      });
      continue;
    }
    bool negative = line.consume_front("-");
    StringRef digits = line.take_while([](char c) { return llvm::isAlnum(c); });
    line = line.drop_front(digits.size());
    uint64_t value;
    if (digits.empty() || digits.getAsInteger(0, value))
      continue;
    auto note = notes.find(negative ? -value : value);
    if (note == notes.end() && negative)
      note = notes.find(uint64_t(uint32_t(-value)));
    if (note != notes.end())
      return note->second;
  }
  return {};
}

std::string finishPTXText(StringRef text, facts::Arch arch,
                          const std::map<uint64_t, StringRef> &notes, LineDirectives &lines) {
  std::string out;
  size_t headerEnd = 0;
  const std::string version = versionFor(arch, text);
  out.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    if (line.starts_with(".version")) {
      out += ".version " + version + "\n";
      continue;
    }
    if (line.starts_with(".target")) {
      out += ".target " + std::string(facts::name(arch)) + "\n";
      continue;
    }
    if (lines.rewrite(line, out))
      continue;
    out += line;
    if (StringRef note = findNote(line, notes); !note.empty())
      out += ("  // " + note).str();
    out += '\n';
    if (line.starts_with(".address_size"))
      headerEnd = out.size();
  }
  out.insert(headerEnd, lines.files());
  return out + lines.names();
}

} // namespace blockscale
