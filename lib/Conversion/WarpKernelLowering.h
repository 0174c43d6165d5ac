//===- WarpKernelLowering.h - a kernel of warps becomes scalars -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fragment becomes the scalars of one lane. Addresses inside a plane are a base, one
// for each plane and use, and constants; global addresses are carried from pass to
// pass. What a fill loads is stored only in front of the barrier, so that all loads of
// a pass are in flight together.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_WARPKERNELLOWERING_H
#define BLOCKSCALE_LIB_CONVERSION_WARPKERNELLOWERING_H

#include "WarpEmitter.h"

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"
#include "blockscale/Facts/SlotOrder.h"
#include "blockscale/Facts/TermOrder.h"

namespace blockscale {

class WarpKernelLowering {
public:
  using Value = mlir::Value;
  using Values = mlir::SmallVector<Value>;

  explicit WarpKernelLowering(WarpKernelOp kernel)
      : kernel(kernel), problem(kernel.getProblem()), shape(kernel.getSchedule()),
        builder(kernel.getContext()), e(builder, kernel.getLoc()) {}

  void run();

private:
  // Structure: LowerWarpKernelToMachine.cpp.
  void computeThread();
  void lowerBlock(mlir::Block &block);
  void lower(mlir::Operation *op);
  void lowerLoop(mlir::scf::ForOp op);
  void lowerConstant(mlir::arith::ConstantOp op);
  void lowerPlane(SharedPlaneOp op);
  void lowerFilled();
  void lowerRead();
  void flushPending();
  /// What a loop carries beside its own values: which stage is read.
  mlir::SmallVector<Value *> stageState();

  // Cursors and fills of chunks and weights: LowerWarpFills.cpp.
  void lowerCursor(ActivationCursorOp op);
  void lowerCursor(WeightCursorOp op);
  void lowerFill(FillActivationsOp op);
  void lowerFill(FillWeightsOp op);
  void fillPairs(Value cursor, const PlaneAttr &plane, const PlaneAttr &scales);
  void fillWords(Value cursor, const PlaneAttr &plane, const PlaneAttr &scales);
  facts::TermAccess termAccess() const;
  Value termEntry(Value token, Value chunk);
  void storeTerms(Value half, Value sum, Value to);
  void fillNibbles(Value from, const PlaneAttr &plane);
  void fillBytes(Value from, const PlaneAttr &plane, int64_t part);
  void fillHeaders(Value from, FillWeightsOp op);
  void fillPlane(Value from, const PlaneAttr &values, const PlaneAttr &scales);
  bool isPlane() const { return problem.getB() == facts::BlockFormat::q4_K_plane; }
  /// What is made of a header: d, -dmin, and four scales and minima as bytes of a word.
  struct Header {
    Value d, dmin, scales, minima;
  };
  Header unpackHeader(mlir::ArrayRef<Value> words, int64_t part);
  void storeTerms(const Header &header, Value to);
  void storeSplitTerms(const Header &header, Value scales, Value minima, Value dmin);

  // Transposed activations: LowerWarpTiles.cpp.
  void lowerRing(TileRingOp op);
  void copyTile(Value cursor, const PlaneAttr &plane);
  void startTile(Value cursor, const PlaneAttr &plane);
  void waitForStage();
  void releaseStage();
  Value barrier(int64_t offset, Value stage);

  // Fragments and products: LowerWarpProducts.cpp.
  Values lowerLoad(LoadGroupOp op);
  Values lowerTokenScales(LoadTokenScalesOp op);
  Values lowerRowScales(LoadRowScalesOp op);
  Values lowerParts(LoadSumPartsOp op);
  void lowerMma(MmaS8Op op);
  void lowerRescale(Rank1RescaleOp op);
  void lowerMinima(MmaMinimaOp op);
  /// Words that two groups share, loaded once a pass.
  const Values &loadOnce(Value plane, int64_t offset, llvm::function_ref<Values()> load);
  Values asF32(const Values &words);

  // Sums on their way to D: LowerWarpSums.cpp.
  void lowerStore(StoreGroupOp op);
  void lowerShare(ShareGroupOp op);
  void lowerAdd(AddPartsOp op);
  /// This lane's first token and row of a strip in the tile.
  struct TilePlace {
    Value token, row;
  };
  TilePlace placeOfSums(int64_t strip);

  /// The first row of B of this warp, in rows that are so far apart.
  Value firstRow(int64_t step = 1) {
    return e.shl(rowWarp, llvm::Log2_64(uint64_t(shape.warpRows / step)));
  }
  /// The row of B whose piece this lane addresses: matrices are pieces 0 and 1 of the
  /// warp's first 8 rows, then of the others.
  Value matrixRows() {
    Value inWarp = e.ori(e.shl(e.shr(lane, 4), 3), e.andi(lane, 7));
    return e.add(firstRow(), inWarp);
  }
  void defer(std::function<void()> store) { pending.push_back({e.getLoc(), std::move(store)}); }
  Value one(Value value) { return values.lookup(value).front(); }
  static PlaneAttr planOf(Value plane) { return plane.getDefiningOp<SharedPlaneOp>().getPlan(); }
  static bool isOfTile(PlaneContent content) { return content <= PlaneContent::sum_parts; }
  /// Where this lane reads first, in the stage that is read.
  Value baseOf(Value plane) {
    if (shape.ring)
      return e.add(one(plane), isOfTile(planOf(plane).getContent()) ? ringTile : readStage);
    return shape.stages == 1 ? one(plane) : e.add(one(plane), readStage);
  }
  /// Start of a plane in the stage that is filled.
  Value startOf(const PlaneAttr &plane) {
    Value start = e.add(shared, plane.getOffset());
    return fillStage ? e.add(start, fillStage) : start;
  }
  /// Copies of a fill, where somebody reads it.
  void copyAhead(llvm::function_ref<void()> copies) {
    if (isRead)
      e.ifThen(isRead, copies);
    else
      copies();
  }
  int64_t blockPitch() const { return problem.getBRowBytes(); }
  int64_t otherStage() const { return shape.ring ? shape.weightBytes : shape.stageBytes; }

  // Chunks of one block in a pass, and the block of a pass that part `part` of a fill is.
  int64_t chunksOfBlock() const { return std::min<int64_t>(shape.chunks, facts::kQ4KSubBlocks); }
  int64_t slotFactor() const { return facts::chooseSlotFactor(int(chunksOfBlock())); }
  int64_t blockOf(int64_t part) const { return shape.chunks > facts::kQ4KSubBlocks ? part : 0; }
  // Units of 80 bytes (two chunks) of A: four octets of lanes have `octetPairs` pairs of
  // chunks of as many tokens.
  int64_t octetPairs() const { return chunksOfBlock() / 2; }
  int64_t tokensAtOnce() const { return 8 * 8 * (4 / octetPairs()); }
  // 16-byte pieces of nibbles: a row of a block has as many as chunks. In a ring a warp
  // copies its own rows.
  int64_t rowsAtOnce() const { return (shape.ring ? 32 : kWarpKernelThreads) / chunksOfBlock(); }
  int64_t rowsOfCopies() const { return shape.ring ? shape.warpRows : shape.rows; }

  WarpKernelOp kernel;
  BlockProblemAttr problem;
  WarpShape shape;
  mlir::OpBuilder builder;
  WarpEmitter e;
  llvm::DenseMap<Value, Values> values;
  llvm::DenseMap<std::pair<Value, int64_t>, Values> loaded;
  /// Stores of what fills have loaded, each at the place of its fill.
  mlir::SmallVector<std::pair<mlir::Location, std::function<void()>>> pending;

  Value thread, lane, warp, shared;
  Value readStage, fillStage;             // distance of the planes that are read and filled
  Value isRead;                           // whether a fill is read: that of the last turn is not
  Value ringTile, ringBarrier, ringPhase; // of the tile that is read
  Value turn, turns;                      // of the loop
  int64_t firstTiles = 0;                 // started before the loop
  Value tokenWarp, rowWarp;               // which part of the tile this warp multiplies
  bool isShared = false;                  // the stages hold partial sums by now
  Value octetPair, token;                 // first unit of A that this thread copies
  Value piece, row;                       // first piece of nibbles
  Value headerRow, headerHalf;            // header; no half where a pass has four chunks
  mlir::SmallVector<Value> tokenSteps;    // bytes from the first unit to the others
  mlir::SmallVector<Value> rowSteps;      // bytes from the first piece to the others
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_WARPKERNELLOWERING_H
