//===- FormsMemory.cpp - forms of moves, loads, stores and atomics --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10 and 9.7.15.5 to 9.7.15.6.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

namespace blockscale::emu {
namespace {

constexpr auto kHint = FormStatus::hint;
constexpr auto kUnexecuted = FormStatus::unexecuted;
constexpr auto kExecuted = FormStatus::executed;
constexpr auto kGlobal = facts::Feature::asyncGlobal;

constexpr Form kForms[] = {
    {"mov", "pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64"},
    {"cvta", "to? global|shared|shared::cta|shared::cluster|local|const|param|param::entry u64"},
    {"isspacep", "global|shared|shared::cta|shared::cluster|local|param|param::entry|const"},
    {"mapa", "shared::cluster? u32|u64"},
    {"getctarank", "shared::cluster? u32|u64"},
    {"ld", "weak? @space? @cache? @evict? @prefetch? L2::cache_hint? v2|v4|v8? @data"},
    {"ld",
     "relaxed|acquire cta|cluster|gpu|sys @aspace? @evict? @prefetch? L2::cache_hint? v2|v4|v8? "
     "@data"},
    {"ld", "volatile @aspace|local? @prefetch? v2|v4|v8? @data"},
    {"ld", "mmio relaxed sys global? @data"},
    {"ld", "global ca|cg|cs? nc @evict? @prefetch? L2::cache_hint? v2|v4|v8? @data"},
    {"ldu", "global v2|v4? @data", kUnexecuted, "no kernel seen uses it"},
    {"st", "weak? @aspace|local|param? wb|cg|cs|wt? @evict? L2::cache_hint? v2|v4|v8? @data"},
    {"st", "relaxed|release cta|cluster|gpu|sys @aspace? @evict? L2::cache_hint? v2|v4|v8? @data"},
    {"st", "volatile @aspace|local? v2|v4|v8? @data"},
    {"st", "mmio relaxed sys global? @data"},
    {"st", "async weak|cluster? @sharedAny? mbarrier::complete_tx::bytes b32|b64|b128|@word"},
    {"st", "async weak|cluster? @sharedAny? mbarrier::complete_tx::bytes v2 b32|b64|@word"},
    {"st", "async weak|cluster? @sharedAny? mbarrier::complete_tx::bytes v4 b32|u32|s32|f32"},
    {"st", "async release gpu|sys global? b8|b16|b32|b64|u16|s16|@word", kExecuted, {}, kGlobal},
    {"st", "async mmio release sys global? b8|b16|b32|b64|u16|s16|@word", kExecuted, {}, kGlobal},
    {"st", "bulk weak? shared::cta?", kExecuted, {}, facts::Feature::storeBulk},
    {"prefetch", "global|local? L1|L2|L2::evict_last|L2::evict_normal", kHint, "fills a cache"},
    {"prefetch", "const|param? tensormap", kHint, "fills a cache"},
    {"prefetchu", "L1", kHint, "fills a cache"},
    {"applypriority", "global? L2::evict_normal", kHint, "ages a cache line"},
    {"createpolicy", "fractional|range global? @policy @policy? b64", kHint,
     "policies mean nothing without caches"},
    {"atom", "@order? @scope? @aspace? add|min|max|and|or|xor|inc|dec|exch|cas L2::cache_hint? "
             "b32|b64|u32|u64|s32|s64|f32|f64|b16|b128"},
    {"atom", "@order? @scope? @aspace? add noftz f16|bf16|f16x2|bf16x2 L2::cache_hint?"},
    {"atom", "@order? @scope? global? add|min|max noftz L2::cache_hint? v2|v4|v8 "
             "f16|bf16|f16x2|bf16x2"},
    {"atom", "@order? @scope? global? add L2::cache_hint? v2|v4 f32"},
    {"red", "relaxed|release? @scope? @aspace? add|min|max|and|or|xor|inc|dec L2::cache_hint? "
            "b32|b64|u32|u64|s32|s64|f32|f64"},
    {"red", "relaxed|release? @scope? @aspace? add noftz f16|bf16|f16x2|bf16x2 L2::cache_hint?"},
    {"red", "relaxed|release? @scope? global? add|min|max noftz L2::cache_hint? v2|v4|v8 "
            "f16|bf16|f16x2|bf16x2"},
    {"red", "relaxed|release? @scope? global? add L2::cache_hint? v2|v4 f32"},
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
