//===- IDescDecode.cpp - from a word to an instruction descriptor ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the field rows once, fills an IDesc and notes what is wrong: reserved bits
// (idesc_c13) and codes without a meaning (idesc_c14). The rules on decoded
// descriptors follow where all codes have one.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/DescriptorView.h"
#include "blockscale/Facts/IDescFields.h"

namespace blockscale::facts {
namespace {

/// A list with a comma is "one of" it.
std::string oneOf(const std::string &list) {
  return list.find(',') == std::string::npos ? list : "one of " + list;
}

std::string typeCodesText(MmaKind kind) {
  std::string out;
  for (const MmaTypeCode &row : kMmaTypeCodes)
    if (row.kind == kind)
      out += joinText(out.empty() ? "" : ", ", row.code, " (", name(row.format), ")");
  return out;
}

std::string scaleCodesText(MmaKind kind) {
  std::string out;
  for (const ScaleTypeCode &code : kScaleTypeCodes)
    for (const MmaScaleMode &mode : kMmaScaleModes)
      if (mode.kind == kind && mode.scale == code.format) {
        out += joinText(out.empty() ? "" : ", ", code.code, " (", name(code.format), ")");
        break;
      }
  return out;
}

bool kindHasScale(MmaKind kind, ScaleFormat scale) {
  for (const MmaScaleMode &mode : kMmaScaleModes)
    if (mode.kind == kind && mode.scale == scale)
      return true;
  return false;
}

std::string kCodesText(MmaKind kind, bool sparse) {
  std::string out;
  for (int code = 0; code < 4; ++code)
    for (const MmaMode &mode : kMmaModes)
      if (mode.kind == kind && mode.sparse == sparse && mode.kCode == code) {
        out += joinText(out.empty() ? "" : ", ", code, " (k = ", mode.k, ")");
        break;
      }
  return out;
}

/// The K code of a word, from one field or two.
int kCodeOf(Arch arch, MmaKind kind, uint32_t word) {
  const IDescFieldRow *upper = findField(kind, IDescField::kUpper);
  const IDescFieldRow *lower = findField(kind, IDescField::k);
  return (upper && upper->exists(arch) ? int(upper->get(word)) << 1 : 0) |
         (lower && lower->exists(arch) ? int(lower->get(word)) : 0);
}

/// Stores one field; false where the code has no meaning. For the K field `raw` is the
/// whole K code.
bool setField(const IDescFieldRow &row, uint32_t raw, IDesc &d) {
  switch (row.field) {
  case IDescField::reserved:
  case IDescField::kUpper:
  case IDescField::sparse: // read first, since it decides what others mean
    return true;
  case IDescField::sparseSelector:
    d.sparseSelector = int(raw);
    return true;
  case IDescField::dType:
    d.d = raw == kDTypeF16 ? Format::f16 : Format::f32;
    return raw == kDTypeF16 || raw == kDTypeF32;
  case IDescField::k:
    for (const MmaMode &mode : kMmaModes)
      if (mode.kind == d.kind && mode.sparse == d.sparse && mode.kCode == int(raw)) {
        d.k = mode.k;
        return true;
      }
    return false;
  case IDescField::sfbId:
    d.sfbId = int(raw);
    return true;
  case IDescField::sfaId:
    d.sfaId = int(raw);
    return true;
  case IDescField::aType:
  case IDescField::bType: {
    std::optional<Format> format = mmaTypeOfCode(d.kind, raw);
    if (format)
      (row.field == IDescField::aType ? d.a : d.b) = *format;
    return format.has_value();
  }
  case IDescField::sparseVersion:
    return raw == (d.sparse ? kSparseVersion107 : 0);
  case IDescField::negateA:
    d.negateA = raw;
    return true;
  case IDescField::negateB:
    d.negateB = raw;
    return true;
  case IDescField::transposeA:
    d.transposeA = raw;
    return true;
  case IDescField::transposeB:
    d.transposeB = raw;
    return true;
  case IDescField::n:
    d.n = int(raw << row.shift);
    return true;
  case IDescField::m:
    d.m = int(raw << row.shift);
    return true;
  case IDescField::scaleType: {
    std::optional<ScaleFormat> scale = scaleTypeOfCode(raw);
    if (!scale || !kindHasScale(d.kind, *scale))
      return false;
    d.scale = *scale;
    return true;
  }
  case IDescField::sfaLayout:
    d.sfaLayout = SfaLayout(raw);
    return true;
  case IDescField::maxShift:
    d.maxShift = int(raw);
    return true;
  }
  return false;
}

/// What a field that was stored means.
std::string meaningOf(const IDescFieldRow &row, uint32_t raw, const IDesc &d) {
  switch (row.field) {
  case IDescField::reserved:
    return "";
  case IDescField::sparseSelector:
    return joinText(raw);
  case IDescField::sparse:
    return d.sparse ? "sparse" : "dense";
  case IDescField::dType:
    return std::string(name(d.d));
  case IDescField::kUpper:
    return "upper bit of the K code";
  case IDescField::k:
    return joinText("K = ", d.k);
  case IDescField::sfbId:
  case IDescField::sfaId:
    return joinText("byte ", raw, " of the scale word");
  case IDescField::aType:
    return std::string(name(d.a));
  case IDescField::bType:
    return std::string(name(d.b));
  case IDescField::sparseVersion:
    return joinText("v", raw);
  case IDescField::negateA:
    return raw ? "negate A" : "A as it is";
  case IDescField::negateB:
    return raw ? "negate B" : "B as it is";
  case IDescField::transposeA:
    return raw ? "A is M-major" : "A is K-major";
  case IDescField::transposeB:
    return raw ? "B is N-major" : "B is K-major";
  case IDescField::n:
    return joinText("N = ", d.n);
  case IDescField::m:
    return joinText("M = ", d.m);
  case IDescField::scaleType:
    return std::string(name(d.scale));
  case IDescField::sfaLayout:
    return raw ? "SFA layout: 128 lanes" : "SFA layout: 32 lanes";
  case IDescField::maxShift:
    return raw ? joinText("shift of B reuse up to ", 4 << raw) : "no shift";
  }
  return "";
}

/// idesc_c14: why a code has no meaning.
std::string complaintOf(Arch arch, const IDescFieldRow &row, uint32_t raw, const IDesc &d) {
  const char *density = d.sparse ? "sparse " : "";
  switch (row.field) {
  case IDescField::sparseVersion:
    return joinText("idesc_c14: sparse_version of ", d.sparse ? "sparse " : "dense ", name(d.kind),
                    " on ", name(arch), " must be ", d.sparse ? kSparseVersion107 : 0, ", got ",
                    raw);
  case IDescField::k:
    return joinText("idesc_c14: k code of ", density, name(d.kind), " must be ",
                    oneOf(kCodesText(d.kind, d.sparse)), ", got ", raw);
  case IDescField::scaleType:
    return joinText("idesc_c14: scale_type code of ", name(d.kind), " must be ",
                    oneOf(scaleCodesText(d.kind)), ", got ", raw);
  case IDescField::dType:
    return joinText("idesc_c14: d_type code of ", name(d.kind), " must be one of ", kDTypeF16,
                    " (f16), ", kDTypeF32, " (f32), got ", raw);
  default:
    return joinText("idesc_c14: ", row.name, " code of ", name(d.kind), " must be ",
                    oneOf(typeCodesText(d.kind)), ", got ", raw);
  }
}

/// A descriptor of nothing yet but kind, block and sparsity.
IDesc startOf(Arch arch, MmaKind kind, int block, uint32_t word) {
  IDesc d{.kind = kind, .a = Format::e2m1, .b = Format::e2m1, .m = 0, .n = 0, .k = 0};
  d.block = block;
  const IDescFieldRow *sparse = findField(kind, IDescField::sparse);
  d.sparse = sparse && sparse->exists(arch) && sparse->get(word);
  return d;
}

/// The K field counts where its bits are reserved too: its code is 0 there.
bool isRead(Arch arch, const IDescFieldRow &row) {
  return row.exists(arch) || row.field == IDescField::k;
}
uint32_t rawOf(const IDescFieldRow &row, uint32_t word, int kCode) {
  return row.field == IDescField::k ? uint32_t(kCode) : row.get(word);
}

/// idesc_c13: bits that the chip reserves.
std::string reservedComplaint(Arch arch, MmaKind kind, const IDescFieldRow &row, uint32_t raw,
                              const std::string &elsewhere) {
  std::string bits = row.width == 1 ? joinText("bit ", row.low)
                                    : joinText("bits ", row.low, "..", row.low + row.width - 1);
  return joinText("idesc_c13: ", bits, " reserved in ", name(kind), " on ", name(arch), elsewhere,
                  " must be 0, got ", raw);
}

} // namespace

DescriptorView viewIDesc(Arch arch, MmaKind kind, int block, uint32_t word) {
  DescriptorView out;
  IDesc desc = startOf(arch, kind, block, word);
  int kCode = kCodeOf(arch, kind, word);
  bool complete = true;
  for (const IDescFieldRow &row : idescFields(kind)) {
    FieldView field{row.name, row.low, row.width, row.get(word), "", ""};
    uint32_t raw = rawOf(row, word, kCode);
    if (isRead(arch, row) && setField(row, raw, desc)) {
      field.meaning = meaningOf(row, raw, desc);
    } else if (isRead(arch, row)) {
      field.meaning = "illegal";
      field.problem = complaintOf(arch, row, raw, desc);
      complete &= row.field == IDescField::sparseVersion;
    }
    if (!row.exists(arch)) {
      std::string elsewhere =
          row.field == IDescField::reserved ? "" : joinText(" (", row.name, " elsewhere)");
      if (row.field != IDescField::k || field.raw)
        field.name = "reserved";
      if (field.raw) {
        field.meaning = "reserved" + elsewhere;
        field.problem = reservedComplaint(arch, kind, row, uint32_t(field.raw), elsewhere);
      }
    }
    if (!field.problem.empty())
      out.problems.push_back(field.problem);
    out.fields.push_back(std::move(field));
  }
  if (complete)
    if (Result<bool> legal = checkIDesc(arch, desc); !legal)
      out.problems.push_back(legal.message());
  return out;
}

Result<IDesc> decodeIDesc(Arch arch, MmaKind kind, int block, uint32_t word) {
  // What encodes to the same word is legal as a whole; the view finds out what is not.
  IDesc desc = startOf(arch, kind, block, word);
  int kCode = kCodeOf(arch, kind, word);
  bool complete = true;
  for (const IDescFieldRow &row : idescFields(kind))
    complete &= !isRead(arch, row) || setField(row, rawOf(row, word, kCode), desc);
  if (complete)
    if (Result<uint32_t> same = encodeIDesc(arch, desc); same && *same == word)
      return desc;
  DescriptorView fields = viewIDesc(arch, kind, block, word);
  if (fields.problems.empty())
    return refuse("idesc_c13: word must encode to itself, got ", word);
  return refuse(fields.problems.front());
}

} // namespace blockscale::facts
