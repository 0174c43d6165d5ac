//===- BlockAttrs.td - ggml's blocks: encoding, problem, schedule -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose operands hold their scales inside the data, and the schedules of
// the mma.sync kernels that compute them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_BLOCKATTRS_TD
#define BLOCKSCALE_BLOCKATTRS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"

def BlockFormatParam : FactsParam<"BlockFormat", "format of a block">;
class WarpKernelEnumParam<string cppType, string desc>
    : AttrOrTypeParameter<"::blockscale::" # cppType, desc>;

def Blockscale_BlocksAttr : Blockscale_Attr<"Blocks", "blocks",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "encoding of a matrix of bytes that is rows of ggml's blocks";
  let description = [{
    `tensor<18944x2016xi8, #blockscale.blocks<q4_K>>`: 18944 rows of 14 blocks of
    144 bytes, 256 elements each. The shape is in bytes, as the file has them.

    Rules of a tensor type with this encoding:
    - blocks_c1: the shape is a matrix, rows x bytes of a row.
    - blocks_c2: the element type is i8.
    - blocks_c3: a row is a whole number of blocks.
  }];
  let parameters = (ins BlockFormatParam:$format);
  let assemblyFormat = "`<` $format `>`";
}

def Blockscale_BlockProblemAttr : Blockscale_Attr<"BlockProblem", "block_problem"> {
  let summary = "a product of blocks, independent of how operands are held";
  let description = [{
    D[m, n] = the sum over chunks of 32 of k, ascending, in f32, of
    (da * (d * sc)) * sum(q * nibble) + (da * sum(q)) * (-(dmin * min)), where da and
    q are A's chunk, d, dmin, sc and min of B's block. Each term is one product and
    one fma; docs/Q4K.md states it in full. A is [m, k], B is [n, k], D f32 row-major.
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
    BlockFormatParam:$a, BlockFormatParam:$b);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Bytes of one row and of each operand.
    int64_t getARowBytes() const;
    int64_t getBRowBytes() const;
    int64_t getABytes() const { return getM() * getARowBytes(); }
    int64_t getBBytes() const { return getN() * getBRowBytes(); }
    int64_t getOutBytes() const { return getM() * getN() * 4; }
  }];
}

def Blockscale_WarpScheduleAttr : Blockscale_Attr<"WarpSchedule", "warp_schedule"> {
  let summary = "every decision about one mma.sync kernel";
  let description = [{
    `kernel` is how B lies in shared memory and how large the tile is: `raw_nibble`
    (nibbles as in the file, unpacked in registers), `wide` and `narrow` (a byte an
    element). `tile` is tokens x rows x k of one pass: k / 32 chunks. `sums` says how
    the scale and the sum of a chunk of A are held: `two_word` (f32 d, f32 d * sum) or
    `packed` (f16 d, i16 sum). `blocks` is the blocks of one SM that registers and
    shared memory must allow.

    Rules of a problem with this schedule:
    - warp_schedule_c1: the architecture has mma.sync m16n8k32 of s8 and cp.async, and
      kernels are built for it.
    - warp_schedule_c2: `tile` is the kernel's tokens and rows.
    - warp_schedule_c3: planes fit the shared memory of a block.
    - warp_schedule_c4: k of `tile` is 256, a whole block; 128 only for wide.
    - warp_schedule_c5: `blocks` is what registers, shared memory and threads allow, at
      least 1.
    - warp_schedule_c6: `threads` is 256.
  }];
  let parameters = (ins ArchParam:$arch, WarpKernelEnumParam<"WarpKernel", "kernel">:$kernel,
    Shape3Param:$tile, WarpKernelEnumParam<"ChunkSums", "scale and sum of a chunk">:$sums,
    "int64_t":$threads, "int64_t":$blocks);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Chunks of one pass.
    int64_t getChunks() const { return getTile().k / 32; }
  }];
}

#endif // BLOCKSCALE_BLOCKATTRS_TD
