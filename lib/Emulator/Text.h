//===- Text.h - numbers in messages ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_TEXT_H
#define BLOCKSCALE_LIB_EMULATOR_TEXT_H

#include <cstdint>
#include <cstdio>
#include <string>

namespace blockscale::emu {

inline std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}
inline std::string dec(int64_t value) { return std::to_string(value); }

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_TEXT_H
