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

#include "blockscale/Facts/Result.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace blockscale::facts {

enum class Arch : uint8_t {
  sm_80,
  sm_86,
  sm_89,
  sm_90a,
  sm_100,
  sm_100a,
  sm_100f,
  sm_103a,
  sm_103f,
  sm_107,
  sm_107a,
  sm_107f,
  sm_110a,
  sm_110f,
  sm_120a,
  sm_120f,
  sm_121a
};

inline constexpr std::array<std::string_view, 17> kArchNames{
    "sm_80",   "sm_86",   "sm_89",   "sm_90a",  "sm_100",  "sm_100a",
    "sm_100f", "sm_103a", "sm_103f", "sm_107",  "sm_107a", "sm_107f",
    "sm_110a", "sm_110f", "sm_120a", "sm_120f", "sm_121a"};

constexpr std::string_view name(Arch a) { return kArchNames[size_t(a)]; }
constexpr std::optional<Arch> parseArch(std::string_view text) {
  for (size_t i = 0; i < kArchNames.size(); ++i)
    if (kArchNames[i] == text)
      return Arch(i);
  return std::nullopt;
}

/// A set of architectures.
struct ArchSet {
  uint32_t bits = 0;
  constexpr ArchSet() = default;
  constexpr ArchSet(std::initializer_list<Arch> archs) {
    for (Arch a : archs)
      bits |= uint32_t(1) << unsigned(a);
  }
  constexpr bool contains(Arch a) const { return bits >> unsigned(a) & 1; }
  constexpr bool empty() const { return bits == 0; }
  constexpr bool operator==(const ArchSet &) const = default;
};

/// The targets whose code runs on each target, itself included. Plain targets are
/// forward compatible, exact (`a`) targets run nowhere else, family (`f`) targets
/// on the later members of their family (PTX ISA 9.4, 11.1.2).
struct ArchCover {
  Arch have;
  ArchSet covers;
};

inline constexpr std::array<ArchCover, kArchNames.size()> kArchCovers{{
    {Arch::sm_80, {Arch::sm_80}},
    {Arch::sm_86, {Arch::sm_80, Arch::sm_86}},
    {Arch::sm_89, {Arch::sm_80, Arch::sm_86, Arch::sm_89}},
    {Arch::sm_90a, {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_90a}},
    {Arch::sm_100, {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100}},
    {Arch::sm_100a,
     {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_100a, Arch::sm_100f}},
    {Arch::sm_100f, {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_100f}},
    {Arch::sm_103a,
     {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_100f, Arch::sm_103a,
      Arch::sm_103f}},
    {Arch::sm_103f,
     {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_100f, Arch::sm_103f}},
    {Arch::sm_107, {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_107}},
    {Arch::sm_107a,
     {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_100f, Arch::sm_103f,
      Arch::sm_107, Arch::sm_107a, Arch::sm_107f}},
    {Arch::sm_107f,
     {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_100f, Arch::sm_103f,
      Arch::sm_107, Arch::sm_107f}},
    {Arch::sm_110a,
     {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_107, Arch::sm_110a,
      Arch::sm_110f}},
    {Arch::sm_110f,
     {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_107, Arch::sm_110f}},
    {Arch::sm_120a,
     {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_107, Arch::sm_120a,
      Arch::sm_120f}},
    {Arch::sm_120f,
     {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_107, Arch::sm_120f}},
    {Arch::sm_121a,
     {Arch::sm_80, Arch::sm_86, Arch::sm_89, Arch::sm_100, Arch::sm_107, Arch::sm_120f,
      Arch::sm_121a}},
}};

/// True when what needs target `need` works on target `have`.
constexpr bool covers(Arch have, Arch need) {
  return kArchCovers[size_t(have)].covers.contains(need);
}
/// True when `have` covers one of the alternatives `needs`.
constexpr bool covers(Arch have, ArchSet needs) {
  return (kArchCovers[size_t(have)].covers.bits & needs.bits) != 0;
}

/// The architecture of a target name, or why there is none (arch_c1): a name without
/// its suffix is answered with the suffixes to choose from, though PTX knows it: no
/// block-scaled product runs on it.
Result<Arch> findArch(std::string_view text);

namespace detail {
constexpr bool coversIsPartialOrder() {
  constexpr size_t n = kArchNames.size();
  for (size_t i = 0; i < n; ++i) {
    if (kArchCovers[i].have != Arch(i) || !covers(Arch(i), Arch(i)))
      return false;
    for (size_t j = 0; j < n; ++j) {
      if (i != j && covers(Arch(i), Arch(j)) && covers(Arch(j), Arch(i)))
        return false;
      for (size_t k = 0; k < n; ++k)
        if (covers(Arch(i), Arch(j)) && covers(Arch(j), Arch(k)) && !covers(Arch(i), Arch(k)))
          return false;
    }
  }
  return true;
}
static_assert(coversIsPartialOrder());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_ARCH_H
