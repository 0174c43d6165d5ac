//===- LowerWgmmaKernelToMachine.cpp - level 3 to 4 of wgmma kernels ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors become the scalars of one lane, rings addresses and barriers.
//
//===----------------------------------------------------------------------===//

#include "SourceLocations.h"
#include "SplitSums.h"
#include "WgmmaSums.h"
#include "WgmmaWeights.h"
#include "blockscale/Conversion/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"
#include "blockscale/Facts/WgmmaDesc.h"

#include "llvm/ADT/TypeSwitch.h"

namespace blockscale {
#define GEN_PASS_DEF_BLOCKSCALELOWERWGMMAKERNELTOMACHINEPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {

using Values = SmallVector<Value>;
constexpr int64_t kBarrierBytes = 8;
constexpr int64_t kMultiplierWarp = WgmmaShape::kProducers / 32;

class WgmmaKernelLowering {
public:
  explicit WgmmaKernelLowering(WgmmaKernelOp kernel)
      : kernel(kernel), problem(kernel.getProblem()), schedule(kernel.getSchedule()),
        shape(schedule), b(kernel.getContext()), e(b, kernel.getLoc()), weights(b, e, shape),
        sumsToD(b, e, shape, problem) {}

  void run();

private:
  void setUp(Block &old);
  void lowerRoles(Block &old);
  void lowerBlock(Block &block) {
    for (Operation &op : block)
      lower(&op);
  }
  void lower(Operation *op);
  void lowerLoop(scf::ForOp op);
  void lowerFill(RingFillOp op);
  void lowerFree(RingFreeOp op);
  void lowerNext(RingNextOp op);
  void lowerConvert(ConvertTermsOp op);
  void lowerLoad(LoadHalvesOp op);
  void lowerMultiply(MultiplyHalvesOp op);
  void lowerAdd(AddSumsOp op);

  Value one(Value value) { return values.lookup(value).front(); }
  static RingAttr planOf(Value ring) { return ring.getDefiningOp<RingOp>().getPlan(); }
  Value stageOf(Value ring, Value stage) {
    RingAttr plan = planOf(ring);
    return e.add(e.add(shared, plan.getOffset()), e.mul(one(stage), plan.getBytes()));
  }
  Value barrier(int64_t first, Value stage) {
    return e.add(e.add(shared, first), e.mul(one(stage), kBarrierBytes));
  }
  void wait(Value barrier, Value parity);
  void ifLane0(llvm::function_ref<void()> body) {
    e.ifThen(arith::CmpIOp::create(b, e.getLoc(), arith::CmpIPredicate::eq, lane, e.i32(0)), body);
  }

  WgmmaKernelOp kernel;
  BlockProblemAttr problem;
  WgmmaScheduleAttr schedule;
  WgmmaShape shape;
  OpBuilder b;
  WarpEmitter e;
  HalfWeights weights;
  WgmmaSums sumsToD;
  llvm::DenseMap<Value, Values> values;

  Value thread, lane, warp, shared;
  HalfWeights::Terms terms; // loaded last: of a part, a stage, in a block
  int64_t termsPart = -1;
  Value termsStage;
  Block *termsBlock = nullptr;
  Value groupRow;  // first row of this lane in its tile
  Value byteOrder; // selects the lane's two bytes of a word, one for each half
};

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

void WgmmaKernelLowering::run() {
  Block &old = kernel.getBody().front();
  Block *entry = b.createBlock(&kernel.getBody(), kernel.getBody().end());
  for (BlockArgument argument : old.getArguments())
    values[argument] = {entry->addArgument(argument.getType(), argument.getLoc())};
  b.setInsertionPointToStart(entry);
  setUp(old);
  for (Operation &op : old)
    if (!isa<RingOp, WgmmaRoleOp, blockscale::ReturnOp>(op))
      lower(&op);
  lowerRoles(old);
  blockscale::ReturnOp::create(b, kernel.getLoc());
  old.dropAllDefinedValueUses();
  for (Operation &op : old)
    op.dropAllReferences();
  old.erase();
}

void WgmmaKernelLowering::setUp(Block &old) {
  Location loc = kernel.getLoc();
  thread = TidXOp::create(b, loc);
  lane = e.andi(thread, 31);
  warp = e.shr(thread, 5);
  shared = SharedBaseOp::create(b, loc);
  e.ifThen(e.below(thread, 1), [&] {
    for (auto op : old.getOps<RingOp>()) {
      RingAttr plan = op.getPlan();
      bool isTerms = plan.getContent() == RingContent::terms;
      for (int64_t i = 0; i < plan.getStages(); ++i) {
        MbarrierInitOp::create(b, op.getLoc(), e.add(shared, plan.getFull() + i * kBarrierBytes),
                               uint32_t(isTerms ? WgmmaShape::kConverters : 1));
        if (!isTerms)
          MbarrierInitOp::create(b, op.getLoc(), e.add(shared, plan.getFree() + i * kBarrierBytes),
                                 uint32_t(shape.groups * 4));
      }
    }
  });
  BarWarpSyncOp::create(b, loc);
  BarSyncOp::create(b, loc, 0);
}

void WgmmaKernelLowering::lowerRoles(Block &old) {
  Location loc = kernel.getLoc();
  auto roleOf = [&](WgmmaRole kind) -> WgmmaRoleOp {
    for (auto op : old.getOps<WgmmaRoleOp>())
      if (op.getRole().getValue() == kind)
        return op;
    llvm_unreachable("wgmma_kernel_c6: each role stands once");
  };
  auto inOneLane = [&](WgmmaRole kind, int64_t warpIndex) {
    WgmmaRoleOp op = roleOf(kind);
    e.setLoc(op.getLoc());
    Value mine =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, e.i32(32 * warpIndex));
    e.ifThen(mine, [&] { lowerBlock(op.getBody().front()); });
  };
  WgmmaRegisters registers = planWgmmaRegisters(schedule);
  auto setRegisters = [&](int64_t count, NVVM::SetMaxRegisterAction action) {
    NVVM::SetMaxRegisterOp::create(b, loc, uint32_t(count), action);
  };
  Value isProducer = e.below(warp, kMultiplierWarp);
  auto branch = scf::IfOp::create(b, loc, isProducer, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  setRegisters(registers.producers, NVVM::SetMaxRegisterAction::decrease);
  inOneLane(WgmmaRole::copy_tokens, 0);
  inOneLane(WgmmaRole::copy_blocks, 1);
  WgmmaRoleOp convert = roleOf(WgmmaRole::convert);
  e.setLoc(convert.getLoc());
  e.ifThen(e.below(e.i32(WgmmaShape::kFirstConverter - 1), thread),
           [&] { lowerBlock(convert.getBody().front()); });

  b.setInsertionPointToStart(branch.elseBlock());
  WgmmaRoleOp multiply = roleOf(WgmmaRole::multiply);
  e.setLoc(multiply.getLoc());
  setRegisters(registers.multipliers, NVVM::SetMaxRegisterAction::increase);
  Value group = e.sub(e.shr(thread, 7), e.i32(1));
  groupRow =
      e.add(e.mul(group, shape.groupRows), e.add(e.mul(e.andi(warp, 3), 16), e.shr(lane, 2)));
  Value odd = e.andi(thread, 1);
  byteOrder = e.add(e.mul(odd, 0x2222), e.i32(0x1100));
  lowerBlock(multiply.getBody().front());
}

void WgmmaKernelLowering::lower(Operation *op) {
  e.setLoc(op->getLoc());
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](RingFillOp op) { lowerFill(op); })
      .Case([&](RingWaitOp op) {
        wait(barrier(planOf(op.getRing()).getFull(), op.getStage()), one(op.getPhase()));
      })
      .Case([&](RingFreeOp op) { lowerFree(op); })
      .Case([&](RingNextOp op) { lowerNext(op); })
      .Case([&](ConvertTermsOp op) { lowerConvert(op); })
      .Case([&](LoadHalvesOp op) { lowerLoad(op); })
      .Case([&](MultiplyHalvesOp op) { lowerMultiply(op); })
      .Case([&](WaitProductsOp op) {
        Values sums = values.lookup(op.getSums());
        if (op.getPending()) { // the registers of what is pending may not be touched
          WgmmaWaitGroupOp::create(b, op.getLoc(), TypeRange(), uint32_t(op.getPending()),
                                   ValueRange());
          values[op.getResult()] = sums;
          return;
        }
        auto done = WgmmaWaitGroupOp::create(b, op.getLoc(), ValueRange(sums).getTypes(),
                                             uint32_t(0), sums);
        values[op.getResult()] = Values(done.getResults());
      })
      .Case([&](StoreSumsOp op) {
        sumsToD.store(values.lookup(op.getSums()), {lane, groupRow, one(op.getBuffer()),
                                                    one(op.getTokenTile()), one(op.getRowTile())});
      })
      .Case([&](ShareSumsOp op) {
        sumsToD.share(values.lookup(op.getSums()), lane, groupRow, /*plane=*/shared);
      })
      .Case([&](ClusterBarrierOp) { e.clusterBarrier(); })
      .Case([&](AddSumsOp op) { lowerAdd(op); })
      .Case([&](CtaIndexOp op) { values[op.getResult()] = {CtaIdXOp::create(b, op.getLoc())}; })
      .Case([&](CtaCountOp op) { values[op.getResult()] = {NctaIdXOp::create(b, op.getLoc())}; })
      .Case([&](scf::ForOp op) { lowerLoop(op); })
      .Case([&](scf::IfOp op) {
        e.ifThen(one(op.getCondition()), [&] { lowerBlock(*op.thenBlock()); });
      })
      .Case<scf::YieldOp>([](auto) {})
      .Case([&](arith::ConstantOp op) {
        auto vector = dyn_cast<DenseElementsAttr>(op.getValue());
        if (!vector) {
          values[op] = {b.clone(*op)->getResult(0)};
          return;
        }
        Values parts;
        for (Attribute part : vector.getValues<Attribute>())
          parts.push_back(arith::ConstantOp::create(b, op.getLoc(), cast<TypedAttr>(part)));
        values[op] = parts;
      })
      .Default([&](Operation *op) {
        IRMapping mapping;
        for (Value operand : op->getOperands())
          mapping.map(operand, one(operand));
        Operation *clone = b.clone(*op, mapping);
        for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults()))
          values[from] = {to};
      });
}

void WgmmaKernelLowering::lowerLoop(scf::ForOp op) {
  Values inits;
  for (Value init : op.getInitArgs())
    llvm::append_range(inits, values.lookup(init));
  auto loop = scf::ForOp::create(b, op.getLoc(), one(op.getLowerBound()), one(op.getUpperBound()),
                                 one(op.getStep()), inits);
  auto unflatten = [&](ValueRange from, ValueRange flat) {
    for (auto [value, init] : llvm::zip_equal(from, op.getInitArgs())) {
      size_t count = values.lookup(init).size();
      values[value] = Values(flat.take_front(count));
      flat = flat.drop_front(count);
    }
  };
  values[op.getInductionVar()] = {loop.getInductionVar()};
  unflatten(op.getRegionIterArgs(), loop.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    lowerBlock(*op.getBody());
    Values yielded;
    for (Value value : op.getBody()->getTerminator()->getOperands())
      llvm::append_range(yielded, values.lookup(value));
    if (!loop.getBody()->empty() && isa<scf::YieldOp>(loop.getBody()->back()))
      loop.getBody()->back().erase();
    scf::YieldOp::create(b, op.getLoc(), yielded);
  }
  unflatten(op.getResults(), loop.getResults());
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

void WgmmaKernelLowering::wait(Value barrier, Value parity) {
  Location loc = e.getLoc();
  scf::WhileOp::create(
      b, loc, TypeRange{}, ValueRange{},
      [&](OpBuilder &builder, Location loc, ValueRange) {
        Value done = MbarrierTryWaitParityOp::create(builder, loc, barrier, parity, false);
        Value yes = arith::ConstantIntOp::create(builder, loc, 1, /*width=*/1);
        scf::ConditionOp::create(
            builder, loc, arith::XOrIOp::create(builder, loc, done, yes).getResult(), ValueRange{});
      },
      [&](OpBuilder &builder, Location loc, ValueRange) { scf::YieldOp::create(builder, loc); });
}

void WgmmaKernelLowering::lowerFill(RingFillOp op) {
  RingAttr plan = planOf(op.getRing());
  // A fresh barrier lets parity 1 pass: the first round finds every stage free.
  wait(barrier(plan.getFree(), op.getStage()), e.xori(one(op.getPhase()), 1));
  Value full = barrier(plan.getFull(), op.getStage());
  MbarrierArriveExpectTxOp::create(b, op.getLoc(), full, uint32_t(plan.getBytes()));
  CpAsyncBulkTensorLoadOp::create(b, op.getLoc(), stageOf(op.getRing(), op.getStage()),
                                  one(op.getMap()), ValueRange{one(op.getX()), one(op.getY())},
                                  full, /*mask=*/Value());
}

void WgmmaKernelLowering::lowerFree(RingFreeOp op) {
  RingAttr plan = planOf(op.getRing());
  if (plan.getContent() == RingContent::blocks) {
    // Read by ordinary loads, written next by TMA.
    FenceProxyAsyncOp::create(b, op.getLoc());
    BarWarpSyncOp::create(b, op.getLoc());
  }
  Value free = barrier(plan.getFree(), op.getStage());
  ifLane0([&] { MbarrierArriveOp::create(b, op.getLoc(), free); });
  BarWarpSyncOp::create(b, op.getLoc()); // wgmma is of all lanes
}

void WgmmaKernelLowering::lowerNext(RingNextOp op) {
  Value next = e.add(one(op.getStage()), 1);
  Value wraps = arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::eq, next,
                                      e.i32(planOf(op.getRing()).getStages()));
  values[op.getNextStage()] = {e.select(wraps, e.i32(0), next)};
  Value flip = arith::ExtUIOp::create(b, op.getLoc(), e.i32Type(), wraps);
  values[op.getNextPhase()] = {e.xori(one(op.getPhase()), flip)};
}

//===----------------------------------------------------------------------===//
// Weights, products and results
//===----------------------------------------------------------------------===//

void WgmmaKernelLowering::lowerConvert(ConvertTermsOp op) {
  int64_t pitch = facts::info(problem.getB()).bytes;
  Value row = e.sub(thread, e.i32(WgmmaShape::kFirstConverter));
  Value header = e.add(stageOf(op.getBlocks(), op.getStage()), e.mul(row, pitch));
  Value target = e.add(stageOf(op.getTerms(), op.getStage()), e.shl(row, 3));
  for (int64_t first = 0; first < shape.rows; first += WgmmaShape::kConverters)
    weights.convertRow(e.add(header, first * pitch), e.add(target, first * 8));
  MbarrierArriveOp::create(b, op.getLoc(), barrier(planOf(op.getTerms()).getFull(), op.getStage()));
}

/// The run in front of it, in the same block, may have loaded its part's terms.
void WgmmaKernelLowering::lowerLoad(LoadHalvesOp op) {
  int64_t part = op.getPart();
  if (termsPart != part || termsStage != op.getStage() || termsBlock != op->getBlock()) {
    Value from = e.add(stageOf(op.getTerms(), op.getStage()), e.shl(groupRow, 3));
    terms = weights.loadTerms(from, part);
    termsPart = part, termsStage = op.getStage(), termsBlock = op->getBlock();
  }
  Value words = e.add(stageOf(op.getBlocks(), op.getStage()),
                      e.mul(groupRow, facts::info(problem.getB()).bytes));
  words = e.add(words, e.shl(e.shr(e.andi(lane, 3), 1), 2));
  values[op.getValues()] = weights.makeRun(words, byteOrder, terms, part, op.getRun());
}

void WgmmaKernelLowering::lowerMultiply(MultiplyHalvesOp op) {
  Location loc = op.getLoc();
  constexpr int64_t kRowBytes = 2 * WgmmaShape::kPartElements, kUnit = 16;
  Value start = e.shr(stageOf(op.getTokens(), op.getStage()), 4);
  Value base = arith::ExtUIOp::create(b, loc, b.getI64Type(), start);
  base = e.ori(base,
               e.i64(int64_t(facts::encodeWgmmaDesc(kUnit, 8 * kRowBytes, facts::Swizzle::b128))));
  Values a = values.lookup(op.getWeights()), sums = values.lookup(op.getSums());
  size_t ofFragment = size_t(shape.tokens / 2);
  WgmmaFenceOp::create(b, loc);
  for (int64_t high = 0; high < 2; ++high) {
    // 16 columns are 32 bytes; the high nibbles' are 32 columns on.
    Value desc = e.add(base, (high * 64 + int64_t(op.getRun()) * 32) / kUnit);
    for (int64_t fragment = 0; fragment < shape.fragments; ++fragment) {
      ArrayRef<Value> words = ArrayRef<Value>(a).slice(size_t(fragment * 2 + high) * 4, 4);
      auto own = MutableArrayRef<Value>(sums).slice(size_t(fragment) * ofFragment, ofFragment);
      auto product = WgmmaMmaAsyncOp::create(b, loc, ValueRange(own).getTypes(), words[0], words[1],
                                             words[2], words[3], desc, own);
      llvm::copy(product.getResults(), own.begin());
    }
  }
  WgmmaCommitGroupOp::create(b, loc);
  values[op.getResult()] = sums;
}

void WgmmaKernelLowering::lowerAdd(AddSumsOp op) {
  SplitSums::Shape parts{shape.tokens, shape.rows, shape.planePitch, shape.groups * 128,
                         schedule.getSplit()};
  SplitSums(b, e, parts, problem)
      .add({one(op.getBuffer()), one(op.getTokenTile()), one(op.getRowTile()), Value()},
           /*plane=*/shared, one(op.getRank()), e.sub(thread, e.i32(WgmmaShape::kProducers)));
}

struct LowerWgmmaKernelToMachine
    : blockscale::impl::BlockscaleLowerWgmmaKernelToMachinePassBase<LowerWgmmaKernelToMachine> {
  void runOnOperation() override {
    getOperation().walk([](WgmmaKernelOp kernel) {
      if (kernel.getBody().getOps<WgmmaRoleOp>().empty())
        return;
      nameLocations(kernel);
      WgmmaKernelLowering(kernel).run();
    });
  }
};

} // namespace
