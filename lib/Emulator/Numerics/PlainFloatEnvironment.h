//===- PlainFloatEnvironment.h - a known state of the float unit ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_NUMERICS_PLAINFLOATENVIRONMENT_H
#define BLOCKSCALE_LIB_EMULATOR_NUMERICS_PLAINFLOATENVIRONMENT_H

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace blockscale::emu {

/// Round to nearest, no flushing of subnormals, no traps, while it lives.
class PlainFloatEnvironment {
public:
#if defined(__x86_64__)
  PlainFloatEnvironment() : saved(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~PlainFloatEnvironment() { _mm_setcsr(saved); }
  PlainFloatEnvironment(const PlainFloatEnvironment &) = delete;
  PlainFloatEnvironment &operator=(const PlainFloatEnvironment &) = delete;

private:
  static constexpr unsigned kDefault = 0x1F80;
  unsigned saved;
#endif
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_NUMERICS_PLAINFLOATENVIRONMENT_H
