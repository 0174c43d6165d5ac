//===- GemmBatch.cpp - rules of a batch of products -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmBatch.h"

using namespace mlir;
using namespace blockscale;

static Type matrixOf(Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  return tensor && tensor.getRank() == 3
             ? RankedTensorType::get(tensor.getShape().drop_front(), tensor.getElementType(),
                                     tensor.getEncoding())
             : type;
}

bool blockscale::areBatches(const ProductTypes &types) {
  auto out = dyn_cast<RankedTensorType>(types.out);
  return !types.packed && out && out.getRank() == 3;
}

ProductTypes blockscale::matricesOf(ProductTypes types) {
  for (Type *type : {&types.a, &types.sfa, &types.b, &types.sfb, &types.c, &types.out})
    *type = matrixOf(*type);
  return types;
}

LogicalResult blockscale::verifyBatches(ProblemAttr p, ErrorFn emitError) {
  if (p.getBatches() < 1 || p.getBatches() > kMaxExtent)
    return emitError() << "gemm_c34: batches must be 1 .. " << kMaxExtent << ", got "
                       << p.getBatches();
  if (!p.isBatch() && p.getSharedB())
    return emitError() << "gemm_c34: shared_b must stand in a batch, got one product";
  if (p.isBatch() && (p.getQuantized() || p.getPitchA() || p.getPitchB()))
    return emitError() << "gemm_c34: a batch must have wide results and dense rows, got "
                       << (p.getQuantized() ? "quantised results" : "a pitch");
  return success();
}

LogicalResult blockscale::verifyBatch(const ProductTypes &types, ErrorFn emitError) {
  if (getPitched(types.a) || getPitched(types.b))
    return emitError() << "gemm_c27: a batch must have no pitched rows, got some";
  if (types.outScales || types.alphaRows)
    return emitError() << (types.outScales ? "gemm_c30: out of a batch must be wide, got elements "
                                             "and scales"
                                           : "gemm_c33: a batch must have no alpha_rows, got one");
  int64_t batches = cast<ShapedType>(types.out).getDimSize(0);
  if (isDynamic(batches))
    return emitError() << "gemm_c2: shapes must be static but for m, got " << types.out;
  if (batches == 1 && types.majorA && types.majorA.getValue() == facts::Major::mn &&
      !cast<ShapedType>(types.a).hasStaticShape())
    return emitError() << "gemm_c2: m must be static where a is mn-major in a batch of one, got "
                       << types.a;
  bool isShared = cast<ShapedType>(types.b).getRank() == 2;
  for (auto [what, type, isMatrix] :
       {std::tuple("a", types.a, false), std::tuple("sfa", types.sfa, false),
        std::tuple("b", types.b, isShared), std::tuple("sfb", types.sfb, isShared),
        std::tuple("c", types.c, false), std::tuple("out", types.out, false)}) {
    auto tensor = dyn_cast_or_null<RankedTensorType>(type);
    if (!tensor || (isMatrix && tensor.getRank() == 2))
      continue; // absent, shared, or refused by gemm_c1
    if (isMatrix || tensor.getRank() != 3 || tensor.getDimSize(0) != batches)
      return emitError() << "gemm_c27: " << what << " must be "
                         << (isMatrix ? "a matrix as b is"
                                      : "a batch of " + std::to_string(batches) + " as out is")
                         << ", got " << type;
  }
  return success();
}
