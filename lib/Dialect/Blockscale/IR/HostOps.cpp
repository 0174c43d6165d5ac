//===- HostOps.cpp - rules of allocs, tensor maps and launches ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch is checked against the kernel that it names: what one says and the
// other relies on must not differ, whoever edited which.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/ClusterPlan.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"
#include "blockscale/Dialect/Blockscale/IR/Planning.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizePlanning.h"
#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/TensorMap.h"
#include "blockscale/Facts/TmaAllocation.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Memory and maps
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  if (int64_t bytes = int64_t(getBytes()); bytes < 1 || bytes > kMaxBufferBytes)
    return emitOpError("alloc_c1: bytes must be 1 to 2^40, got ") << bytes;
  return success();
}

LogicalResult CopyOp::verify() {
  Type source = getSource().getType(), target = getTarget().getType();
  if (isa<BufferType>(source) == isa<BufferType>(target))
    return emitOpError("copy_c1: one side must be a memref and the other a device buffer, got ")
           << source << " and " << target;
  auto memref = cast<MemRefType>(isa<BufferType>(source) ? target : source);
  Type element = memref.getElementType();
  if (!isContiguous(memref) || !element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return emitOpError("copy_c2: memref must be contiguous, of elements of whole bytes, got ")
           << memref;
  return success();
}

/// Bytes of a device buffer that is allocated in sight.
static std::optional<int64_t> knownBytes(Value buffer) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  if (alloc && !alloc.getCount())
    return int64_t(alloc.getBytes());
  return std::nullopt;
}

/// The least that a value is for sure.
static int64_t leastOf(Value value) {
  if (auto most = value.getDefiningOp<arith::MaxUIOp>())
    return std::max(leastOf(most.getLhs()), leastOf(most.getRhs()));
  return getConstantIntValue(value).value_or(0);
}

/// The least bytes of a device buffer that is allocated in sight.
static std::optional<int64_t> leastBytes(Value buffer) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  if (!alloc)
    return std::nullopt;
  int64_t count = alloc.getCount() ? leastOf(alloc.getCount()) : 1;
  return llvm::SaturatingMultiply<uint64_t>(alloc.getBytes(), count);
}

LogicalResult SizeOp::verify() {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (StringRef name = getName(); name.empty() || !llvm::isAlpha(name[0]) || !all_of(name, isPart))
    return emitOpError("size_c1: name must be a letter, then letters, digits and _, got '")
           << name << "'";
  if (int64_t most = int64_t(getMost()); most < 0 || most > kMaxBufferBytes)
    return emitOpError("size_c1: most must be 0 to 2^40, got ") << most;
  return success();
}

LogicalResult TensorMapOp::verify() {
  TmaMapAttr map = getMap();
  size_t rank = map.getDims().size();
  if (rank < 1 || rank > size_t(facts::kTmaMaxRank))
    return emitOpError("tensor_map_c2: rank must be from 1 to ")
           << facts::kTmaMaxRank << ", got " << rank;
  for (auto [what, have, want] :
       {std::tuple("strides", map.getStrides().size(), rank - 1),
        std::tuple("box sizes", map.getBox().size(), rank),
        std::tuple("element strides", map.getElementStrides().size(), rank)})
    if (have != want)
      return emitOpError("tensor_map_c2: number of ")
             << what << " must be " << want << ", got " << have;
  if (map.getElementStrides().front() != 1)
    return emitOpError("map_c1: element stride of dimension 0 must be 1, got ")
           << map.getElementStrides().front();
  ArrayRef<int64_t> dims = map.getDims();
  int64_t want = llvm::count(dims, kDynamicExtent) + llvm::count(map.getStrides(), kDynamicExtent);
  if (int64_t(getSizes().size()) != want)
    return emitOpError("map_c3: sizes must be as many as dimensions and strides of ?, ")
           << want << ", got " << getSizes().size();
  std::optional<int64_t> bytes = knownBytes(getBuffer());
  if (!bytes || !getSizes().empty())
    return success();
  // Saturated: a product beyond 64 bits is outside any buffer.
  int64_t end = llvm::SaturatingMultiply<uint64_t>(map.getDims().front(),
                                                   facts::info(map.getType()).globalBytes16) /
                16;
  bool fits = map.getDims().front() >= 1 && end <= *bytes;
  for (size_t i = 1; i < rank && fits; ++i) {
    int64_t dim = map.getDims()[i], stride = map.getStrides()[i - 1], step = 0;
    fits = dim >= 1 && stride >= 0 && !llvm::MulOverflow(dim - 1, stride, step) &&
           !llvm::AddOverflow(end, step, end) && end <= *bytes;
  }
  if (!fits)
    return emitOpError("map_c2: map must lie inside its buffer of ")
           << *bytes << " bytes, got one that reaches " << end;
  return success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {

/// Checks one launch against its kernel, in the order of the labels.
class LaunchVerifier {
public:
  LaunchVerifier(LaunchOp launch, KernelOp kernel)
      : launch(launch), kernel(kernel), problem(kernel.getProblem()),
        schedule(kernel.getSchedule()), shape(problem, schedule), cluster(schedule) {}

  LogicalResult run() {
    return success(succeeded(checkBlock()) && succeeded(checkShared()) && succeeded(checkTypes()) &&
                   succeeded(checkGrid()) && succeeded(checkMaps()) && succeeded(checkRows()) &&
                   succeeded(checkBuffers()) && succeeded(checkMachine()));
  }

private:
  LogicalResult checkBlock() {
    if (launch.getBlock() != ArrayRef<int64_t>{int64_t(kernel.getThreads()), 1, 1})
      return refuse("launch_c2: block must be [", kernel.getThreads(), ", 1, 1], got [",
                    launch.getBlock(), "]");
    if (launch.getCluster() != ArrayRef<int64_t>{cluster.size(), 1, 1})
      return refuse("launch_c2: cluster must be [", cluster.size(), ", 1, 1], got [",
                    launch.getCluster(), "]");
    return success();
  }

  LogicalResult checkShared() {
    if (launch.getSharedBytes() != kernel.getSharedBytes())
      return refuse("launch_c3: shared bytes must be the kernel's ", kernel.getSharedBytes(),
                    ", got ", launch.getSharedBytes());
    bool oversized =
        int64_t(kernel.getSharedBytes()) > facts::info(kernel.getArch()).sharedPerBlock;
    if (launch.getOversized() != oversized)
      return refuse("launch_c3: launch must ", oversized ? "" : "not ", "be oversized for ",
                    kernel.getSharedBytes(), " shared bytes, got ",
                    oversized ? "an ordinary one" : "an oversized one");
    return success();
  }

  LogicalResult checkTypes() {
    ArrayRef<Type> types = kernel.getArgumentTypes();
    if (launch.getParams().size() != types.size())
      return refuse("launch_c4: parameters must be ", types.size(), ", got ",
                    launch.getParams().size());
    for (auto [i, value] : llvm::enumerate(launch.getParams()))
      if (value.getType() != types[i])
        return refuse("launch_c4: parameter ", i, " must be ", types[i], ", got ", value.getType());
    return success();
  }

  LogicalResult checkGrid() {
    bool isValue = problem.hasDynamicM();
    if (launch.getGridSizes().size() != size_t(isValue) ||
        (isValue && launch.getGrid() != ArrayRef<int64_t>{kDynamicExtent, 1, 1}))
      return refuse("launch_c12: grid must be ", isValue ? "[a value, 1, 1]" : "known",
                    " where m is ", extentText(problem.getM()), ", got [", gridText(), "]");
    if (isValue)
      return success();
    int64_t want = cluster.grid(shape, schedule);
    if (launch.getGrid() != ArrayRef<int64_t>{want, 1, 1})
      return refuse("launch_c5: grid must be [", want, ", 1, 1] for ", shape.tiles(),
                    " tiles and ctas = ", schedule.getCtas(), ", got [", launch.getGrid(), "]");
    return success();
  }

  LogicalResult checkMaps() {
    auto maps = operandMaps(problem, schedule);
    SmallVector<std::pair<StringRef, TmaMapAttr>> want{
        {"a", maps[0]}, {"b", maps[1]}, {"sfa", maps[2]}, {"sfb", maps[3]}};
    if (schedule.getEpilogue() == Epilogue::tma_store)
      want.push_back({"d", outputMap(problem)});
    // D's buffer, bias, C and the scalars follow.
    for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
      if (isa<TensorMapType>(type) != (i < want.size()))
        return refuse("launch_c6: a kernel must take ", want.size(), " tensor maps first, got ",
                      type, " as parameter ", i);
    if (launch.getParams().size() < want.size())
      return refuse("launch_c6: a kernel must take ", want.size(), " tensor maps first, got ",
                    launch.getParams().size(), " parameters");
    for (auto [i, row] : llvm::enumerate(want)) {
      auto op = launch.getParams()[i].getDefiningOp<TensorMapOp>();
      if (!op || withoutL2(op.getMap()) == withoutL2(row.second))
        continue;
      InFlightDiagnostic diag = launch.emitOpError("launch_c6: map of ")
                                << row.first << " must be " << row.second << ", got "
                                << op.getMap();
      diag.attachNote(op.getLoc()) << "the map is made here";
      return diag;
    }
    return checkPitched();
  }

  std::string gridText() { return llvm::join(llvm::map_range(launch.getGrid(), extentText), ", "); }

  /// launch_c12: one m, as far as it can be seen.
  LogicalResult checkRows() {
    if (!problem.hasDynamicM())
      return success();
    ProblemAttr row = problem.withM(1).ofOne();
    bool isOne = true;
    // Of a batch the last value is the bytes of one matrix.
    auto rowsOf = [&](int64_t param, int64_t bytes) -> Value {
      auto map = launch.getParams()[param].getDefiningOp<TensorMapOp>();
      ValueRange sizes = map ? ValueRange(map.getSizes()) : ValueRange();
      if (problem.isBatch() && !sizes.empty()) {
        auto matrix = sizes.back().getDefiningOp<arith::MulIOp>();
        isOne &= matrix && matrix.getLhs() == sizes.front() &&
                 getConstantIntValue(matrix.getRhs()) == bytes;
        sizes = sizes.drop_back();
      }
      return !sizes.empty() && llvm::all_equal(sizes) ? sizes.front() : Value();
    };
    Value a = rowsOf(0, row.getABytes()), sfa = rowsOf(2, row.getSfaBytes());
    isOne &= schedule.getEpilogue() != Epilogue::tma_store || rowsOf(4, row.getOutBytes()) == a;
    if (auto tiles = sfa ? sfa.getDefiningOp<arith::CeilDivUIOp>() : arith::CeilDivUIOp())
      isOne &= tiles.getLhs() == a && getConstantIntValue(tiles.getRhs()) == facts::kScaleTileRows;
    else
      isOne &= !sfa;
    if (!isOne)
      return refuse("launch_c12: maps of a and d must have the same rows, and that of sfa their ",
                    facts::kScaleTileRows, "th part",
                    problem.isBatch() ? ", with the bytes of them from one matrix to the next" : "",
                    ", got others");
    return success();
  }

  LogicalResult checkPitched() {
    for (auto [i, what, pitch] :
         {std::tuple(0, "a", problem.getPitchA()), std::tuple(1, "b", problem.getPitchB())}) {
      auto map = launch.getParams()[i].getDefiningOp<TensorMapOp>();
      std::optional<int64_t> have = map ? leastBytes(map.getBuffer()) : std::nullopt;
      if (pitch && have && *have < facts::kTmaPitchedBytes)
        return refuse("launch_c11: buffer of the pitched operand ", what, " must have at least ",
                      facts::kTmaPitchedBytes, " bytes, got ", *have);
    }
    return success();
  }

  LogicalResult checkBuffers() {
    SmallVector<Value> buffers;
    for (Value value : launch.getParams())
      if (isa<BufferType>(value.getType()))
        buffers.push_back(value);
    SmallVector<std::pair<StringRef, int64_t>> want;
    if (schedule.getEpilogue() == Epilogue::plain_store)
      want.push_back({"d", problem.getOutBytes()});
    if (problem.getQuantized())
      want.push_back({"the scales of d", problem.getOutBlocked().getScaleBytes()});
    size_t first = want.size(); // what follows is optional
    constexpr int64_t kFactorBytes = sizeof(float);
    want.push_back({"bias", problem.getN() * kFactorBytes});
    want.push_back({"c", problem.getOutBytes()});
    want.push_back(
        {"alpha_rows", problem.hasDynamicM() ? kDynamicExtent : problem.getM() * kFactorBytes});
    want.push_back({"alpha_columns", problem.getN() * kFactorBytes});
    if (buffers.size() > want.size())
      return refuse("launch_c7: buffers must be at most ", want.size(), ", got ", buffers.size());
    size_t absent = want.size() - buffers.size(); // of the optional ones, at most
    size_t next = 0;
    for (Value value : buffers) {
      std::optional<int64_t> have = knownBytes(value);
      auto fits = [&](int64_t bytes) { return !have || isDynamic(bytes) || *have == bytes; };
      SmallVector<std::string> names, sizes;
      bool isFound = false;
      for (size_t i = next; i <= next + (next < first ? 0 : absent) && !isFound; ++i) {
        isFound = fits(want[i].second);
        if (isFound) {
          absent -= i - next;
          next = i + 1;
        }
        names.push_back(want[i].first.str());
        sizes.push_back(std::to_string(want[i].second));
      }
      if (!isFound)
        return refuse("launch_c7: buffer of ", llvm::join(names, " or "), " must have ",
                      llvm::join(sizes, " or "), " bytes, got ", *have);
    }
    return success();
  }

  /// A kernel of warp roles has a plan, which its own rules hold against the schedule.
  LogicalResult checkMachine() {
    Block &body = kernel.getBody().front();
    if (!body.getOps<WarpRoleOp>().empty())
      return success();
    if (int64_t want = planKernelBytes(problem, schedule); int64_t(kernel.getSharedBytes()) != want)
      return refuse("launch_c8: shared bytes of the schedule must be ", want, ", got ",
                    kernel.getSharedBytes());
    StageBytes stage = planStage(problem, choiceOf(schedule));
    int64_t used = planTmem(stage, schedule).used();
    auto want = facts::roundTmemColumns(kernel.getArch(), int(used));
    WalkResult result = kernel.getBody().walk([&](Tcgen05AllocOp op) {
      if (want && int64_t(op.getColumns()) != *want) {
        op.emitOpError("launch_c8: columns of the schedule must be ")
            << *want << ", got " << op.getColumns();
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  static TmaMapAttr withoutL2(TmaMapAttr map) {
    return TmaMapAttr::get(map.getContext(), map.getType(), map.getDims(), map.getStrides(),
                           map.getBox(), map.getElementStrides(), map.getSwizzle(), map.getFill(),
                           facts::TmaL2Promotion::none);
  }

  template <typename... Parts> LogicalResult refuse(Parts &&...parts) {
    InFlightDiagnostic diag = launch.emitOpError();
    (diag << ... << std::forward<Parts>(parts));
    diag.attachNote(kernel.getLoc()) << "the kernel stands here";
    return diag;
  }

  LaunchOp launch;
  KernelOp kernel;
  ProblemAttr problem;
  ScheduleAttr schedule;
  GemmShape shape;
  ClusterPlan cluster;
};

/// launch_c2, launch_c3 and launch_c4 of a kernel in clusters of `cluster` CTAs.
template <typename KernelT>
LogicalResult verifyPlainLaunch(LaunchOp launch, KernelT kernel, int64_t cluster = 1) {
  auto refuse = [&]() -> InFlightDiagnostic { return launch.emitOpError(); };
  if (launch.getBlock() != ArrayRef<int64_t>{int64_t(kernel.getThreads()), 1, 1} ||
      launch.getCluster() != ArrayRef<int64_t>{cluster, 1, 1})
    return refuse() << "launch_c2: block must be [" << kernel.getThreads()
                    << ", 1, 1] and cluster [" << cluster << ", 1, 1], got [" << launch.getBlock()
                    << "] and [" << launch.getCluster() << "]";
  if (launch.getSharedBytes() != kernel.getSharedBytes() || launch.getOversized())
    return refuse() << "launch_c3: shared bytes must be the kernel's " << kernel.getSharedBytes()
                    << ", and not oversized, got " << launch.getSharedBytes();
  if (!llvm::equal(launch.getParams().getTypes(), kernel.getArgumentTypes()))
    return refuse() << "launch_c4: parameters must be of " << kernel.getFunctionType();
  return success();
}

/// What a plain launch must be beside that.
struct PlainLaunch {
  StringRef label;
  std::array<int64_t, 3> grid;
  SmallVector<std::pair<StringRef, int64_t>> buffers; // name and bytes, the first parameters
  StringRef counted;                                  // by the last parameter
  int64_t most;
};
LogicalResult verifyPlainLaunch(LaunchOp launch, const PlainLaunch &want) {
  auto refuse = [&]() -> InFlightDiagnostic { return launch.emitOpError() << want.label << ": "; };
  if (launch.getGrid() != ArrayRef<int64_t>(want.grid))
    return refuse() << "grid must be [" << ArrayRef<int64_t>(want.grid) << "], got ["
                    << launch.getGrid() << "]";
  for (auto [value, buffer] : llvm::zip(launch.getParams(), want.buffers))
    if (std::optional<int64_t> have = knownBytes(value); have && *have != buffer.second)
      return refuse() << "buffer of " << buffer.first << " must have " << buffer.second
                      << " bytes, got " << *have;
  auto count = launch.getParams().back().getDefiningOp<arith::ConstantIntOp>();
  if (count && (count.value() < 1 || count.value() > want.most))
    return refuse() << "number of " << want.counted << " must be 1 .. " << want.most << ", got "
                    << count.value();
  return success();
}

LogicalResult verifyWarpLaunch(LaunchOp launch, WarpKernelOp kernel) {
  BlockProblemAttr problem = kernel.getProblem();
  WarpGrid grid = planGrid(problem, kernel.getSchedule().getTile());
  int64_t split = kernel.getSchedule().getSplit();
  if (failed(verifyPlainLaunch(launch, kernel, split)))
    return failure();
  return verifyPlainLaunch(
      launch,
      {"launch_c9",
       {grid.tokens * split, grid.rows, 1},
       {{"a", problem.getABytes()}, {"b", problem.getBBytes()}, {"d", problem.getOutBytes()}},
       "tokens",
       problem.getM()});
}

LogicalResult verifyQuantizeLaunch(LaunchOp launch, QuantizeKernelOp kernel) {
  QuantizeProblemAttr problem = kernel.getProblem();
  if (failed(verifyPlainLaunch(launch, kernel)))
    return failure();
  PlainLaunch want{"launch_c10",
                   {QuantizeShape(problem).ctas, 1, 1},
                   problem.getBuffers(),
                   "rows",
                   problem.getRows()};
  return verifyPlainLaunch(launch, want);
}

/// The same of a wgmma kernel, also that its maps are those of the plan.
LogicalResult verifyWgmmaLaunch(LaunchOp launch, WgmmaKernelOp kernel) {
  auto refuse = [&]() -> InFlightDiagnostic { return launch.emitOpError(); };
  WgmmaScheduleAttr schedule = kernel.getSchedule();
  if (failed(verifyPlainLaunch(launch, kernel, schedule.getSplit())))
    return failure();
  BlockProblemAttr problem = kernel.getProblem();
  for (auto [value, what, want] :
       {std::tuple(launch.getParams()[0], "activations", tokenMap(problem, schedule)),
        std::tuple(launch.getParams()[1], "blocks", blockMap(problem, schedule))})
    if (auto map = value.getDefiningOp<TensorMapOp>(); map && map.getMap() != want)
      return refuse() << "launch_c6: map of " << what << " must be " << want << ", got "
                      << map.getMap();
  // Tiles are taken in turn, so that any number of blocks gives the product; a cluster has one.
  ArrayRef<int64_t> grid = launch.getGrid();
  int64_t blocks = planWgmmaGrid(problem, schedule).blocks;
  if (schedule.isSplit() && grid != ArrayRef<int64_t>{blocks, 1, 1})
    return refuse() << "launch_c9: grid must be [" << blocks << ", 1, 1], a cluster for each tile, "
                    << "got [" << grid << "]";
  if (grid[0] < 1 || grid[1] != 1 || grid[2] != 1)
    return refuse() << "launch_c9: grid must be [blocks, 1, 1], got [" << grid << "]";
  std::optional<int64_t> have = knownBytes(launch.getParams()[2]);
  if (have && *have != problem.getOutBytes())
    return refuse() << "launch_c9: buffer of d must have " << problem.getOutBytes()
                    << " bytes, got " << *have;
  return success();
}

} // namespace

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto [what, extents] : {std::pair("grid", getGrid()), std::pair("block", getBlock()),
                               std::pair("cluster", getCluster())})
    if (extents.size() != 3)
      return emitOpError("launch_c1: ") << what << " must have 3 extents, got " << extents.size();
  if (int64_t(getGridSizes().size()) != llvm::count(getGrid(), kDynamicExtent))
    return emitOpError("launch_c12: grid must have a value for each extent of ?, got ")
           << getGridSizes().size();
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (auto kernel = dyn_cast_or_null<WarpKernelOp>(symbol))
    return verifyWarpLaunch(*this, kernel);
  if (auto kernel = dyn_cast_or_null<WgmmaKernelOp>(symbol))
    return verifyWgmmaLaunch(*this, kernel);
  if (auto kernel = dyn_cast_or_null<QuantizeKernelOp>(symbol))
    return verifyQuantizeLaunch(*this, kernel);
  auto kernel = dyn_cast_or_null<KernelOp>(symbol);
  if (!kernel)
    return success();
  return LaunchVerifier(*this, kernel).run();
}
