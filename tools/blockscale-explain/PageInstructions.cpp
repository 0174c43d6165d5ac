//===- PageInstructions.cpp - formats, MMA modes, tensor-memory shapes ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Page.h"

#include "blockscale/Facts/LayoutsTmemAccess.h"
#include "blockscale/Facts/LayoutsTmemCopy.h"
#include "blockscale/Facts/MmaSync.h"

#include <cstdio>

namespace blockscale::explain {

using namespace facts; // NOLINT: a tool's own file

static std::string rows(const std::array<int, 2> &m) {
  return m[1] ? joinText(m[0], ", ", m[1]) : joinText(m[0]);
}

static std::string ids(IdSet set) {
  std::string out;
  for (int id = 0; id < 32; ++id)
    if (set.contains(id))
      out += joinText(out.empty() ? "" : ", ", id);
  return out;
}

static void printFormats() {
  heading("Formats");
  {
    Table table({"format", "MLIR", "bits", "exponent", "mantissa", "bias", "largest"});
    for (const FormatInfo &row : kFormats) {
      char max[32];
      std::snprintf(max, sizeof max, "%g", row.max);
      table.row({std::string(row.name), std::string(row.mlir), count(row.bits),
                 count(row.exponentBits), count(row.mantissaBits), count(row.bias), max});
    }
  }
  Table table({"scale format", "largest", "NaN byte", "byte of 1.0"});
  for (const ScaleFormatInfo &row : kScaleFormats) {
    char max[32], nan[8], one[8];
    std::snprintf(max, sizeof max, "%g", row.max);
    std::snprintf(nan, sizeof nan, "0x%02X", row.nan);
    std::snprintf(one, sizeof one, "0x%02X", row.one);
    table.row({std::string(row.name), max, nan, one});
  }
}

static void printModes() {
  heading("Modes of tcgen05.mma");
  std::printf("N is a multiple of %d (cta_group 1) or %d (cta_group 2) up to %d; the step doubles "
              "for a transposed 8-bit B.\n\n",
              mmaStepN(1), mmaStepN(2), kMmaMaxN);
  {
    Table table({"kind", "block", "K", "sparse", "types of A and B", "M, cta_group 1",
                 "M, cta_group 2", "scale ids", "needs", "source"});
    for (const MmaMode &row : kMmaModes)
      table.row({std::string(name(row.kind)), count(row.block), count(row.k),
                 row.sparse ? "yes" : "", formats(row.formats), rows(row.m.one), rows(row.m.two),
                 isBlockScaled(row.kind) ? ids(row.scaleIds) : "-", targets(row.needs),
                 std::string(row.source)});
  }
  {
    Table table({"kind", "block", "scale type", "needs", "source"});
    for (const MmaScaleMode &row : kMmaScaleModes)
      table.row({std::string(name(row.kind)), count(row.block), std::string(name(row.scale)),
                 targets(row.needs), std::string(row.source)});
  }
  Table table({"kind", "block", "spelling after .block_scale", "needs", "source"});
  for (const MmaScaleSpelling &row : kMmaScaleSpellings)
    table.row({std::string(name(row.kind)), count(row.block),
               row.qualifier.empty() ? "(none)" : joinText("`", row.qualifier, "`"),
               targets(row.needs), std::string(row.source)});
}

static void printMmaSync() {
  heading("Block-scaled mma.sync");
  Table table({"kind", "shape", "scale_vec", "types of A and B", "scale type", "needs", "source"});
  for (const MmaSyncMode &row : kMmaSyncModes)
    table.row({std::string(name(row.kind)), joinText("m", row.m, "n", row.n, "k", row.k),
               joinText(row.scaleVec, row.spelled ? "X" : "X (default)"), formats(row.formats),
               std::string(name(row.scale)), targets(row.needs), std::string(row.source)});
}

static void printShapes() {
  heading("Shapes of tcgen05.ld, st and cp");
  {
    Table table({"ld / st", "registers of .x1", "largest .xN", "lanes of a warp", "source"});
    for (const LdShapeInfo &row : kLdShapes)
      table.row({std::string(row.name), count(row.registers), count(row.maxCount), count(row.lanes),
                 std::string(row.source)});
  }
  Table table({"cp", "source rows", "bytes a row", "lanes a row goes to", "source"});
  for (const CpShapeInfo &row : kCpShapes)
    table.row({std::string(row.name), count(row.rows), count(row.rowBytes), count(row.copies),
               std::string(row.source)});
}

void printInstructions() {
  printFormats();
  printModes();
  printMmaSync();
  printShapes();
}

} // namespace blockscale::explain
