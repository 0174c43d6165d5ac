//===- Output.h - standard output that takes no more ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM ends the process with lines of its own when a stream is destroyed whose file
// took less than was printed, and C's streams say nothing at all.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_OUTPUT_H
#define BLOCKSCALE_SUPPORT_OUTPUT_H

namespace llvm {
class raw_fd_ostream;
}

namespace blockscale::rt {

/// Flushes; true when the file did not take everything, which the stream then forgets.
bool hasLostOutput(llvm::raw_fd_ostream &stream);

/// From now on the process ends with exit status 1 and one line of `tool` when standard
/// output did not take everything, wherever it ends. `tool` must outlive the process.
void watchStandardOutput(const char *tool);

} // namespace blockscale::rt

#endif // BLOCKSCALE_SUPPORT_OUTPUT_H
