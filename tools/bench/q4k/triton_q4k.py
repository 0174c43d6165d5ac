#!/usr/bin/env python3
# ===- triton_q4k.py - Q4_K products in Triton, for the comparison ---------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   triton_q4k.py FOLDER
#
# Compiles kernels for sm_90a without a GPU and writes FOLDER/triton.txt, a description
# as LoadedKernel.h has it, with their PTX beside it. `triton-q8` has the contract of the
# hand-written kernel; `triton-f16` expands weights to f16 before a product with f16
# activations. Both read the blocks as they stand in a file. Needs PyPI `triton`.
#
# ===-----------------------------------------------------------------------===#

import os
import pathlib
import re
import sys
import tempfile

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="blockscale-triton-"))

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

SHAPES = [(512, 18944, 3584), (2048, 18944, 3584), (512, 3584, 18944), (2048, 3584, 3584)]


@triton.jit
def scale_and_min(block, SUB: tl.constexpr):
    """d * scale and dmin * min of a sub-block, for a column of blocks."""
    d = tl.load(block.to(tl.pointer_type(tl.float16))).to(tl.float32)
    dmin = tl.load(block.to(tl.pointer_type(tl.float16)) + 1).to(tl.float32)
    if SUB < 4:
        scale = tl.load(block + 4 + SUB) & 63
        least = tl.load(block + 8 + SUB) & 63
    else:
        high = tl.load(block + 8 + SUB)
        scale = (high & 15) | (tl.load(block + SUB) >> 6 << 4)
        least = (high >> 4) | (tl.load(block + 4 + SUB) >> 6 << 4)
    return d * scale.to(tl.float32), dmin * least.to(tl.float32)


@triton.jit
def product_q8(chunks, weights, out, tokens, rows, depth, BM: tl.constexpr, BN: tl.constexpr):
    t = tl.program_id(0) * BM + tl.arange(0, BM)
    r = tl.program_id(1) * BN + tl.arange(0, BN)
    at, ar = tl.minimum(t, tokens - 1).to(tl.int64), tl.minimum(r, rows - 1).to(tl.int64)
    chunk = chunks + at * (depth // 32 * 40)
    block = weights + ar * (depth // 256 * 144)
    k = tl.arange(0, 32)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, depth, 256):
        for pair in tl.static_range(4):
            packed = tl.load(block[:, None] + 16 + 32 * pair + k[None, :])
            for half in tl.static_range(2):
                nibbles = ((packed >> 4) if half else (packed & 15)).to(tl.int8)
                here = chunk + (2 * pair + half) * 40
                q = tl.load((here[:, None] + 4 + k[None, :]).to(tl.pointer_type(tl.int8)))
                total = tl.dot(q, nibbles.T, out_dtype=tl.int32).to(tl.float32)
                d = tl.load(here.to(tl.pointer_type(tl.float16))).to(tl.float32)
                sums = tl.load((here + 36).to(tl.pointer_type(tl.int32))).to(tl.float32)
                scale, least = scale_and_min(block, 2 * pair + half)
                acc = tl.fma(d[:, None] * scale[None, :], total, acc)
                acc = tl.fma((d * sums)[:, None] + tl.zeros_like(acc), (-least)[None, :] + tl.zeros_like(acc), acc)
        chunk += 8 * 40
        block += 144
    tl.store(out + t.to(tl.int64)[:, None] * rows + r[None, :], acc, mask=(t < tokens)[:, None] & (r < rows)[None, :])


@triton.jit
def product_f16(activations, weights, out, tokens, rows, depth, BM: tl.constexpr, BN: tl.constexpr):
    t = tl.program_id(0) * BM + tl.arange(0, BM)
    r = tl.program_id(1) * BN + tl.arange(0, BN)
    at, ar = tl.minimum(t, tokens - 1).to(tl.int64), tl.minimum(r, rows - 1).to(tl.int64)
    block = weights + ar * (depth // 256 * 144)
    k = tl.arange(0, 32)
    a = activations + at[:, None] * depth + k[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, depth, 256):
        for pair in tl.static_range(4):
            packed = tl.load(block[:, None] + 16 + 32 * pair + k[None, :])
            for half in tl.static_range(2):
                scale, least = scale_and_min(block, 2 * pair + half)
                nibbles = ((packed >> 4) if half else (packed & 15)).to(tl.float32)
                w = (nibbles * scale[:, None] - least[:, None]).to(tl.float16)
                acc = tl.dot(tl.load(a + (2 * pair + half) * 32), w.T, acc)
        a += 256
        block += 144
    tl.store(out + t.to(tl.int64)[:, None] * rows + r[None, :], acc, mask=(t < tokens)[:, None] & (r < rows)[None, :])


def compileKernel(function, first, tile, warps):
    types = {first[0]: first[1], "weights": "*u8", "out": "*fp32", "tokens": "i32", "rows": "i32", "depth": "i32"}
    constants = {"BM": tile[0], "BN": tile[1]}
    attributes = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(types) if name != "tokens"}
    source = ASTSource(function, signature={**types, **{name: "constexpr" for name in constants}},
                       constexprs=constants, attrs=attributes)
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps, "num_stages": 2})
    params = re.search(r"\.entry\s+\w+\((.*?)\)", made.asm["ptx"], re.S)[1].count(".param")
    return made, params - len(types)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, function, first, argument, check, tile, warps in [
            ("triton-q8", product_q8, ("chunks", "*u8"), "chunks", "contract", (64, 128), 8),
            ("triton-f16", product_f16, ("activations", "*fp16"), "f16", "halves", (128, 128), 8)]:
        made, hidden = compileKernel(function, first, tile, warps)
        (folder / f"{name}.ptx").write_text(made.asm["ptx"])
        for shape in SHAPES:
            lines += [f"kernel {name}", f"module {name}.ptx", "shape {} {} {}".format(*shape), f"check {check}",
                      f"entry {made.metadata.name}", f"grid {-(-shape[0] // tile[0])} {-(-shape[1] // tile[1])} 1",
                      f"block {32 * warps} 1 1", f"shared {made.metadata.shared}",
                      f"args {argument} weights out tokens rows depth" + " i64:0" * hidden]
    (folder / "triton.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
