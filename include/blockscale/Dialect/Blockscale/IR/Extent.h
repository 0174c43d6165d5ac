//===- Extent.h - sizes that may be known at launch only --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One extent of a problem, or of a tensor map, may be MLIR's kDynamic. It is written ?, as
// in a shape. Sums and products of sizes go through here, so that none is computed with it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_EXTENT_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_EXTENT_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/OpImplementation.h"

#include <string>

namespace blockscale {

inline constexpr int64_t kDynamicExtent = mlir::ShapedType::kDynamic;
constexpr bool isDynamic(int64_t extent) { return extent == kDynamicExtent; }

/// "178", or "?".
inline std::string extentText(int64_t extent) {
  return isDynamic(extent) ? "?" : std::to_string(extent);
}

inline void printExtent(mlir::AsmPrinter &printer, int64_t extent) {
  printer.getStream() << extentText(extent);
}
inline mlir::FailureOr<int64_t> parseExtent(mlir::AsmParser &parser) {
  if (succeeded(parser.parseOptionalQuestion()))
    return kDynamicExtent;
  int64_t extent;
  if (failed(parser.parseInteger(extent)))
    return mlir::failure();
  return extent;
}

inline void printExtents(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> extents) {
  llvm::interleaveComma(extents, printer.getStream(),
                        [&](int64_t extent) { printExtent(printer, extent); });
}
inline mlir::FailureOr<llvm::SmallVector<int64_t>> parseExtents(mlir::AsmParser &parser) {
  llvm::SmallVector<int64_t> extents;
  auto one = [&]() -> mlir::ParseResult {
    mlir::FailureOr<int64_t> extent = parseExtent(parser);
    if (failed(extent))
      return mlir::failure();
    extents.push_back(*extent);
    return mlir::success();
  };
  if (failed(parser.parseCommaSeparatedList(one)))
    return mlir::failure();
  return extents;
}

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_EXTENT_H
