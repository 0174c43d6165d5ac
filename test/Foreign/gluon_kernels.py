# ===- gluon_kernels.py - another compiler's kernels: Gluon, CTA pairs -----===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Block-scaled products of two CTAs in Gluon, Triton's language in which layouts and
# barriers are written out. The pair computes one tile of 256 rows: A by halves, B by
# halves, the scales of B in both CTAs by multicast.
#
# ===-----------------------------------------------------------------------===#

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout, TensorMemoryScalesLayout, allocate_tensor_memory, fence_async_shared, mbarrier, tcgen05_commit,
    tcgen05_copy, tcgen05_mma_scaled, tma)


@gluon.jit
def gemm_pair(a, sfa, b, sfb, d, m, n, k, A: gl.constexpr, B: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr,
              BK: gl.constexpr, VEC: gl.constexpr):
    """One buffer of each operand, one barrier of the pair for what arrives, one of each CTA for what is done."""
    PA: gl.constexpr = 2 if A == "e2m1" else 1
    PB: gl.constexpr = 2 if B == "e2m1" else 1
    TM: gl.constexpr = BM // 128
    TN: gl.constexpr = BN // 128
    TK: gl.constexpr = BK // VEC // 4
    at = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
    bt = gl.allocate_shared_memory(b.dtype, b.block_shape, b.layout)
    sat = gl.allocate_shared_memory(sfa.dtype, sfa.block_shape, sfa.layout)
    sbt = gl.allocate_shared_memory(sfb.dtype, sfb.block_shape, sfb.layout)
    arrived = mbarrier.allocate_mbarrier(two_ctas=True)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(arrived, count=1)
    mbarrier.init(done, count=1)
    acc = allocate_tensor_memory(gl.float32, [BM, BN],
                                 TensorMemoryLayout([128, BN], col_stride=1, cga_layout=[[1, 0]], two_ctas=True))
    sa = allocate_tensor_memory(sfa.dtype, [BM, BK // VEC], TensorMemoryScalesLayout(cga_layout=[[1, 0]]))
    sb = allocate_tensor_memory(sfb.dtype, [BN, BK // VEC], TensorMemoryScalesLayout(cga_layout=[[0, 0]]))
    row = gl.program_id(0) * BM
    column = gl.program_id(1) * BN
    phase = 0
    for start in range(0, k, BK):
        mbarrier.expect(arrived, a.nbytes_per_cta + b.nbytes_per_cta + sfa.nbytes_per_cta + sfb.nbytes_per_cta)
        tma.async_load(a, [row, start // PA], arrived, at)
        tma.async_load(b, [column, start // PB], arrived, bt)
        tma.async_load(sfa, [0, row // 128, start // VEC // 4, 0, 0], arrived, sat)
        tma.async_load(sfb, [0, column // 128, start // VEC // 4, 0, 0], arrived, sbt, multicast=True)
        mbarrier.wait(arrived, phase)
        tcgen05_copy(sat.reshape((TM, TK, 32, 4, 4)).permute((0, 3, 2, 1, 4)).reshape((BM, BK // VEC)), sa)
        tcgen05_copy(sbt.reshape((TN, TK, 32, 4, 4)).permute((0, 3, 2, 1, 4)).reshape((BN, BK // VEC)), sb)
        tcgen05_mma_scaled(at, bt.permute((1, 0)), acc, sa, sb, A, B, use_acc=start > 0)
        tcgen05_commit(done, descs=[at, bt])
        mbarrier.wait(done, phase)
        phase ^= 1
    mbarrier.invalidate(arrived)
    mbarrier.invalidate(done)
    c = gl.allocate_shared_memory(d.dtype, d.block_shape, d.layout)
    c.store(acc.load().to(d.dtype))
    fence_async_shared()
    tma.async_store(d, [row, column], c)
    tma.store_wait(0)


def pairSignature(fmt, out, tile):
    """Types of the arguments with their layouts, and constants."""
    bm, bn, bk = tile
    tk = bk // fmt.block // 4
    element = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5"}
    scale = "fp8e4nv" if fmt.scale == "ue4m3" else "u8"

    def described(type_, shape, bits, cga):
        rowBytes = shape[-1] * bits // 8
        swizzle = 0 if len(shape) > 2 else min(128, rowBytes)
        layout = gl.NVMMASharedLayout(swizzle_byte_width=swizzle, element_bitwidth=bits, rank=len(shape),
                                      cga_layout=[cga])
        return f"tensordesc<{type_}[{','.join(map(str, shape))}],{layout}>"

    types = {"a": described(element[fmt.a], [bm, bk * fmt.bits("a") // 8], 8, [1, 0]),
             "sfa": described(scale, [1, bm // 128, tk, 2, 256], 8, [0, 1, 0, 0, 0]),
             "b": described(element[fmt.b], [bn, bk * fmt.bits("b") // 8], 8, [1, 0]),
             "sfb": described(scale, [1, bn // 128, tk, 2, 256], 8, [0, 0, 0, 0, 0]),
             "d": described({"bf16": "bf16", "f32": "fp32"}[out], [bm, bn], {"bf16": 16, "f32": 32}[out], [1, 0])}
    return types, {"A": fmt.a, "B": fmt.b, "BM": bm, "BN": bn, "BK": bk, "VEC": fmt.block}
