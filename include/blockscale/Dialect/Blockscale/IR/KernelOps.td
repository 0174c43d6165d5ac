//===- KernelOps.td - level 3: warp roles, pipelines, plans -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel function whose every plan is visible: what lies where in shared and
// in tensor memory, which barriers guard it, how many bytes complete a stage.
// Stages and phases are explicit i32 values; `pipeline_advance` steps them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_KERNELOPS_TD
#define BLOCKSCALE_KERNELOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class KernelEnumParam<string cppType, string desc>
    : AttrOrTypeParameter<"::blockscale::" # cppType, desc>;

def Blockscale_WarpRoleAttr : Blockscale_Attr<"WarpRole", "role"> {
  let summary = "what a group of warps does";
  let parameters = (ins KernelEnumParam<"WarpRole", "role">:$value);
  let assemblyFormat = "$value";
}
def Blockscale_ScaleOperandAttr : Blockscale_Attr<"ScaleOperand", "scale_operand"> {
  let summary = "scales of A or of B";
  let parameters = (ins KernelEnumParam<"ScaleOperand", "operand">:$value);
  let assemblyFormat = "$value";
}

def Blockscale_ProblemOperandAttr : Blockscale_Attr<"ProblemOperand", "problem_operand"> {
  let summary = "an operand of a product: a, b, or the scales of one";
  let parameters = (ins KernelEnumParam<"ProblemOperand", "operand">:$value);
  let assemblyFormat = "$value";
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

def Blockscale_SharedPlanAttr : Blockscale_Attr<"SharedPlan", "shared_plan"> {
  let summary = "a ring of equal buffers in dynamic shared memory";
  let description = [{
    `offset` of stage 0 from the start of dynamic shared memory, `bytes` of one
    stage, `stages` of them back to back; `swizzle` is the pattern in which the
    bytes lie.
  }];
  let parameters = (ins KernelEnumParam<"SharedContent", "what it holds">:$content,
    "int64_t":$offset, "int64_t":$bytes, "int64_t":$stages,
    FactsParam<"Swizzle", "swizzle">:$swizzle);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_TmemPlanAttr : Blockscale_Attr<"TmemPlan", "tmem_plan"> {
  let summary = "columns of tensor memory";
  let description = [{
    `columns` are allocated by warp `alloc_warp`, which leaves their address at
    byte `slot` of shared memory. Accumulator stage i is `width` columns from
    `accumulators[i]`, overlapped where the schedule says so; scales of A and B are `sfa_columns` from `sfa` and `sfb_columns` from `sfb`.
  }];
  let parameters = (ins "int64_t":$columns, "int64_t":$slot, "int64_t":$alloc_warp,
    ArrayRefParameter<"int64_t">:$accumulators, "int64_t":$width,
    "int64_t":$sfa, "int64_t":$sfa_columns, "int64_t":$sfb, "int64_t":$sfb_columns);
  let assemblyFormat = [{
    `<` `columns` `=` $columns `,` `slot` `=` $slot `,` `alloc_warp` `=` $alloc_warp `,`
    `accumulators` `=` `[` $accumulators `]` `,` `width` `=` $width `,`
    `sfa` `=` $sfa `,` `sfa_columns` `=` $sfa_columns `,` `sfb` `=` $sfb `,` `sfb_columns` `=` $sfb_columns `>`
  }];
}

def Blockscale_PipelinePlanAttr : Blockscale_Attr<"PipelinePlan", "pipeline_plan"> {
  let summary = "a ring of full and empty barriers";
  let description = [{
    8-byte mbarriers: `stages` full ones from byte `full`, as many empty ones from
    `empty`. `producers` and `consumers` are the arrivals that complete a phase of
    the full and of the empty barrier; `bytes` the transaction bytes of one stage
    (0 when the producer is not TMA). A pair of CTAs counts both CTAs' bytes and arrivals
    on the even one's barrier; in a cluster a stage is empty when all products that read
    what this CTA loads have ended.
  }];
  let parameters = (ins "int64_t":$stages, "int64_t":$full, "int64_t":$empty, "int64_t":$bytes,
    KernelEnumParam<"WarpRole", "who fills">:$producer, "int64_t":$producers,
    KernelEnumParam<"WarpRole", "who drains">:$consumer, "int64_t":$consumers);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_SharedType : Blockscale_Type<"Shared", "shared"> {
  let summary = "a ring of buffers in shared memory";
}
def Blockscale_TmemType : Blockscale_Type<"Tmem", "tmem"> {
  let summary = "planned tensor memory";
}
def Blockscale_PipelineType : Blockscale_Type<"Pipeline", "pipeline"> {
  let summary = "a pipeline between two warp roles";
}

def Blockscale_SharedBufferOp : Blockscale_Op<"shared_buffer"> {
  let summary = "plans a ring of buffers in shared memory";
  let arguments = (ins Blockscale_SharedPlanAttr:$plan);
  let results = (outs Blockscale_SharedType:$result);
  let assemblyFormat = "$plan attr-dict";
}
def Blockscale_TmemPlanOp : Blockscale_Op<"tmem_plan"> {
  let summary = "plans and allocates tensor memory";
  let arguments = (ins Blockscale_TmemPlanAttr:$plan);
  let results = (outs Blockscale_TmemType:$result);
  let assemblyFormat = "$plan attr-dict";
}
def Blockscale_PipelineOp : Blockscale_Op<"pipeline"> {
  let summary = "plans and initialises the barriers of a pipeline";
  let arguments = (ins Blockscale_PipelinePlanAttr:$plan);
  let results = (outs Blockscale_PipelineType:$result);
  let assemblyFormat = "$plan attr-dict";
}

//===----------------------------------------------------------------------===//
// Kernel and warp roles
//===----------------------------------------------------------------------===//

def Blockscale_KernelOp : Blockscale_Op<"kernel",
    [FunctionOpInterface, IsolatedFromAbove, SingleBlock, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a kernel, at the kernel or the machine level";
  let description = [{
    Parameters are tensor maps, device buffers, f32 scalars and an m of ?. `threads` is the
    block size, `shared_bytes` the dynamic shared memory; more than the chip's
    ordinary limit means the oversized mode (sm_107a).

    Rules, checked in this order:
    - kernel_c0: parameters are tensor maps, buffers and f32, and last, where m of the problem is ?,
      m as an i32; nothing is returned
    - the problem follows gemm_c5, gemm_c6, gemm_c7, gemm_c13 to gemm_c15, the schedule schedule_c1 to schedule_c14
    - kernel_c1: the schedule's chip must be the module's `blockscale.arch`
    - kernel_c2: shared memory must fit the chip's largest block
    - kernel_c3: planned ranges must lie inside `shared_bytes`, which is their end rounded up to 128
    - kernel_c4: planned ranges must not overlap
    - kernel_c5: a swizzled buffer must start on its pattern (1024 bytes for b128), others on 128; barriers on 8, the slot on 4;
      scale columns on 4
    - kernel_c6: allocated columns must be what the chip's rule gives for those used
    - kernel_c7: column ranges must lie inside the allocation
    - kernel_c8: column ranges must not overlap, but for two overlapped accumulator stages, which start
      as many columns apart as all but the scales of tensor memory leaves
    - kernel_c9: depths must agree: operand rings with the schedule's stages, accumulator ring with its accumulators;
      overlapped stages take turns in a ring of one
    - kernel_c10: transaction bytes must be what the TMA loads of one stage bring, gaps of padded types not counted,
      twice for a pair
    - kernel_c11: arrivals must fit the roles: 1 for tma and tma_scales, for mma as many as there are products that read what one CTA
      loads, the number of its warps for epilogue, of both CTAs of a pair
    - kernel_c12: a pipeline must be filled by its producer and drained by its consumer
    - kernel_c13: tcgen05.cp reads tiled scales only, a whole number of 512-byte tiles, into the columns planned for a stage
    - kernel_c14: an mma must read an a and a b buffer, within the K tile, behind the mma before it, with its scale
      columns copied, those of B shifted where tiles of B's scales are cut
    - kernel_c15: accumulator columns must be read each once, in order, gates and values of 32 pairs in turn, and scaled
      as the columns they are; of overlapped stages the first from its end, and a stage is released behind the columns
      that another may write
    - kernel_c16: warps of roles must be disjoint and inside the block; epilogue warps are four from warp 0;
      the block is the warps of its roles
    - kernel_c17: TMA loads must fill a whole stage, part by part, of a ring as deep as its pipeline, at the pipeline's stage
    - kernel_c18: staging must be 128 bytes per row of the tile in the 128-byte swizzle, in as many buffers as the schedule says;
      a buffer is acquired, filled by 16-byte pieces and sent, at whole 128-byte columns of the tile
    - kernel_c19: an mma into overlapped stages must name the one of the phase in which the ring was acquired
    - kernel_c20: an mma_span must follow the one before it in its block without a gap, name the next stage where it
      crosses the end of one, and read scales that were copied, by an id that the kind has
    - kernel_c21: what several CTAs of the cluster need must be loaded in shares, as the operand that it is, all else whole
    - kernel_c22: what each product of a batch has of its own must be loaded, read and stored at its tile_batch, which is a
      load's last coordinate; all else has none
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
    Blockscale_ProblemAttr:$problem, Blockscale_ScheduleAttr:$schedule,
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
  }];
}

def Blockscale_ReturnOp : Blockscale_Op<"return", [Terminator, ParentOneOf<["KernelOp", "QuantizeKernelOp",
    "WarpKernelOp", "WgmmaKernelOp"]>]> {
  let summary = "ends a kernel";
  let assemblyFormat = "attr-dict";
}

def Blockscale_WarpRoleOp : Blockscale_Op<"warp_role",
    [SingleBlock, NoTerminator, NoRegionArguments, HasParent<"KernelOp">]> {
  let summary = "what some warps of the block do";
  let description = [{
    `blockscale.warp_role mma warps 4 to 4 { … }`: warps `first` to `last`. The
    roles tma, tma_scales and mma run in one elected lane, epilogue in all lanes. Of a pair of CTAs
    only the even one runs role mma.
  }];
  let arguments = (ins Blockscale_WarpRoleAttr:$role, I64Attr:$first, I64Attr:$last);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$role `warps` $first `to` $last $body attr-dict";
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def Blockscale_CtaIndexOp : Blockscale_Op<"cta_index", [Pure]> {
  let summary = "index of this CTA, or of its cluster, the first tile it computes";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Blockscale_CtaCountOp : Blockscale_Op<"cta_count", [Pure]> {
  let summary = "number of CTAs, or of clusters, the step between its tiles";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Blockscale_TileCountOp : Blockscale_Op<"tile_count", [Pure]> {
  let summary = "number of tiles, or of what clusters compute, where m is known at launch only";
  let description = [{
    Where m of the problem is ?, it is the kernel's last parameter, and loops over tiles end here.

    Rules:
    - tile_count_c1: m of the kernel's problem is ?; elsewhere the number is a constant
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Blockscale_TileCoordinatesOp : Blockscale_Op<"tile_coordinates", [Pure]> {
  let summary = "row tile and column tile of a tile; rows run fastest";
  let description = [{
    In a cluster `tile` counts what clusters compute, and the result is this CTA's; it may
    lie beyond the last tile of the matrix.
  }];
  let arguments = (ins I32:$tile);
  let results = (outs I32:$row, I32:$column);
  let assemblyFormat = "$tile attr-dict";
}

def Blockscale_TileBatchOp : Blockscale_Op<"tile_batch", [Pure]> {
  let summary = "the product of a batch that a tile is of; it runs slowest";
  let description = [{
    Rules:
    - tile_batch_c1: the kernel's problem has more than one batch
  }];
  let arguments = (ins I32:$tile);
  let results = (outs I32:$result);
  let assemblyFormat = "$tile attr-dict";
  let hasVerifier = 1;
}

def Blockscale_PairRankOp : Blockscale_Op<"pair_rank", [Pure]> {
  let summary = "0 in the even CTA of a pair, 1 in the odd one; 0 without pairs";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

class Blockscale_PipelineStepOp<string mnemonic, dag operands> : Blockscale_Op<mnemonic> {
  let arguments = !con((ins Blockscale_PipelineType:$pipeline), operands);
}
def Blockscale_ProducerAcquireOp
    : Blockscale_PipelineStepOp<"producer_acquire", (ins I32:$stage, I32:$phase)> {
  let summary = "waits until a stage is empty";
  let assemblyFormat = "$pipeline `[` $stage `,` $phase `]` attr-dict";
}
def Blockscale_ProducerCommitOp : Blockscale_PipelineStepOp<"producer_commit", (ins I32:$stage)> {
  let summary = "says that a stage will be full: by its bytes (tma) or when earlier mma ended";
  let description = "Of a pair of CTAs the even one expects the bytes of both.";
  let assemblyFormat = "$pipeline `[` $stage `]` attr-dict";
}
def Blockscale_ConsumerWaitOp
    : Blockscale_PipelineStepOp<"consumer_wait", (ins I32:$stage, I32:$phase)> {
  let summary = "waits until a stage is full";
  let assemblyFormat = "$pipeline `[` $stage `,` $phase `]` attr-dict";
}
def Blockscale_ConsumerReleaseOp : Blockscale_PipelineStepOp<"consumer_release", (ins I32:$stage)> {
  let summary = "says that a stage is empty: when earlier mma ended, or once per warp";
  let description = [{
    In a cluster mma says so to all CTAs that load what it has read, and the warps of a pair
    to its even CTA.
  }];
  let assemblyFormat = "$pipeline `[` $stage `]` attr-dict";
}
def Blockscale_PipelineAdvanceOp : Blockscale_Op<"pipeline_advance", [Pure]> {
  let summary = "the next stage, and its phase, which flips when the ring wraps";
  let arguments = (ins Blockscale_PipelineType:$pipeline, I32:$stage, I32:$phase);
  let results = (outs I32:$next_stage, I32:$next_phase);
  let assemblyFormat = "$pipeline `[` $stage `,` $phase `]` attr-dict";
}
def Blockscale_PipelineDrainOp
    : Blockscale_PipelineStepOp<"pipeline_drain", (ins I32:$stage, I32:$phase)> {
  let summary = "waits until every stage is empty, so that nothing is due when the CTA exits";
  let assemblyFormat = "$pipeline `[` $stage `,` $phase `]` attr-dict";
}

//===----------------------------------------------------------------------===//
// Work on tiles
//===----------------------------------------------------------------------===//

def Blockscale_ScaleTilesOfBOp : Blockscale_Op<"scale_tiles_of_b", [Pure]> {
  let summary = "where the scales of a column tile of B start: the first tile of 128 rows, and the column in it";
  let description = [{
    Column tiles of 64 or 192 start in the middle of a scale tile every other time: 64
    rows are a shift of two columns of tensor memory.
  }];
  let arguments = (ins I32:$tile_column);
  let results = (outs I32:$first, I32:$shift);
  let assemblyFormat = "$tile_column attr-dict";
}
def Blockscale_TmaLoadOp : Blockscale_Op<"tma_load"> {
  let summary = "loads one box into a stage and completes its bytes on the pipeline";
  let description = [{
    A stage of an MN-major operand of more than 128 bytes a line is several boxes, one
    after another; `part` says which. `share sfb`: coordinates are those of the whole box;
    each CTA of the cluster that needs it, as the scales of B here, loads one share and
    sends it to all of them (multicast).
  }];
  let arguments = (ins Blockscale_TensorMapType:$map, Variadic<I32>:$coordinates,
    Blockscale_SharedType:$target, OptionalAttr<I64Attr>:$part, OptionalAttr<Blockscale_ProblemOperandAttr>:$share,
    Blockscale_PipelineType:$pipeline, I32:$stage);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $target (`part` $part^)? (`share` $share^)? `for` $pipeline `[` $stage `]` attr-dict
  }];
}
def Blockscale_CopyScalesOp : Blockscale_Op<"copy_scales"> {
  let summary = "copies `tiles` scale tiles along K of a stage to tensor memory (tcgen05.cp)";
  let description = [{
    Of each 128 rows of the operand, four columns each; the first tile is `from`, or 0. Where
    two products share B, `product` names the one whose rows of A are copied, or both are.
  }];
  let arguments = (ins Blockscale_SharedType:$source, I32:$stage, Blockscale_TmemType:$tmem,
    Blockscale_ScaleOperandAttr:$operand, I64Attr:$tiles, OptionalAttr<I64Attr>:$from, OptionalAttr<I64Attr>:$product);
  let assemblyFormat = [{
    $source `[` $stage `]` `to` $tmem $operand `tiles` $tiles (`from` $from^)? (`product` $product^)? attr-dict
  }];
}
def Blockscale_MmaOp : Blockscale_Op<"mma"> {
  let summary = "`steps` instructions along K of one stage";
  let description = [{
    The first instruction adds to the accumulator stage if `accumulate` holds and
    overwrites it otherwise; the others add. B's scales are read `shift` columns on. The
    first step along K is `from`, or 0. Where two products share B, each step is both: the
    first fills the collector buffer of B, the second uses it last.
  }];
  let arguments = (ins Blockscale_SharedType:$a, Blockscale_SharedType:$b, I32:$stage,
    Blockscale_TmemType:$tmem, I32:$accumulator, I1:$accumulate, I64Attr:$steps, OptionalAttr<I64Attr>:$from,
    Optional<I32>:$shift);
  let assemblyFormat = [{
    $a `,` $b `[` $stage `]` `into` $tmem `[` $accumulator `]` `if` $accumulate `steps` $steps (`from` $from^)?
    (`shift` $shift^)? attr-dict
  }];
}
def Blockscale_MmaSpanOp : Blockscale_Op<"mma_span", [AttrSizedOperandSegments]> {
  let summary = "one instruction along K, which may run on into the next stage";
  let description = [{
    `k` elements of every row from byte `byte` of a stage; where they cross the end of its
    rows, the rest are the first bytes of stage `next`. `scale` is the first of their scales among those
    that were copied last. `accumulate` and `shift` as in `mma`.
  }];
  let arguments = (ins Blockscale_SharedType:$a, Blockscale_SharedType:$b, I32:$stage, Optional<I32>:$next,
    I64Attr:$byte, Blockscale_TmemType:$tmem, I32:$accumulator, I1:$accumulate, I64Attr:$k, I64Attr:$scale,
    Optional<I32>:$shift);
  let assemblyFormat = [{
    $a `,` $b `[` $stage (`,` $next^)? `]` `byte` $byte `into` $tmem `[` $accumulator `]` `if` $accumulate
    `k` $k `scale` $scale (`shift` $shift^)? attr-dict
  }];
}
def Blockscale_LoadAccumulatorOp : Blockscale_Op<"load_accumulator"> {
  let summary = "columns `column`.. of an accumulator stage, one row per lane; a second product's follow the first's";
  let description = "The values may be used at once (9.7.18.6.4.5); `consumer_release` waits until the columns are free.";
  let arguments = (ins Blockscale_TmemType:$tmem, I32:$accumulator, I64Attr:$column);
  let results = (outs Variadic<F32>:$values);
  let assemblyFormat = "$tmem `[` $accumulator `]` `column` $column attr-dict `:` type($values)";
}
def Blockscale_LoadCOp : Blockscale_Op<"load_c"> {
  let summary = "columns `column`.. of a tile of C, one row per lane, as f32";
  let description = "`tile_row` counts 128 rows, here and in stores. What lies outside the matrix is read from inside it and never stored.";
  let arguments = (ins Blockscale_BufferType:$buffer, I32:$tile_row, I32:$tile_column, I64Attr:$column,
    Optional<I32>:$batch);
  let results = (outs Variadic<F32>:$values);
  let assemblyFormat = [{
    $buffer `[` $tile_row `,` $tile_column `]` `column` $column (`batch` $batch^)? attr-dict `:` type($values)
  }];
}
def Blockscale_ApplyEpilogueOp : Blockscale_Op<"apply_epilogue", [AttrSizedOperandSegments]> {
  let summary = "f(alpha * alpha_columns[column] * value + bias[column] + beta * c), each part optional";
  let description = [{
    `column` is the column of the tile of the first value; `tile_column` the tile. Products with
    alpha and alpha_columns are rounded one after the other, but the last of them and bias are one
    fma, the part of c another; f is `activation`.

    Rules:
    - apply_epilogue_c1: as many results as values, and as many values of C or none.
  }];
  let arguments = (ins Optional<F32>:$alpha, Optional<Blockscale_BufferType>:$alpha_columns,
    Optional<Blockscale_BufferType>:$bias, Optional<F32>:$beta,
    I32:$tile_column, I64Attr:$column, Variadic<F32>:$values, Variadic<F32>:$c,
    OptionalAttr<Blockscale_ActivationAttr>:$activation);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = [{
    (`alpha` $alpha^)? (`alpha_columns` $alpha_columns^)? (`bias` $bias^)? (`beta` $beta^)? (`c` `(` $c^ `:` type($c) `)`)? `at` $tile_column `,` $column `(` $values `:` type($values) `)` attr-dict `:` type($results)
  }];
  let hasVerifier = 1;
}
def Blockscale_LoadRowAlphaOp : Blockscale_Op<"load_row_alpha"> {
  let summary = "the factor of the lane's row of the tile";
  let description = "`tile_row` counts 128 rows. Rows outside the matrix have that of the last one.";
  let arguments = (ins Blockscale_BufferType:$buffer, I32:$tile_row);
  let results = (outs F32:$alpha);
  let assemblyFormat = "$buffer `[` $tile_row `]` attr-dict";
}
def Blockscale_ApplyGateOp : Blockscale_Op<"apply_gate", [SameVariadicOperandSize]> {
  let summary = "f(gate) * value of each pair of columns";
  let description = [{
    Rules:
    - apply_gate_c1: as many results as gates.
  }];
  let arguments = (ins Blockscale_ActivationAttr:$function, Variadic<F32>:$gates, Variadic<F32>:$values);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = [{
    $function `(` $gates `:` type($gates) `)` `times` `(` $values `:` type($values) `)` attr-dict `:` type($results)
  }];
  let hasVerifier = 1;
}
def Blockscale_QuantizeColumnsOp : Blockscale_Op<"quantize_columns", [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "consecutive columns of the lane's row as elements and scales of D";
  let description = [{
    Whole blocks of the problem's `quantized`, by the rules of `blockscale.quantize`: one scale
    byte each, and elements packed, low bits first. `sequence` is how scales become factors,
    `global` what values of ue4m3 scales are divided by.

    Rules:
    - quantize_columns_c1: the kernel's D is quantised, values are whole blocks, with a word for each 32 bits of
      elements and a scale for each block, global is given for ue4m3 only, and sequence is the schedule's.
  }];
  let arguments = (ins Variadic<F32>:$values, Optional<F32>:$global, Blockscale_SequenceAttr:$sequence);
  let results = (outs Variadic<I32>:$words, Variadic<I32>:$scales);
  let assemblyFormat = [{
    $values (`over` $global^)? `by` $sequence attr-dict `:` type($values) `->` type($words) `scales` type($scales)
  }];
  let hasVerifier = 1;
}
def Blockscale_StoreColumnsOp : Blockscale_Op<"store_columns"> {
  let summary = "stores elements of whole blocks that lie inside the matrix";
  let description = "`column` is the first one's in D's part of the tile; words as `quantize_columns` gives them.";
  let arguments = (ins Variadic<I32>:$words, Blockscale_BufferType:$buffer, I32:$tile_row, I32:$tile_column,
    I64Attr:$column);
  let assemblyFormat = [{
    $words `to` $buffer `[` $tile_row `,` $tile_column `]` `column` $column attr-dict `:` type($words)
  }];
}
def Blockscale_StoreColumnScalesOp : Blockscale_Op<"store_column_scales"> {
  let summary = "stores scales of consecutive blocks, and zeroes where tiles of scales have padding";
  let description = [{
    `column` is the first block's first column in D's part of the tile. Linear scales are stored
    where their blocks lie inside the matrix; of tiled ones every byte is, zeroes where they do not.

    Rules:
    - store_column_scales_c1: scales are 1, 2 or 4, and their first is a multiple of as many in D's part of the tile.
  }];
  let arguments = (ins Variadic<I32>:$scales, Blockscale_BufferType:$buffer, I32:$tile_row, I32:$tile_column,
    I64Attr:$column);
  let assemblyFormat = [{
    $scales `to` $buffer `[` $tile_row `,` $tile_column `]` `column` $column attr-dict `:` type($scales)
  }];
  let hasVerifier = 1;
}
def Blockscale_StagingAcquireOp : Blockscale_Op<"staging_acquire"> {
  let summary = "waits until the warp's earlier TMA store has read a staging buffer";
  let arguments = (ins Blockscale_SharedType:$staging, I64Attr:$buffer);
  let assemblyFormat = "$staging `[` $buffer `]` attr-dict";
}
def Blockscale_StoreStagingOp : Blockscale_Op<"store_staging"> {
  let summary = "converts to the output format and stores at byte `byte` of the lane's 128-byte row";
  let arguments = (ins Blockscale_SharedType:$staging, I64Attr:$buffer, I64Attr:$byte, Variadic<F32>:$values);
  let assemblyFormat = "$values `to` $staging `[` $buffer `]` `byte` $byte attr-dict `:` type($values)";
}
def Blockscale_TmaStoreOp : Blockscale_Op<"tma_store"> {
  let summary = "stores the warp's 32 rows of a staging buffer at column `column` of the tile";
  let arguments = (ins Blockscale_SharedType:$staging, I64Attr:$buffer, Blockscale_TensorMapType:$map,
    I32:$tile_row, I32:$tile_column, I64Attr:$column, Optional<I32>:$batch);
  let assemblyFormat = [{
    $staging `[` $buffer `]` `to` $map `[` $tile_row `,` $tile_column `]` `column` $column (`batch` $batch^)? attr-dict
  }];
}
def Blockscale_StagingDrainOp : Blockscale_Op<"staging_drain"> {
  let summary = "waits until every TMA store of the warp has read its staging buffer";
  let arguments = (ins Blockscale_SharedType:$staging);
  let assemblyFormat = "$staging attr-dict";
}
def Blockscale_PlainStoreOp : Blockscale_Op<"plain_store", [AttrSizedOperandSegments]> {
  let summary = "converts and stores what lies inside the matrix, element by element";
  let arguments = (ins Blockscale_BufferType:$buffer, I32:$tile_row, I32:$tile_column, I64Attr:$column,
    Variadic<F32>:$values, Optional<I32>:$batch);
  let assemblyFormat = [{
    $values `to` $buffer `[` $tile_row `,` $tile_column `]` `column` $column (`batch` $batch^)? attr-dict `:` type($values)
  }];
}

#endif // BLOCKSCALE_KERNELOPS_TD
