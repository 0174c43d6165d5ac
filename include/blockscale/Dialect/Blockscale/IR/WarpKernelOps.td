//===- WarpKernelOps.td - level 3 of mma.sync kernels -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel in which all warps do the same: they fill the planes of shared memory
// with one pass of k, meet, multiply fragments, and meet again. Fragments are vectors
// of what one lane holds (Facts/LayoutsWarp.h); a group is 16 tokens, a strip 16 rows of B,
// and a warp multiplies its groups with its strips, as two instructions of 8 rows each.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_WARPKERNELOPS_TD
#define BLOCKSCALE_WARPKERNELOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// A of one group: 16 tokens x 32 bytes, 4 words a lane.
def Blockscale_FragmentA : VectorOfLengthAndType<[4], [I32]>;
/// B of two instructions: 2 x 8 rows x 32 bytes, 2 words a lane each.
def Blockscale_FragmentB : VectorOfLengthAndType<[4], [I32]>;
/// Sums of two instructions, 16 tokens x 2 x 8 rows: element 4 h + i is element i of half h.
def Blockscale_FragmentSums : VectorOfLengthAndType<[8], [I32]>;
def Blockscale_FragmentAcc : VectorOfLengthAndType<[8], [F32]>;
/// Scale and scaled sum of tokens r and r + 8 of a group, or their scales alone.
def Blockscale_TokenScales : VectorOfLengthAndType<[2, 4], [F32]>;
/// d * sc and -(dmin * min) of the lane's four rows, or d * sc alone.
def Blockscale_RowScales : VectorOfLengthAndType<[4, 8], [F32]>;
/// bf16 parts of the scaled sums of 16 tokens x 8 chunks: 4 words of parts 0 and 1, 2 of part 2.
def Blockscale_FragmentParts : VectorOfLengthAndType<[6], [I32]>;
/// Minima of 2 x 8 rows x 8 sub-blocks as bf16, a word a lane each.
def Blockscale_FragmentMinima : VectorOfLengthAndType<[2], [I32]>;
/// -dmin of the lane's four rows.
def Blockscale_MinimaScales : VectorOfLengthAndType<[4], [F32]>;

/// 16 rows of the warp's; there is more than one where it multiplies 32.
def Blockscale_Strip : DefaultValuedAttr<I64Attr, "0">;

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

def Blockscale_PlaneAttr : Blockscale_Attr<"Plane", "plane"> {
  let summary = "what a range of shared memory holds, and how";
  let parameters = (ins WarpKernelEnumParam<"PlaneContent", "what it holds">:$content,
    "int64_t":$offset, "int64_t":$bytes, FactsParam<"PlaneLayout", "order of its bytes">:$layout);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_PlaneType : Blockscale_Type<"Plane", "plane"> {
  let summary = "a plane of shared memory";
}

def Blockscale_SharedPlaneOp : Blockscale_Op<"shared_plane"> {
  let summary = "plans a plane of shared memory";
  let arguments = (ins Blockscale_PlaneAttr:$plan);
  let results = (outs Blockscale_PlaneType:$result);
  let assemblyFormat = "$plan attr-dict";
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

def Blockscale_WarpKernelOp : Blockscale_Op<"warp_kernel",
    [FunctionOpInterface, IsolatedFromAbove, SingleBlock, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a kernel of equal warps, at the kernel or the machine level";
  let description = [{
    Parameters: buffers of A, B and D, and the number of tokens, which may be less than
    the problem's m. `threads` is the block size, `shared_bytes` the dynamic shared
    memory, `blocks` what one SM must hold.

    Rules, checked in this order:
    - warp_kernel_c1: parameters are three buffers and an i32; nothing is returned
    - the problem follows gemm_c5, gemm_c15 to gemm_c17, the schedule warp_schedule_c1 to warp_schedule_c15
    - warp_kernel_c2: the schedule's chip must be the module's `blockscale.arch`
    - warp_kernel_c3: threads, blocks and the formats of A and B must be the schedule's
    - warp_kernel_c4: planes must be those of the schedule, each once, of its bytes
    - warp_kernel_c5: planes must lie inside `shared_bytes`, which is the sum of the plan, and
      must not overlap
    - warp_kernel_c6: a plane's layout must be free of bank conflicts
    - warp_kernel_c7: nothing between an mma and a store may be f16 or bf16
    - warp_kernel_c8: fragments must come from the plane that holds them, of a chunk, a
      group and a strip that there are
    - warp_kernel_c9: planes must be read between the two barriers of a pass
    - warp_kernel_c10: where the schedule's minima are a product of their own, the problem's contract
      must be bounded, and each pass must add them to each group and strip once
    - warp_kernel_c11: sums must leave by a store_group of each group and strip; of a split k, whose
      contract must be bounded, by a share_group of each, a cluster_barrier, an add_parts and a
      cluster_barrier, in this order
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
    Blockscale_BlockProblemAttr:$problem, Blockscale_WarpScheduleAttr:$schedule,
    I64Attr:$threads, I64Attr:$shared_bytes, I64Attr:$blocks);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::blockscale::facts::Arch getArch() { return getSchedule().getArch(); }
  }];
}

def Blockscale_BlockTileOp : Blockscale_Op<"block_tile", [Pure]> {
  let summary = "token tile and row tile of this block; token tiles run fastest";
  let results = (outs I32:$tokens, I32:$rows);
  let assemblyFormat = "attr-dict";
}

def Blockscale_KPartOp : Blockscale_Op<"k_part", [Pure]> {
  let summary = "the part of a split k that this CTA of its cluster takes: its rank";
  let results = (outs I32:$part);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Filling planes
//===----------------------------------------------------------------------===//

def Blockscale_TileRingOp : Blockscale_Op<"tile_ring"> {
  let summary = "sets up the mbarriers of the stages that hold tiles of A; all threads meet";
  let assemblyFormat = "attr-dict";
}

def Blockscale_ActivationCursorOp : Blockscale_Op<"activation_cursor", [Pure]> {
  let summary = "address of the first chunks of A that this thread copies, or of the first tile";
  let description = [{
    Tokens from `count` on are read as the last one; nothing of them is stored. Of
    transposed activations the cursor is the first tile, or what this thread copies of it.
  }];
  let arguments = (ins Blockscale_BufferType:$buffer, I32:$tile, I32:$count);
  let results = (outs I64:$cursor);
  let assemblyFormat = "$buffer `[` $tile `]` `of` $count attr-dict";
}

def Blockscale_WeightCursorOp : Blockscale_Op<"weight_cursor", [Pure]> {
  let summary = "addresses of the first nibbles and of the first header that this thread copies";
  let description = [{
    Rows from n on are read as the last one; nothing of them is stored. With decoded scales both
    are the first 16 bytes that this thread copies.
  }];
  let arguments = (ins Blockscale_BufferType:$buffer, I32:$tile);
  let results = (outs I64:$nibbles, I64:$header);
  let assemblyFormat = "$buffer `[` $tile `]` attr-dict";
}

def Blockscale_FillActivationsOp : Blockscale_Op<"fill_activations"> {
  let summary = "copies one pass of chunks of A to its planes, or one tile";
  let description = [{
    A tile is one bulk copy, by one thread, to the stage that has been read longest. `parts`
    is there where the minima are a product of their own.
  }];
  let arguments = (ins I64:$cursor, Blockscale_PlaneType:$values, Blockscale_PlaneType:$scales,
    Optional<Blockscale_PlaneType>:$parts);
  let assemblyFormat = "$cursor `to` $values `,` $scales (`,` $parts^)? attr-dict";
}

def Blockscale_FillWeightsOp : Blockscale_Op<"fill_weights"> {
  let summary = "copies one pass of blocks of B to its planes";
  let description = [{
    `part` is which half of a block the pass is where k of the tile is 128, which block of
    the pass where it is 512, else 0.
    `minima` are the planes of minima and of -dmin where they are a product of their own.
    Of weights with decoded scales each warp copies the rows that it multiplies, terms and all;
    `header` is not read.
    With a ring of tiles each warp copies the rows that it multiplies.
  }];
  let arguments = (ins I64:$nibbles, I64:$header, Blockscale_PlaneType:$values,
    Blockscale_PlaneType:$scales, I64Attr:$part, Variadic<Blockscale_PlaneType>:$minima);
  let assemblyFormat = [{
    $nibbles `,` $header `part` $part `to` $values `,` $scales (`minima` $minima^)? attr-dict
  }];
}

def Blockscale_PlanesFilledOp : Blockscale_Op<"planes_filled"> {
  let summary = "waits until all threads have filled the planes";
  let description = [{
    With a ring of tiles: until the tile of this pass is there, and this warp's rows.
  }];
  let assemblyFormat = "attr-dict";
}
def Blockscale_PlanesReadOp : Blockscale_Op<"planes_read"> {
  let summary = "waits until all threads have read the planes";
  let description = [{
    With a ring of tiles nobody waits: the warp says that it has read its stage.
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def Blockscale_LoadGroupOp : Blockscale_Op<"load_group"> {
  let summary = "A of a group of the warp in one chunk (ldmatrix)";
  let arguments = (ins Blockscale_PlaneType:$plane, I64Attr:$chunk, I64Attr:$group);
  let results = (outs Blockscale_FragmentA:$values);
  let assemblyFormat = "$plane `chunk` $chunk `group` $group attr-dict `:` type($values)";
}
def Blockscale_LoadNibblesOp : Blockscale_Op<"load_nibbles"> {
  let summary = "nibbles of a strip of the warp's rows in chunks 2 pair and 2 pair + 1";
  let arguments = (ins Blockscale_PlaneType:$plane, I64Attr:$pair, Blockscale_Strip:$strip);
  let results = (outs Blockscale_FragmentB:$values);
  let assemblyFormat = "$plane `pair` $pair (`strip` $strip^)? attr-dict `:` type($values)";
}
def Blockscale_UnpackNibblesOp : Blockscale_Op<"unpack_nibbles", [Pure]> {
  let summary = "low (0) or high (1) nibbles, unsigned, a byte each";
  let arguments = (ins Blockscale_FragmentB:$packed, ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<1>]>:$half);
  let results = (outs Blockscale_FragmentB:$values);
  let assemblyFormat = "$packed `half` $half attr-dict `:` type($packed) `->` type($values)";
}
def Blockscale_LoadRowsOp : Blockscale_Op<"load_rows"> {
  let summary = "B of the warp's rows in one chunk, from bytes (ldmatrix)";
  let arguments = (ins Blockscale_PlaneType:$plane, I64Attr:$chunk);
  let results = (outs Blockscale_FragmentB:$values);
  let assemblyFormat = "$plane `chunk` $chunk attr-dict `:` type($values)";
}
def Blockscale_LoadTokenScalesOp : Blockscale_Op<"load_token_scales"> {
  let summary = "d and d * sum of the lane's two tokens of a group";
  let arguments = (ins Blockscale_PlaneType:$plane, I64Attr:$chunk, I64Attr:$group);
  let results = (outs Blockscale_TokenScales:$values);
  let assemblyFormat = "$plane `chunk` $chunk `group` $group attr-dict `:` type($values)";
}
def Blockscale_LoadRowScalesOp : Blockscale_Op<"load_row_scales"> {
  let summary = "d * sc and -(dmin * min) of the lane's four rows of a strip";
  let arguments = (ins Blockscale_PlaneType:$plane, I64Attr:$chunk, Blockscale_Strip:$strip);
  let results = (outs Blockscale_RowScales:$values);
  let assemblyFormat = "$plane `chunk` $chunk (`strip` $strip^)? attr-dict `:` type($values)";
}

def Blockscale_LoadSumPartsOp : Blockscale_Op<"load_sum_parts"> {
  let summary = "parts of d * sum of a group in all chunks of the pass (ldmatrix)";
  let arguments = (ins Blockscale_PlaneType:$plane, I64Attr:$group);
  let results = (outs Blockscale_FragmentParts:$values);
  let assemblyFormat = "$plane `group` $group attr-dict `:` type($values)";
}
def Blockscale_LoadMinimaOp : Blockscale_Op<"load_minima"> {
  let summary = "minima of a strip of the warp's rows in all chunks of the pass (ldmatrix)";
  let arguments = (ins Blockscale_PlaneType:$plane, Blockscale_Strip:$strip);
  let results = (outs Blockscale_FragmentMinima:$values);
  let assemblyFormat = "$plane (`strip` $strip^)? attr-dict `:` type($values)";
}
def Blockscale_LoadMinimaScalesOp : Blockscale_Op<"load_minima_scales"> {
  let summary = "-dmin of the lane's four rows of a strip";
  let arguments = (ins Blockscale_PlaneType:$plane, Blockscale_Strip:$strip);
  let results = (outs Blockscale_MinimaScales:$values);
  let assemblyFormat = "$plane (`strip` $strip^)? attr-dict `:` type($values)";
}

def Blockscale_MmaS8Op : Blockscale_Op<"mma_s8", [Pure]> {
  let summary = "sums of 32 products of bytes: two mma.sync m16n8k32";
  let description = [{
    Rules:
    - mma_s8_c1: B is the nibbles themselves. Nothing may be subtracted from them: the
      minimum is scaled by dmin and not by d, so that a folded (nibble - min) is a wrong
      product; `rank1_rescale` takes the minimum as its own term.
  }];
  let arguments = (ins Blockscale_FragmentA:$a, Blockscale_FragmentB:$b);
  let results = (outs Blockscale_FragmentSums:$sums);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($sums)";
  let hasVerifier = 1;
}

def Blockscale_Rank1RescaleOp : Blockscale_Op<"rank1_rescale", [Pure]> {
  let summary = "adds the two terms of one chunk to the accumulator";
  let description = [{
    For each token t and row o of the lane, in this order and in f32:
    acc = fma(d[t] * dsc[o], sum[t, o], acc), then acc = fma(dsum[t], dmin[o], acc), with
    dmin[o] = -(dmin * min). A sum is below 2^22, so that its conversion is exact. With
    scales alone it is the first fma; `mma_minima` then adds the minima of the pass.

    Rules:
    - rank1_rescale_c1: sums come from an mma_s8, token scales and row scales from their
      planes: both terms are there, and of the same chunk.
    - rank1_rescale_c2: token scales and row scales both have their second terms, or neither.
  }];
  let arguments = (ins Blockscale_FragmentAcc:$acc, Blockscale_FragmentSums:$sums,
    Blockscale_TokenScales:$tokens, Blockscale_RowScales:$rows);
  let results = (outs Blockscale_FragmentAcc:$result);
  let assemblyFormat = [{
    $acc `,` $sums `,` $tokens `,` $rows attr-dict `:` type($acc) `,` type($sums) `,` type($tokens)
    `,` type($rows) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Blockscale_MmaMinimaOp : Blockscale_Op<"mma_minima", [Pure]> {
  let summary = "adds the minima of a pass to the accumulator: mma.sync of bf16";
  let description = [{
    For each token t and row o of the lane: s = the sum over the pass's eight chunks of
    (d[t] * sum q) * min[o], the first factor as three bf16 that add up to it, by m16n8k16
    and then m16n8k8 from zero, in f32 as the tensor core adds; acc = fma(-dmin[o], s, acc).
    Products are exact; only the order and the rounding of their sum are not the contract's,
    so that `contract = bounded` must allow it.

    Rules:
    - mma_minima_c1: parts, minima and scales come from their planes.
  }];
  let arguments = (ins Blockscale_FragmentAcc:$acc, Blockscale_FragmentParts:$parts,
    Blockscale_FragmentMinima:$minima, Blockscale_MinimaScales:$scales);
  let results = (outs Blockscale_FragmentAcc:$result);
  let assemblyFormat = [{
    $acc `,` $parts `,` $minima `,` $scales attr-dict `:` type($acc) `,` type($parts) `,`
    type($minima) `,` type($scales) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Blockscale_StoreGroupOp : Blockscale_Op<"store_group"> {
  let summary = "stores what of a group and a strip lies inside the matrix";
  let arguments = (ins Blockscale_FragmentAcc:$values, Blockscale_BufferType:$buffer, I32:$token_tile,
    I32:$row_tile, I32:$count, I64Attr:$group, Blockscale_Strip:$strip);
  let assemblyFormat = [{
    $values `to` $buffer `[` $token_tile `,` $row_tile `]` `of` $count `group` $group
    (`strip` $strip^)? attr-dict
    `:` type($values)
  }];
}

def Blockscale_ShareGroupOp : Blockscale_Op<"share_group"> {
  let summary = "writes the sums of a group and a strip to this CTA's plane of partial sums";
  let description = [{
    The plane lies over the stages, so that the first of them waits until all warps have read
    theirs. Tokens are rows of it, eight words apart from each other.
  }];
  let arguments = (ins Blockscale_FragmentAcc:$values, I64Attr:$group, Blockscale_Strip:$strip);
  let assemblyFormat = "$values `group` $group (`strip` $strip^)? attr-dict `:` type($values)";
}
def Blockscale_AddPartsOp : Blockscale_Op<"add_parts"> {
  let summary = "adds the planes of the cluster's CTAs and stores what lies inside the matrix";
  let description = [{
    Each CTA takes its share of the tile, by `part`, and adds what the CTAs of ranks 0, 1, ...
    have of it in this order.
  }];
  let arguments = (ins Blockscale_BufferType:$buffer, I32:$token_tile, I32:$row_tile, I32:$count,
    I32:$part);
  let assemblyFormat = [{
    `to` $buffer `[` $token_tile `,` $row_tile `]` `of` $count `share` $part attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Machine level
//===----------------------------------------------------------------------===//

def Blockscale_PragmaAttr : Blockscale_Attr<"Pragma", "pragma"> {
  let summary = "what ptxas is told about a function";
  let parameters = (ins WarpKernelEnumParam<"Pragma", "pragma">:$value);
  let assemblyFormat = "`<` $value `>`";
}

def Blockscale_PtxPragmaOp : Blockscale_Op<"ptx_pragma"> {
  let summary = ".pragma of the function that it stands in";
  let description = [{
    Rules:
    - ptx_pragma_c1: it is the pragma of the schedule of the warp_kernel around it.
  }];
  let arguments = (ins Blockscale_PragmaAttr:$pragma);
  let assemblyFormat = "$pragma attr-dict";
  let hasVerifier = 1;
}

def Blockscale_BufferAddressOp : Blockscale_Op<"buffer_address", [Pure]> {
  let summary = "global address of a buffer";
  let arguments = (ins Blockscale_BufferType:$buffer);
  let results = (outs I64:$result);
  let assemblyFormat = "$buffer attr-dict";
}

#endif // BLOCKSCALE_WARPKERNELOPS_TD
