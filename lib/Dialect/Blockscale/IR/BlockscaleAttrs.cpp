//===- BlockscaleAttrs.cpp - sizes and rules of attributes ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Facts/OperandTile.h"
#include "blockscale/Facts/ScaleTile.h"

using namespace mlir;
using namespace blockscale;
using facts::ScaleFormat;
using facts::ScaleLayout;

static int64_t scaleBytes(int64_t rows, int64_t cols, ScaleLayout layout) {
  return layout == ScaleLayout::tiled ? facts::scaleTileBytes(rows, cols) : rows * cols;
}

int64_t ScaleMatrixAttr::getBytes() const {
  return isDynamic(getRows()) ? kDynamicExtent
                              : getBatches() * scaleBytes(getRows(), getCols(), getLayout());
}

int64_t BlockedAttr::getElementBytes() const {
  if (isDynamic(getRows()))
    return kDynamicExtent;
  return facts::packedBytes(getElement(), getRows() * getK());
}
int64_t BlockedAttr::getScaleBytes() const {
  if (isDynamic(getRows()))
    return kDynamicExtent;
  return scaleBytes(getRows(), getK() / getBlock(), getLayout());
}

ProblemAttr ProblemAttr::withM(int64_t m) const {
  return get(getContext(), m, getN(), getK(), getA(), getB(), getScale(), getBlock(), getSfa(),
             getSfb(), getOut(), getMajorA(), getMajorB(), getPitchA(), getPitchB(), getQuantized(),
             getGate(), getBatches(), getSharedB());
}
ProblemAttr ProblemAttr::withBatches(int64_t batches, bool sharesB) const {
  return get(getContext(), getM(), getN(), getK(), getA(), getB(), getScale(), getBlock(), getSfa(),
             getSfb(), getOut(), getMajorA(), getMajorB(), getPitchA(), getPitchB(), getQuantized(),
             getGate(), batches, sharesB);
}

BlockedAttr ProblemAttr::getOutBlocked() const {
  QuantizedAttr quantized = getQuantized();
  if (!quantized)
    return nullptr;
  return BlockedAttr::get(getContext(), getM(), getOutColumns(), getOut(), quantized.getScale(),
                          quantized.getBlock(), quantized.getLayout());
}

int64_t ProblemAttr::getRowPitchA() const {
  if (hasDynamicM() && getMajorA() == facts::Major::mn && !getPitchA())
    return kDynamicExtent;
  return getPitchA() ? getPitchA() : facts::operandPitch(getA(), getMajorA(), getM(), getK());
}
int64_t ProblemAttr::getRowPitchB() const {
  return getPitchB() ? getPitchB() : facts::operandPitch(getB(), getMajorB(), getN(), getK());
}
int64_t ProblemAttr::getABytes() const {
  if (hasDynamicM())
    return kDynamicExtent;
  if (getPitchA())
    return getBatches() * (getMajorA() == facts::Major::k ? getM() : getK()) * getPitchA();
  return getBatches() * facts::packedBytes(getA(), getM() * getK());
}
int64_t ProblemAttr::getBBytes() const {
  if (getPitchB())
    return getBatchesOfB() * (getMajorB() == facts::Major::k ? getN() : getK()) * getPitchB();
  return getBatchesOfB() * facts::packedBytes(getB(), getN() * getK());
}
int64_t ProblemAttr::getSfaBytes() const {
  return hasDynamicM() ? kDynamicExtent
                       : getBatches() * scaleBytes(getM(), getScalesPerRow(), getSfa());
}
int64_t ProblemAttr::getSfbBytes() const {
  return getBatchesOfB() * scaleBytes(getN(), getScalesPerRow(), getSfb());
}
int64_t ProblemAttr::getOutBytes() const {
  return hasDynamicM() ? kDynamicExtent
                       : getBatches() * facts::packedBytes(getOut(), getM() * getOutColumns());
}

LogicalResult ScalesAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != 2 && shape.size() != 3)
    return emitError() << "scales_c1: scale tensor must have rank 2 (rows x scales per row) or 3 "
                          "(a batch of them), got rank "
                       << shape.size();
  if (elementType.isInteger(8) ||
      (isa<Float8E8M0FNUType>(elementType) && getFormat() == ScaleFormat::ue8m0) ||
      (isa<Float8E4M3FNType>(elementType) && getFormat() == ScaleFormat::ue4m3))
    return success();
  InFlightDiagnostic error = emitError() << "scales_c2: elements of a " << facts::name(getFormat())
                                         << " scale tensor must be i8";
  if (getFormat() == ScaleFormat::ue8m0)
    error << " or f8E8M0FNU";
  if (getFormat() == ScaleFormat::ue4m3)
    error << " or f8E4M3FN";
  return error << ", got " << elementType;
}

LogicalResult ActivationAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                     facts::Activation value) {
  if (value != facts::Activation::none)
    return success();
  return emitError() << "gemm_c29: activation must be relu, gelu, gelu_tanh or silu, got none";
}

LogicalResult GateAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               facts::Activation function, int64_t interleave) {
  if (function == facts::Activation::none)
    return emitError() << "gate_c1: function must be relu, gelu, gelu_tanh or silu, got none";
  if (interleave != kGateInterleave)
    return emitError() << "gate_c2: interleave must be " << kGateInterleave << ", got "
                       << interleave;
  return success();
}
