//===- GemmOutput.cpp - rules of what a product's result is ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmOutput.h"

#include "ProblemOpRules.h"

using namespace mlir;
using namespace blockscale;
using facts::Format;

QuantizedAttr blockscale::quantizedOf(const ProductTypes &types, int64_t columns) {
  ScalesAttr encoding = types.outScales ? getScalesEncoding(types.outScales) : ScalesAttr();
  std::optional<Format> element = getFormat(cast<ShapedType>(types.out).getElementType());
  if (!encoding || !element)
    return nullptr;
  ScaleMatrixAttr matrix = getScaleMatrix(types.outScales);
  const facts::QuantizedFormat *format = nullptr;
  if (matrix && matrix.getCols() > 0 && columns % matrix.getCols() == 0)
    format = findQuantized(*element, encoding.getFormat(), columns / matrix.getCols());
  if (!format)
    format = findQuantized(*element, encoding.getFormat());
  return format ? QuantizedAttr::get(types.out.getContext(), format->scale, format->block,
                                     encoding.getLayout())
                : QuantizedAttr();
}

/// gemm_c30 of a problem.
static LogicalResult verifyQuantized(ProblemAttr p, ErrorFn emitError) {
  QuantizedAttr quantized = p.getQuantized();
  if (!quantized)
    return success();
  if (!findQuantized(p.getOut(), quantized.getScale(), quantized.getBlock()))
    return emitError() << "gemm_c30: formats of out must be a combination that is built: "
                       << listQuantized() << ", got " << name(p.getOut()) << " scaled "
                       << name(quantized.getScale()) << " by " << quantized.getBlock();
  if (p.getOutColumns() % quantized.getBlock())
    return emitError() << "gemm_c30: columns of out must be a whole number of scale blocks, got "
                       << p.getOutColumns() << ", and " << p.getOutColumns()
                       << " is not a multiple of " << quantized.getBlock();
  if (p.hasDynamicM())
    return emitError() << "gemm_c30: m must be static where out is quantised, got ?";
  return success();
}

/// gemm_c32 of a problem.
static LogicalResult verifyGate(ProblemAttr p, ErrorFn emitError) {
  if (!p.getGate() || p.getN() % (2 * kGateInterleave) == 0)
    return success();
  return emitError() << "gemm_c32: n must be a multiple of " << 2 * kGateInterleave
                     << " with a gate, got " << p.getN();
}

LogicalResult blockscale::verifyOutput(ProblemAttr problem, ErrorFn emitError) {
  return success(succeeded(verifyQuantized(problem, emitError)) &&
                 succeeded(verifyGate(problem, emitError)));
}

LogicalResult blockscale::verifyFactors(const ProductTypes &types, ProblemAttr p,
                                        ErrorFn emitError) {
  bool wants = p.getQuantized() && facts::hasGlobalScale(p.getQuantized().getScale());
  int have = bool(types.global) + bool(types.normConst);
  if (have != wants)
    return emitError() << "gemm_c31: one of global and norm_const must be "
                       << (wants ? "given for scales of ue4m3" : "absent but for scales of ue4m3")
                       << ", got "
                       << (have == 2 ? "both"
                           : have    ? "one"
                                     : "none");
  if (p.getGate() && types.activation)
    return emitError() << "gemm_c32: a gate must stand without an activation, got "
                       << name(types.activation.getValue());
  if (types.packed && types.gate)
    return emitError() << "gemm_c32: gate must stand in the logical form, got one beside problem";
  if (types.alphaRows && p.hasDynamicM())
    return emitError() << "gemm_c33: m must be static where there is alpha_rows, got ?";
  for (auto [what, type, extent] : {std::tuple("alpha_rows", types.alphaRows, p.getM()),
                                    std::tuple("alpha_columns", types.alphaColumns, p.getN())})
    if (type && cast<ShapedType>(type).getDimSize(0) != extent)
      return emitError() << "gemm_c33: " << what << " must have " << extent << " elements, got "
                         << cast<ShapedType>(type).getDimSize(0);
  return success();
}

LogicalResult blockscale::verifyOutScales(const ProductTypes &types, int64_t m, int64_t columns,
                                          ErrorFn emitError) {
  auto out = cast<ShapedType>(types.out);
  std::optional<Format> element = getElementFormat(types.out);
  bool isNarrowOut = !element || facts::info(*element).bits < 16;
  if (isNarrowOut != bool(types.outScales))
    return emitError() << "gemm_c30: out must be "
                       << (isNarrowOut ? "wide, or narrow elements and their scales"
                                       : "narrow where its scales are given")
                       << ", got " << out;
  if (!types.outScales)
    return success();
  auto scales = dyn_cast<RankedTensorType>(types.outScales);
  auto encoding = scales ? dyn_cast_or_null<ScalesAttr>(scales.getEncoding()) : ScalesAttr();
  if (!encoding || !scales.getElementType().isInteger(8))
    return emitError() << "gemm_c30: scales of out must be i8 with an encoding "
                          "#blockscale.scales<format, layout>, got "
                       << types.outScales;
  QuantizedAttr quantized = quantizedOf(types, columns);
  if (!element || !quantized)
    return emitError() << "gemm_c30: formats of out must be a combination that is built: "
                       << listQuantized() << ", got " << out << " scaled " << scales;
  if (columns % quantized.getBlock() == 0 && scales.getRank() == 2 && scales.getDimSize(0) == m &&
      scales.getDimSize(1) * quantized.getBlock() == columns)
    return success();
  return emitError() << "gemm_c30: scales of out must be " << extentText(m) << " rows of "
                     << columns << " / " << quantized.getBlock() << ", got " << shapeOf(scales);
}
