//===- SpanPlan.cpp - instructions of K = 96 in a K tile ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/SpanPlan.h"

#include "blockscale/Facts/ScaleTile.h"

using namespace blockscale;

llvm::SmallVector<int64_t, 8> blockscale::planSpanSteps(int64_t k) {
  llvm::SmallVector<int64_t, 8> steps;
  // 64 leaves a remainder of 64 by 96, two of them one of 32.
  while (k > 0 && k % kSpanK) {
    steps.push_back(kSpanShortK);
    k -= kSpanShortK;
  }
  for (; k > 0; k -= kSpanK)
    steps.push_back(kSpanK);
  return steps;
}

llvm::SmallVector<SpanGroup, 5> blockscale::planSpan(int64_t k, int64_t block) {
  llvm::SmallVector<SpanGroup, 5> groups;
  llvm::SmallVector<int64_t, 8> steps = planSpanSteps(k);
  int64_t byte = 0, word = 0;
  for (size_t i = 0; i < steps.size();) {
    // As many as fit a buffer of scales, up to the end or a whole word.
    size_t end = i;
    int64_t scales = 0, fit = 0;
    for (size_t j = i; j < steps.size(); ++j) {
      scales += steps[j] / block;
      if (scales > kSpanScales)
        break;
      if (j + 1 == steps.size() || scales % facts::kScaleTileScales == 0)
        end = j + 1, fit = scales;
    }
    SpanGroup group{word, facts::scaleTileKBlocks(fit), {}};
    for (int64_t scale = 0; i < end; ++i) {
      group.steps.push_back({steps[i], byte, scale});
      scale += steps[i] / block;
      byte += steps[i] / 2;
    }
    word += group.words;
    groups.push_back(std::move(group));
  }
  return groups;
}
