//===- WarpChoice.cpp - choice of an mma.sync kernel ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By occupancy and traffic; what is pinned is kept, and checked with the rest.
//
//===----------------------------------------------------------------------===//

#include "WarpForms.h"

#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"
#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/Products.h"

using namespace mlir;
using namespace blockscale;
using facts::Arch;

namespace {
/// The schedules of one problem on one chip, with what is pinned.
class WarpChooser {
public:
  WarpChooser(BlockProblemAttr problem, Arch arch, const WarpPins &pins)
      : problem(problem), arch(arch), chunks(pins.chunks.value_or(facts::kQ4KSubBlocks)),
        sums(pins.sums.value_or(ChunkSums::two_word)), pins(pins) {}

  /// The kernel of the least traffic for each block that an SM holds.
  WarpKernel cheapest() const {
    auto less = [&](WarpKernel a, WarpKernel b) { return costOf(a) < costOf(b); };
    return *std::min_element(kOrder.begin(), kOrder.end(), less);
  }
  /// Why a kernel cannot run; empty where it can.
  std::string whyNot(WarpKernel kernel) const;
  /// Why what is pinned does not let one take the place of the first; empty where it does.
  std::string whyNotInstead() const;
  WarpScheduleAttr scheduleOf(WarpKernel kernel) const;

  static constexpr std::array<WarpKernel, 3> kOrder{WarpKernel::raw_nibble, WarpKernel::wide,
                                                    WarpKernel::narrow};

private:
  /// Tiles of A want the kernel that reads them.
  Activations activationsOf(WarpKernel kernel) const;
  int64_t warpRows() const { return pins.warpRows.value_or(kStripRows); }
  Weights weightsOf() const {
    return problem.getB() == facts::BlockFormat::q4_K_plane
               ? Weights::plane
               : pins.weights.value_or(Weights::blocks);
  }
  Minima minimaOf(Activations activations) const;
  PlaneForm formOf(WarpKernel kernel, int64_t kd, int64_t stages) const {
    Activations activations = activationsOf(kernel);
    return {tileOf(kernel, kd),
            kernel != WarpKernel::raw_nibble,
            sums,
            activations,
            minimaOf(activations),
            stages};
  }
  int64_t blocksOf(const PlaneForm &form) const {
    int64_t threads = form.expanded ? kWarpKernelThreads : threadsOf(warpRows());
    Occupancy occupancy =
        planOccupancy(arch, sharedBytesOf(form), planRegisters(form.tile, threads), threads);
    return std::max<int64_t>(1, occupancy.blocks());
  }
  /// Bytes per block that an SM holds: more than two were never measured to pay.
  int64_t costOf(WarpKernel kernel) const {
    int64_t kd = kernel == WarpKernel::wide ? chunks : facts::kQ4KSubBlocks;
    return planTraffic(problem, tileOf(kernel, kd)).total() /
           std::min<int64_t>(2, blocksOf(formOf(kernel, kd, /*stages=*/1)));
  }
  int64_t stagesOf(WarpKernel kernel) const;
  int64_t splitOf(const PlaneForm &form) const;

  BlockProblemAttr problem;
  Arch arch;
  int64_t chunks;
  ChunkSums sums;
  const WarpPins &pins;
};
} // namespace

Activations WarpChooser::activationsOf(WarpKernel kernel) const {
  if (isTile(problem.getA()))
    return Activations::transposed;
  return pins.activations.value_or(Activations::chunks);
}

Minima WarpChooser::minimaOf(Activations activations) const {
  if (isTile(problem.getA()))
    return problem.getA() == facts::BlockFormat::q8_1_tile_parts ? Minima::mma : Minima::fold;
  bool mayRound = mayReorder(problem.getContract()) && weightsOf() == Weights::blocks;
  return pins.minima.value_or(mayRound && activations == Activations::transposed ? Minima::mma
                                                                                 : Minima::fold);
}

std::string WarpChooser::whyNot(WarpKernel kernel) const {
  if (!llvm::is_contained(chunksOf(kernel), chunks))
    return "kd must be " + listDepths(kernel, 1) + ", got " + std::to_string(chunks);
  PlaneForm form = formOf(kernel, chunks, pins.stages.value_or(1));
  int64_t bytes = sharedBytesOf(form), limit = facts::info(arch).sharedPerBlock;
  if (bytes > limit)
    return "shared memory must be at most " + std::to_string(limit) + " bytes, got " +
           std::to_string(bytes);
  int64_t pass = form.tile.k;
  if (problem.getK() % pass && pass > facts::kQ4KElements)
    return "k must be a multiple of " + std::to_string(pass) + ", got " +
           std::to_string(problem.getK());
  if (kernel != WarpKernel::raw_nibble && form.isTransposed())
    return "activations must be chunks, got transposed";
  if (kernel != WarpKernel::raw_nibble && weightsOf() == Weights::plane)
    return "weights must be blocks, got plane";
  if (kernel != WarpKernel::raw_nibble && warpRows() != kStripRows)
    return "warp_rows must be 16, got " + std::to_string(warpRows());
  return {};
}

std::string WarpChooser::whyNotInstead() const {
  // Of raw_nibble alone, which is never a fallback.
  for (auto [field, pin] : {std::pair("stages", pins.stages), std::pair("split", pins.split)})
    if (pin.value_or(1) != 1)
      return std::string(field) + " must be 1, got " + std::to_string(*pin);
  return {};
}

/// As many as leave an SM two blocks: a second pass of chunks, three tiles (with more none was
/// measured to pay).
int64_t WarpChooser::stagesOf(WarpKernel kernel) const {
  if (pins.stages)
    return *pins.stages;
  PlaneForm form = formOf(kernel, chunks, /*stages=*/1);
  if (kernel != WarpKernel::raw_nibble || chunks != facts::kQ4KSubBlocks)
    return 1;
  if (form.isTransposed() && !hasBulkCopies(arch))
    return 1;
  constexpr int64_t kWanted = 2; // blocks; more were never measured to pay
  int64_t blocks = std::min(kWanted, blocksOf(form));
  for (int64_t stages = form.isTransposed() ? 3 : 2; stages > 1; --stages) {
    form.stages = stages;
    if (blocks == kWanted && sharedBytesOf(form) <= facts::info(arch).sharedPerBlock &&
        blocksOf(form) >= blocks)
      return stages;
  }
  return 1;
}

/// The split of the least time, by what was measured on an H200 (docs/Q4K.md). Its unit is a
/// hundredth of what one block of k takes an SM, which shares its time out to the CTAs that it
/// holds.
int64_t WarpChooser::splitOf(const PlaneForm &form) const {
  if (pins.split)
    return *pins.split;
  const facts::Product *product = facts::modelProduct(arch);
  if (!product || form.expanded || !mayReorder(problem.getContract()) ||
      !facts::supports(arch, facts::Feature::clusters))
    return 1;
  WarpGrid grid = planGrid(problem, form.tile);
  int64_t tiles = grid.tokens * grid.rows, depth = problem.getK() / facts::kQ4KElements;
  auto timeOf = [&](int64_t split, int64_t sums) {
    constexpr int64_t kAlone = 106; // percent: a CTA that has an SM to itself leaves gaps
    int64_t rounds = int64_t(llvm::divideCeil(tiles * split, product->sms));
    int64_t time = rounds * (100 * depth / split + sums);
    return rounds == 1 ? time * kAlone / 100 : time;
  };
  // What the sums of a part cost, written and added up.
  constexpr std::pair<int64_t, int64_t> kSums[] = {{2, 100}, {4, 150}, {8, 250}};
  int64_t best = 1, least = timeOf(1, 0);
  for (auto [split, sums] : kSums) {
    // Clusters of 8 do not fill a chip: they pay where each CTA has an SM.
    if (!form.isTransposed())
      sums = sums * 3 / 4; // a block takes longer
    bool isTooWide = split == 8 && tiles * split > product->sms;
    if (isTooWide || depth / split < form.stages || timeOf(split, sums) >= least)
      continue;
    best = split;
    least = timeOf(split, sums);
  }
  return best;
}

WarpScheduleAttr WarpChooser::scheduleOf(WarpKernel kernel) const {
  PlaneForm form = formOf(kernel, chunks, stagesOf(kernel));
  // Groups whose loads ptxas 13.5 may have in flight together; with more it spills
  // addresses of the next fill. Two keep the tensor core busy; in code for the chips of
  // the 120 family, and where the minima are a product of their own, one does.
  bool isCrowded = facts::covers(arch, Arch::sm_120f) || form.minima == Minima::mma;
  int64_t flight = isCrowded ? 1 : 2;
  // Measured on an H200 (docs/Q4K.md): a ring is bound by issue slots.
  SumConversion convert = form.isRing() ? SumConversion::cvt : SumConversion::offset;
  return WarpScheduleAttr::get(problem.getContext(), arch, kernel, form.tile, sums,
                               form.activations, weightsOf(), form.minima,
                               pins.convert.value_or(convert), form.stages,
                               pins.flight.value_or(flight), pins.pragma.value_or(Pragma::none),
                               warpRows(), splitOf(form), threadsOf(warpRows()), blocksOf(form));
}

FailureOr<WarpPins> blockscale::readWarpPins(const WarpPinWords &words, ErrorFn emitError) {
  WarpPins pins;
  auto refuse = [&](StringRef label, StringRef field, StringRef legal, StringRef got) {
    emitError() << label << ": " << field << " must be " << legal << ", got '" << got << "'";
    return failure();
  };
  // Of wgmma_schedule there is one kernel; choosing it is the contract's affair.
  if (!words.kernel.empty() && words.kernel != StringRef(kWgmmaKernelName) &&
      !(pins.kernel = parseWarpKernel(std::string_view(words.kernel))))
    return refuse("warp_schedule_c2", "kernel", "raw_nibble, wide, narrow or dequantise_wgmma",
                  words.kernel);
  if (!words.sums.empty() && !(pins.sums = parseChunkSums(std::string_view(words.sums))))
    return refuse("warp_schedule_c2", "sums", "two_word or packed", words.sums);
  if (!words.activations.empty() &&
      !(pins.activations = parseActivations(std::string_view(words.activations))))
    return refuse("warp_schedule_c8", "activations", "chunks or transposed", words.activations);
  if (!words.minima.empty() && !(pins.minima = parseMinima(std::string_view(words.minima))))
    return refuse("warp_schedule_c9", "minima", "fold or mma", words.minima);
  if (!words.convert.empty() &&
      !(pins.convert = parseSumConversion(std::string_view(words.convert))))
    return refuse("warp_schedule_c2", "convert", "offset or cvt", words.convert);
  if (!words.weights.empty() && !(pins.weights = parseWeights(std::string_view(words.weights))))
    return refuse("warp_schedule_c11", "weights", "blocks or plane", words.weights);
  if (!words.pragma.empty() && !(pins.pragma = parsePragma(std::string_view(words.pragma))))
    return refuse("warp_schedule_c2", "pragma", "none or mma_throughput", words.pragma);
  for (auto [pin, number] :
       {std::pair(&pins.chunks, words.chunks), std::pair(&pins.stages, words.stages),
        std::pair(&pins.flight, words.flight), std::pair(&pins.warpRows, words.warpRows),
        std::pair(&pins.split, words.split)})
    if (number)
      *pin = number;
  return pins;
}

/// Operands that are tiles or planes already say how they lie; another pin would be lost.
static LogicalResult verifyPins(WarpScheduleAttr schedule, const WarpPins &pins,
                                ErrorFn emitError) {
  if (pins.activations && *pins.activations != schedule.getActivations())
    return emitError() << "warp_schedule_c8: activations must be "
                       << name(schedule.getActivations()) << ", as a is, got "
                       << name(*pins.activations);
  if (pins.minima && *pins.minima != schedule.getMinima())
    return emitError() << "warp_schedule_c9: minima must be " << name(schedule.getMinima())
                       << ", as a is, got " << name(*pins.minima);
  if (pins.weights && *pins.weights != schedule.getWeights())
    return emitError() << "warp_schedule_c11: weights must be " << name(schedule.getWeights())
                       << ", as b is, got " << name(*pins.weights);
  return success();
}

FailureOr<WarpChoice> blockscale::chooseWarpSchedule(BlockProblemAttr problem, Arch arch,
                                                     const WarpPins &pins, ErrorFn emitError) {
  if (!isWarpTarget(arch)) {
    emitError() << "warp_schedule_c1: chip of a product of blocks must be one of "
                << listWarpTargets() << ", got " << name(arch);
    return failure();
  }
  constexpr int64_t kMostChunks = 64;
  if (int64_t chunks = pins.chunks.value_or(1); chunks < 1 || chunks > kMostChunks) {
    emitError() << "warp_schedule_c4: kd must be 1 .. " << kMostChunks << " chunks of 32, got "
                << chunks;
    return failure();
  }
  if (int64_t stages = pins.stages.value_or(1); stages < 1 || stages > kMostStages) {
    emitError() << "warp_schedule_c7: stages must be 1 .. " << kMostStages << ", got " << stages;
    return failure();
  }
  if (int64_t rows = pins.warpRows.value_or(kStripRows);
      rows != kStripRows && rows != kMostStrips * kStripRows) {
    emitError() << "warp_schedule_c12: warp_rows must be 16 or 32, got " << rows;
    return failure();
  }
  WarpChooser chooser(problem, arch, pins);
  WarpKernel first = pins.kernel.value_or(chooser.cheapest());
  std::string reasons;
  for (WarpKernel kernel : WarpChooser::kOrder) {
    if (kernel < first)
      continue;
    std::string reason = chooser.whyNot(kernel);
    if (reason.empty() && kernel != first)
      reason = chooser.whyNotInstead();
    if (reason.empty()) {
      WarpScheduleAttr schedule = chooser.scheduleOf(kernel);
      // What is pinned may not go together.
      if (failed(verifyPins(schedule, pins, emitError)) ||
          failed(verifyWarpSchedule(schedule, emitError)))
        return failure();
      if (failed(verifyContract(schedule, problem.getContract(), emitError)) ||
          failed(verifyDepth(schedule, problem.getK(), emitError)))
        return failure();
      return WarpChoice{schedule, reasons};
    }
    reasons += (reasons.empty() ? "" : "; ") + std::string(name(kernel)) + ": " + reason;
  }
  emitError() << "warp_schedule_c3: a kernel must fit " << name(arch) << ", got none: " << reasons;
  return failure();
}
