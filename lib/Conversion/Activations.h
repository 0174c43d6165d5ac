//===- Activations.h - functions of an epilogue in instructions -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_ACTIVATIONS_H
#define BLOCKSCALE_LIB_CONVERSION_ACTIVATIONS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Facts/Activation.h"

namespace blockscale {

/// The function of an f32 within facts::ActivationInfo::error, at the machine level. Of
/// infinities and NaN it is what facts::activate says.
mlir::Value emitActivation(mlir::OpBuilder &builder, mlir::Location loc, facts::Activation function,
                           mlir::Value x);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_ACTIVATIONS_H
