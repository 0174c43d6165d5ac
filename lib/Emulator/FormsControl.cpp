//===- FormsControl.cpp - forms of control flow, barriers and warps -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.14, 9.7.15 and 9.7.21.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

namespace blockscale::emu {
namespace {

constexpr auto kHint = FormStatus::hint;
constexpr auto kClusters = facts::Feature::clusters; // what came with sm_90, by ptxas 13.5

constexpr Form kForms[] = {
    {"bra", "uni?"},
    {"brx", "idx uni?"},
    {"call", "uni?"},
    {"ret", "uni?"},
    {"exit", ""},
    {"trap", ""},
    {"brkpt", ""},
    {"nanosleep", "u32", kHint, "time does not pass by it; others run anyway"},
    {"pmevent", "mask?", kHint, "counts for a profiler"},
    {"setmaxnreg", "inc|dec sync aligned u32", kHint, "registers of a warp are not counted"},
    {"griddepcontrol", "wait|launch_dependents"},
    {"bar", "sync|arrive"},
    {"bar", "warp sync"},
    {"bar", "red popc u32"},
    {"bar", "red and|or pred"},
    {"bar", "cta sync|arrive"},
    {"barrier", "cta? sync|arrive aligned?"},
    {"barrier", "cta? red popc aligned? u32"},
    {"barrier", "cta? red and|or aligned? pred"},
    {"barrier", "cluster arrive release|relaxed? aligned?", {}, {}, kClusters},
    {"barrier", "cluster wait acquire? aligned?", {}, {}, kClusters},
    {"membar", "cta|gl|sys"},
    {"membar", "proxy async"},
    {"membar", "proxy alias", kHint, "no memory here has two addresses"},
    {"fence", "sc|acq_rel? cta|cluster|gpu|sys"},
    {"fence", "acquire|release cta|cluster|gpu|sys", {}, {}, kClusters},
    {"fence", "mbarrier_init release cluster", {}, {}, kClusters},
    {"fence", "acquire sync_restrict::shared::cluster cluster", {}, {}, kClusters},
    {"fence", "release sync_restrict::shared::cta cluster", {}, {}, kClusters},
    {"fence", "proxy async", {}, {}, kClusters},
    {"fence", "proxy alias", kHint, "no memory here has two addresses"},
    {"fence", "proxy async shared::cta|shared::cluster", {}, {}, kClusters},
    {"fence", "proxy async global", {}, {}, kClusters},
    {"fence",
     "proxy async::generic acquire sync_restrict::shared::cluster cluster",
     {},
     {},
     kClusters},
    {"fence",
     "proxy async::generic release "
     "sync_restrict::shared::cta|sync_restrict::shared::cluster::read cluster",
     {},
     {},
     kClusters},
    {"fence", "proxy tensormap::generic acquire|release cta|cluster|gpu|sys", {}, {}, kClusters},
    {"elect", "sync", {}, {}, kClusters},
    {"shfl", "sync up|down|bfly|idx b32"},
    {"vote", "sync ballot b32"},
    {"vote", "sync all|any|uni pred"},
    {"match", "any|all sync b32|b64"},
    {"activemask", "b32"},
    {"redux", "sync add|min|max u32|s32"},
    {"redux", "sync and|or|xor b32"},
    {"redux", "sync min|max abs? NaN? f32"},
    {"alloca", "u32|u64"},
    {"stacksave", "u32|u64"},
    {"stackrestore", "u32|u64"},
    {"discard", "global? L2", kHint, "drops a cache line that is written again"},
};

} // namespace

std::span<const Form> controlForms() { return kForms; }

} // namespace blockscale::emu
