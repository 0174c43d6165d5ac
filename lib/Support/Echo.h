//===- Echo.h - what others wrote, in a message of ours -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message is one short line, whatever stands in the file that it quotes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SUPPORT_ECHO_H
#define BLOCKSCALE_LIB_SUPPORT_ECHO_H

#include <string>
#include <string_view>

namespace blockscale::rt {

/// Control characters become '?', and what is too long is cut.
inline std::string echo(std::string_view text, size_t most = 512) {
  std::string out(text.substr(0, most));
  for (char &c : out)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = '?';
  return text.size() > most ? out + "..." : out;
}

} // namespace blockscale::rt

#endif // BLOCKSCALE_LIB_SUPPORT_ECHO_H
