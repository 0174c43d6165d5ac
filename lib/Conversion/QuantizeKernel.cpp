//===- QuantizeKernel.cpp - builds kernels that quantise, and launches ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/QuantizeKernel.h"

#include "QuantizeEncode.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace blockscale;

static EncodeOperands operandsOf(QuantizeProblemAttr problem, Value values, Block &entry) {
  EncodeOperands operands{values, {}, {}, entry.getArguments().back(), {}, {}};
  for (auto [buffer, argument] : llvm::zip(problem.getBuffers(), entry.getArguments()))
    if (buffer.first == "target")
      operands.target = argument;
    else if (buffer.first == "scales")
      operands.scales = argument;
    else if (buffer.first == "amax")
      operands.amax = argument;
    else if (buffer.first == "global")
      operands.global = argument;
  return operands;
}

QuantizeKernelOp blockscale::buildQuantizeKernel(OpBuilder &b, Location loc, StringRef name,
                                                 QuantizeProblemAttr problem,
                                                 QuantizeScheduleAttr schedule) {
  SmallVector<Type> params(problem.getBuffers().size(), BufferType::get(b.getContext()));
  params.push_back(b.getI32Type());
  auto type = b.getFunctionType(params, {});
  auto kernel = QuantizeKernelOp::create(b, loc, name, type, /*arg_attrs=*/ArrayAttr(),
                                         /*res_attrs=*/ArrayAttr(), problem, schedule,
                                         schedule.getThreads(), planQuantizeShared(problem));
  OpBuilder::InsertionGuard guard(b);
  Block *entry = b.createBlock(&kernel.getBody());
  for (Type input : type.getInputs())
    entry->addArgument(input, loc);
  Value rows = entry->getArguments().back();
  QuantizeShape shape(problem);
  Value some = HasBlocksOp::create(b, loc, rows);
  auto branch = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard inBranch(b);
    b.setInsertionPointToStart(branch.thenBlock());
    auto values = VectorType::get({shape.steps, shape.elements}, b.getF32Type());
    Value x = LoadBlocksOp::create(b, loc, values, entry->getArgument(0), rows);
    if (isa<AmaxAttr>(problem.getTarget())) {
      Value amax = FiniteAmaxOp::create(b, loc, b.getF32Type(), x);
      StoreAmaxOp::create(b, loc, amax, entry->getArgument(1));
    } else {
      encodeBlocks(b, loc, kernel, operandsOf(problem, x, *entry));
    }
  }
  blockscale::ReturnOp::create(b, loc);
  return kernel;
}

static void buildLaunch(OpBuilder &b, Location loc, const QuantizeLaunch &launch,
                        ArrayRef<Value> buffers) {
  QuantizeKernelOp kernel = launch.kernel;
  SmallVector<Value> params(buffers);
  params.push_back(
      arith::ConstantIntOp::create(b, loc, kernel.getProblem().getRows(), /*width=*/32));
  LaunchOp::create(
      b, loc, launch.symbol, ArrayRef<int64_t>{QuantizeShape(kernel.getProblem()).ctas, 1, 1},
      ArrayRef<int64_t>{int64_t(kernel.getThreads()), 1, 1}, ArrayRef<int64_t>{1, 1, 1},
      kernel.getSharedBytes(), /*oversized=*/false, params);
}

void blockscale::buildQuantizeLaunch(OpBuilder &b, Location loc, const QuantizeMemory &memory,
                                     QuantizeLaunch launch, QuantizeLaunch amax) {
  QuantizeProblemAttr problem = launch.kernel.getProblem();
  SmallVector<Value> buffers;
  llvm::StringMap<Value> byName;
  auto upload = [&](Value host, StringRef name) { CopyOp::create(b, loc, host, byName[name]); };
  for (auto [name, bytes] : problem.getBuffers()) {
    auto op = AllocOp::create(b, loc, bytes);
    // What the manifest calls it.
    StringRef called = name == "source" ? "x" : name == "target" ? "q" : name;
    op->setAttr("blockscale.name", b.getStringAttr(called));
    buffers.push_back(op);
    byName[name] = op;
    if (name == "source")
      upload(memory.source, name);
  }
  if (problem.getGlobal() == GlobalScale::given)
    upload(memory.global, "global");
  if (problem.getGlobal() == GlobalScale::computed) {
    // Zeroed, as the manifest says, too.
    Value zeroes = memref::AllocaOp::create(b, loc, MemRefType::get({}, b.getF32Type()));
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    memref::StoreOp::create(b, loc, zero, zeroes, ValueRange{});
    upload(zeroes, "amax");
    buildLaunch(b, loc, amax, {byName["source"], byName["amax"]});
  }
  buildLaunch(b, loc, launch, buffers);
  CopyOp::create(b, loc, byName["target"], memory.target);
  if (memory.scales)
    CopyOp::create(b, loc, byName["scales"], memory.scales);
  if (problem.getGlobal() == GlobalScale::computed)
    CopyOp::create(b, loc, byName["global"], memory.global);
  for (Value buffer : llvm::reverse(buffers))
    FreeOp::create(b, loc, buffer);
}
