# ===- triton_gemm.py - the peer's compile time: Triton --------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A block-scaled product of 128x128 tiles with `tl.dot_scaled`, compiled to a cubin
# without a GPU. Run as a process of its own: the caller measures that. Prints the
# import and two compiles (--once: one) in ms of wall time.
#
# ===-----------------------------------------------------------------------===#

import os
import sys
import tempfile
import time

begin = time.perf_counter()
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()  # every compile is a cold one
os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"  # the default, without a warning

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

imported = time.perf_counter()


@triton.jit
def gemm(a, sfa, b, sfb, d, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, VEC: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    bytes_ = tl.arange(0, BK // 2)
    scales = tl.arange(0, BK // VEC)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        at = tl.load(a + rows[:, None] * (k // 2) + start // 2 + bytes_[None, :], mask=rows[:, None] < m, other=0)
        bt = tl.load(b + columns[:, None] * (k // 2) + start // 2 + bytes_[None, :], mask=columns[:, None] < n, other=0)
        sa = tl.load(sfa + rows[:, None] * (k // VEC) + start // VEC + scales[None, :], mask=rows[:, None] < m, other=0.0)
        sb = tl.load(sfb + columns[:, None] * (k // VEC) + start // VEC + scales[None, :], mask=columns[:, None] < n, other=0.0)
        acc = tl.dot_scaled(at, sa, "e2m1", bt.T, sb, "e2m1", acc)
    tl.store(d + rows[:, None] * n + columns[None, :], acc.to(tl.bfloat16),
             mask=(rows[:, None] < m) & (columns[None, :] < n))


def compileOnce(capability):
    source = ASTSource(gemm, signature={
        "a": "*u8", "sfa": "*fp8e4nv", "b": "*u8", "sfb": "*fp8e4nv", "d": "*bf16", "m": "i32", "n": "i32", "k": "i32",
        "BM": "constexpr", "BN": "constexpr", "BK": "constexpr", "VEC": "constexpr"},
        constexprs={"BM": 128, "BN": 128, "BK": 256, "VEC": 16})
    compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": 4})
    if b"ELF" not in compiled.asm["cubin"][:8] or "tcgen05.mma" not in compiled.asm["ptx"]:
        sys.exit("triton gave no block-scaled tensor core kernel")


capability = int(sys.argv[1].removeprefix("sm_").rstrip("a"))
times = []
for _ in range(1 if "--once" in sys.argv else 2):
    start = time.perf_counter()
    compileOnce(capability)
    times.append((time.perf_counter() - start) * 1e3)
print(f"import = {(imported - begin) * 1e3:.1f}")
print(f"first = {times[0]:.1f}")
if len(times) > 1:
    print(f"second = {times[1]:.1f}")
