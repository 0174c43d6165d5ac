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

/// The K codes of the kind with the block size, or with any where that is unknown.
std::string kCodesText(const IDesc &d, bool anyBlock) {
  std::string out;
  for (int code = 0; code < 4; ++code)
    for (const MmaMode &mode : kMmaModes)
      if (mode.kind == d.kind && mode.sparse == d.sparse && mode.kCode == code &&
          (anyBlock || mode.block == d.block)) {
        out += joinText(out.empty() ? "" : ", ", code, " (k = ", mode.k, ")");
        break;
      }
  return out;
}

struct Decoded {
  IDesc desc;
  bool complete = true; // every code has a meaning
  bool knownBlock = true;
};

/// One field: its meaning, or why it has none.
void decodeField(Arch arch, const IDescFieldRow &row, FieldView &view, Decoded &out, int kCode) {
  IDesc &d = out.desc;
  uint32_t raw = uint32_t(view.raw);
  auto illegal = [&](const std::string &allowed) {
    view.meaning = "illegal";
    view.problem = joinText("idesc_c14: ", row.name, " code of ", name(d.kind), " must be ",
                            allowed, ", got ", raw);
    out.complete = false;
  };
  auto flag = [&](bool &value, const char *set, const char *unset) {
    value = raw;
    view.meaning = raw ? set : unset;
  };
  switch (row.field) {
  case IDescField::reserved:
    return;
  case IDescField::sparseSelector:
    d.sparseSelector = int(raw);
    view.meaning = joinText(raw);
    return;
  case IDescField::sparse:
    return flag(d.sparse, "sparse", "dense");
  case IDescField::dType:
    if (raw != kDTypeF16 && raw != kDTypeF32)
      return illegal("one of 0 (f16), 1 (f32)");
    d.d = raw == kDTypeF16 ? Format::f16 : Format::f32;
    view.meaning = name(d.d);
    return;
  case IDescField::kUpper:
    view.meaning = joinText("upper bit of the K code ", kCode);
    return;
  case IDescField::k: {
    for (const MmaMode &mode : kMmaModes) {
      if (mode.kind != d.kind || mode.sparse != d.sparse || mode.kCode != kCode)
        continue;
      if (out.knownBlock && mode.block != d.block)
        continue;
      d.k = mode.k;
      view.meaning = joinText("K = ", mode.k);
      return;
    }
    std::string codes = oneOf(kCodesText(d, !out.knownBlock));
    illegal(codes);
    // The code spans two fields, so the message carries all of it.
    view.problem =
        joinText("idesc_c14: k code of ", d.sparse ? "sparse " : "", name(d.kind),
                 isBlockScaled(d.kind) && out.knownBlock ? joinText(" with block ", d.block) : "",
                 " must be ", codes, ", got ", kCode);
    return;
  }
  case IDescField::sfbId:
    d.sfbId = int(raw);
    view.meaning = joinText("byte ", raw, " of the scale word");
    return;
  case IDescField::sfaId:
    d.sfaId = int(raw);
    view.meaning = joinText("byte ", raw, " of the scale word");
    return;
  case IDescField::aType:
  case IDescField::bType: {
    std::optional<Format> format = mmaTypeOfCode(d.kind, raw);
    if (!format)
      return illegal(oneOf(typeCodesText(d.kind)));
    (row.field == IDescField::aType ? d.a : d.b) = *format;
    view.meaning = name(*format);
    return;
  }
  case IDescField::sparseVersion:
    view.meaning = raw ? "v1" : "v0";
    if (raw != (d.sparse ? kSparseVersion107 : 0))
      view.problem =
          joinText("idesc_c14: sparse_version of ", d.sparse ? "sparse " : "dense ", name(d.kind),
                   " on ", name(arch), " must be ", d.sparse ? 1 : 0, ", got ", raw);
    return;
  case IDescField::negateA:
    return flag(d.negateA, "negate A", "A as it is");
  case IDescField::negateB:
    return flag(d.negateB, "negate B", "B as it is");
  case IDescField::transposeA:
    return flag(d.transposeA, "A is M-major", "A is K-major");
  case IDescField::transposeB:
    return flag(d.transposeB, "B is N-major", "B is K-major");
  case IDescField::n:
    d.n = int(raw << row.shift);
    view.meaning = joinText("N = ", d.n);
    return;
  case IDescField::m:
    d.m = int(raw << row.shift);
    view.meaning = joinText("M = ", d.m);
    return;
  case IDescField::scaleType: {
    std::optional<ScaleFormat> scale = scaleTypeOfCode(raw);
    if (!scale || !kindHasScale(d.kind, *scale))
      return illegal(oneOf(scaleCodesText(d.kind)));
    d.scale = *scale;
    view.meaning = name(*scale);
    return;
  }
  case IDescField::sfaLayout:
    d.sfaLayout = SfaLayout(raw);
    view.meaning = raw ? "SFA layout: 128 lanes" : "SFA layout: 32 lanes";
    return;
  case IDescField::maxShift:
    d.maxShift = int(raw);
    view.meaning = raw ? joinText("shift of B reuse up to ", 4 << raw) : "no shift";
    return;
  }
}

DescriptorView view(Arch arch, MmaKind kind, int block, uint32_t word, IDesc &desc) {
  DescriptorView out;
  Decoded decoded;
  decoded.desc = IDesc{.kind = kind, .a = Format::e2m1, .b = Format::e2m1, .m = 0, .n = 0, .k = 0};
  decoded.desc.block = block;
  if (!idescFields(kind).empty())
    if (Result<bool> known = checkIDescBlock(kind, block); !known) {
      out.problems.push_back(known.message());
      decoded.knownBlock = false;
    }
  const IDescFieldRow *upper = findField(kind, IDescField::kUpper);
  const IDescFieldRow *lower = findField(kind, IDescField::k);
  const IDescFieldRow *sparse = findField(kind, IDescField::sparse);
  int kCode = (upper && upper->exists(arch) ? int(upper->get(word)) << 1 : 0) |
              (lower && lower->exists(arch) ? int(lower->get(word)) : 0);
  // Sparsity decides what other fields mean, so it is read first.
  decoded.desc.sparse = sparse && sparse->exists(arch) && sparse->get(word);
  for (const IDescFieldRow &row : idescFields(kind)) {
    FieldView field{row.name, row.low, row.width, row.get(word), "", ""};
    bool exists = row.exists(arch);
    if (!exists && row.field != IDescField::k) {
      if (row.field != IDescField::reserved)
        field.name = "reserved";
    } else {
      decodeField(arch, row, field, decoded, kCode);
    }
    if (!exists && field.raw) {
      std::string bits = row.width == 1 ? joinText("bit ", row.low)
                                        : joinText("bits ", row.low, "..", row.low + row.width - 1);
      std::string what =
          row.field == IDescField::reserved ? "" : joinText(" (", row.name, " elsewhere)");
      field.meaning = "reserved" + what;
      field.problem = joinText("idesc_c13: ", bits, " reserved in ", name(kind), " on ", name(arch),
                               what, " must be 0, got ", field.raw);
    }
    if (!field.problem.empty())
      out.problems.push_back(field.problem);
    out.fields.push_back(std::move(field));
  }
  if (decoded.complete && decoded.knownBlock)
    if (Result<bool> legal = checkIDesc(arch, decoded.desc); !legal)
      out.problems.push_back(legal.message());
  desc = decoded.desc;
  return out;
}

} // namespace

DescriptorView viewIDesc(Arch arch, MmaKind kind, int block, uint32_t word) {
  IDesc desc;
  return view(arch, kind, block, word, desc);
}

Result<IDesc> decodeIDesc(Arch arch, MmaKind kind, int block, uint32_t word) {
  IDesc desc;
  DescriptorView fields = view(arch, kind, block, word, desc);
  if (!fields.problems.empty())
    return refuse(fields.problems.front());
  return desc;
}

} // namespace blockscale::facts
