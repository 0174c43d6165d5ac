//===- MachineOps.td - level 4: one op per PTX instruction -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_MACHINEOPS_TD
#define BLOCKSCALE_MACHINEOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"

#endif // BLOCKSCALE_MACHINEOPS_TD
