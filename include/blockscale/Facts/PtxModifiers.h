//===- PtxModifiers.h - modifiers that only some targets take -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which feature a modifier of an instruction asks of the target, for every form in
// which it stands. Source of every row: ptxas 13.5 on each target.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_PTXMODIFIERS_H
#define BLOCKSCALE_FACTS_PTXMODIFIERS_H

#include "blockscale/Facts/Features.h"

#include <compare>

namespace blockscale::facts {

/// A .version, as far as modifiers depend on it.
struct PtxRelease {
  int major = 0, minor = 0;
  constexpr auto operator<=>(const PtxRelease &) const = default;
};

struct PtxModifierRow {
  std::string_view opcode;
  std::string_view modifier; // a `*` at the end stands for any rest
  Feature needs;
  PtxRelease since = {};
};

// clang-format off
inline constexpr std::array<PtxModifierRow, 33> kPtxModifiers{{
    {"tcgen05", "scale_vec::*", Feature::scaleVecQualifier},
    {"tcgen05", "collector::b::*", Feature::collectorB},
    {"tcgen05", "decompress::lut::b", Feature::decompressLutB},
    {"tcgen05", "kind::ti16", Feature::kindTi16},
    {"tcgen05", "kind::i8", Feature::kindI8},
    {"tcgen05", "sync_restrict::shared::read::mma::a", Feature::commitSyncRestrict},
    {"tcgen05", "multicast::cluster::32b", Feature::multicast32},
    {"tcgen05", "exclusive", Feature::allocExclusive, {9, 4}},
    {"tcgen05", "shift", Feature::tcgen05Shift},
    {"tcgen05", "red", Feature::ldRed},
    {"tcgen05", "spcompress", Feature::spcompress},
    {"cp", "multicast::cluster::32b", Feature::multicast32},
    {"cp", "override::*", Feature::tmaOverride},
    {"cp", "tile::scatter4", Feature::tmaGather4},
    {"cp", "cta_group::*", Feature::tmaCtaGroup},
    {"griddepcontrol", "wait", Feature::dependentGrids},
    {"griddepcontrol", "launch_dependents", Feature::dependentGrids},
    {"st", "async", Feature::clusters},
    {"red", "async", Feature::clusters},
    {"mbarrier", "expect_tx", Feature::clusters},
    {"mbarrier", "complete_tx", Feature::clusters},
    {"mbarrier", "try_wait", Feature::clusters},
    {"mbarrier", "layout::*", Feature::clusters, {9, 3}},
    {"mbarrier", "phase_type::*", Feature::clusters, {9, 3}},
    {"mbarrier", "multicast::cluster::32b", Feature::multicast32, {9, 4}},
    {"clusterlaunchcontrol", "multicast::cluster::all", Feature::clusterLaunchControlMulticast},
    {"redux", "f32", Feature::reduxFloat},
    {"mma", "block_scale", Feature::blockScaledMmaSync},
    {"cvt", "scaled::n1::ue8m0", Feature::cvtScaledN1},
    {"cvt", "scaled::n2::ue8m0", Feature::cvtScaledN2},
    {"cvt", "ue5m3x2", Feature::cvtUe5m3},
    {"cvt", "pzo", Feature::cvtPzo},
    {"cvt", "s2f6x2", Feature::cvtS2f6},
}};
// clang-format on

/// What a modifier asks for, or null.
constexpr const PtxModifierRow *findPtxModifier(std::string_view opcode,
                                                std::string_view modifier) {
  for (const PtxModifierRow &row : kPtxModifiers) {
    if (row.opcode != opcode)
      continue;
    std::string_view wanted = row.modifier;
    bool any = wanted.ends_with('*');
    if (any)
      wanted.remove_suffix(1);
    if (any ? modifier.starts_with(wanted) : modifier == wanted)
      return &row;
  }
  return nullptr;
}

namespace detail {
constexpr bool ptxModifiersAreSound() {
  for (size_t i = 0; i < kPtxModifiers.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (kPtxModifiers[i].opcode == kPtxModifiers[j].opcode &&
          kPtxModifiers[i].modifier == kPtxModifiers[j].modifier)
        return false;
  return true;
}
static_assert(ptxModifiersAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_PTXMODIFIERS_H
