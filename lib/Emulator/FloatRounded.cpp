//===- FloatRounded.cpp - arithmetic that rounds by .rz, .rm or .rp -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.3. The host's own directed rounding does the work, one
// instruction at a time; this file is compiled so that the compiler respects it.
// Rounding to nearest stays in Float.cpp, where lanes run as vectors.
//
//===----------------------------------------------------------------------===//

#include "Float.h"
#include "Lanes.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>

namespace blockscale::emu {
namespace {

enum class Op : uint8_t { add, sub, mul, div, fma, rcp, sqrt };
enum : uint32_t { kFtz = 1, kSat = 2 };

constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD}; // rn rz rm rp

template <typename T> T compute(Op op, T a, T b, T c) {
  switch (op) {
  case Op::add:
    return a + b;
  case Op::sub:
    return a - b;
  case Op::mul:
    return a * b;
  case Op::div:
    return a / b;
  case Op::fma:
    return std::fma(a, b, c);
  case Op::rcp:
    return T(1) / a;
  case Op::sqrt:
    return std::sqrt(a);
  }
  return a;
}

float finish(float r, uint32_t flags) {
  if (flags & kFtz)
    r = flush(r);
  if (flags & kSat)
    return r > 0 ? (r < 1 ? r : 1.0f) : 0.0f; // NaN gives +0
  return canonical(r);
}
double finish(double r, uint32_t) { return r; }
float start(float x, uint32_t flags) { return flags & kFtz ? flush(x) : x; }
double start(double x, uint32_t) { return x; }

/// A result is tiny, for .ftz, if it would be subnormal were exponents without bound: the
/// least normal number may be one that was rounded up to it from further below.
bool isTiny(Op op, float r, float a, float b, float c) {
  constexpr float kLeast = std::numeric_limits<float>::min(), kUp = 0x1p32f;
  if (std::fabs(r) != kLeast || op == Op::add || op == Op::sub) // sums are exact there
    return false;
  r = op == Op::rcp ? compute(Op::div, kUp, a, c) : compute(op, a * kUp, b, c * kUp);
  return std::fabs(r) < kLeast * kUp;
}

template <typename T> T one(Op op, T a, T b, T c, uint32_t flags) {
  a = start(a, flags), b = start(b, flags), c = start(c, flags);
  T r = compute(op, a, b, c);
  if constexpr (std::is_same_v<T, double>)
    if (op <= Op::mul || op == Op::fma)
      return op == Op::fma ? nanOr(r, a, c, b) : nanOr(r, a, b);
  if constexpr (std::is_same_v<T, float>)
    if ((flags & kFtz) && isTiny(op, r, a, b, c))
      r = std::copysign(0.0f, r);
  return finish(r, flags);
}

/// `parts` values of T a register: 2 for f32x2.
template <typename T, unsigned parts> Outcome rounded(Warp &w, const Instruction &in) {
  Op op = Op(in.imm);
  int before = std::fegetround();
  std::fesetround(kModes[in.sub]);
  const T *a = w.reg<T>(in.op[1]);
  const T *b = in.op[2] == kNone ? a : w.reg<T>(in.op[2]);
  const T *c = in.op[3] == kNone ? a : w.reg<T>(in.op[3]);
  T *d = w.reg<T>(in.op[0]);
  for (uint32_t m = w.mask; m; m &= m - 1)
    for (unsigned i = parts * unsigned(__builtin_ctz(m)), end = i + parts; i < end; ++i)
      d[i] = one(op, a[i], b[i], c[i], in.flags);
  std::fesetround(before);
  return Outcome::next;
}

/// The 16-bit sources become f32, exactly.
template <float (*widen)(uint16_t)> Outcome mixed(Warp &w, const Instruction &in) {
  Op op = Op(in.imm);
  int before = std::fegetround();
  std::fesetround(kModes[in.sub]);
  const uint32_t *a = w.reg<uint32_t>(in.op[1]), *b = w.reg<uint32_t>(in.op[2]);
  const float *c = w.reg<float>(in.op[3]);
  float *d = w.reg<float>(in.op[0]);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    float first = widen(uint16_t(a[l]));
    d[l] = op == Op::fma ? one(op, first, widen(uint16_t(b[l])), c[l], in.flags)
                         : one(op, first, c[l], c[l], in.flags);
  }
  std::fesetround(before);
  return Outcome::next;
}

} // namespace

bool decodeMixed(Decoder &d, int round, bool sat, Type narrow) {
  bool isFma = d.raw->opcode == "fma";
  if ((narrow != Type::f16 && narrow != Type::bf16) || !d.expectOperands(isFma ? 4 : 3))
    return false;
  Instruction in;
  in.run = narrow == Type::f16 ? mixed<fromF16> : mixed<fromBf16>;
  in.sub = uint8_t(std::max(round, 0));
  in.imm = unsigned(isFma ? Op::fma : d.raw->opcode == "add" ? Op::add : Op::sub);
  in.flags = sat ? uint32_t(kSat) : 0;
  in.op[0] = d.dest(0, Type::f32);
  in.op[1] = d.source(1, narrow);
  in.op[2] = isFma ? d.source(2, narrow) : in.op[1];
  in.op[3] = d.source(isFma ? 3 : 2, Type::f32);
  d.emit(in);
  return d.error.empty();
}

bool decodeRounded(Decoder &d, int round, bool ftz, bool sat, Type t) {
  static constexpr std::string_view kOps[] = {"add", "sub", "mul", "div", "fma", "rcp", "sqrt"};
  static constexpr unsigned kSources[] = {2, 2, 2, 2, 3, 1, 1};
  std::string_view opcode = d.raw->opcode == "mad" ? "fma" : std::string_view(d.raw->opcode);
  unsigned op = 0;
  while (op < std::size(kOps) && kOps[op] != opcode)
    ++op;
  Handler run = t == Type::f32     ? rounded<float, 1>
                : t == Type::f64   ? rounded<double, 1>
                : t == Type::f32x2 ? rounded<float, 2>
                                   : nullptr;
  if (op == std::size(kOps) || !run || (t == Type::f64 && (ftz || sat)) ||
      (t == Type::f32x2 && op > unsigned(Op::mul) && op != unsigned(Op::fma)))
    return false;
  if (!d.expectOperands(1 + kSources[op]))
    return false;
  Instruction in;
  in.run = run;
  in.sub = uint8_t(round);
  in.imm = op;
  in.flags = (ftz ? uint32_t(kFtz) : 0) | (sat ? uint32_t(kSat) : 0);
  in.op[0] = d.dest(0, t);
  for (unsigned i = 1; i <= kSources[op]; ++i)
    in.op[i] = d.source(i, t);
  d.emit(in);
  return d.error.empty();
}

} // namespace blockscale::emu
