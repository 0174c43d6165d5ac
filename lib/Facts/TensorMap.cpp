//===- TensorMap.cpp - what the driver refuses to encode ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of cuTensorMapEncodeTiled for tiled maps without interleave, one `if`
// each, in label order. Source: cuda.h of CUDA 13.5; PTX ISA 9.4, 5.5.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/TensorMap.h"
#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/Swizzle.h"

namespace blockscale::facts {
namespace {

using Check = std::optional<Refusal>;

/// tensor_map_c2: lists must have the lengths that the rank asks for.
Check checkRank(const TensorMap &map) {
  size_t rank = map.dims.size();
  if (rank < 1 || rank > size_t(kTmaMaxRank))
    return refuse("tensor_map_c2: rank must be from 1 to ", kTmaMaxRank, ", got ", rank);
  if (map.strides.size() != rank - 1)
    return refuse("tensor_map_c2: number of strides must be rank - 1 = ", rank - 1, ", got ",
                  map.strides.size());
  if (map.box.size() != rank)
    return refuse("tensor_map_c2: number of box sizes must be the rank ", rank, ", got ",
                  map.box.size());
  if (!map.elementStrides.empty() && map.elementStrides.size() != rank)
    return refuse("tensor_map_c2: number of element strides must be the rank ", rank, ", got ",
                  map.elementStrides.size());
  return std::nullopt;
}

/// tensor_map_c3: base address.
Check checkBase(const TensorMap &map) {
  int alignment = info(map.type).alignment;
  if (map.address % uint64_t(alignment))
    return refuse("tensor_map_c3: address of a ", name(map.type), " tensor must be a multiple of ",
                  alignment, " bytes, got ", map.address);
  return std::nullopt;
}

/// tensor_map_c4: sizes.
Check checkDims(const TensorMap &map) {
  for (size_t i = 0; i < map.dims.size(); ++i)
    if (map.dims[i] < 1 || map.dims[i] > kTmaMaxDim)
      return refuse("tensor_map_c4: size of dimension ", i, " must be from 1 to ", kTmaMaxDim,
                    ", got ", map.dims[i]);
  uint64_t step = uint64_t(info(map.type).dimStep);
  if (map.dims[0] % step)
    return refuse("tensor_map_c4: size of dimension 0 of a ", name(map.type),
                  " tensor must be a multiple of ", step, ", got ", map.dims[0]);
  return std::nullopt;
}

/// tensor_map_c5: strides in bytes; 0 and less than a row are accepted.
Check checkStrides(const TensorMap &map) {
  uint64_t step = uint64_t(info(map.type).alignment);
  for (size_t i = 0; i < map.strides.size(); ++i) {
    if (map.strides[i] % step)
      return refuse("tensor_map_c5: stride of dimension ", i + 1, " of a ", name(map.type),
                    " tensor must be a multiple of ", step, " bytes, got ", map.strides[i]);
    if (map.strides[i] >= kTmaStrideLimit)
      return refuse("tensor_map_c5: stride of dimension ", i + 1, " must be below 2^40 bytes, got ",
                    map.strides[i]);
  }
  return std::nullopt;
}

/// tensor_map_c6: box sizes.
Check checkBox(const TensorMap &map) {
  for (size_t i = 0; i < map.box.size(); ++i)
    if (map.box[i] < 1 || map.box[i] > kTmaMaxBox)
      return refuse("tensor_map_c6: box of dimension ", i, " must be from 1 to ", kTmaMaxBox,
                    ", got ", map.box[i]);
  const TmaTypeInfo &type = info(map.type);
  if (type.sharedBytes16 != type.globalBytes16 && map.box[0] != kTmaPaddedBox)
    return refuse("tensor_map_c6: box of dimension 0 of a ", type.bits == 4 ? "u4" : "u6",
                  "_align16 tensor must be ", kTmaPaddedBox, ", got ", map.box[0]);
  if (map.box[0] % uint32_t(type.boxStep))
    return refuse("tensor_map_c6: box of dimension 0 of a ", name(map.type),
                  " tensor must be a multiple of ", type.boxStep, ", got ", map.box[0]);
  int64_t bytes = tmaSharedRowBytes(map.type, map.box[0]);
  if (bytes % kTmaRowStep)
    return refuse("tensor_map_c6: row of the box must be a multiple of ", kTmaRowStep,
                  " bytes, got ", bytes);
  return std::nullopt;
}

/// tensor_map_c7: element strides; the first is ignored.
Check checkElementStrides(const TensorMap &map) {
  for (size_t i = 1; i < map.elementStrides.size(); ++i)
    if (map.elementStrides[i] < 1 || map.elementStrides[i] > kTmaMaxElementStride)
      return refuse("tensor_map_c7: element stride of dimension ", i, " must be from 1 to ",
                    kTmaMaxElementStride, ", got ", map.elementStrides[i]);
  return std::nullopt;
}

/// tensor_map_c8: the swizzle must exist on the chip and for the type, and hold a row.
Check checkSwizzle(Arch arch, const TensorMap &map) {
  bool atom = map.swizzle == TmaSwizzle::b128Atom32 || map.swizzle == TmaSwizzle::b128Atom64 ||
              map.swizzle == TmaSwizzle::b128Atom32Flip8;
  if (atom && !supports(arch, Feature::tmaSwizzleAtoms))
    return refuse("tensor_map_c8: swizzle on ", name(arch),
                  " must be one of none, b32, b64, b128, got ", name(map.swizzle));
  const TmaTypeInfo &type = info(map.type);
  bool padded = type.sharedBytes16 != type.globalBytes16;
  if (padded && (map.swizzle == TmaSwizzle::b32 || map.swizzle == TmaSwizzle::b64 ||
                 map.swizzle == TmaSwizzle::b128Atom32Flip8))
    return refuse("tensor_map_c8: swizzle of a ", name(map.type),
                  " tensor must be one of none, b128, b128_atom32, b128_atom64, got ",
                  name(map.swizzle));
  int64_t bytes = tmaSharedRowBytes(map.type, map.box[0]);
  int span = info(swizzleOf(map.swizzle)).span;
  if (map.swizzle != TmaSwizzle::none && bytes > span)
    return refuse("tensor_map_c8: row of the box with swizzle ", name(map.swizzle),
                  " must be at most ", span, " bytes, got ", bytes);
  return std::nullopt;
}

} // namespace

Result<bool> checkTensorMap(Arch arch, const TensorMap &map) {
  if (!supports(arch, Feature::tma))
    return refuse("tensor_map_c1: target of a tensor map must have TMA, got ", name(arch));
  if (auto r = checkRank(map))
    return *r;
  if (auto r = checkBase(map))
    return *r;
  if (auto r = checkDims(map))
    return *r;
  if (auto r = checkStrides(map))
    return *r;
  if (auto r = checkBox(map))
    return *r;
  if (auto r = checkElementStrides(map))
    return *r;
  if (auto r = checkSwizzle(arch, map))
    return *r;
  if (map.fill == TmaFill::nan && !info(map.type).isFloat)
    return refuse("tensor_map_c9: fill of a ", name(map.type), " tensor must be zero, got nan");
  if (isSubByte(map.type) && !supports(arch, Feature::tmaSubByte))
    return refuse("tensor_map_c10: type on ", name(arch), " must have whole bytes, got ",
                  name(map.type));
  return true;
}

} // namespace blockscale::facts
