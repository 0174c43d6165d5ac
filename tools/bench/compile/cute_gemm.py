# ===- cute_gemm.py - the peer's compile time: CuTe DSL --------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# An NVFP4 product of 128x128 tiles in CuTe DSL, of the same making as ours: warps
# 0-3 epilogue, 4 MMA and scale copies, 5 TMA; an operand ring, one accumulator.
# Compiled to a cubin without a GPU. Run as a process of its own: the caller
# measures that. Prints the import and two compiles (--once: one) in
# ms of wall time.
#
# ===-----------------------------------------------------------------------===#

import os
import sys
import time

ARCH = sys.argv[1]
os.environ["CUTE_DSL_ARCH"] = ARCH
os.environ["CUTE_DSL_NO_CACHE"] = "1"
os.environ["CUTE_DSL_DISABLE_FILE_CACHING"] = "1"
begin = time.perf_counter()

import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, tcgen05
from cutlass.cute.runtime import make_fake_compact_tensor
from cutlass.memory import SmemAllocator, TmemAllocator
from cutlass.utils import blackwell_helpers, blockscaled_layout, rubin_helpers

imported = time.perf_counter()

TILE = (128, 128, 256)
STAGES = {"sm_100a": 5, "sm_107a": 8}[ARCH]
INSTRUCTION_K = {"sm_100a": 64, "sm_107a": 128}[ARCH]
COLUMNS = 256  # 128 of the accumulator, then the scales, rounded up
VEC = 16
THREADS = 192
ELEMENT, SCALE, OUT = cutlass.Float4E2M1FN, cutlass.Float8E4M3FN, cutlass.BFloat16


def makeMma():
    major = OperandMajorMode.K
    if ARCH == "sm_107a":
        return rubin_helpers.make_blockscaled_trivial_tiled_mma(
            ELEMENT, ELEMENT, major, major, SCALE, VEC, tcgen05.CtaGroup.ONE, (128, 128, INSTRUCTION_K))
    return blackwell_helpers.make_blockscaled_trivial_tiled_mma(
        ELEMENT, ELEMENT, major, major, SCALE, VEC, tcgen05.CtaGroup.ONE, (128, 128))


@cute.jit
def gemm(a: cute.Tensor, sfa: cute.Tensor, b: cute.Tensor, sfb: cute.Tensor, d: cute.Tensor):
    mma = makeMma()
    sa = blackwell_helpers.make_smem_layout_a(mma, TILE, ELEMENT, STAGES)
    sb = blackwell_helpers.make_smem_layout_b(mma, TILE, ELEMENT, STAGES)
    ssfa = blockscaled_layout.make_smem_layout_sfa(mma, TILE, VEC, STAGES)
    ssfb = blockscaled_layout.make_smem_layout_sfb(mma, TILE, VEC, STAGES)
    # The scale buffers are whole 128x4 tiles; their layout follows from the operands' shapes.
    sfa = cute.make_tensor(sfa.iterator, blockscaled_layout.tile_atom_to_shape_SF(a.shape, VEC))
    sfb = cute.make_tensor(sfb.iterator, blockscaled_layout.tile_atom_to_shape_SF(b.shape, VEC))

    load = cpasync.CopyBulkTensorTileG2SOp(tcgen05.CtaGroup.ONE)
    cluster = cute.tiled_divide(cute.make_layout((1, 1, 1)), (mma.thr_id.shape,))
    first = (None, None, None, 0)
    loadA = cute.nvgpu.make_tiled_tma_atom_A(load, a, cute.slice_(sa, first), TILE, mma, cluster.shape)
    loadB = cute.nvgpu.make_tiled_tma_atom_B(load, b, cute.slice_(sb, first), TILE, mma, cluster.shape)
    loadSfa = cute.nvgpu.make_tiled_tma_atom_A(load, sfa, cute.slice_(ssfa, first), TILE, mma, cluster.shape,
                                               internal_type=cutlass.Int16)
    loadSfb = cute.nvgpu.make_tiled_tma_atom_B(load, sfb, cute.slice_(ssfb, first), TILE, mma, cluster.shape,
                                               internal_type=cutlass.Int16)
    grid = (cute.ceil_div(d.shape[0], TILE[0]), cute.ceil_div(d.shape[1], TILE[1]), 1)
    kernel(mma, loadA[0], loadA[1], loadSfa[0], loadSfa[1], loadB[0], loadB[1], loadSfb[0], loadSfb[1], d, sa, sb, ssfa, ssfb).launch(
        grid=grid, block=(THREADS, 1, 1), cluster=(1, 1, 1))


@cute.kernel
def kernel(mma: cute.TiledMma, loadA: cute.CopyAtom, a: cute.Tensor, loadSfa: cute.CopyAtom, sfa: cute.Tensor,
           loadB: cute.CopyAtom, b: cute.Tensor, loadSfb: cute.CopyAtom, sfb: cute.Tensor, d: cute.Tensor,
           sa: cute.ComposedLayout, sb: cute.ComposedLayout, ssfa: cute.Layout, ssfb: cute.Layout):
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    thread, _, _ = cute.arch.thread_idx()
    tileM, tileN, _ = cute.arch.block_idx()
    one = (None, None, None, 0)

    smem = SmemAllocator()
    barriers = smem.allocate_array(cutlass.Int64, 2 * STAGES)
    accBarriers = smem.allocate_array(cutlass.Int64, 2)
    tmemHolder = smem.allocate_array(cutlass.Int32, 1)
    sA = smem.allocate_tensor(ELEMENT, sa.outer, 1024, swizzle=sa.inner)
    sB = smem.allocate_tensor(ELEMENT, sb.outer, 1024, swizzle=sb.inner)
    sSfa = smem.allocate_tensor(SCALE, ssfa, 1024)
    sSfb = smem.allocate_tensor(SCALE, ssfb, 1024)

    stageBytes = (cute.size_in_bytes(ELEMENT, cute.slice_(sa, one)) + cute.size_in_bytes(ELEMENT, cute.slice_(sb, one))
                  + cute.size_in_bytes(SCALE, cute.slice_(ssfa, one)) + cute.size_in_bytes(SCALE, cute.slice_(ssfb, one)))
    agent = pipeline.CooperativeGroup
    ring = pipeline.PipelineTmaUmma.create(
        barrier_storage=barriers, num_stages=STAGES, producer_group=agent(pipeline.Agent.Thread),
        consumer_group=agent(pipeline.Agent.Thread), tx_count=stageBytes)
    accRing = pipeline.PipelineUmmaAsync.create(
        barrier_storage=accBarriers, num_stages=1, producer_group=agent(pipeline.Agent.Thread),
        consumer_group=agent(pipeline.Agent.Thread, 128))
    barrier = pipeline.NamedBarrier(barrier_id=1, num_threads=THREADS)
    tmem = TmemAllocator(tmemHolder, barrier_for_retrieve=barrier, allocator_warp_id=0)
    tmem.allocate(COLUMNS)  # by warp 0
    tmem.wait_for_alloc()
    base = tmem.retrieve_ptr(cutlass.Float32)
    acc = cute.make_tensor(base, mma.make_fragment_C(mma.partition_shape_C(TILE[:2])).layout)

    # This CTA's tiles of the operands, cut for the MMA and for TMA.
    thr = mma.get_slice(0)
    gA = thr.partition_A(cute.local_tile(a, cute.slice_(TILE, (None, 0, None)), (tileM, None, 0)))
    gB = thr.partition_B(cute.local_tile(b, cute.slice_(TILE, (0, None, None)), (tileN, None, 0)))
    gSfa = thr.partition_A(cute.local_tile(sfa, cute.slice_(TILE, (None, 0, None)), (tileM, None, 0)))
    gSfb = thr.partition_B(cute.local_tile(sfb, cute.slice_(TILE, (0, None, None)), (tileN, None, 0)))
    kTiles = cute.size(gA, mode=[3])

    if warp == 5:
        cut = cute.make_layout(1)
        tAs, tAg = cpasync.tma_partition(loadA, 0, cut, cute.group_modes(sA, 0, 3), cute.group_modes(gA, 0, 3))
        tBs, tBg = cpasync.tma_partition(loadB, 0, cut, cute.group_modes(sB, 0, 3), cute.group_modes(gB, 0, 3))
        tSas, tSag = cpasync.tma_partition(loadSfa, 0, cut, cute.group_modes(sSfa, 0, 3), cute.group_modes(gSfa, 0, 3))
        tSbs, tSbg = cpasync.tma_partition(loadSfb, 0, cut, cute.group_modes(sSfb, 0, 3), cute.group_modes(gSfb, 0, 3))
        tSas, tSag = cute.filter_zeros(tSas), cute.filter_zeros(tSag)
        tSbs, tSbg = cute.filter_zeros(tSbs), cute.filter_zeros(tSbg)
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, STAGES)
        for k in cutlass.range(kTiles, unroll=1):
            ring.producer_acquire(state)
            full = ring.producer_get_barrier(state)
            cute.copy(loadA, tAg[(None, k)], tAs[(None, state.index)], tma_bar_ptr=full)
            cute.copy(loadB, tBg[(None, k)], tBs[(None, state.index)], tma_bar_ptr=full)
            cute.copy(loadSfa, tSag[(None, k)], tSas[(None, state.index)], tma_bar_ptr=full)
            cute.copy(loadSfb, tSbg[(None, k)], tSbs[(None, state.index)], tma_bar_ptr=full)
            state.advance()
        ring.producer_tail(state)

    if warp == 4:
        fA, fB = mma.make_fragment_A(sA), mma.make_fragment_B(sB)
        pastAcc = base + tcgen05.find_tmem_tensor_col_offset(acc)
        tSfa = cute.make_tensor(cute.recast_ptr(pastAcc, dtype=SCALE),
                                blockscaled_layout.make_tmem_layout_sfa(mma, TILE, VEC, cute.slice_(ssfa, one)))
        pastSfa = pastAcc + tcgen05.find_tmem_tensor_col_offset(tSfa)
        tSfb = cute.make_tensor(cute.recast_ptr(pastSfa, dtype=SCALE),
                                blockscaled_layout.make_tmem_layout_sfb(mma, TILE, VEC, cute.slice_(ssfb, one)))
        broadcast = tcgen05.Cp4x32x128bOp(tcgen05.CtaGroup.ONE)
        atom = cute.make_copy_atom(broadcast, SCALE)
        fromA = tcgen05.append_s2t_broadcast_mode(broadcast, cute.filter_zeros(sSfa))
        fromB = tcgen05.append_s2t_broadcast_mode(broadcast, cute.filter_zeros(sSfb))
        toA, toB = cute.filter_zeros(tSfa), cute.filter_zeros(tSfb)
        copyA, copyB = tcgen05.make_s2t_copy(atom, toA), tcgen05.make_s2t_copy(atom, toB)
        descA = tcgen05.get_s2t_smem_desc_tensor(copyA, copyA.get_slice(0).partition_S(fromA))
        descB = tcgen05.get_s2t_smem_desc_tensor(copyB, copyB.get_slice(0).partition_S(fromB))
        intoA, intoB = copyA.get_slice(0).partition_D(toA), copyB.get_slice(0).partition_D(toB)

        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
        accState = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, 1)
        accRing.producer_acquire(accState)
        mma.set(tcgen05.Field.ACCUMULATE, False)
        for k in cutlass.range(kTiles, unroll=1):
            ring.consumer_wait(state)
            stage = (None, None, None, None, state.index)
            cute.copy(copyA, descA[stage], intoA)
            cute.copy(copyB, descB[stage], intoB)
            for step in cutlass.range_constexpr(cute.size(fA, mode=[2])):
                mma.set(tcgen05.Field.SFA, tSfa[None, None, step].iterator)
                mma.set(tcgen05.Field.SFB, tSfb[None, None, step].iterator)
                cute.gemm(mma, acc, fA[(None, None, step, state.index)], fB[(None, None, step, state.index)], acc)
                mma.set(tcgen05.Field.ACCUMULATE, True)
            ring.consumer_release(state)
            state.advance()
        accRing.producer_commit(accState)

    if warp < 4:
        accState = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, 1)
        accRing.consumer_wait(accState)
        rows = cute.make_copy_atom(tcgen05.Ld32x32bOp(tcgen05.Repetition.x32), cutlass.Float32)
        flat = acc[((None, None), 0, 0)]
        drain = tcgen05.make_tmem_copy(rows, flat)
        mine = drain.get_slice(thread)
        gD = cute.local_tile(d, TILE[:2], (tileM, tileN, 0))
        source, target = mine.partition_S(flat), mine.partition_D(gD)
        wide = cute.make_rmem_tensor(target.shape, cutlass.Float32)
        cute.copy(drain, source, wide)
        narrow = cute.make_rmem_tensor(target.shape, OUT)
        narrow.store(wide.load().to(OUT))
        cute.autovec_copy(narrow, target)
        accRing.consumer_release(accState)

    tmem.relinquish_alloc_permit()
    barrier.arrive_and_wait()
    tmem.free(base)


def tensors(m, n, k):
    def fake(dtype, rows, columns):
        return make_fake_compact_tensor(dtype, (rows, columns, 1), stride_order=(1, 0, 2), assumed_align=16)

    return (fake(ELEMENT, m, k), fake(SCALE, m, k // VEC), fake(ELEMENT, n, k), fake(SCALE, n, k // VEC),
            fake(OUT, m, n))


def compileOnce(m):
    cute.compile(gemm, *tensors(m, 4096, 4096), options=f"--gpu-arch {ARCH}")


times = []
for m in (4096,) if "--once" in sys.argv else (4096, 2048):
    start = time.perf_counter()
    compileOnce(m)
    times.append((time.perf_counter() - start) * 1e3)
print(f"import = {(imported - begin) * 1e3:.1f}")
print(f"first = {times[0]:.1f}")
if len(times) > 1:
    print(f"second = {times[1]:.1f}")
