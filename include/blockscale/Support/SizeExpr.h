//===- SizeExpr.h - numbers that follow from named sizes --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that only a launch knows have names in a manifest; a grid, the dimensions of a
// tensor map or the bytes of a buffer are sums, products and quotients of them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_SIZEEXPR_H
#define BLOCKSCALE_SUPPORT_SIZEEXPR_H

#include "blockscale/Facts/Result.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace blockscale::rt {

using facts::Refusal;
using facts::Result;

/// Values of named sizes.
using Sizes = std::map<std::string, uint64_t>;

struct SizeExpr;
/// Null where a number is known.
using Expr = std::shared_ptr<const SizeExpr>;

/// A number, a size, or an operation on two expressions.
struct SizeExpr {
  enum class Op : uint8_t { number, size, add, mul, div, ceildiv, min, max };
  Op op = Op::number;
  uint64_t number = 0;
  std::string name;
  Expr a, b;

  static Expr of(uint64_t number);
  static Expr of(std::string name);
  static Expr of(Op op, Expr a, Expr b);

  bool isSize() const { return op == Op::size; }
};
/// Of operations, from `add` on.
inline constexpr std::array<std::string_view, 6> kSizeOpNames{"add",     "mul", "div",
                                                              "ceildiv", "min", "max"};

/// Deeper expressions are refused where they are read.
inline constexpr int kMaxExprDepth = 32;

/// The value; refused where a size is missing, a divisor is 0 or 64 bits overflow: "not
/// divide by 0, got [\"div\",\"m\",0]".
Result<uint64_t> evaluate(const SizeExpr &expr, const Sizes &sizes);

/// As a manifest has it: 128, "m", or ["ceildiv","m",128].
std::string formatExpr(const SizeExpr &expr);

} // namespace blockscale::rt

#endif // BLOCKSCALE_SUPPORT_SIZEEXPR_H
