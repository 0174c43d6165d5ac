//===- PtxVersion.h - versions of the PTX language ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which `.version` exist and from which one each target is known. Source: ptxas 13.5,
// asked for every pair; PTX ISA 9.4, 11.1.2.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_PTXVERSION_H
#define BLOCKSCALE_FACTS_PTXVERSION_H

#include "blockscale/Facts/Arch.h"

namespace blockscale::facts {

struct PtxVersion {
  int major = 0, minor = 0;
  constexpr auto operator<=>(const PtxVersion &) const = default;
};

/// The minor versions 0 (or `first`) to `last` of each major version.
struct PtxVersionRow {
  int major, first, last;
};
inline constexpr PtxVersionRow kPtxVersions[] = {{1, 0, 5}, {2, 0, 3}, {3, 0, 2},
                                                 {4, 0, 3}, {5, 0, 1}, {6, 0, 5},
                                                 {7, 0, 8}, {8, 0, 8}, {9, 0, 5}};

struct PtxTargetRow {
  Arch arch;
  PtxVersion since;
};
inline constexpr std::array<PtxTargetRow, kArchNames.size()> kPtxTargets{{
    {Arch::sm_80, {7, 0}},
    {Arch::sm_86, {7, 1}},
    {Arch::sm_89, {7, 8}},
    {Arch::sm_90a, {8, 0}},
    {Arch::sm_100, {8, 6}},
    {Arch::sm_100a, {8, 6}},
    {Arch::sm_100f, {8, 8}},
    {Arch::sm_103a, {8, 8}},
    {Arch::sm_103f, {8, 8}},
    {Arch::sm_107, {9, 4}},
    {Arch::sm_107a, {9, 4}},
    {Arch::sm_107f, {9, 4}},
    {Arch::sm_110a, {9, 0}},
    {Arch::sm_110f, {9, 0}},
    {Arch::sm_120a, {8, 7}},
    {Arch::sm_120f, {8, 8}},
    {Arch::sm_121a, {8, 8}},
}};

/// The version that a text such as "9.4" names; refuses one that does not exist
/// (ptx_version_c1).
Result<PtxVersion> parsePtxVersion(std::string_view text);
/// Refuses a version that does not know the target (ptx_version_c2).
Result<bool> checkPtxTarget(PtxVersion version, Arch arch);
/// Refuses a version that does not have the pragma (ptx_version_c3).
Result<bool> checkPtxPragma(PtxVersion version, std::string_view pragma);

namespace detail {
constexpr bool ptxTargetsInOrder() {
  for (size_t i = 0; i < kPtxTargets.size(); ++i)
    if (kPtxTargets[i].arch != Arch(i))
      return false;
  return true;
}
static_assert(ptxTargetsInOrder());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_PTXVERSION_H
