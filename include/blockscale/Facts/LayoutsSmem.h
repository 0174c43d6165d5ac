//===- LayoutsSmem.h - operands in shared memory --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses of operand bytes as tcgen05.mma and tcgen05.cp read them through a
// descriptor. K steps advance the start linearly; the XOR comes after. Source: PTX
// ISA 9.4, 9.7.18.3 and 9.7.18.10.4; equal to CUTLASS 4.7.0 at every slice and to
// operand fetches of an H200.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_LAYOUTSSMEM_H
#define BLOCKSCALE_FACTS_LAYOUTSSMEM_H

#include "blockscale/Facts/SmemDesc.h"

#include <cstdint>

namespace blockscale::facts {

/// Byte `kByte` of row `row` of a K-major operand; kByte counts from the first K
/// byte of this instruction.
constexpr uint32_t kMajorAddress(int row, int kByte, const SmemDesc &desc) {
  uint32_t r = uint32_t(row), k = uint32_t(kByte);
  if (desc.swizzle == Swizzle::none)
    return desc.start + r % 8 * 16 + r / 8 * desc.strideBytes + k / 16 * desc.leadingBytes + k % 16;
  uint32_t span = uint32_t(info(desc.swizzle).span);
  uint32_t linear = desc.start + r % 8 * span + r / 8 * desc.strideBytes + k;
  return swizzleAddress(linear, desc.swizzle, desc.baseOffset);
}

/// The same with an absolute leading address (bit 52, K = 96): 128-byte swizzle;
/// 16-byte chunks past the end of the row go on in the buffer at `leadingBytes`.
constexpr uint32_t kMajorAddressAbsolute(int row, int kByte, const SmemDesc &desc) {
  uint32_t r = uint32_t(row), k = uint32_t(kByte);
  uint32_t first = desc.start / 16 % 8;
  uint32_t chunk = first + k / 16;
  uint32_t base = desc.start - first * 16;
  if (chunk >= 8) {
    base = desc.leadingBytes;
    chunk -= 8;
  }
  return swizzleAddress(base + r % 8 * 128 + r / 8 * desc.strideBytes + chunk * 16 + k % 16,
                        Swizzle::b128);
}

/// Element (mn, k) of a transposed (MN-major) operand of `elementBytes` an element.
/// Leading and stride change roles between no swizzle and the others.
constexpr uint32_t mnMajorAddress(int mn, int k, int elementBytes, const SmemDesc &desc) {
  uint32_t i = uint32_t(mn), kk = uint32_t(k), size = uint32_t(elementBytes);
  uint32_t span = uint32_t(info(desc.swizzle).span);
  uint32_t run = span / size;
  if (desc.swizzle == Swizzle::none)
    return desc.start + i % run * size + i / run * desc.strideBytes + kk % 8 * 16 +
           kk / 8 * desc.leadingBytes;
  uint32_t kRows = desc.swizzle == Swizzle::b128Atom32 ? 4 : 8;
  uint32_t linear = desc.start + i % run * size + i / run * desc.leadingBytes + kk % kRows * span +
                    kk / kRows * desc.strideBytes;
  return swizzleAddress(linear, desc.swizzle, desc.baseOffset);
}

/// How the elements of one operand row lie.
enum class RowPacking : uint8_t {
  dense,   // element k at bit k * bits, low bits first
  padded16 // 16 elements, then a gap up to 16 bytes (b4x16_p64, b6x16_p32)
};
constexpr std::string_view name(RowPacking p) {
  return p == RowPacking::dense ? "dense" : "padded16";
}
constexpr std::optional<RowPacking> parseRowPacking(std::string_view text) {
  if (text == "dense")
    return RowPacking::dense;
  if (text == "padded16")
    return RowPacking::padded16;
  return std::nullopt;
}

/// Bit of element k within its row.
constexpr int elementBit(int k, int bits, RowPacking packing) {
  return packing == RowPacking::dense ? bits * k : 128 * (k / 16) + bits * (k % 16);
}
/// Bytes of one row of k elements as one instruction reads them.
constexpr int operandRowBytes(int k, int bits, RowPacking packing) {
  return packing == RowPacking::dense ? k * bits / 8 : (k + 15) / 16 * 16;
}
/// How an instruction reads an element type from shared memory: mxf8f6f4 and f8f6f4
/// keep types below 8 bits padded at K = 32, and packed at K = 64 (sm_107).
constexpr RowPacking operandPacking(bool isF4Kind, int bits, int k) {
  return !isF4Kind && bits < 8 && k == 32 ? RowPacking::padded16 : RowPacking::dense;
}

/// Byte and bit of element k of row `row`, K-major.
struct SmemElement {
  uint32_t address;
  int bit;
};
constexpr SmemElement kMajorElement(int row, int k, int bits, RowPacking packing,
                                    const SmemDesc &desc) {
  int bit = elementBit(k, bits, packing);
  return {kMajorAddress(row, bit / 8, desc), bit % 8};
}

/// One K = 96 instruction of the walk over three 128-byte stages (K = 768): the
/// stage that its start lies in, and where in the row, in units of 16 bytes. Where
/// the 48 bytes cross the row's end, the descriptor names the next stage.
struct K96Step {
  int stage, unit;
  constexpr bool crosses() const { return unit + 3 > 8; }
};
inline constexpr int kK96Steps = 8;
constexpr K96Step k96Step(int instruction) { return {instruction * 3 / 8, instruction * 3 % 8}; }

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_LAYOUTSSMEM_H
