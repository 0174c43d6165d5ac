//===- ScheduleRules.cpp - targets and what a schedule may say ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"

#include "blockscale/Dialect/Blockscale/IR/Planning.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"
#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"
#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/IDesc.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace blockscale;
using facts::Arch;

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

static constexpr facts::Feature kNeeded = facts::Feature::tcgen05BlockScale;

/// Names of the targets that `keep` accepts.
static std::string listTargets(llvm::function_ref<bool(Arch)> keep, StringRef separator) {
  SmallVector<StringRef> names;
  for (size_t i = 0; i < facts::kArchNames.size(); ++i)
    if (keep(Arch(i)))
      names.push_back(facts::kArchNames[i]);
  return llvm::join(names, separator);
}

facts::Result<Arch> blockscale::findTarget(StringRef chip) {
  auto hasFeature = [](Arch arch) { return facts::supports(arch, kNeeded); };
  std::optional<Arch> arch = facts::parseArch(std::string_view(chip.data(), chip.size()));
  if (arch && hasFeature(*arch))
    return *arch;
  std::string what(facts::info(kNeeded).what);
  auto isSuffixed = [&](Arch candidate) {
    StringRef name = facts::name(candidate);
    return !chip.empty() && name.size() == chip.size() + 1 && name.starts_with(chip);
  };
  std::string suffixed =
      listTargets([&](Arch a) { return isSuffixed(a) && hasFeature(a); }, " or ");
  if (!suffixed.empty())
    return facts::Refusal{"schedule_c1: chip " + chip.str() + " needs " + suffixed + " for " +
                          what + ", got no suffix"};
  if (arch || !listTargets(isSuffixed, "").empty())
    return facts::Refusal{"schedule_c1: chip must have " + std::string(facts::name(kNeeded)) +
                          " (" + what + "), which " + listTargets(hasFeature, ", ") +
                          " have, got " + chip.str()};
  return facts::Refusal{"schedule_c1: chip must be one of " + listTargets(hasFeature, ", ") +
                        ", got '" + chip.str() + "'"};
}

facts::Result<Arch> blockscale::findAnyTarget(StringRef chip) {
  std::optional<Arch> arch = facts::parseArch(std::string_view(chip.data(), chip.size()));
  if (arch && isWarpTarget(*arch))
    return *arch;
  return findTarget(chip);
}

facts::Result<Arch> blockscale::findTargetFor(Operation *root, StringRef chip) {
  WalkResult scaled = root->walk([](Operation *op) {
    auto gemm = dyn_cast<GemmOp>(op);
    return (gemm && !gemm.isBlockProduct()) || isa<KernelOp>(op) ? WalkResult::interrupt()
                                                                 : WalkResult::advance();
  });
  // Whether blocks run on a chip of scaled products, the choice of their kernel says; a
  // module without a product asks nothing of its chip.
  return scaled.wasInterrupted() ? findTarget(chip) : findAnyTarget(chip);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::string text(Shape3 s) {
  return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
}

/// The sum of columns of disjoint accumulators and scales.
static std::string columnSum(TmemColumns columns, int64_t accumulators) {
  return llvm::formatv("{0} x {1} + {2} + {3} = {4} columns", accumulators,
                       columns.accumulators / accumulators, columns.sfa, columns.sfb,
                       columns.used());
}

/// schedule_c15 to schedule_c17.
static LogicalResult verifyOutput(ProblemAttr problem, ScheduleAttr schedule, ErrorFn emitError) {
  QuantizedAttr quantized = problem.getQuantized();
  SequenceAttr quantizer = schedule.getQuantizer();
  if (bool(quantized) != bool(quantizer))
    return emitError() << "schedule_c15: quantizer must be "
                       << (quantized ? "given where D is quantised, got none"
                                     : "absent where D is not quantised, got one");
  if (quantizer && (!isSequenceOf(quantizer.getValue(), quantized.getScale()) ||
                    !hasSequence(schedule.getArch(), quantizer.getValue()) ||
                    !convertsScales(schedule.getArch(), quantized.getScale())))
    return emitError() << "schedule_c15: quantizer must be a sequence for scales of "
                       << name(quantized.getScale()) << " whose conversions "
                       << name(schedule.getArch()) << " has, got " << name(quantizer.getValue());
  if (int64_t n = schedule.getTile().n; problem.getGate() && n % (2 * kGateInterleave))
    return emitError() << "schedule_c16: n of tile must be 128 or 256 where D has gates, got " << n;
  if (int64_t m = schedule.getTile().m; quantized && m != schedule.getInst().m)
    return emitError() << "schedule_c17: m of tile must be the " << schedule.getInst().m
                       << " of inst where D is quantised, got " << m;
  return success();
}

LogicalResult blockscale::verifySchedule(ProblemAttr problem, ScheduleAttr schedule,
                                         ErrorFn emitError) {
  Arch arch = schedule.getArch();
  if (facts::Result<Arch> target = findTarget(facts::name(arch)); !target)
    return emitError() << target.message();

  facts::MmaKind mma = schedule.getMma();
  if (facts::ProductFormat formats = problem.getFormats(); !facts::multiplies(mma, formats)) {
    SmallVector<StringRef> kinds;
    for (facts::MmaKind kind : facts::kScaledKinds)
      if (facts::multiplies(kind, formats))
        kinds.push_back(name(kind));
    return emitError() << "schedule_c2: mma of " << describe(formats) << " must be "
                       << llvm::join(kinds, " or ") << ", got " << name(mma);
  }

  Shape3 inst = schedule.getInst(), tile = schedule.getTile();
  auto fits = [](int64_t v) { return v >= 0 && v <= std::numeric_limits<int>::max(); };
  if (!fits(inst.m) || !fits(inst.n) || !fits(inst.k))
    return emitError() << "schedule_c3: inst must be a shape of " << name(mma) << ", got "
                       << text(inst);
  int64_t ctas = schedule.getCtaGroup();
  if (ctas != 1 && ctas != 2)
    return emitError() << "schedule_c4: cta_group must be 1 or 2, got " << ctas;
  if (ctas == 2 && (inst.m != 2 * facts::kTmemLanes || tile.m < inst.m))
    return emitError() << "schedule_c4: m of inst must be 256 for a pair, and of the tile no less "
                          "(how the scales of A lie with m = 128 is unverified), got "
                       << inst.m << " and " << tile.m;
  facts::IDesc desc;
  desc.kind = mma;
  desc.a = problem.getA();
  desc.b = problem.getB();
  desc.scale = problem.getScale();
  desc.block = int(problem.getBlock());
  desc.m = int(inst.m);
  desc.n = int(inst.n);
  desc.k = int(inst.k);
  desc.ctaGroup = schedule.getCtaGroup() == 2 ? 2 : 1;
  desc.transposeA = problem.getMajorA() == facts::Major::mn;
  desc.transposeB = problem.getMajorB() == facts::Major::mn;
  if (facts::Result<bool> legal = facts::checkIDesc(arch, desc); !legal)
    return emitError() << "schedule_c3: inst must be a shape of " << name(mma) << " on "
                       << name(arch) << ", got " << text(inst) << ": " << legal.message();

  int64_t tileK = blockscale::tileK(mma, inst.k);
  bool reusesB = tile.m == 2 * inst.m;
  if (tile != Shape3{reusesB ? tile.m : inst.m, inst.n, tileK} ||
      !llvm::is_contained(kTileColumns, tile.n))
    return emitError() << "schedule_c5: tile must be " << inst.m << "x64, " << inst.m << "x128, "
                       << inst.m << "x192 or " << inst.m
                       << "x256 of one instruction's m and n, or of twice its m where B is reused, "
                          "and "
                       << tileK << " deep for " << name(mma) << ", got " << text(tile) << " of "
                       << text(inst);
  if (reusesB && !facts::supports(arch, facts::Feature::collectorB))
    return emitError() << "schedule_c5: tile of twice inst's m, which reuses B ("
                       << facts::info(facts::Feature::collectorB).what << "), must be on "
                       << listTargets(
                              [](Arch a) { return facts::supports(a, facts::Feature::collectorB); },
                              " or ")
                       << ", got " << name(arch);

  StageBytes stage = planStage(problem, choiceOf(schedule));
  if (schedule.getAccumulators() < 1 || schedule.getAccumulators() > 2)
    return emitError() << "schedule_c6: accumulators must be 1 or 2, got "
                       << schedule.getAccumulators();
  int64_t count = schedule.getAccumulators();
  TmemColumns disjoint = planTmem(stage, tile, count), columns = planTmem(stage, schedule);
  bool overlapped = schedule.getAccumulatorColumns() == AccumulatorColumns::overlapped;
  if (overlapped && count != 2)
    return emitError() << "schedule_c6: accumulators must be 2 to be overlapped, got " << count;
  if (overlapped && reusesB)
    return emitError() << "schedule_c6: accumulators must be disjoint where two products share B, "
                          "got overlapped ones";
  if (overlapped && facts::roundTmemColumns(arch, int(disjoint.used())))
    return emitError() << "schedule_c6: accumulators must be disjoint where they fit side by side, "
                          "got overlapped ones of "
                       << columnSum(disjoint, count);
  if (facts::Result<int> rounded = facts::roundTmemColumns(arch, int(columns.used())); !rounded)
    return emitError() << "schedule_c6: accumulators and scales must fit tensor memory, got "
                       << columnSum(columns, count) << ": " << rounded.message();

  bool tmaStore = schedule.getEpilogue() == Epilogue::tma_store;
  if (tmaStore && problem.getQuantized())
    return emitError() << "schedule_c7: epilogue must be plain_store where D is quantised, got "
                          "tma_store";
  int64_t rowBytes = facts::packedBytes(problem.getOut(), problem.getOutColumns());
  if (tmaStore && rowBytes % facts::kTmaStoreGranule)
    return emitError() << "schedule_c7: epilogue must be plain_store where rows of D are not a "
                          "multiple of "
                       << facts::kTmaStoreGranule << " bytes, got tma_store with " << rowBytes;

  int64_t staging = schedule.getStaging();
  if (tmaStore ? staging < 1 || staging > 2 : staging != 0)
    return emitError() << "schedule_c8: staging must be " << (tmaStore ? "1 or 2" : "0") << " for "
                       << name(schedule.getEpilogue()) << ", got " << staging;

  int64_t columnsOfD = problem.getGate() ? tile.n / 2 : tile.n;
  int64_t chunks = columnsOfD * facts::packedBytes(problem.getOut(), 1) / facts::kTileRowBytes;
  if (tmaStore && chunks % staging)
    return emitError() << "schedule_c8: staging must divide the " << chunks
                       << " chunks of 128 bytes of a row of the tile, got " << staging;

  int64_t stages = schedule.getStages(), limit = facts::maxSharedPerBlock(arch);
  // An instruction that crosses from one stage into the next needs both.
  int64_t fewest = isSpan(schedule) ? 2 : 1, scaleStages = schedule.getScaleStages();
  if (stages < fewest || stages > limit)
    return emitError() << "schedule_c9: stages must be at least " << fewest
                       << " and fit shared memory, got " << stages;
  if (isSpan(schedule) ? scaleStages < 1 || scaleStages > limit : scaleStages != 0)
    return emitError() << "schedule_c12: scale_stages must be "
                       << (isSpan(schedule) ? "at least 1 and fit shared memory" : "0")
                       << " where k of inst is " << inst.k << ", got " << scaleStages;
  if (int64_t bytes = planSharedBytes(stage, stages, staging, scaleStages); bytes > limit) {
    InFlightDiagnostic diag = emitError();
    diag << "schedule_c9: stages must fit the " << limit << " shared bytes of " << name(arch)
         << ", got " << bytes << " for " << stages << " stages of "
         << (isSpan(schedule) ? stage.a + stage.b : stage.total()) << ", ";
    if (isSpan(schedule))
      diag << scaleStages << " of scales of " << stage.sfa + stage.sfb << ", ";
    return diag << staging << " staging buffers of " << kStagingBytes << " and " << kControlBytes;
  }

  if (schedule.getCtas() < 1 || !fits(schedule.getCtas()))
    return emitError() << "schedule_c10: ctas must be 1 .. 2^31 - 1, got " << schedule.getCtas();
  ClusterShape cluster = schedule.getCluster();
  if (cluster.size() > 0 && schedule.getCtas() % cluster.size())
    return emitError() << "schedule_c10: ctas must be a multiple of the " << cluster.size()
                       << " of a cluster, got " << schedule.getCtas();

  for (facts::Format operand : {problem.getA(), problem.getB()})
    if (inst.k > facts::longestFetchedK(mma, operand))
      return emitError() << "schedule_c11: k of inst must be "
                         << facts::longestFetchedK(mma, operand) << " where an operand is "
                         << name(operand) << ": TMA has no packed type of 6 bits, got " << inst.k;

  if (isSpan(schedule) && !facts::covers(arch, Arch::sm_103a))
    return emitError() << "schedule_c13: k of inst must be 96 on sm_103a only: an absolute leading "
                          "address is unproven elsewhere, got "
                       << name(arch);
  auto isExtent = [](int64_t extent) { return extent == 1 || extent == 2 || extent == 4; };
  if (!isExtent(cluster.m) || !isExtent(cluster.n))
    return emitError() << "schedule_c14: cluster must be 1, 2 or 4 by 1, 2 or 4 CTAs, got "
                       << cluster.m << "x" << cluster.n;
  if (cluster.m % ctas)
    return emitError() << "schedule_c14: cluster must be whole pairs along m, got " << cluster.m
                       << "x" << cluster.n;
  return verifyOutput(problem, schedule, emitError);
}

/// The rows of one operand as TMA meets them.
namespace {
struct FetchedRows {
  StringRef what;
  facts::Format format;
  facts::Major major;
  int64_t extent, k, pitch; // of the other dimension than k; bytes from one row to the next
  bool isPitched, hasZeroTail;
  facts::TmaTypeInfo type;

  /// Elements that TMA counts in a row of a padded type, and whether they are there.
  int64_t countedK() const { return llvm::alignTo(k, type.dimStep); }
  bool hasCountedK() const {
    return k == countedK() ||
           (isPitched && hasZeroTail && pitch * 16 >= countedK() * type.globalBytes16);
  }
  /// Of a pitch of ? the tensor map of a launch is refused where it is not.
  bool isAligned() const { return isDynamic(pitch) || pitch % type.alignment == 0; }
  /// The least pitch with which the rows can be fetched.
  int64_t wantedPitch() const {
    int64_t bytes = k == countedK() ? facts::operandPitch(format, major, extent, k)
                                    : countedK() * type.globalBytes16 / 16;
    return llvm::alignTo(bytes, type.alignment);
  }
};
} // namespace

static std::array<FetchedRows, 2> fetchedRows(ProblemAttr p, ScheduleAttr schedule,
                                              ZeroTails tails) {
  TileChoice choice = choiceOf(schedule);
  return {{{"a", p.getA(), p.getMajorA(), p.getM(), p.getK(), p.getRowPitchA(), p.getPitchA() != 0,
            tails.a, facts::info(planA(p, choice).type)},
           {"b", p.getB(), p.getMajorB(), p.getN(), p.getK(), p.getRowPitchB(), p.getPitchB() != 0,
            tails.b, facts::info(planB(p, choice).type)}}};
}

std::array<int64_t, 2> blockscale::pitchesWanted(ProblemAttr problem, ScheduleAttr schedule,
                                                 ZeroTails tails) {
  std::array<int64_t, 2> wanted{};
  for (auto [rows, pitch] : llvm::zip_equal(fetchedRows(problem, schedule, tails), wanted))
    if (!rows.hasCountedK() || !rows.isAligned())
      pitch = rows.wantedPitch();
  return wanted;
}

LogicalResult blockscale::verifyFetchable(ProblemAttr problem, ScheduleAttr schedule,
                                          ErrorFn emitError, ZeroTails tails) {
  for (const FetchedRows &rows : fetchedRows(problem, schedule, tails)) {
    if (!rows.hasCountedK())
      return emitError() << "gemm_c13: k must be a multiple of " << rows.type.dimStep << " where "
                         << name(schedule.getMma()) << " at k = " << schedule.getInst().k
                         << " reads " << rows.what << " (" << name(rows.format)
                         << ") with a gap behind each 16 elements, got " << rows.k
                         << "; blockscale.repitch makes rows of " << rows.wantedPitch()
                         << " bytes with a zero tail";
    if (!rows.isAligned())
      return emitError() << "gemm_c13: row pitch of " << rows.what << " must be a multiple of "
                         << rows.type.alignment << " bytes for TMA, got " << rows.pitch << " ("
                         << (rows.major == facts::Major::k ? "k = " : "its rows are ")
                         << (rows.major == facts::Major::k ? rows.k : rows.extent)
                         << "); the pitch wanted is " << rows.wantedPitch()
                         << ", and blockscale.repitch makes it";
  }
  return success();
}

LogicalResult blockscale::verifyTiledScales(ProblemAttr problem, StringRef advice,
                                            ErrorFn emitError) {
  for (auto [what, layout] :
       {std::pair("sfa", problem.getSfa()), std::pair("sfb", problem.getSfb())})
    if (layout != facts::ScaleLayout::tiled)
      return emitError() << "gemm_c14: " << what << " must have layout tiled, got " << name(layout)
                         << "; " << advice;
  return success();
}
