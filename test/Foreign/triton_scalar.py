# ===- triton_scalar.py - Triton kernels without tensor cores --------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Elementwise, reduction, scan, sort, gather, atomic and quantising kernels: what
# they judge is scalar arithmetic, shuffles, shared memory, barriers and masks. Each
# case brings its inputs and what the outputs must be, from numpy.
#
# ===-----------------------------------------------------------------------===#

import dataclasses
import math

import numpy as np
import triton
import triton.language as tl

import foreign_data


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def layernorm(x, weight, bias, out, n, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / n
    centred = tl.where(i < n, v - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + epsilon)
    w = tl.load(weight + i, mask=i < n, other=0.0)
    b = tl.load(bias + i, mask=i < n, other=0.0)
    tl.store(out + row * n + i, (centred * scale * w + b).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def running(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i), axis=0))


@triton.jit
def ordered(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.sort(tl.load(x + i)))


@triton.jit
def largest(x, index, value, N: tl.constexpr, BLOCK: tl.constexpr):
    """The first largest element of each row of a [BLOCK, N] tile."""
    rows = tl.arange(0, BLOCK)
    v = tl.load(x + rows[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(index + rows, tl.argmax(v, axis=1))
    tl.store(value + rows, tl.max(v, axis=1))


@triton.jit
def histogram(x, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@triton.jit
def transpose(x, out, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + rows[:, None] * N + columns[None, :])
    tl.store(out + columns[:, None] * M + rows[None, :], tl.trans(v))


@triton.jit
def integers(x, y, out, BLOCK: tl.constexpr):
    """Division, remainder, shifts and products of both signs."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    wide = a.to(tl.int64) * b.to(tl.int64)
    mixed = (a // b) ^ (a % b) ^ (a << 3) ^ (b >> 2) ^ (wide >> 29).to(tl.int32) ^ tl.umulhi(a, b)
    tl.store(out + i, mixed)


@triton.jit
def take(x, index, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.gather(tl.load(x + i), tl.load(index + i), 0))


@triton.jit
def quantize_mxfp8(x, codes, scales, K: tl.constexpr, BLOCK: tl.constexpr):
    """E4M3 codes with one UE8M0 scale (rounded up) for 32 values of a [BLOCK, K] tile."""
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, K)
    v = tl.load(x + rows[:, None] * K + columns[None, :]).reshape(BLOCK, K // 32, 32)
    amax = tl.max(tl.abs(v), axis=2)
    bits = (amax / 448.0).to(tl.uint32, bitcast=True)
    exponent = (bits + 0x7FFFFF) >> 23
    scale = (exponent << 23).to(tl.float32, bitcast=True)
    q = (v / scale[:, :, None]).to(tl.float8e4nv).reshape(BLOCK, K)
    tl.store(codes + rows[:, None] * K + columns[None, :], q)
    tl.store(scales + rows[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :], exponent.to(tl.uint8))


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), mask=i < n)


@triton.jit
def functions(x, out, n, BLOCK: tl.constexpr):
    """exp2, log2, sin, cos, rsqrt, floor, ceil and fma; x in (0, 8)."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=1.0)
    r = tl.exp2(v) + tl.log2(v) + tl.sin(v) + tl.cos(v) + tl.rsqrt(v)
    tl.store(out + i, tl.fma(r, v, tl.floor(v) - tl.ceil(v)), mask=i < n)


@triton.jit
def dot_ieee(a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """An f32 product without tensor cores."""
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + rows[:, None] * K + inner[None, :])
    y = tl.load(b + inner[:, None] * N + columns[None, :])
    tl.store(out + rows[:, None] * N + columns[None, :], tl.dot(x, y, input_precision="ieee"))


@triton.jit
def through_fp8(x, e4m3, e5m2, back, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    q = v.to(tl.float8e4nv)
    tl.store(e4m3 + i, q, mask=i < n)
    tl.store(e5m2 + i, v.to(tl.float8e5), mask=i < n)
    tl.store(back + i, q.to(tl.float32), mask=i < n)


@triton.jit
def bits(out, seed, BLOCK: tl.constexpr):
    """Philox 4x32 of ten rounds."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.randint(seed, i))


@triton.jit
def collatz(x, steps, BLOCK: tl.constexpr):
    """A loop whose length depends on the data: until all lanes are at 1."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    count = tl.zeros((BLOCK,), dtype=tl.int32)
    while tl.max(v, axis=0) > 1:
        busy = v > 1
        v = tl.where(busy, tl.where(v % 2 == 0, v // 2, 3 * v + 1), v)
        count += busy.to(tl.int32)
    tl.store(steps + i, count)


@triton.jit
def locked_sum(x, lock, out, n, BLOCK: tl.constexpr):
    """Blocks add to `out` one after another, under a lock in global memory."""
    i = tl.program_id(0) * n + tl.arange(0, BLOCK)
    v = tl.sum(tl.load(x + i, mask=tl.arange(0, BLOCK) < n, other=0), axis=0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@dataclasses.dataclass
class ScalarCase:
    """A kernel with one launch. Arguments in order: arrays by name, scalars as (type, value)."""
    name: str
    arch: str
    function: object
    arguments: dict   # name -> (Triton type, array | output bytes | scalar)
    constants: dict
    grid: tuple
    expected: dict    # output name -> (dtype, array, largest error allowed)
    warps: int = 4
    ctas: int = 1     # of a cluster
    aligned: tuple = ()  # scalars that 16 divides


def near(array, relative):
    return array, relative * np.abs(array) + relative * np.abs(array).max()


def exact(array):
    return array, np.zeros(array.shape)


def bfloat(array):
    """f32 whose bits end after those of a bf16, and those bits."""
    values = foreign_data.roundedTo("bf16", array)
    return values, (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def nearestCode(element, values):
    """Codes nearest to the values, ties to even; beyond the largest number that."""
    table = foreign_data.ELEMENTS[element][:128]
    table = table[[c for c in foreign_data.FINITE[element] if c < 128]]
    magnitude = np.minimum(np.abs(values), table[-1])
    high = np.minimum(np.searchsorted(table, magnitude), len(table) - 1)
    low = np.maximum(high - 1, 0)
    toHigh, toLow = table[high] - magnitude, magnitude - table[low]
    code = np.where(toHigh < toLow, high, np.where(toHigh > toLow, low, np.where(high % 2 == 0, high, low)))
    return (code | np.where(np.signbit(values), 128, 0)).astype(np.uint8)


def philox(seed, offsets):
    """The first word of Philox 4x32-10 (Salmon et al. 2011) with counter (offset, 0, 0, 0) and key (seed, 0)."""
    word = np.uint64(0xFFFFFFFF)
    c = [offsets.astype(np.uint64)] + [np.zeros(len(offsets), dtype=np.uint64)] * 3
    key = [np.uint64(seed), np.uint64(0)]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(second >> np.uint64(32)) ^ c[1] ^ key[0], second & word, (first >> np.uint64(32)) ^ c[3] ^ key[1],
             first & word]
        key = [(key[0] + np.uint64(0x9E3779B9)) & word, (key[1] + np.uint64(0xBB67AE85)) & word]
    return c[0].astype(np.uint32).view(np.int32)


def collatzSteps(v):
    steps = 0
    while v > 1:
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        steps += 1
    return steps


def makeCases(archs):
    rng = np.random.default_rng(1)
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    cases = []

    def add_(name, function, arguments, constants, grid, expected, warps=4):
        for arch in archs:
            cases.append(ScalarCase(name, arch, function, arguments, constants, grid, expected, warps))

    n = 2000
    x, y = normal(n), normal(n)
    add_("add-f32", add, {"x": ("*fp32", x), "y": ("*fp32", y), "out": ("*fp32", 4 * n), "n": ("i32", n)},
         {"BLOCK": 1024}, (2, 1, 1), {"out": (np.float32, *exact(x + y))})
    (bx, bxBits), (by, byBits) = bfloat(x), bfloat(y)
    add_("add-bf16", add, {"x": ("*bf16", bxBits), "y": ("*bf16", byBits), "out": ("*bf16", 2 * n), "n": ("i32", n)},
         {"BLOCK": 1024}, (2, 1, 1), {"out": (np.uint16, *exact(bfloat(bx + by)[1]))})
    h = x.astype(np.float16)
    add_("add-f16", add, {"x": ("*fp16", h), "y": ("*fp16", h[::-1].copy()), "out": ("*fp16", 2 * n), "n": ("i32", n)},
         {"BLOCK": 512}, (4, 1, 1), {"out": (np.float16, *exact(h + h[::-1]))})

    x = normal(5, 777)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    add_("softmax", softmax, {"x": ("*fp32", x), "out": ("*fp32", x.nbytes), "n": ("i32", 777)}, {"BLOCK": 1024},
         (5, 1, 1), {"out": (np.float32, *near(e / e.sum(axis=1, keepdims=True), 2.0**-20))})
    w, b = normal(777), normal(777)
    v = x.astype(np.float64)
    v = (v - v.mean(axis=1, keepdims=True)) / np.sqrt(v.var(axis=1, keepdims=True) + 1e-5) * w + b
    add_("layernorm", layernorm, {"x": ("*fp32", x), "weight": ("*fp32", w), "bias": ("*fp32", b),
                                  "out": ("*fp32", x.nbytes), "n": ("i32", 777), "epsilon": ("fp32", 1e-5)},
         {"BLOCK": 1024}, (5, 1, 1), {"out": (np.float32, *near(v, 2.0**-18))}, warps=8)

    x = rng.integers(-1000, 1000, 2048).astype(np.int32)
    add_("cumsum", running, {"x": ("*i32", x), "out": ("*i32", x.nbytes)}, {"BLOCK": 1024}, (2, 1, 1),
         {"out": (np.int32, *exact(x.reshape(2, -1).cumsum(axis=1).reshape(-1)))})
    add_("sort", ordered, {"x": ("*i32", x), "out": ("*i32", x.nbytes)}, {"BLOCK": 512}, (4, 1, 1),
         {"out": (np.int32, *exact(np.sort(x.reshape(4, -1), axis=1).reshape(-1)))})
    y = rng.integers(1, 2**31 - 1, 2048).astype(np.int32) >> rng.integers(0, 30, 2048)
    y = (np.maximum(y, 1) * rng.choice([-1, 1], 2048)).astype(np.int32)
    big = rng.integers(-2**31, 2**31, 2048).astype(np.int32)
    quotient = np.trunc(big.astype(np.float64) / y).astype(np.int64)
    wide = big.astype(np.int64) * y
    high = (big.view(np.uint32).astype(np.uint64) * y.view(np.uint32) >> np.uint64(32)).astype(np.uint32).view(np.int32)
    mixed = (quotient.astype(np.int32) ^ (big - quotient * y).astype(np.int32) ^ (big << 3) ^ (y >> 2)
             ^ (wide >> 29).astype(np.int32) ^ high)
    add_("integers", integers, {"x": ("*i32", big), "y": ("*i32", y), "out": ("*i32", big.nbytes)}, {"BLOCK": 1024},
         (2, 1, 1), {"out": (np.int32, *exact(mixed))})

    x = rng.integers(-50, 50, (32, 128)).astype(np.float32)
    add_("argmax", largest, {"x": ("*fp32", x), "index": ("*i32", 4 * 32), "value": ("*fp32", 4 * 32)},
         {"N": 128, "BLOCK": 32}, (1, 1, 1),
         {"index": (np.int32, *exact(x.argmax(axis=1))), "value": (np.float32, *exact(x.max(axis=1)))})
    bins = rng.integers(0, 16, 3000).astype(np.int32)
    add_("histogram", histogram, {"x": ("*i32", bins), "counts": ("*i32", np.full(16, 5, dtype=np.int32)),
                                  "n": ("i32", 3000)},
         {"BLOCK": 1024}, (3, 1, 1), {"counts": (np.int32, *exact(5 + np.bincount(bins, minlength=16)))})
    x = rng.integers(0, 2**16, (64, 128)).astype(np.int16)
    add_("transpose-i16", transpose, {"x": ("*i16", x), "out": ("*i16", x.nbytes)}, {"M": 64, "N": 128}, (1, 1, 1),
         {"out": (np.int16, *exact(np.ascontiguousarray(x.T)))})
    x, at = normal(256), rng.integers(0, 256, 256).astype(np.int32)
    add_("gather", take, {"x": ("*fp32", x), "index": ("*i32", at), "out": ("*fp32", x.nbytes)}, {"N": 256},
         (1, 1, 1), {"out": (np.float32, *exact(x[at]))})

    x = normal(32, 128) * np.exp2(rng.integers(-8, 8, (32, 128))).astype(np.float32)
    amax = np.abs(x.reshape(32, 4, 32)).max(axis=2)
    exponent = ((amax / np.float32(448)).view(np.uint32) + 0x7FFFFF) >> 23
    scaled = x.reshape(32, 4, 32) / np.exp2(exponent.astype(np.float64) - 127)[:, :, None]
    add_("quantize-mxfp8", quantize_mxfp8, {"x": ("*fp32", x), "codes": ("*fp8e4nv", x.size), "scales": ("*u8", 128)},
         {"K": 128, "BLOCK": 32}, (1, 1, 1),
         {"codes": (np.uint8, *exact(nearestCode("e4m3", scaled).reshape(x.shape))),
          "scales": (np.uint8, *exact(exponent.astype(np.uint8)))})

    x = normal(1000) * 2
    erf = np.array([math.erf(v / math.sqrt(2)) for v in x.astype(np.float64)])
    add_("gelu", gelu, {"x": ("*fp32", x), "out": ("*fp32", x.nbytes), "n": ("i32", 1000)}, {"BLOCK": 256}, (4, 1, 1),
         {"out": (np.float32, *near(0.5 * x * (1 + erf), 2.0**-21))})
    x = rng.uniform(0.01, 8, 1000).astype(np.float32)
    v = x.astype(np.float64)
    r = (np.exp2(v) + np.log2(v) + np.sin(v) + np.cos(v) + 1 / np.sqrt(v)) * v + np.floor(v) - np.ceil(v)
    add_("functions", functions, {"x": ("*fp32", x), "out": ("*fp32", x.nbytes), "n": ("i32", 1000)}, {"BLOCK": 256},
         (4, 1, 1), {"out": (np.float32, *near(r, 2.0**-19))})
    a, b = normal(32, 64), normal(64, 32)
    add_("dot-ieee", dot_ieee, {"a": ("*fp32", a), "b": ("*fp32", b), "out": ("*fp32", 4 * 32 * 32)},
         {"M": 32, "N": 32, "K": 64}, (1, 1, 1),
         {"out": (np.float32, *near(a.astype(np.float64) @ b.astype(np.float64), 64 * 2.0**-23))})
    x = (normal(1000) * np.exp2(rng.integers(-12, 8, 1000))).astype(np.float32)
    x = np.clip(x, -400, 400)
    codes = nearestCode("e4m3", x.astype(np.float64))
    add_("fp8", through_fp8, {"x": ("*fp32", x), "e4m3": ("*fp8e4nv", 1000), "e5m2": ("*fp8e5", 1000),
                              "back": ("*fp32", 4000), "n": ("i32", 1000)}, {"BLOCK": 512}, (2, 1, 1),
         {"e4m3": (np.uint8, *exact(codes)), "e5m2": (np.uint8, *exact(nearestCode("e5m2", x.astype(np.float64)))),
          "back": (np.float32, *exact(foreign_data.ELEMENTS["e4m3"][codes]))})
    add_("philox", bits, {"out": ("*i32", 4 * 1024), "seed": ("i32", 4321)}, {"BLOCK": 512}, (2, 1, 1),
         {"out": (np.int32, *exact(philox(4321, np.arange(1024))))})
    x = rng.integers(1, 500, 256).astype(np.int32)
    add_("collatz", collatz, {"x": ("*i32", x), "steps": ("*i32", x.nbytes)}, {"BLOCK": 128}, (2, 1, 1),
         {"steps": (np.int32, *exact(np.array([collatzSteps(int(v)) for v in x])))})
    x = rng.integers(-100, 100, 6 * 100).astype(np.int32)
    zeros = np.zeros(8, dtype=np.int32)
    add_("lock", locked_sum, {"x": ("*i32", x), "lock": ("*i32", zeros), "out": ("*i32", zeros.copy()),
                              "n": ("i32", 100)}, {"BLOCK": 128}, (6, 1, 1),
         {"out": (np.int32, *exact(np.array([x.sum()] + [0] * 7)))})
    return cases
