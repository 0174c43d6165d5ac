//===- WgmmaKernelOps.cpp - syntax and rules of wgmma kernels -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules wgmma_kernel_c1 … wgmma_kernel_c9 hold the plan against the schedule and
// against what the roles do with it. WgmmaKernelOps.td states them.
//
//===----------------------------------------------------------------------===//

#include "KernelSyntax.h"

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"

using namespace mlir;
using namespace blockscale;

ParseResult WgmmaKernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseKernel<WgmmaKernelOp>(parser, result);
}
void WgmmaKernelOp::print(OpAsmPrinter &printer) { printKernel(printer, *this); }

LogicalResult WgmmaKernelOp::verify() {
  ArrayRef<Type> inputs = getFunctionType().getInputs();
  bool fits = getFunctionType().getResults().empty() && inputs.size() == 3 &&
              llvm::all_of(inputs.take_front(2), llvm::IsaPred<TensorMapType>) &&
              isa<BufferType>(inputs.back());
  if (!fits)
    return emitOpError("wgmma_kernel_c1: parameters must be two tensor maps and a buffer, and "
                       "nothing returned, got ")
           << getFunctionType();
  auto emitError = [&] { return this->emitOpError(); };
  if (failed(verifyBlockProblem(getProblem(), emitError)) ||
      failed(verifyWgmmaSchedule(getProblem(), getSchedule(), emitError)))
    return failure();
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto arch = module->getAttrOfType<StringAttr>("blockscale.arch");
  if (!arch || arch.getValue() != StringRef(facts::name(getArch())))
    return emitOpError("wgmma_kernel_c2: the schedule's chip must be the module's blockscale.arch, "
                       "got ")
           << StringRef(facts::name(getArch())) << " in a module for "
           << (arch ? arch.getValue() : StringRef("no chip"));
  int64_t threads = getSchedule().getThreads(), bytes = planRingBytes(getSchedule());
  if (int64_t(getThreads()) != threads || int64_t(getSharedBytes()) != bytes)
    return emitOpError("wgmma_kernel_c3: threads and shared_bytes must be the schedule's ")
           << threads << " and " << bytes << ", got " << getThreads() << " and "
           << getSharedBytes();
  return success();
}

namespace {

constexpr int64_t kBarrierBytes = 8;

class WgmmaPlanVerifier {
public:
  explicit WgmmaPlanVerifier(WgmmaKernelOp kernel) : kernel(kernel), shape(kernel.getSchedule()) {
    kernel.getBody().walk([&](RingOp op) { rings.push_back(op); });
    kernel.getBody().walk([&](WgmmaRoleOp op) { roles.push_back(op); });
  }

  LogicalResult run() {
    if (rings.empty() && roles.empty()) // the machine level
      return success();
    return success(succeeded(checkRings()) && succeeded(checkRanges()) && succeeded(checkRoles()) &&
                   succeeded(checkReads()) && succeeded(checkWaits()) && succeeded(checkSums()));
  }

private:
  LogicalResult checkRings() {
    SmallVector<RingAttr> want = planRings(kernel.getSchedule());
    for (RingAttr ring : want) {
      auto isIt = [&](RingOp op) { return op.getPlan().getContent() == ring.getContent(); };
      if (llvm::count_if(rings, isIt) != 1)
        return kernel.emitOpError("wgmma_kernel_c4: a kernel must plan one ring of ")
               << name(ring.getContent());
      RingOp op = *llvm::find_if(rings, isIt);
      if (op.getPlan().getBytes() != ring.getBytes() ||
          op.getPlan().getStages() != ring.getStages())
        return op.emitOpError("wgmma_kernel_c4: ring of ")
               << name(ring.getContent()) << " must have " << ring.getStages() << " stages of "
               << ring.getBytes() << " bytes, got " << op.getPlan().getStages() << " of "
               << op.getPlan().getBytes();
    }
    return success();
  }

  struct Range {
    RingOp op;
    StringRef what;
    int64_t from, bytes, align;
  };
  LogicalResult checkRanges() {
    constexpr int64_t kSwizzled = 1024, kVector = 16;
    SmallVector<Range> ranges;
    int64_t freeBlocks = -1, freeTerms = -1;
    RingOp termsRing;
    for (RingOp op : rings) {
      RingAttr plan = op.getPlan();
      bool isTerms = plan.getContent() == RingContent::terms;
      int64_t barriers = plan.getStages() * kBarrierBytes;
      ranges.push_back({op, "stages", plan.getOffset(), plan.getBytes() * plan.getStages(),
                        isTerms ? kVector : kSwizzled});
      ranges.push_back({op, "full barriers", plan.getFull(), barriers, kBarrierBytes});
      if (!isTerms)
        ranges.push_back({op, "free barriers", plan.getFree(), barriers, kBarrierBytes});
      if (isTerms)
        freeTerms = plan.getFree(), termsRing = op;
      else if (plan.getContent() == RingContent::blocks)
        freeBlocks = plan.getFree();
    }
    if (freeTerms != freeBlocks)
      return termsRing.emitOpError("wgmma_kernel_c5: terms must be free with their blocks, at ")
             << freeBlocks << ", got " << freeTerms;
    llvm::stable_sort(ranges, [](const Range &a, const Range &b) { return a.from < b.from; });
    int64_t end = 0, limit = int64_t(kernel.getSharedBytes());
    for (Range &range : ranges) {
      if (range.from < end || range.from + range.bytes > limit || range.from % range.align)
        return range.op.emitOpError("wgmma_kernel_c5: ")
               << range.what << " of " << name(range.op.getPlan().getContent())
               << " must lie on a multiple of " << range.align << " inside " << end << ".."
               << limit - 1 << ", apart from the others, got " << range.from << ".."
               << range.from + range.bytes - 1;
      end = range.from + range.bytes;
    }
    return success();
  }

  static std::optional<WgmmaRole> roleOf(Operation *op) {
    if (isa<ConvertTermsOp>(op))
      return WgmmaRole::convert;
    if (isa<LoadHalvesOp, MultiplyHalvesOp, WaitProductsOp, StoreSumsOp, RingFreeOp, ShareSumsOp,
            ClusterBarrierOp, AddSumsOp>(op))
      return WgmmaRole::multiply;
    auto fill = dyn_cast<RingFillOp>(op);
    auto ring = fill ? fill.getRing().getDefiningOp<RingOp>() : RingOp();
    if (!ring)
      return std::nullopt;
    return ring.getPlan().getContent() == RingContent::tokens ? WgmmaRole::copy_tokens
                                                              : WgmmaRole::copy_blocks;
  }

  LogicalResult checkRoles() {
    for (size_t i = 0; i < kWgmmaRoleNames.size(); ++i)
      if (llvm::count_if(
              roles, [&](WgmmaRoleOp op) { return op.getRole().getValue() == WgmmaRole(i); }) != 1)
        return kernel.emitOpError("wgmma_kernel_c6: a kernel must have one role ")
               << kWgmmaRoleNames[i];
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      std::optional<WgmmaRole> want = roleOf(op);
      auto role = op->getParentOfType<WgmmaRoleOp>();
      if (!want || (role && role.getRole().getValue() == *want))
        return WalkResult::advance();
      op->emitOpError("wgmma_kernel_c6: must stand in the role ")
          << name(*want) << ", got " << (role ? name(role.getRole().getValue()) : "no role");
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult checkRing(Operation *op, Value ring, RingContent content) {
    auto planned = ring.getDefiningOp<RingOp>();
    if (planned && planned.getPlan().getContent() == content)
      return success();
    return op->emitOpError("wgmma_kernel_c7: ring must be that of ")
           << name(content) << ", got "
           << (planned ? name(planned.getPlan().getContent()) : "another value");
  }

  LogicalResult checkRead(Operation *op) {
    if (auto convert = dyn_cast<ConvertTermsOp>(op))
      return success(succeeded(checkRing(op, convert.getBlocks(), RingContent::blocks)) &&
                     succeeded(checkRing(op, convert.getTerms(), RingContent::terms)));
    if (auto load = dyn_cast<LoadHalvesOp>(op)) {
      if (failed(checkRing(op, load.getBlocks(), RingContent::blocks)) ||
          failed(checkRing(op, load.getTerms(), RingContent::terms)))
        return failure();
      if (int64_t(load.getPart()) >= WgmmaShape::kParts ||
          int64_t(load.getRun()) >= WgmmaShape::kRuns)
        return op->emitOpError("wgmma_kernel_c7: part must be 0 .. 3 and run 0 .. 1, got ")
               << load.getPart() << " and " << load.getRun();
      if (cast<VectorType>(load.getType()).getDimSize(0) != shape.words)
        return op->emitOpError("wgmma_kernel_c7: weights of a run must be ")
               << shape.words << " words, got " << load.getType();
    }
    if (auto multiply = dyn_cast<MultiplyHalvesOp>(op)) {
      if (failed(checkRing(op, multiply.getTokens(), RingContent::tokens)))
        return failure();
      auto load = multiply.getWeights().getDefiningOp<LoadHalvesOp>();
      if (!load || load.getRun() != multiply.getRun())
        return op->emitOpError("wgmma_kernel_c7: weights must be those of run ")
               << multiply.getRun() << ", got "
               << (load ? "run " + std::to_string(load.getRun()) : std::string("another value"));
      if (cast<VectorType>(multiply.getType()).getDimSize(0) != shape.sums)
        return op->emitOpError("wgmma_kernel_c7: sums of a thread must be ")
               << shape.sums << ", got " << multiply.getType();
    }
    return success();
  }
  LogicalResult checkReads() {
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      return failed(checkRead(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Each ring and stage that a role reads, by the loop's values, was waited for. Terms are
  /// full behind the blocks that they were made of.
  LogicalResult checkWaits() {
    for (WgmmaRoleOp role : roles) {
      SmallVector<std::pair<Value, Value>> waited, freed;
      auto isWaited = [&](Value ring, Value stage) {
        return llvm::is_contained(waited, std::pair(ring, stage));
      };
      WalkResult result = role.getBody().walk([&](Operation *op) {
        if (auto wait = dyn_cast<RingWaitOp>(op))
          waited.push_back({wait.getRing(), wait.getStage()});
        if (auto free = dyn_cast<RingFreeOp>(op))
          freed.push_back({free.getRing(), free.getStage()});
        bool legal = true;
        if (auto convert = dyn_cast<ConvertTermsOp>(op))
          legal = isWaited(convert.getBlocks(), convert.getStage());
        if (auto load = dyn_cast<LoadHalvesOp>(op))
          legal = isWaited(load.getTerms(), load.getStage());
        if (auto multiply = dyn_cast<MultiplyHalvesOp>(op))
          legal = isWaited(multiply.getTokens(), multiply.getStage());
        if (legal)
          return WalkResult::advance();
        op->emitOpError("wgmma_kernel_c8: a stage must be waited for (ring_wait) before it is "
                        "read, got a read of one that was not");
        return WalkResult::interrupt();
      });
      if (result.wasInterrupted())
        return failure();
      if (role.getRole().getValue() != WgmmaRole::multiply)
        continue;
      for (RingOp ring : rings) {
        Value value = ring.getResult();
        bool isFreed = llvm::any_of(freed, [&](const auto &pair) { return pair.first == value; });
        if (ring.getPlan().getContent() != RingContent::terms && !isFreed)
          return role.emitOpError("wgmma_kernel_c8: multiply must give back (ring_free) stages of ")
                 << name(ring.getPlan().getContent()) << ", got none";
      }
    }
    return success();
  }

  /// How sums leave the kernel: the ops that do so, in order.
  LogicalResult checkSums() {
    SmallVector<StringRef> have, want{StoreSumsOp::getOperationName()};
    if (kernel.getSchedule().isSplit())
      want = {ShareSumsOp::getOperationName(), ClusterBarrierOp::getOperationName(),
              AddSumsOp::getOperationName(), ClusterBarrierOp::getOperationName()};
    kernel.getBody().walk([&](Operation *op) {
      if (isa<StoreSumsOp, ShareSumsOp, ClusterBarrierOp, AddSumsOp>(op))
        have.push_back(op->getName().getStringRef());
    });
    if (have == want)
      return success();
    return kernel.emitOpError("wgmma_kernel_c9: sums of a split of ")
           << kernel.getSchedule().getSplit() << " must leave by " << llvm::join(want, ", ")
           << ", got " << (have.empty() ? "nothing" : llvm::join(have, ", "));
  }

  WgmmaKernelOp kernel;
  WgmmaShape shape;
  SmallVector<RingOp> rings;
  SmallVector<WgmmaRoleOp> roles;
};

} // namespace

LogicalResult WgmmaKernelOp::verifyRegions() { return WgmmaPlanVerifier(*this).run(); }
