//===- LayoutsTma.h - what a tiled TMA copy moves where -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Box rows lie in shared memory one after another, dimension 1 fastest; the swizzle
// XORs absolute address bits. The whole box is written, its part outside the
// tensor with the fill. Source: PTX ISA 9.4, 5.5; equal to an H200 on 36,864 points.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_LAYOUTSTMA_H
#define BLOCKSCALE_FACTS_LAYOUTSTMA_H

#include "blockscale/Facts/Swizzle.h"

#include <cstdint>

namespace blockscale::facts {

/// Elements that a box moves along a dimension; the stride of dimension 0 is ignored.
constexpr int64_t tmaBoxCount(int dimension, int64_t box, int64_t elementStride) {
  return dimension == 0 ? box : (box + elementStride - 1) / elementStride;
}

/// Distance of two box rows in shared memory: a swizzled row takes the whole span.
constexpr int64_t tmaRowPitch(int64_t rowBytes, Swizzle swizzle) {
  return swizzle == Swizzle::none ? rowBytes : info(swizzle).span;
}

/// Shared address of byte `byteInRow` of box row `row`, rows counted with dimension 1
/// fastest; `destination` is the absolute address that the copy names.
constexpr uint32_t tmaSharedAddress(int64_t row, int64_t byteInRow, int64_t rowBytes,
                                    Swizzle swizzle, uint32_t destination) {
  return swizzleAddress(destination + uint32_t(row * tmaRowPitch(rowBytes, swizzle) + byteInRow),
                        swizzle);
}

/// Tensor coordinate that index `index` of a box reads.
constexpr int64_t tmaCoordinate(int dimension, int64_t start, int64_t index,
                                int64_t elementStride) {
  return start + index * (dimension == 0 ? 1 : elementStride);
}

/// Whether a coordinate lies outside the tensor.
constexpr bool tmaIsOutside(int64_t coordinate, int64_t size) {
  return coordinate < 0 || coordinate >= size;
}

/// Bytes that a load adds to its mbarrier: the whole box, padding of the ALIGN16B
/// types not counted. Rows of gather4 are four.
constexpr int64_t tmaTransactionBytes(TmaType type, int64_t box0, int64_t rows) {
  return rows * tmaGlobalRowBytes(type, box0);
}

/// Coordinate 0 times the element size must be a multiple of this (H200).
constexpr bool tmaStartIsAligned(TmaType type, int64_t coordinate0) {
  return coordinate0 * info(type).bits % (int64_t(kTmaRowStep) * 8) == 0;
}

inline constexpr int kTmaGather4Rows = 4;

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_LAYOUTSTMA_H
