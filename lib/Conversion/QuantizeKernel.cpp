//===- QuantizeKernel.cpp - builds kernels that quantise, and launches ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/QuantizeKernel.h"

#include "QuantizeEncode.h"

using namespace mlir;
using namespace blockscale;

QuantizeKernelOp blockscale::buildQuantizeKernel(OpBuilder &b, Location loc, StringRef name,
                                                 QuantizeProblemAttr problem,
                                                 QuantizeScheduleAttr schedule) {
  SmallVector<Type> params(problem.getBlocked() ? 3 : 2, BufferType::get(b.getContext()));
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
    encodeBlocks(b, loc, kernel, {x, entry->getArgument(1), entry->getArgument(2), rows});
  }
  blockscale::ReturnOp::create(b, loc);
  return kernel;
}

void blockscale::buildQuantizeLaunch(OpBuilder &b, Location loc, const QuantizeMemory &memory,
                                     QuantizeKernelOp kernel, SymbolRefAttr symbol) {
  QuantizeProblemAttr problem = kernel.getProblem();
  auto allocate = [&](StringRef name, int64_t bytes) -> Value {
    auto op = AllocOp::create(b, loc, bytes);
    op->setAttr("blockscale.name", b.getStringAttr(name)); // what the manifest calls it
    return op;
  };
  Value x = allocate("x", problem.getSourceBytes());
  CopyOp::create(b, loc, memory.source, x);
  SmallVector<Value> params{x, allocate("q", problem.getTargetBytes())};
  if (memory.scales)
    params.push_back(allocate("scales", problem.getScaleBytes()));
  SmallVector<Value> buffers = params;
  params.push_back(arith::ConstantIntOp::create(b, loc, problem.getRows(), /*width=*/32));
  LaunchOp::create(b, loc, symbol, ArrayRef<int64_t>{QuantizeShape(problem).ctas, 1, 1},
                   ArrayRef<int64_t>{int64_t(kernel.getThreads()), 1, 1},
                   ArrayRef<int64_t>{1, 1, 1}, kernel.getSharedBytes(), /*oversized=*/false,
                   params);
  CopyOp::create(b, loc, params[1], memory.target);
  if (memory.scales)
    CopyOp::create(b, loc, params[2], memory.scales);
  for (Value buffer : llvm::reverse(buffers))
    FreeOp::create(b, loc, buffer);
}
