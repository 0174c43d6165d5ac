//===- Operands.h - what the types of block-scaled operands say -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops, passes and lowerings read element formats, scale layouts and the formats
// that are built from here, so that a type is interpreted in one place.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_OPERANDS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_OPERANDS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Facts/QuantizedFormat.h"

#include <string>

namespace blockscale {

using ErrorFn = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Largest m, n or k: all sizes, counted in bits, fit 63 bits.
inline constexpr int64_t kMaxExtent = int64_t(1) << 28;
/// Largest number of 128 x 128 tiles of D: a tile's index is an i32.
inline constexpr int64_t kMaxTiles = (int64_t(1) << 31) - 1;
/// Largest operand or result: strides of a tensor map are below it.
inline constexpr int64_t kMaxBufferBytes = int64_t(1) << 40;

/// Discardable attribute of an argument or a result of a function: the type that a
/// user wrote, before scales were normalised and narrow tensors packed.
inline constexpr llvm::StringLiteral kLogicalTypeAttr = "blockscale.type";

/// Discardable attribute of a product of blocks and of its kernel: why the first choice
/// of a kernel could not run.
inline constexpr llvm::StringLiteral kFallbackAttr = "blockscale.fallback";

/// What the compiler multiplies, by kind: what a refusal lists as allowed.
std::string listProducts();
/// "nvfp4", or "e4m3 x e2m1 scaled ue8m0 by 32".
std::string describe(const facts::ProductFormat &format);

/// What quantize makes of elements and scales, by the block that comes first where several
/// are possible and none is asked for (0); null for others.
const facts::QuantizedFormat *findQuantized(facts::Format element, facts::ScaleFormat scale,
                                            int64_t block = 0);
/// "nvfp4 (e2m1, ue4m3, block 16), ...".
std::string listQuantized();

/// The format of an MLIR element type; nullopt when it is none of ours.
std::optional<facts::Format> getFormat(mlir::Type elementType);
/// The MLIR element type of a format.
mlir::Type getElementType(mlir::MLIRContext *context, facts::Format format);

/// Rows, columns, format and layout of a logical scale tensor: by its encoding,
/// else by the element type (f8E8M0FNU, f8E4M3FN: linear). Null when the type
/// does not say, or is no matrix of static columns; rows may be ?.
ScaleMatrixAttr getScaleMatrix(mlir::Type type);
/// The same, also of a batch of a known number of them.
ScaleMatrixAttr getScaleMatrices(mlir::Type type);

/// The encoding that the type of a scale tensor has or implies; null when none.
ScalesAttr getScalesEncoding(mlir::Type type);

/// The encoding of a tensor of ggml's blocks; null where it has none.
BlocksAttr getBlocks(mlir::Type type);
/// The encoding of a tensor whose rows have room behind them; null where it has none.
PitchedAttr getPitched(mlir::Type type);

/// Whether the type is a tensor of f32 or f16 without an encoding: what is quantised to
/// chunks before a product of blocks.
bool isActivations(mlir::Type type);

/// Whether elements lie one after the other in row-major order, from any offset on.
bool isContiguous(mlir::MemRefType type);

/// Whether the type is bytes: rank-1 i8 without an encoding, tensor or memref. Their
/// number may be known at launch only.
bool isPackedBytes(mlir::Type type);

/// Bits of an element of bytes, narrow floats or scales; nullopt of others.
std::optional<int64_t> getNarrowBits(mlir::Type elementType);

/// Whether the type of a value must become bytes before bufferization: elements
/// narrower than 16 bits (i8 excepted), an encoded scale tensor or blocks.
bool isNarrow(mlir::Type type);

/// Checks a product's types by gemm_c1 .. gemm_c11, gemm_c22, gemm_c23 and gemm_c30 .. gemm_c33 and
/// says what it is. `packed` is the attribute of the packed form or null; what is optional may be
/// null.
struct ProductTypes {
  mlir::Type a, sfa, b, sfb, alpha, alphaRows, alphaColumns, bias, beta, c, global, normConst, out,
      outScales;
  ProblemAttr packed;
  MajorAttr majorA, majorB;
  ActivationAttr activation;
  GateAttr gate;
};
mlir::LogicalResult verifyProduct(const ProductTypes &types, ErrorFn emitError);

/// The same rules of a problem alone: gemm_c5, gemm_c6, gemm_c7, gemm_c15, gemm_c22.
mlir::LogicalResult verifyProblem(ProblemAttr problem, ErrorFn emitError);

/// The most rows that a product may have: gemm_c5 and gemm_c15 of an m that a launch says.
int64_t mostRows(ProblemAttr problem);

/// What the types of a verified product say.
ProblemAttr getProblemOf(const ProductTypes &types);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_OPERANDS_H
