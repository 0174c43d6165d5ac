//===- ProblemOps.td - levels 1 and 2: what is to be computed -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every op has two forms. The logical form works on tensors of narrow element
// types and of encoded scales: types say everything. The packed form works on
// bytes (rank-1 i8 tensors, then memrefs), and an attribute carries what the
// types no longer say. blockscale-pack-narrow turns the first into the second.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PROBLEMOPS_TD
#define BLOCKSCALE_PROBLEMOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"
include "blockscale/Dialect/Blockscale/IR/QuantizeAttrs.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Operand types
//===----------------------------------------------------------------------===//

/// A or B: narrow elements [rows, k], or their bytes.
def Blockscale_Elements : AnyTypeOf<
    [RankedTensorOf<[F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E4M3FN, F8E5M2, I8]>, MemRefRankOf<[I8], [1]>],
    "narrow tensor or packed bytes">;
/// A of a gemm: the same, or activations that are quantised to chunks first.
def Blockscale_GemmA : AnyTypeOf<
    [RankedTensorOf<[F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E4M3FN, F8E5M2, I8, F16, F32]>,
     MemRefRankOf<[I8], [1]>, MemRefRankOf<[F16], [2]>],
    "narrow tensor, packed bytes or activations of f16 or f32">;
/// Scales [rows, k / block], or their bytes.
def Blockscale_ScaleValues : AnyTypeOf<
    [RankedTensorOf<[I8, F8E8M0FNU, F8E4M3FN]>, MemRefRankOf<[I8], [1]>],
    "scale tensor or packed bytes">;
def Blockscale_Wide : AnyTypeOf<[RankedTensorOf<[F32, F16, BF16]>, MemRefOf<[F32, F16, BF16]>],
    "tensor or memref of f32, f16 or bf16">;
/// D of a gemm: wide values; or narrow elements, then their scales; or the bytes of either.
def Blockscale_GemmOut : AnyTypeOf<
    [RankedTensorOf<[F32, F16, BF16, F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E4M3FN, F8E5M2, I8]>,
     MemRefOf<[F32, F16, BF16, I8]>],
    "tensor or memref of f32, f16 or bf16, narrow tensor, scale tensor or packed bytes">;
def Blockscale_QuantizeInput : AnyTypeOf<[RankedTensorOf<[F32, F16, BF16]>, MemRefOf<[F32, F16, BF16]>],
    "tensor or memref of f32, f16 or bf16">;
def Blockscale_F32Matrix : AnyTypeOf<[RankedTensorOf<[F32]>, MemRefOf<[F32]>], "tensor or memref of f32">;
def Blockscale_F32Vector : AnyTypeOf<[1DTensorOf<[F32]>, MemRefRankOf<[F32], [1]>],
    "vector of f32 as tensor or memref">;
def Blockscale_F32Cell : AnyTypeOf<[0DTensorOf<[F32]>, MemRefRankOf<[F32], [0]>],
    "tensor<f32> or memref<f32>">;
def Blockscale_F32Scalar : AnyTypeOf<[F32, 0DTensorOf<[F32]>, MemRefRankOf<[F32], [0]>],
    "f32, tensor<f32> or memref<f32>">;

/// What quantize writes: elements, scales, then the global scale where there is one.
def Blockscale_QuantizeOutput : AnyTypeOf<
    [RankedTensorOf<[F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E4M3FN, F8E5M2, I8, F8E8M0FNU, F32]>,
     MemRefOf<[I8, F32]>],
    "narrow elements, scales or tensor<f32>">;

/// An attribute that may be absent; its getter returns null then.
class Blockscale_Nullable<Attr attr> : OptionalAttr<attr> {
  let returnType = attr.storageType;
  let convertFromStorage = "$_self";
}

class Blockscale_ProblemOp<string mnemonic, list<Trait> traits = []>
    : Blockscale_Op<mnemonic, !listconcat(traits,
        [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// gemm
//===----------------------------------------------------------------------===//

def Blockscale_GemmOp : Blockscale_ProblemOp<"gemm",
    [AttrSizedOperandSegments, DestinationStyleOpInterface]> {
  let summary = "block-scaled matrix product";
  let description = [{
    D[m, n] = f(alpha * sum over k of A[m, k] * sa[m, k / block] * B[n, k] * sb[n, k / block]
            + bias[n] + beta * C[m, n]), f being `activation`.

    ```mlir
    %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb
           : tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>,
             tensor<1536x384xf4E2M1FN>, tensor<1536x24xi8, #blockscale.scales<ue4m3, tiled>>)
         alpha(%g : f32) bias(%bias : tensor<1536xf32>)
         outs(%c : tensor<178x1536xbf16>) -> tensor<178x1536xbf16>
    ```

    A is [m, k], B is [n, k], both with K innermost; D is [m, n] row-major; what
    `outs` held before is overwritten, not read. `major_a` or `major_b` =
    `#blockscale.major<mn>` says that an operand of 8-bit elements has its other
    dimension innermost, [k, m] or [k, n]; its scales are rows x k / block as ever. alpha,
    beta and bias are f32; absent they are 1, 1 and 0, and without `activation` f(x) is x. C has the type of D and is read
    whatever beta is. Two FP4 elements share a byte, element 0 in bits 3:0;
    `nibbles_a` or `nibbles_b` = `#blockscale.nibbles<high_first>` says that a
    caller's bytes are the other way round, and blockscale-insert-relayouts
    turns it into a visible `blockscale.swap_nibbles`. Rows of A and B may lie apart, by
    `#blockscale.pitched`; they are fetched where they are.

    Formats: e2m1 x e2m1 with ue8m0, ue4m3 or ue5m3 scales of blocks of 16 or 32 (the block is
    k / scales per row), and every pair of e4m3, e5m2, e2m3, e3m2 and e2m1 with ue8m0
    scales of blocks of 32. Which chip has which, the schedule's rules say.

    alpha may have factors of rows and of columns beside it: `alpha_rows` of m and
    `alpha_columns` of n elements; the sum takes alpha * alpha_rows[m], rounded to f32, then
    alpha_columns[n].

    With `gate` = `#blockscale.gate<function = silu, interleave = 64>` D has n / 2 columns: of each
    128 columns the first 64 are gates, and D is f(gate) * value of each pair, each of which has
    its own alpha and bias.

    D may be quantised where it is computed: its elements and their scales, by the rules of
    `blockscale.quantize` applied to the f32 values behind the activation or the gate.

    ```mlir
    %q, %s = blockscale.gemm ins(...) bias(%bias : tensor<1536xf32>) global(%g : f32)
         outs(%c, %cs : tensor<178x1536xf4E2M1FN>, tensor<178x96xi8, #blockscale.scales<ue4m3, tiled>>)
         {activation = #blockscale.activation<gelu>}
         -> tensor<178x1536xf4E2M1FN>, tensor<178x96xi8, #blockscale.scales<ue4m3, tiled>>
    ```

    `global` is the global scale of ue4m3 scales, which values are divided by; or `norm_const` is
    its reciprocal, and the kernel divides 1 by it. Padding of tiled scales becomes zero.

    Operands, C and D may have a batch in front, B and its scales that or none: as many products of
    one launch, or what `blockscale-expand-batches` makes of them.

    The packed form has rank-1 i8 operands (out, alpha and bias stay as they
    are, a quantised out becomes bytes) and `problem`. `schedule` says how the kernel works (level 2).

    Rules:
    - gemm_c1: operands are all tensors, or all contiguous memrefs.
    - gemm_c2: shapes are static but for m, which may be ? in A, A's scales, C and out together, where
      operands are scaled; in a batch it is that of each matrix, and A is k-major in a batch of one.
    - gemm_c3: A, B and out have rank 2.
    - gemm_c4: A is m x k, B is n x k, out is m x n.
    - gemm_c5: m, n and k are 1 .. 2^28; in the logical form, without a schedule, m or n may be 0,
      but for a quantised out: blockscale-expand-batches puts out in the place of a result that has
      no elements.
    - gemm_c6: elements, scale format and block are a combination that a kind multiplies.
    - gemm_c7: k is a whole number of blocks.
    - gemm_c8: scales are rows x k / block; a single element is a shape too.
    - gemm_c9: scales have an encoding, or an element type that implies one.
    - gemm_c10: bias has n elements.
    - gemm_c11: in the packed form every operand has exactly the bytes of the problem.
    - gemm_c12: a nibble order is given only for 4-bit elements of the logical form.
    - gemm_c13: with a schedule: TMA can fetch A and B. Their row pitch is a multiple of 16
      bytes (not dense NVFP4 with k = 16, 48, 80); of what the instruction reads with gaps, 16
      elements of 4 or 6 bits to 16 bytes, of 32, and k is a multiple of 128 or the rows are
      pitched and have zeroes up to one. blockscale-choose-schedule puts a
      `blockscale.repitch` in front of operands that are not so.
    - gemm_c14: with a schedule, in the packed form: scales are tiled; the linear
      layout needs `blockscale.relayout_scales`, which blockscale-insert-relayouts
      puts in.
    - gemm_c15: tiles of 128x128 are fewer than 2^31, and every operand and the
      result take at most 2^40 bytes. An m of ? is held to it at launch.
    The schedule's own rules are schedule_cN at `#blockscale.schedule`.

    Operands of ggml's blocks hold their scales inside and have no `scaled`:

    ```mlir
    %d = blockscale.gemm ins(%a, %w
           : tensor<512x4480xi8, #blockscale.blocks<q8_1_chunk>>,
             tensor<18944x2016xi8, #blockscale.blocks<q4_K>>)
         outs(%c : tensor<512x18944xf32>) -> tensor<512x18944xf32>
    ```

    `#blockscale.block_problem` says what is computed, term by term. A may also be
    m x k of f32 or f16: blockscale-insert-relayouts then puts a visible
    `blockscale.quantize_chunks` in front. A may be tiles of transposed activations
    (`q8_1_tile`), which `blockscale.transpose_chunks` makes of chunks, and B weights with
    decoded scales (`q4_K_plane`), which `blockscale.decode_scales` makes of q4_K.
    `contract = #blockscale.contract<bounded>` allows other orders of rounding; with
    `halves`, or `any`, blockscale-choose-schedule may leave activations in f16 for a
    kernel of `wgmma_schedule`. The packed form has `block_problem`, level 2
    `warp_schedule` or `wgmma_schedule`, whose own rules are warp_schedule_cN and
    wgmma_schedule_cN.

    Rules of a product of blocks, besides gemm_c1 to gemm_c5 and gemm_c15:
    - gemm_c16: both operands have scales, or neither; without, A is q8_1 (of which
      blockscale-insert-relayouts makes q8_1_chunk), q8_1_chunk, q8_1_tile, q8_1_tile_parts, f32 or
      f16 and B is q4_K or q4_K_plane, which a contract of halves does not read.
    - gemm_c17: k is a multiple of 256, the elements of a q4_K block.
    - gemm_c18: out is f32.
    - gemm_c19: there are no alpha, bias, beta, C, activation, gate, scales of out, nibble orders and majors: the
      kernels have no such part.
    - gemm_c20: attributes fit the operands: problem and schedule for scaled ones,
      block_problem and one of warp_schedule and wgmma_schedule for blocks.
    - gemm_c21: in the packed form every operand has exactly the bytes of `block_problem`;
      activations in f16 stay a matrix.
    - gemm_c24: A and B have the formats that `warp_schedule` reads.
    - gemm_c25: only blocks have a contract. q8_1_tile_parts, whose product with the minima
      rounds in another order, needs bounded or any; halves have A in f16, and only halves
      or any has `wgmma_schedule`.

    And of scaled operands:
    - gemm_c22: an MN-major operand has 8-bit elements; major_a and major_b stand in the
      logical form.
    - gemm_c23: C has the type of out, which is wide and without gates, and beta is given only with C.
    - gemm_c26: a pitch is at least the bytes of a row, and gemm_c15 holds with it; check_gemm
      reads dense rows.
    - gemm_c27: with a batch, out, A and its scales have one more dimension in front, B and
      its scales too unless all batches share them, C as out. A batch has no pitched rows:
      blockscale-expand-batches makes products of matrices where they are needed.
    - gemm_c29: activation is not none.
    - gemm_c30: out is one destination, or narrow elements and their scales, i8 with an encoding: a format that
      blockscale.quantize makes, of whole blocks and a known m, without a batch.
    - gemm_c31: one of global and norm_const, f32, is there where scales of out are ue4m3, and only there.
      The global scale is above 0, and 6 times it is finite: of a constant this is verified.
    - gemm_c32: with a gate, n is a multiple of 128, and there is no activation; it stands in the logical form.
    - gemm_c33: alpha_rows has m elements, which is known, alpha_columns n, and there is no batch.
    - gemm_c34: batches of a problem are 1 .. 2^28; of more than one, out is wide and rows lie dense, and of one
      nothing is shared.
  }];
  let arguments = (ins
    Arg<Blockscale_GemmA, "A">:$a, Optional<Blockscale_ScaleValues>:$sfa,
    Arg<Blockscale_Elements, "B">:$b, Optional<Blockscale_ScaleValues>:$sfb,
    Optional<Blockscale_F32Scalar>:$alpha, Optional<Blockscale_F32Vector>:$alpha_rows,
    Optional<Blockscale_F32Vector>:$alpha_columns, Optional<Blockscale_F32Vector>:$bias,
    Optional<Blockscale_F32Scalar>:$beta, Optional<Blockscale_Wide>:$c,
    Optional<Blockscale_F32Scalar>:$global, Optional<Blockscale_F32Scalar>:$norm_const,
    Arg<Variadic<Blockscale_GemmOut>, "D">:$outs,
    Blockscale_Nullable<Blockscale_ProblemAttr>:$problem,
    Blockscale_Nullable<Blockscale_ScheduleAttr>:$schedule,
    Blockscale_Nullable<Blockscale_NibblesAttr>:$nibbles_a,
    Blockscale_Nullable<Blockscale_NibblesAttr>:$nibbles_b,
    Blockscale_Nullable<Blockscale_MajorAttr>:$major_a,
    Blockscale_Nullable<Blockscale_MajorAttr>:$major_b,
    Blockscale_Nullable<Blockscale_BlockProblemAttr>:$block_problem,
    Blockscale_Nullable<Blockscale_WarpScheduleAttr>:$warp_schedule,
    Blockscale_Nullable<Blockscale_ContractAttr>:$contract,
    Blockscale_Nullable<Blockscale_WgmmaScheduleAttr>:$wgmma_schedule,
    Blockscale_Nullable<Blockscale_ActivationAttr>:$activation,
    Blockscale_Nullable<Blockscale_GateAttr>:$gate);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` custom<GemmOperands>($a, $sfa, $b, $sfb, type($a), type($sfa), type($b), type($sfb)) `)`
    (`alpha` `(` $alpha^ `:` type($alpha) `)`)? (`alpha_rows` `(` $alpha_rows^ `:` type($alpha_rows) `)`)?
    (`alpha_columns` `(` $alpha_columns^ `:` type($alpha_columns) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`beta` `(` $beta^ `:` type($beta) `)`)? (`c` `(` $c^ `:` type($c) `)`)?
    (`global` `(` $global^ `:` type($global) `)`)? (`norm_const` `(` $norm_const^ `:` type($norm_const) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// D, or its elements; and the scales of elements, null where D is wide.
    ::mlir::Value getOut() { return getOuts().front(); }
    ::mlir::Value getOutScales() { return getOuts().size() > 1 ? getOuts()[1] : ::mlir::Value(); }
    /// What replaces `out` on tensors; null on memrefs.
    ::mlir::Value getResult() { return getResults().empty() ? ::mlir::Value() : getResults().front(); }
    /// Whether the operands are ggml's blocks, which have no scales beside them.
    bool isBlockProduct() { return !getSfa() && !getSfb(); }
    /// The problem in either form: `problem` where it is given, else what the
    /// types say. Valid on a verified op, of scaled operands.
    ::blockscale::ProblemAttr getLogicalProblem();
    /// The same of blocks.
    ::blockscale::BlockProblemAttr getLogicalBlockProblem();
    /// What is applied to each element; none where nothing is given.
    ::blockscale::facts::Activation getFunction();
  }];
}

def Blockscale_CheckGemmOp : Blockscale_ProblemOp<"check_gemm", [AttrSizedOperandSegments]> {
  let summary = "compares a product with a reference in f64";
  let description = [{
    Recomputes the product of a `blockscale.gemm` in f64 from the same operands
    and compares it with `d`: the error may be at most
    (ceil(k / Kinst) c + 2) 2^-23 sum |ab| plus half an ulp of the output type, and with an
    activation, a gate or quantised results what docs/Quantization.md says;
    Kinst is K of the schedule's instruction. Prints one line and fails the run
    when the bound is broken. `name` is how the report calls the product.

    Operands follow the rules gemm_c1 .. gemm_c11 and gemm_c30 .. gemm_c33, the schedule its own.
  }];
  let arguments = (ins
    Blockscale_Elements:$a, Blockscale_ScaleValues:$sfa,
    Blockscale_Elements:$b, Blockscale_ScaleValues:$sfb,
    Optional<Blockscale_F32Scalar>:$alpha, Optional<Blockscale_F32Vector>:$alpha_rows,
    Optional<Blockscale_F32Vector>:$alpha_columns, Optional<Blockscale_F32Vector>:$bias,
    Optional<Blockscale_F32Scalar>:$beta, Optional<Blockscale_Wide>:$c,
    Optional<Blockscale_F32Scalar>:$global, Optional<Blockscale_F32Scalar>:$norm_const,
    Blockscale_GemmOut:$d, Optional<Blockscale_ScaleValues>:$d_scales, StrAttr:$name,
    Blockscale_ScheduleAttr:$schedule,
    Blockscale_Nullable<Blockscale_ProblemAttr>:$problem,
    Blockscale_Nullable<Blockscale_MajorAttr>:$major_a,
    Blockscale_Nullable<Blockscale_MajorAttr>:$major_b,
    Blockscale_Nullable<Blockscale_ActivationAttr>:$activation,
    Blockscale_Nullable<Blockscale_GateAttr>:$gate);
  let assemblyFormat = [{
    $name $d `of` $a `scaled` $sfa `,` $b `scaled` $sfb
    (`alpha` `(` $alpha^ `:` type($alpha) `)`)? (`alpha_rows` `(` $alpha_rows^ `:` type($alpha_rows) `)`)?
    (`alpha_columns` `(` $alpha_columns^ `:` type($alpha_columns) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`beta` `(` $beta^ `:` type($beta) `)`)? (`c` `(` $c^ `:` type($c) `)`)?
    (`global` `(` $global^ `:` type($global) `)`)? (`norm_const` `(` $norm_const^ `:` type($norm_const) `)`)?
    (`d_scales` `(` $d_scales^ `:` type($d_scales) `)`)?
    attr-dict `:` type($d) `of` type($a) `,` type($sfa) `,` type($b) `,` type($sfb)
  }];
  let extraClassDeclaration = [{
    ::blockscale::ProblemAttr getLogicalProblem();
  }];
}

//===----------------------------------------------------------------------===//
// quantize, dequantize
//===----------------------------------------------------------------------===//

def Blockscale_QuantizeOp : Blockscale_ProblemOp<"quantize", [AttrSizedOperandSegments]> {
  let summary = "block-quantises a matrix along its rows";
  let description = [{
    ```mlir
    %q, %s, %g = blockscale.quantize %x : tensor<178x384xf32> -> tensor<178x384xf4E2M1FN>,
        tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>, tensor<f32>
    %q, %s = blockscale.quantize %x global(%g : tensor<f32>) : tensor<178x384xf32> ->
        tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>
    %q, %s = blockscale.quantize %x : tensor<178x384xf32> -> tensor<178x384xf8E4M3FN>,
        tensor<178x12xi8, #blockscale.scales<ue8m0, tiled>>
    ```

    Result types say element, scale format, layout and block (k / scales per
    row). UE8M0: scale = ue8m0_rp(amax / max) with max the largest element value.
    UE4M3: g = amax of the whole matrix / (448 * 6), scale = e4m3_rn_sat(amax of the block / (6 g)),
    element = rn(x / (scale * g)); g is the f32 result, or given as `global`; x is about
    element * scale * g. UE5M3 (sm_107a) has no g: scale = ue5m3_rn_sat(amax / 6).
    A tiled result has zeroes in its padding.

    A zero block has scale 0x00 (2^-127 for UE8M0) and zeros with the signs of x;
    where scale * g is zero, elements are zeros too. g of a zero matrix is 1. A
    NaN makes its block's scale NaN and nothing else; infinities saturate; neither
    takes part in g. In full: docs/Quantization.md.

    On memrefs the destinations are operands: `blockscale.quantize %x outs(%q, %s, %g)`
    with `blocked`, which says what byte types do not.

    With a `schedule` (level 2) it becomes a kernel, and one more where g is computed;
    without one the host computes it. Its rules are quantize_schedule_cN.

    Rules:
    - quantize_c1: operands are all tensors (then there are results and no outs),
      or all contiguous memrefs (then outs and no results).
    - quantize_c2: x is a matrix with extents 1 .. 2^28; rows may be ? without a schedule.
    - quantize_c3: elements, scale format and block are a combination that is built.
    - quantize_c4: elements have the shape of x.
    - quantize_c5: k is a whole number of blocks.
    - quantize_c6: scales are rows x k / block.
    - quantize_c7: the global scale, f32 of rank 0, is there for ue4m3, and only then:
      an operand, or the third result or out. A constant one is above 0, and 6 times it finite.
    - quantize_c8: in the packed form every operand has exactly the bytes of `blocked`.
  }];
  let arguments = (ins Blockscale_QuantizeInput:$x, Optional<Blockscale_QuantizeOutput>:$given,
    Variadic<Blockscale_QuantizeOutput>:$outs,
    Blockscale_Nullable<Blockscale_BlockedAttr>:$blocked,
    Blockscale_Nullable<Blockscale_QuantizeScheduleAttr>:$schedule);
  let results = (outs Variadic<Blockscale_QuantizeOutput>:$results);
  let assemblyFormat = [{
    $x (`global` `(` $given^ `:` type($given) `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)? attr-dict `:` type($x) (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// Where elements, scales and the global scale go: results on tensors, outs on
    /// memrefs. The global is null for scale formats that have none, and where it is given.
    ::mlir::Value getElements() { return getTarget(0); }
    ::mlir::Value getScales() { return getTarget(1); }
    ::mlir::Value getGlobal() { return getTarget(2); }
    /// Rows, k, formats and layout, in either form.
    ::blockscale::BlockedAttr getLogicalBlocked();

  private:
    ::mlir::Value getTarget(unsigned index);
  }];
}

def Blockscale_DequantizeOp : Blockscale_ProblemOp<"dequantize", [AttrSizedOperandSegments]> {
  let summary = "multiplies elements with their scales";
  let description = [{
    `%x = blockscale.dequantize %q scaled %s [global(%g : tensor<f32>)] : tQ, tS -> tensor<178x384xf32>`:
    x = element * scale * global, exactly rounded once to f32. On memrefs the
    destination is `outs`.

    Rules:
    - dequantize_c1: operands are all tensors (then there is a result and no
      outs), or all contiguous memrefs (then outs and no result).
    - dequantize_c8: in the packed form every operand has exactly the bytes of `blocked`.
    Rules 2 to 6 are quantize's, under this op's name; the global scale is always
    optional.
  }];
  let arguments = (ins Blockscale_Elements:$elements, Blockscale_ScaleValues:$scales,
    Optional<Blockscale_F32Scalar>:$global, Optional<Blockscale_F32Matrix>:$out,
    Blockscale_Nullable<Blockscale_BlockedAttr>:$blocked);
  let results = (outs Optional<Blockscale_F32Matrix>:$x);
  let assemblyFormat = [{
    $elements `scaled` $scales (`global` `(` $global^ `:` type($global) `)`)?
    (`outs` `(` $out^ `:` type($out) `)`)? attr-dict
    `:` type($elements) `,` type($scales) (`->` type($x)^)?
  }];
  let extraClassDeclaration = [{
    ::blockscale::BlockedAttr getLogicalBlocked();
  }];
}

//===----------------------------------------------------------------------===//
// scales and bytes
//===----------------------------------------------------------------------===//

def Blockscale_RelayoutScalesOp : Blockscale_ProblemOp<"relayout_scales"> {
  let summary = "copies a scale matrix into another layout";
  let description = [{
    ```mlir
    %t = blockscale.relayout_scales %s
       : tensor<178x24xi8, #blockscale.scales<ue4m3, linear>> -> tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>
    ```

    Linear to tiled writes zeroes into the padding; tiled to linear drops it.
    The only op that changes a layout. The packed form carries `source` and
    `target`; on memrefs the destination is `outs`.

    Rules:
    - relayout_scales_c1: operands are all tensors (then there is a result and no
      outs), or all contiguous memrefs (then outs and no result).
    - relayout_scales_c2: source and target have the same rows, columns, batches and format;
      these extents are 1 .. 2^28, or rows are ? and the source is linear.
    - relayout_scales_c3: source and target differ in layout.
    - relayout_scales_c4: in the packed form both sides have exactly the bytes that
      `source` and `target` say.
    A batch of matrices is as many, each laid out by itself.
  }];
  let arguments = (ins Blockscale_ScaleValues:$scales, Optional<Blockscale_ScaleValues>:$out,
    Blockscale_Nullable<Blockscale_ScaleMatrixAttr>:$source,
    Blockscale_Nullable<Blockscale_ScaleMatrixAttr>:$target);
  let results = (outs Optional<Blockscale_ScaleValues>:$result);
  let assemblyFormat = [{
    $scales (`outs` `(` $out^ `:` type($out) `)`)? attr-dict `:` type($scales) (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::blockscale::ScaleMatrixAttr getLogicalSource();
    ::blockscale::ScaleMatrixAttr getLogicalTarget();
  }];
}

def Blockscale_ZeroScaleTailOp : Blockscale_ProblemOp<"zero_scale_tail"> {
  let summary = "zeroes the padding columns of tiled scales";
  let description = [{
    Tiles hold 4 scales a row; when the scales of a row are not a multiple of 4
    the last ones of the last tile are padding, and the MMA multiplies them with
    zero-filled data. Zero times a NaN byte is NaN, so they must be finite: this
    op zeroes them, in place (on tensors: the result takes the operand's place).
    Padding rows are left alone; they reach no real output. Where rows are ?, those of
    the last tiles are zeroed, too.

    Rules:
    - zero_scale_tail_c1: a tensor gives a result of its type; a memref gives none.
    - zero_scale_tail_c2: scales are tiled, rows, columns and batches 1 .. 2^28.
    - zero_scale_tail_c3: in the packed form the operand has exactly the bytes of `matrix`.
  }];
  let arguments = (ins Blockscale_ScaleValues:$scales,
    Blockscale_Nullable<Blockscale_ScaleMatrixAttr>:$matrix);
  let results = (outs Optional<Blockscale_ScaleValues>:$result);
  let assemblyFormat = "$scales attr-dict `:` type($scales) (`->` type($result)^)?";
  let extraClassDeclaration = [{
    ::blockscale::ScaleMatrixAttr getLogicalMatrix();
  }];
}

def Blockscale_SwapNibblesOp : Blockscale_ProblemOp<"swap_nibbles"> {
  let summary = "exchanges the two 4-bit elements of every byte";
  let description = [{
    Turns FP4 data whose first element is in the high nibble into ours (element
    0 in bits 3:0), and back. A copy; on memrefs the destination is `outs`.

    Rules:
    - swap_nibbles_c1: operands are all tensors (then there is a result and no
      outs), or all contiguous memrefs (then outs and no result).
    - swap_nibbles_c2: elements are 4 bits wide in rows of an even number, or
      bytes; source and target have one type.
  }];
  let arguments = (ins Blockscale_Elements:$elements, Optional<Blockscale_Elements>:$out);
  let results = (outs Optional<Blockscale_Elements>:$result);
  let assemblyFormat = [{
    $elements (`outs` `(` $out^ `:` type($out) `)`)? attr-dict `:` type($elements) (`->` type($result)^)?
  }];
}

def Blockscale_RepitchOp : Blockscale_ProblemOp<"repitch"> {
  let summary = "copies a matrix to rows of another pitch";
  let description = [{
    ```mlir
    %p = blockscale.repitch %a
       : tensor<178x48xf4E2M1FN> -> tensor<178x48xf4E2M1FN, #blockscale.pitched<bytes = 32, zero_tail = true>>
    ```

    What lies behind the elements of a row of the result becomes zero. The packed form
    carries `rows`; on memrefs the destination is `outs`.

    Rules:
    - repitch_c1: operands are all tensors (then there is a result and no outs), or all
      contiguous memrefs (then outs and no result).
    - repitch_c2: source and target are one matrix of another pitch; its rows may be ?.
    - repitch_c3: the target is dense or says zero_tail.
    - repitch_c4: in the packed form both sides have exactly the bytes that `rows` says, and
      its rows fit both pitches.
  }];
  let arguments = (ins Blockscale_Elements:$elements, Optional<Blockscale_Elements>:$out,
    Blockscale_Nullable<Blockscale_RowsAttr>:$rows);
  let results = (outs Optional<Blockscale_Elements>:$result);
  let assemblyFormat = [{
    $elements (`outs` `(` $out^ `:` type($out) `)`)? attr-dict `:` type($elements) (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::blockscale::RowsAttr getLogicalRows();
  }];
}

def Blockscale_ReinterpretOp : Blockscale_Op<"reinterpret", [Pure]> {
  let summary = "the bytes of a tensor as a tensor of another type";
  let description = [{
    ```mlir
    %a = blockscale.reinterpret %x : tensor<178x12x16xi8> -> tensor<178x384xf4E2M1FN>
    %s = blockscale.reinterpret %y : tensor<178x12xf8E8M0FNU> -> tensor<178x12xi8, #blockscale.scales<ue8m0, linear>>
    %p = blockscale.reinterpret %z part %i : tensor<8x64x64xf8E5M2> -> tensor<64x64xf8E5M2>
    %t = blockscale.reinterpret %u : tensor<2x3x2x256xi8> -> tensor<200x12xi8, #blockscale.scales<ue8m0, tiled>>
    ```

    No copy: both types name the same bytes, elements low bits first and rows one after the
    other without gaps. With `part` the source is as many results as it has room for, one
    behind the other, and the result is one of them; an index outside is undefined.
    blockscale-pack-narrow turns the op into upstream's on bytes.

    Rules:
    - reinterpret_c1: both types are static, of rank 1 or more, of i8 or floats of 4, 6 or 8
      bits, whole bytes; an encoding is that of scales. Rows of both may be ?: those of a matrix, or of
      each matrix of a batch of a known number, of which `part` is one. Without `part` rows of tiled
      scales are known.
    - reinterpret_c2: both have the same number of bytes; with `part`, or for each row of ?, the source
      has a multiple of the result's.
    - reinterpret_c3: tiled scales are one part of a batch of them, of the same matrix, or without
      `part` come from plain i8.
    - reinterpret_c4: tiled scales of plain i8 are whole tiles, each spelled 512, 2x256, 32x16 or
      32x4x4, behind any other dimensions.
  }];
  let arguments = (ins AnyRankedTensor:$source, Optional<Index>:$part);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source (`part` $part^)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_PROBLEMOPS_TD
