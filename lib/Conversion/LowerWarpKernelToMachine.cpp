//===- LowerWarpKernelToMachine.cpp - level 3 to 4 of mma.sync kernels ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structure of a kernel: its thread, planes, loop and barriers. Fills, tiles and
// products are in files of their own.
//
//===----------------------------------------------------------------------===//

#include "SourceLocations.h"
#include "WarpKernelLowering.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Facts/ActivationTile.h"

#include "llvm/ADT/TypeSwitch.h"

namespace blockscale {
#define GEN_PASS_DEF_BLOCKSCALELOWERWARPKERNELTOMACHINEPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

void WarpKernelLowering::run() {
  Block &old = kernel.getBody().front();
  Block *entry = builder.createBlock(&kernel.getBody(), kernel.getBody().end());
  for (BlockArgument argument : old.getArguments())
    values[argument] = {entry->addArgument(argument.getType(), argument.getLoc())};
  builder.setInsertionPointToStart(entry);
  if (Pragma pragma = kernel.getSchedule().getPragma(); pragma != Pragma::none)
    PtxPragmaOp::create(builder, kernel.getLoc(), PragmaAttr::get(kernel.getContext(), pragma));
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
  if (shape.stages > 1)
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

  if (shape.ring) {
    Value first = firstRow();
    piece = e.andi(lane, 7);
    row = e.add(first, e.shr(lane, 3));
    if (shape.strips == kMostStrips) { // a lane has the whole header of a row
      headerRow = e.add(first, lane);
      return;
    }
    headerRow = e.add(first, e.andi(lane, 15));
    headerHalf = e.shr(lane, 4);
    return;
  }
  piece = e.andi(thread, chunksOfBlock() - 1);
  row = e.shr(thread, llvm::Log2_64(uint64_t(chunksOfBlock())));
  headerRow = e.andi(thread, shape.rows - 1);
  if (shape.chunks >= facts::kQ4KSubBlocks)
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
        // A cluster's CTAs, which have one tile, are neighbours along x.
        Value x = CtaIdXOp::create(builder, op.getLoc());
        values[op.getTokens()] = {
            shape.split == 1 ? x : e.shr(x, llvm::Log2_64(uint64_t(shape.split)))};
        values[op.getRows()] = {NVVM::BlockIdYOp::create(builder, op.getLoc(), e.i32Type())};
      })
      .Case([&](KPartOp op) {
        values[op] = {e.andi(CtaIdXOp::create(builder, op.getLoc()), shape.split - 1)};
      })
      .Case([&](TileRingOp op) { lowerRing(op); })
      .Case<ActivationCursorOp, WeightCursorOp>([&](auto op) { lowerCursor(op); })
      .Case<FillActivationsOp, FillWeightsOp>([&](auto op) { lowerFill(op); })
      .Case([&](PlanesFilledOp) { lowerFilled(); })
      .Case([&](PlanesReadOp) { lowerRead(); })
      .Case([&](LoadGroupOp op) { values[op.getValues()] = lowerLoad(op); })
      .Case([&](LoadNibblesOp op) {
        // Rows of 16 bytes are what ldmatrix reads, whatever is in them: a lane's word is
        // that of its row, as fragment B wants it.
        Value address = e.xori(baseOf(op.getPlane()), op.getPair() * 2 * facts::kPieceBytes);
        address = e.add(address, op.getStrip() * kStripRows * facts::kQ4KNibbleBytes);
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
        Value base =
            values.lookup(op.getPlane())[size_t(op.getChunk() / 2 % (chunksOfBlock() / 2))];
        values[op.getValues()] = e.ldmatrix(e.add(base, offset));
      })
      .Case([&](LoadTokenScalesOp op) { values[op.getValues()] = lowerTokenScales(op); })
      .Case([&](LoadRowScalesOp op) { values[op.getValues()] = lowerRowScales(op); })
      .Case([&](LoadSumPartsOp op) { values[op.getValues()] = lowerParts(op); })
      .Case([&](LoadMinimaOp op) {
        Value address =
            e.add(baseOf(op.getPlane()), op.getStrip() * kStripRows * facts::kTileChunks * 2);
        values[op.getValues()] = e.ldmatrix(address, /*matrices=*/2);
      })
      .Case([&](LoadMinimaScalesOp op) {
        Value address = e.add(baseOf(op.getPlane()), op.getStrip() * kStripRows * 4);
        values[op.getValues()] = asF32(e.loadShared(address, 4));
      })
      .Case([&](MmaS8Op op) { lowerMma(op); })
      .Case([&](Rank1RescaleOp op) { lowerRescale(op); })
      .Case([&](MmaMinimaOp op) { lowerMinima(op); })
      .Case([&](StoreGroupOp op) { lowerStore(op); })
      .Case([&](ShareGroupOp op) { lowerShare(op); })
      .Case([&](ClusterBarrierOp) { e.clusterBarrier(); })
      .Case([&](AddPartsOp op) { lowerAdd(op); })
      .Case([&](scf::ForOp op) { lowerLoop(op); })
      .Case<scf::YieldOp>([](auto) {})
      .Case([&](arith::ConstantOp op) { lowerConstant(op); })
      .Default([&](Operation *op) {
        IRMapping mapping;
        for (Value operand : op->getOperands())
          mapping.map(operand, one(operand));
        Operation *clone = builder.clone(*op, mapping);
        for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults()))
          values[from] = {to};
      });
}

void WarpKernelLowering::lowerConstant(arith::ConstantOp op) {
  auto vector = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!vector) {
    values[op] = {builder.clone(*op)->getResult(0)};
    return;
  }
  Values parts;
  for (Attribute part : vector.getValues<Attribute>())
    parts.push_back(arith::ConstantOp::create(builder, op.getLoc(), cast<TypedAttr>(part)));
  values[op] = parts;
}

SmallVector<Value *> WarpKernelLowering::stageState() {
  if (shape.ring)
    return {&ringTile, &ringBarrier, &ringPhase, &readStage};
  if (shape.stages == 2)
    return {&readStage};
  return {};
}

void WarpKernelLowering::lowerLoop(scf::ForOp op) {
  if (shape.ring) {
    flushPending();
    ringTile = ringBarrier = ringPhase = readStage = e.i32(0);
  }
  Values inits;
  for (Value init : op.getInitArgs())
    llvm::append_range(inits, values.lookup(init));
  for (Value *state : stageState())
    inits.push_back(*state);
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
    loaded.clear();
    turn = loop.getInductionVar();
    turns = one(op.getUpperBound());
    if (shape.stages > 1) {
      SmallVector<Value *> state = stageState();
      ValueRange carried = ValueRange(loop.getRegionIterArgs()).take_back(state.size());
      for (auto [member, value] : llvm::zip_equal(state, carried))
        *member = value;
      fillStage = e.sub(e.i32(otherStage()), readStage);
      isRead = e.below(e.add(turn, one(op.getStep())), turns);
    }
    lowerBlock(*op.getBody());
    Values yielded;
    for (Value value : op.getBody()->getTerminator()->getOperands())
      llvm::append_range(yielded, values.lookup(value));
    for (Value *state : stageState())
      yielded.push_back(*state);
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
    if (shape.transposed) {
      address = e.add(address, e.shl(e.shr(lane, 2), 4));
      break;
    }
    int64_t entry = shape.packed ? 4 : 8;
    address = e.add(address, e.mul(tokenWarp, shape.groups * kGroupTokens * entry));
    address = e.add(address, e.mul(e.shr(lane, 2), 2 * entry));
    break;
  }
  case PlaneContent::sum_parts:
    // Rows of 16 bytes; each use adds its own.
    break;
  case PlaneContent::qb_raw: {
    Value place = e.shl(e.xori(e.andi(e.shr(lane, 3), 1), e.andi(lane, 7)), 4);
    address = e.add(address, e.ori(e.shl(matrixRows(), 7), place));
    break;
  }
  case PlaneContent::qb8: {
    // One for each pair of chunks of a block, whose rows have an order of their own.
    address = e.add(address, e.shl(e.andi(e.shr(lane, 3), 1), 4));
    Values ofPairs;
    for (int64_t pair = 0; pair < chunksOfBlock() / 2; ++pair)
      ofPairs.push_back(
          e.add(address, e.mul(e.xori(matrixRows(), pair * slotFactor()), facts::kSlotBytes)));
    values[op] = ofPairs;
    return;
  }
  case PlaneContent::sds: {
    Value quads = e.add(firstRow(/*step=*/4), e.andi(lane, 3));
    if (shape.splitMinima) {
      address = e.add(address, e.shl(quads, 4));
      break;
    }
    Value rows = e.add(firstRow(), e.shl(e.andi(lane, 3), 1));
    address = e.add(address, e.shl(rows, 3));
    break;
  }
  case PlaneContent::minima:
    address = e.add(address, e.shl(e.add(firstRow(), e.andi(lane, 15)), 4));
    break;
  case PlaneContent::dmin:
    address = e.add(address, e.shl(e.add(firstRow(/*step=*/4), e.andi(lane, 3)), 4));
    break;
  }
  values[op] = {address};
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void WarpKernelLowering::flushPending() {
  Location here = e.getLoc();
  for (const auto &[fill, store] : pending) {
    e.setLoc(fill);
    store();
  }
  pending.clear();
  e.setLoc(here);
}

void WarpKernelLowering::lowerFilled() {
  loaded.clear();
  if (shape.ring)
    return waitForStage();
  flushPending();
  if (shape.raw)
    e.waitCopies();
  BarSyncOp::create(builder, e.getLoc(), 0);
  if (shape.stages == 2) {
    readStage = fillStage;
    fillStage = e.sub(e.i32(shape.stageBytes), readStage);
  }
}

void WarpKernelLowering::lowerRead() {
  if (shape.ring)
    return releaseStage();
  BarSyncOp::create(builder, e.getLoc(), 0);
}

namespace {
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
