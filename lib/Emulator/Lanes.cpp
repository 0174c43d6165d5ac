//===- Lanes.cpp - which handlers of lanes the host runs ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

namespace blockscale::emu {

bool hostHasWideLanes() {
#ifdef __x86_64__
  static const bool has = [] {
    for (bool feature : {__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"),
                         __builtin_cpu_supports("bmi"), __builtin_cpu_supports("bmi2"),
                         __builtin_cpu_supports("lzcnt")})
      if (!feature)
        return false;
    return true;
  }();
  return has;
#else
  return false;
#endif
}

} // namespace blockscale::emu
