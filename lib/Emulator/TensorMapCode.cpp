//===- TensorMapCode.cpp - the 128 bytes of a tensor map ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The real encoding is the driver's secret; kernels only pass the address on. Ours
// holds the fields in plain order behind a mark.
//
//===----------------------------------------------------------------------===//

#include "TensorMapCode.h"

#include <cstring>

namespace blockscale::emu {

using facts::Refusal;
using facts::Result;

Result<std::vector<uint8_t>> encodeTensorMap(const facts::TensorMap &map) {
  size_t rank = map.dims.size();
  // The widest chip decides here; a launch checks again for its own.
  if (auto ok = facts::checkTensorMap(facts::Arch::sm_107a, map); !ok)
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
  std::vector<uint8_t> bytes(128, 0);
  static_assert(sizeof(TensorMapImage) <= 128);
  std::memcpy(bytes.data(), &image, sizeof image);
  return bytes;
}

} // namespace blockscale::emu
