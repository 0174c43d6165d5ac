//===- SmemDescFields.h - field rows of the shared-memory descriptor ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every bit of the descriptor, in order. The address fields have 15 bits on the
// 107 family and 14 elsewhere: one row holds the low 14 bits, the next the bit
// that only sm_107 has. Source: PTX ISA 9.4, table 49; address widths settled by
// the masks of NVIDIA's own compiler.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_SMEMDESCFIELDS_H
#define BLOCKSCALE_FACTS_SMEMDESCFIELDS_H

#include "blockscale/Facts/MmaMode.h"
#include "blockscale/Facts/SmemDesc.h"

namespace blockscale::facts {

enum class SmemDescField : uint8_t {
  reserved,
  start,
  startUpper,
  leading,
  leadingUpper,
  stride,
  version,
  baseOffset,
  absolute,
  lutHalf,
  swizzle
};

struct SmemDescFieldRow {
  SmemDescField field;
  std::string_view name;
  int low, width;
  ArchSet needs; // where the field exists; elsewhere its bits are reserved
  std::string_view source;

  constexpr uint64_t mask() const { return ((uint64_t(1) << width) - 1) << low; }
  constexpr uint64_t get(uint64_t word) const { return (word & mask()) >> low; }
  constexpr uint64_t put(uint64_t raw) const { return raw << low & mask(); }
  constexpr bool exists(Arch arch) const {
    return field != SmemDescField::reserved && covers(arch, needs);
  }
};

inline constexpr std::string_view kTable49 = "PTX ISA 9.4, table 49";
inline constexpr std::string_view kAddressBitSource =
    "PTX ISA 9.4, table 49; used by cutlass-dsl 4.8.1 on sm_107a only";
inline constexpr std::string_view kAbsoluteSource =
    "PTX ISA 9.4, 9.7.18.4.1.1 (sm_103a); on sm_107a by cutlass-dsl 4.8.1, unproven";

/// Addresses and offsets are stored in units of 16 bytes.
inline constexpr uint32_t kSmemDescUnit = 16;
/// What bits 46..48 must hold.
inline constexpr uint64_t kSmemDescVersion = 1;

// clang-format off
inline constexpr std::array<SmemDescFieldRow, 13> kSmemDescFields{{
    {SmemDescField::start,        "start",         0,  14, kTcgen05, kTable49},
    {SmemDescField::startUpper,   "start_upper",   14, 1,  k107,     kAddressBitSource},
    {SmemDescField::reserved,     "reserved",      15, 1,  {},       kTable49},
    {SmemDescField::leading,      "leading",       16, 14, kTcgen05, kTable49},
    {SmemDescField::leadingUpper, "leading_upper", 30, 1,  k107,     kAddressBitSource},
    {SmemDescField::reserved,     "reserved",      31, 1,  {},       kTable49},
    {SmemDescField::stride,       "stride",        32, 14, kTcgen05, kTable49},
    {SmemDescField::version,      "version",       46, 3,  kTcgen05, kTable49},
    {SmemDescField::baseOffset,   "base_offset",   49, 3,  kTcgen05, kTable49},
    {SmemDescField::absolute,     "absolute",      52, 1,  kK96,     kAbsoluteSource},
    {SmemDescField::lutHalf,      "lut_half",      53, 1,  k107,     kTable49},
    {SmemDescField::reserved,     "reserved",      54, 7,  {},       kTable49},
    {SmemDescField::swizzle,      "swizzle",       61, 3,  kTcgen05, "PTX ISA 9.4, table 49: 3, 5 and 7 invalid"},
}};
// clang-format on

constexpr const SmemDescFieldRow &smemDescField(SmemDescField field) {
  for (const SmemDescFieldRow &row : kSmemDescFields)
    if (row.field == field)
      return row;
  return kSmemDescFields[0];
}

namespace detail {
constexpr bool smemDescIsSound() {
  int next = 0;
  for (const SmemDescFieldRow &row : kSmemDescFields) {
    if (row.low != next || row.width < 1 || row.name.empty() || row.source.empty())
      return false;
    if ((row.field == SmemDescField::reserved) != row.needs.empty())
      return false;
    next = row.low + row.width;
  }
  // Each swizzle that descriptors have fits its field.
  for (const SwizzleInfo &row : kSwizzles)
    if (row.descriptorCode > 7)
      return false;
  return next == 64;
}
static_assert(smemDescIsSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_SMEMDESCFIELDS_H
