# ===- triton_wgmma.py - products of Triton for sm_90a ---------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `wgmma` with both operands in shared memory or A in registers, loads that run ahead
# through `cp.async`, and kernels of two CTAs whose reductions go through distributed
# shared memory. Operands are whole numbers whose sums are exact in the accumulator.
#
# ===-----------------------------------------------------------------------===#

import numpy as np
import triton
import triton.language as tl

import foreign_data
from triton_scalar import ScalarCase, exact, near, softmax

ARCH = "sm_90a"


@triton.jit
def product(a, b, out, k, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
            RELU: tl.constexpr):
    """Tiles of A [m, k] and B [k, N]; RELU: of relu(A), which so comes from registers."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, k, BK, num_stages=STAGES):
        x = tl.load(a + rows[:, None] * k + (start + inner)[None, :])
        y = tl.load(b + (start + inner)[:, None] * N + columns[None, :])
        if RELU:
            x = tl.maximum(x, 0.0).to(x.dtype)
        acc = tl.dot(x, y, acc)
    tl.store(out + rows[:, None] * N + columns[None, :], acc.to(out.dtype.element_ty))


@triton.jit
def product_nt(a, b, out, k, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
               STAGES: tl.constexpr):
    """A [m, k] and B [N, k], the only order that FP8 has."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, k, BK, num_stages=STAGES):
        x = tl.load(a + rows[:, None] * k + (start + inner)[None, :])
        y = tl.load(b + columns[:, None] * k + (start + inner)[None, :])
        acc = tl.dot(x, y.T, acc)
    tl.store(out + rows[:, None] * N + columns[None, :], acc)


def bfloatBits(values):
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def makeCases():
    rng = np.random.default_rng(7)
    whole = lambda *shape: rng.integers(-8, 9, shape).astype(np.float64)
    cases = []

    m, n, k = 128, 128, 256
    a, b = whole(m, k), whole(k, n)
    sizes = {"N": n, "BM": 64, "BN": 64, "BK": 64}

    def addProduct(name, encode, type_, stages, relu=False, out=("*fp32", np.float32), **options):
        c = (np.maximum(a, 0) if relu else a) @ b
        if out[0] == "*bf16":
            c = bfloatBits(foreign_data.roundedTo("bf16", c))
        cases.append(ScalarCase(
            name, ARCH, product, {"a": (type_, encode(a)), "b": (type_, encode(b)),
                                  "out": (out[0], m * n * out[1]().itemsize), "k": ("i32", k)},
            {**sizes, "STAGES": stages, "RELU": relu}, (m // 64, n // 64, 1),
            {"out": (out[1], *exact(c.astype(out[1])))}, aligned=("k",), **options))

    addProduct("wgmma-bf16", bfloatBits, "*bf16", 3)
    addProduct("wgmma-f16", lambda x: x.astype(np.float16), "*fp16", 2)
    addProduct("wgmma-bf16-registers", bfloatBits, "*bf16", 1, relu=True, out=("*bf16", np.uint16))

    for element, type_ in [("e4m3", "*fp8e4nv"), ("e5m2", "*fp8e5")]:
        codes = [c for c in foreign_data.FINITE[element] if foreign_data.ELEMENTS[element][c] in range(-8, 9)]
        x, y = (rng.choice(np.array(codes, dtype=np.uint8), (rows, k)) for rows in (m, n))
        c = foreign_data.ELEMENTS[element][x] @ foreign_data.ELEMENTS[element][y].T
        cases.append(ScalarCase(
            f"wgmma-{element}", ARCH, product_nt,
            {"a": (type_, x), "b": (type_, y), "out": ("*fp32", 4 * m * n), "k": ("i32", k)},
            {**sizes, "STAGES": 3}, (m // 64, n // 64, 1), {"out": (np.float32, *exact(c.astype(np.float32)))}, aligned=("k",)))

    x = rng.standard_normal((3, 900)).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    cases.append(ScalarCase("cluster-softmax", ARCH, softmax,
                            {"x": ("*fp32", x), "out": ("*fp32", x.nbytes), "n": ("i32", 900)}, {"BLOCK": 1024},
                            (3, 1, 1), {"out": (np.float32, *near(e / e.sum(axis=1, keepdims=True), 2.0**-20))},
                            ctas=2))
    addProduct("cluster-wgmma-bf16", bfloatBits, "*bf16", 2, ctas=2)
    return cases
