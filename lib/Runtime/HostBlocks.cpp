//===- HostBlocks.cpp - elements and scales in host memory ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBlocks.h"

#include "Device.h"

namespace blockscale::rt {

int64_t scaleBytes(facts::ScaleLayout layout, int64_t rows, int64_t scalesPerRow) {
  return layout == facts::ScaleLayout::tiled ? facts::scaleTileBytes(rows, scalesPerRow)
                                             : rows * scalesPerRow;
}

int64_t scaleOffset(facts::ScaleLayout layout, int64_t row, int64_t index, int64_t scalesPerRow) {
  return layout == facts::ScaleLayout::tiled ? facts::scaleTileOffset(row, index, scalesPerRow)
                                             : row * scalesPerRow + index;
}

int64_t Blocks::scaleBytes() const { return rt::scaleBytes(layout, rows, scalesPerRow()); }

int64_t Blocks::scaleOffset(int64_t row, int64_t index) const {
  return rt::scaleOffset(layout, row, index, scalesPerRow());
}

Result<facts::ScaleLayout> checkLayout(int32_t code) {
  if (code == int32_t(facts::ScaleLayout::linear) || code == int32_t(facts::ScaleLayout::tiled))
    return facts::ScaleLayout(code);
  return Refusal{"host: layout of scales must be 0 or 1, got " + std::to_string(code)};
}

Result<Blocks> Blocks::check(const bsrt_blocks &blocks) {
  Result<facts::Format> element =
      checkCode<facts::Format>(blocks.element, facts::kFormats, "elements");
  if (!element)
    return element.takeRefusal();
  if (facts::info(*element).bits > 8)
    return Refusal{"host: elements must have at most 8 bits, got " + std::string(name(*element))};
  Result<facts::ScaleFormat> scale =
      checkCode<facts::ScaleFormat>(blocks.scale, facts::kScaleFormats, "scales");
  if (!scale)
    return scale.takeRefusal();
  Result<facts::ScaleLayout> layout = checkLayout(blocks.layout);
  if (!layout)
    return layout.takeRefusal();
  if (blocks.block != 16 && blocks.block != 32)
    return Refusal{"host: block must be 16 or 32, got " + std::to_string(blocks.block)};
  if (blocks.rows < 0 || blocks.cols < 0 || blocks.cols % blocks.block != 0)
    return Refusal{"host: columns must be a multiple of the block of " +
                   std::to_string(blocks.block) + ", got " + std::to_string(blocks.cols)};
  return Blocks{blocks.rows, blocks.cols, blocks.block, *element, *scale, *layout};
}

} // namespace blockscale::rt

bsrt_status bsrt_host_block_sizes(const bsrt_blocks *blocks, int64_t *elements, int64_t *scales) {
  using namespace blockscale::rt;
  Result<Blocks> checked = Blocks::check(*blocks);
  if (!checked)
    return refuse(checked.message());
  *elements = checked->elementBytes();
  *scales = checked->scaleBytes();
  return BSRT_OK;
}
