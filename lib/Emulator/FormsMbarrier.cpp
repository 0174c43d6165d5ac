//===- FormsMbarrier.cpp - forms of mbarrier ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.15.16.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

namespace blockscale::emu {
namespace {

constexpr auto kUnexecuted = FormStatus::unexecuted;

constexpr Form kForms[] = {
    {"mbarrier", "init shared|shared::cta? b64"},
    {"mbarrier", "inval shared|shared::cta? b64"},
    {"mbarrier", "expect_tx relaxed? cta|cluster? @aspace? b64"},
    {"mbarrier", "complete_tx relaxed? cta|cluster? @aspace? b64"},
    {"mbarrier", "arrive expect_tx? release|relaxed? cta|cluster? @aspace? b64"},
    {"mbarrier", "arrive_drop expect_tx? release|relaxed? cta|cluster? @aspace? b64"},
    {"mbarrier", "arrive|arrive_drop noComplete release? cta? @aspace? b64", kUnexecuted,
     "no kernel seen uses it"},
    {"mbarrier", "test_wait parity? acquire|relaxed? cta|cluster? shared|shared::cta? b64"},
    {"mbarrier", "try_wait parity? acquire|relaxed? cta|cluster? shared|shared::cta? b64"},
    {"mbarrier", "pending_count b64", kUnexecuted, "no kernel seen uses it"},
};

} // namespace

std::span<const Form> mbarrierForms() { return kForms; }

} // namespace blockscale::emu
