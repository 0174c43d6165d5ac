//===- IDescFields.h - field rows of the instruction descriptor -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every bit of the three forms of the descriptor, in order, reserved bits too.
// What a field may hold stands in the value rows, apart from its width: a field
// that a chip lacks is reserved there. Source: PTX ISA 9.4, tables 51, 52 and 53,
// 9.7.18.4.2.1.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_IDESCFIELDS_H
#define BLOCKSCALE_FACTS_IDESCFIELDS_H

#include "blockscale/Facts/IDesc.h"

#include <span>

namespace blockscale::facts {

enum class IDescField : uint8_t {
  reserved,
  sparseSelector,
  sparse,
  dType,
  kUpper, // upper bit of the K code, mxf4* only
  k,      // K code, or its lower bit
  sfbId,
  sfaId,
  aType,
  bType,
  sparseVersion,
  negateA,
  negateB,
  transposeA,
  transposeB,
  n,
  m,
  scaleType,
  sfaLayout,
  maxShift
};

struct IDescFieldRow {
  IDescField field;
  std::string_view name;
  int low, width;
  int shift;     // n and m: the number is the raw value << shift
  ArchSet needs; // where the field exists; elsewhere its bits are reserved
  std::string_view source;

  constexpr uint32_t mask() const { return ((uint32_t(1) << width) - 1) << low; }
  constexpr uint32_t get(uint32_t word) const { return (word & mask()) >> low; }
  constexpr uint32_t put(uint32_t raw) const { return raw << low & mask(); }
  constexpr bool exists(Arch arch) const {
    return field != IDescField::reserved && covers(arch, needs);
  }
};

inline constexpr std::string_view kTable51 = "PTX ISA 9.4, table 51";
inline constexpr std::string_view kTable52 = "PTX ISA 9.4, table 52";
inline constexpr std::string_view kTable53 = "PTX ISA 9.4, table 53";
inline constexpr std::string_view kIDescNote = "PTX ISA 9.4, 9.7.18.4.2.1";

// clang-format off
/// Unscaled kinds: f8f6f4 and f16.
inline constexpr std::array<IDescFieldRow, 16> kUnscaledIDesc{{
    {IDescField::sparseSelector, "sparse_selector", 0,  2, 0, kTcgen05, kTable51},
    {IDescField::sparse,         "sparse",          2,  1, 0, kTcgen05, kTable51},
    {IDescField::reserved,       "reserved",        3,  1, 0, {},       kTable51},
    {IDescField::dType,          "d_type",          4,  2, 0, kTcgen05, kTable51},
    {IDescField::reserved,       "reserved",        6,  1, 0, {},       kTable51},
    {IDescField::aType,          "a_type",          7,  3, 0, kTcgen05, kTable51},
    {IDescField::bType,          "b_type",          10, 3, 0, kTcgen05, kTable51},
    {IDescField::negateA,        "negate_a",        13, 1, 0, kTcgen05, kTable51},
    {IDescField::negateB,        "negate_b",        14, 1, 0, kTcgen05, kTable51},
    {IDescField::transposeA,     "transpose_a",     15, 1, 0, kTcgen05, kTable51},
    {IDescField::transposeB,     "transpose_b",     16, 1, 0, kTcgen05, kTable51},
    {IDescField::n,              "n",               17, 6, 3, kTcgen05, kTable51},
    {IDescField::reserved,       "reserved",        23, 1, 0, {},       kTable51},
    {IDescField::m,              "m",               24, 5, 4, kTcgen05, kTable51},
    {IDescField::k,              "k",               29, 1, 0, k107,     kIDescNote},
    {IDescField::maxShift,       "max_shift",       30, 2, 0, kTcgen05, kTable51},
}};
inline constexpr std::array<IDescFieldRow, 18> kMxf8f6f4IDesc{{
    {IDescField::reserved,       "reserved",        0,  2, 0, {},       kTable52},
    {IDescField::sparse,         "sparse",          2,  1, 0, kTcgen05, kTable52},
    {IDescField::reserved,       "reserved",        3,  1, 0, {},       kTable52},
    {IDescField::sfbId,          "sfb_id",          4,  2, 0, kTcgen05, kTable52},
    {IDescField::reserved,       "reserved",        6,  1, 0, {},       kTable52},
    {IDescField::aType,          "a_type",          7,  3, 0, kTcgen05, kTable52},
    {IDescField::bType,          "b_type",          10, 3, 0, kTcgen05, kTable52},
    {IDescField::negateA,        "negate_a",        13, 1, 0, kTcgen05, kTable52},
    {IDescField::negateB,        "negate_b",        14, 1, 0, kTcgen05, kTable52},
    {IDescField::transposeA,     "transpose_a",     15, 1, 0, kTcgen05, kTable52},
    {IDescField::transposeB,     "transpose_b",     16, 1, 0, kTcgen05, kTable52},
    {IDescField::n,              "n",               17, 6, 3, kTcgen05, kTable52},
    {IDescField::scaleType,      "scale_type",      23, 1, 0, kTcgen05, kTable52},
    {IDescField::reserved,       "reserved",        24, 2, 0, {},       kTable52},
    {IDescField::sfaLayout,      "sfa_layout",      26, 1, 0, k107,     kIDescNote},
    {IDescField::m,              "m",               27, 2, 7, kTcgen05, kTable52},
    {IDescField::sfaId,          "sfa_id",          29, 2, 0, kTcgen05, kTable52},
    {IDescField::k,              "k",               31, 1, 0, k107,     kIDescNote},
}};
inline constexpr std::array<IDescFieldRow, 18> kMxf4IDesc{{
    {IDescField::reserved,       "reserved",        0,  2, 0, {},            kTable53},
    {IDescField::sparse,         "sparse",          2,  1, 0, kTcgen05Exact, "PTX ISA 9.4, table 53; ptxas 13.5"},
    {IDescField::kUpper,         "k_upper",         3,  1, 0, k107,          kIDescNote},
    {IDescField::sfbId,          "sfb_id",          4,  2, 0, kTcgen05,      kTable53},
    {IDescField::reserved,       "reserved",        6,  1, 0, {},            kTable53},
    {IDescField::aType,          "a_type",          7,  3, 0, kTcgen05,      kTable53},
    {IDescField::bType,          "b_type",          10, 2, 0, kTcgen05,      kTable53},
    {IDescField::sparseVersion,  "sparse_version",  12, 1, 0, {Arch::sm_107a}, kIDescNote},
    {IDescField::negateA,        "negate_a",        13, 1, 0, kTcgen05,      kTable53},
    {IDescField::negateB,        "negate_b",        14, 1, 0, kTcgen05,      kTable53},
    {IDescField::reserved,       "reserved",        15, 2, 0, {},            "PTX ISA 9.4, table 53: no transpose"},
    {IDescField::n,              "n",               17, 6, 3, kTcgen05,      kTable53},
    {IDescField::scaleType,      "scale_type",      23, 2, 0, kTcgen05,      kTable53},
    {IDescField::reserved,       "reserved",        25, 1, 0, {},            kTable53},
    {IDescField::sfaLayout,      "sfa_layout",      26, 1, 0, k107,          kIDescNote},
    {IDescField::m,              "m",               27, 2, 7, kTcgen05,      kTable53},
    {IDescField::sfaId,          "sfa_id",          29, 2, 0, kTcgen05,      kTable53},
    {IDescField::k,              "k",               31, 1, 0, kTcgen05,      kTable53},
}};
// clang-format on

/// The form of a kind's descriptor; empty for kinds without one here (tf32, i8).
constexpr std::span<const IDescFieldRow> idescFields(MmaKind kind) {
  switch (kind) {
  case MmaKind::mxf8f6f4:
    return kMxf8f6f4IDesc;
  case MmaKind::mxf4:
  case MmaKind::mxf4nvf4:
    return kMxf4IDesc;
  case MmaKind::f8f6f4:
  case MmaKind::f16:
    return kUnscaledIDesc;
  case MmaKind::tf32:
  case MmaKind::i8:
    return {};
  }
  return {};
}

/// The row of a field, or null where the form has none.
constexpr const IDescFieldRow *findField(MmaKind kind, IDescField field) {
  for (const IDescFieldRow &row : idescFields(kind))
    if (row.field == field && field != IDescField::reserved)
      return &row;
  return nullptr;
}

/// Codes of element types, by kind: the same code means different formats.
struct MmaTypeCode {
  MmaKind kind;
  Format format;
  uint32_t code;
  std::string_view source;
};
inline constexpr std::array<MmaTypeCode, 14> kMmaTypeCodes{{
    {MmaKind::mxf8f6f4, Format::e4m3, 0, kTable52},
    {MmaKind::mxf8f6f4, Format::e5m2, 1, kTable52},
    {MmaKind::mxf8f6f4, Format::e2m3, 3, kTable52},
    {MmaKind::mxf8f6f4, Format::e3m2, 4, kTable52},
    {MmaKind::mxf8f6f4, Format::e2m1, 5, kTable52},
    {MmaKind::mxf4, Format::e2m1, 1, kTable53},
    {MmaKind::mxf4nvf4, Format::e2m1, 1, kTable53},
    {MmaKind::f8f6f4, Format::e4m3, 0, kTable51},
    {MmaKind::f8f6f4, Format::e5m2, 1, kTable51},
    {MmaKind::f8f6f4, Format::e2m3, 3, kTable51},
    {MmaKind::f8f6f4, Format::e3m2, 4, kTable51},
    {MmaKind::f8f6f4, Format::e2m1, 5, kTable51},
    {MmaKind::f16, Format::f16, 0, kTable51},
    {MmaKind::f16, Format::bf16, 1, kTable51},
}};
constexpr std::optional<uint32_t> mmaTypeCode(MmaKind kind, Format format) {
  for (const MmaTypeCode &row : kMmaTypeCodes)
    if (row.kind == kind && row.format == format)
      return row.code;
  return std::nullopt;
}
constexpr std::optional<Format> mmaTypeOfCode(MmaKind kind, uint32_t code) {
  for (const MmaTypeCode &row : kMmaTypeCodes)
    if (row.kind == kind && row.code == code)
      return row.format;
  return std::nullopt;
}

/// Codes of scale formats; which kind takes which on what chip: kMmaScaleModes.
struct ScaleTypeCode {
  ScaleFormat format;
  uint32_t code;
  std::string_view source;
};
inline constexpr std::array<ScaleTypeCode, 3> kScaleTypeCodes{{
    {ScaleFormat::ue4m3, 0, kTable53},
    {ScaleFormat::ue8m0, 1, "PTX ISA 9.4, tables 52 and 53"},
    {ScaleFormat::ue5m3, 2, kTable53},
}};
constexpr uint32_t scaleTypeCode(ScaleFormat format) {
  for (const ScaleTypeCode &row : kScaleTypeCodes)
    if (row.format == format)
      return row.code;
  return 0;
}
constexpr std::optional<ScaleFormat> scaleTypeOfCode(uint32_t code) {
  for (const ScaleTypeCode &row : kScaleTypeCodes)
    if (row.code == code)
      return row.format;
  return std::nullopt;
}

/// Codes of D's type in unscaled kinds.
inline constexpr uint32_t kDTypeF16 = 0, kDTypeF32 = 1;
/// Version of the metadata of sparse mxf4* where the field exists; 0 when dense.
inline constexpr uint32_t kSparseVersion107 = 1;

namespace detail {
constexpr bool idescFormIsSound(std::span<const IDescFieldRow> rows) {
  int next = 0;
  for (const IDescFieldRow &row : rows) {
    // Ascending, without a gap or an overlap; only reserved rows need no chip.
    if (row.low != next || row.width < 1 || row.name.empty() || row.source.empty())
      return false;
    if ((row.field == IDescField::reserved) != row.needs.empty())
      return false;
    next = row.low + row.width;
    for (const IDescFieldRow &other : rows)
      if (&other != &row && other.field == row.field && row.field != IDescField::reserved)
        return false;
  }
  return next == 32;
}
static_assert(idescFormIsSound(kUnscaledIDesc));
static_assert(idescFormIsSound(kMxf8f6f4IDesc));
static_assert(idescFormIsSound(kMxf4IDesc));

constexpr bool typeCodesAreSound() {
  for (size_t i = 0; i < kMmaTypeCodes.size(); ++i) {
    const MmaTypeCode &row = kMmaTypeCodes[i];
    for (IDescField field : {IDescField::aType, IDescField::bType}) {
      const IDescFieldRow *bits = findField(row.kind, field);
      if (!bits || bits->get(bits->put(row.code)) != row.code)
        return false;
    }
    for (size_t j = 0; j < i; ++j)
      if (kMmaTypeCodes[j].kind == row.kind &&
          (kMmaTypeCodes[j].code == row.code || kMmaTypeCodes[j].format == row.format))
        return false;
  }
  // Every format of a mode has a code, and every mode's K code fits its field.
  for (const MmaMode &mode : kMmaModes) {
    if (idescFields(mode.kind).empty())
      continue;
    for (const FormatInfo &format : kFormats)
      if (mode.formats.contains(format.format) && !mmaTypeCode(mode.kind, format.format))
        return false;
    int bits = findField(mode.kind, IDescField::k)->width +
               (findField(mode.kind, IDescField::kUpper) ? 1 : 0);
    if (mode.kCode >> bits)
      return false;
  }
  for (const MmaScaleMode &mode : kMmaScaleModes) {
    const IDescFieldRow *bits = findField(mode.kind, IDescField::scaleType);
    uint32_t code = scaleTypeCode(mode.scale);
    if (!bits || bits->get(bits->put(code)) != code || scaleTypeOfCode(code) != mode.scale)
      return false;
  }
  return true;
}
static_assert(typeCodesAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_IDESCFIELDS_H
