//===- WarpForms.h - what the sizes of an mma.sync kernel depend on -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the rules of a schedule and by its choice, which must not disagree.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_WARPFORMS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_WARPFORMS_H

#include "blockscale/Dialect/Blockscale/IR/WarpPlanning.h"

namespace blockscale {

/// Tokens and rows of each kernel's tile.
Shape3 tileOf(WarpKernel kernel, int64_t chunks);

/// Chunks that a pass of a kernel may have.
llvm::ArrayRef<int64_t> chunksOf(WarpKernel kernel);
/// The same in words, in units of so many.
std::string listDepths(WarpKernel kernel, int64_t unit);

/// What the sizes of planes depend on.
struct PlaneForm {
  Shape3 tile;
  bool expanded;
  ChunkSums sums;
  Activations activations = Activations::chunks;
  Minima minima = Minima::fold;
  int64_t stages = 1;

  bool isTransposed() const { return activations == Activations::transposed; }
  bool isRing() const { return isTransposed() && stages > 1; }
};
int64_t sharedBytesOf(const PlaneForm &form);

/// Names of the chips that kernels of blocks are built for.
std::string listWarpTargets();

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_WARPFORMS_H
