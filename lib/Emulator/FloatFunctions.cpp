//===- FloatFunctions.cpp - approximate functions and divisions -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.3 and 9.7.4: rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh, and
// div.approx and div.full: an instruction of the chip's multifunction unit each, with
// what ptxas puts around it. Forms that round are exact.
//
//===----------------------------------------------------------------------===//

#include "Float.h"
#include "Lanes.h"
#include "Numerics/Mufu.h"

#include "blockscale/Emulator/Convert.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace blockscale::emu {
namespace {

constexpr float kLeast = 0x1p-126f; // normal
constexpr float kScale = 0x1p24f;   // brings subnormals into range

bool isSubnormal(float x) { return std::fabs(x) < kLeast; } // or zero

template <uint32_t function(uint32_t)> float call(float x) {
  return std::bit_cast<float>(function(std::bit_cast<uint32_t>(x)));
}

template <bool ftz> struct RcpApprox {
  static float run(float a) {
    if (ftz)
      return call<mufu::rcp>(a);
    float scale = isSubnormal(a) ? kScale : std::fabs(a) > 0x1p126f ? 0.25f : 1.0f;
    return canonical(scale * call<mufu::rcp>(a * scale));
  }
};
template <bool ftz> struct SqrtApprox {
  static float run(float a) {
    if (ftz || !isSubnormal(a))
      return call<mufu::sqrt>(a);
    return canonical(call<mufu::sqrt>(a * kScale) * 0x1p-12f);
  }
};
template <bool ftz> struct RsqrtApprox {
  static float run(float a) {
    if (ftz || !isSubnormal(a))
      return call<mufu::rsqrt>(a);
    return canonical(call<mufu::rsqrt>(a * kScale) * 0x1p12f);
  }
};
template <bool ftz> struct Ex2Approx {
  static float run(float a) {
    if (ftz || !(a < -126.0f))
      return call<mufu::ex2>(a);
    float half = call<mufu::ex2>(a * 0.5f);
    return half * half;
  }
};
template <bool ftz> struct Lg2Approx {
  static float run(float a) {
    if (ftz || !isSubnormal(a))
      return call<mufu::lg2>(a);
    return canonical(call<mufu::lg2>(a * kScale) - 24.0f);
  }
};
/// Radians to turns, cut: the product of two f32 is exact in f64.
float turns(float a) {
  constexpr double kTurn = 0x1.45F306p-3; // 1 / (2 pi) in f32
  double exact = double(a) * kTurn;
  float nearest = float(exact);
  return std::fabs(double(nearest)) > std::fabs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
}
struct SinApprox {
  static float run(float a) { return call<mufu::sin>(turns(a)); }
};
struct CosApprox {
  static float run(float a) { return call<mufu::cos>(turns(a)); }
};
struct TanhApprox {
  static float run(float a) { return call<mufu::tanh>(a); }
};

// Of 16-bit types: the f32 result, cut.
uint32_t cutToF16(uint32_t u) {
  float x = std::bit_cast<float>(u);
  if (std::fabs(x) >= 65536.0f) // infinity, where the largest is 65504
    return (u >> 16 & 0x8000) | 0x7C00;
  return encodeF16(x, Round::towardZero);
}
uint32_t cutToBf16(uint32_t u) { return u >> 16; }
template <uint32_t function(uint32_t)> struct OfF16 {
  static uint32_t run(uint32_t a) {
    return cutToF16(function(std::bit_cast<uint32_t>(fromF16(uint16_t(a)))));
  }
};
template <uint32_t function(uint32_t)> struct OfBf16 {
  static uint32_t run(uint32_t a) { return cutToBf16(function(a << 16)); }
};
template <class One> struct BothHalves {
  static uint32_t run(uint32_t a) { return One::run(a & 0xFFFF) | One::run(a >> 16) << 16; }
};
template <uint32_t function(uint32_t)> Handler ofHalves(Type t) {
  switch (t) {
  case Type::f16:
    return unaryLanes<OfF16<function>, uint32_t>;
  case Type::bf16:
    return unaryLanes<OfBf16<function>, uint32_t>;
  case Type::f16x2:
    return unaryLanes<BothHalves<OfF16<function>>, uint32_t>;
  case Type::bf16x2:
    return unaryLanes<BothHalves<OfBf16<function>>, uint32_t>;
  default:
    return nullptr;
  }
}

template <template <bool> class Op> Handler either(bool ftz) {
  return ftz ? unaryLanes<Op<true>, float> : unaryLanes<Op<false>, float>;
}
Handler approximate(std::string_view op, Type t, bool ftz) {
  if (t != Type::f32)
    return op == "ex2" ? ofHalves<mufu::ex2>(t) : op == "tanh" ? ofHalves<mufu::tanh>(t) : nullptr;
  return op == "rcp"     ? either<RcpApprox>(ftz)
         : op == "sqrt"  ? either<SqrtApprox>(ftz)
         : op == "rsqrt" ? either<RsqrtApprox>(ftz)
         : op == "ex2"   ? either<Ex2Approx>(ftz)
         : op == "lg2"   ? either<Lg2Approx>(ftz)
         : op == "sin"   ? unaryLanes<SinApprox, float>
         : op == "cos"   ? unaryLanes<CosApprox, float>
                         : unaryLanes<TanhApprox, float>;
}

/// rcp.rn and sqrt.rn.
struct Rcp {
  template <typename T> static T run(T a) { return T(1) / a; }
};
struct Sqrt {
  template <typename T> static T run(T a) { return std::sqrt(a); }
};
template <class Op, bool ftz> struct Nearest {
  static float run(float a) {
    float r = Op::run(ftz ? flush(a) : a);
    return canonical(ftz ? flush(r) : r);
  }
};
Handler nearest(std::string_view op, Type t, bool ftz) {
  bool isRcp = op == "rcp";
  if (!isRcp && op != "sqrt")
    return nullptr;
  if (t == Type::f64)
    return isRcp ? unaryLanes<Rcp, double> : unaryLanes<Sqrt, double>;
  if (t != Type::f32)
    return nullptr;
  return isRcp ? (ftz ? unaryLanes<Nearest<Rcp, true>, float>
                      : unaryLanes<Nearest<Rcp, false>, float>)
               : (ftz ? unaryLanes<Nearest<Sqrt, true>, float>
                      : unaryLanes<Nearest<Sqrt, false>, float>);
}

/// The tables are an H200's: what other chips have is not known.
void noteChip(Decoder &d) {
  if (facts::name(d.arch).substr(0, 5) == "sm_90")
    return;
  noteEvidence(d.kernel, d.raw->opcode + ".approx: bits of an H200, this chip is not measured");
}

/// div.approx and div.full: a product with the reciprocal; .full also brings large divisors
/// into range.
template <bool ftz, bool isFull> struct DivApprox {
  static float run(float a, float b) {
    if (isFull && std::fabs(b) > 0x1p126f)
      a = in(a * 0.25f), b *= 0.25f;
    if (!ftz && isSubnormal(b))
      a *= kScale, b *= kScale;
    return product(in(a), call<mufu::rcp>(b));
  }

private:
  static float in(float x) { return ftz ? flush(x) : x; }
  static float product(float a, float b) {
    float r = a * b;
    if (ftz && std::fabs(double(a) * double(b)) < kTinyF32)
      r = std::copysign(0.0f, r);
    return canonical(r);
  }
};

} // namespace

bool decodeDivApprox(Decoder &d, bool isFull, bool ftz) {
  noteChip(d);
  Handler run = isFull ? (ftz ? binaryLanes<DivApprox<true, true>, float>
                              : binaryLanes<DivApprox<false, true>, float>)
                       : (ftz ? binaryLanes<DivApprox<true, false>, float>
                              : binaryLanes<DivApprox<false, false>, float>);
  return emitLanes(d, run, Type::f32, 2);
}

bool decodeFunction(Decoder &d) {
  int round = d.takeOneOf({"rn", "rz", "rm", "rp"});
  d.take("approx");
  bool ftz = d.take("ftz");
  Type t = d.takeType();
  if (round > 0)
    return decodeRounded(d, round, ftz, /*sat=*/false, t);
  if (round < 0)
    noteChip(d);
  return emitLanes(
      d, round == 0 ? nearest(d.raw->opcode, t, ftz) : approximate(d.raw->opcode, t, ftz), t, 1);
}

} // namespace blockscale::emu
