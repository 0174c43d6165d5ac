//===- Passes.td - conversion of host code -----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Apart from the conversions of kernels, because who only wants PTX and a
// manifest has no use for it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_HOST_PASSES_TD
#define BLOCKSCALE_CONVERSION_HOST_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertBlockscaleHostToLLVMPass
    : Pass<"convert-blockscale-host-to-llvm", "::mlir::ModuleOp"> {
  let summary = "device memory, tensor maps, launches and references become runtime calls";
  let description = [{
    Host ops and the problem ops that run on the host, on memrefs, become calls
    of `bsrt_call_*` (Runtime/HostCalls.h). Buffers and tensor maps become i64.
    Everything else is left to upstream passes.

    Rules:
    - host_to_llvm_c1: products have become kernels and launches.
    - host_to_llvm_c2: the operands of our ops are in memory.
    - host_to_llvm_c3: tiles of activations are made by kernels.

    Doc test: test/Conversion/Host/host-to-llvm.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // BLOCKSCALE_CONVERSION_HOST_PASSES_TD
