//===- MachineOps.cpp - rules of the machine level ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an instruction takes is asked from Facts; ptxas checks no descriptor.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/IDesc.h"
#include "blockscale/Facts/LayoutsCluster.h"
#include "blockscale/Facts/SmemDesc.h"
#include "blockscale/Facts/Tmem.h"

using namespace mlir;
using namespace blockscale;

facts::Result<uint32_t> IDescAttr::encode(facts::Arch arch, int ctaGroup) const {
  facts::IDesc desc{};
  desc.kind = getKind();
  desc.a = getA();
  desc.b = getB();
  desc.scale = getScale();
  desc.block = int(getBlock());
  desc.m = int(getM());
  desc.n = int(getN());
  desc.k = int(getK());
  desc.sfaId = int(getSfaId());
  desc.sfbId = int(getSfbId());
  desc.ctaGroup = ctaGroup;
  desc.transposeA = getMajorA() == facts::Major::mn;
  desc.transposeB = getMajorB() == facts::Major::mn;
  return facts::encodeIDesc(arch, desc);
}

facts::Result<uint64_t> SmemDescAttr::encode(facts::Arch arch, bool absolute) const {
  facts::SmemDesc desc{};
  desc.absolute = absolute;
  desc.leadingBytes = absolute ? 0 : uint32_t(getLeading());
  desc.strideBytes = uint32_t(getStride());
  desc.swizzle = getSwizzle();
  return facts::encodeSmemDesc(arch, desc);
}

/// Every machine op that a chip may refuse stands in a kernel, which names the chip.
static FailureOr<facts::Arch> archOf(Operation *op) {
  if (auto kernel = op->getParentOfType<KernelOp>())
    return kernel.getArch();
  return op->emitOpError("machine_c1: op must stand in a blockscale.kernel, got none"), failure();
}

LogicalResult MbarrierInitOp::verify() {
  if (int64_t count = int32_t(getCount()); count < 1 || count > int64_t(facts::kMbarrierMaxCount))
    return emitOpError("machine_c2: arrival count must be 1..1048575, got ") << count;
  return success();
}

LogicalResult MbarrierArriveExpectTxOp::verify() {
  if (int64_t bytes = int32_t(getBytes()); bytes < 0 || bytes > facts::kMbarrierMaxTransaction)
    return emitOpError("machine_c3: transaction bytes must be 0..1048575, got ") << bytes;
  return success();
}

static LogicalResult verifyRank(Operation *op, size_t rank) {
  if (rank < 1 || rank > 5)
    return op->emitOpError("machine_c4: a tensor map has 1 to 5 coordinates, got ") << rank;
  return success();
}
LogicalResult CpAsyncBulkTensorLoadOp::verify() {
  return verifyRank(*this, getCoordinates().size());
}
LogicalResult CpAsyncBulkTensorStoreOp::verify() {
  return verifyRank(*this, getCoordinates().size());
}

LogicalResult CpAsyncBulkWaitGroupOp::verify() {
  if (int32_t(getPending()) < 0)
    return emitOpError("machine_c5: pending groups must be at least 0, got ")
           << int32_t(getPending());
  return success();
}

/// A kernel has one cta_group (PTX ISA 9.4, 9.7.18.5).
static LogicalResult verifyPair(Operation *op, bool pair) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (!kernel || pair == (kernel.getSchedule().getCtaGroup() == 2))
    return success();
  return op->emitOpError("machine_c10: cta_group must be the schedule's ")
         << kernel.getSchedule().getCtaGroup() << ", got " << (pair ? 2 : 1);
}

static LogicalResult verifyColumns(Operation *op, int columns, bool pair) {
  FailureOr<facts::Arch> arch = archOf(op);
  if (failed(arch) || failed(verifyPair(op, pair)))
    return failure();
  auto legal = facts::checkTmemAlloc(*arch, columns, facts::needsExclusiveAlloc(columns));
  if (!legal)
    return op->emitOpError(legal.message());
  return success();
}
LogicalResult Tcgen05AllocOp::verify() {
  return verifyColumns(*this, int(getColumns()), getPair());
}
LogicalResult Tcgen05DeallocOp::verify() {
  return verifyColumns(*this, int(getColumns()), getPair());
}
LogicalResult Tcgen05RelinquishAllocPermitOp::verify() { return verifyPair(*this, getPair()); }
LogicalResult Tcgen05CommitOp::verify() { return verifyPair(*this, getPair()); }
LogicalResult Tcgen05CpOp::verify() { return verifyPair(*this, getPair()); }

LogicalResult Tcgen05MmaOp::verify() {
  FailureOr<facts::Arch> arch = archOf(*this);
  if (failed(arch))
    return failure();
  auto word = getIdesc().encode(*arch, getPair() ? 2 : 1);
  if (!word)
    return emitOpError(word.message());
  if (getCollectorB() && !facts::supports(*arch, facts::Feature::collectorB))
    return emitOpError("machine_c11: target of ")
           << StringRef(facts::info(facts::Feature::collectorB).what) << " must have it, got "
           << StringRef(facts::name(*arch));
  return verifyPair(*this, getPair());
}

LogicalResult Tcgen05LdOp::verify() {
  size_t count = getValues().size();
  if (count < 1 || count > 128 || (count & (count - 1)))
    return emitOpError("machine_c6: 32x32b loads 1, 2, 4 … 128 columns, got ") << count;
  return success();
}

LogicalResult SmemDescOp::verify() {
  FailureOr<facts::Arch> arch = archOf(*this);
  if (failed(arch))
    return failure();
  auto word = getDesc().encode(*arch, /*absolute=*/bool(getNext()));
  if (!word)
    return emitOpError(word.message());
  return success();
}

LogicalResult DescAdvanceOp::verify() {
  if (int32_t bytes = int32_t(getBytes()); bytes < 0 || bytes % 16)
    return emitOpError("machine_c7: advance must be a multiple of 16 bytes, got ") << bytes;
  return success();
}

static LogicalResult verifyVector(Operation *op, size_t count) {
  if (count != 1 && count != 2 && count != 4)
    return op->emitOpError("machine_c8: a vector access has 1, 2 or 4 values, got ") << count;
  return success();
}
LogicalResult StSharedOp::verify() { return verifyVector(*this, getValues().size()); }
LogicalResult LdGlobalOp::verify() {
  if (failed(verifyVector(*this, getValues().size())))
    return failure();
  if (!llvm::all_equal(getValues().getTypes()))
    return emitOpError("machine_c8: values of a vector access must have one type, got ")
           << getValues().getTypes();
  return success();
}
