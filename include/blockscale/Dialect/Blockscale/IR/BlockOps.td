//===- BlockOps.td - levels 1 and 2: work on ggml's blocks -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_BLOCKOPS_TD
#define BLOCKSCALE_BLOCKOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockAttrs.td"
include "blockscale/Dialect/Blockscale/IR/QuantizeAttrs.td"
include "blockscale/Dialect/Blockscale/IR/ProblemOps.td"

def Blockscale_BlockBytes : AnyTypeOf<[RankedTensorOf<[I8]>, MemRefRankOf<[I8], [1]>],
    "tensor of blocks or packed bytes">;

def Blockscale_QuantizeChunksOp : Blockscale_ProblemOp<"quantize_chunks"> {
  let summary = "quantises activations to chunks of 32 signed bytes";
  let description = [{
    `%a = blockscale.quantize_chunks %x : tensor<512x3584xf32> ->
    tensor<512x4480xi8, #blockscale.blocks<q8_1_chunk>>`. For each 32 elements of a
    row: d = amax / 127 in f32, q = rint(x * (1 / d)) to the nearest even, the chunk's
    scale is d as f16 and its sum the sum of q. A chunk of zeroes has d = 0, one with a NaN
    or an infinity d = NaN and zeroes; where 1 / d is beyond f32, q is 0 too (d as f16 is 0).
    On memrefs the destination is `outs`.

    With a `schedule` (level 2) it becomes a kernel, without one the host computes it. The
    result may also be tiles (`q8_1_tile`, `q8_1_tile_parts`; Facts/ActivationTile.h), which
    only a kernel makes; the packed form says so in `format`, absent for chunks.

    Rules:
    - quantize_chunks_c1: operands are all tensors (then there is a result and no
      outs), or all contiguous memrefs (then outs and no result).
    - quantize_chunks_c2: x is a static matrix, extents 1 .. 2^28, of whole chunks a row.
    - quantize_chunks_c3: the result is the chunks or the tiles of x's rows; rows of tiles
      are a multiple of 256 elements.
    The schedule's own rules are quantize_schedule_cN.
  }];
  let arguments = (ins Blockscale_QuantizeInput:$x, Optional<Blockscale_BlockBytes>:$out,
    Blockscale_Nullable<Blockscale_QuantizeScheduleAttr>:$schedule,
    Blockscale_Nullable<Blockscale_BlocksAttr>:$format);
  let results = (outs Optional<Blockscale_BlockBytes>:$result);
  let assemblyFormat = [{
    $x (`outs` `(` $out^ `:` type($out) `)`)? attr-dict `:` type($x) (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    /// What the result is, in either form.
    ::blockscale::facts::BlockFormat getLogicalFormat();
  }];
}

def Blockscale_TransposeChunksOp : Blockscale_ProblemOp<"transpose_chunks"> {
  let summary = "copies chunks of activations into tiles in the order of shared memory";
  let description = [{
    `%t = blockscale.transpose_chunks %a : tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>> ->
    tensor<2x40960xi8, #blockscale.blocks<q8_1_tile>>`. A tile is 64 tokens x 256 elements;
    Facts/ActivationTile.h says where each byte goes. Scales become f32, sums d * sum in
    f32, which is exact, or that number as three bf16 (`q8_1_tile_parts`). Tokens past the
    last one are zeroes. The packed form has `matrix`; on memrefs the destination is `outs`.

    `%c = blockscale.transpose_chunks %a : tensor<65x576xi8, #blockscale.blocks<q8_1>> ->
    tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>` gives ggml's blocks of 36 bytes the sums of
    their elements, which are exact, in place of s, which ggml has rounded to f16.

    Rules:
    - transpose_chunks_c1: operands are all tensors (then there is a result and no
      outs), or all contiguous memrefs (then outs and no result).
    - transpose_chunks_c2: chunks are tokens x k of q8_1_chunk, or of q8_1 where the result is
      q8_1_chunk, extents 1 .. 2^28, k a multiple of 256.
    - transpose_chunks_c3: the result is those tokens as q8_1_tile, q8_1_tile_parts or q8_1_chunk.
    - transpose_chunks_c4: in the packed form both sides have exactly the bytes of `matrix`.
  }];
  let arguments = (ins Blockscale_BlockBytes:$chunks, Optional<Blockscale_BlockBytes>:$out,
    Blockscale_Nullable<Blockscale_ChunkMatrixAttr>:$matrix);
  let results = (outs Optional<Blockscale_BlockBytes>:$result);
  let assemblyFormat = [{
    $chunks (`outs` `(` $out^ `:` type($out) `)`)? attr-dict `:` type($chunks) (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::blockscale::ChunkMatrixAttr getLogicalMatrix();
  }];
}

def Blockscale_DecodeScalesOp : Blockscale_ProblemOp<"decode_scales"> {
  let summary = "copies q4_K weights into planes with scales and minima as f32";
  let description = [{
    `%p = blockscale.decode_scales %w : tensor<130x288xi8, #blockscale.blocks<q4_K>> ->
    tensor<9x6144xi8, #blockscale.blocks<q4_K_plane>>`. A block of the result is 16 rows x 256
    weights; Facts/WeightPlane.h says where each byte goes. d * sc and -(dmin * min) are exact in
    f32, so that a product has the same bits. Rows past the last one are zeroes. The packed
    form has `matrix`; on memrefs the destination is `outs`.

    Rules:
    - decode_scales_c1: operands are all tensors (then there is a result and no
      outs), or all contiguous memrefs (then outs and no result).
    - decode_scales_c2: weights are rows x k of q4_K, extents 1 .. 2^28, k a multiple of 256.
    - decode_scales_c3: the result is those rows as q4_K_plane.
    - decode_scales_c4: in the packed form both sides have exactly the bytes of `matrix`.
  }];
  let arguments = (ins Blockscale_BlockBytes:$weights, Optional<Blockscale_BlockBytes>:$out,
    Blockscale_Nullable<Blockscale_WeightMatrixAttr>:$matrix);
  let results = (outs Optional<Blockscale_BlockBytes>:$result);
  let assemblyFormat = [{
    $weights (`outs` `(` $out^ `:` type($out) `)`)? attr-dict `:` type($weights) (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::blockscale::WeightMatrixAttr getLogicalMatrix();
  }];
}

def Blockscale_CheckBlockGemmOp : Blockscale_ProblemOp<"check_block_gemm"> {
  let summary = "compares a product of blocks with a reference in f64";
  let description = [{
    Recomputes the product of a `blockscale.gemm` of blocks in f64 and compares it with
    `d`. The error may be at most (2 chunks + 1) 2^-24 times the sum of the terms'
    magnitudes: each of the two fmas of a chunk rounds once, and so does da * (d * sc).
    Of activations in f16, weights are those of the contract of halves, and the error may
    be at most (6 k / 16 + 1) 2^-23 times that sum. Prints one line and fails the run when
    the bound is broken.

    Operands follow the rules of gemm.
  }];
  let arguments = (ins Blockscale_GemmA:$a, Blockscale_Elements:$b, Blockscale_Wide:$d,
    StrAttr:$name, Blockscale_Nullable<Blockscale_BlockProblemAttr>:$block_problem);
  let assemblyFormat = [{
    $name $d `of` $a `,` $b attr-dict `:` type($d) `of` type($a) `,` type($b)
  }];
  let extraClassDeclaration = [{
    ::blockscale::BlockProblemAttr getLogicalBlockProblem();
  }];
}

#endif // BLOCKSCALE_BLOCKOPS_TD
