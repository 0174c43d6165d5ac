//===- WarpPlanning.cpp - sizes and choice of the mma.sync kernels --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace blockscale;
using facts::Arch;
using facts::PlaneLayout;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

//===----------------------------------------------------------------------===//
// Tiles and planes
//===----------------------------------------------------------------------===//

/// Tokens and rows of each kernel's tile.
static Shape3 tileOf(WarpKernel kernel, int64_t chunks) {
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

bool blockscale::isWarpTarget(Arch arch) { return llvm::is_contained(kWarpTargets, arch); }

/// Passes that shared memory holds: two where an SM has room for the schedule's blocks
/// with two, so that one pass is filled while the other is multiplied.
static int64_t planStages(WarpScheduleAttr schedule) {
  if (schedule.getKernel() != WarpKernel::raw_nibble || schedule.getBlocks() < 2 ||
      schedule.getTile().k != facts::kQ4KElements)
    return 1;
  const facts::ArchInfo &chip = facts::info(schedule.getArch());
  int64_t bytes = 2 * planPlaneBytes(schedule.getTile(), /*expanded=*/false, schedule.getSums());
  bool fits = bytes <= chip.sharedPerBlock &&
              schedule.getBlocks() * (bytes + facts::kSharedReservedPerBlock) <= chip.sharedPerSm;
  return fits ? 2 : 1;
}

WarpShape::WarpShape(WarpScheduleAttr schedule)
    : tokens(schedule.getTile().m), rows(schedule.getTile().n), chunks(schedule.getChunks()),
      rowWarps(rows / kWarpRows), tokenWarps(kWarpKernelThreads / 32 / rowWarps),
      groups(tokens / kGroupTokens / tokenWarps),
      raw(schedule.getKernel() == WarpKernel::raw_nibble),
      packed(schedule.getSums() == ChunkSums::packed), stages(planStages(schedule)),
      stageBytes(planPlaneBytes(schedule) / stages) {}

namespace {
struct PlaneSize {
  PlaneContent content;
  int64_t bytes;
  PlaneLayout layout;
};
} // namespace

static SmallVector<PlaneSize> sizePlanes(Shape3 tile, bool expanded, ChunkSums sums) {
  int64_t chunks = tile.k / facts::kChunkElements;
  int64_t word = sums == ChunkSums::packed ? 4 : 8;
  PlaneSize b{PlaneContent::qb_raw, tile.n * facts::kQ4KNibbleBytes, facts::chooseNibbleLayout()};
  if (expanded)
    b = {PlaneContent::qb8, chunks * tile.n * facts::kSlotBytes,
         facts::chooseMatrixLayout(/*padded=*/true)};
  return {{PlaneContent::qa8, chunks * tile.m * facts::kChunkElements,
           facts::chooseMatrixLayout(/*padded=*/false)},
          {PlaneContent::sda, chunks * tile.m * word, PlaneLayout::octets},
          b,
          {PlaneContent::sds, chunks * tile.n * 8, PlaneLayout::linear}};
}

SmallVector<PlaneAttr> blockscale::planPlanes(WarpScheduleAttr schedule) {
  SmallVector<PlaneAttr> planes;
  int64_t offset = 0;
  for (const PlaneSize &plane :
       sizePlanes(schedule.getTile(), schedule.getKernel() != WarpKernel::raw_nibble,
                  schedule.getSums())) {
    planes.push_back(
        PlaneAttr::get(schedule.getContext(), plane.content, offset, plane.bytes, plane.layout));
    offset += plane.bytes;
  }
  return planes;
}

int64_t blockscale::planPlaneBytes(Shape3 tile, bool expanded, ChunkSums sums) {
  int64_t bytes = 0;
  for (const PlaneSize &plane : sizePlanes(tile, expanded, sums))
    bytes += plane.bytes;
  return bytes;
}

int64_t blockscale::planPlaneBytes(WarpScheduleAttr schedule) {
  return planPlaneBytes(schedule.getTile(), schedule.getKernel() != WarpKernel::raw_nibble,
                        schedule.getSums()) *
         planStages(schedule);
}

//===----------------------------------------------------------------------===//
// Occupancy and traffic
//===----------------------------------------------------------------------===//

int64_t blockscale::planRegisters(Shape3 tile) {
  // Fragments, scales, addresses and temporaries, as ptxas 13.5 allots them.
  constexpr int64_t kBesideAccumulators = 96;
  return kBesideAccumulators + tile.m * tile.n / kWarpKernelThreads;
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

static std::string listTargets() {
  return llvm::join(
      llvm::map_range(kWarpTargets, [](Arch arch) { return StringRef(facts::name(arch)); }), ", ");
}

LogicalResult blockscale::verifyWarpSchedule(WarpScheduleAttr schedule, ErrorFn emitError) {
  Arch arch = schedule.getArch();
  if (!isWarpTarget(arch))
    return emitError() << "warp_schedule_c1: chip of a product of blocks must be one of "
                       << listTargets() << ", got " << name(arch);
  Shape3 tile = schedule.getTile(), want = tileOf(schedule.getKernel(), schedule.getChunks());
  if (tile.m != want.m || tile.n != want.n)
    return emitError() << "warp_schedule_c2: tile of " << name(schedule.getKernel()) << " must be "
                       << want.m << "x" << want.n << " tokens x rows, got " << tile.m << "x"
                       << tile.n;
  if (tile.k < facts::kChunkElements || tile.k > kMaxExtent)
    return emitError() << "warp_schedule_c4: k of a tile must be 128 or 256, got " << tile.k;
  int64_t bytes = planPlaneBytes(schedule);
  if (int64_t limit = facts::info(arch).sharedPerBlock; bytes > limit)
    return emitError() << "warp_schedule_c3: planes must fit the " << limit << " shared bytes of "
                       << name(arch) << ", got " << bytes;
  bool wide = schedule.getKernel() == WarpKernel::wide;
  if (tile.k != facts::kQ4KElements && !(wide && tile.k == facts::kQ4KElements / 2))
    return emitError() << "warp_schedule_c4: k of a tile of " << name(schedule.getKernel())
                       << " must be " << (wide ? "128 or " : "") << "256, got " << tile.k;
  int64_t blocks = std::max<int64_t>(
      1, planOccupancy(arch, bytes, planRegisters(tile), kWarpKernelThreads).blocks());
  if (schedule.getBlocks() < 1 || schedule.getBlocks() > blocks)
    return emitError() << "warp_schedule_c5: blocks of an SM must be 1 .. " << blocks << " for "
                       << bytes << " shared bytes and " << planRegisters(tile)
                       << " registers a thread, got " << schedule.getBlocks();
  if (schedule.getThreads() != kWarpKernelThreads)
    return emitError() << "warp_schedule_c6: threads must be " << kWarpKernelThreads << ", got "
                       << schedule.getThreads();
  return success();
}

LogicalResult blockscale::verifyBlockProblem(BlockProblemAttr p, ErrorFn emitError) {
  auto legal = [](int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  if (!legal(p.getM()) || !legal(p.getN()) || !legal(p.getK()))
    return emitError() << "gemm_c5: m, n and k must be 1 .. " << kMaxExtent
                       << ", got m = " << p.getM() << ", n = " << p.getN() << ", k = " << p.getK();
  if (p.getA() != facts::BlockFormat::q8_1_chunk || p.getB() != facts::BlockFormat::q4_K)
    return emitError() << "gemm_c16: blocks must be q8_1_chunk and q4_K, got " << name(p.getA())
                       << " and " << name(p.getB());
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

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// Why a kernel cannot run; empty where it can.
static std::string whyNot(WarpKernel kernel, int64_t chunks, ChunkSums sums, Arch arch) {
  bool raw = kernel == WarpKernel::raw_nibble;
  Shape3 tile = tileOf(kernel, chunks);
  int64_t bytes = planPlaneBytes(tile, !raw, sums), limit = facts::info(arch).sharedPerBlock;
  if (bytes > limit)
    return "shared memory must be at most " + std::to_string(limit) + " bytes, got " +
           std::to_string(bytes);
  if (kernel == WarpKernel::wide && chunks != 4 && chunks != facts::kQ4KSubBlocks)
    return "kd must be 4 or 8, got " + std::to_string(chunks);
  if (kernel != WarpKernel::wide && chunks != facts::kQ4KSubBlocks)
    return "kd must be 8, got " + std::to_string(chunks);
  return {};
}

FailureOr<WarpChoice> blockscale::chooseWarpSchedule(BlockProblemAttr problem, Arch arch,
                                                     const WarpPins &pins, ErrorFn emitError) {
  if (!isWarpTarget(arch)) {
    emitError() << "warp_schedule_c1: chip of a product of blocks must be one of " << listTargets()
                << ", got " << name(arch);
    return failure();
  }
  int64_t chunks = pins.chunks.value_or(facts::kQ4KSubBlocks);
  constexpr int64_t kMostChunks = 64;
  if (chunks < 1 || chunks > kMostChunks) {
    emitError() << "warp_schedule_c4: kd must be 1 .. " << kMostChunks << " chunks of 32, got "
                << chunks;
    return failure();
  }
  ChunkSums sums = pins.sums.value_or(ChunkSums::two_word);
  auto blocksOf = [&](WarpKernel kernel, int64_t kd) {
    Shape3 tile = tileOf(kernel, kd);
    int64_t bytes = planPlaneBytes(tile, kernel != WarpKernel::raw_nibble, sums);
    return std::max<int64_t>(
        1, planOccupancy(arch, bytes, planRegisters(tile), kWarpKernelThreads).blocks());
  };
  constexpr std::array<WarpKernel, 3> kOrder{WarpKernel::raw_nibble, WarpKernel::wide,
                                             WarpKernel::narrow};
  // Bytes per block that an SM holds: more than two were never measured to pay.
  auto costOf = [&](WarpKernel kernel) {
    int64_t kd = kernel == WarpKernel::wide ? chunks : facts::kQ4KSubBlocks;
    return planTraffic(problem, tileOf(kernel, kd)).total() /
           std::min<int64_t>(2, blocksOf(kernel, kd));
  };
  WarpKernel first = pins.kernel.value_or(
      *std::min_element(kOrder.begin(), kOrder.end(),
                        [&](WarpKernel a, WarpKernel b) { return costOf(a) < costOf(b); }));
  std::string reasons;
  for (WarpKernel kernel : kOrder) {
    if (kernel < first)
      continue;
    std::string reason = whyNot(kernel, chunks, sums, arch);
    if (reason.empty())
      return WarpChoice{WarpScheduleAttr::get(problem.getContext(), arch, kernel,
                                              tileOf(kernel, chunks), sums, kWarpKernelThreads,
                                              blocksOf(kernel, chunks)),
                        reasons};
    reasons += (reasons.empty() ? "" : "; ") + std::string(name(kernel)) + ": " + reason;
  }
  emitError() << "warp_schedule_c3: a kernel must fit " << name(arch) << ", got none: " << reasons;
  return failure();
}
