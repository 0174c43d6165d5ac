//===- HostQuantize.cpp - quantise and dequantise, as a reference ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules are those of docs/Quantization.md, in its order. All arithmetic is
// f32 with IEEE division; each operation rounds where the rule says so.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "HostBlocks.h"

#include <cmath>
#include <cstring>

namespace blockscale::rt {

namespace {

using emu::Overflow;
using emu::Round;
using facts::Format;
using facts::ScaleFormat;

/// Values in their source format, read as f32 (exact).
class Source {
public:
  Source(Format format, const void *values) : format(format), values(values) {}

  float operator[](int64_t i) const {
    if (format == Format::f32)
      return static_cast<const float *>(values)[i];
    return emu::decode(format, static_cast<const uint16_t *>(values)[i]);
  }

private:
  Format format;
  const void *values;
};

/// Largest magnitude of a block; NaN when one of its values is.
float blockAmax(const Source &x, int64_t begin, int64_t count) {
  float amax = 0;
  for (int64_t i = begin; i < begin + count; ++i) {
    if (std::isnan(x[i]))
      return x[i];
    amax = std::max(amax, std::fabs(x[i]));
  }
  return amax;
}

/// Largest finite magnitude of the whole tensor.
float finiteAmax(const Source &x, int64_t count) {
  float amax = 0;
  for (int64_t i = 0; i < count; ++i)
    if (float magnitude = std::fabs(x[i]); std::isfinite(magnitude))
      amax = std::max(amax, magnitude);
  return amax;
}

BlockScale ue8m0Scale(float amax, Format element) {
  float largest = float(facts::info(element).max);
  uint8_t byte = emu::encode(ScaleFormat::ue8m0, amax / largest, Round::up);
  return {byte, emu::decode(ScaleFormat::ue8m0, byte)};
}

/// UE4M3 and UE5M3, the latter with a global scale of 1.
BlockScale nearestScale(ScaleFormat scale, float amax, Format element, float global) {
  float largest = float(facts::info(element).max);
  uint8_t byte = emu::encode(scale, amax / (largest * global), Round::nearestEven);
  return {byte, emu::decode(scale, byte) * global};
}

} // namespace

BlockScale blockScale(const Blocks &blocks, float amax, float global) {
  return blocks.scale == ScaleFormat::ue8m0
             ? ue8m0Scale(amax, blocks.element)
             : nearestScale(blocks.scale, amax, blocks.element, global);
}

namespace {

float computeGlobal(const Source &x, int64_t count, Format element) {
  float largest = float(facts::info(ScaleFormat::ue4m3).max) * float(facts::info(element).max);
  float global = finiteAmax(x, count) / largest;
  return global == 0 ? 1.0f : global; // nothing but zeros, or too small to be divided
}

void quantize(const Blocks &blocks, const Source &x, float global, uint8_t *elements,
              uint8_t *scales) {
  std::memset(scales, 0, blocks.scaleBytes());
  for (int64_t row = 0; row < blocks.rows; ++row)
    for (int64_t index = 0; index < blocks.scalesPerRow(); ++index) {
      int64_t begin = row * blocks.cols + index * blocks.block;
      float amax = blockAmax(x, begin, blocks.block);
      BlockScale scale = blockScale(blocks, amax, global);
      scales[blocks.scaleOffset(row, index)] = scale.byte;
      for (int64_t i = 0; i < blocks.block; ++i) {
        float value = x[begin + i];
        // A divisor of zero stands for a block that is all zeros.
        float quotient = scale.divisor == 0 ? std::copysign(0.0f, value) : value / scale.divisor;
        blocks.storeElement(elements, row, index * blocks.block + i,
                            emu::encode(blocks.element, quotient));
      }
    }
}

} // namespace
} // namespace blockscale::rt

using namespace blockscale;
using namespace blockscale::rt;

bsrt_status bsrt_host_quantize(const bsrt_blocks *blocks, int32_t source, const void *values,
                               uint8_t *elements, uint8_t *scales, bsrt_global mode,
                               float *global) {
  Result<Blocks> checked = Blocks::check(*blocks);
  if (!checked)
    return refuse(checked.message());
  Result<Format> format = checkCode<Format>(source, facts::kFormats, "source values");
  if (!format)
    return refuse(format.message());
  if (facts::info(*format).bits < 16)
    return refuse("host: values to quantise must be f16, bf16 or f32, got " +
                  std::string(name(*format)));
  Source x(*format, values);
  float factor = 1.0f;
  if (checked->scale == ScaleFormat::ue4m3 && global) {
    if (mode == BSRT_GLOBAL_COMPUTE)
      *global = computeGlobal(x, checked->rows * checked->cols, checked->element);
    factor = *global;
    if (!(factor > 0) || std::isinf(factor))
      return refuse("host: global scale must be positive and finite, got " +
                    std::to_string(factor));
  }
  quantize(*checked, x, factor, elements, scales);
  return BSRT_OK;
}

bsrt_status bsrt_host_dequantize(const bsrt_blocks *blocks, const uint8_t *elements,
                                 const uint8_t *scales, float global, float *values) {
  Result<Blocks> checked = Blocks::check(*blocks);
  if (!checked)
    return refuse(checked.message());
  if (bsrt_status status = refuseSigned(checked->scale, checked->layout, checked->rows,
                                        checked->scalesPerRow(), scales))
    return status;
  for (int64_t row = 0; row < checked->rows; ++row)
    for (int64_t col = 0; col < checked->cols; ++col) {
      // At most 4 + 4 + 24 significant bits: exact in double, then one rounding.
      double element = emu::decode(checked->element, checked->loadElement(elements, row, col));
      double scale =
          emu::decode(checked->scale, scales[checked->scaleOffset(row, col / checked->block)]);
      values[row * checked->cols + col] = float(element * scale * double(global));
    }
  return BSRT_OK;
}
