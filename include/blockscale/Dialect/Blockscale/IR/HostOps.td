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
    `blockscale.alloc 34176`, or `blockscale.alloc 192 times %rows`: as many times the bytes.

    Rules:
    - alloc_c1: bytes must be 1 to 2^40
  }];
  let arguments = (ins I64Attr:$bytes, Optional<Index>:$count);
  let results = (outs Res<Blockscale_BufferType, "", [MemAlloc]>:$buffer);
  let assemblyFormat = "$bytes (`times` $count^)? attr-dict";
  let builders = [OpBuilder<(ins "int64_t":$bytes), [{
    build($_builder, $_state, uint64_t(bytes), ::mlir::Value());
  }]>];
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

def Blockscale_SizeOp : Blockscale_Op<"size"> {
  let summary = "names a size that only a launch knows, and checks it";
  let description = [{
    `%m = blockscale.size "m" %rows most 268435456`: the run is refused unless rows is 0 to
    `most`. A manifest has the size by this name, and what follows from it as expressions.

    Rules:
    - size_c1: a name is letters, digits and _, and starts with a letter; most is 0 to 2^40
  }];
  let arguments = (ins StrAttr:$name, Index:$value, I64Attr:$most);
  let results = (outs Index:$result);
  let assemblyFormat = "$name $value `most` $most attr-dict";
  let hasVerifier = 1;
}

def Blockscale_RequireBytesOp : Blockscale_Op<"require_bytes", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "refuses the run where memory has not the bytes that a size gives it";
  let description = [{
    `blockscale.require_bytes "a" %a is 192 times %m : memref<?xi8>`: a type without a size
    does not say it, and whatever a kernel reads or writes lies in a buffer of that size.
  }];
  let arguments = (ins StrAttr:$name, AnyMemRef:$memory, I64Attr:$bytes, Index:$count);
  let assemblyFormat = "$name $memory `is` $bytes `times` $count attr-dict `:` type($memory)";
}

def Blockscale_TensorMapOp : Blockscale_Op<"tensor_map", [Pure]> {
  let summary = "encodes a TMA tensor map over a device buffer";
  let description = [{
    Rules:
    - tensor_map_c2: lists have the lengths that the rank asks for
    - map_c1: the element stride of dimension 0, which the hardware ignores, must be 1
    - map_c2: what the map reaches must lie inside the buffer, where its size is known
    - map_c3: there is one size for each dimension of ?, then one for each stride of ?
    The driver's own rules, tensor_map_cN, are checked when the map is encoded.
  }];
  let arguments = (ins Blockscale_BufferType:$buffer, Blockscale_TmaMapAttr:$map,
    Variadic<Index>:$sizes);
  let results = (outs Blockscale_TensorMapType:$result);
  let assemblyFormat = "$buffer `,` $map (`sizes` `(` $sizes^ `)`)? attr-dict";
  let builders = [OpBuilder<(ins "::mlir::Value":$buffer, "::blockscale::TmaMapAttr":$map), [{
    build($_builder, $_state, buffer, map, ::mlir::ValueRange());
  }]>];
  let hasVerifier = 1;
}

def Blockscale_LaunchOp : Blockscale_Op<"launch", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launches a kernel and waits for it";
  let description = [{
    `blockscale.launch @kernels::@gemm_0 grid [9, 1, 1] block [192, 1, 1]
    cluster [1, 1, 1] shared 226304 (%map_a, %d, %alpha : ...)`. Operands are the
    kernel's parameters in order. `oversized` opts in to more shared memory than
    the ordinary limit of a block (sm_107a). An extent of the grid may be a value, `grid
    [%ctas, 1, 1]`; a grid of no CTA launches nothing.

    Rules, checked where the symbol is a `blockscale.kernel`; a program whose kernels
    are PTX already has none to check:
    - launch_c1: grid, block and cluster must have three extents
    - launch_c2: block must be the kernel's threads, cluster one CTA, or as many as split the
      k of a `blockscale.wgmma_kernel`
    - launch_c3: shared bytes must be the kernel's, oversized where a chip wants it
    - launch_c4: parameters must have the kernel's types
    - launch_c5: grid must be the smaller of the problem's tiles and the schedule's ctas
    - launch_c6: parameters must be the maps of A, B, SFA, SFB and D (with plain_store D's
      buffer) of the kernel's problem, whatever their L2 promotion; then the scales of a quantised
      D, bias, C, alpha_rows, alpha_columns, alpha, beta, global or norm_const
    - launch_c7: buffers of D, its scales, bias, C and the factors of rows and columns must have the problem's
      bytes, where they are known
    - launch_c8: a kernel at the machine level must have the shared bytes and the columns of
      tensor memory that its schedule takes
    - launch_c9: of a `blockscale.warp_kernel`, grid must be the problem's token tiles and row
      tiles, buffers those of A, B and D, and the number of tokens at most m; of a
      `blockscale.wgmma_kernel`, grid must be any number of blocks in one dimension, or of a
      split k one cluster for each tile, maps those of the plan (launch_c6) and the buffer
      that of D
    - launch_c10: of a `blockscale.quantize_kernel`, grid must be what the problem's blocks
      take, buffers the problem's, and the number of rows at most the problem's
    - launch_c11: the buffer of a pitched operand has at least 128 KiB, where it is known:
      drivers may fault on maps with gaps between rows of smaller ones
    - launch_c12: where m of a `blockscale.kernel` is ?, the grid's first extent is a value, the last
      parameter is m, the maps of A and D have the same rows, and that of A's scales has their
      128th part, rounded up; elsewhere the grid is known
  }];
  let arguments = (ins SymbolRefAttr:$kernel,
    DenseI64ArrayAttr:$grid, DenseI64ArrayAttr:$block, DenseI64ArrayAttr:$cluster,
    I64Attr:$shared_bytes, UnitAttr:$oversized,
    Variadic<AnyTypeOf<[Blockscale_TensorMapType, Blockscale_BufferType, F32, I32]>>:$params,
    Variadic<Index>:$grid_sizes);
  let builders = [OpBuilder<(ins "::mlir::SymbolRefAttr":$kernel, "::llvm::ArrayRef<int64_t>":$grid,
      "::llvm::ArrayRef<int64_t>":$block, "::llvm::ArrayRef<int64_t>":$cluster,
      "int64_t":$shared_bytes, "bool":$oversized, "::mlir::ValueRange":$params), [{
    build($_builder, $_state, kernel, grid, block, cluster, uint64_t(shared_bytes), oversized, params,
          ::mlir::ValueRange());
  }]>];
  let assemblyFormat = [{
    $kernel `grid` custom<DynamicIndexList>($grid_sizes, $grid) `block` $block `cluster` $cluster `shared` $shared_bytes
    (`oversized` $oversized^)? `(` $params `:` type($params) `)` attr-dict
  }];
}

#endif // BLOCKSCALE_HOSTOPS_TD
