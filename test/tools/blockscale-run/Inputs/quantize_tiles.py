# ===- quantize_tiles.py - activations quantised to tiles -----------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: quantize_tiles.py BLOCKSCALE-RUN FOLDER
# Quantises matrices to the tiles that a product of Q4_K weights copies as they are, on
# the emulator with hazard checks on, and compares every byte with a plain loop over
# tokens and chunks; NaN may have any bits but those of a part.
#
# ===-----------------------------------------------------------------------===#

import os
import sys

import numpy as np

from quantize_chunks import contract, make, run

CASES = [
    (65, 512, "f32", "sm_90a", "q8_1_tile"),
    (33, 256, "f16", "sm_90a", "q8_1_tile_parts"),
    (130, 256, "f32", "sm_121a", "q8_1_tile_parts"),
    (7, 768, "bf16", "sm_80", "q8_1_tile"),
]
BYTES = {"q8_1_tile": 20480, "q8_1_tile_parts": 21504}


def split(total):
    """Three bf16 whose sum a number is, each cut off."""
    parts = []
    for i in range(3):
        upper = (total.view(np.uint32) & 0xFFFF0000).view(np.float32)
        parts.append(upper.view(np.uint32) >> 16)
        with np.errstate(invalid="ignore"):
            total = (total - upper).astype(np.float32)
    return parts


def tiles(x, form):
    """The tiles of a matrix, and which of their bytes belong to a NaN of 32 bits."""
    rows, k = x.shape
    chunks = contract(x).reshape(rows, k // 32, 40)
    d = chunks[..., 0:2].copy().view(np.float16)[..., 0].astype(np.float32)
    total = d * chunks[..., 36:40].copy().view(np.int32)[..., 0].astype(np.float32)
    parts = split(total)
    special = ~np.isfinite(total)
    parts[0] = np.where(special, np.where(np.isnan(total), 0x7FFF, total.view(np.uint32) >> 16), parts[0])
    parts[1], parts[2] = (np.where(special, 0, p) for p in parts[1:])
    size = BYTES[form]
    out = np.zeros((-(-rows // 64), k // 256, size), np.uint8)
    isNan = np.zeros(out.shape, bool)
    for token in range(rows):
        t = token % 64
        slot = ((t // 32) * 8 + t % 8) * 4 + (t // 16 % 2) * 2 + t // 8 % 2
        for chunk in range(k // 32):
            tile, nans, c = out[token // 64, chunk // 8], isNan[token // 64, chunk // 8], chunk % 8
            for piece in range(2):
                at = c * 2048 + t // 4 * 128 + (((t % 4) * 2 + piece) ^ (t // 4 % 8)) * 16
                tile[at:at + 16] = chunks[token, chunk, 4 + 16 * piece:20 + 16 * piece]
            words = [(16384, d)] + ([(18432, total)] if form == "q8_1_tile" else [])
            for plane, values in words:
                at = plane + c * 256 + 4 * slot
                tile[at:at + 4] = values[token, chunk:chunk + 1].copy().view(np.uint8)
                nans[at:at + 4] = np.isnan(values[token, chunk])
            for p in range(3 if form == "q8_1_tile_parts" else 0):
                at = 18432 + p * 1024 + t * 16 + c * 2
                tile[at:at + 2] = np.uint16(parts[p][token, chunk]).reshape(1).view(np.uint8)
    return out, isNan


def main():
    runner, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    at = lambda name: os.path.join(folder, name)
    for number, (rows, k, dtype, chip, form) in enumerate(CASES):
        x = make(rows, k, dtype, number)
        np.save(at("x.npy"), x.view(np.uint16) if dtype == "bf16" else x)
        to = f"tensor<{-(-rows // 64)}x{k // 256 * BYTES[form]}xi8, #blockscale.blocks<{form}>>"
        with open(at("k.mlir"), "w") as file:
            file.write(f"""func.func @f(%x: tensor<{rows}x{k}x{dtype}>) -> {to} {{
  %q = blockscale.quantize_chunks %x : tensor<{rows}x{k}x{dtype}> -> {to}
  return %q : {to}
}}
""")
        run(runner, at("k.mlir"), "--entry=f", f"--arch={chip}", f"--arg={at('x.npy')}", f"--out={at('q.npy')}", "--seeds=1")
        want, isNan = tiles(x, form)
        got = np.load(at("q.npy")).reshape(want.shape)
        wrong = int(((got != want) & ~isNan).sum())
        numbers = np.isnan(got[..., 16384:18432].copy().view(np.float32)) != isNan[..., 16384:18432:4]
        wrong += int(numbers.sum())
        print(f"{rows}x{k} {dtype} {chip} {form}: {wrong} bytes differ")
        if wrong:
            sys.exit(f"first at {np.argwhere((got != want) & ~isNan)[:4].tolist()}")


if __name__ == "__main__":
    main()
