//===- TensorMapCode.h - the 128 bytes of a tensor map --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_TENSORMAPCODE_H
#define BLOCKSCALE_LIB_EMULATOR_TENSORMAPCODE_H

#include "blockscale/Emulator/Emulator.h"
#include "blockscale/Facts/Swizzle.h"
#include "blockscale/Facts/TensorMap.h"

namespace blockscale::emu {

struct TensorMapImage {
  static constexpr uint32_t kMark = 0xB10C5CA1;
  static constexpr uint8_t kSwizzle96 = 7; // no code of the driver's: tensormap.replace only
  uint32_t mark = 0;
  uint8_t rank = 0, type = 0, swizzle = 0, fill = 0;
  uint64_t address = 0;
  uint64_t strides[4] = {};
  uint32_t dims[5] = {}; // minus one
  uint16_t box[5] = {};
  uint8_t elementStrides[5] = {};
  uint8_t l2 = 0;
};
inline facts::Swizzle swizzleOf(const TensorMapImage &image) {
  return image.swizzle == TensorMapImage::kSwizzle96
             ? facts::Swizzle::b96
             : facts::swizzleOf(facts::TmaSwizzle(image.swizzle));
}

/// Empty when a map with these fields may be used on the chip: a kernel may have changed
/// them, or may run on another chip than they were made for.
std::string checkImage(facts::Arch arch, const TensorMapImage &image);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_TENSORMAPCODE_H
