//===- BuildManifest.cpp - launches of host code as a manifest ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same ops become runtime calls, so that grid, bytes and maps exist once.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/BuildManifest.h"

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

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
    for (LaunchOp launch : launches)
      if (failed(add(launch, /*prefix=*/launches.size() > 1)))
        return failure();
    return manifest;
  }

private:
  /// A manifest is a list of launches: what host code decides or computes between
  /// them cannot be said.
  LogicalResult checkHost(ArrayRef<LaunchOp> launches) {
    llvm::SmallPtrSet<Operation *, 4> functions;
    for (LaunchOp launch : launches) {
      auto function = dyn_cast<FunctionOpInterface>(launch->getParentOp());
      if (!function)
        return launch.emitOpError("manifest_c4: a launch must stand in the body of a function, got "
                                  "one under host control flow, '")
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
      return isa<BufferType>(copy.getSource().getType()) && failed(checkResult(copy.getTarget()))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return failure(copies.wasInterrupted());
  }

  /// Host memory that a kernel's result is copied to is returned, and that is all.
  static LogicalResult checkResult(Value memory) {
    for (Operation *user : memory.getUsers()) {
      auto copy = dyn_cast<CopyOp>(user);
      if ((copy && copy.getTarget() == memory) || isa<func::ReturnOp, memref::DeallocOp>(user))
        continue;
      if (auto cast = dyn_cast<memref::CastOp>(user)) {
        if (failed(checkResult(cast)))
          return failure();
        continue;
      }
      return user->emitOpError("manifest_c6: what a kernel writes must only be returned, got a use "
                               "by '")
             << user->getName() << "'";
    }
    return success();
  }

  LogicalResult add(LaunchOp launch, bool prefix) {
    rt::ManifestKernel kernel;
    kernel.name = launch.getKernel().getLeafReference().getValue().str();
    auto dims = [](ArrayRef<int64_t> from, std::array<uint32_t, 3> &to) {
      for (size_t i = 0; i < to.size() && i < from.size(); ++i)
        to[i] = uint32_t(from[i]);
    };
    dims(launch.getGrid(), kernel.grid);
    dims(launch.getBlock(), kernel.block);
    dims(launch.getCluster(), kernel.cluster);
    kernel.sharedBytes = launch.getSharedBytes();
    kernel.sharedMode =
        launch.getOversized() ? rt::SharedMode::oversized : rt::SharedMode::standard;
    std::string scope = prefix ? kernel.name + "." : std::string();
    // Buffers in the order of their allocation, which is that of the arguments.
    for (auto alloc : launch->getBlock()->getOps<AllocOp>())
      if (isUsedBy(alloc, launch))
        addBuffer(alloc, scope);
    for (Value value : launch.getParams()) {
      FailureOr<rt::ManifestParam> param = makeParam(launch, value, scope);
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

  void addBuffer(AllocOp alloc, const std::string &scope) {
    if (names.contains(alloc))
      return;
    rt::ManifestBuffer buffer;
    auto name = alloc->getAttrOfType<StringAttr>("blockscale.name");
    buffer.name = scope + (name ? name.getValue().str() : "buffer" + std::to_string(names.size()));
    buffer.bytes = uint64_t(alloc.getBytes());
    bool written = false, read = false;
    for (Operation *user : alloc->getUsers()) {
      auto copy = dyn_cast<CopyOp>(user);
      if (!copy)
        continue;
      bool toDevice = copy.getTarget() == alloc.getBuffer();
      (toDevice ? written : read) = true;
      describe(buffer, toDevice ? copy.getSource() : copy.getTarget());
    }
    buffer.role = written && read ? rt::BufferRole::inout
                  : written       ? rt::BufferRole::input
                  : read          ? rt::BufferRole::output
                                  : rt::BufferRole::scratch;
    names[alloc] = buffer.name;
    manifest.buffers.push_back(std::move(buffer));
  }

  /// Element type and shape of host memory that is not plain bytes.
  static void describe(rt::ManifestBuffer &buffer, Value memory) {
    auto type = dyn_cast<MemRefType>(memory.getType());
    if (!type || !type.hasStaticShape())
      return;
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
    return argument && argument.getOwner()->isEntryBlock() &&
           argument.getOwner() == launch->getBlock();
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

  FailureOr<rt::ManifestParam> makeParam(LaunchOp launch, Value value, const std::string &scope) {
    rt::ManifestParam param;
    auto bufferOf = [&](Value buffer) {
      auto it = names.find(buffer.getDefiningOp<AllocOp>());
      return it == names.end() ? std::string() : it->second;
    };
    if (auto map = value.getDefiningOp<TensorMapOp>()) {
      param.kind = rt::ManifestParam::Kind::tensorMap;
      param.buffer = bufferOf(map.getBuffer());
      TmaMapAttr attr = map.getMap();
      param.map.type = attr.getType();
      param.map.dims.assign(attr.getDims().begin(), attr.getDims().end());
      param.map.strides.assign(attr.getStrides().begin(), attr.getStrides().end());
      param.map.box.assign(attr.getBox().begin(), attr.getBox().end());
      param.map.elementStrides.assign(attr.getElementStrides().begin(),
                                      attr.getElementStrides().end());
      param.map.swizzle = attr.getSwizzle();
      param.map.fill = attr.getFill();
      param.map.l2 = attr.getL2();
    } else if (isa<BufferType>(value.getType())) {
      param.kind = rt::ManifestParam::Kind::buffer;
      param.buffer = bufferOf(value);
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
      else if (isArgument(launch, value))
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
    return param;
  }

  ModuleOp root;
  rt::Manifest manifest;
  llvm::MapVector<Operation *, std::string> names;
};

} // namespace

FailureOr<rt::Manifest> buildManifest(ModuleOp root, facts::Arch arch) {
  return ManifestBuilder(root, arch).build();
}

} // namespace blockscale
