# ===- triton_kernels.py - another compiler's kernels: Triton ---------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Block-scaled products in Triton source, compiled to PTX without a GPU. Their
# layouts, descriptors and synchronisation are Triton's choice, not ours, which is
# what makes them a judge of the emulator. `compileCase` gives the PTX text with
# what a launch of it needs; nothing of it is kept in the repository.
#
# ===-----------------------------------------------------------------------===#

import dataclasses
import os
import re
import tempfile

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="blockscale-triton-"))
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"  # the default, without a warning

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon._runtime import GluonASTSource


@triton.jit
def gemm_pointers(a, sfa, b, sfb, d, m, n, k, A: tl.constexpr, B: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                  BK: tl.constexpr, VEC: tl.constexpr, STAGES: tl.constexpr, MN: tl.constexpr):
    """A [m, k], B [n, k] (MN: their transposes) and linear scales through pointers, every access masked."""
    PA: tl.constexpr = 2 if A == "e2m1" else 1
    PB: tl.constexpr = 2 if B == "e2m1" else 1
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inA = tl.arange(0, BK // PA)
    inB = tl.arange(0, BK // PB)
    inS = tl.arange(0, BK // VEC)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, k, BK, num_stages=STAGES):
        ka = start // PA + inA
        kb = start // PB + inB
        ks = start // VEC + inS
        if MN:
            at = tl.load(a + ka[:, None] * m + rows[None, :],
                         mask=(rows[None, :] < m) & (ka[:, None] < k // PA), other=0.0).T
            bt = tl.load(b + kb[:, None] * n + columns[None, :],
                         mask=(columns[None, :] < n) & (kb[:, None] < k // PB), other=0.0)
        else:
            at = tl.load(a + rows[:, None] * (k // PA) + ka[None, :],
                         mask=(rows[:, None] < m) & (ka[None, :] < k // PA), other=0.0)
            bt = tl.load(b + columns[:, None] * (k // PB) + kb[None, :],
                         mask=(columns[:, None] < n) & (kb[None, :] < k // PB), other=0.0).T
        sa = tl.load(sfa + rows[:, None] * (k // VEC) + ks[None, :],
                     mask=(rows[:, None] < m) & (ks[None, :] < k // VEC), other=0.0)
        sb = tl.load(sfb + columns[:, None] * (k // VEC) + ks[None, :],
                     mask=(columns[:, None] < n) & (ks[None, :] < k // VEC), other=0.0)
        acc = tl.dot_scaled(at, sa, A, bt, sb, B, acc)
    tl.store(d + rows[:, None] * n + columns[None, :], acc.to(d.dtype.element_ty),
             mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def gemm_descriptors(a, sfa, b, sfb, d, m, n, k, A: tl.constexpr, B: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                     BK: tl.constexpr, VEC: tl.constexpr, STAGES: tl.constexpr, SPECIALIZE: tl.constexpr):
    """Everything through TMA: A, B and D as matrices, scales in 128x4 tiles as [1, rows/128, k/(4 VEC), 2, 256]."""
    PA: tl.constexpr = 2 if A == "e2m1" else 1
    PB: tl.constexpr = 2 if B == "e2m1" else 1
    TM: tl.constexpr = BM // 128
    TN: tl.constexpr = BN // 128
    TK: tl.constexpr = BK // VEC // 4
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, k, BK, num_stages=STAGES, warp_specialize=SPECIALIZE):
        at = a.load([row, start // PA])
        bt = b.load([column, start // PB])
        st = start // VEC // 4
        sa = sfa.load([0, row // 128, st, 0, 0])
        sb = sfb.load([0, column // 128, st, 0, 0])
        sa = sa.reshape(TM, TK, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BM, BK // VEC)
        sb = sb.reshape(TN, TK, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BN, BK // VEC)
        acc = tl.dot_scaled(at, sa, A, bt.T, sb, B, acc)
    d.store([row, column], acc.to(d.dtype))


@dataclasses.dataclass(frozen=True)
class Format:
    """One operand pair as Triton names it."""
    a: str      # e2m1, e4m3, e5m2
    b: str
    scale: str  # ue8m0, ue4m3
    block: int

    def bits(self, side):
        return 4 if getattr(self, side) == "e2m1" else 8


FORMATS = {
    "nvfp4": Format("e2m1", "e2m1", "ue4m3", 16),
    "mxfp4": Format("e2m1", "e2m1", "ue8m0", 32),
    "mxfp8": Format("e4m3", "e4m3", "ue8m0", 32),
    "mxfp8_e5m2": Format("e5m2", "e5m2", "ue8m0", 32),
    "fp8_x_fp4": Format("e4m3", "e2m1", "ue8m0", 32),
    "fp4_x_fp8": Format("e2m1", "e4m3", "ue8m0", 32),
}


@dataclasses.dataclass(frozen=True)
class Case:
    """One kernel: how it is written, of what format and tile, for what chip.

    Ways: `bytes` and `vectors` go through pointers, the second with m, n and k known
    to be multiples of 16 (wide loads, cp.async); `mn` like `vectors` with A and B
    stored along m and n; `descriptors` through TMA; `specialized` also in warps with
    roles of their own; `pairs` through TMA and by two CTAs (gluon_kernels.py).
    """
    way: str
    fmt: str
    arch: str  # sm_100a, …
    out: str = "bf16"
    tile: tuple = (128, 128, 256)
    stages: int = 1

    @property
    def usesDescriptors(self):
        return self.way in ("descriptors", "specialized", "pairs")

    @property
    def name(self):
        return "-".join([self.way, self.fmt, self.arch, self.out, "x".join(map(str, self.tile)), f"s{self.stages}"])


@dataclasses.dataclass
class Compiled:
    ptx: str
    name: str            # of the entry
    warps: int
    ctas: int            # of a cluster; the grid counts clusters
    shared: int          # bytes of dynamic shared memory
    scratch: int         # bytes of global scratch of one block
    descriptors: list    # of each tensor descriptor, in order: box, swizzle, element type
    params: list         # declared parameter types, in order


class PtxOnly(Exception):
    """Ends a compile before the cubin."""


def stopAtPtx(found):
    """Replaces the step after PTX, so that no ptxas runs."""

    def hook(backend=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return "ptx-only", "ptx-only"

        def stop(source, metadata):
            found.update(ptx=source, metadata=dict(metadata))
            raise PtxOnly

        stages["cubin"] = stop

    return hook


def signatureOf(case):
    fmt = FORMATS[case.fmt]
    bm, bn, bk = case.tile
    out = {"bf16": "bf16", "f32": "fp32"}[case.out]
    scale = "fp8e4nv" if fmt.scale == "ue4m3" else "u8"
    element = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5"}
    constants = {"A": fmt.a, "B": fmt.b, "BM": bm, "BN": bn, "BK": bk, "VEC": fmt.block, "STAGES": case.stages}
    if not case.usesDescriptors:
        constants["MN"] = case.way == "mn"
        types = {"a": f"*{element[fmt.a]}", "sfa": f"*{scale}", "b": f"*{element[fmt.b]}", "sfb": f"*{scale}",
                 "d": f"*{out}"}
        return gemm_pointers, types, constants
    tk = bk // fmt.block // 4
    packA, packB = 8 // fmt.bits("a"), 8 // fmt.bits("b")
    types = {"a": f"tensordesc<{element[fmt.a]}[{bm},{bk // packA}]>",
             "sfa": f"tensordesc<{scale}[1,{bm // 128},{tk},2,256]>",
             "b": f"tensordesc<{element[fmt.b]}[{bn},{bk // packB}]>",
             "sfb": f"tensordesc<{scale}[1,{bn // 128},{tk},2,256]>",
             "d": f"tensordesc<{out}[{bm},{bn}]>"}
    return gemm_descriptors, types, {**constants, "SPECIALIZE": case.way == "specialized"}


def compileKernel(function, types, constants, arch, aligned=(), warps=4, ctas=1, source=ASTSource):
    """PTX of one kernel. `types` names its runtime arguments; 16 divides every pointer and the `aligned`."""
    signature = {**types, **{name: "constexpr" for name in constants}}
    known = [name for name, type_ in types.items() if type_[0] == "*" or name in aligned]
    attributes = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(signature) if name in known}
    source = source(function, signature=signature, constexprs=constants, attrs=attributes)
    found = {}
    triton.knobs.runtime.add_stages_inspection_hook = stopAtPtx(found)
    try:
        triton.compile(source, target=GPUTarget("cuda", int(arch.strip("sm_a")), 32), 
                       options={"num_warps": warps, "num_ctas": ctas})
    except PtxOnly:
        pass
    ptx, metadata = found["ptx"], found["metadata"]
    entry = re.search(r"\.entry\s+(\w+)\((.*?)\)", ptx, re.S)
    params = re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)", entry[2])
    return Compiled(ptx, metadata["name"], metadata["num_warps"], ctas, metadata["shared"],
                    metadata["global_scratch_size"], metadata.get("tensordesc_meta") or [], params)


def compileCase(case):
    if case.way == "pairs":
        import gluon_kernels as gluon
        types, constants = gluon.pairSignature(FORMATS[case.fmt], case.out, case.tile)
        return compileKernel(gluon.gemm_pair, {**types, "m": "i32", "n": "i32", "k": "i32"}, constants, case.arch,
                             ctas=2, source=GluonASTSource)
    function, types, constants = signatureOf(case)
    aligned = ["m", "n", "k"] if case.way in ("vectors", "mn") else []
    return compileKernel(function, {**types, "m": "i32", "n": "i32", "k": "i32"}, constants, case.arch, aligned)
