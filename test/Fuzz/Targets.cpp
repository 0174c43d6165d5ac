//===- Targets.cpp - what every target promises ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include <cstdio>
#include <cstdlib>

namespace blockscale {

void fuzz::require(bool holds, std::string_view promise, std::string_view got) {
  if (holds)
    return;
  std::fprintf(stderr, "broken promise: %.*s, got %.*s\n", int(promise.size()), promise.data(),
               int(got.size()), got.data());
  std::abort();
}

void fuzz::requireOneLine(const std::string &message) {
  require(!message.empty(), "a refusal must say something");
  for (char c : message)
    require(static_cast<unsigned char>(c) >= ' ', "a refusal must be one line of text", message);
  require(message.size() < 4096, "a refusal must be short", message);
}

} // namespace blockscale
