//===- FormsTcgen05Mma.cpp - forms of tcgen05.mma -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.18.10; ptxas 13.5 where it is laxer. Which scale sizes a kind
// takes comes from the facts.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Forms.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

constexpr auto kUnexecuted = FormStatus::unexecuted;
constexpr auto kTmem = facts::Feature::tcgen05;
constexpr size_t kMaskWords = 4; // of disable-output-lane, for each CTA
constexpr int64_t kMaxInputScale = 15;

bool has(const Decoder &d, std::string_view modifier) {
  const auto &mods = d.raw->modifiers;
  return std::find(mods.begin(), mods.end(), modifier) != mods.end();
}

std::string number(const Decoder &d, size_t want) {
  return d.count() == want
             ? std::string()
             : "ptx_operands: " + d.spelling() + " must have " + std::to_string(want) +
                   " operands, got " + std::to_string(d.count());
}

/// The kind takes the scale size that is written, or its default.
std::string scaleSize(const Decoder &d) {
  using facts::MmaKind;
  MmaKind kind = has(d, "kind::mxf8f6f4") ? MmaKind::mxf8f6f4
                 : has(d, "kind::mxf4")   ? MmaKind::mxf4
                                          : MmaKind::mxf4nvf4;
  std::string written;
  for (const std::string &m : d.raw->modifiers)
    if (m.starts_with("scale_vec::") || m == "block16" || m == "block32")
      written = "." + m;
  std::string allowed;
  for (const facts::MmaScaleSpelling &row : facts::kMmaScaleSpellings)
    if (row.kind == kind) {
      if (row.qualifier == written)
        return {};
      allowed.append(allowed.empty() ? "" : ", ")
          .append(row.qualifier.empty() ? "none" : row.qualifier);
    }
  return "ptx_modifier: scale size of .kind::" + std::string(facts::name(kind)) +
         " must be one of " + allowed + ", got " + (written.empty() ? "none" : written);
}

/// [d], a, b[, [sparse meta]][, [lut]], idesc, [scale a], [scale b], enable
std::string scaled(const Decoder &d) {
  std::string problem = scaleSize(d);
  size_t want = 7 + has(d, "sp") + has(d, "decompress::lut::b");
  if (problem.empty() && has(d, "sp") && !has(d, "kind::mxf8f6f4") &&
      !facts::supports(d.arch, facts::Feature::sparseMxf4))
    problem = "ptx_target: sparse mxf4 must have a target with sparse_mxf4, got " +
              std::string(facts::name(d.arch));
  return problem.empty() ? number(d, want) : problem;
}

/// [d], a, b[, [sparse meta]][, [lut]], idesc[, disabled lanes], enable[, scale of d]
std::string plain(const Decoder &d) {
  size_t least = 5 + has(d, "sp") + has(d, "decompress::lut::b");
  size_t enable = least - 1;
  if (d.count() > enable && d.operand(enable).kind == PtxOperand::Kind::vector) {
    size_t want = kMaskWords * (has(d, "cta_group::2") ? 2 : 1);
    if (size_t got = d.operand(enable).items.size(); got != want)
      return "ptx_vector: disabled lanes must be " + std::to_string(want) + " words, got " +
             std::to_string(got);
    ++least;
  }
  if (d.count() == least + 1) {
    if (!has(d, "kind::f16") && !has(d, "kind::tf32"))
      return "ptx_modifier: scale of the accumulator must stand with .kind::f16 or .kind::tf32, "
             "got " +
             d.spelling();
    auto scale = d.immediate(d.operand(least));
    if (!scale || *scale < 0 || *scale > kMaxInputScale)
      return "ptx_immediate: scale of the accumulator must be a number from 0 to " +
             std::to_string(kMaxInputScale) +
             (scale ? ", got " + std::to_string(*scale) : std::string());
    ++least;
  }
  if (has(d, "ashift")) {
    if (d.operand(1).kind != PtxOperand::Kind::address)
      return "ptx_modifier: .ashift must have A in tensor memory";
    if (has(d, "collector::a::use") || has(d, "collector::a::fill"))
      return "ptx_modifier: .ashift must stand with .collector::a::lastuse or discard, got " +
             d.spelling();
  }
  return number(d, least);
}

constexpr std::string_view kPlainWhy = "kinds without block scales";
constexpr std::string_view kSparseWhy = "sparse operands";
constexpr std::string_view kLutWhy = "operands by lookup table";
constexpr std::string_view kWeightWhy = "weight-stationary forms";

constexpr Form kForms[] = {
    {"tcgen05",
     "mma @cg kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4 block_scale "
     "block16|block32|scale_vec::1X|scale_vec::2X|scale_vec::4X? @ca? @cb?",
     {},
     {},
     kTmem,
     scaled},
    {"tcgen05",
     "mma sp @cg kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4 block_scale "
     "block16|block32|scale_vec::1X|scale_vec::2X|scale_vec::4X? @ca? @cb?",
     kUnexecuted, kSparseWhy, kTmem, scaled},
    {"tcgen05",
     "mma @cg kind::mxf8f6f4 block_scale block32|scale_vec::1X? decompress::lut::b @ca? @cb?",
     kUnexecuted, kLutWhy, kTmem, scaled},
    {"tcgen05", "mma @cg kind::f8f6f4 decompress::lut::b @ca? @cb?", kUnexecuted, kLutWhy, kTmem,
     plain},
    {"tcgen05", "mma @cg kind::f16|kind::tf32|kind::f8f6f4|kind::i8|kind::ti16 @ca? @cb?",
     kUnexecuted, kPlainWhy, kTmem, plain},
    {"tcgen05", "mma @cg kind::f16|kind::tf32|kind::f8f6f4|kind::i8 ashift @ca? @cb?", kUnexecuted,
     kPlainWhy, kTmem, plain},
    {"tcgen05", "mma sp @cg kind::f16|kind::tf32|kind::f8f6f4|kind::i8|kind::ti16 @ca? @cb?",
     kUnexecuted, kSparseWhy, kTmem, plain},
    {"tcgen05",
     "mma ws sp? cta_group::1 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 "
     "collector::b0::fill|collector::b0::use|collector::b0::lastuse|collector::b0::discard|"
     "collector::b1::fill|collector::b1::use|collector::b1::lastuse|collector::b1::discard|"
     "collector::b2::fill|collector::b2::use|collector::b2::lastuse|collector::b2::discard|"
     "collector::b3::fill|collector::b3::use|collector::b3::lastuse|collector::b3::discard?",
     kUnexecuted, kWeightWhy, kTmem},
};

} // namespace

std::span<const Form> tcgen05MmaForms() { return kForms; }

} // namespace blockscale::emu
