//===- SpecialRegisters.cpp - %tid and its like ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special registers are lane vectors that are filled when a warp starts.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include <charconv>

namespace blockscale::emu {

/// %envreg0 to %envreg31 (PTX ISA 9.4, chapter 10).
static bool isDriverRegister(std::string_view name) {
  constexpr std::string_view kPrefix = "%envreg";
  if (!name.starts_with(kPrefix))
    return false;
  name.remove_prefix(kPrefix.size());
  unsigned number = 32;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() && number < 32;
}

Operand Decoder::preset(Preset::Kind kind, bool wide, uint64_t value) {
  auto key = std::make_pair(int(kind) * 2 + wide, value);
  if (auto it = presetSlots.find(key); it != presetSlots.end())
    return it->second;
  Operand slot = allocate(wide ? RegClass::r64 : RegClass::r32, /*isKept=*/false);
  presetSlots[key] = slot;
  kernel.presets.push_back({kind, wide, slot, value});
  return slot;
}

Operand Decoder::specialRegister(const std::string &n, Type t) {
  using K = Preset::Kind;
  static const std::unordered_map<std::string_view, K> kNames{
      {"%tid.x", K::tidX},
      {"%tid.y", K::tidY},
      {"%tid.z", K::tidZ},
      {"%ntid.x", K::ntidX},
      {"%ntid.y", K::ntidY},
      {"%ntid.z", K::ntidZ},
      {"%ctaid.x", K::ctaidX},
      {"%ctaid.y", K::ctaidY},
      {"%ctaid.z", K::ctaidZ},
      {"%nctaid.x", K::nctaidX},
      {"%nctaid.y", K::nctaidY},
      {"%nctaid.z", K::nctaidZ},
      {"%laneid", K::laneid},
      {"%warpid", K::warpid},
      {"%nwarpid", K::nwarpid},
      {"%smid", K::smid},
      {"%nsmid", K::nsmid},
      {"%gridid", K::gridid},
      {"%clusterid.x", K::clusteridX},
      {"%clusterid.y", K::clusteridY},
      {"%clusterid.z", K::clusteridZ},
      {"%nclusterid.x", K::nclusteridX},
      {"%nclusterid.y", K::nclusteridY},
      {"%nclusterid.z", K::nclusteridZ},
      {"%cluster_ctaid.x", K::clusterCtaidX},
      {"%cluster_ctaid.y", K::clusterCtaidY},
      {"%cluster_ctaid.z", K::clusterCtaidZ},
      {"%cluster_nctaid.x", K::clusterNctaidX},
      {"%cluster_nctaid.y", K::clusterNctaidY},
      {"%cluster_nctaid.z", K::clusterNctaidZ},
      {"%cluster_ctarank", K::clusterCtarank},
      {"%cluster_nctarank", K::clusterNctarank},
      {"%dynamic_smem_size", K::dynamicSmem},
      {"%total_smem_size", K::totalSmem},
      {"%aggr_smem_size", K::aggregateSmem},
      {"%lanemask_eq", K::lanemaskEq},
      {"%lanemask_lt", K::lanemaskLt},
      {"%lanemask_le", K::lanemaskLe},
      {"%lanemask_gt", K::lanemaskGt},
      {"%lanemask_ge", K::lanemaskGe}};
  if (n == "WARP_SZ")
    return constant(32, regClass(bits(t)));
  auto it = kNames.find(n);
  if (isDriverRegister(n)) {
    unexecuted(n + " holds what a driver chose to put there, and no driver launches here; pass the "
                   "value as a parameter");
    return 0;
  }
  if (n == "%current_graph_exec" || n.starts_with("%reserved_smem_offset") ||
      n.starts_with("%pm")) {
    unexecuted(n + " tells of a driver, a compiler or a counter that is not here");
    return 0;
  }
  const bool isOfClusters =
      n.starts_with("%cluster") || n.starts_with("%nclusterid") || n == "%aggr_smem_size";
  if (isOfClusters && !facts::supports(arch, facts::Feature::clusters)) {
    fail("ptx_target: " + n + " must have a target with clusters, got " +
         std::string(facts::name(arch)));
    return 0;
  }
  if (it == kNames.end() || bits(t) == 128) {
    fail("ptx_name: unknown register " + n);
    return 0;
  }
  return preset(it->second, regClass(bits(t)) == RegClass::r64);
}

} // namespace blockscale::emu
