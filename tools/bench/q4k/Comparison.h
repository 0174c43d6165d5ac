//===- Comparison.h - whether the hand-written kernel is worth comparing --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slow peer flatters ours: below a share of the vendor's rate a comparison with it is void.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_Q4K_COMPARISON_H
#define BLOCKSCALE_TOOLS_BENCH_Q4K_COMPARISON_H

#include <cstdio>
#include <string>

namespace blockscale::q4k {

/// Least share of the vendor's f16 product with resident weights that the best hand-written
/// form has at 2048 x 18944 x 3584.
inline constexpr double kLeastHandwritten = 0.20;

struct Verdict {
  bool isVoid;
  std::string text; // one line
};

/// From medians in milliseconds at that shape; zero is what was not timed.
inline Verdict judgeHandwritten(double vendor, double handwritten) {
  if (vendor <= 0 || handwritten <= 0)
    return {true, std::string("VOID: a comparison with the hand-written kernel wants it and "
                              "cublas-f16 in one run, got no ") +
                      (vendor <= 0 ? "cublas-f16" : "hand-written kernel")};
  double ratio = vendor / handwritten;
  char text[160];
  std::snprintf(text, sizeof text,
                "%shand-written kernel: %.3f of cublas-f16, at least %.2f is asked of it",
                ratio < kLeastHandwritten ? "VOID: " : "", ratio, kLeastHandwritten);
  return {ratio < kLeastHandwritten, text};
}

} // namespace blockscale::q4k

#endif // BLOCKSCALE_TOOLS_BENCH_Q4K_COMPARISON_H
