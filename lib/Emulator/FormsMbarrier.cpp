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

constexpr Form kForms[] = {
    {"mbarrier", "init layout::v0|layout::v1? @shared? b64"},
    {"mbarrier", "inval @shared? b64"},
    {"mbarrier", "expect_tx|complete_tx @sharedAny? b64"},
    {"mbarrier", "expect_tx|complete_tx relaxed cta|cluster @sharedAny? b64"},
    {"mbarrier", "expect_tx|complete_tx shared::cluster? multicast::cluster::32b b64"},
    {"mbarrier",
     "expect_tx|complete_tx relaxed cta|cluster shared::cluster? multicast::cluster::32b b64"},
    {"mbarrier", "arrive|arrive_drop expect_tx? @sharedAny? b64"},
    {"mbarrier", "arrive|arrive_drop expect_tx? release|relaxed cta|cluster @sharedAny? b64"},
    {"mbarrier", "arrive|arrive_drop expect_tx? shared::cluster? multicast::cluster::32b b64"},
    {"mbarrier", "arrive|arrive_drop expect_tx? release|relaxed cta|cluster shared::cluster? "
                 "multicast::cluster::32b b64"},
    {"mbarrier", "arrive|arrive_drop noComplete @shared? b64"},
    {"mbarrier", "arrive|arrive_drop noComplete release cta @shared? b64"},
    {"mbarrier", "test_wait|try_wait parity? @phase? @shared? b64"},
    {"mbarrier", "test_wait|try_wait parity? @phase? acquire|relaxed cta|cluster @shared? b64"},
    {"mbarrier", "pending_count layout::v0? b64"},
    {"mbarrier", "check_layout layout::v0|layout::v1 @shared? b64"},
};

} // namespace

std::span<const Form> mbarrierForms() { return kForms; }

} // namespace blockscale::emu
