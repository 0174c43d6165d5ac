//===- WgmmaKernelOps.td - levels 3 and 4 of wgmma kernels -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of q4_K weights and f16 activations. TMA fills rings of shared memory; two
// warps turn the headers of blocks into pairs (scale, -min); warpgroups make fragments
// of weights in registers and multiply them with activations in shared memory. Stages
// and phases are explicit i32 values.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_WGMMAKERNELOPS_TD
#define BLOCKSCALE_WGMMAKERNELOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

def Blockscale_RingAttr : Blockscale_Attr<"Ring", "ring"> {
  let summary = "a ring of stages in shared memory and its barriers";
  let description = [{
    `stages` of `bytes` from `offset`, as many 8-byte barriers of full stages from `full`
    and of free ones from `free`. Terms are free with their blocks.
  }];
  let parameters = (ins WarpKernelEnumParam<"RingContent", "what it holds">:$content,
    "int64_t":$offset, "int64_t":$bytes, "int64_t":$stages, "int64_t":$full, "int64_t":$free);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Blockscale_RingType : Blockscale_Type<"Ring", "ring"> {
  let summary = "a ring of stages in shared memory";
}
def Blockscale_WgmmaRoleAttr : Blockscale_Attr<"WgmmaRole", "wgmma_role_kind"> {
  let summary = "what some warps of a wgmma kernel do";
  let parameters = (ins WarpKernelEnumParam<"WgmmaRole", "role">:$value);
  let assemblyFormat = "$value";
}

def Blockscale_RingOp : Blockscale_Op<"ring"> {
  let summary = "plans a ring and initialises its barriers";
  let arguments = (ins Blockscale_RingAttr:$plan);
  let results = (outs Blockscale_RingType:$result);
  let assemblyFormat = "$plan attr-dict";
}

//===----------------------------------------------------------------------===//
// Kernel and roles
//===----------------------------------------------------------------------===//

def Blockscale_WgmmaKernelOp : Blockscale_Op<"wgmma_kernel",
    [FunctionOpInterface, IsolatedFromAbove, SingleBlock, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a kernel of warps with roles around wgmma, at the kernel or the machine level";
  let description = [{
    Parameters: maps of activations and of blocks, and the buffer of D. `threads` is the
    block size, `shared_bytes` the dynamic shared memory.

    Rules, checked in this order:
    - wgmma_kernel_c1: parameters are two tensor maps and a buffer; nothing is returned
    - the problem follows gemm_c5, gemm_c15 to gemm_c17, the schedule wgmma_schedule_c1 to wgmma_schedule_c9
    - wgmma_kernel_c2: the schedule's chip must be the module's `blockscale.arch`
    - wgmma_kernel_c3: threads and shared_bytes must be the schedule's
    - wgmma_kernel_c4: rings must be those of the schedule, each once, of its bytes and stages
    - wgmma_kernel_c5: rings and barriers must lie inside `shared_bytes`, apart from each other;
      blocks and tokens on 1024 bytes, which the swizzle needs, terms on 16, barriers on 8
    - wgmma_kernel_c6: each role must stand once and do its own work only
    - wgmma_kernel_c7: rings must be what an op reads; weights of parts and runs that there are
      must meet activations of the same run
    - wgmma_kernel_c8: a stage must be waited for before it is read, blocks by way of their terms, and a role must give back
      every stage that it waits for
    - wgmma_kernel_c9: multiply must store its sums; of a split k it must share them and add
      them up instead, each behind the other's barrier: share_sums, cluster_barrier, add_sums,
      cluster_barrier
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
    Blockscale_BlockProblemAttr:$problem, Blockscale_WgmmaScheduleAttr:$schedule,
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

def Blockscale_WgmmaRoleOp : Blockscale_Op<"wgmma_role",
    [SingleBlock, NoTerminator, NoRegionArguments, HasParent<"WgmmaKernelOp">]> {
  let summary = "what some warps of the block do";
  let description = [{
    copy_tokens and copy_blocks run in one lane of warps 0 and 1, convert in warps 2 and
    3, multiply in the warpgroups from warp 4 on.
  }];
  let arguments = (ins Blockscale_WgmmaRoleAttr:$role);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$role $body attr-dict";
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

def Blockscale_RingFillOp : Blockscale_Op<"ring_fill"> {
  let summary = "waits until a stage is free and has TMA fill it";
  let arguments = (ins Blockscale_RingType:$ring, I32:$stage, I32:$phase,
    Blockscale_TensorMapType:$map, I32:$x, I32:$y);
  let assemblyFormat = "$ring `[` $stage `,` $phase `]` `from` $map `[` $x `,` $y `]` attr-dict";
}
def Blockscale_RingWaitOp : Blockscale_Op<"ring_wait"> {
  let summary = "waits until a stage is full";
  let arguments = (ins Blockscale_RingType:$ring, I32:$stage, I32:$phase);
  let assemblyFormat = "$ring `[` $stage `,` $phase `]` attr-dict";
}
def Blockscale_RingFreeOp : Blockscale_Op<"ring_free"> {
  let summary = "says that this warp has read a stage";
  let arguments = (ins Blockscale_RingType:$ring, I32:$stage);
  let assemblyFormat = "$ring `[` $stage `]` attr-dict";
}
def Blockscale_RingNextOp : Blockscale_Op<"ring_next", [Pure]> {
  let summary = "the next stage, and its phase, which flips when the ring wraps";
  let arguments = (ins Blockscale_RingType:$ring, I32:$stage, I32:$phase);
  let results = (outs I32:$next_stage, I32:$next_phase);
  let assemblyFormat = "$ring `[` $stage `,` $phase `]` attr-dict";
}

//===----------------------------------------------------------------------===//
// Work on stages
//===----------------------------------------------------------------------===//

def Blockscale_ConvertTermsOp : Blockscale_Op<"convert_terms"> {
  let summary = "headers of a stage's blocks to pairs f16(d * sc), -f16(dmin * min)";
  let description = "Says that the stage of terms is full.";
  let arguments = (ins Blockscale_RingType:$blocks, Blockscale_RingType:$terms, I32:$stage);
  let assemblyFormat = "$blocks `to` $terms `[` $stage `]` attr-dict";
}
def Blockscale_LoadHalvesOp : Blockscale_Op<"load_halves"> {
  let summary = "weights of the warpgroup's rows, fma(nibble, scale, -min) in f16";
  let description = [{
    Of the bytes 32 part + 16 run .. 32 part + 16 run + 15 of each row's nibbles: the
    low ones are k = 64 part + 16 run .., the high ones 32 further on. Words in order of
    fragment of 64 rows, half, register of wgmma's A.
  }];
  let arguments = (ins Blockscale_RingType:$blocks, Blockscale_RingType:$terms, I32:$stage,
    I64Attr:$part, I64Attr:$run);
  let results = (outs VectorOfRankAndType<[1], [I32]>:$values);
  let assemblyFormat = [{
    $blocks `,` $terms `[` $stage `]` `part` $part `run` $run attr-dict `:` type($values)
  }];
}
def Blockscale_MultiplyHalvesOp : Blockscale_Op<"multiply_halves"> {
  let summary = "adds the products of both halves of a run: wgmma m64nNk16, A in registers";
  let description = "Asynchronous: `wait_products` says when operands and sums are free.";
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$sums, VectorOfRankAndType<[1], [I32]>:$weights,
    Blockscale_RingType:$tokens, I32:$stage, I64Attr:$run);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = [{
    $sums `,` $weights `,` $tokens `[` $stage `]` `run` $run attr-dict `:` type($sums) `,`
    type($weights) `->` type($result)
  }];
}
def Blockscale_WaitProductsOp : Blockscale_Op<"wait_products"> {
  let summary = "waits until at most `pending` of the latest multiply_halves are at work";
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$sums, I64Attr:$pending);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = "$sums `pending` $pending attr-dict `:` type($sums) `->` type($result)";
}
def Blockscale_StoreSumsOp : Blockscale_Op<"store_sums"> {
  let summary = "stores what of a tile lies inside the matrix";
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$sums, Blockscale_BufferType:$buffer,
    I32:$token_tile, I32:$row_tile);
  let assemblyFormat = [{
    $sums `to` $buffer `[` $token_tile `,` $row_tile `]` attr-dict `:` type($sums)
  }];
}

//===----------------------------------------------------------------------===//
// Sums of a split k
//===----------------------------------------------------------------------===//

def Blockscale_ShareSumsOp : Blockscale_Op<"share_sums"> {
  let summary = "writes the sums of a part of k to this CTA's plane of partial sums";
  let description = [{
    The plane lies over the stages, so that it is written when all warps that multiply have
    read theirs. Tokens are rows of it, four words apart from each other.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$sums);
  let assemblyFormat = "$sums attr-dict `:` type($sums)";
}
def Blockscale_ClusterBarrierOp : Blockscale_Op<"cluster_barrier"> {
  let summary = "waits for the threads of the cluster that multiply; the others have left";
  let assemblyFormat = "attr-dict";
}
def Blockscale_AddSumsOp : Blockscale_Op<"add_sums"> {
  let summary = "adds the planes of the cluster's CTAs and stores what lies inside the matrix";
  let description = [{
    Each CTA takes its share of the tile, by `rank`, and adds what the CTAs of ranks 0, 1, ...
    have of it in this order.
  }];
  let arguments = (ins Blockscale_BufferType:$buffer, I32:$token_tile, I32:$row_tile, I32:$rank);
  let assemblyFormat = "`to` $buffer `[` $token_tile `,` $row_tile `]` `share` $rank attr-dict";
}

//===----------------------------------------------------------------------===//
// Machine level
//===----------------------------------------------------------------------===//

def Blockscale_WgmmaFenceOp : Blockscale_Op<"wgmma_fence"> {
  let summary = "wgmma.fence.sync.aligned";
  let assemblyFormat = "attr-dict";
}
def Blockscale_WgmmaCommitGroupOp : Blockscale_Op<"wgmma_commit_group"> {
  let summary = "wgmma.commit_group.sync.aligned";
  let assemblyFormat = "attr-dict";
}
def Blockscale_WgmmaMmaAsyncOp : Blockscale_Op<"wgmma_mma_async"> {
  let summary = "wgmma.mma_async.sync.aligned.m64nNk16.f32.f16.f16, A in registers";
  let description = "N is twice the number of sums.";
  let arguments = (ins I32:$a0, I32:$a1, I32:$a2, I32:$a3, I64:$b, Variadic<F32>:$sums);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = [{
    $a0 `,` $a1 `,` $a2 `,` $a3 `,` $b `into` $sums attr-dict `:` type($sums) `->` type($results)
  }];
}
def Blockscale_WgmmaWaitGroupOp : Blockscale_Op<"wgmma_wait_group"> {
  let summary = "wgmma.wait_group.sync.aligned N";
  let description = "Values that are read afterwards go through it, so that nothing reads them before.";
  let arguments = (ins I32Attr:$pending, Variadic<F32>:$sums);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = "$pending (`of` $sums^ `:` type($sums) `->` type($results))? attr-dict";
}

#endif // BLOCKSCALE_WGMMAKERNELOPS_TD
