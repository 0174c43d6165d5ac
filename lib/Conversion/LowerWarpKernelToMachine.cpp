//===- LowerWarpKernelToMachine.cpp - level 3 to 4 of mma.sync kernels ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fragment becomes the scalars of one lane. Addresses inside a plane are a base, one
// for each plane and use, and constants; global addresses are carried from pass to
// pass. What a fill loads is stored only in front of the barrier, so that all loads of
// a pass are in flight together.
//
//===----------------------------------------------------------------------===//

#include "SourceLocations.h"
#include "WarpEmitter.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"

#include "llvm/ADT/TypeSwitch.h"

namespace blockscale {
#define GEN_PASS_DEF_BLOCKSCALELOWERWARPKERNELTOMACHINEPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

/// Sums are added to the bits of 1.5 * 2^23, of which they are the low mantissa bits: an
/// f32 subtraction then gives the exact sum, at the full rate that a conversion lacks.
static constexpr int32_t kSumBias = 0x4B400000;
static constexpr float kSumBiasValue = 0x1.8p23f;

namespace {

using Values = SmallVector<Value>;

class WarpKernelLowering {
public:
  explicit WarpKernelLowering(WarpKernelOp kernel)
      : kernel(kernel), problem(kernel.getProblem()), shape(kernel.getSchedule()),
        builder(kernel.getContext()), e(builder, kernel.getLoc()) {}

  void run();

private:
  void computeThread();
  void lowerBlock(Block &block);
  void lower(Operation *op);

  void lowerPlane(SharedPlaneOp op);
  void lowerCursor(ActivationCursorOp op);
  void lowerCursor(WeightCursorOp op);
  void lowerFill(FillActivationsOp op);
  void lowerFill(FillWeightsOp op);
  void fillNibbles(Value from, const PlaneAttr &plane, int64_t part);
  void fillBytes(Value from, const PlaneAttr &plane, int64_t part);
  void fillHeaders(Value from, const PlaneAttr &plane, int64_t part);
  void lowerFilled();
  void lowerMma(MmaS8Op op);
  void lowerRescale(Rank1RescaleOp op);
  void lowerStore(StoreGroupOp op);
  void lowerLoop(scf::ForOp op);
  Values lowerTokenScales(LoadTokenScalesOp op);

  /// The row of B whose piece this lane addresses: matrices are pieces 0 and 1 of the
  /// warp's first 8 rows, then of the others.
  Value matrixRows() {
    Value inWarp = e.ori(e.shl(e.shr(lane, 4), 3), e.andi(lane, 7));
    return e.add(e.shl(rowWarp, 4), inWarp);
  }
  void defer(std::function<void()> store) { pending.push_back({e.getLoc(), std::move(store)}); }
  Value one(Value value) { return values.lookup(value).front(); }
  static PlaneAttr planOf(Value plane) { return plane.getDefiningOp<SharedPlaneOp>().getPlan(); }
  /// Where this lane reads first, in the stage that is read.
  Value baseOf(Value plane) {
    return shape.stages == 1 ? one(plane) : e.add(one(plane), readStage);
  }
  /// Start of a plane in the stage that is filled.
  Value startOf(const PlaneAttr &plane) {
    Value start = e.add(shared, plane.getOffset());
    return shape.stages == 1 ? start : e.add(start, fillStage);
  }
  /// Copies of a fill, where somebody reads it.
  void copyAhead(llvm::function_ref<void()> copies) {
    if (isRead)
      e.ifThen(isRead, copies);
    else
      copies();
  }
  void fillWords(Value cursor, const PlaneAttr &plane, const PlaneAttr &scales);
  int64_t blockPitch() const { return problem.getBRowBytes(); }

  // Units of 80 bytes (two chunks) of A: four octets of lanes have `octetPairs` pairs of
  // chunks of as many tokens.
  int64_t octetPairs() const { return shape.chunks / 2; }
  int64_t tokensAtOnce() const { return 8 * 8 * (4 / octetPairs()); }
  // 16-byte pieces of nibbles: a row of a pass has as many as chunks.
  int64_t rowsAtOnce() const { return kWarpKernelThreads / shape.chunks; }

  WarpKernelOp kernel;
  BlockProblemAttr problem;
  WarpShape shape;
  OpBuilder builder;
  WarpEmitter e;
  llvm::DenseMap<Value, Values> values;
  /// Stores of what fills have loaded, each at the place of its fill.
  SmallVector<std::pair<Location, std::function<void()>>> pending;

  Value thread, lane, warp, shared;
  Value readStage, fillStage;    // distance of the planes that are read and filled
  Value isRead;                  // whether a fill is read: that of the last turn is not
  Value tokenWarp, rowWarp;      // which part of the tile this warp multiplies
  Value octetPair, token;        // first unit of A that this thread copies
  Value piece, row;              // first piece of nibbles
  Value headerRow, headerHalf;   // header; no half where a pass has four chunks
  SmallVector<Value> tokenSteps; // bytes from the first unit to the others
  SmallVector<Value> rowSteps;   // bytes from the first piece to the others
};

void WarpKernelLowering::run() {
  Block &old = kernel.getBody().front();
  Block *entry = builder.createBlock(&kernel.getBody(), kernel.getBody().end());
  for (BlockArgument argument : old.getArguments())
    values[argument] = {entry->addArgument(argument.getType(), argument.getLoc())};
  builder.setInsertionPointToStart(entry);
  computeThread();
  lowerBlock(old);
  old.dropAllDefinedValueUses();
  for (Operation &op : old)
    op.dropAllReferences();
  old.erase();
}

void WarpKernelLowering::computeThread() {
  thread = TidXOp::create(builder, kernel.getLoc());
  lane = e.andi(thread, 31);
  warp = e.shr(thread, 5);
  shared = SharedBaseOp::create(builder, kernel.getLoc());
  if (shape.stages == 2)
    fillStage = e.i32(0);
  rowWarp = shape.tokenWarps == 1 ? warp : e.andi(warp, shape.rowWarps - 1);
  tokenWarp =
      shape.tokenWarps == 1 ? e.i32(0) : e.shr(warp, llvm::Log2_64(uint64_t(shape.rowWarps)));

  Value octet = e.shr(lane, 3);
  octetPair = octetPairs() == 4 ? octet : e.andi(octet, octetPairs() - 1);
  Value octetToken = octetPairs() == 4 ? warp
                                       : e.add(e.mul(warp, 4 / octetPairs()),
                                               e.shr(octet, llvm::Log2_64(uint64_t(octetPairs()))));
  token = e.add(e.shl(octetToken, 3), e.andi(lane, 7));

  piece = e.andi(thread, shape.chunks - 1);
  row = e.shr(thread, llvm::Log2_64(uint64_t(shape.chunks)));
  headerRow = e.andi(thread, shape.rows - 1);
  if (shape.chunks == facts::kQ4KSubBlocks)
    headerHalf = e.shr(thread, llvm::Log2_64(uint64_t(shape.rows)));
}

void WarpKernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block)
    lower(&op);
}

void WarpKernelLowering::lower(Operation *op) {
  e.setLoc(op->getLoc());
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](SharedPlaneOp op) { lowerPlane(op); })
      .Case([&](BlockTileOp op) {
        values[op.getTokens()] = {CtaIdXOp::create(builder, op.getLoc())};
        values[op.getRows()] = {NVVM::BlockIdYOp::create(builder, op.getLoc(), e.i32Type())};
      })
      .Case<ActivationCursorOp, WeightCursorOp>([&](auto op) { lowerCursor(op); })
      .Case<FillActivationsOp, FillWeightsOp>([&](auto op) { lowerFill(op); })
      .Case([&](PlanesFilledOp) { lowerFilled(); })
      .Case([&](PlanesReadOp op) { BarSyncOp::create(builder, op.getLoc(), 0); })
      .Case([&](LoadGroupOp op) {
        Value base = op.getGroup() % 2 ? e.xori(baseOf(op.getPlane()), 64) : baseOf(op.getPlane());
        int64_t offset = op.getChunk() * shape.tokens * facts::kChunkElements +
                         op.getGroup() * kGroupTokens * facts::kChunkElements;
        values[op.getValues()] = e.ldmatrix(e.add(base, offset));
      })
      .Case([&](LoadNibblesOp op) {
        // Rows of 16 bytes are what ldmatrix reads, whatever is in them: a lane's word is
        // that of its row, as fragment B wants it.
        Value address = e.xori(baseOf(op.getPlane()), op.getPair() * 2 * facts::kPieceBytes);
        values[op.getValues()] = e.ldmatrix(address);
      })
      .Case([&](UnpackNibblesOp op) {
        Values nibbles;
        for (Value word : values.lookup(op.getPacked()))
          nibbles.push_back(e.andi(op.getHalf() ? e.shr(word, 4) : word, 0x0F0F0F0F));
        values[op.getValues()] = nibbles;
      })
      .Case([&](LoadRowsOp op) {
        int64_t offset = op.getChunk() * shape.rows * facts::kSlotBytes;
        values[op.getValues()] = e.ldmatrix(e.add(baseOf(op.getPlane()), offset));
      })
      .Case([&](LoadTokenScalesOp op) { values[op.getValues()] = lowerTokenScales(op); })
      .Case([&](LoadRowScalesOp op) {
        Values scales;
        for (int64_t half = 0; half < 2; ++half)
          for (Value word : e.loadShared(
                   e.add(baseOf(op.getPlane()), op.getChunk() * shape.rows * 8 + half * 64), 4))
            scales.push_back(e.asF32(word));
        values[op.getValues()] = scales;
      })
      .Case([&](MmaS8Op op) { lowerMma(op); })
      .Case([&](Rank1RescaleOp op) { lowerRescale(op); })
      .Case([&](StoreGroupOp op) { lowerStore(op); })
      .Case([&](scf::ForOp op) { lowerLoop(op); })
      .Case<scf::YieldOp>([](auto) {})
      .Case([&](arith::ConstantOp op) {
        auto vector = dyn_cast<DenseElementsAttr>(op.getValue());
        if (!vector) {
          values[op] = {builder.clone(*op)->getResult(0)};
          return;
        }
        Values parts;
        for (Attribute part : vector.getValues<Attribute>())
          parts.push_back(arith::ConstantOp::create(builder, op.getLoc(), cast<TypedAttr>(part)));
        values[op] = parts;
      })
      .Default([&](Operation *op) {
        IRMapping mapping;
        for (Value operand : op->getOperands())
          mapping.map(operand, one(operand));
        Operation *clone = builder.clone(*op, mapping);
        for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults()))
          values[from] = {to};
      });
}

void WarpKernelLowering::lowerLoop(scf::ForOp op) {
  Values inits;
  for (Value init : op.getInitArgs())
    llvm::append_range(inits, values.lookup(init));
  if (shape.stages == 2)
    inits.push_back(readStage);
  auto loop = scf::ForOp::create(builder, op.getLoc(), one(op.getLowerBound()),
                                 one(op.getUpperBound()), one(op.getStep()), inits);
  auto unflatten = [&](ValueRange from, ValueRange flat) {
    for (auto [value, init] : llvm::zip_equal(from, op.getInitArgs())) {
      size_t count = values.lookup(init).size();
      values[value] = Values(flat.take_front(count));
      flat = flat.drop_front(count);
    }
  };
  values[op.getInductionVar()] = {loop.getInductionVar()};
  unflatten(op.getRegionIterArgs(), loop.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    if (shape.stages == 2) {
      readStage = loop.getRegionIterArgs().back();
      fillStage = e.sub(e.i32(shape.stageBytes), readStage);
      isRead = e.below(e.add(loop.getInductionVar(), one(op.getStep())), one(op.getUpperBound()));
    }
    lowerBlock(*op.getBody());
    Values yielded;
    for (Value value : op.getBody()->getTerminator()->getOperands())
      llvm::append_range(yielded, values.lookup(value));
    if (shape.stages == 2)
      yielded.push_back(readStage);
    if (!loop.getBody()->empty() && isa<scf::YieldOp>(loop.getBody()->back()))
      loop.getBody()->back().erase();
    scf::YieldOp::create(builder, op.getLoc(), yielded);
  }
  unflatten(op.getResults(), loop.getResults());
}

//===----------------------------------------------------------------------===//
// Planes: the address of what this lane reads first
//===----------------------------------------------------------------------===//

void WarpKernelLowering::lowerPlane(SharedPlaneOp op) {
  PlaneAttr plan = op.getPlan();
  Value address = e.add(shared, plan.getOffset());
  switch (plan.getContent()) {
  case PlaneContent::qa8: {
    // Row l % 16 and piece l / 16 of the warp's first group; rows of other chunks and
    // groups keep the row's place in its line, but for bit 2 of odd groups.
    Value matrixRow = e.andi(lane, 15), line = e.shr(matrixRow, 2);
    Value place = e.ori(e.shl(e.andi(matrixRow, 3), 1), e.shr(lane, 4));
    place = e.shl(e.xori(place, line), 4);
    Value lines = e.add(e.mul(tokenWarp, shape.groups * kGroupTokens / 4), line);
    address = e.add(address, e.ori(e.shl(lines, 7), place));
    break;
  }
  case PlaneContent::sda: {
    int64_t entry = shape.packed ? 4 : 8;
    address = e.add(address, e.mul(tokenWarp, shape.groups * kGroupTokens * entry));
    address = e.add(address, e.mul(e.shr(lane, 2), 2 * entry));
    break;
  }
  case PlaneContent::qb_raw: {
    Value place = e.shl(e.xori(e.andi(e.shr(lane, 3), 1), e.andi(lane, 7)), 4);
    address = e.add(address, e.ori(e.shl(matrixRows(), 7), place));
    break;
  }
  case PlaneContent::qb8: {
    address = e.add(address, e.mul(matrixRows(), facts::kSlotBytes));
    address = e.add(address, e.shl(e.andi(e.shr(lane, 3), 1), 4));
    break;
  }
  case PlaneContent::sds: {
    Value rows = e.add(e.shl(rowWarp, 4), e.shl(e.andi(lane, 3), 1));
    address = e.add(address, e.shl(rows, 3));
    break;
  }
  }
  values[op] = {address};
}

Values WarpKernelLowering::lowerTokenScales(LoadTokenScalesOp op) {
  int64_t entry = shape.packed ? 4 : 8;
  Value base = baseOf(op.getPlane());
  if (shape.stages == 2)
    base = e.xori(base, op.getChunk() * 2 * entry);
  Value address =
      e.add(base, op.getChunk() * shape.tokens * entry + op.getGroup() * kGroupTokens * entry);
  Values scales;
  if (!shape.packed) {
    for (Value word : e.loadShared(address, 4))
      scales.push_back(e.asF32(word));
    return scales;
  }
  for (Value word : e.loadShared(address, 2)) {
    Value d = e.halfToF32(word);
    scales.push_back(d);
    scales.push_back(e.mulf(d, e.signedToF32(e.ashr(word, 16))));
  }
  return scales;
}

//===----------------------------------------------------------------------===//
// Cursors and fills
//===----------------------------------------------------------------------===//

void WarpKernelLowering::lowerCursor(ActivationCursorOp op) {
  int64_t pitch = problem.getARowBytes();
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
  bool ragged = problem.getN() % shape.rows != 0;
  Value tile = e.mul(one(op.getTile()), shape.rows);
  auto rowOffset = [&](Value own) {
    own = e.add(tile, own);
    return e.mulWide(ragged ? e.minu(own, e.i32(problem.getN() - 1)) : own, pitch);
  };
  Value start = BufferAddressOp::create(builder, op.getLoc(), one(op.getBuffer()));
  Value offset = rowOffset(row);
  rowSteps.clear();
  for (int64_t first = rowsAtOnce(); first < shape.rows; first += rowsAtOnce())
    rowSteps.push_back(ragged ? e.sub(rowOffset(e.add(row, first)), offset) : e.i64(first * pitch));
  Value inRow = e.mulWide(piece, facts::kPieceBytes);
  values[op.getNibbles()] = {e.add(e.add(start, offset), inRow)};
  values[op.getHeader()] = {e.add(start, rowOffset(headerRow))};
}

void WarpKernelLowering::lowerFill(FillActivationsOp op) {
  PlaneAttr plane = planOf(op.getValues()), scales = planOf(op.getScales());
  Value cursor = one(op.getCursor());
  if (shape.stages == 2)
    return fillWords(cursor, plane, scales);
  int64_t chunkBytes = shape.tokens * facts::kChunkElements, entry = shape.packed ? 4 : 8;
  Value line = e.shr(token, 2);
  Value place = e.shl(e.xori(e.shl(e.andi(token, 3), 1), e.andi(line, 7)), 4);
  Value at = e.add(e.ori(e.shl(line, 7), place), e.mul(octetPair, 2 * chunkBytes));
  at = e.add(at, startOf(plane));
  Value octet = e.shr(token, 3);
  Value entries =
      e.add(e.shl(e.shr(octet, 1), 4), e.add(e.shl(e.andi(token, 7), 1), e.andi(octet, 1)));
  Value scaleAt = e.add(e.mul(entries, entry), e.mul(octetPair, 2 * shape.tokens * entry));
  scaleAt = e.add(scaleAt, startOf(scales));

  for (int64_t first = 0; first < shape.tokens; first += tokensAtOnce()) {
    Value from = first == 0 ? cursor : e.add(cursor, tokenSteps[first / tokensAtOnce() - 1]);
    Values words;
    for (int64_t i = 0; i < 5; ++i)
      words.append(e.loadGlobal(e.add(from, i * facts::kPieceBytes), 4));
    defer([this, words, at, scaleAt, chunkBytes, entry, first] {
      for (int64_t chunk = 0; chunk < 2; ++chunk) {
        ArrayRef<Value> own = ArrayRef<Value>(words).slice(10 * chunk, 10);
        int64_t offset = chunk * chunkBytes + first * facts::kChunkElements;
        e.storeShared(e.add(at, offset), own.slice(1, 4));
        e.storeShared(e.add(e.xori(at, facts::kPieceBytes), offset), own.slice(5, 4));
        Value d = e.halfToF32(own.front()), sum = own.back();
        Values stored;
        if (shape.packed)
          stored = {e.ori(e.andi(own.front(), 0xFFFF), e.shl(sum, 16))};
        else
          stored = {e.asI32(d), e.asI32(e.mulf(d, e.signedToF32(sum)))};
        e.storeShared(e.add(scaleAt, (chunk * shape.tokens + first) * entry), stored);
      }
    });
  }
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
  Value octet = e.shr(group, 3);
  Value entries =
      e.add(e.shl(e.shr(octet, 1), 4), e.add(e.shl(e.andi(group, 7), 1), e.andi(octet, 1)));
  Value scaleAt = e.add(e.xori(e.mul(entries, entry), e.mul(word, 2 * entry)),
                        e.mul(word, shape.tokens * entry));
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
      Value d = e.halfToF32(half);
      Values stored;
      if (shape.packed)
        stored = {e.ori(e.andi(half, 0xFFFF), e.shl(sum, 16))};
      else
        stored = {e.asI32(d), e.asI32(e.mulf(d, e.signedToF32(sum)))};
      e.storeShared(e.add(scaleAt, first * entry), stored);
    });
  }
}

void WarpKernelLowering::lowerFill(FillWeightsOp op) {
  Value nibbles = one(op.getNibbles());
  PlaneAttr plane = planOf(op.getValues());
  if (shape.raw)
    fillNibbles(nibbles, plane, op.getPart());
  else
    fillBytes(nibbles, plane, op.getPart());
  fillHeaders(one(op.getHeader()), planOf(op.getScales()), op.getPart());
}

/// Pieces as they are, by cp.async.
void WarpKernelLowering::fillNibbles(Value from, const PlaneAttr &plane, int64_t) {
  Value place = e.shl(e.xori(e.andi(row, 7), piece), 4);
  Value to = e.add(e.ori(e.shl(row, 7), place), startOf(plane));
  int64_t offset = facts::info(problem.getB()).elementOffset;
  copyAhead([&] {
    for (int64_t i = 0; i * rowsAtOnce() < shape.rows; ++i) {
      Value source = i == 0 ? from : e.add(from, rowSteps[size_t(i - 1)]);
      e.copyAsync(e.add(to, i * rowsAtOnce() * facts::kQ4KNibbleBytes), e.add(source, offset));
    }
  });
}

/// Pieces as two chunks of bytes: the low nibbles of one, the high ones of the next.
void WarpKernelLowering::fillBytes(Value from, const PlaneAttr &plane, int64_t part) {
  Value pair = e.shr(piece, 1), half = e.andi(piece, 1);
  int64_t chunkBytes = shape.rows * facts::kSlotBytes;
  Value to = e.add(e.mul(row, facts::kSlotBytes), e.shl(half, 4));
  to = e.add(e.add(to, e.mul(pair, 2 * chunkBytes)), e.add(shared, plane.getOffset()));
  int64_t offset = facts::info(problem.getB()).elementOffset + part * facts::kQ4KNibbleBytes / 2;
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

/// Four sub-blocks of one row a thread: d * sc and -(dmin * min) of each.
void WarpKernelLowering::fillHeaders(Value from, const PlaneAttr &plane, int64_t part) {
  bool dynamicHalf = shape.chunks == facts::kQ4KSubBlocks;
  Value to = e.add(e.shl(headerRow, 3), startOf(plane));
  if (dynamicHalf)
    to = e.add(to, e.mul(headerHalf, 4 * shape.rows * 8));
  int64_t units = shape.rows * (dynamicHalf ? 2 : 1);
  auto copy = [this, from, to, dynamicHalf, part](bool deferred) {
    Values words = e.loadGlobal(from, 4);
    auto store = [this, words, to, dynamicHalf, part] {
      Value scales, mins;
      auto low = [&] {
        return std::pair(e.andi(words[1], 0x3F3F3F3F), e.andi(words[2], 0x3F3F3F3F));
      };
      auto high = [&] {
        Value sc = e.ori(e.andi(words[3], 0x0F0F0F0F), e.andi(e.shr(words[1], 2), 0x30303030));
        Value min =
            e.ori(e.andi(e.shr(words[3], 4), 0x0F0F0F0F), e.andi(e.shr(words[2], 2), 0x30303030));
        return std::pair(sc, min);
      };
      if (dynamicHalf) {
        auto [lowScales, lowMins] = low();
        auto [highScales, highMins] = high();
        Value isHigh = e.notZero(headerHalf);
        scales = e.select(isHigh, highScales, lowScales);
        mins = e.select(isHigh, highMins, lowMins);
      } else {
        std::tie(scales, mins) = part ? high() : low();
      }
      Value d = e.halfToF32(words[0]), dmin = e.negf(e.halfToF32(e.shr(words[0], 16)));
      for (int64_t j = 0; j < 4; ++j) {
        auto byte = [&](Value word) {
          return e.unsignedToF32(e.andi(j ? e.shr(word, 8 * j) : word, 0xFF));
        };
        e.storeShared(e.add(to, j * shape.rows * 8),
                      {e.asI32(e.mulf(d, byte(scales))), e.asI32(e.mulf(dmin, byte(mins)))});
      }
    };
    if (deferred)
      defer(store);
    else
      store();
  };
  if (units < kWarpKernelThreads)
    e.ifThen(e.below(thread, units), [&] { copy(/*deferred=*/false); });
  else
    copy(/*deferred=*/true);
}

void WarpKernelLowering::lowerFilled() {
  Location barrier = e.getLoc();
  for (const auto &[fill, store] : pending) {
    e.setLoc(fill);
    store();
  }
  pending.clear();
  e.setLoc(barrier);
  if (shape.raw)
    e.waitCopies();
  BarSyncOp::create(builder, e.getLoc(), 0);
  if (shape.stages == 2) {
    readStage = fillStage;
    fillStage = e.sub(e.i32(shape.stageBytes), readStage);
  }
}

//===----------------------------------------------------------------------===//
// Products and results
//===----------------------------------------------------------------------===//

void WarpKernelLowering::lowerMma(MmaS8Op op) {
  Values a = values.lookup(op.getA()), b = values.lookup(op.getB()), sums;
  Value bias = e.i32(kSumBias);
  for (int64_t half = 0; half < 2; ++half)
    sums.append(e.mma(a, ArrayRef<Value>(b).slice(2 * half, 2), {bias, bias, bias, bias}));
  values[op.getSums()] = sums;
}

void WarpKernelLowering::lowerRescale(Rank1RescaleOp op) {
  Values acc = values.lookup(op.getAcc()), sums = values.lookup(op.getSums()),
         tokens = values.lookup(op.getTokens()), rows = values.lookup(op.getRows());
  Value bias = e.f32(kSumBiasValue);
  for (size_t i = 0; i < acc.size(); ++i) {
    size_t half = i / 4, tokenAt = i % 4 / 2, rowAt = i % 2;
    Value sum = e.subf(e.asF32(sums[i]), bias);
    Value scale = e.mulf(tokens[2 * tokenAt], rows[4 * half + 2 * rowAt]);
    acc[i] = e.fma(scale, sum, acc[i]);
    acc[i] = e.fma(tokens[2 * tokenAt + 1], rows[4 * half + 2 * rowAt + 1], acc[i]);
  }
  values[op.getResult()] = acc;
}

void WarpKernelLowering::lowerStore(StoreGroupOp op) {
  int64_t n = problem.getN();
  bool ragged = n % shape.rows != 0, pairs = n % 2 == 0;
  Values acc = values.lookup(op.getValues());
  Value firstToken = e.add(e.mul(one(op.getTokenTile()), shape.tokens),
                           e.mul(tokenWarp, shape.groups * kGroupTokens));
  firstToken = e.add(firstToken, e.shr(lane, 2));
  Value firstRow = e.add(e.mul(one(op.getRowTile()), shape.rows), e.shl(rowWarp, 4));
  firstRow = e.add(firstRow, e.shl(e.andi(lane, 3), 1));
  Value address = BufferAddressOp::create(builder, op.getLoc(), one(op.getBuffer()));
  address = e.add(address, e.mulWide(firstToken, n * 4));
  address = e.add(address, e.mulWide(firstRow, 4));
  for (int64_t tokenAt = 0; tokenAt < 2; ++tokenAt) {
    int64_t down = int64_t(op.getGroup()) * kGroupTokens + 8 * tokenAt;
    Value inside = e.below(e.add(firstToken, down), one(op.getCount()));
    for (int64_t half = 0; half < 2; ++half) {
      for (int64_t column = 0; column < 2; column += pairs ? 2 : 1) {
        Value legal = inside;
        if (ragged)
          legal = e.both(inside, e.below(e.add(firstRow, 8 * half + column), e.i32(n)));
        ArrayRef<Value> stored =
            ArrayRef<Value>(acc).slice(4 * half + 2 * tokenAt + column, pairs ? 2 : 1);
        Value at = e.add(address, down * n * 4 + (8 * half + column) * 4);
        e.ifThen(legal, [&] { e.storeGlobal(at, stored); });
      }
    }
  }
}

struct LowerWarpKernelToMachine
    : blockscale::impl::BlockscaleLowerWarpKernelToMachinePassBase<LowerWarpKernelToMachine> {
  void runOnOperation() override {
    getOperation().walk([](WarpKernelOp kernel) {
      if (kernel.getBody().getOps<SharedPlaneOp>().empty())
        return;
      nameLocations(kernel);
      WarpKernelLowering(kernel).run();
    });
  }
};

} // namespace
