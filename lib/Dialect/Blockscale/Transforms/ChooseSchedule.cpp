//===- ChooseSchedule.cpp - gives every gemm a schedule for a chip --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockPins.h"
#include "QuantizeActivations.h"
#include "Repitch.h"

#include "blockscale/Dialect/Blockscale/IR/Planning.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"
#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"
#include "blockscale/Dialect/Blockscale/IR/TilePlanning.h"
#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Facts/MmaMode.h"
#include "blockscale/Facts/Products.h"
#include "blockscale/Facts/Tmem.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace blockscale;
using facts::Arch;

namespace blockscale {
#define GEN_PASS_DEF_CHOOSESCHEDULE
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

/// The longest K of the kind that the chip has, that divides the tile's and that TMA can
/// bring both operands for.
static int64_t longestInstK(Arch arch, facts::MmaKind kind, const facts::ProductFormat &format) {
  int64_t longest = 0, tileK = facts::tileK(kind);
  for (const facts::MmaMode &mode : facts::kMmaModes)
    if (mode.kind == kind && mode.block == format.block && !mode.sparse && tileK % mode.k == 0 &&
        mode.k <= facts::longestFetchedK(kind, format.a) &&
        mode.k <= facts::longestFetchedK(kind, format.b) &&
        facts::hasMmaMode(arch, mode.kind, mode.block, format.scale, mode.k))
      longest = std::max<int64_t>(longest, mode.k);
  return longest;
}

/// Whether the chip multiplies 96 elements of K by descriptors that name the next stage.
static bool hasSpan(Arch arch, facts::MmaKind kind, const facts::ProductFormat &format) {
  return facts::covers(arch, Arch::sm_103a) &&
         facts::hasMmaMode(arch, kind, format.block, format.scale, kSpanK);
}

/// Operand stages that fit beside `staging` buffers; at least 1.
static int64_t stagesThatFit(Arch arch, StageBytes stage, int64_t staging) {
  int64_t room = facts::maxSharedPerBlock(arch) - planSharedBytes(stage, /*stages=*/0, staging);
  return std::max<int64_t>(1, room / stage.total());
}

/// Operand stages, and buffers of scales, that fit where the two have rings of their own:
/// as many operand stages as leave the scales of one K tile, then scales for twice as many.
static std::pair<int64_t, int64_t> spanStagesThatFit(Arch arch, StageBytes stage, int64_t staging,
                                                     int64_t block, int64_t pinned) {
  constexpr int64_t perTile = kSpanTileK / kSpanBufferK;
  int64_t scales = stage.sfa + stage.sfb, groups = kSpanTileK / block / kSpanScales;
  int64_t room =
      facts::maxSharedPerBlock(arch) - kControlBytes - staging * kStagingBytes - groups * scales;
  int64_t stages = pinned ? pinned : std::max<int64_t>(2, room / (stage.a + stage.b));
  int64_t left = room - stages * (stage.a + stage.b) + groups * scales;
  int64_t wanted = 2 * ((stages + perTile - 1) / perTile) * groups;
  return {stages, std::clamp<int64_t>(left / scales, 1, wanted)};
}

namespace {
struct ChooseSchedulePass : blockscale::impl::ChooseScheduleBase<ChooseSchedulePass> {
  using ChooseScheduleBase::ChooseScheduleBase;

  void runOnOperation() override {
    facts::Result<Arch> target = findTargetFor(getOperation(), arch);
    if (!target) {
      getOperation()->emitError() << target.message();
      return signalPassFailure();
    }
    std::optional<Epilogue> pinned = parseEpilogue(epilogue.getValue());
    if (failed(verifyPins()) || failed(verifyPinsOfBlocks()))
      return signalPassFailure();
    FailureOr<WarpPins> pins =
        readWarpPins({kernel, sums, activations, minima, convert, weights, pragma, kd, stages,
                      flight, warpRows, split},
                     [&] { return placeOfPins(/*isOfBlocks=*/true)->emitError(); });
    if (failed(pins))
      return signalPassFailure();
    getOperation()->walk([&](GemmOp gemm) {
      LogicalResult result = gemm.isBlockProduct() ? scheduleBlocks(gemm, *target, *pins)
                                                   : schedule(gemm, *target, pinned);
      if (failed(result))
        signalPassFailure();
    });
    if (quantizer.getValue() == "device")
      getOperation()->walk([&](Operation *op) {
        auto chunks = dyn_cast<QuantizeChunksOp>(op);
        auto scaled = dyn_cast<QuantizeOp>(op);
        LogicalResult result = success();
        if (chunks)
          result = scheduleQuantizer(chunks, *target);
        else if (scaled && !isDynamic(scaled.getLogicalBlocked().getRows()) &&
                 (scaled.getSchedule() || hasQuantizeKernel(scaled, *target)))
          result = scheduleQuantizer(scaled, *target);
        if (failed(result))
          signalPassFailure();
      });
  }

private:
  /// The first product that gets its schedule here, of scaled operands or of blocks; null where
  /// there is none.
  GemmOp findProduct(bool isOfBlocks) {
    GemmOp found;
    getOperation()->walk([&](GemmOp gemm) {
      bool isGiven = gemm.getSchedule() || gemm.getWarpSchedule() || gemm.getWgmmaSchedule();
      if (isGiven || gemm.isBlockProduct() != isOfBlocks)
        return WalkResult::advance();
      found = gemm;
      return WalkResult::interrupt();
    });
    return found;
  }

  /// Where a wrong pin is reported.
  Operation *placeOfPins(bool isOfBlocks) {
    GemmOp first = findProduct(isOfBlocks);
    return first ? first.getOperation() : getOperation();
  }

  /// Whether something is quantised, or may be: a pin says who does that.
  bool hasQuantizer() {
    return getOperation()
        ->walk([](Operation *op) {
          auto gemm = dyn_cast<GemmOp>(op);
          bool isOfActivations =
              gemm && gemm.isBlockProduct() && isActivations(gemm.getA().getType());
          return isOfActivations || isa<QuantizeOp, QuantizeChunksOp>(op) ? WalkResult::interrupt()
                                                                          : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Pinned fields of a schedule of scaled operands, by their names.
  SmallVector<StringRef> pinnedFields() {
    SmallVector<StringRef> names;
    for (const auto *field : {&mma, &epilogue, &cluster})
      if (!field->getValue().empty())
        names.push_back(field->getArgStr());
    for (const auto *field : {&tileM, &tileN, &instK, &accumulators, &staging, &ctas, &ctaGroup})
      if (field->getValue())
        names.push_back(field->getArgStr());
    return names;
  }
  /// The same of blocks.
  SmallVector<StringRef> pinnedFieldsOfBlocks() {
    SmallVector<StringRef> names;
    for (const auto *field : {&kernel, &sums, &activations, &minima, &convert, &weights, &pragma})
      if (!field->getValue().empty())
        names.push_back(field->getArgStr());
    for (const auto *field : {&kd, &flight, &warpRows, &split})
      if (field->getValue())
        names.push_back(field->getArgStr());
    return names;
  }

  /// schedule_c18, then what the fields of scaled operands may be. Reported at the first product
  /// that they are for.
  LogicalResult verifyPins() {
    GemmOp scaled = findProduct(/*isOfBlocks=*/false), blocks = findProduct(/*isOfBlocks=*/true);
    SmallVector<StringRef> unused = blocks ? SmallVector<StringRef>() : pinnedFieldsOfBlocks();
    if (!scaled && !blocks) {
      llvm::append_range(unused, pinnedFields());
      if (stages)
        unused.push_back(stages.getArgStr());
    }
    if (quantizer == "host" && !blocks && !hasQuantizer())
      unused.push_back(quantizer.getArgStr());
    Operation *at = placeOfPins(/*isOfBlocks=*/!scaled);
    if (!unused.empty())
      return at->emitError() << "schedule_c18: pinned fields must be those of a product that gets "
                                "its schedule here, "
                             << (scaled ? "of scaled operands mma, tile-m, tile-n, inst-k, stages, "
                                          "accumulators, epilogue, staging, ctas, cta-group and "
                                          "cluster"
                                        : "of which there is none")
                             << ", got " << llvm::join(unused, ", ");
    if (!epilogue.empty() && !parseEpilogue(epilogue.getValue()))
      return at->emitError() << "schedule_c7: epilogue must be tma_store or plain_store, got '"
                             << epilogue << "'";
    if (!mma.empty() && !facts::parseMmaKind(mma.getValue()))
      return at->emitError() << "schedule_c2: mma must be mxf4, mxf4nvf4 or mxf8f6f4, got '" << mma
                             << "'";
    if (tileN && !llvm::is_contained(kTileColumns, int64_t(tileN)))
      return at->emitError() << "schedule_c5: columns of a tile must be 64, 128, 192 or 256, got "
                             << tileN.getValue();
    if (quantizer != "device" && quantizer != "host")
      return at->emitError() << "quantize_schedule_c1: quantizer must be device or host, got '"
                             << quantizer << "'";
    return success();
  }

  /// schedule_c19: pins that only a product of scaled operands has would be lost, and those of a
  /// quantiser where nothing is quantised.
  LogicalResult verifyPinsOfBlocks() {
    SmallVector<StringRef> names;
    if (!findProduct(/*isOfBlocks=*/false))
      names = pinnedFields();
    if (quantizer.getValue() == "host" && !hasQuantizer())
      names.push_back(quantizer.getArgStr());
    GemmOp first = findProduct(/*isOfBlocks=*/true);
    if (names.empty() || !first)
      return success();
    return first.emitOpError()
           << "schedule_c19: pinned fields of a product of blocks must be kernel, kd, sums, "
              "activations, minima, convert, weights, pragma, stages, flight, warp-rows, split or, "
              "where activations are quantised, quantizer, got "
           << llvm::join(names, ", ");
  }

  /// Whether the rules take a schedule; nothing is said.
  static bool isLegal(BlockProblemAttr problem, WgmmaScheduleAttr schedule) {
    ScopedDiagnosticHandler silent(problem.getContext(), [](Diagnostic &) { return success(); });
    return succeeded(verifyWgmmaSchedule(
        problem, schedule, [&] { return emitError(UnknownLoc::get(problem.getContext())); }));
  }

  /// What a contract of halves allows, where the chip has it; nothing was chosen otherwise.
  /// Fields that its kernel does not have choose chunks where the contract is any.
  FailureOr<bool> scheduleHalves(GemmOp gemm, Arch target, bool isPinned, bool isOtherPinned,
                                 const WarpPins &pins) {
    auto emitError = [&] { return gemm.emitOpError(); };
    if (WgmmaScheduleAttr given = gemm.getWgmmaSchedule()) {
      if (given.getArch() == target)
        return true; // the op's verifier has checked it
      emitError() << "wgmma_schedule_c1: arch of a schedule must be the one that is compiled for, "
                  << name(target) << ", got " << name(given.getArch());
      return failure();
    }
    BlockContract contract =
        gemm.getContract() ? gemm.getContract().getValue() : BlockContract::ordered;
    bool isHalf = cast<ShapedType>(gemm.getA().getType()).getElementType().isF16();
    bool mustBe = contract == BlockContract::halves || isPinned;
    bool isPlain = gemm.getLogicalBlockProblem().getB() == facts::BlockFormat::q4_K;
    bool mayBe = mayBeHalves(contract) && isHalf && isPlain && isWgmmaTarget(target);
    if (mustBe && !mayBe) {
      emitError() << "wgmma_schedule_c1: kernel dequantise_wgmma must have a contract of halves or "
                     "any, a in f16, b in q4_K and sm_90a, got "
                  << name(contract) << ", " << gemm.getA().getType() << ", "
                  << name(gemm.getLogicalBlockProblem().getB()) << " and " << name(target);
      return failure();
    }
    if (contract == BlockContract::halves && isOtherPinned) {
      emitError() << "gemm_c25: kernel of a contract of halves must be dequantise_wgmma, got '"
                  << kernel << "'";
      return failure();
    }
    SmallVector<StringRef> ofChunks = pinnedOfChunks(pins, quantizer.getValue());
    if (!mayBe || isOtherPinned || (!mustBe && !ofChunks.empty()))
      return false;
    if (pins.pragma.value_or(Pragma::none) != Pragma::none) {
      emitError() << "wgmma_schedule_c10: pragma must be none where dequantise_wgmma is chosen "
                     "(ptxas ignores it there), got "
                  << name(*pins.pragma);
      return failure();
    }
    if (!ofChunks.empty()) {
      emitError() << "wgmma_schedule_c11: pinned fields of dequantise_wgmma must be kernel and "
                     "split, got "
                  << llvm::join(ofChunks, ", ");
      return failure();
    }
    BlockProblemAttr problem = gemm.getLogicalBlockProblem();
    problem = BlockProblemAttr::get(&getContext(), problem.getM(), problem.getN(), problem.getK(),
                                    facts::BlockFormat::f16, problem.getB(), problem.getContract());
    WgmmaScheduleAttr chosen = chooseWgmmaSchedule(problem, target, split);
    if (!mustBe && !isLegal(problem, chosen))
      return false;
    if (failed(verifyWgmmaSchedule(problem, chosen, emitError)))
      return failure();
    gemm.setWgmmaScheduleAttr(chosen);
    return true;
  }

  template <typename Op> LogicalResult scheduleQuantizer(Op op, Arch target) {
    auto emitError = [&] { return op.emitOpError(); };
    QuantizeScheduleAttr given = op.getSchedule();
    if (given && given.getArch() != target)
      return emitError() << "quantize_schedule_c1: arch of a schedule must be the one that is "
                            "compiled for, "
                         << name(target) << ", got " << name(given.getArch());
    QuantizeScheduleAttr chosen =
        given ? given : chooseQuantizeSchedule(getQuantizeProblem(op), target);
    if (failed(verifyQuantizeSchedule(chosen, emitError)))
      return failure();
    op.setScheduleAttr(chosen);
    return success();
  }

  LogicalResult scheduleBlocks(GemmOp gemm, Arch target, const WarpPins &pins) {
    auto emitError = [&] { return gemm.emitOpError(); };
    bool pinsWgmma = kernel.getValue() == kWgmmaKernelName;
    FailureOr<bool> isHalves =
        scheduleHalves(gemm, target, pinsWgmma, !kernel.empty() && !pinsWgmma, pins);
    if (failed(isHalves) || *isHalves)
      return isHalves;
    if (isActivations(gemm.getA().getType()))
      quantizeActivations(gemm);
    if (WarpScheduleAttr given = gemm.getWarpSchedule()) {
      if (given.getArch() != target)
        return emitError() << "warp_schedule_c1: arch of a schedule must be the one that is "
                              "compiled for, "
                           << name(target) << ", got " << name(given.getArch());
      return success(); // the op's verifier has checked it
    }
    FailureOr<WarpChoice> choice =
        chooseWarpSchedule(gemm.getLogicalBlockProblem(), target, pins, emitError);
    if (failed(choice))
      return failure();
    facts::BlockFormat a = gemm.getLogicalBlockProblem().getA();
    if (a != choice->schedule.getAFormat() && !isActivations(gemm.getA().getType()))
      return emitError() << "gemm_c24: a must be the " << name(choice->schedule.getAFormat())
                         << " that the schedule reads, got " << name(a)
                         << "; run blockscale-insert-relayouts first, with the same pins";
    if (facts::BlockFormat b = gemm.getLogicalBlockProblem().getB();
        b != choice->schedule.getBFormat())
      return emitError() << "gemm_c24: b must be the " << name(choice->schedule.getBFormat())
                         << " that the schedule reads, got " << name(b)
                         << "; run blockscale-insert-relayouts first, with the same pins";
    gemm.setWarpScheduleAttr(choice->schedule);
    if (!choice->fallback.empty())
      gemm->setAttr(kFallbackAttr, StringAttr::get(&getContext(), choice->fallback));
    return success();
  }

  LogicalResult schedule(GemmOp gemm, Arch target, std::optional<Epilogue> pinnedEpilogue) {
    auto emitError = [&] { return gemm.emitOpError(); };
    ProblemAttr problem = gemm.getLogicalProblem();
    if (failed(verifyTiledScales(problem, "run blockscale-insert-relayouts first", emitError)))
      return failure();
    ScheduleAttr chosen = gemm.getSchedule();
    if (chosen && chosen.getArch() != target)
      return emitError() << "schedule_c1: arch of a schedule must be the one that is compiled for, "
                         << name(target) << ", got " << name(chosen.getArch());
    if (!chosen && failed(verifyClusterPins(emitError)))
      return failure();
    if (QuantizedAttr quantized = problem.getQuantized();
        !chosen && quantized && !chooseSequence(quantized.getScale(), target))
      return emitError() << "schedule_c15: quantizer must be a sequence for scales of "
                         << name(quantized.getScale()) << " whose conversions " << name(target)
                         << " has, got none of them";
    if (!chosen)
      chosen = choose(problem, target, pinnedEpilogue);
    if (failed(verifySchedule(problem, chosen, emitError)))
      return failure();
    std::array<int64_t, 2> pitches = pitchesWanted(problem, chosen, zeroTailsOf(gemm));
    if (!gemm.getProblem() && !problem.isBatch())
      repitchOperands(gemm, pitches);
    gemm.setScheduleAttr(chosen);
    return verifyFetchable(gemm.getLogicalProblem(), chosen, emitError, zeroTailsOf(gemm));
  }

  /// The rest of the plan follows from them, so they are checked first.
  LogicalResult verifyClusterPins(ErrorFn emitError) {
    if (ctaGroup && ctaGroup != 1 && ctaGroup != 2)
      return emitError() << "schedule_c4: cta_group must be 1 or 2, got " << ctaGroup.getValue();
    auto [m, n] = StringRef(cluster.getValue()).split('x');
    auto isExtent = [](StringRef text) { return text == "1" || text == "2" || text == "4"; };
    if (!cluster.empty() && (!isExtent(m) || !isExtent(n)))
      return emitError() << "schedule_c14: cluster must be 1, 2 or 4 by 1, 2 or 4 CTAs, got '"
                         << cluster << "'";
    return success();
  }

  /// Pins of a pair and of a cluster; a pair alone is a cluster of two.
  ClusterShape pinnedCluster() {
    ClusterShape shape{ctaGroup == 2 ? 2 : 1, 1};
    auto [m, n] = StringRef(cluster.getValue()).split('x');
    if (!cluster.empty() && (m.getAsInteger(10, shape.m) || n.getAsInteger(10, shape.n)))
      return {0, 0}; // verifyClusterPins has refused it
    return shape;
  }

  /// What is pinned decides the rest of the tile, with 128 rows of each CTA and 128 columns;
  /// else the model does.
  TileChoice chosenTile(ProblemAttr problem, Arch target, facts::MmaKind kind) {
    SmallVector<int64_t> instKs{instK ? int64_t(instK)
                                      : longestInstK(target, kind, problem.getFormats())};
    if (!tileM && !tileN && !ctaGroup && cluster.empty() && !ctas) {
      if (!instK && hasSpan(target, kind, problem.getFormats()))
        instKs.push_back(kSpanK);
      return chooseTile(problem, target, kind, instKs);
    }
    auto orPinned = [](int64_t pinned, int64_t choice) { return pinned ? pinned : choice; };
    int64_t group = orPinned(ctaGroup, 1);
    Shape3 inst{facts::kTmemLanes * group, orPinned(tileN, 128), instKs.front()};
    return {kind, inst, {orPinned(tileM, inst.m), inst.n, tileK(kind, inst.k)}, group};
  }

  ScheduleAttr choose(ProblemAttr problem, Arch target, std::optional<Epilogue> pinnedEpilogue) {
    auto orPinned = [](int64_t pinned, int64_t choice) { return pinned ? pinned : choice; };
    facts::ProductFormat format = problem.getFormats();
    facts::MmaKind kind = facts::parseMmaKind(mma.getValue()).value_or(*facts::productKind(format));
    TileChoice choice = chosenTile(problem, target, kind);
    Shape3 inst = choice.inst, tile = choice.tile;
    int64_t group = choice.ctas, k = inst.k;
    bool reusesB = tile.m > inst.m;
    StageBytes stage = planStage(problem, choice);

    bool wholeChunks =
        facts::packedBytes(problem.getOut(), problem.getOutColumns()) % facts::kTmaStoreGranule ==
        0;
    QuantizedAttr quantized = problem.getQuantized();
    Epilogue store = pinnedEpilogue.value_or(wholeChunks && !quantized ? Epilogue::tma_store
                                                                       : Epilogue::plain_store);
    bool staged = store == Epilogue::tma_store;
    auto [depth, scaleDepth] =
        k == kSpanK
            ? spanStagesThatFit(target, stage, staged ? orPinned(staging, 1) : 0,
                                problem.getBlock(), stages)
            : std::pair<int64_t, int64_t>(
                  orPinned(stages, stagesThatFit(target, stage, staged ? orPinned(staging, 1) : 0)),
                  0);
    bool roomForTwo =
        planSharedBytes(stage, depth, 2, scaleDepth) <= facts::maxSharedPerBlock(target);
    // Two buffers take turns, also from one tile to the next.
    int64_t columns = problem.getGate() ? tile.n / 2 : tile.n;
    bool even = columns * facts::packedBytes(problem.getOut(), 1) / facts::kTileRowBytes % 2 == 0;
    int64_t buffers = orPinned(staging, staged ? (roomForTwo && even ? 2 : 1) : 0);
    // Two accumulators always fit; where they do not side by side, overlapped. Those of two
    // products that share B are one, unless two fit.
    bool roomForFour = planTmem(stage, tile, 4).used() <= facts::info(target).tmemColumns;
    int64_t accumulatorStages = orPinned(accumulators, reusesB && !roomForFour ? 1 : 2);
    bool sideBySide = reusesB || accumulatorStages != 2 ||
                      planTmem(stage, tile, 2).used() <= facts::info(target).tmemColumns;

    std::optional<QuantizeSequence> sequence;
    if (quantized)
      sequence = chooseSequence(quantized.getScale(), target);

    const facts::Product *product = facts::modelProduct(target);
    ClusterShape shape = cluster.empty() ? ClusterShape{group, 1} : pinnedCluster();
    int64_t size = std::max<int64_t>(1, shape.size());
    // As many whole clusters as there are SMs for.
    int64_t most = std::max<int64_t>(1, (product ? product->sms : 1) / size) * size;
    return ScheduleAttr::get(
        &getContext(), target, kind, inst, group, tile, depth, accumulatorStages, store, buffers,
        orPinned(ctas, most), shape,
        sideBySide ? AccumulatorColumns::disjoint : AccumulatorColumns::overlapped, scaleDepth,
        sequence ? SequenceAttr::get(&getContext(), *sequence) : SequenceAttr());
  }
};
} // namespace
