//===- PageMemory.cpp - swizzles, tensor maps, tensor memory, scales ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Page.h"

#include "blockscale/Facts/LayoutsScales.h"
#include "blockscale/Facts/ScaleTile.h"
#include "blockscale/Facts/Swizzle.h"
#include "blockscale/Facts/Tmem.h"

#include <cstdio>

namespace blockscale::explain {

using namespace facts; // NOLINT: a tool's own file

static std::string code(int value) { return value < 0 ? "-" : std::to_string(value); }

/// "bits 6:4 ^= bits 9:7".
static std::string formula(const SwizzleInfo &row) {
  if (!row.target)
    return "-";
  int low = 0, high = 31;
  while (!(row.target >> low & 1))
    ++low;
  while (!(row.target >> high & 1))
    --high;
  auto range = [](int from, int to) {
    return from == to ? joinText("bit ", from) : joinText("bits ", to, ":", from);
  };
  std::string out =
      joinText(range(low, high), " ^= ", range(low + row.distance, high + row.distance));
  return row.swizzle == Swizzle::b128Atom32Flip8 ? out + ", then bit 3 ^= bit 7" : out;
}

static void printSwizzles() {
  heading("Swizzles");
  paragraph("XOR of absolute shared-memory address bits.");
  Table table({"swizzle", "span", "period", "address bits", "descriptor code", "tensor map code",
               "source"});
  for (const SwizzleInfo &row : kSwizzles)
    table.row({std::string(row.name), count(row.span), count(row.period), formula(row),
               code(row.descriptorCode), code(row.tmaCode), std::string(row.source)});
}

static void printTensorMaps() {
  heading("Tensor maps");
  std::printf("Rank 1 to %d; sizes 1 to %llu; strides multiples of the alignment below 2^40 "
              "bytes; box 1 to %u elements a dimension and a multiple of %u bytes in dimension 0; "
              "element strides 1 to %u; destinations aligned to %u bytes, the map to %u.\n\n",
              kTmaMaxRank, static_cast<unsigned long long>(kTmaMaxDim), kTmaMaxBox, kTmaRowStep,
              kTmaMaxElementStride, kTmaSharedAlignment, kTmaMapAlignment);
  Table table({"code", "type", "bits", "bytes of 16, tensor", "shared", "alignment", "box[0] step",
               "size[0] step", "nan fill", "source"});
  for (const TmaTypeInfo &row : kTmaTypes)
    table.row({std::to_string(int(row.type)), std::string(name(row.type)), count(row.bits),
               count(row.globalBytes16), count(row.sharedBytes16), count(row.alignment),
               count(row.boxStep), count(row.dimStep), row.isFloat ? "yes" : "",
               std::string(row.source)});
}

static void printTensorMemory() {
  heading("Tensor memory");
  std::printf("%d lanes of 32-bit columns; address = lane << 16 | column. An allocation is a power "
              "of two from %d to %d, above that a multiple of %d up to what the chip has, in the "
              "exclusive form (PTX ISA 9.4, 9.7.18.7.1).\n\n",
              kTmemLanes, kTmemAllocStep, kTmemSharedColumns, kTmemAllocStep);
  Table table({"used", "sm_100a", "sm_107a"});
  for (int used : {1, 33, 288, 512, 513, 536, 560, 576, 577}) {
    std::vector<std::string> cells{std::to_string(used)};
    for (Arch arch : {Arch::sm_100a, Arch::sm_107a}) {
      Result<int> columns = roundTmemColumns(arch, used);
      cells.push_back(columns ? std::to_string(*columns) : "refused");
    }
    table.row(cells);
  }
}

static void printScales() {
  heading("Scales");
  std::printf("Tiled scales are %lld-byte tiles of %lld rows x %lld scales, K tiles innermost, "
              "padded to whole tiles. Byte of (row, scale) = tile * 512 + (row %% 32) * 16 + (row "
              "%% 128 / 32) * 4 + scale %% 4. In tensor memory scale s of row r, with p = id + s, "
              "is in lane r %% 32 of each part, column r / 32 + (p / 4) * G, byte p %% 4; G is 4 "
              "for each started 128 rows.\n\n",
              static_cast<long long>(kScaleTileBytes), static_cast<long long>(kScaleTileRows),
              static_cast<long long>(kScaleTileScales));
  Table table({"row, scale of 130 x 5", "byte", "lane", "column", "byte of the word"});
  const int kPoints[][2] = {{0, 0}, {1, 0}, {32, 0}, {33, 1}, {127, 3}, {0, 4}, {128, 0}, {129, 4}};
  for (const auto &[row, scale] : kPoints) {
    ScalePlace place = scalePlace(row % 128, scale % 4, 128);
    table.row({joinText(row, ", ", scale), joinText(scaleTileOffset(row, scale, 5)),
               joinText(place.lane), joinText(place.column), joinText(place.byte)});
  }
}

void printMemory() {
  printSwizzles();
  printTensorMaps();
  printTensorMemory();
  printScales();
}

} // namespace blockscale::explain
