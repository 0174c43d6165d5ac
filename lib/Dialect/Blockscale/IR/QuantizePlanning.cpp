//===- QuantizePlanning.cpp - how a matrix that is quantised is shared out ===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"

#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/ScaleTile.h"

using namespace mlir;
using namespace blockscale;
using facts::Arch;
using facts::BlockFormat;

static constexpr int64_t kScalarBytes = 4; // f32

static int64_t bytesOf(facts::Format format) { return facts::info(format).bits / 8; }

//===----------------------------------------------------------------------===//
// Problem
//===----------------------------------------------------------------------===//

std::optional<BlockFormat> QuantizeProblemAttr::getBlockFormat() const {
  auto blocks = dyn_cast<BlocksAttr>(getTarget());
  return blocks ? std::optional(blocks.getFormat()) : std::nullopt;
}
BlockedAttr QuantizeProblemAttr::getBlocked() const { return dyn_cast<BlockedAttr>(getTarget()); }

int64_t QuantizeProblemAttr::getSourceBytes() const {
  return getRows() * getK() * bytesOf(getSource());
}
int64_t QuantizeProblemAttr::getTargetBytes() const {
  if (isa<AmaxAttr>(getTarget()))
    return kScalarBytes;
  return getBlocked() ? getBlocked().getElementBytes()
                      : facts::matrixBytes(*getBlockFormat(), getRows(), getK());
}
int64_t QuantizeProblemAttr::getScaleBytes() const {
  return getBlocked() ? getBlocked().getScaleBytes() : 0;
}

SmallVector<std::pair<StringRef, int64_t>> QuantizeProblemAttr::getBuffers() const {
  SmallVector<std::pair<StringRef, int64_t>> buffers{{"source", getSourceBytes()},
                                                     {"target", getTargetBytes()}};
  if (getBlocked())
    buffers.push_back({"scales", getScaleBytes()});
  if (getGlobal() == GlobalScale::computed)
    buffers.push_back({"amax", kScalarBytes});
  if (getGlobal() != GlobalScale::none)
    buffers.push_back({"global", kScalarBytes});
  return buffers;
}

QuantizeProblemAttr blockscale::getQuantizeProblem(QuantizeChunksOp op) {
  auto x = cast<ShapedType>(op.getX().getType());
  return QuantizeProblemAttr::get(
      op.getContext(), x.getDimSize(0), x.getDimSize(1), *getFormat(x.getElementType()),
      BlocksAttr::get(op.getContext(), op.getLogicalFormat()), GlobalScale::none);
}
QuantizeProblemAttr blockscale::getQuantizeProblem(QuantizeOp op) {
  auto x = cast<ShapedType>(op.getX().getType());
  return QuantizeProblemAttr::get(op.getContext(), x.getDimSize(0), x.getDimSize(1),
                                  *getFormat(x.getElementType()), op.getLogicalBlocked(),
                                  op.getGiven()    ? GlobalScale::given
                                  : op.getGlobal() ? GlobalScale::computed
                                                   : GlobalScale::none);
}

QuantizeProblemAttr blockscale::getAmaxProblem(QuantizeProblemAttr problem) {
  return QuantizeProblemAttr::get(problem.getContext(), problem.getRows(), problem.getK(),
                                  problem.getSource(), AmaxAttr::get(problem.getContext()),
                                  GlobalScale::none);
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

static BlockOrder orderOf(QuantizeProblemAttr problem) {
  if (BlockedAttr blocked = problem.getBlocked())
    return blocked.getLayout() == facts::ScaleLayout::tiled ? BlockOrder::scales : BlockOrder::rows;
  std::optional<BlockFormat> format = problem.getBlockFormat();
  return format && facts::isTile(*format) ? BlockOrder::tiles : BlockOrder::rows;
}

static int64_t blockOf(QuantizeProblemAttr problem) {
  if (BlockedAttr blocked = problem.getBlocked())
    return blocked.getBlock();
  return isa<AmaxAttr>(problem.getTarget()) ? kAmaxBlock : facts::kChunkElements;
}

static int64_t roundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

QuantizeShape::QuantizeShape(QuantizeProblemAttr problem)
    : order(orderOf(problem)), block(blockOf(problem)),
      elements(kLaneBytes / bytesOf(problem.getSource())),
      steps(kWarpElements / (kLanes * elements)), lanes(block / elements), owned(steps / lanes),
      warpBlocks(kWarpElements / block), blocksPerRow(problem.getK() / block),
      blockBytes(block * bytesOf(problem.getSource())), paddedCols(blocksPerRow),
      elementBits(problem.getBlocked() ? facts::info(problem.getBlocked().getElement()).bits : 8) {
  int64_t rows = problem.getRows();
  if (order == BlockOrder::tiles)
    rows = roundUp(rows, facts::kTileTokens);
  if (order == BlockOrder::scales) {
    rows = roundUp(rows, facts::kScaleTileRows);
    paddedCols = roundUp(blocksPerRow, facts::kScaleTileScales);
  }
  ctas = roundUp(rows * paddedCols, ctaBlocks()) / ctaBlocks();
}

int64_t blockscale::planQuantizeShared(QuantizeProblemAttr problem) {
  QuantizeShape shape(problem);
  if (shape.order != BlockOrder::rows || !problem.getBlockFormat())
    return 0;
  return shape.ctaBlocks() * facts::info(*problem.getBlockFormat()).bytes;
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

bool blockscale::hasSequence(Arch arch, QuantizeSequence sequence) {
  switch (sequence) {
  case QuantizeSequence::divide:
    return true;
  case QuantizeSequence::integer:
  case QuantizeSequence::remainder: // of UE4M3
    return facts::supports(arch, facts::Feature::cvtFp8);
  case QuantizeSequence::reciprocal: // cvt.rp.ue8m0x2
    return facts::supports(arch, facts::Feature::cvtNarrow);
  case QuantizeSequence::scaled:
    return facts::supports(arch, facts::Feature::cvtScaledN1);
  }
  llvm_unreachable("sequences are listed above");
}

bool blockscale::convertsScales(Arch arch, facts::ScaleFormat scale) {
  return facts::supports(arch, scale == facts::ScaleFormat::ue5m3 ? facts::Feature::cvtUe5m3
                                                                  : facts::Feature::cvtFp8);
}

bool blockscale::hasQuantizeKernel(QuantizeOp op, Arch arch) {
  return llvm::is_contained(kQuantizeTargets, arch) &&
         convertsScales(arch, op.getLogicalBlocked().getScale());
}

bool blockscale::isSequenceOf(QuantizeSequence sequence, facts::ScaleFormat scale) {
  return scale == facts::ScaleFormat::ue8m0
             ? sequence != QuantizeSequence::divide && sequence != QuantizeSequence::remainder
             : sequence == QuantizeSequence::remainder;
}

bool blockscale::isSequenceOf(QuantizeSequence sequence, QuantizeProblemAttr problem) {
  if (BlockedAttr blocked = problem.getBlocked())
    return isSequenceOf(sequence, blocked.getScale());
  return sequence == QuantizeSequence::divide;
}

/// From the plainest to the best.
static constexpr std::array kSequencesByRank{QuantizeSequence::integer,
                                             QuantizeSequence::reciprocal, QuantizeSequence::scaled,
                                             QuantizeSequence::remainder};

std::optional<QuantizeSequence> blockscale::chooseSequence(facts::ScaleFormat scale, Arch arch) {
  std::optional<QuantizeSequence> best;
  for (QuantizeSequence better : kSequencesByRank)
    if (isSequenceOf(better, scale) && hasSequence(arch, better) && convertsScales(arch, scale))
      best = better;
  return best;
}

QuantizeScheduleAttr blockscale::chooseQuantizeSchedule(QuantizeProblemAttr problem, Arch arch) {
  QuantizeSequence sequence = QuantizeSequence::divide;
  for (QuantizeSequence better : kSequencesByRank)
    if (isSequenceOf(better, problem) && hasSequence(arch, better))
      sequence = better;
  return QuantizeScheduleAttr::get(problem.getContext(), arch, sequence, kQuantizeThreads,
                                   kQuantizeBlocksPerSm);
}

LogicalResult blockscale::verifyQuantizeSchedule(QuantizeScheduleAttr schedule, ErrorFn emitError) {
  if (!llvm::is_contained(kQuantizeTargets, schedule.getArch())) {
    InFlightDiagnostic error = emitError()
                               << "quantize_schedule_c1: chip of a kernel that quantises must be "
                                  "one of ";
    for (auto [i, arch] : llvm::enumerate(kQuantizeTargets))
      error << (i ? ", " : "") << StringRef(facts::name(arch));
    return error << ", got " << StringRef(facts::name(schedule.getArch()));
  }
  if (schedule.getThreads() != kQuantizeThreads)
    return emitError() << "quantize_schedule_c2: threads must be " << kQuantizeThreads << ", got "
                       << schedule.getThreads();
  // Where the number is unknown, it is at least that of every other chip.
  int64_t threads = facts::info(schedule.getArch()).threadsPerSm;
  int64_t most = (threads ? threads : 1536) / kQuantizeThreads;
  if (schedule.getBlocks() < 1 || schedule.getBlocks() > most)
    return emitError() << "quantize_schedule_c3: blocks must be 1 .. " << most << ", got "
                       << schedule.getBlocks();
  if (!hasSequence(schedule.getArch(), schedule.getSequence()))
    return emitError() << "quantize_schedule_c4: sequence must be one whose conversions "
                       << StringRef(facts::name(schedule.getArch())) << " has, got "
                       << StringRef(name(schedule.getSequence()));
  return success();
}
