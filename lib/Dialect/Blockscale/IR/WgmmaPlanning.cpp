//===- WgmmaPlanning.cpp - sizes and choice of the wgmma kernel -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"

#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/Products.h"

using namespace mlir;
using namespace blockscale;
using facts::Arch;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static constexpr int64_t kBarrierBytes = 8;

WgmmaShape::WgmmaShape(WgmmaScheduleAttr schedule)
    : tokens(schedule.getTile().m), rows(schedule.getTile().n), groups(schedule.getGroups()),
      fragments(rows / groups / kFragmentRows), groupRows(rows / groups),
      sums(fragments * tokens / 2), words(fragments * 2 * 4),
      blockBytes(rows * facts::info(facts::BlockFormat::q4_K).bytes),
      termBytes(rows * facts::kQ4KSubBlocks * 4), tokenBytes(tokens * kPartElements * 2),
      planePitch((rows + kPlaneGap) * 4), planeBytes(tokens * planePitch) {}

//===----------------------------------------------------------------------===//
// Rings, registers, grid
//===----------------------------------------------------------------------===//

SmallVector<RingAttr> blockscale::planRings(WgmmaScheduleAttr schedule) {
  WgmmaShape shape(schedule);
  MLIRContext *context = schedule.getContext();
  int64_t blockStages = schedule.getBlockStages(), tokenStages = schedule.getTokenStages();
  int64_t tokens = blockStages * shape.blockBytes;
  int64_t terms = tokens + tokenStages * shape.tokenBytes;
  int64_t fullBlocks = terms + blockStages * shape.termBytes;
  int64_t fullTerms = fullBlocks + blockStages * kBarrierBytes;
  int64_t freeBlocks = fullTerms + blockStages * kBarrierBytes;
  int64_t fullTokens = freeBlocks + blockStages * kBarrierBytes;
  int64_t freeTokens = fullTokens + tokenStages * kBarrierBytes;
  return {RingAttr::get(context, RingContent::blocks, 0, shape.blockBytes, blockStages, fullBlocks,
                        freeBlocks),
          RingAttr::get(context, RingContent::terms, terms, shape.termBytes, blockStages, fullTerms,
                        freeBlocks),
          RingAttr::get(context, RingContent::tokens, tokens, shape.tokenBytes, tokenStages,
                        fullTokens, freeTokens)};
}

int64_t blockscale::planRingBytes(WgmmaScheduleAttr schedule) {
  RingAttr last = planRings(schedule).back();
  return last.getFree() + last.getStages() * kBarrierBytes;
}

WgmmaRegisters blockscale::planWgmmaRegisters(WgmmaScheduleAttr schedule) {
  // What a block is launched with is shared anew, in steps of 8.
  constexpr int64_t kForProducers = 32, kMost = 240;
  int64_t threads = schedule.getThreads(), multiply = threads - WgmmaShape::kProducers;
  int64_t launched = facts::kRegistersPerSm / schedule.getBlocks() / threads / 8 * 8;
  int64_t left = launched * threads - WgmmaShape::kProducers * kForProducers;
  return {kForProducers, std::min(kMost, left / multiply / 8 * 8)};
}

WgmmaGrid blockscale::planWgmmaGrid(BlockProblemAttr problem, WgmmaScheduleAttr schedule) {
  WgmmaGrid grid{ceilDiv(problem.getM(), schedule.getTile().m),
                 ceilDiv(problem.getN(), schedule.getTile().n), 0};
  const facts::Product *product = facts::modelProduct(schedule.getArch());
  grid.blocks = schedule.isSplit()
                    ? grid.tiles() * schedule.getSplit()
                    : std::min(grid.tiles(), (product ? product->sms : 1) * schedule.getBlocks());
  return grid;
}

TmaMapAttr blockscale::tokenMap(BlockProblemAttr problem, WgmmaScheduleAttr schedule) {
  return TmaMapAttr::get(
      problem.getContext(), facts::TmaType::u16, {problem.getK(), problem.getM()},
      {problem.getARowBytes()}, {WgmmaShape::kPartElements, schedule.getTile().m}, {1, 1},
      facts::TmaSwizzle::b128, facts::TmaFill::zero, facts::TmaL2Promotion::b128);
}

TmaMapAttr blockscale::blockMap(BlockProblemAttr problem, WgmmaScheduleAttr schedule) {
  return TmaMapAttr::get(
      problem.getContext(), facts::TmaType::u8, {problem.getBRowBytes(), problem.getN()},
      {problem.getBRowBytes()}, {facts::info(facts::BlockFormat::q4_K).bytes, schedule.getTile().n},
      {1, 1}, facts::TmaSwizzle::none, facts::TmaFill::zero, facts::TmaL2Promotion::b128);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

bool blockscale::isWgmmaTarget(Arch arch) { return arch == Arch::sm_90a; }

LogicalResult blockscale::verifyWgmmaSchedule(BlockProblemAttr problem, WgmmaScheduleAttr schedule,
                                              ErrorFn emitError) {
  Arch arch = schedule.getArch();
  if (!isWgmmaTarget(arch))
    return emitError() << "wgmma_schedule_c1: chip of a wgmma kernel must be sm_90a, got "
                       << name(arch);
  Shape3 tile = schedule.getTile();
  int64_t groups = schedule.getGroups();
  constexpr int64_t kMostSums = 128, kMostGroups = 2;
  bool isPower = llvm::is_contained({16, 32, 64, 128, 256}, tile.m);
  bool hasRows = groups >= 1 && groups <= kMostGroups &&
                 (tile.n == groups * WgmmaShape::kFragmentRows ||
                  tile.n == 2 * groups * WgmmaShape::kFragmentRows);
  if (!isPower || !hasRows || tile.k != facts::kQ4KElements ||
      WgmmaShape(schedule).sums > kMostSums)
    return emitError() << "wgmma_schedule_c2: tile must be 16, 32, 64, 128 or 256 tokens x 64 or "
                          "128 rows for each of 1 or 2 groups x 256, with at most "
                       << kMostSums << " sums a thread, got " << tile.m << "x" << tile.n << "x"
                       << tile.k << " for " << groups << " groups";
  constexpr int64_t kMostStages = 64;
  for (auto [what, stages] : {std::pair("block_stages", schedule.getBlockStages()),
                              std::pair("token_stages", schedule.getTokenStages())})
    if (stages < 2 || stages > kMostStages)
      return emitError() << "wgmma_schedule_c3: " << what << " must be 2 .. " << kMostStages
                         << ", got " << stages;
  int64_t blocks = schedule.getBlocks(), bytes = planRingBytes(schedule);
  const facts::ArchInfo &chip = facts::info(arch);
  int64_t most = std::min<int64_t>(chip.sharedPerSm / (bytes + facts::kSharedReservedPerBlock),
                                   chip.threadsPerSm / schedule.getThreads());
  if (bytes > chip.sharedPerBlock || blocks < 1 || blocks > most)
    return emitError() << "wgmma_schedule_c4: blocks of an SM must be 1 .. " << most << " of "
                       << bytes << " shared bytes, at most " << chip.sharedPerBlock << " each, got "
                       << blocks;
  // What ptxas 13.5 asks for beside the sums: of what a thread is launched with for one
  // instruction, of what setmaxnreg gives it for fragments of two runs, too.
  constexpr int64_t kOfInstruction = 30, kBesideFragments = 24;
  WgmmaShape shape(schedule);
  int64_t launched = facts::kRegistersPerSm / blocks / schedule.getThreads() / 8 * 8;
  for (auto [what, need, have] :
       {std::tuple("at the launch", shape.sums + kOfInstruction, launched),
        std::tuple("that multiplies", shape.sums + 2 * shape.words + kBesideFragments,
                   planWgmmaRegisters(schedule).multipliers)})
    if (have < need)
      return emitError() << "wgmma_schedule_c5: registers of a thread " << what
                         << " must be at least " << need << " for its " << shape.sums
                         << " sums, got " << have;
  if (problem && problem.getA() != facts::BlockFormat::f16)
    return emitError() << "wgmma_schedule_c6: activations of a wgmma kernel must be f16, got "
                       << name(problem.getA());
  int64_t split = schedule.getSplit();
  if (!llvm::is_contained({1, 2, 4}, split))
    return emitError() << "wgmma_schedule_c7: split must be 1, 2 or 4, got " << split;
  int64_t room = planRings(schedule).front().getFull();
  if (schedule.isSplit() && shape.planeBytes > room)
    return emitError() << "wgmma_schedule_c8: partial sums must fit the " << room
                       << " bytes of the stages, got " << shape.planeBytes;
  if (int64_t depth = problem ? problem.getK() / facts::kQ4KElements : split; split > depth)
    return emitError() << "wgmma_schedule_c9: split must be at most the " << depth
                       << " blocks of k, got " << split;
  return success();
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// Parts double while tiles leave SMs idle, as long as all parts run side by side and what
/// a part reads outweighs what its sums cost, which are written and read once more.
static int64_t chooseSplit(BlockProblemAttr problem, WgmmaScheduleAttr schedule) {
  constexpr int64_t kMostSplit = 4, kOutweighs = 4;
  const facts::Product *product = facts::modelProduct(schedule.getArch());
  int64_t sms = product ? product->sms : 1, places = sms * schedule.getBlocks();
  int64_t tiles = planWgmmaGrid(problem, schedule).tiles();
  int64_t depth = problem.getK() / facts::kQ4KElements, split = 1;
  WgmmaShape shape(schedule);
  int64_t ofBlock = shape.blockBytes + WgmmaShape::kParts * shape.tokenBytes;
  int64_t ofSums = 2 * shape.tokens * shape.rows * 4;
  while (split < kMostSplit && tiles * split < sms && tiles * split * 2 <= places &&
         depth / (2 * split) * ofBlock >= kOutweighs * ofSums)
    split *= 2;
  return split;
}

/// Whether two parts of each tile take most of the chip at once.
static bool fillsInTwo(BlockProblemAttr problem, WgmmaScheduleAttr schedule) {
  const facts::Product *product = facts::modelProduct(schedule.getArch());
  int64_t sms = product ? product->sms : 1;
  return schedule.getSplit() == 2 && planWgmmaGrid(problem, schedule).blocks * 6 >= sms * 5;
}

WgmmaScheduleAttr blockscale::chooseWgmmaSchedule(BlockProblemAttr problem, Arch arch,
                                                  int64_t split) {
  MLIRContext *context = problem.getContext();
  auto schedule = [&](int64_t tokens, int64_t rows, int64_t groups, int64_t blockStages,
                      int64_t tokenStages, int64_t blocks) {
    auto whole = [&](int64_t split) {
      return WgmmaScheduleAttr::get(context, arch, Shape3{tokens, rows, facts::kQ4KElements},
                                    groups, blockStages, tokenStages, blocks, split);
    };
    return whole(split ? split : chooseSplit(problem, whole(1)));
  };
  // Few tokens: weights are read once, so that the time is theirs, and small blocks of an
  // SM have the most of them on the way. With more the products take it, and the fewer
  // times that weights are made f16, the better, once such tiles fill the chip evenly.
  constexpr int64_t kManyTokens = 512, kSomeTokens = 256;
  if (problem.getM() <= 16)
    return schedule(16, 64, 1, 4, 8, 3);
  if (problem.getM() <= 32)
    return schedule(32, 64, 1, 3, 6, 3);
  if (problem.getM() <= 64)
    return schedule(64, 64, 1, 3, 4, 3);
  if (problem.getM() <= kManyTokens) {
    WgmmaScheduleAttr narrow = schedule(128, 64, 1, 3, 4, 2), wide = schedule(128, 256, 2, 2, 8, 1);
    bool isWide = !split && !narrow.isSplit() && problem.getM() > kSomeTokens;
    return isWide && fillsInTwo(problem, wide) ? wide : narrow;
  }
  return schedule(256, 128, 2, 2, 5, 1);
}
