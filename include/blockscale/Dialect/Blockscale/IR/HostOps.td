//===- HostOps.td - level 3, host side: device memory, maps, launches -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HOSTOPS_TD
#define BLOCKSCALE_HOSTOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"

include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"

def Blockscale_AllocOp : Blockscale_Op<"alloc"> {
  let summary = "allocates memory on the device";
  let description = [{
    Rules:
    - alloc_c1: bytes must be 1 to 2^40
  }];
  let arguments = (ins I64Attr:$bytes);
  let results = (outs Res<Blockscale_BufferType, "", [MemAlloc]>:$buffer);
  let assemblyFormat = "$bytes attr-dict";
  let hasVerifier = 1;
}

def Blockscale_FreeOp : Blockscale_Op<"free"> {
  let summary = "releases memory of the device";
  let arguments = (ins Arg<Blockscale_BufferType, "", [MemFree]>:$buffer);
  let assemblyFormat = "$buffer attr-dict";
}

def Blockscale_CopyOp : Blockscale_Op<"copy"> {
  let summary = "copies bytes between host and device";
  let description = [{
    The whole memref is copied.

    Rules:
    - copy_c1: one side is a memref, the other a device buffer
    - copy_c2: the memref is contiguous, of whole bytes an element
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[AnyMemRef, Blockscale_BufferType]>, "", [MemRead]>:$source,
    Arg<AnyTypeOf<[AnyMemRef, Blockscale_BufferType]>, "", [MemWrite]>:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `to` type($target)";
  let hasVerifier = 1;
}

def Blockscale_TensorMapOp : Blockscale_Op<"tensor_map", [Pure]> {
  let summary = "encodes a TMA tensor map over a device buffer";
  let description = [{
    Rules:
    - tensor_map_c2: lists have the lengths that the rank asks for
    - map_c1: the element stride of dimension 0, which the hardware ignores, must be 1
    - map_c2: what the map reaches must lie inside the buffer, where its size is known
    The driver's own rules, tensor_map_cN, are checked when the map is encoded.
  }];
  let arguments = (ins Blockscale_BufferType:$buffer, Blockscale_TmaMapAttr:$map);
  let results = (outs Blockscale_TensorMapType:$result);
  let assemblyFormat = "$buffer `,` $map attr-dict";
  let hasVerifier = 1;
}

def Blockscale_LaunchOp : Blockscale_Op<"launch", [
    MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launches a kernel and waits for it";
  let description = [{
    `blockscale.launch @kernels::@gemm_0 grid [9, 1, 1] block [192, 1, 1]
    cluster [1, 1, 1] shared 226304 (%map_a, %d, %alpha : ...)`. Operands are the
    kernel's parameters in order. `oversized` opts in to more shared memory than
    the ordinary limit of a block (sm_107a).

    Rules, checked where the symbol is a `blockscale.kernel`; a program whose kernels
    are PTX already has none to check:
    - launch_c1: grid, block and cluster must have three extents
    - launch_c2: block must be the kernel's threads, cluster one CTA, or as many as split the
      k of a `blockscale.wgmma_kernel`
    - launch_c3: shared bytes must be the kernel's, oversized where a chip wants it
    - launch_c4: parameters must have the kernel's types
    - launch_c5: grid must be the smaller of the problem's tiles and the schedule's ctas
    - launch_c6: parameters must be the maps of A, B, SFA, SFB and D (with plain_store D's
      buffer) of the kernel's problem, whatever their L2 promotion; then bias, C, alpha, beta
    - launch_c7: buffers of D, bias and C must have the problem's bytes, where they are known
    - launch_c8: a kernel at the machine level must have the shared bytes and the columns of
      tensor memory that its schedule takes
    - launch_c9: of a `blockscale.warp_kernel`, grid must be the problem's token tiles and row
      tiles, buffers those of A, B and D, and the number of tokens at most m; of a
      `blockscale.wgmma_kernel`, grid must be any number of blocks in one dimension, or of a
      split k one cluster for each tile, maps those of the plan (launch_c6) and the buffer
      that of D
    - launch_c10: of a `blockscale.quantize_kernel`, grid must be what the problem's blocks
      take, buffers those of source and result, and the number of rows at most the problem's
    - launch_c11: the buffer of a pitched operand has at least 128 KiB, where it is known:
      drivers may fault on maps with gaps between rows of smaller ones
  }];
  let arguments = (ins SymbolRefAttr:$kernel,
    DenseI64ArrayAttr:$grid, DenseI64ArrayAttr:$block, DenseI64ArrayAttr:$cluster,
    I64Attr:$shared_bytes, UnitAttr:$oversized,
    Variadic<AnyTypeOf<[Blockscale_TensorMapType, Blockscale_BufferType, F32, I32]>>:$params);
  let assemblyFormat = [{
    $kernel `grid` $grid `block` $block `cluster` $cluster `shared` $shared_bytes
    (`oversized` $oversized^)? `(` $params `:` type($params) `)` attr-dict
  }];
}

#endif // BLOCKSCALE_HOSTOPS_TD
