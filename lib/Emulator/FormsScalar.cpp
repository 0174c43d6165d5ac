//===- FormsScalar.cpp - forms of arithmetic, logic and comparison --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.1 to 9.7.8.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Forms.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

constexpr auto kExecuted = FormStatus::executed;
constexpr auto kUnexecuted = FormStatus::unexecuted;
constexpr std::string_view kNoModel = "the bits of this approximation have no published model";

constexpr auto kClusters = facts::Feature::clusters; // what came with sm_90, by ptxas 13.5

std::string from(const Decoder &d, facts::Arch first) {
  return facts::covers(d.arch, first) ? std::string()
                                      : "ptx_target: " + d.spelling() + " must have target " +
                                            std::string(facts::name(first)) + " or later, got " +
                                            std::string(facts::name(d.arch));
}
/// Mixed precision (PTX ISA 9.7.5) and f32x2.
std::string fromSm100(const Decoder &d) { return from(d, facts::Arch::sm_100); }
std::string fromSm86(const Decoder &d) { return from(d, facts::Arch::sm_86); }

/// Packed bytes, and integer sums with .sat but for .s32: by ptxas 13.5.
std::string packedBytes(const Decoder &d) {
  if (!facts::covers(d.arch, facts::Arch::sm_107f) && !facts::covers(d.arch, facts::Arch::sm_120f))
    return "ptx_target: " + d.spelling() + " must have a target of sm_107f or sm_120f, got " +
           std::string(facts::name(d.arch));
  return d.version >= facts::PtxRelease{9, 2}
             ? std::string()
             : "ptx_version: " + d.spelling() + " must have .version 9.2 or later, got " +
                   std::to_string(d.version.major) + "." + std::to_string(d.version.minor);
}

/// min and max of three values came with sm_100; they alone take .abs without .xorsign.
std::string ofThree(const Decoder &d) {
  if (d.count() == 4)
    return fromSm100(d);
  const auto &mods = d.raw->modifiers;
  return std::find(mods.begin(), mods.end(), "abs") == mods.end()
             ? std::string()
             : "ptx_modifier: .abs of two values must stand with .xorsign, got " + d.spelling();
}

constexpr Form kIntegerForms[] = {
    {"add", "@int"},
    {"add", "sat s32"},
    {"add", "u16x2|s16x2", {}, {}, kClusters},
    {"add", "sat u32|u16x2|s16x2|u8x4|s8x4", {}, {}, {}, packedBytes},
    {"add", "u8x4|s8x4", {}, {}, {}, packedBytes},
    {"add", "cc @cc"},
    {"addc", "cc? @cc"},
    {"sub", "@int"},
    {"sub", "sat s32"},
    {"sub", "sat? u8x4|s8x4", {}, {}, {}, packedBytes},
    {"sub", "cc @cc"},
    {"subc", "cc? @cc"},
    {"mul", "lo|hi @int"},
    {"mul", "wide u16|s16|u32|s32"},
    {"mad", "lo|hi @int"},
    {"mad", "wide u16|s16|u32|s32"},
    {"mad", "lo|hi cc @cc"},
    {"madc", "lo|hi cc? @cc"},
    {"mad", "hi sat s32"},
    {"mul24", "lo|hi u32|s32"},
    {"mad24", "lo|hi u32|s32"},
    {"mad24", "hi sat s32"},
    {"dp2a", "lo|hi u32|s32 u32|s32"},
    {"dp4a", "u32|s32 u32|s32"},
    {"div", "@int"},
    {"rem", "@int"},
    {"min", "@int"},
    {"min", "u16x2|s16x2", {}, {}, kClusters},
    {"min", "u8x4|s8x4", {}, {}, {}, packedBytes},
    {"min", "relu s8x4", {}, {}, {}, packedBytes},
    {"max", "@int"},
    {"max", "u16x2|s16x2", {}, {}, kClusters},
    {"max", "u8x4|s8x4", {}, {}, {}, packedBytes},
    {"max", "relu s8x4", {}, {}, {}, packedBytes},
    {"min", "relu s32|s16x2", {}, {}, kClusters},
    {"max", "relu s32|s16x2", {}, {}, kClusters},
    {"neg", "s16|s32|s64"},
    {"neg", "s8x4", {}, {}, {}, packedBytes},
    {"abs", "s16|s32|s64"},
    {"sad", "@int"},
    {"popc", "b32|b64"},
    {"clz", "b32|b64"},
    {"bfind", "shiftamt? u32|s32|u64|s64"},
    {"brev", "b32|b64"},
    {"bfe", "u32|s32|u64|s64"},
    {"bfi", "b32|b64"},
    {"bmsk", "clamp|wrap b32"},
    {"szext", "clamp|wrap u32|s32"},
    {"fns", "b32"},
    {"prmt", "b32 f4e|b4e|rc8|ecl|ecr|rc16?"},
};

constexpr Form kFloatForms[] = {
    {"add", "@round? ftz? sat? f32"},
    {"add", "@round? f64"},
    {"add", "@round? ftz? f32x2", {}, {}, {}, fromSm100},
    {"add", "rn? ftz? sat? f16|f16x2"},
    {"add", "rn? bf16|bf16x2", {}, {}, kClusters},
    {"add", "@round? sat? f32 f16|bf16", kExecuted, {}, {}, fromSm100},
    {"sub", "@round? ftz? sat? f32"},
    {"sub", "@round? f64"},
    {"sub", "@round? ftz? f32x2", {}, {}, {}, fromSm100},
    {"sub", "rn? ftz? sat? f16|f16x2"},
    {"sub", "rn? bf16|bf16x2", {}, {}, kClusters},
    {"sub", "@round? sat? f32 f16|bf16", kExecuted, {}, {}, fromSm100},
    {"mul", "@round? ftz? sat? f32"},
    {"mul", "@round? f64"},
    {"mul", "@round? ftz? f32x2", {}, {}, {}, fromSm100},
    {"mul", "rn? ftz? sat? f16|f16x2"},
    {"mul", "rn? bf16|bf16x2", {}, {}, kClusters},
    {"fma", "@round ftz? sat? f32"},
    {"fma", "@round f64"},
    {"fma", "@round ftz? f32x2", {}, {}, {}, fromSm100},
    {"fma", "rn ftz? sat? f16|f16x2"},
    {"fma", "rn ftz? relu f16|f16x2"},
    {"fma", "rn relu? bf16|bf16x2"},
    {"fma", "@round sat? f32 f16|bf16", kExecuted, {}, {}, fromSm100},
    {"fma", "rn oob relu? f16|f16x2|bf16|bf16x2", {}, {}, kClusters},
    {"mad", "@round ftz? sat? f32"},
    {"mad", "@round f64"},
    {"div", "@round ftz? f32"},
    {"div", "approx|full ftz? f32"},
    {"div", "@round f64"},
    {"min", "ftz? NaN? abs? f32", {}, {}, {}, ofThree},
    {"max", "ftz? NaN? abs? f32", {}, {}, {}, ofThree},
    {"min", "ftz? NaN? xorsign abs f32", {}, {}, {}, fromSm86},
    {"max", "ftz? NaN? xorsign abs f32", {}, {}, {}, fromSm86},
    {"min", "f64"},
    {"max", "f64"},
    {"min", "ftz? NaN? f16|f16x2"},
    {"max", "ftz? NaN? f16|f16x2"},
    {"min", "ftz? NaN? xorsign abs f16|f16x2", {}, {}, {}, fromSm86},
    {"max", "ftz? NaN? xorsign abs f16|f16x2", {}, {}, {}, fromSm86},
    {"min", "NaN? bf16|bf16x2"},
    {"max", "NaN? bf16|bf16x2"},
    {"min", "NaN? xorsign abs bf16|bf16x2", {}, {}, {}, fromSm86},
    {"max", "NaN? xorsign abs bf16|bf16x2", {}, {}, {}, fromSm86},
    {"neg", "ftz? f32|f16|f16x2"},
    {"abs", "ftz? f32|f16|f16x2"},
    {"neg", "f64|bf16|bf16x2"},
    {"abs", "f64|bf16|bf16x2"},
    {"rcp", "@round ftz? f32"},
    {"rcp", "@round f64"},
    {"rcp", "approx ftz? f32"},
    {"rcp", "approx ftz f64", kUnexecuted, kNoModel},
    {"sqrt", "@round ftz? f32"},
    {"sqrt", "@round f64"},
    {"sqrt", "approx ftz? f32"},
    {"rsqrt", "approx ftz? f32"},
    {"rsqrt", "approx ftz? f64", kUnexecuted, kNoModel},
    {"ex2", "approx ftz? f32"},
    {"ex2", "approx f16|f16x2"},
    {"ex2", "approx ftz bf16|bf16x2", {}, {}, kClusters},
    {"lg2", "approx ftz? f32"},
    {"sin", "approx ftz? f32"},
    {"cos", "approx ftz? f32"},
    {"tanh", "approx f32|f16|f16x2"},
    {"tanh", "approx bf16|bf16x2", {}, {}, kClusters},
    {"copysign", "f32|f64"},
    {"testp", "finite|infinite|number|notanumber|normal|subnormal f32|f64"},
};

constexpr Form kLogicForms[] = {
    {"and", "pred|b16|b32|b64"},
    {"or", "pred|b16|b32|b64"},
    {"xor", "pred|b16|b32|b64"},
    {"not", "pred|b16|b32|b64"},
    {"cnot", "b16|b32|b64"},
    {"lop3", "b32"},
    {"lop3", "or|and b32", kUnexecuted, "no kernel seen uses its predicate"},
    {"shl", "b16|b32|b64"},
    {"shr", "b16|b32|b64|@int"},
    {"shf", "l|r clamp|wrap b32"},
    {"setp", "eq|ne b16|b32|b64"},
    {"setp", "eq|ne and|or|xor b16|b32|b64"},
    {"setp", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs u16|u32|u64"},
    {"setp", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs and|or|xor u16|u32|u64"},
    {"setp", "eq|ne|lt|le|gt|ge s16|s32|s64"},
    {"setp", "eq|ne|lt|le|gt|ge and|or|xor s16|s32|s64"},
    {"setp", "@fcmp ftz? f32|f16"},
    {"setp", "@fcmp and|or|xor ftz? f32|f16"},
    {"setp", "@fcmp f64"},
    {"setp", "@fcmp bf16", {}, {}, kClusters},
    {"setp", "@fcmp and|or|xor f64"},
    {"setp", "@fcmp and|or|xor bf16", {}, {}, kClusters},
    {"setp", "@fcmp ftz? f16x2"},
    {"setp", "@fcmp and|or|xor ftz? f16x2"},
    {"setp", "@fcmp bf16x2", {}, {}, kClusters},
    {"setp", "@fcmp and|or|xor bf16x2", {}, {}, kClusters},
    {"set", "eq|ne and|or|xor? u32|s32|f32|f16 b16|b32|b64"},
    {"set", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs and|or|xor? u32|s32|f32|f16 u16|u32|u64"},
    {"set", "eq|ne|lt|le|gt|ge and|or|xor? u32|s32|f32|f16 s16|s32|s64"},
    {"set", "eq|ne and|or|xor? bf16 b16|b32|b64", {}, {}, kClusters},
    {"set", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs and|or|xor? bf16 u16|u32|u64", {}, {}, kClusters},
    {"set", "eq|ne|lt|le|gt|ge and|or|xor? bf16 s16|s32|s64", {}, {}, kClusters},
    {"set", "@fcmp and|or|xor? ftz? u32|s32|f32|f16 f32"},
    {"set", "@fcmp and|or|xor? u32|s32|f32|f16 f64"},
    {"set", "@fcmp and|or|xor? ftz? u16|s16|u32|s32|f16 f16"},
    {"set", "@fcmp and|or|xor? bf16 f32|f64|f16", {}, {}, kClusters},
    {"set", "@fcmp and|or|xor? u16|s16|u32|s32|bf16 bf16", {}, {}, kClusters},
    {"set", "@fcmp and|or|xor? ftz? u32|s32|f16x2 f16x2"},
    {"set", "@fcmp and|or|xor? u32|s32|bf16x2 bf16x2", {}, {}, kClusters},
    {"selp", "b16|b32|b64|@int|f32|f64"},
    {"slct", "ftz? b16|b32|b64|@int|f32|f64 s32|f32"},
};

} // namespace

std::span<const Form> integerForms() { return kIntegerForms; }
std::span<const Form> floatForms() { return kFloatForms; }
std::span<const Form> logicForms() { return kLogicForms; }

} // namespace blockscale::emu
