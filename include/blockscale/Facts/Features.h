//===- Features.h - which chip has what -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row for each feature that only some targets have, with the targets that
// introduce it. Ask `supports(arch, feature)`. Source of every row: the PTX ISA
// 9.4 manual and ptxas 13.5 on that target; where they disagree the row follows
// ptxas and says so.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_FEATURES_H
#define BLOCKSCALE_FACTS_FEATURES_H

#include "blockscale/Facts/MmaMode.h"

namespace blockscale::facts {

enum class Feature : uint8_t {
  cpAsync,
  tma,
  clusters,
  multicast,
  wgmma,
  setmaxnreg,
  dependentGrids,
  clusterLaunchControl,
  clusterLaunchControlMulticast,
  blockScaledMmaSync,
  mmaSyncMxf4SparseOrdered,
  tcgen05,
  tcgen05BlockScale,
  blockQualifier,
  scaleVecQualifier,
  mmaK96,
  mmaLongK,
  scaleUe5m3,
  scaleUe4m3Block32,
  sfaLayout128,
  collectorB,
  decompressLutB,
  kindTi16,
  kindI8,
  sparseMxf8f6f4,
  sparseMxf4,
  tcgen05Shift,
  commitSyncRestrict,
  multicast32,
  allocExclusive,
  tmem576,
  ldRed,
  spcompress,
  smemDesc15Bit,
  smemDescAbsolute,
  cvtFp8,
  cvtNarrow,
  cvtScaledN1,
  cvtScaledN2,
  cvtRs,
  cvtS2f6,
  cvtUe5m3,
  cvtNarrowRz,
  cvtPzo,
  tmaSubByte,
  tmaSwizzleAtoms,
  tmaSwizzle96,
  tmaGather4,
  tmaGather4Cta,
  tmaCtaGroup,
  tensormapReplace,
  tmaOverride,
  oversizedShared,
  reduxFloat,
  storeBulk,
  asyncGlobal
};

struct FeatureInfo {
  Feature feature;
  std::string_view name;
  ArchSet needs; // one of them must be covered
  std::string_view what;
  std::string_view source;
};

namespace detail {
// Without a suffix, with one, and either.
inline constexpr ArchSet kHopperOn{Arch::sm_90a, Arch::sm_100};
inline constexpr ArchSet kHopperSuffixed{Arch::sm_90a, Arch::sm_100f, Arch::sm_110f, Arch::sm_120f};
inline constexpr ArchSet kBlackwellOn{Arch::sm_100};
inline constexpr ArchSet kBlackwellSuffixed{Arch::sm_100f, Arch::sm_110f, Arch::sm_120f};
inline constexpr ArchSet k12x{Arch::sm_120f};
inline constexpr ArchSet k12xExact{Arch::sm_120a, Arch::sm_121a};
inline constexpr ArchSet k107Exact{Arch::sm_107a};
} // namespace detail

// clang-format off
inline constexpr std::array<FeatureInfo, 56> kFeatures{{
    {Feature::cpAsync, "cp_async", {Arch::sm_80}, "cp.async", "PTX ISA 9.4, 9.7.10"},
    {Feature::tma, "tma", detail::kHopperOn, "cp.async.bulk.tensor", "PTX ISA 9.4, 9.7.10.28"},
    {Feature::clusters, "clusters", detail::kHopperOn, "thread block clusters", "cuda_occupancy.h 13.5"},
    {Feature::multicast, "multicast", {Arch::sm_90a, Arch::sm_100f, Arch::sm_110f}, "TMA multicast at full speed; 12x takes the form without a gain", "PTX ISA 9.4, 9.7.10.28"},
    {Feature::wgmma, "wgmma", {Arch::sm_90a}, "wgmma.mma_async", "ptxas 13.5"},
    {Feature::setmaxnreg, "setmaxnreg", detail::kHopperSuffixed, "setmaxnreg", "ptxas 13.5"},
    {Feature::dependentGrids, "dependent_grids", detail::kHopperOn, "griddepcontrol", "ptxas 13.5"},
    {Feature::clusterLaunchControl, "cluster_launch_control", detail::kBlackwellOn, "clusterlaunchcontrol", "ptxas 13.5"},
    {Feature::clusterLaunchControlMulticast, "cluster_launch_control_multicast", detail::kBlackwellSuffixed, "clusterlaunchcontrol .multicast::cluster::all", "ptxas 13.5"},
    {Feature::blockScaledMmaSync, "block_scaled_mma_sync", detail::k12x, "mma.sync with block scales", "ptxas 13.5"},
    {Feature::mmaSyncMxf4SparseOrdered, "mma_sync_mxf4_sparse", detail::k12xExact, "mma.sp::ordered_metadata m16n8k128 mxf4", "ptxas 13.5"},
    {Feature::tcgen05, "tcgen05", kTcgen05, "tensor memory and tcgen05", "ptxas 13.5"},
    {Feature::tcgen05BlockScale, "tcgen05_block_scale", kTcgen05, "tcgen05.mma kinds mxf8f6f4, mxf4, mxf4nvf4", "ptxas 13.5"},
    {Feature::blockQualifier, "block_qualifier", kTcgen05, ".block16 and .block32", "ptxas 13.5"},
    {Feature::scaleVecQualifier, "scale_vec_qualifier", kTcgen05Exact, ".scale_vec::1X, 2X, 4X", "ptxas 13.5"},
    {Feature::mmaK96, "mma_k96", kK96, "K = 96 of mxf4 and mxf4nvf4", "PTX ISA 9.4, 9.7.18.2.1.1; on sm_107a unproven"},
    {Feature::mmaLongK, "mma_long_k", k107, "K = 64 of (mx)f8f6f4, K = 128 of mxf4 and mxf4nvf4", "PTX ISA 9.4, 9.7.18.2.1.1"},
    {Feature::scaleUe5m3, "scale_ue5m3", k107, "scale type UE5M3", "PTX ISA 9.4, 9.7.18.10.7.1"},
    {Feature::scaleUe4m3Block32, "scale_ue4m3_block32", k107, "scale type UE4M3 with block 32", "PTX ISA 9.4, 9.7.18.10.7.1"},
    {Feature::sfaLayout128, "sfa_layout_128", k107, "scales of A in 128 lanes", "PTX ISA 9.4, 9.7.18.4.2.1"},
    {Feature::collectorB, "collector_b", k107, ".collector::b", "ptxas 13.5"},
    {Feature::decompressLutB, "decompress_lut_b", k107, ".decompress::lut::b", "ptxas 13.5"},
    {Feature::kindTi16, "kind_ti16", k107, ".kind::ti16", "ptxas 13.5"},
    {Feature::kindI8, "kind_i8", {Arch::sm_100a, Arch::sm_110a}, "tcgen05 .kind::i8", "PTX ISA 9.4; ptxas 13.5"},
    {Feature::sparseMxf8f6f4, "sparse_mxf8f6f4", kTcgen05, "tcgen05.mma.sp with mxf8f6f4", "ptxas 13.5"},
    {Feature::sparseMxf4, "sparse_mxf4", kTcgen05Exact, "tcgen05.mma.sp with mxf4 and mxf4nvf4", "ptxas 13.5"},
    {Feature::tcgen05Shift, "tcgen05_shift", kTcgen05Exact, "tcgen05.shift", "ptxas 13.5"},
    {Feature::commitSyncRestrict, "commit_sync_restrict", k107, "tcgen05.commit .sync_restrict::shared::read::mma::a", "ptxas 13.5"},
    {Feature::multicast32, "multicast32", k107, ".multicast::cluster::32b", "ptxas 13.5"},
    {Feature::allocExclusive, "alloc_exclusive", kTcgen05, "tcgen05.alloc .exclusive", "PTX ISA 9.4, 9.7.18.7.1; ptxas 13.5"},
    {Feature::tmem576, "tmem_576", k107, "576 columns of tensor memory", "PTX ISA 9.4, 9.7.18.7.1"},
    {Feature::ldRed, "ld_red", {Arch::sm_103f, Arch::sm_110f}, "tcgen05.ld.red", "ptxas 13.5"},
    {Feature::spcompress, "spcompress", detail::k107Exact, "spcompress, tcgen05.ld.spcompress", "ptxas 13.5"},
    {Feature::smemDesc15Bit, "smem_desc_15_bit", k107, "15-bit addresses in shared-memory descriptors", "cutlass-dsl 4.8.1"},
    {Feature::smemDescAbsolute, "smem_desc_absolute", kK96, "absolute leading address, bit 52", "PTX ISA 9.4, 9.7.18.4.1.1; on sm_107a unproven"},
    {Feature::cvtFp8, "cvt_fp8", {Arch::sm_89}, "cvt of e4m3 and e5m2 pairs", "ptxas 13.5"},
    {Feature::cvtNarrow, "cvt_narrow", detail::kBlackwellSuffixed, "cvt of fp6, fp4 and ue8m0 pairs", "ptxas 13.5"},
    {Feature::cvtScaledN1, "cvt_scaled_n1", k107, "cvt .scaled::n1::ue8m0", "ptxas 13.5"},
    {Feature::cvtScaledN2, "cvt_scaled_n2", detail::kBlackwellSuffixed, "cvt .scaled::n2::ue8m0", "ptxas 13.5"},
    {Feature::cvtRs, "cvt_rs", {Arch::sm_100a, Arch::sm_103a, Arch::sm_107a}, "cvt .rs; no family target", "ptxas 13.5"},
    {Feature::cvtS2f6, "cvt_s2f6", {Arch::sm_100a, Arch::sm_103a, Arch::sm_107a, Arch::sm_110a, Arch::sm_120a, Arch::sm_121a}, "cvt to and from s2f6x2; no family target", "ptxas 13.5"},
    {Feature::cvtUe5m3, "cvt_ue5m3", k107, "cvt to and from ue5m3x2", "ptxas 13.5"},
    {Feature::cvtNarrowRz, "cvt_narrow_rz", k107, "cvt .rz to fp8, fp6, fp4", "ptxas 13.5"},
    {Feature::cvtPzo, "cvt_pzo", k107, "cvt .pzo", "ptxas 13.5"},
    {Feature::tmaSubByte, "tma_sub_byte", detail::kBlackwellSuffixed, "packed 4- and 6-bit tensor maps", "cuda.h 13.5; H200 refuses them"},
    {Feature::tmaSwizzleAtoms, "tma_swizzle_atoms", kTcgen05, "128-byte swizzles with 32- and 64-byte atoms", "PTX ISA 9.4, 5.5.6; H200 refuses them; ptxas also takes them on 12x"},
    {Feature::tmaSwizzle96, "tma_swizzle_96", {Arch::sm_103a, Arch::sm_107a}, "96-byte swizzle by tensormap.replace", "ptxas 13.5"},
    {Feature::tmaGather4, "tma_gather4", kTcgen05, "tile::gather4 into a cluster, tile::scatter4", "PTX ISA 9.4, 9.7.10.28"},
    {Feature::tmaGather4Cta, "tma_gather4_cta", detail::kBlackwellOn, "tile::gather4 into .shared::cta", "ptxas 13.5"},
    {Feature::tmaCtaGroup, "tma_cta_group", kTcgen05, ".cta_group of TMA loads", "ptxas 13.5"},
    {Feature::tensormapReplace, "tensormap_replace", detail::kHopperSuffixed, "tensormap.replace", "ptxas 13.5"},
    {Feature::tmaOverride, "tma_override", k107, "TMA .override::global_address and dim_stride", "PTX ISA 9.4, 9.7.10.28"},
    {Feature::oversizedShared, "oversized_shared", k107, "327 KiB of shared memory a block", "cuda.h 13.5; cutlass-dsl 4.8.1"},
    {Feature::reduxFloat, "redux_float", {Arch::sm_100f}, "redux.sync of f32", "ptxas 13.5"},
    {Feature::storeBulk, "store_bulk", detail::kBlackwellOn, "st.bulk", "ptxas 13.5"},
    {Feature::asyncGlobal, "async_global", detail::kBlackwellOn, "st.async and red.async of global memory", "PTX ISA 9.4, 9.7.10.12; ptxas 13.5"},
}};
// clang-format on

constexpr const FeatureInfo &info(Feature f) { return kFeatures[size_t(f)]; }
constexpr std::string_view name(Feature f) { return info(f).name; }
constexpr std::optional<Feature> parseFeature(std::string_view text) {
  for (const FeatureInfo &row : kFeatures)
    if (row.name == text)
      return row.feature;
  return std::nullopt;
}
constexpr bool supports(Arch arch, Feature feature) { return covers(arch, info(feature).needs); }

namespace detail {
constexpr bool featuresAreSound() {
  for (size_t i = 0; i < kFeatures.size(); ++i) {
    const FeatureInfo &row = kFeatures[i];
    if (row.feature != Feature(i) || row.needs.empty() || row.what.empty() || row.source.empty())
      return false;
    if (parseFeature(row.name) != row.feature)
      return false;
  }
  return true;
}
static_assert(featuresAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_FEATURES_H
