//===- Nesting.h - how deep the text of an MLIR file nests ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser recurses with brackets and with the operators of affine
// expressions; a text that nests too deep would exhaust the stack. It is looked at
// before it is parsed.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_NESTING_H
#define BLOCKSCALE_SUPPORT_NESTING_H

#include <cstddef>
#include <optional>
#include <string_view>

namespace blockscale::rt {

/// Brackets within one another that no kernel comes near; the parser takes ten times
/// as many in a stack of 8 MiB.
inline constexpr size_t kMaxMlirNesting = 256;
/// Operators of one affine expression.
inline constexpr size_t kMaxMlirOperators = 4096;

/// A place in a text, from 1, and what there is too much of.
struct DeepPlace {
  size_t line = 1, column = 1;
  std::string_view what;
  size_t most = 0;
};

/// The first bracket or operator beyond these numbers. Strings, comments and "->" are
/// none; a bracket that is never closed counts until one around it is, and an alias counts
/// as what it stands for.
std::optional<DeepPlace> findDeepNesting(std::string_view text);

} // namespace blockscale::rt

#endif // BLOCKSCALE_SUPPORT_NESTING_H
