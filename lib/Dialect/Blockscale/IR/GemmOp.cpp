//===- GemmOp.cpp - rules of gemm and check_gemm --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockRules.h"
#include "GemmBatch.h"
#include "GemmOutput.h"
#include "ProblemOpRules.h"

#include "blockscale/Dialect/Blockscale/IR/Batches.h"
#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"
#include "blockscale/Facts/ScaleTile.h"

using namespace mlir;
using namespace blockscale;
using facts::Format;
using facts::ScaleLayout;

static facts::Major majorOf(MajorAttr attr) { return attr ? attr.getValue() : facts::Major::k; }

/// Rows (m or n) and k of a logical operand.
static std::pair<int64_t, int64_t> extentsOf(ShapedType type, MajorAttr major) {
  bool isMn = majorOf(major) == facts::Major::mn;
  return {type.getDimSize(isMn ? 1 : 0), type.getDimSize(isMn ? 0 : 1)};
}

/// What the types say is multiplied. Scales of FP4 come by 16 or by 32: the block is the
/// one by which SFA has k / block columns, else the usual one, and the rules say why.
static facts::ProductFormat formatsOf(const ProductTypes &types) {
  auto a = cast<ShapedType>(types.a), b = cast<ShapedType>(types.b);
  facts::ProductFormat formats{*getFormat(a.getElementType()), *getFormat(b.getElementType()),
                               getScalesEncoding(types.sfa).getFormat(), 0};
  formats.block = facts::productBlock(formats.a, formats.b, formats.scale);
  int64_t k = extentsOf(a, types.majorA).second;
  auto scales = cast<ShapedType>(types.sfa);
  for (const facts::MmaScaleMode &row : facts::kMmaScaleModes) {
    facts::ProductFormat other{formats.a, formats.b, row.scale, row.block};
    if (row.scale == formats.scale && facts::productKind(other) && scales.getRank() == 2 &&
        scales.getDimSize(1) * row.block == k)
      return other;
  }
  return formats;
}

/// Bytes from one row to the next; 0 where they lie dense.
static int64_t pitchOf(Type type) {
  PitchedAttr pitched = getPitched(type);
  return pitched ? pitched.getBytes() : 0;
}

static ProblemAttr buildProblem(const ProductTypes &types) {
  if (areBatches(types))
    return buildProblem(matricesOf(types))
        .withBatches(cast<ShapedType>(types.out).getDimSize(0),
                     cast<ShapedType>(types.b).getRank() == 2);
  auto a = cast<ShapedType>(types.a), b = cast<ShapedType>(types.b);
  facts::ProductFormat formats = formatsOf(types);
  auto [m, k] = extentsOf(a, types.majorA);
  int64_t n = extentsOf(b, types.majorB).first;
  return ProblemAttr::get(types.a.getContext(), m, n, k, formats.a, formats.b, formats.scale,
                          formats.block, getScalesEncoding(types.sfa).getLayout(),
                          getScalesEncoding(types.sfb).getLayout(),
                          *getFormat(cast<ShapedType>(types.out).getElementType()),
                          majorOf(types.majorA), majorOf(types.majorB), pitchOf(types.a),
                          pitchOf(types.b), quantizedOf(types, types.gate ? n / 2 : n), types.gate,
                          /*batches=*/1, /*shared_b=*/false);
}

ProblemAttr blockscale::getProblemOf(const ProductTypes &types) {
  return types.packed ? types.packed : buildProblem(types);
}

static LogicalResult verifyScales(StringRef what, Type type, int64_t rows, int64_t cols,
                                  ErrorFn emitError) {
  auto shaped = cast<ShapedType>(type);
  if (shaped.getRank() == 2 && shaped.getDimSize(0) == rows && shaped.getDimSize(1) == cols)
    return success();
  return emitError() << "gemm_c8: " << what << " must be " << extentText(rows) << "x" << cols
                     << " (rows x k / block), got " << shapeOf(shaped);
}

/// gemm_c6 on formats, whichever form they come from.
static LogicalResult verifyFormats(const facts::ProductFormat &formats, facts::ScaleFormat sfb,
                                   ErrorFn emitError) {
  if (facts::productKind(formats) && formats.scale == sfb)
    return success();
  InFlightDiagnostic error =
      emitError() << "gemm_c6: formats must be a combination that is built: " << listProducts()
                  << ", got " << name(formats.a) << " scaled " << name(formats.scale) << " with "
                  << name(formats.b) << " scaled " << name(sfb);
  if (formats.block)
    error << ", block " << formats.block;
  return error;
}

/// gemm_c22: TMA and the MMA transpose whole bytes only.
static LogicalResult verifyMajor(StringRef what, facts::Major major, Format format,
                                 ErrorFn emitError) {
  if (major == facts::Major::k || facts::info(format).bits == 8)
    return success();
  return emitError() << "gemm_c22: " << what
                     << " must be k-major where elements are not of 8 bits, "
                     << "got mn of " << name(format);
}

/// gemm_c5; `fewest` rows and columns of the result.
static LogicalResult verifySizes(int64_t m, int64_t n, int64_t k, int64_t fewest,
                                 ErrorFn emitError) {
  auto legal = [](int64_t extent, int64_t least) {
    return extent >= least && extent <= kMaxExtent;
  };
  if ((isDynamic(m) || legal(m, fewest)) && legal(n, fewest) && legal(k, 1))
    return success();
  InFlightDiagnostic error = emitError() << "gemm_c5: ";
  if (fewest)
    error << "m, n and k must be 1 .. " << kMaxExtent;
  else
    error << "k must be 1 .. " << kMaxExtent << ", m and n 0 .. " << kMaxExtent;
  return error << ", got m = " << extentText(m) << ", n = " << n << ", k = " << k;
}

/// " each of 4 batches", for messages; nothing for one.
static std::string timesBatches(int64_t batches) {
  return batches > 1 ? " each of " + std::to_string(batches) + " batches" : "";
}

static LogicalResult verifyWholeBlocks(int64_t k, int64_t block, ErrorFn emitError) {
  if (k % block == 0)
    return success();
  return emitError() << "gemm_c7: k must be a whole number of scale blocks, got " << k << ", and "
                     << k << " is not a multiple of " << block;
}

/// gemm_c15: what kernels count in 32 bits, and what tensor maps reach.
static LogicalResult verifyReach(ProblemAttr p, ErrorFn emitError) {
  if (p.hasDynamicM())
    p = p.withM(1);
  int64_t batches = p.getBatches(), batchesOfB = p.getBatchesOfB();
  p = p.ofOne(); // whose numbers are small enough to be multiplied
  int64_t tiles = ((p.getM() + 127) / 128) * ((p.getN() + 127) / 128);
  if (tiles > kMaxTiles / batches)
    return emitError() << "gemm_c15: tiles of 128x128 must be fewer than 2^31, got " << tiles
                       << timesBatches(batches);
  int64_t scales = p.getQuantized() ? p.getOutBlocked().getScaleBytes() : 0;
  for (auto [what, bytes, count] :
       {std::tuple("scales of out", scales, batches), std::tuple("a", p.getABytes(), batches),
        std::tuple("sfa", p.getSfaBytes(), batches), std::tuple("b", p.getBBytes(), batchesOfB),
        std::tuple("sfb", p.getSfbBytes(), batchesOfB),
        std::tuple("out", p.getOutBytes(), batches)})
    if (bytes > kMaxBufferBytes / count)
      return emitError() << "gemm_c15: " << what << " must take at most 2^40 bytes, got " << bytes
                         << timesBatches(count);
  return success();
}

/// gemm_c26, before anything is computed with a pitch.
static LogicalResult verifyPitches(ProblemAttr p, ErrorFn emitError) {
  for (auto [what, pitch, format, major, rows] :
       {std::tuple("a", p.getPitchA(), p.getA(), p.getMajorA(), p.hasDynamicM() ? 1 : p.getM()),
        std::tuple("b", p.getPitchB(), p.getB(), p.getMajorB(), p.getN())}) {
    int64_t least = facts::operandPitch(format, major, rows, p.getK());
    int64_t most =
        kMaxBufferBytes / std::max<int64_t>(1, major == facts::Major::k ? rows : p.getK());
    if (pitch && (pitch < least || pitch > most))
      return emitError() << "gemm_c26: pitch of " << what << " must be " << least << " .. " << most
                         << " bytes, got " << pitch;
  }
  return success();
}

int64_t blockscale::mostRows(ProblemAttr problem) {
  ProblemAttr one = problem.withM(1);
  int64_t tilesN = (problem.getN() + 127) / 128;
  int64_t rowsOfScales = problem.getSfa() == ScaleLayout::tiled ? facts::kScaleTileRows : 1;
  return std::min({kMaxExtent, kMaxTiles / problem.getBatches() / tilesN * 128,
                   kMaxBufferBytes / one.getABytes(),
                   kMaxBufferBytes / one.getSfaBytes() * rowsOfScales,
                   kMaxBufferBytes / one.getOutBytes()});
}

/// gemm_c2: of all extents m alone may be ?.
static LogicalResult verifyExtents(const ProductTypes &types, ErrorFn emitError) {
  auto rest = [](Type type, int64_t rows) -> Type {
    auto shaped = dyn_cast_or_null<ShapedType>(type);
    if (!shaped || !shaped.hasRank() || shaped.getRank() <= rows)
      return type;
    SmallVector<int64_t> shape(shaped.getShape());
    shape[rows] = 1;
    return RankedTensorType::get(shape, shaped.getElementType());
  };
  // Bytes have one dimension; a transposed A has its rows behind k.
  bool isTransposed =
      majorOf(types.majorA) == facts::Major::mn && cast<ShapedType>(types.a).getRank() == 2;
  for (auto [type, hasM] :
       {std::pair(types.a, true), std::pair(types.sfa, true), std::pair(types.b, false),
        std::pair(types.sfb, false), std::pair(types.alpha, false),
        std::pair(types.alphaRows, false), std::pair(types.alphaColumns, false),
        std::pair(types.bias, false), std::pair(types.beta, false), std::pair(types.c, true),
        std::pair(types.global, false), std::pair(types.normConst, false),
        std::pair(types.out, true), std::pair(types.outScales, true)}) {
    auto shaped = dyn_cast_or_null<ShapedType>(type);
    // Of a batch only wide matrices are no bytes.
    bool isBatch = types.packed && types.packed.isBatch() && shaped && shaped.getRank() == 3;
    Type known = hasM ? rest(type, isBatch || (type == types.a && isTransposed)) : type;
    if (shaped && !cast<ShapedType>(known).hasStaticShape())
      return emitError() << "gemm_c2: shapes must be static but for m, got " << type;
  }
  return success();
}

LogicalResult blockscale::verifyProblem(ProblemAttr p, ErrorFn emitError) {
  if (failed(verifySizes(p.getM(), p.getN(), p.getK(), /*fewest=*/1, emitError)) ||
      failed(verifyBatches(p, emitError)))
    return failure();
  if (failed(verifyFormats(p.getFormats(), p.getScale(), emitError)))
    return failure();
  if (facts::info(p.getOut()).bits < 16 && !p.getQuantized())
    return emitError() << "gemm_c6: out must be f32, f16 or bf16, got " << name(p.getOut());
  if (failed(verifyOutput(p, emitError)))
    return failure();
  if (failed(verifyWholeBlocks(p.getK(), p.getBlock(), emitError)) ||
      failed(verifyPitches(p, emitError)) || failed(verifyReach(p, emitError)) ||
      failed(verifyMajor("major_a", p.getMajorA(), p.getA(), emitError)))
    return failure();
  return verifyMajor("major_b", p.getMajorB(), p.getB(), emitError);
}

static LogicalResult verifyBias(Type type, int64_t n, ErrorFn emitError) {
  if (!type || cast<ShapedType>(type).getDimSize(0) == n)
    return success();
  return emitError() << "gemm_c10: bias must have n = " << n << " elements, got "
                     << cast<ShapedType>(type).getDimSize(0);
}

/// gemm_c23.
static LogicalResult verifyC(const ProductTypes &types, ErrorFn emitError) {
  if (types.c && (types.outScales || types.gate || (types.packed && types.packed.getGate())))
    return emitError() << "gemm_c23: out must be wide and without gates where there is c, got "
                       << (types.outScales ? "quantised" : "gates");
  if (types.beta && !types.c)
    return emitError() << "gemm_c23: beta must be given with c, got none";
  if (types.c && types.c != types.out)
    return emitError() << "gemm_c23: c must have the type of out, " << types.out << ", got "
                       << types.c;
  return success();
}

static LogicalResult verifyLogical(const ProductTypes &types, ErrorFn emitError) {
  auto a = cast<ShapedType>(types.a), b = cast<ShapedType>(types.b),
       out = cast<ShapedType>(types.out);
  for (auto [what, type] : {std::pair("a", a), std::pair("b", b), std::pair("out", out)})
    if (type.getRank() != 2)
      return emitError() << "gemm_c3: " << what << " must have rank 2, got rank " << type.getRank();
  auto [m, k] = extentsOf(a, types.majorA);
  auto [n, kOfB] = extentsOf(b, types.majorB);
  if (kOfB != k)
    return emitError() << "gemm_c4: b must be "
                       << (majorOf(types.majorB) == facts::Major::mn ? "k x n" : "n x k")
                       << " with the k = " << k << " of a, got " << shapeOf(b);
  int64_t columns = types.gate ? n / 2 : n;
  if (out.getDimSize(0) != m || out.getDimSize(1) != columns)
    return emitError() << "gemm_c4: out must be " << extentText(m) << "x" << columns
                       << (types.gate ? " (m x n / 2), got " : " (m x n), got ") << shapeOf(out);
  // Elements of an empty quantised result would be nobody's.
  if (failed(verifySizes(m, n, k, /*fewest=*/types.outScales ? 1 : 0, emitError)))
    return failure();

  for (auto [what, type] : {std::pair("a", a), std::pair("b", b)})
    if (!getPitched(type) && !getElementFormat(type))
      return emitError() << "gemm_c6: elements of " << what
                         << " must be narrow floats without an encoding in the logical form, got "
                         << type;
  for (auto [what, type] : {std::pair("sfa", types.sfa), std::pair("sfb", types.sfb)})
    if (!getScalesEncoding(type))
      return emitError() << "gemm_c9: " << what
                         << " must have an encoding #blockscale.scales<format, layout>, or "
                            "elements f8E8M0FNU or f8E4M3FN, got "
                         << type;
  facts::ProductFormat formats = formatsOf(types);
  if (failed(verifyFormats(formats, getScalesEncoding(types.sfb).getFormat(), emitError)) ||
      failed(verifyWholeBlocks(k, formats.block, emitError)))
    return failure();
  int64_t cols = k / formats.block;
  if (failed(verifyScales("sfa", types.sfa, m, cols, emitError)) ||
      failed(verifyScales("sfb", types.sfb, n, cols, emitError)))
    return failure();
  if (failed(verifyBias(types.bias, n, emitError)) ||
      failed(verifyOutScales(types, m, columns, emitError)))
    return failure();
  ProblemAttr problem = buildProblem(types);
  if (failed(verifyOutput(problem, emitError)) || failed(verifyFactors(types, problem, emitError)))
    return failure();
  if (failed(verifyPitches(buildProblem(types), emitError)) ||
      failed(verifyReach(buildProblem(types), emitError)) ||
      failed(verifyMajor("major_a", majorOf(types.majorA), formats.a, emitError)) ||
      failed(verifyMajor("major_b", majorOf(types.majorB), formats.b, emitError)))
    return failure();
  return verifyC(types, emitError);
}

static LogicalResult verifyPacked(const ProductTypes &types, ErrorFn emitError) {
  ProblemAttr p = types.packed;
  if (failed(verifyProblem(p, emitError)) || failed(verifyBias(types.bias, p.getN(), emitError)))
    return failure();
  if (failed(verifyBytes("gemm_c11", "a", types.a, p.getABytes(), emitError)) ||
      failed(verifyBytes("gemm_c11", "sfa", types.sfa, p.getSfaBytes(), emitError)) ||
      failed(verifyBytes("gemm_c11", "b", types.b, p.getBBytes(), emitError)) ||
      failed(verifyBytes("gemm_c11", "sfb", types.sfb, p.getSfbBytes(), emitError)))
    return failure();
  if (bool(types.outScales) != bool(p.getQuantized()))
    return emitError() << "gemm_c30: out must have scales where the problem is quantised, got "
                       << (types.outScales ? "scales" : "none");
  auto out = cast<ShapedType>(types.out);
  if (BlockedAttr blocked = p.getOutBlocked()) {
    if (failed(verifyBytes("gemm_c11", "out", types.out, blocked.getElementBytes(), emitError)) ||
        failed(verifyBytes("gemm_c11", "scales of out", types.outScales, blocked.getScaleBytes(),
                           emitError)))
      return failure();
  } else {
    SmallVector<int64_t, 3> shape{p.getM(), p.getOutColumns()};
    if (p.isBatch())
      shape.insert(shape.begin(), p.getBatches());
    if (out.getShape() != ArrayRef(shape) || getFormat(out.getElementType()) != p.getOut())
      return emitError() << "gemm_c11: out must be "
                         << llvm::join(llvm::map_range(shape, extentText), "x") << " of "
                         << name(p.getOut()) << ", got " << types.out;
  }
  if (p.isBatch() && types.alphaRows)
    return emitError() << "gemm_c33: a batch must have no alpha_rows, got one";
  if (failed(verifyFactors(types, p, emitError)))
    return failure();
  if (types.majorA || types.majorB)
    return emitError() << "gemm_c22: major_a and major_b must stand in the logical form, got one "
                          "beside problem";
  return verifyC(types, emitError);
}

LogicalResult blockscale::verifyProduct(const ProductTypes &types, ErrorFn emitError) {
  if (areBatches(types)) {
    // The rules of one product are those of each; what is a batch's own has numbers of all.
    if (failed(verifyBatch(types, emitError)) ||
        failed(verifyProduct(matricesOf(types), emitError)))
      return failure();
    ProblemAttr problem = buildProblem(types);
    bool isEmpty = !problem.getBatches() || !problem.getM() || !problem.getN();
    return success(isEmpty || (succeeded(verifyBatches(problem, emitError)) &&
                               succeeded(verifyReach(problem, emitError))));
  }
  SmallVector<Type> all{types.a, types.sfa, types.b, types.sfb, types.out};
  for (Type type : {types.alpha, types.alphaRows, types.alphaColumns, types.bias, types.beta,
                    types.c, types.global, types.normConst, types.outScales})
    if (type)
      all.push_back(type);
  FailureOr<Storage> storage = verifyStorage("gemm_c1", all, emitError);
  if (failed(storage) || failed(verifyExtents(types, emitError)))
    return failure();
  if (types.packed)
    return verifyPacked(types, emitError);
  if (*storage == Storage::memrefs)
    return emitError() << "gemm_c11: memref operands must be packed bytes with the attribute "
                          "'problem', got none";
  return verifyLogical(types, emitError);
}

template <typename Op> static ProductTypes typesOf(Op op, Value out, Value outScales) {
  auto typeOf = [](Value value) { return value ? value.getType() : Type(); };
  return {op.getA().getType(),
          op.getSfa().getType(),
          op.getB().getType(),
          op.getSfb().getType(),
          typeOf(op.getAlpha()),
          typeOf(op.getAlphaRows()),
          typeOf(op.getAlphaColumns()),
          typeOf(op.getBias()),
          typeOf(op.getBeta()),
          typeOf(op.getC()),
          typeOf(op.getGlobal()),
          typeOf(op.getNormConst()),
          out.getType(),
          typeOf(outScales),
          op.getProblem(),
          op.getMajorA(),
          op.getMajorB(),
          op.getActivationAttr(),
          op.getGateAttr()};
}
static ProductTypes typesOf(GemmOp op) { return typesOf(op, op.getOut(), op.getOutScales()); }
static ProductTypes typesOf(CheckGemmOp op) { return typesOf(op, op.getD(), op.getDScales()); }

ProblemAttr GemmOp::getLogicalProblem() { return getProblemOf(typesOf(*this)); }
ProblemAttr CheckGemmOp::getLogicalProblem() { return getProblemOf(typesOf(*this)); }

ZeroTails blockscale::zeroTailsOf(GemmOp gemm) {
  auto isZero = [](Type type) {
    PitchedAttr pitched = getPitched(type);
    return !pitched || pitched.getZeroTail(); // bytes do not say it
  };
  return {isZero(gemm.getA().getType()), isZero(gemm.getB().getType())};
}

bool blockscale::hasBatch(GemmOp gemm) {
  return !gemm.isBlockProduct() && areBatches(typesOf(gemm));
}

LogicalResult GemmOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  if (size_t count = getOuts().size(); count != 1 && count != 2)
    return emitError() << "gemm_c30: out must be one destination, or elements and their scales, "
                          "got "
                       << count;
  if (!getSfa() || !getSfb())
    return verifyBlockGemm(*this);
  if (failed(verifyProduct(typesOf(*this), emitError)))
    return failure();
  if (getBlockProblem() || getWarpSchedule() || getWgmmaSchedule())
    return emitError() << "gemm_c20: a product of scaled operands must have problem and "
                          "schedule, got "
                       << (getBlockProblem()   ? "block_problem"
                           : getWarpSchedule() ? "warp_schedule"
                                               : "wgmma_schedule");
  if (getContract())
    return emitError() << "gemm_c25: only a product of blocks must have a contract, got "
                       << name(getContract().getValue());
  ProblemAttr problem = getLogicalProblem();
  if (failed(verifyConstantGlobal(getGlobal(), "gemm_c31", "global", /*isInverse=*/false,
                                  emitError)) ||
      failed(verifyConstantGlobal(getNormConst(), "gemm_c31", "norm_const", /*isInverse=*/true,
                                  emitError)))
    return failure();
  for (auto [what, nibbles, format] : {std::tuple("nibbles_a", getNibblesA(), problem.getA()),
                                       std::tuple("nibbles_b", getNibblesB(), problem.getB())})
    if (nibbles && (getProblem() || facts::info(format).bits != 4))
      return emitError() << "gemm_c12: " << what
                         << " must stand on 4-bit elements of the logical form, got "
                         << (getProblem() ? "packed " : "") << name(format);
  if (!getSchedule())
    return success();
  if (failed(
          verifySizes(problem.getM(), problem.getN(), problem.getK(), /*fewest=*/1, emitError)) ||
      failed(verifyBatches(problem, emitError)) ||
      failed(verifySchedule(problem, getSchedule(), emitError)) ||
      failed(verifyFetchable(problem, getSchedule(), emitError, zeroTailsOf(*this))))
    return failure();
  if (getProblem())
    return verifyTiledScales(problem, "use blockscale.relayout_scales", emitError);
  return success();
}

facts::Activation GemmOp::getFunction() {
  return getActivation() ? getActivation().getValue() : facts::Activation::none;
}

LogicalResult CheckGemmOp::verify() {
  auto emitError = [&] { return this->emitOpError(); };
  if (failed(verifyProduct(typesOf(*this), emitError)))
    return failure();
  ProblemAttr problem = getLogicalProblem();
  if (problem.getPitchA() || problem.getPitchB())
    return emitError() << "gemm_c26: check_gemm must have dense rows, got a pitch";
  return verifySchedule(problem, getSchedule(), emitError);
}

void GemmOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : (*this)->getOpOperands())
    addMemrefEffect(operand,
                    isDpsInit(&operand)
                        ? static_cast<MemoryEffects::Effect *>(MemoryEffects::Write::get())
                        : MemoryEffects::Read::get(),
                    effects);
}

void CheckGemmOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : (*this)->getOpOperands())
    addMemrefEffect(operand, MemoryEffects::Read::get(), effects);
  // The report and the exit status.
  effects.emplace_back(MemoryEffects::Write::get());
}
