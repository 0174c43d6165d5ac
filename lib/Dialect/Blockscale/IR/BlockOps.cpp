//===- BlockOps.cpp - encoding, sizes and rules of ggml's blocks ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockRules.h"
#include "ProblemOpRules.h"

#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"
#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"

using namespace mlir;
using namespace blockscale;
using facts::BlockFormat;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult BlocksAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (getFormat() == BlockFormat::f16)
    return emitError() << "blocks_c4: format of a tensor of blocks must have scales, got f16";
  if (shape.size() != 2)
    return emitError() << "blocks_c1: tensor of blocks must have rank 2 (rows x bytes), got rank "
                       << shape.size();
  if (!elementType.isInteger(8))
    return emitError() << "blocks_c2: elements of a tensor of blocks must be i8, got "
                       << elementType;
  int64_t bytes = facts::info(getFormat()).bytes;
  if (!ShapedType::isDynamic(shape[1]) && (shape[1] < 1 || shape[1] % bytes))
    return emitError() << "blocks_c3: row of " << facts::name(getFormat())
                       << " must be a whole number of " << bytes << "-byte blocks, got " << shape[1]
                       << " bytes";
  return success();
}

static int64_t rowBytes(BlockFormat format, int64_t k) {
  const facts::BlockFormatInfo &row = facts::info(format);
  return k / row.elements * row.bytes;
}
int64_t BlockProblemAttr::getARowBytes() const { return rowBytes(getA(), getK()); }
int64_t BlockProblemAttr::getBRowBytes() const { return rowBytes(getB(), getK()); }
int64_t BlockProblemAttr::getBBytes() const { return facts::matrixBytes(getB(), getN(), getK()); }
int64_t BlockProblemAttr::getABytes() const { return facts::matrixBytes(getA(), getM(), getK()); }

BlocksAttr blockscale::getBlocks(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<BlocksAttr>(tensor.getEncoding()) : nullptr;
}

bool blockscale::isActivations(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding() &&
         (tensor.getElementType().isF32() || tensor.getElementType().isF16());
}

//===----------------------------------------------------------------------===//
// gemm of blocks
//===----------------------------------------------------------------------===//

/// Elements of a row of blocks.
static int64_t elementsOf(RankedTensorType type, BlockFormat format) {
  const facts::BlockFormatInfo &row = facts::info(format);
  return type.getDimSize(1) / row.bytes * row.elements;
}

BlockProblemAttr blockscale::getBlockProblemOf(const BlockProductTypes &types) {
  if (types.packed)
    return types.packed;
  auto b = cast<RankedTensorType>(types.b), out = cast<RankedTensorType>(types.out);
  BlocksAttr a = getBlocks(types.a);
  BlockFormat format = a              ? a.getFormat()
                       : types.halves ? BlockFormat::f16
                                      : BlockFormat::q8_1_chunk;
  BlockFormat weights = getBlocks(b).getFormat();
  return BlockProblemAttr::get(types.a.getContext(), out.getDimSize(0), out.getDimSize(1),
                               elementsOf(b, weights), format, weights,
                               types.contract ? types.contract.getValue() : BlockContract::ordered);
}

static LogicalResult verifyLogicalBlocks(const BlockProductTypes &types, ErrorFn emitError) {
  BlocksAttr aBlocks = getBlocks(types.a), bBlocks = getBlocks(types.b);
  bool aFits = aBlocks ? aBlocks.getFormat() == BlockFormat::q8_1 ||
                             aBlocks.getFormat() == BlockFormat::q8_1_chunk ||
                             isTile(aBlocks.getFormat())
                       : isActivations(types.a);
  if (!aFits || !bBlocks || !facts::isQ4K(bBlocks.getFormat()))
    return emitError()
           << "gemm_c16: operands without scales must be q8_1, q8_1_chunk (or tiles of it), "
              "f32 or f16 and q4_K (or planes of it), got "
           << types.a << " and " << types.b;
  auto a = cast<RankedTensorType>(types.a), b = cast<RankedTensorType>(types.b),
       out = cast<RankedTensorType>(types.out);
  for (auto [what, type] : {std::pair("a", a), std::pair("out", out)})
    if (type.getRank() != 2)
      return emitError() << "gemm_c3: " << what << " must have rank 2, got rank " << type.getRank();
  int64_t k = elementsOf(b, bBlocks.getFormat());
  int64_t aK = aBlocks ? elementsOf(a, aBlocks.getFormat()) : a.getDimSize(1);
  if (aK % facts::kQ4KElements)
    return emitError() << "gemm_c17: k must be a multiple of " << facts::kQ4KElements
                       << ", the elements of a q4_K block, got " << aK;
  if (aK != k)
    return emitError() << "gemm_c4: b must be n x k with the k = " << aK << " of a, got k = " << k;
  if (!out.getElementType().isF32())
    return emitError() << "gemm_c18: out of a product of blocks must be f32, got "
                       << out.getElementType();
  int64_t rows = aBlocks ? facts::info(aBlocks.getFormat()).rows : 1;
  if (rows > 1 && (out.getDimSize(0) + rows - 1) / rows != a.getDimSize(0))
    return emitError() << "gemm_c4: out must have " << (a.getDimSize(0) - 1) * rows + 1 << " .. "
                       << a.getDimSize(0) * rows << " rows, as many as the tiles of a, got "
                       << shapeOf(out);
  int64_t m = rows > 1 ? out.getDimSize(0) : a.getDimSize(0);
  int64_t columns = facts::info(bBlocks.getFormat()).rows;
  if (columns > 1 && (out.getDimSize(1) + columns - 1) / columns != b.getDimSize(0))
    return emitError() << "gemm_c4: out must have " << (b.getDimSize(0) - 1) * columns + 1 << " .. "
                       << b.getDimSize(0) * columns << " columns, as many as the planes of b, got "
                       << shapeOf(out);
  int64_t n = columns > 1 ? out.getDimSize(1) : b.getDimSize(0);
  if (out.getDimSize(0) != m || out.getDimSize(1) != n)
    return emitError() << "gemm_c4: out must be " << m << "x" << n << " (m x n), got "
                       << shapeOf(out);
  return verifyBlockProblem(getBlockProblemOf(types), emitError);
}

static LogicalResult verifyPackedBlocks(const BlockProductTypes &types, ErrorFn emitError) {
  BlockProblemAttr p = types.packed;
  if (failed(verifyBlockProblem(p, emitError)))
    return failure();
  if (p.getA() == BlockFormat::f16) {
    auto a = cast<ShapedType>(types.a);
    if (a.getRank() != 2 || a.getDimSize(0) != p.getM() || a.getDimSize(1) != p.getK() ||
        !a.getElementType().isF16())
      return emitError() << "gemm_c21: a must be " << p.getM() << "x" << p.getK() << " of f16, got "
                         << types.a;
  } else if (failed(verifyBytes("gemm_c21", "a", types.a, p.getABytes(), emitError))) {
    return failure();
  }
  if (failed(verifyBytes("gemm_c21", "b", types.b, p.getBBytes(), emitError)))
    return failure();
  auto out = cast<ShapedType>(types.out);
  if (out.getRank() == 2 && out.getDimSize(0) == p.getM() && out.getDimSize(1) == p.getN() &&
      out.getElementType().isF32())
    return success();
  return emitError() << "gemm_c21: out must be " << p.getM() << "x" << p.getN() << " of f32, got "
                     << types.out;
}

LogicalResult blockscale::verifyBlockProduct(const BlockProductTypes &types, ErrorFn emitError) {
  SmallVector<Type> all{types.a, types.b, types.out};
  FailureOr<Storage> storage = verifyStorage("gemm_c1", all, emitError);
  if (failed(storage) || failed(verifyStatic("gemm_c2", all, emitError)))
    return failure();
  if (types.packed)
    return verifyPackedBlocks(types, emitError);
  if (*storage == Storage::memrefs)
    return emitError() << "gemm_c21: memref operands must be packed bytes with the attribute "
                          "'block_problem', got none";
  return verifyLogicalBlocks(types, emitError);
}

static BlockProductTypes typesOf(GemmOp op) {
  return {op.getA().getType(),  op.getB().getType(), op.getOut().getType(),
          op.getBlockProblem(), op.getContract(),    /*halves=*/bool(op.getWgmmaSchedule())};
}

/// gemm_c25 of halves, and the rules of their schedule.
static LogicalResult verifyHalves(GemmOp op, ErrorFn emitError) {
  ContractAttr contract = op.getContract();
  bool isHalf = cast<ShapedType>(op.getA().getType()).getElementType().isF16();
  bool isAllowed = contract && mayBeHalves(contract.getValue());
  if (contract && contract.getValue() == BlockContract::halves && !isHalf)
    return emitError() << "gemm_c25: a of a contract of halves must be f16, got "
                       << op.getA().getType();
  WgmmaScheduleAttr schedule = op.getWgmmaSchedule();
  if (!schedule)
    return success();
  if (!isAllowed || !isHalf)
    return emitError() << "gemm_c25: a product with wgmma_schedule must have a contract of halves "
                          "or any and a in f16, got "
                       << (contract ? name(contract.getValue()) : "no contract") << " and "
                       << op.getA().getType();
  if (op.getWarpSchedule())
    return emitError() << "gemm_c20: a product of blocks must have one of warp_schedule and "
                          "wgmma_schedule, got both";
  return verifyWgmmaSchedule(op.getLogicalBlockProblem(), schedule, emitError);
}

LogicalResult blockscale::verifyBlockGemm(GemmOp op) {
  auto emitError = [&] { return op.emitOpError(); };
  if (bool(op.getSfa()) != bool(op.getSfb()))
    return emitError() << "gemm_c16: both operands must have scales, or neither, got only those of "
                       << (op.getSfa() ? "a" : "b");
  if (failed(verifyBlockProduct(typesOf(op), emitError)))
    return failure();
  for (auto [what, given] : {std::pair("alpha", bool(op.getAlpha())),
                             {"bias", bool(op.getBias())},
                             {"beta", bool(op.getBeta())},
                             {"c", bool(op.getC())},
                             {"an activation", bool(op.getActivation())},
                             {"a gate", bool(op.getGate())},
                             {"alpha_rows", bool(op.getAlphaRows())},
                             {"alpha_columns", bool(op.getAlphaColumns())},
                             {"global", bool(op.getGlobal())},
                             {"norm_const", bool(op.getNormConst())},
                             {"scales of out", bool(op.getOutScales())},
                             {"a nibble order", op.getNibblesA() || op.getNibblesB()},
                             {"a major", op.getMajorA() || op.getMajorB()}})
    if (given)
      return emitError()
             << "gemm_c19: a product of blocks must have no alpha, bias, beta, c, "
                "activation, gate, scales of out, nibble order and major (not built), got "
             << what;
  if (op.getProblem() || op.getSchedule())
    return emitError() << "gemm_c20: a product of blocks must have block_problem and "
                          "warp_schedule, got "
                       << (op.getProblem() ? "problem" : "schedule");
  BlockProblemAttr problem = op.getLogicalBlockProblem();
  if (failed(verifyHalves(op, emitError)))
    return failure();
  if (problem.getA() == BlockFormat::q8_1_tile_parts && !mayReorder(problem.getContract()))
    return emitError() << "gemm_c25: contract must be bounded or any where a is q8_1_tile_parts, "
                          "got "
                       << name(problem.getContract());
  WarpScheduleAttr schedule = op.getWarpSchedule();
  if (!schedule)
    return success();
  if (problem.getA() == BlockFormat::f16)
    return emitError() << "gemm_c20: a product of f16 activations must have wgmma_schedule, got "
                          "warp_schedule";
  if (failed(verifyWarpSchedule(schedule, emitError)))
    return failure();
  // Activations are quantised, and chunks transposed, before the schedule is used.
  bool isFinal = op.getBlockProblem() || isTile(problem.getA());
  if (isFinal && problem.getA() != schedule.getAFormat())
    return emitError() << "gemm_c24: a must be the " << facts::name(schedule.getAFormat())
                       << " that the schedule reads, got " << facts::name(problem.getA());
  bool isFinalB = op.getBlockProblem() || problem.getB() != BlockFormat::q4_K;
  if (isFinalB && problem.getB() != schedule.getBFormat())
    return emitError() << "gemm_c24: b must be the " << facts::name(schedule.getBFormat())
                       << " that the schedule reads, got " << facts::name(problem.getB());
  if (failed(verifyContract(schedule, problem.getContract(), emitError)))
    return failure();
  return verifyDepth(schedule, problem.getK(), emitError);
}

BlockProblemAttr GemmOp::getLogicalBlockProblem() { return getBlockProblemOf(typesOf(*this)); }

static BlockProductTypes typesOf(CheckBlockGemmOp op) {
  return {op.getA().getType(),
          op.getB().getType(),
          op.getD().getType(),
          op.getBlockProblem(),
          nullptr,
          /*halves=*/isActivations(op.getA().getType())};
}

BlockProblemAttr CheckBlockGemmOp::getLogicalBlockProblem() {
  return getBlockProblemOf(typesOf(*this));
}

LogicalResult CheckBlockGemmOp::verify() {
  if (failed(verifyBlockProduct(typesOf(*this), [&] { return emitOpError(); })))
    return failure();
  if (getLogicalBlockProblem().getA() != BlockFormat::q8_1)
    return success();
  return emitOpError("gemm_c16: a of a reference must be q8_1_chunk, got q8_1");
}

void CheckBlockGemmOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : (*this)->getOpOperands())
    addMemrefEffect(operand, MemoryEffects::Read::get(), effects);
  // The report and the exit status.
  effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// quantize_chunks
//===----------------------------------------------------------------------===//

LogicalResult QuantizeChunksOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  FailureOr<Storage> storage =
      verifyDestinations("quantize_chunks_c1", *this, getOut() ? 1 : 0, /*count=*/1);
  if (failed(storage))
    return failure();
  auto x = cast<ShapedType>(getX().getType());
  auto legal = [](int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  if (!x.hasStaticShape() || x.getRank() != 2 || !legal(x.getDimSize(0)) ||
      !legal(x.getDimSize(1)) || x.getDimSize(1) % facts::kChunkElements)
    return emitError() << "quantize_chunks_c2: x must be a static matrix of whole chunks of "
                       << facts::kChunkElements << " a row, got " << x;
  if (getSchedule() && failed(verifyQuantizeSchedule(getSchedule(), emitError)))
    return failure();
  BlockFormat format = getLogicalFormat();
  int64_t k = x.getDimSize(1);
  bool isBuilt = format == BlockFormat::q8_1_chunk || facts::isTile(format);
  if (!isBuilt || k % facts::info(format).elements)
    return emitError() << "quantize_chunks_c3: result must be q8_1_chunk, or q8_1_tile or "
                          "q8_1_tile_parts of rows of a multiple of 256 elements, got "
                       << facts::name(format) << " of rows of " << k;
  int64_t bytes = facts::matrixBytes(format, x.getDimSize(0), k);
  Type to = *storage == Storage::tensors ? getResult().getType() : getOut().getType();
  if (!getBlocks(to))
    return verifyBytes("quantize_chunks_c3", "result", to, bytes, emitError);
  auto tensor = cast<RankedTensorType>(to);
  int64_t rows = (x.getDimSize(0) + facts::info(format).rows - 1) / facts::info(format).rows;
  if (tensor.getDimSize(0) == rows && tensor.getNumElements() == bytes)
    return success();
  return emitError() << "quantize_chunks_c3: result must be " << rows << "x" << bytes / rows
                     << " bytes of " << facts::name(format) << ", got " << to;
}

BlockFormat QuantizeChunksOp::getLogicalFormat() {
  BlocksAttr blocks = getFormat();
  if (!blocks)
    blocks = getBlocks((getResult() ? getResult() : getOut()).getType());
  return blocks ? blocks.getFormat() : BlockFormat::q8_1_chunk;
}

void QuantizeChunksOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCopyEffects(*this, getOut() ? ValueRange(getOut()) : ValueRange(), effects);
}

//===----------------------------------------------------------------------===//
// transpose_chunks
//===----------------------------------------------------------------------===//

/// What becomes tiles, or chunks.
static BlockFormat sourceOf(BlockFormat to) {
  return to == BlockFormat::q8_1_chunk ? BlockFormat::q8_1 : BlockFormat::q8_1_chunk;
}
static bool isMadeOfChunks(BlockFormat to) { return to == BlockFormat::q8_1_chunk || isTile(to); }

ChunkMatrixAttr TransposeChunksOp::getLogicalMatrix() {
  if (getMatrix())
    return getMatrix();
  auto chunks = cast<RankedTensorType>(getChunks().getType());
  BlockFormat to = getBlocks(getResult().getType()).getFormat();
  return ChunkMatrixAttr::get(getContext(), chunks.getDimSize(0), elementsOf(chunks, sourceOf(to)),
                              to);
}

LogicalResult TransposeChunksOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  FailureOr<Storage> storage =
      verifyDestinations("transpose_chunks_c1", *this, getOut() ? 1 : 0, /*count=*/1);
  if (failed(storage))
    return failure();
  auto from = cast<ShapedType>(getChunks().getType());
  Type to = *storage == Storage::tensors ? getResult().getType() : getOut().getType();
  BlocksAttr source = getBlocks(from), target = getBlocks(to);
  if (!getMatrix() && (!target || !isMadeOfChunks(target.getFormat())))
    return emitError() << "transpose_chunks_c3: result must be q8_1_tile, q8_1_tile_parts or "
                          "q8_1_chunk, got "
                       << to;
  bool isChunks = source && target && source.getFormat() == sourceOf(target.getFormat()) &&
                  from.hasStaticShape();
  if (!getMatrix() && !isChunks)
    return emitError() << "transpose_chunks_c2: chunks must be a static matrix of "
                       << facts::name(sourceOf(target.getFormat())) << ", got " << from;
  ChunkMatrixAttr matrix = getLogicalMatrix();
  auto legal = [](int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  if (!legal(matrix.getTokens()) || !legal(matrix.getK()) || matrix.getK() % facts::kTileElements)
    return emitError() << "transpose_chunks_c2: tokens and k must be 1 .. " << kMaxExtent
                       << ", k a multiple of " << facts::kTileElements << ", got "
                       << matrix.getTokens() << " and " << matrix.getK();
  if (!isMadeOfChunks(matrix.getTo()))
    return emitError() << "transpose_chunks_c3: result must be q8_1_tile, q8_1_tile_parts or "
                          "q8_1_chunk, got "
                       << facts::name(matrix.getTo());
  int64_t bytes = facts::matrixBytes(matrix.getTo(), matrix.getTokens(), matrix.getK());
  if (getMatrix()) {
    int64_t sourceBytes =
        facts::matrixBytes(sourceOf(matrix.getTo()), matrix.getTokens(), matrix.getK());
    if (failed(verifyBytes("transpose_chunks_c4", "chunks", from, sourceBytes, emitError)))
      return failure();
    return verifyBytes("transpose_chunks_c4", "result", to, bytes, emitError);
  }
  int64_t perBlock = facts::info(matrix.getTo()).rows;
  int64_t rows = (matrix.getTokens() + perBlock - 1) / perBlock;
  auto tiles = cast<RankedTensorType>(to);
  if (tiles.getDimSize(0) == rows && tiles.getDimSize(1) == bytes / rows)
    return success();
  return emitError() << "transpose_chunks_c3: result must be " << rows << "x" << bytes / rows
                     << " bytes of " << facts::name(matrix.getTo()) << ", got " << to;
}

void TransposeChunksOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCopyEffects(*this, getOut() ? ValueRange(getOut()) : ValueRange(), effects);
}

//===----------------------------------------------------------------------===//
// Syntax of gemm's operands
//===----------------------------------------------------------------------===//

ParseResult blockscale::parseGemmOperands(OpAsmParser &parser, Unresolved &a,
                                          std::optional<Unresolved> &sfa, Unresolved &b,
                                          std::optional<Unresolved> &sfb, Type &aType,
                                          Type &sfaType, Type &bType, Type &sfbType) {
  auto operand = [&](Unresolved &value, std::optional<Unresolved> &scales) -> ParseResult {
    if (parser.parseOperand(value))
      return failure();
    if (failed(parser.parseOptionalKeyword("scaled")))
      return success();
    return parser.parseOperand(scales.emplace());
  };
  auto types = [&](Type &type, const std::optional<Unresolved> &scales, Type &scalesType) {
    if (parser.parseType(type))
      return ParseResult(failure());
    if (!scales)
      return ParseResult(success());
    return ParseResult(failure(parser.parseComma() || parser.parseType(scalesType)));
  };
  return failure(operand(a, sfa) || parser.parseComma() || operand(b, sfb) || parser.parseColon() ||
                 types(aType, sfa, sfaType) || parser.parseComma() || types(bType, sfb, sfbType));
}

void blockscale::printGemmOperands(OpAsmPrinter &printer, Operation *, Value a, Value sfa, Value b,
                                   Value sfb, Type aType, Type sfaType, Type bType, Type sfbType) {
  auto operand = [&](Value value, Value scales) {
    printer << value;
    if (scales)
      printer << " scaled " << scales;
  };
  operand(a, sfa);
  printer << ", ";
  operand(b, sfb);
  printer << " : " << aType;
  if (sfa)
    printer << ", " << sfaType;
  printer << ", " << bType;
  if (sfb)
    printer << ", " << sfbType;
}
