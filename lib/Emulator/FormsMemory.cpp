//===- FormsMemory.cpp - forms of moves, loads, stores and atomics --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10 and 9.7.15.5 to 9.7.15.6.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Forms.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

constexpr auto kHint = FormStatus::hint;
constexpr auto kUnexecuted = FormStatus::unexecuted;
constexpr auto kExecuted = FormStatus::executed;
constexpr auto kGlobal = facts::Feature::asyncGlobal;
constexpr auto kClusters = facts::Feature::clusters;

/// Vectors of 256 bits are sm_100's, in global memory; they alone take a priority in L2.
std::string vector(const Decoder &d) {
  unsigned count = 1, size = 0;
  bool hasPriority = false, isElsewhere = false;
  for (const std::string &m : d.raw->modifiers) {
    if (m == "v2" || m == "v4" || m == "v8")
      count = unsigned(m[1] - '0');
    else if (std::optional<Type> t = parseType(m))
      size = bits(*t);
    hasPriority |= m.starts_with("L2::evict");
    isElsewhere |= m.starts_with("shared") || m == "local" || m == "param" || m == "const";
  }
  if (count > 1 && size == 128)
    return "ptx_vector: a vector must have elements of at most 64 bits, got " + d.spelling();
  const bool isWide = count * size == 256;
  if (isWide && isElsewhere)
    return "ptx_vector: 256 bits must be in global memory, got " + d.spelling();
  if (isWide && !facts::covers(d.arch, facts::Arch::sm_100))
    return "ptx_target: 256 bits at once must have target sm_100 or later, got " +
           std::string(facts::name(d.arch));
  if (hasPriority && !isWide)
    return "ptx_modifier: .L2::evict_* must stand with .v8 of 32 bits or .v4 of 64, got " +
           d.spelling();
  return {};
}

constexpr Form kForms[] = {
    {"mov", "pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64"},
    {"cvta", "to? global|shared|shared::cta|shared::cluster|local|const|param|param::entry u64"},
    {"isspacep", "global|shared|shared::cta|shared::cluster|local|param|param::entry|const"},
    {"mapa", "shared::cluster? u32|u64", {}, {}, kClusters},
    {"getctarank", "shared::cluster? u32|u64", {}, {}, kClusters},
    {"ld",
     "weak? @space? @cache? @evict? @evictL2? @prefetch? L2::cache_hint? v2|v4|v8? @data",
     {},
     {},
     {},
     vector},
    {"ld",
     "relaxed|acquire cta|cluster|gpu|sys @aspace? @evict? @evictL2? @prefetch? L2::cache_hint? "
     "v2|v4|v8? "
     "@data",
     {},
     {},
     {},
     vector},
    {"ld", "volatile @aspace|local? @prefetch? v2|v4|v8? @data", {}, {}, {}, vector},
    {"ld", "mmio relaxed sys global? @data", {}, {}, {}, vector},
    {"ld",
     "global ca|cg|cs? nc @evict? @evictL2? @prefetch? L2::cache_hint? v2|v4|v8? @data",
     {},
     {},
     {},
     vector},
    {"ldu", "global v2|v4? @data", kUnexecuted, "no kernel seen uses it"},
    {"st",
     "weak? @aspace|local|param? wb|cg|cs|wt? @evict? @evictL2? L2::cache_hint? v2|v4|v8? @data",
     {},
     {},
     {},
     vector},
    {"st",
     "relaxed|release cta|cluster|gpu|sys @aspace? @evict? @evictL2? L2::cache_hint? v2|v4|v8? "
     "@data",
     {},
     {},
     {},
     vector},
    {"st", "volatile @aspace|local? v2|v4|v8? @data", {}, {}, {}, vector},
    {"st", "mmio relaxed sys global? @data", {}, {}, {}, vector},
    {"st", "async weak|cluster? @sharedAny? mbarrier::complete_tx::bytes b32|b64|b128|@word"},
    {"st", "async weak|cluster? @sharedAny? mbarrier::complete_tx::bytes v2 b32|b64|@word"},
    {"st", "async weak|cluster? @sharedAny? mbarrier::complete_tx::bytes v4 b32|u32|s32|f32"},
    {"st", "async release gpu|sys global? b8|b16|b32|b64|u16|s16|@word", kExecuted, {}, kGlobal},
    {"st", "async mmio release sys global? b8|b16|b32|b64|u16|s16|@word", kExecuted, {}, kGlobal},
    {"st", "bulk weak? shared::cta?", kExecuted, {}, facts::Feature::storeBulk},
    {"prefetch", "global|local? L1|L2|L2::evict_last|L2::evict_normal", kHint, "fills a cache"},
    {"prefetch", "const|param? tensormap", kHint, "fills a cache", kClusters},
    {"prefetchu", "L1", kHint, "fills a cache"},
    {"applypriority", "global? L2::evict_normal", kHint, "ages a cache line"},
    {"createpolicy", "fractional|range global? @policy @policy? b64", kHint,
     "policies mean nothing without caches"},
    {"atom", "@order? @scope? @aspace? add L2::cache_hint? u32|u64|s32|f32|f64"},
    {"atom", "@order? @scope? @aspace? min|max L2::cache_hint? u32|u64|s32|s64"},
    {"atom", "@order? @scope? @aspace? inc|dec L2::cache_hint? u32"},
    {"atom", "@order? @scope? @aspace? and|or|xor L2::cache_hint? b32|b64"},
    {"atom", "@order? @scope? @aspace? exch L2::cache_hint? b32|b64"},
    {"atom", "@order? @scope? @aspace? cas L2::cache_hint? b16|b32|b64"},
    {"atom", "@order? @scope? @aspace? exch|cas L2::cache_hint? b128", {}, {}, kClusters},
    {"atom", "@order? @scope? @aspace? add noftz f16|f16x2 L2::cache_hint?"},
    {"atom", "@order? @scope? @aspace? add noftz bf16|bf16x2 L2::cache_hint?", {}, {}, kClusters},
    {"atom",
     "@order? @scope? global? add|min|max noftz L2::cache_hint? v2|v4|v8 "
     "f16|bf16|f16x2|bf16x2",
     {},
     {},
     kClusters},
    {"atom", "@order? @scope? global? add L2::cache_hint? v2|v4 f32", {}, {}, kClusters},
    {"red", "relaxed|release? @scope? @aspace? add L2::cache_hint? u32|u64|s32|f32|f64"},
    {"red", "relaxed|release? @scope? @aspace? min|max L2::cache_hint? u32|u64|s32|s64"},
    {"red", "relaxed|release? @scope? @aspace? inc|dec L2::cache_hint? u32"},
    {"red", "relaxed|release? @scope? @aspace? and|or|xor L2::cache_hint? b32|b64"},
    {"red", "relaxed|release? @scope? @aspace? add noftz f16|f16x2 L2::cache_hint?"},
    {"red",
     "relaxed|release? @scope? @aspace? add noftz bf16|bf16x2 L2::cache_hint?",
     {},
     {},
     kClusters},
    {"red",
     "relaxed|release? @scope? global? add|min|max noftz L2::cache_hint? v2|v4|v8 "
     "f16|bf16|f16x2|bf16x2",
     {},
     {},
     kClusters},
    {"red", "relaxed|release? @scope? global? add L2::cache_hint? v2|v4 f32", {}, {}, kClusters},
    {"red", "async relaxed cluster shared::cluster? mbarrier::complete_tx::bytes inc|dec u32"},
    {"red", "async relaxed cluster shared::cluster? mbarrier::complete_tx::bytes min|max u32|s32"},
    {"red", "async relaxed cluster shared::cluster? mbarrier::complete_tx::bytes and|or|xor b32"},
    {"red", "async relaxed cluster shared::cluster? mbarrier::complete_tx::bytes add @cc"},
    {"red", "async release|relaxed gpu|sys global? add @cc", kExecuted, {}, kGlobal},
    {"red", "async release|relaxed gpu|sys global? inc|dec u32", kExecuted, {}, kGlobal},
    {"red", "async release|relaxed gpu|sys global? min|max u32|s32", kExecuted, {}, kGlobal},
    {"red", "async release|relaxed gpu|sys global? and|or|xor b32", kExecuted, {}, kGlobal},
    {"red", "async mmio release sys global? add @cc", kExecuted, {}, kGlobal},
};

} // namespace

std::span<const Form> memoryForms() { return kForms; }

} // namespace blockscale::emu
