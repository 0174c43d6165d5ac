//===- Types.h - PTX types, spaces and their sizes ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar and packed types that instruction suffixes name, with the width of
// the register that holds them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_TYPES_H
#define BLOCKSCALE_LIB_EMULATOR_TYPES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::emu {

enum class Type : uint8_t {
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f32,
  f64,
  tf32,
  f16x2,
  bf16x2,
  f32x2,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  e4m3x2,
  e5m2x2,
  e2m3x2,
  e3m2x2,
  e2m1x2,
  ue8m0x2,
  ue5m3x2,
  s2f6x2,
  e4m3x4,
  e5m2x4,
  e2m3x4,
  e3m2x4,
  e2m1x4,
  ue8m0,
  none
};

struct TypeInfo {
  std::string_view name;
  unsigned bits;
};

inline constexpr std::array<TypeInfo, 40> kTypes{{
    {"pred", 1},    {"b8", 8},       {"b16", 16},     {"b32", 32},    {"b64", 64},
    {"b128", 128},  {"u8", 8},       {"u16", 16},     {"u32", 32},    {"u64", 64},
    {"s8", 8},      {"s16", 16},     {"s32", 32},     {"s64", 64},    {"f16", 16},
    {"bf16", 16},   {"f32", 32},     {"f64", 64},     {"tf32", 32},   {"f16x2", 32},
    {"bf16x2", 32}, {"f32x2", 64},   {"u16x2", 32},   {"s16x2", 32},  {"u8x4", 32},
    {"s8x4", 32},   {"e4m3x2", 16},  {"e5m2x2", 16},  {"e2m3x2", 16}, {"e3m2x2", 16},
    {"e2m1x2", 8},  {"ue8m0x2", 16}, {"ue5m3x2", 16}, {"s2f6x2", 16}, {"e4m3x4", 32},
    {"e5m2x4", 32}, {"e2m3x4", 32},  {"e3m2x4", 32},  {"e2m1x4", 16}, {"ue8m0", 8},
}};

constexpr std::string_view name(Type t) {
  return t == Type::none ? std::string_view("none") : kTypes[size_t(t)].name;
}
constexpr unsigned bits(Type t) { return t == Type::none ? 0 : kTypes[size_t(t)].bits; }
constexpr std::optional<Type> parseType(std::string_view text) {
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].name == text)
      return Type(i);
  return std::nullopt;
}

constexpr bool isSigned(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
constexpr bool isFloat(Type t) {
  return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64 || t == Type::tf32;
}
constexpr bool isInteger(Type t) { return t >= Type::u8 && t <= Type::s64; }
constexpr bool isBits(Type t) { return t >= Type::b8 && t <= Type::b128; }

/// State spaces of addresses.
enum class Space : uint8_t { generic, global, shared, sharedCluster, local, param, constant };

/// How a register is stored: one mask word, or 32 lanes of 4, 8 or 16 bytes.
enum class RegClass : uint8_t { pred, r32, r64, r128 };

constexpr RegClass regClass(unsigned bits) {
  return bits == 1    ? RegClass::pred
         : bits <= 32 ? RegClass::r32
         : bits <= 64 ? RegClass::r64
                      : RegClass::r128;
}
constexpr unsigned laneBytes(RegClass c) {
  return c == RegClass::r128 ? 16 : c == RegClass::r64 ? 8 : 4;
}

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_TYPES_H
