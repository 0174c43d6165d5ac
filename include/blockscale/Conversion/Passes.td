//===- Passes.td - conversions between the levels ----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_PASSES_TD
#define BLOCKSCALE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def BlockscaleLowerGemmToKernelPass : Pass<"blockscale-lower-gemm-to-kernel", "::mlir::ModuleOp"> {
  let summary = "level 2 to 3: one kernel and its host code for each scheduled gemm";
  let description = [{
    Every `blockscale.gemm` on packed memrefs with a schedule becomes a
    `blockscale.kernel` in module `@kernels`, and host ops that allocate, copy,
    encode tensor maps and launch. A scheduled `blockscale.quantize_chunks` becomes a
    `blockscale.quantize_kernel` and its host ops. Doc test: test/Conversion/gemm-to-kernel.mlir.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect"];
}

def BlockscaleLowerKernelToMachinePass
    : Pass<"blockscale-lower-kernel-to-machine", "::mlir::ModuleOp"> {
  let summary = "level 3 to 4: warp roles, pipelines and plans become instructions";
  let description = [{
    Warp roles become branches, waits become loops of try_wait, plans become
    addresses. Kernels that are at the machine level already stay as they are.
    Doc test: test/Conversion/kernel-to-machine.mlir.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def BlockscaleLowerWarpKernelToMachinePass
    : Pass<"blockscale-lower-warp-kernel-to-machine", "::mlir::ModuleOp"> {
  let summary = "level 3 to 4: planes and fragments become addresses and mma.sync";
  let description = [{
    Planes become addresses, fragments scalars, barriers of planes bar.sync; addresses
    that change from pass to pass are carried by the loop. Kernels that are at the
    machine level already stay as they are.
    Doc test: test/Conversion/warp-kernel-to-machine.mlir.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def BlockscaleLowerWgmmaKernelToMachinePass
    : Pass<"blockscale-lower-wgmma-kernel-to-machine", "::mlir::ModuleOp"> {
  let summary = "level 3 to 4: rings and roles around wgmma become instructions";
  let description = [{
    Rings become addresses and mbarriers, roles branches with registers of their own,
    runs of weights f16 arithmetic and wgmma. Kernels that are at the machine level
    already stay as they are. Doc test: test/Conversion/wgmma-kernel.mlir.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def BlockscaleLowerQuantizeKernelToMachinePass
    : Pass<"blockscale-lower-quantize-kernel-to-machine", "::mlir::ModuleOp"> {
  let summary = "level 3 to 4: vectors of kernels that quantise become a lane's scalars";
  let description = [{
    Blocks get their owners by shuffles, chunks meet in shared memory. Kernels that are
    at the machine level already stay as they are.
    Doc test: test/Conversion/quantize-kernel-to-machine.mlir.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def ConvertBlockscaleToNVVMPass : Pass<"convert-blockscale-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "level 4 to 5: machine ops become NVVM and LLVM ops";
  let description = [{
    Descriptors become integers. Inline PTX is used only for what LLVM 22 lacks.
    Doc test: test/Conversion/blockscale-to-nvvm.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

#endif // BLOCKSCALE_CONVERSION_PASSES_TD
