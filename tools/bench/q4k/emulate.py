#!/usr/bin/env python3
"""Runs the hand-written kernels' PTX on the emulator and compares all bits.

    emulate.py BUILD [--shape=TxRxD] [--kernel=PART_OF_NAME] [--source=FILE]… [--run=FLAG]…

Needs nvcc on the path and blockscale-run in BUILD/bin; without nvcc it says so and is done.
The contract is written here once more, so that a mistake in Contract.cpp shows.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
SHARED = {"0": 43008, "1": 45056}  # by the number of TokenTerms in the mangled name
# A tile of 64 tokens and a super-block: activations, terms, and fragments where the min term is apart.
TILES = {"1": 8 * 64 * (32 + 8), "2": 8 * 64 * (32 + 4) + 4096}
LARGEST = max(TILES.values())


def make_problem(tokens, rows, depth):
    rng = np.random.default_rng(5)
    weights = rng.integers(0, 256, (rows, depth // 256, 144), dtype=np.uint8)
    header = rng.uniform(-3e-3, 3e-3, (rows, depth // 256, 2)).astype(np.float16)
    weights[:, :, :4] = header.view(np.uint8)
    chunks = np.zeros((tokens, depth // 32, 40), np.uint8)
    q = rng.integers(-127, 128, (tokens, depth // 32, 32), dtype=np.int8)
    chunks[:, :, :2] = rng.uniform(0, 2e-2, (tokens, depth // 32, 1)).astype(np.float16).view(np.uint8)
    chunks[:, :, 4:36] = q.view(np.uint8)
    chunks[:, :, 36:] = q.sum(2, dtype=np.int32)[..., None].view(np.uint8)
    return weights, chunks


def fold(weights, chunks):
    """f32 throughout; a fused multiply-add is rounded from 64 bits of significand."""
    rows, tokens = weights.shape[0], chunks.shape[0]
    total = np.zeros((tokens, rows), np.float32)
    header = np.ascontiguousarray(weights[:, :, :4]).view(np.float16).astype(np.float32)
    scales = weights[:, :, 4:16].astype(np.int32)

    def fma(a, b, c):
        return (a.astype(np.longdouble) * b + c).astype(np.float32)

    for chunk in range(chunks.shape[1]):
        block, sub = divmod(chunk, 8)
        s = scales[:, block]
        if sub < 4:
            scale, least = s[:, sub] & 63, s[:, sub + 4] & 63
        else:
            scale = (s[:, sub + 4] & 15) | (s[:, sub - 4] >> 6) << 4
            least = (s[:, sub + 4] >> 4) | (s[:, sub] >> 6) << 4
        row_scale = header[:, block, 0] * scale.astype(np.float32)
        row_min = -(header[:, block, 1] * least.astype(np.float32))
        packed = weights[:, block, 16 + sub // 2 * 32 :][:, :32]
        nibbles = (packed >> 4 if sub & 1 else packed & 15).astype(np.int32)
        c = np.ascontiguousarray(chunks[:, chunk])
        d = c[:, :2].copy().view(np.float16).astype(np.float32)
        q = c[:, 4:36].copy().view(np.int8).astype(np.int32)
        sums = c[:, 36:].copy().view(np.int32).astype(np.float32)
        total = fma(d * row_scale[None], (q @ nibbles.T).astype(np.float32), total)
        total = fma(d * sums, row_min[None], total)
    return total


def multiply_halves(weights, activations):
    """f64 sums of f16 activations and weights: fma(nibble, f16(d * scale), -f16(dmin * min)) in f16."""
    rows, blocks = weights.shape[:2]
    header = np.ascontiguousarray(weights[:, :, :4]).view(np.float16).astype(np.float32)
    scales = weights[:, :, 4:16].astype(np.int32)
    values = np.zeros((rows, blocks, 8, 32))
    for sub in range(8):
        if sub < 4:
            scale, least = scales[:, :, sub] & 63, scales[:, :, sub + 4] & 63
        else:
            scale = (scales[:, :, sub + 4] & 15) | (scales[:, :, sub - 4] >> 6) << 4
            least = (scales[:, :, sub + 4] >> 4) | (scales[:, :, sub] >> 6) << 4
        scale = (header[:, :, 0] * scale.astype(np.float32)).astype(np.float16).astype(np.float64)
        least = (header[:, :, 1] * least.astype(np.float32)).astype(np.float16).astype(np.float64)
        packed = weights[:, :, 16 + sub // 2 * 32 :][:, :, :32]
        nibbles = packed >> 4 if sub & 1 else packed & 15
        values[:, :, sub] = (nibbles * scale[..., None] - least[..., None]).astype(np.float16)
    values = values.reshape(rows, -1)
    x = activations.astype(np.float64)
    return x @ values.T, np.abs(x) @ np.abs(values).T


def launch(name, grid, block, shared, params, cluster=1):
    return {"name": name, "grid": grid, "block": [block, 1, 1], "cluster": [cluster, 1, 1], "shared_bytes": shared,
            "shared_mode": "default", "params": params}


def buffers(*names):
    return [{"kind": "buffer", "buffer": name} for name in names]


def numbers(*values):
    return [{"kind": "scalar", "type": "i32", "value": value} for value in values]


def map_of(buffer, kind, dims, stride, box, swizzle):
    return {"kind": "tensor_map", "buffer": buffer, "type": kind, "dims": dims, "strides": [stride], "box": box,
            "element_strides": [1, 1], "swizzle": swizzle, "fill": "zero", "l2": "b128"}


def launchesOf(entry, entries, tokens, rows, depth):
    """What runs for a product by this entry, or nothing when it is none."""
    grid = [-(-tokens // 64), -(-rows // 128), 1]
    if terms := re.search(r"rawNibbles\w*TokenTermsE(\d)", entry):
        return [launch(entry, grid, 256, SHARED[terms.group(1)], buffers(*"awc") + numbers(tokens, rows, depth))]
    if form := re.search(r"pipelinedILi(\d+)ELi(\d+)\w*TokenTermsE(\d)", entry):
        rowGroups, stages, terms = int(form.group(1)), int(form.group(2)), form.group(3)
        transpose = next(e for e in entries if re.search(f"transpose\\w*TokenTermsE{terms}", e))
        blocks = depth // 256
        return [launch(transpose, [blocks, grid[0], 1], 256, 0, buffers("a", "t") + numbers(tokens, blocks)),
                launch(entry, grid, 512 // rowGroups, stages * (TILES[terms] + 16) + 49152,
                       buffers(*"twc") + numbers(tokens, rows, depth))]
    if form := re.search(r"multiplyWeightsI" + r"Li(\d+)E" * 7, entry):
        columns, fragments, groups, blockStages, tokenStages, cluster, _ = map(int, form.groups())
        tile = groups * fragments * 64
        shared = blockStages * (tile * 176 + 24) + tokenStages * (columns * 128 + 16) + 1024
        tiles = -(-tokens // columns) * -(-rows // tile)
        # Fewer blocks than tiles, so that some take a second one.
        count = tiles * cluster if cluster > 1 else -(-tiles * 2 // 3)
        maps = [map_of("w", "u8", [depth // 256 * 144, rows], depth // 256 * 144, [144, tile], "none"),
                map_of("h", "u16", [depth, tokens], depth * 2, [64, columns], "b128")]
        return [launch(entry, [count, 1, 1], 128 + groups * 128, shared,
                       maps + buffers("c") + numbers(tokens, rows, depth), cluster)]
    return []


def emulate(source, args, work):
    tokens, rows, depth = map(int, args.shape.split("x"))
    weights, chunks = make_problem(tokens, rows, depth)
    halves = np.random.default_rng(6).normal(size=(tokens, depth)).astype(np.float16)
    expected = fold(weights, chunks)
    exact, magnitude = multiply_halves(weights, halves)
    subprocess.run(["nvcc", "-std=c++20", "-O3", "-arch=compute_90a", "--ptx", FOLDER / source, "-o", work / "k.ptx"],
                   check=True)
    for name, array in [("w", weights), ("a", chunks), ("h", halves)]:
        np.save(work / f"{name}.npy", array)
    entries = re.findall(r"\.entry (\w+)", (work / "k.ptx").read_text())
    failed = 0
    for entry in entries:
        launches = launchesOf(entry, entries, tokens, rows, depth)
        if not launches or args.kernel not in entry:
            continue
        used = {p["buffer"] for one in launches for p in one["params"] if "buffer" in p}
        memory = [{"name": name, "bytes": array.nbytes, "role": role, "dtype": dtype, "shape": list(array.shape)}
                  for name, array, dtype, role in [("a", chunks, "u8", "input"), ("w", weights, "u8", "input"),
                                                   ("h", halves, "f16", "input"), ("c", expected, "f32", "output")]]
        memory.append({"name": "t", "bytes": -(-tokens // 64) * (depth // 256) * LARGEST, "role": "scratch"})
        manifest = {"version": 1, "arch": "sm_90a", "buffers": [m for m in memory if m["name"] in used],
                    "kernels": launches}
        (work / "k.json").write_text(json.dumps(manifest))
        inputs = [f"--arg={name}={work}/{name}.npy" for name in sorted(used & set("awh"))]
        run = subprocess.run([args.build / "bin" / "blockscale-run", f"--ptx={work}/k.ptx",
                              f"--manifest={work}/k.json", f"--out=c={work}/c.npy", *args.run, *inputs],
                             stdout=subprocess.DEVNULL)
        if run.returncode:
            failed += 1
            continue
        got = np.load(work / "c.npy")
        if "multiplyWeights" in entry:
            worst = (np.abs(got - exact) / magnitude).max() * 2**24
            bound = depth // 16 * 2 + 64
            print(f"{entry}: off by {worst:.3g} of 2^-24 of the magnitude at most; {bound} allowed")
            failed += not worst <= bound
            continue
        different = int((got.view(np.uint32) != expected.view(np.uint32)).sum())
        worst = np.abs(got - expected).max() / np.sqrt(np.mean(expected.astype(np.float64) ** 2))
        print(f"{entry}: {different} of {got.size} outputs differ in bits, by {worst:.3g} of their size at most")
        # With the min term apart sums have another order.
        isApart = re.search(r"pipelined\w*TokenTermsE2", entry)
        failed += bool(not worst <= 1e-5 or (different and not isApart))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--shape", default="70x130x512")
    parser.add_argument("--kernel", default="")
    parser.add_argument("--source", action="append")
    parser.add_argument("--run", action="append", default=[], help="a flag for blockscale-run")
    args = parser.parse_args()
    if not shutil.which("nvcc"):
        print("q4k: skipped, there is no nvcc on the path")
        return 0
    with tempfile.TemporaryDirectory() as name:
        failed = sum(emulate(source, args, pathlib.Path(name))
                     for source in args.source or ["Handwritten.cu", "Pipelined.cu", "Wgmma.cu"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
