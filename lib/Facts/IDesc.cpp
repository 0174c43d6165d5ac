//===- IDesc.cpp - legality and coding of the instruction descriptor ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules idesc_c1 to c12 judge a decoded descriptor, c13 and c14 a word. Each is
// one `if` on the rows of MmaMode.h and IDescFields.h, in label order.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/IDesc.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/IDescFields.h"

#include <algorithm>
#include <vector>

namespace blockscale::facts {
namespace {

/// "a", "a or b", "one of a, b, c".
std::string allowedText(std::vector<std::string> values) {
  if (values.empty())
    return "nothing";
  if (values.size() == 1)
    return values[0];
  std::string out = "one of ";
  for (size_t i = 0; i < values.size(); ++i)
    out += (i ? ", " : "") + values[i];
  return out;
}

std::string idsText(IdSet ids) {
  std::vector<std::string> values;
  for (int id = 0; id < 32; ++id)
    if (ids.contains(id))
      values.push_back(std::to_string(id));
  return allowedText(values);
}

/// "mxf4nvf4 with block 16", "sparse f8f6f4".
std::string subjectText(const IDesc &d) {
  std::string out = d.sparse ? "sparse " : "";
  out += name(d.kind);
  if (isBlockScaled(d.kind))
    out += joinText(" with block ", d.block);
  return out;
}

std::string archsWithKind(MmaKind kind) {
  std::vector<std::string> values;
  for (const ArchInfo &row : kArchInfos)
    for (const MmaMode &mode : kMmaModes)
      if (mode.kind == kind && covers(row.arch, mode.needs)) {
        values.emplace_back(name(row.arch));
        break;
      }
  return allowedText(values);
}

/// idesc_c1: the kind must exist on the chip, and have a descriptor form here.
std::optional<Refusal> checkKind(Arch arch, MmaKind kind) {
  if (idescFields(kind).empty())
    return refuse("idesc_c1: kind must be one of mxf8f6f4, mxf4, mxf4nvf4, f8f6f4, f16, got ",
                  name(kind));
  for (const MmaMode &mode : kMmaModes)
    if (mode.kind == kind && covers(arch, mode.needs))
      return std::nullopt;
  return refuse("idesc_c1: target of kind ", name(kind), " must be ", archsWithKind(kind), ", got ",
                name(arch));
}

/// idesc_c2, idesc_c3: the element type must have a code in the kind.
std::optional<Refusal> checkType(const char *label, const char *operand, MmaKind kind, Format f) {
  if (mmaTypeCode(kind, f))
    return std::nullopt;
  std::vector<std::string> values;
  for (const MmaTypeCode &row : kMmaTypeCodes)
    if (row.kind == kind)
      values.emplace_back(name(row.format));
  return refuse(label, ": type of ", operand, " in ", name(kind), " must be ", allowedText(values),
                ", got ", name(f));
}

/// idesc_c4: the kind must have the block size.
std::optional<Refusal> checkBlock(MmaKind kind, int block) {
  std::vector<std::string> values;
  for (const MmaMode &mode : kMmaModes) {
    if (mode.kind != kind)
      continue;
    if (mode.block == block)
      return std::nullopt;
    std::string text = std::to_string(mode.block);
    if (std::find(values.begin(), values.end(), text) == values.end())
      values.push_back(text);
  }
  return refuse("idesc_c4: block of ", name(kind), " must be ", allowedText(values), ", got ",
                block);
}

/// idesc_c5: the scale format must go with kind and block on the chip.
std::optional<Refusal> checkScale(Arch arch, const IDesc &d) {
  if (!isBlockScaled(d.kind))
    return std::nullopt;
  std::vector<std::string> values;
  for (const MmaScaleMode &row : kMmaScaleModes) {
    if (row.kind != d.kind || row.block != d.block || !covers(arch, row.needs))
      continue;
    if (row.scale == d.scale)
      return std::nullopt;
    values.emplace_back(name(row.scale));
  }
  return refuse("idesc_c5: scale type of ", subjectText(d), " on ", name(arch), " must be ",
                allowedText(values), ", got ", name(d.scale));
}

/// idesc_c6: the K mode must exist on the chip for these types. Sets `mode`.
std::optional<Refusal> checkK(Arch arch, const IDesc &d, const MmaMode *&mode) {
  std::vector<std::string> values;
  for (const MmaMode &row : kMmaModes) {
    if (row.kind != d.kind || row.block != d.block || row.sparse != d.sparse ||
        !covers(arch, row.needs) || !row.formats.contains(d.a) || !row.formats.contains(d.b))
      continue;
    if (row.k == d.k) {
      mode = &row;
      return std::nullopt;
    }
    values.push_back(std::to_string(row.k));
  }
  return refuse("idesc_c6: k of ", subjectText(d), " on ", name(arch), " must be ",
                allowedText(values), ", got ", d.k);
}

bool contains(const std::array<int, 2> &rows, int m) {
  return m != 0 && (rows[0] == m || rows[1] == m);
}
std::string rowsText(const std::array<int, 2> &rows) {
  return rows[1] ? joinText(rows[0], " or ", rows[1]) : joinText(rows[0]);
}

/// idesc_c7: M must go with the mode and the CTA group.
std::optional<Refusal> checkM(const IDesc &d, const MmaMode &mode) {
  bool one = d.ctaGroup != 2 && contains(mode.m.one, d.m);
  bool two = d.ctaGroup != 1 && contains(mode.m.two, d.m);
  if (one || two)
    return std::nullopt;
  std::string allowed = joinText(rowsText(mode.m.one), " with cta_group 1 or ",
                                 rowsText(mode.m.two), " with cta_group 2");
  std::string got = joinText(d.m);
  if (d.ctaGroup)
    got += joinText(" with cta_group ", d.ctaGroup);
  if (d.m == 64 && isBlockScaled(d.kind))
    return refuse("idesc_c7: m of ", subjectText(d), " must be ", allowed,
                  " (no block-scaled kind has m = 64 on any chip), got ", got);
  if (d.m == 64 && d.kind == MmaKind::f8f6f4 && !contains(mode.m.one, 64))
    return refuse("idesc_c7: m of ", subjectText(d), " at k = ", d.k, " must be ", allowed,
                  " (m = 64 exists at k = 32 only), got ", got);
  return refuse("idesc_c7: m of ", subjectText(d), " at k = ", d.k, " must be ", allowed, ", got ",
                got);
}

/// idesc_c8: N must be a multiple of the step of the CTA group, up to 256.
std::optional<Refusal> checkN(const IDesc &d, const MmaMode &mode) {
  bool narrowTransposedB = d.transposeB && info(d.b).bits <= 8;
  // Without a known group, M decides; M that either group has takes the finer step.
  int group = d.ctaGroup;
  if (!group)
    group = contains(mode.m.one, d.m) ? 1 : 2;
  int step = mmaStepN(group, narrowTransposedB);
  if (d.n >= step && d.n <= kMmaMaxN && d.n % step == 0)
    return std::nullopt;
  return refuse("idesc_c8: n of ", subjectText(d), ", cta_group ", group,
                narrowTransposedB ? " and a transposed 8-bit B" : "", " must be a multiple of ",
                step, " from ", step, " to ", kMmaMaxN, ", got ", d.n);
}

/// idesc_c9: scale ids must be among those of the mode.
std::optional<Refusal> checkScaleId(const char *which, int id, const IDesc &d,
                                    const MmaMode &mode) {
  if (mode.scaleIds.contains(id))
    return std::nullopt;
  return refuse("idesc_c9: ", which, " of ", subjectText(d), " at k = ", d.k, " must be ",
                idsText(mode.scaleIds), ", got ", id);
}

/// idesc_c10: only types with whole bytes may be transposed; mxf4* never.
std::optional<Refusal> checkTranspose(const char *operand, bool transposed, Format f,
                                      const IDesc &d) {
  if (!transposed)
    return std::nullopt;
  if (!findField(d.kind, IDescField::transposeA))
    return refuse("idesc_c10: ", operand, " of ", name(d.kind), " must be K-major, got transposed");
  if (info(f).bits < 8 && !d.sparse && d.k == 64)
    return refuse("idesc_c10: ", operand, " of type ", name(f), " in ", name(d.kind),
                  " at k = 64 must be K-major, got transposed");
  return std::nullopt;
}

/// idesc_c11: fields of sparse and unscaled forms must be zero elsewhere.
std::optional<Refusal> checkSparse(Arch arch, const IDesc &d) {
  const IDescFieldRow *selector = findField(d.kind, IDescField::sparseSelector);
  int most = selector && d.sparse ? 3 : 0;
  if (d.sparseSelector < 0 || d.sparseSelector > most)
    return refuse("idesc_c11: sparse_selector of ", subjectText(d), " must be from 0 to ", most,
                  ", got ", d.sparseSelector);
  most = findField(d.kind, IDescField::maxShift) ? 3 : 0;
  if (d.maxShift < 0 || d.maxShift > most)
    return refuse("idesc_c11: max_shift of ", subjectText(d), " must be from 0 to ", most, ", got ",
                  d.maxShift);
  return std::nullopt;
}

/// idesc_c12: D is f32, and f16 only in unscaled kinds; the 128-lane layout of
/// SFA exists in the 107 family only.
std::optional<Refusal> checkLayouts(Arch arch, const IDesc &d) {
  bool f16 = d.d == Format::f16 && !isBlockScaled(d.kind);
  if (d.d != Format::f32 && !f16)
    return refuse("idesc_c12: type of D in ", name(d.kind), " must be ",
                  isBlockScaled(d.kind) ? "f32" : "one of f32, f16", ", got ", name(d.d));
  const IDescFieldRow *row = findField(d.kind, IDescField::sfaLayout);
  if (d.sfaLayout != SfaLayout::lanes32 && (!row || !row->exists(arch)))
    return refuse("idesc_c12: sfa_layout of ", name(d.kind), " on ", name(arch),
                  " must be lanes32, got ", name(d.sfaLayout));
  return std::nullopt;
}

std::optional<Refusal> check(Arch arch, const IDesc &d, const MmaMode *&mode) {
  if (auto r = checkKind(arch, d.kind))
    return r;
  if (auto r = checkType("idesc_c2", "A", d.kind, d.a))
    return r;
  if (auto r = checkType("idesc_c3", "B", d.kind, d.b))
    return r;
  if (auto r = checkBlock(d.kind, d.block))
    return r;
  if (auto r = checkScale(arch, d))
    return r;
  if (auto r = checkK(arch, d, mode))
    return r;
  if (d.ctaGroup < 0 || d.ctaGroup > 2)
    return refuse("idesc_c7: cta_group must be one of 1, 2, got ", d.ctaGroup);
  if (auto r = checkM(d, *mode))
    return r;
  if (auto r = checkN(d, *mode))
    return r;
  if (auto r = checkScaleId("sfa_id", d.sfaId, d, *mode))
    return r;
  if (auto r = checkScaleId("sfb_id", d.sfbId, d, *mode))
    return r;
  if (auto r = checkTranspose("A", d.transposeA, d.a, d))
    return r;
  if (auto r = checkTranspose("B", d.transposeB, d.b, d))
    return r;
  if (auto r = checkSparse(arch, d))
    return r;
  return checkLayouts(arch, d);
}

/// The value that a field of a legal descriptor holds.
uint32_t rawValue(IDescField field, const IDescFieldRow &row, const IDesc &d, const MmaMode &mode) {
  switch (field) {
  case IDescField::reserved:
    return 0;
  case IDescField::sparseSelector:
    return uint32_t(d.sparseSelector);
  case IDescField::sparse:
    return d.sparse;
  case IDescField::dType:
    return d.d == Format::f16 ? kDTypeF16 : kDTypeF32;
  case IDescField::kUpper:
    return uint32_t(mode.kCode) >> 1;
  case IDescField::k:
    return uint32_t(mode.kCode) & 1;
  case IDescField::sfbId:
    return uint32_t(d.sfbId);
  case IDescField::sfaId:
    return uint32_t(d.sfaId);
  case IDescField::aType:
    return *mmaTypeCode(d.kind, d.a);
  case IDescField::bType:
    return *mmaTypeCode(d.kind, d.b);
  case IDescField::sparseVersion:
    return d.sparse ? kSparseVersion107 : 0;
  case IDescField::negateA:
    return d.negateA;
  case IDescField::negateB:
    return d.negateB;
  case IDescField::transposeA:
    return d.transposeA;
  case IDescField::transposeB:
    return d.transposeB;
  case IDescField::n:
    return uint32_t(d.n) >> row.shift;
  case IDescField::m:
    return uint32_t(d.m) >> row.shift;
  case IDescField::scaleType:
    return scaleTypeCode(d.scale);
  case IDescField::sfaLayout:
    return uint32_t(d.sfaLayout);
  case IDescField::maxShift:
    return uint32_t(d.maxShift);
  }
  return 0;
}

} // namespace

Result<bool> checkIDescBlock(MmaKind kind, int block) {
  if (auto refusal = checkBlock(kind, block))
    return *refusal;
  return true;
}

Result<bool> checkIDesc(Arch arch, const IDesc &desc) {
  const MmaMode *mode = nullptr;
  if (auto refusal = check(arch, desc, mode))
    return *refusal;
  return true;
}

Result<uint32_t> encodeIDesc(Arch arch, const IDesc &desc) {
  const MmaMode *mode = nullptr;
  if (auto refusal = check(arch, desc, mode))
    return *refusal;
  uint32_t word = 0;
  for (const IDescFieldRow &row : idescFields(desc.kind))
    if (row.exists(arch))
      word |= row.put(rawValue(row.field, row, desc, *mode));
  return word;
}

} // namespace blockscale::facts
