//===- FormsWgmma.cpp - forms of wgmma ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.16. Which N go with the types is Facts/WarpMma.h's.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

namespace blockscale::emu {
namespace {

constexpr auto kUnexecuted = FormStatus::unexecuted;
constexpr auto kWgmma = facts::Feature::wgmma;
constexpr std::string_view kSparse = "sparse operands";

constexpr Form kForms[] = {
    {"wgmma", "fence sync aligned", {}, {}, kWgmma},
    {"wgmma", "commit_group sync aligned", {}, {}, kWgmma},
    {"wgmma", "wait_group sync aligned", {}, {}, kWgmma},
    {"wgmma", "mma_async sync aligned m64n#k16 f16|f32 f16 f16", {}, {}, kWgmma},
    {"wgmma", "mma_async sync aligned m64n#k16 f32 bf16 bf16", {}, {}, kWgmma},
    {"wgmma", "mma_async sync aligned m64n#k8 f32 tf32 tf32", {}, {}, kWgmma},
    {"wgmma", "mma_async sync aligned m64n#k32 f16|f32 e4m3|e5m2 e4m3|e5m2", {}, {}, kWgmma},
    {"wgmma", "mma_async sync aligned m64n#k32 satfinite? s32 s8|u8 s8|u8", {}, {}, kWgmma},
    {"wgmma", "mma_async sync aligned m64n#k256 s32 b1 b1 and popc", kUnexecuted,
     "formats that no block-scaled product uses", kWgmma},
    {"wgmma", "mma_async sp sync aligned m64n#k32 f16|f32 f16|bf16 f16|bf16", kUnexecuted, kSparse,
     kWgmma},
    {"wgmma", "mma_async sp sync aligned m64n#k16 f32 tf32 tf32", kUnexecuted, kSparse, kWgmma},
    {"wgmma", "mma_async sp sync aligned m64n#k64 f16|f32 e4m3|e5m2 e4m3|e5m2", kUnexecuted,
     kSparse, kWgmma},
    {"wgmma", "mma_async sp sync aligned m64n#k64 satfinite? s32 s8|u8 s8|u8", kUnexecuted, kSparse,
     kWgmma},
};

} // namespace

std::span<const Form> wgmmaForms() { return kForms; }

} // namespace blockscale::emu
