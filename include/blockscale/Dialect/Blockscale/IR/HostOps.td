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

def Blockscale_AllocOp : Blockscale_Op<"alloc"> {
  let summary = "allocates memory on the device";
  let arguments = (ins I64Attr:$bytes);
  let results = (outs Blockscale_BufferType:$buffer);
  let assemblyFormat = "$bytes attr-dict";
}

def Blockscale_FreeOp : Blockscale_Op<"free"> {
  let summary = "releases memory of the device";
  let arguments = (ins Blockscale_BufferType:$buffer);
  let assemblyFormat = "$buffer attr-dict";
}

def Blockscale_CopyOp : Blockscale_Op<"copy"> {
  let summary = "copies bytes between host and device";
  let description = [{
    One side is a contiguous memref, the other a device buffer; the whole memref
    is copied.
  }];
  let arguments = (ins AnyTypeOf<[AnyMemRef, Blockscale_BufferType]>:$source,
                       AnyTypeOf<[AnyMemRef, Blockscale_BufferType]>:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `to` type($target)";
}

def Blockscale_TensorMapOp : Blockscale_Op<"tensor_map"> {
  let summary = "encodes a TMA tensor map over a device buffer";
  let arguments = (ins Blockscale_BufferType:$buffer, Blockscale_TmaMapAttr:$map);
  let results = (outs Blockscale_TensorMapType:$result);
  let assemblyFormat = "$buffer `,` $map attr-dict";
}

def Blockscale_LaunchOp : Blockscale_Op<"launch"> {
  let summary = "launches a kernel and waits for it";
  let description = [{
    `blockscale.launch @kernels::@gemm_0 grid [9, 1, 1] block [192, 1, 1]
    cluster [1, 1, 1] shared 226304 (%map_a, %d, %alpha : ...)`. Operands are the
    kernel's parameters in order. `oversized` opts in to more shared memory than
    the ordinary limit of a block (sm_107a).
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
