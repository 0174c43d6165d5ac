//===- BlockscaleDialect.td - the dialect itself -----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TD
#define BLOCKSCALE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Blockscale_Dialect : Dialect {
  let name = "blockscale";
  let cppNamespace = "::blockscale";
  let summary = "block-scaled matrix products for NVIDIA tensor cores";
  let description = [{
    Four levels, each legal input of the tools: problem (tensors or memrefs),
    schedule (the same ops with `#blockscale.schedule`), kernel (warp roles,
    pipelines, plans of shared and tensor memory) and machine (one op per PTX
    instruction, descriptors still decoded).

    Rule of every op:
    - attributes_c1: attributes are those of the op, or have a dialect's prefix: one that is
      written wrongly would be ignored.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect",
    "::mlir::func::FuncDialect"
  ];
}

/// attributes_c1.
def Blockscale_KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::blockscale";
}

class Blockscale_Op<string mnemonic, list<Trait> traits = []>
    : Op<Blockscale_Dialect, mnemonic, !listconcat(traits, [Blockscale_KnownAttributes])>;

#endif // BLOCKSCALE_DIALECT_TD
