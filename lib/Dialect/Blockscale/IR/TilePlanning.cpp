//===- TilePlanning.cpp - which tile a large product gets -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/TilePlanning.h"

#include "blockscale/Facts/CycleModel.h"
#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/Products.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

/// Bytes that one SM reads a clock while all do.
static constexpr double rateOf(std::string_view name) {
  for (const facts::Rate &rate : facts::kRates)
    if (rate.name == name)
      return rate.value;
  return 0;
}
static constexpr double kL2Bytes = rateOf("L2"), kTmemBytes = rateOf("tensor memory ld/st") / 2;
static_assert(kL2Bytes > 0 && kTmemBytes > 0);

static int64_t smsOf(facts::Arch arch) {
  const facts::Product *product = facts::modelProduct(arch);
  return product ? product->sms : 1;
}

static int64_t tilesOf(ProblemAttr problem, const TileChoice &choice) {
  return int64_t(llvm::divideCeil(problem.getM(), choice.tile.m) *
                 llvm::divideCeil(problem.getN(), choice.tile.n)) *
         problem.getBatches();
}

static int64_t productsOf(const TileChoice &choice) { return choice.tile.m / choice.inst.m; }

/// Columns of so many accumulators, each of all products that share B, fit side by side, or
/// overlapped as two of one product always do.
static bool hasTwoAccumulators(facts::Arch arch, StageBytes stage, const TileChoice &choice) {
  int64_t products = productsOf(choice);
  return products == 1 ||
         planTmem(stage, choice.tile, 2 * products).used() <= facts::info(arch).tmemColumns;
}

double blockscale::modelledCycles(ProblemAttr problem, facts::Arch arch, const TileChoice &choice) {
  StageBytes stage = planStage(problem, choice);
  bool isSpan = choice.inst.k == kSpanK;
  double buffers = isSpan ? double(kSpanTileK) / kSpanBufferK : 1;
  double scaleBuffers = isSpan ? double(kSpanTileK) / problem.getBlock() / kSpanScales : 1;
  double scales = scaleBuffers * (stage.sfa + stage.sfb);
  double bytes =
      buffers * (planA(problem, choice).arrivingBytes() + planB(problem, choice).arrivingBytes()) +
      scales;

  bool isFp4 = choice.mma != facts::MmaKind::mxf8f6f4;
  facts::MmaCost one{int(choice.ctas), int(choice.inst.m), int(choice.inst.n),
                     int(isFp4 ? choice.inst.k / 2 : choice.inst.k)};
  // B comes from the collector, so that only A's rows are read.
  facts::MmaCost reused = one;
  reused.n = 0;
  double again = std::max(facts::mmaPipeCycles(one), facts::mmaSharedCycles(reused));
  double products = facts::mmaCycles(one) + double(productsOf(choice) - 1) * again;
  double multiplied = double(choice.tile.k) / choice.inst.k * products +
                      scales / facts::kScaleTileBytes * facts::kScaleCopyCycles;
  double tilesK = double(problem.getK()) / choice.tile.k;
  double filled = (isSpan ? tilesK : std::ceil(tilesK)) * std::max(multiplied, bytes / kL2Bytes);

  double drained =
      double(productsOf(choice) * choice.inst.n) * facts::kTmemLanes * sizeof(float) / kTmemBytes;
  double tile =
      hasTwoAccumulators(arch, stage, choice) ? std::max(filled, drained) : filled + drained;
  return double(llvm::divideCeil(tilesOf(problem, choice), smsOf(arch) / choice.ctas)) * tile;
}

/// Whether the plan fits a chip: an accumulator with the scales, and two stages with staging.
static bool fits(ProblemAttr problem, facts::Arch arch, const TileChoice &choice) {
  StageBytes stage = planStage(problem, choice);
  int64_t columns = planTmem(stage, choice.tile, productsOf(choice)).used();
  return columns <= facts::info(arch).tmemColumns &&
         planSharedBytes(stage, /*stages=*/2, /*staging=*/1) <= facts::maxSharedPerBlock(arch);
}

TileChoice blockscale::chooseTile(ProblemAttr problem, facts::Arch arch, facts::MmaKind mma,
                                  ArrayRef<int64_t> instKs) {
  auto make = [&](int64_t group, int64_t products, int64_t n, int64_t k) {
    Shape3 inst{facts::kTmemLanes * group, n, k};
    return TileChoice{mma, inst, {products * inst.m, n, tileK(mma, k)}, group};
  };
  TileChoice best = make(1, 1, 128, instKs.front());
  if (problem.hasDynamicM() || tilesOf(problem, best) <= smsOf(arch))
    return best;
  double least = modelledCycles(problem, arch, best);
  // schedule_c17 and schedule_c16.
  bool sharesB = facts::supports(arch, facts::Feature::collectorB) && !problem.getQuantized();
  int64_t most = sharesB ? 2 : 1;
  for (int64_t k : instKs)
    for (int64_t products = 1; products <= most; ++products)
      for (int64_t group : {1, 2})
        for (int64_t n : kTileColumns) {
          if (problem.getGate() && n % (2 * kGateInterleave))
            continue;
          TileChoice choice = make(group, products, n, k);
          double cycles =
              fits(problem, arch, choice) ? modelledCycles(problem, arch, choice) : least;
          if (cycles < least)
            best = choice, least = cycles;
        }
  return best;
}
