//===- PTXText.h - what LLVM cannot write into PTX text -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_PTXTEXT_H
#define BLOCKSCALE_LIB_TARGET_PTX_PTXTEXT_H

#include "LineDirectives.h"
#include "blockscale/Facts/Arch.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>

namespace blockscale {

/// Writes the header for `arch` and the directives that lead back to the source, and
/// appends the decoded form after each line that has one of the noted constants as an
/// operand.
std::string finishPTXText(llvm::StringRef text, facts::Arch arch,
                          const std::map<uint64_t, llvm::StringRef> &notes, LineDirectives &lines);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_PTXTEXT_H
