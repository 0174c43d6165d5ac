//===- SizeExpr.cpp - numbers that follow from named sizes ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeExprJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace blockscale::rt {

using llvm::json::Value;
using Op = SizeExpr::Op;

Expr SizeExpr::of(uint64_t number) {
  return std::make_shared<const SizeExpr>(SizeExpr{Op::number, number, {}, {}, {}});
}
Expr SizeExpr::of(std::string name) {
  return std::make_shared<const SizeExpr>(SizeExpr{Op::size, 0, std::move(name), {}, {}});
}
Expr SizeExpr::of(Op op, Expr a, Expr b) {
  return std::make_shared<const SizeExpr>(SizeExpr{op, 0, {}, std::move(a), std::move(b)});
}

Result<uint64_t> evaluate(const SizeExpr &expr, const Sizes &sizes) {
  if (expr.op == Op::number)
    return expr.number;
  if (expr.op == Op::size) {
    auto it = sizes.find(expr.name);
    if (it == sizes.end())
      return Refusal{"have a size '" + expr.name + "', got none"};
    return it->second;
  }
  Result<uint64_t> a = evaluate(*expr.a, sizes), b = evaluate(*expr.b, sizes);
  if (!a)
    return a.takeRefusal();
  if (!b)
    return b.takeRefusal();
  uint64_t x = *a, y = *b, result = 0;
  bool overflows = false;
  switch (expr.op) {
  case Op::number:
  case Op::size:
    break;
  case Op::add:
    overflows = __builtin_add_overflow(x, y, &result);
    break;
  case Op::mul:
    overflows = __builtin_mul_overflow(x, y, &result);
    break;
  case Op::div:
  case Op::ceildiv:
    if (y == 0)
      return Refusal{"not divide by 0, got " + formatExpr(expr)};
    result = x / y + (expr.op == Op::ceildiv && x % y != 0);
    break;
  case Op::min:
    result = std::min(x, y);
    break;
  case Op::max:
    result = std::max(x, y);
    break;
  }
  if (overflows)
    return Refusal{"fit 64 bits, got " + formatExpr(expr) + " of " + std::to_string(x) + " and " +
                   std::to_string(y)};
  return result;
}

Value exprToJson(const SizeExpr &expr) {
  if (expr.op == Op::number)
    return expr.number;
  if (expr.op == Op::size)
    return expr.name;
  llvm::StringRef name = kSizeOpNames[size_t(expr.op) - size_t(Op::add)];
  return llvm::json::Array{name, exprToJson(*expr.a), exprToJson(*expr.b)};
}

std::string formatExpr(const SizeExpr &expr) {
  std::string text;
  llvm::raw_string_ostream(text) << exprToJson(expr);
  return text;
}

static std::string show(const Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

Result<Expr> parseExpr(const Value &value, llvm::function_ref<bool(llvm::StringRef)> isSize,
                       int depth) {
  if (depth > kMaxExprDepth)
    return Refusal{"be nested at most " + std::to_string(kMaxExprDepth) + " deep, got more"};
  if (std::optional<uint64_t> number = value.getAsUINT64())
    return SizeExpr::of(*number);
  if (std::optional<llvm::StringRef> name = value.getAsString()) {
    if (isSize(*name))
      return SizeExpr::of(name->str());
    return Refusal{"name a size of the manifest, got '" + name->str() + "'"};
  }
  const llvm::json::Array *list = value.getAsArray();
  std::optional<llvm::StringRef> name;
  if (list && list->size() == 3)
    name = list->front().getAsString();
  const auto *op = name ? llvm::find(kSizeOpNames, std::string_view(*name)) : kSizeOpNames.end();
  if (op == kSizeOpNames.end())
    return Refusal{"be a number, a size, or a list of add, mul, div, ceildiv, min or max and two "
                   "of them, got " +
                   show(value)};
  Result<Expr> a = parseExpr((*list)[1], isSize, depth + 1);
  if (!a)
    return a.takeRefusal();
  Result<Expr> b = parseExpr((*list)[2], isSize, depth + 1);
  if (!b)
    return b.takeRefusal();
  return SizeExpr::of(Op(size_t(Op::add) + size_t(op - kSizeOpNames.begin())), *a, *b);
}

} // namespace blockscale::rt
