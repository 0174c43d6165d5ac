//===- Compare.h - two devices' bytes, side by side -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_SILICON_COMPARE_H
#define BLOCKSCALE_TOOLS_BENCH_SILICON_COMPARE_H

#include "Case.h"

namespace blockscale::silicon {

/// What differs between the outputs of two runs.
struct Comparison {
  uint64_t bytes = 0, elements = 0, mismatches = 0; // mismatches: of elements
  std::vector<std::string> examples;                // with the inputs of the same index
  std::map<int, uint64_t> ulps; // of f32 outputs: how far the first lies from the second
};

Comparison compare(const Case &program, const Buffers &first, const Buffers &second,
                   const char *firstName, const char *secondName);

/// FNV-1a over the outputs in the order of their names.
uint64_t hashOf(const Buffers &outputs);

/// The difference of each f32's bits from the second's, one byte each: -127 to 127, or
/// -128 where a 32-bit difference follows in `escapes`. For tables of approximations.
void formatDifferences(const Bytes &first, const Bytes &second, Bytes &differences, Bytes &escapes);

} // namespace blockscale::silicon

#endif // BLOCKSCALE_TOOLS_BENCH_SILICON_COMPARE_H
