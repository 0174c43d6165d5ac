//===- FactsParameters.h - facts enums as attribute parameters ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing and printing of the plain enums of Facts inside attributes. The
// keyword of a case is its name in the facts table.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_FACTSPARAMETERS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_FACTSPARAMETERS_H

#include "blockscale/Dialect/Blockscale/IR/Extent.h"
#include "blockscale/Dialect/Blockscale/IR/KernelEnums.h"
#include "blockscale/Dialect/Blockscale/IR/WarpEnums.h"
#include "blockscale/Facts/Activation.h"
#include "blockscale/Facts/Arch.h"
#include "blockscale/Facts/BlockFormat.h"
#include "blockscale/Facts/Format.h"
#include "blockscale/Facts/MmaKind.h"
#include "blockscale/Facts/OperandTile.h"
#include "blockscale/Facts/ProductKind.h"
#include "blockscale/Facts/Swizzle.h"
#include "blockscale/Facts/TensorMap.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

namespace blockscale {

/// MxNxK of an instruction or a tile.
struct Shape3 {
  int64_t m, n, k;
  bool operator==(const Shape3 &) const = default;
};
inline llvm::hash_code hash_value(const Shape3 &s) { return llvm::hash_combine(s.m, s.n, s.k); }
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, const Shape3 &s) {
  p.getStream() << s.m << 'x' << s.n << 'x' << s.k;
  return p;
}

/// CTAs of a cluster: along M, then along N.
struct ClusterShape {
  int64_t m = 1, n = 1;
  int64_t size() const { return m * n; }
  bool operator==(const ClusterShape &) const = default;
};
inline llvm::hash_code hash_value(const ClusterShape &s) { return llvm::hash_combine(s.m, s.n); }
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, const ClusterShape &s) {
  p.getStream() << s.m << 'x' << s.n;
  return p;
}

/// How D leaves the SM.
enum class Epilogue : uint8_t { tma_store, plain_store };
constexpr std::string_view name(Epilogue e) {
  return e == Epilogue::tma_store ? "tma_store" : "plain_store";
}
constexpr std::optional<Epilogue> parseEpilogue(std::string_view text) {
  if (text == "tma_store")
    return Epilogue::tma_store;
  if (text == "plain_store")
    return Epilogue::plain_store;
  return std::nullopt;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, Epilogue e) {
  p.getStream() << name(e);
  return p;
}

/// Whether accumulator stages have columns in common.
enum class AccumulatorColumns : uint8_t { disjoint, overlapped };
constexpr std::string_view name(AccumulatorColumns c) {
  return c == AccumulatorColumns::disjoint ? "disjoint" : "overlapped";
}
constexpr std::optional<AccumulatorColumns> parseAccumulatorColumns(std::string_view text) {
  if (text == "disjoint")
    return AccumulatorColumns::disjoint;
  if (text == "overlapped")
    return AccumulatorColumns::overlapped;
  return std::nullopt;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, AccumulatorColumns c) {
  p.getStream() << name(c);
  return p;
}

/// Which nibble of a byte holds the first of two 4-bit elements.
enum class NibbleOrder : uint8_t { low_first, high_first };
constexpr std::string_view name(NibbleOrder o) {
  return o == NibbleOrder::low_first ? "low_first" : "high_first";
}
constexpr std::optional<NibbleOrder> parseNibbleOrder(std::string_view text) {
  if (text == "low_first")
    return NibbleOrder::low_first;
  if (text == "high_first")
    return NibbleOrder::high_first;
  return std::nullopt;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, NibbleOrder o) {
  p.getStream() << name(o);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, WarpRole v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, SharedContent v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, ProblemOperand v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, CollectorUse v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, ScaleOperand v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, WarpKernel v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, RingContent v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, WgmmaRole v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, ChunkSums v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, Activations v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, Minima v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, SumConversion v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, Weights v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, Pragma v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, BlockContract v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, GlobalScale v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, QuantizeSequence v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, PlaneContent v) {
  p.getStream() << name(v);
  return p;
}

namespace facts {
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, BlockFormat v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, PlaneLayout v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, Swizzle v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, Arch v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, Format v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, ScaleFormat v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, ScaleLayout v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, MmaKind v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, Major v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, Activation v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, TmaType v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, TmaSwizzle v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, TmaFill v) {
  p.getStream() << name(v);
  return p;
}
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &p, TmaL2Promotion v) {
  p.getStream() << name(v);
  return p;
}
} // namespace facts

namespace detail {
/// Parses one keyword with a parser of a facts table.
template <typename T, std::optional<T> (*Parse)(std::string_view)> struct KeywordParser {
  static mlir::FailureOr<T> parse(mlir::AsmParser &parser) {
    llvm::SMLoc loc = parser.getCurrentLocation();
    llvm::StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return mlir::failure();
    if (std::optional<T> value = Parse(std::string_view(keyword.data(), keyword.size())))
      return *value;
    return parser.emitError(loc) << "unknown keyword '" << keyword << "'", mlir::failure();
  }
};
} // namespace detail
} // namespace blockscale

namespace mlir {
#define BLOCKSCALE_FACTS_FIELD_PARSER(Enum)                                                        \
  template <>                                                                                      \
  struct FieldParser<blockscale::facts::Enum>                                                      \
      : blockscale::detail::KeywordParser<blockscale::facts::Enum,                                 \
                                          blockscale::facts::parse##Enum> {};
BLOCKSCALE_FACTS_FIELD_PARSER(Arch)
BLOCKSCALE_FACTS_FIELD_PARSER(BlockFormat)
BLOCKSCALE_FACTS_FIELD_PARSER(PlaneLayout)
BLOCKSCALE_FACTS_FIELD_PARSER(Format)
BLOCKSCALE_FACTS_FIELD_PARSER(ScaleFormat)
BLOCKSCALE_FACTS_FIELD_PARSER(ScaleLayout)
BLOCKSCALE_FACTS_FIELD_PARSER(MmaKind)
BLOCKSCALE_FACTS_FIELD_PARSER(Activation)
BLOCKSCALE_FACTS_FIELD_PARSER(Major)
BLOCKSCALE_FACTS_FIELD_PARSER(TmaType)
BLOCKSCALE_FACTS_FIELD_PARSER(TmaSwizzle)
BLOCKSCALE_FACTS_FIELD_PARSER(TmaFill)
BLOCKSCALE_FACTS_FIELD_PARSER(TmaL2Promotion)
BLOCKSCALE_FACTS_FIELD_PARSER(Swizzle)
#undef BLOCKSCALE_FACTS_FIELD_PARSER

template <>
struct FieldParser<blockscale::WarpRole>
    : blockscale::detail::KeywordParser<blockscale::WarpRole, blockscale::parseWarpRole> {};
template <>
struct FieldParser<blockscale::WarpKernel>
    : blockscale::detail::KeywordParser<blockscale::WarpKernel, blockscale::parseWarpKernel> {};
template <>
struct FieldParser<blockscale::RingContent>
    : blockscale::detail::KeywordParser<blockscale::RingContent, blockscale::parseRingContent> {};
template <>
struct FieldParser<blockscale::WgmmaRole>
    : blockscale::detail::KeywordParser<blockscale::WgmmaRole, blockscale::parseWgmmaRole> {};
template <>
struct FieldParser<blockscale::ChunkSums>
    : blockscale::detail::KeywordParser<blockscale::ChunkSums, blockscale::parseChunkSums> {};
template <>
struct FieldParser<blockscale::Activations>
    : blockscale::detail::KeywordParser<blockscale::Activations, blockscale::parseActivations> {};
template <>
struct FieldParser<blockscale::Minima>
    : blockscale::detail::KeywordParser<blockscale::Minima, blockscale::parseMinima> {};
template <>
struct FieldParser<blockscale::SumConversion>
    : blockscale::detail::KeywordParser<blockscale::SumConversion, blockscale::parseSumConversion> {
};
template <>
struct FieldParser<blockscale::Weights>
    : blockscale::detail::KeywordParser<blockscale::Weights, blockscale::parseWeights> {};
template <>
struct FieldParser<blockscale::Pragma>
    : blockscale::detail::KeywordParser<blockscale::Pragma, blockscale::parsePragma> {};
template <>
struct FieldParser<blockscale::BlockContract>
    : blockscale::detail::KeywordParser<blockscale::BlockContract, blockscale::parseBlockContract> {
};
template <>
struct FieldParser<blockscale::GlobalScale>
    : blockscale::detail::KeywordParser<blockscale::GlobalScale, blockscale::parseGlobalScale> {};
template <>
struct FieldParser<blockscale::QuantizeSequence>
    : blockscale::detail::KeywordParser<blockscale::QuantizeSequence,
                                        blockscale::parseQuantizeSequence> {};
template <>
struct FieldParser<blockscale::PlaneContent>
    : blockscale::detail::KeywordParser<blockscale::PlaneContent, blockscale::parsePlaneContent> {};
template <>
struct FieldParser<blockscale::SharedContent>
    : blockscale::detail::KeywordParser<blockscale::SharedContent, blockscale::parseSharedContent> {
};
template <>
struct FieldParser<blockscale::ProblemOperand>
    : blockscale::detail::KeywordParser<blockscale::ProblemOperand,
                                        blockscale::parseProblemOperand> {};
template <>
struct FieldParser<blockscale::CollectorUse>
    : blockscale::detail::KeywordParser<blockscale::CollectorUse, blockscale::parseCollectorUse> {};
template <>
struct FieldParser<blockscale::ScaleOperand>
    : blockscale::detail::KeywordParser<blockscale::ScaleOperand, blockscale::parseScaleOperand> {};
template <>
struct FieldParser<blockscale::Epilogue>
    : blockscale::detail::KeywordParser<blockscale::Epilogue, blockscale::parseEpilogue> {};
template <>
struct FieldParser<blockscale::AccumulatorColumns>
    : blockscale::detail::KeywordParser<blockscale::AccumulatorColumns,
                                        blockscale::parseAccumulatorColumns> {};
template <>
struct FieldParser<blockscale::NibbleOrder>
    : blockscale::detail::KeywordParser<blockscale::NibbleOrder, blockscale::parseNibbleOrder> {};
template <> struct FieldParser<blockscale::Shape3> {
  static FailureOr<blockscale::Shape3> parse(AsmParser &parser) {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<int64_t> dims;
    if (parser.parseDimensionList(dims, /*allowDynamic=*/false, /*withTrailingX=*/false))
      return failure();
    if (dims.size() != 3)
      return parser.emitError(loc, "expected MxNxK"), failure();
    return blockscale::Shape3{dims[0], dims[1], dims[2]};
  }
};
template <> struct FieldParser<blockscale::ClusterShape> {
  static FailureOr<blockscale::ClusterShape> parse(AsmParser &parser) {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<int64_t> dims;
    if (parser.parseDimensionList(dims, /*allowDynamic=*/false, /*withTrailingX=*/false))
      return failure();
    if (dims.size() != 2)
      return parser.emitError(loc, "expected MxN"), failure();
    return blockscale::ClusterShape{dims[0], dims[1]};
  }
};
} // namespace mlir

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_FACTSPARAMETERS_H
