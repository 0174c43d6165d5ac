//===- HostPlanes.cpp - weights get their scales as f32 -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of Facts/WeightPlane.h, written plainly: byte by byte.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "HostBlocks.h"

#include "blockscale/Facts/WeightPlane.h"

#include <cstring>

using namespace blockscale;
using namespace blockscale::rt;
using facts::BlockFormat;

static float loadHalf(const uint8_t *from) {
  uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return emu::decodeF16(bits);
}

/// Row `row` of a plane's block.
static void storeRow(const uint8_t *block, int row, uint8_t *plane) {
  for (int byte = 0; byte < facts::kQ4KNibbleBytes; ++byte)
    plane[facts::planeNibbleOffset(row, byte)] =
        block[facts::info(BlockFormat::q4_K).elementOffset + byte];
  for (int j = 0; j < facts::kQ4KSubBlocks; ++j) {
    facts::Q4KScale pair = facts::q4kScale(block + facts::kQ4KScalesOffset, j);
    float terms[] = {loadHalf(block) * float(pair.scale),
                     -(loadHalf(block + facts::kQ4KMinOffset) * float(pair.min))};
    std::memcpy(plane + facts::planeTermOffset(row, j), terms, sizeof terms);
  }
}

bsrt_status bsrt_host_decode_scales(int64_t rows, int64_t k, const uint8_t *blocks,
                                    uint8_t *planes) {
  if (rows < 0 || k < 0 || k % facts::kQ4KElements)
    return refuse("host: k of planes must be a multiple of " + std::to_string(facts::kQ4KElements) +
                  ", got " + std::to_string(k));
  std::memset(planes, 0, size_t(facts::matrixBytes(BlockFormat::q4_K_plane, rows, k)));
  int64_t perRow = k / facts::kQ4KElements;
  int64_t blockBytes = facts::info(BlockFormat::q4_K).bytes,
          planeBytes = facts::info(BlockFormat::q4_K_plane).bytes;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < perRow; ++i)
      storeRow(blocks + (row * perRow + i) * blockBytes, int(row % facts::kPlaneRows),
               planes + (row / facts::kPlaneRows * perRow + i) * planeBytes);
  return BSRT_OK;
}
