//===- ProblemOps.td - levels 1 and 2: what is to be computed -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PROBLEMOPS_TD
#define BLOCKSCALE_PROBLEMOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"

#endif // BLOCKSCALE_PROBLEMOPS_TD
