//===- HostTiles.cpp - chunks of activations become tiles -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of Facts/ActivationTile.h, written plainly: byte by byte, so that kernels
// that write it are compared with this.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "HostBlocks.h"

#include "blockscale/Facts/ActivationTile.h"

#include <cstring>

namespace blockscale::rt {
namespace {

using facts::BlockFormat;

template <typename T> T load(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename T> void store(uint8_t *to, T value) { std::memcpy(to, &value, sizeof value); }

/// Chunk `chunk` of token `token` of a tile.
void storeChunk(BlockFormat format, const uint8_t *from, int token, int chunk, uint8_t *tile) {
  const facts::BlockFormatInfo &source = facts::info(BlockFormat::q8_1_chunk);
  for (int i = 0; i < facts::kChunkElements; ++i)
    tile[facts::tileValueOffset(token, chunk * facts::kChunkElements + i)] =
        from[source.elementOffset + i];
  float d = emu::decodeF16(load<uint16_t>(from));
  float sum = d * float(load<int32_t>(from + facts::kChunkSumOffset));
  store(tile + facts::tileScaleOffset(token, chunk), d);
  if (format == BlockFormat::q8_1_tile) {
    store(tile + facts::tileSumOffset(token, chunk), sum);
    return;
  }
  auto parts = facts::splitSum(sum);
  for (int part = 0; part < facts::kSumParts; ++part)
    store(tile + facts::tilePartOffset(token, chunk, part), parts[size_t(part)]);
}

/// A block of ggml's q8_1 as a chunk: its own d and elements, and their sum.
void widenBlock(const uint8_t *from, uint8_t *chunk) {
  const facts::BlockFormatInfo &source = facts::info(BlockFormat::q8_1);
  const facts::BlockFormatInfo &target = facts::info(BlockFormat::q8_1_chunk);
  int32_t sum = 0;
  for (int i = 0; i < facts::kChunkElements; ++i)
    sum += int8_t(from[source.elementOffset + i]);
  std::memcpy(chunk, from, sizeof(uint16_t));
  std::memcpy(chunk + target.elementOffset, from + source.elementOffset, facts::kChunkElements);
  store(chunk + facts::kChunkSumOffset, sum);
}

} // namespace
} // namespace blockscale::rt

using namespace blockscale;
using namespace blockscale::rt;

bsrt_status bsrt_host_transpose_chunks(int64_t tokens, int64_t k, int32_t format,
                                       const uint8_t *chunks, uint8_t *tiles) {
  Result<BlockFormat> to = checkCode<BlockFormat>(format, facts::kBlockFormats, "tiles");
  if (!to)
    return refuse(to.message());
  if (!isTile(*to) && *to != BlockFormat::q8_1_chunk)
    return refuse("host: chunks must be made q8_1_chunk, q8_1_tile or q8_1_tile_parts, got " +
                  std::string(name(*to)));
  if (tokens < 0 || k < 0 || k % facts::kTileElements)
    return refuse("host: k of tiles must be a multiple of " + std::to_string(facts::kTileElements) +
                  ", got " + std::to_string(k));
  std::memset(tiles, 0, size_t(facts::matrixBytes(*to, tokens, k)));
  if (*to == BlockFormat::q8_1_chunk) {
    for (int64_t i = 0; i < tokens * k / facts::kChunkElements; ++i)
      widenBlock(chunks + i * facts::info(BlockFormat::q8_1).bytes,
                 tiles + i * facts::info(*to).bytes);
    return BSRT_OK;
  }
  int64_t tilesPerRow = k / facts::kTileElements, bytes = facts::info(*to).bytes;
  int64_t chunkBytes = facts::info(BlockFormat::q8_1_chunk).bytes;
  for (int64_t token = 0; token < tokens; ++token)
    for (int64_t index = 0; index < tilesPerRow * facts::kTileChunks; ++index) {
      uint8_t *tile =
          tiles + (token / facts::kTileTokens * tilesPerRow + index / facts::kTileChunks) * bytes;
      storeChunk(*to, chunks + (token * tilesPerRow * facts::kTileChunks + index) * chunkBytes,
                 int(token % facts::kTileTokens), int(index % facts::kTileChunks), tile);
    }
  return BSRT_OK;
}
