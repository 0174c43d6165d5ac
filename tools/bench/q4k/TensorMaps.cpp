//===- TensorMaps.cpp - maps of weights and activations -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <cuda.h>

namespace blockscale::q4k {

namespace {

constexpr unsigned kPart = 64; // of the depth: 128 bytes of activations

/// The driver's cuTensorMapEncodeTiled, found at run time.
cudaError_t encode(EncodedMap &map, CUtensorMapDataType type, const void *data, uint64_t width,
                   uint64_t height, uint64_t pitch, unsigned boxWidth, unsigned boxHeight,
                   CUtensorMapSwizzle swizzle) {
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult result;
  if (cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                                            cudaEnableDefault, &result))
    return status;
  const cuuint64_t sizes[2] = {width, height}, strides[1] = {pitch};
  const cuuint32_t box[2] = {boxWidth, boxHeight}, steps[2] = {1, 1};
  auto function = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  static_assert(sizeof(EncodedMap) == sizeof(CUtensorMap));
  return function(reinterpret_cast<CUtensorMap *>(&map), type, 2, const_cast<void *>(data), sizes,
                  strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
             ? cudaErrorInvalidValue
             : cudaSuccess;
}

} // namespace

cudaError_t encodeTokens(EncodedMap &map, const __half *activations, Shape shape, int columns) {
  return encode(map, CU_TENSOR_MAP_DATA_TYPE_UINT16, activations, shape.depth, shape.tokens,
                shape.depth * 2, kPart, columns, CU_TENSOR_MAP_SWIZZLE_128B);
}

cudaError_t encodeBlocks(EncodedMap &map, const WeightBlock *weights, Shape shape, int rows) {
  uint64_t pitch = shape.blocksPerRow() * sizeof(WeightBlock);
  return encode(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, weights, pitch, shape.rows, pitch,
                sizeof(WeightBlock), rows, CU_TENSOR_MAP_SWIZZLE_NONE);
}

} // namespace blockscale::q4k
