//===- MachineOps.td - level 4: one op per PTX instruction -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names follow PTX's word order. Addresses of shared and tensor memory are i32,
// shared-memory descriptors i64; what is constant in a descriptor stays decoded
// until the last conversion. Every op says which instruction it is.
//
// Rules besides those of facts (idesc_cN, smem_desc_cN, tmem_cN):
// - machine_c1: an op whose rules depend on the chip stands in a blockscale.kernel
// - machine_c2: arrival counts are 1..2^20-1
// - machine_c3: transaction bytes are 0..2^20-1
// - machine_c4: a tensor map has 1 to 5 coordinates
// - machine_c5: pending groups are at least 0
// - machine_c6: 32x32b loads 1, 2, 4 … 128 columns
// - machine_c7: a descriptor advances by multiples of 16 bytes
// - machine_c8: a vector access has 1, 2 or 4 values of one type
// - machine_c10: a kernel of pairs has the pair form of every tcgen05 op, another none
// - machine_c11: .collector::b is of targets that have it
//
// `pair` is .cta_group::2; without it an op is .cta_group::1.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_MACHINEOPS_TD
#define BLOCKSCALE_MACHINEOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Descriptors, decoded
//===----------------------------------------------------------------------===//

def Blockscale_IDescAttr : Blockscale_Attr<"IDesc", "idesc"> {
  let summary = "instruction descriptor of tcgen05.mma, decoded";
  let description = [{
    `k` is the K extent of one instruction in elements; `sfa_id` and `sfb_id`
    name the first scale byte in the word at the scale column.
  }];
  let parameters = (ins MmaKindParam:$kind, FormatParam:$a, FormatParam:$b,
    ScaleFormatParam:$scale, "int64_t":$block, "int64_t":$m, "int64_t":$n, "int64_t":$k,
    "int64_t":$sfa_id, "int64_t":$sfb_id, MajorParam:$major_a, MajorParam:$major_b);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// The word that the hardware takes, or why there is none.
    /// `ctaGroup` is 1 or 2, which is not in the word but decides what is legal.
    ::blockscale::facts::Result<uint32_t> encode(::blockscale::facts::Arch arch, int ctaGroup) const;
  }];
}

def Blockscale_SmemDescAttr : Blockscale_Attr<"SmemDesc", "smem_desc"> {
  let summary = "constant part of a shared-memory matrix descriptor, decoded";
  let description = "Byte offsets of the leading and the stride dimension, and the swizzle.";
  let parameters = (ins "int64_t":$leading, "int64_t":$stride, FactsParam<"Swizzle", "swizzle">:$swizzle);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// The descriptor of a matrix at address 0; an address is or-ed in by value.
    /// `absolute`: the leading offset is left to an address, which is or-ed in, too.
    ::blockscale::facts::Result<uint64_t> encode(::blockscale::facts::Arch arch, bool absolute = false) const;
  }];
}

def Blockscale_CollectorUseAttr : Blockscale_Attr<"CollectorUse", "collector_use"> {
  let summary = "what a product does with the collector buffer of an operand";
  let parameters = (ins AttrOrTypeParameter<"::blockscale::CollectorUse", "fill or lastuse">:$value);
  let assemblyFormat = "$value";
}

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

class Blockscale_RegisterOp<string mnemonic, string instruction>
    : Blockscale_Op<mnemonic, [Pure]> {
  let summary = instruction;
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

/// An instruction without operands or results.
class Blockscale_BareOp<string mnemonic, string instruction> : Blockscale_Op<mnemonic> {
  let summary = instruction;
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Registers and addresses
//===----------------------------------------------------------------------===//

def Blockscale_SharedBaseOp : Blockscale_RegisterOp<"shared_base",
  "address of the dynamic shared memory, 1024-aligned">;
def Blockscale_TidXOp : Blockscale_RegisterOp<"tid_x", "%tid.x">;
def Blockscale_LaneIdOp : Blockscale_RegisterOp<"laneid", "%laneid">;
def Blockscale_CtaIdXOp : Blockscale_RegisterOp<"ctaid_x", "%ctaid.x">;
def Blockscale_NctaIdXOp : Blockscale_RegisterOp<"nctaid_x", "%nctaid.x">;
def Blockscale_ClusterCtaRankOp : Blockscale_RegisterOp<"cluster_ctarank", "%cluster_ctarank">;

//===----------------------------------------------------------------------===//
// Barriers and fences
//===----------------------------------------------------------------------===//

def Blockscale_BarSyncOp : Blockscale_Op<"bar_sync"> {
  let summary = "barrier.cta.sync.aligned of all threads";
  let arguments = (ins I32Attr:$id);
  let assemblyFormat = "$id attr-dict";
}
def Blockscale_BarWarpSyncOp : Blockscale_BareOp<"bar_warp_sync", "bar.warp.sync of all lanes">;
def Blockscale_ElectSyncOp : Blockscale_Op<"elect_sync"> {
  let summary = "elect.sync of all lanes; true in one of them";
  let results = (outs I1:$elected);
  let assemblyFormat = "attr-dict";
}
def Blockscale_MbarrierInitOp : Blockscale_Op<"mbarrier_init"> {
  let summary = "mbarrier.init.shared.b64";
  let arguments = (ins I32:$barrier, I32Attr:$count);
  let assemblyFormat = "$barrier `,` $count attr-dict";
  let hasVerifier = 1;
}
def Blockscale_MbarrierArriveOp : Blockscale_Op<"mbarrier_arrive"> {
  let summary = "mbarrier.arrive.shared{::cluster}.b64, release.cta, in a cluster release.cluster";
  let description = "`cluster`: the barrier may be another CTA's.";
  let arguments = (ins I32:$barrier, UnitAttr:$cluster);
  let assemblyFormat = "(`cluster` $cluster^)? $barrier attr-dict";
}
def Blockscale_MbarrierArriveExpectTxOp : Blockscale_Op<"mbarrier_arrive_expect_tx"> {
  let summary = "mbarrier.arrive.expect_tx.shared.b64, release.cta";
  let arguments = (ins I32:$barrier, I32Attr:$bytes);
  let assemblyFormat = "$barrier `,` $bytes attr-dict";
  let hasVerifier = 1;
}
def Blockscale_MbarrierTryWaitParityOp : Blockscale_Op<"mbarrier_try_wait_parity"> {
  let summary = "mbarrier.try_wait.parity{.relaxed}.shared.b64, acquire.cta unless relaxed, or of scope cluster";
  let description = "True when the phase of that parity is over; may return false at any time.";
  let arguments = (ins I32:$barrier, I32:$parity, UnitAttr:$relaxed, UnitAttr:$cluster);
  let results = (outs I1:$done);
  let assemblyFormat = "(`relaxed` $relaxed^)? (`cluster` $cluster^)? $barrier `,` $parity attr-dict";
}
def Blockscale_BarrierClusterArriveOp : Blockscale_BareOp<"barrier_cluster_arrive",
  "barrier.cluster.arrive.release.aligned">;
def Blockscale_BarrierClusterWaitOp : Blockscale_BareOp<"barrier_cluster_wait",
  "barrier.cluster.wait.acquire.aligned">;
def Blockscale_FenceMbarrierInitOp : Blockscale_BareOp<"fence_mbarrier_init",
  "fence.mbarrier_init.release.cluster">;
def Blockscale_FenceProxyAsyncOp : Blockscale_BareOp<"fence_proxy_async",
  "fence.proxy.async.shared::cta">;

//===----------------------------------------------------------------------===//
// TMA
//===----------------------------------------------------------------------===//

def Blockscale_PrefetchTensormapOp : Blockscale_Op<"prefetch_tensormap"> {
  let summary = "prefetch.tensormap";
  let arguments = (ins Blockscale_TensorMapType:$map);
  let assemblyFormat = "$map attr-dict";
}
def Blockscale_CpAsyncBulkTensorLoadOp : Blockscale_Op<"cp_async_bulk_tensor_load", [AttrSizedOperandSegments]> {
  let summary = "cp.async.bulk.tensor.Nd.shared::cluster.global.tile.mbarrier::complete_tx::bytes{.multicast::cluster}{.cta_group::2}";
  let description = [{
    Coordinates in elements, dimension 0 first. Bit r of `mask` sends the box to the CTA of
    rank r, too, at the same offset; of a pair the CTA of the barrier's parity is told.
  }];
  let arguments = (ins I32:$target, Blockscale_TensorMapType:$map, Variadic<I32>:$coordinates, I32:$barrier,
    Optional<I32>:$mask, UnitAttr:$pair);
  let assemblyFormat = [{
    (`pair` $pair^)? $target `,` $map `[` $coordinates `]` `,` $barrier (`multicast` $mask^)? attr-dict
  }];
  let hasVerifier = 1;
}
def Blockscale_CpAsyncBulkTensorStoreOp : Blockscale_Op<"cp_async_bulk_tensor_store"> {
  let summary = "cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group";
  let arguments = (ins Blockscale_TensorMapType:$map, Variadic<I32>:$coordinates, I32:$source);
  let assemblyFormat = "$map `[` $coordinates `]` `,` $source attr-dict";
  let hasVerifier = 1;
}
def Blockscale_CpAsyncBulkCommitGroupOp : Blockscale_BareOp<"cp_async_bulk_commit_group",
  "cp.async.bulk.commit_group">;
def Blockscale_CpAsyncBulkWaitGroupOp : Blockscale_Op<"cp_async_bulk_wait_group"> {
  let summary = "cp.async.bulk.wait_group{.read} N";
  let arguments = (ins I32Attr:$pending, UnitAttr:$read);
  let assemblyFormat = "(`read` $read^)? $pending attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tensor memory and the tensor core
//===----------------------------------------------------------------------===//

def Blockscale_Tcgen05AllocOp : Blockscale_Op<"tcgen05_alloc"> {
  let summary = "tcgen05.alloc.cta_group::G{.exclusive}.sync.aligned.shared::cta.b32";
  let description = "Writes the address of `columns` columns to shared memory at `target`.";
  let arguments = (ins I32:$target, I32Attr:$columns, UnitAttr:$pair);
  let assemblyFormat = "(`pair` $pair^)? $target `,` $columns attr-dict";
  let hasVerifier = 1;
}
def Blockscale_Tcgen05DeallocOp : Blockscale_Op<"tcgen05_dealloc"> {
  let summary = "tcgen05.dealloc.cta_group::G{.exclusive}.sync.aligned.b32";
  let arguments = (ins I32:$address, I32Attr:$columns, UnitAttr:$pair);
  let assemblyFormat = "(`pair` $pair^)? $address `,` $columns attr-dict";
  let hasVerifier = 1;
}
def Blockscale_Tcgen05RelinquishAllocPermitOp : Blockscale_Op<"tcgen05_relinquish_alloc_permit"> {
  let summary = "tcgen05.relinquish_alloc_permit.cta_group::G.sync.aligned";
  let arguments = (ins UnitAttr:$pair);
  let assemblyFormat = "(`pair` $pair^)? attr-dict";
  let hasVerifier = 1;
}
def Blockscale_Tcgen05FenceBeforeOp : Blockscale_BareOp<"tcgen05_fence_before_thread_sync",
  "tcgen05.fence::before_thread_sync">;
def Blockscale_Tcgen05FenceAfterOp : Blockscale_BareOp<"tcgen05_fence_after_thread_sync",
  "tcgen05.fence::after_thread_sync">;
def Blockscale_Tcgen05CommitOp : Blockscale_Op<"tcgen05_commit"> {
  let summary = "tcgen05.commit.cta_group::G.mbarrier::arrive::one.shared::cluster{.multicast::cluster}.b64";
  let description = "Bit r of `mask` arrives at the barrier of the CTA of rank r, at the same offset.";
  let arguments = (ins I32:$barrier, Optional<I32>:$mask, UnitAttr:$pair);
  let assemblyFormat = "(`pair` $pair^)? $barrier (`multicast` $mask^)? attr-dict";
  let hasVerifier = 1;
}
def Blockscale_Tcgen05CpOp : Blockscale_Op<"tcgen05_cp"> {
  let summary = "tcgen05.cp.cta_group::G.32x128b.warpx4";
  let description = [{
    One 512-byte scale tile onto four columns, in all four lane parts; both CTAs of a pair
    do it, each from its own shared memory.
  }];
  let arguments = (ins I32:$address, I64:$source, UnitAttr:$pair);
  let assemblyFormat = "(`pair` $pair^)? $address `,` $source attr-dict";
  let hasVerifier = 1;
}
def Blockscale_Tcgen05MmaOp : Blockscale_Op<"tcgen05_mma"> {
  let summary = "tcgen05.mma.cta_group::G.kind::K.block_scale{.blockN}{.collector::a::discard.collector::b::U}";
  let description = [{
    D, A descriptor, B descriptor, instruction descriptor, scales of A and of B in
    tensor memory, and whether D is added to.
  }];
  let arguments = (ins I32:$d, I64:$a, I64:$b, Blockscale_IDescAttr:$idesc, I32:$sfa, I32:$sfb, I1:$accumulate,
    UnitAttr:$pair, OptionalAttr<Blockscale_CollectorUseAttr>:$collector_b);
  let assemblyFormat = "(`pair` $pair^)? (`collector_b` $collector_b^)? $d `,` $a `,` $b `,` qualified($idesc) `,` $sfa `,` $sfb `,` $accumulate attr-dict";
  let hasVerifier = 1;
}
def Blockscale_Tcgen05LdOp : Blockscale_Op<"tcgen05_ld"> {
  let summary = "tcgen05.ld.sync.aligned.32x32b.xN.b32";
  let description = "Column i of this lane in result i; N is the number of results.";
  let arguments = (ins I32:$address);
  let results = (outs Variadic<I32>:$values);
  let assemblyFormat = "$address attr-dict `:` type($values)";
  let hasVerifier = 1;
}
def Blockscale_Tcgen05WaitLdOp : Blockscale_BareOp<"tcgen05_wait_ld", "tcgen05.wait::ld.sync.aligned">;

def Blockscale_SmemDescOp : Blockscale_Op<"smem_desc", [Pure]> {
  let summary = "shared-memory descriptor of a matrix at an address";
  let description = "Rows that cross their end go on at address `next`, which then takes the leading offset's place (bit 52).";
  let arguments = (ins I32:$address, Optional<I32>:$next, Blockscale_SmemDescAttr:$desc);
  let results = (outs I64:$result);
  let assemblyFormat = "$address (`then` $next^)? `,` qualified($desc) attr-dict";
  let hasVerifier = 1;
}
def Blockscale_DescAdvanceOp : Blockscale_Op<"desc_advance", [Pure]> {
  let summary = "advances the start address of a descriptor by a constant number of bytes";
  let arguments = (ins I64:$desc, I32Attr:$bytes);
  let results = (outs I64:$result);
  let assemblyFormat = "$desc `,` $bytes attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Loads, stores and arithmetic of the epilogue
//===----------------------------------------------------------------------===//

def Blockscale_LdSharedOp : Blockscale_Op<"ld_shared"> {
  let summary = "ld.shared.b32";
  let arguments = (ins I32:$address);
  let results = (outs I32:$result);
  let assemblyFormat = "$address attr-dict";
}
def Blockscale_StSharedOp : Blockscale_Op<"st_shared"> {
  let summary = "st.shared.v4.b32";
  let arguments = (ins I32:$address, Variadic<I32>:$values);
  let assemblyFormat = "$address `,` $values attr-dict";
  let hasVerifier = 1;
}
def Blockscale_LdGlobalOp : Blockscale_Op<"ld_global"> {
  let summary = "ld.global{.v2,.v4}.{f32,b16}";
  let description = "Offset in bytes, aligned to what is loaded; all values have one type.";
  let arguments = (ins Blockscale_BufferType:$buffer, I64:$offset);
  let results = (outs Variadic<AnyTypeOf<[F32, F16, BF16]>>:$values);
  let assemblyFormat = "$buffer `[` $offset `]` attr-dict `:` type($values)";
  let hasVerifier = 1;
}
def Blockscale_StGlobalOp : Blockscale_Op<"st_global"> {
  let summary = "st.global.{b16,b32}";
  let description = "Offset in bytes.";
  let arguments = (ins Blockscale_BufferType:$buffer, I64:$offset, AnyTypeOf<[I16, I32]>:$value);
  let assemblyFormat = "$buffer `[` $offset `]` `,` $value attr-dict `:` type($value)";
}
def Blockscale_FmaRnOp : Blockscale_Op<"fma_rn", [Pure]> {
  let summary = "fma.rn.f32";
  let arguments = (ins F32:$a, F32:$b, F32:$c);
  let results = (outs F32:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict";
}
def Blockscale_Ex2ApproxOp : Blockscale_Op<"ex2_approx", [Pure]> {
  let summary = "ex2.approx.ftz.f32";
  let arguments = (ins F32:$a);
  let results = (outs F32:$result);
  let assemblyFormat = "$a attr-dict";
}
def Blockscale_RcpApproxOp : Blockscale_Op<"rcp_approx", [Pure]> {
  let summary = "rcp.approx.ftz.f32";
  let arguments = (ins F32:$a);
  let results = (outs F32:$result);
  let assemblyFormat = "$a attr-dict";
}
def Blockscale_CvtRnBf16x2Op : Blockscale_Op<"cvt_rn_bf16x2", [Pure]> {
  let summary = "cvt.rn.bf16x2.f32 d, high, low";
  let arguments = (ins F32:$high, F32:$low);
  let results = (outs I32:$result);
  let assemblyFormat = "$high `,` $low attr-dict";
}

def Blockscale_CvtRnF16x2Op : Blockscale_Op<"cvt_rn_f16x2", [Pure]> {
  let summary = "cvt.rn.f16x2.f32 d, high, low";
  let arguments = (ins F32:$high, F32:$low);
  let results = (outs I32:$result);
  let assemblyFormat = "$high `,` $low attr-dict";
}

#endif // BLOCKSCALE_MACHINEOPS_TD
