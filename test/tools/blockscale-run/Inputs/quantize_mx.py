# ===- quantize_mx.py - MXFP8 made on the device, against NumPy -----------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: quantize_mx.py BLOCKSCALE-RUN FOLDER
# Quantises ragged matrices on the emulator, hazard checks on, with each chip's sequence,
# and compares every byte of elements and scales, padding included, with the sequence
# written down in NumPy and ml_dtypes.
#
# ===-----------------------------------------------------------------------===#

import os
import sys

import ml_dtypes
import numpy as np

from quantize_chunks import TYPES, make, run

CASES = [
    (65, 96, "f32", "sm_90a", "tiled", "integer"),
    (33, 160, "f16", "sm_100a", "tiled", "reciprocal"),
    (5, 416, "f32", "sm_100a", "linear", "reciprocal"),
    (130, 64, "f32", "sm_107a", "tiled", "scaled"),
    (3, 224, "bf16", "sm_107a", "linear", "scaled"),
]
F32 = np.float32


def e4m3(values):
    """Nearest even, saturating; NaN becomes 0x7F."""
    codes = np.clip(values, -448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    return np.where(np.isnan(values), np.uint8(0x7F), codes)


def scaleBytes(amax):
    """ue8m0 of amax / 448, rounded up; 0xFE of an infinity, 0xFF of a NaN."""
    bits = (amax / F32(448)).astype(F32).view(np.uint32).astype(np.uint64)
    up = np.where(bits <= 0x400000, 0, np.minimum((bits + 0x7FFFFF) >> 23, 254))
    return np.where(np.isnan(amax), 255, up).astype(np.uint8)


def elements(x, scale, sequence):
    exponent = scale.astype(np.int64)
    if sequence == "scaled":
        flushed = np.where(np.abs(x) < 2.0**-126, np.copysign(0, x), x).astype(np.float64)
        quotient = e4m3(flushed * 2.0 ** (127.0 - exponent))
        return np.where(exponent == 255, np.uint8(0x7F), quotient)
    if sequence == "reciprocal":
        widened = np.where(exponent == 255, np.nan, 2.0 ** (exponent - 127.0)).astype(F32)
        flushed = np.where(np.abs(widened) < 2.0**-126, 0, widened).astype(F32)  # of rcp.approx.ftz
        reciprocal = (F32(1) / flushed).astype(F32)
        reciprocal = np.where(np.abs(reciprocal) < 2.0**-126, 0, reciprocal).astype(F32)
        reciprocal = np.fmin(reciprocal, np.finfo(F32).max)
        factor = (reciprocal * np.fmin((widened * F32(1e30)).astype(F32), F32(1))).astype(F32)
    else:
        factor = np.where(exponent == 255, np.nan, 2.0 ** (127.0 - exponent)).astype(F32)
    return e4m3((x * factor).astype(F32))


def tiled(scales):
    rows, cols = scales.shape
    out = np.zeros(-(-rows // 128) * -(-cols // 4) * 512, np.uint8)
    for r in range(rows):
        for k in range(cols):
            out[(r // 128 * -(-cols // 4) + k // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + k % 4] = scales[r, k]
    return out


def main():
    runner, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    at = lambda name: os.path.join(folder, name)
    for number, (rows, k, dtype, chip, layout, sequence) in enumerate(CASES):
        x = make(rows, k, dtype, number)
        np.save(at("x.npy"), x.view(np.uint16) if dtype == "bf16" else x)
        q, s = f"tensor<{rows}x{k}xf8E4M3FN>", f"tensor<{rows}x{k // 32}xi8, #blockscale.scales<ue8m0, {layout}>>"
        with open(at("k.mlir"), "w") as file:
            file.write(f"""func.func @f(%x: tensor<{rows}x{k}x{dtype}>) -> ({q}, {s}) {{
  %q, %s = blockscale.quantize %x : tensor<{rows}x{k}x{dtype}> -> {q}, {s}
  return %q, %s : {q}, {s}
}}
""")
        said = run(runner, at("k.mlir"), "--entry=f", f"--arch={chip}", f"--arg={at('x.npy')}", f"--out={at('q.npy')}",
                   f"--out={at('s.npy')}", "--seeds=1")
        wide = x.astype(F32).reshape(rows, k // 32, 32)
        with np.errstate(all="ignore"):
            scale = scaleBytes(np.abs(wide).max(-1))
            want = elements(wide, scale[..., None], sequence).reshape(rows, k)
        scales = tiled(scale) if layout == "tiled" else scale
        wrong = int((np.load(at("q.npy")).view(np.uint8).reshape(rows, k) != want).sum())
        others = int((np.load(at("s.npy")).view(np.uint8).ravel() != scales.ravel()).sum())
        print(f"{rows}x{k} {dtype} {chip} {layout} {sequence}: {wrong} elements and {others} scales differ")
        if wrong or others or f", {sequence}, " not in said:
            got = np.load(at("q.npy")).view(np.uint8).reshape(rows, k)
            place = np.argwhere(got != want)[:4].tolist()
            sys.exit(f"{place}: {[(x[tuple(p)], got[tuple(p)], want[tuple(p)], scale[p[0], p[1] // 32]) for p in place]}\n{said}")


if __name__ == "__main__":
    main()
