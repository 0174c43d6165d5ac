# ===- quantize_chunks.py - chunks of activations against the contract ----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: quantize_chunks.py BLOCKSCALE-RUN BLOCKSCALE-TRANSLATE FOLDER
# Quantises ragged matrices on the emulator, hazard checks on, under several timings,
# and compares every byte with the rule of docs/Q4K.md, evaluated here in NumPy, and
# with the host's. A missing barrier must be seen.
#
# ===-----------------------------------------------------------------------===#

import os
import subprocess
import sys

import ml_dtypes
import numpy as np

CASES = [
    (1, 32, "f32", "sm_80"),
    (65, 256, "f32", "sm_90a"),
    (7, 96, "f16", "sm_89"),
    (33, 416, "bf16", "sm_90a"),
    (3, 352, "f16", "sm_100a"),
    (5, 224, "f32", "sm_107a"),
    (130, 64, "f16", "sm_120a"),
    (9, 1056, "f32", "sm_121a"),
]
TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
LARGEST = {"f32": 3.4028235e38, "f16": 65504.0, "bf16": 3.3895314e38}
LEAST = {"f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}


def make(rows, k, dtype, seed):
    """Chunks of all sizes, some of zeroes, nearly so, huge, or not finite."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((rows * k // 32, 32)) * 2.0 ** random.integers(-20, 12, (rows * k // 32, 1))
    special = [
        lambda c: c * 0,
        lambda c: np.where(np.arange(32) == 5, LEAST[dtype], -0.0),
        lambda c: c / np.abs(c).max() * 3e-37,
        lambda c: c / np.abs(c).max() * LARGEST[dtype],
        lambda c: np.where(np.arange(32) == 31, np.inf, c),
        lambda c: np.where(np.arange(32) == 0, np.nan, c),
        lambda c: np.where(np.arange(32) == 16, -np.inf, c),
        # d = 1: halves, to the nearest even
        lambda c: np.where(np.arange(32) == 9, 127, np.arange(32) - 15.5),
    ]
    for i in range(len(x)):
        if i % 3 == seed % 3 or len(x) == 1:
            x[i] = special[(i // 3 + seed) % len(special)](x[i])
    with np.errstate(over="ignore"):
        return x.reshape(rows, k).astype(TYPES[dtype])


def contract(x):
    """d = amax / 127, q = rint(x * (1 / d)) where 1 / d is finite, else 0."""
    with np.errstate(all="ignore"):
        x = x.astype(np.float32).reshape(-1, 32)
        amax = np.abs(x).max(-1, keepdims=True)  # NaN where there is one
        d = amax / np.float32(127)
        inverse = np.float32(1) / d
        inverse = np.where(np.isfinite(inverse) & np.isfinite(amax), inverse, np.float32(0))
        q = np.where(inverse == 0, 0, np.rint(x * inverse)).astype(np.int8)
        half = np.where(np.isfinite(amax), d.astype(np.float16).view(np.uint16), 0x7FFF).astype(np.uint16)
    chunks = np.zeros((len(x), 40), np.uint8)
    chunks[:, 0:2] = half.view(np.uint8)
    chunks[:, 4:36] = q.view(np.uint8)
    chunks[:, 36:40] = q.astype(np.int32).sum(-1, keepdims=True, dtype=np.int32).view(np.uint8)
    return chunks


def module(rows, k, dtype):
    to = f"tensor<{rows}x{k // 32 * 40}xi8, #blockscale.blocks<q8_1_chunk>>"
    return f"""func.func @f(%x: tensor<{rows}x{k}x{dtype}>) -> {to} {{
  %q = blockscale.quantize_chunks %x : tensor<{rows}x{k}x{dtype}> -> {to}
  return %q : {to}
}}
"""


def run(*command):
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if ran.returncode:
        sys.exit(f"{' '.join(command)}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def main():
    runner, translate, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    at = lambda name: os.path.join(folder, name)
    for number, (rows, k, dtype, chip) in enumerate(CASES):
        x = make(rows, k, dtype, number)
        np.save(at("x.npy"), x.view(np.uint16) if dtype == "bf16" else x)
        with open(at("k.mlir"), "w") as file:
            file.write(module(rows, k, dtype))
        call = [runner, at("k.mlir"), "--entry=f", f"--arch={chip}", f"--arg={at('x.npy')}"]
        said = run(*call, f"--out={at('q.npy')}", "--seeds=1")
        if "kernel quantize_0" not in said or "same bits under earliest, latest, seed 0" not in said:
            sys.exit(said)
        got, want = np.load(at("q.npy")).reshape(-1, 40), contract(x)
        wrong = int((got != want).sum())
        host = run(*call, f"--out={at('h.npy')}", "--pin=quantizer=host")
        others = int((np.load(at("h.npy")).reshape(-1, 40) != got).sum())
        print(f"{rows}x{k} {dtype} {chip}: {wrong} bytes differ, {others} from the host's")
        if wrong or others or "kernel" in host:
            sys.exit(f"chunk {np.argwhere(got != want)[:4].tolist()}: {host}")
    # The exchange in shared memory needs its barrier.
    run(translate, "--mlir-to-ptx", f"--arch={chip}", at("k.mlir"), "-o", at("k.ptx"), f"--manifest={at('k.json')}")
    text = open(at("k.ptx")).read()
    with open(at("mutant.ptx"), "w") as file:
        file.write(text.replace("bar.warp.sync", "// bar.warp.sync", 1))
    for name in ("k", "mutant"):
        ran = subprocess.run([runner, f"--ptx={at(name + '.ptx')}", f"--manifest={at('k.json')}", f"--arg=x={at('x.npy')}"],
                             capture_output=True, text=True, timeout=600)
        print(f"{name}: {'hazard' if ran.returncode and 'hazard' in ran.stderr else 'no hazard'}")


if __name__ == "__main__":
    main()
