//===- HostBlockGemm.cpp - references for products of ggml's blocks -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract of docs/Q4K.md, written plainly: in f32 as kernels compute it, in f64 as
// it is checked. Sums of a chunk are exact in both.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "HostBlocks.h"
#include "HostCompare.h"

#include "blockscale/Facts/BlockFormat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace blockscale::rt {
namespace {

using facts::BlockFormat;
using facts::Format;

constexpr int64_t kChunk = facts::kChunkElements;

template <typename T> T load(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
float loadHalf(const uint8_t *from) {
  return float(emu::decode(Format::f16, load<uint16_t>(from)));
}

/// One chunk of A.
struct Chunk {
  float d;
  int32_t sum;
  const int8_t *q;

  static Chunk at(const uint8_t *row, int64_t index) {
    const facts::BlockFormatInfo &format = facts::info(BlockFormat::q8_1_chunk);
    const uint8_t *from = row + index * format.bytes;
    return {loadHalf(from), load<int32_t>(from + facts::kChunkSumOffset),
            reinterpret_cast<const int8_t *>(from + format.elementOffset)};
  }
};

/// One sub-block of B: scale and minimum in f32, both exact, and the nibbles as bytes.
struct SubBlock {
  float scale, min;
  uint8_t nibbles[kChunk];

  static SubBlock at(const uint8_t *row, int64_t index) {
    const facts::BlockFormatInfo &format = facts::info(BlockFormat::q4_K);
    const uint8_t *from = row + index / facts::kQ4KSubBlocks * format.bytes;
    int j = int(index % facts::kQ4KSubBlocks);
    facts::Q4KScale pair = facts::q4kScale(from + facts::kQ4KScalesOffset, j);
    SubBlock block;
    block.scale = loadHalf(from) * float(pair.scale);
    block.min = -(loadHalf(from + facts::kQ4KMinOffset) * float(pair.min));
    for (int i = 0; i < kChunk; ++i) {
      facts::NibblePlace place = facts::q4kNibble(int(j * kChunk + i));
      block.nibbles[i] = from[format.elementOffset + place.byte] >> (place.high ? 4 : 0) & 15;
    }
    return block;
  }
};

int32_t dot(const Chunk &chunk, const SubBlock &block) {
  int32_t sum = 0;
  for (int64_t i = 0; i < kChunk; ++i)
    sum += int32_t(chunk.q[i]) * block.nibbles[i];
  return sum;
}

int64_t rowBytes(BlockFormat format, int64_t k) {
  return k / facts::info(format).elements * facts::info(format).bytes;
}

/// `visit(row of A, row of B, chunks of A, sub-blocks of B)` for each element of D.
template <typename Visit> void forEachElement(const bsrt_block_check &check, Visit visit) {
  int64_t chunks = check.k / kChunk, aPitch = rowBytes(BlockFormat::q8_1_chunk, check.k),
          bPitch = rowBytes(BlockFormat::q4_K, check.k);
  std::vector<SubBlock> blocks(static_cast<size_t>(chunks));
  for (int64_t col = 0; col < check.n; ++col) {
    for (int64_t i = 0; i < chunks; ++i)
      blocks[size_t(i)] = SubBlock::at(check.b + col * bPitch, i);
    for (int64_t row = 0; row < check.m; ++row)
      visit(row, col, check.a + row * aPitch, blocks);
  }
}

Result<bool> checkSizes(const bsrt_block_check &check) {
  if (check.m < 0 || check.n < 0 || check.k < 0 || check.k % facts::kQ4KElements)
    return Refusal{"host: k of a product of blocks must be a multiple of " +
                   std::to_string(facts::kQ4KElements) + ", got " + std::to_string(check.k)};
  return true;
}

} // namespace
} // namespace blockscale::rt

using namespace blockscale;
using namespace blockscale::rt;

bsrt_status bsrt_host_block_gemm(const bsrt_block_check *check, float *d) {
  if (Result<bool> legal = checkSizes(*check); !legal)
    return refuse(legal.message());
  forEachElement(
      *check, [&](int64_t row, int64_t col, const uint8_t *a, const std::vector<SubBlock> &blocks) {
        float acc = 0;
        for (size_t i = 0; i < blocks.size(); ++i) {
          Chunk chunk = Chunk::at(a, int64_t(i));
          float scale = chunk.d * blocks[i].scale, sum = chunk.d * float(chunk.sum);
          acc = std::fma(scale, float(dot(chunk, blocks[i])), acc);
          acc = std::fma(sum, blocks[i].min, acc);
        }
        d[row * check->n + col] = acc;
      });
  return BSRT_OK;
}

bsrt_status bsrt_host_check_block_gemm(const bsrt_block_check *check, bsrt_check_result *result) {
  if (Result<bool> legal = checkSizes(*check); !legal)
    return refuse(legal.message());
  *result = {};
  result->row = result->col = -1;
  forEachElement(
      *check, [&](int64_t row, int64_t col, const uint8_t *a, const std::vector<SubBlock> &blocks) {
        double sum = 0, magnitude = 0;
        for (size_t i = 0; i < blocks.size(); ++i) {
          Chunk chunk = Chunk::at(a, int64_t(i));
          double product = double(chunk.d) * blocks[i].scale * dot(chunk, blocks[i]);
          double min = double(chunk.d) * chunk.sum * blocks[i].min;
          sum += product + min;
          magnitude += std::fabs(product) + std::fabs(min);
        }
        // da * sum(q) has at most 24 bits and is exact.
        double bound = (2.0 * double(blocks.size()) + 1) * 0x1p-24 * magnitude * (1 + 0x1p-20);
        compare(check->d[row * check->n + col], {sum, bound}, Format::f32, row, col, *result);
      });
  return BSRT_OK;
}

bsrt_status bsrt_host_quantize_chunks(int64_t rows, int64_t cols, int32_t source,
                                      const void *values, uint8_t *chunks) {
  Result<Format> format = checkCode<Format>(source, facts::kFormats, "values");
  if (!format)
    return refuse(format.message());
  if (facts::info(*format).bits < 16)
    return refuse("host: values to quantise must be f16, bf16 or f32, got " +
                  std::string(name(*format)));
  if (rows < 0 || cols < 0 || cols % kChunk)
    return refuse("host: columns must be a multiple of " + std::to_string(kChunk) + ", got " +
                  std::to_string(cols));
  const facts::BlockFormatInfo &to = facts::info(BlockFormat::q8_1_chunk);
  for (int64_t index = 0; index < rows * (cols / kChunk); ++index, chunks += to.bytes) {
    float x[kChunk], amax = 0;
    bool finite = true;
    for (int64_t i = 0; i < kChunk; ++i) {
      int64_t at = index * kChunk + i;
      x[i] = *format == Format::f32
                 ? static_cast<const float *>(values)[at]
                 : float(emu::decode(*format, static_cast<const uint16_t *>(values)[at]));
      amax = std::fmax(amax, std::fabs(x[i]));
      finite &= std::isfinite(x[i]);
    }
    // Beyond f32 the reciprocal says that all is zero, or nearly so: d as f16 is 0.
    float d = amax / float(facts::kQ8MaxElement), inverse = 1.0f / d;
    if (!std::isfinite(inverse))
      inverse = 0;
    int32_t sum = 0;
    std::memset(chunks, 0, size_t(to.bytes));
    for (int64_t i = 0; i < kChunk; ++i) {
      int32_t q = finite ? int32_t(std::nearbyint(x[i] * inverse)) : 0;
      chunks[to.elementOffset + i] = uint8_t(int8_t(q));
      sum += q;
    }
    uint16_t half = emu::encodeF16(finite ? d : std::numeric_limits<float>::quiet_NaN());
    std::memcpy(chunks, &half, sizeof half);
    std::memcpy(chunks + facts::kChunkSumOffset, &sum, sizeof sum);
  }
  return BSRT_OK;
}
