//===- Paths.h - every implementation of mma() that this host can run -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_NUMERICS_PATHS_H
#define BLOCKSCALE_TEST_UNIT_NUMERICS_PATHS_H

#include "blockscale/Emulator/Mma.h"

#include <string>
#include <vector>

namespace blockscale::test {

struct NamedPath {
  std::string name;
  emu::MmaPath path;
  emu::MmaHost host;
  void run(const emu::MmaInstruction &i, const emu::MmaOperands &o) const {
    emu::mma(i, o, path, host);
  }
};

/// The plain model first.
inline std::vector<NamedPath> paths() {
  using namespace emu;
  std::vector<NamedPath> all{{"plain", MmaPath::plain, MmaHost::scalar}};
  const std::pair<const char *, MmaHost> hosts[] = {
      {"scalar", MmaHost::scalar}, {"avx2", MmaHost::avx2}, {"avx512", MmaHost::avx512}};
  for (auto [name, host] : hosts)
    if (isAvailable(host)) {
      all.push_back({std::string("general ") + name, MmaPath::general, host});
      all.push_back({std::string("automatic ") + name, MmaPath::automatic, host});
    }
  return all;
}

} // namespace blockscale::test

#endif // BLOCKSCALE_TEST_UNIT_NUMERICS_PATHS_H
