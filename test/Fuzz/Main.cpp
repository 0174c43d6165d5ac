//===- Main.cpp - one target as a fuzzer ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FUZZ_TARGET names the function.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  blockscale::fuzz::FUZZ_TARGET({reinterpret_cast<const char *>(data), size});
  return 0;
}
