//===- PtxPragma.h - pragmas that not every version of PTX has ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source: ptxas 13.5, "Feature 'mma_throughput' requires PTX ISA .version 9.3 or later"; at
// module scope it refuses this one.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_PTXPRAGMA_H
#define BLOCKSCALE_FACTS_PTXPRAGMA_H

#include <string>
#include <string_view>

namespace blockscale::facts {

struct PtxPragmaRow {
  std::string_view name, since;
};
inline constexpr PtxPragmaRow kPtxPragmas[] = {{"mma_throughput", "9.3"}};

/// The `.version` that a module of this text must state, at least `least`.
std::string leastPtxVersion(std::string_view least, std::string_view text);

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_PTXPRAGMA_H
