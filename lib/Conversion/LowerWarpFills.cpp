//===- LowerWarpFills.cpp - chunks and weights reach shared memory --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bytes of A and B each thread copies, and what it makes of headers and terms.
//
//===----------------------------------------------------------------------===//

#include "WarpKernelLowering.h"

#include "blockscale/Facts/WeightPlane.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Cursors
//===----------------------------------------------------------------------===//

void WarpKernelLowering::lowerCursor(ActivationCursorOp op) {
  int64_t pitch = problem.getARowBytes();
  if (shape.transposed) {
    Value start = BufferAddressOp::create(builder, op.getLoc(), one(op.getBuffer()));
    Value cursor = e.add(start, e.mulWide(one(op.getTile()), pitch));
    values[op.getCursor()] = {shape.ring ? cursor
                                         : e.add(cursor, e.mulWide(thread, facts::kPieceBytes))};
    return;
  }
  Value tile = e.mul(one(op.getTile()), shape.tokens);
  if (shape.stages == 2) {
    Value word = e.andi(thread, 7), group = e.shr(thread, 3);
    Value end = e.sub(one(op.getCount()), e.i32(1));
    Value start = BufferAddressOp::create(builder, op.getLoc(), one(op.getBuffer()));
    Value first = e.mulWide(e.minu(e.add(tile, group), end), pitch);
    Value second = e.mulWide(e.minu(e.add(tile, e.add(group, 32)), end), pitch);
    tokenSteps = {e.sub(second, first)};
    values[op.getCursor()] = {e.add(e.add(start, first), e.mulWide(word, 4))};
    return;
  }
  Value last = e.sub(one(op.getCount()), e.i32(1));
  Value start = BufferAddressOp::create(builder, op.getLoc(), one(op.getBuffer()));
  Value offset;
  tokenSteps.clear();
  for (int64_t first = 0; first < shape.tokens; first += tokensAtOnce()) {
    Value own = e.minu(e.add(tile, e.add(token, first)), last);
    Value at = e.mulWide(own, pitch);
    if (first == 0)
      offset = at;
    else
      tokenSteps.push_back(e.sub(at, offset));
  }
  int64_t unit = 2 * facts::info(problem.getA()).bytes;
  Value inRow = e.mulWide(octetPair, unit);
  values[op.getCursor()] = {e.add(e.add(start, offset), inRow)};
}

void WarpKernelLowering::lowerCursor(WeightCursorOp op) {
  int64_t pitch = blockPitch();
  if (isPlane()) {
    int64_t planes = (problem.getN() + facts::kPlaneRows - 1) / facts::kPlaneRows;
    bool ragged = problem.getN() % shape.rows != 0;
    Value own =
        e.add(e.mul(one(op.getTile()), shape.rows / facts::kPlaneRows), e.mul(warp, shape.strips));
    auto offsetOf = [&](Value plane) {
      return e.mulWide(ragged ? e.minu(plane, e.i32(planes - 1)) : plane, pitch);
    };
    Value start = BufferAddressOp::create(builder, op.getLoc(), one(op.getBuffer()));
    Value offset = offsetOf(own);
    rowSteps.clear();
    for (int64_t strip = 1; strip < shape.strips; ++strip)
      rowSteps.push_back(ragged ? e.sub(offsetOf(e.add(own, strip)), offset)
                                : e.i64(strip * pitch));
    Value first = e.add(e.add(start, offset), e.mulWide(lane, facts::kPieceBytes));
    values[op.getNibbles()] = values[op.getHeader()] = {first};
    return;
  }
  bool ragged = problem.getN() % shape.rows != 0;
  Value tile = e.mul(one(op.getTile()), shape.rows);
  auto rowOffset = [&](Value own) {
    own = e.add(tile, own);
    return e.mulWide(ragged ? e.minu(own, e.i32(problem.getN() - 1)) : own, pitch);
  };
  Value start = BufferAddressOp::create(builder, op.getLoc(), one(op.getBuffer()));
  Value offset = rowOffset(row);
  rowSteps.clear();
  for (int64_t first = rowsAtOnce(); first < rowsOfCopies(); first += rowsAtOnce())
    rowSteps.push_back(ragged ? e.sub(rowOffset(e.add(row, first)), offset) : e.i64(first * pitch));
  Value inRow = e.mulWide(piece, facts::kPieceBytes);
  values[op.getNibbles()] = {e.add(e.add(start, offset), inRow)};
  values[op.getHeader()] = {e.add(start, rowOffset(headerRow))};
}

//===----------------------------------------------------------------------===//
// Chunks of A
//===----------------------------------------------------------------------===//

void WarpKernelLowering::lowerFill(FillActivationsOp op) {
  PlaneAttr plane = planOf(op.getValues()), scales = planOf(op.getScales());
  Value cursor = one(op.getCursor());
  if (shape.transposed)
    return shape.ring ? startTile(cursor, plane) : copyTile(cursor, plane);
  if (shape.stages == 2)
    return fillWords(cursor, plane, scales);
  fillPairs(cursor, plane, scales);
}

facts::TermAccess WarpKernelLowering::termAccess() const {
  return {shape.stages == 2 ? facts::TermFill::words : facts::TermFill::pairs, shape.packed ? 4 : 8,
          int(octetPairs())};
}

/// A token's entry in a plane of terms, in the order that a chunk has there.
Value WarpKernelLowering::termEntry(Value token, Value chunk) {
  facts::TermOrder order = facts::chooseTermOrder(termAccess());
  Value octet = e.shr(token, 3);
  Value entry =
      e.add(e.shl(e.shr(octet, 1), 4), e.add(e.shl(e.andi(token, 7), 1), e.andi(octet, 1)));
  for (int bit = 0, next; bit < facts::TermOrder::kBits; bit = next) {
    int from = order.chunkBit[size_t(bit)];
    next = bit + 1;
    if (from < 0)
      continue;
    while (next < facts::TermOrder::kBits && order.chunkBit[size_t(next)] == from + next - bit)
      ++next;
    Value bits = e.andi(from ? e.shr(chunk, from) : chunk, (1 << (next - bit)) - 1);
    entry = e.xori(entry, bit ? e.shl(bits, bit) : bits);
  }
  return entry;
}

/// One thread copies two chunks of a token, of each block that a pass has.
void WarpKernelLowering::fillPairs(Value cursor, const PlaneAttr &plane, const PlaneAttr &scales) {
  int64_t chunkBytes = shape.tokens * facts::kChunkElements, entry = shape.packed ? 4 : 8;
  Value line = e.shr(token, 2);
  Value place = e.shl(e.xori(e.shl(e.andi(token, 3), 1), e.andi(line, 7)), 4);
  Value at = e.add(e.ori(e.shl(line, 7), place), e.mul(octetPair, 2 * chunkBytes));
  at = e.add(at, startOf(plane));
  Value entries = termEntry(token, e.shl(octetPair, 1));
  Value scaleAt = e.add(e.mul(entries, entry), e.mul(octetPair, 2 * shape.tokens * entry));
  scaleAt = e.add(scaleAt, startOf(scales));

  for (int64_t firstChunk = 0; firstChunk < shape.chunks; firstChunk += chunksOfBlock())
    for (int64_t first = 0; first < shape.tokens; first += tokensAtOnce()) {
      Value from = first == 0 ? cursor : e.add(cursor, tokenSteps[first / tokensAtOnce() - 1]);
      from = e.add(from, firstChunk * facts::info(problem.getA()).bytes);
      Values words;
      for (int64_t i = 0; i < 5; ++i)
        words.append(e.loadGlobal(e.add(from, i * facts::kPieceBytes), 4));
      defer([this, words, at, scaleAt, chunkBytes, entry, first, firstChunk] {
        for (int64_t i = 0; i < 2; ++i) {
          ArrayRef<Value> own = ArrayRef<Value>(words).slice(10 * i, 10);
          int64_t chunk = firstChunk + i;
          int64_t offset = chunk * chunkBytes + first * facts::kChunkElements;
          e.storeShared(e.add(at, offset), own.slice(1, 4));
          e.storeShared(e.add(e.xori(at, facts::kPieceBytes), offset), own.slice(5, 4));
          storeTerms(own.front(), own.back(),
                     e.add(scaleAt, (chunk * shape.tokens + first) * entry));
        }
      });
    }
}

/// Terms of a token's chunk: (f16 d | i16 sum), or d and d * sum as f32.
void WarpKernelLowering::storeTerms(Value half, Value sum, Value to) {
  Value d = e.halfToF32(half);
  Values stored;
  if (shape.packed)
    stored = {e.ori(e.andi(half, 0xFFFF), e.shl(sum, 16))};
  else
    stored = {e.asI32(d), e.asI32(e.mulf(d, e.signedToF32(sum)))};
  e.storeShared(to, stored);
}

/// Eight threads copy a chunk, a word each, and one of them its terms.
void WarpKernelLowering::fillWords(Value cursor, const PlaneAttr &plane, const PlaneAttr &scales) {
  constexpr int64_t kTokensAtOnce = 32;
  int64_t chunkBytes = shape.tokens * facts::kChunkElements, entry = shape.packed ? 4 : 8;
  int64_t chunkInFile = facts::info(problem.getA()).bytes;
  Value word = e.andi(thread, 7), group = e.shr(thread, 3), line = e.shr(group, 2);
  Value unit = e.ori(e.shl(e.andi(group, 3), 1), e.shr(word, 2));
  Value place = e.ori(e.shl(e.xori(unit, e.andi(line, 7)), 4), e.shl(e.andi(word, 3), 2));
  Value at = e.add(e.ori(e.shl(line, 7), place), startOf(plane));
  Value distance = e.mulWide(word, chunkInFile - 4);
  Value entries = termEntry(group, word);
  Value scaleAt = e.add(e.mul(entries, entry), e.mul(word, shape.tokens * entry));
  scaleAt = e.add(scaleAt, startOf(scales));
  for (int64_t first = 0; first < shape.tokens; first += kTokensAtOnce) {
    Value from = first == 0 ? cursor : e.add(cursor, tokenSteps[size_t(first / kTokensAtOnce - 1)]);
    copyAhead([&] {
      for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
        e.copyAsync(e.add(at, chunk * chunkBytes + first * facts::kChunkElements),
                    e.add(from, chunk * chunkInFile + 4), 4);
    });
    Value terms = e.add(from, distance);
    Value half = e.loadGlobal(terms, 1).front();
    Value sum = e.loadGlobal(e.add(terms, chunkInFile - 4), 1).front();
    defer([this, half, sum, scaleAt, entry, first] {
      storeTerms(half, sum, e.add(scaleAt, first * entry));
    });
  }
}

//===----------------------------------------------------------------------===//
// Blocks of B
//===----------------------------------------------------------------------===//

void WarpKernelLowering::lowerFill(FillWeightsOp op) {
  Value nibbles = one(op.getNibbles());
  PlaneAttr plane = planOf(op.getValues());
  if (isPlane())
    return fillPlane(nibbles, plane, planOf(op.getScales()));
  if (shape.raw)
    fillNibbles(nibbles, plane);
  else
    fillBytes(nibbles, plane, op.getPart());
  fillHeaders(one(op.getHeader()), op);
}

/// Pieces as they are, by cp.async.
void WarpKernelLowering::fillNibbles(Value from, const PlaneAttr &plane) {
  Value place = e.shl(e.xori(e.andi(row, 7), piece), 4);
  Value to = e.add(e.ori(e.shl(row, 7), place), startOf(plane));
  int64_t offset = facts::info(problem.getB()).elementOffset;
  copyAhead([&] {
    for (int64_t i = 0; i * rowsAtOnce() < rowsOfCopies(); ++i) {
      Value source = i == 0 ? from : e.add(from, rowSteps[size_t(i - 1)]);
      // Four rows on, the piece's place changes in bit 2.
      Value target = e.xori(to, i * rowsAtOnce() % 8 * facts::kPieceBytes);
      e.copyAsync(e.add(target, i * rowsAtOnce() * facts::kQ4KNibbleBytes), e.add(source, offset));
    }
  });
  if (shape.ring)
    e.commitCopies();
}

/// A warp copies the planes of the rows that it multiplies, in the order in which they are read;
/// terms of one sub-block are together for all rows.
void WarpKernelLowering::fillPlane(Value from, const PlaneAttr &values, const PlaneAttr &scales) {
  constexpr int64_t kAtOnce = 32 * facts::kPieceBytes;
  constexpr int64_t kAtOnceSubBlocks = kAtOnce / facts::kPlaneSubBlockBytes;
  Value first = e.mul(warp, shape.strips);
  Value to = e.add(e.add(e.mul(first, facts::kPlaneNibbleBytes), e.shl(lane, 4)), startOf(values));
  int64_t pitch = shape.rows * 8; // of a sub-block in the plane of terms
  Value terms = e.add(e.mul(first, facts::kPlaneSubBlockBytes),
                      e.add(e.mul(e.shr(lane, 3), pitch), e.shl(e.andi(lane, 7), 4)));
  terms = e.add(terms, startOf(scales));
  copyAhead([&] {
    for (int64_t strip = 0; strip < shape.strips; ++strip) {
      Value source = strip ? e.add(from, rowSteps[size_t(strip - 1)]) : from;
      for (int64_t at = 0; at < facts::kPlaneNibbleBytes; at += kAtOnce)
        e.copyAsync(e.add(to, strip * facts::kPlaneNibbleBytes + at), e.add(source, at));
      for (int64_t i = 0; i * kAtOnce < facts::kPlaneTermBytes; ++i)
        e.copyAsync(e.add(terms, strip * facts::kPlaneSubBlockBytes + i * kAtOnceSubBlocks * pitch),
                    e.add(source, facts::kPlaneNibbleBytes + i * kAtOnce));
    }
  });
  if (shape.ring)
    e.commitCopies();
}

/// Pieces as two chunks of bytes: the low nibbles of one, the high ones of the next. `part` is
/// half a block where a pass has no more, a block where it has several.
void WarpKernelLowering::fillBytes(Value from, const PlaneAttr &plane, int64_t part) {
  Value pair = e.shr(piece, 1), half = e.andi(piece, 1);
  int64_t chunkBytes = shape.rows * facts::kSlotBytes;
  Value slot = slotFactor() ? e.xori(row, e.mul(pair, slotFactor())) : row;
  Value to = e.add(e.mul(slot, facts::kSlotBytes), e.shl(half, 4));
  to = e.add(e.add(to, e.mul(pair, 2 * chunkBytes)), e.add(shared, plane.getOffset()));
  to = e.add(to, blockOf(part) * facts::kQ4KSubBlocks * chunkBytes);
  int64_t offset = facts::info(problem.getB()).elementOffset +
                   blockOf(part) * facts::info(problem.getB()).bytes +
                   (part - blockOf(part)) * facts::kQ4KNibbleBytes / 2;
  for (int64_t i = 0; i * rowsAtOnce() < shape.rows; ++i) {
    Value source = i == 0 ? from : e.add(from, rowSteps[size_t(i - 1)]);
    Values words = e.loadGlobal(e.add(source, offset), 4);
    int64_t rows = i * rowsAtOnce() * facts::kSlotBytes;
    defer([this, words, to, chunkBytes, rows] {
      for (int64_t high = 0; high < 2; ++high) {
        Values bytes;
        for (Value word : words)
          bytes.push_back(e.andi(high ? e.shr(word, 4) : word, 0x0F0F0F0F));
        e.storeShared(e.add(to, high * chunkBytes + rows), bytes);
      }
    });
  }
}

WarpKernelLowering::Header WarpKernelLowering::unpackHeader(ArrayRef<Value> words, int64_t part) {
  Header header;
  auto low = [&] { return std::pair(e.andi(words[1], 0x3F3F3F3F), e.andi(words[2], 0x3F3F3F3F)); };
  auto high = [&] {
    Value sc = e.ori(e.andi(words[3], 0x0F0F0F0F), e.andi(e.shr(words[1], 2), 0x30303030));
    Value min =
        e.ori(e.andi(e.shr(words[3], 4), 0x0F0F0F0F), e.andi(e.shr(words[2], 2), 0x30303030));
    return std::pair(sc, min);
  };
  if (headerHalf) {
    auto [lowScales, lowMins] = low();
    auto [highScales, highMins] = high();
    Value isHigh = e.notZero(headerHalf);
    header.scales = e.select(isHigh, highScales, lowScales);
    header.minima = e.select(isHigh, highMins, lowMins);
  } else {
    std::tie(header.scales, header.minima) = part ? high() : low();
  }
  header.d = e.halfToF32(words[0]);
  header.dmin = e.negf(e.halfToF32(e.shr(words[0], 16)));
  return header;
}

/// Byte `j` of a word, as f32.
static Value byteOf(WarpEmitter &e, Value word, int64_t j) {
  return e.unsignedToF32(e.andi(j ? e.shr(word, 8 * j) : word, 0xFF));
}

/// Pairs d * sc and -(dmin * min).
void WarpKernelLowering::storeTerms(const Header &header, Value to) {
  for (int64_t j = 0; j < 4; ++j)
    e.storeShared(e.add(to, j * shape.rows * 8),
                  {e.asI32(e.mulf(header.d, byteOf(e, header.scales, j))),
                   e.asI32(e.mulf(header.dmin, byteOf(e, header.minima, j)))});
}

/// d * sc; four minima as bf16, which they are exactly; -dmin with the first half.
void WarpKernelLowering::storeSplitTerms(const Header &header, Value scales, Value minima,
                                         Value dmin) {
  for (int64_t j = 0; j < 4; ++j)
    e.storeShared(e.add(scales, j * shape.rows * 4),
                  {e.asI32(e.mulf(header.d, byteOf(e, header.scales, j)))});
  Values pairs;
  for (int64_t j = 0; j < 4; j += 2) {
    Value even = e.asI32(byteOf(e, header.minima, j)),
          odd = e.asI32(byteOf(e, header.minima, j + 1));
    pairs.push_back(e.ori(e.shr(even, 16), odd));
  }
  e.storeShared(minima, pairs);
  auto storeMin = [&] { e.storeShared(dmin, {e.asI32(header.dmin)}); };
  if (headerHalf)
    e.ifThen(e.below(headerHalf, 1), storeMin);
  else if (dmin)
    storeMin();
}

/// Four sub-blocks of one row a thread.
void WarpKernelLowering::fillHeaders(Value from, FillWeightsOp op) {
  Values targets;
  PlaneAttr scales = planOf(op.getScales());
  int64_t block = blockOf(op.getPart());
  from = e.add(from, block * facts::info(problem.getB()).bytes);
  if (shape.splitMinima) {
    // In the order of quads: rows 2 c, 2 c + 1, 2 c + 8, 2 c + 9 side by side.
    Value quad = e.ori(e.shl(e.shr(headerRow, 4), 2), e.andi(e.shr(headerRow, 1), 3));
    Value word = e.ori(e.shl(e.andi(e.shr(headerRow, 3), 1), 1), e.andi(headerRow, 1));
    Value entry = e.shl(e.ori(e.shl(quad, 2), word), 2);
    PlaneAttr minima = planOf(op.getMinima()[0]), dmin = planOf(op.getMinima()[1]);
    targets = {e.add(startOf(scales), entry), e.add(startOf(minima), e.shl(headerRow, 4)),
               e.add(startOf(dmin), entry)};
    if (headerHalf) {
      targets[0] = e.add(targets[0], e.mul(headerHalf, 4 * shape.rows * 4));
      targets[1] = e.add(targets[1], e.shl(headerHalf, 3));
    }
  } else {
    Value to = e.add(e.shl(headerRow, 3), startOf(scales));
    to = e.add(to, block * facts::kQ4KSubBlocks * shape.rows * 8);
    targets = {headerHalf ? e.add(to, e.mul(headerHalf, 4 * shape.rows * 8)) : to};
  }
  // Where a lane has a row's whole header, both halves are its own.
  bool isWhole = !headerHalf && shape.chunks == facts::kQ4KSubBlocks;
  int64_t first = isWhole ? 0 : op.getPart(), last = isWhole ? 1 : first;
  auto copy = [this, from, targets, first, last](bool deferred) {
    Values words = e.loadGlobal(from, 4);
    auto store = [this, words, targets, first, last] {
      for (int64_t part = first; part <= last; ++part) {
        Header header = unpackHeader(words, part);
        int64_t half = part - first, apart = half * 4 * shape.rows;
        if (shape.splitMinima)
          storeSplitTerms(header, e.add(targets[0], apart * 4), e.add(targets[1], half * 8),
                          half ? Value() : targets[2]);
        else
          storeTerms(header, e.add(targets[0], apart * 8));
      }
    };
    if (deferred)
      defer(store);
    else
      store();
  };
  int64_t units = shape.rows * (headerHalf ? 2 : 1);
  if (units < shape.threads)
    e.ifThen(e.below(thread, units), [&] { copy(/*deferred=*/false); });
  else
    copy(/*deferred=*/true);
}
