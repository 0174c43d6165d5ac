//===- LowerQuantizeKernelToMachine.cpp - level 3 to 4 of quantisers ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors become the scalars of one lane. Blocks have their owners after a reduction
// that halves, with each exchange, the blocks that a lane still has: n - 1 exchanges
// for n lanes of as many blocks, instead of n log n. Elements that are no whole words in a
// step get their words in the same way.
//
//===----------------------------------------------------------------------===//

#include "QuantizeEncode.h"
#include "QuantizePlaces.h"
#include "SourceLocations.h"

#include "blockscale/Conversion/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

namespace blockscale {
#define GEN_PASS_DEF_BLOCKSCALELOWERQUANTIZEKERNELTOMACHINEPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {

using Values = SmallVector<Value>;
constexpr int64_t kChunkPieceBytes = 8; // that a lane stores at once

class QuantizeKernelLowering {
public:
  explicit QuantizeKernelLowering(QuantizeKernelOp kernel)
      : kernel(kernel), problem(kernel.getProblem()), blocked(problem.getBlocked()),
        sequence(kernel.getSchedule().getSequence()), shape(problem), builder(kernel.getContext()),
        e(builder, kernel.getLoc()) {}

  void run();

private:
  void lowerBlock(Block &block);
  void lower(Operation *op);
  void lowerLoad(LoadBlocksOp op);
  void lowerAmax(BlockAmaxOp op);
  void lowerSum(BlockSumOp op);
  void lowerSpread(SpreadOp op);
  void lowerElements(EncodeElementsOp op);
  void lowerDivide(DivideBlocksOp op);
  void lowerFiniteAmax(FiniteAmaxOp op);
  void lowerStore(StoreChunksOp op);
  void lowerStore(StoreTilesOp op);
  void lowerStore(StoreElementsOp op);
  void lowerStore(StoreScalesOp op);
  void lowerStore(StoreAmaxOp op);
  void lowerStore(StoreScalarOp op);
  void lowerEach(Operation *op);

  /// One word for every four values of a step.
  template <typename Encode> void encode(Value from, Value scales, Value to, Encode word);
  /// One value for each that `from` has.
  template <typename Map> void mapEach(Value from, Value to, Map map);
  Values reduceToOwners(Values steps, llvm::function_ref<Value(Value, Value)> combine);
  Value one(Value value) { return values.lookup(value).front(); }
  Value oneOrNone(Value value) { return value ? one(value) : Value(); }
  Value addressOf(Value buffer) {
    return BufferAddressOp::create(builder, e.getLoc(), one(buffer));
  }
  MutableArrayRef<Value> inStep(Values &all, int64_t step) {
    size_t each = all.size() / size_t(shape.steps);
    return MutableArrayRef<Value>(all).slice(size_t(step) * each, each);
  }

  QuantizeKernelOp kernel;
  QuantizeProblemAttr problem;
  BlockedAttr blocked;
  QuantizeSequence sequence;
  QuantizeShape shape;
  OpBuilder builder;
  WarpEmitter e;
  std::optional<QuantizePlaces> at;
  llvm::DenseMap<Value, Values> values;
};

void QuantizeKernelLowering::run() {
  Block &old = kernel.getBody().front();
  Block *entry = builder.createBlock(&kernel.getBody(), kernel.getBody().end());
  for (BlockArgument argument : old.getArguments())
    values[argument] = {entry->addArgument(argument.getType(), argument.getLoc())};
  builder.setInsertionPointToStart(entry);
  at.emplace(builder, e, problem);
  lowerBlock(old);
  old.dropAllDefinedValueUses();
  for (Operation &op : old)
    op.dropAllReferences();
  old.erase();
}

void QuantizeKernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block)
    lower(&op);
}

void QuantizeKernelLowering::lower(Operation *op) {
  e.setLoc(op->getLoc());
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](HasBlocksOp op) { values[op] = {at->hasBlocks(one(op.getRows()))}; })
      .Case([&](BlocksInsideOp op) {
        for (int64_t own = 0; own < shape.owned; ++own)
          values[op].push_back(at->isOwnInside(own, one(op.getRows())));
      })
      .Case([&](scf::IfOp op) {
        e.ifThen(one(op.getCondition()), [&] { lowerBlock(*op.thenBlock()); });
      })
      .Case<scf::YieldOp>([](auto) {})
      .Case([&](LoadBlocksOp op) { lowerLoad(op); })
      .Case([&](BlockAmaxOp op) { lowerAmax(op); })
      .Case([&](BlockSumOp op) { lowerSum(op); })
      .Case([&](SpreadOp op) { lowerSpread(op); })
      .Case([&](EncodeS8Op op) {
        encode(op.getValues(), op.getFactors(), op.getWords(),
               [&](ArrayRef<Value> four, Value factor) { return encodeS8(e, four, factor); });
      })
      .Case([&](EncodeElementsOp op) { lowerElements(op); })
      .Case([&](DivideBlocksOp op) { lowerDivide(op); })
      .Case([&](FiniteAmaxOp op) { lowerFiniteAmax(op); })
      .Case([&](LoadScalarOp op) {
        values[op] = {e.asF32(e.loadGlobal(addressOf(op.getSource()), 1).front())};
      })
      .Case([&](EncodeScaleOp op) {
        Value global = oneOrNone(op.getGlobal());
        mapEach(op.getAmax(), op.getBytes(),
                [&](Value amax) { return encodeScale(e, sequence, blocked, amax, global); });
      })
      .Case([&](ScaleDivisorOp op) {
        Value global = oneOrNone(op.getGlobal()), prescale = oneOrNone(op.getPrescale());
        mapEach(op.getBytes(), op.getDivisors(), [&](Value byte) {
          return scaleDivisor(e, blocked.getScale(), byte, global, prescale);
        });
      })
      .Case([&](ScaleFactorOp op) {
        mapEach(op.getBytes(), op.getFactors(),
                [&](Value byte) { return scaleFactor(e, sequence, byte); });
      })
      .Case<StoreChunksOp, StoreTilesOp, StoreElementsOp, StoreScalesOp, StoreAmaxOp,
            StoreScalarOp>([&](auto op) { lowerStore(op); })
      .Default([&](Operation *op) { lowerEach(op); });
}

/// One op for each element of its vectors.
void QuantizeKernelLowering::lowerEach(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Values parts;
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      for (Attribute part : dense.getValues<Attribute>())
        parts.push_back(arith::ConstantOp::create(builder, op->getLoc(), cast<TypedAttr>(part)));
    else
      parts = {builder.clone(*op)->getResult(0)};
    values[constant] = parts;
    return;
  }
  size_t count = 1;
  for (Value operand : op->getOperands())
    count = std::max(count, values.lookup(operand).size());
  for (size_t i = 0; i < count; ++i) {
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.operands.push_back(values.lookup(operand)[i]);
    for (Type type : op->getResultTypes())
      state.types.push_back(getElementTypeOrSelf(type));
    state.attributes = op->getAttrs();
    Operation *scalar = builder.create(state);
    for (auto [from, to] : llvm::zip_equal(op->getResults(), scalar->getResults()))
      values[from].push_back(to);
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void QuantizeKernelLowering::lowerLoad(LoadBlocksOp op) {
  Values words, &loaded = values[op.getValues()];
  for (Value address : at->sources(one(op.getSource()), one(op.getRows())))
    words.append(e.loadGlobal(address, kLaneBytes / 4));
  for (Value word : words) {
    if (problem.getSource() == facts::Format::f32) {
      loaded.push_back(e.asF32(word));
    } else if (problem.getSource() == facts::Format::bf16) {
      loaded.push_back(e.asF32(e.shl(word, 16)));
      loaded.push_back(e.asF32(e.andi(word, 0xFFFF0000)));
    } else {
      loaded.push_back(e.halfToF32(word));
      loaded.push_back(e.halfToF32(e.shr(word, 16)));
    }
  }
}

template <typename Encode>
void QuantizeKernelLowering::encode(Value from, Value scales, Value to, Encode word) {
  Values all = values.lookup(from), each = values.lookup(scales), words;
  for (int64_t step = 0; step < shape.steps; ++step)
    for (ArrayRef<Value> rest = inStep(all, step); !rest.empty(); rest = rest.drop_front(4))
      words.push_back(word(rest.take_front(4), each[size_t(step)]));
  values[to] = words;
}

template <typename Map> void QuantizeKernelLowering::mapEach(Value from, Value to, Map map) {
  Values mapped;
  for (Value value : values.lookup(from))
    mapped.push_back(map(value));
  values[to] = mapped;
}

void QuantizeKernelLowering::lowerElements(EncodeElementsOp op) {
  Values all = values.lookup(op.getValues()), scales = values.lookup(op.getScales()), words;
  facts::Format element = blocked.getElement();
  constexpr int64_t kFour = 4;
  for (int64_t step = 0; step < shape.steps; ++step) {
    PackedBits packed;
    Value scale = scales.empty() ? Value() : scales[size_t(step)];
    for (ArrayRef<Value> rest = inStep(all, step); !rest.empty(); rest = rest.drop_front(kFour)) {
      Value word = encodeElements(e, kernel.getArch(), element, rest.take_front(kFour), scale);
      packed = concat(e, packed, {{word}, kFour * shape.elementBits});
    }
    words.append(packed.words);
  }
  values[op.getWords()] = words;
}

void QuantizeKernelLowering::lowerDivide(DivideBlocksOp op) {
  Values all = values.lookup(op.getValues()), divisors = values.lookup(op.getDivisors());
  Values negated = values.lookup(op.getNegated()), quotients;
  for (int64_t step = 0; step < shape.steps; ++step)
    for (Value value : inStep(all, step))
      quotients.push_back(divideByBlock(e, value, divisors[size_t(step)], negated[size_t(step)],
                                        oneOrNone(op.getPrescale())));
  values[op.getQuotients()] = quotients;
}

/// Magnitudes have the order of their bits.
void QuantizeKernelLowering::lowerFiniteAmax(FiniteAmaxOp op) {
  constexpr int64_t kInfinity = 0x7F800000;
  Value largest = e.i32(0);
  for (Value value : values.lookup(op.getValues())) {
    Value bits = e.asI32(e.absf(value));
    largest = e.maxu(largest, e.select(e.below(bits, kInfinity), bits, e.i32(0)));
  }
  values[op.getAmax()] = {e.asF32(e.maxOfWarp(largest))};
}

void QuantizeKernelLowering::lowerAmax(BlockAmaxOp op) {
  Values all = values.lookup(op.getValues()), largest;
  for (int64_t step = 0; step < shape.steps; ++step) {
    Value amax;
    for (Value value : inStep(all, step))
      amax = amax ? e.maxf(amax, e.absf(value)) : e.absf(value);
    largest.push_back(amax);
  }
  values[op.getAmax()] = reduceToOwners(largest, [&](Value x, Value y) { return e.maxf(x, y); });
}

void QuantizeKernelLowering::lowerSum(BlockSumOp op) {
  Values all = values.lookup(op.getWords()), sums;
  for (int64_t step = 0; step < shape.steps; ++step) {
    Value sum = e.i32(0);
    for (Value word : inStep(all, step))
      sum = e.addBytes(word, sum);
    sums.push_back(sum);
  }
  values[op.getSum()] = reduceToOwners(sums, [&](Value x, Value y) { return e.add(x, y); });
}

void QuantizeKernelLowering::lowerSpread(SpreadOp op) {
  Values owned = values.lookup(op.getOwned()), steps;
  for (int64_t step = 0; step < shape.steps; ++step)
    steps.push_back(
        e.shuffleFrom(owned[size_t(step / shape.lanes)], step % shape.lanes, shape.lanes));
  values[op.getSteps()] = steps;
}

Values QuantizeKernelLowering::reduceToOwners(Values steps,
                                              llvm::function_ref<Value(Value, Value)> combine) {
  Values owned;
  for (int64_t group = 0; group < shape.owned; ++group) {
    MutableArrayRef<Value> held =
        MutableArrayRef<Value>(steps).slice(size_t(group * shape.lanes), size_t(shape.lanes));
    for (int64_t half = shape.lanes / 2; half; half /= 2) {
      // A lane keeps the half of the blocks that its bit says and gives the other away.
      Value keepsUpper = e.notZero(e.andi(at->laneInBlock, half));
      for (size_t i = 0; i < size_t(half); ++i) {
        Value kept = e.select(keepsUpper, held[i + size_t(half)], held[i]);
        Value given = e.select(keepsUpper, held[i], held[i + size_t(half)]);
        held[i] = combine(kept, e.shuffleXor(given, half));
      }
    }
    owned.push_back(held.front());
  }
  return owned;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

void QuantizeKernelLowering::lowerStore(StoreChunksOp op) {
  const facts::BlockFormatInfo &chunk = facts::info(*problem.getBlockFormat());
  int64_t warpBytes = shape.warpBlocks * chunk.bytes, blocksOfStep = kLanes / shape.lanes;
  Value shared = SharedBaseOp::create(builder, op.getLoc());
  Value plane = e.add(shared, e.mul(at->warp, warpBytes));

  Value place = e.add(e.mul(at->blockInStep, chunk.bytes), e.mul(at->laneInBlock, shape.elements));
  place = e.add(plane, place);
  Values words = values.lookup(op.getWords());
  for (int64_t step = 0; step < shape.steps; ++step)
    for (auto [i, word] : llvm::enumerate(inStep(words, step)))
      e.storeShared(
          e.add(place, step * blocksOfStep * chunk.bytes + chunk.elementOffset + int64_t(i) * 4),
          word);
  Value own = e.add(e.mul(at->laneInBlock, blocksOfStep), at->blockInStep);
  own = e.add(plane, e.mul(own, chunk.bytes));
  for (int64_t group = 0; group < shape.owned; ++group) {
    int64_t down = group * kLanes * chunk.bytes;
    e.storeShared(e.add(own, down), values.lookup(op.getScales())[size_t(group)]);
    e.storeShared(e.add(own, down + facts::kChunkSumOffset),
                  values.lookup(op.getSums())[size_t(group)]);
  }
  BarWarpSyncOp::create(builder, op.getLoc());

  Value end = e.mul(at->blocksLeft(one(op.getRows())), chunk.bytes);
  Value to = BufferAddressOp::create(builder, op.getLoc(), one(op.getTarget()));
  to = e.add(to, e.mul(at->firstBlock, chunk.bytes));
  Value piece = e.mul(at->lane, kChunkPieceBytes);
  Value from = e.add(plane, piece);
  to = e.add(to, e.wide(piece));
  for (int64_t offset = 0; offset < warpBytes; offset += kLanes * kChunkPieceBytes)
    e.ifThen(e.below(e.add(piece, offset), end),
             [&] { e.storeGlobal(e.add(to, offset), e.loadShared(e.add(from, offset), 2)); });
}

void QuantizeKernelLowering::lowerStore(StoreTilesOp op) {
  constexpr int64_t kChunkPlane = facts::kTileTokens * facts::kChunkElements;
  Value start = at->tileStart(one(op.getTarget()));
  Value elements = e.add(start, e.wide(at->tileValueOffset()));
  Values words = values.lookup(op.getWords());
  for (int64_t step = 0; step < shape.steps; ++step)
    e.storeGlobal(e.add(elements, step * at->chunksOfStep() * kChunkPlane), inStep(words, step));

  // facts::tileTermSlot: the strand of the token is its place among four.
  Value token = at->token;
  Value slot = e.ori(e.shl(e.shr(token, 5), 3), e.andi(token, 7));
  slot = e.ori(e.shl(slot, 2), e.andi(e.shr(token, 3), 3));
  // Bits 4 and 3 of the token are bits 1 and 0 of the place.
  Value word = e.add(e.mul(at->ownChunk, facts::kTileTokens * 4), e.shl(slot, 2));
  Value terms = e.add(start, e.wide(word));
  Value sum = one(op.getSums());
  e.storeGlobal(e.add(terms, facts::kTileScales), e.asI32(one(op.getScales())));
  if (problem.getBlockFormat() == facts::BlockFormat::q8_1_tile) {
    e.storeGlobal(e.add(terms, facts::kTileSums), e.asI32(sum));
    return;
  }
  Value row = e.add(e.mul(token, facts::kTileChunks), at->ownChunk);
  Value parts = e.add(start, e.wide(e.shl(row, 1)));
  for (auto [i, part] : llvm::enumerate(splitSum(e, sum)))
    e.storeGlobalNarrow(e.add(parts, facts::kTileSums + int64_t(i) * facts::kTilePartBytes), part,
                        /*bytes=*/2);
}

void QuantizeKernelLowering::lowerStore(StoreElementsOp op) {
  constexpr int64_t kWordBits = 32;
  Values words = values.lookup(op.getWords());
  SmallVector<PackedBits> held;
  for (int64_t step = 0; step < shape.steps; ++step)
    held.push_back({Values(inStep(words, step)), shape.elements * shape.elementBits});

  // Lanes side by side exchange until each has whole words of fewer steps.
  int64_t joined = 1;
  for (; held.front().bits % kWordBits; joined *= 2) {
    Value keepsUpper = e.notZero(e.andi(at->laneInBlock, joined));
    SmallVector<PackedBits> fewer;
    for (size_t i = 0; i < held.size(); i += 2) {
      PackedBits low{{}, held[i].bits}, high = low;
      for (auto [first, second] : llvm::zip_equal(held[i].words, held[i + 1].words)) {
        Value kept = e.select(keepsUpper, second, first);
        Value got = e.shuffleXor(e.select(keepsUpper, first, second), joined);
        low.words.push_back(e.select(keepsUpper, got, kept));
        high.words.push_back(e.select(keepsUpper, kept, got));
      }
      fewer.push_back(concat(e, low, high));
    }
    held = fewer;
  }
  Value lane = e.andi(at->laneInBlock, shape.lanes - joined),
        among = e.andi(at->laneInBlock, joined - 1);
  for (auto [i, packed] : llvm::enumerate(held)) {
    Value block =
        joined == 1 ? at->stepBlock(int64_t(i)) : at->stepBlock(e.add(among, int64_t(i) * joined));
    e.ifThen(at->isBlockInside(block, one(op.getRows())), [&, &packed = packed] {
      Value address =
          at->elementAt(one(op.getTarget()), block, joined == 1 ? at->laneInBlock : lane);
      if (packed.words.size() == 3) // no vector, and only words are aligned
        for (auto [n, word] : llvm::enumerate(packed.words))
          e.storeGlobal(e.add(address, int64_t(n) * 4), word);
      else
        e.storeGlobal(address, packed.words);
    });
  }
}

void QuantizeKernelLowering::lowerStore(StoreAmaxOp op) {
  Value bits = e.asI32(one(op.getAmax()));
  Value raises = e.both(e.below(at->lane, 1), e.notZero(bits));
  e.ifThen(raises, [&] { e.raiseGlobal(addressOf(op.getTarget()), bits); });
}

void QuantizeKernelLowering::lowerStore(StoreScalarOp op) {
  Value cta = CtaIdXOp::create(builder, e.getLoc());
  Value isFirst = e.below(e.ori(e.ori(at->lane, at->warp), cta), 1);
  e.ifThen(isFirst, [&] { e.storeGlobal(addressOf(op.getTarget()), e.asI32(one(op.getValue()))); });
}

void QuantizeKernelLowering::lowerStore(StoreScalesOp op) {
  for (int64_t own = 0; own < shape.owned; ++own) {
    auto [address, exists] = at->scaleAt(one(op.getTarget()), own, one(op.getRows()));
    Value byte = e.select(at->isOwnInside(own, one(op.getRows())),
                          values.lookup(op.getBytes())[size_t(own)], e.i32(0));
    e.ifThen(exists, [&, address = address] { e.storeGlobalNarrow(address, byte, /*bytes=*/1); });
  }
}

struct LowerQuantizeKernelToMachine
    : blockscale::impl::BlockscaleLowerQuantizeKernelToMachinePassBase<
          LowerQuantizeKernelToMachine> {
  void runOnOperation() override {
    getOperation().walk([](QuantizeKernelOp kernel) {
      bool isLowered = !kernel.getBody()
                            .walk([](LoadBlocksOp) { return WalkResult::interrupt(); })
                            .wasInterrupted();
      if (isLowered)
        return;
      nameLocations(kernel);
      QuantizeKernelLowering(kernel).run();
    });
  }
};

} // namespace
