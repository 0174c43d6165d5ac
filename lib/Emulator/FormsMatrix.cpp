//===- FormsMatrix.cpp - forms of the warps' matrix instructions ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.16 and 9.7.17; ptxas 13.5 for block scales.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

namespace blockscale::emu {
namespace {

constexpr auto kUnexecuted = FormStatus::unexecuted;
constexpr auto kScaled = facts::Feature::blockScaledMmaSync;
constexpr std::string_view kSparse = "sparse operands";
constexpr std::string_view kOld = "formats that no block-scaled product uses";

constexpr Form kForms[] = {
    {"mma",
     "sync aligned m16n8k32 row col kind::mxf8f6f4 block_scale scale_vec::1X? f32 @f8f6f4 @f8f6f4 "
     "f32 ue8m0",
     {},
     {},
     kScaled},
    {"mma",
     "sync aligned m16n8k64 row col kind::mxf4 block_scale scale_vec::2X? f32 e2m1 e2m1 f32 ue8m0",
     {},
     {},
     kScaled},
    {"mma",
     "sync aligned m16n8k64 row col kind::mxf4nvf4 block_scale scale_vec::2X f32 e2m1 e2m1 f32 "
     "ue8m0",
     {},
     {},
     kScaled},
    {"mma",
     "sync aligned m16n8k64 row col kind::mxf4nvf4 block_scale scale_vec::4X f32 e2m1 e2m1 f32 "
     "ue4m3|ue8m0",
     {},
     {},
     kScaled},
    {"mma",
     "sp::ordered_metadata sync aligned m16n8k128 row col kind::mxf4 block_scale scale_vec::2X? "
     "f32 e2m1 e2m1 f32 ue8m0",
     kUnexecuted, kSparse, facts::Feature::mmaSyncMxf4SparseOrdered},
    {"mma", "sync aligned m16n8k32 row col kind::f8f6f4 f16|f32 @f8f6f4 @f8f6f4 f16|f32"},
    {"mma",
     "sync aligned m16n8k16|m16n8k32 row col f16|f32 e4m3|e5m2 e4m3|e5m2 f16|f32",
     {},
     {},
     facts::Feature::cvtFp8},
    {"mma", "sync aligned m16n8k8|m16n8k16 row col f32 bf16 bf16 f32"},
    {"mma", "sync aligned m16n8k8|m16n8k16 row col f16|f32 f16 f16 f16|f32"},
    {"mma", "sync aligned m16n8k4|m16n8k8 row col f32 tf32 tf32 f32"},
    {"mma", "sync aligned m8n8k16|m16n8k16|m16n8k32 row col satfinite? s32 s8|u8 s8|u8 s32"},
    {"mma", "sync aligned m8n8k32|m16n8k32|m16n8k64 row col satfinite? s32 s4|u4 s4|u4 s32"},
    {"mma", "sync aligned m8n8k128|m16n8k128|m16n8k256 row col xor|and popc s32 b1 b1 s32",
     kUnexecuted, kOld},
    {"mma", "sync aligned m8n8k4 row|col row|col f16|f32 f16 f16 f16|f32", kUnexecuted, kOld},
    {"mma", "sync aligned m8n8k4|m16n8k4|m16n8k8|m16n8k16 rn|rz|rm|rp? row col f64 f64 f64 f64",
     kUnexecuted, kOld},
    {"mma",
     "sp|sp::ordered_metadata sync aligned m16n8k16|m16n8k32 row col f16|f32 f16|bf16 f16|bf16 "
     "f16|f32",
     kUnexecuted, kSparse},
    {"mma",
     "sp|sp::ordered_metadata sync aligned m16n8k64 row col kind::f8f6f4? f16|f32 @f8f6f4 @f8f6f4 "
     "f16|f32",
     kUnexecuted, kSparse},
    {"mma",
     "sp|sp::ordered_metadata sync aligned m16n8k32|m16n8k64 row col satfinite? s32 s8|u8 s8|u8 "
     "s32",
     kUnexecuted, kSparse},
    {"movmatrix", "sync aligned m8n8 trans b16"},
    {"ldmatrix", "sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta? b16"},
    {"ldmatrix", "sync aligned m16n16 x1|x2 trans shared|shared::cta? b8"},
    {"ldmatrix", "sync aligned m16n16 x1|x2 trans shared|shared::cta? b8x16 b6x16_p32|b4x16_p64"},
    {"ldmatrix", "sync aligned m8n16 x1|x2|x4 shared|shared::cta? b8x16 b6x16_p32|b4x16_p64"},
    {"stmatrix", "sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta? b16"},
    {"stmatrix", "sync aligned m16n8 x1|x2|x4 trans shared|shared::cta? b8"},
};

} // namespace

std::span<const Form> matrixForms() { return kForms; }

} // namespace blockscale::emu
