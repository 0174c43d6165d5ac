//===- SizeExprJson.h - expressions in JSON ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SUPPORT_SIZEEXPRJSON_H
#define BLOCKSCALE_LIB_SUPPORT_SIZEEXPRJSON_H

#include "blockscale/Support/SizeExpr.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace blockscale::rt {

/// What stands behind "expr"; `isSize` knows the names. A refusal is what it must be.
Result<Expr> parseExpr(const llvm::json::Value &value,
                       llvm::function_ref<bool(llvm::StringRef)> isSize, int depth = 0);

llvm::json::Value exprToJson(const SizeExpr &expr);

} // namespace blockscale::rt

#endif // BLOCKSCALE_LIB_SUPPORT_SIZEEXPRJSON_H
