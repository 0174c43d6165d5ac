//===- LayoutsAccumulator.h - D and A in tensor memory --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lane and column holds element (m, n) of D, or (m, k) of an A that lies in
// tensor memory. One element of D takes one 32-bit cell whatever its type. Source:
// PTX ISA 9.4, 9.7.18.10.5; equal to CUTLASS 4.7.0 and cutlass-dsl 4.8.1 at every
// coordinate, except the sparse form, which has one source.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_LAYOUTSACCUMULATOR_H
#define BLOCKSCALE_FACTS_LAYOUTSACCUMULATOR_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::facts {

enum class AccumulatorForm : uint8_t { dense, sparse, ws };
inline constexpr std::array<std::string_view, 3> kAccumulatorFormNames{"dense", "sparse", "ws"};
constexpr std::string_view name(AccumulatorForm f) { return kAccumulatorFormNames[size_t(f)]; }
constexpr std::optional<AccumulatorForm> parseAccumulatorForm(std::string_view text) {
  for (size_t i = 0; i < kAccumulatorFormNames.size(); ++i)
    if (kAccumulatorFormNames[i] == text)
      return AccumulatorForm(i);
  return std::nullopt;
}

/// A cell of tensor memory: CTA of the pair (0 even), lane, column from the base.
struct TmemCell {
  int cta, lane, column;
  constexpr bool operator==(const TmemCell &) const = default;
};

/// Where D(m, n) of an MxN instruction lies; nothing where the instruction has no
/// such form. `lane0` is 0, or 16 where only half of the lanes are used.
constexpr std::optional<TmemCell> accumulatorCell(int m, int n, int rows, int columns, int ctaGroup,
                                                  AccumulatorForm form = AccumulatorForm::dense,
                                                  int lane0 = 0) {
  if (ctaGroup == 1) {
    if (rows == 128)
      return TmemCell{0, m, n};
    if (rows == 64 && form != AccumulatorForm::ws)
      return TmemCell{0, lane0 + m % 16 + 32 * (m / 16), n};
    if (rows == 64)
      return TmemCell{0, m + 64 * (n / (columns / 2)), n % (columns / 2)};
    if (rows == 32 && form == AccumulatorForm::ws)
      return TmemCell{0, m + 32 * (n / (columns / 4)), n % (columns / 4)};
    return std::nullopt;
  }
  if (ctaGroup != 2)
    return std::nullopt;
  if (rows == 256)
    return TmemCell{m / 128, m % 128, n};
  if (rows != 128)
    return std::nullopt;
  int row = m % 64;
  if (form == AccumulatorForm::dense)
    return TmemCell{m / 64, row + 64 * (n / (columns / 2)), n % (columns / 2)};
  return TmemCell{m / 64, lane0 + row % 16 + 32 * (row / 16), n};
}

/// Columns of tensor memory that D takes in each CTA.
constexpr int accumulatorColumns(int rows, int columns, int ctaGroup,
                                 AccumulatorForm form = AccumulatorForm::dense) {
  if (form == AccumulatorForm::ws && (rows == 32 || rows == 64))
    return columns / (128 / rows);
  if (ctaGroup == 2 && rows == 128 && form == AccumulatorForm::dense)
    return columns / 2;
  return columns;
}

/// A place of A in tensor memory; `bit` within the cell.
struct TmemOperandPlace {
  TmemCell cell;
  int bit;
};
/// M = 128 of a pair keeps two copies; otherwise `count` is 1.
struct TmemOperandPlaces {
  std::array<TmemOperandPlace, 2> places;
  int count;
};

/// Where A(m, k) lies; `containerBits` is 16, 8, 6 or 4 and elements are packed low
/// bits first.
constexpr TmemOperandPlaces tmemOperandPlaces(int m, int k, int rows, int containerBits,
                                              int ctaGroup, int lane0 = 0) {
  int column = k * containerBits / 32, bit = k * containerBits % 32;
  if (ctaGroup == 1) {
    int lane = rows == 128 ? m : lane0 + m % 16 + 32 * (m / 16);
    return {{{{{0, lane, column}, bit}, {}}}, 1};
  }
  if (rows == 256)
    return {{{{{m / 128, m % 128, column}, bit}, {}}}, 1};
  return {{{{{m / 64, m % 64, column}, bit}, {{m / 64, m % 64 + 64, column}, bit}}}, 2};
}

/// 8-bit container of a narrow code: FP6 in bits 5:0, FP4 in bits 5:2. Certain for
/// mma.sync; for tensor memory one source only.
constexpr uint8_t byteContainer(uint8_t code, int bits) {
  return uint8_t(bits == 4 ? code << 2 : code);
}

/// Rows [first, last) of an operand that a CTA of the group reads from its own
/// shared memory: A with its M rows, B with its N columns.
struct RowRange {
  int first, last;
};
constexpr RowRange operandRowsOfCta(int cta, int rows, int ctaGroup) {
  if (ctaGroup == 1)
    return {0, rows};
  return {cta * (rows / 2), (cta + 1) * (rows / 2)};
}

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_LAYOUTSACCUMULATOR_H
