//===- FormsCopy.cpp - forms of asynchronous copies -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.25 to 9.7.10.29 and 9.7.15.17; ptxas 13.5 where it is laxer.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/TensorMap.h"

#include "Decoder.h"
#include "Forms.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

constexpr auto kUnexecuted = FormStatus::unexecuted;
constexpr auto kTma = facts::Feature::tma;
constexpr auto kGather4 = facts::Feature::tmaGather4;
constexpr auto kCpAsync = facts::Feature::cpAsync;
constexpr auto kCancel = facts::Feature::clusterLaunchControl;
constexpr std::string_view kIm2col = "im2col, which no matrix product uses";

/// Fields that take a number from a list.
std::string replaceValue(const Decoder &d) {
  if (d.count() < 2)
    return "ptx_operands: " + d.spelling() + " must have a value";
  auto value = d.immediate(d.operand(d.count() - 1));
  auto field = d.raw->modifiers.size() > 2 ? d.raw->modifiers[2] : std::string();
  if (!value)
    return {};
  for (const facts::TmaReplaceCode &code : facts::kTmaReplaceCodes) {
    if (code.field != field)
      continue;
    if (*value < 0 || *value > code.last)
      return "ptx_immediate: ." + field + " must be from 0 to " + std::to_string(code.last) +
             ", got " + std::to_string(*value);
    if (field == "swizzle_mode" && *value == code.last &&
        !facts::supports(d.arch, facts::Feature::tmaSwizzle96))
      return "ptx_target: .swizzle_mode " + std::to_string(*value) +
             " must have a target with tma_swizzle_96, got " + std::string(facts::name(d.arch));
  }
  return {};
}

std::string fromSm100(const Decoder &d) {
  return facts::covers(d.arch, facts::Arch::sm_100)
             ? std::string()
             : "ptx_target: " + d.spelling() + " must have target sm_100 or later, got " +
                   std::string(facts::name(d.arch));
}

constexpr Form kForms[] = {
    {"cp",
     "async ca|cg @shared global L2::64B|L2::128B|L2::256B? L2::cache_hint?",
     {},
     {},
     kCpAsync},
    {"cp", "async commit_group", {}, {}, kCpAsync},
    {"cp", "async wait_group", {}, {}, kCpAsync},
    {"cp", "async wait_all", {}, {}, kCpAsync},
    {"cp", "async mbarrier arrive noinc? shared|shared::cta? b64", {}, {}, kCpAsync},
    {"cp", "async bulk commit_group", {}, {}, kTma},
    {"cp", "async bulk wait_group read?", {}, {}, kTma},
    {"cp",
     "async bulk shared::cluster global mbarrier::complete_tx::bytes @mc? L2::cache_hint?",
     {},
     {},
     kTma},
    {"cp",
     "async bulk shared::cta global mbarrier::complete_tx::bytes L2::cache_hint?",
     {},
     {},
     kTma},
    {"cp", "async bulk shared::cluster shared::cta mbarrier::complete_tx::bytes", {}, {}, kTma},
    {"cp", "async bulk global shared::cta bulk_group L2::cache_hint?", {}, {}, kTma},
    {"cp",
     "async bulk global shared::cta bulk_group L2::cache_hint? cp_mask",
     {},
     {},
     kTma,
     fromSm100},
    {"cp", "async bulk prefetch L2 global L2::cache_hint?", FormStatus::hint, "fills a cache",
     kTma},
    {"cp",
     "async bulk tensor @rank shared::cluster global tile? mbarrier::complete_tx::bytes @mc? @cg? "
     "L2::cache_hint?",
     {},
     {},
     kTma},
    {"cp",
     "async bulk tensor @rank shared::cta global tile? mbarrier::complete_tx::bytes @cg? "
     "L2::cache_hint?",
     {},
     {},
     kTma},
    {"cp",
     "async bulk tensor 2d shared::cluster global tile::gather4 mbarrier::complete_tx::bytes @mc? "
     "@cg? L2::cache_hint?",
     {},
     {},
     kGather4},
    {"cp",
     "async bulk tensor 2d shared::cta global tile::gather4 mbarrier::complete_tx::bytes @cg? "
     "L2::cache_hint?",
     {},
     {},
     facts::Feature::tmaGather4Cta},
    {"cp",
     "async bulk tensor @rank global shared::cta tile? bulk_group L2::cache_hint?",
     {},
     {},
     kTma},
    {"cp",
     "async bulk tensor 2d global shared::cta tile::scatter4 bulk_group L2::cache_hint?",
     {},
     {},
     kTma},
    {"cp",
     "async bulk tensor 3d|4d|5d shared::cluster|shared::cta global "
     "im2col|im2col::w|im2col::w::128 mbarrier::complete_tx::bytes @mc? @cg? L2::cache_hint?",
     kUnexecuted, kIm2col, kTma},
    {"cp",
     "async bulk tensor 3d|4d|5d global shared::cta im2col_no_offs bulk_group L2::cache_hint?",
     kUnexecuted, kIm2col, kTma},
    {"cp",
     "async bulk tensor @rank shared::cluster|shared::cta global tile|tile::gather4? "
     "mbarrier::complete_tx::bytes @mc? @cg? override::global_address override::global_dim_stride? "
     "L2::cache_hint?",
     {},
     {},
     kTma},
    {"cp",
     "async bulk tensor @rank global shared::cta tile|tile::scatter4? bulk_group "
     "override::global_address override::global_dim_stride? L2::cache_hint?",
     {},
     {},
     kTma},
    {"cp", "async bulk prefetch tensor @rank L2 global tile? L2::cache_hint?", FormStatus::hint,
     "fills a cache", kTma},
    {"cp", "async bulk prefetch tensor 2d L2 global tile::gather4 L2::cache_hint?",
     FormStatus::hint, "fills a cache", kGather4},
    {"cp",
     "reduce async bulk tensor @rank global shared::cta @op tile? bulk_group L2::cache_hint?",
     {},
     {},
     kTma},
    {"cp",
     "reduce async bulk global shared::cta bulk_group L2::cache_hint? add f32|f64|u32|s32|u64",
     {},
     {},
     kTma},
    {"cp",
     "reduce async bulk global shared::cta bulk_group L2::cache_hint? add noftz f16|bf16",
     {},
     {},
     kTma},
    {"cp",
     "reduce async bulk global shared::cta bulk_group L2::cache_hint? min|max "
     "f16|bf16|u32|s32|u64|s64",
     {},
     {},
     kTma},
    {"cp",
     "reduce async bulk global shared::cta bulk_group L2::cache_hint? inc|dec u32",
     {},
     {},
     kTma},
    {"cp",
     "reduce async bulk global shared::cta bulk_group L2::cache_hint? and|or|xor b32|b64",
     {},
     {},
     kTma},
    {"cp",
     "reduce async bulk shared::cluster shared::cta mbarrier::complete_tx::bytes add u32|s32|u64",
     {},
     {},
     kTma},
    {"cp",
     "reduce async bulk shared::cluster shared::cta mbarrier::complete_tx::bytes min|max u32|s32",
     {},
     {},
     kTma},
    {"cp",
     "reduce async bulk shared::cluster shared::cta mbarrier::complete_tx::bytes inc|dec u32",
     {},
     {},
     kTma},
    {"cp",
     "reduce async bulk shared::cluster shared::cta mbarrier::complete_tx::bytes and|or|xor b32",
     {},
     {},
     kTma},
    {"tensormap",
     "cp_fenceproxy global shared::cta tensormap::generic release cta|cluster|gpu|sys sync aligned",
     {},
     {},
     kTma},
    {"tensormap",
     "replace tile global_address|rank|box_dim|global_dim|global_stride|element_stride|elemtype|"
     "interleave_layout|swizzle_mode|fill_mode|swizzle_atomicity global|shared::cta? b1024 "
     "b32|b64",
     {},
     {},
     facts::Feature::tensormapReplace,
     replaceValue},
    {"clusterlaunchcontrol",
     "try_cancel async shared::cta? mbarrier::complete_tx::bytes multicast::cluster::all? b128",
     {},
     {},
     kCancel},
    {"clusterlaunchcontrol", "query_cancel is_canceled pred b128", {}, {}, kCancel},
    {"clusterlaunchcontrol", "query_cancel get_first_ctaid v4 b32 b128", {}, {}, kCancel},
    {"clusterlaunchcontrol",
     "query_cancel get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z b32 b128",
     {},
     {},
     kCancel},
};

} // namespace

std::span<const Form> copyForms() { return kForms; }

} // namespace blockscale::emu
