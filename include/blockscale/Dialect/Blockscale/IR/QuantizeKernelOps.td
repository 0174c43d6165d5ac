//===- QuantizeKernelOps.td - level 3 of kernels that quantise -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp takes consecutive blocks and works in steps. In a step a lane has 16 bytes of
// the source, and the lanes of a block stand side by side. What there is once in a
// block, such as its largest magnitude, has one lane, the block's owner: lane j of a
// block of n lanes owns the blocks of steps j, j + n and so on. So nothing that a block
// wants once is computed twice. Arithmetic on vectors is element by element.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_QUANTIZEKERNELOPS_TD
#define BLOCKSCALE_QUANTIZEKERNELOPS_TD

include "blockscale/Dialect/Blockscale/IR/QuantizeAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Values of a lane: steps x elements of a step.
def Blockscale_LaneValues : VectorOfRankAndType<[2], [F32]>;
/// Their bytes: steps x words of a step.
def Blockscale_LaneWords : VectorOfRankAndType<[2], [I32]>;
/// One value for each block that the lane owns, or for each step.
def Blockscale_PerBlock : VectorOfRankAndType<[1], [F32, I32, I16, F16, I1]>;

def Blockscale_QuantizeKernelOp : Blockscale_Op<"quantize_kernel",
    [FunctionOpInterface, IsolatedFromAbove, SingleBlock, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a kernel that quantises a matrix, at the kernel or the machine level";
  let description = [{
    Parameters: buffers of the source, of the result and, where they are apart, of the
    scales; of the largest magnitude, where the global scale is computed from it; of the
    global scale, where there is one; then the number of rows, which may be less than the
    problem's.

    Rules, checked in this order:
    - quantize_kernel_c1: parameters are the problem's buffers, two to five, and an i32;
      nothing is returned
    - quantize_kernel_c2: the source is f32, f16 or bf16, its rows, 1 .. 2^28 of as many
      elements, are whole blocks of the target, and the target is q8_1_chunk, q8_1_tile,
      q8_1_tile_parts, amax, or elements and scales that `blockscale.quantize` makes
    - quantize_kernel_c7: a global scale is given or computed for ue4m3, and only there
    - the schedule follows quantize_schedule_c1 to quantize_schedule_c4
    - quantize_kernel_c6: the sequence is divide for Q8_1 and amax, remainder for ue4m3 and
      ue5m3, another for ue8m0
    - quantize_kernel_c8: the schedule's chip has the conversions of the scales
    - quantize_kernel_c3: the schedule's chip must be the module's `blockscale.arch`
    - quantize_kernel_c4: threads and shared bytes must be the schedule's
    - quantize_kernel_c5: vectors must be of the steps, elements and blocks that a lane has
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
    Blockscale_QuantizeProblemAttr:$problem, Blockscale_QuantizeScheduleAttr:$schedule,
    I64Attr:$threads, I64Attr:$shared_bytes);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::blockscale::facts::Arch getArch() { return getSchedule().getArch(); }
    int64_t getBlocks() { return getSchedule().getBlocks(); }
  }];
}

def Blockscale_HasBlocksOp : Blockscale_Op<"has_blocks", [Pure]> {
  let summary = "whether any block of this warp lies in the matrix";
  let arguments = (ins I32:$rows);
  let results = (outs I1:$result);
  let assemblyFormat = "`of` $rows attr-dict";
}

def Blockscale_LoadBlocksOp : Blockscale_Op<"load_blocks"> {
  let summary = "the lane's values of the warp's blocks, as f32";
  let description = "Blocks beyond the matrix are read as its last values; nothing of them is stored.";
  let arguments = (ins Blockscale_BufferType:$source, I32:$rows);
  let results = (outs Blockscale_LaneValues:$values);
  let assemblyFormat = "$source `of` $rows attr-dict `:` type($values)";
}

def Blockscale_BlockAmaxOp : Blockscale_Op<"block_amax"> {
  let summary = "largest magnitude of each block that the lane owns; NaN where there is one";
  let arguments = (ins Blockscale_LaneValues:$values);
  let results = (outs Blockscale_PerBlock:$amax);
  let assemblyFormat = "$values attr-dict `:` type($values) `->` type($amax)";
}

def Blockscale_SpreadOp : Blockscale_Op<"spread"> {
  let summary = "what owners have, for the block of each step";
  let arguments = (ins Blockscale_PerBlock:$owned);
  let results = (outs Blockscale_PerBlock:$steps);
  let assemblyFormat = "$owned attr-dict `:` type($owned) `->` type($steps)";
}

def Blockscale_EncodeS8Op : Blockscale_Op<"encode_s8", [Pure]> {
  let summary = "rint(value * factor) to the nearest even as signed bytes, four a word";
  let description = "Zeroes where the factor is 0, whatever the values.";
  let arguments = (ins Blockscale_LaneValues:$values, Blockscale_PerBlock:$factors);
  let results = (outs Blockscale_LaneWords:$words);
  let assemblyFormat = "$values `,` $factors attr-dict `:` type($values) `,` type($factors) `->` type($words)";
}

def Blockscale_BlockSumOp : Blockscale_Op<"block_sum"> {
  let summary = "sum of the signed bytes of each block that the lane owns";
  let arguments = (ins Blockscale_LaneWords:$words);
  let results = (outs Blockscale_PerBlock:$sum);
  let assemblyFormat = "$words attr-dict `:` type($words) `->` type($sum)";
}

def Blockscale_StoreChunksOp : Blockscale_Op<"store_chunks"> {
  let summary = "stores the warp's chunks: scale (i32, f16 in its low half), elements, sum";
  let description = [{
    Chunks meet in shared memory and leave it as consecutive 8-byte pieces of the warp.
  }];
  let arguments = (ins Blockscale_PerBlock:$scales, Blockscale_LaneWords:$words,
    Blockscale_PerBlock:$sums, Blockscale_BufferType:$target, I32:$rows);
  let assemblyFormat = [{
    $scales `,` $words `,` $sums `to` $target `of` $rows attr-dict
    `:` type($scales) `,` type($words) `,` type($sums)
  }];
}

def Blockscale_FiniteAmaxOp : Blockscale_Op<"finite_amax"> {
  let summary = "largest finite magnitude of the warp's values; 0 where there is none";
  let arguments = (ins Blockscale_LaneValues:$values);
  let results = (outs F32:$amax);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Blockscale_StoreAmaxOp : Blockscale_Op<"store_amax"> {
  let summary = "raises what is stored to the largest of all warps, which starts at 0";
  let arguments = (ins F32:$amax, Blockscale_BufferType:$target);
  let assemblyFormat = "$amax `to` $target attr-dict";
}

def Blockscale_LoadScalarOp : Blockscale_Op<"load_scalar"> {
  let summary = "the one f32 of a buffer that no kernel writes meanwhile";
  let arguments = (ins Blockscale_BufferType:$source);
  let results = (outs F32:$value);
  let assemblyFormat = "$source attr-dict";
}

def Blockscale_StoreScalarOp : Blockscale_Op<"store_scalar"> {
  let summary = "stores one f32, by the first thread of the launch";
  let arguments = (ins F32:$value, Blockscale_BufferType:$target);
  let assemblyFormat = "$value `to` $target attr-dict";
}

def Blockscale_BlocksInsideOp : Blockscale_Op<"blocks_inside"> {
  let summary = "whether each block that the lane owns lies in the matrix";
  let arguments = (ins I32:$rows);
  let results = (outs Blockscale_PerBlock:$result);
  let assemblyFormat = "`of` $rows attr-dict `:` type($result)";
}

def Blockscale_StoreTilesOp : Blockscale_Op<"store_tiles"> {
  let summary = "stores the warp's part of a tile: scales, elements, scaled sums";
  let description = [{
    Facts/ActivationTile.h says where. Sums become three bf16 each where the target is
    `q8_1_tile_parts`.
  }];
  let arguments = (ins Blockscale_PerBlock:$scales, Blockscale_LaneWords:$words,
    Blockscale_PerBlock:$sums, Blockscale_BufferType:$target);
  let assemblyFormat = [{
    $scales `,` $words `,` $sums `to` $target attr-dict
    `:` type($scales) `,` type($words) `,` type($sums)
  }];
}

def Blockscale_EncodeScaleOp : Blockscale_Op<"encode_scale", [Pure]> {
  let summary = "scale byte of each block that the lane owns";
  let description = [{
    amax over the largest element: ue8m0 rounded up; ue4m3 and ue5m3 to the nearest even,
    saturating, ue4m3 over the global scale, too.
  }];
  let arguments = (ins Blockscale_PerBlock:$amax, Optional<F32>:$global);
  let results = (outs Blockscale_PerBlock:$bytes);
  let assemblyFormat = "$amax (`over` $global^)? attr-dict `:` type($amax) `->` type($bytes)";
}

def Blockscale_ScaleFactorOp : Blockscale_Op<"scale_factor", [Pure]> {
  let summary = "what values are multiplied with: the reciprocal of a scale, by the schedule's sequence";
  let arguments = (ins Blockscale_PerBlock:$bytes);
  let results = (outs Blockscale_PerBlock:$factors);
  let assemblyFormat = "$bytes attr-dict `:` type($bytes) `->` type($factors)";
}

def Blockscale_ScaleDivisorOp : Blockscale_Op<"scale_divisor", [Pure, AttrSizedOperandSegments]> {
  let summary = "the value of each scale byte, times the global scale, each product rounded";
  let description = [{
    `prescale` is a power of two that brings divisors into the middle of f32's range.
  }];
  let arguments = (ins Blockscale_PerBlock:$bytes, Optional<F32>:$global, Optional<F32>:$prescale);
  let results = (outs Blockscale_PerBlock:$divisors);
  let assemblyFormat = [{
    $bytes (`times` $global^ `times` $prescale)? attr-dict `:` type($bytes) `->` type($divisors)
  }];
}

def Blockscale_DivideBlocksOp : Blockscale_Op<"divide_blocks", [Pure,
    AllTypesMatch<["values", "quotients"]>, AllTypesMatch<["divisors", "negated"]>]> {
  let summary = "values over the divisors of their blocks, rounded as by one IEEE division";
  let description = [{
    q = value x reciprocal, then q - (q x divisor - value) x reciprocal, each fma rounded once.
    Values take `prescale` first, which divisors have already. Where q is too small or large
    for the elements' format, it is not the quotient, but is still too small or large.

    `negated` are the reciprocals with the other sign, and -0 where the divisor is 0: the
    quotients are zeroes with the signs of the values then.
  }];
  let arguments = (ins Blockscale_LaneValues:$values, Blockscale_PerBlock:$divisors,
    Blockscale_PerBlock:$negated, Optional<F32>:$prescale);
  let results = (outs Blockscale_LaneValues:$quotients);
  let assemblyFormat = [{
    $values (`times` $prescale^)? `,` $divisors `,` $negated attr-dict
    `:` type($values) `,` type($divisors)
  }];
}

def Blockscale_EncodeElementsOp : Blockscale_Op<"encode_elements", [Pure]> {
  let summary = "values as elements of the target, saturating, to the nearest even";
  let description = [{
    Packed, low bits first; the last word of a step may have room. Scales are f32 factors
    that values are multiplied with, or i32 bytes of ue8m0 that the conversion itself divides
    by (cvt.scaled::n1); none where values are quotients already.
  }];
  let arguments = (ins Blockscale_LaneValues:$values, Optional<Blockscale_PerBlock>:$scales);
  let results = (outs Blockscale_LaneWords:$words);
  let assemblyFormat = [{
    $values (`,` $scales^)? attr-dict `:` type($values) (`,` type($scales)^)? `->` type($words)
  }];
}

def Blockscale_StoreElementsOp : Blockscale_Op<"store_elements"> {
  let summary = "stores the elements of blocks that lie in the matrix";
  let arguments = (ins Blockscale_LaneWords:$words, Blockscale_BufferType:$target, I32:$rows);
  let assemblyFormat = "$words `to` $target `of` $rows attr-dict `:` type($words)";
}

def Blockscale_StoreScalesOp : Blockscale_Op<"store_scales"> {
  let summary = "stores the scale of each block that the lane owns, and zeroes in the padding of tiles";
  let arguments = (ins Blockscale_PerBlock:$bytes, Blockscale_BufferType:$target, I32:$rows);
  let assemblyFormat = "$bytes `to` $target `of` $rows attr-dict `:` type($bytes)";
}

#endif // BLOCKSCALE_QUANTIZEKERNELOPS_TD
