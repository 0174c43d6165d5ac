#!/usr/bin/env python3
# ===- make_mmasim_hashes.py - every kind of a published model, as hashes ----=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes test/data/mmasim/hashes.txt: for each kind that PyPI `mmasim` 2.1.1 has and each
# data class of seeded.py, hashes of what it computes on 128 x 256 outputs. Needs torch,
# so it is not run by the tests. Where hashes differ, --print=NAME,CLASS prints the bits
# of every output, to compare with what the test prints.
#
#   pip install mmasim==2.1.1 torch
#   make_mmasim_hashes.py OUTPUT_FILE [--print=NAME,CLASS]
#
# A line: op chip kind a b scale block k d class, 8 hashes of 16 rows, 4 first outputs.
#
# ===------------------------------------------------------------------------=== #

import argparse
import pathlib
import sys

import numpy as np
import torch
from mmasim.nv_ptx.sim import MMA, WGMMA, MMABlockScale, TCGen05MMA, TCGen05MMABlockScale

import seeded

F8 = ["e4m3", "e5m2"]
F8F6F4 = ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"]
CHIPS = {"sm_80": "Ampere", "sm_89": "Ada Lovelace", "sm_90a": "Hopper", "sm_100a": "Blackwell",
         "sm_120a": "RTX Blackwell"}


def kinds():
    """Tuples of the fields of a line."""
    for op, chip in (("tcgen05", "sm_100a"), ("mma", "sm_120a")):
        for a in F8F6F4:
            for b in F8F6F4:
                yield op, chip, "mxf8f6f4", a, b, "ue8m0", 32, 32, "f32"
        yield op, chip, "mxf4", "e2m1", "e2m1", "ue8m0", 32, 64, "f32"
        yield op, chip, "mxf4nvf4", "e2m1", "e2m1", "ue8m0", 32, 64, "f32"
        yield op, chip, "mxf4nvf4", "e2m1", "e2m1", "ue8m0", 16, 64, "f32"
        yield op, chip, "mxf4nvf4", "e2m1", "e2m1", "ue4m3", 16, 64, "f32"
    for d in ("f32", "f16"):
        yield "tcgen05", "sm_100a", "f16", "f16", "f16", "-", 0, 16, d
        for a in F8F6F4:
            for b in F8F6F4:
                yield "tcgen05", "sm_100a", "f8f6f4", a, b, "-", 0, 32, d
    yield "tcgen05", "sm_100a", "f16", "bf16", "bf16", "-", 0, 16, "f32"
    yield "tcgen05", "sm_100a", "tf32", "tf32", "tf32", "-", 0, 8, "f32"
    for chip in ("sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"):
        for k in (8, 16):
            yield "mma", chip, "-", "f16", "f16", "-", 0, k, "f32"
            yield "mma", chip, "-", "f16", "f16", "-", 0, k, "f16"
            yield "mma", chip, "-", "bf16", "bf16", "-", 0, k, "f32"
            yield "mma", chip, "-", "tf32", "tf32", "-", 0, k // 2, "f32"
    for chip in ("sm_89", "sm_90a", "sm_100a", "sm_120a"):
        for d in ("f32", "f16"):
            for k in (16, 32):
                for a in F8:
                    for b in F8:
                        yield "mma", chip, "-", a, b, "-", 0, k, d
    for d in ("f32", "f16"):
        for a in F8F6F4:
            for b in F8F6F4:
                yield "mma", "sm_120a", "f8f6f4", a, b, "-", 0, 32, d
        yield "wgmma", "sm_90a", "-", "f16", "f16", "-", 0, 16, d
        for a in F8:
            for b in F8:
                yield "wgmma", "sm_90a", "-", a, b, "-", 0, 32, d
    yield "wgmma", "sm_90a", "-", "bf16", "bf16", "-", 0, 16, "f32"
    yield "wgmma", "sm_90a", "-", "tf32", "tf32", "-", 0, 8, "f32"


TORCH = {"f16": (np.uint16, torch.float16), "bf16": (np.uint16, torch.bfloat16),
         "tf32": (np.uint32, torch.float32), "e4m3": (np.uint8, torch.float8_e4m3fn),
         "e5m2": (np.uint8, torch.float8_e5m2)}
TORCH_SCALE = {"ue8m0": torch.float8_e8m0fnu, "ue4m3": torch.float8_e4m3fn}


def to_torch(codes, fmt, packed):
    if fmt in TORCH:
        width, dtype = TORCH[fmt]
        return torch.from_numpy(codes.astype(width)).view(dtype)
    codes = codes.astype(np.uint8)
    if packed:
        return torch.from_numpy((codes[:, 0::2] << 4) | codes[:, 1::2])
    return torch.from_numpy(codes << 2 if fmt == "e2m1" else codes)


def split_fp8(chip, a, b, c, k, d):
    """What ptxas makes of an FP8 product where the chip has none: two f16 products."""
    op = MMA(CHIPS[chip], f"m16n8k{k // 2}.{d}.f16.f16.{d}")
    product = torch.zeros_like(c)
    for part in range(2):
        pick = [i for i in range(k) if i % 4 // 2 == part]
        product = op(a.half()[:, pick], b.half()[:, pick].T, product)
    total = product + c if d == "f32" else (product.double() + c.double())
    if d == "f16":  # round once: torch would go over float
        wide = total.numpy()
        total = torch.from_numpy(wide.astype(np.float16))
    return total


def simulate(kind, a, b, s, c):
    op, chip, name, fa, fb, scale, block, k, d = kind
    packed = name in ("mxf4", "mxf4nvf4")
    ta, tb = to_torch(a, fa, packed), to_torch(b, fb, packed)
    tc = torch.from_numpy(c.astype(np.uint32 if d == "f32" else np.uint16)).view(
        torch.float32 if d == "f32" else torch.float16)
    arch = CHIPS[chip]
    if scale != "-":
        scales = [torch.from_numpy(x.astype(np.uint8)).view(TORCH_SCALE[scale]) for x in s]
        if op == "tcgen05":
            sim = TCGen05MMABlockScale(arch, f"m128n256k{k}.kind::{name}.block{block}.f32.{fa}.{fb}.{scale}")
        else:
            sim = MMABlockScale(arch, f"m16n8k{k}.kind::{name}.block{block}.f32.{fa}.{fb}.f32.{scale}")
        out = sim(ta, tb.T, tc, scales[0], scales[1].T)
    elif op == "tcgen05":
        out = TCGen05MMA(arch, f"m128n256k{k}.kind::{name}.{d}.{fa}.{fb}")(ta, tb.T, tc)
    elif op == "wgmma":
        out = WGMMA(arch, f"m64n256k{k}.{d}.{fa}.{fb}")(ta, tb.T, tc)
    elif fa in F8 and chip in ("sm_90a", "sm_100a"):
        out = split_fp8(chip, ta, tb, tc, k, d)
    else:
        text = f"kind::{name}." if name != "-" else ""
        out = MMA(arch, f"m16n8k{k}.{text}{d}.{fa}.{fb}.{d}")(ta, tb.T, tc)
    bits = out.contiguous().numpy().view(np.uint32 if d == "f32" else np.uint16).astype(np.uint32)
    top, nan = (0x7F800000, 0x7FFFFFFF) if d == "f32" else (0x7C00, 0x7FFF)
    return np.where((bits & nan) > top, nan, bits)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--print")
    args = parser.parse_args()
    wanted = args.print.rsplit(",", 1) if args.print else None
    lines = []
    for kind in kinds():
        name = " ".join(str(field) for field in kind)
        for cls in seeded.CLASSES:
            if wanted and wanted != [name, cls]:
                continue
            _, _, _, fa, fb, scale, block, k, d = kind
            a, b, s, c = seeded.tile(name, cls, fa, fb, k, scale if scale != "-" else None, block, d == "f16")
            bits = simulate(kind, a, b, s, c)
            if wanted:
                np.savetxt(sys.stdout, bits, fmt="%08x")
                return
            hashes = " ".join(f"{int(h):016x}" for h in seeded.band_hashes(bits))
            lines.append(f"{name} {cls} {hashes} " + " ".join(f"{v:08x}" for v in bits[0, :4]))
    args.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
