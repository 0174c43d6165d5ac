//===- WarpPlanRules.cpp - the plan of an mma.sync kernel and its use -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules warp_kernel_c4 … warp_kernel_c11 hold the plan against the schedule and
// against what the ops do with it. WarpKernelOps.td states them.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;

namespace {

class WarpPlanVerifier {
public:
  explicit WarpPlanVerifier(WarpKernelOp kernel) : kernel(kernel), shape(kernel.getSchedule()) {
    kernel.getBody().walk([&](SharedPlaneOp op) { planes.push_back(op); });
  }

  LogicalResult run() {
    int64_t bytes = planPlaneBytes(kernel.getSchedule());
    if (int64_t(kernel.getSharedBytes()) != bytes)
      return kernel.emitOpError("warp_kernel_c5: shared_bytes must be ")
             << bytes << ", the planes of the schedule, got " << kernel.getSharedBytes();
    if (failed(checkWide()))
      return failure();
    if (planes.empty() && isMachineLevel())
      return success();
    return success(succeeded(checkPlanes()) && succeeded(checkRanges()) &&
                   succeeded(checkLayouts()) && succeeded(checkReads()) &&
                   succeeded(checkBarriers()) && succeeded(checkMinima()) &&
                   succeeded(checkSums()));
  }

private:
  bool isMachineLevel() {
    return !kernel.getBody()
                .walk([](Operation *op) {
                  return isa<FillActivationsOp, FillWeightsOp, StoreGroupOp, ShareGroupOp,
                             LoadGroupOp>(op)
                             ? WalkResult::interrupt()
                             : WalkResult::advance();
                })
                .wasInterrupted();
  }

  LogicalResult checkPlanes() {
    SmallVector<PlaneAttr> want = planPlanes(kernel.getSchedule());
    for (PlaneAttr plane : want)
      if (llvm::count_if(planes, [&](SharedPlaneOp op) {
            return op.getPlan().getContent() == plane.getContent();
          }) != 1)
        return kernel.emitOpError("warp_kernel_c4: a kernel must plan one plane of ")
               << name(plane.getContent());
    for (SharedPlaneOp op : planes) {
      auto planned = llvm::find_if(
          want, [&](PlaneAttr plane) { return plane.getContent() == op.getPlan().getContent(); });
      if (planned == want.end())
        return op.emitOpError("warp_kernel_c4: planes must be those of the schedule, got ")
               << name(op.getPlan().getContent());
      if (planned->getBytes() != op.getPlan().getBytes())
        return op.emitOpError("warp_kernel_c4: bytes of ")
               << name(planned->getContent()) << " must be " << planned->getBytes() << ", got "
               << op.getPlan().getBytes();
    }
    return success();
  }

  LogicalResult checkRanges() {
    SmallVector<SharedPlaneOp> sorted(planes);
    llvm::stable_sort(sorted, [](SharedPlaneOp a, SharedPlaneOp b) {
      return a.getPlan().getOffset() < b.getPlan().getOffset();
    });
    int64_t end = 0;
    if (shape.transposed)
      return checkOffsets(sorted);
    for (SharedPlaneOp op : sorted) {
      PlaneAttr plan = op.getPlan();
      if (plan.getOffset() < end || plan.getOffset() + plan.getBytes() > shape.stageBytes)
        return op.emitOpError("warp_kernel_c5: ")
               << name(plan.getContent()) << " must lie inside " << end << ".."
               << shape.stageBytes - 1 << ", apart from the others, got " << plan.getOffset()
               << ".." << plan.getOffset() + plan.getBytes() - 1;
      end = plan.getOffset() + plan.getBytes();
    }
    return success();
  }

  /// A copy of a tile fills all planes of A, so that its offsets are those of the plan.
  LogicalResult checkOffsets(ArrayRef<SharedPlaneOp> sorted) {
    SmallVector<PlaneAttr> planned = planPlanes(kernel.getSchedule());
    for (size_t i = 0; i < planned.size(); ++i) {
      SharedPlaneOp op = sorted[i];
      if (op.getPlan().getOffset() != planned[i].getOffset())
        return op.emitOpError("warp_kernel_c5: ")
               << name(planned[i].getContent()) << " must lie at " << planned[i].getOffset()
               << ", where a tile has it, got " << op.getPlan().getOffset();
    }
    return success();
  }

  LogicalResult checkLayouts() {
    for (PlaneAttr want : planPlanes(kernel.getSchedule()))
      for (SharedPlaneOp op : planes)
        if (PlaneAttr plan = op.getPlan();
            plan.getContent() == want.getContent() && plan.getLayout() != want.getLayout())
          return op.emitOpError("warp_kernel_c6: layout of ")
                 << name(plan.getContent()) << " must be " << name(want.getLayout())
                 << ", which has no bank conflicts, got " << name(plan.getLayout());
    return success();
  }

  /// warp_kernel_c7: follows the sums from each mma to the stores.
  LogicalResult checkWide() {
    llvm::SetVector<Value> reached;
    kernel.getBody().walk([&](Operation *op) {
      if (isa<MmaS8Op>(op) || op->getName().getStringRef() == "nvvm.mma.sync")
        reached.insert(op->result_begin(), op->result_end());
    });
    auto isHalf = [](Type type) {
      Type element = getElementTypeOrSelf(type);
      return element.isF16() || element.isBF16();
    };
    for (size_t i = 0; i < reached.size(); ++i) {
      Value value = reached[i];
      if (isHalf(value.getType()))
        return emitHalf(value);
      for (OpOperand &use : value.getUses()) {
        Operation *user = use.getOwner();
        reached.insert(user->result_begin(), user->result_end());
        if (auto loop = dyn_cast<scf::ForOp>(user)) {
          if (BlockArgument argument = loop.getTiedLoopRegionIterArg(&use))
            reached.insert(argument);
        } else if (isa<scf::YieldOp>(user)) {
          if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()))
            reached.insert(loop.getRegionIterArg(use.getOperandNumber()));
          reached.insert(user->getParentOp()->result_begin(), user->getParentOp()->result_end());
        }
      }
    }
    return success();
  }
  LogicalResult emitHalf(Value value) {
    return emitError(value.getLoc(), "warp_kernel_c7: nothing between an mma and a store may be "
                                     "f16 or bf16, got a value of ")
           << value.getType();
  }

  LogicalResult checkRead(Operation *op, Value plane, PlaneContent content, int64_t index,
                          int64_t count, StringRef what) {
    auto planned = plane.getDefiningOp<SharedPlaneOp>();
    if (!planned || planned.getPlan().getContent() != content)
      return op->emitOpError("warp_kernel_c8: plane must be ")
             << name(content) << ", got "
             << (planned ? name(planned.getPlan().getContent()) : "another value");
    if (index < 0 || index >= count)
      return op->emitOpError("warp_kernel_c8: ")
             << what << " must be 0 .. " << count - 1 << ", got " << index;
    return success();
  }

  LogicalResult checkReads() {
    PlaneContent b = shape.raw ? PlaneContent::qb_raw : PlaneContent::qb8;
    auto check = [&](Operation *op) -> LogicalResult {
      if (auto load = dyn_cast<LoadGroupOp>(op)) {
        if (failed(checkRead(op, load.getPlane(), PlaneContent::qa8, load.getChunk(), shape.chunks,
                             "chunk")))
          return failure();
        return checkRead(op, load.getPlane(), PlaneContent::qa8, load.getGroup(), shape.groups,
                         "group");
      }
      if (auto load = dyn_cast<LoadTokenScalesOp>(op)) {
        if (failed(checkRead(op, load.getPlane(), PlaneContent::sda, load.getChunk(), shape.chunks,
                             "chunk")))
          return failure();
        return checkRead(op, load.getPlane(), PlaneContent::sda, load.getGroup(), shape.groups,
                         "group");
      }
      if (auto load = dyn_cast<LoadRowScalesOp>(op)) {
        if (failed(checkRead(op, load.getPlane(), PlaneContent::sds, load.getChunk(), shape.chunks,
                             "chunk")))
          return failure();
        return checkRead(op, load.getPlane(), PlaneContent::sds, load.getStrip(), shape.strips,
                         "strip");
      }
      if (auto load = dyn_cast<LoadNibblesOp>(op)) {
        if (failed(checkRead(op, load.getPlane(), PlaneContent::qb_raw, load.getPair(),
                             shape.chunks / 2, "pair")))
          return failure();
        return checkRead(op, load.getPlane(), PlaneContent::qb_raw, load.getStrip(), shape.strips,
                         "strip");
      }
      if (auto load = dyn_cast<LoadRowsOp>(op))
        return checkRead(op, load.getPlane(), PlaneContent::qb8, load.getChunk(), shape.chunks,
                         "chunk");
      if (auto fill = dyn_cast<FillActivationsOp>(op)) {
        if (failed(checkRead(op, fill.getValues(), PlaneContent::qa8, 0, 1, "")) ||
            failed(checkRead(op, fill.getScales(), PlaneContent::sda, 0, 1, "")))
          return failure();
        if (bool(fill.getParts()) != shape.splitMinima)
          return op->emitOpError("warp_kernel_c8: a plane of parts must be there where minima are "
                                 "a product of their own, and only there");
        return fill.getParts() ? checkRead(op, fill.getParts(), PlaneContent::sum_parts, 0, 1, "")
                               : success();
      }
      if (auto load = dyn_cast<LoadSumPartsOp>(op))
        return checkRead(op, load.getPlane(), PlaneContent::sum_parts, load.getGroup(),
                         shape.groups, "group");
      if (auto load = dyn_cast<LoadMinimaOp>(op))
        return checkRead(op, load.getPlane(), PlaneContent::minima, load.getStrip(), shape.strips,
                         "strip");
      if (auto load = dyn_cast<LoadMinimaScalesOp>(op))
        return checkRead(op, load.getPlane(), PlaneContent::dmin, load.getStrip(), shape.strips,
                         "strip");
      if (auto fill = dyn_cast<FillWeightsOp>(op)) {
        int64_t parts = std::max<int64_t>(facts::kQ4KSubBlocks / shape.chunks,
                                          shape.chunks / facts::kQ4KSubBlocks);
        if (failed(checkRead(op, fill.getValues(), b, fill.getPart(), parts, "part")))
          return failure();
        if (failed(checkRead(op, fill.getScales(), PlaneContent::sds, 0, 1, "")))
          return failure();
        if (fill.getMinima().size() != (shape.splitMinima ? 2 : 0))
          return op->emitOpError("warp_kernel_c8: planes of minima must be ")
                 << (shape.splitMinima ? 2 : 0) << ", got " << fill.getMinima().size();
        for (auto [plane, content] :
             llvm::zip(fill.getMinima(), std::array{PlaneContent::minima, PlaneContent::dmin}))
          if (failed(checkRead(op, plane, content, 0, 1, "")))
            return failure();
        return success();
      }
      if (auto store = dyn_cast<StoreGroupOp>(op))
        return checkPlace(store);
      if (auto share = dyn_cast<ShareGroupOp>(op))
        return checkPlace(share);
      if (auto rescale = dyn_cast<Rank1RescaleOp>(op))
        return checkTerms(rescale);
      return success();
    };
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  template <typename Op> LogicalResult checkPlace(Op op) {
    for (auto [what, have, count] : {std::tuple("group", int64_t(op.getGroup()), shape.groups),
                                     std::tuple("strip", int64_t(op.getStrip()), shape.strips)})
      if (have < 0 || have >= count)
        return op.emitOpError("warp_kernel_c8: ")
               << what << " must be 0 .. " << count - 1 << ", got " << have;
    return success();
  }

  /// The sums are of the chunk, the group and the strip that the scales are of.
  LogicalResult checkTerms(Rank1RescaleOp op) {
    auto mma = op.getSums().getDefiningOp<MmaS8Op>();
    auto group = mma.getA().getDefiningOp<LoadGroupOp>();
    auto tokens = op.getTokens().getDefiningOp<LoadTokenScalesOp>();
    auto scales = op.getRows().getDefiningOp<LoadRowScalesOp>();
    std::optional<int64_t> chunk;
    int64_t strip = 0;
    if (auto rows = mma.getB().getDefiningOp<LoadRowsOp>())
      chunk = rows.getChunk();
    else if (auto unpack = mma.getB().getDefiningOp<UnpackNibblesOp>())
      if (auto load = unpack.getPacked().getDefiningOp<LoadNibblesOp>())
        chunk = 2 * load.getPair() + unpack.getHalf(), strip = load.getStrip();
    if (group && chunk && int64_t(group.getChunk()) == *chunk &&
        tokens.getChunk() == group.getChunk() && tokens.getGroup() == group.getGroup() &&
        int64_t(scales.getStrip()) == strip)
      return success();
    return op.emitOpError("warp_kernel_c8: sums and scales must be of one chunk, group and strip, "
                          "got scales of chunk ")
           << tokens.getChunk() << ", group " << tokens.getGroup() << " and strip "
           << scales.getStrip();
  }

  /// warp_kernel_c10: the scales have no second terms, and each group and strip gets the minima
  /// once.
  LogicalResult checkMinima() {
    SmallVector<int64_t> added(size_t(shape.groups * shape.strips), 0);
    WalkResult result = kernel.getBody().walk([&](Operation *op) -> WalkResult {
      if (auto load = dyn_cast<LoadTokenScalesOp>(op))
        if ((load.getType().getNumElements() == 2) != shape.splitMinima)
          return load.emitOpError("warp_kernel_c10: scaled sums must be loaded where minima are "
                                  "folded, and only there, got ")
                 << load.getType();
      if (auto mma = dyn_cast<MmaMinimaOp>(op)) {
        int64_t strip = mma.getMinima().getDefiningOp<LoadMinimaOp>().getStrip(),
                own = mma.getScales().getDefiningOp<LoadMinimaScalesOp>().getStrip();
        if (strip != own)
          return mma.emitOpError("warp_kernel_c10: minima and their scales must be of one strip, "
                                 "got ")
                 << strip << " and " << own;
        ++added[mma.getParts().getDefiningOp<LoadSumPartsOp>().getGroup() * shape.strips + strip];
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    for (auto [index, times] : llvm::enumerate(added))
      if (times != shape.splitMinima)
        return kernel.emitOpError("warp_kernel_c10: minima must be added to group ")
               << int64_t(index) / shape.strips
               << (shape.splitMinima ? " once" : " by its rescales") << ", got " << times
               << " mma_minima";
    return success();
  }

  /// warp_kernel_c11: by which ops sums leave the kernel, and that each group and strip does.
  LogicalResult checkSums() {
    bool isSplit = kernel.getSchedule().isSplit();
    SmallVector<StringRef> have,
        want(size_t(shape.groups * shape.strips),
             isSplit ? ShareGroupOp::getOperationName() : StoreGroupOp::getOperationName());
    if (isSplit)
      want.append({ClusterBarrierOp::getOperationName(), AddPartsOp::getOperationName(),
                   ClusterBarrierOp::getOperationName()});
    SmallVector<int64_t> left(size_t(shape.groups * shape.strips), 0);
    kernel.getBody().walk([&](Operation *op) {
      if (isa<StoreGroupOp, ShareGroupOp, ClusterBarrierOp, AddPartsOp>(op))
        have.push_back(op->getName().getStringRef());
      llvm::TypeSwitch<Operation *>(op).Case<StoreGroupOp, ShareGroupOp>([&](auto op) {
        ++left[size_t(int64_t(op.getGroup()) * shape.strips + int64_t(op.getStrip()))];
      });
    });
    if (have != want)
      return kernel.emitOpError("warp_kernel_c11: sums of a split of ")
             << shape.split << " must leave by " << llvm::join(want, ", ") << ", got "
             << (have.empty() ? "nothing" : llvm::join(have, ", "));
    for (auto [index, times] : llvm::enumerate(left))
      if (times != 1)
        return kernel.emitOpError("warp_kernel_c11: sums of group ")
               << int64_t(index) / shape.strips << " and strip " << int64_t(index) % shape.strips
               << " must leave once, got " << times << " times";
    return success();
  }

  /// Stages of a ring: what is read has been waited for, and is given back in its turn.
  LogicalResult checkRing() {
    bool full = false;
    auto check = [&](Operation *op) -> LogicalResult {
      if (isa<LoadGroupOp, LoadNibblesOp, LoadTokenScalesOp, LoadRowScalesOp, LoadSumPartsOp,
              LoadMinimaOp, LoadMinimaScalesOp>(op) &&
          !full)
        return op->emitOpError("warp_kernel_c9: planes must be filled by all (planes_filled) "
                               "before they are read, got a load before that");
      if (isa<FillActivationsOp, FillWeightsOp>(op) && full)
        return op->emitOpError("warp_kernel_c9: stages must be filled ahead, before planes_filled, "
                               "got a fill behind it");
      if (isa<PlanesFilledOp>(op))
        full = true;
      if (isa<PlanesReadOp>(op))
        full = false;
      if (isa<scf::YieldOp>(op) && full)
        return op->emitOpError("warp_kernel_c9: planes must be read by all (planes_read) before a "
                               "loop's next turn, got none");
      return success();
    };
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// One stage is read while the other is filled; planes_filled turns them round.
  LogicalResult checkTurns() {
    bool full = false, filling = false;
    auto check = [&](Operation *op) -> LogicalResult {
      if (isa<FillActivationsOp, FillWeightsOp>(op))
        filling = true;
      if (isa<LoadGroupOp, LoadNibblesOp, LoadTokenScalesOp, LoadRowScalesOp>(op) && !full)
        return op->emitOpError("warp_kernel_c9: planes must be filled by all (planes_filled) "
                               "before they are read, got a load before that");
      if (isa<PlanesFilledOp>(op)) {
        if (!filling)
          return op->emitOpError("warp_kernel_c9: planes_filled must follow fills of its stage, "
                                 "got none");
        full = true;
        filling = false;
      }
      if (isa<scf::YieldOp>(op) && filling)
        return op->emitOpError("warp_kernel_c9: fills must be met (planes_filled) before a loop's "
                               "next turn, got none");
      return success();
    };
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult checkBarriers() {
    if (shape.ring)
      return checkRing();
    if (shape.stages == 2)
      return checkTurns();
    bool full = false;
    auto check = [&](Operation *op) -> LogicalResult {
      if (isa<FillActivationsOp, FillWeightsOp>(op) && full)
        return op->emitOpError("warp_kernel_c9: planes must be read by all (planes_read) before "
                               "they are filled again, got a fill before that");
      if (isa<LoadGroupOp, LoadNibblesOp, LoadRowsOp, LoadTokenScalesOp, LoadRowScalesOp,
              LoadSumPartsOp, LoadMinimaOp, LoadMinimaScalesOp>(op) &&
          !full)
        return op->emitOpError("warp_kernel_c9: planes must be filled by all (planes_filled) "
                               "before they are read, got a load before that");
      if (isa<PlanesFilledOp>(op))
        full = true;
      if (isa<PlanesReadOp>(op))
        full = false;
      return success();
    };
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      if (failed(check(op)))
        return WalkResult::interrupt();
      // What a loop leaves is what its next turn finds.
      if (isa<scf::YieldOp>(op) && full) {
        op->emitOpError("warp_kernel_c9: planes must be read by all (planes_read) before a loop's "
                        "next turn, got none");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  WarpKernelOp kernel;
  WarpShape shape;
  SmallVector<SharedPlaneOp> planes;
};

} // namespace

LogicalResult WarpKernelOp::verifyRegions() { return WarpPlanVerifier(*this).run(); }
