//===- Paths.h - every implementation of mma() that this host can run -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_NUMERICS_PATHS_H
#define BLOCKSCALE_TEST_UNIT_NUMERICS_PATHS_H

#include "blockscale/Emulator/Mma.h"

#include <functional>
#include <string>
#include <vector>

namespace blockscale::test {

struct NamedPath {
  std::string name;
  std::function<void(const emu::MmaInstruction &, const emu::MmaOperands &)> run;
};

inline std::vector<NamedPath> paths() {
  using namespace emu;
  std::vector<NamedPath> all;
  all.push_back({"plain", [](const MmaInstruction &i, const MmaOperands &o) {
                   mma(i, o, MmaPath::plain);
                 }});
  return all;
}

} // namespace blockscale::test

#endif // BLOCKSCALE_TEST_UNIT_NUMERICS_PATHS_H
