//===- Arch.cpp - names of targets ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target without its suffix is the usual mistake, and ptxas answers it fifty
// times; here it is one line.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/Arch.h"

namespace blockscale::facts {

Result<Arch> findArch(std::string_view text) {
  auto isSuffixOf = [](std::string_view candidate, std::string_view plain) {
    return candidate.size() == plain.size() + 1 && candidate.substr(0, plain.size()) == plain;
  };
  std::string suffixed, all;
  for (std::string_view candidate : kArchNames) {
    bool isPlain = false; // one that suffixes go with
    for (std::string_view other : kArchNames)
      isPlain |= isSuffixOf(other, candidate);
    if (!isPlain)
      all += joinText(all.empty() ? "" : ", ", candidate);
    if (isSuffixOf(candidate, text))
      suffixed += joinText(suffixed.empty() ? "" : " or ", candidate);
  }
  if (!suffixed.empty())
    return refuse("arch_c1: target needs ", suffixed, ", got ", text);
  if (std::optional<Arch> arch = parseArch(text))
    return *arch;
  return refuse("arch_c1: target must be one of ", all, ", got '", text, "'");
}

} // namespace blockscale::facts
