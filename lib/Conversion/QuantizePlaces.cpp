//===- QuantizePlaces.cpp - where the blocks of a lane lie ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizePlaces.h"

#include "blockscale/Facts/ActivationTile.h"
#include "blockscale/Facts/ScaleTile.h"

using namespace mlir;
using namespace blockscale;

static int64_t bitsOf(int64_t value) { return llvm::Log2_64(uint64_t(value)); }

QuantizePlaces::QuantizePlaces(OpBuilder &builder, WarpEmitter &emitter,
                               QuantizeProblemAttr problem)
    : shape(problem), builder(builder), e(emitter), problem(problem) {
  Value thread = TidXOp::create(builder, e.getLoc());
  lane = e.andi(thread, kLanes - 1);
  warp = e.shr(thread, bitsOf(kLanes));
  laneInBlock = e.andi(lane, shape.lanes - 1);
  blockInStep = e.shr(lane, bitsOf(shape.lanes));
  Value cta = CtaIdXOp::create(builder, e.getLoc());
  if (shape.order != BlockOrder::tiles) {
    Value warpInGrid = e.add(e.mul(cta, kQuantizeThreads / kLanes), warp);
    firstBlock = e.mulWide(warpInGrid, shape.warpBlocks);
    return;
  }
  // Two blocks of threads a tile. Tokens of a warp are 8 apart, so that the four words
  // that they have in a plane of terms stand side by side.
  tile = e.shr(cta, 1);
  int64_t tilesPerRow = problem.getK() / facts::kTileElements;
  tileRow = e.divu(tile, tilesPerRow);
  tileCol = e.sub(tile, e.mul(tileRow, tilesPerRow));
  Value strand = e.andi(blockInStep, kTileTokensOfWarp - 1);
  token = e.add(e.shl(e.andi(cta, 1), 5), e.add(warp, e.shl(strand, 3)));
  ownChunk =
      e.add(e.mul(laneInBlock, chunksOfStep()), e.shr(blockInStep, bitsOf(kTileTokensOfWarp)));
}

Value QuantizePlaces::hasBlocks(Value rows) {
  if (shape.order == BlockOrder::rows)
    return e.below(firstBlock, e.mulWide(rows, shape.blocksPerRow));
  return e.i1(true); // padding is written too
}

//===----------------------------------------------------------------------===//
// BlockOrder::rows and ::scales
//===----------------------------------------------------------------------===//

Value QuantizePlaces::blocksLeft(Value rows) {
  Value all = e.mulWide(rows, shape.blocksPerRow);
  Value left = e.minu(e.sub(all, firstBlock), e.i64(shape.warpBlocks));
  return e.narrow(left);
}

Value QuantizePlaces::stepBlock(int64_t step) {
  return e.add(blockInStep, step * (kLanes / shape.lanes));
}
Value QuantizePlaces::stepBlock(Value step) {
  return e.add(blockInStep, e.mul(step, kLanes / shape.lanes));
}
Value QuantizePlaces::ownBlock(int64_t own) {
  Value step = e.add(laneInBlock, own * shape.lanes);
  return e.add(e.mul(step, kLanes / shape.lanes), blockInStep);
}

QuantizePlaces::RowCol QuantizePlaces::paddedPlace(Value block) {
  Value number = e.add(e.narrow(firstBlock), block);
  Value row = e.divu(number, shape.paddedCols);
  return {row, e.sub(number, e.mul(row, shape.paddedCols))};
}

Value QuantizePlaces::isBlockInside(Value block, Value rows) {
  if (shape.order == BlockOrder::rows)
    return e.below(block, blocksLeft(rows));
  RowCol place = paddedPlace(block);
  return e.both(e.below(place.row, rows), e.below(place.col, shape.blocksPerRow));
}

Value QuantizePlaces::isOwnInside(int64_t own, Value rows) {
  if (shape.order == BlockOrder::tiles)
    return e.below(e.add(e.mul(tileRow, facts::kTileTokens), token), rows);
  return isBlockInside(ownBlock(own), rows);
}

SmallVector<Value> QuantizePlaces::sources(Value source, Value rows) {
  SmallVector<Value> addresses;
  Value start = BufferAddressOp::create(builder, e.getLoc(), source);
  int64_t rowBytes = shape.blocksPerRow * shape.blockBytes;
  switch (shape.order) {
  case BlockOrder::rows: {
    Value last = e.add(e.mul(blocksLeft(rows), shape.blockBytes), -kLaneBytes);
    start = e.add(start, e.mul(firstBlock, shape.blockBytes));
    for (int64_t step = 0; step < shape.steps; ++step) {
      Value offset = e.add(e.mul(lane, kLaneBytes), step * kLanes * kLaneBytes);
      addresses.push_back(e.add(start, e.wide(e.minu(offset, last))));
    }
    break;
  }
  case BlockOrder::tiles: {
    Value row = e.minu(e.add(e.mul(tileRow, facts::kTileTokens), token), e.add(rows, -1));
    start = e.add(start, e.mulWide(row, rowBytes));
    start = e.add(start, e.mulWide(tileCol, facts::kTileChunks * shape.blockBytes));
    Value inTile = e.mul(e.shr(blockInStep, bitsOf(kTileTokensOfWarp)), shape.blockBytes);
    start = e.add(start, e.wide(e.add(inTile, e.mul(laneInBlock, kLaneBytes))));
    for (int64_t step = 0; step < shape.steps; ++step)
      addresses.push_back(e.add(start, step * chunksOfStep() * shape.blockBytes));
    break;
  }
  case BlockOrder::scales:
    for (int64_t step = 0; step < shape.steps; ++step) {
      RowCol place = paddedPlace(stepBlock(step));
      Value row = e.minu(place.row, e.add(rows, -1));
      Value col = e.minu(place.col, e.i32(shape.blocksPerRow - 1));
      Value at = e.add(start, e.mulWide(row, rowBytes));
      at = e.add(at, e.mulWide(col, shape.blockBytes));
      addresses.push_back(e.add(at, e.mulWide(laneInBlock, kLaneBytes)));
    }
    break;
  }
  return addresses;
}

//===----------------------------------------------------------------------===//
// BlockOrder::tiles
//===----------------------------------------------------------------------===//

Value QuantizePlaces::tileStart(Value target) {
  Value start = BufferAddressOp::create(builder, e.getLoc(), target);
  return e.add(start, e.mulWide(tile, facts::info(*problem.getBlockFormat()).bytes));
}

Value QuantizePlaces::tileValueOffset() {
  // PlaneLayout::split_phase: lines of four tokens, pieces XORed with the line.
  Value line = e.shr(token, 2), byte = e.mul(laneInBlock, shape.elements);
  Value piece = e.ori(e.shl(e.andi(token, 3), 1), e.shr(byte, bitsOf(facts::kPieceBytes)));
  piece = e.xori(piece, e.andi(line, 7));
  Value inLine = e.ori(e.shl(piece, 4), e.andi(byte, facts::kPieceBytes - 1));
  Value chunk = e.shr(blockInStep, bitsOf(kTileTokensOfWarp));
  Value offset = e.ori(e.shl(line, 7), inLine);
  return e.add(offset, e.mul(chunk, facts::kTileTokens * facts::kChunkElements));
}

//===----------------------------------------------------------------------===//
// Elements and scales of their own buffers
//===----------------------------------------------------------------------===//

Value QuantizePlaces::elementAt(Value target, Value block, Value lane) {
  int64_t blockBytes = facts::packedBytes(problem.getBlocked().getElement(), shape.block);
  Value start = BufferAddressOp::create(builder, e.getLoc(), target);
  Value inBlock = e.mulWide(lane, blockBytes / shape.lanes);
  if (shape.order == BlockOrder::rows) {
    Value number = e.add(firstBlock, e.wide(block));
    return e.add(e.add(start, e.mul(number, blockBytes)), inBlock);
  }
  RowCol place = paddedPlace(block);
  start = e.add(start, e.mulWide(place.row, shape.blocksPerRow * blockBytes));
  return e.add(e.add(start, e.mulWide(place.col, blockBytes)), inBlock);
}

std::pair<Value, Value> QuantizePlaces::scaleAt(Value target, int64_t own, Value rows) {
  Value start = BufferAddressOp::create(builder, e.getLoc(), target);
  if (shape.order == BlockOrder::rows)
    return {e.add(start, e.add(firstBlock, e.wide(ownBlock(own)))), isOwnInside(own, rows)};
  RowCol place = paddedPlace(ownBlock(own));
  int64_t tilesPerRow = facts::scaleTileKBlocks(shape.blocksPerRow);
  Value tileNumber = e.add(e.mul(e.shr(place.row, bitsOf(facts::kScaleTileRows)), tilesPerRow),
                           e.shr(place.col, bitsOf(facts::kScaleTileScales)));
  Value inTile = e.shl(e.andi(place.row, 31), 4);
  inTile = e.ori(inTile, e.shl(e.andi(e.shr(place.row, 5), 3), 2));
  inTile = e.ori(inTile, e.andi(place.col, facts::kScaleTileScales - 1));
  Value padded =
      e.below(place.row, facts::scaleTileRowBlocks(problem.getRows()) * facts::kScaleTileRows);
  return {e.add(start, e.add(e.mulWide(tileNumber, facts::kScaleTileBytes), e.wide(inTile))),
          padded};
}
