//===- MmaMode.h - what each kind of tcgen05.mma takes --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row for each kind, block size and K: shapes, element formats, scale ids
// and the chips that have it. Legality is here, in its own columns, never in the
// width of a descriptor field. Sources: PTX ISA 9.4, table 48, 9.7.18.2.1.1 and
// 9.7.18.10.7; where vendor code and the manual disagree the row says so.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_MMAMODE_H
#define BLOCKSCALE_FACTS_MMAMODE_H

#include "blockscale/Facts/Arch.h"
#include "blockscale/Facts/Format.h"
#include "blockscale/Facts/MmaKind.h"

namespace blockscale::facts {

/// A set of element formats.
struct FormatSet {
  uint32_t bits = 0;
  constexpr FormatSet() = default;
  constexpr FormatSet(std::initializer_list<Format> formats) {
    for (Format f : formats)
      bits |= uint32_t(1) << unsigned(f);
  }
  constexpr bool contains(Format f) const { return bits >> unsigned(f) & 1; }
};

/// A set of small numbers 0..31, such as scale ids.
struct IdSet {
  uint32_t bits = 0;
  constexpr IdSet() = default;
  constexpr IdSet(std::initializer_list<int> ids) {
    for (int id : ids)
      bits |= uint32_t(1) << id;
  }
  constexpr bool contains(int id) const { return id >= 0 && id < 32 && (bits >> id & 1); }
};

/// Rows of A of one instruction, by CTA group; 0 ends a list.
struct MmaRows {
  std::array<int, 2> one; // .cta_group::1
  std::array<int, 2> two; // .cta_group::2
};

struct MmaMode {
  MmaKind kind;
  int block; // elements of K that share a scale; 0: unscaled
  int k;
  bool sparse;
  int kCode;         // value of the K field of the instruction descriptor
  FormatSet formats; // of A and of B, in any mixture; kind::f16 wants A = B
  MmaRows m;
  IdSet scaleIds; // legal first bytes of the scale word
  ArchSet needs;  // one of them must be covered
  std::string_view source;
};

inline constexpr FormatSet kF8F6F4{Format::e4m3, Format::e5m2, Format::e2m3, Format::e3m2,
                                   Format::e2m1};
inline constexpr FormatSet kF8{Format::e4m3, Format::e5m2};
inline constexpr FormatSet kF4{Format::e2m1};
inline constexpr FormatSet kF16{Format::f16, Format::bf16};

/// Every target with tcgen05; the exact targets of those; the wider K of 107.
inline constexpr ArchSet kTcgen05{Arch::sm_100f, Arch::sm_110f};
inline constexpr ArchSet kTcgen05Exact{Arch::sm_100a, Arch::sm_103a, Arch::sm_107a, Arch::sm_110a};
inline constexpr ArchSet k107{Arch::sm_107f};
inline constexpr ArchSet kK96{Arch::sm_103a, Arch::sm_107a};

inline constexpr MmaRows kRowsAll{{64, 128}, {128, 256}};
inline constexpr MmaRows kRowsScaled{{128, 0}, {128, 256}};
inline constexpr MmaRows kRowsWide{{128, 0}, {256, 0}};

inline constexpr std::string_view kShapeSource = "PTX ISA 9.4, table 48 and 9.7.18.10.7.2";
inline constexpr std::string_view kK96Source =
    "PTX ISA 9.4, table 48 and 9.7.18.2.1.1; on sm_107a listed legal, unproven";
inline constexpr std::string_view kK128Source =
    "PTX ISA 9.4, table 48 (m = 256); m = 128 by cutlass-dsl 4.8.1 and FlashInfer's kernels";

// clang-format off
inline constexpr std::array<MmaMode, 26> kMmaModes{{
    // kind               block k    sparse kCode formats  rows         ids           needs
    {MmaKind::mxf8f6f4,   32,   32,  false, 0,    kF8F6F4, kRowsScaled, {0, 1, 2, 3}, kTcgen05, kShapeSource},
    {MmaKind::mxf8f6f4,   32,   64,  false, 1,    kF8F6F4, kRowsWide,   {0, 2},       k107, kShapeSource},
    {MmaKind::mxf8f6f4,   32,   64,  true,  0,    kF8F6F4, kRowsWide,   {0, 1, 2, 3}, kTcgen05, kShapeSource},
    {MmaKind::mxf8f6f4,   32,   128, true,  1,    kF8F6F4, kRowsWide,   {0, 2},       k107, kShapeSource},
    {MmaKind::mxf4,       32,   64,  false, 0,    kF4,     kRowsScaled, {0, 2},       kTcgen05, kShapeSource},
    {MmaKind::mxf4,       32,   96,  false, 1,    kF4,     kRowsWide,   {0, 1, 2, 3}, kK96, kK96Source},
    {MmaKind::mxf4,       32,   128, false, 2,    kF4,     kRowsWide,   {0},          k107, kK128Source},
    {MmaKind::mxf4,       32,   128, true,  0,    kF4,     kRowsWide,   {0, 2},       kTcgen05Exact, kShapeSource},
    {MmaKind::mxf4,       32,   192, true,  1,    kF4,     kRowsWide,   {0, 1, 2, 3}, {Arch::sm_107a}, kShapeSource},
    {MmaKind::mxf4nvf4,   16,   64,  false, 0,    kF4,     kRowsScaled, {0},          kTcgen05, kShapeSource},
    {MmaKind::mxf4nvf4,   16,   96,  false, 1,    kF4,     kRowsWide,   {0, 2},       kK96, kK96Source},
    {MmaKind::mxf4nvf4,   16,   128, false, 2,    kF4,     kRowsWide,   {0},          k107, kK128Source},
    {MmaKind::mxf4nvf4,   16,   128, true,  0,    kF4,     kRowsWide,   {0},          kTcgen05Exact, kShapeSource},
    {MmaKind::mxf4nvf4,   16,   192, true,  1,    kF4,     kRowsWide,   {0, 2},       {Arch::sm_107a}, kShapeSource},
    {MmaKind::mxf4nvf4,   32,   64,  false, 0,    kF4,     kRowsScaled, {0, 2},       kTcgen05, kShapeSource},
    {MmaKind::mxf4nvf4,   32,   96,  false, 1,    kF4,     kRowsWide,   {0, 1, 2, 3}, kK96, kK96Source},
    {MmaKind::mxf4nvf4,   32,   128, false, 2,    kF4,     kRowsWide,   {0},          k107, kK128Source},
    {MmaKind::mxf4nvf4,   32,   128, true,  0,    kF4,     kRowsWide,   {0, 2},       kTcgen05Exact, kShapeSource},
    {MmaKind::mxf4nvf4,   32,   192, true,  1,    kF4,     kRowsWide,   {0, 1, 2, 3}, {Arch::sm_107a}, kShapeSource},
    {MmaKind::f8f6f4,     0,    32,  false, 0,    kF8F6F4, kRowsAll,    {0},          kTcgen05, kShapeSource},
    {MmaKind::f8f6f4,     0,    64,  false, 1,    kF8,     kRowsWide,   {0},          k107, kShapeSource},
    {MmaKind::f8f6f4,     0,    64,  true,  0,    kF8F6F4, kRowsAll,    {0},          kTcgen05, kShapeSource},
    {MmaKind::f16,        0,    16,  false, 0,    kF16,    kRowsAll,    {0},          kTcgen05, kShapeSource},
    {MmaKind::f16,        0,    32,  true,  0,    kF16,    kRowsAll,    {0},          kTcgen05, kShapeSource},
    {MmaKind::tf32,       0,    8,   false, 0,    {},      kRowsAll,    {0},          kTcgen05, kShapeSource},
    {MmaKind::i8,         0,    32,  false, 0,    {},      kRowsAll,    {0},          {Arch::sm_100a, Arch::sm_110a}, kShapeSource},
}};
// clang-format on

/// Scale formats that a kind takes at a block size.
struct MmaScaleMode {
  MmaKind kind;
  int block;
  ScaleFormat scale;
  ArchSet needs;
  std::string_view source;
};

// clang-format off
inline constexpr std::array<MmaScaleMode, 8> kMmaScaleModes{{
    {MmaKind::mxf8f6f4, 32, ScaleFormat::ue8m0, kTcgen05, "PTX ISA 9.4, table 52"},
    {MmaKind::mxf4,     32, ScaleFormat::ue8m0, kTcgen05, "PTX ISA 9.4, table 53"},
    {MmaKind::mxf4nvf4, 16, ScaleFormat::ue8m0, kTcgen05, "PTX ISA 9.4, table 53"},
    {MmaKind::mxf4nvf4, 16, ScaleFormat::ue4m3, kTcgen05, "PTX ISA 9.4, table 53"},
    {MmaKind::mxf4nvf4, 16, ScaleFormat::ue5m3, k107, "PTX ISA 9.4, 9.7.18.10.7.1"},
    {MmaKind::mxf4nvf4, 32, ScaleFormat::ue8m0, kTcgen05, "PTX ISA 9.4, table 53"},
    {MmaKind::mxf4nvf4, 32, ScaleFormat::ue4m3, k107, "PTX ISA 9.4, 9.7.18.10.7.1"},
    {MmaKind::mxf4nvf4, 32, ScaleFormat::ue5m3, k107, "PTX ISA 9.4, 9.7.18.10.7.1"},
}};
// clang-format on

/// How PTX writes the block size after `.block_scale`.
struct MmaScaleSpelling {
  MmaKind kind;
  int block;
  std::string_view qualifier; // empty: the default of the kind
  ArchSet needs;
  std::string_view source;
};

// clang-format off
inline constexpr std::array<MmaScaleSpelling, 10> kMmaScaleSpellings{{
    {MmaKind::mxf8f6f4, 32, "",               kTcgen05,      "ptxas 13.5"},
    {MmaKind::mxf8f6f4, 32, ".block32",       kTcgen05,      "ptxas 13.5"},
    {MmaKind::mxf8f6f4, 32, ".scale_vec::1X", kTcgen05Exact, "ptxas 13.5"},
    {MmaKind::mxf4,     32, "",               kTcgen05,      "ptxas 13.5"},
    {MmaKind::mxf4,     32, ".block32",       kTcgen05,      "ptxas 13.5"},
    {MmaKind::mxf4,     32, ".scale_vec::2X", kTcgen05Exact, "ptxas 13.5"},
    {MmaKind::mxf4nvf4, 32, ".block32",       kTcgen05,      "ptxas 13.5"},
    {MmaKind::mxf4nvf4, 32, ".scale_vec::2X", kTcgen05Exact, "ptxas 13.5"},
    {MmaKind::mxf4nvf4, 16, ".block16",       kTcgen05,      "ptxas 13.5"},
    {MmaKind::mxf4nvf4, 16, ".scale_vec::4X", kTcgen05Exact, "ptxas 13.5"},
}};
// clang-format on

/// Columns of B: multiples of a step up to 256, by CTA group. An 8-bit B that is
/// transposed doubles the step.
inline constexpr int kMmaMaxN = 256;
constexpr int mmaStepN(int ctaGroup, bool transposedNarrowB = false) {
  return 8 * ctaGroup * (transposedNarrowB ? 2 : 1);
}

constexpr bool isBlockScaled(MmaKind kind) { return kMmaKindNames[size_t(kind)].blockScaled; }

/// Scales of one row that an instruction reads. A sparse A stores half of K, and one
/// scale covers a block of what is stored.
constexpr int scalesPerRow(const MmaMode &mode) {
  return mode.block ? mode.k / (mode.sparse ? 2 : 1) / mode.block : 0;
}

/// The row of a mode, whatever the chip; null where no chip has it.
constexpr const MmaMode *findMmaMode(MmaKind kind, int block, int k, bool sparse = false) {
  for (const MmaMode &row : kMmaModes)
    if (row.kind == kind && row.block == block && row.k == k && row.sparse == sparse)
      return &row;
  return nullptr;
}
/// Whether a chip has a dense mode with these scales.
constexpr bool hasMmaMode(Arch arch, MmaKind kind, int block, ScaleFormat scale, int k) {
  const MmaMode *mode = findMmaMode(kind, block, k);
  if (!mode || !covers(arch, mode->needs))
    return false;
  for (const MmaScaleMode &row : kMmaScaleModes)
    if (row.kind == kind && row.block == block && row.scale == scale)
      return covers(arch, row.needs);
  return false;
}
/// The block size that a qualifier of `.block_scale` means; 0 where it means none.
constexpr int blockOfSpelling(MmaKind kind, std::string_view qualifier) {
  for (const MmaScaleSpelling &row : kMmaScaleSpellings)
    if (row.kind == kind && row.qualifier == qualifier)
      return row.block;
  return 0;
}

namespace detail {
constexpr bool mmaModesAreSound() {
  for (size_t i = 0; i < kMmaModes.size(); ++i) {
    const MmaMode &row = kMmaModes[i];
    if (row.needs.empty() || row.source.empty() || (row.block != 0) != isBlockScaled(row.kind))
      return false;
    // A row holds whole scales, and no two rows are the same mode.
    if (row.block && row.k % row.block)
      return false;
    // Ids name the first byte so that the next instruction's scales follow without a gap,
    // and the scales of K below 96 stay within one word.
    if (row.block && scalesPerRow(row) < 3)
      for (int id = 0; id < 4; ++id)
        if (row.scaleIds.contains(id) != (id % scalesPerRow(row) == 0))
          return false;
    for (size_t j = 0; j < i; ++j) {
      const MmaMode &other = kMmaModes[j];
      if (row.kind != other.kind || row.block != other.block || row.sparse != other.sparse)
        continue;
      if (row.k == other.k || row.kCode == other.kCode)
        return false;
    }
    // Every block-scaled mode has a scale format and a spelling wherever it exists.
    bool scale = !row.block, spelling = !row.block;
    for (const MmaScaleMode &s : kMmaScaleModes)
      scale |= s.kind == row.kind && s.block == row.block;
    for (const MmaScaleSpelling &s : kMmaScaleSpellings)
      spelling |= s.kind == row.kind && s.block == row.block;
    if (!scale || !spelling)
      return false;
  }
  return true;
}
static_assert(mmaModesAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_MMAMODE_H
