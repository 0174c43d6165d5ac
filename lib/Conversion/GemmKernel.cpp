//===- GemmKernel.cpp - builds the kernel of one scheduled gemm -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One CTA, or a pair, computes tiles of 128 rows for each, persistently: a TMA warp fills the
// operand ring, an MMA warp copies scales and multiplies into one of the accumulator stages, four
// epilogue warps drain the other. Everything that the kernel relies on is a plan attribute.
//
//===----------------------------------------------------------------------===//

#include "GemmKernelBuilder.h"

#include "blockscale/Facts/ScaleTile.h"
#include "blockscale/Facts/SharedLayout.h"
#include "blockscale/Facts/Tmem.h"

using namespace mlir;
using namespace blockscale;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

void KernelBuilder::planShared() {
  MLIRContext *context = b.getContext();
  int64_t stages = schedule.getStages();
  int64_t scaleStages = isSpan(schedule) ? schedule.getScaleStages() : stages;
  bool isStaged = schedule.getEpilogue() == Epilogue::tma_store;
  struct Buffer {
    Value &value;
    SharedContent content;
    int64_t bytes, stages;
    facts::Swizzle swizzle;
  };
  SmallVector<Buffer> buffers{{bufferA, SharedContent::a, shape.stage.a, stages, shape.a.swizzle},
                              {bufferB, SharedContent::b, shape.stage.b, stages, shape.b.swizzle}};
  if (isStaged)
    buffers.push_back({staging, SharedContent::staging, kStagingBytes, schedule.getStaging(),
                       facts::Swizzle::b128});
  for (auto [value, bytes] :
       {std::pair(&bufferSfa, shape.stage.sfa), {&bufferSfb, shape.stage.sfb}})
    buffers.push_back(
        {*value, SharedContent::scales_tiled, bytes, scaleStages, facts::Swizzle::none});
  // TMA fills all but the staging, so that they lie in this order.
  std::vector<facts::SharedPart> parts;
  for (const Buffer &buffer : buffers)
    parts.push_back({buffer.bytes * buffer.stages, /*alignment=*/1,
                     buffer.content == SharedContent::staging ? facts::SharedWriter::threads
                                                              : facts::SharedWriter::tma});
  facts::SharedLayout layout = *facts::layOutShared(parts);
  for (auto [buffer, offset] : llvm::zip_equal(buffers, layout.offsets))
    buffer.value =
        SharedBufferOp::create(b, loc,
                               SharedPlanAttr::get(context, buffer.content, offset, buffer.bytes,
                                                   buffer.stages, buffer.swizzle));
  sharedBytes = layout.end;

  auto pipeline = [&](int64_t depth, int64_t bytes, WarpRole producer, WarpRole consumer,
                      int64_t consumers) {
    auto plan = PipelinePlanAttr::get(context, depth, sharedBytes, sharedBytes + 8 * depth, bytes,
                                      producer, /*producers=*/1, consumer, consumers);
    sharedBytes += 16 * depth;
    return PipelineOp::create(b, loc, plan).getResult();
  };
  int64_t scales = shape.arrivingScales();
  ring = pipeline(stages, shape.arriving() - (isSpan(schedule) ? scales : 0), WarpRole::tma,
                  WarpRole::mma, cluster.readers());
  if (isSpan(schedule))
    scaleRing =
        pipeline(scaleStages, scales, WarpRole::tma_scales, WarpRole::mma, cluster.readers());
  accumulators = pipeline(accumulatorRing(schedule), /*bytes=*/0, WarpRole::mma, WarpRole::epilogue,
                          /*consumers=*/4 * schedule.getCtaGroup());

  // Accumulator stages first, then the scales of one K tile.
  int64_t products = productsOfTile(schedule), width = products * schedule.getInst().n;
  SmallVector<int64_t> bases;
  for (int64_t i = 0; i < schedule.getAccumulators(); ++i)
    bases.push_back(i * products *
                    accumulatorStep(schedule.getArch(), shape.stage, schedule.getTile(),
                                    schedule.getAccumulatorColumns()));
  TmemColumns used = planTmem(shape.stage, schedule);
  auto rounded = facts::roundTmemColumns(schedule.getArch(), int(used.used()));
  int64_t columns = rounded ? *rounded : used.used(); // the verifier says why not
  int64_t sfa = used.accumulators, sfb = sfa + used.sfa;
  auto plan = TmemPlanAttr::get(context, columns, sharedBytes, /*alloc_warp=*/4, bases, width, sfa,
                                used.sfa, sfb, used.sfb);
  sharedBytes += 8;
  tmem = TmemPlanOp::create(b, loc, plan);
  sharedBytes = ceilDiv(sharedBytes, 128) * 128;
}

KernelBuilder::Carried
KernelBuilder::forEachTile(llvm::function_ref<Carried(Value, Value, Value, Value)> body) {
  Value first = CtaIndexOp::create(b, loc), step = CtaCountOp::create(b, loc);
  Value zero = constant(0);
  auto loop = scf::ForOp::create(b, loc, first, tileCount(), step, ValueRange{zero, zero});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto tile = TileCoordinatesOp::create(b, loc, loop.getInductionVar());
  if (problem.isBatch())
    batch = TileBatchOp::create(b, loc, loop.getInductionVar());
  Carried next =
      body(tile.getRow(), tile.getColumn(), loop.getRegionIterArg(0), loop.getRegionIterArg(1));
  scf::YieldOp::create(b, loc, ValueRange{next.first, next.second});
  return {loop.getResult(0), loop.getResult(1)};
}

Value KernelBuilder::firstScaleTileOfB(Value column) {
  if (cutsScaleTiles(schedule.getTile()))
    return ScaleTilesOfBOp::create(b, loc, column).getFirst();
  return times(column, shape.scaleTilesOfB);
}

void KernelBuilder::buildLoads() {
  OpBuilder::InsertionGuard guard(b);
  role(WarpRole::tma, 5, 5);
  Shape3 tile = schedule.getTile();
  Carried end = forEachTile([&](Value row, Value column, Value stage, Value phase) -> Carried {
    Value rowA = times(row, tile.m), rowB = times(column, tile.n), zero = constant(0);
    Value scaleTileOfA;
    if (int64_t pair = schedule.getCtaGroup(); pair > 1) {
      // Each CTA of a pair has its rows of A and of A's scales, and its columns of B.
      Value rank = PairRankOp::create(b, loc);
      auto part = [&](Value start, int64_t extent) {
        return arith::AddIOp::create(b, loc, start, times(rank, extent)).getResult();
      };
      rowA = part(rowA, rowsOfProduct(schedule));
      rowB = part(rowB, tile.n / pair);
      scaleTileOfA = part(times(row, pair * shape.scaleTilesOfA), 1);
    } else {
      scaleTileOfA = times(row, shape.scaleTilesOfA);
    }
    Value scaleTileOfB = isSpan(schedule) ? Value() : firstScaleTileOfB(column);
    int64_t buffers = isSpan(schedule) ? ceilDiv(problem.getK(), kSpanBufferK) : shape.tilesK;
    auto loop =
        scf::ForOp::create(b, loc, zero, constant(buffers), constant(1), ValueRange{stage, phase});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar(), s = loop.getRegionIterArg(0), p = loop.getRegionIterArg(1);
    ProducerAcquireOp::create(b, loc, ring, s, p);
    auto load = [&](Param map, ArrayRef<Value> coordinates, Value target, IntegerAttr part = {}) {
      this->load(map, coordinates, target, part, ring, s);
    };
    auto along = [&](const facts::OperandTile &box, facts::Major major) {
      return times(k, major == facts::Major::k ? box.box0 : box.box1);
    };
    // `boxes` of a stage, `step` rows apart.
    auto loadBoxes = [&](int64_t boxes, int64_t step, Value rows,
                         llvm::function_ref<void(Value at, IntegerAttr part)> load) {
      for (int64_t i = 0; i < boxes; ++i)
        load(i ? arith::AddIOp::create(b, loc, rows, constant(i * step)).getResult() : rows,
             boxes > 1 ? b.getI64IntegerAttr(i) : IntegerAttr());
    };
    auto loadOperand = [&](Param map, const facts::OperandTile &box, int64_t step,
                           facts::Major major, Value along, Value rows, Value target) {
      loadBoxes(box.boxes, step, rows, [&](Value at, IntegerAttr part) {
        if (major == facts::Major::k)
          load(map, {along, at}, target, part);
        else
          load(map, {at, along}, target, part);
      });
    };
    Value alongA = along(shape.a, problem.getMajorA()),
          alongB = along(shape.b, problem.getMajorB());
    loadOperand(kA, shape.a, shape.boxStepOfA(), problem.getMajorA(), alongA, rowA, bufferA);
    loadOperand(kB, shape.b, shape.b.box0, problem.getMajorB(), alongB, rowB, bufferB);
    if (!isSpan(schedule)) {
      Value scaleTile = times(k, shape.scaleTilesPerStage);
      loadBoxes(
          shape.boxesOfSfa, schedule.getCtaGroup(), scaleTileOfA,
          [&](Value at, IntegerAttr part) { load(kSfa, {zero, scaleTile, at}, bufferSfa, part); });
      load(kSfb, {zero, scaleTile, scaleTileOfB}, bufferSfb);
    }
    ProducerCommitOp::create(b, loc, ring, s);
    Carried next = advance(ring, s, p);
    scf::YieldOp::create(b, loc, ValueRange{next.first, next.second});
    return {loop.getResult(0), loop.getResult(1)};
  });
  PipelineDrainOp::create(b, loc, ring, end.first, end.second);
}

void KernelBuilder::buildMultiplies() {
  OpBuilder::InsertionGuard guard(b);
  role(WarpRole::mma, 4, 4);
  // The operand ring runs on from tile to tile as the accumulator ring does; a
  // tile carries both.
  Value first = CtaIndexOp::create(b, loc), step = CtaCountOp::create(b, loc);
  Value zero = constant(0);
  auto tiles =
      scf::ForOp::create(b, loc, first, tileCount(), step, ValueRange{zero, zero, zero, zero});
  b.setInsertionPointToStart(tiles.getBody());
  Value accumulator = tiles.getRegionIterArg(2), accumulatorPhase = tiles.getRegionIterArg(3);
  ProducerAcquireOp::create(b, loc, accumulators, accumulator, accumulatorPhase);
  // Overlapped accumulators share the ring's one stage, and its phase says whose turn it is.
  Value target = isOverlapped() ? accumulatorPhase : accumulator;

  Value shift;
  if (cutsScaleTiles(schedule.getTile())) {
    auto tile = TileCoordinatesOp::create(b, loc, tiles.getInductionVar());
    shift = ScaleTilesOfBOp::create(b, loc, tile.getColumn()).getShift();
  }
  auto multiply = [&](Value stage, Value phase, Value accumulate, int64_t steps) {
    int64_t perStep = schedule.getInst().k / problem.getBlock();
    ConsumerWaitOp::create(b, loc, ring, stage, phase);
    auto copy = [&](Value source, ScaleOperand operand, int64_t tiles, IntegerAttr from,
                    IntegerAttr product) {
      CopyScalesOp::create(b, loc, source, stage, tmem,
                           ScaleOperandAttr::get(b.getContext(), operand), tiles, from, product);
    };
    // Two products that share B take turns with the copies where a step has scale tiles of
    // its own: the second copy of A's runs while the first product does.
    bool inTurn = productsOfTile(schedule) > 1 && perStep % facts::kScaleTileScales == 0;
    int64_t group = inTurn ? 1 : steps, tiles = ceilDiv(group * perStep, 4);
    for (int64_t i = 0; i < steps; i += group) {
      IntegerAttr fromStep, fromTile, products[2];
      if (i)
        fromStep = b.getI64IntegerAttr(i), fromTile = b.getI64IntegerAttr(i * perStep / 4);
      if (inTurn)
        products[0] = b.getI64IntegerAttr(0), products[1] = b.getI64IntegerAttr(1);
      copy(bufferSfa, ScaleOperand::sfa, tiles, fromTile, products[0]);
      copy(bufferSfb, ScaleOperand::sfb, tiles, fromTile, IntegerAttr());
      if (inTurn)
        copy(bufferSfa, ScaleOperand::sfa, tiles, fromTile, products[1]);
      MmaOp::create(b, loc, bufferA, bufferB, stage, tmem, target, accumulate, group, fromStep,
                    shift);
    }
    ConsumerReleaseOp::create(b, loc, ring, stage);
    return advance(ring, stage, phase);
  };
  // K tiles of the same number of instructions share a loop; a shorter last one
  // follows it.
  int64_t whole = shape.lastSteps == shape.stepsPerStage ? shape.tilesK : shape.tilesK - 1;
  Carried at{tiles.getRegionIterArg(0), tiles.getRegionIterArg(1)};
  if (whole > 0) {
    auto loop = scf::ForOp::create(b, loc, zero, constant(whole), constant(1),
                                   ValueRange{at.first, at.second});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value accumulate =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), zero);
    Carried next = multiply(loop.getRegionIterArg(0), loop.getRegionIterArg(1), accumulate,
                            shape.stepsPerStage);
    scf::YieldOp::create(b, loc, ValueRange{next.first, next.second});
    at = {loop.getResult(0), loop.getResult(1)};
  }
  if (whole < shape.tilesK) {
    Value accumulate = arith::ConstantIntOp::create(b, loc, whole > 0, /*width=*/1);
    at = multiply(at.first, at.second, accumulate, shape.lastSteps);
  }
  ProducerCommitOp::create(b, loc, accumulators, accumulator);
  Carried next = advance(accumulators, accumulator, accumulatorPhase);
  scf::YieldOp::create(b, loc, ValueRange{at.first, at.second, next.first, next.second});
}

void KernelBuilder::drain(const EpilogueParams &params, Value row, Value column, Value stage,
                          Value phase, const Drain &drain) {
  bool staged = schedule.getEpilogue() == Epilogue::tma_store;
  constexpr int64_t width = kEpilogueColumns;
  int64_t tileN = schedule.getTile().n, perChunk = shape.outColumns / width;
  int64_t products = productsOfTile(schedule), loads = tileN / width;
  SmallVector<Type> types(width, b.getF32Type());
  ConsumerWaitOp::create(b, loc, accumulators, stage, phase);
  // Rows of tiles of 128: those of a pair follow each other, then those of its next product.
  int64_t pair = schedule.getCtaGroup();
  Value first = times(row, pair * products);
  if (pair > 1)
    first = arith::AddIOp::create(b, loc, first, PairRankOp::create(b, loc));
  SmallVector<Value> rows{first};
  for (int64_t product = 1; product < products; ++product)
    rows.push_back(arith::AddIOp::create(b, loc, first, constant(product * pair)));
  SmallVector<Value> alphas(size_t(products), params.alpha);
  if (params.alphaRows)
    for (auto [alpha, row] : llvm::zip_equal(alphas, rows)) {
      Value factor = LoadRowAlphaOp::create(b, loc, params.alphaRows, row);
      alpha = alpha ? arith::MulFOp::create(b, loc, alpha, factor).getResult() : factor;
    }
  PendingScales scales;
  llvm::DenseMap<int64_t, SmallVector<Value>> halves; // of pairs with gates, by D's column
  int64_t stored = 0;                                 // loads whose columns of D are stored
  for (int64_t i = 0; i < products * loads; ++i) {
    int64_t from = epilogueColumn(shape, schedule, i, width), n = from % tileN;
    if (drain.order == DrainOrder::backward)
      from = n = tileN - n - width;
    int64_t product = from / tileN;
    row = rows[size_t(product)];
    Value alpha = alphas[size_t(product)];
    auto load = LoadAccumulatorOp::create(b, loc, types, tmem, drain.accumulator, from);
    if (i + 1 == drain.loadsBeforeRelease)
      ConsumerReleaseOp::create(b, loc, accumulators, stage);
    ValueRange values = load.getValues();
    ValueRange ofC;
    if (params.c)
      ofC = LoadCOp::create(b, loc, types, params.c, row, column, n, batch).getValues();
    if (alpha || params.alphaColumns || params.bias || params.c || epilogue.activation)
      values = ApplyEpilogueOp::create(b, loc, types, alpha, params.alphaColumns, params.bias,
                                       params.beta, column, n, values, ofC, epilogue.activation)
                   .getResults();
    if (GateAttr gate = problem.getGate()) {
      // The first columns of a group gate those behind them.
      constexpr int64_t group = 2 * kGateInterleave;
      bool isGate = n % group < kGateInterleave;
      n = n / group * kGateInterleave + n % kGateInterleave;
      SmallVector<Value> &other = halves[product * tileN + n];
      if (other.empty()) {
        other.assign(values.begin(), values.end());
        continue;
      }
      auto function = ActivationAttr::get(b.getContext(), gate.getFunction());
      values = ApplyGateOp::create(b, loc, types, function, isGate ? values : ValueRange(other),
                                   isGate ? ValueRange(other) : values)
                   .getResults();
    }
    if (problem.getQuantized()) {
      storeQuantized(params, product, row, column, n, values, scales);
      continue;
    }
    if (!staged) {
      PlainStoreOp::create(b, loc, params.out, row, column, n, values, batch);
      continue;
    }
    // Buffers take turns in the order of the stores.
    int64_t buffer = stored / perChunk % schedule.getStaging();
    if (stored % perChunk == 0)
      StagingAcquireOp::create(b, loc, staging, buffer);
    StoreStagingOp::create(b, loc, staging, buffer, n % shape.outColumns * shape.outBytes, values);
    if (++stored % perChunk == 0)
      TmaStoreOp::create(b, loc, staging, buffer, params.out, row, column,
                         n / shape.outColumns * shape.outColumns, batch);
  }
}

void KernelBuilder::storeQuantized(const EpilogueParams &params, int64_t product, Value row,
                                   Value tileColumn, int64_t column, ValueRange values,
                                   PendingScales &pending) {
  int64_t block = problem.getQuantized().getBlock(), count = values.size();
  Type i32 = b.getI32Type();
  SmallVector<Type> words(facts::packedBytes(problem.getOut(), count) / 4, i32);
  SmallVector<Type> bytes(count / block, i32);
  auto quantized = QuantizeColumnsOp::create(b, loc, words, bytes, values, params.global,
                                             schedule.getQuantizer());
  StoreColumnsOp::create(b, loc, quantized.getWords(), params.out, row, tileColumn, column);
  int64_t group = scalesPerStore(shape, problem), first = column / (group * block);
  SmallVector<Value> &held = pending[{product, first}];
  held.resize(size_t(group));
  for (auto [i, scale] : llvm::enumerate(quantized.getScales()))
    held[size_t(column / block % group) + i] = scale;
  if (llvm::all_of(held, [](Value scale) { return bool(scale); }))
    StoreColumnScalesOp::create(b, loc, held, params.outScales, row, tileColumn,
                                first * group * block);
}

void KernelBuilder::buildEpilogue() {
  OpBuilder::InsertionGuard guard(b);
  role(WarpRole::epilogue, 0, 3);
  unsigned next = kFirstOptional;
  auto optional = [&](bool given) { return given ? entry->getArgument(next++) : Value(); };
  EpilogueParams params;
  params.out = entry->getArgument(kD);
  params.outScales = optional(bool(problem.getQuantized()));
  params.bias = optional(epilogue.bias), params.c = optional(epilogue.c);
  params.alphaRows = optional(epilogue.alphaRows);
  params.alphaColumns = optional(epilogue.alphaColumns);
  params.alpha = optional(epilogue.alpha), params.beta = optional(epilogue.beta);
  params.global = optional(epilogue.global || epilogue.normConst);
  if (epilogue.normConst) {
    Value one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1));
    params.global = arith::DivFOp::create(b, loc, one, params.global);
  }
  const int64_t loads = productsOfTile(schedule) * schedule.getTile().n / kEpilogueColumns;
  forEachTile([&](Value row, Value column, Value stage, Value phase) -> Carried {
    if (!isOverlapped()) {
      drain(params, row, column, stage, phase, {stage, DrainOrder::forward, loads});
      return advance(accumulators, stage, phase);
    }
    // The last columns of the first stage are the first ones of the second; the next tile
    // may be accumulated as soon as they are read.
    int64_t shared =
        schedule.getTile().n - accumulatorStep(schedule.getArch(), shape.stage, schedule.getTile(),
                                               schedule.getAccumulatorColumns());
    int64_t early = ceilDiv(columnsUntilRead(shape, schedule, shared), kEpilogueColumns);
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, phase, constant(0));
    auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    drain(params, row, column, stage, phase, {constant(0), DrainOrder::backward, early});
    b.setInsertionPointToStart(branch.elseBlock());
    drain(params, row, column, stage, phase, {constant(1), DrainOrder::forward, early});
    b.setInsertionPointAfter(branch);
    return advance(accumulators, stage, phase);
  });
  if (schedule.getEpilogue() == Epilogue::tma_store)
    StagingDrainOp::create(b, loc, staging);
}

KernelOp KernelBuilder::build(StringRef name) {
  MLIRContext *context = b.getContext();
  Type map = TensorMapType::get(context), buffer = BufferType::get(context);
  SmallVector<Type> params{map, map, map, map,
                           schedule.getEpilogue() == Epilogue::tma_store ? map : buffer};
  params.append(size_t(bool(problem.getQuantized())) + epilogue.bias + epilogue.c +
                    epilogue.alphaRows + epilogue.alphaColumns,
                buffer);
  params.append(size_t(epilogue.alpha) + epilogue.beta + (epilogue.global || epilogue.normConst),
                b.getF32Type());
  if (problem.hasDynamicM())
    params.push_back(b.getI32Type());
  auto kernel =
      KernelOp::create(b, loc, b.getStringAttr(name), TypeAttr::get(b.getFunctionType(params, {})),
                       ArrayAttr(), ArrayAttr(), problem, schedule,
                       b.getI64IntegerAttr(kernelThreads(schedule)), b.getI64IntegerAttr(0));
  OpBuilder::InsertionGuard guard(b);
  entry = b.createBlock(&kernel.getBody(), {}, params, SmallVector<Location>(params.size(), loc));
  planShared();
  kernel.setSharedBytes(sharedBytes);
  buildLoads();
  if (isSpan(schedule)) {
    buildScaleLoads();
    buildSpanMultiplies();
  } else {
    buildMultiplies();
  }
  buildEpilogue();
  ReturnOp::create(b, loc);
  return kernel;
}

KernelOp blockscale::buildGemmKernel(OpBuilder &builder, Location loc, StringRef name,
                                     ProblemAttr problem, ScheduleAttr schedule,
                                     GemmEpilogue epilogue) {
  return KernelBuilder(builder, loc, problem, schedule, epilogue).build(name);
}
