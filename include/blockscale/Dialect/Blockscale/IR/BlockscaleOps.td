//===- BlockscaleOps.td - all ops, by level ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_OPS_TD
#define BLOCKSCALE_OPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "blockscale/Dialect/Blockscale/IR/ProblemOps.td"
include "blockscale/Dialect/Blockscale/IR/BlockOps.td"
include "blockscale/Dialect/Blockscale/IR/HostOps.td"
include "blockscale/Dialect/Blockscale/IR/KernelOps.td"
include "blockscale/Dialect/Blockscale/IR/MachineOps.td"
include "blockscale/Dialect/Blockscale/IR/QuantizeAttrs.td"
include "blockscale/Dialect/Blockscale/IR/QuantizeKernelOps.td"
include "blockscale/Dialect/Blockscale/IR/WarpKernelOps.td"
include "blockscale/Dialect/Blockscale/IR/WgmmaKernelOps.td"

#endif // BLOCKSCALE_OPS_TD
