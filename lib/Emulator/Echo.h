//===- Echo.h - source text in messages -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message that repeats what a module says stays one readable line, however long
// the module's words are.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ECHO_H
#define BLOCKSCALE_LIB_EMULATOR_ECHO_H

#include <cctype>
#include <string>
#include <string_view>

namespace blockscale::emu {

/// Cuts each name or number after 64 characters, and all of it after 512; control
/// characters become '?'.
inline std::string echo(std::string_view message) {
  constexpr size_t kWord = 64, kMessage = 512;
  std::string out;
  size_t run = 0;
  for (char c : message) {
    if (std::iscntrl(static_cast<unsigned char>(c)))
      c = '?';
    bool word = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
    run = word ? run + 1 : 0;
    if (run == kWord + 1)
      out += "...";
    if (run <= kWord)
      out += c;
    if (out.size() > kMessage)
      return out.substr(0, kMessage) + "...";
  }
  return out;
}

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_ECHO_H
