//===- SharedLayout.cpp - where the parts of shared memory lie ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/SharedLayout.h"

#include <algorithm>

namespace blockscale::facts {

namespace {
/// Places parts from some byte on and says where they end.
class Placer {
public:
  Placer(const std::vector<SharedPart> &parts) : parts(parts) {
    layout.offsets.resize(parts.size());
  }

  int64_t place(int64_t at, std::optional<unsigned> branch, bool isCpAsync) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const SharedPart &part = parts[i];
      if (part.branch != branch || (part.writer == SharedWriter::cpAsync) != isCpAsync)
        continue;
      layout.offsets[i] = (at + part.alignment - 1) / part.alignment * part.alignment;
      at = layout.offsets[i] + part.bytes;
    }
    layout.end = std::max(layout.end, at);
    return at;
  }

  SharedLayout layout;

private:
  const std::vector<SharedPart> &parts;
};
} // namespace

Result<SharedLayout> layOutShared(const std::vector<SharedPart> &parts) {
  unsigned branches = 0;
  for (const SharedPart &part : parts)
    branches = std::max(branches, part.branch ? *part.branch + 1 : 0);
  Placer placer(parts);
  int64_t common = placer.place(0, std::nullopt, /*isCpAsync=*/true), longest = common;
  for (unsigned branch = 0; branch < branches; ++branch) {
    int64_t end = placer.place(common, branch, /*isCpAsync=*/true);
    longest = std::max(longest, placer.place(end, branch, /*isCpAsync=*/false));
  }
  placer.place(longest, std::nullopt, /*isCpAsync=*/false);
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t end = placer.layout.offsets[i] + parts[i].bytes;
    if (parts[i].writer == SharedWriter::cpAsync && end > kCpAsyncBytes)
      return refuse("shared_c1: targets of cp.async must end at ", kCpAsyncBytes,
                    " bytes of shared memory at most, got ", end);
  }
  return placer.layout;
}

} // namespace blockscale::facts
