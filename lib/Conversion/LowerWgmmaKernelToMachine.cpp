//===- LowerWgmmaKernelToMachine.cpp - level 3 to 4 of wgmma kernels ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors become the scalars of one lane. A lane's part of a fragment of weights is two
// bytes of nibbles for each register pair: byte 2 c and 2 c + 1 of eight, c its place
// among four. As f16 a nibble is or-ed below 1024, whose last place is 1.
//
//===----------------------------------------------------------------------===//

#include "SourceLocations.h"
#include "WarpEmitter.h"
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
        shape(schedule), b(kernel.getContext()), e(b, kernel.getLoc()) {}

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
  void convertRow(Value header, Value target);
  void lowerLoad(LoadHalvesOp op);
  void lowerMultiply(MultiplyHalvesOp op);
  void lowerStore(StoreSumsOp op);

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

  // Pairs of f16 in a word.
  VectorType pairType() { return VectorType::get({2}, b.getF16Type()); }
  Value asPair(Value word) { return LLVM::BitcastOp::create(b, e.getLoc(), pairType(), word); }
  Value constantPair(float value) {
    auto half = b.getFloatAttr(b.getF16Type(), value);
    return LLVM::ConstantOp::create(b, e.getLoc(), pairType(),
                                    DenseElementsAttr::get(pairType(), half.getValue()));
  }
  /// The low or high half of a word, twice.
  Value splat(Value word, bool high);
  /// Two weights of nibbles at bits 0 and 16, or 4 and 20.
  Value weights(Value bytes, bool high, Value scale, Value min);

  WgmmaKernelOp kernel;
  BlockProblemAttr problem;
  WgmmaScheduleAttr schedule;
  WgmmaShape shape;
  OpBuilder b;
  WarpEmitter e;
  llvm::DenseMap<Value, Values> values;

  Value thread, lane, warp, shared;
  /// Scales and minima of one part, of which both runs make weights.
  struct PartTerms {
    Value stage;
    Block *block = nullptr;
    int64_t part = -1;
    Values scales, mins; // by row of the lane and half of the nibbles
  };
  const PartTerms &loadTerms(LoadHalvesOp op);

  PartTerms partTerms;
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
    FenceMbarrierInitOp::create(b, loc);
  });
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
      .Case([&](StoreSumsOp op) { lowerStore(op); })
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
                                  full);
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
// Scales and minima
//===----------------------------------------------------------------------===//

/// Pairs of part p lie at p * 8 rows, 8 bytes a row.
void WgmmaKernelLowering::convertRow(Value header, Value target) {
  Values words = e.loadShared(header, 4);
  Value d = e.halfToF32(words[0]), dmin = e.negf(e.halfToF32(e.shr(words[0], 16)));
  for (int64_t half = 0; half < 2; ++half) {
    Value scales = e.andi(words[1], 0x3F3F3F3F), mins = e.andi(words[2], 0x3F3F3F3F);
    if (half) {
      scales = e.ori(e.andi(words[3], 0x0F0F0F0F), e.andi(e.shr(words[1], 2), 0x30303030));
      mins = e.ori(e.andi(e.shr(words[3], 4), 0x0F0F0F0F), e.andi(e.shr(words[2], 2), 0x30303030));
    }
    auto byte = [&](Value word, int64_t j) {
      return e.unsignedToF32(e.andi(j ? e.shr(word, 8 * j) : word, 0xFF));
    };
    auto asHalf = [&](Value value) {
      Value rounded = arith::TruncFOp::create(b, e.getLoc(), b.getF16Type(), value);
      Value bits = arith::BitcastOp::create(b, e.getLoc(), b.getI16Type(), rounded);
      return arith::ExtUIOp::create(b, e.getLoc(), e.i32Type(), bits).getResult();
    };
    for (int64_t pair = 0; pair < 2; ++pair) {
      Values stored;
      for (int64_t j = 2 * pair; j < 2 * pair + 2; ++j)
        stored.push_back(e.ori(asHalf(e.mulf(d, byte(scales, j))),
                               e.shl(asHalf(e.mulf(dmin, byte(mins, j))), 16)));
      e.storeShared(e.add(target, (2 * half + pair) * shape.rows * 8), stored);
    }
  }
}

void WgmmaKernelLowering::lowerConvert(ConvertTermsOp op) {
  int64_t pitch = facts::info(problem.getB()).bytes;
  Value row = e.sub(thread, e.i32(WgmmaShape::kFirstConverter));
  Value header = e.add(stageOf(op.getBlocks(), op.getStage()), e.mul(row, pitch));
  Value target = e.add(stageOf(op.getTerms(), op.getStage()), e.shl(row, 3));
  for (int64_t first = 0; first < shape.rows; first += WgmmaShape::kConverters)
    convertRow(e.add(header, first * pitch), e.add(target, first * 8));
  MbarrierArriveOp::create(b, op.getLoc(), barrier(planOf(op.getTerms()).getFull(), op.getStage()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value WgmmaKernelLowering::splat(Value word, bool high) {
  Value low = arith::TruncIOp::create(b, e.getLoc(), b.getI16Type(), high ? e.shr(word, 16) : word);
  Value half = arith::BitcastOp::create(b, e.getLoc(), b.getF16Type(), low);
  Value pair = LLVM::PoisonOp::create(b, e.getLoc(), pairType());
  for (int64_t i = 0; i < 2; ++i) {
    Value index = LLVM::ConstantOp::create(b, e.getLoc(), e.i32Type(), b.getI32IntegerAttr(i));
    pair = LLVM::InsertElementOp::create(b, e.getLoc(), pair, half, index);
  }
  return pair;
}

Value WgmmaKernelLowering::weights(Value bytes, bool high, Value scale, Value min) {
  constexpr int64_t k1024 = 0x64006400; // in both halves
  Value biased = asPair(e.ori(e.andi(bytes, high ? 0x00F000F0 : 0x000F000F), e.i32(k1024)));
  Value nibbles;
  if (high) // 1024 + 16 n
    nibbles = LLVM::FMAOp::create(b, e.getLoc(), biased, constantPair(0.0625f), constantPair(-64));
  else
    nibbles = LLVM::FAddOp::create(b, e.getLoc(), biased, constantPair(-1024));
  Value weight = LLVM::FMAOp::create(b, e.getLoc(), nibbles, scale, min);
  return LLVM::BitcastOp::create(b, e.getLoc(), e.i32Type(), weight);
}

/// The run in front of it, in the same block, may have loaded them.
const WgmmaKernelLowering::PartTerms &WgmmaKernelLowering::loadTerms(LoadHalvesOp op) {
  int64_t part = op.getPart();
  if (partTerms.part == part && partTerms.stage == op.getStage() &&
      partTerms.block == op->getBlock())
    return partTerms;
  partTerms = {op.getStage(), op->getBlock(), part, {}, {}};
  Value terms = e.add(stageOf(op.getTerms(), op.getStage()), e.shl(groupRow, 3));
  for (int64_t fragment = 0; fragment < shape.fragments; ++fragment)
    for (int64_t below = 0; below < 2; ++below) { // rows r and r + 8
      int64_t row = fragment * WgmmaShape::kFragmentRows + 8 * below;
      for (Value pair : e.loadShared(e.add(terms, (part * shape.rows + row) * 8), 2)) {
        partTerms.scales.push_back(splat(pair, /*high=*/false));
        partTerms.mins.push_back(splat(pair, /*high=*/true));
      }
    }
  return partTerms;
}

void WgmmaKernelLowering::lowerLoad(LoadHalvesOp op) {
  const facts::BlockFormatInfo &format = facts::info(problem.getB());
  Value words = e.add(stageOf(op.getBlocks(), op.getStage()), e.mul(groupRow, format.bytes));
  words = e.add(words, e.shl(e.shr(e.andi(lane, 3), 1), 2));
  const PartTerms &terms = loadTerms(op);
  // Of A: fragment, half of the nibbles, register.
  Values a(static_cast<size_t>(shape.words));
  for (int64_t fragment = 0; fragment < shape.fragments; ++fragment)
    for (int64_t below = 0; below < 2; ++below) {
      int64_t row = fragment * WgmmaShape::kFragmentRows + 8 * below;
      for (int64_t k = 0; k < 2; ++k) { // eight columns each
        int64_t byte =
            format.elementOffset + int64_t(op.getPart()) * 32 + int64_t(op.getRun()) * 16 + k * 8;
        Value word = e.loadShared(e.add(words, row * format.bytes + byte), 1).front();
        Value bytes = NVVM::PermuteOp::create(b, op.getLoc(), e.i32Type(), word, e.i32(0),
                                              byteOrder, NVVM::PermuteMode::DEFAULT);
        for (int64_t high = 0; high < 2; ++high) {
          size_t term = size_t((fragment * 2 + below) * 2 + high);
          a[size_t((fragment * 2 + high) * 4 + 2 * k + below)] =
              weights(bytes, high, terms.scales[term], terms.mins[term]);
        }
      }
    }
  values[op.getValues()] = a;
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

void WgmmaKernelLowering::lowerStore(StoreSumsOp op) {
  int64_t m = problem.getM(), n = problem.getN();
  bool isTokenRagged = m % shape.tokens != 0, isRowRagged = n % shape.rows != 0;
  Values sums = values.lookup(op.getSums());
  Value token = e.add(e.mul(one(op.getTokenTile()), shape.tokens), e.shl(e.andi(lane, 3), 1));
  Value row = e.add(e.mul(one(op.getRowTile()), shape.rows), groupRow);
  Value start = BufferAddressOp::create(b, op.getLoc(), one(op.getBuffer()));
  start = e.add(e.add(start, e.mulWide(token, n * 4)), e.mulWide(row, 4));
  auto guarded = [&](bool isRagged, Value index, int64_t limit, llvm::function_ref<void()> body) {
    if (isRagged)
      e.ifThen(e.below(index, limit), body);
    else
      body();
  };
  for (int64_t right = 0; right < shape.tokens; right += 8)
    for (int64_t column = 0; column < 2; ++column)
      guarded(isTokenRagged, e.add(token, right + column), m, [&] {
        for (int64_t fragment = 0; fragment < shape.fragments; ++fragment)
          for (int64_t below = 0; below < 2; ++below) {
            int64_t down = fragment * WgmmaShape::kFragmentRows + 8 * below;
            Value sum = sums[size_t(fragment * shape.tokens / 2 + right / 2 + 2 * below + column)];
            guarded(isRowRagged, e.add(row, down), n, [&] {
              e.storeGlobal(e.add(start, (right + column) * n * 4 + down * 4), {e.asI32(sum)});
            });
          }
      });
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
