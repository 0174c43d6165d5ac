//===- Planning.h - sizes that follow from a problem and a tile -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many bytes of shared memory and how many columns of tensor memory a
// kernel takes, and the tensor maps of its parameters. The choice of a schedule,
// its verifier, the kernel's plan and its launch use the same functions, so they
// cannot disagree.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PLANNING_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PLANNING_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/KernelEnums.h"
#include "blockscale/Dialect/Blockscale/IR/SpanPlan.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/OperandTile.h"
#include "blockscale/Facts/ScaleTile.h"
#include "blockscale/Facts/Tmem.h"

namespace blockscale {

/// Columns of a tile.
inline constexpr std::array<int64_t, 4> kTileColumns{64, 128, 192, 256};
/// One staging buffer of the epilogue: 128 rows of 128 bytes.
inline constexpr int64_t kStagingBytes = 128 * facts::kTileRowBytes;
/// Room for barriers and the tensor-memory address; keeps buffers 1024-aligned.
inline constexpr int64_t kControlBytes = 1024;

/// Bytes of one stage of the operand ring.
struct StageBytes {
  int64_t a, b, sfa, sfb;
  int64_t total() const { return a + b + sfa + sfb; }
};

/// Whether K of the instructions is 96: they cross stages, and scales have a ring of their own.
inline bool isSpan(ScheduleAttr schedule) { return schedule.getInst().k == kSpanK; }
/// Elements of K of a tile.
constexpr int64_t tileK(facts::MmaKind mma, int64_t instK) {
  return instK == kSpanK ? kSpanTileK : facts::tileK(mma);
}

/// What decides how a stage lies: an instruction's kind and shape, the tile, and how many
/// CTAs compute it.
struct TileChoice {
  facts::MmaKind mma;
  Shape3 inst, tile;
  int64_t ctas = 1;
};
inline TileChoice choiceOf(ScheduleAttr schedule) {
  return {schedule.getMma(), schedule.getInst(), schedule.getTile(), schedule.getCtaGroup()};
}

/// A stage of A and of B in the shared memory of one CTA.
facts::OperandTile planA(ProblemAttr problem, const TileChoice &choice);
facts::OperandTile planB(ProblemAttr problem, const TileChoice &choice);
StageBytes planStage(ProblemAttr problem, const TileChoice &choice);

/// Bytes of the rings of operands and scales; without `scaleStages` they are one.
inline int64_t planRingBytes(StageBytes stage, int64_t stages, int64_t scaleStages) {
  return stages * (stage.a + stage.b) +
         (scaleStages ? scaleStages : stages) * (stage.sfa + stage.sfb);
}
/// Shared bytes of a kernel with these stages and staging buffers.
inline int64_t planSharedBytes(StageBytes stage, int64_t stages, int64_t staging,
                               int64_t scaleStages = 0) {
  return kControlBytes + planRingBytes(stage, stages, scaleStages) + staging * kStagingBytes;
}

/// Products that a CTA or a pair computes with the same B: 2 where the tile has twice the
/// instruction's rows. They are one accumulator stage.
inline int64_t productsOfTile(ScheduleAttr schedule) {
  return schedule.getTile().m / schedule.getInst().m;
}

/// Columns of tensor memory: accumulator stages, then the scales of one K tile.
struct TmemColumns {
  int64_t accumulators, sfa, sfb;
  int64_t used() const { return accumulators + sfa + sfb; }
};

inline TmemColumns planTmem(StageBytes stage, Shape3 tile, int64_t accumulators) {
  // UTCCP spreads a tile over 32 lanes and repeats it for the other warps.
  constexpr int64_t columnBytes = facts::kTmemLanesPerWarp * facts::kTmemColumnBits / 8;
  return {accumulators * tile.n, stage.sfa / columnBytes, stage.sfb / columnBytes};
}

/// Rows of a product that are one CTA's: the lanes of its tensor memory.
inline int64_t rowsOfProduct(ScheduleAttr schedule) {
  return schedule.getInst().m / schedule.getCtaGroup();
}

/// An overlapped accumulator stage starts on a multiple of so many columns.
inline constexpr int64_t kOverlapStep = 16;
/// Columns of one tcgen05.ld of the epilogue.
inline constexpr int64_t kEpilogueColumns = 32;

/// Columns from one accumulator stage to the next. Overlapped ones share what the scales take.
int64_t accumulatorStep(facts::Arch arch, StageBytes stage, Shape3 tile,
                        AccumulatorColumns columns);
/// The columns of a schedule.
TmemColumns planTmem(StageBytes stage, ScheduleAttr schedule);
/// Stages of the ring between mma and epilogue: overlapped accumulators take turns in one.
inline int64_t accumulatorRing(ScheduleAttr schedule) {
  return schedule.getAccumulatorColumns() == AccumulatorColumns::overlapped
             ? 1
             : schedule.getAccumulators();
}

/// Sizes that follow from a problem and a schedule.
struct GemmShape {
  GemmShape(ProblemAttr problem, ScheduleAttr schedule);

  int64_t tilesM, tilesN, tilesK; // tiles of a matrix; tilesM is ? where m is
  int64_t batches;                // matrices of the result
  int64_t scalesPerRow;           // ceil(k / block)
  int64_t scaleTilesPerStage;     // 512-byte tiles along K of one stage
  int64_t scaleTilesOfA;          // 512-byte tiles along the rows of one stage: one a product
  int64_t boxesOfSfa;             // loads of A's scales: one for each product of a pair
  int64_t scaleTilesOfB;          // 512-byte tiles along the columns of one stage
  int64_t lastSteps;              // instructions in the last K tile
  int64_t stepsPerStage;          // instructions in the others
  facts::OperandTile a, b;        // one stage
  StageBytes stage;
  int64_t outBytes;    // of one element of D, which is wide; 1 of narrow ones
  int64_t outColumns;  // of D in 128 bytes
  int64_t tileColumns; // of D in a tile: half of the product's where it has gates
  /// Rows between the boxes of A of a stage.
  int64_t boxStepOfA() const { return boxesOfSfa > 1 ? ctasOfTile * facts::kTmemLanes : a.box0; }
  int64_t tiles() const { return tilesM * tilesN * batches; }
  int64_t ctasOfTile; // that compute one tile together: 1, or a pair
  /// Bytes that one stage of A, B and their scales adds to its barrier, which a pair shares.
  int64_t arrivingScales() const { return ctasOfTile * (stage.sfa + stage.sfb); }
  int64_t arriving() const {
    return ctasOfTile * (a.arrivingBytes() + b.arrivingBytes() + stage.sfa + stage.sfb);
  }
};

/// The first column of an accumulator stage that load `i` of the epilogue reads, of `count`
/// columns each. What is stored at once comes from each product in turn, so that nothing
/// that they share is held for longer.
int64_t epilogueColumn(const GemmShape &shape, ScheduleAttr schedule, int64_t i, int64_t count);
/// How many columns must be read before `columns` at the end that is read first are: gates and
/// values of a group take turns.
int64_t columnsUntilRead(const GemmShape &shape, ScheduleAttr schedule, int64_t columns);

/// Scales that are stored at once where D is quantised: what a row of a tile of scales holds, or
/// half of it where tiles of D start in the middle of one.
int64_t scalesPerStore(const GemmShape &shape, ProblemAttr problem);

/// Whether column tiles cut tiles of B's scales, so that every other one starts inside one.
inline bool cutsScaleTiles(Shape3 tile) { return tile.n % facts::kScaleTileRows != 0; }

/// Whether each product of a batch has an operand of its own: the last dimension of its map.
bool hasBatches(ProblemAttr problem, ProblemOperand operand);

/// Tensor maps of the kernel's parameters. An operand has `rows` rows of `k` elements, `pitch`
/// bytes apart. `box` is what one load brings.
TmaMapAttr operandMap(mlir::MLIRContext *context, const facts::OperandTile &tile,
                      facts::Format format, facts::Major major, int64_t rows, int64_t k,
                      int64_t pitch, llvm::ArrayRef<int64_t> box);
/// Tiles of scales, each cut into `pieces`, which lie along K.
TmaMapAttr scaleMap(mlir::MLIRContext *context, int64_t rows, int64_t scalesPerRow,
                    llvm::ArrayRef<int64_t> box, int64_t pieces);
/// D's.
TmaMapAttr outputMap(ProblemAttr problem);

/// The four maps of a kernel's operands, in the order of its parameters: A, B, SFA, SFB.
std::array<TmaMapAttr, 4> operandMaps(ProblemAttr problem, ScheduleAttr schedule);

/// Dynamic shared bytes of the kernel that is built for a schedule: the buffers, a
/// full and an empty barrier for each stage of both rings, and the tensor-memory slot.
int64_t planKernelBytes(ProblemAttr problem, ScheduleAttr schedule);

/// The threads of a kernel: four epilogue warps, one for the MMA, one for TMA, and one for
/// scales that have a ring of their own.
inline int64_t kernelThreads(ScheduleAttr schedule) { return isSpan(schedule) ? 224 : 192; }

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PLANNING_H
