//===- PageDescriptors.cpp - fields of the descriptors --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Page.h"

#include "blockscale/Facts/IDescFields.h"
#include "blockscale/Facts/SmemDescFields.h"

#include <cstdio>

namespace blockscale::explain {

using namespace facts; // NOLINT: a tool's own file

static std::string bitsText(int low, int width) {
  return width == 1 ? joinText(low) : joinText(low, "..", low + width - 1);
}

/// What a field may hold, whatever its width.
static std::string legalValues(MmaKind kind, const IDescFieldRow &row) {
  std::string out;
  auto add = [&](const auto &...parts) { out += (out.empty() ? "" : ", ") + joinText(parts...); };
  switch (row.field) {
  case IDescField::reserved:
    return "0";
  case IDescField::aType:
  case IDescField::bType:
    for (const MmaTypeCode &code : kMmaTypeCodes)
      if (code.kind == kind)
        add(code.code, " ", name(code.format));
    return out;
  case IDescField::scaleType:
    for (const ScaleTypeCode &code : kScaleTypeCodes)
      for (const MmaScaleMode &mode : kMmaScaleModes)
        if (mode.kind == kind && mode.scale == code.format) {
          add(code.code, " ", name(code.format));
          break;
        }
    return out;
  case IDescField::k:
  case IDescField::kUpper:
    for (int code = 0; code < 4; ++code)
      for (const MmaMode &mode : kMmaModes)
        if (mode.kind == kind && mode.kCode == code && !mode.sparse) {
          add(code, " K = ", mode.k);
          break;
        }
    if (findField(kind, IDescField::kUpper))
      out += row.field == IDescField::k ? " (lower bit)" : " (upper bit)";
    return out;
  case IDescField::n:
    return joinText("N / ", 1 << row.shift);
  case IDescField::m:
    return joinText("M / ", 1 << row.shift);
  case IDescField::sfaId:
  case IDescField::sfbId:
    return "by mode, see above";
  case IDescField::sfaLayout:
    return "0 lanes32, 1 lanes128";
  case IDescField::sparseVersion:
    return "0 dense, 1 sparse";
  case IDescField::dType:
    return joinText(kDTypeF16, " f16, ", kDTypeF32, " f32");
  case IDescField::sparseSelector:
    return "0..3 sparse, 0 dense";
  case IDescField::maxShift:
    return "0..3";
  case IDescField::sparse:
  case IDescField::negateA:
  case IDescField::negateB:
  case IDescField::transposeA:
  case IDescField::transposeB:
    return "0, 1";
  }
  return out;
}

static void printIDesc(const char *title, MmaKind kind) {
  std::printf("### %s\n\n", title);
  Table table({"bits", "field", "legal values", "needs", "source"});
  for (const IDescFieldRow &row : idescFields(kind))
    table.row({bitsText(row.low, row.width), std::string(row.name), legalValues(kind, row),
               targets(row.needs), std::string(row.source)});
}

void printDescriptors() {
  heading("Instruction descriptor");
  paragraph("A field that a target lacks is reserved there and must be 0.");
  printIDesc("mxf8f6f4", MmaKind::mxf8f6f4);
  printIDesc("mxf4 and mxf4nvf4", MmaKind::mxf4nvf4);
  printIDesc("f8f6f4 and f16 (codes of f8f6f4)", MmaKind::f8f6f4);
  heading("Shared-memory descriptor");
  paragraph("Addresses and offsets in units of 16 bytes.");
  Table table({"bits", "field", "needs", "source"});
  for (const SmemDescFieldRow &row : kSmemDescFields)
    table.row({bitsText(row.low, row.width), std::string(row.name), targets(row.needs),
               std::string(row.source)});
}

} // namespace blockscale::explain
