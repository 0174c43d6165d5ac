//===- BlockscaleTypes.td - types of all levels -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TYPES_TD
#define BLOCKSCALE_TYPES_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"

class Blockscale_Type<string name, string mnemonic_> : TypeDef<Blockscale_Dialect, name> {
  let mnemonic = mnemonic_;
}

def Blockscale_BufferType : Blockscale_Type<"Buffer", "buffer"> {
  let summary = "memory of the device, by address";
}

def Blockscale_TensorMapType : Blockscale_Type<"TensorMap", "tensor_map"> {
  let summary = "an encoded TMA tensor map (128 bytes)";
}

#endif // BLOCKSCALE_TYPES_TD
