//===- Json.h - JSON from files that are not trusted ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llvm::json parses by recursion; nesting is bounded here first, so that no
// input can exhaust the stack.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_JSON_H
#define BLOCKSCALE_SUPPORT_JSON_H

#include "blockscale/Facts/Result.h"

#include "llvm/Support/JSON.h"

#include <string_view>

namespace blockscale::rt {

/// Parses a whole text, in which an object gives a key once; refusals start with "label: 'subject'
/// ".
facts::Result<llvm::json::Value> parseJson(std::string_view text, std::string_view label,
                                           std::string_view subject);

} // namespace blockscale::rt

#endif // BLOCKSCALE_SUPPORT_JSON_H
