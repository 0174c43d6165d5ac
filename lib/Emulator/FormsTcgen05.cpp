//===- FormsTcgen05.cpp - forms of tensor memory --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.18.7 to 9.7.18.9 and 9.7.18.12; ptxas 13.5 where it is laxer.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Forms.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

constexpr auto kUnexecuted = FormStatus::unexecuted;
constexpr auto kTmem = facts::Feature::tcgen05;

/// The destination format stands before the source format.
std::string formatOrder(const Decoder &d) {
  const auto &mods = d.raw->modifiers;
  auto to = std::find(mods.begin(), mods.end(), "b8x16");
  auto from = std::find_if(mods.begin(), mods.end(), [](const std::string &m) {
    return m == "b6x16_p32" || m == "b4x16_p64";
  });
  return from < to ? "ptx_modifier: .b8x16 must stand before the source format, got " + d.spelling()
                   : "";
}

constexpr Form kForms[] = {
    {"tcgen05", "alloc exclusive? @cg sync aligned shared::cta? b32", {}, {}, kTmem},
    {"tcgen05", "dealloc exclusive? @cg sync aligned b32", {}, {}, kTmem},
    {"tcgen05", "relinquish_alloc_permit @cg sync aligned", {}, {}, kTmem},
    {"tcgen05", "fence::before_thread_sync", {}, {}, kTmem},
    {"tcgen05", "fence::after_thread_sync", {}, {}, kTmem},
    {"tcgen05", "wait::ld sync aligned", {}, {}, kTmem},
    {"tcgen05", "wait::st sync aligned", {}, {}, kTmem},
    {"tcgen05", "commit @cg mbarrier::arrive::one shared::cluster? @mc? b64", {}, {}, kTmem},
    {"tcgen05",
     "commit @cg mbarrier::arrive::one sync_restrict::shared::read::mma::a shared::cluster? @mc? "
     "b64",
     {},
     {},
     kTmem},
    {"tcgen05", "cp @cg 128x256b|4x256b|128x128b", {}, {}, kTmem},
    {"tcgen05", "cp @cg 64x128b warpx2::02_13|warpx2::01_23", {}, {}, kTmem},
    {"tcgen05", "cp @cg 32x128b warpx4", {}, {}, kTmem},
    {"tcgen05",
     "cp @cg 128x256b|4x256b|128x128b b8x16 b6x16_p32|b4x16_p64",
     {},
     {},
     kTmem,
     formatOrder},
    {"tcgen05",
     "cp @cg 64x128b warpx2::02_13|warpx2::01_23 b8x16 b6x16_p32|b4x16_p64",
     {},
     {},
     kTmem,
     formatOrder},
    {"tcgen05", "cp @cg 32x128b warpx4 b8x16 b6x16_p32|b4x16_p64", {}, {}, kTmem, formatOrder},
    {"tcgen05", "shift @cg down", kUnexecuted, "no kernel seen uses it", kTmem},
    {"tcgen05",
     "ld sync aligned 32x32b|16x64b|16x128b|16x256b|16x32bx2 @x pack::16b? b32",
     {},
     {},
     kTmem},
    {"tcgen05",
     "st sync aligned 32x32b|16x64b|16x128b|16x256b|16x32bx2 @x unpack::16b? b32",
     {},
     {},
     kTmem},
    {"tcgen05",
     "ld red sync aligned 32x32b|16x32bx2 x2|x4|x8|x16|x32|x64|x128 min|max abs? NaN? f32",
     kUnexecuted, "reduction while loading", kTmem},
    {"tcgen05", "ld red sync aligned 32x32b|16x32bx2 x2|x4|x8|x16|x32|x64|x128 min|max u32|s32",
     kUnexecuted, "reduction while loading", kTmem},
    {"tcgen05",
     "ld red? spcompress sync aligned 32x32b x2|x4|x8|x16|x32|x64|x128 min|max sp::2:4 abs? NaN? "
     "f32 b2",
     kUnexecuted, "compression while loading", kTmem},
    {"spcompress", "b8|b16 b2 sp::2:4 x1|x2|x4", kUnexecuted, "compression to 2:4 sparsity",
     facts::Feature::spcompress},
};

} // namespace

std::span<const Form> tcgen05Forms() { return kForms; }

} // namespace blockscale::emu
