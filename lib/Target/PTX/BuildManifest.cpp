//===- BuildManifest.cpp - launches of host code as a manifest ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same ops become runtime calls, so that grid, bytes and maps exist once.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/BuildManifest.h"

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Facts/TensorMap.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace blockscale {
namespace {

class ManifestBuilder {
public:
  ManifestBuilder(ModuleOp root, facts::Arch arch) : root(root) { manifest.arch = arch; }

  FailureOr<rt::Manifest> build() {
    SmallVector<LaunchOp> launches;
    root.walk([&](LaunchOp op) { launches.push_back(op); });
    if (launches.empty())
      return root.emitError("manifest_c1: the module must launch a kernel, got none"), failure();
    if (failed(checkHost(launches)))
      return failure();
    for (LaunchOp launch : launches) {
      int64_t count = batchCount(launch).value_or(1);
      for (int64_t batch = 0; batch < count; ++batch)
        if (failed(add(launch, /*prefix=*/launches.size() > 1, {batch, count})))
          return failure();
    }
    return manifest;
  }

private:
  /// One of so many launches of a loop over a batch.
  struct Batch {
    int64_t index, count;
    bool isOne() const { return count == 1; }
  };
  /// Of what maps and vector accesses start from.
  static constexpr uint64_t kBaseAlignment = facts::info(facts::TmaType::u8).alignment;
  /// The most batches that are listed.
  static constexpr int64_t kMaxBatches = 1024;

  /// How often the launch is made by the loop around it, which is in the body of a function and
  /// carries nothing on; nullopt where it is not in such a loop.
  static std::optional<int64_t> batchCount(LaunchOp launch) {
    auto loop = dyn_cast<scf::ForOp>(launch->getParentOp());
    if (!loop || loop.getNumResults() || !isa<FunctionOpInterface>(loop->getParentOp()) ||
        llvm::range_size(loop.getBody()->getOps<LaunchOp>()) != 1)
      return std::nullopt;
    std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                           end = getConstantIntValue(loop.getUpperBound()),
                           step = getConstantIntValue(loop.getStep());
    if (!first || !end || !step || *step < 1 || *end <= *first)
      return std::nullopt;
    int64_t count = (*end - *first + *step - 1) / *step;
    return count <= kMaxBatches ? std::optional(count) : std::nullopt;
  }

  /// Whether each batch has its own part of the buffer: what it is copied from or to is made in
  /// the loop.
  static bool isOfBatch(AllocOp alloc) {
    return llvm::any_of(alloc->getUsers(), [&](Operation *user) {
      auto copy = dyn_cast<CopyOp>(user);
      if (!copy || !isa<scf::ForOp>(alloc->getParentOp()))
        return false;
      Value memory = copy.getTarget() == alloc.getBuffer() ? copy.getSource() : copy.getTarget();
      return memory.getParentBlock() == alloc->getBlock();
    });
  }

  /// A manifest is a list of launches: what host code decides or computes between
  /// them cannot be said.
  LogicalResult checkHost(ArrayRef<LaunchOp> launches) {
    llvm::SmallPtrSet<Operation *, 4> functions;
    for (LaunchOp launch : launches) {
      Operation *around = launch->getParentOp();
      auto function =
          dyn_cast<FunctionOpInterface>(batchCount(launch) ? around->getParentOp() : around);
      if (!function)
        return launch.emitOpError("manifest_c4: a launch must stand in the body of a function, or "
                                  "alone in a loop there over a batch of a known number, got one "
                                  "under host control flow, '")
               << launch->getParentOp()->getName() << "'";
      functions.insert(function);
    }
    WalkResult calls = root.walk([&](CallOpInterface call) {
      Operation *callee = call.resolveCallable();
      if (!callee || !functions.contains(callee))
        return WalkResult::advance();
      call->emitOpError("manifest_c5: a function that launches kernels must not be called, got a "
                        "call of '")
          << SymbolTable::getSymbolName(callee).getValue() << "'";
      return WalkResult::interrupt();
    });
    if (calls.wasInterrupted())
      return failure();
    WalkResult copies = root.walk([&](CopyOp copy) {
      Value memory = copy.getTarget();
      if (auto part = memory.getDefiningOp<memref::SubViewOp>())
        memory = part.getSource(); // of a batch
      return isa<BufferType>(copy.getSource().getType()) && failed(checkResult(memory))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return failure(copies.wasInterrupted());
  }

  /// Host memory that a kernel's result is copied to is returned, and that is all.
  static LogicalResult checkResult(Value memory) {
    for (Operation *user : memory.getUsers()) {
      auto copy = dyn_cast<CopyOp>(user);
      if ((copy && copy.getTarget() == memory) ||
          isa<func::ReturnOp, memref::DeallocOp, memref::DimOp>(user))
        continue;
      if (isa<memref::CastOp, memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(
              user)) {
        if (failed(checkResult(user->getResult(0))))
          return failure();
        continue;
      }
      return user->emitOpError("manifest_c6: what a kernel writes must only be returned, got a use "
                               "by '")
             << user->getName() << "'";
    }
    return success();
  }

  LogicalResult add(LaunchOp launch, bool prefix, const Batch &batch) {
    rt::ManifestKernel kernel;
    kernel.name = launch.getKernel().getLeafReference().getValue().str();
    auto dims = [](ArrayRef<int64_t> from, std::array<uint32_t, 3> &to) {
      for (size_t i = 0; i < to.size() && i < from.size(); ++i)
        to[i] = uint32_t(from[i]);
    };
    std::string scope = prefix ? kernel.name + "." : std::string();
    addSizes(launch, scope);
    dims(launch.getGrid(), kernel.grid);
    for (Value size : launch.getGridSizes()) {
      size_t i = llvm::find(launch.getGrid(), kDynamicExtent) - launch.getGrid().begin();
      kernel.grid[i] = 1;
      if (failed(setExpr(launch, size, kernel.gridExprs[i])))
        return failure();
    }
    dims(launch.getBlock(), kernel.block);
    dims(launch.getCluster(), kernel.cluster);
    kernel.sharedBytes = launch.getSharedBytes();
    kernel.sharedMode =
        launch.getOversized() ? rt::SharedMode::oversized : rt::SharedMode::standard;
    // Buffers in the order of their allocation, which is that of the arguments.
    for (auto alloc : launch->getBlock()->getOps<AllocOp>())
      if (isUsedBy(alloc, launch) && failed(addBuffer(launch, alloc, scope, batch)))
        return failure();
    for (Value value : launch.getParams()) {
      FailureOr<rt::ManifestParam> param = makeParam(launch, value, scope, batch);
      if (failed(param))
        return failure();
      kernel.params.push_back(std::move(*param));
    }
    manifest.kernels.push_back(std::move(kernel));
    return success();
  }

  static bool isUsedBy(AllocOp alloc, LaunchOp launch) {
    return llvm::any_of(launch.getParams(), [&](Value param) {
      if (auto map = param.getDefiningOp<TensorMapOp>())
        param = map.getBuffer();
      return param == alloc.getBuffer();
    });
  }

  /// The sizes that what a launch is given follows from.
  void addSizes(LaunchOp launch, const std::string &scope) {
    llvm::SetVector<Value> seen;
    SmallVector<Value> work(launch.getGridSizes());
    while (!work.empty()) {
      Value value = work.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || !seen.insert(value))
        continue;
      if (auto size = dyn_cast<SizeOp>(op)) {
        if (!sizes.contains(size)) {
          sizes[size] = scope + size.getName().str();
          manifest.sizes.push_back({sizes[size], 0, uint64_t(size.getMost())});
        }
        continue;
      }
      llvm::append_range(work, op->getOperands());
    }
  }

  /// The value as an expression of sizes; null where it is none.
  rt::Expr exprOf(Value value) {
    using Op = rt::SizeExpr::Op;
    Operation *op = value.getDefiningOp();
    if (!op)
      return {};
    if (auto size = dyn_cast<SizeOp>(op)) {
      auto it = sizes.find(size);
      return it == sizes.end() ? rt::Expr() : rt::SizeExpr::of(it->second);
    }
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
      return exprOf(op->getOperand(0));
    if (std::optional<int64_t> number = getConstantIntValue(value))
      return *number < 0 ? rt::Expr() : rt::SizeExpr::of(uint64_t(*number));
    std::optional<Op> kind = llvm::TypeSwitch<Operation *, std::optional<Op>>(op)
                                 .Case([](arith::AddIOp) { return Op::add; })
                                 .Case([](arith::MulIOp) { return Op::mul; })
                                 .Case([](arith::DivUIOp) { return Op::div; })
                                 .Case([](arith::CeilDivUIOp) { return Op::ceildiv; })
                                 .Case([](arith::MinUIOp) { return Op::min; })
                                 .Case([](arith::MaxUIOp) { return Op::max; })
                                 .Default([](Operation *) { return std::nullopt; });
    if (!kind)
      return {};
    rt::Expr a = exprOf(op->getOperand(0)), b = exprOf(op->getOperand(1));
    return a && b ? rt::SizeExpr::of(*kind, a, b) : rt::Expr();
  }

  LogicalResult setExpr(LaunchOp launch, Value value, rt::Expr &expr) {
    expr = exprOf(value);
    if (expr)
      return success();
    return launch.emitOpError("manifest_c7: a size must follow from a blockscale.size by sums, "
                              "products, quotients, minima and maxima, got another value");
  }

  LogicalResult addBuffer(LaunchOp launch, AllocOp alloc, const std::string &scope,
                          const Batch &batch) {
    if (names.contains(alloc))
      return success();
    rt::ManifestBuffer buffer;
    auto name = alloc->getAttrOfType<StringAttr>("blockscale.name");
    buffer.name = scope + (name ? name.getValue().str() : "buffer" + std::to_string(names.size()));
    buffer.bytes = uint64_t(alloc.getBytes());
    if (alloc.getCount()) {
      rt::Expr count;
      if (failed(setExpr(launch, alloc.getCount(), count)))
        return failure();
      buffer.bytesExpr =
          rt::SizeExpr::of(rt::SizeExpr::Op::mul, count, rt::SizeExpr::of(buffer.bytes));
    }
    bool written = false, read = false, zeroed = false;
    for (Operation *user : alloc->getUsers()) {
      auto copy = dyn_cast<CopyOp>(user);
      if (!copy)
        continue;
      bool toDevice = copy.getTarget() == alloc.getBuffer();
      if (toDevice && isZero(copy.getSource())) {
        zeroed = true;
        continue;
      }
      (toDevice ? written : read) = true;
      if (!hasSpareRows(alloc))
        describe(buffer, toDevice ? copy.getSource() : copy.getTarget(), isTransposed(alloc),
                 batchesOf(alloc));
    }
    buffer.role = written && read ? rt::BufferRole::inout
                  : written       ? rt::BufferRole::input
                  : read          ? rt::BufferRole::output
                  : zeroed        ? rt::BufferRole::zeroed
                                  : rt::BufferRole::scratch;
    if (!batch.isOne() && isOfBatch(alloc)) {
      buffer.bytes *= uint64_t(batch.count);
      if (buffer.bytesExpr)
        buffer.bytesExpr = rt::SizeExpr::of(rt::SizeExpr::Op::mul, buffer.bytesExpr,
                                            rt::SizeExpr::of(uint64_t(batch.count)));
      if (buffer.dtype)
        buffer.shape.insert(buffer.shape.begin(), batch.count);
      if (!buffer.shapeExprs.empty())
        buffer.shapeExprs.insert(buffer.shapeExprs.begin(), rt::Expr());
    }
    names[alloc] = buffer.name;
    manifest.buffers.push_back(std::move(buffer));
    return success();
  }

  /// Matrices in a buffer whose rows a launch says, where one launch multiplies a batch.
  static int64_t batchesOf(AllocOp alloc) {
    auto batches = alloc->getAttrOfType<IntegerAttr>("blockscale.batches");
    return batches ? batches.getInt() : 1;
  }

  /// Whether the rows that a launch says are innermost.
  static bool isTransposed(AllocOp alloc) {
    return llvm::any_of(alloc->getUsers(), [](Operation *user) {
      auto map = dyn_cast<TensorMapOp>(user);
      return map && isDynamic(map.getMap().getDims().front());
    });
  }

  /// Whether there is room for a number of rows in any case, as where they lie apart: then the
  /// rows that a launch says are not all of the buffer.
  static bool hasSpareRows(AllocOp alloc) {
    auto most = alloc.getCount() ? alloc.getCount().getDefiningOp<arith::MaxUIOp>() : nullptr;
    return most && llvm::any_of(most->getOperands(), [](Value value) {
             return getConstantIntValue(value).value_or(1) > 1;
           });
  }

  /// What a size says of memory: how many rows of how many bytes it has.
  std::pair<rt::Expr, int64_t> rowsOf(Value memory) {
    for (Operation *user : memory.getUsers()) {
      if (auto require = dyn_cast<RequireBytesOp>(user))
        return {exprOf(require.getCount()), int64_t(require.getBytes())};
      if (auto dim = dyn_cast<memref::DimOp>(user); dim && dim.getConstantIndex())
        for (Operation *other : dim->getUsers())
          if (auto size = dyn_cast<SizeOp>(other))
            return {exprOf(size), 0};
    }
    return {};
  }

  /// Whether it is memory of host code's own that holds zeroes and nothing else.
  static bool isZero(Value memory) {
    auto isZeroStore = [](Operation *user) {
      auto store = dyn_cast<memref::StoreOp>(user);
      return store && matchPattern(store.getValueToStore(), m_PosZeroFloat());
    };
    auto alloca = memory.getDefiningOp<memref::AllocaOp>();
    return alloca && alloca.getType().getNumElements() == 1 &&
           llvm::all_of(memory.getUsers(), [&](Operation *user) {
             auto copy = dyn_cast<CopyOp>(user);
             return isZeroStore(user) || (copy && copy.getSource() == memory);
           });
  }

  /// Element type and shape of host memory that is not plain bytes.
  void describe(rt::ManifestBuffer &buffer, Value memory, bool isTransposed, int64_t batches) {
    auto type = dyn_cast<MemRefType>(memory.getType());
    if (!type)
      return;
    if (!type.hasStaticShape()) {
      auto [rows, bytes] = rowsOf(memory);
      bool isBytes = type.getElementType().isInteger(8) && type.getRank() == 1;
      bool isBatch = batches > 1;
      if (!rows || type.getNumDynamicDims() != 1 || !type.isDynamicDim(!isBytes && isBatch))
        return;
      if (isBytes) { // elements are rows of bytes
        buffer.dtype = rt::DType::u8;
        buffer.shape = {0, bytes / batches};
        if (isTransposed)
          std::swap(buffer.shape[0], buffer.shape[1]);
        if (isBatch)
          buffer.shape.insert(buffer.shape.begin(), batches);
      } else {
        SmallVector<int64_t> shape(type.getShape());
        shape[isBatch] = 0;
        describe(buffer, MemRefType::get(shape, type.getElementType()));
      }
      if (buffer.dtype) {
        buffer.shapeExprs.resize(buffer.shape.size());
        buffer.shapeExprs[size_t(isBatch) + isTransposed] = rows;
      }
      return;
    }
    describe(buffer, type);
  }
  static void describe(rt::ManifestBuffer &buffer, MemRefType type) {
    if (type.getElementType().isF32())
      buffer.dtype = rt::DType::f32;
    else if (type.getElementType().isBF16())
      buffer.dtype = rt::DType::bf16;
    else if (type.getElementType().isF16())
      buffer.dtype = rt::DType::f16;
    else
      return;
    buffer.shape.assign(type.getShape().begin(), type.getShape().end());
  }

  /// Whether the value is an f32 argument of the host function, or in one of its
  /// memrefs of rank 0 that nothing writes.
  static bool isArgument(LaunchOp launch, Value value) {
    if (!value.getType().isF32())
      return false;
    if (auto load = value.getDefiningOp<memref::LoadOp>()) {
      value = load.getMemRef();
      if (load.getMemRefType().getRank() != 0 ||
          !llvm::all_of(value.getUsers(), llvm::IsaPred<memref::LoadOp>))
        return false;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner()->getParentOp() ==
                           launch->getParentOfType<FunctionOpInterface>().getOperation();
  }

  /// What the lowering calls the scalar, such as alpha.
  static std::string argumentName(LaunchOp launch, Value value) {
    size_t index = 0;
    for (Value param : launch.getParams()) {
      if (param == value)
        break;
      index += isa<FloatType, IntegerType>(param.getType());
    }
    if (auto names = launch->getAttrOfType<ArrayAttr>("blockscale.scalar_names");
        names && index < names.size() && isa<StringAttr>(names[index]))
      return cast<StringAttr>(names[index]).getValue().str();
    return "scalar" + std::to_string(index);
  }

  FailureOr<rt::ManifestParam> makeParam(LaunchOp launch, Value value, const std::string &scope,
                                         const Batch &batch) {
    rt::ManifestParam param;
    LogicalResult placed = success();
    auto place = [&](Value buffer) {
      auto alloc = buffer.getDefiningOp<AllocOp>();
      if (!alloc || batch.isOne() || !isOfBatch(alloc))
        return;
      param.offset = uint64_t(batch.index) * alloc.getBytes();
      if (!alloc.getCount())
        return;
      if (hasSpareRows(alloc))
        placed = launch.emitOpError("manifest_c9: rows of ? of a batch must lie dense, got ")
                 << param.buffer << " of " << alloc.getBytes() << " bytes a row at least";
      rt::Expr count;
      if (failed(placed) || failed(placed = setExpr(launch, alloc.getCount(), count)) ||
          batch.index == 0)
        return;
      param.offsetExpr =
          rt::SizeExpr::of(rt::SizeExpr::Op::mul, count, rt::SizeExpr::of(param.offset));
    };
    auto bufferOf = [&](Value buffer) {
      auto it = names.find(buffer.getDefiningOp<AllocOp>());
      return it == names.end() ? std::string() : it->second;
    };
    if (auto map = value.getDefiningOp<TensorMapOp>()) {
      param.kind = rt::ManifestParam::Kind::tensorMap;
      param.buffer = bufferOf(map.getBuffer());
      place(map.getBuffer());
      TmaMapAttr attr = map.getMap();
      param.map.type = attr.getType();
      param.map.dims.assign(attr.getDims().begin(), attr.getDims().end());
      auto size = map.getSizes().begin();
      for (auto [i, dim] : llvm::enumerate(attr.getDims()))
        if (isDynamic(dim)) {
          param.mapExprs.dims.resize(attr.getDims().size());
          param.map.dims[i] = 1;
          if (failed(setExpr(launch, *size++, param.mapExprs.dims[i])))
            return failure();
        }
      param.map.strides.assign(attr.getStrides().begin(), attr.getStrides().end());
      for (auto [i, stride] : llvm::enumerate(attr.getStrides()))
        if (isDynamic(stride)) {
          param.mapExprs.strides.resize(attr.getStrides().size());
          param.map.strides[i] = 0;
          if (failed(setExpr(launch, *size++, param.mapExprs.strides[i])))
            return failure();
        }
      param.map.box.assign(attr.getBox().begin(), attr.getBox().end());
      param.map.elementStrides.assign(attr.getElementStrides().begin(),
                                      attr.getElementStrides().end());
      param.map.swizzle = attr.getSwizzle();
      param.map.fill = attr.getFill();
      param.map.l2 = attr.getL2();
    } else if (isa<BufferType>(value.getType())) {
      param.kind = rt::ManifestParam::Kind::buffer;
      param.buffer = bufferOf(value);
      place(value);
    } else {
      param.kind = rt::ManifestParam::Kind::scalar;
      auto constant = value.getDefiningOp<arith::ConstantOp>();
      auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
      auto integer = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
      if (integer && integer.getType().isInteger(32)) {
        param.type = rt::ScalarType::i32;
        param.bits = uint32_t(integer.getInt());
      } else if (number && number.getType().isF32())
        param.bits = rt::scalarBits(number.getValue().convertToFloat());
      else if (rt::Expr expr = value.getType().isInteger(32) ? exprOf(value) : rt::Expr()) {
        param.type = rt::ScalarType::u32;
        param.bitsExpr = expr;
      } else if (isArgument(launch, value))
        param.argument = scope + argumentName(launch, value);
      else
        return launch.emitOpError(
                   "manifest_c2: a scalar parameter must be an f32 or i32 constant "
                   "or an argument of the function, got a value that host code computes"),
               failure();
    }
    if (param.kind != rt::ManifestParam::Kind::scalar && param.buffer.empty())
      return launch.emitOpError(
                 "manifest_c3: a parameter's buffer must be a blockscale.alloc beside "
                 "the launch, got another value"),
             failure();
    if (failed(placed))
      return failure();
    if (param.offset % kBaseAlignment)
      return launch.emitOpError("manifest_c8: a part of a batch must start on a multiple of ")
                 << kBaseAlignment << " bytes, got " << param.offset << " of " << param.buffer,
             failure();
    return param;
  }

  ModuleOp root;
  rt::Manifest manifest;
  llvm::MapVector<Operation *, std::string> sizes;
  llvm::MapVector<Operation *, std::string> names;
};

} // namespace

FailureOr<rt::Manifest> buildManifest(ModuleOp root, facts::Arch arch) {
  return ManifestBuilder(root, arch).build();
}

} // namespace blockscale
