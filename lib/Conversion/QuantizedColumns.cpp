//===- QuantizedColumns.cpp - columns of D as elements and scales ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane of the epilogue has consecutive columns of one row of D, so that its blocks are its
// own: no lane asks another for its largest magnitude. Scales and elements come from the
// sequences of the kernels that quantise, and have their bits.
//
//===----------------------------------------------------------------------===//

#include "QuantizedColumns.h"

#include "QuantizeEncode.h"

#include "blockscale/Facts/ScaleTile.h"

using namespace mlir;
using namespace blockscale;

static int64_t bitsOf(int64_t value) { return llvm::Log2_64(uint64_t(value)); }

/// NaN where one of the values is.
static Value largestMagnitude(WarpEmitter &e, ArrayRef<Value> values) {
  SmallVector<Value> left;
  for (Value value : values)
    left.push_back(e.absf(value));
  for (; left.size() > 1; left.resize(left.size() / 2))
    for (size_t i = 0; i < left.size() / 2; ++i)
      left[i] = e.maxf(left[i], left[i + left.size() / 2]);
  return left.front();
}

QuantizedColumns blockscale::quantizeColumns(OpBuilder &builder, Location loc,
                                             ScheduleAttr schedule, BlockedAttr d,
                                             ValueRange values, Value global) {
  WarpEmitter e(builder, loc);
  QuantizeSequence sequence = schedule.getQuantizer().getValue();
  constexpr size_t kFour = 4;
  int64_t fourBits = int64_t(kFour) * facts::info(d.getElement()).bits;
  Value prescale = global ? prescaleOf(builder, loc, global) : Value();
  QuantizedColumns quantized;
  PackedBits packed;
  for (size_t first = 0; first < values.size(); first += size_t(d.getBlock())) {
    SmallVector<Value> block(values.slice(first, size_t(d.getBlock())));
    Value byte = encodeScale(e, sequence, d, largestMagnitude(e, block), global);
    Value scale;
    if (sequence == QuantizeSequence::remainder) {
      Value divisor = scaleDivisor(e, d.getScale(), byte, global, prescale);
      Value negated = e.select(e.isZero(divisor), e.f32(-0.0f), e.divf(e.f32(-1), divisor));
      for (Value &value : block)
        value = divideByBlock(e, value, divisor, negated, prescale);
    } else {
      scale = sequence == QuantizeSequence::scaled ? byte : scaleFactor(e, sequence, byte);
    }
    for (ArrayRef<Value> rest = block; !rest.empty(); rest = rest.drop_front(kFour)) {
      Value word =
          encodeElements(e, schedule.getArch(), d.getElement(), rest.take_front(kFour), scale);
      packed = concat(e, packed, {{word}, fourBits});
    }
    quantized.scales.push_back(byte);
  }
  quantized.words = packed.words;
  return quantized;
}

/// Rows of D end on whole blocks, so that a block starts on a multiple of its bytes; those of 6
/// bits are 24.
static int64_t wordsAtOnce(int64_t blockBytes) {
  constexpr int64_t kWord = 4;
  return blockBytes % (4 * kWord) == 0 ? 4 : 2;
}

void blockscale::storeColumns(OpBuilder &builder, Location loc, BlockedAttr d, Value buffer,
                              PlaceInD at, ValueRange words) {
  WarpEmitter e(builder, loc);
  constexpr int64_t kBitsOfWord = 32, kBitsOfByte = 8;
  int64_t bits = facts::info(d.getElement()).bits, block = d.getBlock();
  int64_t blockBytes = facts::packedBytes(d.getElement(), block);
  int64_t count = int64_t(words.size()) * kBitsOfWord / bits;
  // Blocks that lie in the matrix together are stored together.
  int64_t step = d.getK() % count == 0 ? count : block;
  int64_t atOnce = wordsAtOnce(step / block * blockBytes), stepWords = step * bits / kBitsOfWord;
  Value address = BufferAddressOp::create(builder, loc, buffer);
  address = e.add(address, e.mulWide(at.row, facts::packedBytes(d.getElement(), d.getK())));
  address = e.add(address, e.shr(e.mulWide(at.column, bits), bitsOf(kBitsOfByte)));
  e.ifThen(e.below(at.row, d.getRows()), [&] {
    for (int64_t first = 0; first < count; first += step)
      e.ifThen(e.below(e.add(at.column, first), d.getK()), [&] {
        for (int64_t word = 0; word < stepWords; word += atOnce) {
          int64_t from = first * bits / kBitsOfWord + word;
          SmallVector<Value> piece(words.slice(size_t(from), size_t(atOnce)));
          e.storeGlobal(e.add(address, from * kBitsOfWord / kBitsOfByte), piece);
        }
      });
  });
}

/// Bytes of words, first in the low byte.
static Value joinBytes(WarpEmitter &e, ArrayRef<Value> bytes) {
  Value word = bytes.front();
  for (auto [i, byte] : llvm::enumerate(bytes.drop_front()))
    word = e.ori(word, e.shl(byte, 8 * (int64_t(i) + 1)));
  return word;
}

static void storeBytes(WarpEmitter &e, Value address, Value word, int64_t bytes) {
  if (bytes == 4)
    e.storeGlobal(address, word);
  else
    e.storeGlobalNarrow(address, word, bytes);
}

/// Row-major, where blocks lie inside.
static void storeLinear(WarpEmitter &e, BlockedAttr d, Value address, PlaceInD at, Value column,
                        ArrayRef<Value> scales) {
  int64_t columns = d.getK() / d.getBlock(), count = int64_t(scales.size());
  address = e.add(address, e.add(e.mulWide(at.row, columns), e.wide(column)));
  int64_t step = columns % count == 0 ? count : 1;
  e.ifThen(e.below(at.row, d.getRows()), [&] {
    for (int64_t i = 0; i < count; i += step)
      e.ifThen(e.below(e.add(column, i), columns), [&] {
        storeBytes(e, e.add(address, i), joinBytes(e, scales.slice(size_t(i), size_t(step))), step);
      });
  });
}

/// facts::scaleTileOffset of values; in a tile of scales a row's are a word.
static Value tiledOffset(WarpEmitter &e, BlockedAttr d, Value row, Value column) {
  int64_t tilesPerRow = facts::scaleTileKBlocks(d.getK() / d.getBlock());
  Value tile = e.add(e.mul(e.shr(row, bitsOf(facts::kScaleTileRows)), tilesPerRow),
                     e.shr(column, bitsOf(facts::kScaleTileScales)));
  Value inTile = e.shl(e.andi(row, 31), 4);
  inTile = e.ori(inTile, e.shl(e.andi(e.shr(row, 5), 3), 2));
  inTile = e.ori(inTile, e.andi(column, facts::kScaleTileScales - 1));
  return e.add(e.mulWide(tile, facts::kScaleTileBytes), e.wide(inTile));
}

/// In tiles of scales, padding too.
static void storeTiled(WarpEmitter &e, BlockedAttr d, Value start, PlaceInD at, Value column,
                       ArrayRef<Value> scales, CoveredColumns covered) {
  int64_t columns = d.getK() / d.getBlock(), count = int64_t(scales.size());
  int64_t paddedColumns = facts::scaleTileKBlocks(columns) * facts::kScaleTileScales;
  int64_t paddedRows = facts::scaleTileRowBlocks(d.getRows()) * facts::kScaleTileRows;
  Value isRow = e.below(at.row, d.getRows()), zero = e.i32(0);
  bool isWhole = columns % count == 0; // all of them are inside, or none
  SmallVector<Value> masked(scales);
  if (!isWhole)
    for (auto [i, scale] : llvm::enumerate(masked))
      scale = e.select(e.below(e.add(column, int64_t(i)), columns), scale, zero);
  Value word = joinBytes(e, masked);
  word = e.select(isWhole ? e.both(isRow, e.below(column, columns)) : isRow, word, zero);
  e.ifThen(e.both(e.below(at.row, paddedRows), e.below(column, paddedColumns)),
           [&] { storeBytes(e, e.add(start, tiledOffset(e, d, at.row, column)), word, count); });
  int64_t end = covered.count / d.getBlock();
  if (!covered.isLast || end >= paddedColumns)
    return;
  e.ifThen(e.both(covered.isLast, e.below(at.row, paddedRows)), [&] {
    for (int64_t i = end; i < paddedColumns; ++i)
      e.storeGlobalNarrow(e.add(start, tiledOffset(e, d, at.row, e.i32(i))), zero, /*bytes=*/1);
  });
}

void blockscale::storeColumnScales(OpBuilder &builder, Location loc, BlockedAttr d, Value buffer,
                                   PlaceInD at, ValueRange scales, CoveredColumns covered) {
  WarpEmitter e(builder, loc);
  Value start = BufferAddressOp::create(builder, loc, buffer);
  Value column = e.shr(at.column, bitsOf(d.getBlock()));
  SmallVector<Value> bytes(scales);
  if (d.getLayout() == facts::ScaleLayout::linear)
    storeLinear(e, d, start, at, column, bytes);
  else
    storeTiled(e, d, start, at, column, bytes, covered);
}
