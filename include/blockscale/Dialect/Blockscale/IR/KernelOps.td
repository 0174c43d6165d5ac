//===- KernelOps.td - level 3: warp roles, pipelines, plans -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_KERNELOPS_TD
#define BLOCKSCALE_KERNELOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"

#endif // BLOCKSCALE_KERNELOPS_TD
