//===- TensorMapCode.cpp - the 128 bytes of a tensor map ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The real encoding is the driver's secret; kernels only pass the address on. Ours
// holds the fields in plain order behind a mark.
//
//===----------------------------------------------------------------------===//

#include "TensorMapCode.h"

#include "blockscale/Facts/Features.h"

#include <cstring>

namespace blockscale::emu {

using facts::Refusal;
using facts::Result;

Result<std::vector<uint8_t>> encodeTensorMap(facts::Arch arch, const facts::TensorMap &map) {
  size_t rank = map.dims.size();
  if (auto ok = facts::checkTensorMap(arch, map); !ok)
    return ok.takeRefusal();
  TensorMapImage image;
  image.mark = TensorMapImage::kMark;
  image.rank = uint8_t(rank);
  image.type = uint8_t(map.type);
  image.swizzle = uint8_t(map.swizzle);
  image.fill = uint8_t(map.fill);
  image.address = map.address;
  for (size_t i = 0; i < rank; ++i) {
    image.dims[i] = uint32_t(map.dims[i] - 1); // up to 2^31
    image.box[i] = uint16_t(map.box[i]);
    image.elementStrides[i] = uint8_t(map.elementStrides.empty() ? 1 : map.elementStrides[i]);
    if (i)
      image.strides[i - 1] = map.strides[i - 1];
  }
  image.l2 = uint8_t(map.l2);
  std::vector<uint8_t> bytes(facts::kTmaMapBytes, 0);
  static_assert(sizeof(TensorMapImage) <= facts::kTmaMapBytes);
  std::memcpy(bytes.data(), &image, sizeof image);
  return bytes;
}

std::string checkImage(facts::Arch arch, const TensorMapImage &image) {
  if (image.rank < 1 || image.rank > facts::kTmaMaxRank ||
      image.type >= facts::kTmaTypeNames.size() ||
      (image.swizzle >= facts::kTmaSwizzleNames.size() &&
       image.swizzle != TensorMapImage::kSwizzle96) ||
      image.fill >= facts::kTmaFillNames.size())
    return "tma_map: fields of a tensor map must have a meaning";
  facts::TensorMap map;
  map.type = facts::TmaType(image.type);
  bool is96 = image.swizzle == TensorMapImage::kSwizzle96;
  if (is96 && !facts::supports(arch, facts::Feature::tmaSwizzle96))
    return "tma_map: 96-byte swizzle must have a chip with tma_swizzle_96, got " +
           std::string(facts::name(arch));
  if (is96 && facts::tmaSharedRowBytes(map.type, image.box[0]) > 96)
    return "tma_map: row of the box with 96-byte swizzle must be at most 96 bytes";
  map.swizzle = is96 ? facts::TmaSwizzle::none : facts::TmaSwizzle(image.swizzle);
  map.fill = facts::TmaFill(image.fill);
  map.address = image.address;
  for (unsigned i = 0; i < image.rank; ++i) {
    map.dims.push_back(uint64_t(image.dims[i]) + 1);
    map.box.push_back(image.box[i]);
    map.elementStrides.push_back(image.elementStrides[i]);
    if (i)
      map.strides.push_back(image.strides[i - 1]);
  }
  auto ok = facts::checkTensorMap(arch, map);
  return ok ? std::string() : ok.message();
}

} // namespace blockscale::emu
