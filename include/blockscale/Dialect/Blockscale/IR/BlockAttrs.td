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

    A block of `q8_1_tile` and `q8_1_tile_parts` is 64 rows of 256 elements, so that
    `tensor<2x40960xi8, #blockscale.blocks<q8_1_tile>>` is 65 to 128 tokens of k = 512.
    One of `q4_K_plane` is 16 rows of 256 weights.

    Rules of a tensor type with this encoding:
    - blocks_c1: the shape is a matrix, rows (of blocks) x bytes of a row.
    - blocks_c2: the element type is i8.
    - blocks_c3: a row is a whole number of blocks.
    - blocks_c4: the format has scales; f16 has none and is an element type.
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
    With `contract = bounded` the terms may be added in any order that keeps the error
    inside the bound of check_block_gemm; `ordered`, the default, specifies the bits.
    Where A is f16 it is the contract of halves: the sum of A[m, k] * w[n, k],
    w = fma(nibble, f16(d * sc), -f16(dmin * min)) in f16.
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
    BlockFormatParam:$a, BlockFormatParam:$b,
    DefaultValuedParameter<"::blockscale::BlockContract",
                           "::blockscale::BlockContract::ordered">:$contract);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Bytes of one row (of blocks) and of each operand.
    int64_t getARowBytes() const;
    int64_t getBRowBytes() const;
    int64_t getABytes() const;
    int64_t getBBytes() const;
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

    `activations` is how A lies in memory: `transposed` are tiles in the order of shared
    memory, which one bulk copy fills. `weights` is how B does: `plane` has scales and minima as
    f32 and all in the order of shared memory (`q4_K_plane`), so that a fill only copies. `stages` passes are held at once. `minima` says how
    the minima are subtracted: `fold`, an fma of each chunk, or `mma`, a product of bf16 of
    the whole pass, whose rounding only `contract = bounded` allows. `convert` is how sums
    become f32, `flight` how many groups' loads may be in flight together. `pragma` is what
    ptxas is told: with `mma_throughput`, which PTX has from 9.3 on, it schedules for the
    throughput of mma.sync (docs/Q4K.md has what it changes). `warp_rows` is the rows of B that
    a warp multiplies: with 32, each fragment of A serves twice as many products, and the block has
    half the warps. With `split` of 2, 4 or 8 a cluster of so many CTAs shares a tile of D: each takes
    a part of the blocks of k, and they add up, in the order of their ranks, through planes of
    partial sums that lie over the stages of their shared memory; `contract = bounded` must allow it.

    Rules of a problem with this schedule:
    - warp_schedule_c1: the architecture has mma.sync m16n8k32 of s8 and cp.async, and
      kernels are built for it.
    - warp_schedule_c2: `tile` is the kernel's tokens and rows.
    - warp_schedule_c3: planes fit the shared memory of a block.
    - warp_schedule_c4: k of `tile` is 256, a whole block; 128 only for wide, 512 for wide and narrow.
    - warp_schedule_c5: `blocks` is what registers, shared memory and threads allow, at
      least 1.
    - warp_schedule_c6: `threads` is 256, with `warp_rows = 32` 128.
    - warp_schedule_c7: `stages` is 1 or, for raw_nibble with k of 256, more: 2 of chunks,
      up to 4 of transposed activations on chips with bulk copies.
    - warp_schedule_c8: transposed activations are multiplied by raw_nibble, with sums of
      two words.
    - warp_schedule_c9: `minima = mma` needs transposed activations.
    - warp_schedule_c10: `flight` is 1, 2, 4 or 8; more than a warp has groups means no fences.
    - warp_schedule_c11: `weights = plane` needs raw_nibble and `minima = fold`.
    - warp_schedule_c12: `warp_rows` is 16, or 32 with a ring: transposed activations in two stages
      or more.
    - warp_schedule_c13: `split` is 1, or, of raw_nibble on a chip with clusters, 2, 4 or 8.
    - warp_schedule_c14: each part of a split k has at least as many blocks as there are stages.
    - warp_schedule_c15: k is a multiple of the 512 of a `tile` that has them.
  }];
  let parameters = (ins ArchParam:$arch, WarpKernelEnumParam<"WarpKernel", "kernel">:$kernel,
    Shape3Param:$tile, WarpKernelEnumParam<"ChunkSums", "scale and sum of a chunk">:$sums,
    DefaultValuedParameter<"::blockscale::Activations",
                           "::blockscale::Activations::chunks">:$activations,
    DefaultValuedParameter<"::blockscale::Weights", "::blockscale::Weights::blocks">:$weights,
    DefaultValuedParameter<"::blockscale::Minima", "::blockscale::Minima::fold">:$minima,
    DefaultValuedParameter<"::blockscale::SumConversion",
                           "::blockscale::SumConversion::offset">:$convert,
    DefaultValuedParameter<"int64_t", "1">:$stages,
    DefaultValuedParameter<"int64_t", "2">:$flight,
    DefaultValuedParameter<"::blockscale::Pragma", "::blockscale::Pragma::none">:$pragma,
    DefaultValuedParameter<"int64_t", "16">:$warp_rows,
    DefaultValuedParameter<"int64_t", "1">:$split,
    "int64_t":$threads, "int64_t":$blocks);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    bool isSplit() const { return getSplit() > 1; }
    /// Chunks of one pass.
    int64_t getChunks() const { return getTile().k / 32; }
    /// The formats of A and of B that the kernel reads.
    ::blockscale::facts::BlockFormat getAFormat() const;
    ::blockscale::facts::BlockFormat getBFormat() const;
  }];
}

def Blockscale_ContractAttr : Blockscale_Attr<"Contract", "contract"> {
  let summary = "what a product of blocks may round";
  let description = [{
    - `ordered`, the default: the terms of `#blockscale.block_problem` in their order, so
      that the bits of the result are specified.
    - `bounded`: the same terms in any order, within the bound of check_block_gemm.
    - `halves`: activations in f16 and weights rounded to f16, summed in f32 in the tensor
      core's order, within the bound of check_block_gemm for f16.
    - `any`: `bounded` or `halves`, whichever the chip does faster.

    docs/Q4K.md states them.
  }];
  let parameters = (ins WarpKernelEnumParam<"BlockContract", "contract">:$value);
  let assemblyFormat = "`<` $value `>`";
}

def Blockscale_ChunkMatrixAttr : Blockscale_Attr<"ChunkMatrix", "chunk_matrix"> {
  let summary = "chunks of activations, and the tiles that they become";
  let parameters = (ins "int64_t":$tokens, "int64_t":$k, BlockFormatParam:$to);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_WeightMatrixAttr : Blockscale_Attr<"WeightMatrix", "weight_matrix"> {
  let summary = "rows of q4_K weights whose scales are decoded";
  let parameters = (ins "int64_t":$rows, "int64_t":$k);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_WgmmaScheduleAttr : Blockscale_Attr<"WgmmaSchedule", "wgmma_schedule"> {
  let summary = "every decision about one wgmma kernel of q4_K weights and f16 activations";
  let description = [{
    The kernel is called dequantise_wgmma. `tile` is tokens x rows x k of one stage of
    blocks. `groups` warpgroups multiply, each rows / groups rows; a fourth of a block's
    k is one stage of activations. `blocks` is the blocks of one SM that shared memory
    and registers must allow. With `split` of 2 or 4 a cluster of so many CTAs shares a tile
    of D: each takes a part of the blocks of k, and they add up, in the order of their ranks,
    through planes of partial sums that lie over the stages of their shared memory.

    Rules of a problem with this schedule:
    - wgmma_schedule_c1: the chip is sm_90a, the only one that has wgmma.
    - wgmma_schedule_c2: tokens of `tile` are 16, 32, 64, 128 or 256, rows 64 or 128 for
      each group, k 256; a thread has at most 128 sums; there are 1 or 2 groups.
    - wgmma_schedule_c3: rings have at least two stages.
    - wgmma_schedule_c4: `blocks` fit the shared memory of an SM, and one that of a block.
    - wgmma_schedule_c5: registers of the multiplying warps suffice for their sums.
    - wgmma_schedule_c6: activations are f16.
    - wgmma_schedule_c7: `split` is 1, 2 or 4.
    - wgmma_schedule_c8: of a split k, the plane of partial sums fits where the stages lie.
    - wgmma_schedule_c9: `split` is at most the number of blocks of k, so that each part has one.
    - wgmma_schedule_c10: no `pragma` is pinned where this schedule is chosen; ptxas would ignore it.
  }];
  let parameters = (ins ArchParam:$arch, Shape3Param:$tile, "int64_t":$groups,
    "int64_t":$block_stages, "int64_t":$token_stages, "int64_t":$blocks,
    DefaultValuedParameter<"int64_t", "1">:$split);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    int64_t getThreads() const { return 128 + 128 * getGroups(); }
    bool isSplit() const { return getSplit() > 1; }
  }];
}

#endif // BLOCKSCALE_BLOCKATTRS_TD
