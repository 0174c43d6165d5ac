//===- Output.cpp - standard output that takes no more --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Output.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>

namespace blockscale::rt {

bool hasLostOutput(llvm::raw_fd_ostream &stream) {
  stream.flush();
  bool isLost = stream.has_error();
  stream.clear_error();
  return isLost;
}

static const char *watchedTool = nullptr;

static void checkAtExit() {
  bool isLost = hasLostOutput(llvm::outs());
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    isLost = true;
  if (!isLost)
    return;
  std::fprintf(stderr, "%s: error: output: standard output must be writable, got a write error\n",
               watchedTool);
  std::_Exit(1);
}

void watchStandardOutput(const char *tool) {
  watchedTool = tool;
  (void)llvm::outs(); // made first, so that it is destroyed after the check
  std::atexit(checkAtExit);
}

} // namespace blockscale::rt
