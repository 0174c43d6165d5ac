//===- Arch.h - architectures and what they have --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Architectures form a partial order: code for a family target (sm_100f) runs
// on the exact chips of that family, code for an exact target (sm_100a) only
// there. They are never compared by number; ask `covers(have, need)`.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_ARCH_H
#define BLOCKSCALE_FACTS_ARCH_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::facts {

enum class Arch : uint8_t {
  sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_100f, sm_103a, sm_103f, sm_107a, sm_107f, sm_110a, sm_110f, sm_120a, sm_121a
};

inline constexpr std::array<std::string_view, 14> kArchNames{
    "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_100f", "sm_103a",
    "sm_103f", "sm_107a", "sm_107f", "sm_110a", "sm_110f", "sm_120a", "sm_121a"};

constexpr std::string_view name(Arch a) { return kArchNames[size_t(a)]; }
constexpr std::optional<Arch> parseArch(std::string_view text) {
  for (size_t i = 0; i < kArchNames.size(); ++i)
    if (kArchNames[i] == text)
      return Arch(i);
  return std::nullopt;
}

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_ARCH_H
