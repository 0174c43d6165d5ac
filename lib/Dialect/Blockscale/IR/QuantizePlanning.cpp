//===- QuantizePlanning.cpp - how a matrix that is quantised is shared out ===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"

#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/ScaleTile.h"

using namespace mlir;
using namespace blockscale;
using facts::Arch;
using facts::BlockFormat;

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
  return getBlocked() ? getBlocked().getElementBytes()
                      : facts::matrixBytes(*getBlockFormat(), getRows(), getK());
}
int64_t QuantizeProblemAttr::getScaleBytes() const {
  return getBlocked() ? getBlocked().getScaleBytes() : 0;
}

QuantizeProblemAttr blockscale::getQuantizeProblem(QuantizeChunksOp op) {
  auto x = cast<ShapedType>(op.getX().getType());
  return QuantizeProblemAttr::get(op.getContext(), x.getDimSize(0), x.getDimSize(1),
                                  *getFormat(x.getElementType()),
                                  BlocksAttr::get(op.getContext(), op.getLogicalFormat()));
}
QuantizeProblemAttr blockscale::getQuantizeProblem(QuantizeOp op) {
  auto x = cast<ShapedType>(op.getX().getType());
  return QuantizeProblemAttr::get(op.getContext(), x.getDimSize(0), x.getDimSize(1),
                                  *getFormat(x.getElementType()), op.getLogicalBlocked());
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

static BlockOrder orderOf(QuantizeProblemAttr problem) {
  if (BlockedAttr blocked = problem.getBlocked())
    return blocked.getLayout() == facts::ScaleLayout::tiled ? BlockOrder::scales : BlockOrder::rows;
  return facts::isTile(*problem.getBlockFormat()) ? BlockOrder::tiles : BlockOrder::rows;
}

static int64_t roundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

QuantizeShape::QuantizeShape(QuantizeProblemAttr problem)
    : order(orderOf(problem)),
      block(problem.getBlocked() ? problem.getBlocked().getBlock() : facts::kChunkElements),
      elements(kLaneBytes / bytesOf(problem.getSource())),
      steps(kWarpElements / (kLanes * elements)), lanes(block / elements), owned(steps / lanes),
      warpBlocks(kWarpElements / block), blocksPerRow(problem.getK() / block),
      blockBytes(block * bytesOf(problem.getSource())), paddedCols(blocksPerRow) {
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
  if (shape.order != BlockOrder::rows || problem.getBlocked())
    return 0;
  return shape.ctaBlocks() * facts::info(*problem.getBlockFormat()).bytes;
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

static bool hasSequence(Arch arch, QuantizeSequence sequence) {
  switch (sequence) {
  case QuantizeSequence::divide:
    return true;
  case QuantizeSequence::integer: // cvt to FP8
    return facts::covers(arch, Arch::sm_89);
  case QuantizeSequence::reciprocal: // cvt.rp.ue8m0x2
    return facts::covers(arch, {Arch::sm_100f, Arch::sm_120f});
  case QuantizeSequence::scaled: // cvt.scaled::n1
    return facts::covers(arch, Arch::sm_107f);
  }
  llvm_unreachable("sequences are listed above");
}

bool blockscale::hasQuantizeKernel(QuantizeOp op, Arch arch) {
  BlockedAttr blocked = op.getLogicalBlocked();
  return blocked.getElement() == facts::Format::e4m3 &&
         blocked.getScale() == facts::ScaleFormat::ue8m0 &&
         llvm::is_contained(kQuantizeTargets, arch) && hasSequence(arch, QuantizeSequence::integer);
}

QuantizeScheduleAttr blockscale::chooseQuantizeSchedule(QuantizeProblemAttr problem, Arch arch) {
  QuantizeSequence sequence = QuantizeSequence::divide;
  if (problem.getBlocked())
    for (QuantizeSequence better :
         {QuantizeSequence::integer, QuantizeSequence::reciprocal, QuantizeSequence::scaled})
      if (hasSequence(arch, better))
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
