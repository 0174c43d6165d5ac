//===- WarpPlanning.cpp - sizes and rules of the mma.sync kernels ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpForms.h"

#include "blockscale/Facts/ActivationTile.h"
#include "blockscale/Facts/Features.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace blockscale;
using facts::Arch;
using facts::PlaneLayout;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

//===----------------------------------------------------------------------===//
// Tiles and planes
//===----------------------------------------------------------------------===//

Shape3 blockscale::tileOf(WarpKernel kernel, int64_t chunks) {
  switch (kernel) {
  case WarpKernel::raw_nibble:
    return {64, 128, chunks * facts::kChunkElements};
  case WarpKernel::wide:
    return {128, 128, chunks * facts::kChunkElements};
  case WarpKernel::narrow:
    return {64, 64, chunks * facts::kChunkElements};
  }
  llvm_unreachable("kernels are listed above");
}

ArrayRef<int64_t> blockscale::chunksOf(WarpKernel kernel) {
  static constexpr int64_t kRaw[] = {facts::kQ4KSubBlocks},
                           kWide[] = {facts::kQ4KSubBlocks / 2, facts::kQ4KSubBlocks,
                                      2 * facts::kQ4KSubBlocks},
                           kNarrow[] = {facts::kQ4KSubBlocks, 2 * facts::kQ4KSubBlocks};
  switch (kernel) {
  case WarpKernel::raw_nibble:
    return kRaw;
  case WarpKernel::wide:
    return kWide;
  case WarpKernel::narrow:
    return kNarrow;
  }
  llvm_unreachable("kernels are listed above");
}

std::string blockscale::listDepths(WarpKernel kernel, int64_t unit) {
  std::string text;
  for (int64_t chunks : chunksOf(kernel)) {
    bool isLast = chunks == chunksOf(kernel).back();
    text += (text.empty() ? "" : isLast ? " or " : ", ") + std::to_string(chunks * unit);
  }
  return text;
}

bool blockscale::isWarpTarget(Arch arch) { return llvm::is_contained(kWarpTargets, arch); }

bool blockscale::hasBulkCopies(Arch arch) { return facts::supports(arch, facts::Feature::tma); }

static facts::BlockFormat formatOf(Activations activations, Minima minima) {
  if (activations == Activations::chunks)
    return facts::BlockFormat::q8_1_chunk;
  return minima == Minima::mma ? facts::BlockFormat::q8_1_tile_parts
                               : facts::BlockFormat::q8_1_tile;
}
facts::BlockFormat WarpScheduleAttr::getAFormat() const {
  return formatOf(getActivations(), getMinima());
}
facts::BlockFormat WarpScheduleAttr::getBFormat() const {
  return getWeights() == Weights::plane ? facts::BlockFormat::q4_K_plane : facts::BlockFormat::q4_K;
}

namespace {
struct PlaneSize {
  PlaneContent content;
  int64_t bytes;
  PlaneLayout layout;
};
} // namespace

static PlaneForm formOf(WarpScheduleAttr schedule) {
  return {schedule.getTile(),   schedule.getKernel() != WarpKernel::raw_nibble,
          schedule.getSums(),   schedule.getActivations(),
          schedule.getMinima(), schedule.getStages()};
}

static SmallVector<PlaneSize> planesOfA(const PlaneForm &form) {
  if (form.isTransposed()) {
    // The tile as it lies in memory.
    SmallVector<PlaneSize> planes{
        {PlaneContent::qa8, facts::kTileValueBytes, PlaneLayout::split_phase},
        {PlaneContent::sda, facts::kTileScaleBytes + facts::kTileSumBytes, PlaneLayout::quads}};
    if (form.minima == Minima::mma) {
      planes.back().bytes = facts::kTileScaleBytes;
      planes.push_back(
          {PlaneContent::sum_parts, facts::kSumParts * facts::kTilePartBytes, PlaneLayout::linear});
    }
    return planes;
  }
  int64_t chunks = form.tile.k / facts::kChunkElements;
  int64_t word = form.sums == ChunkSums::packed ? 4 : 8;
  return {{PlaneContent::qa8, chunks * form.tile.m * facts::kChunkElements,
           facts::chooseMatrixLayout(/*padded=*/false)},
          {PlaneContent::sda, chunks * form.tile.m * word, PlaneLayout::octets}};
}

static SmallVector<PlaneSize> planesOfB(const PlaneForm &form) {
  int64_t chunks = form.tile.k / facts::kChunkElements, rows = form.tile.n;
  PlaneSize values{PlaneContent::qb_raw, rows * facts::kQ4KNibbleBytes,
                   facts::chooseNibbleLayout()};
  if (form.expanded)
    values = {PlaneContent::qb8, chunks * rows * facts::kSlotBytes,
              facts::chooseMatrixLayout(/*padded=*/true)};
  if (form.minima == Minima::fold)
    return {values, {PlaneContent::sds, chunks * rows * 8, PlaneLayout::linear}};
  return {values,
          {PlaneContent::sds, chunks * rows * 4, PlaneLayout::row_quads},
          {PlaneContent::minima, chunks * rows * 2, PlaneLayout::linear},
          {PlaneContent::dmin, rows * 4, PlaneLayout::row_quads}};
}

static int64_t bytesOf(ArrayRef<PlaneSize> planes) {
  int64_t bytes = 0;
  for (const PlaneSize &plane : planes)
    bytes += plane.bytes;
  return bytes;
}
int64_t blockscale::sharedBytesOf(const PlaneForm &form) {
  int64_t a = bytesOf(planesOfA(form)), b = bytesOf(planesOfB(form));
  return form.isRing() ? form.stages * (a + kRingBarrierBytes) + 2 * b : form.stages * (a + b);
}

WarpShape::WarpShape(WarpScheduleAttr schedule)
    : tokens(schedule.getTile().m), rows(schedule.getTile().n), chunks(schedule.getChunks()),
      warpRows(schedule.getWarpRows()), threads(threadsOf(warpRows)), rowWarps(rows / warpRows),
      tokenWarps(threads / 32 / rowWarps), groups(tokens / kGroupTokens / tokenWarps),
      strips(warpRows / kStripRows), raw(schedule.getKernel() == WarpKernel::raw_nibble),
      packed(schedule.getSums() == ChunkSums::packed),
      transposed(schedule.getActivations() == Activations::transposed),
      splitMinima(schedule.getMinima() == Minima::mma), split(schedule.getSplit()),
      stages(schedule.getStages()), ring(transposed && stages > 1),
      tileBytes(bytesOf(planesOfA(formOf(schedule)))),
      weightBytes(bytesOf(planesOfB(formOf(schedule)))) {
  stageBytes = tileBytes + weightBytes;
}

SmallVector<PlaneAttr> blockscale::planPlanes(WarpScheduleAttr schedule) {
  SmallVector<PlaneAttr> planes;
  int64_t offset = 0;
  auto plan = [&](const PlaneSize &plane) {
    planes.push_back(
        PlaneAttr::get(schedule.getContext(), plane.content, offset, plane.bytes, plane.layout));
    offset += plane.bytes;
  };
  PlaneForm form = formOf(schedule);
  llvm::for_each(planesOfA(form), plan);
  if (form.isRing())
    offset = WarpShape(schedule).weights();
  llvm::for_each(planesOfB(form), plan);
  return planes;
}

int64_t blockscale::planPlaneBytes(Shape3 tile, bool expanded, ChunkSums sums) {
  return sharedBytesOf({tile, expanded, sums});
}
int64_t blockscale::planPlaneBytes(WarpScheduleAttr schedule) {
  return sharedBytesOf(formOf(schedule));
}

//===----------------------------------------------------------------------===//
// Occupancy and traffic
//===----------------------------------------------------------------------===//

int64_t blockscale::planRegisters(Shape3 tile, int64_t threads) {
  // Fragments, scales, addresses and temporaries, as ptxas 13.5 allots them.
  constexpr int64_t kBesideAccumulators = 96;
  return kBesideAccumulators + tile.m * tile.n / threads;
}

Occupancy blockscale::planOccupancy(Arch arch, int64_t sharedBytes, int64_t registers,
                                    int64_t threads) {
  const facts::ArchInfo &chip = facts::info(arch);
  int64_t perWarp = ceilDiv(registers * 32, 256) * 256;
  int64_t byThreads = std::min<int64_t>(chip.blocksPerSm, chip.threadsPerSm / threads);
  return {chip.sharedPerSm / (sharedBytes + facts::kSharedReservedPerBlock),
          facts::kRegistersPerSm / (perWarp * (threads / 32)), byThreads};
}

Traffic blockscale::planTraffic(BlockProblemAttr problem, Shape3 tile) {
  WarpGrid grid = planGrid(problem, tile);
  return {problem.getABytes() * grid.rows, problem.getBBytes() * grid.tokens};
}

WarpGrid blockscale::planGrid(BlockProblemAttr problem, Shape3 tile) {
  return {ceilDiv(problem.getM(), tile.m), ceilDiv(problem.getN(), tile.n)};
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

std::string blockscale::listWarpTargets() {
  return llvm::join(
      llvm::map_range(kWarpTargets, [](Arch arch) { return StringRef(facts::name(arch)); }), ", ");
}

LogicalResult blockscale::verifyWarpSchedule(WarpScheduleAttr schedule, ErrorFn emitError) {
  Arch arch = schedule.getArch();
  if (!isWarpTarget(arch))
    return emitError() << "warp_schedule_c1: chip of a product of blocks must be one of "
                       << listWarpTargets() << ", got " << name(arch);
  Shape3 tile = schedule.getTile(), want = tileOf(schedule.getKernel(), schedule.getChunks());
  if (tile.m != want.m || tile.n != want.n)
    return emitError() << "warp_schedule_c2: tile of " << name(schedule.getKernel()) << " must be "
                       << want.m << "x" << want.n << " tokens x rows, got " << tile.m << "x"
                       << tile.n;
  if (tile.k < facts::kChunkElements || tile.k > kMaxExtent)
    return emitError() << "warp_schedule_c4: k of a tile must be 128, 256 or 512, got " << tile.k;
  int64_t stages = schedule.getStages();
  if (stages < 1 || stages > kMostStages)
    return emitError() << "warp_schedule_c7: stages must be 1 .. " << kMostStages << ", got "
                       << stages;
  int64_t warpRows = schedule.getWarpRows();
  if (warpRows != kStripRows && warpRows != kMostStrips * kStripRows)
    return emitError() << "warp_schedule_c12: warp_rows must be 16 or 32, got " << warpRows;
  int64_t threads = threadsOf(warpRows), registers = planRegisters(tile, threads);
  int64_t bytes = planPlaneBytes(schedule);
  if (int64_t limit = facts::info(arch).sharedPerBlock; bytes > limit)
    return emitError() << "warp_schedule_c3: planes must fit the " << limit << " shared bytes of "
                       << name(arch) << ", got " << bytes;
  if (!llvm::is_contained(chunksOf(schedule.getKernel()), schedule.getChunks()) ||
      tile.k % facts::kChunkElements)
    return emitError() << "warp_schedule_c4: k of a tile of " << name(schedule.getKernel())
                       << " must be " << listDepths(schedule.getKernel(), facts::kChunkElements)
                       << ", got " << tile.k;
  int64_t blocks = std::max<int64_t>(1, planOccupancy(arch, bytes, registers, threads).blocks());
  if (schedule.getBlocks() < 1 || schedule.getBlocks() > blocks)
    return emitError() << "warp_schedule_c5: blocks of an SM must be 1 .. " << blocks << " for "
                       << bytes << " shared bytes and " << registers << " registers a thread, got "
                       << schedule.getBlocks();
  if (schedule.getThreads() != threads)
    return emitError() << "warp_schedule_c6: threads must be " << threads << ", got "
                       << schedule.getThreads();
  bool transposed = schedule.getActivations() == Activations::transposed;
  bool isRaw = schedule.getKernel() == WarpKernel::raw_nibble;
  int64_t most = !isRaw ? 1 : !transposed ? 2 : hasBulkCopies(arch) ? kMostStages : 1;
  if (stages > most)
    return emitError() << "warp_schedule_c7: stages of " << name(schedule.getKernel()) << " with "
                       << name(schedule.getActivations()) << " on " << name(arch)
                       << " must be 1 .. " << most << ", got " << stages;
  if (transposed && (!isRaw || schedule.getSums() != ChunkSums::two_word))
    return emitError() << "warp_schedule_c8: transposed activations must be multiplied by "
                          "raw_nibble with sums of two_word, got "
                       << name(schedule.getKernel()) << " and " << name(schedule.getSums());
  if (schedule.getMinima() == Minima::mma && !transposed)
    return emitError() << "warp_schedule_c9: minima must be fold where activations are chunks, "
                          "got mma";
  if (int64_t flight = schedule.getFlight();
      flight != 1 && flight != 2 && flight != 4 && flight != 8)
    return emitError() << "warp_schedule_c10: flight must be 1, 2, 4 or 8 groups, got " << flight;
  if (schedule.getWeights() == Weights::plane && (!isRaw || schedule.getMinima() != Minima::fold))
    return emitError() << "warp_schedule_c11: weights of a plane must be multiplied by raw_nibble "
                          "with minima of fold, got "
                       << name(schedule.getKernel()) << " and " << name(schedule.getMinima());
  if (warpRows != kStripRows && !(transposed && stages > 1))
    return emitError() << "warp_schedule_c12: warp_rows must be 16 without a ring of transposed "
                          "activations in two stages or more, got "
                       << warpRows;
  int64_t split = schedule.getSplit();
  if (!llvm::is_contained({1, 2, 4, 8}, split))
    return emitError() << "warp_schedule_c13: split must be 1, 2, 4 or 8, got " << split;
  if (schedule.isSplit() && (!isRaw || !facts::supports(arch, facts::Feature::clusters)))
    return emitError() << "warp_schedule_c13: split must be 1 but for raw_nibble on a chip with "
                          "clusters, got "
                       << split << " for " << name(schedule.getKernel()) << " on " << name(arch);
  return success();
}

LogicalResult blockscale::verifyDepth(WarpScheduleAttr schedule, int64_t k, ErrorFn emitError) {
  // Half a block is half of one.
  if (int64_t pass = schedule.getTile().k; pass > facts::kQ4KElements && k % pass)
    return emitError() << "warp_schedule_c15: k must be a multiple of a pass's " << pass << ", got "
                       << k;
  int64_t least = k / facts::kQ4KElements / schedule.getSplit();
  if (!schedule.isSplit() || least >= schedule.getStages())
    return success();
  return emitError() << "warp_schedule_c14: each part of a split k must have at least "
                     << schedule.getStages() << " blocks of 256, as many as stages, got " << least
                     << " of k = " << k << " split in " << schedule.getSplit();
}

LogicalResult blockscale::verifyContract(WarpScheduleAttr schedule, BlockContract contract,
                                         ErrorFn emitError) {
  if (mayReorder(contract))
    return success();
  if (schedule.isSplit())
    return emitError() << "gemm_c25: split of a schedule must be 1 where the contract is ordered "
                          "(contract = #blockscale.contract<bounded> allows more), got "
                       << schedule.getSplit();
  if (schedule.getMinima() == Minima::fold)
    return success();
  return emitError() << "gemm_c25: minima of a schedule must be fold where the contract is ordered "
                        "(contract = #blockscale.contract<bounded> allows mma), got mma";
}

LogicalResult blockscale::verifyBlockProblem(BlockProblemAttr p, ErrorFn emitError) {
  auto legal = [](int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  if (!legal(p.getM()) || !legal(p.getN()) || !legal(p.getK()))
    return emitError() << "gemm_c5: m, n and k must be 1 .. " << kMaxExtent
                       << ", got m = " << p.getM() << ", n = " << p.getN() << ", k = " << p.getK();
  bool aFits = p.getA() == facts::BlockFormat::q8_1 || p.getA() == facts::BlockFormat::q8_1_chunk ||
               isTile(p.getA()) || p.getA() == facts::BlockFormat::f16;
  bool bFits = p.getA() == facts::BlockFormat::f16 ? p.getB() == facts::BlockFormat::q4_K
                                                   : facts::isQ4K(p.getB());
  if (!aFits || !bFits)
    return emitError() << "gemm_c16: blocks must be q8_1, q8_1_chunk (or tiles of it) and q4_K or "
                          "q4_K_plane, or f16 and q4_K, got "
                       << name(p.getA()) << " and " << name(p.getB());
  if (p.getK() % facts::kQ4KElements)
    return emitError() << "gemm_c17: k must be a multiple of " << facts::kQ4KElements
                       << ", the elements of a q4_K block, got " << p.getK();
  for (auto [what, bytes] : {std::pair("a", p.getABytes()), std::pair("b", p.getBBytes()),
                             std::pair("out", p.getOutBytes())})
    if (bytes > kMaxBufferBytes)
      return emitError() << "gemm_c15: " << what << " must take at most 2^40 bytes, got " << bytes;
  // Row tiles are the grid's second dimension.
  constexpr int64_t kMostRowTiles = 65535, kLeastRows = 64;
  if (ceilDiv(p.getN(), kLeastRows) > kMostRowTiles)
    return emitError() << "gemm_c15: tiles of 64 rows must be at most " << kMostRowTiles << ", got "
                       << ceilDiv(p.getN(), kLeastRows);
  return success();
}
