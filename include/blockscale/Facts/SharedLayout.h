//===- SharedLayout.h - where the parts of shared memory lie ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel asks for parts, which lie one behind the other in the order of the requests but for
// two rules. Targets of cp.async come first: on sm_107a, whose blocks have more, a copy to
// 248 KiB or beyond loses its cache hint. And parts of branches of which a CTA takes one share
// their bytes, so that a plan over branches is their largest, not their sum.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_SHAREDLAYOUT_H
#define BLOCKSCALE_FACTS_SHAREDLAYOUT_H

#include "blockscale/Facts/Result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace blockscale::facts {

/// Where cp.async.cg keeps its cache hint: below so many bytes of shared memory (0x3E000; a
/// comment in FlashInfer's kernels for sm_107a, not in the PTX ISA).
inline constexpr int64_t kCpAsyncBytes = 248 * 1024;

/// Who writes a part of shared memory.
enum class SharedWriter : uint8_t { tma, cpAsync, threads };

struct SharedPart {
  int64_t bytes, alignment;
  SharedWriter writer = SharedWriter::tma;
  /// Of the branch whose CTAs alone use it; nullopt of all.
  std::optional<unsigned> branch = std::nullopt;
};

struct SharedLayout {
  std::vector<int64_t> offsets; ///< Of each part, in bytes.
  int64_t end = 0;              ///< Behind the last part.
};

/// The layout of parts in this order: targets of cp.async that all use, each branch from there on
/// with its own such targets first, and the others behind the longest branch. Refused
/// (shared_c1) where a target of cp.async ends beyond kCpAsyncBytes; whether the whole fits a
/// chip is the schedule's rule.
Result<SharedLayout> layOutShared(const std::vector<SharedPart> &parts);

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_SHAREDLAYOUT_H
