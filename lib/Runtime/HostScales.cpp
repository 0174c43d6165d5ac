//===- HostScales.cpp - layouts and encodings of scales, as a reference ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "HostBlocks.h"

#include <bit>
#include <cstdio>
#include <cstring>

using namespace blockscale;
using namespace blockscale::rt;
using facts::ScaleFormat;
using facts::ScaleLayout;

bsrt_status blockscale::rt::refuseSigned(ScaleFormat format, ScaleLayout layout, int64_t rows,
                                         int64_t scalesPerRow, const uint8_t *scales) {
  if (format != ScaleFormat::ue4m3)
    return BSRT_OK;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t index = 0; index < scalesPerRow; ++index)
      if (uint8_t byte = scales[scaleOffset(layout, row, index, scalesPerRow)]; byte & 0x80) {
        char text[120];
        std::snprintf(text, sizeof text,
                      "host: ue4m3 scale [%lld, %lld] must have a zero top bit, got 0x%02x",
                      (long long)row, (long long)index, unsigned(byte));
        return refuse(text);
      }
  return BSRT_OK;
}

bsrt_status bsrt_host_relayout_scales(int32_t scale, int64_t rows, int64_t scales_per_row,
                                      int32_t from_layout, const uint8_t *from, int32_t to_layout,
                                      uint8_t *to) {
  Result<ScaleLayout> source = checkLayout(from_layout);
  if (!source)
    return refuse(source.message());
  Result<ScaleLayout> target = checkLayout(to_layout);
  if (!target)
    return refuse(target.message());
  Result<ScaleFormat> format = checkCode<ScaleFormat>(scale, facts::kScaleFormats, "scales");
  if (!format)
    return refuse(format.message());
  if (bsrt_status status = refuseSigned(*format, *source, rows, scales_per_row, from))
    return status;
  std::memset(to, 0, scaleBytes(*target, rows, scales_per_row));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t index = 0; index < scales_per_row; ++index)
      to[scaleOffset(*target, row, index, scales_per_row)] =
          from[scaleOffset(*source, row, index, scales_per_row)];
  return BSRT_OK;
}

bsrt_status bsrt_host_zero_scale_tail(int64_t rows, int64_t scales_per_row, uint8_t *scales) {
  int64_t paddedRows = facts::scaleTileRowBlocks(rows) * facts::kScaleTileRows;
  int64_t paddedScales = facts::scaleTileKBlocks(scales_per_row) * facts::kScaleTileScales;
  for (int64_t row = 0; row < paddedRows; ++row)
    for (int64_t index = scales_per_row; index < paddedScales; ++index)
      scales[facts::scaleTileOffset(row, index, scales_per_row)] = 0;
  return BSRT_OK;
}

bsrt_status bsrt_host_repitch(int64_t rows, int64_t row_bytes, int64_t from_pitch,
                              const uint8_t *from, int64_t to_pitch, uint8_t *to) {
  for (int64_t row = 0; row < rows; ++row, from += from_pitch, to += to_pitch) {
    std::memcpy(to, from, size_t(row_bytes));
    std::memset(to + row_bytes, 0, size_t(to_pitch - row_bytes));
  }
  return BSRT_OK;
}

bsrt_status bsrt_host_swap_nibbles(int64_t bytes, const uint8_t *from, uint8_t *to) {
  for (int64_t i = 0; i < bytes; ++i)
    to[i] = uint8_t(from[i] << 4 | from[i] >> 4);
  return BSRT_OK;
}

bsrt_status bsrt_host_encode_scales(int64_t rows, int64_t cols, int64_t pitch, const float *from,
                                    bsrt_scale_round round, uint8_t *to) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t col = 0; col < cols; ++col) {
      float value = from[row * pitch + col];
      auto mode = round == BSRT_SCALE_UP ? emu::Round::up : emu::Round::towardZero;
      uint8_t byte = emu::encode(ScaleFormat::ue8m0, value, mode);
      float decoded = emu::decode(ScaleFormat::ue8m0, byte);
      bool isExact = std::bit_cast<uint32_t>(decoded) == std::bit_cast<uint32_t>(value) ||
                     (decoded != decoded && value != value);
      if (round == BSRT_SCALE_EXACT && !isExact) {
        char text[160];
        std::snprintf(text, sizeof text,
                      "host: scale [%lld, %lld] must be a power of two or be given a rounding, "
                      "got %.9g",
                      (long long)row, (long long)col, double(value));
        return refuse(text);
      }
      to[row * cols + col] = byte;
    }
  return BSRT_OK;
}
