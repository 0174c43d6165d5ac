//===- FormsConvert.cpp - forms of cvt ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.22 to 9.7.10.24; ptxas 13.5 on every pair of types. A packed
// pair wants a register that is declared with its exact width.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Forms.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

bool has(const Decoder &d, std::string_view modifier) {
  const auto &mods = d.raw->modifiers;
  return std::find(mods.begin(), mods.end(), modifier) != mods.end();
}

/// Bits of a packed type of narrow values, or 0.
unsigned packedBits(std::string_view type) {
  auto t = parseType(type);
  return t && *t >= Type::e4m3x2 && *t <= Type::e2m1x4 ? bits(*t) : 0;
}

/// Random bits, and what they round to, lie in registers without a float type.
std::string randomOperand(const Decoder &d, const PtxOperand &o) {
  return d.isRegister(o) && d.declaredBits(o) == 32 && d.declaredType(o) != Type::f32
             ? std::string()
             : "ptx_operand: random bits of " + d.spelling() +
                   " must be a register of 32 bits that is not .f32" +
                   (o.name.empty() ? "" : ", got " + o.name);
}

std::string width(const Decoder &d, const PtxOperand &o, unsigned want, std::string_view type) {
  unsigned got = d.declaredBits(o);
  return !got || got == want ? std::string()
                             : "ptx_operand: register " + o.name + " of ." + std::string(type) +
                                   " must be declared with " + std::to_string(want) +
                                   " bits, got " + std::to_string(got);
}

std::string needs(const Decoder &d, facts::Feature feature) {
  return facts::supports(d.arch, feature)
             ? std::string()
             : "ptx_target: " + d.spelling() + " must have a target with " +
                   std::string(facts::name(feature)) + ", got " + std::string(facts::name(d.arch));
}

/// Numbers of operands, widths of packed registers, and what the target converts.
std::string packed(const Decoder &d) {
  std::string_view to, from;
  for (const std::string &m : d.raw->modifiers)
    if (parseType(m) || packedBits(m))
      (to.empty() ? to : from) = m;
  bool n1 = has(d, "scaled::n1::ue8m0"), n2 = has(d, "scaled::n2::ue8m0");
  size_t sources = from == "f32" && !to.ends_with("x4") ? 2 : 1;
  size_t want = 1 + sources + n1 + n2 + has(d, "rs");
  if (d.count() != want)
    return "ptx_operands: " + d.spelling() + " must have " + std::to_string(want) +
           " operands, got " + std::to_string(d.count());
  if (n1 && !packedBits(to))
    return "ptx_modifier: .scaled::n1::ue8m0 must stand with a narrow destination, got " +
           d.spelling();
  std::string problem;
  bool narrow = packedBits(to) || packedBits(from);
  bool fp8 = to.starts_with("e4m3") || to.starts_with("e5m2") || from.starts_with("e4m3") ||
             from.starts_with("e5m2");
  if (narrow)
    problem = needs(d, fp8 && to != "bf16x2" && from != "bf16x2" ? facts::Feature::cvtFp8
                                                                 : facts::Feature::cvtNarrow);
  if (problem.empty() && has(d, "rs"))
    problem = needs(d, facts::Feature::cvtRs);
  if (problem.empty() && has(d, "rs"))
    problem = randomOperand(d, d.operand(want - 1));
  if (problem.empty() && has(d, "rz") && packedBits(to) && to != "ue8m0x2")
    problem = needs(d, facts::Feature::cvtNarrowRz);
  if (problem.empty() && packedBits(to))
    problem = width(d, d.operand(0), packedBits(to), to);
  if (problem.empty() && packedBits(from))
    problem = width(d, d.operand(1), packedBits(from), from);
  if (problem.empty() && n1) {
    const PtxOperand &scale = d.operand(want - 1);
    if (d.declaredType(scale) != Type::b8)
      problem = "ptx_operand: scale of " + d.spelling() + " must be a register declared .b8" +
                (scale.name.empty() ? "" : ", got " + scale.name);
  }
  if (problem.empty() && n2)
    problem = width(d, d.operand(want - 1), 16, "ue8m0x2");
  return problem;
}

/// Rounding stands where bits may be lost, and nowhere else; bf16 came with sm_80 to and from f32.
std::string plain(const Decoder &d) {
  std::vector<Type> types;
  bool isRounded = false, isToInteger = false;
  for (const std::string &m : d.raw->modifiers) {
    if (std::optional<Type> t = parseType(m))
      types.push_back(*t);
    isRounded |= m == "rn" || m == "rz" || m == "rm" || m == "rp";
    isToInteger |= m == "rni" || m == "rzi" || m == "rmi" || m == "rpi";
  }
  if (types.size() != 2)
    return {};
  auto isFloat = [](Type t) {
    return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64;
  };
  const Type to = types[0], from = types[1];
  const bool loses = isFloat(to) && (!isFloat(from) || bits(to) < bits(from));
  if (loses && !isRounded && !isToInteger)
    return "ptx_modifier: " + d.spelling() + " must have .rn, .rz, .rm, .rp";
  if (isRounded && (!isFloat(to) || (isFloat(from) && (to == from || bits(to) > bits(from)))))
    return "ptx_modifier: " + d.spelling() + " must not round, it loses no bits";
  if (isToInteger && !isFloat(from))
    return "ptx_modifier: " + d.spelling() + " must not round, it loses no bits";
  const Type other = to == Type::bf16 ? from : to;
  const bool isOldHalf = other == Type::f32 && !isToInteger;
  if ((to == Type::bf16 || from == Type::bf16) && !isOldHalf)
    return needs(d, facts::Feature::clusters);
  return {};
}

/// To tf32: .rna came with sm_80, .rn and .rz with sm_90, their .satfinite with sm_100.
std::string toTf32(const Decoder &d) {
  if (has(d, "rna"))
    return {};
  if (has(d, "satfinite") && !facts::covers(d.arch, facts::Arch::sm_100))
    return "ptx_target: " + d.spelling() + " must have target sm_100 or later, got " +
           std::string(facts::name(d.arch));
  return needs(d, facts::Feature::clusters);
}

constexpr Form kForms[] = {
    {"cvt", "rni|rzi|rmi|rpi? ftz? sat? @anyint|@float @anyint|@float", {}, {}, {}, plain},
    {"cvt", "rn|rz|rm|rp ftz? sat? relu? satfinite? @float @float|@anyint", {}, {}, {}, plain},
    {"cvt", "rn|rz|rna satfinite? relu? tf32 f32", {}, {}, {}, toTf32},
    {"cvt", "rn|rz relu? satfinite? @halfx2 f32", {}, {}, {}, packed},
    {"cvt", "rs relu? satfinite? @halfx2 f32", {}, {}, {}, packed},
    {"cvt", "rs satfinite relu? @narrowx4 f32", {}, {}, {}, packed},
    {"cvt", "rn|rz relu? satfinite? pzo f16|bf16 f32", {}, {}, {}, plain},
    {"cvt", "rn|rz relu? satfinite? pzo tf32 f32", {}, {}, {}, toTf32},
    {"cvt", "rn|rz relu? satfinite? pzo @halfx2 f32", {}, {}, {}, packed},
    {"cvt", "rn|rz satfinite relu? @narrowx2 f32|f16x2|bf16x2", {}, {}, {}, packed},
    {"cvt",
     "rn|rz satfinite relu? pzo scaled::n1::ue8m0? @narrowx2 f32|f16x2|bf16x2",
     {},
     {},
     {},
     packed},
    {"cvt", "rn relu? @halfx2 @narrowx2", {}, {}, {}, packed},
    {"cvt", "rn relu? satfinite bf16x2 @narrowx2", {}, {}, {}, packed},
    {"cvt", "rz|rp satfinite? ue8m0x2 f32|bf16x2", {}, {}, {}, packed},
    {"cvt", "rn bf16x2 ue8m0x2", {}, {}, {}, packed},
    {"cvt", "rn|rz|rp satfinite? ue5m3x2 f32|f16x2|bf16x2", {}, {}, {}, packed},
    {"cvt", "rn @halfx2 ue5m3x2", {}, {}, {}, packed},
    {"cvt", "rn satfinite bf16x2 ue5m3x2", {}, {}, {}, packed},
    {"cvt",
     "rn|rz satfinite relu? scaled::n1::ue8m0 @narrowx2 f32|f16x2|bf16x2",
     {},
     {},
     {},
     packed},
    {"cvt", "rn|rz satfinite? scaled::n1::ue8m0 ue5m3x2 f32|f16x2|bf16x2", {}, {}, {}, packed},
    {"cvt", "rn relu? satfinite? scaled::n2::ue8m0 bf16x2 @narrowx2", {}, {}, {}, packed},
    {"cvt", "rn satfinite? scaled::n2::ue8m0 bf16x2 ue5m3x2", {}, {}, {}, packed},
    {"cvt", "rn relu? satfinite? scaled::n2::ue8m0? bf16x2 s2f6x2", {}, {}, {}, packed},
    {"cvt", "rn|rz satfinite relu? scaled::n2::ue8m0? s2f6x2 f32|bf16x2", {}, {}, {}, packed},
    {"cvt", "pack sat u16|s16 s32"},
    {"cvt", "pack sat u8|s8|u4|s4|u2|s2 s32 b32"},
};

} // namespace

std::span<const Form> convertForms() { return kForms; }

} // namespace blockscale::emu
