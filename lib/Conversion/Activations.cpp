//===- Activations.cpp - functions of an epilogue in instructions ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// silu and gelu_tanh are x / (1 + 2^y) for a y of x, and gelu has one such power and one
// reciprocal: two instructions of the special function unit for each element.
//
//===----------------------------------------------------------------------===//

#include "Activations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace blockscale;

namespace {
class Emitter {
public:
  Emitter(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value constant(float value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value mul(Value x, float y) { return mul(x, constant(y)); }
  Value fma(Value x, Value y, Value z) { return FmaRnOp::create(b, loc, x, y, z); }
  Value fma(Value x, float y, float z) { return fma(x, constant(y), constant(z)); }
  Value exp2(Value x) { return Ex2ApproxOp::create(b, loc, x); }
  Value reciprocal(Value x) { return RcpApproxOp::create(b, loc, x); }

  /// x / (1 + 2^y).
  Value logistic(Value x, Value y) {
    return mul(x, reciprocal(arith::AddFOp::create(b, loc, exp2(y), constant(1.0f))));
  }
  Value gelu(Value x);

  OpBuilder &b;
  Location loc;
};
} // namespace

static constexpr float kLog2E = 1.4426950408889634f;

/// erfc(z) = t (a1 + t (a2 + ... + t a5)) e^(-z^2) with t = 1 / (1 + p z), for z >= 0 within
/// 1.5 * 10^-7 (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26); here with
/// half of each a, and z = |x| / sqrt(2).
Value Emitter::gelu(Value x) {
  constexpr float kP = 0.3275911f * 0.70710678118654752440f;
  constexpr float kHalves[] = {0.5f * 1.061405429f, 0.5f * -1.453152027f, 0.5f * 1.421413741f,
                               0.5f * -0.284496736f, 0.5f * 0.254829592f};
  Value magnitude = LLVM::FAbsOp::create(b, loc, x);
  Value t = reciprocal(fma(magnitude, kP, 1.0f));
  Value sum = constant(kHalves[0]);
  for (float coefficient : ArrayRef(kHalves).drop_front())
    sum = fma(sum, t, constant(coefficient));
  Value power = exp2(mul(mul(x, x), -0.5f * kLog2E));
  Value tail = mul(mul(sum, t), power); // Phi(-|x|)
  Value isNegative = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, constant(0.0f));
  Value rest = arith::SubFOp::create(b, loc, constant(1.0f), tail);
  return mul(x, arith::SelectOp::create(b, loc, isNegative, tail, rest));
}

Value blockscale::emitActivation(OpBuilder &builder, Location loc, facts::Activation function,
                                 Value x) {
  Emitter e(builder, loc);
  switch (function) {
  case facts::Activation::none:
    return x;
  case facts::Activation::relu:
    return arith::MaximumFOp::create(builder, loc, x, e.constant(0.0f));
  case facts::Activation::gelu:
    return e.gelu(x);
  case facts::Activation::gelu_tanh: {
    // (1 + tanh u) / 2 = 1 / (1 + e^(-2 u)) with u = c (x + 0.044715 x^3).
    constexpr float kC = -2 * 0.79788456080286535588f * kLog2E;
    Value inner = e.fma(e.mul(x, x), kC * 0.044715f, kC);
    return e.logistic(x, e.mul(x, inner));
  }
  case facts::Activation::silu:
    return e.logistic(x, e.mul(x, -kLog2E));
  }
  llvm_unreachable("functions are listed above");
}
